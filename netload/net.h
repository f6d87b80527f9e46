/*
 * net: what all workloads of this room share: their callbacks, their state, their counters.
 *
 * A workload is a row, struct zm_net_kind, that its constant points to (`own`), and the macro that
 * fills in the rest. What happens when:
 *
 *     check      can this machine do it: SCTP, IPv6, lo up, the engine, the libraries
 *     prepare    the link; the pairs' shared words; the shape
 *     setup      the ends meet, buffers are filled, the engine is opened: all before the gate
 *     run        one of the four forms: stream.c, rr.c
 *     verify     do both ends' totals agree?
 */
#ifndef ZM_NETLOAD_NET_H
#define ZM_NETLOAD_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "netload/checker.h"
#include "netload/engine.h"
#include "netload/family.h"
#include "netload/flow.h"
#include "netload/link.h"
#include "netload/options.h"
#include "netload/pair.h"
#include "netload/shape.h"
#include "netload/supply.h"
#include "netload/wire.h"
#include "workloads/worker.h"
#include "workloads/workload.h"

/* The end that sends a stream, or asks in a transaction; and the other. */
#define ZM_NET_SENDER   0u
#define ZM_NET_RECEIVER 1u

enum zm_net_form {
	ZM_NET_FORM_STREAM, /* one sends, the other receives */
	ZM_NET_FORM_ASKED,  /* the same, and the receiver asks for each portion (lmbench) */
	ZM_NET_FORM_RR,     /* request, response, over one connection */
	ZM_NET_FORM_CRR,    /* a connection for each transaction */
};

struct zm_net_kind {
	const struct zm_family *family;
	enum zm_net_form form;
	unsigned int connector;   /* the end that connects */
	bool sends_file;          /* sendfile instead of send */
	unsigned int recv_offset; /* of the receiving buffer, from a page's start */
};

/* Counters, in the order of zm_net_counters. */
enum zm_net_counter {
	ZM_NET_SENT_MESSAGES,
	ZM_NET_SENT_BYTES,
	ZM_NET_RECV_MESSAGES,
	ZM_NET_RECV_BYTES,
	ZM_NET_REFUSED,
	ZM_NET_SOCKET_DROPS,
	ZM_NET_TRANSACTIONS,
	ZM_NET_TIMEOUTS,
	ZM_NET_CHECKED,
	ZM_NET_MISSING,
	ZM_NET_LATE,
	ZM_NET_CHECK_NS,
	ZM_NET_NR_COUNTERS,
};

extern const struct zm_metric zm_net_counters[];

/* The run's state, in memory that the runner can read too. */
struct zm_net_run {
	struct zm_link link;   /* the launcher's and the tasks' */
	struct zm_pair *pairs; /* the same */
	unsigned int nr_pairs;
	struct zm_shape shape;
	uint64_t sndbuf_bytes;     /* the first sender's, as the kernel had it */
	uint64_t rcvbuf_bytes;     /* the first receiver's */
	bool is_tls_in_kernel[2];  /* at the first pair's ends */
	struct zm_wire_count wire; /* of the first pair */
	uint64_t wire_sent_bytes;  /* what that pair's sender counted meanwhile */
};

struct zm_net_task {
	const struct zm_net_kind *kind;
	const struct zm_net_options *options;
	struct zm_pair *pair;
	unsigned int depth;
	bool sends_directly, receives_directly; /* direct.h */
	struct zm_flow flow;
	struct zm_supply supply;
	struct zm_checker checker;
	bool is_checking;
	struct zm_wire *wire; /* the first receiver's, with `capture` */
	uint32_t drops_seen;  /* the socket's count when last read */
	unsigned int until_drops;
	struct zm_pair_total sent;
	struct zm_pair_total received;
};

int zm_net_check(const struct zm_run *run, struct zm_why *why);
void zm_net_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint);
int zm_net_prepare(struct zm_run *run, struct zm_why *why);
void zm_net_cleanup(struct zm_run *run);
int zm_net_setup(struct zm_task *task, struct zm_why *why);
void zm_net_teardown(struct zm_task *task);
int zm_net_run(struct zm_task *task);
int zm_net_verify(struct zm_run *run, struct zm_why *why);

/* All that two workloads of this room have in common. */
#define ZM_NET_WORKLOAD(kind_row, option_rows)                                                     \
	.name = ZM_WORKLOAD_NAME, .kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD, .nr_ends = 2,         \
	.own = &(kind_row), .options = (option_rows),                                              \
	.options_size = sizeof(struct zm_net_options), .counters = zm_net_counters,                \
	.run_bytes = sizeof(struct zm_net_run), .task_bytes = sizeof(struct zm_net_task),          \
	.check = zm_net_check, .footprint = zm_net_footprint, .prepare = zm_net_prepare,           \
	.cleanup = zm_net_cleanup, .setup = zm_net_setup, .teardown = zm_net_teardown,             \
	.run = zm_net_run, .verify = zm_net_verify

/* One form each; zm_net_run chooses. */
int zm_stream_send(struct zm_task *task);
int zm_stream_receive(struct zm_task *task);
int zm_stream_answer(struct zm_task *task); /* sends what was asked for */
int zm_stream_ask(struct zm_task *task);
int zm_rr_ask(struct zm_task *task);
int zm_rr_answer(struct zm_task *task);
int zm_crr_ask(struct zm_task *task);
int zm_crr_answer(struct zm_task *task);

/* What the forms share. */

/* This end has sent its last, or failed: tells the other, by the stream itself. Returns the error. */
int zm_stream_finish(struct zm_task *task, int error);

/* The same for a connection each: one more, without a request, wakes the other from its accept. */
int zm_crr_finish(struct zm_task *task, int error);

/* Counts what an engine moved. */
void zm_net_count_sent(struct zm_task *task, const struct zm_moved *moved);

/* Counts, and checks, what an engine brought. *ret_ended: an empty datagram said that it was all. */
int zm_net_count_received(struct zm_task *task, const struct zm_piece *pieces, int nr,
			  bool *ret_ended);

/* One message of an end that sends directly: 0, or -errno as an engine's send. */
int zm_net_send_directly(struct zm_task *task);

/* One receiving call of an end that receives directly, counted: how many bytes, 0 at the stream's end,
 * -EINTR when there was nothing, or -errno as an engine's recv. */
ssize_t zm_net_receive_directly(struct zm_task *task);

/* The other end went away: in order after the stop, or when it failed and the run is stopped for it;
 * a failure of this end otherwise. */
int zm_net_gone(struct zm_task *task, int error);

/* The first operation is done: notes when. */
void zm_net_note_first(struct zm_task *task);

static inline struct zm_net_task *zm_net_task_of(struct zm_task *task)
{
	return task->state;
}

#endif
