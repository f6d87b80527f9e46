/*
 * known: the monitors against work whose amount is known.
 *
 * labels: known serial
 * timeout: 600
 *
 * A child makes a prime number of page faults, forks and switches; memory is taken and given back; time
 * passes. What the monitors say must agree: exactly where the count is of the child alone, within
 * stated bounds where the rest of the machine counts too.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "workloads/base/clock.h"

#define NR_FAULTS 50021 /* primes */
#ifdef ZM_SANITIZED     /* its shadow memory faults too */
#define OTHER_FAULTS (8 * NR_FAULTS)
#else
#define OTHER_FAULTS 64
#endif
#define NR_SWITCHES 401
#define NR_CHILDREN 23
#define MIB         ((size_t)1 << 20)

/* --- a child that works when told to ----------------------------------------------------------- */

struct child {
	pid_t pid;
	int go, done; /* one byte each */
};

static void touch_pages(size_t nr_pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, nr_pages * page_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		_exit(1);
	(void)madvise(pages, nr_pages * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < nr_pages; i++)
		((volatile char *)pages)[i * page_bytes] = 1;
	(void)munmap(pages, nr_pages * page_bytes);
}

static void sleep_often(void)
{
	for (unsigned int i = 0; i < NR_SWITCHES; i++)
		(void)usleep(50);
}

static void burn(uint64_t ns)
{
	uint64_t end_ns = zm_clock_now_ns() + ns;

	while (zm_clock_now_ns() < end_ns)
		;
}

static void make_children(void)
{
	for (unsigned int i = 0; i < NR_CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
	}
}

/* A byte comes in, the work is done, a byte goes out; until the pipe ends. */
static void serve(int go, int done)
{
	char order;

	while (read(go, &order, 1) == 1) {
		if (order == 'f')
			touch_pages(NR_FAULTS);
		else if (order == 's')
			sleep_often();
		else if (order == 'b')
			burn(300 * ZM_NS_PER_MS);
		else if (order == 'c')
			make_children();
		if (write(done, &order, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void start(struct child *child)
{
	int go[2], done[2];

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (child->pid == 0) {
		(void)close(go[1]);
		(void)close(done[0]);
		serve(go[0], done[1]);
	}
	(void)close(go[0]);
	(void)close(done[1]);
	child->go = go[1];
	child->done = done[0];
}

static void ask(struct child *child, char what)
{
	assert_int_equal(write(child->go, &what, 1), 1);
}

static void answer(struct child *child, char what)
{
	char done;

	assert_int_equal(read(child->done, &done, 1), 1);
	assert_int_equal(done, what);
}

static void order(struct child *child, char what)
{
	ask(child, what);
	answer(child, what);
}

static void pin_to(int cpu)
{
	zm_autocpuset struct zm_cpuset set = { 0 };

	assert_true(cpu >= 0);
	assert_int_equal(zm_cpuset_add(&set, (unsigned int)cpu), 0);
	assert_int_equal(zm_cpuset_set_affinity(0, &set), 0);
}

static struct zm_cpuset all_cpus;

static void unpin(void)
{
	assert_int_equal(zm_cpuset_set_affinity(0, &all_cpus), 0);
}

static void stop(struct child *child)
{
	(void)close(child->go);
	(void)close(child->done);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

static uint64_t value_of(struct rig *rig, const char *metric, enum zm_scope scope)
{
	const struct rig_series *series = rig_find(&rig->recorder, metric, scope, 0);

	assert_non_null(series);
	assert_true(series->nr_readings > 0);
	return series->u64;
}

static void read_now(struct rig *rig, enum zm_phase phase)
{
	assert_int_equal(rig_read(rig, phase, zm_clock_now_ns()), 0);
}

/* The rest of the machine faults and allocates too, in bursts; the best of some tries is judged. */
#define NR_TRIES 20

/* --- faults ------------------------------------------------------------------------------------ */

static void attach_to(struct rig *rig, const struct child *child)
{
	const struct zm_target target = {
		.kind = ZM_TASK_PROCESS,
		.launcher = getpid(),
		.tids = &child->pid,
		.nr_tasks = 1,
	};

	assert_int_equal(rig->context.monitor->attach(&rig->context, &target, &rig->why), 0);
}

static void watch(struct rig *rig, const struct child *child)
{
	rig_open(rig, NULL, "time");
	assert_int_equal(rig->open_error, 0);
	attach_to(rig, child);
}

/* The task's own count is exact but for a few faults of its stack and libc; the machine's holds all of
 * these, and of the rest of the machine's less than as many again. */
static void test_faults(void **state)
{
	uint64_t own = 1, kernel_least = UINT64_MAX;
	struct rig time, vmstat;
	struct child child;

	(void)state;
	start(&child);
	watch(&time, &child);
	rig_open(&vmstat, NULL, "proc-vmstat");
	for (unsigned int i = 0; i < NR_TRIES && kernel_least > 2 * own; i++) {
		uint64_t own_before, kernel_before, kernel;

		read_now(&time, ZM_PHASE_MEASURE);
		read_now(&vmstat, ZM_PHASE_MEASURE);
		own_before = value_of(&time, "time.minor_page_faults", ZM_SCOPE_TASK);
		kernel_before = value_of(&vmstat, "proc-vmstat.pgfault", ZM_SCOPE_HOST);
		order(&child, 'f');
		read_now(&vmstat, ZM_PHASE_MEASURE);
		read_now(&time, ZM_PHASE_MEASURE);
		own = value_of(&time, "time.minor_page_faults", ZM_SCOPE_TASK) - own_before;
		kernel = value_of(&vmstat, "proc-vmstat.pgfault", ZM_SCOPE_HOST) - kernel_before;
		assert_in_range(own, NR_FAULTS, NR_FAULTS + OTHER_FAULTS);
		assert_true(kernel >= own);
		kernel_least = kernel < kernel_least ? kernel : kernel_least;
	}
	assert_in_range(kernel_least, NR_FAULTS, 2 * own);
	stop(&child);
	rig_close(&time);
	rig_close(&vmstat);
}

/* A process that has waited for its children counts their faults as its own. */
static void test_children(void **state)
{
	uint64_t alone, with_children;
	struct rig time;
	struct child child;

	(void)state;
	start(&child);
	watch(&time, &child);
	order(&child, 'n');
	read_now(&time, ZM_PHASE_MEASURE);
	alone = value_of(&time, "time.minor_page_faults", ZM_SCOPE_TASK);
	order(&child, 'c');
	read_now(&time, ZM_PHASE_MEASURE);
	with_children = value_of(&time, "time.minor_page_faults", ZM_SCOPE_TASK);
	assert_true(with_children - alone >= NR_CHILDREN);
	stop(&child);
	/* gone: no reading, and no failure */
	read_now(&time, ZM_PHASE_DRAIN);
	assert_int_equal(value_of(&time, "time.minor_page_faults", ZM_SCOPE_TASK), with_children);
	rig_close(&time);
}

/* --- switches and CPU time --------------------------------------------------------------------- */

static double figure_of(const struct rig *time, const char *metric)
{
	int row = rig_reported(&time->report, metric);

	assert_true(row >= 0);
	return time->report.rows[row].value;
}

/* Two figures' sum, of a window in which the child did that. */
static double sum_of_window(char what, const char *metric, const char *other, double *ret_seconds)
{
	uint64_t t0_ns, t1_ns;
	struct child child;
	struct rig time;
	double sum;

	start(&child);
	watch(&time, &child);
	t0_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&time, ZM_PHASE_MEASURE, t0_ns), 0);
	order(&child, what);
	t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&time, ZM_PHASE_STOP, t1_ns), 0);
	assert_int_equal(rig_report(&time, t0_ns, t1_ns), 0);
	sum = figure_of(&time, metric) + (other ? figure_of(&time, other) : 0);
	*ret_seconds = (double)(t1_ns - t0_ns) / (double)ZM_NS_PER_S;
	stop(&child);
	rig_close(&time);
	return sum;
}

/* Each sleep is one; so may be each end of the pipes. A sleep that is over before its task has left the CPU,
 * which a moment of standstill makes it, is none. */
static void test_switches(void **state)
{
	double seconds, switches = 0;

	(void)state;
	for (unsigned int i = 0; i < NR_TRIES && switches < NR_SWITCHES; i++) {
		switches = sum_of_window('s', "time.voluntary_context_switches", NULL, &seconds);
		assert_in_range((uint64_t)switches, NR_SWITCHES / 2, NR_SWITCHES + 4);
	}
	assert_true(switches >= NR_SWITCHES);
}

/* A task that burns 300 ms of wall time got at most that, and what it got is in the report. */
static void test_cpu_time(void **state)
{
	double seconds, burnt = 0;

	(void)state;
	for (unsigned int i = 0; i < NR_TRIES && burnt <= 0; i++) {
		burnt = sum_of_window('b', "time.user_time", "time.system_time", &seconds);
		assert_true(burnt <= seconds + 0.03);
	}
	assert_true(burnt > 0);
}

/* Another task on its CPU makes one that never sleeps wait; false: the monitor cannot be had. */
static bool watch_delay(uint64_t *ret_sum_ns, uint64_t *ret_width_ns, double *ret_wait_percent)
{
	uint64_t t0_ns, t1_ns;
	struct child child;
	struct rig rig;

	start(&child);
	rig_open(&rig, NULL, "sched-delay");
	if (!rig.open_error) {
		attach_to(&rig, &child);
		t0_ns = zm_clock_now_ns();
		assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t0_ns), 0);
		*ret_sum_ns = value_of(&rig, "sched-delay.run_time", ZM_SCOPE_TASK) +
			      value_of(&rig, "sched-delay.wait_time", ZM_SCOPE_TASK);
		ask(&child, 'b');
		burn(400 * ZM_NS_PER_MS);
		answer(&child, 'b');
		t1_ns = zm_clock_now_ns();
		assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, t1_ns), 0);
		*ret_sum_ns = value_of(&rig, "sched-delay.run_time", ZM_SCOPE_TASK) +
			      value_of(&rig, "sched-delay.wait_time", ZM_SCOPE_TASK) - *ret_sum_ns;
		*ret_width_ns = t1_ns - t0_ns;
		assert_int_equal(rig_report(&rig, t0_ns, t1_ns), 0);
		*ret_wait_percent = figure_of(&rig, "sched-delay.wait%");
	}
	stop(&child);
	rig_close(&rig);
	return !rig.open_error;
}

/* A task that never sleeps either runs or waits: the two add up to the 300 ms that it burns, as long as the
 * machine does not stand still in them. */
static void test_sched_delay(void **state)
{
	uint64_t sum_ns = 0, width_ns = 0;
	double wait_percent = 0;
	bool is_had = true;

	(void)state;
	pin_to(sched_getcpu());
	for (unsigned int i = 0;
	     i < NR_TRIES && is_had && (sum_ns < 270 * ZM_NS_PER_MS || wait_percent <= 10); i++) {
		is_had = watch_delay(&sum_ns, &width_ns, &wait_percent);
		assert_true(!is_had || sum_ns <= width_ns + 20 * ZM_NS_PER_MS);
	}
	unpin();
	if (!is_had)
		skip();
	assert_true(sum_ns >= 270 * ZM_NS_PER_MS);
	assert_true(wait_percent > 10);
}

/* --- soft interrupts --------------------------------------------------------------------------- */

/* /proc/stat has the same sums; what is read between two readings of it is between their values. */
static void read_softirqs(uint64_t *ret_counts, size_t nr_counts)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[65536], *save = NULL;
	bool has_line = false;

	assert_non_null(file);
	while (!has_line && fgets(line, sizeof(line), file))
		has_line = strncmp(line, "softirq ", 8) == 0;
	(void)fclose(file);
	assert_true(has_line);
	(void)strtok_r(line, " ", &save);
	(void)strtok_r(NULL, " ", &save); /* the sum */
	for (size_t i = 0; i < nr_counts; i++)
		ret_counts[i] = strtoull(strtok_r(NULL, " \n", &save), NULL, 10);
}

static void test_softirqs(void **state)
{
	static const char *const kinds[] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };
	uint64_t before[10], after[10];
	char metric[64];
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, "softirqs");
	assert_int_equal(rig.open_error, 0);
	read_softirqs(before, 10);
	read_now(&rig, ZM_PHASE_MEASURE);
	read_softirqs(after, 10);
	for (size_t i = 0; i < 10; i++) {
		(void)snprintf(metric, sizeof(metric), "softirqs.%s", kinds[i]);
		assert_in_range(value_of(&rig, metric, ZM_SCOPE_HOST), before[i], after[i]);
	}
	rig_close(&rig);
}

/* --- memory ------------------------------------------------------------------------------------ */

/* What stands free in the CPUs' page lists, which MemFree does not have: on this kernel's own terms it may
 * be more than was taken. */
static double listed_kB(void)
{
	double pages = 0;
	struct rig rig;

	rig_open(&rig, NULL, "zoneinfo");
	assert_int_equal(rig.open_error, 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, 1), 0);
	for (uint32_t i = 0; i < rig.recorder.nr_series; i++)
		if (strncmp(rig.recorder.series[i].metric, "pcp.count.", 10) == 0)
			pages += (double)rig.recorder.series[i].u64;
	rig_close(&rig);
	return pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static double used_kB(struct rig *rig, enum zm_phase phase)
{
	read_now(rig, phase);
	return (double)value_of(rig, "meminfo.Memused", ZM_SCOPE_HOST) - listed_kB();
}

/* 512 MiB come and go in the used-memory curve, within a half for the rest of the machine. */
static void test_used_memory(void **state)
{
	const size_t bytes = 512 * MIB;
	const double taken_kB = (double)(bytes / 1024);
	bool has_come = false, has_gone = false;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, "memused");
	assert_int_equal(rig.open_error, 0);
	for (unsigned int i = 0; i < NR_TRIES && !(has_come && has_gone); i++) {
		double before, with, after;
		char *memory;

		before = used_kB(&rig, ZM_PHASE_IDLE);
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		assert_true(memory != MAP_FAILED);
		with = used_kB(&rig, ZM_PHASE_MEASURE);
		assert_int_equal(munmap(memory, bytes), 0);
		after = used_kB(&rig, ZM_PHASE_DRAIN);
		has_come |= fabs(with - before - taken_kB) < taken_kB / 2;
		has_gone |= with - after > taken_kB / 2;
	}
	assert_true(has_come);
	assert_true(has_gone);
	rig_close(&rig);
}

/* --- time -------------------------------------------------------------------------------------- */

static double sum_of_cpus(const struct rig *rig)
{
	double sum = 0;

	for (uint32_t i = 0; i < rig->recorder.nr_series; i++)
		if (rig->recorder.series[i].desc.scope == ZM_SCOPE_CPU)
			sum += (double)rig->recorder.series[i].u64;
	return sum;
}

/* The ticks of a second and a half, over the time that passed. */
static double ticks_of_window(void)
{
	double nr_cpus = (double)sysconf(_SC_NPROCESSORS_ONLN), sum, percent = 0;
	uint64_t t0_ns = zm_clock_now_ns(), t1_ns;
	struct rig rig;

	rig_open(&rig, NULL, "mpstat");
	assert_int_equal(rig.open_error, 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t0_ns), 0);
	sum = sum_of_cpus(&rig);
	(void)zm_clock_sleep_until(t0_ns + 1500 * ZM_NS_PER_MS);
	t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, t1_ns), 0);
	sum = sum_of_cpus(&rig) - sum;
	assert_int_equal(rig_report(&rig, t0_ns, t1_ns), 0);
	for (unsigned int i = 0; i < rig.report.nr_rows; i++)
		percent += rig.report.rows[i].value;
	assert_true(fabs(percent - 100) < 1e-6);
	rig_close(&rig);
	return sum / ((double)(t1_ns - t0_ns) * nr_cpus);
}

/* Ticks of the ten kinds, of all CPUs, add up to the time that passed times the CPUs. An idle CPU's and
 * the steal time come in late, so the bound is a tenth, and a try that the machine stood still in is made
 * again. */
static void test_mpstat_sum(void **state)
{
	double off = 1;

	(void)state;
	for (unsigned int i = 0; i < NR_TRIES && off >= 0.1; i++)
		off = fabs(ticks_of_window() - 1);
	assert_true(off < 0.1);
}

static void test_uptime(void **state)
{
	double before, after;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, "uptime");
	assert_int_equal(rig.open_error, 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 1), 0);
	before = rig_find(&rig.recorder, "uptime.boot", ZM_SCOPE_HOST, 0)->f64;
	(void)zm_clock_sleep_until(zm_clock_now_ns() + 100 * ZM_NS_PER_MS);
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 2), 0);
	after = rig_find(&rig.recorder, "uptime.boot", ZM_SCOPE_HOST, 0)->f64;
	assert_true(after - before >= 0.08);
	rig_close(&rig);
}

/* Switches of the child are among the machine's. */
static void test_vmstat_switches(void **state)
{
	uint64_t before;
	struct child child;
	struct rig rig;

	(void)state;
	start(&child);
	rig_open(&rig, NULL, "vmstat");
	assert_int_equal(rig.open_error, 0);
	read_now(&rig, ZM_PHASE_MEASURE);
	before = value_of(&rig, "vmstat.system.cs", ZM_SCOPE_HOST);
	order(&child, 's');
	read_now(&rig, ZM_PHASE_MEASURE);
	assert_true(value_of(&rig, "vmstat.system.cs", ZM_SCOPE_HOST) - before >= NR_SWITCHES);
	stop(&child);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),      cmocka_unit_test(test_children),
		cmocka_unit_test(test_switches),    cmocka_unit_test(test_cpu_time),
		cmocka_unit_test(test_used_memory), cmocka_unit_test(test_mpstat_sum),
		cmocka_unit_test(test_sched_delay), cmocka_unit_test(test_softirqs),
		cmocka_unit_test(test_uptime),      cmocka_unit_test(test_vmstat_switches),
	};

	if (zm_cpuset_get_affinity(0, &all_cpus))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
