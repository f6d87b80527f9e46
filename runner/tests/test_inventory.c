/* inventory: the facts of a machine made for the purpose; what is not there is absent; and an
 * identity that stays. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/inventory.h"
#include "workloads/base/tests/machine.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define THP "sys/kernel/mm/transparent_hugepage/"
#define CPU "sys/devices/system/cpu/"

static struct tree tree;
static struct zm_sysroot root;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	return zm_sysroot_open(&root, tree.path);
}

static int tear_down(void **state)
{
	(void)state;
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

static json_t *take_inventory(const char *only)
{
	struct zm_topology topology;
	struct zm_cpuset cpus = { NULL, 0 };
	json_t *inventory = NULL;

	if (only)
		assert_int_equal(zm_cpuset_parse(only, &cpus), 0);
	assert_int_equal(zm_topology_read(&root, only ? &cpus : NULL, &topology, NULL), 0);
	assert_int_equal(zm_inventory_read(&root, &topology, &inventory, NULL), 0);
	zm_topology_release(&topology);
	zm_cpuset_release(&cpus);
	return inventory;
}

static const struct {
	const char *path;
	const char *text;
} files[] = {
	{ "proc/cpuinfo", "processor\t: 0\nvendor_id\t: Maker\nmodel name\t: A CPU\n" },
	{ "proc/meminfo", "MemTotal: 8388608 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n" },
	{ "sys/devices/system/node/node1/distance", "21 10\n" },
	{ "proc/version", "Linux version 6.18.1-x (a@b) (gcc) #7 SMP PREEMPT\n" },
	{ "proc/cmdline", "quiet root=/dev/sda \n" },
	{ "proc/sys/vm/swappiness", "60\n" },
	{ "proc/self/cgroup", "0::/\n" },
	{ "etc/os-release", "NAME=x\nPRETTY_NAME=\"A System 12\"\nID=x\n" },
	{ "etc/machine-id", "0123456789abcdef0123456789abcdef\n" },
	{ THP "enabled", "always [madvise] never\n" },
	{ THP "defrag", "always defer [never]\n" },
	{ THP "hugepages-64kB/enabled", "always [inherit] madvise never\n" },
	{ "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n" },
	{ "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n" },
	{ CPU "cpufreq/policy0/scaling_governor", "performance\n" },
	{ CPU "cpufreq/policy0/scaling_driver", "a-driver\n" },
	{ CPU "cpufreq/policy1/scaling_governor", "powersave\n" },
	{ CPU "cpufreq/policy1/scaling_driver", "a-driver\n" },
	{ CPU "cpufreq/policy2/scaling_governor", "performance\n" },
	{ CPU "cpufreq/boost", "1\n" },
	{ CPU "vulnerabilities/meltdown", "Not affected\n" },
	{ CPU "vulnerabilities/spectre_v2", "Mitigation: Retpolines \n" },
};

static void make_machine(void)
{
	const struct machine machine = { MACHINE(2, 2, 2, 2, 2) };

	machine_make(&machine, &tree);
	for (size_t i = 0; i < nr_of(files); i++)
		tree_write(&tree, files[i].path, files[i].text);
}

static void facts_are_as_they_stand(void **state)
{
	static const char *const expected =
		"{\"cpu_model\": \"A CPU\", \"cpu_vendor\": \"Maker\", \"sockets\": 2, \"cores\": "
		"8,"
		" \"smt\": 2, \"llcs\": 4, \"llc_bytes\": 16777216, \"cpus_online\": 16,"
		" \"cpus_allowed\": 16, \"cpus_online_list\": \"0-15\","
		" \"cpus_allowed_list\": \"0-15\","
		" \"nodes\": [{\"node\": 0, \"memory_bytes\": 1073741824, \"cpus\": \"0-3,8-11\"},"
		"             {\"node\": 1, \"memory_bytes\": 1073741824, \"cpus\": "
		"\"4-7,12-15\", \"distances\": [21, 10]}],"
		" \"memory_bytes\": 8589934592, \"swap_bytes\": 2097152, \"swap_used_bytes\": "
		"1048576,"
		" \"hugepage_sizes\": [1073741824, 2097152], \"thp_enabled\": \"madvise\","
		" \"thp_defrag\": \"never\", \"thp_sizes\": {\"64kB\": \"inherit\"},"
		" \"governor\": \"performance,powersave\", \"frequency_driver\": \"a-driver\","
		" \"turbo\": true, \"kernel\": \"6.18.1-x\", \"kernel_version\": \"#7 SMP "
		"PREEMPT\","
		" \"command_line\": \"quiet root=/dev/sda\","
		" \"mitigations\": {\"meltdown\": \"Not affected\","
		"                   \"spectre_v2\": \"Mitigation: Retpolines\"},"
		" \"sysctl\": {\"vm.swappiness\": \"60\"}, \"distribution\": \"A System 12\","
		" \"cgroup\": {\"mode\": \"v2\"}}";
	json_t *inventory, *wanted = json_loads(expected, 0, NULL);

	(void)state;
	assert_non_null(wanted);
	make_machine();
	inventory = take_inventory(NULL);
	if (!json_equal(inventory, wanted))
		(void)json_dumpf(inventory, stderr, JSON_INDENT(1));
	assert_true(json_equal(inventory, wanted));
	json_decref(inventory);
	json_decref(wanted);
}

static void what_cannot_be_read_is_absent(void **state)
{
	static const char *const present[] = { "cpus_online", "cpus_allowed", "cpus_online_list",
					       "cpus_allowed_list", "cgroup" };
	json_t *inventory;

	(void)state;
	tree_write(&tree, "proc/stat", "cpu0 1\n");
	inventory = take_inventory(NULL);
	for (size_t i = 0; i < nr_of(present); i++)
		assert_non_null(json_object_get(inventory, present[i]));
	assert_int_equal(json_object_size(inventory), nr_of(present));
	json_decref(inventory);
}

/* A model name that is no UTF-8, numbers that are none. */
static void odd_files_do_no_harm(void **state)
{
	json_t *inventory;

	(void)state;
	make_machine();
	tree_write(&tree, "proc/cpuinfo", "model name\t: A\xff\xfe CPU\n");
	tree_write(&tree, "proc/meminfo", "MemTotal: many kB\nSwapTotal: 5 kB\nSwapFree: 9 kB");
	tree_write(&tree, "etc/os-release", "PRETTY_NAME=");
	tree_write(&tree, THP "enabled", "\n");
	tree_write(&tree, "sys/kernel/mm/hugepages/hugepages-xkB/nr_hugepages", "0\n");
	inventory = take_inventory(NULL);
	assert_string_equal(json_string_value(json_object_get(inventory, "cpu_model")), "A?? CPU");
	assert_null(json_object_get(inventory, "memory_bytes"));
	assert_null(json_object_get(inventory, "swap_used_bytes"));
	assert_null(json_object_get(inventory, "distribution"));
	assert_null(json_object_get(inventory, "thp_enabled"));
	assert_int_equal(json_array_size(json_object_get(inventory, "hugepage_sizes")), 2);
	json_decref(inventory);
	tree_write(&tree, "proc/meminfo", "MemTotal: 18446744073709551615 kB\n");
	inventory = take_inventory(NULL);
	assert_null(json_object_get(inventory, "memory_bytes"));
	json_decref(inventory);
}

static void get_id(const char *only, char *id)
{
	json_t *inventory = take_inventory(only);

	assert_int_equal(zm_inventory_machine_id(&root, inventory, id, 17), 0);
	assert_int_equal(strlen(id), 16);
	json_decref(inventory);
}

/* Neither what may be used, nor what a boot keeps of memory, nor the kernel makes another machine. */
static void a_machine_keeps_its_identity(void **state)
{
	static const struct {
		const char *path;
		const char *text;
		bool is_same;
	} changes[] = {
		{ "proc/meminfo", "MemTotal: 8388608 kB\n", true },
		{ "proc/meminfo", "MemTotal: 8200000 kB\n", true },
		{ "proc/meminfo", "MemTotal: 7900000 kB\n", true },
		{ "proc/meminfo", "MemTotal: 16777216 kB\n", false },
		{ "proc/version", "Linux version 7.0 #1\n", true },
		{ "proc/cmdline", "other\n", true },
		{ "proc/cpuinfo", "model name : Another\n", false },
		{ "etc/machine-id", "fedcba9876543210fedcba9876543210\n", false },
	};
	char first[17], other[17];

	(void)state;
	make_machine();
	get_id(NULL, first);
	get_id("3", other);
	assert_string_equal(first, other);
	for (size_t i = 0; i < nr_of(changes); i++) {
		tree_write(&tree, changes[i].path, changes[i].text);
		get_id(NULL, other);
		assert_int_equal(strcmp(first, other) == 0, changes[i].is_same);
		make_machine();
	}
}

static void an_identity_needs_its_room(void **state)
{
	json_t *inventory = json_object();
	char id[17];

	(void)state;
	assert_int_equal(zm_inventory_machine_id(&root, inventory, id, 16), -ENOBUFS);
	assert_int_equal(zm_inventory_machine_id(&root, inventory, id, 17), 0);
	json_decref(inventory);
}

static void this_machine_says_who_it_is(void **state)
{
	static const char *const keys[] = { "cpus_online", "cpus_allowed", "memory_bytes",
					    "page_bytes",  "kernel",       "cgroup" };
	json_t *inventory;

	(void)state;
	zm_sysroot_release(&root);
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	inventory = take_inventory(NULL);
	for (size_t i = 0; i < nr_of(keys); i++)
		assert_non_null(json_object_get(inventory, keys[i]));
	json_decref(inventory);
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(facts_are_as_they_stand),
		test_in_tree(what_cannot_be_read_is_absent),
		test_in_tree(odd_files_do_no_harm),
		test_in_tree(a_machine_keeps_its_identity),
		test_in_tree(an_identity_needs_its_room),
		test_in_tree(this_machine_says_who_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
