/* thp: which sizes a mapping is given, on machines that are a few small files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faultload/region.h"
#include "faultload/thp.h"

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
static const struct machine sizes_asked = { "always [madvise] never", "2097152",
					    "always [inherit] madvise never",
					    "always inherit madvise [never]" };
static const struct machine sizes_small = { "always madvise [never]", "2097152",
					    "always inherit madvise [never]",
					    "[always] inherit madvise never" };
static const struct machine sizes_both = { "[always] madvise never", "2097152",
					   "always [inherit] madvise never",
					   "always inherit [madvise] never" };

static void put(const char *base, const char *path, const char *text)
{
	char full[512];

	if (!text)
		return;
	(void)snprintf(full, sizeof(full), "%s/%s", base, path);
	for (char *slash = full + strlen(base) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}

	FILE *file = fopen(full, "we");

	assert_non_null(file);
	assert_true(fprintf(file, "%s\n", text) > 0);
	assert_int_equal(fclose(file), 0);
}

static void remove_tree(const char *base)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", base, (char *)NULL);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
}

static void make_root(const struct machine *machine, char base[64], struct zm_sysroot *root)
{
	(void)snprintf(base, 64, "/tmp/zm_thp.XXXXXX");
	assert_non_null(mkdtemp(base));
	put(base, THP_DIR "/enabled", machine->enabled);
	put(base, THP_DIR "/hpage_pmd_size", machine->pmd);
	put(base, THP_DIR "/hugepages-2048kB/enabled", machine->enabled_2m);
	put(base, THP_DIR "/hugepages-64kB/enabled", machine->enabled_64k);
	assert_int_equal(zm_sysroot_open(root, base), 0);
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
		char base[64];

		make_root(cases[i].machine, base, &root);
		uint64_t sizes = zm_thp_sizes(&root, cases[i].thp, cases[i].page_bytes);

		if (sizes != cases[i].sizes ||
		    zm_thp_needs_advice(&root, cases[i].thp) != cases[i].is_advised)
			fail_msg("case %zu: sizes %llu", i, (unsigned long long)sizes);
		zm_sysroot_release(&root);
		remove_tree(base);
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
		struct zm_workload workload = { .own = &cases[i].backing };
		struct zm_run run = { .workload = &workload,
				      .options = &cases[i].options,
				      .root = &root,
				      .page_bytes = cases[i].page_bytes };
		double least = 0, most = 0;
		char base[64];

		make_root(cases[i].machine, base, &root);
		assert_true(zm_region_expect(&run, &least, &most));
		if (least != cases[i].least || most != cases[i].most)
			fail_msg("case %zu: %g to %g", i, least, most);
		zm_sysroot_release(&root);
		remove_tree(base);
	}
}

static void test_check(void **state)
{
	struct zm_sysroot root;
	struct zm_why why;
	char base[64];

	(void)state;
	make_root(&none, base, &root);
	assert_int_equal(zm_thp_check(&root, ZM_THP_DEFAULT, &why), 0);
	assert_int_equal(zm_thp_check(&root, ZM_THP_NEVER, &why), 0);
	assert_int_equal(zm_thp_check(&root, ZM_THP_ALWAYS, &why), -ENOTSUP);
	assert_non_null(strstr(why.text, "thp=always"));
	zm_sysroot_release(&root);
	remove_tree(base);
}

/* Where the machine's setting forbids and cannot be changed, that is said, with the mend. */
static void test_prepare_cannot(void **state)
{
	struct zm_sysroot root;
	struct zm_why why;
	int before = -1;
	char base[64];

	(void)state;
	make_root(&off, base, &root);
	assert_int_equal(zm_thp_prepare(&root, ZM_THP_ALWAYS, &before, &why), -EROFS);
	assert_non_null(strstr(why.text, "thp=always"));
	zm_thp_cleanup(ZM_THP_ALWAYS, before);
	zm_sysroot_release(&root);
	remove_tree(base);
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
		cmocka_unit_test(test_sizes),           cmocka_unit_test(test_expect),
		cmocka_unit_test(test_check),           cmocka_unit_test(test_prepare_cannot),
		cmocka_unit_test(test_never_is_undone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
