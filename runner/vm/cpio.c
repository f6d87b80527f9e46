/*
 * cpio: a member is a header of 13 hexadecimal numbers, its name and its bytes, each filled to four.
 */
#include "runner/vm/cpio.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "workloads/base/cleanup.h"

struct member {
	const char *name; /* without the leading slash */
	unsigned int mode, major, minor;
	const void *bytes;
	size_t length;
};

int zm_vm_cpio_begin(struct zm_vm_cpio *cpio)
{
	*cpio = (struct zm_vm_cpio){ 0 };
	cpio->out = open_memstream(&cpio->bytes, &cpio->length);
	return cpio->out ? 0 : -ENOMEM;
}

static void fill(FILE *out, size_t length)
{
	static const char zeros[4] = { 0 };

	(void)fwrite(zeros, 1, (4 - length % 4) % 4, out);
}

static void put(struct zm_vm_cpio *cpio, const struct member *member)
{
	size_t name_size = strlen(member->name) + 1;
	unsigned int links = S_ISDIR(member->mode) ? 2 : 1;

	/* inode mode uid gid links mtime length dev(2) rdev(2) name check */
	(void)fprintf(cpio->out, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x",
		      ++cpio->inode, member->mode, 0u, 0u, links, 0u, member->length, 0u, 0u,
		      member->major, member->minor, name_size, 0u);
	(void)fwrite(member->name, 1, name_size, cpio->out);
	fill(cpio->out, 110 + name_size);
	(void)fwrite(member->bytes, 1, member->length, cpio->out);
	fill(cpio->out, member->length);
}

static bool has_folder(const struct zm_vm_cpio *cpio, const char *name)
{
	for (size_t i = 0; i < cpio->nr_folders; i++)
		if (strcmp(cpio->folders[i], name) == 0)
			return true;
	return false;
}

static void put_folder(struct zm_vm_cpio *cpio, const char *name)
{
	char **folders;

	if (!*name || has_folder(cpio, name))
		return;
	folders = reallocarray(cpio->folders, cpio->nr_folders + 1, sizeof(*folders));
	if (folders)
		cpio->folders = folders;
	if (!folders || !(folders[cpio->nr_folders] = strdup(name)))
		return; /* it is put in twice, which the kernel takes */
	cpio->nr_folders++;
	put(cpio, &(struct member){ .name = name, .mode = S_IFDIR | 0755, .bytes = "" });
}

/* Every folder above the path, from the top. */
static void put_folders(struct zm_vm_cpio *cpio, const char *path)
{
	zm_autofree char *name = strdup(path + 1);

	if (!name)
		return;
	for (char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		put_folder(cpio, name);
		*slash = '/';
	}
}

void zm_vm_cpio_folder(struct zm_vm_cpio *cpio, const char *path)
{
	put_folders(cpio, path);
	put_folder(cpio, path + 1);
}

void zm_vm_cpio_file(struct zm_vm_cpio *cpio, const char *path, unsigned int mode,
		     const void *bytes, size_t length)
{
	put_folders(cpio, path);
	put(cpio,
	    &(struct member){
		    .name = path + 1, .mode = S_IFREG | mode, .bytes = bytes, .length = length });
}

void zm_vm_cpio_link(struct zm_vm_cpio *cpio, const char *path, const char *target)
{
	put_folders(cpio, path);
	put(cpio, &(struct member){ .name = path + 1,
				    .mode = S_IFLNK | 0777,
				    .bytes = target,
				    .length = strlen(target) });
}

void zm_vm_cpio_device(struct zm_vm_cpio *cpio, const char *path, unsigned int major,
		       unsigned int minor)
{
	put_folders(cpio, path);
	put(cpio, &(struct member){ .name = path + 1,
				    .mode = S_IFCHR | 0600,
				    .major = major,
				    .minor = minor,
				    .bytes = "" });
}

int zm_vm_cpio_end(struct zm_vm_cpio *cpio)
{
	bool had_error;

	put(cpio, &(struct member){ .name = "TRAILER!!!", .bytes = "" });
	had_error = ferror(cpio->out) != 0;
	if (fclose(cpio->out) != 0)
		had_error = true;
	cpio->out = NULL;
	return had_error ? -ENOMEM : 0;
}

void zm_vm_cpio_release(struct zm_vm_cpio *cpio)
{
	if (cpio->out)
		(void)fclose(cpio->out);
	for (size_t i = 0; i < cpio->nr_folders; i++)
		free(cpio->folders[i]);
	free(cpio->folders);
	free(cpio->bytes);
	*cpio = (struct zm_vm_cpio){ 0 };
}
