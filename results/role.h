/*
 * role: who may only add runs to a store on a server.
 *
 * Such a role may add runs with all that belongs to them, and read what it takes for that (names, and which
 * runs are there). It may not change or remove anything, and not read figures.
 */
#ifndef ZM_RESULTS_ROLE_H
#define ZM_RESULTS_ROLE_H

#include "results/store.h"

/* Made when it is not there (without a password); what it may do on this store's tables is then this and
 * nothing else. -EINVAL: the name is none, or the store is a file. -EACCES: not the store's owner. */
int zm_role_let_add(struct zm_store *store, const char *role, struct zm_why *why);

#endif
