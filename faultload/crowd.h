/*
 * crowd: one area that all tasks go over: mapped before they are made, by whoever makes them, and not
 * populated. What the cases share that have an x in their names (anon_wx, anon_rx, mmap_xread, shm_xread,
 * mremap_xread).
 *
 *     launcher   maps the area                                            (prepare)
 *       threads  go over it at the same time; when the last has ended, it empties the file, unmaps,
 *                and maps anew; then all go over that
 *       processes   each forks a child that inherits the mapping and goes over it; when the last has
 *                ended, it empties the file
 *
 * So each round finds what the first found: no page table, and no page of the file in memory.
 */
#ifndef ZM_FAULTLOAD_CROWD_H
#define ZM_FAULTLOAD_CROWD_H

#include "faultload/cow.h"
#include "faultload/meet.h"
#include "faultload/usemem.h"
#include "workloads/base/clock.h"

/* A task's state is a struct zm_cow_task. */
struct zm_crowd_run {
	struct zm_usemem_run usemem; /* first; its base is the area */
	uint64_t map_bytes;          /* of it */
	struct zm_meet meet;
};

/* The others may be at it for long. */
#define ZM_CROWD_PATIENCE_NS (600 * ZM_NS_PER_S)

int zm_crowd_prepare(struct zm_run *run, struct zm_why *why);
void zm_crowd_cleanup(struct zm_run *run);
int zm_crowd_round(struct zm_task *task);

#endif
