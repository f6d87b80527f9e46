/*
 * netperf: windows with counts that a person can divide, and the figures that must come out.
 *
 * Every workload's every row is derived by some function: the last test sees to it.
 */
#include "netload/tests/live.h"

#include <math.h>

#include "netload/net.h"

extern const struct zm_workload wl_netload_udp_stream;
extern const struct zm_workload wl_netload_tcp_stream;
extern const struct zm_workload wl_netload_tcp_maerts;
extern const struct zm_workload wl_netload_tcp_sendfile;
extern const struct zm_workload wl_netload_sctp_stream;
extern const struct zm_workload wl_netload_sctp_stream_many;
extern const struct zm_workload wl_netload_unix_stream;
extern const struct zm_workload wl_netload_unix_dgram;
extern const struct zm_workload wl_netload_pipe_stream;
extern const struct zm_workload wl_netload_tcp_rr;
extern const struct zm_workload wl_netload_tcp_crr;
extern const struct zm_workload wl_netload_udp_rr;
extern const struct zm_workload wl_netload_sctp_rr;
extern const struct zm_workload wl_netload_sctp_rr_many;

static const struct zm_workload *const all[] = {
	&wl_netload_udp_stream,   &wl_netload_tcp_stream,   &wl_netload_tcp_maerts,
	&wl_netload_tcp_sendfile, &wl_netload_sctp_stream,  &wl_netload_sctp_stream_many,
	&wl_netload_unix_stream,  &wl_netload_unix_dgram,   &wl_netload_pipe_stream,
	&wl_netload_tcp_rr,       &wl_netload_tcp_crr,      &wl_netload_udp_rr,
	&wl_netload_sctp_rr,      &wl_netload_sctp_rr_many,
};

/* A window of two seconds in which nothing ran: the counts are written in. */
static void open_window(struct live *live, const struct zm_workload *workload,
			unsigned int nr_pairs, const char *options)
{
	live_open(live, workload, ZM_TASK_PROCESS, nr_pairs, options);
	live->t0_ns = 1000;
	live->t1_ns = 1000 + 2 * ZM_NS_PER_S;
}

static void set(struct live *live, unsigned int task, enum zm_net_counter counter, uint64_t value)
{
	live->slots[task].counters[counter] = value;
}

static void set_pair(struct live *live, unsigned int pair, uint64_t sent, uint64_t received,
		     uint64_t size)
{
	set(live, 2 * pair, ZM_NET_SENT_MESSAGES, sent);
	set(live, 2 * pair, ZM_NET_SENT_BYTES, sent * size);
	set(live, 2 * pair + 1, ZM_NET_RECV_MESSAGES, received);
	set(live, 2 * pair + 1, ZM_NET_RECV_BYTES, received * size);
}

static void assert_figure(const struct live *live, const char *name, double expected)
{
	double value = live_figure(live, name);

	if (fabs(value - expected) > fabs(expected) * 1e-9)
		fail_msg("%s is %g, not %g", name, value, expected);
}

/* The story of a slower sender and a faster receiver must be readable off one run. */
static void udp_counts_both_ends(void **state)
{
	struct live live;

	(void)state;
	open_window(&live, &wl_netload_udp_stream, 2, "send_size=1000");
	set_pair(&live, 0, 100000, 50000, 1000);
	set_pair(&live, 1, 300000, 150000, 1000);
	set(&live, 1, ZM_NET_SOCKET_DROPS, 30000);
	live_report(&live);
	assert_figure(&live, "netperf.Throughput_total_Mbps", 400000.0 * 8000 / 2e6);
	assert_figure(&live, "netperf.Throughput_Mbps", 400000.0 * 8000 / 2e6 / 2);
	assert_figure(&live, "netperf.ThroughputRecv_total_Mbps", 200000.0 * 8000 / 2e6);
	assert_figure(&live, "netperf.ThroughputRecv_Mbps", 200000.0 * 8000 / 2e6 / 2);
	assert_figure(&live, "netperf.ThroughputBoth_total_Mbps", 600000.0 * 8000 / 2e6);
	assert_figure(&live, "netperf.ThroughputBoth_Mbps", 600000.0 * 8000 / 2e6 / 2);
	assert_figure(&live, "netperf.workload", 600000);
	assert_figure(&live, "netload.lost%", 50);
	assert_figure(&live, "netload.lost_at_socket%", 7.5);
	assert_figure(&live, "netload.pair_min.MB/sec", 25);
	assert_figure(&live, "netload.pair_max.MB/sec", 75);
	assert_figure(&live, "netload.fairness", 200.0 * 200 / (2 * (50 * 50 + 150 * 150)));
	assert_false(live_has_figure(&live, "netload.verified"));
	live_close(&live);
}

static void sctp_counts_what_arrived(void **state)
{
	struct live live;

	(void)state;
	open_window(&live, &wl_netload_sctp_stream_many, 1, "");
	set_pair(&live, 0, 1000, 900, 10240);
	live_report(&live);
	assert_figure(&live, "netperf.Throughput_Mbps", 900 * 10240 * 8 / 2e6);
	assert_figure(&live, "netperf.ThroughputBoth_Mbps", 900 * 10240 * 8 / 2e6);
	assert_figure(&live, "netperf.workload", 900);
	live_close(&live);
}

static void tcp_counts_what_was_sent(void **state)
{
	struct live live;

	(void)state;
	open_window(&live, &wl_netload_tcp_stream, 1, "verify=full");
	set_pair(&live, 0, 1000, 990, 16384);
	set(&live, 1, ZM_NET_CHECK_NS, ZM_NS_PER_S / 2);
	set(&live, 1, ZM_NET_CHECKED, 990);
	live_report(&live);
	assert_figure(&live, "netperf.Throughput_Mbps", 1000 * 16384 * 8 / 2e6);
	assert_figure(&live, "netperf.ThroughputBoth_Mbps", 1000 * 16384 * 8 / 2e6);
	assert_figure(&live, "netperf.workload", 990);
	assert_figure(&live, "netload.verified", 990);
	assert_figure(&live, "netload.verify_time%", 25);
	live_close(&live);
}

static void lmbench_takes_the_median_pair(void **state)
{
	struct live live;

	(void)state;
	open_window(&live, &wl_netload_unix_stream, 3, "");
	set_pair(&live, 0, 10, 10, 1000000);
	set_pair(&live, 1, 1000, 1000, 1000000);
	set_pair(&live, 2, 40, 40, 1000000);
	live_report(&live);
	assert_figure(&live, "lmbench3.UNIX.bandwidth.MB/sec", 3 * 40 / 2.0);
	assert_figure(&live, "netload.recv.MB/sec", 1050 / 2.0);
	live_close(&live);
	open_window(&live, &wl_netload_pipe_stream, 2, "");
	set_pair(&live, 0, 10, 10, 1000000);
	set_pair(&live, 1, 30, 30, 1000000);
	live_report(&live);
	assert_figure(&live, "lmbench3.PIPE.bandwidth.MB/sec", 2 * 20 / 2.0);
	live_close(&live);
}

static void transactions_count_once(void **state)
{
	struct live live;

	(void)state;
	open_window(&live, &wl_netload_tcp_rr, 2, "");
	for (unsigned int task = 0; task < 4; task++) {
		set(&live, task, ZM_NET_TRANSACTIONS, task < 2 ? 100 : 300);
		if (task % 2 == 0)
			zm_hist_add(&live.hists[task], 20000, 100 + 100 * task);
	}
	live_report(&live);
	assert_figure(&live, "netperf.Throughput_total_tps", 200);
	assert_figure(&live, "netperf.Throughput_tps", 100);
	assert_figure(&live, "netperf.workload", 400);
	assert_true(fabs(live_figure(&live, "netload.latency.p50") - 20) < 0.2);
	assert_figure(&live, "netload.pair_min.tps", 50);
	assert_figure(&live, "netload.pair_max.tps", 150);
	live_close(&live);
}

static void every_row_is_derived(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct zm_why why = { 0 };
		struct live live;

		if (zm_workload_validate(all[i], &why) < 0)
			fail_msg("%s", why.text);
		open_window(&live, all[i], 3, "");
		for (unsigned int pair = 0; pair < 3; pair++) {
			set_pair(&live, pair, 100, 100, 1000);
			set(&live, 2 * pair, ZM_NET_TRANSACTIONS, 10);
			set(&live, 2 * pair + 1, ZM_NET_TRANSACTIONS, 10);
			if (live.nr_hists)
				zm_hist_add(&live.hists[2 * pair], 1000, 10);
		}
		live_report(&live);
		for (size_t j = 0; all[i]->metrics[j].name; j++)
			if (!all[i]->metrics[j].is_optional)
				assert_true(live_figure(&live, all[i]->metrics[j].name) >= 0);
		live_close(&live);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(udp_counts_both_ends),
		cmocka_unit_test(sctp_counts_what_arrived),
		cmocka_unit_test(tcp_counts_what_was_sent),
		cmocka_unit_test(lmbench_takes_the_median_pair),
		cmocka_unit_test(transactions_count_once),
		cmocka_unit_test(every_row_is_derived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
