/*
 * perf-stat and perf-profile: against work whose amount and whose functions are known.
 *
 * labels: known serial
 * timeout: 180
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "workloads/base/clock.h"

#define NR_FAULTS 50021
#define NR_TRIES  10

static struct rig rig;

static void begin(const char *monitor)
{
	rig_open(&rig, NULL, monitor);
	if (!rig.open_error)
		return;
	print_message("%s cannot be had: %s\n", monitor, rig.why.text);
	rig_close(&rig);
	skip();
}

static uint64_t value_of(const char *metric)
{
	const struct rig_series *series = rig_find(&rig.recorder, metric, ZM_SCOPE_HOST, 0);

	assert_non_null(series);
	return series->u64;
}

static double reported(const char *metric)
{
	int row = rig_reported(&rig.report, metric);

	return row < 0 ? -1 : rig.report.rows[row].value;
}

static uint64_t own_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

static void fault(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, NR_FAULTS * page_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	(void)madvise(memory, NR_FAULTS * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < NR_FAULTS; i++)
		((volatile char *)memory)[i * page_bytes] = 1;
	assert_int_equal(munmap(memory, NR_FAULTS * page_bytes), 0);
}

/* All faults of this task are among the machine's, and of others not many more in the quietest moment. */
static void test_faults(void **state)
{
	uint64_t own = 1, all, least = UINT64_MAX;

	(void)state;
	begin("perf-stat");
	for (unsigned int i = 0; i < NR_TRIES && least > 2 * own; i++) {
		assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
		all = value_of("perf-stat.page-faults");
		own = own_faults();
		fault();
		own = own_faults() - own;
		assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
		all = value_of("perf-stat.page-faults") - all;
		assert_true(own >= NR_FAULTS && all >= own);
		least = all < least ? all : least;
	}
	assert_true(least <= 10 * own);
	rig_close(&rig);
}

/* The CPUs' clocks run for as long as the window times the CPUs; the parts of the faults are the sum. */
static void test_rates(void **state)
{
	double nr_cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t t0_ns, t1_ns;

	(void)state;
	begin("perf-stat");
	t0_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t0_ns), 0);
	fault();
	(void)zm_clock_sleep_until(t0_ns + 500 * ZM_NS_PER_MS);
	t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, t1_ns), 0);
	assert_int_equal(rig_report(&rig, t0_ns, t1_ns), 0);
	assert_true(fabs(reported("perf-stat.ps.cpu-clock") / 1e9 / nr_cpus - 1) < 0.25);
	assert_true(reported("perf-stat.ps.page-faults") * 0.5 > NR_FAULTS * 0.5);
	assert_true(fabs(reported("perf-stat.ps.page-faults") -
			 reported("perf-stat.ps.minor-faults") -
			 reported("perf-stat.ps.major-faults")) <=
		    0.05 * reported("perf-stat.ps.page-faults") + 100);
	/* where there are no hardware counters, their figures are absent with the reason */
	if (!rig_find(&rig.recorder, "perf-stat.cache-misses", ZM_SCOPE_HOST, 0))
		assert_true(rig_has_absent(&rig.recorder, "cache-miss-rate%"));
	else
		assert_true(reported("perf-stat.overall.cache-miss-rate%") <= 100);
	rig_close(&rig);
}

/* A child that does nothing but read zeroes: its time is in the kernel's read. */
static pid_t start_reader(void)
{
	pid_t pid = fork();
	static char buf[1 << 20];
	int fd;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
	_exit(1);
}

static void test_profile(void **state)
{
	uint64_t t0_ns, t1_ns, samples;
	bool is_cycles;
	double seconds;
	pid_t reader;

	(void)state;
	begin("perf-profile");
	is_cycles = strstr(rig.recorder.note, "by cycles") != NULL;
	reader = start_reader();
	t0_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t0_ns), 0);
	for (unsigned int i = 1; i < 10; i++) {
		(void)zm_clock_sleep_until(t0_ns + i * 100 * ZM_NS_PER_MS);
		assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
	}
	t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, t1_ns), 0);
	assert_int_equal(kill(reader, SIGKILL), 0);
	assert_int_equal(waitpid(reader, NULL, 0), reader);
	seconds = (double)(t1_ns - t0_ns) / (double)ZM_NS_PER_S;
	samples = value_of("perf-profile.samples");
	/* 997 a second on every CPU; a stolen CPU has fewer, and a halted one no cycles */
	assert_true((double)samples <=
		    1.2 * 997 * seconds * (double)sysconf(_SC_NPROCESSORS_ONLN) + 100);
	assert_true((double)samples >= 0.1 * 997 * seconds);
	assert_true(value_of("perf-profile.lost") <= samples / 10);
	assert_int_equal(rig_report(&rig, t0_ns, t1_ns), 0);
	if (rig.recorder.nr_absent) { /* the kernel's addresses are hidden */
		assert_true(rig_has_absent(&rig.recorder, "kallsyms"));
	} else {
		assert_true(reported(is_cycles ? "perf-profile.children.cycles-pp.vfs_read"
					       : "perf-profile.children.cpu-clock.vfs_read") > 1);
		assert_int_equal(rig_reported(&rig.report, "perf-profile.slowpath%") >= 0,
				 is_cycles);
	}
	rig_close(&rig);
}

/* After the window nothing is sampled any more. */
static void test_only_the_window(void **state)
{
	uint64_t before, after;

	(void)state;
	begin("perf-profile");
	assert_int_equal(rig_read(&rig, ZM_PHASE_WARMUP, 1), 0);
	(void)zm_clock_sleep_until(zm_clock_now_ns() + 100 * ZM_NS_PER_MS);
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, 2), 0);
	assert_int_equal(value_of("perf-profile.samples"), 0);
	(void)zm_clock_sleep_until(zm_clock_now_ns() + 100 * ZM_NS_PER_MS);
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, 3), 0);
	before = value_of("perf-profile.samples");
	(void)zm_clock_sleep_until(zm_clock_now_ns() + 100 * ZM_NS_PER_MS);
	assert_int_equal(rig_read(&rig, ZM_PHASE_DRAIN, 4), 0);
	after = value_of("perf-profile.samples");
	assert_true(before > 0);
	assert_int_equal(after, before);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_only_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
