/* percpu: CPUs that come and go, and counts that run over 32 bits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"

static char directory[64];

static void write_file(const char *text)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/proc/softirqs", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static int set_up(void **state)
{
	char path[128];

	(void)state;
	(void)snprintf(directory, sizeof(directory), "/tmp/zm-percpu-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/proc", directory);
	return mkdir(path, 0700);
}

static int tear_down(void **state)
{
	char path[128];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/proc/softirqs", directory);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/proc", directory);
	(void)rmdir(path);
	return rmdir(directory);
}

static void check(struct rig *rig, enum zm_scope scope, uint32_t cpu, uint64_t value)
{
	const struct rig_series *series = rig_find(&rig->recorder, "softirqs.RCU", scope, cpu);

	assert_non_null(series);
	assert_int_equal(series->u64, value);
}

static void test_hotplug(void **state)
{
	struct rig rig;

	(void)state;
	write_file("  CPU0 CPU2 CPU5\n RCU: 10 20 50\n");
	rig_open(&rig, directory, "softirqs");
	assert_int_equal(rig.open_error, 0);
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 1), 0);
	check(&rig, ZM_SCOPE_HOST, 0, 80);
	/* CPU 2 has gone and CPU 3 has come: its column is nobody's, the sum keeps what was counted */
	write_file("  CPU0 CPU3 CPU5\n RCU: 11 1000 51\n");
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 2), 0);
	check(&rig, ZM_SCOPE_CPU, 0, 11);
	check(&rig, ZM_SCOPE_CPU, 5, 51);
	check(&rig, ZM_SCOPE_CPU, 2, 20);
	assert_int_equal(rig_find(&rig.recorder, "softirqs.RCU", ZM_SCOPE_CPU, 2)->nr_readings, 1);
	assert_null(rig_find(&rig.recorder, "softirqs.RCU", ZM_SCOPE_CPU, 3));
	check(&rig, ZM_SCOPE_HOST, 0, 82);
	/* more CPUs than there were */
	write_file("  CPU0 CPU1 CPU2 CPU3 CPU4 CPU5\n RCU: 12 1 22 1 1 52\n");
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 3), 0);
	check(&rig, ZM_SCOPE_CPU, 2, 22);
	rig_close(&rig);
}

static void test_run_over(void **state)
{
	struct rig rig;

	(void)state;
	write_file("  CPU0 CPU1\n RCU: 4294967290 7\n");
	rig_open(&rig, directory, "softirqs");
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 1), 0);
	write_file("  CPU0 CPU1\n RCU: 4 6\n");
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 2), 0);
	check(&rig, ZM_SCOPE_CPU, 0, UINT64_C(4294967300));
	check(&rig, ZM_SCOPE_CPU, 1, 6); /* fell by 1: no run-over */
	check(&rig, ZM_SCOPE_HOST, 0, UINT64_C(4294967306));
	write_file("  CPU0 CPU1\n RCU: 5 6\n");
	assert_int_equal(rig_read(&rig, ZM_PHASE_IDLE, 3), 0);
	check(&rig, ZM_SCOPE_CPU, 0, UINT64_C(4294967301));
	rig_close(&rig);
}

static void test_no_table(void **state)
{
	static const char *const texts[] = { "", "RCU: 5\n", "CPU0\n", "CPU0\nRCU:\n",
					     "CPU0\nRCU: x\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct rig rig;

		write_file(texts[i]);
		rig_open(&rig, directory, "softirqs");
		assert_int_equal(rig.open_error, -ENODATA);
		assert_non_null(strstr(rig.why.text, "/proc/softirqs"));
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hotplug),
		cmocka_unit_test(test_run_over),
		cmocka_unit_test(test_no_table),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
