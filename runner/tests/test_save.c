/* save: what a pattern stands for comes back after it was changed; what is not there is passed over. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runner/save.h"
#include "workloads/base/tests/tree.h"

static const char *const saved[] = {
	"sys/mm/hugepages-2048kB/nr",
	"sys/mm/hugepages-64kB/nr",
	"sys/node/node0/hugepages-2048kB/nr",
	"sys/node/node11/hugepages-2048kB/nr",
	"proc/sys/vm/plain",
};
static const char other[] = "sys/mm/hugepages-64kB/free";
static const char *const paths[] = {
	"sys/mm/hugepages-*/nr", "sys/node/node*/hugepages-*/nr",
	"sys/not/there*/nr",     "proc/sys/vm/not_there",
	"proc/sys/vm/plain",     NULL,
};

static void assert_number(const struct zm_sysroot *root, const char *path, uint64_t expected)
{
	uint64_t number;

	assert_int_equal(zm_sysroot_read_u64(root, path, &number), 0);
	if (number != expected)
		fail_msg("%s holds %llu", path, (unsigned long long)number);
}

static void test_all_come_back(void **state)
{
	struct zm_journal *journal;
	struct zm_sysroot root;
	struct zm_why why = { "" };
	struct tree tree;
	char directory[PATH_MAX];

	(void)state;
	tree_make(&tree);
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++)
		tree_write(&tree, saved[i], "5\n");
	tree_write(&tree, other, "5\n");
	(void)snprintf(directory, sizeof(directory), "%s/journal", tree.path);
	assert_int_equal(zm_sysroot_open_writable(&root, tree.path), 0);
	assert_int_equal(zm_journal_open(&root, directory, &journal, &why), 0);

	if (zm_save_all(&root, journal, paths, &why) < 0)
		fail_msg("%s", why.text);
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++)
		assert_int_equal(zm_sysroot_write(&root, saved[i], "7"), 0);
	assert_int_equal(zm_sysroot_write(&root, other, "7"), 0);
	if (zm_journal_undo(journal, &why) < 0)
		fail_msg("%s", why.text);
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++)
		assert_number(&root, saved[i], 5);
	assert_number(&root, other, 7);

	zm_journal_close(journal);
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

static void test_nothing_to_save(void **state)
{
	struct zm_sysroot root;
	struct zm_why why;

	(void)state;
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	assert_int_equal(zm_save_all(&root, NULL, NULL, &why), 0);
	zm_sysroot_release(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_come_back),
		cmocka_unit_test(test_nothing_to_save),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
