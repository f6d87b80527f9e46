/*
 * pair: what the two ends of a stream know of each other, in memory that both share.
 *
 * All pairs of a run lie in one mapping that the launcher makes. Each end has a word there, its
 * stage, which only it writes and the other can sleep on:
 *
 *     AWAY -> BOUND (its address is there) -> CONNECTED … the gate, the run, the stop …
 *          -> FINISHED (a sender: nothing more will come; a receiver: it has seen that)
 *          -> DONE (has left the stream in order)
 *
 * An end that fails says FAILED, and nobody waits for it any longer.
 */
#ifndef ZM_NETLOAD_PAIR_H
#define ZM_NETLOAD_PAIR_H

#include <stdatomic.h>
#include <stdint.h>

#include "netload/flow.h"
#include "workloads/base/why.h"

enum zm_pair_stage {
	ZM_PAIR_AWAY,
	ZM_PAIR_BOUND,
	ZM_PAIR_CONNECTED,
	ZM_PAIR_FINISHED,
	ZM_PAIR_DONE,
	ZM_PAIR_FAILED,
};

/* What an end did from the gate to its end, for the launcher's last look. */
struct zm_pair_total {
	uint64_t messages;
	uint64_t bytes;
	uint64_t checked; /* messages whose content was verified */
};

struct zm_pair_end {
	_Alignas(64) _Atomic uint32_t stage; /* enum zm_pair_stage, a futex */
	struct zm_net_address address;
	uint32_t cycle; /* after so many messages, the same come again (a file); 0: never */
	struct zm_pair_total total;
	struct zm_why why; /* FAILED: for which reason, where there is one */
};

struct zm_pair {
	struct zm_pair_end ends[2];
};

/* Zeroed, shared with all children. */
int zm_pairs_new(unsigned int nr_pairs, struct zm_pair **ret_pairs, struct zm_why *why);
void zm_pairs_free(struct zm_pair *pairs, unsigned int nr_pairs);

/* This end has reached that stage. */
void zm_pair_say(struct zm_pair *pair, unsigned int end, enum zm_pair_stage stage);

/* This end leaves: FAILED unless it was DONE. */
void zm_pair_leave(struct zm_pair *pair, unsigned int end);

/* This end leaves FAILED, and why: the other one, which fails for that, can say it too. */
void zm_pair_fail(struct zm_pair *pair, unsigned int end, const struct zm_why *why);

/* Sleeps until that end has reached the stage. -ECONNABORTED: it failed; -ETIMEDOUT. */
int zm_pair_hear(struct zm_pair *pair, unsigned int end, enum zm_pair_stage stage,
		 uint64_t deadline_ns);

#endif
