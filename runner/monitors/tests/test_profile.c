/* profile: self, children and call traces of chains that are known, and the zone lock's shares. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "runner/monitors/profile.h"
#include "runner/monitors/tests/rig.h"

static struct zm_ksym symbols[] = {
	{ 0x1000, "native_queued_spin_lock_slowpath" },
	{ 0x2000, "_raw_spin_lock_irqsave" },
	{ 0x3000, "rmqueue_bulk" },
	{ 0x4000, "free_pcppages_bulk" },
	{ 0x5000, "_raw_spin_unlock_irqrestore" },
	{ 0x6000, "handle_mm_fault" },
	{ 0x7000, "do_unmap" },
	{ 0x8000, "futex_wait" },
};

static const struct zm_ksyms ksyms = { .list = symbols, .nr = 8 };

static const struct {
	uint64_t frames[6];
	uint32_t nr;
	uint64_t times;
} rows[] = {
	{ { 0x1001, 0x2001, 0x3001, 0x6001 }, 4, 10 },
	{ { 0x1002, 0x2002, 0x4001, 0x7001 }, 4, 6 },
	{ { 0x1003, 0x2003, 0x8001 }, 3, 4 },
	{ { 0x5001, 0x3002, 0x6002 }, 3, 20 },
	{ { 0x5001, 0x4002, 0x7002 }, 3, 30 },
	{ { 0x6001, 0x6002, 0x6003 }, 3, 5 }, /* a function that calls itself */
	{ { 0x0001 }, 1, 1 },
};

static double value_of(const struct zm_report *report, const char *metric)
{
	int row = rig_reported(report, metric);

	if (row < 0)
		print_error("no %s\n", metric);
	assert_true(row >= 0);
	return report->rows[row].value;
}

static void test_tables(void **state)
{
	struct zm_report report = { .nr_rows = 0 };
	struct zm_profile profile;
	struct zm_chains chains;

	(void)state;
	assert_int_equal(zm_chains_init(&chains, 64, 256), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		zm_chains_add(&chains, rows[i].frames, rows[i].nr, rows[i].times);
	assert_int_equal(zm_profile_count(&profile, &chains, &ksyms, 100), 0);
	assert_int_equal(profile.slowpath, 20);
	assert_int_equal(profile.slowpath_alloc, 10);
	assert_int_equal(profile.slowpath_free, 6);
	assert_int_equal(profile.section_alloc, 20);
	assert_int_equal(profile.section_free, 30);
	assert_int_equal(zm_profile_report(&profile, "cycles-pp", 0.5, 20, 1, &report), 0);
	assert_true(fabs(value_of(&report, "perf-profile.self.cycles-pp.native_queued_spin_lock_"
					   "slowpath") -
			 20) < 1e-9);
	assert_true(fabs(value_of(&report, "perf-profile.children.cycles-pp.handle_mm_fault") -
			 35) < 1e-9);
	assert_true(fabs(value_of(&report, "perf-profile.self.cycles-pp.handle_mm_fault") - 5) <
		    1e-9);
	assert_true(fabs(value_of(&report, "perf-profile.self.cycles-pp.[unknown]") - 1) < 1e-9);
	assert_true(fabs(value_of(&report,
				  "perf-profile.calltrace.cycles-pp._raw_spin_unlock_irqrestore."
				  "free_pcppages_bulk.do_unmap") -
			 30) < 1e-9);
	/* a function that is no leaf has a line of its own, with all that it called */
	assert_true(fabs(value_of(&report, "perf-profile.calltrace.cycles-pp.free_pcppages_bulk."
					   "do_unmap") -
			 36) < 1e-9);
	assert_true(fabs(value_of(&report, "perf-profile.calltrace.cycles-pp.handle_mm_fault") -
			 35) < 1e-9);
	assert_true(fabs(value_of(&report, "perf-profile.calltrace.cycles-pp.handle_mm_fault."
					   "handle_mm_fault.handle_mm_fault") -
			 5) < 1e-9);
	report.nr_rows = 0;
	assert_int_equal(zm_profile_report(&profile, "cpu-clock", 25, 20, 1, &report), 0);
	for (unsigned int i = 0; i < report.nr_rows; i++)
		assert_true(report.rows[i].value >= 25);
	assert_int_equal(rig_reported(&report, "perf-profile.self.cpu-clock.futex_wait"), -1);
	zm_profile_release(&profile);
	zm_chains_release(&chains);
}

/* More rows than a table begins with, most of them the same: each name once, and all are counted. */
static void test_many(void **state)
{
	struct zm_report report = { .nr_rows = 0 };
	struct zm_profile profile;
	struct zm_chains chains;
	uint64_t frames[2];

	(void)state;
	assert_int_equal(zm_chains_init(&chains, 4096, 8192), 0);
	for (uint64_t i = 0; i < 4000; i++) {
		frames[0] = 0x1000 + i % 4000;
		frames[1] = 0x6000 + i % 7;
		zm_chains_add(&chains, frames, 2, 1 + i % 3);
	}
	assert_int_equal(zm_profile_count(&profile, &chains, &ksyms, 8000), 0);
	assert_int_equal(profile.self.nr, 1);
	assert_int_equal(profile.children.nr, 2);
	assert_int_equal(profile.traces.nr, 2);
	assert_int_equal(profile.self.rows[0].times, 7999);
	assert_int_equal(profile.traces.rows[0].times, 7999);
	assert_int_equal(zm_profile_report(&profile, "cycles-pp", 0, 20, 1, &report), 0);
	zm_profile_release(&profile);
	zm_chains_release(&chains);
}

static void test_nothing(void **state)
{
	struct zm_report report = { .nr_rows = 0 };
	struct zm_chains chains = { 0 };
	struct zm_profile profile;

	(void)state;
	assert_int_equal(zm_profile_count(&profile, &chains, &ksyms, 0), 0);
	assert_int_equal(zm_profile_report(&profile, "cpu-clock", 0, 20, 1, &report), 0);
	assert_int_equal(report.nr_rows, 0);
	zm_profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
