/*
 * outfile: an answer that goes into a file, which is there whole or as it was before.
 *
 *     zm_outfile_open(&file, path, why);     a new file beside it
 *     … fprintf(file.out, …) …
 *     zm_outfile_keep(&file, why);           written to disk, checked, renamed
 *     zm_outfile_drop(&file);                always; removes what was not kept
 */
#ifndef ZM_RESULTS_OUTFILE_H
#define ZM_RESULTS_OUTFILE_H

#include <stdio.h>

#include "workloads/base/why.h"

struct zm_outfile {
	FILE *out;
	char *path;
	char *temporary; /* NULL once it has been kept */
};

int zm_outfile_open(struct zm_outfile *file, const char *path, struct zm_why *why);
int zm_outfile_keep(struct zm_outfile *file, struct zm_why *why);
void zm_outfile_drop(struct zm_outfile *file);

/* For who works long before he writes: would it open? Leaves nothing. */
int zm_outfile_check(const char *path, struct zm_why *why);

#endif
