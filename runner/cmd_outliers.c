/*
 * cmd_outliers: of many machines of one model, which differ, in what, by how much?
 *
 *     store -> peers -> a table of outliers per model -> what else differs in them -> what could have been seen
 */
#include "runner/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/peers.h"
#include "results/json.h"
#include "results/table.h"
#include "runner/cmd_rows.h"

struct switches {
	char *db, *kernel, *label;
	double least, confidence, power;
	bool metrics, gate, json;
};

#define AT(member) offsetof(struct switches, member)

static const struct zm_option rows[] = {
	ZM_ROW_LEAST(struct switches),
	ZM_ROW_CONFIDENCE(struct switches, "of all that is said together"),
	{ .name = "power",
	  .type = ZM_OPTION_DOUBLE,
	  .offset = AT(power),
	  .preset = "80",
	  .min = 50,
	  .max = 99,
	  .unit = "percent",
	  .help = "with which a difference would have been seen, where that is said" },
	{ .name = "kernel",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(kernel),
	  .unit = "pattern",
	  .help = "only runs on such kernels: '6.1[89]*'" },
	{ .name = "label",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(label),
	  .unit = "pattern",
	  .help = "only runs with such a label" },
	{ .name = "metrics",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(metrics),
	  .preset = "0",
	  .help = "every metric too: its median, its spread, and what could have been seen" },
	{ .name = "gate",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(gate),
	  .preset = "0",
	  .help = "exit status 1 when a machine differs" },
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

/* A difference as the metric has it: percent, or points. */
static char *difference(char *buf, size_t size, const struct zm_peers_metric *metric, double change)
{
	char number[32];

	if (isnan(change))
		buf[0] = '\0';
	else if (metric->is_ratio)
		(void)snprintf(buf, size, "%+.2f%%", change * 100);
	else
		(void)snprintf(buf, size, "%s%s", change < 0 ? "" : "+",
			       zm_table_number(number, sizeof(number), change));
	return buf;
}

static size_t nr_machines_of(const struct zm_peers *peers, size_t model)
{
	size_t nr = 0;

	for (size_t i = 0; i < peers->nr_machines; i++)
		nr += peers->machines[i].model == model;
	return nr;
}

/* --- text --- */

static int print_outliers(const struct zm_peers *peers, size_t model, size_t width)
{
	static const struct zm_column columns[] = {
		{ .title = "machine" },
		{ .title = "workload", .may_be_cut = true },
		{ .title = "metric" },
		{ .title = "value", .is_right = true },
		{ .title = "median", .is_right = true },
		{ .title = "difference", .is_right = true },
		{ .title = "p", .is_right = true },
		{ .title = "boots", .is_right = true },
		{ .title = "runs", .is_right = true },
	};
	struct zm_table *table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char text[64];
	int r;

	for (size_t i = 0; i < peers->nr_metrics; i++) {
		const struct zm_peers_metric *metric = &peers->metrics[i];

		for (size_t k = 0; metric->model == model && k < metric->nr_outliers; k++) {
			const struct zm_peers_value *value = &metric->values[k];

			zm_table_cell(table, "%s", peers->machines[value->machine].id);
			zm_table_cell(table, "%s%s%s", metric->workload,
				      metric->words[0] ? " " : "", metric->words);
			zm_table_cell(table, "%s%s%s", metric->name, metric->unit[0] ? ", " : "",
				      metric->unit);
			zm_table_figure(table, value->value);
			zm_table_figure(table, metric->median);
			zm_table_cell(table, "%s",
				      difference(text, sizeof(text), metric, value->change));
			zm_table_cell(table, "%.2g", value->p);
			zm_table_cell(table, "%zu", value->nr_boots);
			zm_table_cell(table, "%zu", value->nr_runs);
		}
	}
	r = !table                    ? -ENOMEM
	    : zm_table_nr_rows(table) ? zm_table_print(table, stdout, width, "  ")
				      : 0;
	if (r == 0 && zm_table_nr_rows(table) == 0)
		(void)puts("  no machine differs from the others");
	zm_table_free(table);
	return r;
}

static int print_metrics(const struct zm_peers *peers, size_t model, size_t width)
{
	static const struct zm_column columns[] = {
		{ .title = "workload", .may_be_cut = true },
		{ .title = "metric" },
		{ .title = "machines", .is_right = true },
		{ .title = "median", .is_right = true },
		{ .title = "spread", .is_right = true },
		{ .title = "could have seen", .is_right = true },
	};
	struct zm_table *table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char text[64];
	int r;

	for (size_t i = 0; i < peers->nr_metrics; i++) {
		const struct zm_peers_metric *metric = &peers->metrics[i];

		if (metric->model != model)
			continue;
		zm_table_cell(table, "%s%s%s", metric->workload, metric->words[0] ? " " : "",
			      metric->words);
		zm_table_cell(table, "%s%s%s", metric->name, metric->unit[0] ? ", " : "",
			      metric->unit);
		zm_table_cell(table, "%zu", metric->nr_values);
		zm_table_figure(table, metric->median);
		zm_table_cell(table, "%s",
			      isnan(metric->median)
				      ? ""
				      : difference(text, sizeof(text), metric, metric->sd) + 1);
		zm_table_cell(table, "%s",
			      difference(text, sizeof(text), metric, metric->detectable));
	}
	r = table ? zm_table_print(table, stdout, width, "  ") : -ENOMEM;
	zm_table_free(table);
	return r;
}

/* Each outlier's once. */
static void print_differences(const struct zm_peers *peers, size_t model)
{
	for (size_t machine = 0; machine < peers->nr_machines; machine++) {
		bool is_outlier = false;
		char text[1024];

		for (size_t i = 0; i < peers->nr_metrics; i++)
			for (size_t k = 0; k < peers->metrics[i].nr_outliers; k++)
				is_outlier = is_outlier ||
					     peers->metrics[i].values[k].machine == machine;
		if (!is_outlier || peers->machines[machine].model != model)
			continue;
		(void)printf("  %s: %s\n", peers->machines[machine].id,
			     zm_peers_differences(peers, machine, text, sizeof(text))[0]
				     ? text
				     : "its inventory is as the others'");
	}
}

static void print_seen(const struct zm_peers *peers, size_t model, const struct switches *switches)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < peers->nr_metrics; i++) {
		const struct zm_peers_metric *metric = &peers->metrics[i];

		if (metric->model != model || !metric->is_ratio || isnan(metric->detectable))
			continue;
		least = fmin(least, metric->detectable);
		most = fmax(most, metric->detectable);
	}
	if (least <= most)
		(void)printf("  one machine's difference would have been seen from %.2g%% on, and "
			     "from %.2g%% on in the noisiest metric (power %g%%)\n",
			     least * 100, most * 100, switches->power);
}

static int print_model(const struct zm_peers *peers, size_t model, const struct switches *switches)
{
	size_t width = zm_table_terminal_width(), nr = nr_machines_of(peers, model);
	int r;

	(void)printf("%s: %zu machine%s\n", peers->models[model], nr, nr == 1 ? "" : "s");
	if (nr < ZM_OUTLIER_LEAST) {
		(void)printf("  too few: %d are the least among which one can be said to differ\n",
			     ZM_OUTLIER_LEAST);
		return 0;
	}
	r = print_outliers(peers, model, width);
	if (r == 0)
		print_differences(peers, model);
	if (r == 0)
		print_seen(peers, model, switches);
	return r == 0 && switches->metrics ? print_metrics(peers, model, width) : r;
}

static int print_text(const struct zm_peers *peers, const struct switches *switches)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < peers->nr_models; i++)
		r = print_model(peers, i, switches);
	(void)printf("%zu comparisons; the chance of even one false name among all is %g%%\n",
		     peers->nr_comparisons, 100 - switches->confidence);
	if (peers->nr_few)
		(void)printf("%zu metric%s of fewer than %d machines left out\n", peers->nr_few,
			     peers->nr_few == 1 ? "" : "s", ZM_OUTLIER_LEAST);
	return r;
}

/* --- JSON --- */

static json_t *metric_json(const struct zm_peers *peers, const struct zm_peers_metric *metric)
{
	json_t *object =
		json_pack("{s:s, s:s, s:s, s:s}", "model", peers->models[metric->model], "workload",
			  metric->workload, "metric", metric->name, "unit", metric->unit);
	json_t *outliers = json_array();

	(void)json_object_set_new(object, "cell", zm_json_parsed(metric->cell));
	(void)json_object_set_new(object, "machines", json_integer((json_int_t)metric->nr_values));
	(void)zm_json_set_real(object, "median", metric->median);
	(void)zm_json_set_real(object, "could_have_seen", metric->detectable);
	for (size_t k = 0; k < metric->nr_outliers; k++) {
		const struct zm_peers_value *value = &metric->values[k];
		json_t *outlier =
			json_pack("{s:s, s:f, s:f, s:f, s:I, s:I}", "machine",
				  peers->machines[value->machine].id, "value", value->value,
				  "change", value->change, "p", value->p, "boots",
				  (json_int_t)value->nr_boots, "runs", (json_int_t)value->nr_runs);
		char text[1024];

		(void)json_object_set_new(outlier, "inventory",
					  zm_json_text(zm_peers_differences(peers, value->machine,
									    text, sizeof(text))));
		(void)json_array_append_new(outliers, outlier);
	}
	(void)json_object_set_new(object, "is_ratio", json_boolean(metric->is_ratio));
	(void)json_object_set_new(object, "outliers", outliers);
	return object;
}

static int print_json(const struct zm_peers *peers)
{
	json_t *metrics = json_array();
	json_t *object =
		json_pack("{s:I, s:I, s:o}", "machines", (json_int_t)peers->nr_machines,
			  "comparisons", (json_int_t)peers->nr_comparisons, "metrics", metrics);

	for (size_t i = 0; i < peers->nr_metrics; i++)
		(void)json_array_append_new(metrics, metric_json(peers, &peers->metrics[i]));
	if (!object)
		return -ENOMEM;
	(void)json_dumpf(object, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(object);
	return 0;
}

/* --- the command --- */

static int status_of(const struct zm_peers *peers, const struct switches *switches)
{
	for (size_t i = 0; switches->gate && i < peers->nr_metrics; i++) {
		if (peers->metrics[i].nr_outliers)
			return ZM_EXIT_NO;
	}
	return ZM_EXIT_OK;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	const struct zm_peers_options options = { .kernel = switches->kernel,
						  .label = switches->label,
						  .alpha = 1 - switches->confidence / 100,
						  .power = switches->power / 100,
						  .margin = switches->least / 100 };
	struct zm_store *store = NULL;
	struct zm_peers *peers = NULL;
	struct zm_why why = { "" };
	int status = ZM_EXIT_OK, r;

	if (args->nr_words)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "outliers: %s: no word is wanted; --db FILE names "
				    "the store",
				    args->words[0]);
	r = zm_store_open(switches->db, false, &store, &why);
	if (r == 0)
		r = zm_peers_read(store, &options, &peers, &why);
	if (r == 0)
		r = switches->json ? print_json(peers) : print_text(peers, switches);
	if (r == 0)
		status = status_of(peers, switches);
	else if (!why.text[0])
		(void)zm_why_errno(&why, r, "outliers");
	zm_peers_free(peers);
	zm_store_close(store);
	return r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "of many machines of one model, say which differ, in what, by how much",
	.usage = "",
	.details =
		"Machines are of one model when product, processor, sockets and memory are the "
		"same. Of each primary figure of each cell a machine has one value: the median "
		"over "
		"its boots of the means of their runs. Values that do not belong to the others' "
		"are "
		"found from the outermost inwards (Grubbs' test on what is left, as in generalised "
		"ESD, in the order of their distance from the median), corrected for all machines "
		"and all metrics (Holm). What a differing machine's inventory has otherwise than "
		"most of its model is said with it, and how small a difference would have been "
		"seen.\n\n"
		"Four machines are the least; docs/qualify.md has how often a false name is said.",
	.examples = "zonemark import nodes/*.db --db lab.db\tmany machines' runs in one store\n"
		    "zonemark outliers --db lab.db\twhich differ?\n"
		    "zonemark outliers --db lab.db --kernel '6.18*' --metrics\ton one kernel, with "
		    "what could be seen",
	.completes = "",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
