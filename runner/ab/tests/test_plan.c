/*
 * plan: it reads back as it was written; what is none is refused; killed at any moment, it is there whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/ab/plan.h"
#include "workloads/base/clock.h"
#include "workloads/base/random.h"
#include "workloads/base/remove.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const char sound[] =
	"{\"format\":1,\"name\":\"n\",\"kernels\":[\"a\",\"b\"],\"appends\":[\"\",\"x "
	"y\"],\"db\":\"/db\","
	"\"folder\":\"/f\",\"boot_command\":\"\",\"set_command\":\"s\",\"reboot_command\":\"r\","
	"\"vm_words\":[\"--cpus\",\"2\"],\"words\":[\"null\"],\"is_metal\":true,\"is_sequential\":"
	"true,"
	"\"most\":40,\"least\":1.0,\"confidence\":95.0,\"start_wall_ns\":5,\"hours_ns\":7,"
	"\"accelerator\":\"tcg\",\"identities\":[\"i\",\"\"],\"verdicts\":3,\"end\":\"\",\"is_"
	"failed\":false,"
	"\"is_out_of_time\":false,\"steps\":[{\"side\":0,\"state\":\"done\",\"tries\":0,\"boot\":"
	"\"1\"},"
	"{\"side\":1,\"state\":\"running\",\"tries\":2,\"boot\":\"2\"}]}";

static char folder[] = "/tmp/zm-plan-XXXXXX";
static char path[64];

static void write_file(const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static void a_plan_reads_back(void **state)
{
	struct zm_ab_plan plan, again;
	char label[16];

	(void)state;
	write_file(sound);
	assert_int_equal(zm_ab_plan_load(path, &plan, NULL), 0);
	assert_int_equal(zm_ab_plan_save(path, &plan, NULL), 0);
	assert_int_equal(zm_ab_plan_load(path, &again, NULL), 0);
	assert_true(json_equal(plan.owner, again.owner));
	assert_string_equal(again.appends[1], "x y");
	assert_string_equal(again.identities[0], "i");
	assert_int_equal(again.most, 40);
	assert_int_equal(again.nr_verdicts, 3);
	assert_int_equal(again.nr_steps, 2);
	assert_int_equal(again.steps[1].state, ZM_AB_RUNNING);
	assert_int_equal(again.steps[1].nr_tries, 2);
	assert_string_equal(zm_ab_plan_label(&again, 1, label, sizeof(label)), "n-b");
	assert_true(zm_ab_plan_has_boot(&again, 0, "1"));
	assert_false(zm_ab_plan_has_boot(&again, 1, "1"));
	assert_false(zm_ab_plan_has_boot(&again, 1, "2")); /* not done */
	zm_ab_plan_release(&plan);
	zm_ab_plan_release(&again);
}

/* A B B A: whatever drifts evenly is the same for both. */
static void sides_take_turns(void **state)
{
	struct zm_ab_plan plan = { 0 };

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		struct zm_ab_step *step = zm_ab_plan_step(&plan);

		assert_non_null(step);
		assert_int_equal(step->side, "0110"[i % 4] - '0');
		assert_ptr_equal(zm_ab_plan_step(&plan), step); /* as long as it is not done */
		step->state = ZM_AB_DONE;
		assert_int_equal(zm_ab_plan_nr_done(&plan, 0) + zm_ab_plan_nr_done(&plan, 1),
				 i + 1);
	}
	assert_int_equal(zm_ab_plan_nr_done(&plan, 0), 20);
	zm_ab_plan_release(&plan);
}

/* Every word of it replaced in turn, and everything cut off behind every byte. */
static void what_is_no_plan_is_refused(void **state)
{
	static const char *const changes[][2] = {
		{ "\"format\":1", "\"format\":2" },      { "\"done\"", "\"running\"" },
		{ "\"most\":40", "\"most\":0" },         { "\"most\":40", "\"most\":201" },
		{ "\"side\":1", "\"side\":2" },          { "[\"null\"]", "[1]" },
		{ "\"tries\":2", "\"tries\":-1" },       { "[\"a\",\"b\"]", "[\"a\"]" },
		{ "\"verdicts\":3", "\"verdicts\":-3" }, { "\"running\"", "\"walking\"" },
		{ "\"hours_ns\":7", "\"hours_ns\":-7" }, { "\"name\":\"n\"", "\"name\":null" },
	};
	struct zm_ab_plan plan = { .nr_steps = 4711 };
	struct zm_why why;

	(void)state;
	for (size_t i = 0; i < NR(changes); i++) {
		char text[2048];
		const char *at = strstr(sound, changes[i][0]);

		assert_non_null(at);
		(void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - sound), sound,
			       changes[i][1], at + strlen(changes[i][0]));
		write_file(text);
		assert_int_equal(zm_ab_plan_load(path, &plan, &why), -EUCLEAN);
		assert_non_null(strstr(why.text, "remove it"));
	}
	for (size_t length = 0; length + 1 < sizeof(sound); length += 7) {
		char text[2048];

		(void)snprintf(text, sizeof(text), "%.*s", (int)length, sound);
		write_file(text);
		assert_int_equal(zm_ab_plan_load(path, &plan, &why), -EUCLEAN);
	}
	assert_int_equal(plan.nr_steps, 4711);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(zm_ab_plan_load(path, &plan, NULL), -ENOENT);
}

/* Writes plans without an end, each one step longer; says so when the first is written. */
static void write_for_ever(int begun)
{
	struct zm_ab_plan plan;

	if (zm_ab_plan_load(path, &plan, NULL) < 0)
		_exit(1);
	for (bool is_first = true;; is_first = false) {
		struct zm_ab_step *step = zm_ab_plan_step(&plan);

		step->state = ZM_AB_DONE;
		if (zm_ab_plan_save(path, &plan, NULL) < 0)
			_exit(2);
		if (is_first && write(begun, "", 1) != 1)
			_exit(3);
	}
}

/* A writer that has written; a slow machine takes its time to get so far. */
static pid_t start_writer(void)
{
	int begun[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe2(begun, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		write_for_ever(begun[1]);
	assert_int_equal(close(begun[1]), 0);
	assert_int_equal(read(begun[0], &byte, 1), 1);
	assert_int_equal(close(begun[0]), 0);
	return child;
}

static void killed_at_any_moment_it_is_whole(void **state)
{
	struct zm_random random;
	size_t nr_before = 0;

	(void)state;
	zm_random_init(&random, 5, 0);
	write_file(sound);
	for (unsigned int i = 0; i < 60; i++) {
		struct zm_ab_plan plan;
		pid_t child = start_writer();

		(void)zm_clock_sleep_until(zm_clock_now_ns() +
					   zm_random_below(&random, 8 * ZM_NS_PER_MS));
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_int_equal(zm_ab_plan_load(path, &plan, NULL), 0);
		assert_true(plan.nr_steps > nr_before);
		nr_before = plan.nr_steps;
		zm_ab_plan_release(&plan);
	}
}

static void only_one_works_on_it(void **state)
{
	struct zm_why why;
	int fd, other;

	(void)state;
	assert_int_equal(zm_ab_plan_lock(path, &fd, NULL), 0);
	assert_int_equal(zm_ab_plan_lock(path, &other, &why), -EBUSY);
	assert_non_null(strstr(why.text, "another zonemark"));
	assert_int_equal(close(fd), 0);
	assert_int_equal(zm_ab_plan_lock(path, &fd, NULL), 0);
	assert_int_equal(close(fd), 0);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/plan.json", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return zm_remove_tree(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_reads_back),
		cmocka_unit_test(sides_take_turns),
		cmocka_unit_test(what_is_no_plan_is_refused),
		cmocka_unit_test(killed_at_any_moment_it_is_whole),
		cmocka_unit_test(only_one_works_on_it),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
