/*
 * format_export: everything about runs, as JSON or CSV, or their call chains, written as it is read.
 *
 *     export = zm_export_begin(FORMAT, out)
 *     zm_export_run(export, store, run)        for each
 *     zm_export_end(export)
 *
 * docs/store.md describes both forms. A reading is labelled with the phase that it lies in; one at the
 * border of two with the one that begins there.
 */
#ifndef ZM_RESULTS_FORMAT_EXPORT_H
#define ZM_RESULTS_FORMAT_EXPORT_H

#include <stdint.h>
#include <stdio.h>

#include "results/store.h"

enum zm_export_format {
	ZM_EXPORT_JSON,
	ZM_EXPORT_CSV,
	ZM_EXPORT_FOLDED, /* the call chains only, results/stacks.h */
};

struct zm_export {
	enum zm_export_format format;
	FILE *out;
	uint64_t nr_runs;
	uint64_t nr_stacks; /* sets of call chains that were met */
};

void zm_export_begin(struct zm_export *export, enum zm_export_format format, FILE *out);
int zm_export_run(struct zm_export *export, struct zm_store *store, uint64_t run,
		  struct zm_why *why);
void zm_export_end(struct zm_export *export);

#endif
