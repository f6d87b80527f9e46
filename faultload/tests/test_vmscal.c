/* vmscal: the printed figures are put together as the original's are, worked out by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "faultload/vmscal.h"
#include "workloads/tests/rig.h"

#define S UINT64_C(1000000000)

static struct zm_vmscal_run shared;
static struct zm_workload workload = { .metrics = zm_vmscal_metrics };
static struct zm_run run = { .workload = &workload, .nr_tasks = 2, .state = &shared };
static uint64_t ops[2], counters[8];
static struct zm_report report;

static int derive(void)
{
	struct zm_window window = { .run = &run,
				    .t0_ns = 5 * S,
				    .t1_ns = 15 * S,
				    .ops = ops,
				    .counters = counters,
				    .nr_counters = 4 };

	report.nr_figures = 0;
	return zm_vmscal_report(&window, &report);
}

static double value_of(const char *name)
{
	for (size_t i = 0; i < report.nr_figures; i++)
		if (strcmp(report.figures[i].metric->name + strlen("vm-scalability."), name) == 0)
			return report.figures[i].value;
	return NAN;
}

static void assert_value(const char *name, double expected)
{
	double value = value_of(name);

	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%s: %.12g, expected %.12g", name, value, expected);
}

static void reset(void)
{
	memset(&shared, 0, sizeof(shared));
	memset(counters, 0, sizeof(counters));
	shared.area_bytes = UINT64_C(1) << 30;
	ops[0] = (UINT64_C(5) << 30) / 8; /* 5 GiB in 10 s */
	ops[1] = (UINT64_C(10) << 30) / 8;
}

/* No lead, nothing but access: 2 s and 1 s a GiB, of which 9/8 are printed. */
static void test_mere_access(void **state)
{
	(void)state;
	reset();
	assert_int_equal(derive(), 0);
	assert_value("throughput", 1.125 * 1048576 * 1.5);
	assert_value("median", 1.125 * 1048576);
	assert_value("workload", 1.125 * 15 * 1048576);
	assert_value("true_throughput", 1.5 * 1048576);
	assert_value("true_median", 1.0 * 1048576);
	/* deviation 0.25 of a mean of 0.75, and twice that, for two tasks, as printed */
	assert_value("true_stddev%", 100.0 / 3);
	assert_value("stddev%", 200.0 / 3);
	assert_true(isnan(value_of("populate_time")) && isnan(value_of("free_time")));
	assert_true(isnan(value_of("median_stddev%")) && isnan(value_of("copy_time")));
}

/* Populating and forking are in the printed figure's time, freeing is not. */
static void test_lead_and_free(void **state)
{
	(void)state;
	reset();
	shared.populate_ns = 3 * S;
	shared.begin.nr = 10;
	shared.begin.total_ns = 5 * S; /* 0.5 s each, two tasks: 1 s */
	shared.free.nr = 4;
	shared.free.total_ns = 8 * S;
	shared.copy.nr = 2;
	shared.copy.total_ns = S;
	ops[1] = ops[0];
	counters[ZM_VMSCAL_BEGIN_NS] = counters[4 + ZM_VMSCAL_BEGIN_NS] = 1 * S;
	counters[ZM_VMSCAL_FREE_NS] = counters[4 + ZM_VMSCAL_FREE_NS] = 4 * S;
	assert_int_equal(derive(), 0);
	/* 5 s of access for 5 GiB: 1 s a round, and 4 s before it */
	assert_value("throughput", 2 * 1.125 * 1048576 / 5);
	assert_value("true_throughput", 1048576);
	assert_value("populate_time", 3);
	assert_value("begin_time", 0.5);
	assert_value("free_time", 2);
	assert_value("copy_time", 0.5);
	assert_value("store_time", 0.5);
	assert_value("stddev%", 0);
}

static void log_round(uint64_t round, unsigned int task, uint64_t end_ns, double access_s)
{
	shared.log[round * 2 + task] =
		(struct zm_vmscal_round){ .end_ns = end_ns, .access_s = access_s };
}

/* Samples are rounds of all tasks that ended in the window: two of these four. */
static void test_samples(void **state)
{
	double a = 1.125 * 1048576 / 1, b = 1.125 * 1048576 / 2, c = 1.125 * 1048576 / 4;

	(void)state;
	reset();
	log_round(0, 0, 4 * S, 9); /* one ended before it */
	log_round(0, 1, 6 * S, 9);
	log_round(1, 0, 8 * S, 1);
	log_round(1, 1, 9 * S, 2);
	log_round(2, 0, 12 * S, 2);
	log_round(2, 1, 13 * S, 4);
	log_round(3, 0, 14 * S, 9); /* the other has not ended */
	assert_int_equal(derive(), 0);
	assert_value("stddev%", ((a + b) - (b + c)) / ((a + b) + (b + c)) * 100);
	assert_value("median_stddev%", (a - b) / (a + b) * 100);
}

/* Where the original prints what dd does: blocks of 4 KiB, and nothing added. */
static void test_plain_blocks(void **state)
{
	(void)state;
	reset();
	shared.op_bytes = 4096;
	shared.is_plain = true;
	ops[0] = ops[1] = (UINT64_C(5) << 30) / 4096;
	assert_int_equal(derive(), 0);
	assert_value("throughput", 1048576);
	assert_value("true_throughput", 1048576);
	assert_value("workload", 10 * 1048576);
}

/* A second eighth is added where the area was remapped. */
static void test_remapped(void **state)
{
	(void)state;
	reset();
	shared.is_remapped = true;
	assert_int_equal(derive(), 0);
	assert_value("throughput", 1.25 * 1048576 * 1.5);
	assert_value("workload", 1.25 * 15 * 1048576);
	assert_value("true_throughput", 1.5 * 1048576);
}

static void test_nothing_done(void **state)
{
	(void)state;
	reset();
	ops[1] = 0;
	assert_int_equal(derive(), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mere_access),  cmocka_unit_test(test_lead_and_free),
		cmocka_unit_test(test_samples),      cmocka_unit_test(test_plain_blocks),
		cmocka_unit_test(test_nothing_done), cmocka_unit_test(test_remapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
