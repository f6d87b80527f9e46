/*
 * page_run: one run as a section of a page.
 *
 *     what it was -> figures -> curves -> histograms -> flame graph -> notes and what is absent -> machine ->
 *     command
 */
#include "results/page.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/flame.h"
#include "results/format_hist.h"
#include "results/json.h"
#include "results/page_curves.h"
#include "results/stacks.h"
#include "workloads/base/cleanup.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* Text of several lines; line ends are kept. */
static void put_lines(FILE *out, char *text)
{
	(void)fputs("<pre tabindex=\"0\">", out);
	for (char *line = strsep(&text, "\n"); line; line = strsep(&text, "\n")) {
		zm_page_text(out, line);
		(void)fputc('\n', out);
	}
	(void)fputs("</pre>\n", out);
}

static void put_head(FILE *out, const struct zm_run_info *info)
{
	char title[256];

	(void)snprintf(title, sizeof(title), "Run %llu: %s, %u %s task%s, Linux %s",
		       (unsigned long long)info->id, info->workload, info->nr_tasks, info->kind,
		       info->nr_tasks == 1 ? "" : "s", info->kernel);
	zm_page_element(out, "h2", title);
	(void)fputs("<p>", out);
	if (info->label) {
		(void)fputs("Label ", out);
		zm_page_text(out, info->label);
		(void)fputs("; ", out);
	}
	zm_page_text(out, zm_status_name(info->status));
	if (info->reason) {
		(void)fputs(": ", out);
		zm_page_text(out, info->reason);
	}
	(void)fputs("; run ", out);
	zm_page_text(out, info->uuid);
	(void)fputs("; zonemark ", out);
	zm_page_text(out, info->version);
	(void)fputs("</p>\n", out);
}

static void put_figure(struct zm_page_table *table, const struct zm_digest_figure *figure)
{
	char text[32];

	zm_page_cell(table, "%s", figure->result->metric);
	zm_page_figure(table, figure->result->value);
	zm_page_cell(table, "%s", figure->result->unit);
	zm_page_cell(table, "%s", zm_table_percent(text, sizeof(text), figure->within.cv));
	zm_page_cell(table, "%zu", figure->launches.nr);
	zm_page_cell(table, "%s", zm_table_percent(text, sizeof(text), figure->launches.cv));
	zm_page_cell(table, "%s", figure->result->source);
}

/* The primary ones, or all the others. */
static void put_table(FILE *out, const struct zm_digest *digest, bool is_primary)
{
	static const struct zm_column columns[] = {
		{ .title = "figure" },
		{ .title = "value", .is_right = true },
		{ .title = "unit" },
		{ .title = "cv of its intervals", .is_right = true },
		{ .title = "launches", .is_right = true },
		{ .title = "cv of launches", .is_right = true },
		{ .title = "from" },
	};
	struct zm_page_table table;

	zm_page_table_begin(&table, out,
			    is_primary ? "Primary figures of the measured window"
				       : "Other figures of the measured window",
			    columns, NR(columns));
	for (size_t i = 0; i < digest->view->nr_results; i++) {
		if (digest->figures[i].result->is_primary == is_primary)
			put_figure(&table, &digest->figures[i]);
	}
	zm_page_table_end(&table);
}

/* There may be hundreds of the others: they are there when asked for. */
static void put_figures(FILE *out, const struct zm_digest *digest)
{
	size_t nr = digest->view->nr_results, nr_primary = 0;

	for (size_t i = 0; i < nr; i++)
		nr_primary += digest->figures[i].result->is_primary;
	if (nr_primary)
		put_table(out, digest, true);
	if (nr == nr_primary)
		return;
	(void)fprintf(out, "<details><summary>%zu other figures</summary>\n", nr - nr_primary);
	put_table(out, digest, false);
	(void)fputs("</details>\n", out);
}

/* Without gnuplot the page says so; everything else is in it. */
static int put_curves(FILE *out, struct zm_store *store, const struct zm_digest *digest,
		      struct zm_why *why)
{
	struct zm_page_curves *curves = calloc(1, sizeof(*curves));
	struct zm_why undrawn = { "" };
	zm_autofree char *svg = NULL;
	size_t length = 0;
	int error = curves ? zm_page_curves_make(store, digest, curves, why) : -ENOMEM;

	if (error) {
		free(curves);
		return error;
	}
	zm_page_element(out, "h3", "Curves");
	error = zm_plot_svg_text(&curves->plot, &svg, &length, &undrawn);
	if (error)
		zm_page_element(out, "p", undrawn.text[0] ? undrawn.text : strerror(-error));
	else
		zm_page_picture(out, svg, length,
				"Curves over the time of the run, its phases shaded; the table of "
				"figures has their means in the measured window.");
	zm_page_curves_release(curves);
	free(curves);
	return 0;
}

static int put_hist(FILE *out, const struct zm_digest_hist *hist)
{
	zm_autofree char *text = NULL;
	size_t length = 0;
	FILE *memory;
	int error;

	if (!hist->hist->count)
		return 0;
	memory = open_memstream(&text, &length);
	if (!memory)
		return -ENOMEM;
	error = zm_format_hist(hist->hist, hist->desc.unit, 0, memory);
	if (fclose(memory) && !error)
		error = -ENOMEM;
	if (error)
		return error;
	zm_page_element(out, "h3", hist->desc.metric);
	put_lines(out, text);
	return 0;
}

/* A flame graph on its way. */
struct burning {
	FILE *out;
	bool is_drawn;
};

/* The first set of chains that has any; in memory, because it is an image of the page. */
static int burn(void *context, const struct zm_stacks *stacks)
{
	struct burning *burning = context;
	zm_autofree char *svg = NULL;
	const struct zm_flame flame = { .title = stacks->event,
					.subtitle = stacks->source,
					.unit = stacks->unit,
					.is_inline = true };
	size_t length = 0;
	FILE *memory = open_memstream(&svg, &length);
	int error = memory ? zm_flame_write(&flame, stacks->folded, memory) : -ENOMEM;

	if (memory && fclose(memory) && !error)
		error = -ENOMEM;
	if (error)
		return error == -ENODATA ? 0 : error;
	zm_page_element(burning->out, "h3", "Flame graph");
	(void)fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" "
		    "aria-label=\"Flame graph\">",
		    burning->out);
	(void)fwrite(svg, 1, length, burning->out);
	(void)fputs("</div>\n", burning->out);
	burning->is_drawn = true;
	return 1;
}

static int put_flame(FILE *out, struct zm_store *store, uint64_t run, struct zm_why *why)
{
	struct burning burning = { .out = out };
	int error = zm_stacks_read(store, run, burn, &burning, why);

	return error < 0 ? error : 0;
}

static void put_notes(FILE *out, const char *title, const struct zm_note_row *notes, size_t nr)
{
	if (!nr)
		return;
	zm_page_element(out, "h3", title);
	(void)fputs("<ul>\n", out);
	for (size_t i = 0; i < nr; i++) {
		(void)fputs("<li>", out);
		zm_page_text(out, notes[i].kind);
		(void)fputs(": ", out);
		zm_page_text(out, notes[i].text);
		(void)fputs("</li>\n", out);
	}
	(void)fputs("</ul>\n", out);
}

/* JSON as text, two blanks a level. */
static int put_json(FILE *out, const char *title, const char *json)
{
	json_t *object = zm_json_parsed(json);
	zm_autofree char *text =
		object ? json_dumps(object, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;

	bool is_json = object != NULL;

	json_decref(object);
	if (!text)
		return is_json ? -ENOMEM : 0;
	(void)fputs("<details><summary>", out);
	zm_page_text(out, title);
	(void)fputs("</summary>\n", out);
	put_lines(out, text);
	(void)fputs("</details>\n", out);
	return 0;
}

int zm_page_run(FILE *out, struct zm_store *store, const struct zm_digest *digest,
		struct zm_why *why)
{
	const struct zm_run_view *view = digest->view;
	int error;

	put_head(out, &view->info);
	put_figures(out, digest);
	error = put_curves(out, store, digest, why);
	for (size_t i = 0; i < digest->nr_hists && !error; i++)
		error = put_hist(out, &digest->hists[i]);
	if (!error)
		error = put_flame(out, store, view->info.id, why);
	put_notes(out, "Notes", view->notes, view->nr_notes);
	put_notes(out, "What could not be had", view->absents, view->nr_absents);
	if (!error)
		error = put_json(out, "Parameters", view->info.params);
	if (!error)
		error = put_json(out, "Machine", view->inventory);
	zm_page_element(out, "h3", "The command that repeats it");
	zm_page_element(out, "pre", view->info.command_line);
	return error;
}
