/*
 * finish: from chunks to whole series, when a run has ended or its runner is found dead.
 *
 * Everything happens in one transaction: the series are there and the chunks gone, or the reverse. A
 * reader understands both.
 */
#ifndef ZM_RESULTS_FINISH_H
#define ZM_RESULTS_FINISH_H

#include <stdint.h>

#include "results/assembly.h"
#include "results/db.h"

/* A run's chunks as a source for an assembly. Zero it, then set db and run. */
struct zm_finish_chunks {
	struct zm_db *db;
	int64_t run;
	struct zm_rows rows;
	struct zm_why *why;
};

int zm_finish_source(struct zm_finish_chunks *chunks, struct zm_chunk_source *ret_source,
		     size_t *ret_nr_chunks);
void zm_finish_source_end(struct zm_finish_chunks *chunks);

/* Puts a run's series together and removes its chunks. Inside the caller's transaction. */
int zm_finish_run(struct zm_db *db, int64_t run, struct zm_why *why);

/* Closes all runs whose owner is dead, and puts together what a full disk left in pieces. What fails
 * is left for the next time: readers see it as it is to be anyway. */
void zm_finish_dead(struct zm_db *db);

#endif
