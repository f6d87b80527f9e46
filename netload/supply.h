/*
 * supply: what a sending end sends next: buffers of its ring, filled, and stamped when the receiver
 * verifies.
 *
 * The plain case (filled once, not stamped, one size) is a walk over the ring and nothing else.
 */
#ifndef ZM_NETLOAD_SUPPLY_H
#define ZM_NETLOAD_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "netload/flow.h"
#include "netload/payload.h"
#include "netload/shape.h"
#include "workloads/base/why.h"

struct zm_supply {
	struct zm_ring *ring;
	struct zm_payload payload;
	bool is_plain;
	bool is_stamped;
	bool is_filled_anew;
	uint64_t *digests; /* of each buffer's content, when it is filled once and stamped */
	uint64_t number;   /* of the next message */
	bool is_paced;     /* the next message has its time, zm_shape_due_ns(&shape, …) */
	struct zm_shape_cursor shape; /* sizes and gaps of a recorded capture */
};

/* Fills the ring. shape may be NULL: every message has the ring's size, and goes at once. */
int zm_supply_open(struct zm_supply *supply, struct zm_ring *ring,
		   const struct zm_net_options *options, const struct zm_shape *shape,
		   uint64_t seed, unsigned int pair, struct zm_why *why);
void zm_supply_release(struct zm_supply *supply);

/* The slow path of zm_supply_take: fills, sizes, stamps. */
int zm_supply_dress(struct zm_supply *supply, struct iovec *message, unsigned int slot);

/* The next nr messages. 0, or -EIO when libcrypto fails. */
static inline int zm_supply_take(struct zm_supply *supply, struct iovec *messages, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int slot = supply->ring->next;

		messages[i] = *zm_ring_take(supply->ring);
		if (!supply->is_plain) {
			int r = zm_supply_dress(supply, &messages[i], slot);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

#endif
