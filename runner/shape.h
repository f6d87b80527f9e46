/*
 * shape: has what was measured here the documented shape? Figures of other machines cannot be compared,
 * changes can: their direction, their size, and the order of the kernels.
 */
#ifndef ZM_RUNNER_SHAPE_H
#define ZM_RUNNER_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum zm_shape {
	ZM_SHAPE_UNKNOWN,   /* one side has no value, or the change is none of a share: from 0 */
	ZM_SHAPE_AGREES,    /* direction and size: from half to twice the documented change */
	ZM_SHAPE_DIRECTION, /* the direction, not the size */
	ZM_SHAPE_TOO_NOISY, /* the interval holds both no change and the documented one */
	ZM_SHAPE_DIFFERS,
};

struct zm_shape_found {
	enum zm_shape shape;
	double documented, measured; /* changes as shares: -0.05 */
	double low, high;            /* of the measured one, at 95 %; NaN: too few values */
};

/* What is documented as no change (below 1 %) agrees with an interval within plus and minus 2 %, or with a
 * change below 1 % whose interval does not hold 0; a wider one that holds it is too noisy. Without an interval
 * the measured change itself is taken. -ENOMEM. */
int zm_shape_judge(double documented, const double *base, size_t nr_base, const double *new,
		   size_t nr_new, struct zm_shape_found *ret_found);

/* Of the pairs of kernels that differ by 1 % or more in the document, how many stand in the same order
 * here; NaN values make no pair. */
void zm_shape_order(const double *documented, const double *measured, size_t nr, size_t *ret_same,
		    size_t *ret_pairs);

const char *zm_shape_name(enum zm_shape shape); /* "as documented" */

#endif
