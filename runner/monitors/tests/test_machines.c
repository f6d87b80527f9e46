/*
 * machines: every monitor on every made-up machine of workloads/tests/machines.
 *
 * A table of figures that each must get right, the reasons it must give where there are none, and what
 * holds for all: it opens or says why, reads twice, and closes after either.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "runner/monitors/tests/rig.h"

#define HOST ZM_SCOPE_HOST
#define NODE ZM_SCOPE_NODE
#define ZONE ZM_SCOPE_ZONE
#define CPU  ZM_SCOPE_CPU
#define CG   ZM_SCOPE_CGROUP
#define TICK UINT64_C(10000000)

static const char *const machines[] = {
	"procfs-one-node",   "procfs-two-nodes-8-cpus", "procfs-node-without-cpus",
	"procfs-before-4.8", "procfs-linux-6.18",       "procfs-like-s390",
};

static const char *const monitors[] = {
	"meminfo",  "memused",    "numa-meminfo", "proc-vmstat", "numa-vmstat",   "numa-numastat",
	"vmstat",   "mpstat",     "zoneinfo",     "pressure",    "cgroup-memory", "uptime",
	"softirqs", "interrupts", "cpuidle",      "sched-debug",
};

struct figure {
	const char *machine;
	const char *monitor;
	const char *metric;
	enum zm_scope scope;
	uint32_t scope_id;
	enum zm_kind kind;
	const char *unit;
	uint64_t value;
};

static const struct figure figures[] = {
	{ "one-node", "meminfo", "meminfo.MemFree", HOST, 0, ZM_GAUGE, "kB", 3000000 },
	{ "one-node", "meminfo", "meminfo.Active(anon)", HOST, 0, ZM_GAUGE, "kB", 50001 },
	{ "one-node", "meminfo", "meminfo.HugePages_Total", HOST, 0, ZM_GAUGE, "huge pages", 3 },
	{ "one-node", "memused", "meminfo.Memused", HOST, 0, ZM_GAUGE, "kB", 1000000 },
	{ "one-node", "memused", "meminfo.MemTotal", HOST, 0, ZM_GAUGE, "kB", 4000000 },
	{ "one-node", "memused", "numa-meminfo.node0.MemUsed", NODE, 0, ZM_GAUGE, "kB", 1000000 },
	{ "one-node", "numa-meminfo", "numa-meminfo.node0.MemFree", NODE, 0, ZM_GAUGE, "kB",
	  3000000 },
	{ "one-node", "proc-vmstat", "proc-vmstat.pgfault", HOST, 0, ZM_COUNT, "events", 880003 },
	{ "one-node", "proc-vmstat", "proc-vmstat.nr_dirtied", HOST, 0, ZM_COUNT, "pages", 77 },
	{ "one-node", "numa-vmstat", "numa-vmstat.node0.numa_hit", NODE, 0, ZM_COUNT, "pages",
	  123456 },
	{ "one-node", "numa-numastat", "numa-numastat.node0.local_node", NODE, 0, ZM_COUNT, "pages",
	  123400 },
	{ "one-node", "zoneinfo", "zoneinfo.managed.node0.Normal", ZONE, 2, ZM_GAUGE, "pages",
	  996160 },
	{ "one-node", "zoneinfo", "zoneinfo.high.node0.Normal", ZONE, 2, ZM_GAUGE, "pages", 7500 },
	{ "one-node", "zoneinfo", "zoneinfo.min.node0.Movable", ZONE, 4, ZM_GAUGE, "pages", 32 },
	{ "one-node", "zoneinfo", "zoneinfo.free.node0.DMA", ZONE, 0, ZM_GAUGE, "pages", 3840 },
	{ "one-node", "zoneinfo", "zoneinfo.numa_hit.node0.Normal", ZONE, 2, ZM_COUNT, "pages",
	  123456 },
	{ "one-node", "zoneinfo", "pcp.count.node0.Normal", CPU, 0, ZM_GAUGE, "pages", 311 },
	{ "one-node", "zoneinfo", "pcp.high.node0.Normal", CPU, 1, ZM_GAUGE, "pages", 1733 },
	{ "one-node", "zoneinfo", "pcp.high_min.node0.Normal", CPU, 1, ZM_GAUGE, "pages", 1721 },
	{ "one-node", "zoneinfo", "pcp.high_max.node0.Normal", CPU, 0, ZM_GAUGE, "pages", 62260 },
	{ "one-node", "zoneinfo", "pcp.batch.node0.DMA", CPU, 0, ZM_GAUGE, "pages", 1 },
	{ "one-node", "vmstat", "vmstat.system.in", HOST, 0, ZM_COUNT, "interrupts", 219788 },
	{ "one-node", "vmstat", "vmstat.system.cs", HOST, 0, ZM_COUNT, "switches", 452160 },
	{ "one-node", "vmstat", "vmstat.procs.r", HOST, 0, ZM_GAUGE, "tasks", 3 },
	{ "one-node", "vmstat", "vmstat.procs.b", HOST, 0, ZM_GAUGE, "tasks", 1 },
	{ "one-node", "vmstat", "vmstat.memory.swpd", HOST, 0, ZM_GAUGE, "kB", 192 },
	{ "one-node", "vmstat", "vmstat.memory.cache", HOST, 0, ZM_GAUGE, "kB", 240000 },
	{ "one-node", "vmstat", "vmstat.swap.so", HOST, 0, ZM_COUNT, "pages", 7 },
	{ "one-node", "vmstat", "vmstat.io.bo", HOST, 0, ZM_COUNT, "kB", 4003 },
	{ "one-node", "vmstat", "vmstat.cpu.us", HOST, 0, ZM_COUNT, "ns", 2211 * TICK },
	{ "one-node", "vmstat", "vmstat.cpu.sy", HOST, 0, ZM_COUNT, "ns", 3079 * TICK },
	{ "one-node", "vmstat", "vmstat.cpu.st", HOST, 0, ZM_COUNT, "ns", 12 * TICK },
	{ "one-node", "mpstat", "mpstat.cpu.all.usr", HOST, 0, ZM_COUNT, "ns", 2100 * TICK },
	{ "one-node", "mpstat", "mpstat.cpu.all.nice", HOST, 0, ZM_COUNT, "ns", 10 * TICK },
	{ "one-node", "mpstat", "mpstat.cpu.all.guest", HOST, 0, ZM_COUNT, "ns", 100 * TICK },
	{ "one-node", "mpstat", "mpstat.cpu.soft", CPU, 1, ZM_COUNT, "ns", 72 * TICK },
	{ "one-node", "mpstat", "mpstat.cpu.usr", CPU, 0, ZM_COUNT, "ns", 660 * TICK },
	{ "one-node", "pressure", "pressure.cpu.some", HOST, 0, ZM_COUNT, "us", 1000001 },
	{ "one-node", "pressure", "pressure.memory.full", HOST, 0, ZM_COUNT, "us", 1002 },
	{ "one-node", "cgroup-memory", "cgroup-memory.current", CG, 0, ZM_GAUGE, "bytes",
	  104857600 },
	{ "one-node", "cgroup-memory", "cgroup-memory.peak", CG, 0, ZM_GAUGE, "bytes", 209715200 },
	{ "one-node", "cgroup-memory", "cgroup-memory.swap", CG, 0, ZM_GAUGE, "bytes", 4096 },
	{ "one-node", "cgroup-memory", "cgroup-memory.stat.anon", CG, 0, ZM_GAUGE, "bytes",
	  52428800 },
	{ "one-node", "cgroup-memory", "cgroup-memory.stat.pgfault", CG, 0, ZM_COUNT, "events",
	  31337 },
	{ "one-node", "cgroup-memory", "cgroup-memory.events.oom_kill", CG, 0, ZM_COUNT, "events",
	  1 },

	{ "one-node", "softirqs", "softirqs.NET_RX", HOST, 0, ZM_COUNT, "events", 6005 },
	{ "one-node", "softirqs", "softirqs.NET_RX", CPU, 1, ZM_COUNT, "events", 6000 },
	{ "one-node", "interrupts", "interrupts.RES:Rescheduling_interrupts", HOST, 0, ZM_COUNT,
	  "interrupts", 304365 },
	{ "one-node", "interrupts", "interrupts.RES:Rescheduling_interrupts", CPU, 1, ZM_COUNT,
	  "interrupts", 113686 },
	{ "one-node", "interrupts", "interrupts.38:PCI-MSIX-0000:00:03.0.1-edge.virtio2-input.0",
	  HOST, 0, ZM_COUNT, "interrupts", 3967 },
	{ "one-node", "interrupts", "interrupts.ERR", HOST, 0, ZM_COUNT, "interrupts", 9 },
	{ "one-node", "cpuidle", "cpuidle.C1.usage", HOST, 0, ZM_COUNT, "events", 41 },
	{ "one-node", "cpuidle", "cpuidle.C1.time", HOST, 0, ZM_COUNT, "us", 4000000 },
	{ "one-node", "cpuidle", "cpuidle.haltpoll_idle.time", HOST, 0, ZM_COUNT, "us", 14001 },

	{ "two-nodes-8-cpus", "memused", "numa-meminfo.node1.MemUsed", NODE, 1, ZM_GAUGE, "kB",
	  3499999 },
	{ "two-nodes-8-cpus", "numa-meminfo", "numa-meminfo.node1.Dirty", NODE, 1, ZM_GAUGE, "kB",
	  1 },
	{ "two-nodes-8-cpus", "proc-vmstat", "proc-vmstat.pgfault", HOST, 0, ZM_COUNT, "events",
	  UINT64_C(18000000000000000000) },
	{ "two-nodes-8-cpus", "zoneinfo", "pcp.count.node1.Normal", CPU, 7, ZM_GAUGE, "pages",
	  107 },
	{ "two-nodes-8-cpus", "zoneinfo", "pcp.high_max.node1.Normal", CPU, 0, ZM_GAUGE, "pages",
	  60001 },
	{ "two-nodes-8-cpus", "zoneinfo", "pcp.high.node0.DMA32", CPU, 7, ZM_GAUGE, "pages", 1007 },
	{ "two-nodes-8-cpus", "zoneinfo", "zoneinfo.managed.node1.Normal", ZONE, 18, ZM_GAUGE,
	  "pages", 1900001 },
	{ "two-nodes-8-cpus", "pressure", "pressure.cpu.some", HOST, 0, ZM_COUNT, "us", 5 },
	{ "two-nodes-8-cpus", "pressure", "pressure.irq.full", HOST, 0, ZM_COUNT, "us", 11 },
	{ "two-nodes-8-cpus", "cgroup-memory", "cgroup-memory.current", CG, 0, ZM_GAUGE, "bytes",
	  73400320 },
	{ "two-nodes-8-cpus", "cgroup-memory", "cgroup-memory.peak", CG, 0, ZM_GAUGE, "bytes",
	  83886080 },
	{ "two-nodes-8-cpus", "cgroup-memory", "cgroup-memory.failcnt", CG, 0, ZM_COUNT, "events",
	  17 },
	{ "two-nodes-8-cpus", "cgroup-memory", "cgroup-memory.stat.total_pgfault", CG, 0, ZM_COUNT,
	  "events", 6 },
	{ "two-nodes-8-cpus", "cgroup-memory", "cgroup-memory.events.oom_kill", CG, 0, ZM_COUNT,
	  "events", 3 },
	{ "two-nodes-8-cpus", "mpstat", "mpstat.cpu.steal", CPU, 7, ZM_COUNT, "ns", 100 * TICK },
	{ "two-nodes-8-cpus", "mpstat", "mpstat.cpu.usr", CPU, 7, ZM_COUNT, "ns", 0 },

	{ "node-without-cpus", "memused", "meminfo.Memused", HOST, 0, ZM_GAUGE, "kB", 1000000 },
	{ "node-without-cpus", "meminfo", "meminfo.MemFree", HOST, 0, ZM_GAUGE, "kB", 7000000 },
	{ "node-without-cpus", "meminfo", "meminfo.SomethingNew", HOST, 0, ZM_GAUGE, "kB", 42 },
	{ "node-without-cpus", "proc-vmstat", "proc-vmstat.pgfault", HOST, 0, ZM_COUNT, "events",
	  10 },
	{ "node-without-cpus", "proc-vmstat", "proc-vmstat.nr_new_thing", HOST, 0, ZM_GAUGE,
	  "pages", 30 },
	{ "node-without-cpus", "numa-meminfo", "numa-meminfo.node4.MemFree", NODE, 4, ZM_GAUGE,
	  "kB", 2000004 },
	{ "node-without-cpus", "zoneinfo", "zoneinfo.free.node4.Movable", ZONE, 68, ZM_GAUGE,
	  "pages", 900000 },
	{ "node-without-cpus", "zoneinfo", "pcp.high.node4.Movable", CPU, 0, ZM_GAUGE, "pages", 2 },

	{ "before-4.8", "zoneinfo", "zoneinfo.high.node0.DMA32", ZONE, 1, ZM_GAUGE, "pages", 200 },
	{ "before-4.8", "zoneinfo", "zoneinfo.nr_alloc_batch.node0.DMA", ZONE, 0, ZM_GAUGE, "pages",
	  17 },
	{ "before-4.8", "zoneinfo", "pcp.high.node0.DMA32", CPU, 1, ZM_GAUGE, "pages", 187 },
	{ "before-4.8", "zoneinfo", "pcp.batch.node0.DMA", CPU, 0, ZM_GAUGE, "pages", 31 },
	{ "before-4.8", "mpstat", "mpstat.cpu.all.idle", HOST, 0, ZM_COUNT, "ns", 40 * TICK },
	{ "before-4.8", "vmstat", "vmstat.cpu.sy", HOST, 0, ZM_COUNT, "ns", 30 * TICK },
	{ "before-4.8", "vmstat", "vmstat.memory.swpd", HOST, 0, ZM_GAUGE, "kB", 600 },
	{ "before-4.8", "cgroup-memory", "cgroup-memory.current", CG, 0, ZM_GAUGE, "bytes", 999 },
	{ "before-4.8", "numa-numastat", "numa-numastat.node0.numa_hit", NODE, 0, ZM_COUNT, "pages",
	  1 },

	{ "linux-6.18", "meminfo", "meminfo.Balloon", HOST, 0, ZM_GAUGE, "kB", 64 },
	{ "linux-6.18", "proc-vmstat", "proc-vmstat.nr_free_pages_blocks", HOST, 0, ZM_GAUGE,
	  "pages", 4999000 },
	{ "linux-6.18", "zoneinfo", "pcp.new_limit.node0.DMA32", CPU, 0, ZM_GAUGE, "pages", 6 },
	{ "linux-6.18", "zoneinfo", "zoneinfo.managed.node0.Device", ZONE, 5, ZM_GAUGE, "pages",
	  0 },

	{ "like-s390", "meminfo", "meminfo.DirectMap4k", HOST, 0, ZM_GAUGE, "kB", 16 },
	{ "like-s390", "memused", "meminfo.Memused", HOST, 0, ZM_GAUGE, "kB", 600000 },
	{ "like-s390", "mpstat", "mpstat.cpu.steal", CPU, 12, ZM_COUNT, "ns", 400 * TICK },
	{ "like-s390", "zoneinfo", "pcp.count.node0.DMA", CPU, 12, ZM_GAUGE, "pages", 4 },
	{ "like-s390", "softirqs", "softirqs.TIMER", CPU, 12, ZM_COUNT, "events", 4 },
	{ "like-s390", "interrupts", "interrupts.EXT", CPU, 1, ZM_COUNT, "interrupts", 5 },
	{ "like-s390", "interrupts", "interrupts.1:chip.name", HOST, 0, ZM_COUNT, "interrupts",
	  19 },
};

/* Where a monitor cannot be had at all, and a word of its sentence. */
static const struct {
	const char *machine;
	const char *monitor;
	int error;
	const char *word;
} refusals[] = {
	{ "like-s390", "numa-meminfo", -ENOTSUP, "CONFIG_NUMA" },
	{ "like-s390", "numa-vmstat", -ENOTSUP, "CONFIG_NUMA" },
	{ "like-s390", "numa-numastat", -ENOTSUP, "CONFIG_NUMA" },
	{ "like-s390", "pressure", -ENOTSUP, "CONFIG_PSI" },
	{ "like-s390", "cgroup-memory", -ENOTSUP, "cgroup" },
	{ "before-4.8", "numa-vmstat", -ENOTSUP, "node0/vmstat" },
	{ "node-without-cpus", "pressure", -ENOTSUP, "psi=1" },
	{ "before-4.8", "softirqs", -ENOENT, "/proc/softirqs" },
	{ "before-4.8", "cpuidle", -ENOTSUP, "cpuidle" },
	{ "before-4.8", "sched-debug", -ENOTSUP, "debugfs" },
	{ "before-4.8", "sched-delay", -ENOTSUP, "CONFIG_SCHED_INFO" },
};

/* Where a part is missing: who says so, and a word of the reason. */
static const struct {
	const char *machine;
	const char *monitor;
	const char *word;
} absences[] = {
	{ "before-4.8", "zoneinfo", "6.7" },
	{ "node-without-cpus", "zoneinfo", "high_min" },
	{ "node-without-cpus", "numa-numastat", "node4/numastat" },
	{ "like-s390", "memused", "CONFIG_NUMA" },
	{ "before-4.8", "cgroup-memory", "events" },
};

static void open_on(struct rig *rig, const char *machine, const char *monitor)
{
	char name[128];

	(void)snprintf(name, sizeof(name), "procfs-%s", machine);
	rig_open(rig, rig_machine(name), monitor);
}

static void check_figure(const struct figure *figure)
{
	const struct rig_series *series;
	struct rig rig;

	open_on(&rig, figure->machine, figure->monitor);
	assert_int_equal(rig.open_error, 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 1), 0);
	series = rig_find(&rig.recorder, figure->metric, figure->scope, figure->scope_id);
	if (!series || series->u64 != figure->value)
		print_error("%s: %s\n", figure->machine, figure->metric);
	assert_non_null(series);
	assert_int_equal(series->nr_readings, 1);
	assert_int_equal(series->u64, figure->value);
	assert_int_equal(series->desc.kind, figure->kind);
	assert_string_equal(series->desc.unit, figure->unit);
	assert_string_equal(series->source, figure->monitor);
	assert_int_equal(series->flags, 0);
	rig_close(&rig);
}

static void test_figures(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		check_figure(&figures[i]);
}

static void test_refusals(void **state)
{
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		open_on(&rig, refusals[i].machine, refusals[i].monitor);
		if (!strstr(rig.why.text, refusals[i].word))
			print_error("%s, %s: %s\n", refusals[i].machine, refusals[i].monitor,
				    rig.why.text);
		assert_int_equal(rig.open_error, refusals[i].error);
		assert_non_null(strstr(rig.why.text, refusals[i].word));
		rig_close(&rig);
	}
}

static void test_absences(void **state)
{
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		open_on(&rig, absences[i].machine, absences[i].monitor);
		assert_int_equal(rig.open_error, 0);
		assert_true(rig_has_absent(&rig.recorder, absences[i].word));
		rig_close(&rig);
	}
}

/* Every monitor on every machine: opens or says why; what it declared it reads, every time. */
static void test_all_on_all(void **state)
{
	const size_t nr_machines = sizeof(machines) / sizeof(machines[0]);
	const size_t nr_monitors = sizeof(monitors) / sizeof(monitors[0]);
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < nr_machines * nr_monitors; i++) {
		rig_open(&rig, rig_machine(machines[i / nr_monitors]), monitors[i % nr_monitors]);
		if (rig.open_error) {
			assert_true(rig.why.text[0] != '\0');
			rig_close(&rig);
			continue;
		}
		for (uint64_t t_ns = 1; t_ns <= 3; t_ns++)
			assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t_ns), 0);
		assert_true(rig.recorder.nr_series > 0);
		for (uint32_t k = 0; k < rig.recorder.nr_series; k++)
			assert_int_equal(rig.recorder.series[k].nr_readings, 3);
		rig_close(&rig);
	}
}

static void test_uptime(void **state)
{
	struct rig rig;

	(void)state;
	open_on(&rig, "one-node", "uptime");
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 1), 0);
	assert_true(fabs(rig_find(&rig.recorder, "uptime.boot", HOST, 0)->f64 - 91234.56) < 1e-6);
	assert_true(fabs(rig_find(&rig.recorder, "uptime.idle", HOST, 0)->f64 - 181000.07) < 1e-6);
	rig_close(&rig);
}

static void check_float(struct rig *rig, const char *metric, double value)
{
	const struct rig_series *series = rig_find(&rig->recorder, metric, HOST, 0);

	if (!series)
		print_error("%s\n", metric);
	assert_non_null(series);
	assert_true(fabs(series->f64 - value) < 1e-6);
}

/* Spread over the CPUs; other groups' queues, texts and the task list are passed over. */
static void test_sched_debug(void **state)
{
	struct rig rig;

	(void)state;
	open_on(&rig, "one-node", "sched-debug");
	assert_int_equal(rig.open_error, 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 1), 0);
	check_float(&rig, "sched_debug.cpu.nr_switches.avg", 2000);
	check_float(&rig, "sched_debug.cpu.nr_switches.stddev", 1000);
	check_float(&rig, "sched_debug.cpu.nr_uninterruptible.min", -1);
	check_float(&rig, "sched_debug.cpu.clock.max", 100.75);
	check_float(&rig, "sched_debug.cfs_rq:/.load_avg.max", 30);
	check_float(&rig, "sched_debug.cfs_rq:/.load_avg.min", 10);
	check_float(&rig, "sched_debug.rt_rq:/.rt_nr_running.avg", 4);
	check_float(&rig, "sched_debug.dl_rq.dl_nr_running.avg", 1);
	assert_null(rig_find(&rig.recorder, "sched_debug.cfs_rq:/.odd.avg", HOST, 0));
	rig_close(&rig);
	open_on(&rig, "like-s390", "sched-debug");
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 1), 0);
	check_float(&rig, "sched_debug.cpu.nr_switches.avg", 20);
	rig_close(&rig);
}

/* A window in which nothing moved has shares of 0 and means of the gauges, and a late border none. */
static void test_reports(void **state)
{
	static const struct {
		const char *monitor;
		const char *metric;
		double value;
	} rows[] = {
		{ "memused", "meminfo.Memused", 1000000 },
		{ "memused", "meminfo.max_used_kB", 1000000 },
		{ "memused", "meminfo.idle_used_kB", 1000000 },
		{ "memused", "meminfo.drained_used_kB", 1000000 },
		{ "memused", "meminfo.mean_above_idle_kB", 0 },
		{ "memused", "meminfo.max_above_idle_kB", 0 },
		{ "memused", "meminfo.drained_above_idle_kB", 0 },
		{ "vmstat", "vmstat.procs.r", 2 },
		{ "vmstat", "vmstat.procs.b", 1 },
		{ "vmstat", "vmstat.system.cs", 0 },
		{ "vmstat", "vmstat.memory.free", 3000000 },
		{ "pressure", "pressure.cpu.some%", 0 },
	};
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int row;

		open_on(&rig, "one-node", rows[i].monitor);
		assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 1), 0);
		assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, 1000), 0);
		assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, 2000), 0);
		assert_int_equal(rig_read(&rig, ZM_PHASE_DRAIN, 3000), 0);
		assert_int_equal(rig_report(&rig, 1000, 2000), 0);
		assert_int_equal(rig.recorder.nr_absent, 0);
		row = rig_reported(&rig.report, rows[i].metric);
		assert_true(row >= 0);
		assert_true(fabs(rig.report.rows[row].value - rows[i].value) < 1e-6);
		rig.report.nr_rows = 0;
		assert_int_equal(rig_report(&rig, 1000, 9000), 0);
		assert_true(rig_has_absent(&rig.recorder, "borders"));
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),     cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_absences),    cmocka_unit_test(test_all_on_all),
		cmocka_unit_test(test_uptime),      cmocka_unit_test(test_reports),
		cmocka_unit_test(test_sched_debug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
