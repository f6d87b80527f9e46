/*
 * stream: one end sends until the stop, the other receives until the stream's end.
 *
 *     stop -> the sender leaves its loop -> finishes (shutdown, close, empty datagrams)
 *          -> the receiver reads what is under way, sees the end -> DONE
 *
 * So nobody is ever stuck: the receiver reads as long as the sender may send, and a blocked receiver
 * is woken by the stream itself. In lmbench's transfer a sender that waits to be asked is woken by the
 * receiver, which asks no more after the stop and closes the control pipe.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netload/direct.h"
#include "netload/net.h"
#include "workloads/base/clock.h"

#define STOP_DEADLINE_NS   (10 * ZM_NS_PER_S)
#define FINISH_DEADLINE_NS (50 * ZM_NS_PER_S)
#define FINISH_STEP_NS     (5 * ZM_NS_PER_MS)
#define PACE_SLICE_NS      (50 * ZM_NS_PER_MS)

/* How many receiving calls pass between two looks at the socket's count of drops. */
#define DROPS_EVERY 1024

/* --- counting --- */

void zm_net_note_first(struct zm_task *task)
{
	if (atomic_load_explicit(&task->slot->first_op_ns, memory_order_relaxed) == 0)
		atomic_store_explicit(&task->slot->first_op_ns, zm_clock_now_ns(),
				      memory_order_relaxed);
}

/* The other end has failed and says why itself; the run will be stopped for it. True: it was. */
static bool is_stopped_for_other(struct zm_task *task)
{
	const struct zm_net_task *net = zm_net_task_of(task);
	uint64_t deadline_ns = zm_clock_now_ns() + STOP_DEADLINE_NS;

	while (!zm_task_is_stopped(task)) {
		if (atomic_load(&net->pair->ends[!task->end].stage) != ZM_PAIR_FAILED ||
		    zm_clock_now_ns() > deadline_ns)
			return false;
		(void)zm_clock_sleep_until(zm_clock_now_ns() + ZM_NS_PER_MS);
	}
	return true;
}

int zm_net_gone(struct zm_task *task, int error)
{
	const struct zm_flow *flow = &zm_net_task_of(task)->flow;

	if (is_stopped_for_other(task))
		return 0;
	if (error == -EMSGSIZE)
		return zm_why_set(
			&task->slot->why, error,
			"pair %u: messages of %zu bytes are too large for a %s socket whose "
			"send buffer is %" PRIu64 " bytes; send smaller ones, or set sndbuf",
			task->pair, flow->out.size, flow->family->name, flow->sndbuf_bytes);
	if (error == -EPIPE || error == -ECONNRESET)
		return zm_why_set(&task->slot->why, error,
				  "pair %u: the %s end left before the stop", task->pair,
				  task->end == ZM_NET_SENDER ? "receiving" : "sending");
	return zm_why_errno(&task->slot->why, error, "pair %u: the %s end's stream broke",
			    task->pair, task->end == ZM_NET_SENDER ? "sending" : "receiving");
}

void zm_net_count_sent(struct zm_task *task, const struct zm_moved *moved)
{
	struct zm_net_task *net = zm_net_task_of(task);

	net->sent.messages += moved->messages;
	net->sent.bytes += moved->bytes;
	zm_task_count_is(task, ZM_NET_SENT_MESSAGES, net->sent.messages);
	zm_task_count_is(task, ZM_NET_SENT_BYTES, net->sent.bytes);
	if (moved->refused)
		zm_task_count(task, ZM_NET_REFUSED, moved->refused);
}

/* A byte stream's operation is a byte, another's a message. */
static uint64_t ops_of(const struct zm_net_task *net, const struct zm_pair_total *total)
{
	return net->flow.family->keeps_borders ? total->messages : total->bytes;
}

static int check_piece(struct zm_task *task, const struct zm_piece *piece)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_checker *checker = &net->checker;
	struct zm_checker before = *checker;
	int r = zm_checker_feed(checker, piece->data, piece->size, &task->slot->why);

	zm_task_count(task, ZM_NET_CHECKED, checker->checked - before.checked);
	zm_task_count(task, ZM_NET_MISSING, checker->missing - before.missing);
	zm_task_count(task, ZM_NET_LATE, checker->late - before.late);
	zm_task_count(task, ZM_NET_CHECK_NS, checker->spent_ns - before.spent_ns);
	net->received.checked = checker->checked;
	return r;
}

/* Not the whole message was taken, or nothing. */
__attribute__((noinline)) static int send_rest(struct zm_task *task, const struct iovec *message,
					       ssize_t n)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_moved moved = { 0 };
	int r = zm_direct_send_rest(&net->flow, message, n, &moved);

	zm_net_count_sent(task, &moved);
	return r;
}

/* The direct loops are one function each, with nothing to save and to restore between two system calls. */
static inline __attribute__((always_inline)) int send_directly(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	const struct iovec *message = zm_ring_take(&net->flow.out);
	ssize_t n = zm_direct_send(&net->flow, message->iov_base, message->iov_len);

	if (n != (ssize_t)message->iov_len)
		return send_rest(task, message, n);
	net->sent.messages++;
	net->sent.bytes += (uint64_t)n;
	zm_task_count_is(task, ZM_NET_SENT_MESSAGES, net->sent.messages);
	zm_task_count_is(task, ZM_NET_SENT_BYTES, net->sent.bytes);
	return 0;
}

int zm_net_send_directly(struct zm_task *task)
{
	return send_directly(task);
}

static bool is_end(const struct zm_net_task *net, const struct zm_piece *piece)
{
	return piece->size == 0 && net->flow.family->ending == ZM_END_EMPTY &&
	       atomic_load(&net->pair->ends[ZM_NET_SENDER].stage) >= ZM_PAIR_FINISHED;
}

static void publish_received(struct zm_task *task, const struct zm_net_task *net)
{
	zm_task_count_is(task, ZM_NET_RECV_MESSAGES, net->received.messages);
	zm_task_count_is(task, ZM_NET_RECV_BYTES, net->received.bytes);
}

/* Most calls bring one piece, at which nobody looks. */
static inline bool count_plain(struct zm_task *task, const struct zm_piece *piece, int nr)
{
	struct zm_net_task *net = zm_net_task_of(task);

	if (nr != 1 || piece->size == 0 || net->is_checking)
		return false;
	net->received.messages += piece->messages;
	net->received.bytes += piece->size;
	publish_received(task, net);
	return true;
}

int zm_net_count_received(struct zm_task *task, const struct zm_piece *pieces, int nr,
			  bool *ret_ended)
{
	struct zm_net_task *net = zm_net_task_of(task);
	uint64_t messages = 0, bytes = 0;
	bool ended = false;
	int r = 0;

	if (count_plain(task, pieces, nr)) {
		*ret_ended = false;
		return 0;
	}
	for (int i = 0; r == 0 && i < nr; i++) {
		if (is_end(net, &pieces[i])) {
			ended = true;
			continue;
		}
		messages += pieces[i].messages;
		bytes += pieces[i].size;
		if (net->is_checking)
			r = check_piece(task, &pieces[i]);
	}
	net->received.messages += messages;
	net->received.bytes += bytes;
	publish_received(task, net);
	*ret_ended = ended;
	return r;
}

/* The stream's end, an empty datagram, or a failure. */
__attribute__((noinline)) static int receive_nothing(struct zm_task *task, ssize_t n)
{
	const struct zm_piece empty = { .messages = 1 };
	bool ended;
	int r;

	if (n < 0)
		return -errno;
	if (!zm_net_task_of(task)->flow.family->keeps_borders)
		return 0;
	r = zm_net_count_received(task, &empty, 1, &ended);
	return r < 0 ? r : ended ? 0 : -EINTR;
}

static inline __attribute__((always_inline)) ssize_t receive_directly(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	ssize_t n = zm_direct_recv(&net->flow, zm_ring_take(&net->flow.in));

	if (n <= 0)
		return receive_nothing(task, n);
	net->received.messages++;
	net->received.bytes += (uint64_t)n;
	publish_received(task, net);
	return n;
}

ssize_t zm_net_receive_directly(struct zm_task *task)
{
	return receive_directly(task);
}

/* The socket's own count of datagrams that found its buffer full: 32 bits, so differences. */
__attribute__((noinline)) static void count_drops(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	uint32_t info[SK_MEMINFO_VARS];
	socklen_t length = sizeof(info);

	net->until_drops = DROPS_EVERY;
	if (!net->flow.family->may_lose ||
	    getsockopt(net->flow.fd, SOL_SOCKET, SO_MEMINFO, info, &length) < 0 ||
	    length <= SK_MEMINFO_DROPS * sizeof(info[0]))
		return;
	zm_task_count(task, ZM_NET_SOCKET_DROPS, info[SK_MEMINFO_DROPS] - net->drops_seen);
	net->drops_seen = info[SK_MEMINFO_DROPS];
}

/* --- the sender --- */

/* Until the next message of the shape is due, or the stop. */
static void wait_until_due(struct zm_task *task)
{
	struct zm_shape_cursor *shape = &zm_net_task_of(task)->supply.shape;
	uint64_t now_ns = zm_clock_now_ns();
	uint64_t due_ns = zm_shape_due_ns(shape, now_ns);

	while (now_ns < due_ns && !zm_task_is_stopped(task)) {
		uint64_t slice_ns =
			due_ns - now_ns < PACE_SLICE_NS ? due_ns : now_ns + PACE_SLICE_NS;

		(void)zm_clock_sleep_until(slice_ns);
		now_ns = zm_clock_now_ns();
	}
}

static int send_burst(struct zm_task *task, unsigned int nr)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct iovec messages[ZM_NET_MAX_DEPTH];
	struct zm_moved moved = { 0 };
	int r;

	if (net->supply.is_paced)
		wait_until_due(task);
	r = zm_supply_take(&net->supply, messages, nr);
	if (r < 0)
		return zm_why_errno(&task->slot->why, r, "payload: libcrypto");
	r = net->flow.engine->send(&net->flow, messages, nr, &moved);
	zm_net_count_sent(task, &moved);
	zm_task_ops_are(task, ops_of(net, &net->sent));
	return r < 0 ? zm_net_gone(task, r) : 0;
}

static inline __attribute__((always_inline)) int send_one_directly(struct zm_task *task)
{
	const struct zm_net_task *net = zm_net_task_of(task);
	int r = send_directly(task);

	zm_task_ops_are(task, ops_of(net, &net->sent));
	return r < 0 ? zm_net_gone(task, r) : 0;
}

/* One message at a time, as it lies in the ring. */
static int send_plain(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_flow *flow = &net->flow;
	struct zm_moved moved = { 0 };
	int r = flow->engine->send(flow, zm_ring_take(net->supply.ring), 1, &moved);

	zm_net_count_sent(task, &moved);
	zm_task_ops_are(task, ops_of(net, &net->sent));
	return r < 0 ? zm_net_gone(task, r) : 0;
}

static int send_until_stop(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	bool is_plain = net->depth == 1 && net->supply.is_plain;
	int r = send_burst(task, net->depth);

	zm_net_note_first(task);
	while (net->sends_directly && r == 0 && !zm_task_is_stopped(task))
		r = send_one_directly(task);
	while (r == 0 && !zm_task_is_stopped(task))
		r = is_plain ? send_plain(task) : send_burst(task, net->depth);
	return r;
}

static int send_empty(struct zm_flow *flow)
{
	const struct sockaddr *to = (const struct sockaddr *)&flow->peer.storage;
	int flags = MSG_NOSIGNAL | MSG_DONTWAIT;

	if (flow->family->call == ZM_CALL_SENDTO)
		return (int)sendto(flow->fd, "", 0, flags, to, flow->peer.length);
	return (int)send(flow->fd, "", 0, flags);
}

/* Empty datagrams may be lost like others: they go on until the receiver says that it saw one. Ever
 * more rarely, since the receivers of thousands of pairs need the CPUs for seeing it. */
static int end_by_empty(struct zm_net_task *net)
{
	uint64_t deadline_ns = zm_clock_now_ns() + FINISH_DEADLINE_NS;
	uint64_t step_ns = FINISH_STEP_NS;
	int r = -ETIMEDOUT;

	while (r == -ETIMEDOUT && zm_clock_now_ns() < deadline_ns) {
		(void)send_empty(&net->flow);
		r = zm_pair_hear(net->pair, ZM_NET_RECEIVER, ZM_PAIR_FINISHED,
				 zm_clock_now_ns() + step_ns);
		step_ns = 2 * step_ns < ZM_NS_PER_S ? 2 * step_ns : ZM_NS_PER_S;
	}
	return r == -ECONNABORTED ? 0 : r;
}

static int end_stream(struct zm_net_task *net)
{
	struct zm_flow *flow = &net->flow;

	switch (flow->family->ending) {
	case ZM_END_SHUTDOWN:
		(void)shutdown(flow->fd, SHUT_WR);
		return 0;
	case ZM_END_CLOSE:
		flow->engine->close(flow); /* it may hold the descriptor too */
		(void)close(flow->fd);
		flow->fd = -1;
		return 0;
	case ZM_END_EMPTY:
		return end_by_empty(net);
	}
	return -EINVAL;
}

int zm_stream_finish(struct zm_task *task, int error)
{
	struct zm_net_task *net = zm_net_task_of(task);
	int r;

	net->pair->ends[ZM_NET_SENDER].total = net->sent;
	zm_pair_say(net->pair, ZM_NET_SENDER, error < 0 ? ZM_PAIR_FAILED : ZM_PAIR_FINISHED);
	r = end_stream(net);
	if (error < 0)
		return error;
	if (r < 0)
		return zm_why_errno(&task->slot->why, r, "pair %u: the receiver did not end",
				    task->pair);
	zm_pair_say(net->pair, ZM_NET_SENDER, ZM_PAIR_DONE);
	return 0;
}

int zm_stream_send(struct zm_task *task)
{
	return zm_stream_finish(task, send_until_stop(task));
}

/* --- the receiver --- */

/* One receiving call. 1: go on; 0: the stream's end; or -errno. */
static int receive_some(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_piece pieces[ZM_NET_MAX_DEPTH];
	bool ended;
	int nr = net->flow.engine->recv(&net->flow, pieces);
	int r;

	if (nr <= 0)
		return nr < 0 ? zm_net_gone(task, nr) : 0;
	r = zm_net_count_received(task, pieces, nr, &ended);
	zm_task_ops_are(task, ops_of(net, &net->received));
	if (net->until_drops-- == 0)
		count_drops(task);
	if (r < 0)
		return r;
	return ended ? 0 : 1;
}

static inline __attribute__((always_inline)) int receive_one_directly(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	ssize_t n = receive_directly(task);

	zm_task_ops_are(task, ops_of(net, &net->received));
	if (net->until_drops-- == 0)
		count_drops(task);
	if (n > 0 || n == -EINTR)
		return 1;
	return n < 0 ? zm_net_gone(task, (int)n) : 0;
}

static inline int receive_next(struct zm_task *task)
{
	return zm_net_task_of(task)->receives_directly ? receive_one_directly(task)
						       : receive_some(task);
}

static int receive_to_end(struct zm_task *task)
{
	int r = receive_next(task);

	zm_net_note_first(task);
	while (r > 0)
		r = receive_next(task);
	return r;
}

/* The stream has ended: in order? */
static int leave_receiver(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	const struct zm_checker *checker = &net->checker;

	count_drops(task);
	net->pair->ends[ZM_NET_RECEIVER].total = net->received;
	zm_pair_say(net->pair, ZM_NET_RECEIVER, ZM_PAIR_FINISHED);
	if (!zm_task_is_stopped(task))
		return zm_net_gone(task, -EPIPE);
	if (net->is_checking && !checker->may_lose && checker->have > 0)
		return zm_why_set(&task->slot->why, -EBADMSG,
				  "pair %u: the stream ended within a message", task->pair);
	zm_pair_say(net->pair, ZM_NET_RECEIVER, ZM_PAIR_DONE);
	return 0;
}

int zm_stream_receive(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	int r;

	net->checker.cycle = net->pair->ends[ZM_NET_SENDER].cycle;
	r = receive_to_end(task);

	return r < 0 ? r : leave_receiver(task);
}

/* --- lmbench's transfer: the receiver asks --- */

/* Whole messages, as many as reach what was asked for. */
static uint64_t portion_of(const struct zm_net_options *options)
{
	uint64_t size = options->send_size;

	return (options->ask + size - 1) / size * size;
}

static int send_portion(struct zm_task *task, uint64_t portion)
{
	const struct zm_net_task *net = zm_net_task_of(task);
	uint64_t until = net->sent.bytes + portion, size = net->options->send_size;
	int r = 0;

	while (r == 0 && net->sent.bytes < until && !zm_task_is_stopped(task)) {
		uint64_t nr = (until - net->sent.bytes + size - 1) / size;

		r = net->sends_directly
			    ? send_one_directly(task)
			    : send_burst(task, nr < net->depth ? (unsigned int)nr : net->depth);
	}
	return r;
}

int zm_stream_answer(struct zm_task *task)
{
	const struct zm_net_task *net = zm_net_task_of(task);
	uint64_t todo;
	ssize_t n;
	int r = 0;

	while (r == 0 && !zm_task_is_stopped(task)) {
		n = read(net->flow.control_fd, &todo, sizeof(todo));
		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(todo))
			break;
		r = send_portion(task, todo);
		zm_net_note_first(task);
	}
	if (r == 0 && !zm_task_is_stopped(task))
		r = zm_net_gone(task, -EPIPE);
	return zm_stream_finish(task, r);
}

static int ask_and_receive(struct zm_task *task, uint64_t portion)
{
	const struct zm_net_task *net = zm_net_task_of(task);
	uint64_t until = net->received.bytes + portion;
	ssize_t n = write(net->flow.control_fd, &portion, sizeof(portion));
	int r = 1;

	if (n != (ssize_t)sizeof(portion))
		return zm_net_gone(task, n < 0 ? -errno : -EIO);
	while (r > 0 && net->received.bytes < until)
		r = receive_next(task);
	return r;
}

int zm_stream_ask(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	uint64_t portion = portion_of(net->options);
	int r = 1;

	while (r > 0 && !zm_task_is_stopped(task)) {
		r = ask_and_receive(task, portion);
		zm_net_note_first(task);
	}
	(void)close(net->flow.control_fd);
	net->flow.control_fd = -1;
	if (r > 0)
		r = receive_to_end(task);
	return r < 0 ? r : leave_receiver(task);
}
