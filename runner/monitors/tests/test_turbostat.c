/* turbostat: frequencies and power of machines made here: absent with the reason, and counters that run over. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "runner/monitors/tests/rig.h"
#include "runner/monitors/tests/tree.h"
#include "workloads/base/clock.h"

static struct rig rig;
static struct tree tree;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static void write_khz(unsigned int cpu, unsigned int khz)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%u\n", khz);
	tree_write(&tree, text, "sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
}

static void write_domain(const char *folder, const char *name, unsigned long long uj)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%llu\n", uj);
	tree_write(&tree, name, "sys/class/powercap/%s/name", folder);
	tree_write(&tree, text, "sys/class/powercap/%s/energy_uj", folder);
	tree_write(&tree, "1000000\n", "sys/class/powercap/%s/max_energy_range_uj", folder);
}

static double reported(const char *metric)
{
	int row = rig_reported(&rig.report, metric);

	if (row < 0)
		fail_msg("no %s", metric);
	return rig.report.rows[row].value;
}

static void open_tree(void)
{
	rig_open(&rig, tree.root, "turbostat");
}

static void test_frequency(void **state)
{
	(void)state;
	write_khz(0, 2000000);
	write_khz(3, 3000500);
	open_tree();
	assert_int_equal(rig.open_error, 0);
	assert_true(rig_has_absent(&rig.recorder, "turbostat.PkgWatt: no /sys/class/powercap"));
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, ZM_NS_PER_S), 0);
	assert_true(rig_find(&rig.recorder, "turbostat.MHz", ZM_SCOPE_CPU, 3)->f64 == 3000.5);
	write_khz(0, 1000000);
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, 2 * ZM_NS_PER_S), 0);
	assert_int_equal(rig_report(&rig, ZM_NS_PER_S, 2 * ZM_NS_PER_S), 0);
	/* the mean over time of the CPUs' mean */
	assert_true(fabs(reported("turbostat.MHz") - (2500.25 + 2000.25) / 2) < 1e-6);
	assert_true(fabs(reported("turbostat.min_MHz") - 1500) < 1e-6);
	assert_true(fabs(reported("turbostat.max_MHz") - 3000.5) < 1e-6);
	rig_close(&rig);
}

/* Two packages; one runs over; what is no package or part of one is left alone. */
static void test_power(void **state)
{
	(void)state;
	write_domain("intel-rapl:0", "package-0\n", 100000);
	write_domain("intel-rapl:0:0", "core\n", 50000);
	write_domain("intel-rapl:0:1", "dram\n", 10000);
	write_domain("intel-rapl:1", "package-1\n", 900000);
	write_domain("intel-rapl:2", "psys\n", 1);
	write_domain("intel-rapl:0:2", "uncore\n", 1);
	open_tree();
	assert_int_equal(rig.open_error, 0);
	assert_true(rig_has_absent(&rig.recorder, "turbostat.MHz: no /sys/devices"));
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, ZM_NS_PER_S), 0);
	write_domain("intel-rapl:0", "package-0\n", 400000);
	write_domain("intel-rapl:0:0", "core\n", 150000);
	write_domain("intel-rapl:0:1", "dram\n", 30000);
	write_domain("intel-rapl:1", "package-1\n", 200000); /* 100000 to its end, and 200000 */
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, 3 * ZM_NS_PER_S), 0);
	assert_int_equal(rig_report(&rig, ZM_NS_PER_S, 3 * ZM_NS_PER_S), 0);
	assert_int_equal(rig_find(&rig.recorder, "turbostat.PkgJ.socket1", ZM_SCOPE_HOST, 0)->u64,
			 300000);
	assert_true(fabs(reported("turbostat.PkgWatt") - 0.3) < 1e-9);
	assert_true(fabs(reported("turbostat.CorWatt") - 0.05) < 1e-9);
	assert_true(fabs(reported("turbostat.RAMWatt") - 0.01) < 1e-9);
	rig_close(&rig);
}

/* A counter that goes away leaves a gap, and no power of half a machine. */
static void test_gone(void **state)
{
	char path[160];

	(void)state;
	write_domain("intel-rapl:0", "package-0\n", 1);
	write_domain("intel-rapl:1", "package-1\n", 1);
	open_tree();
	assert_int_equal(rig.open_error, 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, ZM_NS_PER_S), 0);
	(void)snprintf(path, sizeof(path), "%s/sys/class/powercap/intel-rapl:1/energy_uj",
		       tree.root);
	assert_int_equal(unlink(path), 0);
	assert_int_not_equal(rig_read(&rig, ZM_PHASE_STOP, 2 * ZM_NS_PER_S), 0);
	assert_int_equal(rig_report(&rig, ZM_NS_PER_S, 2 * ZM_NS_PER_S), 0);
	assert_int_equal(rig_reported(&rig.report, "turbostat.PkgWatt"), -1);
	rig_close(&rig);
}

static void test_nothing(void **state)
{
	(void)state;
	tree_write(&tree, "0\n", "sys/devices/system/cpu/online");
	open_tree();
	assert_int_equal(rig.open_error, -ENOTSUP);
	assert_non_null(strstr(rig.why.text, "cpufreq"));
	assert_non_null(strstr(rig.why.text, "RAPL"));
	rig_close(&rig);
}

/* A counter that is there and cannot be read, as for all but root (here: a folder, for root's sake). */
static void test_hidden(void **state)
{
	(void)state;
	write_khz(0, 1000);
	tree_write(&tree, "package-0\n", "sys/class/powercap/intel-rapl:0/name");
	tree_write(&tree, "1\n", "sys/class/powercap/intel-rapl:0/energy_uj/file");
	open_tree();
	assert_int_equal(rig.open_error, 0);
	assert_true(rig_has_absent(&rig.recorder, "energy_uj may not be read: run as root"));
	rig_close(&rig);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frequency), TEST(test_power),  TEST(test_gone),
		TEST(test_nothing),   TEST(test_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
