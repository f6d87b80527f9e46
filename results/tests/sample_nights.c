/*
 * sample_nights: a lab's history that is the same every time, for the tests of the dashboard.
 *
 *     sample_nights FILE [NIGHTS]      40 nights unless told otherwise, from 2026-03-01 on, 22:00 UTC
 *
 *     machine alpha   page_fault1 with 2 and 4 tasks, two runs a night: with 4 it is 8 % slower from the 30th
 *                     night on, and one night (the 12th) is bad; its latency rises with the step
 *     machine beta    the same workload, steady; its last night failed
 *     machine gamma   5 nights: too few; all of its names are hostile
 *
 * A new kernel every ten nights. The last night's runs have series, so that there are curves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "workloads/base/clock.h"
#include "workloads/base/random.h"
#include "workloads/base/units.h"

#define FIRST_WALL_NS UINT64_C(1772402400000000000) /* 2026-03-01 22:00:00 UTC */
#define DAY_NS        (UINT64_C(86400) * ZM_NS_PER_S)
#define STEP_NIGHT    29
#define BAD_NIGHT     11
#define FEW           5

static void check(int error, const struct zm_why *why)
{
	if (error) {
		(void)fprintf(stderr, "sample_nights: %s (%d)\n", why->text, error);
		exit(1);
	}
}

static const struct place {
	const char *machine, *workload, *cell, *metric, *label, *kernel;
	unsigned int nr_tasks, nr_runs;
	double speed, step; /* from STEP_NIGHT on */
	bool has_bad_night, is_few, fails_last;
} places[] = {
	{ "aaaaaaaaaaaaaaaa", "page_fault1", "{\"nr_task\":\"2\"}", "will-it-scale.per_process_ops",
	  "nightly", NULL, 2, 2, 100000, 1, false, false, false },
	{ "aaaaaaaaaaaaaaaa", "page_fault1", "{\"nr_task\":\"4\"}", "will-it-scale.per_process_ops",
	  "nightly", NULL, 4, 2, 80000, 0.92, true, false, false },
	{ "bbbbbbbbbbbbbbbb", "page_fault1", "{\"nr_task\":\"4\"}", "will-it-scale.per_process_ops",
	  "nightly", NULL, 4, 1, 120000, 1, false, false, true },
	{ "<img src=x onerror=alert(1)>", "</script><b>&'\"", "{\"x\":\"<i>\\u2028</i>\"}",
	  "\"><script>alert(2)</script>", "<u>label</u>\x1b[31m\xff", "6.18.0-<b>'\"", 1, 1, 5000,
	  1, false, true, false },
};
#define NR_PLACES (sizeof(places) / sizeof(places[0]))

static void put_figure(struct zm_recorder *recorder, const char *metric, const char *unit,
		       enum zm_better better, bool is_primary, double value)
{
	const struct zm_why none = { "a figure" };

	check(zm_recorder_result(recorder, &(struct zm_result){ .metric = metric,
								.unit = unit,
								.source = "sample",
								.better = better,
								.is_primary = is_primary,
								.value = value,
								.count = value,
								.interval_ns = ZM_NS_PER_S }),
	      &none);
}

/* Two phases of two seconds, throughput at 2 Hz, used memory at 10 Hz. */
static void put_curves(struct zm_recorder *recorder, const struct place *place, double speed)
{
	const struct zm_why none = { "a series" };
	uint32_t ops, used;

	check(zm_recorder_series(recorder,
				 &(struct zm_series_desc){ .source = ZM_SOURCE_ENGINE,
							   .metric = ZM_SERIES_TASK_OPS,
							   .unit = "page",
							   .kind = ZM_COUNT,
							   .better = ZM_BETTER_MORE,
							   .scope = ZM_SCOPE_TASK },
				 &ops),
	      &none);
	check(zm_recorder_series(recorder,
				 &(struct zm_series_desc){ .source = "memused",
							   .metric = "meminfo.Memused",
							   .unit = "kB",
							   .kind = ZM_GAUGE },
				 &used),
	      &none);
	for (unsigned int tenth = 0; tenth <= 40; tenth++) {
		uint64_t t_ns = ZM_NS_PER_S + tenth * 100 * ZM_NS_PER_MS;

		zm_recorder_put_u64(recorder, used, t_ns, 1000000 + 5000 * (tenth % 20), 0);
		if (tenth % 5 == 0)
			zm_recorder_put_u64(recorder, ops, t_ns,
					    (uint64_t)(speed * place->nr_tasks * tenth / 10), 0);
	}
	(void)zm_recorder_phase(recorder, ZM_PHASE_WARMUP, ZM_NS_PER_S, 3 * ZM_NS_PER_S);
	(void)zm_recorder_phase(recorder, ZM_PHASE_MEASURE, 3 * ZM_NS_PER_S, 5 * ZM_NS_PER_S);
	(void)zm_recorder_note(recorder, "disturbed", "other <b>processes</b> had 3.7 %");
	(void)zm_recorder_absent(recorder, "perf-stat", "no CPU PMU");
}

static void put_figures(struct zm_recorder *recorder, const struct place *place, uint64_t night,
			struct zm_random *random, bool is_last)
{
	double noise = 1 + 0.004 * (zm_random_unit(random) + zm_random_unit(random) - 1);
	double level = night >= STEP_NIGHT ? place->step : 1;
	double speed = place->speed * level * noise *
		       (place->has_bad_night && night == BAD_NIGHT ? 0.6 : 1);

	put_figure(recorder, place->metric, "pages/s", ZM_BETTER_MORE, true, speed);
	put_figure(recorder, "zone-lock.contend%", "%", ZM_BETTER_NEITHER, false,
		   10 + 100 * (1 - level) + zm_random_unit(random));
	put_figure(recorder, "fault.latency", "ns", ZM_BETTER_LESS, false,
		   1e9 / speed * (1 + 0.01 * zm_random_unit(random)));
	put_figure(recorder, "proc-vmstat.pgfault", "faults", ZM_BETTER_NEITHER, false,
		   (double)(1000000 + zm_random_below(random, 1000)));
	if (is_last)
		put_curves(recorder, place, speed);
}

static void make_run(struct zm_store *store, size_t number, uint64_t night, unsigned int repeat,
		     bool is_last)
{
	const struct place *place = &places[number];
	bool has_failed = place->fails_last && is_last;
	char invocation[48], uuid[48], boot[32], kernel[32], params[96];
	struct zm_recorder *recorder;
	struct zm_random random;
	struct zm_why why = { "" };
	const struct zm_run_record record = {
		.invocation = invocation,
		.command_line = "zonemark run page_fault1 --label nightly",
		.label = place->label,
		.workload = place->workload,
		.params = params,
		.cell = place->cell,
		.repeat = repeat,
		.status = ZM_STATUS_RUNNING,
		.nr_tasks = place->nr_tasks,
		.kind = "process",
		.inventory = "{\"cpu_model\":\"Example <9000>\",\"cpus_online\":4,\"sockets\":1}",
		.machine_id = place->machine,
		.boot_id = boot,
		.kernel = place->kernel ? place->kernel : kernel,
		.version = "0.1.0",
		.uuid = uuid,
		.wall_ns =
			FIRST_WALL_NS + night * DAY_NS + (number * 10 + repeat) * 600 * ZM_NS_PER_S,
		.start_ns = ZM_NS_PER_S,
	};

	zm_random_init(&random, 1 + number, night * 10 + repeat);
	(void)snprintf(invocation, sizeof(invocation), "dddddddd-0000-4000-8000-%06zx%06llx",
		       number, (unsigned long long)night);
	(void)snprintf(uuid, sizeof(uuid), "%02zx%02x%04llx-0000-4000-8000-000000000000",
		       number + 1, repeat, (unsigned long long)night);
	(void)snprintf(boot, sizeof(boot), "boot-%llu", (unsigned long long)night);
	(void)snprintf(kernel, sizeof(kernel), "6.%llu.0", (unsigned long long)(18 + night / 10));
	(void)snprintf(params, sizeof(params), "{\"nr_task\":%u}", place->nr_tasks);
	check(zm_recorder_begin(store, &record, &recorder, &why), &why);
	if (!has_failed)
		put_figures(recorder, place, night, &random, is_last);
	check(zm_recorder_end(recorder, has_failed ? ZM_STATUS_FAILED : ZM_STATUS_OK,
			      has_failed ? "task 0 was killed by signal 9" : NULL, &why),
	      &why);
}

int main(int argc, char **argv)
{
	struct zm_store *store = NULL;
	struct zm_why why = { "" };
	uint64_t nr = 40;

	if (argc < 2 || (argc > 2 && zm_units_parse_u64(argv[2], &nr) < 0))
		return 2;
	check(zm_store_open(argv[1], true, &store, &why), &why);
	for (uint64_t night = 0; night < nr; night++) {
		for (size_t i = 0; i < NR_PLACES; i++) {
			for (unsigned int k = 0; k < places[i].nr_runs; k++) {
				if (!places[i].is_few || night + FEW >= nr)
					make_run(store, i, night, k, night + 1 == nr);
			}
		}
	}
	zm_store_close(store);
	return 0;
}
