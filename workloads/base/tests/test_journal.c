/* journal: what is changed comes back for its owner; what cannot be undone stays written down. */
#include "workloads/base/tests/journal_tree.h"

static void nothing_is_on_disk_before_the_first_record(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_false(tree_has(&tree, "state"));
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_int_equal(zm_journal_set(journal, FRACTION, "0", &why), 0);
	assert_int_equal(count_names(".journal"), 0);
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
	assert_int_equal(count_names(".journal"), 1);
	assert_text(FRACTION, "8");
	zm_journal_close(journal);
	assert_int_equal(count_names(".journal"), 0);
	assert_text(FRACTION, "0");
}

static void every_kind_of_value_comes_back(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	for (size_t i = 0; i < nr_of(files); i++) {
		assert_int_equal(zm_journal_set(journal, files[i].path, "1 2", &why), 0);
		assert_text(files[i].path, "1 2");
		assert_int_equal(zm_journal_set(journal, files[i].path, "3", &why), 0);
	}
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_string_equal(why.text, "");
	for (size_t i = 0; i < nr_of(files); i++)
		assert_text(files[i].path, files[i].undone);
	zm_journal_close(journal);
}

static void what_it_holds_already_is_not_written(void **state)
{
	static const struct {
		const char *path;
		const char *text;
	} cases[] = { { FRACTION, "0" },
		      { FRACTION, " 0\n" },
		      { THP, "madvise" },
		      { RMEM, "4096 131072 6291456" } };
	struct zm_journal *journal = open_journal();

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++)
		assert_int_equal(zm_journal_set(journal, cases[i].path, cases[i].text, &why), 0);
	assert_false(tree_has(&tree, "state/journal"));
	zm_journal_close(journal);
}

static void a_journal_is_used_again(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
		assert_int_equal(zm_journal_undo(journal, &why), 0);
		assert_text(FRACTION, "0");
		assert_int_equal(count_names(".journal"), 0);
	}
	zm_journal_close(journal);
}

static void what_somebody_else_set_since_is_left_and_said(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
	assert_int_equal(zm_journal_set(journal, POOL, "40", &why), 0);
	tree_write(&tree, FRACTION, "16\n");
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_non_null(strstr(why.text, FRACTION));
	assert_non_null(strstr(why.text, "\"16\""));
	assert_text(FRACTION, "16\n");
	assert_text(POOL, "30");
	assert_int_equal(count_names(".journal"), 0);
	zm_journal_close(journal);
}

static void a_saved_value_comes_back_whatever_it_became(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_save(journal, POOL, &why), 0);
	tree_write(&tree, POOL, "99\n");
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_text(POOL, "30");
	zm_journal_close(journal);
}

static void what_is_made_is_removed(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_made(journal, ZM_MADE_TREE, tree_path(&tree, "made"), &why), 0);
	assert_int_equal(zm_journal_made(journal, ZM_MADE_FILE, tree_path(&tree, "one"), &why), 0);
	assert_int_equal(zm_journal_made(journal, ZM_MADE_FILE, tree_path(&tree, "never"), &why),
			 0);
	tree_write(&tree, "made/a/b/c", "text");
	tree_write(&tree, "one", "text");
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_false(tree_has(&tree, "made"));
	assert_false(tree_has(&tree, "one"));
	zm_journal_close(journal);
}

static void what_is_there_already_is_nobodys_to_make(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	tree_write(&tree, "mine", "precious");
	for (enum zm_made what = ZM_MADE_FILE; what <= ZM_MADE_NETNS; what++) {
		const char *path = what == ZM_MADE_MOUNT ? "/proc" : tree_path(&tree, "mine");

		if (what == ZM_MADE_MOUNT)
			continue;
		assert_int_equal(zm_journal_made(journal, what, path, &why), -EEXIST);
	}
	zm_journal_close(journal);
	assert_text("mine", "precious");
}

static void paths_that_lead_elsewhere_are_refused(void **state)
{
	static const char *const settings[] = {
		"etc/passwd",
		"/proc/sys/vm/x",
		"proc/sys/../../etc/passwd",
		"proc/meminfo",
		"sys/../etc",
		"sys//kernel",
		"sys/./kernel",
		"",
		"sys/link",
		"sys/kernel",
		"sys/kernel/",
	};
	static const char *const made[] = { "relative/path", "/tmp/../etc", "/",    "/tmp", "",
					    "/a//b",         "/a/./b",      "/a/b/" };
	struct zm_journal *journal = open_journal();

	(void)state;
	tree_write(&tree, "etc/passwd", "0\n");
	assert_int_equal(symlink("../etc/passwd", tree_path(&tree, "sys/link")), 0);
	for (size_t i = 0; i < nr_of(settings); i++) {
		assert_int_equal(zm_journal_set(journal, settings[i], "1", &why), -EINVAL);
		assert_int_equal(zm_journal_save(journal, settings[i], &why), -EINVAL);
	}
	for (size_t i = 0; i < nr_of(made); i++)
		assert_int_equal(zm_journal_made(journal, ZM_MADE_TREE, made[i], &why), -EINVAL);
	zm_journal_close(journal);
	assert_text("etc/passwd", "0\n");
}

static void a_setting_that_is_not_there_is_said(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_set(journal, "proc/sys/vm/no_such", "1", &why), -ENOENT);
	assert_non_null(strstr(why.text, "proc/sys/vm/no_such"));
	zm_journal_close(journal);
}

static void a_forked_child_has_no_right_to_it(void **state)
{
	struct zm_journal *journal = open_journal();
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
	child = fork();
	if (child == 0) {
		int bad = zm_journal_set(journal, FRACTION, "9", NULL) != -EPERM;

		bad |= zm_journal_undo(journal, NULL) != -EPERM;
		zm_journal_close(journal);
		_exit(bad);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_text(FRACTION, "8");
	assert_int_equal(recover(), 0);
	assert_text(FRACTION, "8");
	zm_journal_close(journal);
	assert_text(FRACTION, "0");
}

/* A real one, of version 2: the kernel reads it as a list, and takes only what changes in it. */
static void a_cgroups_list_of_controllers_comes_back(void **state)
{
	static const char *const tops[] = { "sys/fs/cgroup", "sys/fs/cgroup/unified" };
	char path[128], list[256] = "", made[256] = "";
	struct zm_journal *journal = NULL;
	struct zm_sysroot live;

	(void)state;
	assert_int_equal(zm_sysroot_open(&live, NULL), 0);
	for (size_t i = 0; i < nr_of(tops) && !list[0]; i++) {
		(void)snprintf(path, sizeof(path), "%s/cgroup.controllers", tops[i]);
		(void)zm_sysroot_read_line(&live, path, list, sizeof(list));
		(void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", tops[i]);
		(void)zm_sysroot_read_line(&live, path, made, sizeof(made));
	}
	/* Another test must not miss them meanwhile: only where none was handed on. */
	if (geteuid() != 0 || !list[0] || made[0]) {
		zm_sysroot_release(&live);
		skip();
	}
	list[strcspn(list, " ")] = '\0';
	assert_int_equal(zm_journal_open(&live, tree_path(&tree, "live"), &journal, &why), 0);
	assert_int_equal(zm_journal_set(journal, path, list, &why), 0);
	assert_int_equal(zm_sysroot_read_line(&live, path, made, sizeof(made)), 0);
	assert_string_equal(made, list);
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_string_equal(why.text, "");
	assert_int_equal(zm_sysroot_read_line(&live, path, made, sizeof(made)), 0);
	assert_string_equal(made, "");
	zm_journal_close(journal);
	zm_sysroot_release(&live);
}

static void a_failed_undo_keeps_the_rest_written_down(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	tree_write(&tree, "sys/gone/value", "1\n");
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), 0);
	assert_int_equal(zm_journal_set(journal, "sys/gone/value", "2", &why), 0);
	assert_int_equal(zm_journal_set(journal, POOL, "40", &why), 0);
	assert_int_equal(rename(tree_path(&tree, "sys/gone/value"), tree_path(&tree, "kept")), 0);
	tree_mkdir(&tree, "sys/gone/value");
	assert_true(zm_journal_undo(journal, &why) < 0);
	assert_non_null(strstr(why.text, "sys/gone/value"));
	assert_text(FRACTION, "0");
	assert_text(POOL, "30");
	assert_int_equal(count_names(".journal"), 1);
	assert_int_equal(rmdir(tree_path(&tree, "sys/gone/value")), 0);
	assert_int_equal(rename(tree_path(&tree, "kept"), tree_path(&tree, "sys/gone/value")), 0);
	tree_write(&tree, FRACTION, "77\n");
	assert_int_equal(zm_journal_set(journal, POOL, "50", &why), 0);
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_text("sys/gone/value", "1");
	assert_text(POOL, "30");
	assert_text(FRACTION, "77\n");
	assert_int_equal(count_names(".journal"), 0);
	zm_journal_close(journal);
}

static void a_setting_that_vanished_is_undone(void **state)
{
	struct zm_journal *journal = open_journal();

	(void)state;
	assert_int_equal(zm_journal_set(journal, POOL, "40", &why), 0);
	assert_int_equal(unlink(tree_path(&tree, POOL)), 0);
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_int_equal(count_names(".journal"), 0);
	zm_journal_close(journal);
}

static void nothing_is_changed_when_the_journal_cannot_be_written(void **state)
{
	struct zm_journal *journal;

	(void)state;
	tree_write(&tree, "file", "");
	(void)snprintf(directory, sizeof(directory), "%s/file/journal", tree.path);
	journal = open_journal();
	assert_int_equal(zm_journal_set(journal, FRACTION, "8", &why), -ENOTDIR);
	assert_int_equal(zm_journal_made(journal, ZM_MADE_FILE, tree_path(&tree, "x"), &why),
			 -ENOTDIR);
	assert_text(FRACTION, "0\n");
	zm_journal_close(journal);
	zm_journal_close(NULL);
	zm_journal_forget(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_tree(nothing_is_on_disk_before_the_first_record),
		test_in_tree(every_kind_of_value_comes_back),
		test_in_tree(what_it_holds_already_is_not_written),
		test_in_tree(a_journal_is_used_again),
		test_in_tree(what_somebody_else_set_since_is_left_and_said),
		test_in_tree(a_saved_value_comes_back_whatever_it_became),
		test_in_tree(what_is_made_is_removed),
		test_in_tree(what_is_there_already_is_nobodys_to_make),
		test_in_tree(paths_that_lead_elsewhere_are_refused),
		test_in_tree(a_setting_that_is_not_there_is_said),
		test_in_tree(a_forked_child_has_no_right_to_it),
		test_in_tree(a_cgroups_list_of_controllers_comes_back),
		test_in_tree(a_failed_undo_keeps_the_rest_written_down),
		test_in_tree(a_setting_that_vanished_is_undone),
		test_in_tree(nothing_is_changed_when_the_journal_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
