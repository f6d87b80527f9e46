/* supply: filling before the gate, dressing after it. */
#include "netload/supply.h"

#include <errno.h>
#include <stdlib.h>

static int digest_slot(struct zm_supply *supply, unsigned int slot)
{
	const struct iovec *buffer = &supply->ring->slots[slot];

	return zm_payload_digest(&supply->payload, buffer->iov_base, buffer->iov_len,
				 &supply->digests[slot]);
}

static int fill_ring(struct zm_supply *supply, struct zm_why *why)
{
	const struct zm_ring *ring = supply->ring;
	int r = 0;

	supply->digests = calloc(ring->nr, sizeof(*supply->digests));
	if (!supply->digests)
		return zm_why_set(why, -ENOMEM, "no memory for %u digests", ring->nr);
	for (unsigned int i = 0; r == 0 && i < ring->nr; i++) {
		r = zm_payload_fill(&supply->payload, ring->slots[i].iov_base,
				    ring->slots[i].iov_len);
		if (r == 0 && supply->is_stamped)
			r = digest_slot(supply, i);
	}
	return r < 0 ? zm_why_errno(why, r, "payload: libcrypto") : 0;
}

int zm_supply_open(struct zm_supply *supply, struct zm_ring *ring,
		   const struct zm_net_options *options, const struct zm_shape *shape,
		   uint64_t seed, unsigned int pair, struct zm_why *why)
{
	int r;

	*supply = (struct zm_supply){
		.ring = ring,
		.is_stamped = options->verify != ZM_NET_VERIFY_NONE,
		.is_filled_anew = options->fill == ZM_NET_FILL_MESSAGE,
		.is_paced = shape && options->pace == ZM_NET_PACE_RECORDED,
		.shape = { .shape = shape },
	};
	r = zm_payload_open(&supply->payload, options->payload, seed, pair, why);
	if (r == 0 && supply->is_stamped)
		r = zm_payload_open_digest(&supply->payload, why);
	if (r == 0)
		r = fill_ring(supply, why);
	supply->is_plain = !supply->is_stamped && !supply->is_filled_anew && !shape;
	return r;
}

void zm_supply_release(struct zm_supply *supply)
{
	zm_payload_release(&supply->payload);
	free(supply->digests);
	supply->digests = NULL;
}

int zm_supply_dress(struct zm_supply *supply, struct iovec *message, unsigned int slot)
{
	uint64_t digest = supply->digests[slot];
	bool is_whole = true;
	int r = 0;

	if (supply->shape.shape) {
		message->iov_len = zm_shape_next_size(&supply->shape);
		is_whole = message->iov_len == supply->ring->size;
	}
	if (supply->is_filled_anew)
		r = zm_payload_fill(&supply->payload, message->iov_base, message->iov_len);
	if (r < 0 || !supply->is_stamped)
		return r;
	if (supply->is_filled_anew || !is_whole)
		r = zm_payload_digest(&supply->payload, message->iov_base, message->iov_len,
				      &digest);
	if (r == 0)
		zm_payload_stamp(&supply->payload, message->iov_base, message->iov_len,
				 supply->number++, digest);
	return r;
}
