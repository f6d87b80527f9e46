/*
 * faults: what a machine refuses, and what dies under way: one sentence, nobody waits for ever.
 *
 * Namespaces and foreign users need root; what cannot be tried is left out and said.
 *
 * timeout: 120
 */
#include "netload/tests/live.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "netload/net.h"

extern const struct zm_workload wl_netload_udp_stream;
extern const struct zm_workload wl_netload_tcp_stream;
extern const struct zm_workload wl_netload_tcp_rr;
extern const struct zm_workload wl_netload_tcp_crr;
extern const struct zm_workload wl_netload_tcp_sendfile;
extern const struct zm_workload wl_netload_unix_stream;
extern const struct zm_workload wl_netload_unix_dgram;
extern const struct zm_workload wl_netload_pipe_stream;
extern const struct zm_workload wl_netload_sctp_stream_many;

static void assert_says(const struct zm_why *why, const char *part)
{
	if (!strstr(why->text, part))
		fail_msg("\"%s\" does not say \"%s\"", why->text, part);
}

/* --- options that do not fit --- */

struct misfit {
	const struct zm_workload *workload;
	const char *options;
	int error;
	const char *says;
};

static void misfits_are_refused_before_anything_starts(void **state)
{
	static const struct misfit misfits[] = {
		{ &wl_netload_udp_stream, "send_size=65508", -EINVAL, "65507" },
		{ &wl_netload_udp_stream, "send_size=10K recv_size=9K", -EINVAL, "cut" },
		{ &wl_netload_unix_dgram, "send_size=10K recv_size=1", -EINVAL, "cut" },
		{ &wl_netload_tcp_stream, "send_size=31 verify=full", -EINVAL, "stamp" },
		{ &wl_netload_tcp_rr, "verify=sample", -EINVAL, "stamp" },
		{ &wl_netload_tcp_sendfile, "verify=full fill=message", -EINVAL, "fill=pool" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(misfits) / sizeof(misfits[0]); i++) {
		struct live live;

		live_open(&live, misfits[i].workload, ZM_TASK_PROCESS, 1, misfits[i].options);
		assert_int_equal(live_go(&live), misfits[i].error);
		assert_says(&live.why, misfits[i].says);
		live_close(&live);
	}
}

/* --- what the kernel refuses --- */

static void a_message_larger_than_the_socket(void **state)
{
	struct live live;

	(void)state;
	live_open(&live, &wl_netload_unix_dgram, ZM_TASK_THREAD, 1, "send_size=1M");
	assert_int_equal(live_go(&live), 0);
	while (live_error(&live) == 0)
		live_wait(&live, 1);
	assert_int_equal(live_end(&live), -EMSGSIZE);
	assert_says(&live.why, "1048576");
	assert_says(&live.why, "too large");
	live_close(&live);
}

static void no_directory_for_the_file(void **state)
{
	struct live live;

	(void)state;
	live_open(&live, &wl_netload_tcp_sendfile, ZM_TASK_PROCESS, 1, "dir=/nonexistent");
	assert_int_equal(live_go(&live), -ENOENT);
	assert_says(&live.why, "/nonexistent");
	(void)live_end(&live);
	live_close(&live);
}

static void sctp_that_is_not_there(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP);
	struct live live;

	(void)state;
	if (fd >= 0) {
		(void)close(fd);
		skip();
	}
	live_open(&live, &wl_netload_sctp_stream_many, ZM_TASK_PROCESS, 1, "");
	assert_int_equal(live_go(&live), -ENOTSUP);
	assert_says(&live.why, "modprobe sctp");
	assert_says(&live.why, "CONFIG_IP_SCTP");
	live_close(&live);
}

/* Runs the function in a child of its own and gives its status; 77: it could not be tried. */
static int in_child(int (*function)(struct zm_why *why), struct zm_why *why)
{
	struct zm_why *shared = live_share(sizeof(*shared));
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(function(shared));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*why = *shared;
	(void)munmap(shared, sizeof(*shared) + 1);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int check_workload(const struct zm_workload *workload, const char *options,
			  struct zm_why *why)
{
	struct live live;
	int r;

	live_open(&live, workload, ZM_TASK_PROCESS, 1, options);
	r = workload->check(live.run, why);
	live_close(&live);
	return r;
}

static int check_with_lo_down(struct zm_why *why)
{
	if (unshare(CLONE_NEWNET) < 0)
		return 77;
	if (check_workload(&wl_netload_tcp_stream, "ip=ipv6", why) != -ENETDOWN)
		return 2;
	return check_workload(&wl_netload_tcp_stream, "", why) == -ENETDOWN ? 0 : 1;
}

static void lo_is_down(void **state)
{
	struct zm_why why;
	int status = in_child(check_with_lo_down, &why);

	(void)state;
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
	assert_says(&why, "ip link set lo up");
}

static int check_without_ipv6(struct zm_why *why)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	FILE *file;
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		return 77;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return 77;
	(void)close(fd);
	file = fopen("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "we");
	if (!file || fputs("1", file) < 0 || fclose(file) != 0)
		return 77;
	if (check_workload(&wl_netload_udp_stream, "ip=ipv4", why) != 0)
		return 1;
	return check_workload(&wl_netload_udp_stream, "ip=ipv6", why) == -ENOTSUP ? 0 : 2;
}

static void no_ipv6(void **state)
{
	struct zm_why why;
	int status = in_child(check_without_ipv6, &why);

	(void)state;
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
	assert_says(&why, "IPv6");
}

/* --- io_uring --- */

#ifdef ZM_HAVE_URING
/* From now on io_uring_setup fails with this error, as in a container that forbids it. */
static int forbid_io_uring(unsigned int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

static int check_forbidden(struct zm_why *why)
{
	if (forbid_io_uring(EPERM) < 0)
		return 77;
	return check_workload(&wl_netload_tcp_stream, "engine=uring", why) == -ENOTSUP ? 0 : 1;
}

static int check_missing(struct zm_why *why)
{
	if (forbid_io_uring(ENOSYS) < 0)
		return 77;
	return check_workload(&wl_netload_tcp_stream, "engine=uring", why) == -ENOTSUP ? 0 : 1;
}

static void io_uring_is_not_there(void **state)
{
	struct zm_why why;
	int status = in_child(check_forbidden, &why);

	(void)state;
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
	assert_says(&why, "forbidden");
	assert_says(&why, "engine=syscall");
	assert_int_equal(in_child(check_missing, &why), 0);
	assert_says(&why, "no io_uring");
}

static int lock_too_little_for(const struct zm_workload *workload, const char *options,
			       struct zm_why *why)
{
	const struct rlimit limit = { .rlim_cur = 8192, .rlim_max = 8192 };
	struct live live;
	int r;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) < 0 || setresgid(65534, 65534, 65534) < 0 ||
	    setresuid(65534, 65534, 65534) < 0)
		return 77;
	live_open(&live, workload, ZM_TASK_THREAD, 1, options);
	r = live_go(&live);
	if (r == -ENOTSUP)
		return 77;
	(void)live_end(&live);
	*why = live.why;
	live_close(&live);
	return r == -ENOMEM || r == -ECONNABORTED ? 0 : 1;
}

static int lock_too_little(struct zm_why *why)
{
	return lock_too_little_for(&wl_netload_pipe_stream, "engine=uring send_size=1M", why);
}

/* Each end has a ring, and the receiver's has buffers besides: any of them may be the one too many. */
static int lock_too_little_to_receive(struct zm_why *why)
{
	return lock_too_little_for(&wl_netload_udp_stream, "engine=uring", why);
}

static void too_little_lockable_memory(void **state)
{
	static int (*const tries[])(struct zm_why * why) = { lock_too_little,
							     lock_too_little_to_receive };

	(void)state;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct zm_why why;
		int status = in_child(tries[i], &why);

		if (status == 77)
			skip();
		assert_int_equal(status, 0);
		assert_says(&why, "ulimit -l");
	}
}
#endif

/* --- socket buffers --- */

static int set_large_buffers(struct zm_why *why)
{
	struct zm_net_options options = { .rcvbuf = 1 << 30 };
	struct zm_net_address local;
	struct zm_flow flow;
	int r;

	zm_flow_init(&flow, &zm_family_udp, &options);
	zm_net_address_loopback(&local, ZM_NET_IPV4);
	r = zm_flow_socket(&flow, &local, &flow.fd, why);
	zm_flow_release(&flow);
	return r == 0 ? 10 : r == -ENOBUFS ? 11 : 1;
}

static int set_large_buffers_as_nobody(struct zm_why *why)
{
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 77;
	return set_large_buffers(why);
}

static void clamped_buffers_are_forced_or_said(void **state)
{
	struct zm_why why;
	int status = in_child(set_large_buffers_as_nobody, &why);

	(void)state;
	if (status == 77)
		skip();
	assert_int_equal(status, 11);
	assert_says(&why, "rcvbuf: 1G was asked");
	assert_says(&why, "was got");
	assert_says(&why, "net.core.rmem_max");
	if (geteuid() == 0)
		assert_int_equal(in_child(set_large_buffers, &why), 10);
}

static void buffers_are_what_was_asked(void **state)
{
	static const struct zm_workload *const workloads[] = { &wl_netload_udp_stream,
							       &wl_netload_tcp_stream,
							       &wl_netload_unix_stream };

	(void)state;
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		struct live live;

		live_open(&live, workloads[i], ZM_TASK_PROCESS, 1,
			  "sndbuf=100000 rcvbuf=50000 send_size=1K recv_size=1K");
		assert_int_equal(live_go(&live), 0);
		live_await(&live, ZM_NET_RECV_MESSAGES, 10);
		assert_int_equal(live_end(&live), 0);
		live_report(&live);
		assert_int_equal((uint64_t)live_figure(&live, "netload.sndbuf"), 200000);
		assert_int_equal((uint64_t)live_figure(&live, "netload.rcvbuf"), 100000);
		live_close(&live);
	}
}

/* --- an end that cannot be set up --- */

/* The ends wait for each other in one order or the other: both say what is wrong. */
static int go_with_a_bad_end(const struct zm_workload *workload, const char *part,
			     struct zm_why *why)
{
	struct live live;
	int r;

	live_open(&live, workload, ZM_TASK_PROCESS, 1, "sndbuf=1G");
	r = live_go(&live);
	(void)live_end(&live);
	for (unsigned int i = 0; i < 2 && r < 0; i++) {
		*why = live.slots[i].why;
		if (live.slots[i].error == 0 || !strstr(why->text, part))
			r = 0;
	}
	live_close(&live);
	return r < 0 ? 10 : 1;
}

static int go_as_nobody(struct zm_why *why)
{
	static const struct zm_workload *const workloads[] = { &wl_netload_tcp_stream,
							       &wl_netload_udp_stream,
							       &wl_netload_unix_stream };
	int status = 10;

	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 77;
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]) && status == 10; i++)
		status = go_with_a_bad_end(workloads[i], "sndbuf: 1G was asked, ", why);
	return status;
}

static void both_ends_say_what_is_wrong_with_one(void **state)
{
	struct zm_why why;
	int status = in_child(go_as_nobody, &why);

	(void)state;
	if (status == 77)
		skip();
	if (status != 10)
		fail_msg("%s", why.text);
}

/* --- what dies under way --- */

static void a_killed_end_is_noticed(void **state)
{
	static const struct zm_workload *const workloads[] = { &wl_netload_tcp_stream,
							       &wl_netload_unix_stream,
							       &wl_netload_pipe_stream,
							       &wl_netload_tcp_rr };

	(void)state;
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		for (unsigned int victim = 0; victim < 2; victim++) {
			struct live live;

			live_open(&live, workloads[i], ZM_TASK_PROCESS, 1, "");
			assert_int_equal(live_go(&live), 0);
			live_await(&live, ZM_NET_RECV_MESSAGES, 10);
			live_kill(&live, victim);
			while (live_error(&live) == 0)
				live_wait(&live, 1);
			assert_int_not_equal(live_end(&live), 0);
			assert_says(&live.why, "pair 0: the ");
			assert_says(&live.why, "end left before the stop");
			live_close(&live);
		}
}

/* A task that gets no turn before the stop is not run; its other end has been, and must not wait. */
static void an_end_that_was_never_run(void **state)
{
	static const struct zm_workload *const workloads[] = {
		&wl_netload_udp_stream,  &wl_netload_tcp_stream, &wl_netload_unix_stream,
		&wl_netload_pipe_stream, &wl_netload_unix_dgram, &wl_netload_tcp_rr,
		&wl_netload_tcp_crr,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		struct live live;

		live_open(&live, workloads[i], ZM_TASK_THREAD, 2, "");
		live.shared->nr_late = 1;
		assert_int_equal(live_go(&live), 0);
		live_await(&live, ZM_NET_RECV_MESSAGES, 10);
		if (live_end(&live) < 0)
			fail_msg("%s: %s", workloads[i]->name, live.why.text);
		assert_int_equal(live.slots[0].ops, 0);
		assert_true(live.slots[2].ops > 0);
		live_close(&live);
	}
}

/* An end that cannot be set up does not leave the other waiting. */
static void too_few_descriptors(void **state)
{
	static const struct zm_workload *const workloads[] = { &wl_netload_udp_stream,
							       &wl_netload_tcp_stream,
							       &wl_netload_unix_stream };
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = 24;
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		struct live live;
		int r;

		live_open(&live, workloads[i], ZM_TASK_THREAD, 20, "");
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		r = live_go(&live);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		(void)live_end(&live);
		if (r != -EMFILE && r != -ECONNABORTED)
			fail_msg("%s: %d: %s", workloads[i]->name, r, live.why.text);
		live_close(&live);
	}
}

/* --- very many --- */

static unsigned int how_many(void)
{
	const char *text = getenv("ZM_TEST_PAIRS");
	uint64_t number;

	if (text && zm_units_parse_u64(text, &number) == 0 && number > 0)
		return (unsigned int)number;
#ifdef ZM_SANITIZED
	return 32;
#else
	return 256;
#endif
}

static void very_many_pairs(void **state)
{
	static const struct zm_workload *const workloads[] = { &wl_netload_udp_stream,
							       &wl_netload_tcp_crr,
							       &wl_netload_unix_stream };
	unsigned int nr_pairs = how_many();

	(void)state;
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		bool is_rr = workloads[i] == &wl_netload_tcp_crr;
		uint64_t begun_ns = zm_clock_now_ns();
		struct live live;
		int r;

		live_open(&live, workloads[i], ZM_TASK_PROCESS, nr_pairs,
			  is_rr ? "" : "send_size=64 recv_size=64 sndbuf=4K rcvbuf=4K ring=1");
		r = live_go(&live);
		live_wait(&live, 20);
		if (r == 0)
			r = live_end(&live);
		else
			(void)live_end(&live);
		print_message("%s: %u pairs: %llu ms until the gate, %llu ms in all\n",
			      workloads[i]->name, nr_pairs,
			      (unsigned long long)((live.shared->gate.opened_ns - begun_ns) /
						   ZM_NS_PER_MS),
			      (unsigned long long)((zm_clock_now_ns() - begun_ns) / ZM_NS_PER_MS));
		/* A datagram's receiver may not have had its turn in so short a time. */
		if (r < 0 && r != -ENODATA)
			fail_msg("%s: %d: %s", workloads[i]->name, r, live.why.text);
		live_close(&live);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misfits_are_refused_before_anything_starts),
		cmocka_unit_test(a_message_larger_than_the_socket),
		cmocka_unit_test(no_directory_for_the_file),
		cmocka_unit_test(sctp_that_is_not_there),
		cmocka_unit_test(lo_is_down),
		cmocka_unit_test(no_ipv6),
#ifdef ZM_HAVE_URING
		cmocka_unit_test(io_uring_is_not_there),
		cmocka_unit_test(too_little_lockable_memory),
#endif
		cmocka_unit_test(clamped_buffers_are_forced_or_said),
		cmocka_unit_test(both_ends_say_what_is_wrong_with_one),
		cmocka_unit_test(buffers_are_what_was_asked),
		cmocka_unit_test(a_killed_end_is_noticed),
		cmocka_unit_test(an_end_that_was_never_run),
		cmocka_unit_test(too_few_descriptors),
		cmocka_unit_test(very_many_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
