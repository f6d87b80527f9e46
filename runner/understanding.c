/* understanding: records as JSON and as text; tables with a column more. */
#include "runner/understanding.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "results/report_form.h"
#include "results/table.h"

/* --- as data --- */

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *number_json(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

static json_t *count_json(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

static json_t *pairs_json(const struct zm_mail_pairs *pairs)
{
	json_t *object = json_object();

	for (size_t i = 0; i < pairs->nr; i++)
		(void)json_object_set_new(object, pairs->list[i].name,
					  text_json(pairs->list[i].value));
	return object;
}

static json_t *machine_json(const struct zm_mail_machine *machine)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "text",
			 text_json(machine->text), "name", text_json(machine->box), "model",
			 text_json(machine->model), "codename", text_json(machine->codename),
			 "cpus", count_json(machine->nr_cpus), "sockets",
			 count_json(machine->nr_sockets), "nodes", count_json(machine->nr_nodes),
			 "memory_bytes", count_json(machine->memory_bytes));
}

static json_t *claim_json(const struct zm_mail_claim *claim)
{
	if (!claim->metric)
		return json_null();
	return json_pack("{s:s, s:f, s:o, s:s}", "metric", claim->metric, "percent", claim->percent,
			 "change%", number_json(claim->change), "verdict",
			 claim->is_regression ? "regression" : "improvement");
}

static json_t *commits_json(const struct zm_mail_record *record)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < record->nr_commits; i++) {
		const struct zm_mail_commit *commit = &record->commits[i];

		(void)json_array_append_new(array, json_pack("{s:o, s:o, s:o, s:o}", "head",
							     text_json(commit->head), "name",
							     text_json(commit->name), "title",
							     text_json(commit->title), "note",
							     text_json(commit->note)));
	}
	return array;
}

static json_t *cell_json(const struct zm_mail_row *row, unsigned int column)
{
	const struct zm_mail_cell *cell = &row->cells[column];
	json_t *object = row->is_fail
				 ? json_pack("{s:f, s:f}", "fails", cell->value, "runs", cell->runs)
				 : json_pack("{s:o, s:o}", "value", number_json(cell->value),
					     "stddev%", number_json(cell->stddev));

	if (object && column > 0)
		(void)json_object_set_new(object,
					  row->is_fail       ? "reproduction%"
					  : cell->is_percent ? "change%"
							     : "change",
					  number_json(cell->change));
	return object;
}

static json_t *rows_json(const struct zm_mail_record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < record->nr_rows; i++) {
		const struct zm_mail_row *row = &record->rows[i];
		json_t *cells = json_array();

		for (unsigned int k = 0; k < record->nr_commits; k++)
			(void)json_array_append_new(cells, cell_json(row, k));
		(void)json_array_append_new(
			array, json_pack("{s:s, s:o}", "metric", row->metric, "columns", cells));
	}
	return array;
}

static json_t *texts_json(const char *const *texts, size_t nr)
{
	json_t *array = json_array();

	for (size_t i = 0; i < nr; i++)
		(void)json_array_append_new(array, text_json(texts[i]));
	return array;
}

static json_t *differences_json(const struct zm_reproduction *reproduction)
{
	json_t *array = json_array();

	for (size_t i = 0; i < reproduction->nr_differences; i++) {
		const struct zm_reproduce_difference *difference = &reproduction->differences[i];

		(void)json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:s}", "what", difference->what, "there",
					 difference->there, "here", difference->here, "done",
					 difference->done));
	}
	return array;
}

static json_t *here_json(const struct zm_reproduction *reproduction)
{
	if (!reproduction->workload)
		return json_pack("{s:n, s:s}", "workload", "reason", reproduction->reason);
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "workload",
			 reproduction->workload->name, "words",
			 texts_json(reproduction->words, reproduction->nr_words), "differences",
			 differences_json(reproduction), "remarks",
			 texts_json(reproduction->remarks, reproduction->nr_remarks), "expected",
			 text_json(reproduction->expected), "change%",
			 number_json(reproduction->change), "noise%",
			 number_json(reproduction->noise), "runs",
			 count_json(reproduction->nr_runs));
}

static json_t *record_json(const struct zm_reproduction *reproduction)
{
	const struct zm_mail_record *record = reproduction->record;

	return json_pack("{s:s, s:o, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
			 zm_mail_record_kind_name(record->kind), "line", count_json(record->line),
			 "depth", (int)record->depth, "name", reproduction->name, "testcase",
			 text_json(record->testcase), "params", pairs_json(&record->params),
			 "environment", pairs_json(&record->environment), "machine",
			 machine_json(&record->machine), "claim", claim_json(&record->claim),
			 "commits", commits_json(record), "rows", rows_json(record), "here",
			 here_json(reproduction));
}

json_t *zm_understanding_json(const struct zm_understanding *understanding)
{
	const struct zm_report_mail *report = understanding->report;
	json_t *records = json_array();

	for (size_t i = 0; i < report->nr_records; i++)
		(void)json_array_append_new(records, record_json(&understanding->reproductions[i]));
	return json_pack("{s:o, s:o, s:o, s:o}", "subject", text_json(report->subject), "commit",
			 text_json(report->commit), "title", text_json(report->title), "records",
			 records);
}

json_t *zm_understanding_measured_json(const struct zm_reproduction *reproduction,
				       const struct zm_measured *measured, const char *title)
{
	json_t *figures = json_array();

	for (size_t i = 0; i < measured->nr_figures; i++) {
		const struct zm_measured_figure *figure = &measured->figures[i];

		(void)json_array_append_new(
			figures, json_pack("{s:s, s:s, s:f, s:o, s:i}", "metric", figure->metric,
					   "unit", figure->unit, "mean", figure->mean, "stddev",
					   number_json(figure->sd), "n", (int)figure->nr));
	}
	return json_pack("{s:s, s:s, s:i, s:o}", "name", reproduction->name, "cell", title,
			 "launches", (int)measured->nr_launches, "figures", figures);
}

/* --- as text --- */

static void print_pairs(FILE *out, const char *title, const struct zm_mail_pairs *pairs)
{
	if (pairs->nr == 0)
		return;
	(void)fprintf(out, "  %-13s", title);
	for (size_t i = 0; i < pairs->nr; i++)
		(void)fprintf(out, " %s=%s", pairs->list[i].name, pairs->list[i].value);
	(void)fputc('\n', out);
}

static void print_machine(FILE *out, const struct zm_mail_machine *machine)
{
	if (machine->box || machine->text || machine->model)
		(void)fprintf(out, "  %-13s %s%s%s\n", "machine", machine->box ? machine->box : "",
			      machine->box ? ": " : "",
			      machine->text    ? machine->text
			      : machine->model ? machine->model
					       : "not said");
}

static void print_commits(FILE *out, const struct zm_mail_record *record)
{
	for (unsigned int i = 0; i < record->nr_commits; i++) {
		const struct zm_mail_commit *commit = &record->commits[i];
		const char *name = commit->name ? commit->name : commit->head;

		if (name)
			(void)fprintf(out, "  %-13s %s%s%s%s\n", i ? "" : "kernels", name,
				      commit->title ? " (\"" : "",
				      commit->title ? commit->title : "",
				      commit->title ? "\")" : "");
	}
}

static void print_claim(FILE *out, const struct zm_mail_claim *claim)
{
	if (claim->metric)
		(void)fprintf(out, "  %-13s %s %+.1f %% (%s)\n", "claimed", claim->metric,
			      isnan(claim->change) ? claim->percent : claim->change,
			      claim->is_regression ? "regression" : "improvement");
}

static void print_expected(FILE *out, const struct zm_reproduction *reproduction)
{
	char noise[32] = "of less than 2 %";

	if (!reproduction->expected)
		return;
	(void)fprintf(out, "  %-13s %s", "to look at", reproduction->expected);
	if (!isnan(reproduction->change))
		(void)fprintf(out, ", %+.1f %% there", reproduction->change);
	if (!isnan(reproduction->noise))
		(void)snprintf(noise, sizeof(noise), "of %.0f %%", reproduction->noise);
	if (reproduction->nr_runs)
		(void)fprintf(out, ", in a noise %s: %u runs on each kernel would show that", noise,
			      reproduction->nr_runs);
	(void)fputc('\n', out);
}

static int print_differences(FILE *out, const struct zm_reproduction *reproduction)
{
	static const struct zm_column columns[] = {
		{ "cannot be the same", false, false },
		{ "there", false, true },
		{ "here", false, true },
		{ "what is done", false, true },
	};
	struct zm_table *table;
	int r;

	if (reproduction->nr_differences == 0)
		return 0;
	table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < reproduction->nr_differences; i++) {
		const struct zm_reproduce_difference *difference = &reproduction->differences[i];

		zm_table_cell(table, "%s", difference->what);
		zm_table_cell(table, "%s", difference->there);
		zm_table_cell(table, "%s", difference->here);
		zm_table_cell(table, "%s", difference->done);
	}
	r = table ? zm_table_print(table, out, 0, "  ") : -ENOMEM;
	zm_table_free(table);
	return r;
}

static void print_here(FILE *out, const struct zm_reproduction *reproduction)
{
	if (!reproduction->workload) {
		(void)fprintf(out, "  %-13s %s\n", "here", reproduction->reason);
		return;
	}
	(void)fprintf(out, "  %-13s zonemark run", "here");
	for (size_t i = 0; i < reproduction->nr_words; i++)
		(void)fprintf(out, " %s", reproduction->words[i]);
	(void)fputc('\n', out);
	for (size_t i = 0; i < reproduction->nr_remarks; i++)
		(void)fprintf(out, "  %-13s %s\n", "", reproduction->remarks[i]);
	print_expected(out, reproduction);
}

static int print_record(FILE *out, const struct zm_reproduction *reproduction, size_t index)
{
	const struct zm_mail_record *record = reproduction->record;

	(void)fprintf(out, "\n[%zu] %s (%s", index + 1, reproduction->name,
		      zm_mail_record_kind_name(record->kind));
	if (record->line)
		(void)fprintf(out, ", line %u", record->line);
	(void)fputs(")\n", out);
	print_pairs(out, "parameters", &record->params);
	print_pairs(out, "environment", &record->environment);
	print_machine(out, &record->machine);
	print_commits(out, record);
	print_claim(out, &record->claim);
	if (record->nr_rows)
		(void)fprintf(out, "  %-13s %zu rows\n", "table", record->nr_rows);
	print_here(out, reproduction);
	return print_differences(out, reproduction);
}

int zm_understanding_print(const struct zm_understanding *understanding, FILE *out)
{
	const struct zm_report_mail *report = understanding->report;
	int r = 0;

	if (report->subject)
		(void)fprintf(out, "subject  %s\n", report->subject);
	if (report->commit)
		(void)fprintf(out, "commit   %s%s%s%s\n", report->commit,
			      report->title ? " (\"" : "", report->title ? report->title : "",
			      report->title ? "\")" : "");
	for (size_t i = 0; r == 0 && i < report->nr_records; i++)
		r = print_record(out, &understanding->reproductions[i], i);
	return r;
}

/* --- beside what was measured --- */

static double stddev_of(const struct zm_measured_figure *figure)
{
	return figure->mean != 0 ? 100 * figure->sd / fabs(figure->mean) : NAN;
}

/* This machine's column: its change against the mail's first column says how the machines differ. */
static struct zm_mail_cell cell_of(const struct zm_mail_row *row,
				   const struct zm_measured_figure *figure)
{
	double base = row->cells[0].value;
	size_t length = strlen(row->metric);
	bool is_share = length > 0 && row->metric[length - 1] == '%';

	return (struct zm_mail_cell){
		.value = figure->mean,
		.stddev = stddev_of(figure),
		.change = is_share    ? figure->mean - base
			  : base != 0 ? 100 * (figure->mean - base) / fabs(base)
				      : NAN,
		.is_percent = !is_share,
	};
}

static void print_compared(FILE *out, const struct zm_mail_record *record,
			   const struct zm_measured *measured)
{
	for (size_t i = 0; i < record->nr_rows; i++) {
		const struct zm_mail_row *row = &record->rows[i];
		const struct zm_measured_figure *figure = zm_measured_find(measured, row->metric);
		struct zm_mail_cell cells[ZM_MAIL_COLUMNS + 1];
		const struct zm_mail_row wider = { row->metric, false, cells };

		if (!figure || row->is_fail)
			continue;
		memcpy(cells, row->cells, record->nr_commits * sizeof(cells[0]));
		cells[record->nr_commits] = cell_of(row, figure);
		zm_report_form_row(out, &wider, record->nr_commits + 1);
	}
}

/* A mail without a table: this machine's figures alone, in the same form. */
static void print_alone(FILE *out, const struct zm_measured *measured)
{
	for (size_t i = 0; i < measured->nr_figures; i++) {
		const struct zm_measured_figure *figure = &measured->figures[i];
		struct zm_mail_cell cell = { .value = figure->mean,
					     .stddev = stddev_of(figure),
					     .change = NAN };
		const struct zm_mail_row row = { figure->metric, false, &cell };

		zm_report_form_row(out, &row, 1);
	}
}

/* The mail's kernels, and this one behind them. */
static unsigned int add_kernel(const struct zm_mail_record *record, const char *kernel,
			       const char *title, struct zm_mail_commit *commits,
			       const char **heads)
{
	unsigned int nr = record->nr_rows ? record->nr_commits : 0;

	for (unsigned int i = 0; i < nr; i++)
		commits[i] = record->commits[i];
	commits[nr] = (struct zm_mail_commit){ .name = kernel, .title = title };
	for (unsigned int i = 0; i <= nr; i++)
		heads[i] = commits[i].head ? commits[i].head : commits[i].name;
	return nr + 1;
}

void zm_understanding_compare(const struct zm_reproduction *reproduction,
			      const struct zm_measured *measured, const char *title,
			      const char *kernel, FILE *out)
{
	const struct zm_mail_record *record = reproduction->record;
	struct zm_mail_commit commits[ZM_MAIL_COLUMNS + 1];
	const char *heads[ZM_MAIL_COLUMNS + 1];
	char here[512];
	unsigned int nr;

	(void)snprintf(here, sizeof(here), "this machine: %s", title);
	nr = add_kernel(record, kernel, here, commits, heads);
	(void)fputc('\n', out);
	zm_report_form_keys(out, &record->params, record->testcase);
	zm_report_form_commits(out, commits, nr);
	zm_report_form_heads(out, heads, nr);
	zm_report_form_titles(out, nr, false);
	if (nr > 1)
		print_compared(out, record, measured);
	else
		print_alone(out, measured);
}
