/*
 * hugelimits: a kernel that makes fewer huge pages than it is asked for, or is interrupted while it does: what
 * was asked and what was got is told apart, and nothing stays. zm_sysroot_write stands in for that kernel.
 *
 * links: -Wl,--wrap=zm_sysroot_write
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "faultload/hugepool.h"
#include "workloads/base/tests/tree.h"
#include "workloads/base/units.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_hugetlb_pool;

#define POOL   "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
#define SYSCTL "proc/sys/vm/nr_hugepages"
#define BASE   5

static struct tree tree;
static uint64_t most;              /* pages that the kernel can make */
static unsigned int nr_interrupts; /* of the next writes that grow, so many end half way */

int __real_zm_sysroot_write(const struct zm_sysroot *root, const char *path, const char *text);
int __wrap_zm_sysroot_write(const struct zm_sysroot *root, const char *path, const char *text);

int __wrap_zm_sysroot_write(const struct zm_sysroot *root, const char *path, const char *text)
{
	uint64_t now, asked;
	char made[24];
	int r = 0;

	assert_int_equal(zm_sysroot_read_u64(root, path, &now), 0);
	assert_int_equal(zm_units_parse_u64(text, &asked), 0);
	if (asked > most)
		asked = most;
	if (asked > now + 1 && nr_interrupts > 0) {
		nr_interrupts--;
		asked = now + (asked - now) / 2;
		r = -EINTR;
	}
	(void)snprintf(made, sizeof(made), "%llu", (unsigned long long)asked);
	assert_int_equal(__real_zm_sysroot_write(root, path, made), 0);
	return r;
}

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_write(&tree, "proc/meminfo",
		   "MemTotal: 4194304 kB\nMemAvailable: 2097152 kB\nHugepagesize: 2048 kB\n");
	tree_write(&tree, "proc/sys/vm/nr_overcommit_hugepages", "0\n");
	tree_write(&tree, SYSCTL, "5\n");
	tree_write(&tree, POOL, "5\n");
	most = UINT64_MAX;
	nr_interrupts = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static void start(struct rig *rig, const char *options)
{
	rig_init(rig, &wl_faultload_hugetlb_pool, ZM_TASK_PROCESS, 1, tree.path);
	rig_must(rig, rig_set_options(rig, options), options);
	rig_must(rig, rig_check(rig), "check");
	rig_must(rig, rig_prepare(rig), "prepare");
}

static uint64_t pool(const struct rig *rig)
{
	uint64_t number;

	assert_int_equal(zm_sysroot_read_u64(&rig->root, POOL, &number), 0);
	return number;
}

static double figure(const struct rig *rig, const char *name)
{
	const struct rig_figure *found = rig_figure(rig, name);

	if (!found)
		fail_msg("no %s", name);
	return found->value;
}

/* Asked for 100, got 40: both are figures, and the pool is as before. */
static void test_fewer_than_asked(void **state)
{
	static const char *const options[] = { "pages=100", "pages=100 step=7" };

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct rig rig;

		most = BASE + 40;
		start(&rig, options[i]);
		rig_run(&rig, 0, 400);
		rig_stop(&rig);
		rig_report(&rig, 1000000000);
		assert_true(figure(&rig, "hugetlb_pool.asked") == 100);
		assert_true(figure(&rig, "hugetlb_pool.got") == 40);
		assert_int_equal(pool(&rig), BASE);
		rig_free(&rig);
	}
}

/* Not one page: the run fails, and says why. */
static void test_none(void **state)
{
	struct rig rig;

	(void)state;
	most = BASE;
	start(&rig, "pages=100");
	assert_int_equal(rig.run.workload->round(&rig.tasks[0]), -ENOMEM);
	assert_non_null(strstr(rig.slots[0].why.text, "not one more huge page"));
	rig_teardown(&rig);
	assert_int_equal(pool(&rig), BASE);
	rig_free(&rig);
}

/* A signal ends writes half way: what was made counts, and the pool goes on from there. */
static void test_interrupted(void **state)
{
	struct rig rig;

	(void)state;
	nr_interrupts = 3;
	start(&rig, "pages=64");
	rig_run(&rig, 0, 400);
	assert_int_equal(nr_interrupts, 0);
	assert_int_equal(rig.slots[0].counters[2] + rig.slots[0].counters[3], rig_ops(&rig, 0));
	rig_stop(&rig);
	rig_report(&rig, 1000000000);
	assert_true(figure(&rig, "hugetlb_pool.got") == 64);
	assert_int_equal(pool(&rig), BASE);
	rig_free(&rig);
}

/* The time per page by tenths of the pool, where a write is a tenth or less. */
static void test_curve(void **state)
{
	static const struct {
		const char *options;
		bool has_curve;
	} cases[] = {
		{ "pages=100", false },         { "pages=100 step=1", true },
		{ "pages=100 step=10", true },  { "pages=100 step=3", true },
		{ "pages=100 step=11", false }, { "pages=10 step=1", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;

		start(&rig, cases[i].options);
		rig_run(&rig, 0, 600);
		rig_stop(&rig);
		rig_report(&rig, 1000000000);
		rig_assert_all_reported(&rig);
		for (unsigned int tenth = 10; tenth <= 100; tenth += 10) {
			char name[64];

			for (unsigned int way = 0; way < 2; way++) {
				(void)snprintf(name, sizeof(name), "hugetlb_pool.%s_ns_per_page.%u",
					       way ? "shrink" : "grow", tenth);
				assert_int_equal(rig_figure(&rig, name) != NULL,
						 cases[i].has_curve);
			}
		}
		rig_free(&rig);
	}
}

/* What others ask of the pool: fewer than needed is refused with both figures. */
static void test_add(void **state)
{
	struct zm_sysroot root;
	struct zm_why why = { "" };

	(void)state;
	assert_int_equal(zm_sysroot_open_writable(&root, tree.path), 0);
	most = BASE + 40;
	assert_int_equal(zm_hugepool_add(&root, ZM_HUGEPOOL_POOL, 100, &why), -ENOMEM);
	assert_non_null(strstr(why.text, "only 40 of 100 huge pages"));
	zm_sysroot_release(&root);
}

/* A window that ends before the pool has been up and down is said so. */
static void test_too_short(void **state)
{
	struct zm_report report = { .nr_figures = 0 };
	struct zm_window window = { .t0_ns = 1, .t1_ns = 2 };
	struct rig rig;

	(void)state;
	start(&rig, "pages=100");
	window.run = &rig.run;
	assert_int_equal(rig.run.workload->report(&window, &report), -ENODATA);
	assert_non_null(strstr(report.why, "all 100 pages"));
	rig_free(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fewer_than_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interrupted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_curve, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_add, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_short, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
