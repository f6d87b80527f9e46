/*
 * document: YAML to values; head, then each table: machine and parameters, kernels, rows.
 *
 *     changelog   rows: [[kernel, figure, figure…], …]
 *     lkp         rows: lines as the robot prints them
 *     mmtests     rows: [[point, mean, mean, change], …], the change with a * where it is significant
 *     sweep       rows: [[point, figure, figure…], …]
 */
#include "results/document.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/report_fields.h"
#include "results/yaml.h"
#include "workloads/base/units.h"

struct reader {
	struct zm_document *document;
	json_t *head;  /* the file */
	json_t *place; /* the table that is read, or the file again */
	struct zm_why *why;
	int error;
};

static void wrong(struct reader *reader, const char *what, const char *name)
{
	if (!reader->error)
		reader->error = zm_why_set(reader->why, -EINVAL, "documented/%s.yaml: %s: %s",
					   reader->document->id, what, name ? name : "nothing");
}

static void *take(struct reader *reader, size_t nr, size_t size)
{
	return zm_pool_take(&reader->document->pool, (nr + 1) * size);
}

static const char *copy(struct reader *reader, const json_t *value)
{
	return zm_pool_text(&reader->document->pool, json_string_value(value));
}

/* Of the table, else of the file. */
static json_t *find(const struct reader *reader, const char *key)
{
	json_t *value = json_object_get(reader->place, key);

	return value ? value : json_object_get(reader->head, key);
}

static const char *text_of(struct reader *reader, const char *key)
{
	return copy(reader, find(reader, key));
}

/* "14.0", "-0.16*", "+18.4%". */
static double number_of(struct reader *reader, const json_t *value, bool *ret_marked)
{
	const char *text = json_string_value(value);
	size_t length = text ? strlen(text) : 0, n;
	bool is_marked = length > 0 && text[length - 1] == '*';
	double number = NAN;

	length -= is_marked;
	if (length > 0 && text[length - 1] == '%')
		length--;
	if (length == 0 || !zm_report_table_number(text, length, &number, &n) || n != length)
		wrong(reader, "a figure is wanted", text);
	if (ret_marked)
		*ret_marked = is_marked;
	return number;
}

/* A name, or a list of them. */
static void read_metrics(struct reader *reader, const json_t *value, const char **metrics)
{
	size_t i, nr = 0;
	json_t *item;

	if (json_is_string(value))
		metrics[nr++] = copy(reader, value);
	json_array_foreach(value, i, item)
	{
		if (nr + 1 < ZM_DOCUMENT_METRICS)
			metrics[nr++] = copy(reader, item);
	}
}

static void read_pairs(struct reader *reader, const char *key, struct zm_mail_pairs *pairs)
{
	json_t *object = find(reader, key), *value;
	const char *name;

	json_object_foreach(object, name, value)
	{
		zm_report_fields_put(&reader->document->pool, pairs,
				     zm_pool_text(&reader->document->pool, name),
				     copy(reader, value));
	}
}

/* --- a table's head --- */

static unsigned int count_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	uint64_t number = 0;

	return text && zm_units_parse_u64(text, &number) == 0 && number <= 1000000
		       ? (unsigned int)number
		       : 0;
}

static void read_machine(struct reader *reader, struct zm_mail_machine *machine)
{
	const json_t *object = find(reader, "machine");
	const char *memory = json_string_value(json_object_get(object, "memory"));
	uint64_t bytes;

	machine->box = copy(reader, json_object_get(object, "name"));
	machine->model = copy(reader, json_object_get(object, "model"));
	machine->codename = copy(reader, json_object_get(object, "codename"));
	machine->nr_cpus = count_of(object, "cpus");
	machine->nr_sockets = count_of(object, "sockets");
	if (memory && zm_units_parse_size(memory, &bytes) == 0)
		machine->memory_bytes = bytes;
}

static void read_claim(struct reader *reader, struct zm_mail_claim *claim)
{
	const json_t *object = find(reader, "claim");

	claim->change = claim->percent = NAN;
	claim->metric = copy(reader, json_object_get(object, "metric"));
	if (!claim->metric)
		return;
	claim->change = claim->percent = number_of(reader, json_object_get(object, "change"), NULL);
	claim->is_regression = claim->change < 0;
}

/* A name, or {name, head, title, note}. */
static void read_variants(struct reader *reader, struct zm_mail_record *record)
{
	const json_t *list = find(reader, "variants");
	size_t nr = json_array_size(list), i;
	json_t *item;

	if (nr == 0 || nr > ZM_MAIL_COLUMNS) {
		wrong(reader, "kernels are wanted", "variants");
		return;
	}
	record->commits = take(reader, nr, sizeof(*record->commits));
	json_array_foreach(list, i, item)
	{
		struct zm_mail_commit *commit = record->commits ? &record->commits[i] : NULL;

		if (!commit)
			return;
		commit->name =
			copy(reader, json_is_string(item) ? item : json_object_get(item, "name"));
		commit->head = copy(reader, json_object_get(item, "head"));
		commit->title = copy(reader, json_object_get(item, "title"));
		commit->note = copy(reader, json_object_get(item, "note"));
		if (!commit->name)
			wrong(reader, "a kernel without a name", "variants");
		record->nr_commits++;
	}
}

/* --- rows --- */

static bool ends_in_percent(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && name[length - 1] == '%';
}

/* Percentages change in points. */
static void fill_changes(struct zm_mail_row *row, unsigned int nr, const char *name)
{
	double base = row->cells[0].value;

	for (unsigned int i = 0; i < nr; i++) {
		struct zm_mail_cell *cell = &row->cells[i];

		cell->is_percent = !ends_in_percent(name);
		cell->change = i == 0 ? NAN : cell->value - base;
		if (i > 0 && cell->is_percent)
			cell->change = base != 0 ? 100 * cell->change / base : NAN;
	}
}

static bool make_rows(struct reader *reader, struct zm_document_table *table, size_t nr)
{
	struct zm_mail_record *record = &table->record;

	record->rows = take(reader, nr, sizeof(*record->rows));
	table->figures = take(reader, nr, sizeof(*table->figures));
	if (!record->rows || !table->figures)
		return false;
	for (size_t i = 0; i < nr; i++) {
		record->rows[i].cells =
			take(reader, record->nr_commits, sizeof(*record->rows[i].cells));
		if (!record->rows[i].cells)
			return false;
		for (unsigned int k = 0; k < record->nr_commits; k++)
			record->rows[i].cells[k] =
				(struct zm_mail_cell){ .value = NAN, .stddev = NAN, .change = NAN };
	}
	record->nr_rows = nr;
	return true;
}

static void name_row(struct zm_document_table *table, size_t i)
{
	const struct zm_document_figure *figure = &table->figures[i];

	table->record.rows[i].metric = figure->metrics[0] ? figure->metrics[0] : figure->name;
}

static bool is_set(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && strcmp(text, "true") == 0;
}

static void read_column(struct reader *reader, size_t index, struct zm_document_figure *figure)
{
	const json_t *column = json_array_get(json_object_get(reader->head, "columns"), index);

	figure->name = reader->document->columns[index];
	read_metrics(reader, json_object_get(column, "metric"), figure->metrics);
	figure->is_relative = is_set(column, "relative");
	figure->is_inverse = is_set(column, "inverse");
}

static unsigned int find_variant(struct reader *reader, const struct zm_mail_record *record,
				 const json_t *name)
{
	for (unsigned int i = 0; i < record->nr_commits; i++) {
		if (json_is_string(name) &&
		    strcmp(record->commits[i].name, json_string_value(name)) == 0)
			return i;
	}
	wrong(reader, "a row of no kernel", json_string_value(name));
	return 0;
}

static void read_changelog(struct reader *reader, struct zm_document_table *table)
{
	size_t nr = reader->document->nr_columns, i;
	struct zm_mail_record *record = &table->record;
	json_t *item;

	if (!make_rows(reader, table, nr))
		return;
	json_array_foreach(find(reader, "rows"), i, item)
	{
		unsigned int variant = find_variant(reader, record, json_array_get(item, 0));

		if (json_array_size(item) != nr + 1)
			wrong(reader, "a row with a figure for each column is wanted", "rows");
		for (size_t k = 0; k < nr && !reader->error; k++)
			record->rows[k].cells[variant].value =
				number_of(reader, json_array_get(item, k + 1), NULL);
	}
	for (size_t k = 0; k < nr; k++) {
		read_column(reader, k, &table->figures[k]);
		name_row(table, k);
		fill_changes(&record->rows[k], record->nr_commits, table->figures[k].name);
	}
}

static void read_points(struct reader *reader, struct zm_document_table *table)
{
	const json_t *rows = find(reader, "rows");
	size_t i, nr = json_array_size(rows);
	json_t *item;

	table->points = take(reader, nr, sizeof(*table->points));
	json_array_foreach(rows, i, item)
	{
		if (table->points)
			table->points[i] = copy(reader, json_array_get(item, 0));
	}
	table->nr_points = table->points ? nr : 0;
}

static void read_sweep(struct reader *reader, struct zm_document_table *table)
{
	size_t nr = reader->document->nr_columns, i;
	json_t *item;

	read_points(reader, table);
	if (table->record.nr_commits != 1)
		wrong(reader, "a sweep is of one kernel", "variants");
	if (!make_rows(reader, table, table->nr_points * nr))
		return;
	json_array_foreach(find(reader, "rows"), i, item)
	{
		if (json_array_size(item) != nr + 1)
			wrong(reader, "a row with a figure for each column is wanted", "rows");
		for (size_t k = 0; k < nr && !reader->error; k++) {
			size_t at = i * nr + k;

			read_column(reader, k, &table->figures[at]);
			table->figures[at].point = i;
			name_row(table, at);
			table->record.rows[at].cells[0].value =
				number_of(reader, json_array_get(item, k + 1), NULL);
		}
	}
}

static void read_mmtests(struct reader *reader, struct zm_document_table *table)
{
	unsigned int nr = table->record.nr_commits;
	char name[128];
	json_t *item;
	size_t i;

	read_points(reader, table);
	if (!make_rows(reader, table, table->nr_points))
		return;
	json_array_foreach(find(reader, "rows"), i, item)
	{
		struct zm_mail_row *row = &table->record.rows[i];

		if (json_array_size(item) != 2 * nr)
			wrong(reader, "a row with a mean per kernel, and changes, is wanted",
			      "rows");
		for (unsigned int k = 0; k < nr && !reader->error; k++) {
			row->cells[k].value =
				number_of(reader, json_array_get(item, k ? 2 * k : 1), NULL);
			row->cells[k].is_percent = true;
			if (k > 0)
				row->cells[k].change =
					number_of(reader, json_array_get(item, 2 * k + 1),
						  &row->cells[k].is_marked);
		}
		(void)snprintf(name, sizeof(name), "%s-%s",
			       reader->document->label ? reader->document->label : "",
			       table->points[i]);
		table->figures[i].name = zm_pool_text(&reader->document->pool, name);
		table->figures[i].point = i;
		read_metrics(reader, find(reader, "metric"), table->figures[i].metrics);
		name_row(table, i);
	}
}

/* What a row of the robot's is here; without a word, the metric of the same name. */
static void read_here(struct reader *reader, const char *metric, struct zm_document_figure *figure)
{
	figure->name = metric;
	read_metrics(reader, json_object_get(json_object_get(reader->head, "here"), metric),
		     figure->metrics);
	if (!figure->metrics[0])
		figure->metrics[0] = metric;
}

static void read_line(struct reader *reader, struct zm_document_table *table, char *line, size_t i)
{
	struct zm_mail_token tokens[ZM_MAIL_TOKENS];
	struct zm_mail_record *record = &table->record;
	struct zm_mail_cell cells[ZM_MAIL_COLUMNS];
	unsigned int nr_columns;
	size_t used, nr = zm_report_table_tokens(line, tokens, ZM_MAIL_TOKENS);

	if (zm_report_table_match(tokens, nr, record->nr_commits, cells, &nr_columns, &used) !=
		    ZM_MATCH_WHOLE ||
	    used != nr) {
		wrong(reader, "no row of this table", line);
		return;
	}
	memcpy(record->rows[i].cells, cells, record->nr_commits * sizeof(cells[0]));
	record->rows[i].metric = zm_report_fields_copy(
		&reader->document->pool, tokens[used - 1].text, tokens[used - 1].length);
	if (record->rows[i].metric)
		read_here(reader, record->rows[i].metric, &table->figures[i]);
}

static size_t count_lines(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

static void read_lkp(struct reader *reader, struct zm_document_table *table)
{
	const char *rows = json_string_value(find(reader, "rows"));
	char *rest;
	size_t i = 0;

	if (!rows)
		wrong(reader, "lines as the robot prints them are wanted", "rows");
	if (reader->error || !make_rows(reader, table, count_lines(rows)))
		return;
	rest = zm_pool_take(&reader->document->pool, strlen(rows) + 1);
	if (!rest)
		return;
	memcpy(rest, rows, strlen(rows));
	while (!reader->error && i < table->record.nr_rows)
		read_line(reader, table, strsep(&rest, "\n"), i++);
}

/* --- tables --- */

static void join_points(struct reader *reader, struct zm_document_table *table)
{
	char list[1024] = "";

	for (size_t i = 0; i < table->nr_points; i++) {
		size_t length = strlen(list);

		(void)snprintf(list + length, sizeof(list) - length, "%s%s", i ? "," : "",
			       table->points[i]);
	}
	zm_report_fields_put(&reader->document->pool, &table->record.params, reader->document->vary,
			     zm_pool_text(&reader->document->pool, list));
}

static void read_table(struct reader *reader, json_t *place, struct zm_document_table *table)
{
	static void (*const readers[])(struct reader *, struct zm_document_table *) = {
		[ZM_DOCUMENT_CHANGELOG] = read_changelog,
		[ZM_DOCUMENT_LKP] = read_lkp,
		[ZM_DOCUMENT_MMTESTS] = read_mmtests,
		[ZM_DOCUMENT_SWEEP] = read_sweep,
	};
	struct zm_mail_record *record = &table->record;

	reader->place = place;
	record->kind = ZM_MAIL_TABLE;
	table->title = copy(reader, json_object_get(place, "title"));
	if (place == reader->head)
		table->title = NULL;
	record->testcase = text_of(reader, "testcase");
	if (!record->testcase)
		wrong(reader, "it is not said what was run", "testcase");
	read_pairs(reader, "params", &record->params);
	read_pairs(reader, "environment", &record->environment);
	read_machine(reader, &record->machine);
	read_claim(reader, &record->claim);
	read_variants(reader, record);
	if (!reader->error && !reader->document->pool.error)
		readers[reader->document->form](reader, table);
	if (reader->document->is_option)
		join_points(reader, table);
}

static void read_tables(struct reader *reader)
{
	struct zm_document *document = reader->document;
	const json_t *tables = json_object_get(reader->head, "tables");
	size_t nr = tables ? json_array_size(tables) : 1;

	document->tables = take(reader, nr, sizeof(*document->tables));
	for (size_t i = 0; document->tables && i < nr; i++)
		read_table(reader, tables ? json_array_get(tables, i) : reader->head,
			   &document->tables[document->nr_tables++]);
}

/* --- what the text says --- */

static void read_said(struct reader *reader, const json_t *object, struct zm_document_claim *claim)
{
	json_t *item, *base = json_object_get(object, "base");
	const char *is = json_string_value(json_object_get(object, "is"));
	size_t i, nr = 0;

	claim->name = copy(reader, json_object_get(object, "name"));
	read_metrics(reader, json_object_get(object, "metric"), claim->metrics);
	json_array_foreach(json_object_get(object, "of"), i, item)
	{
		if (nr + 1 < ZM_MAIL_COLUMNS)
			claim->of[nr++] = copy(reader, item);
	}
	claim->against = copy(reader, json_object_get(object, "against"));
	if (!claim->against)
		claim->against = reader->document->tables[0].record.commits[0].name;
	claim->base = base ? number_of(reader, base, NULL) : NAN;
	claim->value = base ? number_of(reader, json_object_get(object, "value"), NULL) : NAN;
	claim->change = base ? claim->value - claim->base
			     : number_of(reader, json_object_get(object, "change"), NULL);
	claim->is_percent = !base;
	claim->is_most = is && strcmp(is, "at most") == 0;
	if (!claim->name || nr == 0)
		wrong(reader, "a claim has a name, and kernels that it is of", "claims");
}

static void read_claims(struct reader *reader)
{
	struct zm_document *document = reader->document;
	const json_t *list = json_object_get(reader->head, "claims");
	size_t nr = json_array_size(list);

	document->claims = take(reader, nr, sizeof(*document->claims));
	for (size_t i = 0; document->claims && !reader->error && i < nr; i++)
		read_said(reader, json_array_get(list, i),
			  &document->claims[document->nr_claims++]);
}

/* --- the head --- */

static const char *const forms[] = { "changelog", "lkp", "mmtests", "sweep" };

const char *zm_document_form_name(enum zm_document_form form)
{
	return forms[form];
}

static void read_form(struct reader *reader)
{
	const char *text = json_string_value(json_object_get(reader->head, "form"));

	for (unsigned int i = 0; text && i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(text, forms[i]) == 0) {
			reader->document->form = (enum zm_document_form)i;
			return;
		}
	}
	wrong(reader, "no form of a table", text);
}

static void read_columns(struct reader *reader)
{
	struct zm_document *document = reader->document;
	const json_t *list = json_object_get(reader->head, "columns");
	size_t nr = json_array_size(list);

	document->columns = take(reader, nr, sizeof(*document->columns));
	for (size_t i = 0; document->columns && i < nr; i++) {
		const char *name = copy(reader, json_object_get(json_array_get(list, i), "name"));

		if (!name)
			wrong(reader, "a column without a name", "columns");
		document->columns[document->nr_columns++] = name ? name : "";
	}
}

static void read_head(struct reader *reader)
{
	struct zm_document *document = reader->document;
	json_t *vary;

	reader->place = reader->head;
	document->title = text_of(reader, "title");
	document->source = text_of(reader, "source");
	document->monitor = text_of(reader, "monitor");
	document->label = text_of(reader, "label");
	vary = json_object_get(reader->head, "vary");
	document->is_option = vary != NULL;
	document->vary = copy(reader, vary ? vary : json_object_get(reader->head, "by"));
	if (!document->title || !document->source)
		wrong(reader, "it has no title, or no source", "title");
	read_pairs(reader, "scaled", &document->scaled);
	read_form(reader);
	read_columns(reader);
}

static int read_file(struct reader *reader, const struct zm_documented_file *file)
{
	json_t *documents = NULL;
	int r = zm_yaml_read((const char *)file->text, file->length, &documents, reader->why);

	if (r < 0) {
		zm_why_prefix(reader->why, "documented/%s.yaml", file->id);
		return r;
	}
	reader->head = json_array_get(documents, 0);
	if (json_array_size(documents) != 1 || !json_is_object(reader->head))
		wrong(reader, "one mapping is wanted", "the file");
	if (!reader->error)
		read_head(reader);
	if (!reader->error && !reader->document->pool.error)
		read_tables(reader);
	if (!reader->error && !reader->document->pool.error)
		read_claims(reader);
	json_decref(documents);
	return reader->error;
}

int zm_document_read(const struct zm_documented_file *file, struct zm_document *ret_document,
		     struct zm_why *why)
{
	struct zm_document document = { .id = file->id };
	struct reader reader = { .document = &document, .why = why };
	int r = read_file(&reader, file);

	if (r == 0 && document.pool.error)
		r = zm_why_errno(why, document.pool.error, "documented/%s.yaml", file->id);
	if (r < 0)
		zm_document_release(&document);
	else
		*ret_document = document;
	return r;
}

void zm_document_release(struct zm_document *document)
{
	zm_pool_release(&document->pool);
	*document = (struct zm_document){ 0 };
}
