/*
 * ramp: how the processes of a class grow, out of their recorded growths.
 */
#ifndef ZM_BUILDLOAD_RAMP_H
#define ZM_BUILDLOAD_RAMP_H

#include <stdbool.h>

#include "buildload/profile.h"
#include "buildload/trace.h"

/* class_of[]: of each process. By how much at a time the processes of `class` grow, by brk or by mmap:
 * the most frequent steps, rounded to pages. */
int zm_ramp_steps(const struct zm_trace *trace, const int *class_of, int class, bool is_brk,
		  struct zm_profile_mix *ret_mix);

/* The share of anonymous pages against the share of CPU time: one ramp, or four by user time where there
 * are enough processes. None where too little was seen. */
int zm_ramp_fit(const struct zm_trace *trace, const int *class_of, int class,
		struct zm_profile_class *ret_class);

/* Sizes as a mix: rounded up to a quarter of a power of two. Sorts them. */
int zm_ramp_sizes(uint64_t *sizes, size_t nr, struct zm_profile_mix *ret_mix);

#endif
