/*
 * tls: encrypted streams bring the same bytes, whoever encrypts; what this machine lacks is said, and
 * what was sent over the socket is not what the message holds.
 *
 * timeout: 60
 */
#include "netload/tests/try.h"

#include <sys/socket.h>

extern const struct zm_workload wl_netload_tcp_stream;
extern const struct zm_workload wl_netload_tcp_rr;

static int check_options(const char *options, struct zm_why *why)
{
	struct live live;
	int r;

	live_open(&live, &wl_netload_tcp_stream, ZM_TASK_PROCESS, 1, options);
	r = live.run->workload->check(live.run, why);
	live_close(&live);
	return r;
}

static void only_a_stream_by_plain_calls_is_encrypted(void **state)
{
	struct zm_why why;

	(void)state;
	assert_false(takes(&wl_netload_tcp_rr, "tls"));
#ifdef ZM_HAVE_SSL
	assert_int_equal(check_options("tls=on engine=uring", &why), -EINVAL);
	assert_non_null(strstr(why.text, "engine=syscall"));
	assert_int_equal(check_options("tls=user", &why), 0);
#else
	assert_int_equal(check_options("tls=on", &why), -ENOTSUP);
	assert_non_null(strstr(why.text, "libssl"));
#endif
}

#ifdef ZM_HAVE_SSL
static void every_byte_arrives(void **state)
{
	static const char *const options[] = {
		"tls=on verify=full payload=random send_size=5000",
		"tls=user verify=full send_size=777 recv_size=1000",
		"tls=user verify=full send_size=100000 recv_size=30000 fill=message",
		"tls=on verify=full send_size=32 ip=ipv6 nodelay=on",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		try_stream(&wl_netload_tcp_stream, ZM_TASK_PROCESS, 1, options[i]);
		try_stream(&wl_netload_tcp_stream, ZM_TASK_THREAD, 2, options[i]);
	}
}

/* With `user` never the kernel; with `kernel`, where it is to be had, both ends. */
static void the_record_says_who_encrypts(void **state)
{
	static const struct {
		const char *options;
		double ends;
	} rows[] = { { "tls=user", 0 }, { "tls=kernel verify=full", 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct live live;
		struct zm_why why;

		if (check_options(rows[i].options, &why) == -ENOTSUP) {
			assert_non_null(strstr(why.text, "tls=user"));
			print_message("%s\n", why.text);
			continue;
		}
		live_open(&live, &wl_netload_tcp_stream, ZM_TASK_PROCESS, 1, rows[i].options);
		assert_int_equal(live_go(&live), 0);
		live_await(&live, ZM_NET_RECV_MESSAGES, 20);
		assert_int_equal(live_end(&live), 0);
		live_report(&live);
		assert_true(live_figure(&live, "netload.tls_kernel_ends") == rows[i].ends);
		live_close(&live);
	}
}

static void without_it_the_record_says_nothing(void **state)
{
	struct live live;

	(void)state;
	live_open(&live, &wl_netload_tcp_stream, ZM_TASK_PROCESS, 1, "");
	assert_int_equal(live_go(&live), 0);
	live_await(&live, ZM_NET_RECV_MESSAGES, 20);
	assert_int_equal(live_end(&live), 0);
	live_report(&live);
	assert_false(live_has_figure(&live, "netload.tls_kernel_ends"));
	live_close(&live);
}

/* --- what crosses the socket --- */

struct lookout {
	int fds[2]; /* the session's end, and the looker's */
	struct zm_flow flow;
};

static void *send_one_message(void *argument)
{
	struct lookout *lookout = argument;
	static char text[4096];
	const struct iovec message = { .iov_base = text, .iov_len = sizeof(text) };
	struct zm_moved moved = { 0 };

	memset(text, 'x', sizeof(text));
	if (zm_net_engine_tls.open(&lookout->flow, true, NULL) == 0)
		(void)zm_net_engine_tls.send(&lookout->flow, &message, 1, &moved);
	(void)shutdown(lookout->fds[0], SHUT_RDWR);
	return moved.bytes == sizeof(text) ? argument : NULL;
}

/* All bytes from one socket to the other, looking for a run of the message's. */
static bool carry(int from, int to)
{
	char buffer[4096];
	ssize_t n = recv(from, buffer, sizeof(buffer), MSG_DONTWAIT);

	if (n <= 0)
		return false;
	assert_int_equal(send(to, buffer, (size_t)n, MSG_NOSIGNAL), n);
	return memmem(buffer, (size_t)n, "xxxxxxxx", 8) != NULL;
}

static void *receive_until_end(void *argument)
{
	struct lookout *lookout = argument;
	struct zm_piece piece;
	uint64_t bytes = 0;

	if (zm_net_engine_tls.open(&lookout->flow, false, NULL) == 0)
		while (zm_net_engine_tls.recv(&lookout->flow, &piece) > 0)
			bytes += piece.size;
	return bytes == 4096 ? argument : NULL;
}

static void lookout_open(struct lookout *lookout, const struct zm_net_options *options,
			 bool is_sender)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lookout->fds), 0);
	zm_flow_init(&lookout->flow, &zm_family_tcp, options);
	lookout->flow.fd = lookout->fds[0];
	assert_int_equal(
		zm_ring_open(is_sender ? &lookout->flow.out : &lookout->flow.in, 2, 4096, 0, NULL),
		0);
}

static void lookout_close(struct lookout *lookout)
{
	zm_net_engine_tls.close(&lookout->flow);
	zm_flow_release(&lookout->flow);
	assert_int_equal(close(lookout->fds[1]), 0);
}

static void what_crosses_is_not_the_message(void **state)
{
	const struct zm_net_options options = { .tls = ZM_NET_TLS_USER };
	struct lookout sender, receiver;
	pthread_t threads[2];
	void *results[2];
	bool has_seen = false;
	char byte;

	(void)state;
	lookout_open(&sender, &options, true);
	lookout_open(&receiver, &options, false);
	assert_int_equal(pthread_create(&threads[0], NULL, send_one_message, &sender), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, receive_until_end, &receiver), 0);
	/* Until the sender has shut its side down. */
	while (recv(sender.fds[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0) {
		has_seen |= carry(sender.fds[1], receiver.fds[1]);
		has_seen |= carry(receiver.fds[1], sender.fds[1]);
	}
	assert_int_equal(shutdown(receiver.fds[1], SHUT_WR), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], &results[i]), 0);
	assert_non_null(results[0]);
	assert_non_null(results[1]);
	assert_false(has_seen);
	lookout_close(&sender);
	lookout_close(&receiver);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_stream_by_plain_calls_is_encrypted),
#ifdef ZM_HAVE_SSL
		cmocka_unit_test(every_byte_arrives),
		cmocka_unit_test(the_record_says_who_encrypts),
		cmocka_unit_test(without_it_the_record_says_nothing),
		cmocka_unit_test(what_crosses_is_not_the_message),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
