/*
 * part_run: the curves of one run, data/r1/NAME.js.
 *
 * A run does not change any more once it has ended: where the old site has its file, that is taken over. (What
 * changes in these files changes the folder's number.)
 */
#include "results/web/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "results/db.h"
#include "results/digest.h"
#include "results/page_curves.h"
#include "results/web/emit.h"

#define MOST_POINTS 1000 /* of a curve; of more, the smallest and largest of each stretch */

/* --- curves --- */

static void put_axis(FILE *out, const char *name, const double *values, const size_t *at, size_t nr)
{
	(void)fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			(void)fputc(',', out);
		zm_emit_number(out, values[at[i]]);
	}
	(void)fputc(']', out);
}

/* The indexes of the points to be shown, in order. */
static size_t choose_points(const struct zm_curve *curve, size_t at[MOST_POINTS])
{
	size_t nr_stretches = MOST_POINTS / 2, nr = 0;

	if (curve->nr <= MOST_POINTS) {
		for (size_t i = 0; i < curve->nr; i++)
			at[i] = i;
		return curve->nr;
	}
	for (size_t i = 0; i < nr_stretches; i++) {
		size_t from = curve->nr * i / nr_stretches, to = curve->nr * (i + 1) / nr_stretches,
		       least = from, most = from;

		for (size_t k = from; k < to; k++) {
			least = curve->y[k] < curve->y[least] ? k : least;
			most = curve->y[k] > curve->y[most] ? k : most;
		}
		at[nr++] = least < most ? least : most;
		if (least != most)
			at[nr++] = least < most ? most : least;
	}
	return nr;
}

static void put_panel(FILE *out, const struct zm_panel *panel)
{
	size_t at[MOST_POINTS];

	(void)fputs("{\"label\":", out);
	zm_emit_text(out, panel->y_label);
	(void)fputs(",\"curves\":[", out);
	for (size_t i = 0; i < panel->nr_curves; i++) {
		size_t nr = choose_points(&panel->curves[i], at);

		(void)fputs(i ? ",{\"title\":" : "{\"title\":", out);
		zm_emit_text(out, panel->curves[i].title);
		(void)fputc(',', out);
		put_axis(out, "x", panel->curves[i].x, at, nr);
		(void)fputc(',', out);
		put_axis(out, "y", panel->curves[i].y, at, nr);
		(void)fputc('}', out);
	}
	(void)fputs("]}", out);
}

static void put_plot(FILE *out, const struct zm_plot *plot)
{
	(void)fputs(",\n\"panels\":[", out);
	for (size_t i = 0; i < plot->nr_panels; i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		put_panel(out, &plot->panels[i]);
	}
	(void)fputs("],\n\"phases\":[", out);
	for (size_t i = 0; i < plot->nr_bands; i++) {
		(void)fputs(i ? ",{\"name\":" : "{\"name\":", out);
		zm_emit_text(out, plot->bands[i].name);
		(void)fputs(",\"from\":", out);
		zm_emit_number(out, plot->bands[i].x0);
		(void)fputs(",\"to\":", out);
		zm_emit_number(out, plot->bands[i].x1);
		(void)fputc('}', out);
	}
	(void)fputc(']', out);
}

/* --- what is known of it --- */

static void put_text(FILE *out, const char *name, const char *text)
{
	(void)fprintf(out, ",\"%s\":", name);
	zm_emit_text(out, text);
}

static void put_info(FILE *out, const struct zm_run_info *info)
{
	(void)fprintf(out, "\"began\":%" PRIu64 ",\"repeat\":%u,\"tasks\":%u",
		      info->wall_ns / 1000000000, info->repeat, info->nr_tasks);
	put_text(out, "uuid", info->uuid);
	put_text(out, "workload", info->workload);
	put_text(out, "machine", info->machine);
	put_text(out, "kernel", info->kernel);
	put_text(out, "boot", info->boot);
	put_text(out, "label", info->label);
	put_text(out, "kind", info->kind);
	put_text(out, "version", info->version);
	put_text(out, "command", info->command_line);
	put_text(out, "parameters", info->params);
}

static void put_notes(FILE *out, const char *name, const struct zm_note_row *notes, size_t nr)
{
	(void)fprintf(out, ",\n\"%s\":[", name);
	for (size_t i = 0; i < nr; i++) {
		(void)fputs(i ? ",[" : "[", out);
		zm_emit_text(out, notes[i].kind);
		(void)fputc(',', out);
		zm_emit_text(out, notes[i].text);
		(void)fputc(']', out);
	}
	(void)fputc(']', out);
}

static void put_figures(FILE *out, const struct zm_digest *digest)
{
	(void)fputs(",\n\"figures\":[", out);
	for (size_t i = 0; i < digest->view->nr_results; i++) {
		const struct zm_result *result = &digest->view->results[i];

		(void)fputs(i ? ",[" : "[", out);
		zm_emit_text(out, result->metric);
		(void)fputc(',', out);
		zm_emit_number(out, result->value);
		(void)fputc(',', out);
		zm_emit_text(out, result->unit);
		(void)fprintf(out, ",%d]", result->is_primary);
	}
	(void)fputc(']', out);
}

static int put_run(struct zm_making *making, FILE *out, const struct zm_night_run *run,
		   const char *name)
{
	struct zm_digest *digest = NULL;
	struct zm_page_curves curves;
	int error = zm_digest_make(making->store, (uint64_t)run->id, NULL, &digest, making->why);

	if (error)
		return error;
	error = zm_page_curves_make(making->store, digest, &curves, making->why);
	if (!error) {
		(void)fprintf(out, "zonemark.run({\"id\":\"%s\",", name);
		put_info(out, &digest->view->info);
		put_figures(out, digest);
		put_notes(out, "notes", digest->view->notes, digest->view->nr_notes);
		put_notes(out, "absent", digest->view->absents, digest->view->nr_absents);
		put_plot(out, &curves.plot);
		(void)fputs("});\n", out);
		zm_page_curves_release(&curves);
	}
	zm_digest_free(digest);
	return error;
}

static int has_series(struct zm_making *making, int64_t run, bool *ret_has_it)
{
	int64_t one;
	int error = zm_db_int(zm_store_db(making->store), making->why,
			      "SELECT 1 FROM series WHERE run = ?1 LIMIT 1", ZM_BIND(zm_int(run)),
			      &one);

	*ret_has_it = !error;
	return error == -ENOENT ? 0 : error;
}

int zm_part_run(struct zm_making *making, const struct zm_night_run *run, bool *ret_has_it)
{
	char id[32], name[48];
	FILE *out;
	int error;

	zm_part_run_name(id, sizeof(id), run);
	(void)snprintf(name, sizeof(name), "data/r1/%s.js", id);
	if (zm_site_take(making->site, name) == 0) {
		*ret_has_it = true;
		return 0;
	}
	error = has_series(making, run->id, ret_has_it);
	if (error || !*ret_has_it)
		return error;
	error = zm_site_file(making->site, name, &out, making->why);
	if (error)
		return error;
	error = put_run(making, out, run, id);
	if (!error)
		return zm_site_close(making->site, name, out, making->why);
	(void)fclose(out);
	return error;
}
