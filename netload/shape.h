/*
 * shape: the message sizes and gaps of a recorded capture, to be sent again.
 *
 * Every packet of the file that carries data is a message of that size (UDP, TCP and SCTP payload;
 * of other packets everything behind the IP header), at its distance in time from the first. At the
 * file's end it begins anew, one mean gap later.
 */
#ifndef ZM_NETLOAD_SHAPE_H
#define ZM_NETLOAD_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

#define ZM_SHAPE_MAX 1048576 /* messages read of one file */

struct zm_shape_point {
	uint64_t at_ns; /* since the first */
	uint32_t size;
};

struct zm_shape {
	struct zm_shape_point *points;
	size_t nr;
	uint64_t lap_ns; /* from one beginning to the next */
	uint32_t smallest, largest;
};

/* -ENOTSUP: built without libpcap; -EINVAL: not a capture, or none with data in it. */
int zm_shape_check(const char *path, struct zm_why *why); /* by its beginning alone */
int zm_shape_read(const char *path, struct zm_shape *ret_shape, struct zm_why *why);
void zm_shape_release(struct zm_shape *shape);

/* Adds a message; the points are in the order of time. -ENOMEM, -ENOSPC above ZM_SHAPE_MAX. */
int zm_shape_add(struct zm_shape *shape, uint64_t at_ns, uint32_t size);
void zm_shape_close(struct zm_shape *shape); /* all are added: computes the lap */

/* Where one sender is in it. */
struct zm_shape_cursor {
	const struct zm_shape *shape; /* NULL: none */
	size_t at;
	uint64_t lap_start_ns; /* 0: not begun */
};

/* The moment at which the next message is due; now or before: at once. */
uint64_t zm_shape_due_ns(struct zm_shape_cursor *cursor, uint64_t now_ns);

/* The next message's size; moves on. */
uint32_t zm_shape_next_size(struct zm_shape_cursor *cursor);

#endif
