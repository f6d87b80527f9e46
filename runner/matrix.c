/* matrix: the built-in ones. */
#include "runner/matrix.h"

#include <stddef.h>
#include <string.h>

static const char *const quick[] = {
	"page_fault1 mode=process,thread nr_task=1,100% idle=0.5 warmup=2 runtime=3",
	"page_fault2 mode=process,thread nr_task=1,100% idle=0.5 warmup=2 runtime=3",
	NULL,
};

/* What kernels have to change how many pages a CPU keeps, and how many go to and from a zone at once:
 * since 5.14 the lists' length alone; before, the batch with it, a quarter of the length. */
#define PCP_RUN "page_fault1 mode=process nr_task=100% idle=0.5 warmup=2 runtime=5 "

static const char *const pcp_high[] = {
	PCP_RUN "percpu_pagelist_high_fraction=0,8,64,512,4096,32768,262144",
	PCP_RUN "sysctl.vm.percpu_pagelist_fraction=0,8,64,512,4096,32768,262144",
	PCP_RUN "sysctl.vm.pcp_batch_scale_max=0,1,2,3,4,5,6",
	NULL,
};

#define NIGHT "idle=1 warmup=10 runtime=20 "

/* Where the allocator has been seen to change, in half an hour to an hour a round. */
static const char *const nightly[] = {
	"page_fault1 mode=process,thread nr_task=1,50%,100% " NIGHT,
	"page_fault2 mode=process nr_task=1,50%,100% " NIGHT,
	"page_fault3 mode=process nr_task=1,100% " NIGHT,
	"malloc1 mode=process,thread nr_task=100% " NIGHT,
	"fallocate1 mode=process nr_task=100% " NIGHT,
	"brk1 mode=process nr_task=100% " NIGHT,
	"tlb_flush2 mode=process nr_task=100% " NIGHT,
	"anon_cow_seq mode=process nr_task=100% " NIGHT,
	"anon_cow_rand mode=process nr_task=100% " NIGHT,
	"unix_stream nr_task=50%,100% " NIGHT,
	"udp_stream nr_task=50% " NIGHT,
	"tcp_stream nr_task=50%,200% send_size=10K " NIGHT,
	"sctp_stream_many nr_task=50%,200% " NIGHT,
	"kbuild " NIGHT,
	"hugetlb_pool " NIGHT,
	"guest_cycle nr_task=1,100% " NIGHT,
	NULL,
};

const struct zm_matrix zm_matrices[] = {
	{ .name = "full",
	  .summary = "every documented table at its parameters, scaled to this machine: hours; "
		     "--hours fits it to a time" },
	{ .name = "nightly",
	  .summary = "faults, copies, heaps, streams, builds and huge pages: an hour",
	  .lines = nightly },
	{ .name = "pcp_high",
	  .summary =
		  "page_fault1 by the length of the CPUs' page lists, and how long the zone's lock "
		  "is held for them",
	  .lines = pcp_high,
	  .monitor = "page-latency",
	  .has_latency_table = true },
	{ .name = "quick",
	  .summary = "page_fault1 and 2, processes and threads, 1 task and all CPUs: a minute",
	  .lines = quick },
	{ .name = NULL },
};

const struct zm_matrix *zm_matrix_find(const char *name)
{
	for (size_t i = 0; zm_matrices[i].name; i++) {
		if (strcmp(zm_matrices[i].name, name) == 0)
			return &zm_matrices[i];
	}
	return NULL;
}
