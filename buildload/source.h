/*
 * source: a source tree to build from, outside of it.
 *
 * Named by the user, or the newest that `zonemark fetch-kernel-source` has put into the cache folder
 * ($XDG_CACHE_HOME/zonemark, ~/.cache/zonemark).
 */
#ifndef ZM_BUILDLOAD_SOURCE_H
#define ZM_BUILDLOAD_SOURCE_H

#include <limits.h>
#include <stdbool.h>

#include "workloads/base/why.h"

#define ZM_SOURCE_PREFIX "linux-source-" /* of the folders in the cache: linux-source-6.1 */

struct zm_source {
	char path[PATH_MAX]; /* absolute, links followed */
	bool is_kernel; /* it has Kconfig and Kbuild: each job is announced as "  CC  name.o" */
};

/* chosen NULL or "": the cache's newest; -ENOTSUP when it has none. -EINVAL: there is no Makefile, or
 * somebody has built in the tree, which then refuses to be built from outside. */
int zm_source_find(const char *chosen, struct zm_source *ret_source, struct zm_why *why);

/* Is this what make is told to make a configuration ("tinyconfig"), rather than a file with one? */
bool zm_source_is_config_target(const char *config);

#endif
