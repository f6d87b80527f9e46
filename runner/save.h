/*
 * save: the files that a workload names are written down before it may change them.
 */
#ifndef ZM_RUNNER_SAVE_H
#define ZM_RUNNER_SAVE_H

#include "workloads/base/journal.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

/* paths: as workload->save; NULL: none. Every file that a path or pattern stands for and that this
 * machine has goes into the journal. */
int zm_save_all(const struct zm_sysroot *root, struct zm_journal *journal, const char *const *paths,
		struct zm_why *why);

#endif
