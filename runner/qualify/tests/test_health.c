/*
 * health: counters of machines made for the purpose, before and after.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "runner/qualify/health.h"
#include "workloads/base/tests/tree.h"

struct state {
	struct tree tree;
	struct zm_sysroot root;
	struct zm_health before, after;
};

static int set_up(void **ret_state)
{
	static struct state state;

	state = (struct state){ .root = { .dir_fd = -1 } };
	tree_make(&state.tree);
	*ret_state = &state;
	return zm_sysroot_open(&state.root, state.tree.path);
}

static int tear_down(void **ret_state)
{
	struct state *state = *ret_state;

	zm_health_release(&state->before);
	zm_health_release(&state->after);
	zm_sysroot_release(&state->root);
	tree_remove(&state->tree);
	return 0;
}

/* A server with all of it: two memory controllers, four CPUs, one real interface and the loopback. */
static void make_server(struct tree *tree)
{
	tree_write(tree, "proc/interrupts",
		   "            CPU0       CPU1       CPU2       CPU3\n"
		   "   8:          0          0          0          0  IO-APIC   8-edge   rtc0\n"
		   " THR:          1          0          2          0   Threshold APIC interrupts\n"
		   " DFR:          0          0          0          0   Deferred Error APIC\n"
		   " MCE:          0          0          0          0   Machine check exceptions\n"
		   " MCP:         80         80         80         80   Machine check polls\n");
	tree_write(tree, "sys/devices/system/edac/mc/mc0/ce_count", "3\n");
	tree_write(tree, "sys/devices/system/edac/mc/mc0/ue_count", "0\n");
	tree_write(tree, "sys/devices/system/edac/mc/mc12/ce_count", "0\n");
	tree_write(tree, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n");
	tree_write(tree, "sys/devices/system/cpu/cpu3/thermal_throttle/package_throttle_count",
		   "7\n");
	tree_write(tree, "sys/devices/system/cpu/cpufreq/x", "\n");
	tree_write(tree, "proc/net/dev",
		   "Inter-|   Receive                            |  Transmit\n"
		   " face |bytes    packets errs drop fifo frame |bytes    packets errs\n"
		   "    lo: 1 2 3 4 5 6 7 8 9\n"
		   "  eth0: 1 2 3 4 5 6 7 8 9\n");
	tree_write(tree, "sys/class/net/lo/statistics/rx_errors", "9\n");
	tree_write(tree, "sys/class/net/eth0/statistics/rx_errors", "0\n");
	tree_write(tree, "sys/class/net/eth0/statistics/rx_crc_errors", "0\n");
	tree_write(tree, "sys/class/net/eth0/carrier_changes", "2\n");
	tree_write(tree, "sys/class/net/eth0/device/vendor", "0x8086\n");
}

static void read_before(struct state *state)
{
	zm_health_release(&state->before);
	make_server(&state->tree);
	assert_int_equal(zm_health_read(&state->root, &state->before), 0);
}

static enum zm_health_change compare(struct state *state, enum zm_health_class class, char *text)
{
	zm_health_release(&state->after);
	assert_int_equal(zm_health_read(&state->root, &state->after), 0);
	return zm_health_compare(&state->before, &state->after, class, text, 200);
}

static void every_counter_is_found_and_no_other(void **ret_state)
{
	struct state *state = *ret_state;
	static const size_t wanted[ZM_NR_HEALTH] = { 3, 3, 2, 3 };

	read_before(state);
	for (int class = 0; class < ZM_NR_HEALTH; class ++)
		assert_int_equal(state->before.nr_of[class], wanted[class]);
	assert_string_equal(state->before.counters[0].name, "THR");
	assert_int_equal(state->before.counters[0].value, 3);
}

static void what_stands_still_stands_still(void **ret_state)
{
	char text[200];

	read_before(*ret_state);
	for (int class = 0; class < ZM_NR_HEALTH; class ++)
		assert_int_equal(compare(*ret_state, (enum zm_health_class) class, text),
				 ZM_HEALTH_STILL);
	assert_string_equal(text, "none of 3 counters rose");
}

/* Each from a fresh reading, so that one counter rises at a time. */
static void what_rises_is_named(void **ret_state)
{
	static const struct {
		enum zm_health_class class;
		const char *path, *text, *says;
	} cases[] = {
		{ ZM_HEALTH_MACHINE_CHECK, "proc/interrupts", " MCE: 0 1 0 0 x\n THR: 3\n DFR: 0\n",
		  "MCE rose from 0 to 1" },
		{ ZM_HEALTH_EDAC, "sys/devices/system/edac/mc/mc12/ce_count", "1\n",
		  "mc12 ce_count rose from 0 to 1" },
		{ ZM_HEALTH_EDAC, "sys/devices/system/edac/mc/mc3/ue_count", "5\n",
		  "mc3 ue_count rose from 0 to 5" },
		{ ZM_HEALTH_THERMAL,
		  "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "8\n",
		  "cpu0 core_throttle_count rose from 7 to 8" },
		{ ZM_HEALTH_NIC, "sys/class/net/eth0/statistics/rx_crc_errors", "1000\n",
		  "eth0 rx_crc_errors rose from 0 to 1000" },
		{ ZM_HEALTH_NIC, "sys/class/net/eth0/carrier_changes", "4\n",
		  "eth0 carrier_changes rose from 2 to 4" },
	};
	struct state *state = *ret_state;
	char text[200];

	make_server(&state->tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		zm_health_release(&state->before);
		assert_int_equal(zm_health_read(&state->root, &state->before), 0);
		tree_write(&state->tree, cases[i].path, cases[i].text);
		assert_int_equal(compare(state, cases[i].class, text), ZM_HEALTH_RISEN);
		assert_string_equal(text, cases[i].says);
	}
	read_before(state);
	tree_write(&state->tree, "sys/devices/system/edac/mc/mc0/ce_count", "4\n");
	tree_write(&state->tree, "sys/devices/system/edac/mc/mc0/ue_count", "1\n");
	assert_int_equal(compare(state, ZM_HEALTH_EDAC, text), ZM_HEALTH_RISEN);
	assert_string_equal(text, "mc0 ce_count rose from 3 to 4, and 1 more");
}

/* The loopback's errors are nobody's hardware. */
static void what_is_no_device_does_not_count(void **ret_state)
{
	struct state *state = *ret_state;
	char text[200];

	read_before(state);
	tree_write(&state->tree, "sys/class/net/lo/statistics/rx_errors", "10\n");
	assert_int_equal(compare(state, ZM_HEALTH_NIC, text), ZM_HEALTH_STILL);
}

static void what_goes_back_or_away_proves_nothing(void **ret_state)
{
	struct state *state = *ret_state;
	char text[200];

	read_before(state);
	tree_write(&state->tree, "sys/devices/system/edac/mc/mc0/ce_count", "2\n");
	assert_int_equal(compare(state, ZM_HEALTH_EDAC, text), ZM_HEALTH_UNKNOWN);
	assert_string_equal(text, "mc0 ce_count went back during the runs");
	tree_write(&state->tree, "proc/net/dev", "none\n");
	assert_int_equal(compare(state, ZM_HEALTH_NIC, text), ZM_HEALTH_UNKNOWN);
	assert_string_equal(text, "eth0 rx_errors vanished during the runs, and 2 more");
}

static void an_absent_source_says_why(void **ret_state)
{
	struct state *state = *ret_state;
	char text[200];

	assert_int_equal(zm_health_read(&state->root, &state->before), 0);
	for (int class = 0; class < ZM_NR_HEALTH; class ++) {
		assert_int_equal(compare(state, (enum zm_health_class) class, text),
				 ZM_HEALTH_UNKNOWN);
		assert_string_equal(text, zm_health_absent((enum zm_health_class) class));
	}
}

static void damaged_files_have_no_counters(void **ret_state)
{
	struct state *state = *ret_state;

	tree_write(&state->tree, "proc/interrupts",
		   "MCE:\n MCE: x\nTHR: 18446744073709551615 1\n:");
	tree_write(&state->tree, "proc/net/dev", ":\n::\n../../x: 1\n a b: 2\n");
	tree_write(&state->tree, "sys/devices/system/edac/mc/mc0/ce_count", "many\n");
	tree_write(&state->tree, "sys/devices/system/edac/mc/mc0/ue_count", "");
	assert_int_equal(zm_health_read(&state->root, &state->before), 0);
	assert_int_equal(state->before.nr_of[ZM_HEALTH_EDAC], 0);
	assert_int_equal(state->before.nr_of[ZM_HEALTH_NIC], 0);
}

static void both_readings_are_in_the_json(void **ret_state)
{
	struct state *state = *ret_state;
	json_t *object;
	char text[200];

	read_before(state);
	tree_write(&state->tree, "sys/devices/system/edac/mc/mc0/ce_count", "4\n");
	assert_int_equal(compare(state, ZM_HEALTH_EDAC, text), ZM_HEALTH_RISEN);
	object = zm_health_json(&state->before, &state->after);
	assert_non_null(object);
	assert_int_equal(
		json_integer_value(json_array_get(
			json_object_get(json_object_get(object, "edac"), "mc0 ce_count"), 1)),
		4);
	json_decref(object);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_counter_is_found_and_no_other),
		TEST(what_stands_still_stands_still),
		TEST(what_rises_is_named),
		TEST(what_is_no_device_does_not_count),
		TEST(what_goes_back_or_away_proves_nothing),
		TEST(an_absent_source_says_why),
		TEST(damaged_files_have_no_counters),
		TEST(both_readings_are_in_the_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
