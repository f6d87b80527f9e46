/* footprint: made-up machines and needs; what does not fit is refused with both figures. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/footprint.h"
#include "workloads/base/tests/tree.h"

#define GIB (UINT64_C(1) << 30)

static struct zm_footprint wanted;

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	(void)run;
	*ret_footprint = wanted;
}

static const struct zm_workload hungry = { .name = "hungry", .footprint = footprint };
static const struct zm_workload modest = { .name = "modest" };

#define MEMINFO                                                                                    \
	"MemTotal: 16777216 kB\nMemFree: 1048576 kB\nMemAvailable: 8388608 kB\n"                   \
	"HugePages_Total: 10\nHugePages_Free: 8\nHugePages_Rsvd: 3\nHugePages_Surp: 2\n"

static const struct {
	const char *what;
	struct zm_footprint wanted;
	unsigned int nr_tasks;
	const char *says; /* NULL: it fits */
} cases[] = {
	{ "fits", { .shared_bytes = GIB, .task_bytes = GIB }, 6, NULL },
	{ "tasks",
	  { .shared_bytes = GIB, .task_bytes = GIB },
	  9,
	  "9 processes need 10.0 GiB of memory, and 8.00 GiB are left" },
	{ "one", { .task_bytes = 9 * GIB }, 1, "1 process needs 9.01 GiB of memory" },
	{ "overflow", { .task_bytes = UINT64_MAX / 2 }, 3, "of memory, and 8.00 GiB are left" },
	{ "huge pages fit", { .hugepages = 7 }, 1, NULL }, /* 8 - 3 free, 4 - 2 to overcommit */
	{ "huge pages",
	  { .hugepages = 8 },
	  1,
	  "8 huge pages are needed, and 7 are free; add sysctl.vm.nr_hugepages=11" },
	{ "disk",
	  { .disk_bytes = UINT64_MAX / 2, .disk_path = "/" },
	  1,
	  "of disk are needed in /" },
	{ "no disk", { .disk_bytes = 1, .disk_path = "/no/such/place" }, 1, "/no/such/place" },
	{ "files", { .task_files = 2000000000 }, 1, "open files are needed" },
};

static int check(struct zm_sysroot *root, const struct zm_workload *workload, unsigned int nr_tasks,
		 struct zm_why *why)
{
	struct zm_arena arena;
	int r;

	assert_int_equal(zm_arena_init(&arena, workload, nr_tasks, NULL), 0);
	arena.run->root = root;
	arena.run->kind = ZM_TASK_PROCESS;
	r = zm_footprint_check(&arena, why);
	zm_arena_release(&arena);
	return r;
}

static void test_machine(void **state)
{
	struct zm_sysroot root;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "proc/meminfo", MEMINFO);
	tree_write(&tree, "proc/sys/vm/nr_overcommit_hugepages", "4\n");
	assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_why why = { "" };
		int r;

		wanted = cases[i].wanted;
		r = check(&root, &hungry, cases[i].nr_tasks, &why);
		if (!cases[i].says && r < 0)
			fail_msg("%s: %s", cases[i].what, why.text);
		if (cases[i].says && (r >= 0 || !strstr(why.text, cases[i].says)))
			fail_msg("%s: %d: %s", cases[i].what, r, why.text);
	}
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

/* The tightest limit above counts, and page cache can be given back. */
static void test_cgroup(void **state)
{
	struct zm_sysroot root;
	struct zm_why why = { "" };
	struct tree tree;

	(void)state;
	wanted = (struct zm_footprint){ .task_bytes = 100 << 20 };
	tree_make(&tree);
	tree_write(&tree, "proc/self/cgroup", "0::/a/b\n");
	tree_write(&tree, "proc/self/mountinfo",
		   "26 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	tree_write(&tree, "sys/fs/cgroup/a/b/cgroup.controllers", "memory pids\n");
	tree_write(&tree, "sys/fs/cgroup/a/b/memory.max", "max\n");
	tree_write(&tree, "sys/fs/cgroup/a/memory.max", "134217728\n");
	tree_write(&tree, "sys/fs/cgroup/a/memory.current", "104857600\n");
	tree_write(&tree, "sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 5\n");
	tree_write(&tree, "sys/fs/cgroup/a/pids.max", "100\n");
	tree_write(&tree, "sys/fs/cgroup/a/pids.current", "98\n");
	assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
	assert_int_equal(check(&root, &hungry, 1, &why), -E2BIG);
	assert_non_null(strstr(why.text, "of the memory of cgroup sys/fs/cgroup/a, and 28.0 MiB"));
	tree_write(&tree, "sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 104857000\n");
	assert_int_equal(check(&root, &hungry, 1, &why), 0);
	assert_int_equal(check(&root, &modest, 2, &why), -E2BIG);
	assert_non_null(strstr(why.text, "3 processes or threads are needed, and 2 are left"));
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

/* Both hierarchies, sizes as the kernel names them; the tightest limit above counts, that of what is used
 * and that of what is mapped apart. */
static const struct {
	const char *page_kb, *memberships, *mounts, *controllers;
	const char *limits[6]; /* file, text, … */
	uint64_t used_mib, mapped_mib;
	const char *says; /* NULL: it fits */
} huge_cases[] = {
	{ "2048",
	  "0::/a/b\n",
	  "26 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
	  "hugetlb memory\n",
	  { "a/hugetlb.2MB.max", "67108864\n", "a/hugetlb.2MB.current", "2097152\n" },
	  64,
	  64,
	  "2 processes need 64.0 MiB of the huge pages of cgroup sys/fs/cgroup/a, and 62.0 MiB are "
	  "left; raise its hugetlb.2MB.max" },
	{ "2048",
	  "0::/a/b\n",
	  "26 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
	  "hugetlb memory\n",
	  { "a/hugetlb.2MB.max", "67108864\n", "a/hugetlb.2MB.current", "2097152\n" },
	  62,
	  100,
	  NULL },
	{ "2048",
	  "0::/a/b\n",
	  "26 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
	  "hugetlb memory\n",
	  { "a/b/hugetlb.2MB.rsvd.max", "0\n", "a/b/hugetlb.2MB.rsvd.current", "0\n" },
	  4,
	  2,
	  "need 2.00 MiB of the huge pages of cgroup sys/fs/cgroup/a/b, and 0 B are left; raise "
	  "its "
	  "hugetlb.2MB.rsvd.max" },
	{ "1048576",
	  "5:hugetlb:/a/b\n",
	  "30 29 0:26 / /sys/fs/cgroup/hugetlb rw - cgroup cgroup rw,hugetlb\n",
	  NULL,
	  { "hugetlb/a/b/hugetlb.1GB.limit_in_bytes", "0\n",
	    "hugetlb/a/b/hugetlb.1GB.usage_in_bytes", "0\n" },
	  1024,
	  1024,
	  "raise its hugetlb.1GB.limit_in_bytes" },
	{ "64",
	  "5:hugetlb:/a/b\n",
	  "30 29 0:26 / /sys/fs/cgroup/hugetlb rw - cgroup cgroup rw,hugetlb\n",
	  NULL,
	  { "hugetlb/a/b/hugetlb.64KB.limit_in_bytes", "9223372036854710272\n",
	    "hugetlb/a/b/hugetlb.64KB.usage_in_bytes", "65536\n" },
	  1024,
	  1024,
	  NULL },
	{ "2048",
	  "0::/a/b\n",
	  "26 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
	  "memory\n", /* the controller is not there */
	  { "a/hugetlb.2MB.max", "0\n", "a/hugetlb.2MB.current", "0\n" },
	  2,
	  2,
	  NULL },
};

static void write_huge_case(const struct tree *tree, size_t i)
{
	char text[128];

	(void)snprintf(text, sizeof(text), "MemAvailable: 8388608 kB\nHugepagesize: %s kB\n",
		       huge_cases[i].page_kb);
	tree_write(tree, "proc/meminfo", text);
	tree_write(tree, "proc/self/cgroup", huge_cases[i].memberships);
	tree_write(tree, "proc/self/mountinfo", huge_cases[i].mounts);
	if (huge_cases[i].controllers) {
		tree_write(tree, "sys/fs/cgroup/a/b/cgroup.controllers", huge_cases[i].controllers);
		tree_write(tree, "sys/fs/cgroup/a/cgroup.controllers", huge_cases[i].controllers);
	}
	for (size_t k = 0; huge_cases[i].limits[k]; k += 2) {
		(void)snprintf(text, sizeof(text), "sys/fs/cgroup/%s", huge_cases[i].limits[k]);
		tree_write(tree, text, huge_cases[i].limits[k + 1]);
	}
}

static void test_cgroup_hugetlb(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(huge_cases) / sizeof(huge_cases[0]); i++) {
		const char *says = huge_cases[i].says;
		struct zm_why why = { "" };
		struct zm_sysroot root;
		struct tree tree;
		int r;

		wanted = (struct zm_footprint){
			.hugetlb_bytes = huge_cases[i].used_mib << 20,
			.hugetlb_mapped_bytes = huge_cases[i].mapped_mib << 20,
		};
		tree_make(&tree);
		write_huge_case(&tree, i);
		assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
		r = check(&root, &hungry, 2, &why);
		if (says ? r != -E2BIG || !strstr(why.text, says) : r != 0)
			fail_msg("case %zu: %d: %s", i, r, why.text);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

/* Each size of huge pages has limits of its own. */
static void test_cgroup_other_size(void **state)
{
	static const char no_pages_of_1_gib[] = "need 2.00 GiB of the huge pages of cgroup "
						"sys/fs/cgroup/hugetlb/a/b, and 0 B are left; "
						"raise its hugetlb.1GB.limit_in_bytes";

	(void)state;
	for (int is_other = 0; is_other < 2; is_other++) {
		struct zm_why why = { "" };
		struct zm_sysroot root;
		struct tree tree;
		int r;

		wanted = (struct zm_footprint){ .hugetlb_bytes = UINT64_C(2) << 30,
						.hugetlb_page_bytes = is_other ? 1 << 30 : 0 };
		tree_make(&tree);
		write_huge_case(&tree, 3); /* no page of 1 GiB is left */
		tree_write(&tree, "proc/meminfo",
			   "MemAvailable: 8388608 kB\nHugepagesize: 2048 kB\n");
		assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
		r = check(&root, &hungry, 2, &why);
		if (is_other ? r != -E2BIG || !strstr(why.text, no_pages_of_1_gib) : r != 0)
			fail_msg("%d: %s", r, why.text);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

/* Where nothing is known, nothing is refused. */
static void test_unknown(void **state)
{
	struct zm_sysroot root;
	struct tree tree;

	(void)state;
	wanted = (struct zm_footprint){ .task_bytes = UINT64_MAX / 4 };
	tree_make(&tree);
	assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
	assert_int_equal(check(&root, &hungry, 2, NULL), 0);
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),        cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_cgroup_hugetlb), cmocka_unit_test(test_cgroup_other_size),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
