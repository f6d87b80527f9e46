/*
 * axis: one option of a run with the list of values it takes.
 *
 *     "nr_task=1-3,50%"  ->  name "nr_task", values "1" "2" "3" "50%"
 */
#ifndef ZM_RUNNER_AXIS_H
#define ZM_RUNNER_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "workloads/base/why.h"

#define ZM_AXIS_VALUES 4096 /* at most */

struct zm_axis {
	char *name;
	char **values;
	size_t nr_values;
};

/* A word "NAME=LIST". has_ranges: "a-b" of two whole numbers stands for all from a to b. */
int zm_axis_parse(const char *word, bool has_ranges, struct zm_axis *ret_axis, struct zm_why *why);
void zm_axis_release(struct zm_axis *axis);
int zm_axis_rename(struct zm_axis *axis, const char *name); /* -ENOMEM */

struct zm_axes {
	struct zm_axis *list;
	size_t nr;
};

/* The axis becomes the set's own; one of the same name is replaced, in its place. -ENOMEM. */
int zm_axes_put(struct zm_axes *axes, struct zm_axis *axis);
int zm_axes_copy(struct zm_axes *into, const struct zm_axes *from);
void zm_axes_release(struct zm_axes *axes);

const struct zm_axis *zm_axes_find(const struct zm_axes *axes, const char *name);

/* How many combinations there are; 0 when more than SIZE_MAX / 2. */
size_t zm_axes_count(const struct zm_axes *axes);

/* The value of axis `which` in combination `index`; the first axis varies slowest. */
const char *zm_axes_value(const struct zm_axes *axes, size_t index, size_t which);

#endif
