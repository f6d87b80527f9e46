/*
 * part_matrix: all primary figures of all machines, data/matrix.js.
 *
 *     rows    a figure of a cell, in the order of the workloads' names
 *     cells   [row, machine, group, kind, verdict, change, low, high, seen from, p, nights, last night,
 *              base, new, since, state, outlier, failed]
 */
#include "results/web/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/json.h"
#include "results/web/emit.h"
#include "workloads/base/cleanup.h"

struct row {
	uint32_t cell, metric;
};

struct rows {
	const struct zm_night_names *names;
	struct row *list;
	size_t nr;
};

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct zm_night_names *names = context;
	const struct row *x = a, *y = b;
	int order = strcmp(names->cells[x->cell].workload, names->cells[y->cell].workload);

	if (order == 0)
		order = strverscmp(names->cells[x->cell].words, names->cells[y->cell].words);
	if (order == 0)
		order = (x->cell > y->cell) - (x->cell < y->cell);
	return order ? order : (x->metric > y->metric) - (x->metric < y->metric);
}

static struct row row_of(const struct zm_nights *nights, const struct zm_entry *entry)
{
	const struct zm_group *group = &nights->groups[entry->group];

	return (struct row){ group->cell, group->lines[entry->line].metric };
}

static int make_rows(const struct zm_night_names *names, const struct zm_nights *nights,
		     const struct zm_entry *entries, size_t nr, struct rows *ret_rows)
{
	struct rows rows = { .names = names, .list = calloc(nr + 1, sizeof(*rows.list)) };
	size_t kept = 0;

	if (!rows.list)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		rows.list[i] = row_of(nights, &entries[i]);
	qsort_r(rows.list, nr, sizeof(*rows.list), compare_rows, (void *)(uintptr_t)names);
	for (size_t i = 0; i < nr; i++) {
		if (!kept || memcmp(&rows.list[kept - 1], &rows.list[i], sizeof(struct row)) != 0)
			rows.list[kept++] = rows.list[i];
	}
	rows.nr = kept;
	*ret_rows = rows;
	return 0;
}

static size_t find_row(const struct rows *rows, struct row row)
{
	size_t low = 0, high = rows->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_rows(&rows->list[middle], &row, (void *)(uintptr_t)rows->names) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put_rows(FILE *out, const struct zm_making *making, const struct rows *rows)
{
	(void)fputs(",\n\"rows\":[", out);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct zm_night_cell *cell = &making->names->cells[rows->list[i].cell];
		const struct zm_night_metric *metric =
			&making->names->metrics[rows->list[i].metric];
		char id[ZM_GROUP_ID];

		(void)fprintf(
			out, "%s\n{\"id\":\"%s\",\"workload\":", i ? "," : "",
			zm_row_id(id, making->names, rows->list[i].cell, rows->list[i].metric));
		zm_emit_text(out, cell->workload);
		(void)fputs(",\"words\":", out);
		zm_emit_text(out, cell->words);
		(void)fputs(",\"asked\":", out);
		zm_emit_text(out, cell->json);
		(void)fputs(",\"metric\":", out);
		zm_emit_text(out, metric->name);
		(void)fputs(",\"unit\":", out);
		zm_emit_text(out, metric->unit);
		(void)fprintf(out, ",\"better\":\"%s\",\"share\":%s}",
			      zm_json_better(metric->better), metric->is_share ? "true" : "false");
	}
	(void)fputc(']', out);
}

/* Only machines that have a group; gives each its number in the file. */
static int put_machines(FILE *out, struct zm_making *making, const struct zm_nights *nights,
			uint32_t **ret_numbers)
{
	uint32_t *numbers = calloc(making->names->nr_machines + 1, sizeof(*numbers)), nr = 0;
	char about[192];
	int error = numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < nights->nr && !error; i++)
		numbers[nights->groups[i].machine] = 1;
	(void)fputs(",\n\"machines\":[", out);
	for (uint32_t i = 0; i < making->names->nr_machines && !error; i++) {
		if (!numbers[i])
			continue;
		numbers[i] = nr;
		error = zm_part_machine(making, nights, i, about, sizeof(about));
		(void)fputs(nr++ ? ",\n[" : "\n[", out);
		zm_emit_text(out, making->names->machines[i]);
		(void)fputc(',', out);
		zm_emit_text(out, about);
		(void)fputc(']', out);
	}
	(void)fputc(']', out);
	*ret_numbers = numbers;
	return error;
}

static void put_short(FILE *out, double value, int digits)
{
	(void)fputc(',', out);
	if (isfinite(value))
		(void)fprintf(out, "%.*g", digits, value);
	else
		(void)fputs("null", out);
}

/* Shown with few digits; the pages of the figures have them all. */
static void put_cell(FILE *out, const struct zm_making *making, const struct zm_group *group,
		     const struct zm_entry *entry)
{
	const struct zm_standing *standing = &entry->standing;
	const struct zm_judgement *judgement = &standing->judgement;
	bool is_changed = standing->kind == ZM_STANDING_CHANGED, is_few = !standing->kind;
	const struct zm_night *last = &group->nights[group->nr_nights - 1];
	char id[ZM_GROUP_ID];

	(void)fprintf(out, "\"%s\",%d,%d", zm_group_id(id, making->names, group),
		      (int)standing->kind, (int)standing->verdict);
	put_short(out, judgement->change, 4);
	put_short(out, is_few ? NAN : judgement->low, 4);
	put_short(out, is_few ? NAN : judgement->high, 4);
	put_short(out, is_few ? NAN : judgement->detectable, 3);
	put_short(out, is_few ? NAN : judgement->p, 2);
	(void)fprintf(out, ",%zu,%" PRIu64, standing->nr_nights, last->wall_ns / 1000000000);
	put_short(out, is_few ? NAN : judgement->base, 6);
	put_short(out, is_few ? standing->last : judgement->new, 6);
	if (is_changed)
		(void)fprintf(out, ",%" PRIu64 ",%d",
			      group->nights[entry->changes[entry->nr_changes - 1].first].wall_ns /
				      1000000000,
			      (int)entry->changes[entry->nr_changes - 1].state);
	else
		(void)fputs(",null,null", out);
	(void)fprintf(out, ",%d,%" PRIu32, standing->is_outlier, last->nr_failed);
}

static int put_matrix(struct zm_making *making, FILE *out, const struct zm_nights *nights,
		      const struct zm_entry *entries, size_t nr)
{
	zm_autofree uint32_t *machines = NULL;
	struct rows rows;
	int error = make_rows(making->names, nights, entries, nr, &rows);

	if (error)
		return error;
	(void)fputs("zonemark.matrix({\"format\":1,\"made\":", out);
	zm_emit_time(out, making->now_ns);
	(void)fprintf(out, ",\"recent\":%zu,\"least\":", making->options->recent);
	zm_emit_number(out, making->options->margin);
	(void)fputs(",\"confidence\":", out);
	zm_emit_number(out, 1 - making->options->alpha);
	put_rows(out, making, &rows);
	error = put_machines(out, making, nights, &machines);
	(void)fputs(",\n\"cells\":[", out);
	for (size_t i = 0; i < nr && !error; i++) {
		const struct zm_group *group = &nights->groups[entries[i].group];

		(void)fprintf(out, "%s\n[%zu,%" PRIu32 ",", i ? "," : "",
			      find_row(&rows, row_of(nights, &entries[i])),
			      machines[group->machine]);
		put_cell(out, making, group, &entries[i]);
		(void)fputc(']', out);
	}
	(void)fputs("]});\n", out);
	free(rows.list);
	return error;
}

int zm_part_matrix(struct zm_making *making, const struct zm_nights *nights,
		   const struct zm_entry *entries, size_t nr)
{
	static const char name[] = "data/matrix.js";
	FILE *out;
	int error = zm_site_file(making->site, name, &out, making->why);

	if (error)
		return error;
	error = put_matrix(making, out, nights, entries, nr);
	if (!error)
		return zm_site_close(making->site, name, out, making->why);
	(void)fclose(out);
	return error;
}
