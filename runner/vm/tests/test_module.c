/*
 * module: modules come after what they need, unpacked, once; and damaged ones are not believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/vm/bytes.h"
#include "runner/vm/elf.h"
#include "runner/vm/module.h"
#include "runner/vm/tool.h"
#include "workloads/base/remove.h"

#define SIZE 1024

static const char section_names[] = "\0.shstrtab\0.modinfo";

/* A module with nothing in it but what it says of itself. */
static size_t make_module(uint8_t *bytes, const char *modinfo, size_t modinfo_length)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
			      .e_type = ET_REL,
			      .e_shoff = sizeof(header),
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 3,
			      .e_shstrndx = 1 };
	Elf64_Shdr sections[3] = {
		[1] = { .sh_name = 1,
			.sh_offset = sizeof(header) + sizeof(sections),
			.sh_size = sizeof(section_names) },
		[2] = { .sh_name = 11,
			.sh_offset = sizeof(header) + sizeof(sections) + sizeof(section_names),
			.sh_size = modinfo_length },
	};
	size_t at = 0;

	memset(bytes, 0, SIZE);
	memcpy(bytes, &header, sizeof(header));
	at += sizeof(header);
	memcpy(bytes + at, sections, sizeof(sections));
	at += sizeof(sections);
	memcpy(bytes + at, section_names, sizeof(section_names));
	at += sizeof(section_names);
	memcpy(bytes + at, modinfo, modinfo_length);
	return at + modinfo_length;
}

static void write_module(const char *folder, const char *name, const char *depends)
{
	char path[512], modinfo[256];
	uint8_t bytes[SIZE];
	int length = snprintf(modinfo, sizeof(modinfo), "license=GPL%cdepends=%s", 0, depends);

	(void)snprintf(path, sizeof(path), "%s/%s.ko", folder, name);
	assert_int_equal(
		zm_vm_bytes_write(path, bytes, make_module(bytes, modinfo, (size_t)length + 1)), 0);
}

static int make_folder(void **state)
{
	char *folder = strdup("/tmp/zm-modules-XXXXXX");

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

static void what_is_needed_comes_first(void **state)
{
	static const char *const wanted[] = { "leaf", "sctp", "not_here", "sctp", NULL };
	static const char *const order[] = { "leaf", "libcrc32c", "udp_tunnel", "ip6_udp_tunnel",
					     "sctp" };
	const char *folder = *state;
	struct zm_vm_modules modules;
	char deep[512];

	(void)snprintf(deep, sizeof(deep), "%s/kernel", folder);
	assert_int_equal(mkdir(deep, 0755), 0);
	write_module(deep, "sctp", "libcrc32c,ip6_udp_tunnel,udp_tunnel,gone");
	write_module(deep, "ip6-udp-tunnel", "udp_tunnel");
	write_module(folder, "udp_tunnel", "");
	write_module(folder, "libcrc32c", "");
	write_module(folder, "leaf", "leaf"); /* in a ring with itself */
	write_module(folder, "unasked", "");

	assert_int_equal(zm_vm_modules_find(folder, wanted, &modules, NULL), 0);
	assert_int_equal(modules.nr, sizeof(order) / sizeof(order[0]));
	for (size_t i = 0; i < modules.nr; i++) {
		assert_string_equal(modules.rows[i].name, order[i]);
		assert_true(zm_vm_elf_is_one(modules.rows[i].bytes, modules.rows[i].length));
	}
	zm_vm_modules_release(&modules);
	zm_vm_modules_release(&modules);
}

static void packed_ones_are_unpacked(void **state)
{
	static const struct {
		const char *tool, *suffix;
	} cases[] = { { "xz", "xz" }, { "gzip", "gz" }, { "zstd", "zst" } };
	static const char *const wanted[] = { "packed", NULL };
	const char *folder = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *argv[] = { cases[i].tool, "-q", NULL, NULL };
		char path[512], packed[520];
		struct zm_vm_modules modules;

		write_module(folder, "packed", "");
		(void)snprintf(path, sizeof(path), "%s/packed.ko", folder);
		(void)snprintf(packed, sizeof(packed), "%s.%s", path, cases[i].suffix);
		argv[2] = path;
		if (zm_vm_tool_run(&(struct zm_vm_tool){ .argv = argv, .in_fd = -1, .out_fd = -1 },
				   NULL) < 0)
			continue;
		(void)unlink(path); /* zstd keeps it */
		assert_int_equal(zm_vm_modules_find(folder, wanted, &modules, NULL), 0);
		assert_int_equal(modules.nr, 1);
		assert_string_equal(
			zm_vm_elf_modinfo(modules.rows[0].bytes, modules.rows[0].length, "license"),
			"GPL");
		zm_vm_modules_release(&modules);
		(void)unlink(packed);
	}
}

static void what_is_no_module_is_said(void **state)
{
	static const char *const wanted[] = { "broken", NULL };
	struct zm_vm_modules modules = { .nr = 4711 };
	char path[512];
	struct zm_why why;

	(void)snprintf(path, sizeof(path), "%s/broken.ko", (const char *)*state);
	assert_int_equal(zm_vm_bytes_write(path, "no module", 9), 0);
	assert_true(zm_vm_modules_find(*state, wanted, &modules, &why) < 0);
	assert_non_null(strstr(why.text, "broken.ko"));
	assert_int_equal(modules.nr, 4711);
}

/* Cut anywhere, or with any byte changed: an answer that lies in the file, or none. */
static void damaged_ones_are_not_believed(void **state)
{
	static const char modinfo[] = "license=GPL\0depends=a,b";
	uint8_t whole[SIZE];
	size_t length = make_module(whole, modinfo, sizeof(modinfo));

	(void)state;
	assert_string_equal(zm_vm_elf_modinfo(whole, length, "depends"), "a,b");
	assert_null(zm_vm_elf_modinfo(whole, length, "depend"));
	for (size_t cut = 0; cut < length; cut++) {
		uint8_t *copy = malloc(cut + 1);

		memcpy(copy, whole, cut);
		assert_null(zm_vm_elf_modinfo(copy, cut, "depends"));
		assert_null(zm_vm_elf_loader(copy, cut));
		assert_false(zm_vm_elf_has_pvh(copy, cut));
		assert_true(zm_vm_elf_cut(copy, cut) <= cut);
		free(copy);
	}
	for (size_t at = 0; at < length; at++) {
		uint8_t *copy = malloc(length);
		const char *depends;

		memcpy(copy, whole, length);
		copy[at] ^= 0xff;
		depends = zm_vm_elf_modinfo(copy, length, "depends");
		assert_true(!depends || strlen(depends) < length);
		(void)zm_vm_elf_loader(copy, length);
		(void)zm_vm_elf_has_pvh(copy, length);
		assert_true(zm_vm_elf_cut(copy, length) <= length);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_needed_comes_first, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(packed_ones_are_unpacked, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(what_is_no_module_is_said, make_folder,
						remove_folder),
		cmocka_unit_test(damaged_ones_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
