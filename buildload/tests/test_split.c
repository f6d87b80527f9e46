/*
 * test_split: processes of known user and system time, sampled by a tick as the kernel does it: what is
 * made of the samples adds up to what was there, program by program.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buildload/split.h"
#include "workloads/base/random.h"

#define TICK_NS UINT64_C(4000000)
#define US      UINT64_C(1000)
#define MAX     40000

static const struct program {
	const char *name;
	size_t nr;
	uint64_t user_us, system_us; /* each; they stray by half */
} programs[] = {
	{ "sh", 20000, 200, 600 },   { "mkdir", 5000, 900, 300 },    { "cc1", 400, 150000, 45000 },
	{ "nm", 1000, 7000, 11000 }, { "fixdep", 2000, 3000, 5000 }, { "idle", 50, 0, 0 },
};

#define NR_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static struct zm_trace_process processes[MAX];
static struct zm_trace trace = { .processes = processes };

/* As the kernel does: a tick finds the process in user space or in the kernel; what was never found there
 * has no time there. */
static void sample(struct zm_trace_process *process, struct zm_random *random)
{
	uint64_t all = process->user_ns + process->system_ns;
	uint64_t found[2] = { 0, 0 };

	for (uint64_t at = zm_random_below(random, TICK_NS); at < all; at += TICK_NS)
		found[zm_random_below(random, all) >= process->user_ns]++;
	process->system_ns = found[1] == 0 ? 0
					   : (uint64_t)((double)all * (double)found[1] /
							(double)(found[0] + found[1]));
	process->user_ns = all - process->system_ns;
}

static uint64_t strayed(uint64_t us, struct zm_random *random)
{
	return us * US / 2 + (us ? zm_random_below(random, us * US) : 0);
}

static void make_up(bool is_sampled, uint64_t ret_system_ns[NR_PROGRAMS])
{
	struct zm_random random;

	zm_random_init(&random, 17, 0);
	trace.nr = 0;
	memset(ret_system_ns, 0, NR_PROGRAMS * sizeof(*ret_system_ns));
	for (size_t i = 0; i < NR_PROGRAMS; i++) {
		for (size_t k = 0; k < programs[i].nr; k++) {
			struct zm_trace_process *process = &processes[trace.nr++];

			*process = (struct zm_trace_process){
				.has_ended = true,
				.has_execed = true,
				.user_ns = strayed(programs[i].user_us, &random),
				.system_ns = strayed(programs[i].system_us, &random),
			};
			(void)snprintf(process->name, sizeof(process->name), "%s",
				       programs[i].name);
			ret_system_ns[i] += process->system_ns;
			if (is_sampled)
				sample(process, &random);
		}
	}
}

static uint64_t system_of(const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < trace.nr; i++)
		sum += strcmp(processes[i].name, name) == 0 ? processes[i].system_ns : 0;
	return sum;
}

static uint64_t sum_all(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < trace.nr; i++)
		sum += processes[i].user_ns + processes[i].system_ns;
	return sum;
}

static void test_sampled(void **state)
{
	uint64_t wanted[NR_PROGRAMS], all;

	(void)state;
	make_up(true, wanted);
	/* What this is about: short ones have hardly any. */
	assert_true(system_of("sh") < wanted[0] / 3);
	all = sum_all();
	assert_int_equal(zm_split_times(&trace, TICK_NS), 0);
	assert_int_equal(sum_all(), all);
	for (size_t i = 0; i < NR_PROGRAMS; i++) {
		double ratio =
			wanted[i] ? (double)system_of(programs[i].name) / (double)wanted[i] : 1;

		if (ratio < 0.9 || ratio > 1.1)
			fail_msg("%s: %.3f of its system time", programs[i].name, ratio);
	}
}

/* Where the kernel counts exactly, nothing is made of it. */
static void test_exact(void **state)
{
	uint64_t wanted[NR_PROGRAMS];

	(void)state;
	make_up(false, wanted);
	assert_int_equal(zm_split_times(&trace, TICK_NS), 0);
	for (size_t i = 0; i < NR_PROGRAMS; i++)
		assert_int_equal(system_of(programs[i].name), wanted[i]);
}

/* Programs of which there are few, and processes that have not ended. */
static void test_few(void **state)
{
	uint64_t wanted[NR_PROGRAMS];

	(void)state;
	make_up(true, wanted);
	trace.nr = 100;
	for (size_t i = 0; i < trace.nr; i++)
		(void)snprintf(processes[i].name, sizeof(processes[i].name), "p%zu", i / 3);
	processes[7] = (struct zm_trace_process){ .system_ns = 5 };
	assert_int_equal(zm_split_times(&trace, TICK_NS), 0);
	assert_int_equal(processes[7].system_ns, 5);
	for (size_t i = 1; i < trace.nr; i++) {
		const struct zm_trace_process *process = &processes[i];
		uint64_t all = process->user_ns + process->system_ns;

		if (i != 7)
			assert_true(all > 0 && process->system_ns <= all);
	}
	trace.nr = 0;
	assert_int_equal(zm_split_times(&trace, TICK_NS), 0);
}

static void test_tick(void **state)
{
	(void)state;
	/* From 10,000 a second to 10. */
	assert_true(zm_split_tick_ns() >= 100 * US && zm_split_tick_ns() <= 100000 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
