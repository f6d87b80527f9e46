/*
 * page-latency: its sections against pcp's count of the same blocks, its figures against each other and the
 * clock.
 *
 * labels: known serial bpf root
 * timeout: 600
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "workloads/base/clock.h"

#define NR_TRIES   12
#define NR_PAGES   131101 /* primes */
#define NR_STREAMS 7
#define CHUNK      65536

static struct rig latency, pcp;
static bool is_exact[2];
static uint64_t sections_before[2];
static const char *const sides[] = { "refill", "drain" };

static int set_up(void **state)
{
	(void)state;
	rig_open(&latency, NULL, "page-latency");
	rig_open(&pcp, NULL, "pcp");
	for (unsigned int i = 0; i < 2; i++) {
		char metric[64];

		(void)snprintf(metric, sizeof(metric), "page-latency.%s.sections", sides[i]);
		is_exact[i] = rig_find(&latency.recorder, metric, ZM_SCOPE_HOST, 0);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rig_close(&latency);
	rig_close(&pcp);
	return 0;
}

static void need_latency(void)
{
	if (!latency.open_error && !pcp.open_error)
		return;
	print_message("page-latency cannot be had: %s\n", latency.why.text);
	skip();
}

static const struct rig_series *series_of(unsigned int side, const char *what)
{
	const struct rig_series *series;
	char metric[96];

	(void)snprintf(metric, sizeof(metric), "page-latency.%s%s.%s",
		       is_exact[side] ? "" : "approximate.", sides[side], what);
	series = rig_find(&latency.recorder, metric, ZM_SCOPE_HOST, 0);
	assert_non_null(series);
	return series;
}

static double reported(unsigned int side, const char *what)
{
	char metric[96];
	int row;

	(void)snprintf(metric, sizeof(metric), "page-latency.%s%s.%s",
		       is_exact[side] ? "" : "approximate.", sides[side], what);
	row = rig_reported(&latency.report, metric);
	return row < 0 ? -1 : latency.report.rows[row].value;
}

static uint64_t counted(const char *metric)
{
	const struct rig_series *series = rig_find(&pcp.recorder, metric, ZM_SCOPE_HOST, 0);

	assert_non_null(series);
	return series->u64;
}

/* More pages than any list holds, so that they cross to the zone and back. */
static void take_pages(void)
{
	size_t bytes = NR_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE);
	memset(memory, 1, bytes);
	assert_int_equal(munmap(memory, bytes), 0);
}

/* --- blocks ------------------------------------------------------------------------------------ */

/* Two monitors count the same events by programs of their own: read around pcp, page-latency has the more,
 * and not by much. */
static void test_blocks(void **state)
{
	static const char *const metrics[] = { "pcp.refill", "pcp.drain" };

	(void)state;
	need_latency();
	for (unsigned int side = 0; side < 2; side++) {
		bool agrees = is_exact[side];

		for (unsigned int i = 0; i < NR_TRIES && !agrees; i++) {
			uint64_t outer, inner;

			assert_int_equal(rig_read(&latency, ZM_PHASE_WARMUP, zm_clock_now_ns()), 0);
			assert_int_equal(rig_read(&pcp, ZM_PHASE_WARMUP, zm_clock_now_ns()), 0);
			outer = series_of(side, "blocks")->u64;
			inner = counted(metrics[side]);
			take_pages();
			assert_int_equal(rig_read(&pcp, ZM_PHASE_WARMUP, zm_clock_now_ns()), 0);
			assert_int_equal(rig_read(&latency, ZM_PHASE_WARMUP, zm_clock_now_ns()), 0);
			outer = series_of(side, "blocks")->u64 - outer;
			inner = counted(metrics[side]) - inner;
			agrees = inner > NR_PAGES / 8 && outer + outer / 50 >= inner &&
				 outer <= inner + inner / 20;
		}
		assert_true(agrees);
	}
}

/* --- times ------------------------------------------------------------------------------------- */

static bool has_sections(void)
{
	return series_of(0, "sections")->u64 > sections_before[0] &&
	       series_of(1, "sections")->u64 > sections_before[1];
}

/* Pages are taken some times, and more often where the lists hold all of them. */
static uint64_t take_window(unsigned int times)
{
	uint64_t t0_ns = zm_clock_now_ns(), t1_ns;

	assert_int_equal(rig_read(&latency, ZM_PHASE_MEASURE, t0_ns), 0);
	for (unsigned int side = 0; side < 2; side++)
		sections_before[side] = series_of(side, "sections")->u64;
	for (unsigned int i = 0; i < times || (i < 3 * NR_TRIES && !has_sections()); i++) {
		take_pages();
		assert_int_equal(rig_read(&latency, ZM_PHASE_MEASURE, zm_clock_now_ns()), 0);
	}
	t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&latency, ZM_PHASE_STOP, t1_ns), 0);
	assert_int_equal(rig_report(&latency, t0_ns, t1_ns), 0);
	return t1_ns - t0_ns;
}

/* All sections together last no longer than the CPUs' time; the quantiles are in order. */
static void test_times(void **state)
{
	static const char *const rising[] = { "p50_us", "p90_us", "p99_us", "p99.9_us", "max_us" };
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN), width_us;

	(void)state;
	need_latency();
	width_us = (double)take_window(3) / 1e3;
	for (unsigned int side = 0; side < 2; side++) {
		double avg = reported(side, "avg_us"), last = 0;

		assert_true(reported(side, "per_s") > 0);
		assert_true(avg > 0 && avg <= reported(side, "max_us") * 1.008);
		assert_true(avg * reported(side, "per_s") * width_us / 1e6 <= width_us * cpus);
		for (size_t i = 0; i < sizeof(rising) / sizeof(rising[0]); i++) {
			/* the middle of a bucket against another's edge */
			assert_true(reported(side, rising[i]) >= last * 0.984);
			last = reported(side, rising[i]);
		}
		if (!is_exact[side]) {
			assert_true(reported(side, "probe_ns") > 0);
			assert_true(reported(side, "probe%") > 0 && reported(side, "probe%") < 100);
			assert_true(reported(side, "wait.avg_us") < 0);
		}
	}
}

/* What a side has of each order is all that it has. */
static void test_orders(void **state)
{
	static const char *const orders[] = { "order0", "order1", "order2", "order3", "huge" };

	(void)state;
	need_latency();
	(void)take_window(1);
	for (unsigned int side = 0; side < 2; side++) {
		uint64_t sum = 0, all = series_of(side, "sections")->u64;
		char what[64];

		for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
			(void)snprintf(what, sizeof(what), "%s.section", orders[i]);
			sum += series_of(side, what)->u64;
		}
		if (!is_exact[side])
			all -= series_of(side, "unmeasured")->u64;
		/* the CPUs go on while they are read */
		assert_true(sum + 16 + sum / 20 >= all && sum <= all + 16 + all / 20);
	}
}

/* A stream's buffers are blocks of order 3, as long as the machine has such. */
static void send_streams(void)
{
	static char chunk[CHUNK];
	int fds[NR_STREAMS][2];

	for (unsigned int i = 0; i < NR_STREAMS; i++) {
		int bytes = 64 << 20;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds[i]), 0);
		(void)setsockopt(fds[i][0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	}
	for (unsigned int i = 0; i < NR_STREAMS; i++)
		for (unsigned int k = 0; k < 700; k++)
			(void)!send(fds[i][0], chunk, sizeof(chunk), MSG_DONTWAIT);
	for (unsigned int i = 0; i < NR_STREAMS; i++) {
		(void)close(fds[i][0]);
		(void)close(fds[i][1]);
	}
}

/* A list may hold what one try needs: pages go to other lists between them. */
static void test_high_orders(void **state)
{
	uint64_t refills = 0, drains = 0, first_refills, first_drains;

	(void)state;
	need_latency();
	assert_int_equal(rig_read(&latency, ZM_PHASE_WARMUP, zm_clock_now_ns()), 0);
	first_refills = series_of(0, "order3.section")->u64;
	first_drains = series_of(1, "order3.section")->u64;
	for (unsigned int i = 0; i < 3 * NR_TRIES && (refills == 0 || drains == 0); i++) {
		send_streams();
		take_pages();
		/* histograms are read when the phase is another one */
		assert_int_equal(rig_read(&latency, i & 1 ? ZM_PHASE_STOP : ZM_PHASE_DRAIN,
					  zm_clock_now_ns()),
				 0);
		refills = series_of(0, "order3.section")->u64 - first_refills;
		drains = series_of(1, "order3.section")->u64 - first_drains;
	}
	assert_true(refills > 0);
	assert_true(drains > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_blocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_times, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_orders, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_high_orders, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
