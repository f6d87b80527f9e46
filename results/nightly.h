/*
 * nightly: a store as one who looks every morning sees it: a history for each machine, cell and primary figure,
 * one value a night, with its changes (changes.h) and what became of them.
 *
 *     night          an invocation under the label; its value is the mean of its launches that went well,
 *                    as compare takes a boot's
 *     order          that in which the nights came into the store: a machine's clock may be wrong by hours
 *     confirmation   an invocation under the label that zm_change_confirmation gives, after the night on which
 *                    a change was seen and before the next change was; each launch of the cell is a value,
 *                    judged against the nights from the change before to this one
 *
 * So whether a change is asked for, confirmed or withdrawn is a matter of the runs in the store: everybody who
 * reads it sees the same, nothing that was begun and killed is left half marked, and a store that is merged
 * into another takes the answers along.
 */
#ifndef ZM_RESULTS_NIGHTLY_H
#define ZM_RESULTS_NIGHTLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/changes.h"
#include "results/pool.h"
#include "results/store.h"

struct zm_nightly_night {
	int64_t invocation; /* its number in this store; later ones have larger numbers */
	uint64_t run;       /* the first of its launches that went well */
	uint64_t wall_ns;   /* when that began, by the machine's clock */
	size_t nr_launches;
	const char *kernel, *boot;
};

struct zm_nightly_history {
	const char *machine, *workload, *cell; /* cell: JSON, as the runs have it */
	const char *words; /* the parameters in which its cell differs from the workload's others */
	const char *metric, *unit;
	enum zm_better better;
	bool is_share;
	struct zm_nightly_night *nights;
	double *values; /* of each night */
	size_t nr, capacity;
	struct zm_changes changes;
	struct zm_nightly_confirming {
		int64_t invocation;
		double value;
	} * confirming; /* in order */
	size_t nr_confirming, confirming_capacity;
};

struct zm_nightly {
	struct zm_nightly_history *histories; /* by machine, cell and metric, as they came */
	size_t nr, capacity;
	struct zm_pool pool;
};

/* machine: its key; NULL: all. judge: as for zm_changes_find, but for is_share. -ENOMEM, or the store's error. */
int zm_nightly_read(struct zm_store *store, const char *label, const char *machine,
		    struct zm_judge *judge, struct zm_nightly *ret_nightly, struct zm_why *why);
void zm_nightly_release(struct zm_nightly *nightly);

/* Has it a change that a confirmation run could still settle? The last one only (others are not what is there
 * now), while it has fewer than ZM_NIGHTLY_CONFIRMING values. */
#define ZM_NIGHTLY_CONFIRMING 20
bool zm_nightly_asks(const struct zm_nightly_history *history);

/* Is the change for the worse, for the better, or (neither) just one? */
enum zm_verdict zm_nightly_direction(const struct zm_nightly_history *history,
				     const struct zm_change *change);

/* The first night of the level on which the last one is: of the last change that was not withdrawn, or 0. */
size_t zm_nightly_level(const struct zm_nightly_history *history);

/* The last confirmation run that counted for a change (by its number in the history); 0: none did. */
int64_t zm_nightly_confirmed_by(const struct zm_nightly_history *history, size_t change);

#endif
