/*
 * slurm: the words with Slurm's programs: sbatch, squeue, scancel.
 *
 * Nothing goes through a shell but the script itself, in which every word is quoted. The queue is read in
 * columns that we name (squeue --format): they are the same in every version of Slurm, and its JSON is not.
 */
#ifndef ZM_RUNNER_FLEET_SLURM_H
#define ZM_RUNNER_FLEET_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "runner/fleet/campaign.h"

#define ZM_SLURM_JOB 32

/* What a machine runs for each task of the array. */
void zm_slurm_print_script(const struct zm_campaign *campaign, size_t array, FILE *out);

/* How an array is submitted. */
struct zm_slurm_ask {
	size_t array;
	const char *elements; /* "--array=3,5"; NULL: all */
	const char *node;     /* instead of the array's own; NULL: that */
	bool wants_reboot;    /* each task begins with a reboot of its machine */
};

/* The line as one would type it. */
int zm_slurm_print_line(const struct zm_campaign *campaign, const struct zm_slurm_ask *ask,
			FILE *out);

/* The script is there already. ret_job: the array's number. -ENOENT: no sbatch is here. */
int zm_slurm_submit(const struct zm_campaign *campaign, const struct zm_slurm_ask *ask,
		    char ret_job[ZM_SLURM_JOB], struct zm_why *why);

/* What has been submitted is taken back. */
int zm_slurm_cancel(const char *job, struct zm_why *why);

/* A campaign's tasks that Slurm knows of: those under way, and for some minutes those that were. */
struct zm_slurm_row {
	size_t array, task;
	bool is_over;
	char state[24], node[64], reason[96];
};

struct zm_slurm_queue {
	struct zm_slurm_row *rows;
	size_t nr_rows;
};

/* -ENOENT: no squeue is here. */
int zm_slurm_queue_read(const struct zm_campaign *campaign, struct zm_slurm_queue *ret_queue,
			struct zm_why *why);
void zm_slurm_queue_release(struct zm_slurm_queue *queue);

/* The task's row, one that is not over before others; NULL: Slurm knows nothing of it. */
const struct zm_slurm_row *zm_slurm_queue_find(const struct zm_slurm_queue *queue, size_t array,
					       size_t task);

/* For tests: what squeue wrote. */
int zm_slurm_queue_parse(const struct zm_campaign *campaign, const char *text,
			 struct zm_slurm_queue *ret_queue);

#endif
