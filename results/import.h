/*
 * import: the runs of another store, taken into this one.
 *
 * A run is the same everywhere by its UUID, so importing twice changes nothing. A run arrives whole or
 * not at all. One that is here as `interrupted` and has ended over there since is replaced; one that is
 * still under way over there is left for the next time. Series are copied as they are packed. Noise
 * floors (results/noise.h) come along.
 *
 * On a server each run is a transaction of its own, so that what came before a broken connection is there.
 * Names (machines, metrics, parameters…) are written before it: a long run keeps nobody waiting.
 */
#ifndef ZM_RESULTS_IMPORT_H
#define ZM_RESULTS_IMPORT_H

#include <stdint.h>

#include "results/runset.h"
#include "results/store.h"

struct zm_import {
	uint64_t nr_new;
	uint64_t nr_replaced;
	uint64_t nr_there; /* already */
	uint64_t nr_under_way;
	uint64_t nr_floors; /* A/A comparisons that were not here */
};

/* What is counted in *ret_import was done even when an error ends it. A run that a server cannot take
 * (-E2BIG, -EFBIG, -EILSEQ) stays behind, and is the error in the end; the others come. */
int zm_import_store(struct zm_store *into, struct zm_store *from, struct zm_import *ret_import,
		    struct zm_why *why);

/* The same. taken gets the numbers that the runs which are in `into` now have in `from`. */
int zm_import_taking(struct zm_store *into, struct zm_store *from, struct zm_runset *taken,
		     struct zm_import *ret_import, struct zm_why *why);

#endif
