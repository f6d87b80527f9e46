/*
 * record: what was traced becomes a profile.
 *
 *     processes of one program    -> a class: its rows, its steps, its ramps
 *     below a make, a tree        -> a job; trees of the same form -> a recipe
 *     jobs that overlap, or wait
 *     for all before them         -> stages
 *
 * Whatever starts jobs is a make here: make, ninja, or the command itself.
 */
#ifndef ZM_BUILDLOAD_RECORD_H
#define ZM_BUILDLOAD_RECORD_H

#include "buildload/profile.h"
#include "buildload/trace.h"

/* What the reader of a profile wants to know of its making. All texts are needed. */
struct zm_record_about {
	const char *name, *command, *machine, *compiler;
	unsigned int slots; /* -j */
};

/* -ENODATA: the command started nothing that could be a job. */
int zm_record_profile(const struct zm_trace *trace, const struct zm_record_about *about,
		      struct zm_profile **ret_profile, struct zm_why *why);

#endif
