/*
 * monitors: what each monitor's read costs here, and what all of them cost at their rates.
 *
 *     monitors [READS]        201 reads of each, unless told otherwise
 *
 * The monitors write into a real store in a scratch folder. Between two reads of a monitor all others
 * are read and 20 ms pass, so that it finds caches as cold as in a run. The cost is the thread's CPU
 * time; the median and the 90th percentile of the reads are shown, and the mean times the rate as a share
 * of one CPU. Writing the readings down (one flush a second) stands beside them. Monitors that are read
 * only when asked for are marked with * and left out of the total.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "results/store.h"
#include "runner/catalogue.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define PAUSE_NS (20 * ZM_NS_PER_MS)

struct subject {
	struct zm_monitor_context context;
	uint64_t *costs_ns; /* of each read */
	unsigned int nr_reads;
	bool is_on;
	struct zm_why why;
};

struct bench {
	char directory[64];
	struct zm_sysroot root;
	struct zm_store *store;
	struct zm_recorder *recorder;
	struct subject *subjects;
	unsigned int nr_reads;
	uint64_t flush_ns; /* of all flushes */
	unsigned int nr_flushes;
};

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * ZM_NS_PER_S + (uint64_t)now.tv_nsec;
}

static int fail(int error, const struct zm_why *why)
{
	(void)fprintf(stderr, "monitors: %s\n", why->text[0] ? why->text : strerror(-error));
	return 2;
}

static int open_store(struct bench *bench, struct zm_why *why)
{
	const struct zm_run_record record = {
		.invocation = "00000000-0000-4000-8000-000000000000",
		.command_line = "bench/monitors",
		.workload = "monitors",
		.params = "{}",
		.cell = "{}",
		.nr_tasks = 1,
		.kind = "process",
		.inventory = "{}",
		.machine_id = "bench",
		.boot_id = "bench",
		.kernel = "bench",
		.version = ZM_VERSION,
	};
	char path[128];
	int error;

	(void)snprintf(bench->directory, sizeof(bench->directory), "/tmp/zm-bench-monitors-XXXXXX");
	if (!mkdtemp(bench->directory))
		return zm_why_errno(why, -errno, "%s", bench->directory);
	(void)snprintf(path, sizeof(path), "%s/store.db", bench->directory);
	error = zm_sysroot_open(&bench->root, NULL);
	if (!error)
		error = zm_store_open(path, true, &bench->store, why);
	if (!error)
		error = zm_recorder_begin(bench->store, &record, &bench->recorder, why);
	return error;
}

static void open_subject(struct bench *bench, struct subject *subject,
			 const struct zm_monitor *monitor)
{
	const pid_t self = getpid();
	const struct zm_target target = {
		.kind = ZM_TASK_PROCESS, .launcher = self, .tids = &self, .nr_tasks = 1
	};
	int error;

	subject->context = (struct zm_monitor_context){
		.monitor = monitor,
		.root = &bench->root,
		.recorder = bench->recorder,
		.phase = ZM_PHASE_MEASURE,
		.state = calloc(1, monitor->state_bytes + 1),
	};
	subject->costs_ns = calloc(bench->nr_reads, sizeof(*subject->costs_ns));
	if (!subject->context.state || !subject->costs_ns)
		abort();
	error = monitor->open(&subject->context, &subject->why);
	if (!error && monitor->attach)
		error = monitor->attach(&subject->context, &target, &subject->why);
	subject->is_on = !error;
}

static void read_subject(struct subject *subject)
{
	uint64_t t_ns = zm_clock_now_ns();
	uint64_t before_ns;

	if (!subject->is_on)
		return;
	before_ns = cpu_now_ns();
	if (subject->context.monitor->read(&subject->context, t_ns))
		return;
	subject->costs_ns[subject->nr_reads++] = cpu_now_ns() - before_ns;
}

static int measure(struct bench *bench, struct zm_why *why)
{
	uint64_t before_ns;
	int error = 0;

	for (unsigned int i = 0; !error && i < bench->nr_reads; i++) {
		for (unsigned int k = 0; k < zm_nr_monitors; k++)
			read_subject(&bench->subjects[k]);
		before_ns = cpu_now_ns();
		error = zm_recorder_flush(bench->recorder, why);
		bench->flush_ns += cpu_now_ns() - before_ns;
		bench->nr_flushes++;
		(void)zm_clock_sleep_until(zm_clock_now_ns() + PAUSE_NS);
	}
	return error;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double rate_hz(const struct zm_monitor *monitor)
{
	return monitor->rate == ZM_RATE_FAST ? 10 : monitor->rate == ZM_RATE_NORMAL ? 1 : 0;
}

/* One line; returns the share of one CPU in percent. */
static double print_subject(struct subject *subject)
{
	const struct zm_monitor *monitor = subject->context.monitor;
	double sum_ns = 0, share;

	if (!subject->is_on || subject->nr_reads == 0) {
		(void)printf("%-16s %s\n", monitor->name,
			     subject->is_on ? "every read failed" : subject->why.text);
		return 0;
	}
	qsort(subject->costs_ns, subject->nr_reads, sizeof(*subject->costs_ns), compare_u64);
	for (unsigned int i = 0; i < subject->nr_reads; i++)
		sum_ns += (double)subject->costs_ns[i];
	share = 100 * sum_ns / subject->nr_reads * rate_hz(monitor) / (double)ZM_NS_PER_S;
	(void)printf("%-16s %10.1f %10.1f %8.0f %10.4f %s\n", monitor->name,
		     (double)subject->costs_ns[subject->nr_reads / 2] / 1e3,
		     (double)subject->costs_ns[subject->nr_reads * 9 / 10] / 1e3, rate_hz(monitor),
		     share, monitor->is_extra ? "*" : "");
	return share;
}

static void print(struct bench *bench)
{
	double flush = 100 * (double)bench->flush_ns / bench->nr_flushes / (double)ZM_NS_PER_S;
	double total = flush;

	(void)printf("%-16s %10s %10s %8s %10s\n", "monitor", "median us", "90% us", "per s",
		     "% of a CPU");
	for (unsigned int i = 0; i < zm_nr_monitors; i++) {
		double share = print_subject(&bench->subjects[i]);

		total += zm_monitors[i]->is_extra ? 0 : share;
	}
	(void)printf("%-16s %10.1f %10s %8d %10.4f\n", "(flush)",
		     (double)bench->flush_ns / bench->nr_flushes / 1e3, "", 1, flush);
	(void)printf("%-16s %10s %10s %8s %10.4f\n", "total", "", "", "", total);
}

static void close_all(struct bench *bench)
{
	char path[128];

	for (unsigned int i = 0; bench->subjects && i < zm_nr_monitors; i++) {
		struct subject *subject = &bench->subjects[i];

		if (subject->context.monitor)
			subject->context.monitor->close(&subject->context);
		free(subject->context.state);
		free(subject->costs_ns);
	}
	free(bench->subjects);
	if (bench->recorder)
		(void)zm_recorder_end(bench->recorder, ZM_STATUS_OK, NULL, NULL);
	zm_store_close(bench->store);
	for (unsigned int i = 0; i < 3; i++) {
		static const char *const names[] = { "", "-wal", "-shm" };

		(void)snprintf(path, sizeof(path), "%s/store.db%s", bench->directory, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(bench->directory);
	zm_sysroot_release(&bench->root);
}

int main(int argc, char **argv)
{
	struct bench bench = { .root.dir_fd = -1 };
	struct zm_why why = { "" };
	uint64_t nr_reads = 201;
	int error;

	if (argc > 2 || (argc == 2 && (zm_units_parse_u64(argv[1], &nr_reads) || nr_reads == 0 ||
				       nr_reads > 1000000))) {
		(void)fprintf(stderr, "Usage: monitors [READS]\n");
		return 2;
	}
	bench.nr_reads = (unsigned int)nr_reads;
	error = open_store(&bench, &why);
	if (!error) {
		bench.subjects = calloc(zm_nr_monitors, sizeof(*bench.subjects));
		error = bench.subjects ? 0 : -ENOMEM;
	}
	for (unsigned int i = 0; !error && i < zm_nr_monitors; i++)
		open_subject(&bench, &bench.subjects[i], zm_monitors[i]);
	if (!error)
		error = measure(&bench, &why);
	if (!error)
		print(&bench);
	close_all(&bench);
	return error ? fail(error, &why) : 0;
}
