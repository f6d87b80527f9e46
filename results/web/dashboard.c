/*
 * dashboard: a store's whole history as a static site.
 *
 *     names -> primary figures of all machines -> trends -> standings -> landing page, matrix
 *     machine by machine -> all of its figures -> their files -> curves of its newest runs
 *     the new site takes the old one's place
 *
 * Only the primary figures of all machines are in memory at once (48 bytes a run, 16 a figure); of the others,
 * one machine's.
 */
#include "results/web/dashboard.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "results/array.h"
#include "results/query.h"
#include "results/web/parts.h"
#include "workloads/base/clock.h"

struct zm_judge *zm_making_judge(struct zm_making *making, uint32_t metric)
{
	making->judge.is_share = making->names->metrics[metric].is_share;
	return &making->judge;
}

/* --- entries --- */

struct entries {
	struct zm_entry *list;
	size_t nr, capacity;
};

static void release_entries(struct entries *entries)
{
	for (size_t i = 0; i < entries->nr; i++)
		free(entries->list[i].changes);
	free(entries->list);
}

static uint32_t night_before(const struct zm_trend *trend, size_t first)
{
	size_t at = first;

	while (at > 0 && isnan(trend->values[at - 1].value))
		at--;
	return (uint32_t)(at > 0 ? at - 1 : first);
}

static int add_briefs(struct zm_making *making, const struct zm_trend *trend, uint32_t metric,
		      struct zm_entry *entry)
{
	entry->changes = calloc(trend->changes.nr + 1, sizeof(*entry->changes));
	if (!entry->changes)
		return -ENOMEM;
	for (size_t i = 0; i < trend->changes.nr; i++) {
		const struct zm_change *change = &trend->changes.changes[i];
		struct zm_change_brief *brief = &entry->changes[entry->nr_changes];
		int error;

		if (!zm_trend_is_recent(trend, i, making->options->recent))
			continue;
		*brief = (struct zm_change_brief){ .first = (uint32_t)change->first,
						   .before = night_before(trend, change->first),
						   .state = change->state };
		error = zm_trend_judge(zm_making_judge(making, metric), trend, i,
				       &brief->judgement);
		if (error)
			return error;
		brief->verdict = zm_standing_verdict(brief->judgement.change,
						     making->names->metrics[metric].better);
		entry->nr_changes++;
	}
	return 0;
}

static void count_standing(struct zm_dashboard *result, const struct zm_standing *standing)
{
	result->nr_primary++;
	result->nr_few += standing->kind == ZM_STANDING_FEW;
	result->nr_steady += standing->kind == ZM_STANDING_STEADY;
	if (standing->kind != ZM_STANDING_CHANGED)
		return;
	result->nr_worse += standing->verdict == ZM_VERDICT_WORSE;
	result->nr_better += standing->verdict == ZM_VERDICT_BETTER;
	result->nr_changed += standing->verdict == ZM_VERDICT_CHANGED;
}

static int add_entry(struct zm_making *making, const struct zm_nights *nights, size_t group,
		     size_t line, struct entries *entries)
{
	uint32_t metric = nights->groups[group].lines[line].metric;
	struct zm_judge *judge = zm_making_judge(making, metric);
	struct zm_entry *entry;
	struct zm_trend trend;
	int error = zm_array_grow((void **)&entries->list, &entries->capacity, entries->nr,
				  sizeof(*entries->list));

	if (!error)
		error = zm_trend_make(judge, &nights->groups[group],
				      &nights->groups[group].lines[line], &trend);
	if (error)
		return error;
	entry = &entries->list[entries->nr];
	*entry = (struct zm_entry){ .group = (uint32_t)group, .line = (uint32_t)line };
	error = zm_standing_make(judge, &trend, making->names->metrics[metric].better,
				 making->options->recent, &entry->standing);
	if (!error) {
		entries->nr++;
		error = add_briefs(making, &trend, metric, entry);
	}
	if (!error)
		count_standing(&making->result, &entry->standing);
	zm_trend_release(&trend);
	return error;
}

static int make_entries(struct zm_making *making, const struct zm_nights *nights,
			struct entries *entries)
{
	int error = 0;

	for (size_t i = 0; i < nights->nr && !error; i++) {
		const struct zm_group *group = &nights->groups[i];

		for (size_t k = 0; k < group->nr_lines && group->nr_nights && !error; k++)
			error = add_entry(making, nights, i, k, entries);
	}
	return error;
}

static void count_groups(struct zm_making *making, const struct zm_nights *nights)
{
	struct zm_dashboard *result = &making->result;

	result->nr_groups = nights->nr;
	for (size_t i = 0; i < nights->nr; i++) {
		const struct zm_group *group = &nights->groups[i];

		if (group->nr_nights > result->nr_nights)
			result->nr_nights = group->nr_nights;
		result->nr_failed +=
			group->nr_nights && group->nights[group->nr_nights - 1].nr_failed > 0;
	}
}

/* --- pages --- */

static int write_landing(struct zm_making *making, const struct zm_nights *nights)
{
	struct entries entries = { 0 };
	uint64_t from_ns = zm_clock_now_ns();
	int error = make_entries(making, nights, &entries);

	if (!error)
		error = zm_part_matrix(making, nights, entries.list, entries.nr);
	if (!error)
		error = zm_part_index(making, nights, entries.list, entries.nr);
	release_entries(&entries);
	making->result.landing_ns += zm_clock_now_ns() - from_ns;
	return error;
}

static int write_groups(struct zm_making *making, const struct zm_nights *nights)
{
	int error = 0;

	for (size_t i = 0; i < nights->nr && !error; i++)
		error = nights->groups[i].nr_nights ? zm_part_group(making, &nights->groups[i]) : 0;
	return error;
}

static int write_machine(struct zm_making *making, uint32_t machine)
{
	struct zm_nights nights;
	int error = zm_nights_read(making->store, making->names, machine, making->options->since_ns,
				   &nights, making->why);

	if (error)
		return error;
	error = write_groups(making, &nights);
	zm_nights_release(&nights);
	return error;
}

static void count_machines(struct zm_making *making, const struct zm_nights *nights, bool *has)
{
	for (size_t i = 0; i < nights->nr; i++)
		has[nights->groups[i].machine] = true;
	for (size_t i = 0; i < making->names->nr_machines; i++)
		making->result.nr_machines += has[i];
}

static int write_machines(struct zm_making *making, const bool *has)
{
	int error = 0;

	for (size_t i = 0; i < making->names->nr_machines && !error; i++) {
		if (has[i])
			error = write_machine(making, (uint32_t)i);
	}
	return error;
}

static int make_folders(struct zm_making *making)
{
	int error = zm_site_folder(making->site, "data", making->why);

	if (!error)
		error = zm_site_folder(making->site, "data/g", making->why);
	return error ? error : zm_site_folder(making->site, "data/r1", making->why);
}

static int write_all(struct zm_making *making, struct zm_nights *nights, bool *has)
{
	int error = make_folders(making);

	count_machines(making, nights, has);
	count_groups(making, nights);
	if (!error)
		error = write_landing(making, nights);
	if (!error && making->options->primary_only)
		error = write_groups(making, nights);
	zm_nights_release(nights);
	if (!error && !making->options->primary_only)
		error = write_machines(making, has);
	return error;
}

static int nothing_to_show(const struct zm_making *making)
{
	return zm_why_set(
		making->why, -ENODATA, "%s: no finished run %sin it; `zonemark run` makes one",
		zm_store_path(making->store),
		making->options->label || making->options->since_ns ? "like that is " : "is ");
}

static int make_site(struct zm_making *making)
{
	uint64_t from_ns = zm_clock_now_ns();
	struct zm_nights nights;
	bool *has = calloc(making->names->nr_machines + 1, sizeof(*has));
	int error = has ? zm_nights_read(making->store, making->names, 0, making->options->since_ns,
					 &nights, making->why)
			: -ENOMEM;

	making->result.landing_ns = zm_clock_now_ns() - from_ns;
	if (!error && !nights.nr)
		error = nothing_to_show(making);
	if (!error)
		error = write_all(making, &nights, has);
	free(has);
	return error;
}

static int read_and_write(struct zm_making *making, struct zm_night_names *names)
{
	int error = zm_query_begin(making->store, making->why);

	if (error)
		return error;
	error = zm_night_names_read(making->store, making->options->label, names, making->why);
	making->names = names;
	if (!error) {
		error = make_site(making);
		zm_night_names_release(names);
	}
	zm_query_end(making->store);
	return error;
}

int zm_dashboard_write(struct zm_store *store, const char *path,
		       const struct zm_dashboard_options *options,
		       struct zm_dashboard *ret_dashboard, struct zm_why *why)
{
	struct zm_site site;
	struct zm_night_names names;
	struct zm_making making = {
		.store = store,
		.options = options,
		.judge = { .alpha = options->alpha, .power = 0.8, .margin = options->margin },
		.site = &site,
		.now_ns = options->now_ns ? options->now_ns : zm_clock_wall_ns(),
		.why = why,
	};
	int error = zm_site_begin(&site, path, why);

	if (error)
		return error;
	error = read_and_write(&making, &names);
	if (!error)
		error = zm_site_finish(&site, why);
	making.result.nr_files = site.nr_files;
	making.result.nr_bytes = site.nr_bytes;
	zm_site_drop(&site);
	zm_judge_release(&making.judge);
	if (!error)
		*ret_dashboard = making.result;
	return error;
}
