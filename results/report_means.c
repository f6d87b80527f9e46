/* report_means: a row, its followers, and the heads above them. */
#include "results/report_means.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_fields.h"

#define HEAD_LINES 4   /* above the first row */
#define ROWS       512 /* of one table, at most */

struct row {
	const char *label; /* not terminated */
	size_t length;     /* without the number of tasks */
	unsigned int nr_tasks;
	bool is_thread;
	struct zm_mail_cell cells[ZM_MAIL_COLUMNS];
	unsigned int nr_columns;
};

/* --- one row --- */

static const char *skip(const char *text)
{
	return text + strspn(text, ZM_REPORT_BLANKS);
}

/* "page_fault1-processes-12 " */
static const char *take_label(const char *text, struct row *row)
{
	static const char *const kinds[] = { "-processes-", "-threads-" };
	size_t length = strcspn(text, ZM_REPORT_BLANKS);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *kind = strstr(text, kinds[i]);
		size_t n = strlen(kinds[i]);
		char *end;
		unsigned long tasks;

		if (!kind || kind == text || kind + n >= text + length ||
		    !isdigit((unsigned char)kind[n]))
			continue;
		tasks = strtoul(kind + n, &end, 10);
		if (end != text + length || tasks == 0 || tasks > 1000000)
			continue;
		row->label = text;
		row->length = (size_t)(kind - text) + n - 1;
		row->nr_tasks = (unsigned int)tasks;
		row->is_thread = i == 1;
		return text + length;
	}
	return NULL;
}

/* "2695780.35 (   0.04%)", "… *  -0.23%*" */
static const char *take_mean(const char *text, struct zm_mail_cell *cell)
{
	char close;
	size_t n;

	*cell = (struct zm_mail_cell){ .stddev = NAN, .change = NAN };
	if (!zm_report_table_number(text, strcspn(text, ZM_REPORT_BLANKS "("), &cell->value, &n))
		return NULL;
	text = skip(text + n);
	if (*text != '(' && *text != '*')
		return NULL;
	cell->is_marked = *text == '*';
	close = cell->is_marked ? '*' : ')';
	text = skip(text + 1);
	if (!zm_report_table_number(text, strcspn(text, "%)*"), &cell->change, &n) ||
	    text[n] != '%' || text[n + 1] != close)
		return NULL;
	cell->is_percent = true;
	return skip(text + n + 2);
}

static bool read_row(const char *text, struct row *row)
{
	static const char *const means[] = { "Hmean ", "Amean ", "Gmean " };
	bool is_mean = false;

	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
		is_mean |= strncmp(text, means[i], strlen(means[i])) == 0;
	*row = (struct row){ 0 };
	text = is_mean ? take_label(skip(text + strlen(means[0])), row) : NULL;
	text = text ? skip(text) : NULL;
	while (text && *text && row->nr_columns < ZM_MAIL_COLUMNS) {
		text = take_mean(text, &row->cells[row->nr_columns]);
		if (!text)
			break;
		row->nr_columns++;
	}
	row->cells[0].change = NAN;
	return row->nr_columns >= 2;
}

static bool is_same_table(const struct row *a, const struct row *b)
{
	return a->length == b->length && memcmp(a->label, b->label, a->length) == 0 &&
	       a->nr_columns == b->nr_columns;
}

/* --- what stands above --- */

static unsigned int count_words(const char *text)
{
	unsigned int nr = 0;

	for (text = skip(text); *text; text = skip(text + strcspn(text, ZM_REPORT_BLANKS)))
		nr++;
	return nr;
}

static const char *word_at(struct zm_report_block *block, const char *text, unsigned int index)
{
	for (text = skip(text); index > 0; index--)
		text = skip(text + strcspn(text, ZM_REPORT_BLANKS));
	return zm_report_fields_copy(&block->draft->pool, text, strcspn(text, ZM_REPORT_BLANKS));
}

/* The two lines of kernels: a version, and what was built of it. */
static void read_heads(struct zm_report_block *block, size_t at, struct zm_mail_record *record)
{
	const char *lines[2] = { NULL, NULL };
	unsigned int nr_lines = 0;
	char name[16];

	for (size_t i = 1; i <= HEAD_LINES && i <= at && nr_lines < 2; i++) {
		const char *text = zm_report_block_text(block, at - i);

		if (count_words(text) == record->nr_commits)
			lines[nr_lines++] = text;
		else if (*text)
			break;
	}
	for (unsigned int i = 0; i < record->nr_commits; i++) {
		(void)snprintf(name, sizeof(name), "kernel%u", i + 1);
		record->commits[i].name = lines[0] ? word_at(block, lines[0], i)
						   : zm_pool_text(&block->draft->pool, name);
		if (lines[1])
			record->commits[i].title = word_at(block, lines[1], i);
	}
}

/* "2-socket CascadeLake (40 cores, 80 CPUs HT enabled)" */
static void read_machine(struct zm_report_block *block, size_t at, struct zm_mail_machine *machine)
{
	*machine = block->machine;
	for (size_t i = 1; i <= 2 * HEAD_LINES && i <= at && machine->nr_cpus == 0; i++) {
		const char *text = zm_report_block_text(block, at - i);
		const char *cpus = strstr(text, " CPUs"), *sockets = strstr(text, "-socket");
		const char *digit = cpus;

		while (digit && digit > text && isdigit((unsigned char)digit[-1]))
			digit--;
		if (!cpus || digit == cpus || cpus - digit > 6)
			continue;
		machine->nr_cpus = (unsigned int)strtoul(digit, NULL, 10);
		if (sockets && sockets > text && isdigit((unsigned char)sockets[-1]))
			machine->nr_sockets = (unsigned int)(sockets[-1] - '0');
		machine->text = zm_report_fields_copy(&block->draft->pool, text, strlen(text));
	}
}

/* --- the table --- */

static void add_row(struct zm_report_block *block, struct zm_mail_record *record,
		    const struct row *row)
{
	struct zm_pool *pool = &block->draft->pool;
	struct zm_mail_row *list =
		zm_report_fields_grow(pool, record->rows, record->nr_rows, sizeof(*list));
	struct zm_mail_cell *cells = zm_pool_take(pool, row->nr_columns * sizeof(*cells));
	char metric[64];

	if (!list || !cells)
		return;
	(void)snprintf(metric, sizeof(metric), "will-it-scale.%u.%s", row->nr_tasks,
		       row->is_thread ? "threads" : "processes");
	memcpy(cells, row->cells, row->nr_columns * sizeof(*cells));
	record->rows = list;
	list[record->nr_rows++] = (struct zm_mail_row){ zm_pool_text(pool, metric), false, cells };
}

static void put_params(struct zm_report_block *block, struct zm_mail_record *record,
		       const struct row *first, const char *list)
{
	struct zm_pool *pool = &block->draft->pool;
	size_t test = first->length - strlen(first->is_thread ? "-threads" : "-processes");

	record->testcase = "will-it-scale";
	record->ladder = zm_report_fields_copy(pool, first->label, first->length);
	zm_report_fields_put(pool, &record->params, "test",
			     zm_report_fields_copy(pool, first->label, test));
	zm_report_fields_put(pool, &record->params, "mode",
			     first->is_thread ? "thread" : "process");
	zm_report_fields_put(pool, &record->params, "nr_task", zm_pool_text(pool, list));
}

static size_t take_rows(struct zm_report_block *block, size_t at, struct zm_mail_record *record,
			const struct row *first)
{
	char list[4096] = "";
	size_t taken = 0, length = 0;
	struct row row = *first;

	for (size_t i = at; i < block->nr_lines && record->nr_rows < ROWS; i++) {
		const char *text = zm_report_block_text(block, i);
		int n;

		if (i > at && *text && !(read_row(text, &row) && is_same_table(first, &row)))
			break;
		if (!*text)
			continue;
		n = snprintf(list + length, sizeof(list) - length, "%s%u", length ? "," : "",
			     row.nr_tasks);
		if (n < 0 || (size_t)n >= sizeof(list) - length)
			break;
		length += (size_t)n;
		add_row(block, record, &row);
		taken = i - at + 1;
	}
	put_params(block, record, first, list);
	return taken;
}

size_t zm_report_means_rows(struct zm_report_block *block, size_t at)
{
	struct zm_draft_record *table;
	struct row first;

	if (!read_row(zm_report_block_text(block, at), &first))
		return 0;
	table = zm_report_draft_record(block->draft, ZM_MAIL_TABLE, (unsigned int)at + 1,
				       block->lines[at].depth);
	if (!table)
		return 1;
	table->has_table = table->has_keys = true;
	table->nr_columns = first.nr_columns;
	table->record.commits = zm_pool_take(&block->draft->pool,
					     first.nr_columns * sizeof(*table->record.commits));
	if (!table->record.commits)
		return 1;
	table->record.nr_commits = first.nr_columns;
	read_heads(block, at, &table->record);
	read_machine(block, at, &table->record.machine);
	block->table = NULL;
	return take_rows(block, at, &table->record, &first);
}
