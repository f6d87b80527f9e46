/*
 * outside: what others measured and wrote, as runs that can be compared.
 *
 *     a folder     lkp-tests: a run (stats.json), or a result root: numbered folders of runs, else its
 *                  matrix.json. What ran stands in the job.yaml of the run or of the root.
 *     tasks,…      will-it-scale's runtest.py: a line per number of tasks. The test is the file's name
 *                  up to its first dot.
 *     … TEST from  netperf: one or several outputs behind each other, each a run of one pair
 *
 * Such files are hostile input: bounded, read strictly; what is not understood is an error that names the
 * file, never a figure. A run that was begun and has no figure is one that failed.
 *
 * Runs of one text are of one boot, as far as anybody can tell. Those of a result root are of as many boots
 * as they have different boot times ("boot-time.boot"); without any, of one.
 */
#ifndef ZM_RESULTS_OUTSIDE_H
#define ZM_RESULTS_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "results/pool.h"
#include "results/store.h"
#include "workloads/base/why.h"

#define ZM_OUTSIDE_BYTES   (16u << 20) /* of one file */
#define ZM_OUTSIDE_RUNS    1000u
#define ZM_OUTSIDE_METRICS 100000u /* of one run */
#define ZM_OUTSIDE_NAME    256u    /* bytes of a metric's */

struct zm_outside_run {
	const char *workload;                /* as zonemark calls it where it has it */
	const char *cell;                    /* parameters, a JSON object of texts */
	const char *machine, *boot, *kernel; /* "": not known */
	bool has_failed;
	struct zm_result *results;
	size_t nr_results, capacity;
};

struct zm_outside {
	struct zm_outside_run *runs;
	size_t nr, capacity;
	struct zm_pool pool; /* of all texts */
};

/* *ret_outside must be released on success. -EINVAL, -EFBIG, -ENOENT… and the sentence. */
int zm_outside_read(const char *path, struct zm_outside *ret_outside, struct zm_why *why);
void zm_outside_release(struct zm_outside *outside);

/* Could the file be a store (or an empty one), rather than what this reads? */
bool zm_outside_is_store(const char *path);

/* --- for the files outside_*.c --- */

/* A whole file, terminated. In `folder` (or AT_FDCWD). -ENOENT without a sentence; else with one, in which
 * the file is called `shown`. */
int zm_outside_file(int folder, const char *name, const char *shown, char **ret_text,
		    size_t *ret_length, struct zm_why *why);

/* One more run, without results. Texts are copied. */
int zm_outside_add_run(struct zm_outside *outside, const struct zm_outside_run *like,
		       struct zm_why *why);

/* To the last run. Unit, direction and whether it is primary come from the metric's name. */
int zm_outside_add_result(struct zm_outside *outside, const char *metric, double value,
			  struct zm_why *why);

int zm_outside_read_lkp(struct zm_outside *outside, const char *path, struct zm_why *why);
int zm_outside_read_wis(struct zm_outside *outside, const char *path, const char *text,
			struct zm_why *why);
int zm_outside_read_netperf(struct zm_outside *outside, const char *path, const char *text,
			    struct zm_why *why);

/* Is it that? */
bool zm_outside_is_wis(const char *text);
bool zm_outside_is_netperf(const char *text);

#endif
