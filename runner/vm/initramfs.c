/*
 * initramfs: what the program needs is asked of its own dynamic loader (`ld.so --list`), so that every
 * library is found as it would be found here.
 */
#include "runner/vm/initramfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buildload/scene.h"
#include "runner/vm/bytes.h"
#include "runner/vm/cache.h"
#include "runner/vm/cpio.h"
#include "runner/vm/elf.h"
#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"

#define THIS_PROGRAM "/proc/self/exe"
#define LOADER_CACHE "/etc/ld.so.cache"
#define KEPT         4

/* A program or library, without its debug information. */
static int put_elf(struct zm_vm_cpio *cpio, const char *from, const char *to, struct zm_why *why)
{
	zm_autofree uint8_t *bytes = NULL;
	size_t length;
	int r = zm_vm_bytes_read(from, &bytes, &length);

	if (r < 0)
		return zm_why_errno(why, r, "%s, which the guest needs", from);
	length = zm_vm_elf_cut(bytes, length);
	zm_vm_cpio_file(cpio, to, 0755, bytes, length);
	return 0;
}

/* "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)", or "\t/lib/libfoo.so (0x…)". */
static int put_listed(struct zm_vm_cpio *cpio, char *line, const char *loader, struct zm_why *why)
{
	char *path = strchr(line, '/');
	char *end = path ? strstr(path, " (0x") : NULL;
	char *arrow = strstr(line, "=> ");

	if (strstr(line, "not found"))
		return zm_why_set(why, -ENOENT, "the program lacks a library: %s",
				  line + strspn(line, "\t "));
	if (!end)
		return 0; /* the vDSO */
	*end = '\0';
	if (arrow && arrow > line)
		path = arrow + 3;
	return strcmp(path, loader) == 0 ? 0 : put_elf(cpio, path, path, why);
}

static int put_libraries(struct zm_vm_cpio *cpio, const char *program, const char *loader,
			 struct zm_why *why)
{
	const char *const argv[] = { loader, "--list", program, NULL };
	zm_autofree char *text = NULL;
	char *rest, *line;
	int r = zm_vm_tool_ask(&(struct zm_vm_tool){ .argv = argv, .in_fd = -1 }, &text, why);

	rest = text;
	while (r == 0 && (line = strsep(&rest, "\n")))
		r = put_listed(cpio, line, loader, why);
	return r;
}

/* A library that is found only by the loader's cache is found there, too. */
static void put_loader_cache(struct zm_vm_cpio *cpio)
{
	zm_autofree uint8_t *bytes = NULL;
	size_t length;

	if (zm_vm_bytes_read(LOADER_CACHE, &bytes, &length) == 0)
		zm_vm_cpio_file(cpio, LOADER_CACHE, 0644, bytes, length);
}

static int put_program(struct zm_vm_cpio *cpio, const char *program, struct zm_why *why)
{
	zm_autofree uint8_t *bytes = NULL;
	zm_autofree char *loader = NULL;
	const char *name;
	size_t length;
	int r = zm_vm_bytes_read(program, &bytes, &length);

	if (r < 0)
		return zm_why_errno(why, r, "%s", program);
	name = zm_vm_elf_loader(bytes, length);
	loader = name ? strdup(name) : NULL;
	length = zm_vm_elf_cut(bytes, length);
	zm_vm_cpio_file(cpio, ZM_VM_PROGRAM, 0755, bytes, length);
	zm_vm_cpio_link(cpio, "/init", ZM_VM_PROGRAM);
	if (!loader)
		return 0; /* static */
	put_loader_cache(cpio);
	r = put_elf(cpio, loader, loader, why);
	return r < 0 ? r : put_libraries(cpio, program, loader, why);
}

/* What emulated builds need, where the guest's program finds it. A program without has no such builds. */
static int put_builds(struct zm_vm_cpio *cpio, struct zm_why *why)
{
	char path[PATH_MAX];
	zm_autoclosedir DIR *dir = NULL;
	const struct dirent *entry;
	int r;

	if (zm_scene_find(ZM_SCENE_HELPER, path, NULL) < 0)
		return 0;
	r = put_elf(cpio, path, "/usr/" ZM_SCENE_HELPER, why);
	if (r < 0 || zm_scene_find(ZM_SCENE_PROFILES, path, NULL) < 0)
		return r;
	dir = opendir(path);
	while (r == 0 && dir && (entry = readdir(dir))) {
		char from[PATH_MAX + NAME_MAX + 2], to[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(from, sizeof(from), "%s/%s", path, entry->d_name);
		(void)snprintf(to, sizeof(to), "/usr/" ZM_SCENE_PROFILES "/%s", entry->d_name);
		r = put_elf(cpio, from, to, why);
	}
	return r;
}

static int put_modules(struct zm_vm_cpio *cpio, const struct zm_vm_modules *modules)
{
	zm_autofree char *order = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&order, &length);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < modules->nr; i++) {
		char path[256];

		(void)fprintf(out, "%s\n", modules->rows[i].name);
		(void)snprintf(path, sizeof(path), ZM_VM_MODULES_DIR "/%s.ko",
			       modules->rows[i].name);
		zm_vm_cpio_file(cpio, path, 0644, modules->rows[i].bytes, modules->rows[i].length);
	}
	if (fclose(out) != 0)
		return -ENOMEM;
	zm_vm_cpio_file(cpio, ZM_VM_MODULES_ORDER, 0644, order, length);
	return 0;
}

static int fill(struct zm_vm_cpio *cpio, const char *program, const struct zm_vm_modules *modules,
		struct zm_why *why)
{
	static const char *const folders[] = { "/dev", "/proc", "/sys",    "/tmp",
					       "/run", "/etc",  "/var/tmp" };
	int r;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		zm_vm_cpio_folder(cpio, folders[i]);
	zm_vm_cpio_device(cpio, "/dev/console", 5, 1);
	zm_vm_cpio_device(cpio, "/dev/null", 1, 3);
	r = put_program(cpio, program, why);
	if (r == 0)
		r = put_builds(cpio, why);
	if (r == 0 && (put_modules(cpio, modules) < 0 || zm_vm_cpio_end(cpio) < 0))
		r = zm_why_errno(why, -ENOMEM, "the initramfs");
	return r;
}

static int keep(const struct zm_vm_cpio *cpio, const char *cache, char **ret_path,
		struct zm_why *why)
{
	char digest[ZM_VM_DIGEST_SIZE], *path;
	int r = zm_vm_bytes_digest(cpio->bytes, cpio->length, digest);

	if (r < 0 || asprintf(&path, "%s/initramfs-%s", cache, digest) < 0)
		return zm_why_errno(why, -ENOMEM, "the initramfs");
	if (access(path, R_OK) < 0 || utimensat(AT_FDCWD, path, NULL, 0) < 0)
		r = zm_vm_bytes_write(path, cpio->bytes, cpio->length);
	if (r < 0) {
		(void)zm_why_errno(why, r, "%s", path);
		free(path);
		return r;
	}
	zm_vm_cache_trim(cache, "initramfs-", KEPT);
	*ret_path = path;
	return 0;
}

int zm_vm_initramfs_make(const char *program, const struct zm_vm_modules *modules,
			 const char *cache, char **ret_path, struct zm_why *why)
{
	char this_program[4096];
	struct zm_vm_cpio cpio;
	ssize_t n;
	int r;

	if (!program) {
		n = readlink(THIS_PROGRAM, this_program, sizeof(this_program) - 1);
		if (n < 0)
			return zm_why_errno(why, -errno, THIS_PROGRAM);
		this_program[n] = '\0';
		program = this_program;
	}
	r = zm_vm_cpio_begin(&cpio);
	if (r < 0)
		return zm_why_errno(why, r, "the initramfs");
	r = fill(&cpio, program, modules, why);
	if (r == 0)
		r = keep(&cpio, cache, ret_path, why);
	zm_vm_cpio_release(&cpio);
	return r;
}
