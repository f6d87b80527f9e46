/*
 * lock-contention: against perf's count of the same events, fights over a zone, and fights that are not.
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
#include <math.h>
#include <net/ethernet.h>
#include <pthread.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "runner/monitors/tests/tracepoint.h"
#include "workloads/base/clock.h"

#define NR_TRIES    12
#define NR_FIGHTERS 4
#define ORDER       4

static struct rig locks;
static atomic_bool is_over;
static int pipe_fds[2];

static int set_up(void **state)
{
	const pid_t self = getpid();
	const struct zm_target target = {
		.kind = ZM_TASK_PROCESS, .launcher = self, .tids = &self, .nr_tasks = 1
	};

	(void)state;
	rig_open(&locks, NULL, "lock-contention");
	if (!locks.open_error && locks.context.monitor->attach)
		locks.open_error =
			locks.context.monitor->attach(&locks.context, &target, &locks.why);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rig_close(&locks);
	return 0;
}

static void need_locks(void)
{
	if (!locks.open_error)
		return;
	print_message("lock-contention cannot be had: %s\n", locks.why.text);
	skip();
}

/* "zone-lock.WHAT", or as it is called where the first waiter is not seen. */
static const char *zone(const char *what)
{
	static char name[64];

	(void)snprintf(name, sizeof(name), "zone-lock.%s%s",
		       strstr(locks.recorder.note, "unseen") ? "queued." : "", what);
	return name;
}

static const char *spin_waits(void)
{
	return strstr(locks.recorder.note, "unseen") ? "lock-contention.spin-queued.waits"
						     : "lock-contention.spin.waits";
}

static uint64_t value_of(const char *metric)
{
	const struct rig_series *series = rig_find(&locks.recorder, metric, ZM_SCOPE_HOST, 0);

	assert_non_null(series);
	return series->u64;
}

static void read_now(enum zm_phase phase)
{
	assert_int_equal(rig_read(&locks, phase, zm_clock_now_ns()), 0);
}

/* --- fights ------------------------------------------------------------------------------------ */

static void fight(void *(*fighter)(void *), uint64_t ns)
{
	pthread_t threads[NR_FIGHTERS];

	atomic_store(&is_over, false);
	for (unsigned int i = 0; i < NR_FIGHTERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fighter, NULL), 0);
	(void)zm_clock_sleep_until(zm_clock_now_ns() + ns);
	atomic_store(&is_over, true);
	for (unsigned int i = 0; i < NR_FIGHTERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Blocks of this order pass the page lists by: each is taken and given back under the zone's lock. */
static void *take_blocks(void *unused)
{
	unsigned int page_bytes = (unsigned int)sysconf(_SC_PAGESIZE);
	const struct tpacket_req request = {
		.tp_block_size = page_bytes << ORDER,
		.tp_block_nr = 64,
		.tp_frame_size = page_bytes,
		.tp_frame_nr = 64u << ORDER,
	};

	while (!atomic_load(&is_over)) {
		int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

		if (fd < 0)
			break;
		(void)setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request));
		(void)close(fd);
	}
	return unused;
}

/* One pipe's mutex, and a futex's bucket. */
static void *share_pipe(void *unused)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	char buf[2048];

	memset(buf, 0, sizeof(buf));
	while (!atomic_load(&is_over)) {
		(void)pthread_mutex_lock(&mutex);
		(void)pthread_mutex_unlock(&mutex);
		(void)!write(pipe_fds[1], buf, sizeof(buf));
		(void)!read(pipe_fds[0], buf, sizeof(buf));
	}
	return unused;
}

/* --- the tests --------------------------------------------------------------------------------- */

/* perf counts beginnings, the monitor ends: read around it, perf has the more, by those under way, those
 * lost, and what came between the readings. */
static void test_perf(void **state)
{
	struct tracepoint tracepoint = { .nr = 0 };
	bool agrees = false, is_seen = false;

	(void)state;
	need_locks();
	if (!strstr(locks.recorder.note, "contention_begin") ||
	    !tracepoint_open(&tracepoint, &locks.root, "lock/contention_begin", "flags == 1"))
		skip();
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++) {
		uint64_t outer = tracepoint_read(&tracepoint), inner, lost;

		read_now(ZM_PHASE_WARMUP);
		inner = value_of(spin_waits());
		lost = value_of("lock-contention.lost");
		fight(take_blocks, 300 * ZM_NS_PER_MS);
		read_now(ZM_PHASE_WARMUP);
		inner = value_of(spin_waits()) - inner;
		lost = value_of("lock-contention.lost") - lost;
		outer = tracepoint_read(&tracepoint) - outer;
		assert_true(inner <= outer + 64);
		is_seen = is_seen || outer > 0;
		agrees = outer > 0 && outer - inner <= lost + outer / 20 + 8;
	}
	tracepoint_close(&tracepoint);
	if (!is_seen) /* native spin locks, and never a second waiter */
		skip();
	assert_true(agrees);
}

/* Who fights over a zone waits for its lock, allocating or freeing. */
static void test_zone_fight(void **state)
{
	uint64_t before, waits = 0, t0_ns, t1_ns;
	int alloc, give_back, other;

	(void)state;
	need_locks();
	read_now(ZM_PHASE_WARMUP);
	before = value_of(zone("waits"));
	t0_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&locks, ZM_PHASE_MEASURE, t0_ns), 0);
	for (unsigned int i = 0; i < NR_TRIES && waits < 200; i++) {
		fight(take_blocks, 500 * ZM_NS_PER_MS);
		read_now(ZM_PHASE_MEASURE);
		waits = value_of(zone("waits")) - before;
	}
	t1_ns = zm_clock_now_ns();
	assert_int_equal(rig_read(&locks, ZM_PHASE_STOP, t1_ns), 0);
	if (waits < 200) /* a first waiter is not seen where spin locks are native */
		skip();
	assert_int_equal(rig_report(&locks, t0_ns, t1_ns), 0);
	alloc = rig_reported(&locks.report, zone("alloc%"));
	give_back = rig_reported(&locks.report, zone("free%"));
	other = rig_reported(&locks.report, zone("other%"));
	assert_true(alloc >= 0 && give_back >= 0 && other >= 0);
	assert_true(locks.report.rows[alloc].value + locks.report.rows[give_back].value >
		    9 * locks.report.rows[other].value);
	assert_true(locks.report.rows[rig_reported(&locks.report, zone("contend%"))].value > 0);
	assert_true(rig_reported(&locks.report, zone("steal%")) >= 0);
	assert_true(rig_reported(&locks.report, zone("waits_per_s")) >= 0);
	assert_true(rig_reported(&locks.report, zone("p99_us")) >= 0);
	assert_true(locks.report.rows[rig_reported(&locks.report, zone("max_us"))].value >=
		    locks.report.rows[rig_reported(&locks.report, zone("p99_us"))].value * 0.99);
}

/* Fights over a mutex and a futex are seen as what they are, and not as a zone's. */
static void test_other_fight(void **state)
{
	bool agrees = false;

	(void)state;
	need_locks();
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++) {
		uint64_t mutex, zone_waits;

		read_now(ZM_PHASE_WARMUP);
		mutex = value_of("lock-contention.mutex.waits");
		zone_waits = value_of(zone("waits"));
		fight(share_pipe, 500 * ZM_NS_PER_MS);
		read_now(ZM_PHASE_WARMUP);
		mutex = value_of("lock-contention.mutex.waits") - mutex;
		zone_waits = value_of(zone("waits")) - zone_waits;
		agrees = mutex > 100 && zone_waits * 20 < mutex;
	}
	(void)close(pipe_fds[0]);
	(void)close(pipe_fds[1]);
	assert_true(agrees);
}

static uint64_t waits_of_cpus(void)
{
	uint64_t waits = 0;

	for (uint32_t i = 0; i < locks.recorder.nr_series; i++)
		if (locks.recorder.series[i].desc.scope == ZM_SCOPE_CPU &&
		    strstr(locks.recorder.series[i].metric, ".waits"))
			waits += locks.recorder.series[i].u64;
	return waits;
}

static bool is_nearly(uint64_t a, uint64_t b)
{
	return fabs((double)a - (double)b) <= 16 + (double)a / 20;
}

/* However one cuts it, it is the same sum; but its parts are read one after the other while the machine goes
 * on. */
static void test_sums(void **state)
{
	bool agrees = false;

	(void)state;
	need_locks();
	for (unsigned int i = 0; i < NR_TRIES && !agrees; i++) {
		fight(take_blocks, 300 * ZM_NS_PER_MS);
		/* histograms are read when the phase is another one */
		read_now(i & 1 ? ZM_PHASE_IDLE : ZM_PHASE_WARMUP);
		agrees = is_nearly(waits_of_cpus(), value_of(zone("waits"))) &&
			 value_of(zone("waits")) <= value_of(spin_waits()) + 16 &&
			 value_of(zone("timed")) <= value_of(zone("waits")) + 16 &&
			 is_nearly(value_of(zone("wait")), value_of(zone("timed")));
	}
	assert_true(agrees);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_perf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_zone_fight, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_fight, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
