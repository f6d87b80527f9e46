/*
 * netperf: sums over the window first, then one small function per figure; a row is derived by the
 * function that has its name. A figure that this run cannot have (verify's, without verify) is NAN
 * and left out: only optional rows are.
 */
#include "netload/netperf.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "netload/net.h"
#include "workloads/base/cleanup.h"

/* --- the sums --- */

struct figures {
	const struct zm_net_run *state;
	const struct zm_net_options *options;
	const struct zm_family *family;
	const struct zm_hist *latency; /* NULL without */
	double seconds;
	double nr_pairs;
	double sum[ZM_NET_NR_COUNTERS];
	double *pairs; /* what each pair got done: bytes received, or transactions; ascending */
	double pairs_sum, pairs_squares;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static uint64_t counter_of(const struct zm_window *window, unsigned int task, unsigned int counter)
{
	return window->counters[task * window->nr_counters + counter];
}

static bool is_rr(const struct zm_net_kind *kind)
{
	return kind->form == ZM_NET_FORM_RR || kind->form == ZM_NET_FORM_CRR;
}

static void sum_pairs(const struct zm_window *window, struct figures *figures)
{
	const struct zm_net_kind *kind = window->run->workload->own;
	unsigned int nr_pairs = window->run->nr_tasks / 2;

	for (unsigned int i = 0; i < nr_pairs; i++) {
		unsigned int asks = 2 * i + ZM_NET_SENDER, gets = 2 * i + ZM_NET_RECEIVER;
		double done = is_rr(kind) ? (double)counter_of(window, asks, ZM_NET_TRANSACTIONS)
					  : (double)counter_of(window, gets, ZM_NET_RECV_BYTES);

		figures->pairs[i] = done;
		figures->pairs_sum += done;
		figures->pairs_squares += done * done;
	}
	qsort(figures->pairs, nr_pairs, sizeof(*figures->pairs), compare_doubles);
}

/* The sender's and the receiver's counts are different things: each end has its own counters. Only
 * of transactions do both ends count the same, and the asking end's count. */
static void sum_counters(const struct zm_window *window, struct figures *figures)
{
	for (unsigned int task = 0; task < window->run->nr_tasks; task++)
		for (unsigned int i = 0; i < ZM_NET_NR_COUNTERS; i++)
			if (i != ZM_NET_TRANSACTIONS || task % 2 == ZM_NET_SENDER)
				figures->sum[i] += (double)counter_of(window, task, i);
}

static int figures_open(const struct zm_window *window, struct figures *figures)
{
	const struct zm_run *run = window->run;
	const struct zm_net_kind *kind = run->workload->own;

	*figures = (struct figures){
		.state = run->state,
		.options = run->options,
		.family = kind->family,
		.latency = window->nr_hists > 0 ? &window->hists[0] : NULL,
		.seconds = (double)(window->t1_ns - window->t0_ns) / 1e9,
		.nr_pairs = run->nr_tasks / 2,
		.pairs = calloc(run->nr_tasks / 2 + 1, sizeof(double)),
	};
	if (!figures->pairs)
		return -ENOMEM;
	sum_pairs(window, figures);
	sum_counters(window, figures);
	return 0;
}

/* --- the figures --- */

static double mbps(const struct figures *figures, double bytes)
{
	return bytes * 8 / 1e6 / figures->seconds;
}

static double megabytes(const struct figures *figures, double bytes)
{
	return bytes / 1e6 / figures->seconds;
}

static double sent_bytes(const struct figures *figures)
{
	return figures->sum[ZM_NET_SENT_BYTES];
}

static double recv_bytes(const struct figures *figures)
{
	return figures->sum[ZM_NET_RECV_BYTES];
}

static double throughput_bytes(const struct figures *figures)
{
	return figures->family->call == ZM_CALL_SCTP ? recv_bytes(figures) : sent_bytes(figures);
}

static double both_bytes(const struct figures *figures)
{
	return figures->family->may_lose ? sent_bytes(figures) + recv_bytes(figures)
					 : throughput_bytes(figures);
}

static double throughput_total(const struct figures *figures)
{
	return mbps(figures, throughput_bytes(figures));
}

static double throughput(const struct figures *figures)
{
	return throughput_total(figures) / figures->nr_pairs;
}

static double recv_total(const struct figures *figures)
{
	return mbps(figures, recv_bytes(figures));
}

static double recv_mean(const struct figures *figures)
{
	return recv_total(figures) / figures->nr_pairs;
}

static double both_total(const struct figures *figures)
{
	return mbps(figures, both_bytes(figures));
}

static double both_mean(const struct figures *figures)
{
	return both_total(figures) / figures->nr_pairs;
}

static double transactions(const struct figures *figures)
{
	return figures->sum[ZM_NET_TRANSACTIONS];
}

static double tps_total(const struct figures *figures)
{
	return transactions(figures) / figures->seconds;
}

static double tps_mean(const struct figures *figures)
{
	return tps_total(figures) / figures->nr_pairs;
}

static double workload(const struct figures *figures)
{
	if (figures->latency)
		return transactions(figures);
	if (figures->family->may_lose)
		return figures->sum[ZM_NET_SENT_MESSAGES] + figures->sum[ZM_NET_RECV_MESSAGES];
	if (figures->family->keeps_borders)
		return figures->sum[ZM_NET_RECV_MESSAGES];
	return recv_bytes(figures) / (double)figures->options->send_size;
}

static double sent_megabytes(const struct figures *figures)
{
	return megabytes(figures, sent_bytes(figures));
}

static double recv_megabytes(const struct figures *figures)
{
	return megabytes(figures, recv_bytes(figures));
}

static double pairs_median(const struct figures *figures)
{
	size_t nr = (size_t)figures->nr_pairs;

	return (figures->pairs[(nr - 1) / 2] + figures->pairs[nr / 2]) / 2;
}

static double lmbench_bandwidth(const struct figures *figures)
{
	return megabytes(figures, pairs_median(figures) * figures->nr_pairs);
}

/* Jain's index: 1 when all pairs got the same, 1/n when one got everything. */
static double fairness(const struct figures *figures)
{
	if (figures->pairs_squares <= 0)
		return NAN;
	return figures->pairs_sum * figures->pairs_sum /
	       (figures->nr_pairs * figures->pairs_squares);
}

static double pair_min(const struct figures *figures)
{
	return figures->pairs[0] / figures->seconds / (figures->latency ? 1 : 1e6);
}

static double pair_max(const struct figures *figures)
{
	return figures->pairs[(size_t)figures->nr_pairs - 1] / figures->seconds /
	       (figures->latency ? 1 : 1e6);
}

static double percent_of(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : NAN;
}

/* What is under way at the window's borders can make it a hair negative: that is none lost. */
static double lost(const struct figures *figures)
{
	double sent = figures->sum[ZM_NET_SENT_MESSAGES];
	double gone = sent - figures->sum[ZM_NET_RECV_MESSAGES];

	return percent_of(gone > 0 ? gone : 0, sent);
}

static double lost_at_socket(const struct figures *figures)
{
	return percent_of(figures->sum[ZM_NET_SOCKET_DROPS], figures->sum[ZM_NET_SENT_MESSAGES]);
}

static double sndbuf(const struct figures *figures)
{
	return (double)figures->state->sndbuf_bytes;
}

static double rcvbuf(const struct figures *figures)
{
	return (double)figures->state->rcvbuf_bytes;
}

static double verified(const struct figures *figures)
{
	if (figures->options->verify == ZM_NET_VERIFY_NONE)
		return NAN;
	return figures->sum[ZM_NET_CHECKED];
}

static double verify_time(const struct figures *figures)
{
	if (figures->options->verify == ZM_NET_VERIFY_NONE)
		return NAN;
	return percent_of(figures->sum[ZM_NET_CHECK_NS] / 1e9,
			  figures->seconds * figures->nr_pairs);
}

static double tls_kernel_ends(const struct figures *figures)
{
	if (figures->options->tls == ZM_NET_TLS_OFF)
		return NAN;
	return figures->state->is_tls_in_kernel[ZM_NET_SENDER] +
	       figures->state->is_tls_in_kernel[ZM_NET_RECEIVER];
}

static const struct zm_wire_count *wire_of(const struct figures *figures)
{
	return figures->state->wire.is_there ? &figures->state->wire : NULL;
}

static double wire_packets(const struct figures *figures)
{
	const struct zm_wire_count *wire = wire_of(figures);

	return wire ? (double)wire->packets : NAN;
}

static double wire_bytes(const struct figures *figures)
{
	const struct zm_wire_count *wire = wire_of(figures);

	return wire ? (double)wire->payload_bytes : NAN;
}

static double wire_packet_size(const struct figures *figures)
{
	const struct zm_wire_count *wire = wire_of(figures);

	return wire && wire->packets > 0 ? (double)wire->payload_bytes / (double)wire->packets
					 : NAN;
}

static double wire_share(const struct figures *figures)
{
	const struct zm_wire_count *wire = wire_of(figures);

	return wire ? percent_of((double)wire->payload_bytes,
				 (double)figures->state->wire_sent_bytes)
		    : NAN;
}

static double wire_repeated(const struct figures *figures)
{
	const struct zm_wire_count *wire = wire_of(figures);

	return wire && figures->family->protocol == IPPROTO_TCP ? (double)wire->repeated : NAN;
}

static double wire_lost(const struct figures *figures)
{
	const struct zm_wire_count *wire = wire_of(figures);

	return wire ? (double)wire->lost : NAN;
}

static double quantile_us(const struct figures *figures, double q)
{
	if (!figures->latency || figures->latency->count == 0)
		return NAN;
	return zm_hist_quantile(figures->latency, q) / 1e3;
}

static double latency_mean(const struct figures *figures)
{
	if (!figures->latency || figures->latency->count == 0)
		return NAN;
	return zm_hist_mean(figures->latency) / 1e3;
}

static double latency_p50(const struct figures *figures)
{
	return quantile_us(figures, 0.5);
}

static double latency_p90(const struct figures *figures)
{
	return quantile_us(figures, 0.9);
}

static double latency_p99(const struct figures *figures)
{
	return quantile_us(figures, 0.99);
}

static double latency_p999(const struct figures *figures)
{
	return quantile_us(figures, 0.999);
}

static double latency_max(const struct figures *figures)
{
	return quantile_us(figures, 1);
}

/* --- names --- */

struct derivation {
	const char *name;
	double (*value)(const struct figures *figures);
	double (*count)(const struct figures *figures); /* the raw figure it comes from */
};

static const struct derivation derivations[] = {
	{ "netperf.Throughput_Mbps", throughput, throughput_bytes },
	{ "netperf.Throughput_total_Mbps", throughput_total, throughput_bytes },
	{ "netperf.ThroughputRecv_Mbps", recv_mean, recv_bytes },
	{ "netperf.ThroughputRecv_total_Mbps", recv_total, recv_bytes },
	{ "netperf.ThroughputBoth_Mbps", both_mean, both_bytes },
	{ "netperf.ThroughputBoth_total_Mbps", both_total, both_bytes },
	{ "netperf.Throughput_tps", tps_mean, transactions },
	{ "netperf.Throughput_total_tps", tps_total, transactions },
	{ "netperf.workload", workload, workload },
	{ "lmbench3.UNIX.bandwidth.MB/sec", lmbench_bandwidth, pairs_median },
	{ "lmbench3.PIPE.bandwidth.MB/sec", lmbench_bandwidth, pairs_median },
	{ "netload.sent.MB/sec", sent_megabytes, sent_bytes },
	{ "netload.recv.MB/sec", recv_megabytes, recv_bytes },
	{ "netload.lost%", lost, lost },
	{ "netload.lost_at_socket%", lost_at_socket, lost_at_socket },
	{ "netload.fairness", fairness, fairness },
	{ "netload.pair_min.MB/sec", pair_min, pair_min },
	{ "netload.pair_max.MB/sec", pair_max, pair_max },
	{ "netload.pair_min.tps", pair_min, pair_min },
	{ "netload.pair_max.tps", pair_max, pair_max },
	{ "netload.sndbuf", sndbuf, sndbuf },
	{ "netload.rcvbuf", rcvbuf, rcvbuf },
	{ "netload.verified", verified, verified },
	{ "netload.verify_time%", verify_time, verify_time },
	{ "netload.tls_kernel_ends", tls_kernel_ends, tls_kernel_ends },
	{ "wire.packets", wire_packets, wire_packets },
	{ "wire.bytes", wire_bytes, wire_bytes },
	{ "wire.packet_size", wire_packet_size, wire_bytes },
	{ "wire.of_sent%", wire_share, wire_bytes },
	{ "wire.retransmitted", wire_repeated, wire_repeated },
	{ "wire.unseen", wire_lost, wire_lost },
	{ "netload.latency.mean", latency_mean, transactions },
	{ "netload.latency.p50", latency_p50, transactions },
	{ "netload.latency.p90", latency_p90, transactions },
	{ "netload.latency.p99", latency_p99, transactions },
	{ "netload.latency.p99.9", latency_p999, transactions },
	{ "netload.latency.max", latency_max, transactions },
};

static const struct derivation *find_derivation(const char *name)
{
	for (size_t i = 0; i < sizeof(derivations) / sizeof(derivations[0]); i++)
		if (strcmp(derivations[i].name, name) == 0)
			return &derivations[i];
	return NULL;
}

static int add(const struct zm_window *window, const struct figures *figures,
	       const struct zm_metric *metric, struct zm_report *report)
{
	const struct derivation *derivation = find_derivation(metric->name);
	double value = derivation ? derivation->value(figures) : NAN;

	if (isnan(value))
		return metric->is_optional ? 0 : -ENODATA;
	return zm_report_add(report, metric, value, derivation->count(figures),
			     window->t1_ns - window->t0_ns);
}

int zm_netperf_report(const struct zm_window *window, struct zm_report *report)
{
	const struct zm_metric *metrics = window->run->workload->metrics;
	struct figures figures;
	int r;

	if (window->t1_ns <= window->t0_ns)
		return -ENODATA;
	r = figures_open(window, &figures);
	for (unsigned int i = 0; r == 0 && metrics[i].name; i++)
		r = add(window, &figures, &metrics[i], report);
	free(figures.pairs);
	return r;
}

/* --- rows --- */

#define MORE(metric, of, what, primary)                                                            \
	{                                                                                          \
		.name = metric, .unit = of, .kind = ZM_GAUGE, .better = ZM_BETTER_MORE,            \
		.is_primary = primary, .summary = what                                             \
	}
#define LESS(metric, of, what)                                                                     \
	{                                                                                          \
		.name = metric, .unit = of, .kind = ZM_GAUGE, .better = ZM_BETTER_LESS,            \
		.summary = what                                                                    \
	}
#define NEITHER(metric, of, what)                                                                  \
	{                                                                                          \
		.name = metric, .unit = of, .kind = ZM_GAUGE, .summary = what                      \
	}
#define OPTIONAL(metric, of, what)                                                                 \
	{                                                                                          \
		.name = metric, .unit = of, .kind = ZM_GAUGE, .summary = what, .is_optional = true \
	}

#define NETPERF_ROWS(sent_summary, recv_primary)                                                   \
	MORE("netperf.Throughput_Mbps", "Mbps", sent_summary, true),                               \
		MORE("netperf.Throughput_total_Mbps", "Mbps", "the same of all pairs together",    \
		     false),                                                                       \
		MORE("netperf.ThroughputRecv_Mbps", "Mbps", "what arrived, mean over the pairs",   \
		     recv_primary),                                                                \
		MORE("netperf.ThroughputRecv_total_Mbps", "Mbps", "what arrived of all pairs",     \
		     false),                                                                       \
		MORE("netperf.ThroughputBoth_Mbps", "Mbps",                                        \
		     "UDP: sent and received; else Throughput", false),                            \
		MORE("netperf.ThroughputBoth_total_Mbps", "Mbps",                                  \
		     "the same of all pairs together", false),                                     \
		MORE("netperf.workload", "messages",                                               \
		     "messages in the window; UDP's count at both ends", false)

#define RATE_ROWS                                                                                  \
	NEITHER("netload.sent.MB/sec", "MB/s", "sent by all pairs, in 10^6 bytes"),                \
		MORE("netload.recv.MB/sec", "MB/s", "received by all pairs, in 10^6 bytes",        \
		     false),                                                                       \
		NEITHER("netload.pair_min.MB/sec", "MB/s", "what the slowest pair received"),      \
		NEITHER("netload.pair_max.MB/sec", "MB/s", "what the fastest pair received")

#define SHARE_ROWS                                                                                 \
	MORE("netload.fairness", "", "Jain's index over the pairs: 1 when all got the same", false)

#define BUFFER_ROWS                                                                                \
	NEITHER("netload.sndbuf", "bytes", "the sender's SO_SNDBUF, as the kernel had it"),        \
		NEITHER("netload.rcvbuf", "bytes",                                                 \
			"the receiver's SO_RCVBUF, as the kernel had it")

#define LOSS_ROWS                                                                                  \
	LESS("netload.lost%", "%", "messages sent that did not arrive"),                           \
		NEITHER("netload.lost_at_socket%", "%",                                            \
			"of those sent, found the receiver's buffer full")

#define VERIFY_ROWS                                                                                \
	OPTIONAL("netload.verified", "messages", "their content was digested and compared"),       \
		OPTIONAL("netload.verify_time%", "%",                                              \
			 "of the receivers' time, spent in digesting")

#define TLS_ROW                                                                                    \
	OPTIONAL("netload.tls_kernel_ends", "ends",                                                \
		 "tls: ends of a pair whose encryption the kernel does; the others' is OpenSSL's")

#define WIRE_ROWS                                                                                  \
	OPTIONAL("wire.packets", "packets", "capture: with data, from the first pair's sender"),   \
		OPTIONAL("wire.bytes", "bytes", "capture: their data, each byte once"),            \
		OPTIONAL("wire.packet_size", "bytes", "capture: data of a packet, on average"),    \
		OPTIONAL("wire.of_sent%", "%", "capture: of what that sender counted itself"),     \
		OPTIONAL("wire.retransmitted", "packets", "capture: TCP segments sent again"),     \
		OPTIONAL("wire.unseen", "packets", "capture: that libpcap could not take")

#define LATENCY_ROW(which, what) LESS("netload.latency." which, "us", what)

const struct zm_metric zm_netperf_udp_metrics[] = {
	NETPERF_ROWS("what was sent, mean over the pairs", true),
	RATE_ROWS,
	SHARE_ROWS,
	BUFFER_ROWS,
	LOSS_ROWS,
	VERIFY_ROWS,
	WIRE_ROWS,
	{ .name = NULL },
};

const struct zm_metric zm_netperf_stream_metrics[] = {
	NETPERF_ROWS("TCP: sent; SCTP: received; mean over the pairs", false),
	RATE_ROWS,
	SHARE_ROWS,
	BUFFER_ROWS,
	VERIFY_ROWS,
	TLS_ROW,
	WIRE_ROWS,
	{ .name = NULL },
};

const struct zm_metric zm_netperf_rr_metrics[] = {
	MORE("netperf.Throughput_tps", "transactions/s", "mean over the pairs", true),
	MORE("netperf.Throughput_total_tps", "transactions/s", "all pairs together", false),
	MORE("netperf.workload", "transactions", "all of the window", false),
	LATENCY_ROW("mean", "of a transaction, on average"),
	LATENCY_ROW("p50", "half of the transactions took no longer"),
	LATENCY_ROW("p90", "nine of ten took no longer"),
	LATENCY_ROW("p99", "99 of 100 took no longer"),
	LATENCY_ROW("p99.9", "999 of 1,000 took no longer"),
	LATENCY_ROW("max", "the longest"),
	NEITHER("netload.pair_min.tps", "transactions/s", "the slowest pair"),
	NEITHER("netload.pair_max.tps", "transactions/s", "the fastest pair"),
	SHARE_ROWS,
	BUFFER_ROWS,
	WIRE_ROWS,
	{ .name = NULL },
};

const struct zm_metric zm_lmbench_unix_metrics[] = {
	MORE("lmbench3.UNIX.bandwidth.MB/sec", "MB/s", "pairs times the median pair's rate", true),
	RATE_ROWS,
	SHARE_ROWS,
	BUFFER_ROWS,
	VERIFY_ROWS,
	{ .name = NULL },
};

const struct zm_metric zm_lmbench_pipe_metrics[] = {
	MORE("lmbench3.PIPE.bandwidth.MB/sec", "MB/s", "pairs times the median pair's rate", true),
	RATE_ROWS,
	SHARE_ROWS,
	VERIFY_ROWS,
	{ .name = NULL },
};

const struct zm_metric zm_net_dgram_metrics[] = {
	MORE("netload.recv.MB/sec", "MB/s", "received by all pairs, in 10^6 bytes", true),
	NEITHER("netload.sent.MB/sec", "MB/s", "sent by all pairs, in 10^6 bytes"),
	NEITHER("netload.pair_min.MB/sec", "MB/s", "what the slowest pair received"),
	NEITHER("netload.pair_max.MB/sec", "MB/s", "what the fastest pair received"),
	SHARE_ROWS,
	BUFFER_ROWS,
	VERIFY_ROWS,
	{ .name = NULL },
};

const struct zm_metric zm_netperf_rr_hists[] = {
	{ .name = "netload.latency",
	  .unit = "ns",
	  .kind = ZM_HIST,
	  .better = ZM_BETTER_LESS,
	  .summary = "from the request's sending to the whole response" },
	{ .name = NULL },
};
