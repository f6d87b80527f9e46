/* owner: a process is known for good, and told from one that has its pid later. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/owner.h"

static void we_live(void **state)
{
	struct zm_owner owner;

	(void)state;
	assert_int_equal(zm_owner_self(&owner, NULL), 0);
	assert_int_equal(owner.pid, getpid());
	assert_true(owner.start_ticks > 0);
	assert_true(owner.boot_id[0] != '\0');
	assert_true(zm_owner_is_alive(&owner));
	assert_true(zm_owner_is_of_this_boot(&owner));
	assert_true(zm_owner_is_equal(&owner, &owner));
}

/* Each member alone makes it another process, and a dead one. */
static void a_change_anywhere_is_another(void **state)
{
	struct zm_owner self, other;

	(void)state;
	assert_int_equal(zm_owner_self(&self, NULL), 0);
	for (int i = 0; i < 4; i++) {
		other = self;
		other.pid += i == 0 ? 1u << 30 : 0;
		other.start_ticks += i == 1;
		other.pid_ns += i == 2;
		other.boot_id[0] = (char)(other.boot_id[0] ^ (i == 3));
		assert_false(zm_owner_is_equal(&self, &other));
		assert_false(zm_owner_is_alive(&other));
		assert_int_equal(zm_owner_is_of_this_boot(&other), i != 3);
	}
}

/* The command's name stands in brackets before the fields, and may hold any of their like. */
static void a_name_cannot_fool_it(void **state)
{
	static const char *const names[] = { ") Z 1 2", "a b", "((", "))", "\n) S 1", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct zm_owner owner;

		assert_int_equal(prctl(PR_SET_NAME, names[i]), 0);
		assert_int_equal(zm_owner_self(&owner, NULL), 0);
		assert_true(zm_owner_is_alive(&owner));
	}
}

static void the_dead_and_zombies_do_not_live(void **state)
{
	struct zm_owner owner;
	int pipes[2];
	siginfo_t info;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		struct zm_owner self;

		if (zm_owner_self(&self, NULL) ||
		    write(pipes[1], &self, sizeof(self)) != (ssize_t)sizeof(self))
			_exit(1);
		(void)pause();
	}
	assert_int_equal(read(pipes[0], &owner, sizeof(owner)), sizeof(owner));
	assert_int_equal(owner.pid, child);
	assert_true(zm_owner_is_alive(&owner));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_false(zm_owner_is_alive(&owner));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(zm_owner_is_alive(&owner));
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(we_live),
		cmocka_unit_test(a_change_anywhere_is_another),
		cmocka_unit_test(a_name_cannot_fool_it),
		cmocka_unit_test(the_dead_and_zombies_do_not_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
