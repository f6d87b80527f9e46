/*
 * machines: topology, placement, inventory and spoilers on every recorded machine there is.
 *
 * labels: replay
 * timeout: 400
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/inventory.h"
#include "runner/place.h"
#include "workloads/base/tests/recorded.h"
#include "workloads/base/topology.h"

#define NR_TASKS 300

static unsigned int nr_with_cpus, nr_with_models;

static void assert_counts(const struct recorded *machine, const struct zm_topology *topology)
{
	if (recorded_is_said(machine->cpus_online)) {
		struct zm_cpuset online = { NULL, 0 };

		assert_int_equal(zm_cpuset_parse(machine->cpus_online, &online), 0);
		assert_true(zm_cpuset_is_equal(&online, &topology->online));
		assert_true(zm_cpuset_is_equal(&online, &topology->allowed));
		zm_cpuset_release(&online);
	}
	assert_int_equal(topology->nr_nodes, strtoul(machine->nodes, NULL, 10));
	assert_int_equal(topology->nr_cpus, zm_cpuset_count(&topology->online));
}

static void assert_numbers(const struct zm_topology *topology)
{
	for (size_t i = 0; i < topology->nr_cpus; i++) {
		const struct zm_cpu *cpu = &topology->cpus[i];

		assert_true(cpu->package < (int)topology->nr_packages);
		assert_true(cpu->core < (int)topology->nr_cores);
		assert_true(cpu->llc < (int)topology->nr_llcs);
		assert_true(cpu->thread >= 0 && cpu->thread < 8);
		assert_true(cpu->package >= -1 && cpu->core >= -1 && cpu->llc >= -1);
	}
	assert_int_equal(topology->totals.nr_packages, topology->nr_packages);
	assert_int_equal(topology->totals.nr_cores, topology->nr_cores);
	assert_int_equal(topology->totals.nr_llcs, topology->nr_llcs);
}

/* Every placement that the machine can give uses allowed CPUs only, and evenly. */
static void assert_places(const struct zm_topology *topology)
{
	for (enum zm_place place = ZM_PLACE_SCATTER; place <= ZM_PLACE_CROSS_SOCKET; place++) {
		unsigned int nr_ends = place >= ZM_PLACE_SAME_CPU ? 2 : 1;
		int cpus[NR_TASKS * 2];
		struct zm_why why = { "" };
		int error = zm_place_tasks(topology, place, NR_TASKS, nr_ends, cpus, &why);

		if (error) {
			assert_int_equal(error, -ENOTSUP);
			assert_true(why.text[0] != '\0');
			continue;
		}
		for (unsigned int i = 0; i < NR_TASKS * nr_ends; i++)
			assert_true(place == ZM_PLACE_NONE
					    ? cpus[i] == -1
					    : zm_topology_find(topology, cpus[i]) != NULL);
	}
}

static void assert_inventory(const struct zm_sysroot *root, const struct zm_topology *topology)
{
	struct zm_spoiler spoilers[32];
	json_t *inventory = NULL;
	char id[17], again[17];
	size_t nr;

	assert_int_equal(zm_inventory_read(root, topology, &inventory, NULL), 0);
	assert_int_equal(json_integer_value(json_object_get(inventory, "cpus_online")),
			 zm_cpuset_count(&topology->online));
	if (zm_sysroot_has(root, "proc/cpuinfo")) {
		const char *model = json_string_value(json_object_get(inventory, "cpu_model"));

		nr_with_models += model && *model;
	}
	assert_int_equal(zm_inventory_machine_id(root, inventory, id, sizeof(id)), 0);
	assert_int_equal(zm_inventory_machine_id(root, inventory, again, sizeof(again)), 0);
	assert_int_equal(strlen(id), 16);
	assert_string_equal(id, again);
	json_decref(inventory);
	nr = zm_inventory_spoilers(root, topology, spoilers, 32);
	for (size_t i = 0; i < nr; i++)
		assert_true(spoilers[i].name[0] && spoilers[i].what[0] && spoilers[i].mend[0]);
}

static void see(const struct recorded *machine)
{
	struct zm_topology topology;
	struct zm_sysroot root;
	struct zm_why why = { "" };
	int error;

	assert_int_equal(zm_sysroot_open(&root, machine->root), 0);
	error = zm_topology_read(&root, NULL, &topology, &why);
	if (error) {
		/* Some recordings are of one file only, and name no CPU. */
		assert_int_equal(error, -ENODEV);
		assert_false(recorded_is_said(machine->cpus_online));
		assert_false(zm_sysroot_has(&root, "proc/stat"));
		assert_false(zm_sysroot_has(&root, "sys/devices/system/cpu/cpu0"));
	} else {
		print_message("%s%s%s: %zu CPUs, %zu nodes, %zu sockets, %zu cores, %zu caches\n",
			      machine->archive, *machine->prefix ? " " : "", machine->prefix,
			      topology.nr_cpus, topology.nr_nodes, topology.nr_packages,
			      topology.nr_cores, topology.nr_llcs);
		nr_with_cpus++;
		assert_counts(machine, &topology);
		assert_numbers(&topology);
		assert_places(&topology);
		assert_inventory(&root, &topology);
		zm_topology_release(&topology);
	}
	zm_sysroot_release(&root);
}

static void recorded_machines(void **state)
{
	(void)state;
	if (!recorded_directory())
		skip();
	assert_true(recorded_each(see) > 0);
	assert_true(nr_with_cpus > 0 && nr_with_models > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_machines) };

	return cmocka_run_group_tests(tests, NULL, recorded_tear_down);
}
