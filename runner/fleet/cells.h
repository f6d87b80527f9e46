/*
 * cells: the words of a campaign, looked at where it is made: are they a line for `zonemark run`, and
 * which of its cells go to which machine?
 */
#ifndef ZM_RUNNER_FLEET_CELLS_H
#define ZM_RUNNER_FLEET_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "workloads/base/why.h"

struct zm_fleet_cells {
	unsigned int nr_parts; /* one for each cell */
	char split[9];         /* the number of that split (shard.h) */
	unsigned int *node_of; /* of each part, 0 … nr_nodes - 1: evenly by the time they take */
};

/* Refuses what each task of a campaign has from us: --db, --resume; and --label where kernels are named. */
int zm_fleet_cells_make(const char *const *words, size_t nr_words, size_t nr_nodes,
			bool has_kernels, struct zm_fleet_cells *ret_cells, struct zm_why *why);
void zm_fleet_cells_release(struct zm_fleet_cells *cells);

#endif
