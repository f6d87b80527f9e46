/*
 * exits: a known number of children that end named as a compiler, each with a known number of faults; and
 * messages that are cut, foreign or long, which are taken as far as they go.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/monitors/taskexit.h"
#include "runner/monitors/tests/rig.h"
#include "workloads/base/clock.h"
#include "workloads/base/random.h"

#define CHILDREN 37
#define PAGES    3000
#define FAMILY   0x55

/* --- messages --- */

struct seen {
	unsigned int nr;
	struct zm_taskexit last;
};

static void see(void *context, const struct zm_taskexit *task)
{
	struct seen *seen = context;

	seen->nr++;
	seen->last = *task;
}

struct __attribute__((packed)) message {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr aggregate;
	struct nlattr pid_head;
	uint32_t pid;
	struct nlattr stats_head;
	struct taskstats stats;
};

static struct message make_message(void)
{
	struct message message = {
		.header = { .nlmsg_len = sizeof(message), .nlmsg_type = FAMILY },
		.aggregate = { .nla_type = TASKSTATS_TYPE_AGGR_PID },
		.pid_head = { .nla_type = TASKSTATS_TYPE_PID, .nla_len = 8 },
		.pid = 77,
		.stats_head = { .nla_type = TASKSTATS_TYPE_STATS },
		.stats = { .ac_comm = "cc1",
			   .ac_pid = 77,
			   .ac_minflt = 5,
			   .ac_majflt = 2,
			   .ac_utime = 1000,
			   .ac_stime = 300,
			   .hiwater_rss = 64,
			   .nvcsw = 3,
			   .nivcsw = 4 },
	};

	message.stats_head.nla_len =
		(uint16_t)(sizeof(message) - offsetof(struct message, stats_head));
	message.aggregate.nla_len =
		(uint16_t)(sizeof(message) - offsetof(struct message, aggregate));
	message.stats.ac_tgid = 77;
	return message;
}

static void test_message(void **state)
{
	struct message message = make_message();
	struct seen seen = { 0 };

	(void)state;
	zm_taskexits_parse(&message, sizeof(message), FAMILY, see, &seen);
	assert_int_equal(seen.nr, 1);
	assert_string_equal(seen.last.comm, "cc1");
	assert_int_equal(seen.last.faults, 7);
	assert_int_equal(seen.last.switches, 7);
	assert_int_equal(seen.last.user_us, 1000);
	assert_int_equal(seen.last.peak_rss_kb, 64);
	zm_taskexits_parse(&message, sizeof(message), FAMILY + 1, see, &seen);
	assert_int_equal(seen.nr, 1);
}

/* Any bytes changed, any length: nothing is read beyond the end. */
static void test_damaged(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 3, 0);
	for (size_t i = 0; i < 20000; i++) {
		struct message message = make_message();
		size_t length = zm_random_below(&random, sizeof(message) + 1);
		unsigned char *packet = malloc(length + 1);
		struct seen seen = { 0 };

		assert_non_null(packet);
		memcpy(packet, &message, length);
		for (size_t k = 0; length > 0 && k < 4; k++)
			packet[zm_random_below(&random, length < 48 ? length : 48)] =
				(unsigned char)zm_random_next(&random);
		packet = realloc(packet, length ? length : 1);
		assert_non_null(packet);
		zm_taskexits_parse(packet, length, FAMILY, see, &seen);
		free(packet);
	}
}

/* --- this machine --- */

static _Noreturn void be_compiler(void)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	volatile char *base = mmap(NULL, (size_t)(PAGES * page_bytes), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)prctl(PR_SET_NAME, "clang");
	(void)madvise((void *)base, (size_t)(PAGES * page_bytes), MADV_NOHUGEPAGE);
	for (long i = 0; i < PAGES; i++)
		base[i * page_bytes] = 1;
	_exit(0);
}

static void make_compilers(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			be_compiler();
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

static double figure(const struct rig *rig, const char *name)
{
	for (unsigned int i = 0; i < rig->report.nr_rows; i++)
		if (strcmp(rig->report.rows[i].metric, name) == 0)
			return rig->report.rows[i].value;
	fail_msg("no %s", name);
	return 0;
}

static void test_known(void **state)
{
	uint64_t t0_ns = ZM_NS_PER_S, t1_ns = 3 * ZM_NS_PER_S;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, "exits");
	if (rig.open_error) {
		print_message("%s\n", rig.why.text);
		rig_close(&rig);
		skip();
	}
	make_compilers();
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t0_ns), 0);
	make_compilers();
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, t1_ns), 0);
	make_compilers();
	assert_int_equal(rig_read(&rig, ZM_PHASE_DRAIN, 2 * t1_ns), 0);
	assert_int_equal(rig_report(&rig, t0_ns, t1_ns), 0);
	/* Of two seconds; others of this machine may end too, but none of ours is missing. */
	assert_true(figure(&rig, "exits.compilers") >= CHILDREN / 2.0);
	assert_true(figure(&rig, "exits.processes") >= CHILDREN / 2.0);
	assert_true(figure(&rig, "exits.faults") >= CHILDREN * (double)PAGES / 2);
	assert_true(figure(&rig, "exits.compiler.faults_95%") >= PAGES);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
