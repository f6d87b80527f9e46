/*
 * bare_net: what a stream or a transaction is without any harness: two processes per pair, each in a
 * loop around the one call that the original makes, and a plain count that the parent reads at two
 * moments. Prints megabytes received (10^6 bytes), or transactions, per second.
 *
 *     bare_net WORKLOAD PAIRS SIZE WARM WINDOW CPU CPU [sent]
 *
 * WORKLOAD is one of zonemark's names, SIZE the bytes of a message (transactions: of each), and the
 * CPUs are where the sending and the receiving ends of all pairs run; `sent` prints what was sent
 * instead. Buffers are as many as netperf walks, and as large: that is part of what is measured.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/units.h"

#define PORTION        (UINT64_C(10) << 20) /* what lmbench's reader asks for at a time */
#define LMBENCH_OFFSET 128                  /* of its pipe reader's buffer in a page */
#define MOST_ENDS      128

/* One end. */
struct end {
	int fd, control_fd;
	struct sockaddr_in peer;
	size_t size; /* of a message to send, or of a receiving buffer */
	char *buffers;
	size_t spacing;
	unsigned int nr_buffers, next;
	uint64_t asked_ns, longest_ns; /* of transactions */
	size_t room;            /* its socket's buffer before it connected; 0: as it is now */
	_Atomic uint64_t *done; /* bytes or transactions, in a cache line of its own */
};

struct bare_net {
	const char *workload;
	uint64_t nr_pairs, size, warm_ns, window_ns, cpus[2];
	bool prints_sent;
};

static _Noreturn void fail(const char *what)
{
	(void)fprintf(stderr, "bare_net: %s: %s\n", what, strerror(errno));
	exit(2);
}

static bool is(const struct bare_net *bare, const char *name)
{
	return strcmp(bare->workload, name) == 0;
}

/* --- the loops: what is counted is done --- */

static inline void count(const struct end *end, uint64_t n)
{
	atomic_store_explicit(end->done, atomic_load_explicit(end->done, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static inline char *take_buffer(struct end *end)
{
	char *buffer = end->buffers + end->next * end->spacing;

	end->next = end->next + 1 == end->nr_buffers ? 0 : end->next + 1;
	return buffer;
}

static bool is_refusal(void)
{
	return errno == ENOBUFS || errno == ECONNREFUSED || errno == ENOMEM;
}

static void send_datagrams(struct end *end)
{
	for (;;) {
		ssize_t n = sendto(end->fd, take_buffer(end), end->size, 0,
				   (const struct sockaddr *)&end->peer, sizeof(end->peer));

		if (n >= 0)
			count(end, (uint64_t)n);
		else if (!is_refusal())
			fail("sendto");
	}
}

static void receive_datagrams(struct end *end)
{
	for (;;) {
		struct sockaddr_storage from;
		socklen_t length = sizeof(from);
		ssize_t n = recvfrom(end->fd, take_buffer(end), end->size, 0,
				     (struct sockaddr *)&from, &length);

		if (n < 0)
			fail("recvfrom");
		count(end, (uint64_t)n);
	}
}

static void send_stream(struct end *end)
{
	for (;;) {
		ssize_t n = send(end->fd, take_buffer(end), end->size, MSG_NOSIGNAL);

		if (n < 0)
			fail("send");
		count(end, (uint64_t)n);
	}
}

static void receive_stream(struct end *end)
{
	for (;;) {
		ssize_t n = recv(end->fd, take_buffer(end), end->size, 0);

		if (n <= 0)
			fail("recv");
		count(end, (uint64_t)n);
	}
}

static uint64_t write_some(struct end *end)
{
	ssize_t n = write(end->fd, take_buffer(end), end->size);

	if (n < 0)
		fail("write");
	count(end, (uint64_t)n);
	return (uint64_t)n;
}

static uint64_t read_some(struct end *end)
{
	ssize_t n = read(end->fd, take_buffer(end), end->size);

	if (n <= 0)
		fail("read");
	count(end, (uint64_t)n);
	return (uint64_t)n;
}

static void write_pipe(struct end *end)
{
	for (;;)
		(void)write_some(end);
}

static void read_pipe(struct end *end)
{
	for (;;)
		(void)read_some(end);
}

static void write_portions(struct end *end)
{
	uint64_t todo;

	while (read(end->control_fd, &todo, sizeof(todo)) == (ssize_t)sizeof(todo))
		for (uint64_t sent = 0; sent < todo;)
			sent += write_some(end);
}

static void read_portions(struct end *end)
{
	const uint64_t portion = PORTION;

	while (write(end->control_fd, &portion, sizeof(portion)) == (ssize_t)sizeof(portion))
		for (uint64_t received = 0; received < portion;)
			received += read_some(end);
}

static void receive_all(struct end *end)
{
	for (size_t have = 0; have < end->size;) {
		ssize_t n = recv(end->fd, end->buffers, end->size - have, 0);

		if (n <= 0)
			fail("recv");
		have += (size_t)n;
	}
}

/* Whoever asks, and wants to know how long it took, reads the clock once a transaction. */
static inline void take_latency(struct end *end)
{
	uint64_t now_ns = zm_clock_now_ns();

	end->longest_ns =
		now_ns - end->asked_ns > end->longest_ns ? now_ns - end->asked_ns : end->longest_ns;
	end->asked_ns = now_ns;
}

static void ask_tcp(struct end *end)
{
	for (;;) {
		if (send(end->fd, end->buffers, end->size, MSG_NOSIGNAL) < 0)
			fail("send");
		receive_all(end);
		take_latency(end);
		count(end, 1);
	}
}

static void answer_tcp(struct end *end)
{
	for (;;) {
		receive_all(end);
		if (send(end->fd, end->buffers, end->size, MSG_NOSIGNAL) < 0)
			fail("send");
		count(end, 1);
	}
}

static inline void exchange_udp(struct end *end, bool begins, bool is_timed)
{
	struct sockaddr_storage from;

	for (;; begins = true) {
		socklen_t length = sizeof(from);

		if (begins && sendto(end->fd, end->buffers, end->size, 0,
				     (const struct sockaddr *)&end->peer, sizeof(end->peer)) < 0)
			fail("sendto");
		if (recvfrom(end->fd, end->buffers, end->size, 0, (struct sockaddr *)&from,
			     &length) < 0)
			fail("recvfrom");
		if (is_timed)
			take_latency(end);
		count(end, 1);
	}
}

static void ask_udp(struct end *end)
{
	exchange_udp(end, true, true);
}

static void answer_udp(struct end *end)
{
	exchange_udp(end, false, false);
}

/* --- the ends --- */

static size_t buffer_of(int fd, int name)
{
	int value = 0;
	socklen_t length = sizeof(value);

	(void)getsockopt(fd, SOL_SOCKET, name, &value, &length);
	return (size_t)value;
}

static void connect_tcp(struct end *ends)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ends[0].fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ends[0].room = buffer_of(ends[0].fd, SO_SNDBUF);
	ends[1].room = buffer_of(listener, SO_RCVBUF);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &length) < 0 ||
	    connect(ends[0].fd, (struct sockaddr *)&address, length) < 0)
		fail("tcp");
	ends[1].fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	(void)close(listener);
}

static void bind_udp(struct end *ends)
{
	const int on = 1;

	for (int i = 0; i < 2; i++) {
		struct sockaddr_in *address = &ends[!i].peer;
		socklen_t length = sizeof(*address);

		*address = (struct sockaddr_in){ .sin_family = AF_INET };
		address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		ends[i].fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (setsockopt(ends[i].fd, SOL_SOCKET, SO_DONTROUTE, &on, sizeof(on)) < 0 ||
		    setsockopt(ends[i].fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)) < 0 ||
		    bind(ends[i].fd, (struct sockaddr *)address, length) < 0 ||
		    getsockname(ends[i].fd, (struct sockaddr *)address, &length) < 0)
			fail("udp");
	}
}

static void join(const struct bare_net *bare, struct end *ends)
{
	bool is_asked = is(bare, "unix_stream");
	int fds[2] = { -1, -1 }, controls[2] = { -1, -1 };
	int r = 0;

	if (strncmp(bare->workload, "tcp", 3) == 0) {
		connect_tcp(ends);
		return;
	}
	if (strncmp(bare->workload, "udp", 3) == 0) {
		bind_udp(ends);
		return;
	}
	if (is(bare, "pipe_stream"))
		r = pipe2(fds, O_CLOEXEC);
	else
		r = socketpair(AF_UNIX, (is_asked ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0,
			       fds);
	if (r < 0 || (is_asked && pipe2(controls, O_CLOEXEC) < 0))
		fail(bare->workload);
	ends[0].fd = fds[1];
	ends[1].fd = fds[0];
	ends[0].control_fd = controls[0];
	ends[1].control_fd = controls[1];
}

static bool is_transaction(const struct bare_net *bare)
{
	return is(bare, "tcp_rr") || is(bare, "udp_rr");
}

static size_t size_of(const struct bare_net *bare, const struct end *end, bool is_sender)
{
	if (is_sender || is_transaction(bare))
		return bare->size;
	if (is(bare, "tcp_stream"))
		return 128 << 10;
	if (is(bare, "unix_stream") || is(bare, "pipe_stream"))
		return 64 << 10;
	return buffer_of(end->fd, SO_RCVBUF);
}

static unsigned int width_of(const struct bare_net *bare, const struct end *end, bool is_sender)
{
	size_t room = end->room ? end->room : buffer_of(end->fd, is_sender ? SO_SNDBUF : SO_RCVBUF);

	if (is_transaction(bare) || is(bare, "unix_stream") || is(bare, "pipe_stream"))
		return 1;
	return room / end->size + 1 < 2 ? 2 : (unsigned int)(room / end->size + 1);
}

static void make_buffers(const struct bare_net *bare, struct end *end, bool is_sender)
{
	size_t offset = is(bare, "pipe_stream") && !is_sender ? LMBENCH_OFFSET : 0;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), unit;

	end->size = size_of(bare, end, is_sender);
	end->nr_buffers = width_of(bare, end, is_sender);
	unit = end->size + offset < page ? 64 : page;
	end->spacing = (end->size + offset + unit - 1) / unit * unit;
	end->buffers = mmap(NULL, end->spacing * end->nr_buffers, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (end->buffers == MAP_FAILED)
		fail("buffers");
	memset(end->buffers, 'z', end->spacing * end->nr_buffers);
	end->buffers += offset;
}

typedef void loop(struct end *end);

static const struct {
	const char *workload;
	loop *loops[2];
} rows[] = {
	{ "udp_stream", { send_datagrams, receive_datagrams } },
	{ "tcp_stream", { send_stream, receive_stream } },
	{ "unix_stream", { write_portions, read_portions } },
	{ "pipe_stream", { write_pipe, read_pipe } },
	{ "unix_dgram", { send_stream, receive_stream } },
	{ "tcp_rr", { ask_tcp, answer_tcp } },
	{ "udp_rr", { ask_udp, answer_udp } },
};

static loop *loop_of(const struct bare_net *bare, int which)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is(bare, rows[i].workload))
			return rows[i].loops[which];
	return NULL;
}

static void pin(uint64_t cpu)
{
	zm_autocpuset struct zm_cpuset set = { 0 };

	if (zm_cpuset_add(&set, (unsigned int)cpu) < 0 || zm_cpuset_set_affinity(0, &set) < 0)
		fail("pinning");
}

/* Never inlined, so that a profiler can tell it. */
__attribute__((noinline)) static void run_loop(loop *run, struct end *end)
{
	run(end);
}

static _Noreturn void live(const struct bare_net *bare, struct end *end, int which)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(bare->cpus[which]);
	make_buffers(bare, end, which == 0);
	run_loop(loop_of(bare, which), end);
	exit(0);
}

/* --- the parent --- */

/* Each end's count lies in a page of its own. */
static _Atomic uint64_t *make_counts(size_t nr)
{
	void *memory =
		mmap(NULL, nr * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("memory");
	return memory;
}

static uint64_t sum(const struct bare_net *bare, _Atomic uint64_t *counts)
{
	bool is_first = bare->prints_sent || is_transaction(bare);
	uint64_t total = 0;

	for (uint64_t i = is_first ? 0 : 1; i < 2 * bare->nr_pairs; i += 2)
		total += atomic_load(&counts[i * 512]);
	return total;
}

static void start(const struct bare_net *bare, _Atomic uint64_t *counts, pid_t *pids)
{
	for (uint64_t pair = 0; pair < bare->nr_pairs; pair++) {
		struct end ends[2] = { 0 };

		join(bare, ends);
		for (int which = 0; which < 2; which++) {
			ends[which].done = &counts[(2 * pair + (uint64_t)which) * 512];
			pids[2 * pair + (uint64_t)which] = fork();
			if (pids[2 * pair + (uint64_t)which] == 0)
				live(bare, &ends[which], which);
		}
		(void)close(ends[0].fd);
		(void)close(ends[1].fd);
	}
}

static double measure(const struct bare_net *bare, _Atomic uint64_t *counts)
{
	uint64_t start_ns, end_ns, before, after;

	(void)zm_clock_sleep_until(zm_clock_now_ns() + bare->warm_ns);
	start_ns = zm_clock_now_ns();
	before = sum(bare, counts);
	(void)zm_clock_sleep_until(start_ns + bare->window_ns);
	end_ns = zm_clock_now_ns();
	after = sum(bare, counts);
	return (double)(after - before) * 1e9 / (double)(end_ns - start_ns);
}

static bool parse(int argc, char **argv, struct bare_net *bare)
{
	if (argc < 8 || argc > 9 || (argc == 9 && strcmp(argv[8], "sent") != 0))
		return false;
	bare->workload = argv[1];
	bare->prints_sent = argc == 9;
	return loop_of(bare, 0) && zm_units_parse_u64(argv[2], &bare->nr_pairs) == 0 &&
	       bare->nr_pairs > 0 && 2 * bare->nr_pairs <= MOST_ENDS &&
	       zm_units_parse_size(argv[3], &bare->size) == 0 && bare->size > 0 &&
	       zm_units_parse_duration(argv[4], &bare->warm_ns) == 0 &&
	       zm_units_parse_duration(argv[5], &bare->window_ns) == 0 &&
	       zm_units_parse_u64(argv[6], &bare->cpus[0]) == 0 &&
	       zm_units_parse_u64(argv[7], &bare->cpus[1]) == 0;
}

int main(int argc, char **argv)
{
	struct bare_net bare = { 0 };
	_Atomic uint64_t *counts;
	pid_t pids[MOST_ENDS];
	double rate;

	if (!parse(argc, argv, &bare)) {
		(void)fprintf(stderr, "usage: bare_net WORKLOAD PAIRS SIZE WARM WINDOW CPU CPU "
				      "[sent]\n");
		return 2;
	}
	counts = make_counts(2 * bare.nr_pairs);
	start(&bare, counts, pids);
	rate = measure(&bare, counts);
	for (uint64_t i = 0; i < 2 * bare.nr_pairs; i++)
		(void)kill(pids[i], SIGTERM); /* a profiler has something to write yet */
	(void)printf("%.6g\n", rate / (is_transaction(&bare) ? 1 : 1e6));
	return rate > 0 ? 0 : 2;
}
