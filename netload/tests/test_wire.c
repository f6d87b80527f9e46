/*
 * wire: segments in, out of and over order, the filter's words; and a capture of a live stream, which
 * sees what the tasks counted, and nothing of a stranger. Alone, since opening and closing a capture
 * wait for RCU's grace periods, which other tests' streams can hold back for half a minute.
 *
 * labels: unit serial
 * timeout: 60
 */
#include "netload/tests/live.h"

#include <netinet/in.h>
#include <sys/stat.h>

#include "netload/net.h"
#include "workloads/base/random.h"
#include "workloads/base/tests/tree.h"

extern const struct zm_workload wl_netload_udp_stream;
extern const struct zm_workload wl_netload_tcp_stream;
extern const struct zm_workload wl_netload_tcp_maerts;
extern const struct zm_workload wl_netload_tcp_rr;
extern const struct zm_workload wl_netload_udp_rr;

static void see_tcp(struct zm_wire_count *count, uint32_t from, uint32_t size)
{
	const struct zm_packet packet = {
		.protocol = IPPROTO_TCP,
		.sequence = from,
		.payload_bytes = size,
	};

	zm_wire_see(count, &packet);
}

static void each_byte_counts_once(void **state)
{
	static const uint32_t starts[] = { 0, 1000, 0x7ffffff0, 0xfffffff0 };

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		uint32_t at = starts[i];
		struct zm_wire_count count = { 0 };

		see_tcp(&count, at, 100);
		see_tcp(&count, at + 100, 50);
		see_tcp(&count, at + 200, 100); /* 150 … 200 is a hole */
		assert_int_equal(count.payload_bytes, 250);
		see_tcp(&count, at + 160, 10); /* late, in its middle */
		see_tcp(&count, at + 150, 10);
		assert_int_equal(count.payload_bytes, 270);
		assert_int_equal(count.repeated, 0);
		see_tcp(&count, at + 150, 50); /* only 170 … 200 is new */
		assert_int_equal(count.payload_bytes, 300);
		assert_int_equal(count.repeated, 1);
		see_tcp(&count, at, 300);
		assert_int_equal(count.payload_bytes, 300);
		see_tcp(&count, at + 250, 100); /* half of it is new */
		assert_int_equal(count.payload_bytes, 350);
		assert_int_equal(count.repeated, 3);
		assert_int_equal(count.smallest, 10);
		assert_int_equal(count.largest, 300);
	}
}

/* Any order of segments, with some sent twice, comes to the same bytes. */
static void any_order_comes_to_the_same(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 9, 0);
	for (unsigned int round = 0; round < 200; round++) {
		struct zm_wire_count count = { 0 };
		uint32_t base = (uint32_t)zm_random_next(&random);

		see_tcp(&count, base, 10);
		for (unsigned int i = 0; i < 8; i++) { /* blocks of four, each shuffled */
			unsigned int turn = (unsigned int)zm_random_below(&random, 4);

			for (unsigned int j = 0; j < 5; j++)
				see_tcp(&count, base + 10 + 40 * i + 10 * ((j + turn) % 4), 10);
		}
		assert_int_equal(count.payload_bytes, 10 + 8 * 40);
		assert_int_equal(count.repeated, 8);
	}
}

static void the_filter_names_both_ends(void **state)
{
	struct zm_net_address from, to;
	char text[256], small[20];

	(void)state;
	zm_net_address_loopback(&from, ZM_NET_IPV4);
	zm_net_address_loopback(&to, ZM_NET_IPV4);
	((struct sockaddr_in *)&from.storage)->sin_port = htons(1111);
	((struct sockaddr_in *)&to.storage)->sin_port = htons(2222);
	assert_int_equal(zm_wire_filter(&zm_family_udp, &from, &to, text, sizeof(text)), 0);
	assert_string_equal(text, "udp and src host 127.0.0.1 and src port 1111 and dst host "
				  "127.0.0.1 and dst port 2222");
	assert_int_equal(zm_wire_filter(&zm_family_udp, &from, &to, small, sizeof(small)),
			 -ENOBUFS);
	zm_net_address_loopback(&from, ZM_NET_IPV6);
	assert_int_equal(zm_wire_filter(&zm_family_tcp, &from, &to, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "tcp and src host ::1 "));
}

#ifdef ZM_HAVE_PCAP
/* Other packets of the same protocol, which must not be seen. */
static void start_stranger(struct live *stranger, const struct zm_workload *workload)
{
	const struct zm_net_kind *kind = workload->own;

	live_open(stranger,
		  kind->family == &zm_family_udp ? &wl_netload_udp_rr : &wl_netload_tcp_rr,
		  ZM_TASK_PROCESS, 1, "request_size=1000 response_size=1000");
	assert_int_equal(live_go(stranger), 0);
	live_await(stranger, ZM_NET_TRANSACTIONS, 1);
}

static void try_capture(const struct zm_workload *workload, enum zm_task_kind kind,
			const char *more)
{
	struct live live, stranger;
	const struct zm_net_run *state;
	struct zm_shape shape;
	struct tree tree;
	char options[512];
	struct stat status;

	tree_make(&tree);
	(void)snprintf(options, sizeof(options), "capture=%s capture_bytes=20000 %s",
		       tree_path(&tree, "some.pcap"), more);
	start_stranger(&stranger, workload);
	live_open(&live, workload, kind, 2, options);
	assert_int_equal(live_go(&live), 0);
	live_await(&live, ZM_NET_RECV_MESSAGES, 100);
	while (live.slots[1].counters[ZM_NET_RECV_MESSAGES] < 100)
		live_wait(&live, 1);
	assert_int_equal(live_end(&live), 0);
	assert_int_equal(live_end(&stranger), 0);
	state = live.run->state;
	assert_true(state->wire.is_there);
	/* What libpcap could not take it says itself; else each byte is there, and no other. */
	if (state->wire.packets == 0 || state->wire.payload_bytes > state->wire_sent_bytes ||
	    (state->wire.lost == 0 && state->wire.payload_bytes != state->wire_sent_bytes))
		fail_msg("%s %s: %llu bytes were sent; %llu packets crossed with %llu bytes, %llu "
			 "lost",
			 workload->name, more, (unsigned long long)state->wire_sent_bytes,
			 (unsigned long long)state->wire.packets,
			 (unsigned long long)state->wire.payload_bytes,
			 (unsigned long long)state->wire.lost);
	live_report(&live);
	assert_true(live_figure(&live, "wire.packets") > 0);
	assert_true(live_figure(&live, "wire.of_sent%") <= 100);
	assert_int_equal(stat(tree_path(&tree, "some.pcap"), &status), 0);
	assert_in_range(status.st_size, 1000, 20000);
	assert_int_equal(zm_shape_read(tree_path(&tree, "some.pcap"), &shape, NULL), 0);
	assert_int_equal(shape.largest <= state->wire.largest, 1);
	zm_shape_release(&shape);
	live_close(&live);
	live_close(&stranger);
	tree_remove(&tree);
}

static void what_crosses_is_what_was_counted(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	try_capture(&wl_netload_udp_stream, ZM_TASK_PROCESS, "send_size=5000");
	try_capture(&wl_netload_udp_stream, ZM_TASK_THREAD, "ip=ipv6 send_size=5000");
	try_capture(&wl_netload_tcp_stream, ZM_TASK_PROCESS, "");
	try_capture(&wl_netload_tcp_maerts, ZM_TASK_PROCESS, "");
	try_capture(&wl_netload_tcp_rr, ZM_TASK_THREAD, "request_size=100 response_size=50");
}

static void a_file_that_cannot_be_made(void **state)
{
	struct live live;

	(void)state;
	if (geteuid() != 0)
		skip();
	live_open(&live, &wl_netload_tcp_stream, ZM_TASK_PROCESS, 1, "capture=/nonexistent/x.pcap");
	assert_int_equal(live_go(&live), -ENOENT);
	assert_non_null(strstr(live.why.text, "/nonexistent/x.pcap"));
	(void)live_end(&live);
	live_close(&live);
}

/* Runs in a child that is nobody. */
static int capture_as_nobody(struct zm_why *why)
{
	struct zm_net_address address;
	const struct zm_wire_plan plan = {
		.family = &zm_family_udp,
		.from = &address,
		.to = &address,
		.interface = "lo",
		.path = "/dev/null",
		.most_bytes = 4096,
	};
	struct zm_wire *wire;

	zm_net_address_loopback(&address, ZM_NET_IPV4);
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 77;
	return zm_wire_start(&plan, &wire, why) == -EPERM ? 0 : 1;
}

static void nobody_may_not_look(void **state)
{
	struct zm_why *why = live_share(sizeof(*why));
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(capture_as_nobody(why));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
	assert_non_null(strstr(why->text, "needs root"));
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_counts_once),
		cmocka_unit_test(any_order_comes_to_the_same),
		cmocka_unit_test(the_filter_names_both_ends),
#ifdef ZM_HAVE_PCAP
		cmocka_unit_test(what_crosses_is_what_was_counted),
		cmocka_unit_test(a_file_that_cannot_be_made),
		cmocka_unit_test(nobody_may_not_look),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
