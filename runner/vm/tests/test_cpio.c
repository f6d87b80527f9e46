/*
 * cpio: what was put in is found again, member by member, as the kernel reads it; an initramfs of this
 * test's own program holds what that program needs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runner/vm/bytes.h"
#include "runner/vm/cpio.h"
#include "runner/vm/initramfs.h"
#include "workloads/base/remove.h"

struct member {
	unsigned int mode, major, minor;
	size_t length;
	const char *name, *bytes;
};

static unsigned int field(const char *header, unsigned int n)
{
	char digits[9] = { 0 };

	memcpy(digits, header + 6 + 8 * n, 8);
	return (unsigned int)strtoul(digits, NULL, 16);
}

/* The member at *at, and steps over it; false at the trailer. */
static bool next(const char *archive, size_t size, size_t *at, struct member *ret_member)
{
	const char *header = archive + *at;
	size_t name_size;

	assert_true(size - *at >= 110);
	assert_memory_equal(header, "070701", 6);
	name_size = field(header, 11);
	*ret_member = (struct member){ .mode = field(header, 1),
				       .length = field(header, 6),
				       .major = field(header, 9),
				       .minor = field(header, 10),
				       .name = header + 110 };
	assert_int_equal(strlen(ret_member->name) + 1, name_size);
	*at = (*at + 110 + name_size + 3) & ~(size_t)3;
	ret_member->bytes = archive + *at;
	*at = (*at + ret_member->length + 3) & ~(size_t)3;
	assert_true(*at <= size);
	return strcmp(ret_member->name, "TRAILER!!!") != 0;
}

static void members_come_back(void **state)
{
	static const struct {
		const char *name;
		unsigned int mode;
		const char *bytes;
	} members[] = {
		{ "a", S_IFDIR | 0755, "" },         { "a/b", S_IFDIR | 0755, "" },
		{ "a/b/file", S_IFREG | 0644, "x" }, { "a/b/four", S_IFREG | 0755, "1234" },
		{ "a/empty", S_IFREG | 0600, "" },   { "init", S_IFLNK | 0777, "/a/b/file" },
		{ "dev", S_IFDIR | 0755, "" },       { "dev/console", S_IFCHR | 0600, "" },
	};
	struct zm_vm_cpio cpio;
	struct member member;
	size_t at = 0;

	(void)state;
	assert_int_equal(zm_vm_cpio_begin(&cpio), 0);
	zm_vm_cpio_file(&cpio, "/a/b/file", 0644, "x", 1);
	zm_vm_cpio_file(&cpio, "/a/b/four", 0755, "1234", 4);
	zm_vm_cpio_file(&cpio, "/a/empty", 0600, "", 0);
	zm_vm_cpio_folder(&cpio, "/a");
	zm_vm_cpio_link(&cpio, "/init", "/a/b/file");
	zm_vm_cpio_device(&cpio, "/dev/console", 5, 1);
	assert_int_equal(zm_vm_cpio_end(&cpio), 0);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		assert_true(next(cpio.bytes, cpio.length, &at, &member));
		assert_string_equal(member.name, members[i].name);
		assert_int_equal(member.mode, members[i].mode);
		assert_int_equal(member.length, strlen(members[i].bytes));
		assert_memory_equal(member.bytes, members[i].bytes, member.length);
	}
	assert_int_equal(member.major, 5);
	assert_int_equal(member.minor, 1);
	assert_false(next(cpio.bytes, cpio.length, &at, &member));
	assert_int_equal(at, cpio.length);
	zm_vm_cpio_release(&cpio);
	zm_vm_cpio_release(&cpio);
}

static int make_folder(void **state)
{
	char *folder = strdup("/tmp/zm-cpio-XXXXXX");

	if (!folder || !mkdtemp(folder))
		return -1;
	*state = folder;
	return 0;
}

static int remove_folder(void **state)
{
	int r = zm_remove_tree(*state, NULL);

	free(*state);
	return r;
}

static void an_initramfs_holds_what_the_program_needs(void **state)
{
	static const char *const needed[] = { "init", "usr/bin/zonemark",
					      "lib/zonemark/a_module.ko", "dev/console", "proc" };
	static char name[] = "a_module";
	static uint8_t bytes[5];
	struct zm_vm_module row = { .name = name, .bytes = bytes, .length = sizeof(bytes) };
	struct zm_vm_modules modules = { .rows = &row, .nr = 1 };
	bool has[sizeof(needed) / sizeof(needed[0])] = { false };
	char *path, *again;
	bool has_libc = false, has_order = false;
	struct member member;
	uint8_t *archive;
	size_t size, at = 0;

	assert_int_equal(zm_vm_initramfs_make(NULL, &modules, *state, &path, NULL), 0);
	assert_int_equal(zm_vm_initramfs_make(NULL, &modules, *state, &again, NULL), 0);
	assert_string_equal(path, again); /* by content */
	assert_int_equal(zm_vm_bytes_read(path, &archive, &size), 0);
	while (next((const char *)archive, size, &at, &member)) {
		for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
			has[i] = has[i] || strcmp(member.name, needed[i]) == 0;
		has_libc = has_libc || strstr(member.name, "libc.so") != NULL;
		if (strcmp(member.name, "lib/zonemark/order") == 0) {
			has_order = true;
			assert_memory_equal(member.bytes, "a_module\n", member.length);
		}
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		assert_true(has[i]);
	assert_true(has_libc && has_order);
	free(archive);
	free(path);
	free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_come_back),
		cmocka_unit_test_setup_teardown(an_initramfs_holds_what_the_program_needs,
						make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
