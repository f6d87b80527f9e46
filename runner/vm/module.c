/*
 * module: the folder's .ko files by name -> wanted ones, depth first, each after what it needs.
 */
#include "runner/vm/module.h"

#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/vm/bytes.h"
#include "runner/vm/elf.h"
#include "runner/vm/image.h"
#include "workloads/base/cleanup.h"

#define MAX_DEPTH 32

struct file {
	char *name, *path;
	bool is_taken;
};

struct search {
	struct file *files;
	size_t nr_files, capacity;
	struct zm_vm_modules *modules;
	struct zm_why *why;
};

/* "ip6-tables.ko.xz" -> "ip6_tables"; NULL: no module. */
static char *name_of(const char *file)
{
	const char *dot = strstr(file, ".ko");
	char *name;

	if (!dot || (dot[3] && dot[3] != '.'))
		return NULL;
	name = strndup(file, (size_t)(dot - file));
	for (char *at = name; at && *at; at++)
		if (*at == '-')
			*at = '_';
	return name;
}

static int add_file(struct search *search, const FTSENT *entry)
{
	struct file file = { .name = name_of(entry->fts_name) };

	if (!file.name)
		return 0;
	file.path = strdup(entry->fts_path);
	if (search->nr_files == search->capacity) {
		size_t capacity = search->capacity ? 2 * search->capacity : 1024;
		struct file *files = reallocarray(search->files, capacity, sizeof(*files));

		if (!files)
			file.path = NULL;
		else
			search->files = files;
		search->capacity = files ? capacity : search->capacity;
	}
	if (!file.path) {
		free(file.name);
		return -ENOMEM;
	}
	search->files[search->nr_files++] = file;
	return 0;
}

static int list_files(struct search *search, const char *folder)
{
	char *const roots[] = { (char *)folder, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int r = walk ? 0 : -errno;

	while (r == 0 && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_F)
			r = add_file(search, entry);
	if (walk)
		(void)fts_close(walk);
	return r;
}

static struct file *find_file(struct search *search, const char *name, size_t length)
{
	for (size_t i = 0; i < search->nr_files; i++) {
		const char *has = search->files[i].name;

		if (strlen(has) == length && strncmp(has, name, length) == 0)
			return &search->files[i];
	}
	return NULL;
}

/* Unpacked, if it is packed. */
static int read_module(const struct file *file, struct zm_vm_module *module, struct zm_why *why)
{
	zm_autofree uint8_t *packed = NULL;
	size_t length;
	int r = zm_vm_bytes_read(file->path, &packed, &length);

	if (r < 0)
		return zm_why_errno(why, r, "the module %s", file->path);
	if (zm_vm_elf_is_one(packed, length)) {
		module->bytes = packed;
		module->length = length;
		packed = NULL;
		return 0;
	}
	r = zm_vm_unpack(packed, length, &module->bytes, &module->length, why);
	if (r < 0)
		zm_why_prefix(why, "the module %s", file->path);
	return r;
}

static int append(struct zm_vm_modules *modules, const struct zm_vm_module *module)
{
	struct zm_vm_module *rows =
		reallocarray(modules->rows, modules->nr + 1, sizeof(*modules->rows));

	if (!rows)
		return -ENOMEM;
	modules->rows = rows;
	rows[modules->nr++] = *module;
	return 0;
}

static int take(struct search *search, const char *name, size_t length, unsigned int depth);

/* "libcrc32c,udp_tunnel" */
static int take_needed(struct search *search, const struct zm_vm_module *module, unsigned int depth)
{
	const char *at = zm_vm_elf_modinfo(module->bytes, module->length, "depends");
	int r = 0;

	while (r == 0 && at && *at) {
		size_t length = strcspn(at, ",");

		r = take(search, at, length, depth + 1);
		at += length + (at[length] == ',');
	}
	return r;
}

static int take(struct search *search, const char *name, size_t length, unsigned int depth)
{
	struct file *file = find_file(search, name, length);
	struct zm_vm_module module = { 0 };
	int r;

	if (!file || file->is_taken || depth > MAX_DEPTH)
		return 0;
	file->is_taken = true;
	r = read_module(file, &module, search->why);
	if (r == 0)
		r = take_needed(search, &module, depth);
	if (r == 0) {
		module.name = strdup(file->name);
		if (!module.name || append(search->modules, &module) < 0)
			r = zm_why_errno(search->why, -ENOMEM, "modules");
	}
	if (r < 0) {
		free(module.name);
		free(module.bytes);
	}
	return r;
}

int zm_vm_modules_find(const char *folder, const char *const *wanted,
		       struct zm_vm_modules *ret_modules, struct zm_why *why)
{
	struct zm_vm_modules modules = { 0 };
	struct search search = { .modules = &modules, .why = why };
	int r = list_files(&search, folder);

	if (r < 0)
		(void)zm_why_errno(why, r, "the modules in %s", folder);
	for (; r == 0 && *wanted; wanted++)
		r = take(&search, *wanted, strlen(*wanted), 0);
	for (size_t i = 0; i < search.nr_files; i++) {
		free(search.files[i].name);
		free(search.files[i].path);
	}
	free(search.files);
	if (r < 0)
		zm_vm_modules_release(&modules);
	else
		*ret_modules = modules;
	return r;
}

void zm_vm_modules_release(struct zm_vm_modules *modules)
{
	for (size_t i = 0; i < modules->nr; i++) {
		free(modules->rows[i].name);
		free(modules->rows[i].bytes);
	}
	free(modules->rows);
	*modules = (struct zm_vm_modules){ 0 };
}
