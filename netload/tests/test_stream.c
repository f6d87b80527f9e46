/*
 * stream: every stream, as processes and as threads, one pair and three: both ends count, what a
 * reliable stream sent arrives, all tasks end at the stop, every declared figure is there.
 *
 * timeout: 120
 */
#include "netload/tests/try.h"

extern const struct zm_workload wl_netload_udp_stream;
extern const struct zm_workload wl_netload_tcp_stream;
extern const struct zm_workload wl_netload_tcp_maerts;
extern const struct zm_workload wl_netload_tcp_sendfile;
extern const struct zm_workload wl_netload_unix_stream;
extern const struct zm_workload wl_netload_unix_dgram;
extern const struct zm_workload wl_netload_pipe_stream;

static const struct zm_workload *const streams[] = {
	&wl_netload_udp_stream,   &wl_netload_tcp_stream,  &wl_netload_tcp_maerts,
	&wl_netload_tcp_sendfile, &wl_netload_unix_stream, &wl_netload_unix_dgram,
	&wl_netload_pipe_stream,
};

#define NR_STREAMS (sizeof(streams) / sizeof(streams[0]))

static void every_stream_counts_at_both_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_STREAMS; i++)
		for (unsigned int nr_pairs = 1; nr_pairs <= 3; nr_pairs += 2) {
			try_stream(streams[i], ZM_TASK_PROCESS, nr_pairs, "");
			try_stream(streams[i], ZM_TASK_THREAD, nr_pairs, "");
		}
}

static void sizes_that_fit_nothing_evenly(void **state)
{
	static const char *const sizes[] = { "send_size=1 recv_size=1",
					     "send_size=777 recv_size=1000",
					     "send_size=48K recv_size=49999" };

	(void)state;
	for (size_t i = 0; i < NR_STREAMS; i++)
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++)
			try_stream(streams[i], ZM_TASK_PROCESS, 1, sizes[j]);
}

/* netperf asks a socket that has not connected yet: TCP's buffers grow by hundreds when it does. */
static unsigned int width_as_netperf(int name, uint64_t size)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int bytes = 0;
	socklen_t length = sizeof(bytes);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, name, &bytes, &length), 0);
	(void)close(fd);
	return zm_ring_width((uint64_t)bytes, size);
}

static void look_at_rings(const struct live *live)
{
	assert_int_equal(zm_net_task_of(&live->tasks[0])->flow.out.nr,
			 width_as_netperf(SO_SNDBUF, 16 << 10));
	assert_int_equal(zm_net_task_of(&live->tasks[1])->flow.in.nr,
			 width_as_netperf(SO_RCVBUF, 128 << 10));
}

static void rings_are_as_wide_as_netperfs(void **state)
{
	struct live live;

	(void)state;
	live_open(&live, &wl_netload_tcp_stream, ZM_TASK_THREAD, 1, "");
	live.at_gate = look_at_rings;
	assert_int_equal(live_go(&live), 0);
	live_await(&live, ZM_NET_RECV_MESSAGES, 10);
	assert_int_equal(live_end(&live), 0);
	live_close(&live);
}

static void ipv6_streams(void **state)
{
	(void)state;
	try_stream(&wl_netload_udp_stream, ZM_TASK_PROCESS, 1, "ip=ipv6");
	try_stream(&wl_netload_tcp_stream, ZM_TASK_PROCESS, 1, "ip=ipv6 nodelay=on");
}

static void content_is_what_was_sent(void **state)
{
	static const char *const options[] = {
		"verify=full send_size=5000",
		"verify=sample payload=random send_size=777 recv_size=1000",
		"verify=full payload=random fill=message send_size=32",
		"verify=full payload=zero fill=message send_size=40000 ring=3",
	};

	(void)state;
	for (size_t i = 0; i < NR_STREAMS; i++)
		for (size_t j = 0; j < sizeof(options) / sizeof(options[0]); j++)
			if (!takes(streams[i], "dir") || !strstr(options[j], "fill=message"))
				try_stream(streams[i], ZM_TASK_PROCESS, 1, options[j]);
}

static void verifying_is_counted(void **state)
{
	struct live live;

	(void)state;
	live_open(&live, &wl_netload_tcp_stream, ZM_TASK_PROCESS, 1, "verify=full");
	assert_int_equal(live_go(&live), 0);
	live_await(&live, ZM_NET_CHECKED, 100);
	assert_int_equal(live_end(&live), 0);
	assert_int_equal(live_sum(&live, ZM_NET_CHECKED), live_sum(&live, ZM_NET_SENT_MESSAGES));
	assert_int_equal(live_sum(&live, ZM_NET_MISSING) + live_sum(&live, ZM_NET_LATE), 0);
	live_report(&live);
	assert_true(live_figure(&live, "netload.verify_time%") > 0);
	assert_true(live_figure(&live, "netload.verified") >= 100);
	live_close(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stream_counts_at_both_ends),
		cmocka_unit_test(sizes_that_fit_nothing_evenly),
		cmocka_unit_test(rings_are_as_wide_as_netperfs),
		cmocka_unit_test(ipv6_streams),
		cmocka_unit_test(content_is_what_was_sent),
		cmocka_unit_test(verifying_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
