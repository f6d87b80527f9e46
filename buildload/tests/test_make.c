/* make: jobs counted, ends judged, last words kept; by shells that stand in for make. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buildload/make.h"
#include "workloads/base/clock.h"

static struct zm_make make;
static struct zm_why why;

static int run_script(const char *script, bool is_kernel)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct zm_make_spec spec = { .argv = argv, .is_kernel = is_kernel };
	int r = zm_make_start(&make, &spec, &why);

	return r < 0 ? r : zm_make_finish(&make, NULL, &why);
}

static const struct {
	const char *script;
	bool is_kernel;
	uint64_t nr_jobs;
	const char *says; /* NULL: it goes well */
} cases[] = {
	{ "echo '  CC      init/main.o'; echo '  AS [M]  x.o'; echo 'main.c:1: warning'", true, 2,
	  NULL },
	{ "echo 'make[1]: Entering directory'; echo '  x'; echo '  HOSTCC  a'", true, 1, NULL },
	{ "echo 'cc -c a.c'; echo 'make[1]: Nothing to be done'; echo; echo 'ld a.o'", false, 2,
	  NULL },
	{ "printf 'no newline'", false, 0, NULL },
	{ "echo 'a.c:3:1: error: no soup'; echo 'make: *** [a.o] Error 1' >&2; exit 2", false, 1,
	  "make ended with status 2: a.c:3:1: error: no soup | make: *** [a.o] Error 1" },
	{ "echo CC a; echo; echo '  a.c:3: error: x' ; exit 1", false, 2,
	  "make ended with status 1: a.c:3: error: x" },
	{ "echo 'sh: 1: flex: not found'; echo 'make: *** [lexer.c] Error 127'; exit 2", false, 1,
	  "make ended with status 2: sh: 1: flex: not found | make: *** [lexer.c] Error 127" },
	{ "exit 7", false, 0, "make ended with status 7" },
	{ "kill -9 $$", false, 0, "make was killed by signal 9" },
	{ "i=0; while [ $i -lt 500 ]; do echo 'a line of twenty bytes'; i=$((i + 1)); done; "
	  "echo 'x: error: the end'; exit 2",
	  false, 501, "make ended with status 2: x: error: the end" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = run_script(cases[i].script, cases[i].is_kernel);

		if (make.nr_jobs != cases[i].nr_jobs)
			fail_msg("%s: %llu jobs", cases[i].script,
				 (unsigned long long)make.nr_jobs);
		assert_int_equal(r, cases[i].says ? -EPROTO : 0);
		if (cases[i].says)
			assert_string_equal(why.text, cases[i].says);
		assert_int_equal(make.pid, 0);
		assert_int_equal(make.out_fd, -1);
	}
}

static void test_not_there(void **state)
{
	const char *const argv[] = { "no-such-make-anywhere", NULL };
	const struct zm_make_spec spec = { .argv = argv };

	(void)state;
	assert_int_equal(zm_make_start(&make, &spec, &why), -ENOENT);
	assert_string_equal(why.text,
			    "cannot start no-such-make-anywhere: No such file or directory");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	zm_make_abandon(&make);
}

/* Somebody it left behind holds the pipe: its own end is what counts. */
static void test_output_held_by_another(void **state)
{
	pid_t pid = 0;
	char tail[64];

	(void)state;
	assert_int_equal(run_script("sleep 60 & echo $!", false), 0);
	assert_int_equal(sscanf(zm_make_last_lines(&make, tail, sizeof(tail)), "%d", &pid), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
}

/* What an outer make says is not for this one. */
static void test_clean_environment(void **state)
{
	char tail[64];

	(void)state;
	assert_int_equal(setenv("MAKEFLAGS", "-j3 --jobserver-auth=3,4", 1), 0);
	assert_int_equal(setenv("MAKELEVEL", "2", 1), 0);
	assert_int_equal(run_script("echo \"($MAKEFLAGS$MAKELEVEL) $LC_ALL\"", false), 0);
	assert_string_equal(zm_make_last_lines(&make, tail, sizeof(tail)), "() C");
	(void)unsetenv("MAKEFLAGS");
	(void)unsetenv("MAKELEVEL");
}

static void test_usage(void **state)
{
	const char *const argv[] = { "sh", "-c", "head -c 1M /dev/zero | tail -c 1M | wc -c",
				     NULL };
	const struct zm_make_spec spec = { .argv = argv };
	struct rusage usage = { 0 };

	(void)state;
	assert_int_equal(zm_make_start(&make, &spec, &why), 0);
	assert_int_equal(zm_make_finish(&make, &usage, &why), 0);
	/* Its children's faults are with it: tail holds the whole megabyte. */
	assert_true(usage.ru_minflt > 256);
}

static void test_abandoned(void **state)
{
	const char *const argv[] = { "sleep", "60", NULL };
	const struct zm_make_spec spec = { .argv = argv };

	(void)state;
	assert_int_equal(zm_make_start(&make, &spec, &why), 0);
	assert_true(zm_make_read(&make, 0));
	zm_make_abandon(&make);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	zm_make_abandon(&make);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_output_held_by_another),
		cmocka_unit_test(test_clean_environment),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
