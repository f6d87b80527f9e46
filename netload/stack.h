/*
 * stack: what the kernel's network stack counted, and where it dropped what was sent.
 *
 *     proc/net/snmp, netstat     "Udp: InDatagrams RcvbufErrors …" over "Udp: 5 1 …"
 *     proc/net/snmp6, sctp/snmp  "Udp6RcvbufErrors 1"
 *     proc/net/softnet_stat      a line of hexadecimal columns per CPU
 *
 * Names are the kernel's: "Udp.RcvbufErrors", "Udp6RcvbufErrors", "softnet.dropped". What is not a
 * count (RtoMin, CurrEstab…) and what no stream here touches (MPTCP, UDP-Lite, ICMP types) is left
 * out. Counters are sums since the stack was opened plus what they were then, and never go back: one of
 * 32 bits that has run over goes on.
 *
 * Tasks may live in network namespaces of their own; then those are looked into, together.
 */
#ifndef ZM_NETLOAD_STACK_H
#define ZM_NETLOAD_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

#define ZM_STACK_FILES  5
#define ZM_STACK_SPACES 2
#define ZM_STACK_NAME   48

struct zm_stack_counter {
	char name[ZM_STACK_NAME];
	uint64_t total;
	uint64_t last[ZM_STACK_SPACES]; /* as it was read in each namespace */
	bool has_last[ZM_STACK_SPACES];
};

struct zm_stack {
	const struct zm_sysroot *root;
	struct zm_stack_counter *counters;
	size_t nr_counters;
	size_t expected; /* the counter that should come next */
	struct zm_sysfile files[ZM_STACK_SPACES][ZM_STACK_FILES];
	bool has_file[ZM_STACK_SPACES][ZM_STACK_FILES];
	unsigned int nr_spaces;
	unsigned int space; /* that is being read */
};

/* Finds this namespace's counters. -ENOENT: the kernel shows none. Release it also after a failure. */
int zm_stack_open(struct zm_stack *stack, const struct zm_sysroot *root, struct zm_why *why);
void zm_stack_release(struct zm_stack *stack);

/* From now on counts in the namespaces of these tasks (one or two; this machine only), as far as
 * they are not this one's. The totals go on. */
int zm_stack_follow(struct zm_stack *stack, const pid_t *tids, unsigned int nr_tids);

/* Reads all files. Allocates nothing. 0, or the first error: the totals of that file stand still. */
int zm_stack_read(struct zm_stack *stack);

/* How much a counter rose. One that fell by more than half of 32 bits has run over, or one of those
 * that it is the sum of; one that fell otherwise was reset by somebody: 0. */
uint64_t zm_stack_rise(uint64_t last, uint64_t now);

#endif
