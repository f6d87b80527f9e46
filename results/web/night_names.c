/*
 * night_names: machines, cells, metrics, boots, invocations: small tables, read once, each by its number in the
 * store; and the addresses made of their names.
 */
#include "results/web/nights.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/changes.h"
#include "results/db.h"
#include "results/words.h"

/* A table's numbers begin with 1; so many fit. */
static int count_of(struct zm_store *store, const char *sql, size_t *ret_nr, struct zm_why *why)
{
	int64_t last = 0;
	int error = zm_db_int(zm_store_db(store), why, sql, ZM_BIND_NONE, &last);

	if (!error && (last < 0 || last >= UINT32_MAX))
		error = zm_why_set(why, -EOVERFLOW, "%s: more rows than a site can hold",
				   zm_store_path(store));
	if (!error)
		*ret_nr = (size_t)last + 1;
	return error;
}

struct naming {
	struct zm_night_names *names;
	const char *label;
};

static int each_row(struct zm_store *store, const char *sql,
		    void (*take)(const struct naming *naming, const struct zm_rows *rows,
				 size_t number),
		    size_t nr, const struct naming *naming, struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(zm_store_db(store), why, &rows, sql, ZM_BIND_NONE);

	while (!error && zm_rows_next(&rows, why, &error)) {
		int64_t number = zm_rows_int(&rows, 0);

		if (number > 0 && (size_t)number < nr)
			take(naming, &rows, (size_t)number);
	}
	zm_rows_end(&rows);
	return error;
}

static const char *text_of(const struct naming *naming, const struct zm_rows *rows, int column)
{
	const char *text = zm_rows_text(rows, column);

	return zm_pool_text(&naming->names->pool, text ? text : "");
}

static void take_machine(const struct naming *naming, const struct zm_rows *rows, size_t number)
{
	naming->names->machines[number] = text_of(naming, rows, 1);
}

static void take_cell(const struct naming *naming, const struct zm_rows *rows, size_t number)
{
	naming->names->cells[number] = (struct zm_night_cell){
		.workload = text_of(naming, rows, 1),
		.json = text_of(naming, rows, 2),
		.words = "",
	};
}

static void take_metric(const struct naming *naming, const struct zm_rows *rows, size_t number)
{
	const char *unit = zm_rows_text(rows, 2);

	naming->names->metrics[number] = (struct zm_night_metric){
		.name = text_of(naming, rows, 1),
		.unit = text_of(naming, rows, 2),
		.better = (enum zm_better)zm_rows_int(rows, 3),
		.is_share = unit && strcmp(unit, "%") == 0,
	};
}

/* There are few kernels, and a boot has mostly the one of the boot before. */
static uint32_t kernel_number(struct zm_night_names *names, const char *kernel)
{
	for (size_t i = names->nr_kernels; i-- > 0;) {
		if (!strcmp(names->kernels[i], kernel))
			return (uint32_t)i;
	}
	if (zm_array_grow((void **)&names->kernels, &names->kernels_capacity, names->nr_kernels,
			  sizeof(*names->kernels))) {
		names->pool.error = -ENOMEM;
		return 0;
	}
	names->kernels[names->nr_kernels] = zm_pool_text(&names->pool, kernel);
	if (!names->kernels[names->nr_kernels])
		return 0;
	return (uint32_t)names->nr_kernels++;
}

static void take_boot(const struct naming *naming, const struct zm_rows *rows, size_t number)
{
	const char *kernel = zm_rows_text(rows, 2);

	naming->names->boot_machines[number] = (uint32_t)zm_rows_int(rows, 1);
	naming->names->boot_kernels[number] = kernel_number(naming->names, kernel ? kernel : "");
}

/* The label of the nights, of a confirmation's label too. */
static bool has_label(const char *pattern, const char *label, bool confirms)
{
	char stem[512], ending[512];
	size_t length;

	if (!pattern || !label)
		return !pattern;
	(void)snprintf(stem, sizeof(stem), "%s", label);
	length = strlen(zm_change_confirmation(ending, sizeof(ending), ""));
	if (confirms && strlen(stem) >= length)
		stem[strlen(stem) - length] = '\0';
	return fnmatch(pattern, stem, 0) == 0;
}

static void take_invocation(const struct naming *naming, const struct zm_rows *rows, size_t number)
{
	const char *label = zm_rows_text(rows, 1);
	bool confirms = zm_change_is_confirmation(label);

	if (has_label(naming->label, label, confirms))
		naming->names->invocations[number] =
			confirms ? ZM_NIGHT_PART_CONFIRMATION : ZM_NIGHT_PART_NIGHT;
}

static int make_room(struct zm_store *store, struct zm_night_names *names, struct zm_why *why)
{
	int error = count_of(store, "SELECT coalesce(max(id), 0) FROM machine", &names->nr_machines,
			     why);

	if (!error)
		error = count_of(store, "SELECT coalesce(max(id), 0) FROM cell", &names->nr_cells,
				 why);
	if (!error)
		error = count_of(store, "SELECT coalesce(max(id), 0) FROM metric",
				 &names->nr_metrics, why);
	if (!error)
		error = count_of(store, "SELECT coalesce(max(id), 0) FROM boot", &names->nr_boots,
				 why);
	if (!error)
		error = count_of(store, "SELECT coalesce(max(id), 0) FROM invocation",
				 &names->nr_invocations, why);
	if (error)
		return error;
	names->machines = calloc(names->nr_machines, sizeof(*names->machines));
	names->cells = calloc(names->nr_cells, sizeof(*names->cells));
	names->metrics = calloc(names->nr_metrics, sizeof(*names->metrics));
	names->boot_machines = calloc(names->nr_boots, sizeof(*names->boot_machines));
	names->boot_kernels = calloc(names->nr_boots, sizeof(*names->boot_kernels));
	names->invocations = calloc(names->nr_invocations, sizeof(*names->invocations));
	return names->machines && names->cells && names->metrics && names->boot_machines &&
			       names->boot_kernels && names->invocations
		       ? 0
		       : -ENOMEM;
}

static int add_words(struct zm_night_names *names)
{
	struct zm_words *sets = calloc(names->nr_cells, sizeof(*sets));
	size_t nr = 0;
	int error;

	if (!sets)
		return -ENOMEM;
	for (size_t i = 0; i < names->nr_cells; i++) {
		if (names->cells[i].json)
			sets[nr++] = (struct zm_words){ .group = names->cells[i].workload,
							.json = names->cells[i].json };
	}
	error = zm_words_differing(sets, nr, &names->pool);
	nr = 0;
	for (size_t i = 0; i < names->nr_cells && !error; i++) {
		if (names->cells[i].json)
			names->cells[i].words = sets[nr++].words;
	}
	free(sets);
	return error;
}

int zm_night_names_read(struct zm_store *store, const char *label, struct zm_night_names *ret_names,
			struct zm_why *why)
{
	struct zm_night_names names = { 0 };
	const struct naming naming = { &names, label };
	int error = make_room(store, &names, why);

	if (!error)
		error = each_row(store, "SELECT id, key FROM machine", take_machine,
				 names.nr_machines, &naming, why);
	if (!error)
		error = each_row(store,
				 "SELECT cell.id, workload.name, cell.json FROM cell"
				 " JOIN workload ON workload.id = cell.workload",
				 take_cell, names.nr_cells, &naming, why);
	if (!error)
		error = each_row(store, "SELECT id, name, unit, better FROM metric", take_metric,
				 names.nr_metrics, &naming, why);
	if (!error)
		error = each_row(store, "SELECT id, machine, kernel FROM boot", take_boot,
				 names.nr_boots, &naming, why);
	if (!error)
		error = each_row(store, "SELECT id, label FROM invocation", take_invocation,
				 names.nr_invocations, &naming, why);
	if (!error)
		error = names.pool.error;
	if (!error)
		error = add_words(&names);
	if (error)
		zm_night_names_release(&names);
	else
		*ret_names = names;
	return error;
}

void zm_night_names_release(struct zm_night_names *names)
{
	free(names->machines);
	free(names->cells);
	free(names->metrics);
	free(names->boot_machines);
	free(names->boot_kernels);
	free(names->invocations);
	free(names->kernels);
	zm_pool_release(&names->pool);
	*names = (struct zm_night_names){ 0 };
}

/* --- addresses --- */

static uint64_t mix(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return hash;
}

#define MIX_START UINT64_C(0xcbf29ce484222325)

char *zm_group_id(char ret_id[ZM_GROUP_ID], const struct zm_night_names *names,
		  const struct zm_group *group)
{
	const struct zm_night_cell *cell = &names->cells[group->cell];
	uint64_t hash = mix(MIX_START, names->machines[group->machine]);

	hash = mix(mix(hash, cell->workload), cell->json);
	(void)snprintf(ret_id, ZM_GROUP_ID, "%016llx", (unsigned long long)hash);
	return ret_id;
}

char *zm_row_id(char ret_id[ZM_GROUP_ID], const struct zm_night_names *names, uint32_t cell,
		uint32_t metric)
{
	uint64_t hash = mix(MIX_START, names->metrics[metric].name);

	hash = mix(mix(hash, names->cells[cell].workload), names->cells[cell].json);
	(void)snprintf(ret_id, ZM_GROUP_ID, "%016llx", (unsigned long long)hash);
	return ret_id;
}
