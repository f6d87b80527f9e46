/*
 * link: pairs over a veth pair between two namespaces; the caller stays where it was, and when the last
 * descriptor is closed nothing is left. Without root: one sentence.
 *
 * timeout: 60
 */
#include "netload/tests/try.h"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include "workloads/base/tests/tree.h"

extern const struct zm_workload wl_netload_udp_stream;
extern const struct zm_workload wl_netload_tcp_stream;
extern const struct zm_workload wl_netload_tcp_maerts;
extern const struct zm_workload wl_netload_tcp_crr;
extern const struct zm_workload wl_netload_udp_rr;
extern const struct zm_workload wl_netload_unix_stream;

static const struct zm_net_options veth = { .link = ZM_NET_LINK_VETH, .mtu = 1500 };

/* Why it cannot be made here; empty: it can. */
static bool is_there(const struct zm_net_options *options)
{
	struct zm_why why;

	if (zm_link_check(options, &why) == 0)
		return true;
	print_message("%s\n", why.text);
	return false;
}

static ino_t own_space(void)
{
	struct stat status;

	assert_int_equal(stat("/proc/thread-self/ns/net", &status), 0);
	return status.st_ino;
}

/* The next descriptor that would be given out: a leak shows in it. */
static int next_descriptor(void)
{
	int fd = fcntl(0, F_DUPFD_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	return fd;
}

static void the_caller_stays_where_it_was(void **state)
{
	ino_t before = own_space();
	int descriptor = next_descriptor();
	struct zm_link link = { 0 };
	struct stat spaces[2];

	(void)state;
	zm_link_close(&link); /* never opened */
	if (!is_there(&veth))
		skip();
	assert_int_equal(zm_link_open(&link, &veth, NULL), 0);
	assert_true(own_space() == before);
	assert_int_equal(if_nametoindex(zm_link_interface(&veth, 0)), 0);
	for (unsigned int end = 0; end < 2; end++) {
		assert_int_equal(fstat(link.spaces[end], &spaces[end]), 0);
		assert_true(spaces[end].st_ino != before);
	}
	assert_true(spaces[0].st_ino != spaces[1].st_ino);
	zm_link_close(&link);
	zm_link_close(&link);
	assert_int_equal(next_descriptor(), descriptor);
}

static void *look_from_inside(void *argument)
{
	const struct zm_link *link = argument;

	if (zm_link_enter(link, 0, NULL) < 0 || !if_nametoindex("zm-link0") ||
	    zm_link_enter(link, 1, NULL) < 0 || !if_nametoindex("zm-link1"))
		return NULL;
	return argument;
}

static void each_end_is_in_its_space(void **state)
{
	ino_t before = own_space();
	struct zm_link link;
	pthread_t thread;
	void *result;

	(void)state;
	if (!is_there(&veth))
		skip();
	assert_int_equal(zm_link_open(&link, &veth, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, look_from_inside, &link), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_non_null(result);
	assert_true(own_space() == before);
	zm_link_close(&link);
}

static void addresses_are_of_the_link(void **state)
{
	struct zm_net_options options = veth;
	struct zm_net_address ends[2];
	char text[80];

	(void)state;
	for (unsigned int ip = 0; ip < 2; ip++) {
		options.ip = ip;
		for (unsigned int end = 0; end < 2; end++)
			zm_link_address(&options, end, &ends[end]);
		assert_int_not_equal(memcmp(&ends[0], &ends[1], sizeof(ends[0])), 0);
		assert_int_equal(zm_net_address_port(&ends[0]), 0);
	}
	options.link = ZM_NET_LINK_LO;
	options.ip = ZM_NET_IPV4;
	zm_link_address(&options, 1, &ends[1]);
	assert_string_equal(zm_net_address_print(&ends[1], text, sizeof(text)), "127.0.0.1 port 0");
	assert_string_equal(zm_link_interface(&options, 1), "lo");
}

static void streams_over_a_veth_pair(void **state)
{
	static const char *const streams[] = { "link=veth verify=full send_size=5000",
					       "link=veth ip=ipv6 mtu=9000 send_size=20000" };

	(void)state;
	if (!is_there(&veth))
		skip();
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		try_stream(&wl_netload_udp_stream, ZM_TASK_PROCESS, 2, streams[i]);
		try_stream(&wl_netload_tcp_stream, ZM_TASK_THREAD, 2, streams[i]);
		try_stream(&wl_netload_tcp_maerts, ZM_TASK_PROCESS, 1, streams[i]);
	}
	assert_false(takes(&wl_netload_unix_stream, "link"));
}

static void transactions_over_a_veth_pair(void **state)
{
	static const struct zm_workload *const workloads[] = { &wl_netload_tcp_crr,
							       &wl_netload_udp_rr };

	(void)state;
	if (!is_there(&veth))
		skip();
	for (size_t i = 0; i < 2; i++) {
		struct live live;

		live_open(&live, workloads[i], ZM_TASK_PROCESS, 2, "link=veth");
		assert_int_equal(live_go(&live), 0);
		live_await(&live, ZM_NET_TRANSACTIONS, 50);
		if (live_end(&live) < 0)
			fail_msg("%s: %s", workloads[i]->name, live.why.text);
		live_close(&live);
	}
}

#ifdef ZM_HAVE_PCAP
/* What lo carries as one packet of 5,028 bytes is cut here. */
static void packets_are_cut_to_the_mtu(void **state)
{
	const struct zm_net_run *run;
	struct live live;
	struct tree tree;
	char options[512];

	(void)state;
	if (!is_there(&veth))
		skip();
	tree_make(&tree);
	(void)snprintf(options, sizeof(options), "link=veth mtu=1400 send_size=1300 capture=%s",
		       tree_path(&tree, "some.pcap"));
	live_open(&live, &wl_netload_udp_stream, ZM_TASK_PROCESS, 1, options);
	assert_int_equal(live_go(&live), 0);
	live_await(&live, ZM_NET_RECV_MESSAGES, 100);
	assert_int_equal(live_end(&live), 0);
	run = live.run->state;
	assert_true(run->wire.packets > 0);
	assert_int_equal(run->wire.largest, 1300);
	live_close(&live);
	tree_remove(&tree);
}
#endif

/* Runs in a child that is nobody. */
static void nobody_may_not_make_one(void **state)
{
	struct zm_why *why = live_share(sizeof(*why));
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0) {
		if (geteuid() == 0 &&
		    (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
			_exit(77);
		_exit(zm_link_check(&veth, why) == -ENOTSUP ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
	assert_non_null(strstr(why->text, "needs root"));
	assert_non_null(strstr(why->text, "link=lo"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_stays_where_it_was),
		cmocka_unit_test(each_end_is_in_its_space),
		cmocka_unit_test(addresses_are_of_the_link),
		cmocka_unit_test(streams_over_a_veth_pair),
		cmocka_unit_test(transactions_over_a_veth_pair),
#ifdef ZM_HAVE_PCAP
		cmocka_unit_test(packets_are_cut_to_the_mtu),
#endif
		cmocka_unit_test(nobody_may_not_make_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
