/* net: the shared callbacks, in the order in which they are called. */
#include "netload/net.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netload/direct.h"
#include "netload/file.h"
#include "netload/meet.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define MEET_DEADLINE_NS (60 * ZM_NS_PER_S)

/* IPv4's; netperf takes it for IPv6 too. */
#define MAX_DATAGRAM_BYTES 65507

/* What a stream's socket buffers are when nobody says otherwise; for footprints only. */
#define USUAL_BUFFER_BYTES 212992

const struct zm_metric zm_net_counters[] = {
	[ZM_NET_SENT_MESSAGES] = { .name = "sent_messages", .unit = "messages", .kind = ZM_COUNT },
	[ZM_NET_SENT_BYTES] = { .name = "sent_bytes", .unit = "bytes", .kind = ZM_COUNT },
	[ZM_NET_RECV_MESSAGES] = { .name = "recv_messages",
				   .unit = "messages",
				   .kind = ZM_COUNT,
				   .summary = "on a byte stream: receiving calls" },
	[ZM_NET_RECV_BYTES] = { .name = "recv_bytes", .unit = "bytes", .kind = ZM_COUNT },
	[ZM_NET_REFUSED] = { .name = "refused",
			     .unit = "messages",
			     .kind = ZM_COUNT,
			     .summary = "the kernel did not take them from the sender" },
	[ZM_NET_SOCKET_DROPS] = { .name = "socket_drops",
				  .unit = "messages",
				  .kind = ZM_COUNT,
				  .summary = "found the receiving socket's buffer full" },
	[ZM_NET_TRANSACTIONS] = { .name = "transactions",
				  .unit = "transactions",
				  .kind = ZM_COUNT },
	[ZM_NET_TIMEOUTS] = { .name = "timeouts",
			      .unit = "transactions",
			      .kind = ZM_COUNT,
			      .summary = "no response within a second; asked again" },
	[ZM_NET_CHECKED] = { .name = "checked",
			     .unit = "messages",
			     .kind = ZM_COUNT,
			     .summary = "their content was verified" },
	[ZM_NET_MISSING] = { .name = "missing",
			     .unit = "messages",
			     .kind = ZM_COUNT,
			     .summary = "gaps in the numbers that arrived" },
	[ZM_NET_LATE] = { .name = "late",
			  .unit = "messages",
			  .kind = ZM_COUNT,
			  .summary = "arrived after their successor" },
	[ZM_NET_CHECK_NS] = { .name = "check_time",
			      .unit = "ns",
			      .kind = ZM_COUNT,
			      .summary = "spent in verifying" },
	[ZM_NET_NR_COUNTERS] = { .name = NULL },
};

static const struct zm_net_kind *kind_of(const struct zm_run *run)
{
	return run->workload->own;
}

static bool is_transaction(const struct zm_net_kind *kind)
{
	return kind->form == ZM_NET_FORM_RR || kind->form == ZM_NET_FORM_CRR;
}

/* --- check --- */

static int check_sctp(const struct zm_net_kind *kind, struct zm_why *why)
{
	zm_autoclose int fd = -1;

	if (kind->family->protocol != IPPROTO_SCTP)
		return 0;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP);
	if (fd >= 0)
		return 0;
	if (errno != EPROTONOSUPPORT && errno != ESOCKTNOSUPPORT && errno != EAFNOSUPPORT)
		return zm_why_errno(why, -ENOTSUP, "SCTP cannot be used here (socket: error %d)",
				    errno);
	return zm_why_set(
		why, -ENOTSUP,
		"this kernel has no SCTP: load it (modprobe sctp), or boot one built with "
		"CONFIG_IP_SCTP (a guest: zonemark vm)");
}

static int check_ip(const struct zm_net_kind *kind, const struct zm_net_options *options,
		    struct zm_why *why)
{
	struct zm_net_address address;
	zm_autoclose int fd = -1;

	if (!kind->family->is_inet || options->ip != ZM_NET_IPV6 || options->link != ZM_NET_LINK_LO)
		return 0;
	zm_net_address_loopback(&address, ZM_NET_IPV6);
	fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address.storage, address.length) == 0)
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "ip=ipv6: this machine has no IPv6 on its loopback (sysctl "
			  "net.ipv6.conf.lo.disable_ipv6=0, or boot without ipv6.disable=1)");
}

static int check_lo(const struct zm_net_kind *kind, const struct zm_net_options *options,
		    struct zm_why *why)
{
	struct ifreq request = { .ifr_name = "lo" };
	zm_autoclose int fd = -1;

	if (!kind->family->is_inet || options->link != ZM_NET_LINK_LO)
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return zm_why_errno(why, -errno, "the loopback interface lo");
	if (request.ifr_flags & IFF_UP)
		return 0;
	return zm_why_set(
		why, -ENETDOWN,
		"the loopback interface is down in this network namespace: ip link set lo up");
}

static uint64_t largest_message(const struct zm_net_options *options)
{
	uint64_t size = options->send_size;

	size = size < options->request_size ? options->request_size : size;
	return size < options->response_size ? options->response_size : size;
}

static int check_sizes(const struct zm_net_kind *kind, const struct zm_net_options *options,
		       struct zm_why *why)
{
	if (kind->family == &zm_family_udp && largest_message(options) > MAX_DATAGRAM_BYTES)
		return zm_why_set(why, -EINVAL,
				  "a message of %" PRIu64 " bytes: a UDP datagram holds %d at most",
				  largest_message(options), MAX_DATAGRAM_BYTES);
	if (is_transaction(kind))
		return 0;
	if (kind->family->keeps_borders && options->recv_size > 0 &&
	    options->recv_size < options->send_size)
		return zm_why_set(why, -EINVAL,
				  "recv_size=%" PRIu64 " would cut messages of send_size=%" PRIu64
				  "; ask for as much, or for 0",
				  options->recv_size, options->send_size);
	return 0;
}

static uint64_t smallest_message(const struct zm_net_kind *kind,
				 const struct zm_net_options *options)
{
	if (!is_transaction(kind))
		return options->send_size;
	return options->request_size < options->response_size ? options->request_size
							      : options->response_size;
}

static int check_verify(const struct zm_net_kind *kind, const struct zm_net_options *options,
			struct zm_why *why)
{
	uint64_t size = smallest_message(kind, options);

	if (options->verify == ZM_NET_VERIFY_NONE)
		return 0;
	if (size < sizeof(struct zm_stamp))
		return zm_why_set(why, -EINVAL,
				  "verify needs messages of %zu bytes or more; in %" PRIu64
				  " there is no room for the stamp",
				  sizeof(struct zm_stamp), size);
	if (kind->sends_file && options->fill == ZM_NET_FILL_MESSAGE)
		return zm_why_set(why, -EINVAL,
				  "a file that is sent is filled before the gate: fill=pool");
	return 0;
}

static int check_shape(const struct zm_net_options *options, struct zm_why *why)
{
	if (!options->shape)
		return 0;
	if (options->pace != ZM_NET_PACE_MAX && options->engine != ZM_NET_ENGINE_SYSCALL)
		return zm_why_set(
			why, -EINVAL,
			"pace=recorded sends one message at a time: engine=syscall, or pace=max");
	return zm_shape_check(options->shape, why);
}

int zm_net_check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_net_kind *kind = kind_of(run);
	const struct zm_net_options *options = run->options;
	const struct zm_net_engine *engine = zm_net_engine_of(options);
	int r = check_sizes(kind, options, why);

	if (r == 0)
		r = check_verify(kind, options, why);
	if (r == 0)
		r = check_shape(options, why);
	if (r == 0 && options->capture)
		r = zm_wire_check(options->capture, why);
	if (r == 0)
		r = check_sctp(kind, why);
	if (r == 0)
		r = check_lo(kind, options, why); /* first: one that is down has no IPv6 address */
	if (r == 0)
		r = check_ip(kind, options, why);
	if (r == 0)
		r = zm_link_check(options, why);
	return r == 0 ? engine->check(kind->family, options, why) : r;
}

/* --- footprint, prepare, cleanup --- */

static uint64_t buffer_of(uint64_t asked)
{
	return asked ? 2 * asked : USUAL_BUFFER_BYTES;
}

void zm_net_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_net_options *options = run->options;
	uint64_t sndbuf = buffer_of(options->sndbuf), rcvbuf = buffer_of(options->rcvbuf);
	unsigned int depth = zm_net_engine_depth(options);
	uint64_t message = largest_message(options);

	ret_footprint->shared_bytes =
		run->nr_tasks / 2 * (sizeof(struct zm_pair) + sndbuf / 2 + rcvbuf / 2);
	ret_footprint->task_bytes = (sndbuf + rcvbuf) / 2 + message * depth + (64 << 10);
	ret_footprint->task_files = 8;
	if (kind_of(run)->sends_file) {
		ret_footprint->disk_bytes = run->nr_tasks / 2 * (sndbuf + 2 * message);
		ret_footprint->disk_path = zm_net_file_dir(options);
	}
}

static int prepare_shape(const struct zm_net_options *options, struct zm_shape *shape,
			 struct zm_why *why)
{
	int r = zm_shape_read(options->shape, shape, why);

	if (r < 0)
		return r;
	if (options->verify != ZM_NET_VERIFY_NONE && shape->smallest < sizeof(struct zm_stamp))
		return zm_why_set(why, -EINVAL,
				  "shape=%s has messages of %" PRIu32
				  " bytes, which have no room for verify's stamp of %zu",
				  options->shape, shape->smallest, sizeof(struct zm_stamp));
	return 0;
}

/* libcrypto takes a while to wake up: once, here, instead of once in every task. */
static int prepare_payload(const struct zm_net_options *options, struct zm_why *why)
{
	struct zm_payload payload;
	int r = zm_payload_open(&payload, options->payload, 0, 0, why);

	if (r == 0 && options->verify != ZM_NET_VERIFY_NONE)
		r = zm_payload_open_digest(&payload, why);
	zm_payload_release(&payload);
	return r;
}

int zm_net_prepare(struct zm_run *run, struct zm_why *why)
{
	const struct zm_net_options *options = run->options;
	struct zm_net_run *state = run->state;
	int r;

	state->nr_pairs = run->nr_tasks / 2;
	r = zm_link_open(&state->link, options, why);
	if (r == 0)
		r = zm_pairs_new(state->nr_pairs, &state->pairs, why);
	if (r == 0)
		r = prepare_payload(options, why);
	if (r == 0 && options->shape)
		r = prepare_shape(options, &state->shape, why);
	return r;
}

void zm_net_cleanup(struct zm_run *run)
{
	struct zm_net_run *state = run->state;

	zm_link_close(&state->link);
	zm_shape_release(&state->shape);
	zm_pairs_free(state->pairs, state->nr_pairs);
	state->pairs = NULL;
}

/* --- setup, teardown --- */

/* A pipe or socket whose other end has gone says so by an error, not by a signal. Blocked for this
 * thread only, and for good: it ends with the task. */
static void block_sigpipe(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int meet(struct zm_task *task, struct zm_why *why)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_net_address local;
	struct zm_meet place = {
		.pair = net->pair,
		.end = task->end,
		.connector = net->kind->connector,
		.local = &local,
		.has_ask = net->kind->form == ZM_NET_FORM_ASKED,
		.keeps_listener = net->kind->form == ZM_NET_FORM_CRR,
	};

	zm_link_address(net->options, task->end, &local);
	return zm_meet(&place, &net->flow, zm_clock_now_ns() + MEET_DEADLINE_NS, why);
}

static bool is_sending(const struct zm_task *task, const struct zm_net_kind *kind)
{
	return task->end == ZM_NET_SENDER || is_transaction(kind);
}

static bool is_receiving(const struct zm_task *task, const struct zm_net_kind *kind)
{
	return task->end == ZM_NET_RECEIVER || is_transaction(kind);
}

static unsigned int ring_of(const struct zm_net_task *net, uint64_t buffer_bytes, uint64_t size)
{
	unsigned int nr = (unsigned int)net->options->ring;

	if (is_transaction(net->kind))
		nr = 1;
	else if (nr == 0)
		nr = zm_ring_width(buffer_bytes, size);
	return nr < net->depth ? net->depth : nr;
}

static int open_out(struct zm_task *task, struct zm_why *why)
{
	struct zm_net_task *net = zm_net_task_of(task);
	const struct zm_net_options *options = net->options;
	const struct zm_net_run *state = task->run->state;
	const struct zm_shape *shape = options->shape ? &state->shape : NULL;
	uint64_t size = options->send_size;
	int r;

	if (is_transaction(net->kind))
		size = task->end == ZM_NET_SENDER ? options->request_size : options->response_size;
	if (shape)
		size = shape->largest;
	r = zm_ring_open(&net->flow.out, ring_of(net, net->flow.fresh_sndbuf_bytes, size), size, 0,
			 why);
	if (r == 0)
		r = zm_supply_open(&net->supply, &net->flow.out, options, shape, task->run->seed,
				   task->pair, why);
	if (r < 0 || !net->kind->sends_file)
		return r;
	net->pair->ends[task->end].cycle = net->flow.out.nr;
	return zm_net_file_open(&net->flow, &net->supply, why);
}

static int open_in(struct zm_task *task, struct zm_why *why)
{
	struct zm_net_task *net = zm_net_task_of(task);
	const struct zm_net_options *options = net->options;
	uint64_t size = options->recv_size ? options->recv_size : net->flow.fresh_rcvbuf_bytes;
	int r;

	if (is_transaction(net->kind))
		size = task->end == ZM_NET_SENDER ? options->response_size : options->request_size;
	if (size == 0)
		size = options->send_size;
	r = zm_ring_open(&net->flow.in, ring_of(net, net->flow.fresh_rcvbuf_bytes, size), size,
			 net->kind->recv_offset, why);
	if (r < 0 || options->verify == ZM_NET_VERIFY_NONE)
		return r;
	net->is_checking = true;
	/* A long SCTP message may come in pieces, and datagrams merged: then calls are no borders. */
	return zm_checker_open(&net->checker, options->verify, task->run->seed, task->pair,
			       net->flow.family->keeps_borders && !options->gso &&
				       net->flow.family->call != ZM_CALL_SCTP,
			       net->flow.family->may_lose, why);
}

static void note_buffers(struct zm_task *task)
{
	const struct zm_flow *flow = &zm_net_task_of(task)->flow;
	struct zm_net_run *state = task->run->state;

	if (task->pair > 0)
		return;
	if (task->end == ZM_NET_SENDER)
		state->sndbuf_bytes = flow->sndbuf_bytes;
	else
		state->rcvbuf_bytes = flow->rcvbuf_bytes;
}

/* The first receiver looks on. */
static int open_wire(struct zm_task *task, struct zm_why *why)
{
	struct zm_net_task *net = zm_net_task_of(task);
	const struct zm_wire_plan plan = {
		.family = net->flow.family,
		.from = &net->pair->ends[ZM_NET_SENDER].address,
		.to = &net->pair->ends[ZM_NET_RECEIVER].address,
		.interface = zm_link_interface(net->options, ZM_NET_RECEIVER),
		.path = net->options->capture,
		.most_bytes = net->options->capture_bytes,
		.roamer = task->run->kind == ZM_TASK_PROCESS ? getppid() : getpid(),
	};

	if (!net->options->capture || task->pair > 0 || task->end != ZM_NET_RECEIVER)
		return 0;
	return zm_wire_start(&plan, &net->wire, why);
}

static void close_wire(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_net_run *state = task->run->state;
	const struct zm_pair_end *sender = &net->pair->ends[ZM_NET_SENDER];

	if (!net->wire)
		return;
	zm_wire_stop(net->wire, &state->wire);
	net->wire = NULL;
	/* Without both ends' totals there is nothing to compare with. */
	if (atomic_load(&net->pair->ends[ZM_NET_RECEIVER].stage) == ZM_PAIR_DONE &&
	    atomic_load(&sender->stage) >= ZM_PAIR_FINISHED)
		state->wire_sent_bytes = sender->total.bytes;
	else
		state->wire.is_there = false;
}

static int set_up(struct zm_task *task, struct zm_why *why)
{
	struct zm_net_task *net = zm_net_task_of(task);
	struct zm_net_run *state = task->run->state;
	int r = zm_link_enter(&state->link, task->end, why);

	if (r == 0)
		r = meet(task, why);
	if (r == 0)
		r = zm_flow_learn(&net->flow, why);
	if (r < 0)
		return r;
	note_buffers(task);
	if (is_sending(task, net->kind))
		r = open_out(task, why);
	if (r == 0 && is_receiving(task, net->kind))
		r = open_in(task, why);
	if (r == 0)
		r = net->flow.engine->open(&net->flow, task->end == net->kind->connector, why);
	net->sends_directly = zm_direct_fits(&net->flow) && net->supply.is_plain;
	net->receives_directly = zm_direct_fits(&net->flow) && !net->is_checking;
	if (task->pair == 0)
		state->is_tls_in_kernel[task->end] = net->flow.is_tls_in_kernel;
	if (r == 0)
		r = open_wire(task, why);
	return r;
}

int zm_net_setup(struct zm_task *task, struct zm_why *why)
{
	struct zm_net_task *net = zm_net_task_of(task);
	const struct zm_net_run *state = task->run->state;
	int r;

	net->kind = kind_of(task->run);
	net->options = task->run->options;
	net->pair = &state->pairs[task->pair];
	net->depth = zm_net_engine_depth(net->options);
	zm_flow_init(&net->flow, net->kind->family, net->options);
	net->flow.engine = zm_net_engine_of(net->options);
	block_sigpipe();
	r = set_up(task, why);
	if (r < 0) {
		zm_pair_fail(net->pair, task->end, why); /* the other end may be waiting */
		zm_why_prefix(why, "pair %u", task->pair);
	}
	return r;
}

/* The stop can come before a task's first turn, and then it is not run. Its receiver may have been: it
 * still waits for the stream's end. */
static void end_unrun(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);

	if (task->end != ZM_NET_SENDER || !zm_task_is_stopped(task) ||
	    atomic_load(&net->pair->ends[ZM_NET_SENDER].stage) != ZM_PAIR_CONNECTED)
		return;
	if (net->kind->form == ZM_NET_FORM_CRR)
		(void)zm_crr_finish(task, 0);
	else
		(void)zm_stream_finish(task, 0);
}

void zm_net_teardown(struct zm_task *task)
{
	struct zm_net_task *net = zm_net_task_of(task);

	if (!net->pair) /* setup was not entered */
		return;
	end_unrun(task);
	close_wire(task);
	zm_pair_leave(net->pair, task->end);
	net->flow.engine->close(&net->flow);
	zm_checker_release(&net->checker);
	zm_supply_release(&net->supply);
	zm_flow_release(&net->flow);
}

/* --- run, verify --- */

int zm_net_run(struct zm_task *task)
{
	bool is_sender = task->end == ZM_NET_SENDER;

	switch (kind_of(task->run)->form) {
	case ZM_NET_FORM_STREAM:
		return is_sender ? zm_stream_send(task) : zm_stream_receive(task);
	case ZM_NET_FORM_ASKED:
		return is_sender ? zm_stream_answer(task) : zm_stream_ask(task);
	case ZM_NET_FORM_RR:
		return is_sender ? zm_rr_ask(task) : zm_rr_answer(task);
	case ZM_NET_FORM_CRR:
		return is_sender ? zm_crr_ask(task) : zm_crr_answer(task);
	}
	return -EINVAL;
}

static int verify_pair(const struct zm_family *family, struct zm_pair *pair, unsigned int number,
		       struct zm_why *why)
{
	const struct zm_pair_total *sent = &pair->ends[ZM_NET_SENDER].total;
	const struct zm_pair_total *received = &pair->ends[ZM_NET_RECEIVER].total;

	/* An end that had no turn before the stop has nothing to say. */
	if (atomic_load(&pair->ends[ZM_NET_RECEIVER].stage) != ZM_PAIR_DONE)
		return 0;
	if (sent->bytes > 0 && received->bytes == 0)
		return zm_why_set(why, -ENODATA,
				  "pair %u: %" PRIu64 " bytes were sent and none arrived", number,
				  sent->bytes);
	if (received->bytes > sent->bytes || (!family->may_lose && received->bytes < sent->bytes))
		return zm_why_set(why, -EBADMSG,
				  "pair %u: %" PRIu64 " bytes were sent and %" PRIu64 " arrived",
				  number, sent->bytes, received->bytes);
	return 0;
}

int zm_net_verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_net_kind *kind = kind_of(run);
	struct zm_net_run *state = run->state;

	for (unsigned int i = 0; i < state->nr_pairs; i++) {
		int r = verify_pair(kind->family, &state->pairs[i], i, why);

		if (r < 0)
			return r;
	}
	if (state->wire.file_error)
		return zm_why_errno(why, state->wire.file_error,
				    "capture=%s: not all packets could be written",
				    ((const struct zm_net_options *)run->options)->capture);
	return 0;
}
