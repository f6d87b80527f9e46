/*
 * engines: every stream by every engine that takes it, with odd sizes and depths: the same bytes in
 * the same order.
 *
 * timeout: 120
 */
#include "netload/tests/try.h"

extern const struct zm_workload wl_netload_udp_stream;
extern const struct zm_workload wl_netload_tcp_stream;
extern const struct zm_workload wl_netload_tcp_maerts;
extern const struct zm_workload wl_netload_unix_stream;
extern const struct zm_workload wl_netload_unix_dgram;
extern const struct zm_workload wl_netload_pipe_stream;
extern const struct zm_workload wl_netload_tcp_rr;
extern const struct zm_workload wl_netload_udp_rr;

static const struct zm_workload *const streams[] = {
	&wl_netload_udp_stream,  &wl_netload_tcp_stream, &wl_netload_tcp_maerts,
	&wl_netload_unix_stream, &wl_netload_unix_dgram, &wl_netload_pipe_stream,
};

/* Can this kernel, and this build, do it at all? */
static bool is_there(const struct zm_workload *workload, const char *options)
{
	struct live live;
	int r;

	live_open(&live, workload, ZM_TASK_PROCESS, 1, options);
	r = workload->check(live.run, &live.why);
	if (r == -ENOTSUP)
		print_message("%s %s: %s\n", workload->name, options, live.why.text);
	live_close(&live);
	return r == 0;
}

static void try_if_there(const struct zm_workload *workload, enum zm_task_kind kind,
			 const char *options)
{
	if (is_there(workload, options))
		try_stream(workload, kind, 1, options);
}

static void every_stream_over_io_uring(void **state)
{
	static const char *const options[] = {
		"engine=uring verify=full payload=random send_size=5000",
		"engine=uring verify=full depth=1 send_size=777 recv_size=1000",
		"engine=uring verify=full depth=7 ring=9 send_size=60000 recv_size=65000",
		"engine=uring verify=full depth=256 send_size=40 recv_size=40",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		for (size_t j = 0; j < sizeof(options) / sizeof(options[0]); j++) {
			try_if_there(streams[i], ZM_TASK_PROCESS, options[j]);
			try_if_there(streams[i], ZM_TASK_THREAD, options[j]);
		}
}

static void zero_copy(void **state)
{
	(void)state;
	try_if_there(&wl_netload_udp_stream, ZM_TASK_PROCESS,
		     "engine=uring zerocopy=on verify=full fill=message send_size=10K depth=5");
	try_if_there(&wl_netload_tcp_stream, ZM_TASK_PROCESS,
		     "engine=uring zerocopy=on verify=full fill=message send_size=10K depth=5");
}

static void datagrams_in_batches(void **state)
{
	static const char *const options[] = {
		"engine=batch verify=full payload=random send_size=5000",
		"engine=batch verify=full depth=1 send_size=777 recv_size=1000",
		"engine=batch verify=full depth=256 send_size=40 recv_size=40",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		try_if_there(&wl_netload_udp_stream, ZM_TASK_PROCESS, options[i]);
		try_if_there(&wl_netload_unix_dgram, ZM_TASK_THREAD, options[i]);
	}
}

/* The kernel cuts and merges; what is counted is what was sent. */
static void segmented_datagrams(void **state)
{
	static const char *const options[] = {
		"engine=batch gso=on verify=full send_size=1472",
		"engine=batch gso=on verify=full send_size=100 depth=256",
		"engine=batch gso=on verify=full send_size=32000 depth=3 ip=ipv6",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		try_if_there(&wl_netload_udp_stream, ZM_TASK_PROCESS, options[i]);
}

static void transactions_over_io_uring(void **state)
{
	static const struct zm_workload *const transactions[] = { &wl_netload_tcp_rr,
								  &wl_netload_udp_rr };
	static const char *const options[] = {
		"engine=uring",
		"engine=uring request_size=100 response_size=60000",
		"engine=uring request_size=32 response_size=999 verify=full",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < sizeof(options) / sizeof(options[0]); j++) {
			struct live live;

			if (!is_there(transactions[i], options[j]))
				continue;
			live_open(&live, transactions[i], ZM_TASK_PROCESS, 2, options[j]);
			assert_int_equal(live_go(&live), 0);
			live_await(&live, ZM_NET_TRANSACTIONS, 100);
			if (live_end(&live) < 0)
				fail_msg("%s %s: %s", transactions[i]->name, options[j],
					 live.why.text);
			live_close(&live);
		}
}

struct misfit {
	const struct zm_workload *workload;
	const char *options;
	const char *says;
};

static void engines_say_what_they_cannot(void **state)
{
	static const struct misfit misfits[] = {
		{ &wl_netload_tcp_stream, "engine=batch", "byte stream" },
		{ &wl_netload_pipe_stream, "engine=batch", "byte stream" },
		{ &wl_netload_udp_stream, "engine=batch zerocopy=on", "engine=uring" },
		{ &wl_netload_udp_stream, "engine=batch gso=on", "two messages" },
		{ &wl_netload_udp_stream, "gso=on", "engine=batch" },
		{ &wl_netload_tcp_stream, "zerocopy=on", "engine=uring" },
#ifdef ZM_HAVE_URING
		{ &wl_netload_unix_stream, "engine=uring zerocopy=on", "UDP and TCP" },
		{ &wl_netload_udp_stream, "engine=uring gso=on send_size=1K", "engine=batch" },
#endif
	};

	(void)state;
	for (size_t i = 0; i < sizeof(misfits) / sizeof(misfits[0]); i++) {
		struct live live;

		live_open(&live, misfits[i].workload, ZM_TASK_PROCESS, 1, misfits[i].options);
		assert_int_equal(live_go(&live), -EINVAL);
		if (!strstr(live.why.text, misfits[i].says))
			fail_msg("%s: %s", misfits[i].options, live.why.text);
		live_close(&live);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stream_over_io_uring),
		cmocka_unit_test(zero_copy),
		cmocka_unit_test(datagrams_in_batches),
		cmocka_unit_test(segmented_datagrams),
		cmocka_unit_test(transactions_over_io_uring),
		cmocka_unit_test(engines_say_what_they_cannot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
