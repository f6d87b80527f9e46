/*
 * shape: what topologies become; every CPU is on one node, and wrong ones are said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "runner/vm/shape.h"

#define GIB (UINT64_C(1) << 30)

static void topologies_are_read(void **state)
{
	static const struct {
		const char *text;
		unsigned int cpus;
		unsigned int sockets, cores, threads, nodes;
		unsigned int node_cpus[4];
		uint64_t node_mib[4];
		unsigned int distance01;
	} cases[] = {
		{ "1s", 0, 1, 4, 1, 1, { 4 }, { 2048 }, 0 },
		{ "1s", 3, 1, 3, 1, 1, { 3 }, { 2048 }, 0 },
		{ "2s", 0, 2, 2, 1, 2, { 2, 2 }, { 1024, 1024 }, 20 },
		{ "4s", 0, 4, 1, 1, 4, { 1, 1, 1, 1 }, { 512, 512, 512, 512 }, 20 },
		{ "2s", 8, 2, 4, 1, 2, { 4, 4 }, { 1024, 1024 }, 20 },
		{ "2s,threads=2", 8, 2, 2, 2, 2, { 4, 4 }, { 1024, 1024 }, 20 },
		{ "sockets=1,cores=5,nodes=2", 0, 1, 5, 1, 2, { 3, 2 }, { 1024, 1024 }, 20 },
		{ "2s,nodes=3,cpuless=2", 4, 2, 2, 1, 3, { 2, 2, 0 }, { 682, 682, 682 }, 20 },
		{ "2s,nodes=3,memless=1", 3 * 2, 2, 3, 1, 3, { 2, 2, 2 }, { 1024, 0, 1024 }, 20 },
		{ "2s,nodes=4,cpuless=0+2",
		  2,
		  2,
		  1,
		  1,
		  4,
		  { 0, 1, 0, 1 },
		  { 512, 512, 512, 512 },
		  20 },
		{ "2s,distance=31", 0, 2, 2, 1, 2, { 2, 2 }, { 1024, 1024 }, 31 },
		{ "4s,distance=0-1:16+2-3:17",
		  0,
		  4,
		  1,
		  1,
		  4,
		  { 1, 1, 1, 1 },
		  { 512, 512, 512, 512 },
		  16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_vm_shape shape;
		unsigned int next = 0;

		assert_int_equal(
			zm_vm_shape_parse(cases[i].text, cases[i].cpus, 2 * GIB, &shape, NULL), 0);
		assert_int_equal(shape.sockets, cases[i].sockets);
		assert_int_equal(shape.cores, cases[i].cores);
		assert_int_equal(shape.threads, cases[i].threads);
		assert_int_equal(shape.nr_nodes, cases[i].nodes);
		for (unsigned int n = 0; n < shape.nr_nodes; n++) {
			assert_int_equal(shape.nodes[n].nr_cpus, cases[i].node_cpus[n]);
			assert_int_equal(shape.nodes[n].memory_bytes >> 20, cases[i].node_mib[n]);
			assert_int_equal(shape.distances[n][n], 10);
			if (shape.nodes[n].nr_cpus)
				assert_int_equal(shape.nodes[n].first_cpu, next);
			next += shape.nodes[n].nr_cpus;
		}
		assert_int_equal(next, shape.nr_cpus);
		assert_int_equal(shape.distances[0][1], cases[i].distance01);
		assert_int_equal(shape.distances[1][0], cases[i].distance01);
	}
}

static void wrong_topologies_are_said(void **state)
{
	static const struct {
		const char *text;
		unsigned int cpus;
		uint64_t bytes;
		const char *says;
	} cases[] = {
		{ "", 0, GIB, "sockets (2s)" },
		{ "2", 0, GIB, "sockets (2s)" },
		{ "2s,", 0, GIB, "sockets (2s)" },
		{ "0s", 0, GIB, "at least one socket" },
		{ "threads=0", 0, GIB, "at least one socket" },
		{ "2s,nodse=2", 0, GIB, "nodes" },
		{ "2s", 3, GIB, "a multiple of 2" },
		{ "2s,cores=2", 8, GIB, "8 CPUs" },
		{ "2s,cores=200", 0, GIB, "at most 255" },
		{ "1s,nodes=5", 4, GIB, "cpuless=N" },
		{ "1s,nodes=65", 0, GIB, "nodes" },
		{ "1s,nodes=2,cpuless=0+1", 0, GIB, "cpuless=N" },
		{ "1s,nodes=2,cpuless=2", 0, GIB, "node 2" },
		{ "1s,nodes=2,cpuless=", 0, UINT64_C(64) << 20, "--memory" },
		{ "2s,memless=0+1", 0, GIB, "one node must have memory" },
		{ "2s,memless=x", 0, GIB, "node x" },
		{ "4s", 0, UINT64_C(200) << 20, "64 MiB" },
		{ "2s,distance=10", 0, GIB, "11 to 254" },
		{ "2s,distance=255", 0, GIB, "11 to 254" },
		{ "2s,distance=0-2:20", 0, GIB, "distance 0-2:20" },
		{ "2s,distance=0-1:20x", 0, GIB, "distance 0-1:20x" },
		{ "2s,distance=0-0:20", 0, GIB, "distance 0-0:20" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_vm_shape shape = { .nr_cpus = 4711 };
		struct zm_why why;

		assert_true(zm_vm_shape_parse(cases[i].text, cases[i].cpus, cases[i].bytes, &shape,
					      &why) < 0);
		assert_non_null(strstr(why.text, "--topology"));
		assert_non_null(strstr(why.text, cases[i].says));
		assert_int_equal(shape.nr_cpus, 4711);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(topologies_are_read),
		cmocka_unit_test(wrong_topologies_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
