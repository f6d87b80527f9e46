/*
 * scratch: a task's own file, which has no name.
 *
 * It lies in the directory the user chose, else in $TMPDIR, else in /tmp, is sparse, and goes with
 * its descriptor, however the task ends. Made nameless (O_TMPFILE) where the file system can, else
 * unlinked at once.
 */
#ifndef ZM_FAULTLOAD_SCRATCH_H
#define ZM_FAULTLOAD_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/base/option.h"
#include "workloads/base/why.h"

/* For workloads that need no option but where their files are. */
struct zm_scratch_options {
	char *dir;
};

extern const struct zm_option zm_scratch_options[];

/* chosen NULL or "": the usual directory. */
const char *zm_scratch_dir(const char *chosen);

/* Is it a directory in which this user can make files? -EINVAL and the sentence. */
int zm_scratch_check(const char *chosen, struct zm_why *why);

/* Are its files kept in memory (tmpfs, ramfs), so that even a hole takes a page when it is read? */
bool zm_scratch_is_memory(const char *chosen);

/* A descriptor (close-on-exec) of a new file of `bytes` zeroes. */
int zm_scratch_open(const char *chosen, uint64_t bytes, int *ret_fd, struct zm_why *why);

#endif
