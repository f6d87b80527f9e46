/* setting: what the documents set, on a machine that stands in for the kernel. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "runner/setting.h"
#include "workloads/base/tests/tree.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

static struct tree tree;
static struct zm_sysroot root;
static struct zm_journal *journal;
static struct zm_why why;

#define THP      "sys/kernel/mm/transparent_hugepage/enabled"
#define DEFRAG   "sys/kernel/mm/transparent_hugepage/defrag"
#define FRACTION "proc/sys/vm/percpu_pagelist_high_fraction"
#define RMEM     "proc/sys/net/ipv4/tcp_rmem"
#define FORWARD  "proc/sys/net/ipv4/conf/eth0.1/forwarding"
#define POLICY   "sys/devices/system/cpu/cpufreq/policy"

static const struct {
	const char *path;
	const char *text;
} files[] = {
	{ THP, "always [madvise] never\n" },
	{ DEFRAG, "always defer defer+madvise [madvise] never\n" },
	{ FRACTION, "0\n" },
	{ RMEM, "4096\t131072\t6291456\n" },
	{ FORWARD, "0\n" },
	{ POLICY "0/scaling_governor", "powersave\n" },
	{ POLICY "0/scaling_available_governors", "performance powersave \n" },
	{ POLICY "4/scaling_governor", "powersave\n" },
	{ POLICY "4/scaling_available_governors", "performance powersave \n" },
};

static void make_files(void)
{
	for (size_t i = 0; i < nr_of(files); i++)
		tree_write(&tree, files[i].path, files[i].text);
}

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	make_files();
	assert_int_equal(zm_sysroot_open_writable(&root, tree.path), 0);
	return zm_journal_open(&root, tree_path(&tree, "journal"), &journal, &why);
}

static int tear_down(void **state)
{
	(void)state;
	zm_journal_close(journal);
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

static void names_are_known(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} cases[] = {
		{ "thp_enabled", true },      { "thp_defrag", true },
		{ "cpufreq_governor", true }, { "percpu_pagelist_high_fraction", true },
		{ "numa_balancing", true },   { "sysctl.vm.swappiness", true },
		{ "sysctl.no.such", true },   { "sysctl", false },
		{ "nr_task", false },         { "thp", false },
		{ "thp_enabled2", false },    { "", false },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		assert_int_equal(zm_setting_is(cases[i].name), cases[i].is);
	for (const struct zm_setting_row *row = zm_setting_rows; row->name; row++) {
		assert_true(zm_setting_is(row->name));
		assert_true(row->path[0] && row->help[0]);
	}
}

static const struct {
	const char *name;
	const char *value;
	int error;
	const char *says;
	const char *path; /* holds value after apply, and text of `files` after undo */
	const char *back;
} cases[] = {
	{ "thp_enabled", "never", 0, NULL, THP, "madvise" },
	{ "thp_enabled", "madvise", 0, NULL, NULL, NULL },
	{ "thp_enabled", "sometimes", -EINVAL, "always [madvise] never", NULL, NULL },
	{ "thp_enabled", "", -EINVAL, "always [madvise] never", NULL, NULL },
	{ "thp_defrag", "defer+madvise", 0, NULL, DEFRAG, "madvise" },
	{ "percpu_pagelist_high_fraction", "8", 0, NULL, FRACTION, "0" },
	{ "cpufreq_governor", "performance", 0, NULL, POLICY "0/scaling_governor", "powersave" },
	{ "cpufreq_governor", "performance", 0, NULL, POLICY "4/scaling_governor", "powersave" },
	{ "cpufreq_governor", "schedutil", -EINVAL, "performance powersave", NULL, NULL },
	{ "numa_balancing", "0", -ENOENT, "proc/sys/kernel/numa_balancing", NULL, NULL },
	{ "sysctl.vm.percpu_pagelist_high_fraction", "16", 0, NULL, FRACTION, "0" },
	{ "sysctl.vm/percpu_pagelist_high_fraction", "16", 0, NULL, FRACTION, "0" },
	{ "sysctl.net.ipv4.tcp_rmem", "1 2 3", 0, NULL, RMEM, "4096\t131072\t6291456" },
	{ "sysctl.net.ipv4.conf.eth0/1.forwarding", "1", 0, NULL, FORWARD, "0" },
	{ "sysctl.net/ipv4/conf/eth0.1/forwarding", "1", 0, NULL, FORWARD, "0" },
	{ "sysctl.vm.no_such", "1", -ENOENT, "does not have", NULL, NULL },
	{ "sysctl.", "1", -EINVAL, "no setting", NULL, NULL },
	{ "sysctl.vm", "1", -EINVAL, "no setting", NULL, NULL },
	{ "sysctl.../../etc/passwd", "1", -EINVAL, "no setting", NULL, NULL },
	{ "sysctl.vm/../../../etc/passwd", "1", -EINVAL, "no setting", NULL, NULL },
	{ "thp", "never", -ENOENT, "no such setting", NULL, NULL },
};

static void settings_are_made_and_undone(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		make_files();
		memset(&why, 0, sizeof(why));
		assert_int_equal(zm_setting_check(&root, cases[i].name, cases[i].value, &why),
				 cases[i].error);
		assert_int_equal(
			zm_setting_apply(&root, journal, cases[i].name, cases[i].value, &why),
			cases[i].error);
		if (cases[i].error)
			assert_non_null(strstr(why.text, cases[i].says));
		if (cases[i].path)
			assert_string_equal(tree_read(&tree, cases[i].path), cases[i].value);
		assert_int_equal(zm_journal_undo(journal, &why), 0);
		if (cases[i].path)
			assert_string_equal(tree_read(&tree, cases[i].path), cases[i].back);
	}
}

static void a_check_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		(void)zm_setting_check(&root, cases[i].name, cases[i].value, NULL);
	for (size_t i = 0; i < nr_of(files); i++)
		assert_string_equal(tree_read(&tree, files[i].path), files[i].text);
	assert_false(tree_has(&tree, "journal"));
}

static void a_machine_without_frequencies_says_so(void **state)
{
	struct tree bare;
	struct zm_sysroot bare_root;

	(void)state;
	tree_make(&bare);
	assert_int_equal(zm_sysroot_open(&bare_root, bare.path), 0);
	assert_int_equal(zm_setting_check(&bare_root, "cpufreq_governor", "performance", &why),
			 -ENOENT);
	assert_non_null(strstr(why.text, "does not scale frequencies"));
	zm_sysroot_release(&bare_root);
	tree_remove(&bare);
}

/* The kernel of this machine refuses 1…7 and takes 0 or more than 7. */
static void what_the_kernel_refuses_is_said(void **state)
{
	struct zm_sysroot live;
	struct zm_journal *live_journal;
	char before[32], after[32];

	(void)state;
	assert_int_equal(zm_sysroot_open(&live, NULL), 0);
	if (geteuid() != 0 || zm_sysroot_read_line(&live, FRACTION, before, sizeof(before)) ||
	    faccessat(live.dir_fd, FRACTION, W_OK, AT_EACCESS)) {
		zm_sysroot_release(&live);
		skip();
	}
	assert_int_equal(
		zm_journal_open(&live, tree_path(&tree, "live-journal"), &live_journal, &why), 0);
	assert_int_equal(
		zm_setting_apply(&live, live_journal, "percpu_pagelist_high_fraction", "3", &why),
		-EINVAL);
	assert_non_null(strstr(why.text, "percpu_pagelist_high_fraction=3"));
	zm_journal_close(live_journal);
	assert_int_equal(zm_sysroot_read_line(&live, FRACTION, after, sizeof(after)), 0);
	assert_string_equal(before, after);
	zm_sysroot_release(&live);
}

#define test_in_tree(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_known),
		test_in_tree(settings_are_made_and_undone),
		test_in_tree(a_check_changes_nothing),
		test_in_tree(a_machine_without_frequencies_says_so),
		test_in_tree(what_the_kernel_refuses_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
