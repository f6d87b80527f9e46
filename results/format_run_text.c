/*
 * format_run_text: one run as a text.
 *
 *     head      what it was, how it ended, what a reader must know before any figure
 *     figures   the workload's, with their spread; then the window's counts, the tasks
 *     machine   the monitors' figures and series
 *     absent    what could not be had, and why
 */
#include "results/format_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "results/format_hist.h"
#include "results/json.h"
#include "results/table.h"
#include "results/utf8.h"
#include "results/words.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

struct page {
	const struct zm_digest *digest;
	const struct zm_format_run *options;
	FILE *out;
	int error;
	size_t nr_hidden; /* lines of what did not move */
};

static void print_table(struct page *page, const char *title, struct zm_table *table)
{
	if (zm_table_nr_rows(table) > 0 || !table) {
		(void)fprintf(page->out, "\n%s\n", title);
		if (zm_table_print(table, page->out, page->options->width, "  "))
			page->error = -ENOMEM;
	}
	zm_table_free(table);
}

/* --- head --- */

static void print_line(struct page *page, const char *name, const char *text)
{
	zm_autofree char *printable = text && *text ? zm_utf8_printable(text) : NULL;

	if (printable)
		(void)fprintf(page->out, "  %-10s  %s\n", name, printable);
}

static const char *inventory_text(const json_t *inventory, const char *key)
{
	return json_string_value(json_object_get(inventory, key));
}

static long long inventory_number(const json_t *inventory, const char *key)
{
	return json_integer_value(json_object_get(inventory, key));
}

/* "AMD EPYC, 2 CPUs, 1 socket, 1 node, 23.5 GiB, KVM; Debian…" of what is known. */
static void print_machine(struct page *page)
{
	json_t *inventory = zm_json_parsed(page->digest->view->inventory);
	long long cpus = inventory_number(inventory, "cpus_online");
	long long sockets = inventory_number(inventory, "sockets");
	size_t nodes = json_array_size(json_object_get(inventory, "nodes"));
	double bytes = (double)inventory_number(inventory, "memory_bytes");
	const char *model = inventory_text(inventory, "cpu_model");
	const char *hypervisor = inventory_text(inventory, "hypervisor");
	char text[512], memory[32];
	int used = snprintf(text, sizeof(text), "%s", model ? model : "unknown CPU");

#define ADD(...)                                                                                   \
	do {                                                                                       \
		if (used > 0 && (size_t)used < sizeof(text))                                       \
			used += snprintf(text + used, sizeof(text) - (size_t)used, __VA_ARGS__);   \
	} while (0)
	if (cpus)
		ADD(", %lld CPU%s", cpus, cpus == 1 ? "" : "s");
	if (sockets)
		ADD(", %lld socket%s", sockets, sockets == 1 ? "" : "s");
	if (nodes)
		ADD(", %zu node%s", nodes, nodes == 1 ? "" : "s");
	if (bytes > 0)
		ADD(", %s", zm_units_human_bytes(memory, sizeof(memory), bytes));
	if (hypervisor && strcmp(hypervisor, "none") != 0)
		ADD(", under %s", hypervisor);
	ADD(" (%s)", page->digest->view->info.machine);
#undef ADD
	print_line(page, "machine", text);
	json_decref(inventory);
}

static void print_phases(struct page *page)
{
	const struct zm_run_view *view = page->digest->view;

	if (view->nr_phases == 0)
		return;
	(void)fprintf(page->out, "  %-10s", "phases");
	for (size_t i = 0; i < view->nr_phases; i++) {
		char text[32];
		double ns = (double)view->phases[i].t1_ns - (double)view->phases[i].t0_ns;

		(void)fprintf(page->out, "%s %s %s", i ? "," : " ",
			      zm_phase_name(view->phases[i].phase),
			      zm_units_human_ns(text, sizeof(text), ns));
	}
	(void)fputc('\n', page->out);
}

static void print_origin(struct page *page)
{
	const struct zm_run_info *info = &page->digest->view->info;
	char text[512], when[32];

	(void)snprintf(text, sizeof(text), "%s, launch %u%s%s",
		       zm_json_time_text(when, sizeof(when), info->wall_ns), info->repeat + 1,
		       info->label ? ", label " : "", info->label ? info->label : "");
	print_line(page, "began", text);
	(void)snprintf(text, sizeof(text), "%s (boot %s)", info->kernel, info->boot);
	print_line(page, "kernel", text);
	print_machine(page);
	print_line(page, "command", info->command_line);
	print_line(page, "run", info->uuid);
}

static void print_head(struct page *page)
{
	const struct zm_run_view *view = page->digest->view;
	const struct zm_run_info *info = &view->info;
	zm_autofree char *workload = zm_utf8_printable(info->workload);
	zm_autofree char *reason = zm_utf8_printable(info->reason ? info->reason : "");

	(void)fprintf(page->out, "run %" PRIu64 ": %s, %u %s task%s: %s%s%s\n", info->id,
		      workload ? workload : "", info->nr_tasks, info->kind,
		      info->nr_tasks == 1 ? "" : "s", zm_status_name(info->status),
		      reason && *reason ? ": " : "", reason ? reason : "");
	if (info->status == ZM_STATUS_FAILED || info->status == ZM_STATUS_INTERRUPTED)
		(void)fputs("  ! none of its figures counts as a result\n", page->out);
	for (size_t i = 0; i < view->nr_notes; i++) {
		zm_autofree char *kind = zm_utf8_printable(view->notes[i].kind);
		zm_autofree char *text = zm_utf8_printable(view->notes[i].text);

		(void)fprintf(page->out, "  ! %s: %s\n", kind ? kind : "", text ? text : "");
	}
	if (page->digest->nr_damaged)
		(void)fprintf(page->out,
			      "  ! damaged: %zu of its series could not be read back from the "
			      "store\n",
			      page->digest->nr_damaged);
	(void)fputc('\n', page->out);
	print_origin(page);
	print_phases(page);
	(void)fprintf(page->out, "  %-10s  ", "parameters");
	zm_words_print(info->params, page->options->width, 14, page->out);
}

/* --- figures --- */

/* The unit may go into the value: "2.93 GiB", "49.5 us". Returns what is left of it. */
static const char *value_text(char *buf, size_t size, double value, const char *unit)
{
	if (isnan(value)) {
		buf[0] = '\0';
		return unit;
	}
	if (!strcmp(unit, "bytes")) {
		(void)zm_units_human_bytes(buf, size, value);
		return "";
	}
	if (!strcmp(unit, "ns")) {
		(void)zm_units_human_ns(buf, size, value);
		return "";
	}
	(void)zm_table_number(buf, size, value);
	return unit;
}

static void add_value(struct zm_table *table, double value, const char *unit)
{
	char text[64];

	unit = value_text(text, sizeof(text), value, unit);
	zm_table_cell(table, "%s", text);
	zm_table_cell(table, "%s", unit);
}

static void add_spread(struct zm_table *table, const struct zm_spread *spread, const char *unit)
{
	const double values[] = { spread->min, spread->median, spread->max };
	char text[64];

	if (spread->nr < 2) {
		for (size_t i = 0; i < 5; i++)
			zm_table_cell(table, "%s", "");
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		(void)value_text(text, sizeof(text), values[i], unit);
		zm_table_cell(table, "%s", text);
	}
	zm_table_cell(table, "%s", zm_table_percent(text, sizeof(text), spread->cv));
	zm_table_cell(table, "%zu", spread->nr);
}

static void add_origin(struct zm_table *table, const struct page *page, double count,
		       uint64_t interval_ns, const char *source)
{
	char text[32];

	if (!page->options->trace) {
		for (size_t i = 0; i < 3; i++)
			zm_table_cell(table, "%s", "");
		return;
	}
	zm_table_figure(table, count);
	zm_table_cell(table, "%s",
		      interval_ns ? zm_units_human_ns(text, sizeof(text), (double)interval_ns)
				  : "");
	zm_table_cell(table, "%s", source);
}

static const struct zm_column spread_columns[] = {
	{ .title = "metric", .may_be_cut = true },
	{ .title = "value", .is_right = true },
	{ .title = "unit" },
	{ .title = "min", .is_right = true },
	{ .title = "median", .is_right = true },
	{ .title = "max", .is_right = true },
	{ .title = "cv", .is_right = true },
	{ .title = "n", .is_right = true },
	{ .title = "raw count", .is_right = true },
	{ .title = "over", .is_right = true },
	{ .title = "source" },
};
#define NR_SPREAD_COLUMNS (sizeof(spread_columns) / sizeof(spread_columns[0]))

/* A figure that is 0 says little. */
static bool is_nothing(double value, const struct zm_spread *spread)
{
	return (isnan(value) || value == 0) && (spread->nr == 0 || spread->max == 0);
}

/* A count that did not rise, a gauge that had one value all the time: a setting or a size. */
static bool is_still(const struct zm_digest_metric *metric)
{
	for (size_t i = 0; i < metric->nr_scopes; i++) {
		const struct zm_digest_scope *scope = &metric->scopes[i];

		if (metric->desc.kind == ZM_COUNT ? scope->count > 0
						  : scope->spread.max > scope->spread.min)
			return false;
	}
	return true;
}

static bool hides(struct page *page, bool says_little)
{
	if (page->options->all || page->options->only_found || !says_little)
		return false;
	page->nr_hidden++;
	return true;
}

static void add_figure(struct page *page, struct zm_table *table,
		       const struct zm_digest_figure *figure)
{
	const struct zm_result *result = figure->result;

	if (hides(page, !result->is_primary && is_nothing(result->value, &figure->within)))
		return;
	zm_table_cell(table, "%s%s", result->metric, result->is_primary ? " *" : "");
	add_value(table, result->value, result->unit);
	add_spread(table, &figure->within, result->unit);
	add_origin(table, page,
		   result->count == 0 && result->value != 0 ? (double)NAN : result->count,
		   result->interval_ns, result->source);
}

enum who {
	THE_WORKLOAD,
	THE_ENGINE,
	A_MONITOR,
};

static enum who who_says(const struct zm_digest *digest, const char *source)
{
	if (!strcmp(source, ZM_SOURCE_ENGINE))
		return THE_ENGINE;
	return !strcmp(source, digest->view->info.workload) ? THE_WORKLOAD : A_MONITOR;
}

static bool is_window_count(const char *metric)
{
	return !strcmp(metric, ZM_FIGURE_OPS) || !strcmp(metric, ZM_FIGURE_TASK_FAULTS) ||
	       !strcmp(metric, ZM_FIGURE_KERNEL_FAULTS);
}

static void print_figures(struct page *page, enum who who, const char *title)
{
	const struct zm_digest *digest = page->digest;
	struct zm_table *table = zm_table_new(spread_columns, NR_SPREAD_COLUMNS);

	for (size_t i = 0; i < digest->view->nr_results; i++) {
		const struct zm_result *result = digest->figures[i].result;

		if (who_says(digest, result->source) == who && !is_window_count(result->metric))
			add_figure(page, table, &digest->figures[i]);
	}
	print_table(page, title, table);
}

static void print_launches(struct page *page)
{
	static const struct zm_column columns[] = {
		{ .title = "metric", .may_be_cut = true },
		{ .title = "median", .is_right = true },
		{ .title = "unit" },
		{ .title = "min", .is_right = true },
		{ .title = "max", .is_right = true },
		{ .title = "cv", .is_right = true },
		{ .title = "launches", .is_right = true },
	};
	const struct zm_digest *digest = page->digest;
	const struct zm_launches *launches = &digest->launches;
	struct zm_table *table = zm_table_new(columns, 7);
	char within[32], between[32];

	for (size_t i = 0; i < digest->view->nr_results; i++) {
		const struct zm_digest_figure *figure = &digest->figures[i];
		const char *unit = figure->result->unit;
		char text[64];

		if (figure->launches.nr < 2 ||
		    who_says(digest, figure->result->source) != THE_WORKLOAD)
			continue;
		zm_table_cell(table, "%s", figure->result->metric);
		add_value(table, figure->launches.median, unit);
		(void)value_text(text, sizeof(text), figure->launches.min, unit);
		zm_table_cell(table, "%s", text);
		(void)value_text(text, sizeof(text), figure->launches.max, unit);
		zm_table_cell(table, "%s", text);
		zm_table_cell(table, "%s",
			      zm_table_percent(text, sizeof(text), figure->launches.cv));
		zm_table_cell(table, "%zu", figure->launches.nr);
	}
	print_table(page, "Launches of the same cell in the same command", table);
	if (launches->nr < 2)
		return;
	(void)zm_table_percent(within, sizeof(within), launches->within);
	(void)zm_table_percent(between, sizeof(between), launches->between);
	(void)fprintf(page->out,
		      "  spread of the throughput: %s within a launch (between its intervals), %s "
		      "between launches\n",
		      *within ? within : "not known", *between ? between : "not known");
}

static void add_window_count(const struct page *page, struct zm_table *table, const char *metric,
			     const char *name)
{
	const struct zm_result *ops = zm_run_view_result(page->digest->view, ZM_FIGURE_OPS);
	const struct zm_result *result = zm_run_view_result(page->digest->view, metric);
	const char *op = page->digest->throughput.op;
	char text[32];

	if (!result)
		return;
	zm_table_cell(table, "%s", name);
	zm_table_figure(table, result->count);
	if (result == ops || result->count <= 0 || !ops)
		zm_table_cell(table, "%s", "");
	else
		zm_table_cell(table, "%s %ss per fault",
			      zm_table_number(text, sizeof(text), ops->count / result->count),
			      op ? op : "operation");
	add_origin(table, page, result->count, result->interval_ns, result->source);
}

/* Operations, the tasks' own faults, the kernel's: what should fit together. */
static void print_counts(struct page *page)
{
	static const struct zm_column columns[] = {
		{ .title = "count of the window", .may_be_cut = true },
		{ .title = "count", .is_right = true },
		{ .title = "ratio", .is_right = true },
		{ .title = "raw count", .is_right = true },
		{ .title = "over", .is_right = true },
		{ .title = "source" },
	};
	struct zm_table *table = zm_table_new(columns, 6);
	const char *op = page->digest->throughput.op;
	char name[96];

	(void)snprintf(name, sizeof(name), "%ss", op ? op : "operation");
	add_window_count(page, table, ZM_FIGURE_OPS, name);
	add_window_count(page, table, ZM_FIGURE_TASK_FAULTS, "page faults of the tasks (rusage)");
	add_window_count(page, table, ZM_FIGURE_KERNEL_FAULTS, "page faults of everybody (vmstat)");
	print_table(page, "The three counts", table);
}

/* --- series --- */

/* As it is, or as a share of the time in percent. */
static bool has_figure(const struct zm_digest *digest, const char *metric)
{
	char percent[256];

	(void)snprintf(percent, sizeof(percent), "%s%%", metric);
	return zm_run_view_result(digest->view, metric) ||
	       zm_run_view_result(digest->view, percent);
}

static void add_metric(struct page *page, struct zm_table *table,
		       const struct zm_digest_metric *metric)
{
	const struct zm_digest_scope *scope = &metric->scopes[0];
	char unit[64];

	if (hides(page, is_still(metric)))
		return;
	(void)zm_digest_unit(unit, sizeof(unit), &metric->desc);
	zm_table_cell(table, "%s", metric->desc.metric);
	add_value(table, scope->value, unit);
	add_spread(table, &scope->spread, unit);
	add_origin(table, page, metric->desc.kind == ZM_COUNT ? scope->count : (double)NAN,
		   scope->covered_ns, metric->desc.source);
}

/* Is there nothing to compare it with? */
static bool is_one(const struct zm_digest_metric *metric)
{
	return metric->desc.scope == ZM_SCOPE_HOST ||
	       (metric->nr_scopes == 1 && metric->desc.scope != ZM_SCOPE_TASK);
}

/* Of the whole machine, or of its only node. Those that stand as figures already are not shown twice. */
static void print_host_metrics(struct page *page)
{
	const struct zm_digest *digest = page->digest;
	struct zm_table *table = zm_table_new(spread_columns, NR_SPREAD_COLUMNS);

	for (size_t i = 0; i < digest->nr_metrics; i++) {
		const struct zm_digest_metric *metric = &digest->metrics[i];

		if (is_one(metric) &&
		    (page->options->only_found || !has_figure(digest, metric->desc.metric)))
			add_metric(page, table, metric);
	}
	print_table(page,
		    digest->is_measured ? "The machine in the measured window"
					: "The machine in the whole run",
		    table);
}

static const struct zm_column scope_columns[] = {
	{ .title = "metric", .may_be_cut = true }, { .title = "of each" },
	{ .title = "number", .is_right = true },   { .title = "min", .is_right = true },
	{ .title = "median", .is_right = true },   { .title = "max", .is_right = true },
	{ .title = "total", .is_right = true },    { .title = "unit" },
};

static void add_scopes(struct page *page, struct zm_table *table,
		       const struct zm_digest_metric *metric)
{
	const double values[] = { metric->over_scopes.min, metric->over_scopes.median,
				  metric->over_scopes.max, metric->total };
	char unit[64], text[64];

	if (hides(page, is_still(metric)))
		return;
	(void)zm_digest_unit(unit, sizeof(unit), &metric->desc);
	zm_table_cell(table, "%s", metric->desc.metric);
	zm_table_cell(table, "%s", zm_scope_name(metric->desc.scope));
	zm_table_cell(table, "%zu", metric->nr_scopes);
	for (size_t i = 0; i < 4; i++) {
		(void)value_text(text, sizeof(text), values[i], unit);
		zm_table_cell(table, "%s", text);
	}
	zm_table_cell(table, "%s", value_text(text, sizeof(text), 0, unit));
}

static void print_scoped(struct page *page, bool is_task, const char *title)
{
	const struct zm_digest *digest = page->digest;
	struct zm_table *table = zm_table_new(scope_columns, 8);

	for (size_t i = 0; i < digest->nr_metrics; i++) {
		const struct zm_digest_metric *metric = &digest->metrics[i];

		if (!is_one(metric) && (metric->desc.scope == ZM_SCOPE_TASK) == is_task)
			add_scopes(page, table, metric);
	}
	print_table(page, title, table);
}

static void add_each(struct page *page, struct zm_table *table,
		     const struct zm_digest_metric *metric)
{
	char unit[64];

	(void)zm_digest_unit(unit, sizeof(unit), &metric->desc);
	for (size_t i = 0; i < metric->nr_scopes; i++) {
		const struct zm_digest_scope *scope = &metric->scopes[i];

		if (!page->options->all && !page->options->only_found && is_still(metric))
			continue;
		zm_table_cell(table, "%s %s %u", metric->desc.metric,
			      zm_scope_name(metric->desc.scope), scope->id);
		add_value(table, scope->value, unit);
		add_spread(table, &scope->spread, unit);
		add_origin(table, page, metric->desc.kind == ZM_COUNT ? scope->count : (double)NAN,
			   scope->covered_ns, metric->desc.source);
	}
}

/* Every task, CPU, node and zone by itself. */
static void print_each(struct page *page)
{
	const struct zm_digest *digest = page->digest;
	struct zm_table *table = zm_table_new(spread_columns, NR_SPREAD_COLUMNS);

	for (size_t i = 0; i < digest->nr_metrics; i++) {
		if (!is_one(&digest->metrics[i]))
			add_each(page, table, &digest->metrics[i]);
	}
	print_table(page, "One by one", table);
}

/* What is not known is -1. */
static void number_or(struct zm_table *table, int number, const char *otherwise)
{
	if (number >= 0)
		zm_table_cell(table, "%d", number);
	else
		zm_table_cell(table, "%s", otherwise);
}

static void print_tasks(struct page *page)
{
	static const struct zm_column columns[] = {
		{ .title = "task", .is_right = true },  { .title = "pid", .is_right = true },
		{ .title = "CPU", .is_right = true },   { .title = "node", .is_right = true },
		{ .title = "rate", .is_right = true },  { .title = "unit" },
		{ .title = "count", .is_right = true },
	};
	const struct zm_digest *digest = page->digest;
	const struct zm_digest_metric *ops = zm_digest_metric(digest, ZM_SERIES_TASK_OPS);
	struct zm_table *table = zm_table_new(columns, 7);

	for (size_t i = 0; i < digest->view->nr_tasks; i++) {
		const struct zm_task_row *task = &digest->view->tasks[i];
		const struct zm_digest_scope *scope =
			ops && i < ops->nr_scopes && ops->scopes[i].id == task->index
				? &ops->scopes[i]
				: NULL;

		zm_table_cell(table, "%u", task->index);
		zm_table_cell(table, "%d", task->pid);
		number_or(table, task->cpu, "any");
		number_or(table, task->node, "");
		zm_table_figure(table, scope ? scope->value : (double)NAN);
		zm_table_cell(table, "%s%s", ops ? digest->rate_curve.unit : "", "");
		zm_table_figure(table, scope ? scope->count : (double)NAN);
	}
	print_table(page, "Where each task ran", table);
}

static void print_hists(struct page *page)
{
	static const struct zm_column columns[] = {
		{ .title = "histogram", .may_be_cut = true },
		{ .title = "of" },
		{ .title = "values", .is_right = true },
		{ .title = "mean", .is_right = true },
		{ .title = "50 %", .is_right = true },
		{ .title = "90 %", .is_right = true },
		{ .title = "99 %", .is_right = true },
		{ .title = "99.9 %", .is_right = true },
		{ .title = "max", .is_right = true },
		{ .title = "unit" },
	};
	static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };
	struct zm_table *table = zm_table_new(columns, 10);

	for (size_t i = 0; i < page->digest->nr_hists; i++) {
		const struct zm_digest_hist *hist = &page->digest->hists[i];
		const char *unit = hist->desc.unit;
		char text[64];

		if (!hist->hist->count && !page->options->all && !page->options->only_found) {
			page->nr_hidden++;
			continue;
		}
		zm_table_cell(table, "%s", hist->desc.metric);
		if (hist->nr_scopes > 1)
			zm_table_cell(table, "%zu %ss", hist->nr_scopes,
				      zm_scope_name(hist->desc.scope));
		else
			zm_table_cell(table, "%s", zm_scope_name(hist->desc.scope));
		zm_table_figure(table, (double)hist->hist->count);
		(void)value_text(text, sizeof(text), zm_hist_mean(hist->hist), unit);
		zm_table_cell(table, "%s", hist->hist->count ? text : "");
		for (size_t q = 0; q < 4; q++) {
			(void)value_text(text, sizeof(text),
					 zm_hist_quantile(hist->hist, quantiles[q]), unit);
			zm_table_cell(table, "%s", hist->hist->count ? text : "");
		}
		unit = value_text(text, sizeof(text), (double)hist->hist->max, unit);
		zm_table_cell(table, "%s", hist->hist->count ? text : "");
		zm_table_cell(table, "%s", unit);
	}
	print_table(page, "Histograms of the window", table);
}

/* Each as bars: where a pattern has chosen them. */
static void draw_hists(struct page *page)
{
	for (size_t i = 0; !page->error && i < page->digest->nr_hists; i++) {
		const struct zm_digest_hist *hist = &page->digest->hists[i];

		if (!hist->hist->count)
			continue;
		(void)fprintf(page->out, "\n%s\n", hist->desc.metric);
		page->error = zm_format_hist(hist->hist, hist->desc.unit, page->options->width,
					     page->out);
	}
}

static void print_absents(struct page *page)
{
	const struct zm_run_view *view = page->digest->view;

	if (view->nr_absents)
		(void)fputs("\nNot to be had\n", page->out);
	for (size_t i = 0; i < view->nr_absents; i++) {
		zm_autofree char *source = zm_utf8_printable(view->absents[i].kind);
		zm_autofree char *reason = zm_utf8_printable(view->absents[i].text);

		(void)fprintf(page->out, "  %s: %s\n", source ? source : "", reason ? reason : "");
	}
}

static void print_hidden(const struct page *page)
{
	if (page->nr_hidden)
		(void)fprintf(page->out, "\n%zu more did not move; --all shows them\n",
			      page->nr_hidden);
}

static void print_series(struct page *page)
{
	bool one_by_one = page->options->all || page->options->trace || page->options->only_found;

	print_host_metrics(page);
	print_scoped(page, false, "By CPU, node and zone");
	print_hists(page);
	if (page->options->only_found)
		draw_hists(page);
	if (one_by_one)
		print_each(page);
}

int zm_format_run_text(const struct zm_digest *digest, const struct zm_format_run *options,
		       FILE *out)
{
	struct page page = { .digest = digest, .options = options, .out = out };

	print_head(&page);
	if (!options->only_found) {
		print_figures(&page, THE_WORKLOAD, "Figures (* verdicts are given on these)");
		print_launches(&page);
		print_counts(&page);
		print_figures(&page, THE_ENGINE, "Start, disturbance, memory");
	}
	print_scoped(&page, true, "Tasks");
	if (options->trace && !options->only_found)
		print_tasks(&page);
	if (!options->only_found)
		print_figures(&page, A_MONITOR, "Derived by the monitors");
	print_series(&page);
	print_absents(&page);
	print_hidden(&page);
	return page.error;
}
