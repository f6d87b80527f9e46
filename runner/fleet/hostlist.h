/*
 * hostlist: "n[01-16,20],login" -> names of machines, as Slurm writes lists of them.
 *
 * Names hold letters, digits, '.', '_' and '-', so that they mean nothing to a shell, to Slurm's
 * options or to a file system. One pair of brackets per name.
 */
#ifndef ZM_RUNNER_FLEET_HOSTLIST_H
#define ZM_RUNNER_FLEET_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "workloads/base/why.h"

#define ZM_HOSTLIST_MAX 4096 /* names, at most */

struct zm_hostlist {
	char **names; /* in the order of the list, each once */
	size_t nr;
};

/* -EINVAL, -ERANGE: the sentence says which part, and what a list is like. */
int zm_hostlist_parse(const char *text, struct zm_hostlist *ret_list, struct zm_why *why);
void zm_hostlist_release(struct zm_hostlist *list);

/* Is it a plain name of this kind (also of a kernel's feature)? */
bool zm_hostlist_is_name(const char *name);

#endif
