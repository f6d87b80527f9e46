/*
 * rr: transactions: the sending end asks, the other answers, one in flight.
 *
 *     rr    over one connection
 *     crr   a connection each: connect, request, response, shut down, close, as netperf's client
 *           does it (so the closed connections linger on the client's side)
 *
 * A datagram that was lost would stop a UDP pair for ever: the asking end waits for at most
 * RR_TIMEOUT, counts a time-out and asks again.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "netload/net.h"
#include "workloads/base/clock.h"

#define RR_TIMEOUT_S 1

/* Where a transaction's latency goes. */
#define HIST_LATENCY 0

/* The rest of a message of which `have` bytes are there. */
__attribute__((noinline)) static int receive_rest(struct zm_task *task, uint64_t size,
						  uint64_t have)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_piece pieces[ZM_NET_MAX_DEPTH];
	uint64_t whole = 0;
	bool ended;

	for (;;) {
		int nr = net->flow.engine->recv(&net->flow, pieces);
		int r;

		if (nr <= 0)
			return nr;
		r = zm_net_count_received(task, pieces, nr, &ended);
		if (r < 0)
			return r;
		if (ended)
			return 0;
		for (int i = 0; i < nr; i++) {
			have += pieces[i].size;
			whole += pieces[i].messages;
		}
		if (net->flow.family->keeps_borders ? whole > 0 : have >= size)
			return 1;
	}
}

/* 1: the whole message is here; 0: the stream's end; -EAGAIN: time is up; or -errno. */
static int receive_message(struct zm_task *task, uint64_t size)
{
	const struct zm_net_task *net = zm_net_task_of(task);
	ssize_t n;

	if (!net->receives_directly)
		return receive_rest(task, size, 0);
	n = zm_net_receive_directly(task);
	if (n > 0)
		return net->flow.family->keeps_borders || (uint64_t)n >= size
			       ? 1
			       : receive_rest(task, size, (uint64_t)n);
	return n == -EINTR ? receive_rest(task, size, 0) : (int)n;
}

static int send_dressed(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_moved moved = { 0 };
	struct iovec message;
	int r = zm_supply_take(&net->supply, &message, 1);

	if (r == 0)
		r = net->flow.engine->send(&net->flow, &message, 1, &moved);
	zm_net_count_sent(task, &moved);
	return r;
}

static int send_message(struct zm_task *task)
{
	return zm_net_task_of(task)->sends_directly ? zm_net_send_directly(task)
						    : send_dressed(task);
}

static void count_transaction(struct zm_task *task)
{
	zm_task_count(task, ZM_NET_TRANSACTIONS, 1);
	zm_task_add(task, 1);
}

/* Failing to hear from the other end: 0 when it is the stop. */
static int ask_failed(struct zm_task *task, int r)
{
	if (r == -EAGAIN) {
		zm_task_count(task, ZM_NET_TIMEOUTS, 1);
		return 0;
	}
	if (r == -EBADMSG)
		return r;
	return zm_net_gone(task, r == 0 ? -EPIPE : r);
}

static int set_timeout(struct zm_task *task)
{
	struct timeval limit = { .tv_sec = RR_TIMEOUT_S };
	const struct zm_flow *flow = &zm_net_task_of(task)->flow;

	if (!flow->family->may_lose ||
	    setsockopt(flow->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0)
		return 0;
	return zm_why_errno(&task->slot->why, -errno, "udp: SO_RCVTIMEO");
}

int zm_rr_ask(struct zm_task *task)
{
	const struct zm_net_task *net = zm_net_task_of(task);
	uint64_t size = net->options->response_size, start_ns, now_ns;
	int r = set_timeout(task);

	start_ns = zm_clock_now_ns();
	while (r == 0 && !zm_task_is_stopped(task)) {
		r = send_message(task);
		if (r == 0)
			r = receive_message(task, size);
		now_ns = zm_clock_now_ns();
		if (r <= 0) {
			r = ask_failed(task, r);
		} else {
			zm_task_hist(task, HIST_LATENCY, now_ns - start_ns);
			count_transaction(task);
			zm_net_note_first(task);
			r = 0;
		}
		start_ns = now_ns;
	}
	return zm_stream_finish(task, r);
}

/* The answering end has seen the end of the requests. */
static int leave_answerer(struct zm_task *task, int r)
{
	struct zm_net_task *net = zm_net_task_of(task);

	net->pair->ends[ZM_NET_RECEIVER].total = net->received;
	zm_pair_say(net->pair, ZM_NET_RECEIVER, ZM_PAIR_FINISHED);
	if (r == -EBADMSG)
		return r;
	if (r < 0 || !zm_task_is_stopped(task)) {
		r = zm_net_gone(task, r < 0 ? r : -EPIPE);
		if (r < 0)
			return r;
	}
	zm_pair_say(net->pair, ZM_NET_RECEIVER, ZM_PAIR_DONE);
	return 0;
}

int zm_rr_answer(struct zm_task *task)
{
	const struct zm_net_task *net = zm_net_task_of(task);
	uint64_t size = net->options->request_size;
	int r;

	while ((r = receive_message(task, size)) > 0) {
		r = send_message(task);
		if (r < 0)
			break;
		count_transaction(task);
		zm_net_note_first(task);
	}
	return leave_answerer(task, r);
}

/* --- a connection each --- */

static void drop_connection(struct zm_flow *flow)
{
	if (flow->fd >= 0)
		(void)close(flow->fd);
	flow->fd = -1;
}

/* -EAGAIN: no local port is free at the moment, all linger. */
static int open_connection(struct zm_flow *flow, struct zm_why *why)
{
	int r = zm_flow_socket(flow, NULL, &flow->fd, why);

	if (r < 0)
		return r;
	if (connect(flow->fd, (const struct sockaddr *)&flow->peer.storage, flow->peer.length) == 0)
		return 0;
	r = errno == EADDRNOTAVAIL ? -EAGAIN : -errno;
	drop_connection(flow);
	return r == -EAGAIN ? r : zm_why_errno(why, r, "crr: connect");
}

static int close_connection(struct zm_flow *flow)
{
	char rest;
	ssize_t n;

	(void)shutdown(flow->fd, SHUT_WR);
	do {
		n = recv(flow->fd, &rest, 1, 0);
	} while (n < 0 && errno == EINTR);
	drop_connection(flow);
	return n < 0 ? -errno : 0;
}

static int transact(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	uint64_t start_ns = zm_clock_now_ns();
	int r = open_connection(&net->flow, &task->slot->why);

	if (r == -EAGAIN) {
		zm_task_count(task, ZM_NET_REFUSED, 1);
		(void)zm_clock_sleep_until(start_ns + ZM_NS_PER_MS);
		return 0;
	}
	if (r == 0)
		r = send_message(task);
	if (r == 0)
		r = receive_message(task, net->options->response_size);
	if (r <= 0)
		return zm_net_gone(task, r == 0 ? -EPIPE : r);
	r = close_connection(&net->flow);
	if (r < 0)
		return zm_net_gone(task, r);
	zm_task_hist(task, HIST_LATENCY, zm_clock_now_ns() - start_ns);
	count_transaction(task);
	return 0;
}

int zm_crr_finish(struct zm_task *task, int error)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_pair *pair = net->pair;
	int r;

	pair->ends[ZM_NET_SENDER].total = net->sent;
	zm_pair_say(pair, ZM_NET_SENDER, error < 0 ? ZM_PAIR_FAILED : ZM_PAIR_FINISHED);
	do {
		drop_connection(&net->flow);
		r = open_connection(&net->flow, NULL);
		if (r == -EAGAIN)
			(void)zm_clock_sleep_until(zm_clock_now_ns() + ZM_NS_PER_MS);
	} while (r == -EAGAIN);
	drop_connection(&net->flow);
	if (error == 0)
		zm_pair_say(pair, ZM_NET_SENDER, ZM_PAIR_DONE);
	return error;
}

int zm_crr_ask(struct zm_task *task)
{
	int r = 0;

	drop_connection(&zm_net_task_of(task)->flow); /* the one that setup made */
	while (r == 0 && !zm_task_is_stopped(task)) {
		r = transact(task);
		zm_net_note_first(task);
	}
	return zm_crr_finish(task, r);
}

/* 1: answered; 0: the last connection, without a request; or -errno. */
static int answer_connection(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	int r;

	net->flow.fd = accept4(net->flow.control_fd, NULL, NULL, SOCK_CLOEXEC);
	if (net->flow.fd < 0)
		return errno == EINTR || errno == ECONNABORTED ? 1 : -errno;
	r = receive_message(task, net->options->request_size);
	if (r > 0)
		r = send_message(task);
	else if (r == 0)
		return atomic_load(&net->pair->ends[ZM_NET_SENDER].stage) >= ZM_PAIR_FINISHED ? 0
											      : 1;
	if (r < 0)
		return r;
	count_transaction(task);
	(void)close_connection(&net->flow);
	return 1;
}

int zm_crr_answer(struct zm_task *task)
{
	struct zm_flow *flow = &zm_net_task_of(task)->flow;
	int r = 1;

	while (r > 0) {
		drop_connection(flow);
		r = answer_connection(task);
		zm_net_note_first(task);
	}
	return leave_answerer(task, r);
}
