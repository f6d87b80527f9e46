/* source: chosen, found in the cache, refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "buildload/source.h"
#include "workloads/base/tests/tree.h"

static struct tree tree;
static struct zm_why why;
static struct zm_source source;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	return setenv("XDG_CACHE_HOME", tree.path, 1);
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static void test_chosen(void **state)
{
	(void)state;
	tree_write(&tree, "plain/GNUmakefile", "");
	tree_write(&tree, "kernel/Makefile", "");
	tree_write(&tree, "kernel/Kconfig", "");
	tree_write(&tree, "kernel/Kbuild", "");
	assert_int_equal(zm_source_find(tree_path(&tree, "plain"), &source, &why), 0);
	assert_false(source.is_kernel);
	assert_int_equal(zm_source_find(tree_path(&tree, "plain/../kernel"), &source, &why), 0);
	assert_true(source.is_kernel);
	assert_string_equal(source.path, tree_path(&tree, "kernel"));
}

static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(zm_source_find(tree_path(&tree, "nothing"), &source, &why), -EINVAL);
	assert_non_null(strstr(why.text, "cannot be opened"));
	tree_mkdir(&tree, "empty");
	assert_int_equal(zm_source_find(tree_path(&tree, "empty"), &source, &why), -EINVAL);
	assert_non_null(strstr(why.text, "there is no Makefile in it"));
	tree_write(&tree, "used/Makefile", "");
	tree_write(&tree, "used/include/config/auto.conf", "");
	assert_int_equal(zm_source_find(tree_path(&tree, "used"), &source, &why), -EINVAL);
	assert_non_null(strstr(why.text, "has been built in"));
}

/* The highest version, as numbers; what is half unpacked ("+") is none. */
static void test_fetched(void **state)
{
	(void)state;
	assert_int_equal(zm_source_find(NULL, &source, &why), -ENOTSUP);
	assert_non_null(strstr(why.text, "zonemark fetch-kernel-source"));
	tree_write(&tree, "zonemark/linux-source-6.1/Makefile", "");
	tree_write(&tree, "zonemark/linux-source-6.12/Makefile", "");
	tree_write(&tree, "zonemark/linux-source-6.9/Makefile", "");
	tree_write(&tree, "zonemark/linux-source-7.0+/Makefile", "");
	tree_write(&tree, "zonemark/linux-image-9/Makefile", "");
	assert_int_equal(zm_source_find("", &source, &why), 0);
	assert_string_equal(source.path, tree_path(&tree, "zonemark/linux-source-6.12"));
}

static void test_config_target(void **state)
{
	(void)state;
	assert_true(zm_source_is_config_target("tinyconfig"));
	assert_true(zm_source_is_config_target("x86_64_defconfig"));
	assert_false(zm_source_is_config_target("./tinyconfig"));
	assert_false(zm_source_is_config_target(".config"));
	assert_false(zm_source_is_config_target("config"));
	assert_false(zm_source_is_config_target("my.cfg"));
}

#define in_tree(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { in_tree(test_chosen), in_tree(test_refused),
					    in_tree(test_fetched),
					    cmocka_unit_test(test_config_target) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
