/*
 * vmscal: the figures of vm-scalability, as it prints them and as they are.
 *
 * A round is what one start of the original is: a task gets its area, goes over all of it once, and
 * gives it back. Tasks begin a new round when one ends; the window lies somewhere in between.
 *
 *     a round:    begin (mmap or fork)   access (copies, then mere accesses)   free (munmap or exit)
 *
 * As the original prints it, a task's figure is 9/8 of the bytes that it accessed (an eighth is added
 * for the allocation), over the time from before the area was populated and the first task forked to
 * the task's end, freeing left out. It is put together here from the times of the pieces. The true
 * figure is the bytes accessed over the window.
 */
#ifndef ZM_FAULTLOAD_VMSCAL_H
#define ZM_FAULTLOAD_VMSCAL_H

#include "faultload/piece.h"
#include "workloads/worker.h"

/* The counters of every workload here, in this order. */
enum {
	ZM_VMSCAL_ROUNDS,   /* ended */
	ZM_VMSCAL_BEGIN_NS, /* spent beginning rounds */
	ZM_VMSCAL_COPY_NS,  /* spent until every page was the task's own */
	ZM_VMSCAL_FREE_NS,  /* spent giving areas back */
};

extern const struct zm_metric zm_vmscal_counters[];
extern const struct zm_metric zm_vmscal_metrics[];

#define ZM_VMSCAL_LOG 16384 /* rounds that are logged, of all tasks together */

struct zm_vmscal_round {
	_Atomic uint64_t end_ns; /* of its access; 0: not ended */
	double access_s;
};

/* At the beginning of a run's state. */
struct zm_vmscal_run {
	uint64_t area_bytes; /* what a task goes over in a round */
	uint64_t op_bytes;   /* of one operation; 0: a word of 8 */
	bool is_plain;       /* the original prints the bytes as they are, an eighth is not added */
	bool is_remapped;    /* it adds a second one, for mremap */
	uint64_t populate_ns; /* before the tasks were made; 0: nothing was populated */
	struct zm_piece begin, copy, lock, free;
	struct zm_vmscal_round log[ZM_VMSCAL_LOG]; /* [round * nr_tasks + task] */
};

/* A task's round so far. */
struct zm_vmscal_clock {
	uint64_t round;
	uint64_t begun_ns; /* when the access began */
};

/* Each is called once at the end of its piece, with the moment at which the piece began. */
void zm_vmscal_begun(struct zm_task *task, struct zm_vmscal_clock *clock, uint64_t since_ns);
void zm_vmscal_copied(struct zm_task *task, const struct zm_vmscal_clock *clock);
void zm_vmscal_accessed(struct zm_task *task, struct zm_vmscal_clock *clock);
void zm_vmscal_locked(struct zm_task *task, uint64_t since_ns);
void zm_vmscal_freed(struct zm_task *task, uint64_t since_ns);

/* For workload->report. */
int zm_vmscal_report(const struct zm_window *window, struct zm_report *report);

#endif
