/*
 * shard: part I of N of a plan's cells, for N machines, tasks of a scheduler, or nights.
 *
 *     all cells that were asked for, whether this machine can run them or not
 *       -> the longest first, those of equal length by their keys, each key once
 *       -> each to the part that has the least to do so far, to the first of equal ones
 *
 * Keys say what was asked for ("nr_task": "50%"), and lengths follow from the options alone: so every
 * machine splits the same line the same way, and whoever runs all parts has run each cell once. The order of
 * words and lines does not matter. What does: the version of zonemark, and where documented tables are scaled
 * to the machine, its CPUs and memory. zm_shard_id tells splits apart.
 */
#ifndef ZM_RUNNER_SHARD_H
#define ZM_RUNNER_SHARD_H

#include "runner/plan.h"

#define ZM_SHARD_MAX ZM_PLAN_CELLS

struct zm_shard {
	unsigned int index, nr; /* 1 … nr; nr 0: all of it */
	bool has_id;            /* the split must be this one */
	uint32_t id;
};

/* What the split came to. */
struct zm_shard_share {
	size_t nr_asked;      /* cells of this part, whether they run here or not */
	size_t nr_asked_all;  /* of all parts */
	uint64_t expected_ns; /* one launch of each that runs here */
	uint32_t id;          /* of the split: the same number, the same parts */
};

/* "2/8", or "2/8:3f2a91c0" where the split's number is known. -EINVAL, -ERANGE with the sentence. */
int zm_shard_parse(const char *text, struct zm_shard *ret_shard, struct zm_why *why);

/* The part, 0 … nr - 1, of each of the plan's asks. -ENOMEM. */
int zm_shard_split(const struct zm_plan *plan, unsigned int nr, unsigned int *ret_parts,
		   struct zm_shard_share *ret_all);

/* Takes the other parts' cells out of the plan. -EXDEV: this machine splits it otherwise. -ENODATA: none is left, there being more parts than cells;
 * -ENOPKG: none that can run here. The sentence says it. */
int zm_shard_keep(const struct zm_shard *shard, struct zm_plan *plan,
		  struct zm_shard_share *ret_share, struct zm_why *why);

#endif
