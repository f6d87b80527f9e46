/*
 * campaign: what is run on many machines, as a folder that all of them see.
 *
 *     FOLDER/campaign.json      what was asked for, and its arrays; never changed
 *            scripts/A.sh       what the scheduler runs for each task of array A
 *            attempts/A.E-JOB   one attempt at task E of array A: where, since when, how it ended
 *            results/A.E.db     its store: there whole, or not at all, and once
 *            logs/A.E.log       what it said
 *
 * An array is one machine with one kernel in one round; its tasks are parts of the matrix (shard.h), or all
 * of it. Rounds follow each other, and in each the kernels: so what drifts drifts over both. A part stays
 * on its machine, whichever kernel it has: so the kernels can be compared.
 */
#ifndef ZM_RUNNER_FLEET_CAMPAIGN_H
#define ZM_RUNNER_FLEET_CAMPAIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "workloads/base/why.h"

#define ZM_CAMPAIGN_TASKS  1000 /* of an array: what Slurm takes when nobody says (MaxArraySize) */
#define ZM_CAMPAIGN_ARRAYS 20000
#define ZM_CAMPAIGN_ROUNDS 1000

struct zm_fleet_array {
	const char *node;
	const char *kernel;  /* a feature of the node; NULL: as it is */
	unsigned int round;  /* from 1 */
	unsigned int *parts; /* of each task, 1 … nr_parts */
	size_t nr_tasks;
};

struct zm_campaign {
	char *folder; /* absolute */
	json_t *json; /* holds the texts */
	const char *id, *program;
	const char *directory; /* where the words were typed: a matrix's file may stand there */
	const char **words;    /* as behind `zonemark run` */
	size_t nr_words;
	unsigned int nr_parts; /* of the matrix; 1: it is not split */
	const char *split; /* the number of its split, which every machine must come to; "": none */
	struct zm_fleet_array *arrays;
	size_t nr_arrays;
};

struct zm_campaign_ask {
	const char *folder;  /* NULL: a new one here */
	const char *program; /* absolute, on every machine */
	const char *const *words;
	size_t nr_words;
	const char *const *nodes;
	size_t nr_nodes;
	const char *const *kernels;
	size_t nr_kernels; /* 0: as they are */
	unsigned int nr_rounds;
	/* part i (from 0) goes to nodes[node_of[i]]; NULL: every machine runs all of the matrix */
	const unsigned int *node_of;
	unsigned int nr_parts;
	const char *split;
};

/* Nothing is written yet. */
int zm_campaign_make(const struct zm_campaign_ask *ask, struct zm_campaign *ret_campaign,
		     struct zm_why *why);

/* The folder, which must be new or empty. */
int zm_campaign_write(const struct zm_campaign *campaign, struct zm_why *why);

/* -ENOENT, -EINVAL: it is no campaign's; -EPROTO: a newer zonemark's. */
int zm_campaign_read(const char *folder, struct zm_campaign *ret_campaign, struct zm_why *why);
void zm_campaign_release(struct zm_campaign *campaign);

/* "FOLDER/" and the rest; the caller's to free, NULL without memory. */
char *zm_campaign_path(const struct zm_campaign *campaign, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "3.12" -> array 2, task 11 (from 0). -EINVAL: there is none of that name. */
int zm_campaign_find(const struct zm_campaign *campaign, const char *name, size_t *ret_array,
		     size_t *ret_task, struct zm_why *why);

#endif
