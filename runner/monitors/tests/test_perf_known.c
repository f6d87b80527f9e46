/*
 * perf-stat and perf-profile: against work whose amount and whose functions are known.
 *
 * labels: known serial
 * timeout: 600
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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

#define NR_FAULTS 50021
#define NR_ROUNDS 5003
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

/* --- switches and migrations ------------------------------------------------------------------ */

static void pass_on(int from, int to, unsigned int times)
{
	char word = 0;

	for (unsigned int i = 0; i < times; i++)
		if (read(from, &word, 1) != 1 || write(to, &word, 1) != 1)
			_exit(1);
}

/* Two tasks on one CPU that wait for each other by turns; how often they were switched, by their own
 * account. */
static uint64_t play_ping_pong(void)
{
	struct rusage before, after;
	int there[2], back[2];
	int status;
	pid_t pid;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &before), 0);
	assert_int_equal(pipe(there), 0);
	assert_int_equal(pipe(back), 0);
	for (unsigned int i = 0; i < 2; i++) {
		zm_autocpuset struct zm_cpuset allowed = { 0 }, one = { 0 };

		assert_int_equal(zm_cpuset_get_affinity(0, &allowed), 0);
		assert_int_equal(zm_cpuset_add(&one, (unsigned int)zm_cpuset_next(&allowed, 0)), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid > 0)
			continue;
		(void)zm_cpuset_set_affinity(0, &one);
		if (i == 0 && write(there[1], "", 1) != 1)
			_exit(1);
		pass_on(i ? there[0] : back[0], i ? back[1] : there[1], NR_ROUNDS);
		_exit(0);
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_true(wait(&status) > 0 && status == 0);
	for (unsigned int i = 0; i < 2; i++) {
		(void)close(there[i]);
		(void)close(back[i]);
	}
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &after), 0);
	return (uint64_t)(after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw);
}

/* A round of the game is two switches at least; all of them are among the machine's. */
static void test_switches(void **state)
{
	uint64_t own, all;

	(void)state;
	begin("perf-stat");
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
	all = value_of("perf-stat.context-switches");
	own = play_ping_pong();
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
	all = value_of("perf-stat.context-switches") - all;
	assert_true(own >= NR_ROUNDS);
	assert_true(all >= own);
	rig_close(&rig);
}

/* A task that goes from CPU to CPU so often is so many migrations. */
static void test_migrations(void **state)
{
	zm_autocpuset struct zm_cpuset allowed = { 0 };
	unsigned int nr_moves = 0;
	uint64_t all;

	(void)state;
	assert_int_equal(zm_cpuset_get_affinity(0, &allowed), 0);
	if (zm_cpuset_count(&allowed) < 2)
		skip();
	begin("perf-stat");
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
	all = value_of("perf-stat.cpu-migrations");
	for (unsigned int i = 0; i < 500; i++) {
		zm_cpuset_for_each (cpu, &allowed) {
			zm_autocpuset struct zm_cpuset one = { 0 };

			assert_int_equal(zm_cpuset_add(&one, (unsigned int)cpu), 0);
			assert_int_equal(zm_cpuset_set_affinity(0, &one), 0);
			nr_moves++;
		}
	}
	assert_int_equal(zm_cpuset_set_affinity(0, &allowed), 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
	all = value_of("perf-stat.cpu-migrations") - all;
	assert_true(all >= nr_moves - 1);
	rig_close(&rig);
}

/* --- against perf ------------------------------------------------------------------------------ */

/* Runs perf with its output thrown away; false: it is not there, or cannot do it here. */
static bool run_perf(const char *const *argv)
{
	int status, fd;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		(void)dup2(fd, STDOUT_FILENO);
		(void)dup2(fd, STDERR_FILENO);
		(void)execvp(argv[0], (char *const *)(const void *)argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

/* "50021,,page-faults,…" */
static bool read_perf_stat(const char *path, const char *event, double *ret_count)
{
	FILE *file = fopen(path, "re");
	bool is_there = false;
	char line[512];

	while (file && !is_there && fgets(line, sizeof(line), file)) {
		is_there = strstr(line, event) != NULL && line[0] >= '0' && line[0] <= '9';
		if (is_there)
			*ret_count = strtod(line, NULL);
	}
	if (file)
		(void)fclose(file);
	return is_there;
}

/* perf's own count lies within ours, which begins earlier and ends later; in the quietest moment the two
 * are nearly the same. */
static void test_perf_stat(void **state)
{
	char path[] = "/tmp/zm-perf-stat-XXXXXX";
	const char *const argv[] = { "perf",
				     "stat",
				     "-a",
				     "-x",
				     ",",
				     "-e",
				     "page-faults",
				     "-o",
				     path,
				     "sh",
				     "-c",
				     "for i in 1 2 3 4 5 6 7 8 9 10; do for k in 1 2 3 4 5 "
				     "6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
				     "/bin/true; done; done",
				     NULL };
	double perfs = 0, ours, nearest = 1e9;
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	begin("perf-stat");
	for (unsigned int i = 0; i < NR_TRIES && nearest > 1.3; i++) {
		assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
		ours = (double)value_of("perf-stat.page-faults");
		if (!run_perf(argv) || !read_perf_stat(path, "page-faults", &perfs)) {
			print_message("perf stat is not here, or may not\n");
			(void)unlink(path);
			rig_close(&rig);
			skip();
		}
		assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
		ours = (double)value_of("perf-stat.page-faults") - ours;
		assert_true(perfs > 0 && ours >= perfs);
		nearest = fmin(nearest, ours / perfs);
	}
	(void)unlink(path);
	/* perf's own start and end are some thousand faults, which it does not count */
	assert_true(nearest < 2);
	rig_close(&rig);
}

/* The faults' kinds are their sum, within what comes between two counters' reading. */
static bool are_faults_sums(void)
{
	double all = reported("perf-stat.ps.page-faults");

	return fabs(all - reported("perf-stat.ps.minor-faults") -
		    reported("perf-stat.ps.major-faults")) <= 0.05 * all + 100;
}

/* A window with counted faults in it; do clocks and sums agree? */
static bool is_window_right(void)
{
	double nr_cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t t0_ns, t1_ns;
	bool agrees;

	begin("perf-stat");
	t0_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t0_ns), 0);
	fault();
	(void)zm_clock_sleep_until(t0_ns + 500 * ZM_NS_PER_MS);
	t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, t1_ns), 0);
	assert_int_equal(rig_report(&rig, t0_ns, t1_ns), 0);
	assert_true(reported("perf-stat.ps.page-faults") * (double)(t1_ns - t0_ns) / 1e9 >=
		    NR_FAULTS * 0.99);
	/* one interval: its mean is the window's */
	assert_true(
		fabs(reported("perf-stat.i.page-faults") / reported("perf-stat.ps.page-faults") -
		     1) < 1e-6);
	/* where there are no hardware counters, their figures are absent with the reason */
	if (!rig_find(&rig.recorder, "perf-stat.cache-misses", ZM_SCOPE_HOST, 0))
		assert_true(rig_has_absent(&rig.recorder, "cache-miss-rate%"));
	else
		assert_true(reported("perf-stat.overall.cache-miss-rate%") <= 100);
	agrees = fabs(reported("perf-stat.ps.cpu-clock") / 1e9 / nr_cpus - 1) < 0.25 &&
		 are_faults_sums();
	rig_close(&rig);
	return agrees;
}

/* The CPUs' clocks run for as long as the window times the CPUs; the parts of the faults are the sum. */
static void test_rates(void **state)
{
	bool agrees = false;

	(void)state;
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++)
		agrees = is_window_right();
	assert_true(agrees);
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
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
	_exit(1);
}

/* A second of profiling the reader; its CPU time is given. */
static void profile_reader(uint64_t *ret_t0_ns, uint64_t *ret_t1_ns, double *ret_cpu_s)
{
	struct rusage usage;
	pid_t reader = start_reader();

	*ret_t0_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, *ret_t0_ns), 0);
	for (unsigned int i = 1; i < 10; i++) {
		(void)zm_clock_sleep_until(*ret_t0_ns + i * 50 * ZM_NS_PER_MS);
		assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
	}
	*ret_t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, *ret_t1_ns), 0);
	assert_int_equal(kill(reader, SIGKILL), 0);
	assert_int_equal(wait4(reader, NULL, 0, &usage), reader);
	*ret_cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	assert_int_equal(rig_report(&rig, *ret_t0_ns, *ret_t1_ns), 0);
}

static bool is_by_cycles(void)
{
	return strstr(rig.recorder.note, "by cycles") != NULL;
}

/* The samples of a row: its name is of the event that was sampled. */
static double samples_of(const char *kind, const char *function)
{
	char metric[160];
	int row;

	(void)snprintf(metric, sizeof(metric), "perf-profile.%s.%s.%s", kind,
		       is_by_cycles() ? "cycles-pp" : "cpu-clock", function);
	row = rig_reported(&rig.report, metric);
	return row < 0 ? 0 : rig.report.rows[row].count;
}

/* The samples of those who read /dev/zero, whatever else is read on the machine meanwhile. */
static double reading_samples(void)
{
	return fmax(samples_of("children", "read_zero"), samples_of("children", "read_iter_zero"));
}

/* The function that the most samples were in itself, among those that clear memory for the reader. */
static double clearing_samples(void)
{
	static const char *const names[] = { "rep_stos_alternative", "clear_user_erms",
					     "clear_user_rep_good",  "clear_user_original",
					     "__clear_user",         "iov_iter_zero",
					     "read_iter_zero",       "read_zero",
					     "__arch_clear_user" };
	double most = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		most = fmax(most, samples_of("self", names[i]));
	return most;
}

static void test_profile(void **state)
{
	uint64_t t0_ns, t1_ns, samples;
	double seconds, cpu_s;

	(void)state;
	begin("perf-profile");
	profile_reader(&t0_ns, &t1_ns, &cpu_s);
	seconds = (double)(t1_ns - t0_ns) / (double)ZM_NS_PER_S;
	samples = value_of("perf-profile.samples");
	/* 997 a second on every CPU; a stolen CPU has fewer, and a halted one no cycles */
	assert_true((double)samples <=
		    1.2 * 997 * seconds * (double)sysconf(_SC_NPROCESSORS_ONLN) + 100);
	assert_true((double)samples >= 0.1 * 997 * seconds);
	assert_true(value_of("perf-profile.lost") <= samples / 10);
	if (rig.recorder.nr_absent) { /* the kernel's addresses are hidden */
		assert_true(rig_has_absent(&rig.recorder, "kallsyms"));
	} else {
		assert_true(samples_of("children", "vfs_read") > 0);
		assert_int_equal(rig_reported(&rig.report, "perf-profile.slowpath%") >= 0,
				 is_by_cycles());
		assert_int_equal(
			rig_reported(&rig.report, "perf-profile.zone-lock-section.alloc%") >= 0,
			!is_by_cycles());
	}
	rig_close(&rig);
}

/* Profiles the reader; false: no symbols, or none of the functions that are known clears memory here. */
static bool profile_clearing(double *ret_reading, double *ret_clearing, double *ret_cpu_s,
			     bool *ret_is_lossy)
{
	uint64_t t0_ns, t1_ns;
	bool has_symbols;

	begin("perf-profile");
	profile_reader(&t0_ns, &t1_ns, ret_cpu_s);
	*ret_reading = reading_samples();
	*ret_clearing = clearing_samples();
	*ret_is_lossy = value_of("perf-profile.lost") > 0;
	has_symbols = !rig.recorder.nr_absent && *ret_clearing > 0;
	/* by the clock, a sample is 1/997 s of CPU time; a machine that is stolen from has fewer */
	if (has_symbols && !is_by_cycles())
		assert_true(*ret_clearing <= 1.1 * 997 * *ret_cpu_s + 50);
	rig_close(&rig);
	return has_symbols;
}

/* All that the reader does is clearing memory: of its CPU seconds' samples nearly all are in the one
 * function that does, and there are as many as its seconds make. */
static void test_known_function(void **state)
{
	bool agrees = false, is_lossy;
	double cpu_s, reading, clearing;

	(void)state;
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++) {
		if (!profile_clearing(&reading, &clearing, &cpu_s, &is_lossy)) {
			print_message("no symbols, or another function clears memory here\n");
			skip();
		}
		agrees = clearing >= 0.9 * reading && (is_lossy || clearing >= 0.5 * 997 * cpu_s);
	}
	assert_true(agrees);
}

/* The chains that are kept are all samples but the idle ones, those outside of the kernel included. */
static void test_chains(void **state)
{
	unsigned long long sum = 0;
	uint64_t t0_ns, t1_ns;
	double cpu_s;

	(void)state;
	begin("perf-profile");
	profile_reader(&t0_ns, &t1_ns, &cpu_s);
	if (rig.recorder.nr_absent) {
		rig_close(&rig);
		skip();
	}
	assert_non_null(rig.recorder.folded);
	for (const char *at = rig.recorder.folded; *at; at = strchr(at, '\n') + 1) {
		const char *end = strchr(at, '\n');

		assert_non_null(end);
		sum += strtoull((const char *)memrchr(at, ' ', (size_t)(end - at)), NULL, 10);
	}
	assert_true(sum == value_of("perf-profile.samples") - value_of("perf-profile.idle"));
	assert_non_null(strstr(rig.recorder.folded, ";vfs_read;"));
	rig_close(&rig);
}

/* The first line of perf's report that has a percentage and a kernel function: "99.61%  [k] NAME". */
static bool read_perf_top(const char *path, char *name, size_t size)
{
	FILE *file = fopen(path, "re");
	bool is_there = false;
	char line[512], function[256];

	while (file && !is_there && fgets(line, sizeof(line), file))
		is_there = sscanf(line, " %*f%% [k] %255[^ .\n]", function) == 1;
	if (file)
		(void)fclose(file);
	if (is_there)
		(void)snprintf(name, size, "%s", function);
	return is_there;
}

/* perf record sees the reader in the same function as we do. */
static void test_perf_record(void **state)
{
	static char command[512];
	char folder[] = "/tmp/zm-perf-record-XXXXXX", report[64], name[256] = "";
	const char *const argv[] = { "sh", "-c", command, NULL };
	uint64_t t0_ns, t1_ns;
	bool has_perf;
	double cpu_s;

	(void)state;
	begin("perf-profile");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(report, sizeof(report), "%s/report", folder);
	(void)snprintf(command, sizeof(command),
		       "cd %s && perf record -q -e cpu-clock -F 997 -o data dd if=/dev/zero "
		       "of=/dev/null bs=1M count=4000 && perf report -i data --stdio -s sym "
		       "--no-children > report && rm data",
		       folder);
	has_perf = run_perf(argv) && read_perf_top(report, name, sizeof(name));
	(void)unlink(report);
	(void)snprintf(report, sizeof(report), "%s/data", folder);
	(void)unlink(report);
	(void)rmdir(folder);
	profile_reader(&t0_ns, &t1_ns, &cpu_s);
	if (!has_perf || rig.recorder.nr_absent) {
		print_message("perf record is not here, or may not, or the addresses are hidden\n");
		rig_close(&rig);
		skip();
	}
	if (samples_of("self", name) < 0.8 * reading_samples())
		fail_msg("perf has %s at its top", name);
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
		cmocka_unit_test(test_faults),         cmocka_unit_test(test_switches),
		cmocka_unit_test(test_migrations),     cmocka_unit_test(test_perf_stat),
		cmocka_unit_test(test_rates),          cmocka_unit_test(test_profile),
		cmocka_unit_test(test_known_function), cmocka_unit_test(test_chains),
		cmocka_unit_test(test_perf_record),    cmocka_unit_test(test_only_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
