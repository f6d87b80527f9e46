/*
 * assembly: a run's chunks put together into whole series.
 *
 * The chunks are gone through once for the index (what was declared, how many readings each series
 * has, which series share all their moments), then as often as it takes to hold the values of a
 * bounded number of readings at a time. So a run of a day on a large machine needs no more memory
 * than one of a minute.
 *
 * Which series share their moments is found exactly and without comparing moments: all start in one
 * group; after each chunk the series of one group that had the same time base there form a group.
 * A group is a chain of (chunk, time base) back to the first, and its last link is its name.
 *
 * What follows a damaged chunk cannot be told (its declarations are missing), so the assembly ends
 * before it, and says how many chunks it left out.
 */
#ifndef ZM_RESULTS_ASSEMBLY_H
#define ZM_RESULTS_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/chunk.h"

/* Where chunks come from. The data lives until the next call. -ENOENT: there is no such chunk. */
struct zm_chunk_source {
	int (*read)(void *context, size_t index, const void **ret_data, size_t *ret_size);
	void *context;
};

/* A whole series. Lives during the call. */
struct zm_assembled {
	struct zm_series_desc desc;
	uint32_t group; /* the same for series that share their moments */
	const uint64_t *t_ns;
	const struct zm_readings *readings; /* as many as moments */
};

struct zm_assembly;

/* Reads the index of nr_chunks chunks. -ENOMEM, or what the source says. A damaged chunk is no error
 * here. */
int zm_assembly_open(const struct zm_chunk_source *source, size_t nr_chunks,
		     struct zm_assembly **ret_assembly);
void zm_assembly_close(struct zm_assembly *assembly);
size_t zm_assembly_nr_lost(const struct zm_assembly *assembly);

/* How many series zm_assembly_each left out because their values do not decode. */
size_t zm_assembly_nr_damaged(const struct zm_assembly *assembly);

/* How many readings are held at a time; for tests. */
void zm_assembly_set_budget(struct zm_assembly *assembly, size_t nr_readings);

/* Calls `each` for every series that has readings and that `wants` (NULL: all), in the order in which
 * they were declared. Goes on until `each` returns other than 0, and returns that. */
int zm_assembly_each(struct zm_assembly *assembly,
		     bool (*wants)(void *context, const struct zm_series_desc *desc),
		     int (*each)(void *context, const struct zm_assembled *series), void *context);

#endif
