/*
 * cpuset: a set of CPU or node numbers of any size.
 *
 * Never a fixed cpu_set_t: machines with more than 1,024 CPUs, sparse numbers and offline CPUs are
 * ordinary. A zeroed struct is the empty set; an output (ret_set) must be a set too, whose old
 * content is replaced. Functions that add may fail with -ENOMEM or, above
 * ZM_CPUSET_MAX, -ERANGE.
 */
#ifndef ZM_WORKLOADS_BASE_CPUSET_H
#define ZM_WORKLOADS_BASE_CPUSET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ZM_CPUSET_MAX 1048576 /* the largest number accepted, a bound for hostile lists */

struct zm_cpuset {
	unsigned long *words;
	size_t nr_words;
};

void zm_cpuset_release(struct zm_cpuset *set);
#define zm_autocpuset __attribute__((cleanup(zm_cpuset_release)))

int zm_cpuset_add(struct zm_cpuset *set, unsigned int number);
void zm_cpuset_remove(struct zm_cpuset *set, unsigned int number);
bool zm_cpuset_has(const struct zm_cpuset *set, unsigned int number);
size_t zm_cpuset_count(const struct zm_cpuset *set);
bool zm_cpuset_is_equal(const struct zm_cpuset *a, const struct zm_cpuset *b);

/* dst becomes src's copy, dst & src, dst without src. */
int zm_cpuset_copy(struct zm_cpuset *dst, const struct zm_cpuset *src);
void zm_cpuset_and(struct zm_cpuset *dst, const struct zm_cpuset *src);
void zm_cpuset_subtract(struct zm_cpuset *dst, const struct zm_cpuset *src);

/* The smallest member >= from, or -1. */
int zm_cpuset_next(const struct zm_cpuset *set, unsigned int from);
#define zm_cpuset_for_each(cpu, set)                                                               \
	for (int cpu = zm_cpuset_next(set, 0); cpu >= 0;                                           \
	     cpu = zm_cpuset_next(set, (unsigned int)cpu + 1))

/* The kernel's list form: "0-3,8,10-11", and its "first-last:used/group" ranges. White space around
 * it and a last newline are ignored, an empty text is the empty set. -EINVAL for anything else,
 * reversed ranges too. */
int zm_cpuset_parse(const char *text, struct zm_cpuset *ret_set);

/* "0-3,8"; "" for the empty set. Returns the length it would need, as snprintf. */
size_t zm_cpuset_print(const struct zm_cpuset *set, char *buf, size_t size);

/* The CPUs this thread (0) or task may run on; grows until the kernel's mask fits. */
int zm_cpuset_get_affinity(pid_t tid, struct zm_cpuset *ret_set);
int zm_cpuset_set_affinity(pid_t tid, const struct zm_cpuset *set);

#endif
