/*
 * site: a folder of files that takes the place of the one before it, whole or not at all.
 *
 *     zm_site_begin     SITE.part beside it, locked: two at once are refused, what a killed one left is removed
 *     zm_site_file      … as many as there are; a failed write (a full disk) ends it
 *     zm_site_finish    synced to disk and renamed; the old one goes
 *     zm_site_drop      always; removes what was not finished
 *
 * A folder that is no site of ours and is not empty is never replaced.
 */
#ifndef ZM_RESULTS_WEB_SITE_H
#define ZM_RESULTS_WEB_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "workloads/base/why.h"

struct zm_site {
	char *path, *part;
	int fd;     /* of the new folder; also the lock */
	int old_fd; /* of the old site; -1: there is none */
	size_t nr_files;
	uint64_t nr_bytes;
};

/* -ENOTEMPTY: something else is there; -EBUSY: another is writing it. */
int zm_site_begin(struct zm_site *site, const char *path, struct zm_why *why);

/* A folder within it. */
int zm_site_folder(struct zm_site *site, const char *name, struct zm_why *why);

/* A new file, to be closed by zm_site_close. */
int zm_site_file(struct zm_site *site, const char *name, FILE **ret_out, struct zm_why *why);
int zm_site_close(struct zm_site *site, const char *name, FILE *out, struct zm_why *why);

int zm_site_bytes(struct zm_site *site, const char *name, const void *bytes, size_t size,
		  struct zm_why *why);

/* The old site's file of that name, taken over as it is. -ENOENT (without a sentence): it has none. */
int zm_site_take(struct zm_site *site, const char *name);

int zm_site_finish(struct zm_site *site, struct zm_why *why);
void zm_site_drop(struct zm_site *site);

#endif
