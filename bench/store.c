/*
 * store: a synthetic store, and what it costs to look into it.
 *
 *     store [RUNS [SERIES [READINGS]]]      10,000 runs of 250 series of 40 readings
 *     store compare                         2 x 30 runs of 2,000 figures, compared
 *
 * Every run has 8 phases, 4 tasks, 20 figures (one of them primary), a note, and all of its series:
 * 4 of tasks, a tenth floats, the others gauges and counts of the machine, each kind with its own
 * moments. They come from 2 machines and 40 boots, 25 cells, 4 launches a command. Written through the
 * recorder; only the syncs are left out. Then each command is run five times, and the median of its CPU
 * time (user and system) and its peak memory are printed. Exit status 1 when runs or show needs more
 * than 0.2 s, or compare more than 0.3 s.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/timed.h"
#include "results/db.h"
#include "results/store.h"
#include "workloads/base/clock.h"
#include "workloads/base/random.h"
#include "workloads/base/units.h"

#define NR_TIMES 5
#define NR_TASKS 4

struct plan {
	uint64_t nr_runs, nr_series, nr_readings, nr_figures;
	uint64_t nr_cells; /* of the runs, in turn */
	uint64_t runs_a_boot;
	char folder[64], path[96];
};

static void check(int error, const struct zm_why *why)
{
	if (error) {
		(void)fprintf(stderr, "store: %s (%d)\n", why->text, error);
		exit(2);
	}
}

/* --- making it --- */

static struct zm_series_desc describe(uint64_t series, char name[48])
{
	bool is_task = series < NR_TASKS;

	if (is_task)
		(void)snprintf(name, 48, "%s", ZM_SERIES_TASK_OPS);
	else
		(void)snprintf(name, 48, "proc-vmstat.field_%" PRIu64, series);
	return (struct zm_series_desc){
		.source = is_task ? ZM_SOURCE_ENGINE : "proc-vmstat",
		.metric = name,
		.unit = is_task ? "page" : "pages",
		.kind = is_task || series % 2 ? ZM_COUNT : ZM_GAUGE,
		.scope = is_task ? ZM_SCOPE_TASK : ZM_SCOPE_HOST,
		.scope_id = is_task ? (uint32_t)series : 0,
		.is_float = !is_task && series % 10 == 0,
	};
}

static void put_readings(const struct plan *plan, struct zm_recorder *recorder,
			 struct zm_random *random)
{
	uint64_t interval_ns = 10 * ZM_NS_PER_S / plan->nr_readings;
	uint32_t series[4096];
	char name[48];
	struct zm_why why = { "a series" };

	for (uint64_t i = 0; i < plan->nr_series; i++) {
		struct zm_series_desc desc = describe(i, name);

		check(zm_recorder_series(recorder, &desc, &series[i]), &why);
	}
	for (uint64_t t = 0; t < plan->nr_readings; t++) {
		uint64_t t_ns = ZM_NS_PER_S + t * interval_ns + zm_random_below(random, 50000);

		for (uint64_t i = 0; i < plan->nr_series; i++) {
			uint64_t noise = zm_random_below(random, i % 3 ? 1000 : 1);

			if (i >= NR_TASKS && i % 10 == 0)
				zm_recorder_put_f64(recorder, series[i], t_ns,
						    (double)(i * 7 + noise) / 8, 0);
			else
				zm_recorder_put_u64(recorder, series[i], t_ns + (i < NR_TASKS),
						    i % 2 || i < NR_TASKS ? t * 50000 + noise
									  : i * 1000 + noise,
						    0);
		}
	}
}

static void put_rest(const struct plan *plan, struct zm_recorder *recorder, double value,
		     struct zm_random *random)
{
	char name[48];

	for (unsigned int phase = 0; phase < ZM_NR_PHASES; phase++)
		(void)zm_recorder_phase(recorder, phase, ZM_NS_PER_S * (phase + 1),
					ZM_NS_PER_S * (phase + 2));
	for (unsigned int i = 0; i < NR_TASKS; i++)
		(void)zm_recorder_task(recorder, i, 1000 + (int)i, (int)i, 0);
	for (unsigned int i = 0; i < plan->nr_figures; i++) {
		value += (double)zm_random_below(random, 100);
		(void)snprintf(name, sizeof(name), i ? "figure_%u" : "ops", i);
		(void)zm_recorder_result(recorder,
					 &(struct zm_result){ .metric = name,
							      .unit = "pages/s",
							      .source = "page_fault1",
							      .is_primary = i == 0,
							      .value = value,
							      .count = value * 10,
							      .interval_ns = ZM_NS_PER_S });
	}
	(void)zm_recorder_note(recorder, "disturbed", "other processes had 1 % of the CPUs' time");
}

static void make_run(const struct plan *plan, struct zm_store *store, uint64_t number,
		     struct zm_random *random)
{
	uint64_t command = number / (plan->runs_a_boot < 100 ? plan->runs_a_boot : 100),
		 cell = number % plan->nr_cells, boot = number / plan->runs_a_boot;
	struct zm_recorder *recorder;
	struct zm_why why = { "" };
	char invocation[48], params[160], cell_text[64], boot_text[48], kernel[32];
	const struct zm_run_record record = {
		.invocation = invocation,
		.command_line = "zonemark run full --repeat 4",
		.label = boot % 2 ? "new" : "base",
		.workload = cell % 5 ? "page_fault1" : "page_fault2",
		.params = params,
		.cell = cell_text,
		.repeat = (unsigned int)(number % 100 / plan->nr_cells),
		.status = ZM_STATUS_RUNNING,
		.nr_tasks = NR_TASKS,
		.kind = "process",
		.inventory = "{\"cpu_model\":\"Example 9000\",\"cpus_online\":4}",
		.machine_id = boot % 2 ? "0123456789abcdef" : "fedcba9876543210",
		.boot_id = boot_text,
		.kernel = kernel,
		.version = "0.1.0",
		.wall_ns = UINT64_C(1777636800000000000) + number * 60 * ZM_NS_PER_S,
	};

	(void)snprintf(invocation, sizeof(invocation), "cccccccc-0000-4000-8000-%012" PRIx64,
		       command);
	(void)snprintf(params, sizeof(params),
		       "{\"idle\":\"1s\",\"mode\":\"process\",\"nr_task\":%" PRIu64
		       ",\"runtime\":\"10s\",\"size\":\"128M\",\"warmup\":\"2s\"}",
		       cell);
	(void)snprintf(cell_text, sizeof(cell_text), "{\"nr_task\":\"%" PRIu64 "\"}", cell);
	(void)snprintf(boot_text, sizeof(boot_text), "boot-%" PRIu64, boot);
	(void)snprintf(kernel, sizeof(kernel), "6.%" PRIu64 ".0", 10 + boot % 9);
	check(zm_recorder_begin(store, &record, &recorder, &why), &why);
	put_readings(plan, recorder, random);
	put_rest(plan, recorder, 100000 + (double)zm_random_below(random, 1000), random);
	check(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, &why), &why);
}

static void make_store(const struct plan *plan)
{
	uint64_t from_ns = zm_clock_now_ns();
	struct zm_store *store;
	struct zm_random random;
	struct zm_why why = { "" };
	struct stat info;

	zm_random_init(&random, 1, 0);
	check(zm_store_open(plan->path, true, &store, &why), &why);
	check(zm_db_script(zm_store_db(store), &why, "PRAGMA synchronous = OFF"), &why);
	for (uint64_t i = 0; i < plan->nr_runs; i++)
		make_run(plan, store, i, &random);
	zm_store_close(store);
	if (stat(plan->path, &info) == 0)
		(void)printf("%" PRIu64 " runs of %" PRIu64 " series of %" PRIu64
			     " readings, %" PRIu64
			     " figures each: %.1f MiB, %.2f bytes a reading, made in "
			     "%.1f s\n",
			     plan->nr_runs, plan->nr_series, plan->nr_readings, plan->nr_figures,
			     (double)info.st_size / 1048576,
			     (double)info.st_size /
				     (double)(plan->nr_runs * plan->nr_series * plan->nr_readings),
			     (double)(zm_clock_now_ns() - from_ns) / 1e9);
}

/* --- looking into it --- */

/* The CPU seconds of one command, and its peak memory. */
static double run_once(char *const *argv, long *ret_kib)
{
	struct zm_timed timed;

	if (zm_timed_run(argv, &timed) < 0 || timed.status != 0) {
		(void)fprintf(stderr, "store: %s %s failed\n", argv[0], argv[1]);
		exit(2);
	}
	*ret_kib = timed.kib;
	return timed.cpu_s;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns whether it was quick enough. */
static bool measure(const struct plan *plan, const char *words, double most_s)
{
	char program[] = ZM_PROGRAM, copy[128], path[sizeof(plan->path)], db[] = "--db";
	char *argv[16] = { program };
	char *rest = copy;
	double times[NR_TIMES], median;
	size_t n = 1;
	long kib = 0;

	(void)snprintf(copy, sizeof(copy), "%s", words);
	(void)snprintf(path, sizeof(path), "%s", plan->path);
	for (char *word = strsep(&rest, " "); word && n < 12; word = strsep(&rest, " "))
		argv[n++] = word;
	argv[n++] = db;
	argv[n++] = path;
	for (size_t i = 0; i < NR_TIMES; i++)
		times[i] = run_once(argv, &kib);
	qsort(times, NR_TIMES, sizeof(times[0]), compare);
	median = times[NR_TIMES / 2];
	(void)printf("%-36s %7.3f s of CPU, %6.1f MiB%s\n", words, median, (double)kib / 1024,
		     median > most_s ? "  TOO SLOW" : "");
	return median <= most_s;
}

static void remove_store(const struct plan *plan)
{
	static const char *const endings[] = { "", "-wal", "-shm" };
	char name[128];

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(name, sizeof(name), "%s%s", plan->path, endings[i]);
		(void)unlink(name);
	}
	(void)rmdir(plan->folder);
}

static uint64_t number_at(int argc, char **argv, int place, uint64_t otherwise, uint64_t most)
{
	uint64_t number = otherwise;

	if (argc > place &&
	    (zm_units_parse_u64(argv[place], &number) < 0 || number == 0 || number > most)) {
		(void)fprintf(stderr, "store: %s: a number up to %" PRIu64 " is wanted\n",
			      argv[place], most);
		exit(2);
	}
	return number;
}

static bool make_folder(struct plan *plan)
{
	(void)snprintf(plan->folder, sizeof(plan->folder), "%.32s/zm-store-XXXXXX",
		       getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(plan->folder)) {
		(void)fprintf(stderr, "store: %s: %s\n", plan->folder, strerror(errno));
		return false;
	}
	(void)snprintf(plan->path, sizeof(plan->path), "%s/store.db", plan->folder);
	return true;
}

static bool measure_looking(const struct plan *plan)
{
	static const char *const commands[] = {
		"runs", "runs --json",  "runs --limit 0",  "runs --limit 0 --workload *2",
		"show", "show 1 --all", "show base --json"
	};
	bool is_quick = true;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		is_quick &= measure(plan, commands[i], 0.2);
	(void)measure(plan, "export 1 2 3 4 5 6 7 8 9 10", 1e9);
	return is_quick;
}

static bool measure_comparing(const struct plan *plan)
{
	bool is_quick = measure(plan, "compare base new", 0.3);

	is_quick &= measure(plan, "compare base new --format lkp", 0.3);
	(void)measure(plan, "compare base new --format json", 1e9);
	return is_quick;
}

int main(int argc, char **argv)
{
	bool compares = argc > 1 && strcmp(argv[1], "compare") == 0;
	struct plan plan = { .nr_runs = 60,
			     .nr_series = 4,
			     .nr_readings = 10,
			     .nr_figures = 2000,
			     .nr_cells = 1,
			     .runs_a_boot = 1 };
	bool is_quick;

	if (!compares)
		plan = (struct plan){
			.nr_runs = number_at(argc, argv, 1, 10000, 10000000),
			.nr_series = number_at(argc, argv, 2, 250, 4096),
			.nr_readings = number_at(argc, argv, 3, 40, 1000000),
			.nr_figures = 20,
			.nr_cells = 25,
			.runs_a_boot = 250,
		};
	if (!make_folder(&plan))
		return 2;
	make_store(&plan);
	is_quick = compares ? measure_comparing(&plan) : measure_looking(&plan);
	remove_store(&plan);
	return is_quick ? 0 : 1;
}
