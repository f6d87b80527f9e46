/*
 * netperf: the figures of netperf and lmbench, under the names that robot mails print, and our own.
 *
 * One window, common to all pairs; a rate is a difference of counters over that window's real
 * length. In Mbit/s, a million bits:
 *
 *     netperf.Throughput_Mbps       mean over the pairs of what was sent (SCTP: received, as netperf
 *                                   counts it); _total_ is the sum
 *     netperf.ThroughputRecv_Mbps   the same of what arrived
 *     netperf.ThroughputBoth_Mbps   UDP: the sum of the two; else Throughput, as lkp-tests has it
 *     netperf.workload              messages in the window: UDP's are counted at both ends
 *     netperf.Throughput_tps        transactions per second, mean over the pairs
 *     lmbench3.UNIX.bandwidth…      pairs times the median pair's rate, in 10^6 bytes/s
 *
 * Which rows a workload has is its own choice among the lists; the derivation goes by the name.
 */
#ifndef ZM_NETLOAD_NETPERF_H
#define ZM_NETLOAD_NETPERF_H

#include "workloads/workload.h"

extern const struct zm_metric zm_netperf_udp_metrics[];
extern const struct zm_metric zm_netperf_stream_metrics[]; /* TCP, SCTP */
extern const struct zm_metric zm_netperf_rr_metrics[];
extern const struct zm_metric zm_lmbench_unix_metrics[];
extern const struct zm_metric zm_lmbench_pipe_metrics[];
extern const struct zm_metric zm_net_dgram_metrics[]; /* no original has it */

/* For workload->hists of transactions. */
extern const struct zm_metric zm_netperf_rr_hists[];

/* For workload->report, with any of the lists. */
int zm_netperf_report(const struct zm_window *window, struct zm_report *report);

#endif
