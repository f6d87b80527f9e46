/* cpugroup: sockets and nodes of machines made here; one socket, or one node, makes no group. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runner/monitors/cpugroup.h"
#include "runner/monitors/tests/tree.h"

static const struct machine {
	unsigned int nr_cpus;
	const char *sockets[8]; /* of each CPU; NULL: not told */
	const char *nodes[4];   /* CPU lists */
	const char *groups;     /* "socket0:0-3 …" as expected */
} machines[] = {
	{ 2, { "0\n", "0\n" }, { "0-1\n" }, "" },
	{ 4,
	  { "0\n", "0\n", "1\n", "1\n" },
	  { "0-1\n", "2-3\n" },
	  "socket0:0-1 socket1:2-3 node0:0-1 node1:2-3 " },
	/* two nodes in a socket, one of them without CPUs */
	{ 4, { "0\n", "0\n", "0\n", "0\n" }, { "0,2\n", "1,3\n", "\n" }, "node0:0,2 node1:1,3 " },
	{ 4, { "0\n", "0\n", "0\n", "0\n" }, { "0-3\n", "\n" }, "" },
	/* numbers with gaps; a CPU whose socket is not told; "-1" of a kernel that does not know */
	{ 4, { "36\n", "0\n", NULL, "-1\n" }, { "0-3\n" }, "socket36:0 socket0:1 " },
	{ 2, { NULL, NULL }, { NULL }, "" },
};

static void print(const struct zm_cpugroups *groups, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < groups->nr; i++) {
		char cpus[64];

		(void)zm_cpuset_print(&groups->list[i].cpus, cpus, sizeof(cpus));
		used += (size_t)snprintf(text + used, size - used, "%s:%s ", groups->list[i].name,
					 cpus);
	}
}

static void test_machines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		zm_autocpuset struct zm_cpuset cpus = { 0 };
		struct zm_cpugroups groups;
		struct zm_sysroot root;
		struct tree tree;
		char text[256];

		tree_make(&tree);
		for (unsigned int cpu = 0; cpu < machines[i].nr_cpus; cpu++) {
			assert_int_equal(zm_cpuset_add(&cpus, cpu), 0);
			if (machines[i].sockets[cpu])
				tree_write(&tree, machines[i].sockets[cpu],
					   "sys/devices/system/cpu/cpu%u/topology/"
					   "physical_package_id",
					   cpu);
		}
		for (unsigned int node = 0; node < 4 && machines[i].nodes[node]; node++)
			tree_write(&tree, machines[i].nodes[node],
				   "sys/devices/system/node/node%u/cpulist", node);
		assert_int_equal(zm_sysroot_open(&root, tree.root), 0);
		assert_int_equal(zm_cpugroups_read(&groups, &root, &cpus), 0);
		print(&groups, text, sizeof(text));
		assert_string_equal(text, machines[i].groups);
		zm_cpugroups_release(&groups);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
