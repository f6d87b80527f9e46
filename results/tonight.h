/*
 * tonight: what one night says beside those before it.
 *
 *     value     the night's, of each primary figure
 *     usual     the median of the good nights before it: the last ZM_TONIGHT_NIGHTS of its level that are
 *               neither outliers nor this night
 *     state     what is to be said; the rows stand in the order of their states, the gravest first
 *
 * A change is told as long as it is not settled, and once when it is: "since" is the newest invocation that was told
 * of, so that what a killed nightly did not say the next one says.
 */
#ifndef ZM_RESULTS_TONIGHT_H
#define ZM_RESULTS_TONIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/nightly.h"

#define ZM_TONIGHT_NIGHTS 14
#define ZM_TONIGHT_LEAST  (2 * ZM_CHANGES_LEAST) /* nights, before anything can be said */

enum zm_tonight_state {
	ZM_TONIGHT_WORSE,     /* a regression, confirmed since */
	ZM_TONIGHT_CHANGED,   /* confirmed since, of a figure that is neither better nor worse */
	ZM_TONIGHT_BETTER,    /* an improvement, confirmed since */
	ZM_TONIGHT_ASKED,     /* a change that is not settled yet */
	ZM_TONIGHT_WITHDRAWN, /* since: its confirmation found none */
	ZM_TONIGHT_OUTLIER,   /* this night alone is far from its level: no change */
	ZM_TONIGHT_NEW,       /* too few nights to say anything */
	ZM_TONIGHT_USUAL,
	ZM_NR_TONIGHT_STATES,
};

const char *zm_tonight_state_name(enum zm_tonight_state state); /* "regression" */

struct zm_tonight_row {
	const struct zm_nightly_history *history;
	enum zm_tonight_state state;
	const struct zm_change *change; /* of the first five states; else NULL */
	double value, usual;            /* usual: NaN without a good night */
	double difference;              /* value against usual: a share, or points; NaN */
	size_t nr_usual;
};

struct zm_tonight_failure {
	const char *title; /* workload and parameters */
	const char *status, *reason;
	uint64_t run;
};

struct zm_tonight {
	struct zm_tonight_row *rows;
	size_t nr_rows, nr_of[ZM_NR_TONIGHT_STATES];
	struct zm_tonight_failure *failures; /* runs that did not end well */
	size_t nr_failures, failures_capacity;
	const char *label, *invocation, *machine, *kernel, *command_line;
	const char *last_told; /* the newest invocation that this tells of, its UUID */
	uint64_t wall_ns;      /* when the night began, by the machine's clock */
	double behind_s; /* so far its clock stands before that of the night before; 0: it does not */
	struct zm_pool pool;
};

/* The night of that invocation (its UUID). since: a UUID; NULL, or one that is not in this store: the night's own.
 * The nightly must outlive it. -ENODATA and the sentence: the night has no run in the store; -ENOMEM, or the
 * store's error. */
int zm_tonight_make(struct zm_store *store, const struct zm_nightly *nightly,
		    const char *invocation, const char *since, struct zm_tonight *ret_tonight,
		    struct zm_why *why);
void zm_tonight_release(struct zm_tonight *tonight);

/* "+8.1%", "-1.20 points", "" for NaN. Returns buf. */
char *zm_tonight_difference(char *buf, size_t size, const struct zm_nightly_history *history,
			    double difference);

/* "page_fault1 nr_task=2". Returns buf. */
char *zm_tonight_title(char *buf, size_t size, const struct zm_nightly_history *history);

/* One sentence about a change: from what to what, since which night, what its confirmation found. Returns buf. */
char *zm_tonight_sentence(char *buf, size_t size, const struct zm_tonight_row *row);

/* "1 regression, 12 as usual". Returns buf. */
char *zm_tonight_counts(char *buf, size_t size, const struct zm_tonight *tonight);

#endif
