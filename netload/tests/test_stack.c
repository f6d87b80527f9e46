/*
 * stack: files of a made-up machine, that change, run over, lose and gain fields; and namespaces of
 * this one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "netload/stack.h"
#include "workloads/base/tests/tree.h"

struct machine {
	struct tree tree;
	struct zm_sysroot root;
	struct zm_stack stack;
};

static void write_files(const struct tree *tree, const char *rcvbuf, const char *softnet)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "Ip: Forwarding InReceives\nIp: 1 100\n"
		       "Tcp: RtoMin MaxConn CurrEstab RetransSegs\nTcp: 200 -1 7 3\n"
		       "Udp: InDatagrams RcvbufErrors\nUdp: 50 %s\n"
		       "UdpLite: InDatagrams\nUdpLite: 0\n",
		       rcvbuf);
	tree_write(tree, "proc/net/snmp", text);
	tree_write(tree, "proc/net/netstat",
		   "TcpExt: TCPBacklogDrop\nTcpExt: 9\nMPTcpExt: A\nMPTcpExt: 1\n");
	tree_write(tree, "proc/net/snmp6", "Udp6RcvbufErrors   \t4\nIcmp6OutType135\t4\nbroken\n");
	tree_write(tree, "proc/net/sctp/snmp", "SctpCurrEstab 5\nSctpT3Retransmits\t6\n");
	tree_write(tree, "proc/net/softnet_stat", softnet);
}

static void machine_open(struct machine *machine)
{
	tree_make(&machine->tree);
	write_files(&machine->tree, "1",
		    "0000000a 00000001 00000002\n00000014 00000002 00000000\n");
	assert_int_equal(zm_sysroot_open(&machine->root, machine->tree.path), 0);
	assert_int_equal(zm_stack_open(&machine->stack, &machine->root, NULL), 0);
}

static void machine_close(struct machine *machine)
{
	zm_stack_release(&machine->stack);
	zm_sysroot_release(&machine->root);
	tree_remove(&machine->tree);
}

static const struct zm_stack_counter *find(const struct zm_stack *stack, const char *name)
{
	for (size_t i = 0; i < stack->nr_counters; i++)
		if (strcmp(stack->counters[i].name, name) == 0)
			return &stack->counters[i];
	return NULL;
}

static uint64_t total(const struct zm_stack *stack, const char *name)
{
	const struct zm_stack_counter *counter = find(stack, name);

	if (!counter)
		fail_msg("no %s", name);
	return counter->total;
}

static void counts_are_kept_and_gauges_not(void **state)
{
	static const struct {
		const char *name;
		uint64_t value;
	} kept[] = {
		{ "Ip.InReceives", 100 },       { "Tcp.RetransSegs", 3 },
		{ "Udp.InDatagrams", 50 },      { "Udp.RcvbufErrors", 1 },
		{ "TcpExt.TCPBacklogDrop", 9 }, { "Udp6RcvbufErrors", 4 },
		{ "SctpT3Retransmits", 6 },     { "softnet.processed", 30 },
		{ "softnet.dropped", 3 },       { "softnet.time_squeeze", 2 },
	};
	struct machine machine;

	(void)state;
	machine_open(&machine);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		assert_int_equal(total(&machine.stack, kept[i].name), kept[i].value);
	assert_int_equal(machine.stack.nr_counters, sizeof(kept) / sizeof(kept[0]));
	machine_close(&machine);
}

static void totals_rise_and_run_over(void **state)
{
	struct machine machine;

	(void)state;
	machine_open(&machine);
	write_files(&machine.tree, "11",
		    "fffffff0 00000001 00000002\n00000014 00000002 00000000\n");
	assert_int_equal(zm_stack_read(&machine.stack), 0);
	assert_int_equal(total(&machine.stack, "Udp.RcvbufErrors"), 11);
	assert_int_equal(total(&machine.stack, "softnet.processed"), 0xfffffff0ull + 0x14);
	write_files(&machine.tree, "11",
		    "00000010 00000001 00000002\n00000014 00000002 00000000\n");
	assert_int_equal(zm_stack_read(&machine.stack), 0);
	assert_int_equal(total(&machine.stack, "softnet.processed"), 0xfffffff0ull + 0x14 + 0x20);
	/* Reset by somebody: it goes on from there. */
	write_files(&machine.tree, "0", "00000000\n");
	assert_int_equal(zm_stack_read(&machine.stack), 0);
	assert_int_equal(total(&machine.stack, "Udp.RcvbufErrors"), 11);
	write_files(&machine.tree, "5", "00000000\n");
	assert_int_equal(zm_stack_read(&machine.stack), 0);
	assert_int_equal(total(&machine.stack, "Udp.RcvbufErrors"), 16);
	machine_close(&machine);
}

static void fields_may_come_go_and_move(void **state)
{
	struct machine machine;
	size_t nr;

	(void)state;
	machine_open(&machine);
	nr = machine.stack.nr_counters;
	tree_write(&machine.tree, "proc/net/snmp",
		   "Udp: New RcvbufErrors\nUdp: 77 21\nTcp: RetransSegs\nTcp: 4");
	tree_write(&machine.tree, "proc/net/netstat", "TcpExt: Only names\n");
	tree_write(&machine.tree, "proc/net/snmp6", "");
	assert_int_equal(zm_stack_read(&machine.stack), 0);
	assert_int_equal(total(&machine.stack, "Udp.RcvbufErrors"), 21);
	assert_int_equal(total(&machine.stack, "Tcp.RetransSegs"), 4);
	assert_int_equal(total(&machine.stack, "Udp.InDatagrams"), 50);
	assert_int_equal(machine.stack.nr_counters, nr);
	machine_close(&machine);
}

static void nothing_to_count_is_said(void **state)
{
	struct machine machine;
	struct zm_why why = { 0 };

	(void)state;
	tree_make(&machine.tree);
	assert_int_equal(zm_sysroot_open(&machine.root, machine.tree.path), 0);
	assert_int_equal(zm_stack_open(&machine.stack, &machine.root, &why), -ENOENT);
	assert_non_null(strstr(why.text, "/proc/net"));
	machine_close(&machine);
}

static void rises(void **state)
{
	static const struct {
		uint64_t last, now, rise;
	} cases[] = {
		{ 5, 5, 0 },
		{ 5, 9, 4 },
		{ UINT32_MAX, 0, 1 },
		{ 0xfffffff0, 0x10, 0x20 },
		{ UINT64_C(0x3fffffff0), UINT64_C(0x300000010), 0x20 }, /* a sum of several */
		{ 100, 0, 0 },
		{ UINT64_MAX, 5, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(zm_stack_rise(cases[i].last, cases[i].now), cases[i].rise);
}

/* Sends one datagram to nobody: NoPorts rises by one. */
static int send_to_nobody(void)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t n = sendto(fd, "x", 1, 0, (const struct sockaddr *)&to, sizeof(to));

	(void)close(fd);
	return n == 1 ? 0 : -1;
}

/* A process in a namespace of its own, that sends when it is told. */
static void live_elsewhere(int go, int done)
{
	char byte = 0;

	if (unshare(CLONE_NEWNET) < 0)
		byte = 1;
	if (write(done, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(1);
	(void)send_to_nobody(); /* lo is down: refused on the way out, and counted */
	_exit(write(done, &byte, 1) == 1 ? 0 : 1);
}

static void tasks_elsewhere_are_followed(void **state)
{
	struct zm_sysroot root;
	struct zm_stack stack;
	int go[2], done[2];
	uint64_t before;
	char byte = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(go) | pipe(done), 0);
	pid = fork();
	if (pid == 0)
		live_elsewhere(go[0], done[1]);
	assert_int_equal(read(done[0], &byte, 1), 1);
	if (byte != 0) {
		(void)waitpid(pid, NULL, 0);
		skip();
	}
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	assert_int_equal(zm_stack_open(&stack, &root, NULL), 0);
	before = total(&stack, "Ip.OutNoRoutes");
	assert_int_equal(zm_stack_follow(&stack, &pid, 1), 0);
	assert_int_equal(total(&stack, "Ip.OutNoRoutes"), before);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(done[0], &byte, 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* The files outlive the task. */
	assert_int_equal(zm_stack_read(&stack), 0);
	assert_int_equal(total(&stack, "Ip.OutNoRoutes"), before + 1);
	zm_stack_release(&stack);
	zm_sysroot_release(&root);
	for (unsigned int i = 0; i < 2; i++) {
		(void)close(go[i]);
		(void)close(done[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_kept_and_gauges_not),
		cmocka_unit_test(totals_rise_and_run_over),
		cmocka_unit_test(fields_may_come_go_and_move),
		cmocka_unit_test(nothing_to_count_is_said),
		cmocka_unit_test(rises),
		cmocka_unit_test(tasks_elsewhere_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
