/*
 * profile: each chain is taken once; its names go into three tables that are sorted and merged at the end.
 */
#include "runner/monitors/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/monitors/lockside.h"

#define TRACE_FRAMES 5  /* as the robot prints them */
#define MAX_FRAMES   64 /* of a chain: more than are sampled */

static const char *name_of(const struct zm_ksyms *ksyms, uint64_t address)
{
	const struct zm_ksym *symbol = zm_ksyms_find(ksyms, address);

	return symbol ? symbol->name : "[unknown]";
}

/* --- tables ------------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
	const struct zm_profile_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Rows of one name become one. */
static void merge(struct zm_profile_table *table)
{
	uint32_t nr = 0;

	if (table->nr == 0)
		return;
	qsort(table->rows, table->nr, sizeof(*table->rows), compare_names);
	for (uint32_t i = 0; i < table->nr; i++) {
		if (nr > 0 && strcmp(table->rows[nr - 1].name, table->rows[i].name) == 0)
			table->rows[nr - 1].times += table->rows[i].times;
		else
			table->rows[nr++] = table->rows[i];
	}
	table->nr = nr;
}

/* A full table is merged first: few names stand behind many chains. */
static int make_room(struct zm_profile_table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : 256;
	struct zm_profile_row *rows;

	merge(table);
	if (table->nr < table->capacity / 4 * 3)
		return 0;
	rows = reallocarray(table->rows, capacity, sizeof(*table->rows));
	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	table->capacity = capacity;
	return 0;
}

static int add_row(struct zm_profile_table *table, const char *name, uint64_t times)
{
	int error = table->nr == table->capacity ? make_room(table) : 0;
	struct zm_profile_row *row;

	if (error)
		return error;
	row = &table->rows[table->nr++];
	row->times = times;
	(void)snprintf(row->name, sizeof(row->name), "%s", name);
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct zm_profile_row *x = a, *y = b;

	if (x->times != y->times)
		return x->times < y->times ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void sort(struct zm_profile_table *table)
{
	merge(table);
	if (table->nr > 0)
		qsort(table->rows, table->nr, sizeof(*table->rows), compare_times);
}

/* --- chains ------------------------------------------------------------------------------------ */

/* As many whole names as there is room for. */
static void name_trace(char *name, size_t size, const struct zm_ksyms *ksyms,
		       const uint64_t *frames, uint32_t nr)
{
	size_t used = 0;

	name[0] = '\0';
	for (uint32_t i = 0; i < nr && i < TRACE_FRAMES; i++) {
		int n = snprintf(name + used, size - used, "%s%s", i ? "." : "",
				 name_of(ksyms, frames[i]));

		if (n < 0 || (size_t)n >= size - used) {
			name[used] = '\0';
			return;
		}
		used += (size_t)n;
	}
}

/* Of every function of the chain how it was called; the same way twice (recursion) counts once. */
static int add_traces(struct zm_profile *profile, const struct zm_ksyms *ksyms,
		      const uint64_t *frames, uint32_t nr, uint64_t times)
{
	char names[MAX_FRAMES][sizeof(profile->traces.rows->name)];
	int error = 0;

	for (uint32_t i = 0; !error && i < nr && i < MAX_FRAMES; i++) {
		uint32_t k = 0;

		name_trace(names[i], sizeof(names[i]), ksyms, frames + i, nr - i);
		while (k < i && strcmp(names[k], names[i]) != 0)
			k++;
		if (k == i)
			error = add_row(&profile->traces, names[i], times);
	}
	return error;
}

/* Each function once, however often it stands in the chain. */
static int add_children(struct zm_profile *profile, const struct zm_ksyms *ksyms,
			const uint64_t *frames, uint32_t nr, uint64_t times)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < nr; i++) {
		const char *name = name_of(ksyms, frames[i]);
		uint32_t k = 0;

		while (k < i && strcmp(name_of(ksyms, frames[k]), name) != 0)
			k++;
		if (k == i)
			error = add_row(&profile->children, name, times);
	}
	return error;
}

/* Where the leaf is a lock's slow path, or the unlock that lets interrupts in: for whom? */
static void judge(struct zm_profile *profile, const struct zm_ksyms *ksyms, const uint64_t *frames,
		  uint32_t nr, uint64_t times)
{
	const char *leaf = name_of(ksyms, frames[0]);
	bool is_slowpath = strstr(leaf, "queued_spin_lock_slowpath") != NULL;
	bool is_unlock = strncmp(leaf, "_raw_spin_unlock", 16) == 0;
	enum zm_lockside_side side = ZM_LOCKSIDE_OTHER;
	uint32_t i = is_unlock ? 1 : 0;

	if (!is_slowpath && !is_unlock)
		return;
	while (i < nr && zm_lockside_is_lock(name_of(ksyms, frames[i])))
		i++;
	if (i < nr)
		side = zm_lockside_of(name_of(ksyms, frames[i]));
	if (is_slowpath)
		profile->slowpath += times;
	if (side == ZM_LOCKSIDE_ALLOC)
		*(is_slowpath ? &profile->slowpath_alloc : &profile->section_alloc) += times;
	else if (side == ZM_LOCKSIDE_FREE)
		*(is_slowpath ? &profile->slowpath_free : &profile->section_free) += times;
}

int zm_profile_count(struct zm_profile *profile, const struct zm_chains *chains,
		     const struct zm_ksyms *ksyms, uint64_t total)
{
	int error = 0;

	*profile = (struct zm_profile){ .total = total };
	for (uint32_t i = 0; !error && i < chains->nr; i++) {
		const struct zm_chain *chain = &chains->list[i];
		const uint64_t *frames = zm_chains_frames(chains, chain);

		if (chain->nr == 0)
			continue;
		judge(profile, ksyms, frames, chain->nr, chain->times);
		error = add_row(&profile->self, name_of(ksyms, frames[0]), chain->times);
		if (!error)
			error = add_children(profile, ksyms, frames, chain->nr, chain->times);
		if (!error)
			error = add_traces(profile, ksyms, frames, chain->nr, chain->times);
	}
	sort(&profile->self);
	sort(&profile->children);
	sort(&profile->traces);
	return error;
}

void zm_profile_release(struct zm_profile *profile)
{
	free(profile->self.rows);
	free(profile->children.rows);
	free(profile->traces.rows);
	*profile = (struct zm_profile){ .total = 0 };
}

/* --- figures ----------------------------------------------------------------------------------- */

static int report_table(const struct zm_profile *profile, const struct zm_profile_table *table,
			const char *prefix, double min_percent, uint32_t max, uint64_t width_ns,
			struct zm_report *report)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < table->nr && i < max; i++) {
		const struct zm_profile_row *row = &table->rows[i];
		double percent = 100 * (double)row->times / (double)profile->total;
		char name[sizeof(row->name) + 80];
		const struct zm_metric metric = { .name = name, .unit = "%" };

		if (percent < min_percent)
			break;
		(void)snprintf(name, sizeof(name), "%s.%s", prefix, row->name);
		error = zm_report_add(report, &metric, percent, (double)row->times, width_ns);
	}
	return error;
}

int zm_profile_report(const struct zm_profile *profile, const char *event, double min_percent,
		      uint32_t max, uint64_t width_ns, struct zm_report *report)
{
	const struct {
		const char *kind;
		const struct zm_profile_table *table;
	} kinds[] = {
		{ "calltrace", &profile->traces },
		{ "children", &profile->children },
		{ "self", &profile->self },
	};
	char prefix[80];
	int error = 0;

	for (size_t i = 0; !error && profile->total > 0 && i < 3; i++) {
		(void)snprintf(prefix, sizeof(prefix), "perf-profile.%s.%s", kinds[i].kind, event);
		error = report_table(profile, kinds[i].table, prefix, min_percent, max, width_ns,
				     report);
	}
	return error;
}
