/*
 * format_compare_lkp: whatever the comparison, its table is read back as a robot's mail, to the figures that
 * were printed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/format_compare.h"
#include "results/report_mail.h"
#include "results/stat.h"
#include "workloads/base/random.h"

#define ROUNDS  400
#define METRICS 6
#define VALUES  4

struct scene {
	struct zm_compare compare;
	struct zm_compare_side sides[ZM_COMPARE_SIDES];
	struct zm_compare_cell cell;
	struct zm_compare_metric metrics[METRICS];
	double values[METRICS][ZM_COMPARE_SIDES][VALUES];
};

static double make_value(struct zm_random *random, double centre)
{
	return centre * (1 + 0.3 * (zm_random_unit(random) - 0.5));
}

static void make_metric(struct zm_random *random, struct scene *scene, size_t index)
{
	static const char *const names[METRICS] = {
		"will-it-scale.per_process_ops", "will-it-scale.2.processes", "mpstat.cpu.all.sys%",
		"proc-vmstat.pgalloc_normal",    "meminfo.Memused",           "zone-lock.contend%"
	};
	struct zm_compare_metric *metric = &scene->metrics[index];
	bool is_share = strchr(names[index], '%') != NULL;
	double centre = pow(10, (double)zm_random_below(random, is_share ? 3 : 12) - 1);

	*metric = (struct zm_compare_metric){ .name = names[index],
					      .unit = "x",
					      .better = ZM_BETTER_MORE,
					      .is_primary = index < 2,
					      .is_share = is_share };
	for (size_t side = 0; side < scene->compare.nr_sides; side++) {
		size_t nr = 1 + zm_random_below(random, VALUES);

		for (size_t i = 0; i < nr; i++)
			scene->values[index][side][i] = make_value(random, centre);
		metric->sides[side] =
			(struct zm_compare_values){ scene->values[index][side], nr, nr };
		metric->outcomes[side].verdict = ZM_VERDICT_CHANGED;
	}
}

static void make_scene(struct zm_random *random, struct scene *scene)
{
	static const char *const names[ZM_COMPARE_SIDES] = { "base", "v6.19-rc1", "a1b2c3d4e5f6",
							     "new",  "patch3",    "patch5",
							     "p7",   "patched-9" };

	*scene = (struct scene){ 0 };
	scene->compare.nr_sides = 2 + zm_random_below(random, ZM_COMPARE_SIDES - 1);
	scene->compare.sides = scene->sides;
	scene->compare.cells = &scene->cell;
	scene->compare.nr_cells = 1;
	scene->cell = (struct zm_compare_cell){
		.workload = "page_fault1",
		.cell = "{\"workload\":\"page_fault1\",\"mode\":\"process\",\"nr_task\":\"50%\","
			"\"seed\":1,\"dir\":null,\"runtime\":\"5s\",\"thp_enabled\":\"never\"}",
		.metrics = scene->metrics,
		.nr_metrics = METRICS,
		.nr_primary = METRICS
	};
	for (size_t i = 0; i < scene->compare.nr_sides; i++) {
		scene->sides[i].name = names[i];
		scene->sides[i].kernels = "6.18.0";
		scene->cell.sides[i].nr_ok = 1 + zm_random_below(random, 9);
		scene->cell.sides[i].nr_failed = zm_random_below(random, 3);
	}
	for (size_t i = 0; i < METRICS; i++)
		make_metric(random, scene, i);
}

static double printed_slack(double value)
{
	double magnitude = fabs(value);

	return magnitude < 1000 ? 0.0051 : magnitude < 1e8 ? 0.51 : 5.1e-4 * magnitude;
}

static void check_cell(const struct zm_compare_metric *metric, size_t side,
		       const struct zm_mail_cell *read)
{
	const struct zm_compare_values *values = &metric->sides[side];
	double mean = zm_stat_mean(values->values, values->nr);
	double base = zm_stat_mean(metric->sides[0].values, metric->sides[0].nr);
	double cv = 100 * zm_stat_cv(values->values, values->nr);

	assert_true(fabs(read->value - mean) <= printed_slack(mean));
	assert_true(cv >= 2 ? read->stddev == floor(cv) : (bool)isnan(read->stddev));
	if (side == 0)
		return;
	assert_int_equal(read->is_percent, !metric->is_share);
	assert_true(fabs(read->change -
			 (metric->is_share ? mean - base : 100 * (mean - base) / base)) <= 0.051);
}

static void check_fails(const struct scene *scene, const struct zm_mail_record *record)
{
	const struct zm_mail_row *row = zm_mail_record_row(record, "page_fault1.fail");
	size_t nr_failed = 0;

	for (size_t i = 0; i < scene->compare.nr_sides; i++)
		nr_failed += scene->cell.sides[i].nr_failed;
	assert_int_equal(row != NULL, nr_failed > 0);
	for (size_t i = 0; row && i < scene->compare.nr_sides; i++) {
		assert_true(row->is_fail);
		assert_true(row->cells[i].value == (double)scene->cell.sides[i].nr_failed);
		assert_true(row->cells[i].runs ==
			    (double)(scene->cell.sides[i].nr_failed + scene->cell.sides[i].nr_ok));
	}
}

static void check(const struct scene *scene, const struct zm_mail_record *record)
{
	static const char *const params[][2] = {
		{ "mode", "process" }, { "nr_task", "50%" },      { "runtime", "5s" },
		{ "seed", "1" },       { "test", "page_fault1" }, { "thp_enabled", "never" }
	};

	assert_string_equal(record->testcase, "zonemark");
	assert_int_equal(record->params.nr, sizeof(params) / sizeof(params[0]));
	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		assert_string_equal(zm_mail_pairs_find(&record->params, params[i][0]),
				    params[i][1]);
	assert_int_equal(record->nr_commits, scene->compare.nr_sides);
	for (size_t i = 0; i < scene->compare.nr_sides; i++) {
		assert_string_equal(record->commits[i].name, scene->sides[i].name);
		assert_string_equal(record->commits[i].title, "Linux 6.18.0");
	}
	for (size_t i = 0; i < METRICS; i++) {
		const struct zm_mail_row *row = zm_mail_record_row(record, scene->metrics[i].name);

		assert_non_null(row);
		for (size_t side = 0; side < scene->compare.nr_sides; side++)
			check_cell(&scene->metrics[i], side, &row->cells[side]);
	}
	check_fails(scene, record);
}

static void test_round_trip(void **state)
{
	const struct zm_format_compare options = { .nr_explanations = METRICS };

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct zm_random random;
		struct zm_report_mail report;
		struct zm_why why = { "" };
		struct scene scene;
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		zm_random_init(&random, 20261201, round);
		make_scene(&random, &scene);
		assert_int_equal(zm_format_compare_lkp(&scene.compare, &options, out), 0);
		(void)fclose(out);
		if (zm_report_mail_read(text, size, &report, &why) < 0)
			fail_msg("round %u: %s\n%s", round, why.text, text);
		assert_int_equal(report.nr_records, 1);
		check(&scene, report.records[0]);
		zm_report_mail_release(&report);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
