/* arena: the layout keeps apart what must be apart, other processes see it, and one failure stands. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/arena.h"

static const struct zm_metric counters[] = { { .name = "a" }, { .name = "b" }, { .name = NULL } };
static const struct zm_metric hists[] = { { .name = "h" }, { .name = NULL } };
static const struct zm_workload plain = { .name = "plain" };
static const struct zm_workload rich = {
	.name = "rich", .run_bytes = 10000, .counters = counters, .hists = hists
};

static size_t page_of(const void *at)
{
	return (size_t)at / (size_t)sysconf(_SC_PAGESIZE);
}

static void check_layout(const struct zm_workload *workload, unsigned int nr_tasks)
{
	struct zm_arena arena;
	const unsigned char *state_end;

	assert_int_equal(zm_arena_init(&arena, workload, nr_tasks, NULL), 0);
	state_end = (unsigned char *)arena.run->state + workload->run_bytes;
	assert_int_not_equal(page_of(arena.stop), page_of(arena.control));
	assert_int_equal(arena.run->nr_tasks, nr_tasks);
	assert_ptr_equal(arena.run->workload, workload);
	for (unsigned int i = 0; i < nr_tasks; i++) {
		struct zm_slot *slot = zm_arena_slot(&arena, i);

		assert_int_equal((size_t)slot % (size_t)sysconf(_SC_PAGESIZE), 0);
		assert_true((unsigned char *)slot >= state_end);
		assert_ptr_equal(zm_arena_enter(&arena, i), slot);
		assert_ptr_equal(slot->stop, arena.stop);
		assert_int_equal(slot->tid, getpid());
		assert_true((unsigned char *)(slot + 1) <= (unsigned char *)slot->hists);
		assert_true((unsigned char *)(slot->hists + arena.nr_hists) <=
			    arena.base + arena.bytes);
	}
	zm_arena_release(&arena);
	zm_arena_release(&arena);
}

static void test_layout(void **state)
{
	(void)state;
	check_layout(&plain, 1);
	check_layout(&plain, 1000);
	check_layout(&rich, 1);
	check_layout(&rich, 37);
}

static void test_size(void **state)
{
	size_t per_task;
	size_t one = zm_arena_bytes(&rich, 1, &per_task);

	(void)state;
	assert_int_equal(zm_arena_bytes(&rich, 11, &per_task), one + 10 * per_task);
	assert_true(per_task <= 64 * 1024);
	(void)zm_arena_bytes(&plain, 1, &per_task);
	assert_int_equal(per_task, sysconf(_SC_PAGESIZE));
}

static void test_no_memory(void **state)
{
	const struct zm_workload huge = { .name = "huge", .run_bytes = SIZE_MAX / 4 };
	struct zm_arena arena = { 0 };
	struct zm_why why;

	(void)state;
	assert_int_equal(zm_arena_init(&arena, &huge, 1, &why), -ENOMEM);
	assert_non_null(strstr(why.text, "1 tasks"));
	assert_null(arena.base);
}

/* A child's counts, its stop and its failure are seen by the parent, and the first failure stands. */
static void test_shared(void **state)
{
	struct zm_arena arena;
	const struct zm_failure *failure;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(zm_arena_init(&arena, &rich, 2, NULL), 0);
	assert_null(zm_arena_failure(&arena));
	pid = fork();
	if (pid == 0) {
		struct zm_slot *slot = zm_arena_enter(&arena, 1);

		atomic_store(&slot->ops, 7);
		zm_arena_stop(&arena);
		_exit(zm_arena_fail(&arena, 1, -EIO, "task %d: %s", 1, "first") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(atomic_load(&zm_arena_slot(&arena, 1)->ops), 7);
	assert_int_equal(atomic_load(arena.stop), 1);
	assert_false(zm_arena_fail(&arena, 0, -EPERM, "second"));
	failure = zm_arena_failure(&arena);
	assert_non_null(failure);
	assert_string_equal(failure->why.text, "task 1: first");
	assert_int_equal(failure->task, 1);
	assert_int_equal(failure->error, -EIO);
	zm_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
