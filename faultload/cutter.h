/*
 * cutter: files are read into the page cache, and then truncated; what truncate and truncate_seq share.
 *
 *     a round:   each task reads its own sparse file, from end to end
 *                all meet
 *                each task gives its file up: the last of it, so that its pages go (as in rm)
 *                all meet
 *
 * `is_in_turns`: reading and giving up go one file after the other. The files together are as long as the
 * memory; the figures are of whole rounds, over the time from the first to the last, as the original takes
 * it.
 */
#ifndef ZM_FAULTLOAD_CUTTER_H
#define ZM_FAULTLOAD_CUTTER_H

#include "faultload/area.h"
#include "faultload/meet.h"
#include "faultload/piece.h"
#include "workloads/base/clock.h"
#include "workloads/worker.h"

struct zm_cutter_case {
	struct zm_area_case area; /* first: area finds it there */
	bool is_in_turns;
};

extern const struct zm_metric zm_cutter_counters[];

/* Of `truncate`, whose reading the original does not time, and of both. */
extern const struct zm_metric zm_cutter_metrics[];
extern const struct zm_metric zm_cutter_fault_metrics[];

#define ZM_CUTTER_LOG 16384 /* rounds */

struct zm_cutter_round {
	_Atomic uint64_t end_ns; /* 0: not ended */
	double fill_s, cut_s;
};

struct zm_cutter_run {
	uint64_t area_bytes; /* of a task's file */
	struct zm_meet meet;
	uint64_t nr_rounds;
	uint64_t fill_begun_ns, cut_begun_ns;
	_Atomic uint64_t nr_checked, nr_wrong;
	struct zm_cutter_round log[ZM_CUTTER_LOG];
};

struct zm_cutter {
	int fd; /* -1: none */
	unsigned char *buffer;
};

#define ZM_CUTTER_BLOCK_BYTES 4096                /* of one operation */
#define ZM_CUTTER_PATIENCE_NS (600 * ZM_NS_PER_S) /* nothing is counted while files are read */

int zm_cutter_check(const struct zm_run *run, struct zm_why *why);
void zm_cutter_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint);
int zm_cutter_prepare(struct zm_run *run, struct zm_why *why);
int zm_cutter_setup(struct zm_task *task, struct zm_why *why);
int zm_cutter_round(struct zm_task *task);
void zm_cutter_teardown(struct zm_task *task);
int zm_cutter_verify(struct zm_run *run, struct zm_why *why);
int zm_cutter_report(const struct zm_window *window, struct zm_report *report);

#endif
