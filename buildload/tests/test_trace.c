/*
 * trace: processes that do known things: the trace says the same. This program is its own actor
 * (test_trace --act FOLDER).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "buildload/trace.h"
#include "workloads/base/tests/tree.h"

/* Under a sanitizer there are its own maps beside ours, and the leak checker cannot be traced. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

#define MAPS      5
#define MAP_BYTES ((2 << 20) + (12 << 10)) /* of no allocator */
#define MISSING   7
#define OPENS     3
#define BRK_BYTES (1 << 20)

static struct tree tree;
static struct zm_why why;

/* --- the actor -------------------------------------------------------------------------------- */

static void *be_thread(void *argument)
{
	return argument;
}

static int act(const char *folder)
{
	pthread_t thread;
	char path[PATH_MAX];
	char *end;

	for (int i = 0; i < MAPS; i++) {
		char *map = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memset(map, 1, MAP_BYTES);
		if (i == 0)
			(void)munmap(map, MAP_BYTES);
	}
	end = sbrk(BRK_BYTES);
	memset(end, 1, BRK_BYTES);
	for (int i = 0; i < MISSING; i++) {
		(void)snprintf(path, sizeof(path), "%s/missing-%d", folder, i);
		if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
			return 1;
	}
	for (int i = 0; i < OPENS; i++) {
		int fd;

		(void)snprintf(path, sizeof(path), "%s/file-%d", folder, i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, path, 10) != 10)
			return 2;
	}
	if (pthread_create(&thread, NULL, be_thread, NULL) || pthread_join(thread, NULL))
		return 3;
	return 0;
}

/* --- the tests -------------------------------------------------------------------------------- */

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	for (int i = 0; i < OPENS; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "file-%d", i);
		tree_write(&tree, name, "0123456789");
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

/* Skips where tracing is not allowed. */
static struct zm_trace *trace(const char *const *argv, int *ret_status)
{
	struct zm_trace *traced = NULL;
	int r = zm_trace_run(argv, &traced, ret_status, &why);

	if (r == -ENOTSUP) {
		(void)printf("skipped: %s\n", why.text);
		skip();
	}
	if (r < 0)
		fail_msg("%s", why.text);
	return traced;
}

static void test_known(void **state)
{
	const char *const argv[] = { "/proc/self/exe", "--act", tree.path, NULL };
	const struct zm_trace_process *process;
	struct zm_trace *traced;
	uint64_t pages = (uint64_t)sysconf(_SC_PAGESIZE), nr_large = 0, read_files = 0;
	int status;

	(void)state;
	traced = trace(argv, &status);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(traced->nr, 1);
	assert_int_equal(traced->nr_execs, 1);
	process = &traced->processes[0];
	assert_int_equal(process->parent, -1);
	assert_true(process->has_execed && process->has_ended);
	assert_true(process->end_ns > process->start_ns);
	for (size_t i = 0; i < process->nr_growths; i++)
		nr_large += process->growths[i].bytes == MAP_BYTES && !process->growths[i].is_brk;
	assert_int_equal(nr_large, MAPS);
	assert_true(process->unmapped_bytes >= MAP_BYTES);
	assert_true(process->broken_bytes >= BRK_BYTES);
	assert_true(process->anon_pages >= (MAPS - 1) * MAP_BYTES / pages);
	assert_true(process->faults >= MAPS * MAP_BYTES / pages);
	assert_true(process->peak_rss_pages >= process->anon_pages);
	assert_true(process->file_pages > 0 && process->table_pages > 0);
	assert_true(process->nr_images >= 2 && process->image_bytes > 0);
	assert_true(process->opens_missing >= MISSING);
	assert_true(process->opens >= OPENS);
	assert_true(process->read_bytes >= 10 * OPENS);
	assert_true(process->user_ns + process->system_ns > 0);
	assert_int_equal(traced->nr_threads, 1 + IS_SANITIZED * (traced->nr_threads - 1));
	for (size_t i = 0; i < traced->nr_files; i++)
		read_files += traced->files[i].bytes == 10;
	assert_int_equal(read_files, OPENS);
	zm_trace_free(traced);
}

/* Growths are in order, and so is what stood at each. */
static void test_ramp_rises(void **state)
{
	const char *const argv[] = { "/proc/self/exe", "--act", tree.path, NULL };
	const struct zm_trace_process *process;
	struct zm_trace *traced;
	int status;

	(void)state;
	traced = trace(argv, &status);
	process = &traced->processes[0];
	for (size_t i = 1; i < process->nr_growths; i++) {
		assert_true(process->growths[i].cpu_ns >= process->growths[i - 1].cpu_ns);
		assert_true(process->growths[i].anon_pages <= process->anon_pages);
	}
	assert_true(process->nr_growths > MAPS);
	zm_trace_free(traced);
}

/* A shell, a program, a pipeline, a subshell; exec without fork; the parents are who they are. */
static void test_tree(void **state)
{
	const char *const argv[] = {
		"sh", "-c",
		"ls / > /dev/null; (:; :) ; sh -c 'ls /; :' | cat > /dev/null; "
		"exec true",
		NULL
	};
	struct zm_trace *traced;
	size_t nr_named[4] = { 0 };
	static const char *const names[] = { "ls", "cat", "sh", "true" };
	int status;

	(void)state;
	traced = trace(argv, &status);
	assert_int_equal(status, 0);
	assert_int_equal(traced->processes[0].parent, -1);
	for (size_t i = 0; i < traced->nr; i++) {
		const struct zm_trace_process *process = &traced->processes[i];

		assert_true(process->has_ended);
		assert_true(process->parent < (int)i);
		for (size_t k = 0; k < 4; k++)
			nr_named[k] += strcmp(process->name, names[k]) == 0;
		if (strcmp(process->name, "ls") == 0)
			assert_true(process->has_execed);
	}
	assert_int_equal(traced->nr, 6); /* itself, ls, (), sh, its ls, cat */
	assert_int_equal(nr_named[0], 2);
	assert_int_equal(nr_named[1], 1);
	assert_int_equal(nr_named[2], 2);
	assert_int_equal(nr_named[3], 1);
	assert_string_equal(traced->processes[0].name, "true");
	zm_trace_free(traced);
}

static void test_many(void **state)
{
	const char *const argv[] = {
		"sh", "-c",
		"i=0; while [ $i -lt 60 ]; do true & /bin/true & i=$((i + 1)); done; wait", NULL
	};
	struct zm_trace *traced;
	size_t nr = 0;
	int status;

	(void)state;
	traced = trace(argv, &status);
	for (size_t i = 0; i < traced->nr; i++)
		nr += strcmp(traced->processes[i].name, "true") == 0;
	assert_int_equal(nr, 60);
	assert_int_equal(traced->nr, 121);
	zm_trace_free(traced);
}

static void test_status(void **state)
{
	const char *const seven[] = { "sh", "-c", "exit 7", NULL };
	const char *const killed[] = { "sh", "-c", "kill -TERM $$", NULL };
	const char *const missing[] = { "no-such-program-anywhere", NULL };
	struct zm_trace *traced;
	int status;

	(void)state;
	traced = trace(seven, &status);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	zm_trace_free(traced);
	traced = trace(killed, &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	zm_trace_free(traced);
	assert_int_equal(zm_trace_run(missing, &traced, &status, &why), -ENOENT);
	assert_non_null(strstr(why.text, "cannot start no-such-program-anywhere"));
}

#define in_tree(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		in_tree(test_known),           in_tree(test_ramp_rises),
		cmocka_unit_test(test_tree),   cmocka_unit_test(test_many),
		cmocka_unit_test(test_status),
	};

	if (argc == 3 && strcmp(argv[1], "--act") == 0)
		return act(argv[2]);
	/* The leak checker stops the process itself, which a tracer does not allow. */
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
