/*
 * format_tonight: a night for people: as a text, as a mail, as sections of a page.
 *
 *     counts -> who and when -> changes, a sentence each -> runs without a result -> every figure
 */
#include "results/format_tonight.h"

#include <inttypes.h>
#include <string.h>

#include "results/json.h"
#include "results/page.h"
#include "results/table.h"
#include "results/utf8.h"
#include "workloads/base/cleanup.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const struct zm_column columns[] = {
	{ .title = "state" },
	{ .title = "cell" },
	{ .title = "figure" },
	{ .title = "tonight", .is_right = true },
	{ .title = "usual", .is_right = true },
	{ .title = "unit" },
	{ .title = "difference", .is_right = true },
	{ .title = "good nights", .is_right = true },
};

static void put_printable(FILE *out, const char *text)
{
	zm_autofree char *printable = zm_utf8_printable(text);

	(void)fputs(printable ? printable : "", out);
}

/* Without anything that was typed or read: it becomes a header line. */
static void put_subject(const struct zm_tonight *tonight, FILE *out)
{
	char counts[256];

	(void)fprintf(out, "zonemark nightly: %s",
		      zm_tonight_counts(counts, sizeof(counts), tonight));
}

/* --- text --- */

static void put_head(const struct zm_tonight *tonight, FILE *out)
{
	char when[32];

	put_subject(tonight, out);
	(void)fprintf(out, "\n\nnight of %s, Linux ",
		      zm_json_time_text(when, sizeof(when), tonight->wall_ns));
	put_printable(out, tonight->kernel);
	(void)fputs(", machine ", out);
	put_printable(out, tonight->machine);
	(void)fputs(", label ", out);
	put_printable(out, tonight->label);
	(void)fputc('\n', out);
	if (tonight->behind_s > 0)
		(void)fprintf(
			out,
			"The clock stands %.1f hours before that of the night before: nights are "
			"in the order in which they were run.\n",
			tonight->behind_s / 3600);
}

static void put_changes(const struct zm_tonight *tonight, FILE *out)
{
	char title[512], text[768];

	for (size_t i = 0; i < tonight->nr_rows; i++) {
		const struct zm_tonight_row *row = &tonight->rows[i];

		if (!row->change)
			continue;
		(void)fprintf(out, "\n%s: ", zm_tonight_state_name(row->state));
		put_printable(out, zm_tonight_title(title, sizeof(title), row->history));
		(void)fputs(", ", out);
		put_printable(out, row->history->metric);
		(void)fputs("\n    ", out);
		put_printable(out, zm_tonight_sentence(text, sizeof(text), row));
		(void)fputc('\n', out);
	}
}

static void put_failures(const struct zm_tonight *tonight, FILE *out)
{
	if (tonight->nr_failures)
		(void)fputs("\nruns without a result:\n", out);
	for (size_t i = 0; i < tonight->nr_failures; i++) {
		const struct zm_tonight_failure *failure = &tonight->failures[i];

		(void)fprintf(out, "    run %" PRIu64 ", ", failure->run);
		put_printable(out, failure->title);
		(void)fprintf(out, ": %s%s", failure->status, failure->reason[0] ? ": " : "");
		put_printable(out, failure->reason);
		(void)fputc('\n', out);
	}
}

static void put_row(struct zm_table *table, const struct zm_tonight_row *row)
{
	char title[512], difference[48];

	zm_table_cell(table, "%s", zm_tonight_state_name(row->state));
	zm_table_cell(table, "%s", zm_tonight_title(title, sizeof(title), row->history));
	zm_table_cell(table, "%s", row->history->metric);
	zm_table_figure(table, row->value);
	zm_table_figure(table, row->usual);
	zm_table_cell(table, "%s", row->history->unit);
	zm_table_cell(table, "%s",
		      zm_tonight_difference(difference, sizeof(difference), row->history,
					    row->difference));
	zm_table_cell(table, "%zu", row->nr_usual);
}

int zm_format_tonight_text(const struct zm_tonight *tonight, FILE *out)
{
	struct zm_table *table = zm_table_new(columns, NR(columns));
	int error;

	put_head(tonight, out);
	put_changes(tonight, out);
	put_failures(tonight, out);
	(void)fputc('\n', out);
	for (size_t i = 0; i < tonight->nr_rows; i++)
		put_row(table, &tonight->rows[i]);
	error = zm_table_print(table, out, 0, "");
	zm_table_free(table);
	(void)fputs("\nIt was: ", out);
	put_printable(out, tonight->command_line);
	(void)fputc('\n', out);
	return error;
}

int zm_format_tonight_mail(const struct zm_tonight *tonight, FILE *out)
{
	(void)fputs("Subject: ", out);
	put_subject(tonight, out);
	(void)fputs("\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
		    "Content-Transfer-Encoding: 8bit\n\n",
		    out);
	return zm_format_tonight_text(tonight, out);
}

/* --- page --- */

static void put_page_changes(const struct zm_tonight *tonight, FILE *out)
{
	char title[512], text[768];
	size_t nr = 0;

	for (size_t i = 0; i < tonight->nr_rows; i++) {
		const struct zm_tonight_row *row = &tonight->rows[i];

		if (!row->change)
			continue;
		if (nr++ == 0)
			(void)fputs("<ul>\n", out);
		(void)fprintf(out, "<li><strong>%s</strong>: ", zm_tonight_state_name(row->state));
		zm_page_text(out, zm_tonight_title(title, sizeof(title), row->history));
		(void)fputs(", ", out);
		zm_page_text(out, row->history->metric);
		(void)fputs(": ", out);
		zm_page_text(out, zm_tonight_sentence(text, sizeof(text), row));
		(void)fputs("</li>\n", out);
	}
	if (nr)
		(void)fputs("</ul>\n", out);
}

static void put_page_failures(const struct zm_tonight *tonight, FILE *out)
{
	static const struct zm_column failed[] = {
		{ .title = "run", .is_right = true },
		{ .title = "cell" },
		{ .title = "status" },
		{ .title = "reason" },
	};
	struct zm_page_table table;

	if (!tonight->nr_failures)
		return;
	zm_page_table_begin(&table, out, "Runs without a result", failed, NR(failed));
	for (size_t i = 0; i < tonight->nr_failures; i++) {
		const struct zm_tonight_failure *failure = &tonight->failures[i];

		zm_page_cell(&table, "%" PRIu64, failure->run);
		zm_page_cell(&table, "%s", failure->title);
		zm_page_cell(&table, "%s", failure->status);
		zm_page_cell(&table, "%s", failure->reason);
	}
	zm_page_table_end(&table);
}

static void put_page_row(struct zm_page_table *table, const struct zm_tonight_row *row)
{
	char title[512], difference[48];

	zm_page_cell(table, "%s", zm_tonight_state_name(row->state));
	zm_page_cell(table, "%s", zm_tonight_title(title, sizeof(title), row->history));
	zm_page_cell(table, "%s", row->history->metric);
	zm_page_figure(table, row->value);
	zm_page_figure(table, row->usual);
	zm_page_cell(table, "%s", row->history->unit);
	zm_page_cell(table, "%s",
		     zm_tonight_difference(difference, sizeof(difference), row->history,
					   row->difference));
	zm_page_cell(table, "%zu", row->nr_usual);
}

int zm_format_tonight_page(const struct zm_tonight *tonight, FILE *out)
{
	struct zm_page_table table;
	char text[256], when[32];

	zm_page_element(out, "h2", "Tonight");
	(void)fprintf(out, "<p><strong>%s</strong></p>\n<p>Night of %s, Linux ",
		      zm_tonight_counts(text, sizeof(text), tonight),
		      zm_json_time_text(when, sizeof(when), tonight->wall_ns));
	zm_page_text(out, tonight->kernel);
	(void)fputs(", machine ", out);
	zm_page_text(out, tonight->machine);
	(void)fputs(".</p>\n", out);
	put_page_changes(tonight, out);
	put_page_failures(tonight, out);
	zm_page_table_begin(&table, out, "Every figure", columns, NR(columns));
	for (size_t i = 0; i < tonight->nr_rows; i++)
		put_page_row(&table, &tonight->rows[i]);
	zm_page_table_end(&table);
	zm_page_element(out, "h3", "The command");
	zm_page_element(out, "pre", tonight->command_line);
	return 0;
}
