/*
 * topology: machines made for the purpose, of every shape that breaks assumptions, and this one.
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/tests/machine.h"
#include "workloads/base/topology.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define NODES "sys/devices/system/node/"

static struct tree tree;
static struct zm_sysroot root;
static struct zm_why why;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	memset(&why, 0, sizeof(why));
	return zm_sysroot_open(&root, tree.path);
}

static int tear_down(void **state)
{
	(void)state;
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

/* Numbers are dense per machine, every CPU is found, nodes count what they have. */
static void assert_is_consistent(const struct zm_topology *topology)
{
	size_t nr_in_nodes = 0;

	assert_int_equal(topology->nr_cpus, zm_cpuset_count(&topology->allowed));
	for (size_t i = 0; i < topology->nr_cpus; i++) {
		const struct zm_cpu *cpu = &topology->cpus[i];

		assert_true(zm_cpuset_has(&topology->allowed, (unsigned int)cpu->cpu));
		assert_true(i == 0 || topology->cpus[i - 1].cpu < cpu->cpu);
		assert_ptr_equal(zm_topology_find(topology, cpu->cpu), cpu);
		nr_in_nodes += cpu->node >= 0;
	}
	for (size_t i = 0; i < topology->nr_nodes; i++)
		nr_in_nodes -= topology->nodes[i].nr_cpus;
	assert_int_equal(nr_in_nodes, 0);
	assert_null(zm_topology_find(topology, -1));
	assert_null(zm_topology_find(topology, 1 << 20));
}

static void read_topology(const struct zm_cpuset *only, struct zm_topology *ret_topology)
{
	int error = zm_topology_read(&root, only, ret_topology, &why);

	if (error)
		print_error("%s\n", why.text);
	assert_int_equal(error, 0);
	assert_is_consistent(ret_topology);
}

/* --- shapes ---------------------------------------------------------------------------------- */

static const struct {
	struct machine machine;
	size_t nr_cpus, nr_packages, nr_cores, nr_llcs, nr_nodes;
} shapes[] = {
	{ { MACHINE(1, 1, 1, 1, 1) }, 1, 1, 1, 1, 1 },
	{ { MACHINE(1, 1, 2, 1, 1) }, 2, 1, 2, 1, 1 },
	{ { MACHINE(2, 2, 4, 2, 2) }, 32, 2, 16, 4, 2 },
	{ { MACHINE(2, 2, 4, 2, 4) }, 32, 2, 16, 4, 4 },
	{ { MACHINE(2, 1, 4, 2, 2), .has_no_l3 = true }, 16, 2, 8, 8, 2 },
	{ { MACHINE(1, 1, 4, 4, 0) }, 16, 1, 4, 1, 0 },
	{ { MACHINE(2, 1, 4, 2, 2), .online = "0-3,5,8,12\n" }, 7, 2, 6, 2, 2 },
	{ { MACHINE(2, 1, 4, 1, 2), .online = "4-6\n" }, 3, 1, 3, 1, 2 },
};

static void shapes_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_of(shapes); i++) {
		struct zm_topology topology;

		machine_make(&shapes[i].machine, &tree);
		read_topology(NULL, &topology);
		assert_int_equal(topology.nr_cpus, shapes[i].nr_cpus);
		assert_int_equal(topology.nr_packages, shapes[i].nr_packages);
		assert_int_equal(topology.nr_cores, shapes[i].nr_cores);
		assert_int_equal(topology.nr_llcs, shapes[i].nr_llcs);
		assert_int_equal(topology.nr_nodes, shapes[i].nr_nodes);
		zm_topology_release(&topology);
		tear_down(NULL);
		set_up(NULL);
	}
}

static void relations_are_those_of_the_machine(void **state)
{
	const struct machine machine = { MACHINE(2, 2, 4, 2, 2) };
	unsigned int nr_cores = machine_nr_cores(&machine);
	struct zm_topology topology;

	(void)state;
	machine_make(&machine, &tree);
	read_topology(NULL, &topology);
	for (size_t i = 0; i < topology.nr_cpus; i++) {
		const struct zm_cpu *cpu = &topology.cpus[i];
		unsigned int core = (unsigned int)cpu->cpu % nr_cores;

		assert_int_equal(cpu->core, core);
		assert_int_equal(cpu->thread, (unsigned int)cpu->cpu / nr_cores);
		assert_int_equal(cpu->llc, core / 4);
		assert_int_equal(cpu->package, core / 8);
		assert_int_equal(cpu->node, core / 8);
		assert_int_equal(cpu->kind, -1);
	}
	assert_int_equal(topology.nodes[1].memory_bytes, UINT64_C(1) << 30);
	zm_topology_release(&topology);
}

static void more_cpus_than_a_fixed_set_holds(void **state)
{
	const struct machine machine = { MACHINE(4, 2, 80, 2, 4), .has_no_caches = true };
	struct zm_topology topology;

	(void)state;
	machine_make(&machine, &tree);
	read_topology(NULL, &topology);
	assert_int_equal(topology.nr_cpus, 1280);
	assert_int_equal(topology.nr_cores, 640);
	assert_int_equal(topology.nr_packages, 4);
	assert_int_equal(topology.cpus[1279].thread, 1);
	zm_topology_release(&topology);
}

static void kinds_are_ranked_by_capacity(void **state)
{
	const struct machine machine = { MACHINE(1, 1, 4, 1, 1) };
	static const char *const capacities[] = { "1024\n", "1024\n", "512\n", "256\n" };
	static const int kinds[] = { 2, 2, 1, 0 };
	struct zm_topology topology;

	(void)state;
	machine_make(&machine, &tree);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		machine_cpu_file(&tree, cpu, "cpu_capacity", capacities[cpu]);
	read_topology(NULL, &topology);
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(topology.cpus[cpu].kind, kinds[cpu]);
	zm_topology_release(&topology);
}

/* --- nodes ----------------------------------------------------------------------------------- */

static void nodes_without_cpus_or_memory_are_kept(void **state)
{
	const struct machine machine = { MACHINE(1, 2, 2, 1, 2) };
	static const struct {
		int node;
		uint64_t memory_bytes;
		size_t nr_cpus;
	} expected[] = { { 0, 0, 2 }, { 1, UINT64_C(1) << 30, 2 }, { 250, UINT64_C(7) << 10, 0 } };
	struct zm_topology topology;

	(void)state;
	machine_make(&machine, &tree);
	tree_write(&tree, NODES "node0/meminfo", "Node 0 MemTotal:       0 kB\n");
	tree_write(&tree, NODES "node250/cpulist", "\n");
	tree_write(&tree, NODES "node250/meminfo", "Node 250 MemTotal:       7 kB\n");
	read_topology(NULL, &topology);
	assert_int_equal(topology.nr_nodes, nr_of(expected));
	for (size_t i = 0; i < nr_of(expected); i++) {
		assert_int_equal(topology.nodes[i].node, expected[i].node);
		assert_int_equal(topology.nodes[i].memory_bytes, expected[i].memory_bytes);
		assert_int_equal(topology.nodes[i].nr_cpus, expected[i].nr_cpus);
	}
	zm_topology_release(&topology);
}

static void a_cpu_of_two_nodes_is_the_firsts(void **state)
{
	const struct machine machine = { MACHINE(1, 1, 4, 1, 0) };
	struct zm_topology topology;

	(void)state;
	machine_make(&machine, &tree);
	tree_write(&tree, NODES "node0/cpulist", "0-2\n");
	tree_write(&tree, NODES "node1/cpulist", "1-3\n");
	read_topology(NULL, &topology);
	assert_int_equal(topology.nodes[0].nr_cpus, 3);
	assert_int_equal(topology.nodes[1].nr_cpus, 1);
	zm_topology_release(&topology);
}

/* --- roots that say little ------------------------------------------------------------------- */

static void what_is_not_known_is_minus_one(void **state)
{
	static const struct {
		const char *file;
		const char *text;
		size_t nr_cpus;
	} cases[] = {
		{ "proc/stat", "cpu  1 2 3\ncpu0 1 2 3\ncpu7 1 2 3\nintr 5\n", 2 },
		{ "proc/cpuinfo", "processor\t: 0\nmodel\t: x\n\nprocessor\t: 1\n", 2 },
		{ "proc/cpuinfo", "vendor_id : IBM/S390\nprocessor 0: version = 00\n", 1 },
		{ "sys/devices/system/cpu/online", "0-2047\n", 2048 },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct zm_topology topology;

		tree_write(&tree, cases[i].file, cases[i].text);
		read_topology(NULL, &topology);
		assert_int_equal(topology.nr_cpus, cases[i].nr_cpus);
		assert_int_equal(topology.nr_packages + topology.nr_cores + topology.nr_llcs, 0);
		assert_int_equal(topology.nr_nodes, 0);
		for (size_t k = 0; k < topology.nr_cpus; k++) {
			assert_int_equal(topology.cpus[k].package, -1);
			assert_int_equal(topology.cpus[k].core, -1);
			assert_int_equal(topology.cpus[k].thread, 0);
			assert_int_equal(topology.cpus[k].llc, -1);
			assert_int_equal(topology.cpus[k].node, -1);
		}
		zm_topology_release(&topology);
		assert_int_equal(unlink(tree_path(&tree, cases[i].file)), 0);
	}
}

static void a_root_without_cpus_is_refused(void **state)
{
	struct zm_topology topology;

	(void)state;
	assert_int_equal(zm_topology_read(&root, NULL, &topology, &why), -ENODEV);
	assert_true(why.text[0] != '\0');
}

/* --- only ------------------------------------------------------------------------------------ */

static void only_some_cpus(void **state)
{
	const struct machine machine = { MACHINE(2, 1, 2, 2, 2), .online = "0-3,5-7\n" };
	static const struct {
		const char *only;
		int error;
		const char *says; /* of the sentence */
		size_t nr_cpus, nr_packages, nr_cores;
	} cases[] = {
		{ "0-3", 0, NULL, 4, 2, 4 },
		{ "1,5", 0, NULL, 2, 1, 1 },
		{ "7", 0, NULL, 1, 1, 1 },
		{ "3-5", -EINVAL, "CPU 4 is offline", 0, 0, 0 },
		{ "8", -EINVAL, "CPU 8 is not there", 0, 0, 0 },
		{ "0-2000", -EINVAL, "CPU 4 is offline", 0, 0, 0 },
		{ "", -ENODEV, "at least one", 0, 0, 0 },
	};

	(void)state;
	machine_make(&machine, &tree);
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct zm_topology topology;
		struct zm_cpuset only = { NULL, 0 };

		assert_int_equal(zm_cpuset_parse(cases[i].only, &only), 0);
		if (cases[i].error) {
			assert_int_equal(zm_topology_read(&root, &only, &topology, &why),
					 cases[i].error);
			assert_non_null(strstr(why.text, cases[i].says));
		} else {
			read_topology(&only, &topology);
			assert_int_equal(topology.nr_cpus, cases[i].nr_cpus);
			assert_int_equal(topology.nr_packages, cases[i].nr_packages);
			assert_int_equal(topology.nr_cores, cases[i].nr_cores);
			assert_int_equal(zm_cpuset_count(&topology.online), 7);
			zm_topology_release(&topology);
		}
		zm_cpuset_release(&only);
	}
}

/* --- this machine ---------------------------------------------------------------------------- */

static void this_machine_has_what_it_allows(void **state)
{
	struct zm_topology topology;
	struct zm_cpuset affinity = { NULL, 0 };

	(void)state;
	assert_int_equal(zm_cpuset_get_affinity(0, &affinity), 0);
	zm_sysroot_release(&root);
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	read_topology(NULL, &topology);
	assert_true(zm_cpuset_is_equal(&topology.allowed, &affinity));
	zm_topology_release(&topology);
	zm_cpuset_release(&affinity);
}

static void one_cpu_by_affinity_is_all_there_is(void **state)
{
	struct zm_topology topology;
	struct zm_cpuset before = { NULL, 0 }, one = { NULL, 0 };
	int cpu;

	(void)state;
	zm_sysroot_release(&root);
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	assert_int_equal(zm_cpuset_get_affinity(0, &before), 0);
	if (zm_cpuset_count(&before) < 2)
		skip();
	cpu = zm_cpuset_next(&before, (unsigned int)zm_cpuset_next(&before, 0) + 1);
	assert_int_equal(zm_cpuset_add(&one, (unsigned int)cpu), 0);
	assert_int_equal(zm_cpuset_set_affinity(0, &one), 0);
	read_topology(NULL, &topology);
	assert_int_equal(topology.nr_cpus, 1);
	assert_int_equal(topology.cpus[0].cpu, cpu);
	assert_true(zm_cpuset_count(&topology.online) >= 2);
	zm_topology_release(&topology);
	assert_int_equal(zm_topology_read(&root, &before, &topology, &why), -EINVAL);
	assert_non_null(strstr(why.text, "is not allowed"));
	assert_int_equal(zm_cpuset_set_affinity(0, &before), 0);
	zm_cpuset_release(&before);
	zm_cpuset_release(&one);
}

/* What the user has in the environment for hwloc neither counts nor is lost. */
static void the_environment_stays(void **state)
{
	static const char *const names[] = { "HWLOC_SYNTHETIC", "HWLOC_FSROOT",
					     "HWLOC_HIDE_ERRORS" };
	const struct machine machine = { MACHINE(1, 1, 2, 1, 1) };
	struct zm_topology topology;

	(void)state;
	machine_make(&machine, &tree);
	for (size_t i = 0; i < nr_of(names); i++)
		assert_int_equal(setenv(names[i], "pack:9 core:9", 1), 0);
	read_topology(NULL, &topology);
	assert_int_equal(topology.nr_cores, 2);
	zm_topology_release(&topology);
	for (size_t i = 0; i < nr_of(names); i++) {
		assert_string_equal(getenv(names[i]), "pack:9 core:9");
		assert_int_equal(unsetenv(names[i]), 0);
	}
	read_topology(NULL, &topology);
	zm_topology_release(&topology);
	for (size_t i = 0; i < nr_of(names); i++)
		assert_null(getenv(names[i]));
}

static void *read_in_thread(void *context)
{
	const size_t *nr_cpus = context;
	intptr_t bad = 0;

	for (int i = 0; i < 20; i++) {
		struct zm_topology topology;

		if (zm_topology_read(&root, NULL, &topology, NULL))
			return (void *)1;
		bad |= topology.nr_cores != *nr_cpus;
		zm_topology_release(&topology);
	}
	return (void *)bad;
}

static void threads_do_not_meet(void **state)
{
	const struct machine machine = { MACHINE(1, 1, 6, 1, 1) };
	size_t nr_cpus = 6;
	pthread_t threads[4];

	(void)state;
	machine_make(&machine, &tree);
	for (size_t i = 0; i < nr_of(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, &nr_cpus), 0);
	for (size_t i = 0; i < nr_of(threads); i++) {
		void *bad;

		assert_int_equal(pthread_join(threads[i], &bad), 0);
		assert_null(bad);
	}
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(shapes_are_read),
		test_in_tree(relations_are_those_of_the_machine),
		test_in_tree(more_cpus_than_a_fixed_set_holds),
		test_in_tree(kinds_are_ranked_by_capacity),
		test_in_tree(nodes_without_cpus_or_memory_are_kept),
		test_in_tree(a_cpu_of_two_nodes_is_the_firsts),
		test_in_tree(what_is_not_known_is_minus_one),
		test_in_tree(a_root_without_cpus_is_refused),
		test_in_tree(only_some_cpus),
		test_in_tree(this_machine_has_what_it_allows),
		test_in_tree(one_cpu_by_affinity_is_all_there_is),
		test_in_tree(the_environment_stays),
		test_in_tree(threads_do_not_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
