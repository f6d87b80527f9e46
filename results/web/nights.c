/*
 * nights: a store's history, one value a night.
 *
 *     runs      in the order of their numbers, each into its group
 *     figures   each to its run, which is found by its number; runs come one after the other, so seldom looked for
 *     nights    of each group: its runs in order of time, cut at noon and by kernel
 */
#include "results/web/nights.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/db.h"
#include "results/stat.h"
#include "workloads/base/clock.h"

/* --- groups --- */

static size_t slot_of(const struct zm_nights *nights, uint32_t machine, uint32_t cell)
{
	uint64_t hash = ((uint64_t)machine << 32 | cell) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 20) & (nights->nr_slots - 1);
}

static void put_slot(struct zm_nights *nights, size_t group)
{
	size_t at = slot_of(nights, nights->groups[group].machine, nights->groups[group].cell);

	while (nights->slots[at])
		at = (at + 1) & (nights->nr_slots - 1);
	nights->slots[at] = (uint32_t)group + 1;
}

static int grow_slots(struct zm_nights *nights)
{
	size_t wanted = nights->nr_slots ? nights->nr_slots * 2 : 64;
	uint32_t *slots;

	if ((nights->nr + 1) * 2 <= nights->nr_slots)
		return 0;
	slots = calloc(wanted, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(nights->slots);
	nights->slots = slots;
	nights->nr_slots = wanted;
	for (size_t i = 0; i < nights->nr; i++)
		put_slot(nights, i);
	return 0;
}

static int find_group(struct zm_nights *nights, uint32_t machine, uint32_t cell, size_t *ret_group)
{
	int error = grow_slots(nights);
	size_t at;

	if (error)
		return error;
	for (at = slot_of(nights, machine, cell); nights->slots[at];
	     at = (at + 1) & (nights->nr_slots - 1)) {
		*ret_group = nights->slots[at] - 1;
		if (nights->groups[*ret_group].machine == machine &&
		    nights->groups[*ret_group].cell == cell)
			return 0;
	}
	error = zm_array_grow((void **)&nights->groups, &nights->capacity, nights->nr,
			      sizeof(*nights->groups));
	if (error)
		return error;
	*ret_group = nights->nr;
	nights->groups[nights->nr] = (struct zm_group){ .machine = machine, .cell = cell };
	put_slot(nights, nights->nr++);
	return 0;
}

/* --- runs --- */

/* Where a run is kept. */
struct place {
	int64_t id;
	uint32_t group, run;
};

struct reading {
	const struct zm_night_names *names;
	struct zm_nights *nights;
	struct place *places; /* by id */
	size_t nr, capacity;
};

static uint64_t name_of(const char *uuid)
{
	uint64_t name = 0;
	unsigned int nr = 0;

	for (; uuid && *uuid && nr < 16; uuid++) {
		const char *digits = "0123456789abcdef", *digit = strchr(digits, *uuid);

		if (!digit)
			continue;
		name = name << 4 | (uint64_t)(digit - digits);
		nr++;
	}
	return name;
}

/* Is it one of those asked for, and whole? */
static bool is_wanted(const struct zm_night_names *names, const struct zm_rows *rows)
{
	int64_t cell = zm_rows_int(rows, 2), boot = zm_rows_int(rows, 3),
		invocation = zm_rows_int(rows, 6);

	return cell > 0 && (size_t)cell < names->nr_cells && names->cells[cell].json && boot > 0 &&
	       (size_t)boot < names->nr_boots && names->boot_machines[boot] &&
	       names->boot_machines[boot] < names->nr_machines && invocation > 0 &&
	       (size_t)invocation < names->nr_invocations &&
	       names->invocations[invocation] != ZM_NIGHT_PART_NONE;
}

static int take_run(struct reading *reading, const struct zm_rows *rows)
{
	uint32_t cell = (uint32_t)zm_rows_int(rows, 2), boot = (uint32_t)zm_rows_int(rows, 3),
		 invocation = (uint32_t)zm_rows_int(rows, 6);
	struct zm_group *group;
	size_t number = 0;
	int error = find_group(reading->nights, reading->names->boot_machines[boot], cell, &number);

	if (error)
		return error;
	group = &reading->nights->groups[number];
	error = zm_array_grow((void **)&group->runs, &group->runs_capacity, group->nr_runs,
			      sizeof(*group->runs));
	if (!error)
		error = zm_array_grow((void **)&reading->places, &reading->capacity, reading->nr,
				      sizeof(*reading->places));
	if (error)
		return error;
	reading->places[reading->nr++] = (struct place){
		.id = zm_rows_int(rows, 0),
		.group = (uint32_t)number,
		.run = (uint32_t)group->nr_runs,
	};
	group->runs[group->nr_runs++] = (struct zm_night_run){
		.id = zm_rows_int(rows, 0),
		.name = name_of(zm_rows_text(rows, 1)),
		.wall_ns = (uint64_t)zm_rows_int(rows, 4),
		.boot = boot,
		.kernel = reading->names->boot_kernels[boot],
		.invocation = invocation,
		.night = reading->names->invocations[invocation] == ZM_NIGHT_PART_CONFIRMATION
				 ? ZM_NIGHT_NONE
				 : 0,
		.has_failed = zm_rows_int(rows, 5) == ZM_STATUS_FAILED,
	};
	return 0;
}

#define RUN_COLUMNS                                                                                \
	"SELECT run.id, run.uuid, run.cell, run.boot, run.wall_ns, run.status, run.invocation"     \
	" FROM run "

static int read_runs(struct reading *reading, struct zm_store *store, uint32_t machine,
		     uint64_t since_ns, struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error;

	if (machine)
		error = zm_db_walk(zm_store_db(store), why, &rows,
				   RUN_COLUMNS
				   "JOIN boot ON boot.id = run.boot WHERE boot.machine = ?1"
				   " AND run.status IN (?2, ?3) AND run.wall_ns >= ?4"
				   " ORDER BY run.id",
				   ZM_BIND(zm_int(machine), zm_int(ZM_STATUS_OK),
					   zm_int(ZM_STATUS_FAILED), zm_int((int64_t)since_ns)));
	else
		error = zm_db_walk(zm_store_db(store), why, &rows,
				   RUN_COLUMNS "WHERE run.status IN (?1, ?2) AND run.wall_ns >= ?3"
					       " ORDER BY run.id",
				   ZM_BIND(zm_int(ZM_STATUS_OK), zm_int(ZM_STATUS_FAILED),
					   zm_int((int64_t)since_ns)));
	while (!error && zm_rows_next(&rows, why, &error)) {
		if (is_wanted(reading->names, &rows))
			error = take_run(reading, &rows);
	}
	zm_rows_end(&rows);
	return error;
}

/* --- figures --- */

/* A run's figures come in the same order as those of the run before. */
static int find_line(struct zm_group *group, uint32_t metric, bool is_primary,
		     struct zm_line **ret_line)
{
	int error;

	for (size_t i = 0; i < group->nr_lines; i++) {
		size_t at = (group->last_line + 1 + i) % group->nr_lines;

		if (group->lines[at].metric == metric) {
			group->last_line = at;
			*ret_line = &group->lines[at];
			return 0;
		}
	}
	error = zm_array_grow((void **)&group->lines, &group->lines_capacity, group->nr_lines,
			      sizeof(*group->lines));
	if (error)
		return error;
	group->last_line = group->nr_lines;
	*ret_line = &group->lines[group->nr_lines++];
	**ret_line = (struct zm_line){ .metric = metric, .is_primary = is_primary };
	return 0;
}

static const struct place *find_place(const struct reading *reading, int64_t id, size_t *hint)
{
	size_t low = 0, high = reading->nr;

	if (*hint < reading->nr && reading->places[*hint].id == id)
		return &reading->places[*hint];
	if (*hint + 1 < reading->nr && reading->places[*hint + 1].id == id)
		return &reading->places[++*hint];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (reading->places[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low >= reading->nr || reading->places[low].id != id)
		return NULL;
	*hint = low;
	return &reading->places[low];
}

static int take_figure(struct reading *reading, const struct zm_rows *rows, size_t *hint)
{
	const struct place *place = find_place(reading, zm_rows_int(rows, 0), hint);
	int64_t metric = zm_rows_int(rows, 1);
	struct zm_group *group;
	struct zm_line *line;
	int error;

	if (!place || metric <= 0 || (size_t)metric >= reading->names->nr_metrics ||
	    !reading->names->metrics[metric].name)
		return 0;
	group = &reading->nights->groups[place->group];
	if (group->runs[place->run].has_failed)
		return 0;
	error = find_line(group, (uint32_t)metric, zm_rows_int(rows, 2) != 0, &line);
	if (!error)
		error = zm_array_grow((void **)&line->values, &line->capacity, line->nr,
				      sizeof(*line->values));
	if (!error)
		line->values[line->nr++] =
			(struct zm_line_value){ place->run, zm_rows_real(rows, 3) };
	return error;
}

static int read_figures(struct reading *reading, struct zm_store *store, uint32_t machine,
			struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	size_t hint = SIZE_MAX - 1;
	int error;

	if (machine)
		error = zm_db_walk(
			zm_store_db(store), why, &rows,
			"SELECT result.run, result.metric, result.is_primary, result.value"
			" FROM boot JOIN run ON run.boot = boot.id"
			" JOIN result ON result.run = run.id WHERE boot.machine = ?1",
			ZM_BIND(zm_int(machine)));
	else
		error = zm_db_walk(zm_store_db(store), why, &rows,
				   "SELECT run, metric, 1, value FROM result"
				   " WHERE is_primary = 1",
				   ZM_BIND_NONE);
	while (!error && zm_rows_next(&rows, why, &error))
		error = take_figure(reading, &rows, &hint);
	zm_rows_end(&rows);
	return error;
}

/* --- nights --- */

#define NOON_S (12 * 3600)
#define DAY_S  (24 * 3600)

static int64_t day_of(uint64_t wall_ns)
{
	int64_t seconds = (int64_t)(wall_ns / ZM_NS_PER_S) - NOON_S;

	return seconds >= 0 ? seconds / DAY_S : -1;
}

/* One run's old number beside it, so that the figures find it again. */
struct moved {
	struct zm_night_run run;
	uint32_t was;
};

static int by_time(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	if (x->run.wall_ns != y->run.wall_ns)
		return x->run.wall_ns > y->run.wall_ns ? 1 : -1;
	return (x->run.id > y->run.id) - (x->run.id < y->run.id);
}

static int by_night(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	if (x->run.night != y->run.night)
		return x->run.night > y->run.night ? 1 : -1;
	return by_time(a, b);
}

static int find_night(struct zm_group *group, const struct zm_night_run *run, uint32_t *ret_night)
{
	int64_t day = day_of(run->wall_ns);
	int error;

	for (size_t i = group->nr_nights; i-- > 0 && group->nights[i].day == day;) {
		if (group->nights[i].kernel == run->kernel) {
			*ret_night = (uint32_t)i;
			return 0;
		}
	}
	error = zm_array_grow((void **)&group->nights, &group->nights_capacity, group->nr_nights,
			      sizeof(*group->nights));
	if (error)
		return error;
	group->nights[group->nr_nights] =
		(struct zm_night){ .wall_ns = run->wall_ns, .day = day, .kernel = run->kernel };
	*ret_night = (uint32_t)group->nr_nights++;
	return 0;
}

static void put_back(struct zm_group *group, const struct moved *moved, uint32_t *now)
{
	for (size_t i = 0; i < group->nr_runs; i++) {
		struct zm_night *night;

		group->runs[i] = moved[i].run;
		now[moved[i].was] = (uint32_t)i;
		if (moved[i].run.night == ZM_NIGHT_NONE)
			continue;
		night = &group->nights[moved[i].run.night];
		if (night->nr_ok + night->nr_failed == 0)
			night->first_run = (uint32_t)i;
		night->nr_ok += !moved[i].run.has_failed;
		night->nr_failed += moved[i].run.has_failed;
	}
	for (size_t i = 0; i < group->nr_lines; i++) {
		for (size_t k = 0; k < group->lines[i].nr; k++)
			group->lines[i].values[k].run = now[group->lines[i].values[k].run];
	}
}

static int cut_nights(struct zm_group *group)
{
	struct moved *moved = calloc(group->nr_runs + 1, sizeof(*moved));
	uint32_t *now = calloc(group->nr_runs + 1, sizeof(*now));
	int error = moved && now ? 0 : -ENOMEM;

	for (size_t i = 0; i < group->nr_runs && !error; i++)
		moved[i] = (struct moved){ group->runs[i], (uint32_t)i };
	if (!error)
		qsort(moved, group->nr_runs, sizeof(*moved), by_time);
	for (size_t i = 0; i < group->nr_runs && !error; i++) {
		if (moved[i].run.night != ZM_NIGHT_NONE)
			error = find_night(group, &moved[i].run, &moved[i].run.night);
	}
	if (!error) {
		qsort(moved, group->nr_runs, sizeof(*moved), by_night);
		put_back(group, moved, now);
	}
	free(moved);
	free(now);
	return error;
}

int zm_nights_read(struct zm_store *store, const struct zm_night_names *names, uint32_t machine,
		   uint64_t since_ns, struct zm_nights *ret_nights, struct zm_why *why)
{
	struct zm_nights nights = { 0 };
	struct reading reading = { .names = names, .nights = &nights };
	int error = read_runs(&reading, store, machine, since_ns, why);

	if (!error)
		error = read_figures(&reading, store, machine, why);
	free(reading.places);
	for (size_t i = 0; i < nights.nr && !error; i++)
		error = cut_nights(&nights.groups[i]);
	if (error)
		zm_nights_release(&nights);
	else
		*ret_nights = nights;
	return error;
}

static void release_group(struct zm_group *group)
{
	for (size_t i = 0; i < group->nr_lines; i++)
		free(group->lines[i].values);
	free(group->lines);
	free(group->nights);
	free(group->runs);
}

void zm_nights_release(struct zm_nights *nights)
{
	for (size_t i = 0; i < nights->nr; i++)
		release_group(&nights->groups[i]);
	free(nights->groups);
	free(nights->slots);
	*nights = (struct zm_nights){ 0 };
}

/* --- values --- */

static int by_run(const void *a, const void *b)
{
	const struct zm_line_value *x = a, *y = b;

	return (x->run > y->run) - (x->run < y->run);
}

struct boot_mean {
	uint32_t boot;
	double sum, nr;
};

/* Of one night: the median of its boots' means. scratch has room for as many as there are values. */
static double middle_of(const struct zm_group *group, const struct zm_line_value *values, size_t nr,
			struct boot_mean *scratch, double *means)
{
	size_t nr_boots = 0, k;

	if (nr == 1)
		return values[0].value;
	for (size_t i = 0; i < nr; i++) {
		uint32_t boot = group->runs[values[i].run].boot;

		for (k = 0; k < nr_boots && scratch[k].boot != boot; k++)
			;
		if (k == nr_boots)
			scratch[nr_boots++] = (struct boot_mean){ .boot = boot };
		scratch[k].sum += values[i].value;
		scratch[k].nr++;
	}
	for (size_t i = 0; i < nr_boots; i++)
		means[i] = scratch[i].sum / scratch[i].nr;
	return zm_stat_median(means, nr_boots);
}

static void one_night(const struct zm_group *group, const struct zm_line_value *values, size_t nr,
		      struct boot_mean *scratch, double *means, struct zm_night_value *ret_value)
{
	*ret_value = (struct zm_night_value){
		.value = middle_of(group, values, nr, scratch, means),
		.low = values[0].value,
		.high = values[0].value,
		.nr_runs = (uint32_t)nr,
	};
	for (size_t i = 1; i < nr; i++) {
		ret_value->low = fmin(ret_value->low, values[i].value);
		ret_value->high = fmax(ret_value->high, values[i].value);
	}
}

int zm_line_nights(const struct zm_group *group, const struct zm_line *line,
		   struct zm_night_value *ret_values)
{
	struct zm_line_value *values = malloc((line->nr + 1) * sizeof(*values));
	struct boot_mean *scratch = calloc(line->nr + 1, sizeof(*scratch));
	double *means = calloc(line->nr + 1, sizeof(*means));
	int error = values && scratch && means ? 0 : -ENOMEM;

	for (size_t i = 0; i < group->nr_nights; i++)
		ret_values[i] = (struct zm_night_value){ .value = NAN, .low = NAN, .high = NAN };
	if (!error && line->nr) {
		memcpy(values, line->values, line->nr * sizeof(*values));
		qsort(values, line->nr, sizeof(*values), by_run);
	}
	for (size_t from = 0, to; from < line->nr && !error; from = to) {
		uint32_t night = group->runs[values[from].run].night;

		for (to = from; to < line->nr && group->runs[values[to].run].night == night; to++)
			;
		if (night != ZM_NIGHT_NONE)
			one_night(group, values + from, to - from, scratch, means,
				  &ret_values[night]);
	}
	free(values);
	free(scratch);
	free(means);
	return error;
}

size_t zm_line_confirming(const struct zm_group *group, const struct zm_line *line, uint32_t after,
			  uint32_t before, double *ret_values)
{
	size_t nr = 0;

	for (size_t i = 0; i < line->nr; i++) {
		const struct zm_night_run *run = &group->runs[line->values[i].run];

		if (run->night == ZM_NIGHT_NONE && run->invocation > after &&
		    run->invocation < before)
			ret_values[nr++] = line->values[i].value;
	}
	return nr;
}
