/*
 * evidence: the runs that a machine is judged by, with all their figures, read from stores.
 *
 * Runs of one socket or node alone carry it in their label: "qualify:sockets:0".
 */
#ifndef ZM_RUNNER_QUALIFY_EVIDENCE_H
#define ZM_RUNNER_QUALIFY_EVIDENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/query.h"
#include "results/store.h"

#define ZM_EVIDENCE_LABEL "qualify:"

struct zm_evidence_run {
	struct zm_run_view *view;
	json_t *cell; /* as asked for; an object */
	double nr_units;
};

struct zm_evidence {
	struct zm_evidence_run *runs; /* oldest first */
	size_t nr, capacity;
};

/* Adds all runs of a store that have ended. */
int zm_evidence_read(struct zm_evidence *evidence, struct zm_store *store, struct zm_why *why);
void zm_evidence_release(struct zm_evidence *evidence);

/* Takes out the runs for which `is_wanted` is false. */
void zm_evidence_keep(struct zm_evidence *evidence,
		      bool (*is_wanted)(const void *context, const struct zm_evidence_run *run),
		      const void *context);

/* Is it a run of that workload (or "all") with these options (NULL: any)? */
bool zm_evidence_run_is(const struct zm_evidence_run *run, const char *workload,
			const json_t *options);

/* A cell's value of an option is what was typed? ("100%", 1, true and "on") */
bool zm_evidence_has_option(const json_t *cell, const char *name, const char *value);

/* Of a run of a part alone: its name behind "qualify:PART:"; NULL for others. */
const char *zm_evidence_group(const struct zm_evidence_run *run, const char *part);

/* What the whole machine did: no run of a part. */
bool zm_evidence_is_whole(const struct zm_evidence_run *run);

#endif
