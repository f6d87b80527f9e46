/* thp: which sizes a mapping is given, on machines that are a few small files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "faultload/region.h"
#include "faultload/thp.h"
#include "workloads/base/tests/tree.h"

#define THP_DIR "sys/kernel/mm/transparent_hugepage"
#define KIB     UINT64_C(1024)
#define MIB     (UINT64_C(1024) * KIB)

/* A machine: its `enabled`, hpage_pmd_size and, for two sizes, the file of that size (NULL: none). */
struct machine {
	const char *enabled;
	const char *pmd;
	const char *enabled_2m;
	const char *enabled_64k;
};

static const struct machine off = { "always madvise [never]", "2097152", NULL, NULL };
static const struct machine asked = { "always [madvise] never", "2097152", NULL, NULL };
static const struct machine on = { "[always] madvise never", "2097152", NULL, NULL };
static const struct machine none = { NULL, NULL, NULL, NULL };
static const struct machine on_64k_pages = { "[always] madvise never", "536870912", NULL, NULL };
static const struct machine on_16k_pages = { "[always] madvise never", "33554432", NULL, NULL };
static const struct machine small_of_16k_pages = { "always madvise [never]", "33554432",
						   "[always] inherit madvise never",
						   "always inherit [madvise] never" };
static const struct machine sizes_asked = { "always [madvise] never", "2097152",
					    "always [inherit] madvise never",
					    "always inherit madvise [never]" };
static const struct machine sizes_small = { "always madvise [never]", "2097152",
					    "always inherit madvise [never]",
					    "[always] inherit madvise never" };
static const struct machine sizes_both = { "[always] madvise never", "2097152",
					   "always [inherit] madvise never",
					   "always inherit [madvise] never" };

static void put(const struct tree *tree, const char *path, const char *text)
{
	char line[64];

	if (!text)
		return;
	(void)snprintf(line, sizeof(line), "%s\n", text);
	tree_write(tree, path, line);
}

static void make_root(const struct machine *machine, struct tree *tree, struct zm_sysroot *root)
{
	tree_make(tree);
	put(tree, THP_DIR "/enabled", machine->enabled);
	put(tree, THP_DIR "/hpage_pmd_size", machine->pmd);
	put(tree, THP_DIR "/hugepages-2048kB/enabled", machine->enabled_2m);
	put(tree, THP_DIR "/hugepages-64kB/enabled", machine->enabled_64k);
	assert_int_equal(zm_sysroot_open(root, tree->path), 0);
}

static void test_sizes(void **state)
{
	static const struct {
		const struct machine *machine;
		enum zm_thp thp;
		uint64_t page_bytes;
		uint64_t sizes;
		bool is_advised;
	} cases[] = {
		{ &off, ZM_THP_DEFAULT, 4 * KIB, 0, false },
		{ &off, ZM_THP_NEVER, 4 * KIB, 0, false },
		{ &off, ZM_THP_MADVISE, 4 * KIB, 2 * MIB, true }, /* prepare sets it */
		{ &off, ZM_THP_ALWAYS, 4 * KIB, 2 * MIB, true },
		{ &asked, ZM_THP_DEFAULT, 4 * KIB, 0, false },
		{ &asked, ZM_THP_NEVER, 4 * KIB, 0, false },
		{ &asked, ZM_THP_MADVISE, 4 * KIB, 2 * MIB, true },
		{ &asked, ZM_THP_ALWAYS, 4 * KIB, 2 * MIB, true },
		{ &on, ZM_THP_DEFAULT, 4 * KIB, 2 * MIB, false },
		{ &on, ZM_THP_NEVER, 4 * KIB, 0, false },
		{ &on, ZM_THP_MADVISE, 4 * KIB, 2 * MIB, true },
		{ &on, ZM_THP_ALWAYS, 4 * KIB, 2 * MIB, false },
		{ &none, ZM_THP_DEFAULT, 4 * KIB, 0, false },
		{ &none, ZM_THP_NEVER, 4 * KIB, 0, false },
		{ &on_64k_pages, ZM_THP_DEFAULT, 64 * KIB, 512 * MIB, false },
		{ &on_64k_pages, ZM_THP_MADVISE, 64 * KIB, 512 * MIB, true },
		{ &on_16k_pages, ZM_THP_DEFAULT, 16 * KIB, 32 * MIB, false },
		{ &on_16k_pages, ZM_THP_NEVER, 16 * KIB, 0, false },
		{ &small_of_16k_pages, ZM_THP_DEFAULT, 16 * KIB, 2 * MIB, false },
		{ &small_of_16k_pages, ZM_THP_MADVISE, 16 * KIB, 32 * MIB + 2 * MIB + 64 * KIB,
		  true },
		{ &sizes_asked, ZM_THP_DEFAULT, 4 * KIB, 0, false },
		{ &sizes_asked, ZM_THP_MADVISE, 4 * KIB, 2 * MIB, true },
		{ &sizes_small, ZM_THP_DEFAULT, 4 * KIB, 64 * KIB, false },
		{ &sizes_both, ZM_THP_DEFAULT, 4 * KIB, 2 * MIB, false },
		{ &sizes_both, ZM_THP_MADVISE, 4 * KIB, 2 * MIB + 64 * KIB, true },
		{ &sizes_both, ZM_THP_NEVER, 4 * KIB, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_sysroot root;
		struct tree tree;

		make_root(cases[i].machine, &tree, &root);
		uint64_t sizes = zm_thp_sizes(&root, cases[i].thp, cases[i].page_bytes);

		if (sizes != cases[i].sizes ||
		    zm_thp_needs_advice(&root, cases[i].thp) != cases[i].is_advised)
			fail_msg("case %zu: sizes %llu", i, (unsigned long long)sizes);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

/* What a window may show: from all small at the borders of the largest size, to none. */
static void test_expect(void **state)
{
	static const struct {
		const struct machine *machine;
		enum zm_backing backing;
		struct zm_region_options options;
		uint64_t page_bytes;
		double least, most;
	} cases[] = {
		{ &off, ZM_BACKING_ANON, { .size = 128 * MIB }, 4 * KIB, 1, 1 },
		{ &on, ZM_BACKING_ANON, { .size = 128 * MIB }, 4 * KIB, 32768.0 / 575, 512 },
		{ &on, ZM_BACKING_ANON, { .size = 128 * MIB, .thp = ZM_THP_NEVER }, 4 * KIB, 1, 1 },
		{ &on, ZM_BACKING_ANON, { .size = MIB }, 4 * KIB, 1, 1 },
		{ &on, ZM_BACKING_ANON, { .size = 2 * MIB }, 4 * KIB, 1, 512 },
		{ &on,
		  ZM_BACKING_ANON,
		  { .size = 128 * MIB, .stride = MIB },
		  4 * KIB,
		  128.0 / 65,
		  2 },
		{ &on, ZM_BACKING_ANON, { .size = 128 * MIB, .stride = 2 * MIB }, 4 * KIB, 1, 1 },
		{ &on, ZM_BACKING_ANON, { .size = 128 * MIB, .stride = 8 * MIB }, 4 * KIB, 1, 1 },
		{ &sizes_small, ZM_BACKING_ANON, { .size = MIB }, 4 * KIB, 256.0 / 31, 16 },
		{ &on_64k_pages, ZM_BACKING_ANON, { .size = 128 * MIB }, 64 * KIB, 1, 1 },
		{ &on_16k_pages,
		  ZM_BACKING_ANON,
		  { .size = 128 * MIB },
		  16 * KIB,
		  8192.0 / 2051,
		  2048 },
		{ &on, ZM_BACKING_PRIVATE_FILE, { .size = 128 * MIB }, 4 * KIB, 1, 1 },
		{ &on, ZM_BACKING_SHARED_FILE, { .size = 128 * MIB }, 4 * KIB, 1, 512 },
		{ &on,
		  ZM_BACKING_SHARED_FILE,
		  { .size = 128 * MIB, .stride = 16 * KIB },
		  4 * KIB,
		  1,
		  128 },
		{ &none, ZM_BACKING_SHARED_FILE, { .size = 128 * MIB }, 64 * KIB, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_sysroot root;
		struct zm_region_run shared = { 0 };
		struct zm_workload workload = { .own = &cases[i].backing };
		struct zm_run run = { .workload = &workload,
				      .state = &shared,
				      .options = &cases[i].options,
				      .root = &root,
				      .page_bytes = cases[i].page_bytes };
		double least = 0, most = 0;
		struct tree tree;

		make_root(cases[i].machine, &tree, &root);
		zm_region_look(&run, cases[i].options.thp);
		assert_true(zm_region_expect(&run, &least, &most));
		if (least != cases[i].least || most != cases[i].most)
			fail_msg("case %zu: %g to %g", i, least, most);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

static void test_check(void **state)
{
	struct zm_sysroot root;
	struct zm_why why;
	struct tree tree;

	(void)state;
	make_root(&none, &tree, &root);
	assert_int_equal(zm_thp_check(&root, ZM_THP_DEFAULT, &why), 0);
	assert_int_equal(zm_thp_check(&root, ZM_THP_NEVER, &why), 0);
	assert_int_equal(zm_thp_check(&root, ZM_THP_ALWAYS, &why), -ENOTSUP);
	assert_non_null(strstr(why.text, "thp=always"));
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

/* Where the machine's setting forbids and cannot be changed, that is said, with the mend. */
static void test_prepare_cannot(void **state)
{
	struct zm_sysroot root;
	struct zm_why why;
	int before = -1;
	struct tree tree;

	(void)state;
	make_root(&off, &tree, &root);
	assert_int_equal(zm_thp_prepare(&root, ZM_THP_ALWAYS, &before, &why), -EROFS);
	assert_non_null(strstr(why.text, "thp=always"));
	zm_thp_cleanup(ZM_THP_ALWAYS, before);
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

/* Where the machine's setting forbids and can be changed, it is set to madvise, and nothing more. */
static void test_prepare_sets(void **state)
{
	static const struct {
		const struct machine *machine;
		enum zm_thp thp;
		const char *enabled;
	} cases[] = {
		{ &off, ZM_THP_DEFAULT, "never" },    { &off, ZM_THP_NEVER, "never" },
		{ &off, ZM_THP_MADVISE, "madvise" },  { &off, ZM_THP_ALWAYS, "madvise" },
		{ &asked, ZM_THP_ALWAYS, "madvise" }, { &on, ZM_THP_MADVISE, "always" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_sysroot root;
		struct zm_why why = { "" };
		struct tree tree;
		char word[16];
		int before = -1;

		make_root(cases[i].machine, &tree, &root);
		zm_sysroot_release(&root);
		assert_int_equal(zm_sysroot_open_writable(&root, tree.path), 0);
		assert_int_equal(zm_thp_prepare(&root, cases[i].thp, &before, &why), 0);
		zm_thp_cleanup(cases[i].thp, before);
		assert_int_equal(
			zm_sysroot_read_choice(&root, THP_DIR "/enabled", word, sizeof(word)), 0);
		assert_string_equal(word, cases[i].enabled);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

static void test_never_is_undone(void **state)
{
	struct zm_sysroot root;
	struct zm_why why;
	int before = -1;
	int was = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);

	(void)state;
	if (was < 0)
		skip();
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	assert_int_equal(zm_thp_prepare(&root, ZM_THP_NEVER, &before, &why), 0);
	assert_true(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) & 1);
	zm_thp_cleanup(ZM_THP_NEVER, before);
	assert_int_equal(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), was);
	zm_sysroot_release(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),        cmocka_unit_test(test_expect),
		cmocka_unit_test(test_check),        cmocka_unit_test(test_prepare_cannot),
		cmocka_unit_test(test_prepare_sets), cmocka_unit_test(test_never_is_undone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
