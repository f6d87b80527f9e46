/*
 * tally: whose silence is longest, and how long it is, by a clock of the test's own.
 *
 * links: -Wl,--wrap=zm_clock_now_ns
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "runner/arena.h"
#include "runner/tally.h"
#include "workloads/base/clock.h"

#define NR_TASKS 2

static uint64_t now_ns = 1000 * ZM_NS_PER_S;
static struct zm_arena arena;
static struct zm_tally tally;

uint64_t __wrap_zm_clock_now_ns(void);

uint64_t __wrap_zm_clock_now_ns(void)
{
	return now_ns;
}

static int set_up(void **state)
{
	static const struct zm_workload workload = { .name = "none", .op = "operations" };
	struct zm_why why;

	(void)state;
	assert_int_equal(zm_arena_init(&arena, &workload, NR_TASKS, &why), 0);
	tally = (struct zm_tally){ .arena = &arena, .nr_values = 1 };
	tally.values = calloc(NR_TASKS, sizeof(*tally.values));
	tally.moved_ns = calloc(NR_TASKS, sizeof(*tally.moved_ns));
	tally.heard_ns = calloc(NR_TASKS, sizeof(*tally.heard_ns));
	assert_true(tally.values && tally.moved_ns && tally.heard_ns);
	zm_tally_read(&tally);
	zm_tally_start_watch(&tally, now_ns);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	zm_tally_release(&tally);
	zm_arena_release(&arena);
	return 0;
}

static void count(unsigned int task)
{
	atomic_fetch_add(&zm_arena_slot(&arena, task)->ops, 1);
}

static void read_after(uint64_t ns)
{
	now_ns += ns;
	zm_tally_read(&tally);
}

static void is_silent(unsigned int task, uint64_t ns)
{
	uint64_t silent_ns;

	assert_int_equal(zm_tally_most_silent(&tally, &silent_ns), task);
	assert_int_equal(silent_ns, ns);
}

static void test_silence(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		count(0);
		read_after(ZM_NS_PER_S / 4);
	}
	is_silent(1, 5 * ZM_NS_PER_S);
	count(1);
	read_after(ZM_NS_PER_S / 4);
	is_silent(0, ZM_NS_PER_S / 4);
}

/* Nobody looked for a minute: that is no task's silence, whoever counts first when it goes on. */
static void test_standstill(void **state)
{
	(void)state;
	read_after(ZM_NS_PER_S / 4);
	read_after(60 * ZM_NS_PER_S);
	is_silent(0, ZM_NS_PER_S / 4 + ZM_TALLY_LOOK_NS);
	count(0);
	count(1);
	read_after(ZM_NS_PER_S / 4);
	is_silent(0, 0);
	/* when it was, is still known */
	assert_int_equal(tally.moved_ns[0], now_ns);
}

/* Who looks rarely finds a silence later, but finds it. */
static void test_rare_looks(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		read_after(10 * ZM_NS_PER_S);
	is_silent(0, 5 * ZM_TALLY_LOOK_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_silence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_standstill, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rare_looks, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
