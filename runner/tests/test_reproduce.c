/* reproduce: mails become words; what is left out and what differs is said. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/reproduce.h"
#include "workloads/base/clock.h"
#include "workloads/base/tests/tree.h"

/* A machine of 8 CPUs with THP, whose frequencies do not scale. */
struct rig {
	struct tree tree;
	struct zm_sysroot root;
	struct zm_topology topology;
	json_t *inventory;
};

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	if (!rig)
		return -1;
	tree_make(&rig->tree);
	tree_write(&rig->tree, "sys/kernel/mm/transparent_hugepage/enabled",
		   "always [madvise] never\n");
	if (zm_sysroot_open_writable(&rig->root, rig->tree.path) < 0)
		return -1;
	rig->topology.nr_cpus = 8;
	rig->topology.nr_nodes = 1;
	rig->inventory = json_pack("{s:s, s:i, s:I, s:s, s:s}", "cpu_model", "Some CPU", "sockets",
				   1, "memory_bytes", (json_int_t)16 << 30, "kernel", "6.1.0",
				   "thp_enabled", "madvise");
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	zm_sysroot_release(&rig->root);
	tree_remove(&rig->tree);
	json_decref(rig->inventory);
	free(rig);
	return 0;
}

static void make(struct rig *rig, const char *mail, const struct zm_reproduce_options *options,
		 struct zm_report_mail *report, struct zm_reproduction *reproduction)
{
	const struct zm_reproduce_here here = { &rig->root, &rig->topology, rig->inventory,
						zm_workloads };

	assert_int_equal(zm_report_mail_read(mail, strlen(mail), report, NULL), 0);
	assert_int_equal(zm_reproduce_make(report->records[0], &here, options, reproduction, NULL),
			 0);
}

#define MACHINE "test machine: 80 threads 2 sockets X (Lake) with 64G memory\n"

static const struct {
	const char *mail;
	const char *words; /* NULL: zonemark has it not */
	bool as_reported;
	unsigned int runtime_s;
	const char *remark; /* one that must be there */
} cases[] = {
	{ "testcase: will-it-scale\nparameters:\n\tnr_task: 50%\n\tmode: process\n\ttest: "
	  "page_fault1\n",
	  "page_fault1 nr_task=50% mode=process runtime=295s", false, 0, NULL },
	{ "testcase: will-it-scale\nparameters:\n\tnr_task: 50%\n\tmode: process\n\ttest: "
	  "page_fault1\n",
	  "page_fault1 nr_task=50% mode=process runtime=10s", false, 10, "as --runtime says" },
	{ "testcase: will-it-scale\n" MACHINE
	  "parameters:\n\tnr_task: 16\n\tmode: thread\n\ttest: brk1\n",
	  "brk1 nr_task=1 mode=thread runtime=295s", false, 0, "20 % of its 80 CPUs" },
	{ "testcase: will-it-scale\n" MACHINE
	  "parameters:\n\tnr_task: 40\n\tmode: thread\n\ttest: brk1\n",
	  "brk1 nr_task=4 mode=thread runtime=295s", false, 0, "50 % of its 80 CPUs: 4 of the 8" },
	{ "testcase: will-it-scale\n" MACHINE
	  "parameters:\n\tnr_task: 40\n\tmode: thread\n\ttest: brk1\n",
	  "brk1 nr_task=40 mode=thread runtime=295s", true, 0, NULL },
	{ "testcase: will-it-scale\n" MACHINE
	  "parameters:\n\tnr_task: 50%\n\tmode: thread\n\ttest: brk1\n",
	  "brk1 nr_task=40 mode=thread runtime=295s", true, 0, NULL },
	{ "testcase: will-it-scale\nparameters:\n\tnr_task: 16\n\tmode: thread\n\ttest: brk1\n",
	  "brk1 nr_task=16 mode=thread runtime=295s", false, 0, "does not say how many CPUs" },
	{ "testcase: will-it-scale\nparameters:\n\ttest: page_fault1\n",
	  "page_fault1 mode=process,thread nr_task=1,25%,50%,75%,100% runtime=295s", false, 0,
	  "says no mode" },
	{ "testcase: vm-scalability\nparameters:\n\truntime: 300s\n\tsize: 512G\n\ttest: "
	  "anon-w-rand-mt\n",
	  "anon_w_rand mode=thread runtime=300s size=512G nr_task=100%", false, 0,
	  "does not say how much memory" },
	{ "testcase: vm-scalability\n" MACHINE
	  "parameters:\n\truntime: 300s\n\tsize: 512G\n\ttest: anon-cow-rand\n",
	  "anon_cow_rand runtime=300s size=128G nr_task=100%", false, 0,
	  "size=512G was for 64.0 GiB of memory: 128G" },
	{ "testcase: vm-scalability\n" MACHINE
	  "parameters:\n\truntime: 300s\n\tsize: 8T\n\tunit_size: 1G\n\ttest: shm-xread-rand-mt\n",
	  "shm_xread_rand mode=thread runtime=300s size=2T unit_size=256M nr_task=100%", false, 0,
	  "unit_size=1G was for 64.0 GiB" },
	{ "testcase: vm-scalability\n" MACHINE
	  "parameters:\n\truntime: 300s\n\tsize: 1T\n\ttest: lru-shm\n",
	  "lru_shm runtime=300s size=1T unit_size=32G nr_task=100%", true, 0, NULL },
	{ "testcase: vm-scalability\n" MACHINE
	  "parameters:\n\truntime: 300s\n\tsize: 16G\n\ttest: truncate-seq\n",
	  "truncate_seq runtime=300s size=16G unit_size=16G nr_task=100%", true, 0, NULL },
	{ "testcase: vm-scalability\n" MACHINE
	  "parameters:\n\truntime: 300s\n\tsize: 16G\n\ttest: anon-r-seq\n",
	  "anon_r_seq runtime=300s size=16G nr_task=100%", true, 0, NULL },
	{ "testcase: vm-scalability\n" MACHINE
	  "parameters:\n\truntime: 300s\n\tsize: 1\n\ttest: anon-w-seq\n",
	  "anon_w_seq runtime=300s size=1M nr_task=100%", false, 0, NULL },
	{ "testcase: netperf\nparameters:\n\tip: ipv4\n\truntime: 300s\n\tnr_threads: 200%\n"
	  "\tcluster: cs-localhost\n\tsend_size: 10K\n\ttest: SCTP_STREAM_MANY\n",
	  "sctp_stream_many ip=ipv4 runtime=300s nr_task=200% send_size=10K", false, 0, NULL },
	{ "testcase: netperf\nparameters:\n\truntime: 300s\n\tsocket_buffer_size: 64K\n\ttest: "
	  "UDP_STREAM\n",
	  "udp_stream runtime=300s sndbuf=64K rcvbuf=64K", false, 0, NULL },
	{ "testcase: lmbench3\nparameters:\n\tmode: development\n\tnr_threads: 20%\n\ttest: UNIX\n",
	  "unix_stream nr_task=20%", false, 0, "left out: mode=development" },
	{ "testcase: will-it-scale\nparameters:\n\tnr_task: 1\n\tmode: process\n\ttest: mmap1\n"
	  "\tthp_enabled: never\n\tcpufreq_governor: performance\n\tdisk: 1SSD\n",
	  "mmap1 nr_task=1 mode=process thp_enabled=never runtime=295s", false, 0,
	  "left out: disk=1SSD" },
	{ "testcase: will-it-scale\nparameters:\n\tnr_task: 1\n\tmode: both\n\ttest: mmap1\n",
	  "mmap1 nr_task=1 mode=process,thread runtime=295s", false, 0, "left out: mode" },
	{ "testcase: will-it-scale\nparameters:\n\tnr_task: many\n\tmode: process\n\ttest: mmap1\n",
	  "mmap1 mode=process nr_task=1,25%,50%,75%,100% runtime=295s", false, 0,
	  "is no number of tasks" },
	{ "testcase: will-it-scale\nparameters:\n\tmode: process\n\ttest: getppid1\n", NULL, false,
	  0, NULL },
	{ "testcase: stress-ng\nparameters:\n\ttest: shm\n", NULL, false, 0, NULL },
	{ "testcase: netperf\nparameters:\n\tip: ipv4\n", NULL, false, 0, NULL },
};

static void join(const struct zm_reproduction *reproduction, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < reproduction->nr_words && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? " " : "",
					 reproduction->words[i]);
}

static bool has_remark(const struct zm_reproduction *reproduction, const char *what)
{
	for (size_t i = 0; i < reproduction->nr_remarks; i++) {
		if (strstr(reproduction->remarks[i], what))
			return true;
	}
	return false;
}

static void test_words(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct zm_reproduce_options options = {
			.as_reported = cases[i].as_reported,
			.runtime_ns = cases[i].runtime_s * ZM_NS_PER_S,
		};
		struct zm_reproduction reproduction;
		struct zm_report_mail report;
		char words[512];

		make(*state, cases[i].mail, &options, &report, &reproduction);
		join(&reproduction, words, sizeof(words));
		if (cases[i].words) {
			assert_string_equal(words, cases[i].words);
			assert_non_null(reproduction.workload);
		} else {
			assert_null(reproduction.workload);
			assert_non_null(reproduction.reason);
		}
		if (cases[i].remark && !has_remark(&reproduction, cases[i].remark))
			fail_msg("%s: no remark \"%s\"", cases[i].words, cases[i].remark);
		zm_reproduction_release(&reproduction);
		zm_report_mail_release(&report);
	}
}

static const char *there_of(const struct zm_reproduction *reproduction, const char *what)
{
	for (size_t i = 0; i < reproduction->nr_differences; i++) {
		if (strcmp(reproduction->differences[i].what, what) == 0)
			return reproduction->differences[i].there;
	}
	return NULL;
}

static const char table[] =
	"testcase: will-it-scale\n" MACHINE "parameters:\n\n\tucode: 0x21\n\n"
	"==========================================================================\n"
	"kconfig/mode/nr_task/test/testcase:\n  rhel/process/50%/page_fault1/will-it-scale\n\n"
	"commit: \n  0123456789 (\"a\")\n  123456789a (\"b\")\n\n"
	"0123456789abcdef 123456789abcdef0123456789ab\n"
	"---------------- ---------------------------\n"
	"      1000 ±  4%     -10.0%        900        will-it-scale.per_process_ops\n"
	"     40000           -10.0%      36000        will-it-scale.40.processes\n";

static void test_differences(void **state)
{
	const struct zm_reproduce_options options = { .as_reported = false };
	struct zm_reproduction reproduction;
	struct zm_report_mail report;

	make(*state, table, &options, &report, &reproduction);
	assert_string_equal(there_of(&reproduction, "CPUs"), "80");
	assert_string_equal(there_of(&reproduction, "sockets"), "2");
	assert_string_equal(there_of(&reproduction, "NUMA nodes"), "not said");
	assert_string_equal(there_of(&reproduction, "memory"), "64.0 GiB");
	assert_string_equal(there_of(&reproduction, "microcode"), "0x21");
	assert_string_equal(there_of(&reproduction, "kernel's configuration"), "rhel");
	assert_string_equal(there_of(&reproduction, "huge pages (THP)"), "not said");
	assert_string_equal(there_of(&reproduction, "kernels"), "0123456789 123456789a");
	assert_null(there_of(&reproduction, "compiler"));
	assert_string_equal(reproduction.expected, "will-it-scale.per_process_ops");
	assert_true(reproduction.change == -10 && reproduction.noise == 4);
	assert_int_equal(reproduction.nr_runs, 3); /* 15.7 * (4 / 10)^2 = 2.5 */
	zm_reproduction_release(&reproduction);
	zm_report_mail_release(&report);
}

static void test_same(void **state)
{
	const struct zm_reproduce_options options = { .as_reported = false },
					  other = { .runtime_ns = ZM_NS_PER_S };
	struct zm_reproduction a, b, c;
	struct zm_report_mail report_a, report_b, report_c;

	make(*state, table, &options, &report_a, &a);
	make(*state, table, &options, &report_b, &b);
	make(*state, table, &other, &report_c, &c);
	assert_true(zm_reproduction_is_same(&a, &b));
	assert_false(zm_reproduction_is_same(&a, &c));
	zm_reproduction_release(&a);
	zm_reproduction_release(&b);
	zm_reproduction_release(&c);
	zm_report_mail_release(&report_a);
	zm_report_mail_release(&report_b);
	zm_report_mail_release(&report_c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_words, setup, teardown),
		cmocka_unit_test_setup_teardown(test_differences, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
