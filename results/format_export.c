/*
 * format_export: everything about runs, as JSON or CSV, written as it is read.
 *
 * Of JSON, objects are made and printed by jansson; the long arrays of numbers are printed directly,
 * so that a 64-bit count keeps all its digits.
 */
#include "results/format_export.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/csv.h"
#include "results/json.h"
#include "results/query.h"
#include "results/series.h"
#include "results/stacks.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define JSON_LOOK (JSON_COMPACT | JSON_PRESERVE_ORDER)

/* Of one run, on its way out. */
struct leaving {
	FILE *out;
	const struct zm_run_view *view;
	size_t nr_series, nr_stacks;
	struct zm_hist *hist;
};

static const char *phase_of(const struct zm_run_view *view, uint64_t t_ns)
{
	for (size_t i = 0; i < view->nr_phases; i++) {
		bool is_last = i + 1 == view->nr_phases;

		if (t_ns >= view->phases[i].t0_ns &&
		    (t_ns < view->phases[i].t1_ns || (is_last && t_ns == view->phases[i].t1_ns)))
			return zm_phase_name(view->phases[i].phase);
	}
	return "";
}

/* --- JSON --- */

static json_t *results_json(const struct zm_run_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->nr_results; i++)
		json_array_append_new(array, zm_json_result(&view->results[i]));
	return array;
}

static json_t *run_json(const struct zm_run_view *view)
{
	json_t *object = zm_json_run(&view->info);

	json_object_set_new(object, "cell", zm_json_parsed(view->info.cell));
	json_object_set_new(object, "inventory", zm_json_parsed(view->inventory));
	json_object_set_new(object, "notes",
			    zm_json_notes(view->notes, view->nr_notes, "kind", "text"));
	json_object_set_new(object, "absent",
			    zm_json_notes(view->absents, view->nr_absents, "source", "reason"));
	json_object_set_new(object, "phases", zm_json_phases(view));
	json_object_set_new(object, "tasks", zm_json_tasks(view));
	json_object_set_new(object, "results", results_json(view));
	return object;
}

/* The object without its closing brace, so that more can follow. */
static int print_open(FILE *out, json_t *object)
{
	char *text = json_dumps(object, JSON_LOOK);
	size_t length = text ? strlen(text) : 0;

	json_decref(object);
	if (length == 0)
		return -ENOMEM;
	(void)fwrite(text, 1, length - 1, out);
	free(text);
	return 0;
}

static json_t *desc_json(const struct zm_series_desc *desc)
{
	json_t *object = json_object();

	json_object_set_new(object, "metric", zm_json_text(desc->metric));
	json_object_set_new(object, "unit", zm_json_text(desc->unit));
	json_object_set_new(object, "source", zm_json_text(desc->source));
	json_object_set_new(object, "kind", json_string(zm_kind_name(desc->kind)));
	json_object_set_new(object, "better", json_string(zm_json_better(desc->better)));
	json_object_set_new(object, "scope", json_string(zm_scope_name(desc->scope)));
	json_object_set_new(object, "id", json_integer(desc->scope_id));
	return object;
}

static void print_hist(FILE *out, const struct zm_hist *hist)
{
	const char *comma = "";

	(void)fprintf(out,
		      "{\"count\":%" PRIu64 ",\"sum\":%" PRIu64 ",\"min\":%" PRIu64
		      ",\"max\":%" PRIu64 ",\"buckets\":[",
		      hist->count, hist->sum, hist->min, hist->max);
	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++) {
		uint64_t first, end;

		if (!hist->buckets[i])
			continue;
		zm_hist_bounds(i, &first, &end);
		(void)fprintf(out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", comma, first, end,
			      hist->buckets[i]);
		comma = ",";
	}
	(void)fputs("]}", out);
}

/* JSON has no word for what is no number. */
static void print_double(FILE *out, double value, const char *otherwise)
{
	char text[32];

	(void)fputs(isfinite(value) ? zm_units_print_double(text, sizeof(text), value) : otherwise,
		    out);
}

static void print_value(struct leaving *leaving, const struct zm_series *series, size_t i)
{
	switch (series->readings->form) {
	case ZM_FORM_U64:
		(void)fprintf(leaving->out, "%" PRIu64, series->readings->values[i]);
		break;
	case ZM_FORM_F64:
		print_double(leaving->out, zm_readings_f64(series->readings, i), "null");
		break;
	case ZM_FORM_HIST:
		if (zm_readings_hist(series->readings, i, leaving->hist))
			(void)fputs("null", leaving->out);
		else
			print_hist(leaving->out, leaving->hist);
		break;
	}
}

/* [["idle",11],["setup",1],…]: how many readings in a row lie in which phase. */
static void print_phase_runs(struct leaving *leaving, const struct zm_series *series)
{
	size_t from, to;

	for (from = 0; from < series->nr; from = to) {
		const char *phase = phase_of(leaving->view, series->t_ns[from]);

		to = from + 1;
		while (to < series->nr && !strcmp(phase_of(leaving->view, series->t_ns[to]), phase))
			to++;
		(void)fprintf(leaving->out, "%s[\"%s\",%zu]", from ? "," : "", phase, to - from);
	}
}

static int series_json(void *context, const struct zm_series *series)
{
	struct leaving *leaving = context;
	FILE *out = leaving->out;

	(void)fputs(leaving->nr_series++ ? ",\n  " : "\n  ", out);
	if (print_open(out, desc_json(&series->desc)))
		return -ENOMEM;
	(void)fputs(",\"phases\":[", out);
	print_phase_runs(leaving, series);
	(void)fputs("],\"t_ns\":[", out);
	for (size_t i = 0; i < series->nr; i++)
		(void)fprintf(out, "%s%" PRIu64, i ? "," : "", series->t_ns[i]);
	(void)fputs("],\"values\":[", out);
	for (size_t i = 0; i < series->nr; i++) {
		(void)fputs(i ? "," : "", out);
		print_value(leaving, series, i);
	}
	(void)fputc(']', out);
	if (series->readings->flags) {
		(void)fputs(",\"flags\":[", out);
		for (size_t i = 0; i < series->nr; i++)
			(void)fprintf(out, "%s%u", i ? "," : "", series->readings->flags[i]);
		(void)fputc(']', out);
	}
	(void)fputc('}', out);
	return ferror(out) ? -EIO : 0;
}

static int stacks_json(void *context, const struct zm_stacks *stacks)
{
	struct leaving *leaving = context;
	json_t *object = json_object();
	char *text;

	json_object_set_new(object, "source", zm_json_text(stacks->source));
	json_object_set_new(object, "event", zm_json_text(stacks->event));
	json_object_set_new(object, "unit", zm_json_text(stacks->unit));
	json_object_set_new(object, "folded", zm_json_text(stacks->folded));
	text = json_dumps(object, JSON_LOOK);
	json_decref(object);
	if (!text)
		return -ENOMEM;
	(void)fprintf(leaving->out, "%s%s", leaving->nr_stacks++ ? ",\n  " : "\n  ", text);
	free(text);
	return ferror(leaving->out) ? -EIO : 0;
}

static int run_as_json(struct leaving *leaving, struct zm_store *store, struct zm_why *why)
{
	const struct zm_series_filter all = { .scope = -1 };
	size_t nr_damaged = 0;
	int error = print_open(leaving->out, run_json(leaving->view));

	if (error)
		return error;
	(void)fputs(",\n \"series\":[", leaving->out);
	error = zm_series_read(store, leaving->view->info.id, &all, series_json, leaving,
			       &nr_damaged, why);
	(void)fprintf(leaving->out, "],\"damaged_series\":%zu,\n \"stacks\":[", nr_damaged);
	if (!error)
		error = zm_stacks_read(store, leaving->view->info.id, stacks_json, leaving, why);
	(void)fputs("]}", leaving->out);
	return error;
}

/* --- CSV --- */

static const char csv_head[] =
	"run,uuid,workload,label,kernel,record,source,metric,unit,kind,scope,"
	"id,phase,t_ns,value,count,interval_ns,flags,text\r\n";

/* What stands in the columns from `record` on. */
struct csv_row {
	const char *record, *source, *metric, *unit, *kind, *scope, *id, *phase, *t_ns, *value;
	const char *count, *interval_ns, *flags, *text;
};

static void print_csv(const struct leaving *leaving, const struct csv_row *row)
{
	const struct zm_run_info *info = &leaving->view->info;
	const char *const fields[] = { info->uuid,  info->workload, info->label, info->kernel,
				       row->record, row->source,    row->metric, row->unit,
				       row->kind,   row->scope,     row->id,     row->phase,
				       row->t_ns,   row->value,     row->count,  row->interval_ns,
				       row->flags,  row->text };

	(void)fprintf(leaving->out, "%" PRIu64, info->id);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		zm_csv_next(leaving->out, fields[i]);
	zm_csv_end(leaving->out);
}

static char *number_text(char *buf, size_t size, uint64_t value)
{
	(void)snprintf(buf, size, "%" PRIu64, value);
	return buf;
}

static void csv_facts(const struct leaving *leaving)
{
	const struct zm_run_info *info = &leaving->view->info;
	char wall[32], start[32], began[32];
	const struct {
		const char *name, *text;
	} facts[] = {
		{ "status", zm_status_name(info->status) },
		{ "reason", info->reason },
		{ "began", zm_json_time_text(began, sizeof(began), info->wall_ns) },
		{ "wall_ns", number_text(wall, sizeof(wall), info->wall_ns) },
		{ "start_ns", number_text(start, sizeof(start), info->start_ns) },
		{ "invocation", info->invocation },
		{ "command_line", info->command_line },
		{ "kind", info->kind },
		{ "machine", info->machine },
		{ "boot", info->boot },
		{ "version", info->version },
		{ "parameters", info->params },
		{ "cell", info->cell },
		{ "inventory", leaving->view->inventory },
	};
	char repeat[16];

	(void)snprintf(repeat, sizeof(repeat), "%u", info->repeat);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (facts[i].text)
			print_csv(leaving, &(struct csv_row){ .record = "run",
							      .metric = facts[i].name,
							      .text = facts[i].text });
	}
	print_csv(leaving,
		  &(struct csv_row){ .record = "run", .metric = "repeat", .value = repeat });
}

static void csv_phases_and_tasks(const struct leaving *leaving)
{
	const struct zm_run_view *view = leaving->view;
	char id[16], t0[32], t1[32], cpu[16];

	for (size_t i = 0; i < view->nr_phases; i++)
		print_csv(leaving,
			  &(struct csv_row){
				  .record = "phase",
				  .phase = zm_phase_name(view->phases[i].phase),
				  .t_ns = number_text(t0, sizeof(t0), view->phases[i].t0_ns),
				  .interval_ns = number_text(t1, sizeof(t1),
							     view->phases[i].t1_ns -
								     view->phases[i].t0_ns) });
	for (size_t i = 0; i < view->nr_tasks; i++) {
		(void)snprintf(id, sizeof(id), "%u", view->tasks[i].index);
		(void)snprintf(cpu, sizeof(cpu), "%d", view->tasks[i].cpu);
		print_csv(leaving, &(struct csv_row){ .record = "task",
						      .metric = "cpu",
						      .scope = "task",
						      .id = id,
						      .value = cpu });
	}
}

static void csv_notes(const struct leaving *leaving)
{
	const struct zm_run_view *view = leaving->view;

	for (size_t i = 0; i < view->nr_notes; i++)
		print_csv(leaving, &(struct csv_row){ .record = "note",
						      .metric = view->notes[i].kind,
						      .text = view->notes[i].text });
	for (size_t i = 0; i < view->nr_absents; i++)
		print_csv(leaving, &(struct csv_row){ .record = "absent",
						      .source = view->absents[i].kind,
						      .text = view->absents[i].text });
}

static void csv_results(const struct leaving *leaving)
{
	const struct zm_run_view *view = leaving->view;
	char value[32], count[32], interval[32];

	for (size_t i = 0; i < view->nr_results; i++) {
		const struct zm_result *result = &view->results[i];

		print_csv(
			leaving,
			&(struct csv_row){
				.record = "result",
				.source = result->source,
				.metric = result->metric,
				.unit = result->unit,
				.kind = result->is_primary ? "primary" : "",
				.value = zm_units_print_double(value, sizeof(value), result->value),
				.count = zm_units_print_double(count, sizeof(count), result->count),
				.interval_ns = number_text(interval, sizeof(interval),
							   result->interval_ns) });
	}
}

/* A histogram is one row per bucket: `value` is the bucket's first value, `count` how many there are
 * in it. */
static void csv_hist(struct leaving *leaving, const struct zm_series *series, size_t i,
		     const struct csv_row *reading)
{
	struct csv_row row = *reading;
	char value[32], count[32];

	if (zm_readings_hist(series->readings, i, leaving->hist))
		return;
	row.value = value;
	row.count = count;
	for (size_t k = 0; k < ZM_HIST_BUCKETS; k++) {
		uint64_t first, end;

		if (!leaving->hist->buckets[k])
			continue;
		zm_hist_bounds(k, &first, &end);
		(void)number_text(value, sizeof(value), first);
		(void)number_text(count, sizeof(count), leaving->hist->buckets[k]);
		print_csv(leaving, &row);
	}
}

static void csv_reading(struct leaving *leaving, const struct zm_series *series, size_t i,
			const struct csv_row *start)
{
	struct csv_row row = *start;
	char t_ns[32], value[32], flags[16] = "";

	row.phase = phase_of(leaving->view, series->t_ns[i]);
	row.t_ns = number_text(t_ns, sizeof(t_ns), series->t_ns[i]);
	if (series->readings->flags && series->readings->flags[i])
		(void)snprintf(flags, sizeof(flags), "%u", series->readings->flags[i]);
	row.flags = flags;
	if (series->readings->form == ZM_FORM_HIST) {
		csv_hist(leaving, series, i, &row);
		return;
	}
	if (series->readings->form == ZM_FORM_U64)
		row.value = number_text(value, sizeof(value), series->readings->values[i]);
	else
		row.value = zm_units_print_double(value, sizeof(value),
						  zm_readings_f64(series->readings, i));
	print_csv(leaving, &row);
}

static int series_csv(void *context, const struct zm_series *series)
{
	struct leaving *leaving = context;
	char id[16];
	struct csv_row row = {
		.record = "reading",
		.source = series->desc.source,
		.metric = series->desc.metric,
		.unit = series->desc.unit,
		.kind = zm_kind_name(series->desc.kind),
		.scope = zm_scope_name(series->desc.scope),
		.id = id,
	};

	(void)snprintf(id, sizeof(id), "%u", series->desc.scope_id);
	for (size_t i = 0; i < series->nr; i++)
		csv_reading(leaving, series, i, &row);
	return ferror(leaving->out) ? -EIO : 0;
}

/* A row per chain: its frames as the text, the outermost first. */
static int stacks_csv(void *context, const struct zm_stacks *stacks)
{
	struct leaving *leaving = context;
	const char *at = stacks->folded;
	struct zm_stack stack;
	char count[32];

	leaving->nr_stacks++;
	while (zm_stacks_next(&at, &stack)) {
		const char *end = stack.frames[stack.nr - 1] + stack.lengths[stack.nr - 1];
		zm_autofree char *frames =
			strndup(stack.frames[0], (size_t)(end - stack.frames[0]));

		if (!frames)
			return -ENOMEM;
		print_csv(leaving, &(struct csv_row){
					   .record = "stack",
					   .source = stacks->source,
					   .metric = stacks->event,
					   .unit = stacks->unit,
					   .count = number_text(count, sizeof(count), stack.times),
					   .text = frames });
	}
	return ferror(leaving->out) ? -EIO : 0;
}

static int run_as_csv(struct leaving *leaving, struct zm_store *store, struct zm_why *why)
{
	const struct zm_series_filter all = { .scope = -1 };

	int error;

	csv_facts(leaving);
	csv_phases_and_tasks(leaving);
	csv_notes(leaving);
	csv_results(leaving);
	error = zm_series_read(store, leaving->view->info.id, &all, series_csv, leaving, NULL, why);
	if (!error)
		error = zm_stacks_read(store, leaving->view->info.id, stacks_csv, leaving, why);
	return error;
}

/* --- folded --- */

static int stacks_folded(void *context, const struct zm_stacks *stacks)
{
	struct leaving *leaving = context;

	leaving->nr_stacks++;
	(void)fputs(stacks->folded, leaving->out);
	return ferror(leaving->out) ? -EIO : 0;
}

static int run_as_folded(struct leaving *leaving, struct zm_store *store, struct zm_why *why)
{
	return zm_stacks_read(store, leaving->view->info.id, stacks_folded, leaving, why);
}

/* --- all --- */

static int (*const writers[])(struct leaving *, struct zm_store *, struct zm_why *) = {
	[ZM_EXPORT_JSON] = run_as_json,
	[ZM_EXPORT_CSV] = run_as_csv,
	[ZM_EXPORT_FOLDED] = run_as_folded,
};

void zm_export_begin(struct zm_export *export, enum zm_export_format format, FILE *out)
{
	static const char json_head[] = "{\"format\":\"zonemark-export\",\"version\":1,\"runs\":[";

	*export = (struct zm_export){ .format = format, .out = out };
	if (format != ZM_EXPORT_FOLDED)
		(void)fputs(format == ZM_EXPORT_JSON ? json_head : csv_head, out);
}

int zm_export_run(struct zm_export *export, struct zm_store *store, uint64_t run,
		  struct zm_why *why)
{
	struct leaving leaving = { .out = export->out };
	struct zm_run_view *view = NULL;
	int error = zm_query_run(store, run, &view, why);

	if (error)
		return error;
	leaving.view = view;
	leaving.hist = malloc(sizeof(*leaving.hist));
	if (!leaving.hist)
		error = -ENOMEM;
	if (!error && export->format == ZM_EXPORT_JSON)
		(void)fputs(export->nr_runs ? ",\n" : "\n", export->out);
	if (!error)
		error = writers[export->format](&leaving, store, why);
	export->nr_runs++;
	export->nr_stacks += leaving.nr_stacks;
	free(leaving.hist);
	zm_run_view_free(view);
	return error;
}

void zm_export_end(struct zm_export *export)
{
	if (export->format == ZM_EXPORT_JSON)
		(void)fputs("\n]}\n", export->out);
}
