/*
 * uring_recv: one standing request that fills buffers as bytes come.
 *
 *     provided ring   the receiving slots, in an order that we remember; a completion names the first
 *                     that it filled, and with bundles may have filled several in that order
 *     pieces          point into the slots, which go back to the kernel at the next call
 *
 * A pipe, and a kernel before 6.0, gets one plain request at a time.
 */
#include "netload/uring.h"

#ifdef ZM_HAVE_URING
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define GROUP       0
#define PATIENCE_S  1
#define MAX_BUFFERS 32768

static unsigned int power_of_two(unsigned int least)
{
	unsigned int power = 1;

	while (power < least)
		power *= 2;
	return power;
}

/* Queues a slot behind the others. The kernel sees it with the next advance. */
static void queue_slot(struct zm_flow *flow, uint16_t slot, unsigned int offset)
{
	struct zm_uring *uring = flow->engine_state;
	unsigned int mask = uring->nr_places - 1;

	io_uring_buf_ring_add(uring->provided, flow->in.slots[slot].iov_base,
			      (unsigned int)flow->in.slots[slot].iov_len, slot, (int)mask,
			      (int)offset);
	uring->order[(uring->head + uring->nr_queued) & mask] = slot;
	uring->nr_queued++;
}

static int provide(struct zm_flow *flow)
{
	struct zm_uring *uring = flow->engine_state;
	struct io_uring_buf_reg registration = { .bgid = GROUP };
	void *memory;
	int r;

	uring->nr_buffers = flow->in.nr < ZM_NET_MAX_DEPTH ? flow->in.nr : ZM_NET_MAX_DEPTH;
	uring->nr_places = power_of_two(uring->nr_buffers);
	uring->order = calloc(uring->nr_places, sizeof(*uring->order));
	uring->provided_bytes = uring->nr_places * sizeof(struct io_uring_buf);
	memory = mmap(NULL, uring->provided_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!uring->order || memory == MAP_FAILED)
		return -ENOMEM;
	uring->provided = memory;
	registration.ring_addr = (uint64_t)(uintptr_t)memory;
	registration.ring_entries = uring->nr_places;
	r = io_uring_register_buf_ring(&uring->ring, &registration, 0);
	if (r < 0)
		return r;
	io_uring_buf_ring_init(uring->provided);
	for (unsigned int i = 0; i < uring->nr_buffers; i++)
		queue_slot(flow, (uint16_t)i, i);
	io_uring_buf_ring_advance(uring->provided, (int)uring->nr_buffers);
	return 0;
}

int zm_uring_recv_open(struct zm_flow *flow, struct zm_why *why)
{
	struct zm_uring *uring = flow->engine_state;
	int r;

	if (flow->family == &zm_family_pipe)
		return 0;
	r = provide(flow);
	if (r == -EINVAL) /* a kernel that knows no provided rings */
		return 0;
	if (r < 0)
		return zm_uring_cannot(why, r);
	uring->is_multishot = true;
	uring->is_bundle =
		!flow->family->keeps_borders && (uring->ring.features & ZM_URING_FEAT_BUNDLE) != 0;
	return 0;
}

void zm_uring_recv_close(struct zm_flow *flow)
{
	struct zm_uring *uring = flow->engine_state;

	if (uring->provided)
		(void)munmap(uring->provided, uring->provided_bytes);
	free(uring->order);
	uring->provided = NULL;
	uring->order = NULL;
}

/* The pieces of the last call have been looked at: their slots go back. */
static void take_back(struct zm_flow *flow)
{
	struct zm_uring *uring = flow->engine_state;

	for (unsigned int i = 0; i < uring->nr_lent; i++)
		queue_slot(flow, uring->lent[i], i);
	if (uring->nr_lent > 0)
		io_uring_buf_ring_advance(uring->provided, (int)uring->nr_lent);
	uring->nr_lent = 0;
}

static int arm(struct zm_flow *flow)
{
	struct zm_uring *uring = flow->engine_state;
	struct io_uring_sqe *sqe = zm_uring_sqe(uring);

	if (!sqe)
		return -EBUSY;
	if (uring->is_multishot) {
		io_uring_prep_recv_multishot(sqe, 0, NULL, 0, 0);
		sqe->flags |= IOSQE_BUFFER_SELECT;
		sqe->buf_group = GROUP;
		if (uring->is_bundle)
			sqe->ioprio |= IORING_RECVSEND_BUNDLE;
	} else {
		const struct iovec *slot = zm_ring_take(&flow->in);

		uring->lent[0] = (uint16_t)(slot - flow->in.slots);
		if (flow->family->call == ZM_CALL_WRITE)
			io_uring_prep_read(sqe, 0, slot->iov_base, (unsigned int)slot->iov_len, 0);
		else
			io_uring_prep_recv(sqe, 0, slot->iov_base, slot->iov_len, 0);
	}
	sqe->flags |= IOSQE_FIXED_FILE;
	io_uring_sqe_set_data64(sqe, ZM_URING_RECV);
	uring->is_armed = true;
	return 0;
}

/* Waits for one completion or more. -EAGAIN: the patience of a transaction that may be lost is over. */
static int wait_for_some(struct zm_uring *uring)
{
	struct __kernel_timespec patience = { .tv_sec = PATIENCE_S };
	struct io_uring_cqe *cqe;
	int r;

	if (uring->is_impatient)
		r = io_uring_submit_and_wait_timeout(&uring->ring, &cqe, 1, &patience, NULL);
	else
		r = io_uring_submit_and_wait(&uring->ring, 1);
	if (r == -ETIME)
		return -EAGAIN;
	return r < 0 && r != -EINTR ? r : 0;
}

/* The oldest slot that the kernel had is ours now, with this many bytes in it. */
static void lend(struct zm_flow *flow, size_t size, struct zm_piece *ret_piece)
{
	struct zm_uring *uring = flow->engine_state;
	uint16_t slot = uring->order[uring->head];

	uring->head = (uring->head + 1) & (uring->nr_places - 1);
	uring->nr_queued--;
	uring->lent[uring->nr_lent++] = slot;
	*ret_piece = (struct zm_piece){
		.data = flow->in.slots[slot].iov_base,
		.size = size,
		.messages = 1,
	};
}

/* Bytes that came into provided slots: as many pieces as slots. */
static int lend_filled(struct zm_flow *flow, size_t bytes, struct zm_piece *pieces)
{
	size_t slot_size = flow->in.size;
	int nr = 0;

	do {
		size_t size = bytes < slot_size ? bytes : slot_size;

		lend(flow, size, &pieces[nr++]);
		bytes -= size;
	} while (bytes > 0);
	return nr;
}

/* What one completion of the standing request means: pieces, 0 for the end (*ret_ended), or -errno. */
static int take_recv(struct zm_flow *flow, const struct io_uring_cqe *cqe, struct zm_piece *pieces,
		     bool *ret_ended)
{
	struct zm_uring *uring = flow->engine_state;

	if (!(cqe->flags & IORING_CQE_F_MORE))
		uring->is_armed = false;
	if (cqe->res == -ENOBUFS || cqe->res == -EINTR || cqe->res == -EAGAIN)
		return 0; /* all slots were full; armed again when they are back */
	if (cqe->res < 0)
		return cqe->res;
	*ret_ended = cqe->res == 0 && !flow->family->keeps_borders;
	if (*ret_ended)
		return 0;
	if (cqe->flags & IORING_CQE_F_BUFFER)
		return lend_filled(flow, (size_t)cqe->res, pieces);
	pieces[0] = (struct zm_piece){
		.data = uring->is_multishot ? NULL : flow->in.slots[uring->lent[0]].iov_base,
		.size = (size_t)cqe->res,
		.messages = 1,
	};
	return 1;
}

/* One completion, ours or a send's. */
static int take_completion(struct zm_flow *flow, const struct io_uring_cqe *cqe,
			   struct zm_piece *pieces, bool *ret_ended)
{
	struct zm_uring *uring = flow->engine_state;

	if (io_uring_cqe_get_data64(cqe) == ZM_URING_RECV)
		return take_recv(flow, cqe, pieces, ret_ended);
	if (cqe->res < 0 && !zm_net_is_refusal(flow, -cqe->res))
		uring->send_error = cqe->res;
	return uring->send_error;
}

/* All completions that are there, as long as their pieces find room. */
static int take_completions(struct zm_flow *flow, struct zm_piece *pieces, bool *ret_ended)
{
	struct zm_uring *uring = flow->engine_state;
	struct io_uring_cqe *cqe;
	int nr = 0;

	while (!*ret_ended && uring->nr_lent < ZM_NET_MAX_DEPTH && nr < ZM_NET_MAX_DEPTH &&
	       io_uring_peek_cqe(&uring->ring, &cqe) == 0) {
		int r = take_completion(flow, cqe, pieces + nr, ret_ended);

		io_uring_cqe_seen(&uring->ring, cqe);
		if (r < 0)
			return r;
		nr += r;
	}
	return nr;
}

int zm_uring_recv(struct zm_flow *flow, struct zm_piece *pieces)
{
	struct zm_uring *uring = flow->engine_state;
	bool ended = false;
	int nr;

	if (uring->is_multishot)
		take_back(flow);
	for (;;) {
		int r = uring->is_armed ? 0 : arm(flow);

		if (r == 0 && io_uring_cq_ready(&uring->ring) == 0)
			r = wait_for_some(uring);
		if (r < 0)
			return r;
		nr = take_completions(flow, pieces, &ended);
		if (nr != 0 || ended)
			return nr;
	}
}
#endif
