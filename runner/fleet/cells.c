/* cells: the switches of `zonemark run`, its plan, and two splits: one by cells, one by machines. */
#include "runner/fleet/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runner/cmd.h"
#include "runner/invocation.h"
#include "runner/shard.h"
#include "workloads/base/cleanup.h"

struct switches {
	struct zm_invocation_ask ask;
	bool json;
};

#define ASK(member) offsetof(struct switches, ask.member)

static const struct zm_option rows[] = {
	ZM_INVOCATION_ROWS(ASK),
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct switches, json),
	  .preset = "0",
	  .help = "the answer as JSON" },
	{ .name = NULL },
};

/* As each task reads its line. */
static const struct zm_cmd line = {
	.name = "run",
	.switches = rows,
	.switches_size = sizeof(struct switches),
};

static int refuse(const struct zm_invocation_ask *ask, bool has_kernels, struct zm_why *why)
{
	if (ask->db)
		return zm_why_set(why, -EINVAL,
				  "--db: each task has a store of its own; `zonemark fleet gather` "
				  "brings them into yours");
	if (ask->resume)
		return zm_why_set(why, -EINVAL,
				  "--resume: a task that is run again does so by "
				  "itself");
	if (ask->label && has_kernels)
		return zm_why_set(why, -EINVAL,
				  "--label %s: where kernels are named, they are the labels",
				  ask->label);
	return 0;
}

/* Part i has one cell, which is whichever comes i-th: those of one machine are its share. */
static int split(const struct zm_plan *plan, size_t nr_nodes, struct zm_fleet_cells *cells)
{
	zm_autofree unsigned int *machines = calloc(plan->nr_asks + 1, sizeof(*machines));
	zm_autofree unsigned int *parts = calloc(plan->nr_asks + 1, sizeof(*parts));
	struct zm_shard_share all;

	cells->node_of = calloc(plan->nr_asks + 1, sizeof(*cells->node_of));
	if (!machines || !parts || !cells->node_of ||
	    zm_shard_split(plan, (unsigned int)nr_nodes, machines, &all) < 0)
		return -ENOMEM;
	cells->nr_parts = (unsigned int)all.nr_asked;
	if (zm_shard_split(plan, cells->nr_parts, parts, &all) < 0)
		return -ENOMEM;
	(void)snprintf(cells->split, sizeof(cells->split), "%08x", all.id);
	for (size_t i = 0; i < plan->nr_asks; i++)
		cells->node_of[parts[i]] = machines[i];
	return 0;
}

static int plan_and_split(const struct zm_invocation_ask *ask, size_t nr_nodes,
			  struct zm_fleet_cells *cells, struct zm_why *why)
{
	struct zm_sysroot root;
	struct zm_topology topology;
	struct zm_plan plan = { 0 };
	int r = zm_sysroot_open(&root, NULL);

	if (r < 0)
		return zm_why_errno(why, r, "/");
	r = zm_invocation_topology(ask->cpus, &root, &topology, why);
	if (r < 0) {
		zm_sysroot_release(&root);
		return r;
	}
	r = zm_invocation_plan(ask, &root, &topology, &plan, why);
	if (r == 0 && split(&plan, nr_nodes, cells) < 0)
		r = zm_why_errno(why, -ENOMEM, "splitting the matrix");
	zm_plan_release(&plan);
	zm_topology_release(&topology);
	zm_sysroot_release(&root);
	return r;
}

static int read_and_split(const struct zm_args *args, size_t nr_nodes, bool has_kernels,
			  struct zm_fleet_cells *cells, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	struct zm_invocation_ask ask = switches->ask;
	int r = refuse(&ask, has_kernels, why);

	ask.words = args->words;
	ask.nr_words = args->nr_words;
	return r < 0 ? r : plan_and_split(&ask, nr_nodes, cells, why);
}

int zm_fleet_cells_make(const char *const *words, size_t nr_words, size_t nr_nodes,
			bool has_kernels, struct zm_fleet_cells *ret_cells, struct zm_why *why)
{
	zm_autofree char **argv = calloc(nr_words + 2, sizeof(*argv));
	struct zm_fleet_cells cells = { 0 };
	struct zm_args args;
	char name[] = "run";
	int r;

	if (!argv)
		return zm_why_errno(why, -ENOMEM, "the matrix");
	argv[0] = name;
	for (size_t i = 0; i < nr_words; i++)
		argv[i + 1] = (char *)words[i];
	r = zm_cmd_parse(&line, (int)nr_words + 1, argv, &args, why);
	if (r < 0)
		return r;
	r = read_and_split(&args, nr_nodes, has_kernels, &cells, why);
	zm_args_release(&line, &args);
	if (r < 0)
		zm_fleet_cells_release(&cells);
	else
		*ret_cells = cells;
	return r;
}

void zm_fleet_cells_release(struct zm_fleet_cells *cells)
{
	free(cells->node_of);
	*cells = (struct zm_fleet_cells){ 0 };
}
