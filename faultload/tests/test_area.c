/*
 * area: how much is gone over, on machines that are a few small files: base pages of any size, huge pages of
 * any or none, nodes without memory, memory cgroups.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "faultload/area.h"
#include "workloads/base/tests/tree.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_anon_w_seq, wl_faultload_anon_r_seq;
extern const struct zm_workload wl_faultload_anon_cow_seq, wl_faultload_lru_shm;
extern const struct zm_workload wl_faultload_anon_w_seq_hugetlb;
extern const struct zm_workload wl_faultload_anon_cow_rand_hugetlb;
extern const struct zm_workload wl_faultload_mmap_xread_seq;

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

static struct tree tree;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

/* A machine of 16 GiB, 12 of them available. */
static void put_memory(const char *hugepagesize)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "MemTotal: %llu kB\nMemAvailable: %llu kB\n%s",
		       (unsigned long long)(16 * MIB), (unsigned long long)(12 * MIB),
		       hugepagesize);
	tree_write(&tree, "proc/meminfo", text);
	tree_write(&tree, "proc/sys/vm/nr_overcommit_hugepages", "0\n");
}

static void put_nodes(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpulist", 3 * i);
		tree_write(&tree, path, "\n");
	}
}

struct area_case {
	const struct zm_workload *workload;
	enum zm_task_kind kind;
	unsigned int nr_tasks;
	const char *options;
	uint64_t page_bytes;
	uint64_t area;
};

static void check_area(const struct area_case *one)
{
	struct rig rig;

	rig_init(&rig, one->workload, one->kind, one->nr_tasks, tree.path);
	rig.run.page_bytes = one->page_bytes;
	rig_must(&rig, rig_set_options(&rig, one->options), one->options);
	if (zm_area_bytes(&rig.run) != one->area)
		fail_msg("%s %s, pages of %llu: %llu bytes, expected %llu", one->workload->name,
			 one->options, (unsigned long long)one->page_bytes,
			 (unsigned long long)zm_area_bytes(&rig.run),
			 (unsigned long long)one->area);
	rig_free(&rig);
}

static void check_areas(const struct area_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_area(&cases[i]);
}

#define P ZM_TASK_PROCESS
#define T ZM_TASK_THREAD

/* Half of the memory; where only page tables grow, as much as half of what is available has entries for:
 * with larger base pages that is more. */
static void test_base_pages(void **state)
{
	static const struct area_case cases[] = {
		{ &wl_faultload_anon_w_seq, P, 1, "", 4 * KIB, 8 * GIB },
		{ &wl_faultload_anon_w_seq, P, 3, "unit_size=1M", 4 * KIB, 340 * KIB },
		{ &wl_faultload_anon_w_seq, P, 3, "unit_size=1M", 16 * KIB, 336 * KIB },
		{ &wl_faultload_anon_w_seq, P, 3, "unit_size=1M", 64 * KIB, 320 * KIB },
		{ &wl_faultload_anon_w_seq, P, 3, "unit_size=100K", 64 * KIB, 0 },
		{ &wl_faultload_anon_cow_seq, P, 3, "", 64 * KIB, 2 * GIB },
		{ &wl_faultload_anon_cow_seq, T, 3, "", 64 * KIB, 4 * GIB },
		{ &wl_faultload_lru_shm, P, 2, "", 16 * KIB, 4 * GIB },
		{ &wl_faultload_anon_r_seq, P, 1, "", 4 * KIB, 3 * KIB * GIB },
		{ &wl_faultload_anon_r_seq, P, 1, "", 64 * KIB, 4 * KIB * GIB },
		{ &wl_faultload_mmap_xread_seq, T, 5, "", 4 * KIB, 384 * GIB },
	};

	(void)state;
	put_memory("");
	check_areas(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Parts are whole huge pages, of whatever size the kernel says; the footprint counts base pages' tables. */
static void test_huge_pages(void **state)
{
	static const struct {
		const char *line;
		uint64_t area; /* of 3 tasks of 1 GiB */
	} sizes[] = {
		{ "Hugepagesize: 64 kB\n", 349504 * KIB },
		{ "Hugepagesize: 2048 kB\n", 340 * MIB },
		{ "Hugepagesize: 32768 kB\n", 320 * MIB },
		{ "Hugepagesize: 524288 kB\n", 0 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct area_case one = { &wl_faultload_anon_w_seq_hugetlb,
					       P,
					       3,
					       "unit_size=1G",
					       4 * KIB,
					       sizes[i].area };
		struct rig rig;

		put_memory(sizes[i].line);
		check_area(&one);
		rig_init(&rig, one.workload, P, 3, tree.path);
		assert_int_equal(rig_set_options(&rig, one.options), 0);
		assert_int_equal(rig_check(&rig), sizes[i].area    ? 0
						  : *sizes[i].line ? -EINVAL
								   : -ENOTSUP);
		if (!*sizes[i].line)
			assert_non_null(strstr(rig.why.text, "no huge pages"));
		rig_free(&rig);
	}
}

/* `size` counts for every node that the kernel lists, with memory or without, as in the original. */
static void test_nodes(void **state)
{
	static const struct {
		unsigned int nr_nodes;
		uint64_t area;
	} cases[] = { { 0, GIB }, { 1, GIB }, { 2, 2 * GIB }, { 5, 5 * GIB }, { 9, 8 * GIB } };

	(void)state;
	put_memory("");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct area_case one = {
			&wl_faultload_anon_w_seq, P, 1, "size=1G", 4 * KIB, cases[i].area
		};

		put_nodes(cases[i].nr_nodes);
		check_area(&one);
	}
}

/* As mails give it: what is larger than half of this machine's memory is that. */
static void test_sizes_of_mails(void **state)
{
	static const struct area_case cases[] = {
		{ &wl_faultload_anon_w_seq, P, 1, "size=512G", 4 * KIB, 8 * GIB },
		{ &wl_faultload_anon_w_seq, P, 1, "size=1T", 4 * KIB, 8 * GIB },
		{ &wl_faultload_anon_w_seq, P, 1, "size=8T", 4 * KIB, 8 * GIB },
		{ &wl_faultload_anon_w_seq, P, 1, "size=3G", 4 * KIB, 3 * GIB },
		{ &wl_faultload_anon_w_seq, P, 1, "size=8T unit_size=64G", 4 * KIB, 64 * GIB },
		{ &wl_faultload_anon_w_seq, P, 1, "size=1G unit_size=64G", 4 * KIB, GIB },
	};

	(void)state;
	put_memory("");
	check_areas(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Under a memory cgroup its limit takes the place of the memory, less what is used of it. */
static void test_memory_cgroup(void **state)
{
	static const struct area_case cases[] = {
		{ &wl_faultload_anon_w_seq, P, 1, "", 4 * KIB, GIB },
		{ &wl_faultload_anon_cow_seq, P, 3, "", 4 * KIB, 256 * MIB },
		{ &wl_faultload_lru_shm, P, 2, "", 4 * KIB, 512 * MIB },
		{ &wl_faultload_anon_r_seq, P, 1, "", 4 * KIB, 512 * GIB },
	};

	(void)state;
	put_memory("");
	tree_write(&tree, "proc/self/cgroup", "0::/box\n");
	tree_write(&tree, "proc/self/mountinfo",
		   "26 22 0:23 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
	tree_write(&tree, "sys/fs/cgroup/cgroup.controllers", "memory\n");
	tree_write(&tree, "sys/fs/cgroup/box/cgroup.controllers", "memory\n");
	tree_write(&tree, "sys/fs/cgroup/box/memory.max", "3221225472\n");
	tree_write(&tree, "sys/fs/cgroup/box/memory.current", "1073741824\n");
	check_areas(cases, sizeof(cases) / sizeof(cases[0]));
}

/* What is needed before anything starts. */
static void test_footprint(void **state)
{
	static const struct {
		const struct zm_workload *workload;
		enum zm_task_kind kind;
		uint64_t page_bytes;
		uint64_t shared, task;      /* bytes */
		uint64_t huge, huge_mapped; /* bytes */
	} cases[] = {
		{ &wl_faultload_anon_w_seq, P, 4 * KIB, 0, 256 * MIB + 512 * KIB, 0, 0 },
		{ &wl_faultload_anon_w_seq, P, 64 * KIB, 0, 256 * MIB + 32 * KIB, 0, 0 },
		{ &wl_faultload_anon_r_seq, P, 4 * KIB, 0, 512 * KIB, 0, 0 },
		{ &wl_faultload_anon_cow_seq, T, 4 * KIB, GIB + 2 * MIB, 0, 0, 0 },
		{ &wl_faultload_anon_w_seq_hugetlb, P, 4 * KIB, 0, 256 * MIB + 512 * KIB, GIB,
		  GIB },
		/* the parent's fifth, and as large a copy by each */
		{ &wl_faultload_anon_cow_rand_hugetlb, P, 4 * KIB, 204 * MIB + 408 * KIB,
		  204 * MIB + 408 * KIB, 1020 * MIB, 204 * MIB },
		{ &wl_faultload_anon_cow_rand_hugetlb, T, 4 * KIB, GIB + 2 * MIB, 0, GIB, GIB },
	};

	(void)state;
	put_memory("Hugepagesize: 2048 kB\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_footprint need;
		struct rig rig;

		rig_init(&rig, cases[i].workload, cases[i].kind, 4, tree.path);
		rig.run.page_bytes = cases[i].page_bytes;
		assert_int_equal(rig_set_options(&rig, "unit_size=1G"), 0);
		need = rig_footprint(&rig);
		assert_int_equal(need.shared_bytes, cases[i].shared);
		assert_int_equal(need.task_bytes, cases[i].task);
		assert_int_equal(need.hugetlb_bytes, cases[i].huge);
		assert_int_equal(need.hugetlb_mapped_bytes, cases[i].huge_mapped);
		rig_free(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_base_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_huge_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nodes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sizes_of_mails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_memory_cgroup, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_footprint, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
