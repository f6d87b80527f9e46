/* netstat: on this machine, one datagram to nobody is one more in its series, and in the report. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "workloads/base/clock.h"
#include "workloads/base/tests/tree.h"

static void send_to_nobody(void)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_int_equal(sendto(fd, "x", 1, 0, (const struct sockaddr *)&to, sizeof(to)), 1);
	(void)close(fd);
}

static double figure(const struct rig *rig, const char *name)
{
	for (unsigned int i = 0; i < rig->report.nr_rows; i++)
		if (strcmp(rig->report.rows[i].metric, name) == 0)
			return rig->report.rows[i].value;
	fail_msg("no %s", name);
	return 0;
}

static void a_window_has_what_happened_in_it(void **state)
{
	uint64_t t0_ns = ZM_NS_PER_S, t1_ns = 3 * ZM_NS_PER_S;
	struct rig rig;
	uint64_t before;

	(void)state;
	rig_open(&rig, NULL, "netstat");
	assert_int_equal(rig.open_error, 0);
	send_to_nobody();
	assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t0_ns), 0);
	before = rig_find(&rig.recorder, "netstat.Udp.NoPorts", ZM_SCOPE_HOST, 0)->u64;
	send_to_nobody();
	send_to_nobody();
	assert_int_equal(rig_read(&rig, ZM_PHASE_STOP, t1_ns), 0);
	assert_true(rig_find(&rig.recorder, "netstat.Udp.NoPorts", ZM_SCOPE_HOST, 0)->u64 >=
		    before + 2);
	send_to_nobody();
	assert_int_equal(rig_read(&rig, ZM_PHASE_DRAIN, 2 * t1_ns), 0);
	assert_int_equal(rig_report(&rig, t0_ns, t1_ns), 0);
	assert_true(figure(&rig, "netstat.Udp.NoPorts") >= 2);
	assert_true(figure(&rig, "netstat.Udp.RcvbufErrors") >= 0);
	rig_close(&rig);
}

static void a_machine_without_a_network_is_said(void **state)
{
	struct tree tree;
	struct rig rig;

	(void)state;
	tree_make(&tree);
	rig_open(&rig, tree.path, "netstat");
	assert_int_equal(rig.open_error, -ENOENT);
	assert_non_null(strstr(rig.why.text, "/proc/net"));
	rig_close(&rig);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_has_what_happened_in_it),
		cmocka_unit_test(a_machine_without_a_network_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
