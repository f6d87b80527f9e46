/*
 * fold: call chains by their functions' names, in the folded form (results/stacks.h).
 */
#ifndef ZM_RUNNER_MONITORS_FOLD_H
#define ZM_RUNNER_MONITORS_FOLD_H

#include <stdint.h>

#include "runner/monitors/chains.h"
#include "runner/monitors/ksyms.h"

/* What was counted without a chain, as a frame of its own: "[user]". */
struct zm_fold_extra {
	const char *frame;
	uint64_t times;
};

/* Chains of the same functions are one line; lines stand in the order of their frames. extras ends with
 * a NULL frame; may be NULL. The text is the caller's to free. -ENOMEM. */
int zm_fold(const struct zm_chains *chains, const struct zm_ksyms *ksyms,
	    const struct zm_fold_extra *extras, char **ret_folded);

#endif
