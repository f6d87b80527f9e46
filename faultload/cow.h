/*
 * cow: areas that are shared until somebody writes; what the cases anon_cow_* share.
 *
 *     launcher   maps an area and populates it                 (usemem's prepare)
 *       task     a process that inherits it, and never writes
 *         child  one per round: goes over the area; each first write to a page copies it. Its end
 *                frees the copies
 *
 * The original starts parent and children anew for each round; here the parent stays, so that rounds
 * can follow each other, and a task forks a child for each. Threads share the area: nothing is
 * copied, and a round is mere accesses, as in the original's cases with threads (-mt).
 */
#ifndef ZM_FAULTLOAD_COW_H
#define ZM_FAULTLOAD_COW_H

#include "faultload/usemem.h"

struct zm_cow_note;

struct zm_cow_task {
	struct zm_walk walk;
	struct zm_cow_note *note; /* shared with the child */
	uint64_t *marks;          /* a bit for each page; NULL: not asked for */
};

int zm_cow_setup(struct zm_task *task, struct zm_why *why);
int zm_cow_round(struct zm_task *task);
void zm_cow_teardown(struct zm_task *task);
int zm_cow_verify(struct zm_run *run, struct zm_why *why);

#endif
