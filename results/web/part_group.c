/*
 * part_group: what the pages show of one machine and one cell.
 *
 *     data/g/ID.js      nights, runs, the list of figures, and the primary ones' values
 *     data/g/ID.N.js    the others' values, as many files as keep each small
 *
 * A line is a call of zonemark.line(ID, number, {v, lo, hi, n, changes, outliers}): one value per night, null
 * where there is none; lo and hi only where a night has more than one run.
 */
#include "results/web/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "results/json.h"
#include "results/web/emit.h"
#include "workloads/base/cleanup.h"

#define MOST_RUNS  20            /* named, of a night's */
#define MOST_BYTES (192 * 1024L) /* of a file with others' values */

void zm_part_run_name(char *buf, size_t size, const struct zm_night_run *run)
{
	(void)snprintf(buf, size, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64, run->name >> 32,
		       run->name >> 16 & 0xffff, run->name & 0xffff);
}

/* --- a line --- */

static double value_of(const struct zm_night_value *value)
{
	return value->value;
}

static double low_of(const struct zm_night_value *value)
{
	return value->low;
}

static double high_of(const struct zm_night_value *value)
{
	return value->high;
}

static double nr_of(const struct zm_night_value *value)
{
	return value->nr_runs;
}

static void put_values(FILE *out, const char *name, const struct zm_trend *trend,
		       double (*get)(const struct zm_night_value *value))
{
	(void)fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < trend->nr; i++) {
		if (i)
			(void)fputc(',', out);
		zm_emit_number(out, get(&trend->values[i]));
	}
	(void)fputc(']', out);
}

static void put_number(FILE *out, const char *name, double value)
{
	(void)fprintf(out, ",\"%s\":", name);
	zm_emit_number(out, value);
}

static int put_change(struct zm_making *making, FILE *out, const struct zm_trend *trend,
		      size_t number, uint32_t metric)
{
	const struct zm_change *change = &trend->changes.changes[number];
	struct zm_judgement judgement;
	int error = zm_trend_judge(zm_making_judge(making, metric), trend, number, &judgement);
	enum zm_better better = making->names->metrics[metric].better;

	if (error)
		return error;
	(void)fprintf(out, "%s{\"first\":%zu,\"seen\":%zu,\"state\":\"%s\",\"verdict\":\"%s\"",
		      number ? "," : "", change->first, change->seen,
		      zm_change_state_name(change->state),
		      zm_verdict_name(zm_standing_verdict(judgement.change, better)));
	put_number(out, "base", judgement.base);
	put_number(out, "new", judgement.new);
	put_number(out, "change", judgement.change);
	put_number(out, "low", judgement.low);
	put_number(out, "high", judgement.high);
	put_number(out, "p", judgement.p);
	(void)fprintf(out, ",\"ratio\":%s,\"nr\":[%zu,%zu]}", judgement.is_ratio ? "true" : "false",
		      judgement.nr_base, judgement.nr_new);
	return 0;
}

static int put_trend(struct zm_making *making, FILE *out, const char *id,
		     const struct zm_group *group, size_t number, const struct zm_trend *trend)
{
	const struct zm_line *line = &group->lines[number];
	bool has_spread = false;
	int error = 0;

	for (size_t i = 0; i < trend->nr; i++)
		has_spread |= trend->values[i].nr_runs > 1;
	(void)fprintf(out, "zonemark.line(\"%s\",%zu,{\"few\":%s", id, number,
		      zm_trend_is_few(trend) ? "true" : "false");
	put_values(out, "v", trend, value_of);
	if (has_spread) {
		put_values(out, "lo", trend, low_of);
		put_values(out, "hi", trend, high_of);
		put_values(out, "n", trend, nr_of);
	}
	(void)fputs(",\"changes\":[", out);
	for (size_t i = 0; i < trend->changes.nr && !error; i++)
		error = put_change(making, out, trend, i, line->metric);
	(void)fputs("],\"outliers\":[", out);
	for (size_t i = 0; i < trend->changes.nr_outliers; i++)
		(void)fprintf(out, "%s%zu", i ? "," : "", trend->changes.outliers[i]);
	(void)fputs("]});\n", out);
	return error;
}

static int put_line(struct zm_making *making, FILE *out, const char *id,
		    const struct zm_group *group, size_t number)
{
	const struct zm_line *line = &group->lines[number];
	struct zm_trend trend;
	int error = zm_trend_make(zm_making_judge(making, line->metric), group, line, &trend);

	if (error)
		return error;
	error = put_trend(making, out, id, group, number, &trend);
	zm_trend_release(&trend);
	return error;
}

/* --- the others' files --- */

struct chunks {
	char name[48];
	FILE *out; /* NULL: none is open */
	uint32_t nr;
	uint32_t *of_line; /* 0: in the group's own file */
};

static int close_chunk(struct zm_making *making, struct chunks *chunks)
{
	FILE *out = chunks->out;

	chunks->out = NULL;
	return out ? zm_site_close(making->site, chunks->name, out, making->why) : 0;
}

static int open_chunk(struct zm_making *making, struct chunks *chunks, const char *id)
{
	(void)snprintf(chunks->name, sizeof(chunks->name), "data/g/%s.%" PRIu32 ".js", id,
		       ++chunks->nr);
	return zm_site_file(making->site, chunks->name, &chunks->out, making->why);
}

static int put_others(struct zm_making *making, const char *id, const struct zm_group *group,
		      struct chunks *chunks)
{
	int error = 0;

	for (size_t i = 0; i < group->nr_lines && !error; i++) {
		if (group->lines[i].is_primary)
			continue;
		if (!chunks->out)
			error = open_chunk(making, chunks, id);
		if (!error)
			error = put_line(making, chunks->out, id, group, i);
		chunks->of_line[i] = chunks->nr;
		if (!error && ftell(chunks->out) > MOST_BYTES)
			error = close_chunk(making, chunks);
	}
	if (!error)
		return close_chunk(making, chunks);
	if (chunks->out)
		(void)fclose(chunks->out);
	chunks->out = NULL;
	return error;
}

/* --- the group's own file --- */

static void put_nights(FILE *out, const struct zm_group *group)
{
	(void)fputs(",\n\"nights\":[", out);
	for (size_t i = 0; i < group->nr_nights; i++) {
		const struct zm_night *night = &group->nights[i];

		(void)fprintf(out, "%s[", i ? "," : "");
		zm_emit_time(out, night->wall_ns);
		(void)fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", night->kernel,
			      night->nr_ok, night->nr_failed);
	}
	(void)fputs("],\n\"runs\":[", out);
	for (size_t i = 0; i < group->nr_nights; i++) {
		const struct zm_night *night = &group->nights[i];
		uint32_t nr = night->nr_ok + night->nr_failed;
		char name[32];

		(void)fprintf(out, "%s[", i ? "," : "");
		for (uint32_t k = 0; k < nr && k < MOST_RUNS; k++) {
			zm_part_run_name(name, sizeof(name), &group->runs[night->first_run + k]);
			(void)fprintf(out, "%s\"%s\"", k ? "," : "", name);
		}
		(void)fputc(']', out);
	}
	(void)fputc(']', out);
}

/* Only those it has; their numbers are the store's, so others are null. */
static void put_kernels(FILE *out, const struct zm_making *making, const struct zm_group *group)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (size_t i = 0; i < group->nr_nights; i++) {
		least = group->nights[i].kernel < least ? group->nights[i].kernel : least;
		most = group->nights[i].kernel > most ? group->nights[i].kernel : most;
	}
	(void)fprintf(out, ",\n\"kernel0\":%" PRIu32 ",\"kernels\":[", least);
	for (uint32_t i = least; i <= most && group->nr_nights; i++) {
		if (i > least)
			(void)fputc(',', out);
		zm_emit_text(out, making->names->kernels[i]);
	}
	(void)fputc(']', out);
}

static void put_metrics(FILE *out, const struct zm_making *making, const struct zm_group *group,
			const struct chunks *chunks)
{
	(void)fputs(",\n\"metrics\":[", out);
	for (size_t i = 0; i < group->nr_lines; i++) {
		const struct zm_line *line = &group->lines[i];
		const struct zm_night_metric *metric = &making->names->metrics[line->metric];

		(void)fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		zm_emit_text(out, metric->name);
		(void)fputs(",\"unit\":", out);
		zm_emit_text(out, metric->unit);
		(void)fprintf(
			out, ",\"better\":\"%s\",\"share\":%s,\"primary\":%s,\"file\":%" PRIu32 "}",
			zm_json_better(metric->better), metric->is_share ? "true" : "false",
			line->is_primary ? "true" : "false", chunks->of_line[i]);
	}
	(void)fputc(']', out);
}

static void put_head(FILE *out, const struct zm_making *making, const struct zm_group *group,
		     const char *id)
{
	const struct zm_night_cell *cell = &making->names->cells[group->cell];

	(void)fprintf(out, "zonemark.group({\"id\":\"%s\",\"machine\":", id);
	zm_emit_text(out, making->names->machines[group->machine]);
	(void)fputs(",\"workload\":", out);
	zm_emit_text(out, cell->workload);
	(void)fputs(",\"words\":", out);
	zm_emit_text(out, cell->words);
	(void)fputs(",\"asked\":", out);
	zm_emit_text(out, cell->json);
}

/* --- curves --- */

static int put_curve_of(struct zm_making *making, FILE *out, const struct zm_group *group,
			size_t night, size_t *nr)
{
	const struct zm_night *of = &group->nights[night];

	for (uint32_t k = 0; k < of->nr_ok + of->nr_failed; k++) {
		const struct zm_night_run *run = &group->runs[of->first_run + k];
		bool has_it = false;
		char name[32];
		int error;

		if (run->has_failed)
			continue;
		error = zm_part_run(making, run, &has_it);
		if (error || !has_it)
			return error;
		zm_part_run_name(name, sizeof(name), run);
		(void)fprintf(out, "%s\"%s\"", (*nr)++ ? "," : "", name);
		return 0;
	}
	return 0;
}

/* The last nights, and both sides of each change of a primary figure. */
static void mark_nights(const struct zm_making *making, const struct zm_group *group,
			const struct zm_trend *trends, bool *marks)
{
	size_t wanted = making->options->nr_curves;

	for (size_t i = group->nr_nights; i-- > 0 && group->nr_nights - i <= wanted;)
		marks[i] = true;
	for (size_t i = 0; i < group->nr_lines && wanted; i++) {
		for (size_t k = 0; k < trends[i].changes.nr; k++) {
			size_t first = trends[i].changes.changes[k].first;

			marks[first] = true;
			marks[first - (first > 0)] = true;
		}
	}
}

static int put_curves(struct zm_making *making, FILE *out, const struct zm_group *group,
		      const struct zm_trend *trends)
{
	zm_autofree bool *marks = calloc(group->nr_nights + 1, sizeof(*marks));
	size_t nr = 0;
	int error = marks ? 0 : -ENOMEM;

	if (marks)
		mark_nights(making, group, trends, marks);
	(void)fputs(",\n\"curves\":[", out);
	for (size_t i = 0; i < group->nr_nights && !error; i++) {
		if (marks[i])
			error = put_curve_of(making, out, group, i, &nr);
	}
	(void)fputc(']', out);
	return error;
}

/* Of the primary lines; the others' are empty. */
static int make_trends(struct zm_making *making, const struct zm_group *group,
		       struct zm_trend *trends)
{
	int error = 0;

	for (size_t i = 0; i < group->nr_lines && !error; i++) {
		const struct zm_line *line = &group->lines[i];

		if (line->is_primary)
			error = zm_trend_make(zm_making_judge(making, line->metric), group, line,
					      &trends[i]);
	}
	return error;
}

static int put_group(struct zm_making *making, FILE *out, const char *id,
		     const struct zm_group *group, const struct chunks *chunks)
{
	struct zm_trend *trends = calloc(group->nr_lines + 1, sizeof(*trends));
	int error = trends ? make_trends(making, group, trends) : -ENOMEM;

	put_head(out, making, group, id);
	put_kernels(out, making, group);
	put_nights(out, group);
	put_metrics(out, making, group, chunks);
	if (!error)
		error = put_curves(making, out, group, trends);
	(void)fputs("});\n", out);
	for (size_t i = 0; i < group->nr_lines && !error; i++) {
		if (group->lines[i].is_primary)
			error = put_trend(making, out, id, group, i, &trends[i]);
	}
	for (size_t i = 0; trends && i < group->nr_lines; i++)
		zm_trend_release(&trends[i]);
	free(trends);
	return error;
}

int zm_part_group(struct zm_making *making, const struct zm_group *group)
{
	zm_autofree uint32_t *of_line = calloc(group->nr_lines + 1, sizeof(*of_line));
	struct chunks chunks = { .of_line = of_line };
	char id[ZM_GROUP_ID], name[48];
	FILE *out;
	int error;

	if (!of_line)
		return -ENOMEM;
	(void)zm_group_id(id, making->names, group);
	error = put_others(making, id, group, &chunks);
	if (error)
		return error;
	(void)snprintf(name, sizeof(name), "data/g/%s.js", id);
	error = zm_site_file(making->site, name, &out, making->why);
	if (error)
		return error;
	error = put_group(making, out, id, group, &chunks);
	if (!error)
		return zm_site_close(making->site, name, out, making->why);
	(void)fclose(out);
	return error;
}
