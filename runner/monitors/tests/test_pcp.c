/*
 * pcp: against allocations whose number is known, the zones' own free counts, and perf's counters.
 *
 * labels: known serial bpf root
 * timeout: 600
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "runner/monitors/tests/tracepoint.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

#define NR_TRIES  12
#define NR_PAGES  131101 /* primes */
#define NR_BLOCKS 61
#define ORDER     4

static struct rig pcp;

static int set_up(void **state)
{
	(void)state;
	rig_open(&pcp, NULL, "pcp");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rig_close(&pcp);
	return 0;
}

static void need_pcp(void)
{
	if (!pcp.open_error)
		return;
	print_message("pcp cannot be had: %s\n", pcp.why.text);
	skip();
}

static uint64_t value_of(const char *metric)
{
	const struct rig_series *series = rig_find(&pcp.recorder, metric, ZM_SCOPE_HOST, 0);

	assert_non_null(series);
	return series->u64;
}

static void read_now(void)
{
	assert_int_equal(rig_read(&pcp, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
}

/* --- blocks of one order ----------------------------------------------------------------------- */

/* A packet socket's ring is made of as many blocks as one asks for, each one allocation. */
static int make_ring(void)
{
	unsigned int page_bytes = (unsigned int)sysconf(_SC_PAGESIZE);
	const struct tpacket_req request = {
		.tp_block_size = page_bytes << ORDER,
		.tp_block_nr = NR_BLOCKS,
		.tp_frame_size = page_bytes,
		.tp_frame_nr = NR_BLOCKS << ORDER,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)))
		skip();
	return fd;
}

/* The kernel makes a block of single pages when no large one is left, and others ask for such blocks
 * too: one try of some has just the number, within a quarter. */
static void test_blocks_of_order(void **state)
{
	bool agrees = false;
	char metric[64];

	(void)state;
	need_pcp();
	(void)snprintf(metric, sizeof(metric), "pcp.alloc_zone.order%d", ORDER);
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++) {
		uint64_t blocks;
		int fd;

		read_now();
		blocks = value_of(metric);
		fd = make_ring();
		read_now();
		blocks = value_of(metric) - blocks;
		(void)close(fd);
		agrees = blocks >= NR_BLOCKS && blocks <= NR_BLOCKS + NR_BLOCKS / 4;
	}
	assert_true(agrees);
}

/* --- perf -------------------------------------------------------------------------------------- */

static void work(void)
{
	size_t bytes = NR_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ring = make_ring();

	assert_true(memory != MAP_FAILED);
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE);
	memset(memory, 1, bytes);
	assert_int_equal(munmap(memory, bytes), 0);
	(void)close(ring);
}

/* Read around the monitor, perf's count can only be the larger one, and not by much. */
static void compare_with_perf(const char *name, const char *metric)
{
	struct tracepoint tracepoint = { .nr = 0 };
	bool agrees = false;

	if (!tracepoint_open(&tracepoint, &pcp.root, name, NULL))
		skip();
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++) {
		uint64_t outer = tracepoint_read(&tracepoint), inner, missed;

		read_now();
		inner = value_of(metric);
		missed = value_of("pcp.missed");
		work();
		read_now();
		inner = value_of(metric) - inner;
		missed = value_of("pcp.missed") - missed;
		outer = tracepoint_read(&tracepoint) - outer;
		assert_true(inner <= outer);
		agrees = outer - inner <= missed + outer / 50;
	}
	tracepoint_close(&tracepoint);
	assert_true(agrees);
}

static void test_perf_allocs(void **state)
{
	(void)state;
	need_pcp();
	compare_with_perf("kmem/mm_page_alloc_zone_locked", "pcp.alloc_zone");
}

static void test_perf_drains(void **state)
{
	(void)state;
	need_pcp();
	compare_with_perf("kmem/mm_page_pcpu_drain", "pcp.drain");
}

/* --- sums -------------------------------------------------------------------------------------- */

static uint64_t sum_of(const char *prefix, enum zm_scope scope)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < pcp.recorder.nr_series; i++) {
		const struct rig_series *series = &pcp.recorder.series[i];

		if (series->desc.scope == scope &&
		    strncmp(series->metric, prefix, strlen(prefix)) == 0)
			sum += series->u64;
	}
	return sum;
}

/* However one cuts it, it is the same sum. */
static void test_sums(void **state)
{
	uint64_t pages = 0;
	char metric[64];

	(void)state;
	need_pcp();
	work();
	read_now();
	assert_int_equal(sum_of("pcp.alloc_zone.order", ZM_SCOPE_HOST), value_of("pcp.alloc_zone"));
	assert_int_equal(sum_of("pcp.drain.order", ZM_SCOPE_HOST), value_of("pcp.drain"));
	assert_int_equal(sum_of("pcp.alloc_zone", ZM_SCOPE_CPU), value_of("pcp.alloc_zone"));
	assert_int_equal(sum_of("pcp.drain", ZM_SCOPE_CPU), value_of("pcp.drain"));
	assert_int_equal(value_of("pcp.refill") + value_of("pcp.direct"),
			 value_of("pcp.alloc_zone"));
	/* orders and types name the same blocks: twice the sum, beside the pages */
	assert_int_equal(sum_of("pcp.drain.", ZM_SCOPE_HOST), 2 * value_of("pcp.drain"));
	for (unsigned int order = 0; order < 16; order++) {
		(void)snprintf(metric, sizeof(metric), "pcp.drain.order%u", order);
		if (rig_find(&pcp.recorder, metric, ZM_SCOPE_HOST, 0))
			pages += value_of(metric) << order;
	}
	assert_int_equal(pages, value_of("pcp.drain_pages"));
}

static void test_report(void **state)
{
	uint64_t t0_ns, t1_ns;
	int row;

	(void)state;
	need_pcp();
	t0_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&pcp, ZM_PHASE_MEASURE, t0_ns), 0);
	/* the first window that it has seen is the one it reports on */
	work();
	t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&pcp, ZM_PHASE_STOP, t1_ns), 0);
	assert_int_equal(rig_report(&pcp, t0_ns, t1_ns), 0);
	/* the lists may have held all that was asked for */
	row = rig_reported(&pcp.report, "pcp.refill_per_1000_faults");
	assert_true(row >= 0 && pcp.report.rows[row].value >= 0);
	row = rig_reported(&pcp.report, "pcp.alloc_zone_per_s");
	assert_true(row >= 0 && pcp.report.rows[row].value > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_blocks_of_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_perf_allocs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_perf_drains, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_report, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
