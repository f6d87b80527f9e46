/* documented: ids, records of tables, monitors that are there. */
#include "runner/documented.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/catalogue.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/option.h"

#define MAX_IDS 256

bool zm_documented_is_id(const char *word)
{
	const char *slash = strchr(word, '/');
	size_t length = slash ? (size_t)(slash - word) : 0;

	if (zm_documented_find(word))
		return true;
	if (length == 0 || access(word, F_OK) == 0)
		return false;
	for (const struct zm_documented_file *file = zm_documented_files; file->id; file++) {
		if (strncmp(file->id, word, length + 1) == 0)
			return true;
	}
	return false;
}

static int unknown(const char *id, struct zm_why *why)
{
	const char *ids[MAX_IDS];
	const char *nearest;
	size_t nr = 0;

	while (zm_documented_files[nr].id && nr + 1 < MAX_IDS) {
		ids[nr] = zm_documented_files[nr].id;
		nr++;
	}
	ids[nr] = NULL;
	nearest = zm_option_nearest(id, ids);
	if (nearest)
		return zm_why_set(why, -ENOENT,
				  "%s: nothing of that id is documented; did you "
				  "mean %s?",
				  id, nearest);
	return zm_why_set(why, -ENOENT,
			  "%s: nothing of that id is documented; `zonemark list documented` shows "
			  "what is",
			  id);
}

int zm_documented_open(const char *id, struct zm_documented *ret_documented, struct zm_why *why)
{
	const struct zm_documented_file *file = zm_documented_find(id);
	struct zm_documented documented = { 0 };
	struct zm_report_mail *report = &documented.report;
	int r = file ? zm_document_read(file, &documented.document, why) : unknown(id, why);
	size_t nr;

	if (r < 0)
		return r;
	nr = documented.document.nr_tables;
	report->records = zm_pool_take(&documented.document.pool, nr * sizeof(*report->records));
	for (size_t i = 0; report->records && i < nr; i++)
		report->records[report->nr_records++] = &documented.document.tables[i].record;
	if (!report->records) {
		zm_document_release(&documented.document);
		return zm_why_errno(why, -ENOMEM, "%s", id);
	}
	*ret_documented = documented;
	return 0;
}

void zm_documented_release(struct zm_documented *documented)
{
	zm_document_release(&documented->document);
	*documented = (struct zm_documented){ 0 };
}

const char *zm_documented_monitor(struct zm_document *document)
{
	zm_autofree char *copy = document->monitor ? strdup(document->monitor) : NULL;
	char list[512] = "";
	char *rest = copy;

	while (rest) {
		const char *name = strsep(&rest, ",");
		size_t length = strlen(list);

		if (strcmp(name, "default") == 0 || zm_monitor_find(name))
			(void)snprintf(list + length, sizeof(list) - length, "%s%s",
				       length ? "," : "", name);
	}
	return list[0] ? zm_pool_text(&document->pool, list) : NULL;
}

/* mmtests' rows are points, of the numbers of tasks that the parameters have. */
static void read_ladder(struct zm_document *document, struct zm_document_table *table)
{
	const char *list = zm_mail_pairs_find(&table->record.params, "nr_task");
	zm_autofree char *copy = list ? strdup(list) : NULL;
	char *rest = copy;
	char name[256];

	table->points =
		zm_pool_take(&document->pool, (table->record.nr_rows + 1) * sizeof(*table->points));
	for (size_t i = 0; table->points && rest && i < table->record.nr_rows; i++) {
		struct zm_document_figure *figure = &table->figures[i];

		table->points[i] = zm_pool_text(&document->pool, strsep(&rest, ","));
		(void)snprintf(name, sizeof(name), "%s-%s", table->record.ladder, table->points[i]);
		figure->name = zm_pool_text(&document->pool, name);
		figure->metrics[0] = "will-it-scale.workload";
		figure->point = i;
		table->nr_points++;
	}
}

int zm_documented_of_record(const struct zm_mail_record *record, const char *name,
			    struct zm_document *ret_document, struct zm_why *why)
{
	struct zm_document document = { .id = name,
					.title = "a robot's report",
					.source = "the mail",
					.form = ZM_DOCUMENT_LKP };
	struct zm_document_table *table = zm_pool_take(&document.pool, sizeof(*table));

	document.is_option = record->ladder != NULL;
	document.form = record->ladder ? ZM_DOCUMENT_MMTESTS : ZM_DOCUMENT_LKP;
	document.tables = table;
	document.nr_tables = table ? 1 : 0;
	if (table) {
		table->record = *record;
		table->figures = zm_pool_take(&document.pool,
					      (record->nr_rows + 1) * sizeof(*table->figures));
	}
	for (size_t i = 0; table && table->figures && i < record->nr_rows; i++) {
		table->figures[i].name = record->rows[i].metric;
		table->figures[i].metrics[0] = record->rows[i].metric;
	}
	if (table && table->figures && record->ladder)
		read_ladder(&document, table);
	if (document.pool.error) {
		zm_document_release(&document);
		return zm_why_errno(why, -ENOMEM, "reading the report");
	}
	*ret_document = document;
	return 0;
}

/* Of a row: log of the largest over the smallest; a row of a table that claims something, of that. */
static double effect_of(const struct zm_document_table *table, size_t row)
{
	const struct zm_mail_record *record = &table->record;
	double least = NAN, most = NAN;

	for (unsigned int i = 0; i < record->nr_commits; i++) {
		double value = record->rows[row].cells[i].value;

		if (!(value > 0))
			continue;
		least = fmin(least, value);
		most = fmax(most, value);
	}
	return isnan(least) ? 0 : log(most / least);
}

double zm_documented_effect(const struct zm_document *document)
{
	const struct zm_document_table *table = &document->tables[0];
	double effect = 0;

	for (size_t i = 0; i < table->record.nr_rows; i++) {
		const char *claimed = table->record.claim.metric;
		bool is_first =
			document->form == ZM_DOCUMENT_LKP
				? claimed && strcmp(table->record.rows[i].metric, claimed) == 0
				: i == 0 || document->form == ZM_DOCUMENT_MMTESTS;

		if (is_first)
			effect = fmax(effect, effect_of(table, i));
	}
	return expm1(effect);
}
