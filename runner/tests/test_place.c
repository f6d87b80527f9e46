/* place: who runs where on machines made by hand, and that it is even, allowed and always the same. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/place.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define CPUS_MAX  256
#define TASKS_MAX 1024

/* --- machines -------------------------------------------------------------------------------- */

struct shape {
	int packages, llcs, cores, threads; /* llcs of a package, cores of an LLC */
	int nodes;                          /* of a package; 0: none is known */
};

static struct zm_cpu cpus[CPUS_MAX];
static struct zm_topology topology;
static struct zm_why why;

/* Second threads have numbers behind all first ones, as firmware numbers them. */
static void make_machine(const struct shape *shape)
{
	int nr_cores = shape->packages * shape->llcs * shape->cores;

	topology = (struct zm_topology){ .cpus = cpus };
	for (int i = 0; i < nr_cores * shape->threads; i++) {
		int core = i % nr_cores, llc = core / shape->cores, package = llc / shape->llcs;

		cpus[i] = (struct zm_cpu){
			.cpu = i,
			.package = package,
			.core = core,
			.thread = i / nr_cores,
			.llc = llc,
			.node = shape->nodes ? llc * shape->nodes / shape->llcs : -1,
			.kind = -1,
		};
	}
	topology.nr_cpus = (size_t)(nr_cores * shape->threads);
	topology.nr_packages = (size_t)shape->packages;
	topology.nr_cores = (size_t)nr_cores;
	topology.nr_llcs = (size_t)(shape->packages * shape->llcs);
}

/* Leaves only these CPUs. */
static void allow(const char *list)
{
	struct zm_cpuset set = { NULL, 0 };
	size_t nr = 0;

	assert_int_equal(zm_cpuset_parse(list, &set), 0);
	for (size_t i = 0; i < topology.nr_cpus; i++)
		if (zm_cpuset_has(&set, (unsigned int)cpus[i].cpu))
			cpus[nr++] = cpus[i];
	topology.nr_cpus = nr;
	zm_cpuset_release(&set);
}

static const struct shape small = { 1, 1, 2, 1, 1 };
static const struct shape big = { 2, 2, 4, 2, 1 };

static const struct zm_cpu *cpu_of(int number)
{
	for (size_t i = 0; i < topology.nr_cpus; i++)
		if (cpus[i].cpu == number)
			return &cpus[i];
	return NULL;
}

/* --- single tasks ---------------------------------------------------------------------------- */

static void print_list(const int *list, size_t nr, char *buf, size_t size)
{
	size_t length = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < nr && length < size; i++)
		length += (size_t)snprintf(buf + length, size - length, "%s%d", i ? " " : "",
					   list[i]);
}

static void orders_are_as_documented(void **state)
{
	static const struct {
		const struct shape *shape;
		const char *allowed; /* NULL: all */
		enum zm_place place;
		unsigned int nr_tasks;
		const char *cpus;
	} cases[] = {
		{ &small, NULL, ZM_PLACE_SCATTER, 5, "0 1 0 1 0" },
		{ &small, NULL, ZM_PLACE_COMPACT, 3, "0 1 0" },
		{ &small, NULL, ZM_PLACE_NONE, 3, "-1 -1 -1" },
		{ &small, "1", ZM_PLACE_SCATTER, 3, "1 1 1" },
		{ &big, NULL, ZM_PLACE_SCATTER, 9, "0 8 4 12 1 9 5 13 2" },
		{ &big, NULL, ZM_PLACE_COMPACT, 9, "0 16 1 17 2 18 3 19 4" },
		{ &big, NULL, ZM_PLACE_CORES, 9, "0 1 2 3 4 5 6 7 8" },
		{ &big, "8-15,24-31", ZM_PLACE_SCATTER, 6, "8 12 9 13 10 14" },
		{ &big, "16-31", ZM_PLACE_CORES, 4, "16 17 18 19" },
		{ &big, "0,16,1", ZM_PLACE_SCATTER, 4, "0 1 16 0" },
		{ &big, "0,16,1", ZM_PLACE_CORES, 4, "0 1 0 1" },
		{ &big, "0-3,15", ZM_PLACE_SCATTER, 5, "0 15 1 2 3" },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		int placed[TASKS_MAX];
		char list[256];

		make_machine(cases[i].shape);
		if (cases[i].allowed)
			allow(cases[i].allowed);
		assert_int_equal(zm_place_tasks(&topology, cases[i].place, cases[i].nr_tasks, 1,
						placed, &why),
				 0);
		print_list(placed, cases[i].nr_tasks, list, sizeof(list));
		assert_string_equal(list, cases[i].cpus);
	}
}

/* On every CPU of the order, tasks differ by at most one. */
static void assert_is_even(const int *placed, size_t nr_tasks, bool is_all)
{
	unsigned int load[CPUS_MAX] = { 0 }, least = UINT32_MAX, most = 0;

	for (size_t i = 0; i < nr_tasks; i++) {
		assert_non_null(cpu_of(placed[i]));
		load[placed[i]]++;
	}
	for (size_t i = 0; i < topology.nr_cpus; i++) {
		unsigned int here = load[cpus[i].cpu];

		if (!is_all && !here)
			continue;
		least = here < least ? here : least;
		most = here > most ? here : most;
	}
	assert_true(most - least <= 1);
}

static const struct shape shapes[] = {
	{ 1, 1, 1, 1, 1 }, { 1, 1, 2, 1, 1 }, { 1, 1, 4, 2, 0 }, { 2, 2, 4, 2, 1 },
	{ 2, 2, 4, 2, 2 }, { 4, 1, 8, 1, 1 }, { 1, 8, 2, 2, 4 }, { 2, 1, 3, 4, 1 },
};

static const unsigned int task_counts[] = { 1, 2, 3, 7, 16, 31, 64, 500 };

static void single_tasks_are_even_and_always_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_of(shapes); i++)
		for (enum zm_place place = ZM_PLACE_SCATTER; place < ZM_PLACE_NONE; place++)
			for (size_t k = 0; k < nr_of(task_counts); k++) {
				int placed[TASKS_MAX], again[TASKS_MAX];
				unsigned int nr = task_counts[k];

				make_machine(&shapes[i]);
				assert_int_equal(
					zm_place_tasks(&topology, place, nr, 1, placed, &why), 0);
				assert_is_even(placed, nr, place != ZM_PLACE_CORES);
				assert_int_equal(
					zm_place_tasks(&topology, place, nr, 1, again, &why), 0);
				assert_memory_equal(placed, again, nr * sizeof(int));
			}
}

/* A few tasks share as little as the machine lets them. */
static void scatter_uses_all_sockets_and_cores_first(void **state)
{
	int placed[TASKS_MAX];

	(void)state;
	make_machine(&big);
	assert_int_equal(zm_place_tasks(&topology, ZM_PLACE_SCATTER, 16, 1, placed, &why), 0);
	for (int i = 0; i < 16; i++)
		for (int k = 0; k < i; k++)
			assert_int_not_equal(cpu_of(placed[i])->core, cpu_of(placed[k])->core);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < i; k++)
			assert_int_not_equal(cpu_of(placed[i])->llc, cpu_of(placed[k])->llc);
	assert_int_not_equal(cpu_of(placed[0])->package, cpu_of(placed[1])->package);
}

static void what_is_not_known_places_all_the_same(void **state)
{
	(void)state;
	for (enum zm_place place = ZM_PLACE_SCATTER; place < ZM_PLACE_NONE; place++) {
		int placed[6];

		make_machine(&small);
		for (int i = 0; i < 2; i++)
			cpus[i].package = cpus[i].core = cpus[i].llc = cpus[i].node = -1;
		assert_int_equal(zm_place_tasks(&topology, place, 6, 1, placed, &why), 0);
		assert_is_even(placed, 6, true);
	}
}

/* --- pairs ----------------------------------------------------------------------------------- */

static void assert_relation(enum zm_place place, const struct zm_cpu *a, const struct zm_cpu *b)
{
	switch (place) {
	case ZM_PLACE_SAME_CPU:
		assert_int_equal(a->cpu, b->cpu);
		break;
	case ZM_PLACE_SAME_CORE:
		assert_int_not_equal(a->cpu, b->cpu);
		assert_int_equal(a->core, b->core);
		break;
	case ZM_PLACE_SAME_LLC:
		assert_int_not_equal(a->core, b->core);
		assert_int_equal(a->llc, b->llc);
		break;
	case ZM_PLACE_SAME_NODE:
		assert_int_not_equal(a->core, b->core);
		assert_int_equal(a->node, b->node);
		break;
	case ZM_PLACE_CROSS_SOCKET:
		assert_int_not_equal(a->package, b->package);
		break;
	default:
		break;
	}
}

static void pairs_stand_as_asked(void **state)
{
	static const struct {
		struct shape shape;
		bool can[5]; /* from same-cpu on */
	} cases[] = {
		{ { 1, 1, 1, 1, 1 }, { true, false, false, false, false } },
		{ { 1, 1, 2, 1, 1 }, { true, false, true, true, false } },
		{ { 1, 1, 1, 2, 1 }, { true, true, false, false, false } },
		{ { 1, 4, 1, 1, 1 }, { true, false, false, true, false } },
		{ { 2, 1, 1, 1, 1 }, { true, false, false, false, true } },
		{ { 2, 2, 4, 2, 1 }, { true, true, true, true, true } },
		{ { 2, 2, 4, 2, 0 }, { true, true, true, false, true } },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		for (int k = 0; k < 5; k++)
			for (size_t t = 0; t < nr_of(task_counts); t++) {
				enum zm_place place = (enum zm_place)(ZM_PLACE_SAME_CPU + k);
				int placed[TASKS_MAX];
				unsigned int nr = task_counts[t];
				int error;

				make_machine(&cases[i].shape);
				memset(&why, 0, sizeof(why));
				error = zm_place_tasks(&topology, place, nr, 2, placed, &why);
				assert_int_equal(error, cases[i].can[k] ? 0 : -ENOTSUP);
				if (error) {
					assert_non_null(strstr(why.text, zm_place_names[place]));
					continue;
				}
				for (unsigned int u = 0; u < nr; u++)
					assert_relation(place, cpu_of(placed[2 * u]),
							cpu_of(placed[2 * u + 1]));
			}
}

/* Two pairs on four cores do not meet while a core is free. */
static void pairs_do_not_crowd(void **state)
{
	static const enum zm_place places[] = { ZM_PLACE_SAME_CORE, ZM_PLACE_SAME_LLC,
						ZM_PLACE_SAME_NODE, ZM_PLACE_CROSS_SOCKET };

	(void)state;
	for (size_t i = 0; i < nr_of(places); i++) {
		int placed[32];

		make_machine(&big);
		assert_int_equal(zm_place_tasks(&topology, places[i], 16, 2, placed, &why), 0);
		assert_is_even(placed, 32, true);
	}
}

static void same_node_prefers_another_cache(void **state)
{
	int placed[8];

	(void)state;
	make_machine(&big);
	assert_int_equal(zm_place_tasks(&topology, ZM_PLACE_SAME_NODE, 4, 2, placed, &why), 0);
	for (int u = 0; u < 4; u++)
		assert_int_not_equal(cpu_of(placed[2 * u])->llc, cpu_of(placed[2 * u + 1])->llc);
}

static void ends_may_stand_in_a_row(void **state)
{
	int placed[8];
	char list[64];

	(void)state;
	make_machine(&big);
	assert_int_equal(zm_place_tasks(&topology, ZM_PLACE_COMPACT, 4, 2, placed, &why), 0);
	print_list(placed, 8, list, sizeof(list));
	assert_string_equal(list, "0 16 1 17 2 18 3 19");
}

static void wrong_requests_are_refused(void **state)
{
	int placed[4] = { -7, -7, -7, -7 };

	(void)state;
	make_machine(&small);
	assert_int_equal(zm_place_tasks(&topology, ZM_PLACE_SCATTER, 0, 1, placed, &why), -EINVAL);
	assert_int_equal(zm_place_tasks(&topology, ZM_PLACE_SCATTER, 1, 3, placed, &why), -EINVAL);
	assert_int_equal(zm_place_tasks(&topology, ZM_PLACE_SAME_LLC, 1, 1, placed, &why), -EINVAL);
	assert_non_null(strstr(why.text, "same-llc"));
	topology.nr_cpus = 0;
	assert_int_equal(zm_place_tasks(&topology, ZM_PLACE_SCATTER, 1, 1, placed, &why), -ENODEV);
	assert_int_equal(placed[0], -7);
}

static void every_placement_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(zm_place_names[ZM_PLACE_SCATTER], "scatter");
	assert_string_equal(zm_place_names[ZM_PLACE_NONE], "none");
	assert_string_equal(zm_place_names[ZM_PLACE_CROSS_SOCKET], "cross-socket");
	assert_null(zm_place_names[ZM_PLACE_CROSS_SOCKET + 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_are_as_documented),
		cmocka_unit_test(single_tasks_are_even_and_always_the_same),
		cmocka_unit_test(scatter_uses_all_sockets_and_cores_first),
		cmocka_unit_test(what_is_not_known_places_all_the_same),
		cmocka_unit_test(pairs_stand_as_asked),
		cmocka_unit_test(pairs_do_not_crowd),
		cmocka_unit_test(same_node_prefers_another_cache),
		cmocka_unit_test(ends_may_stand_in_a_row),
		cmocka_unit_test(wrong_requests_are_refused),
		cmocka_unit_test(every_placement_has_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
