/*
 * rr: every kind of transaction, as processes and as threads: both ends count the same, the latencies
 * are as many as the transactions, and all tasks end at the stop.
 *
 * timeout: 120
 */
#include "netload/tests/live.h"

#include "netload/net.h"

extern const struct zm_workload wl_netload_tcp_rr;
extern const struct zm_workload wl_netload_tcp_crr;
extern const struct zm_workload wl_netload_udp_rr;

static const struct zm_workload *const all[] = {
	&wl_netload_tcp_rr,
	&wl_netload_tcp_crr,
	&wl_netload_udp_rr,
};

#define NR_ALL (sizeof(all) / sizeof(all[0]))

static void assert_pair(const struct live *live, unsigned int pair)
{
	const struct zm_net_options *options = live->run->options;
	const struct zm_slot *asks = &live->slots[2 * pair], *answers = &live->slots[2 * pair + 1];
	uint64_t done = asks->counters[ZM_NET_TRANSACTIONS];

	assert_true(done > 0);
	assert_int_equal(asks->ops, done);
	assert_int_equal(live->hists[2 * pair].count, done);
	assert_true(live->hists[2 * pair].min > 0);
	/* The last response may be on its way when its asker has stopped. */
	assert_in_range(answers->counters[ZM_NET_TRANSACTIONS], done, done + 1);
	assert_true(asks->counters[ZM_NET_SENT_BYTES] >= done * options->request_size);
	assert_true(asks->counters[ZM_NET_RECV_BYTES] >= done * options->response_size);
	assert_true(asks->first_op_ns > 0 && answers->first_op_ns > 0);
}

static void try_rr(const struct zm_workload *workload, enum zm_task_kind kind,
		   unsigned int nr_pairs, const char *options)
{
	struct live live;
	int r;

	live_open(&live, workload, kind, nr_pairs, options);
	r = live_go(&live);
	if (r == 0)
		for (unsigned int i = 0; i < 2 * nr_pairs; i += 2)
			while (live.slots[i].counters[ZM_NET_TRANSACTIONS] < 20 &&
			       live_error(&live) == 0)
				live_wait(&live, 1);
	if (r == 0)
		r = live_end(&live);
	else
		(void)live_end(&live);
	if (r < 0)
		fail_msg("%s %s: %d: %s", workload->name, options, r, live.why.text);
	for (unsigned int i = 0; i < nr_pairs; i++)
		assert_pair(&live, i);
	live_report(&live);
	assert_true(live_figure(&live, "netperf.Throughput_tps") > 0);
	assert_true(live_figure(&live, "netload.latency.p50") <=
		    live_figure(&live, "netload.latency.max"));
	live_close(&live);
}

static void transactions_count_at_both_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_ALL; i++)
		for (unsigned int nr_pairs = 1; nr_pairs <= 3; nr_pairs += 2) {
			try_rr(all[i], ZM_TASK_PROCESS, nr_pairs, "");
			try_rr(all[i], ZM_TASK_THREAD, nr_pairs, "");
		}
}

static void sizes_and_protocols(void **state)
{
	static const char *const options[] = {
		"request_size=100 response_size=60000",
		"request_size=60000 response_size=1",
		"ip=ipv6",
		"request_size=32 response_size=999 verify=full payload=random fill=message",
	};

	(void)state;
	for (size_t i = 0; i < NR_ALL; i++)
		for (size_t j = 0; j < sizeof(options) / sizeof(options[0]); j++)
			try_rr(all[i], ZM_TASK_PROCESS, 1, options[j]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transactions_count_at_both_ends),
		cmocka_unit_test(sizes_and_protocols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
