/* sysroot: files of every size and shape below a root of our own, and that nothing gets out of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/tests/tree.h"

#define UNTOUCHED UINT64_C(0x5555555555555555)
#define MIB       ((size_t)1 << 20)

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

static struct tree tree;
static struct zm_sysroot root;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	return zm_sysroot_open(&root, tree.path);
}

static int tear_down(void **state)
{
	(void)state;
	zm_sysroot_release(&root);
	tree_remove(&tree);
	return 0;
}

/* --- roots ----------------------------------------------------------------------------------- */

static void a_root_is_a_directory(void **state)
{
	static const struct {
		const char *path;
		int error;
		bool is_live;
	} cases[] = {
		{ NULL, 0, true },
		{ "/", 0, true },
		{ "//", 0, true },
		{ "/proc/..", 0, true },
		{ "/proc", 0, false },
		{ "/proc/version", -ENOTDIR, false },
		{ "/no/such/place", -ENOENT, false },
		{ "", -ENOENT, false },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct zm_sysroot here = { .dir_fd = -7 };
		int error = zm_sysroot_open(&here, cases[i].path);

		assert_int_equal(error, cases[i].error);
		if (error) {
			assert_int_equal(here.dir_fd, -7);
			continue;
		}
		assert_int_equal(here.is_live, cases[i].is_live);
		assert_true(fcntl(here.dir_fd, F_GETFD) & FD_CLOEXEC);
		zm_sysroot_release(&here);
		zm_sysroot_release(&here);
	}
	zm_sysroot_release(NULL);
}

static void this_machine_is_read(void **state)
{
	struct zm_sysroot live;
	zm_autofree char *text = NULL;
	size_t length = 0;

	(void)state;
	assert_int_equal(zm_sysroot_open(&live, NULL), 0);
	assert_int_equal(zm_sysroot_read(&live, "proc/meminfo", &text, &length), 0);
	assert_non_null(strstr(text, "MemTotal:"));
	assert_int_equal(strlen(text), length);
	assert_true(zm_sysroot_has(&live, "/proc/self/stat"));
	zm_sysroot_release(&live);
}

static void nothing_gets_out_of_a_recorded_root(void **state)
{
	static const char *const outside[] = { "up", "../../../../../../etc/passwd", "dots/passwd",
					       "/etc/passwd", "absolute" };
	char buf[64];

	(void)state;
	tree_mkdir(&tree, "etc");
	tree_link(&tree, "up", "../../../../../../../etc/passwd");
	tree_link(&tree, "dots", "../../../../../../../etc");
	tree_link(&tree, "absolute", "/etc/passwd");
	for (size_t i = 0; i < nr_of(outside); i++) {
		assert_false(zm_sysroot_has(&root, outside[i]));
		assert_int_equal(zm_sysroot_read_line(&root, outside[i], buf, sizeof(buf)),
				 -ENOENT);
	}
	tree_write(&tree, "etc/passwd", "recorded\n");
	for (size_t i = 0; i < nr_of(outside); i++) {
		assert_int_equal(zm_sysroot_read_line(&root, outside[i], buf, sizeof(buf)), 0);
		assert_string_equal(buf, "recorded");
	}
}

static void links_inside_are_followed(void **state)
{
	char buf[64];

	(void)state;
	tree_write(&tree, "proc/4711/mounts", "here\n");
	tree_link(&tree, "proc/self", "4711");
	tree_link(&tree, "proc/mounts", "self/mounts");
	tree_link(&tree, "loop", "loop");
	assert_int_equal(zm_sysroot_read_line(&root, "proc/mounts", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "here");
	assert_int_equal(zm_sysroot_read_line(&root, "loop", buf, sizeof(buf)), -ELOOP);
}

/* --- whole files ----------------------------------------------------------------------------- */

static void files_of_every_size_are_whole(void **state)
{
	static const size_t sizes[] = { 0,    1,    2,     4094,  4095,   4096,    4097,
					8191, 8192, 12288, 65536, 100000, 1048577, 3000000 };

	(void)state;
	for (size_t i = 0; i < nr_of(sizes); i++) {
		zm_autofree char *made = malloc(sizes[i] + 1), *text = NULL;
		size_t length = 0;

		assert_non_null(made);
		for (size_t j = 0; j < sizes[i]; j++)
			made[j] = (char)('a' + j * 7 % 26);
		tree_write_bytes(&tree, "file", made, sizes[i]);
		assert_int_equal(zm_sysroot_read(&root, "file", &text, &length), 0);
		assert_int_equal(length, sizes[i]);
		assert_memory_equal(text, made, length);
		assert_int_equal(text[length], '\0');
		zm_cleanup_free(&text);
		text = NULL;
		assert_int_equal(zm_sysroot_read(&root, "file", &text, NULL), 0);
		assert_int_equal(strlen(text), sizes[i]);
	}
}

static void sixty_four_mib_are_the_limit(void **state)
{
	static const struct {
		size_t length;
		int error;
	} cases[] = { { 64 * MIB - 1, 0 },
		      { 64 * MIB, 0 },
		      { 64 * MIB + 1, -EFBIG },
		      { 1000 * MIB, -EFBIG } };

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		zm_autofree char *text = NULL;
		size_t length = 77;

		tree_write(&tree, "sparse", "");
		assert_int_equal(truncate(tree_path(&tree, "sparse"), (off_t)cases[i].length), 0);
		assert_int_equal(zm_sysroot_read(&root, "sparse", &text, &length), cases[i].error);
		assert_int_equal(length, cases[i].error ? 77 : cases[i].length);
		if (cases[i].error)
			assert_null(text);
	}
}

static void what_is_no_file_is_refused(void **state)
{
	char *text = NULL;
	size_t length = 77;

	(void)state;
	tree_mkdir(&tree, "folder");
	assert_int_equal(zm_sysroot_read(&root, "folder", &text, &length), -EISDIR);
	assert_int_equal(zm_sysroot_read(&root, "", &text, &length), -EISDIR);
	assert_int_equal(zm_sysroot_read(&root, "missing", &text, &length), -ENOENT);
	assert_null(text);
	assert_int_equal(length, 77);
}

/* A pipe without a writer must not make the reader wait for one. */
static void a_pipe_does_not_block(void **state)
{
	zm_autofree char *text = NULL;
	int error;

	(void)state;
	assert_int_equal(mkfifo(tree_path(&tree, "pipe"), 0600), 0);
	error = zm_sysroot_read(&root, "pipe", &text, NULL);
	assert_true(error == -ESPIPE || (error == 0 && text[0] == '\0'));
}

/* --- one value ------------------------------------------------------------------------------- */

static void lines(void **state)
{
	static const struct {
		const char *text, *line;
		size_t size;
		int error;
	} cases[] = {
		{ "one\n", "one", 16, 0 },
		{ "one", "one", 16, 0 },
		{ "one\ntwo\n", "one", 16, 0 },
		{ "", "", 16, 0 },
		{ "\n", "", 16, 0 },
		{ "", "", 1, 0 },
		{ "", NULL, 0, -ENOBUFS },
		{ "abc\n", "abc", 4, 0 },
		{ "abc", "abc", 4, 0 },
		{ "abcd\n", NULL, 4, -ENOBUFS },
		{ "abcd", NULL, 4, -ENOBUFS },
		{ " x \r\n", " x \r", 16, 0 },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		char buf[17] = "################";

		tree_write(&tree, "line", cases[i].text);
		assert_int_equal(zm_sysroot_read_line(&root, "line", buf, cases[i].size),
				 cases[i].error);
		if (cases[i].line)
			assert_string_equal(buf, cases[i].line);
		else
			assert_string_equal(buf, "################");
	}
}

static void a_line_of_100_kb(void **state)
{
	size_t length = 100000;
	zm_autofree char *made = malloc(length + 2), *buf = malloc(length + 1);

	(void)state;
	assert_true(made && buf);
	memset(made, 'z', length);
	memcpy(made + length, "\n", 2);
	tree_write(&tree, "long", made);
	assert_int_equal(zm_sysroot_read_line(&root, "long", buf, length), -ENOBUFS);
	assert_int_equal(zm_sysroot_read_line(&root, "long", buf, length + 1), 0);
	assert_int_equal(strlen(buf), length);
}

static void u64s(void **state)
{
	static const struct {
		const char *text;
		int error;
		uint64_t value;
	} cases[] = {
		{ "0\n", 0, 0 },
		{ "4096", 0, 4096 },
		{ "  12 \n34\n", 0, 12 },
		{ "0x1f\n", 0, 31 },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "18446744073709551616\n", -ERANGE, 0 },
		{ "max\n", -EINVAL, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "\n12\n", -EINVAL, 0 },
		{ "1 2\n", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		uint64_t value = UNTOUCHED;

		tree_write(&tree, "number", cases[i].text);
		assert_int_equal(zm_sysroot_read_u64(&root, "number", &value), cases[i].error);
		assert_true(value == (cases[i].error ? UNTOUCHED : cases[i].value));
	}
}

static void a_number_of_100_kb_is_none(void **state)
{
	zm_autofree char *zeros = malloc(100001);
	uint64_t value = UNTOUCHED;

	(void)state;
	assert_non_null(zeros);
	memset(zeros, '0', 100000);
	zeros[100000] = '\0';
	tree_write(&tree, "number", zeros);
	assert_int_equal(zm_sysroot_read_u64(&root, "number", &value), -EINVAL);
	assert_int_equal(zm_sysroot_read_u64(&root, "missing", &value), -ENOENT);
	assert_true(value == UNTOUCHED);
}

static void cpusets(void **state)
{
	zm_autocpuset struct zm_cpuset set = { 0 };

	(void)state;
	tree_write(&tree, "list", "0-3,8\n");
	assert_int_equal(zm_sysroot_read_cpuset(&root, "list", &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 5);
	tree_write(&tree, "list", "0-2047");
	assert_int_equal(zm_sysroot_read_cpuset(&root, "list", &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 2048);
	tree_write(&tree, "list", "5-2\n");
	assert_int_equal(zm_sysroot_read_cpuset(&root, "list", &set), -EINVAL);
	tree_write_bytes(&tree, "list", "0-2047\n\0", 8);
	assert_int_equal(zm_sysroot_read_cpuset(&root, "list", &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 2048);
	tree_write_bytes(&tree, "list", "0-3\0,5", 6);
	assert_int_equal(zm_sysroot_read_cpuset(&root, "list", &set), -EINVAL);
	assert_int_equal(zm_sysroot_read_cpuset(&root, "missing", &set), -ENOENT);
	assert_int_equal(zm_cpuset_count(&set), 2048);
	tree_write(&tree, "list", "\n");
	assert_int_equal(zm_sysroot_read_cpuset(&root, "list", &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 0);
}

static void choices(void **state)
{
	static const struct {
		const char *text, *word;
		int error;
	} cases[] = {
		{ "always madvise [never]\n", "never", 0 },
		{ "[always] madvise never", "always", 0 },
		{ "always [madvise] never\n", "madvise", 0 },
		{ "performance\n", "performance", 0 },
		{ "  performance powersave\n", "performance", 0 },
		{ "[none] mq-deadline kyber\n", "none", 0 },
		{ "always [never\n", NULL, -EINVAL },
		{ "always []\n", NULL, -EINVAL },
		{ "", NULL, -EINVAL },
		{ " \n", NULL, -EINVAL },
		{ "[sixteen-letters-]\n", NULL, -ENOBUFS },
		{ "[fifteen-letters]\n", "fifteen-letters", 0 },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		char buf[16] = "###############";

		tree_write(&tree, "choice", cases[i].text);
		assert_int_equal(zm_sysroot_read_choice(&root, "choice", buf, sizeof(buf)),
				 cases[i].error);
		assert_string_equal(buf, cases[i].word ? cases[i].word : "###############");
	}
}

/* --- writing --------------------------------------------------------------------------------- */

static void a_recorded_machine_is_never_written(void **state)
{
	char buf[16];

	(void)state;
	tree_write(&tree, "file", "old\n");
	assert_int_equal(zm_sysroot_write(&root, "file", "new"), -EROFS);
	assert_int_equal(zm_sysroot_write(&root, "missing", "new"), -EROFS);
	assert_int_equal(zm_sysroot_read_line(&root, "file", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "old");
}

static void a_writable_tree_takes_a_whole_content(void **state)
{
	static const char *const texts[] = { "a long one\n", "7", "", "never\n" };
	struct zm_sysroot writable;

	(void)state;
	tree_write(&tree, "sys/file", "old\n");
	tree_write(&tree, "top", "old\n");
	assert_int_equal(zm_sysroot_open_writable(&writable, tree.path), 0);
	assert_false(writable.is_live);
	for (size_t i = 0; i < nr_of(texts); i++) {
		zm_autofree char *inner = NULL, *outer = NULL;

		assert_int_equal(zm_sysroot_write(&writable, "sys/file", texts[i]), 0);
		assert_int_equal(zm_sysroot_write(&writable, "top", texts[i]), 0);
		assert_int_equal(zm_sysroot_read(&writable, "sys/file", &inner, NULL), 0);
		assert_int_equal(zm_sysroot_read(&writable, "top", &outer, NULL), 0);
		assert_string_equal(inner, texts[i]);
		assert_string_equal(outer, texts[i]);
	}
	assert_int_equal(zm_sysroot_write(&writable, "sys/missing", "new"), -ENOENT);
	assert_int_equal(zm_sysroot_write(&writable, "missing/file", "new"), -ENOENT);
	assert_false(zm_sysroot_has(&writable, "sys/missing"));
	zm_sysroot_release(&writable);
}

static void this_machine_is_written(void **state)
{
	struct zm_sysroot live;
	char buf[16];

	(void)state;
	tree_write(&tree, "file", "a longer old text\n");
	assert_int_equal(zm_sysroot_open(&live, "/"), 0);
	assert_int_equal(zm_sysroot_write(&live, tree_path(&tree, "file"), "new"), 0);
	assert_int_equal(zm_sysroot_read_line(&root, "file", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "new");
	assert_int_equal(zm_sysroot_write(&live, tree_path(&tree, "missing"), "new"), -ENOENT);
	assert_int_equal(zm_sysroot_write(&live, "dev/full", "new"), -ENOSPC);
	zm_sysroot_release(&live);
}

/* --- directories ----------------------------------------------------------------------------- */

static void numbered_names_are_listed(void **state)
{
	static const char *const names[] = { "node0",  "node8",  "node255", "node",
					     "node1x", "xnode2", "nodes3",  "node-4",
					     "node 5", "cpu6",   "node0x7" };
	zm_autocpuset struct zm_cpuset set = { 0 };
	char buf[32], path[64];

	(void)state;
	for (size_t i = 0; i < nr_of(names); i++) {
		(void)snprintf(path, sizeof(path), "nodes/%s", names[i]);
		tree_mkdir(&tree, path);
	}
	assert_int_equal(zm_sysroot_list_numbered(&root, "nodes", "node", &set), 0);
	(void)zm_cpuset_print(&set, buf, sizeof(buf));
	assert_string_equal(buf, "0,8,255");
	assert_int_equal(zm_sysroot_list_numbered(&root, "nodes", "cpu", &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 1);
	tree_write(&tree, "nodes/cpu99999999999999999999", "");
	assert_int_equal(zm_sysroot_list_numbered(&root, "nodes", "cpu", &set), -ERANGE);
	assert_int_equal(zm_cpuset_count(&set), 1);
	assert_int_equal(zm_sysroot_list_numbered(&root, "nodes/cpu6/missing", "cpu", &set), 0);
	assert_int_equal(zm_cpuset_count(&set), 0);
	tree_write(&tree, "plain", "");
	assert_int_equal(zm_sysroot_list_numbered(&root, "plain", "cpu", &set), -ENOTDIR);
}

/* --- files read again and again -------------------------------------------------------------- */

static void a_sysfile_follows_its_file(void **state)
{
	struct zm_sysfile file;
	zm_autofree char *large = calloc(1, 6001);
	const char *text;
	int fd;

	(void)state;
	assert_non_null(large);
	tree_write(&tree, "again", "first");
	assert_int_equal(zm_sysfile_open(&file, &root, "again"), 0);
	assert_true(file.capacity >= 4096);
	assert_string_equal(file.text, "first");
	fd = file.fd;
	text = file.text;
	tree_write(&tree, "again", "second and longer");
	assert_int_equal(zm_sysfile_read(&file), 0);
	assert_string_equal(file.text, "second and longer");
	assert_int_equal(file.length, strlen("second and longer"));
	tree_write(&tree, "again", "");
	assert_int_equal(zm_sysfile_read(&file), 0);
	assert_string_equal(file.text, "");
	memset(large, 'x', 6000);
	tree_write(&tree, "again", large);
	assert_int_equal(zm_sysfile_read(&file), -ENOBUFS);
	assert_int_equal(file.length, file.capacity - 1);
	assert_int_equal(strlen(file.text), file.length);
	large[file.capacity - 1] = '\0';
	tree_write(&tree, "again", large);
	assert_int_equal(zm_sysfile_read(&file), 0);
	assert_true(file.fd == fd && file.text == text);
	zm_sysfile_release(&file);
	assert_int_equal(file.fd, -1);
	zm_sysfile_release(&file);
}

static void a_sysfile_of_procfs_is_read_anew(void **state)
{
	struct zm_sysfile file;
	struct zm_sysroot live;
	char name[16];

	(void)state;
	assert_int_equal(zm_sysroot_open(&live, NULL), 0);
	assert_int_equal(zm_sysfile_open(&file, &live, "proc/self/comm"), 0);
	for (int i = 0; i < 100; i++) {
		zm_autoclose int fd = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);

		(void)snprintf(name, sizeof(name), "zm-%d\n", i);
		assert_true(write(fd, name, strlen(name) - 1) > 0);
		assert_int_equal(zm_sysfile_read(&file), 0);
		assert_string_equal(file.text, name);
	}
	zm_sysfile_release(&file);
	zm_sysroot_release(&live);
}

static void a_sysfile_that_is_not_there(void **state)
{
	struct zm_sysfile file = { .fd = -7 }, zeroed = { 0 };

	(void)state;
	assert_int_equal(zm_sysfile_open(&file, &root, "missing"), -ENOENT);
	assert_int_equal(file.fd, -7);
	zm_sysfile_release(&zeroed);
	zm_sysfile_release(NULL);
	assert_true(fcntl(0, F_GETFD) >= 0 || errno == EBADF);
}

/* Opening and failing, over and over, leaves no descriptor behind. */
static void no_descriptor_is_left(void **state)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	struct zm_sysfile file;
	char *text, buf[8];
	uint64_t value;
	int before = dup(root.dir_fd), after;

	(void)state;
	tree_write(&tree, "value", "12345678901234567890123\n");
	for (int i = 0; i < 100; i++) {
		(void)zm_sysroot_has(&root, "value");
		assert_int_equal(zm_sysroot_read(&root, "value", &text, NULL), 0);
		free(text);
		(void)zm_sysroot_read(&root, ".", &text, NULL);
		(void)zm_sysroot_read_line(&root, "value", buf, sizeof(buf));
		(void)zm_sysroot_read_u64(&root, "value", &value);
		(void)zm_sysroot_read_cpuset(&root, "value", &set);
		(void)zm_sysroot_read_choice(&root, "value", buf, sizeof(buf));
		(void)zm_sysroot_write(&root, "value", "x");
		(void)zm_sysroot_list_numbered(&root, ".", "v", &set);
		(void)zm_sysroot_list_numbered(&root, "value", "v", &set);
		(void)zm_sysfile_open(&file, &root, ".");
		assert_int_equal(zm_sysfile_open(&file, &root, "value"), 0);
		zm_sysfile_release(&file);
	}
	(void)close(before);
	after = dup(root.dir_fd);
	assert_int_equal(after, before);
	(void)close(after);
}

/* As much as fits is there, terminated, and it is said whether that is all. */
static void read_into_keeps_to_the_buffer(void **state)
{
	static const char text[] = "pid 7\nname x\n";
	const size_t whole = sizeof(text) - 1;
	char buf[32];

	(void)state;
	tree_write(&tree, "status", text);
	for (size_t size = 0; size < sizeof(buf); size++) {
		size_t length = 99;
		int error;

		memset(buf, '#', sizeof(buf));
		error = zm_sysroot_read_into(&root, "status", buf, size, &length);
		assert_int_equal(error, size > whole ? 0 : -ENOBUFS);
		assert_int_equal(length, size == 0 ? 99 : size > whole ? whole : size - 1);
		if (size > 0)
			assert_memory_equal(buf, text, length);
		assert_int_equal(buf[size], '#');
		assert_true(size == 0 || buf[length] == '\0');
	}
	assert_int_equal(zm_sysroot_read_into(&root, "none", buf, sizeof(buf), &(size_t){ 0 }),
			 -ENOENT);
}

#define test_in_root(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_root_is_a_directory),
		cmocka_unit_test(this_machine_is_read),
		test_in_root(read_into_keeps_to_the_buffer),
		test_in_root(nothing_gets_out_of_a_recorded_root),
		test_in_root(links_inside_are_followed),
		test_in_root(files_of_every_size_are_whole),
		test_in_root(sixty_four_mib_are_the_limit),
		test_in_root(what_is_no_file_is_refused),
		test_in_root(a_pipe_does_not_block),
		test_in_root(lines),
		test_in_root(a_line_of_100_kb),
		test_in_root(u64s),
		test_in_root(a_number_of_100_kb_is_none),
		test_in_root(cpusets),
		test_in_root(choices),
		test_in_root(a_recorded_machine_is_never_written),
		test_in_root(a_writable_tree_takes_a_whole_content),
		test_in_root(this_machine_is_written),
		test_in_root(numbered_names_are_listed),
		test_in_root(a_sysfile_follows_its_file),
		test_in_root(a_sysfile_of_procfs_is_read_anew),
		test_in_root(a_sysfile_that_is_not_there),
		test_in_root(no_descriptor_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
