/* kernel: the places where a kernel's image lies in a folder, tried in turn. */
#include "runner/vm/kernel.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/vm/package.h"
#include "workloads/base/cleanup.h"

static const struct {
	const char *image;   /* pattern, in the folder */
	const char *modules; /* folder in it */
} places[] = {
	{ "boot/vmlinuz-*", "lib/modules" }, /* a package */
	{ "arch/x86/boot/bzImage", "" },     /* a build tree */
	{ "vmlinuz-*", "lib/modules" },      { "bzImage", "lib/modules" },
	{ "vmlinux", "lib/modules" },
};

static bool is_folder(const char *path)
{
	struct stat stat_now;

	return stat(path, &stat_now) == 0 && S_ISDIR(stat_now.st_mode);
}

/* The last of several: the newest, as long as names are sorted by it. */
static char *find_image(const char *folder, const char *pattern)
{
	zm_autofree char *path = NULL;
	char *found = NULL;
	glob_t matches;

	if (asprintf(&path, "%s/%s", folder, pattern) < 0) {
		path = NULL;
		return NULL;
	}
	if (glob(path, 0, NULL, &matches) == 0) {
		found = strdup(matches.gl_pathv[matches.gl_pathc - 1]);
		globfree(&matches);
	}
	return found;
}

static int open_folder(const char *folder, const char *cache, struct zm_vm_kernel *kernel,
		       struct zm_why *why)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		zm_autofree char *image = find_image(folder, places[i].image);

		if (!image)
			continue;
		if (asprintf(&kernel->modules, "%s/%s", folder, places[i].modules) < 0) {
			kernel->modules = NULL;
			return zm_why_errno(why, -ENOMEM, "%s", folder);
		}
		return zm_vm_image_open(image, cache, &kernel->image, why);
	}
	return zm_why_set(why, -ENOENT,
			  "%s holds no kernel: neither boot/vmlinuz-* nor arch/x86/boot/bzImage",
			  folder);
}

static int open_package(const char *what, const char *cache, struct zm_vm_kernel *kernel,
			struct zm_why *why)
{
	zm_autofree char *folder = NULL;
	const char *name = what[strlen("debian")] ? what + strlen("debian:") : NULL;
	int r = zm_vm_package_open(name, cache, &folder, why);

	return r < 0 ? r : open_folder(folder, cache, kernel, why);
}

/* Of this machine, when they are of the same release. */
static void find_modules(struct zm_vm_kernel *kernel)
{
	const char *release = kernel->image.release;

	if (*release && asprintf(&kernel->modules, "/lib/modules/%s", release) < 0)
		kernel->modules = NULL;
}

static int take_modules(struct zm_vm_kernel *kernel, const char *given, struct zm_why *why)
{
	if (given && !is_folder(given))
		return zm_why_set(why, -ENOTDIR, "--modules %s: this is no folder", given);
	if (given) {
		free(kernel->modules);
		kernel->modules = strdup(given);
		return kernel->modules ? 0 : zm_why_errno(why, -ENOMEM, "modules");
	}
	if (!kernel->modules)
		find_modules(kernel);
	if (kernel->modules && !is_folder(kernel->modules)) {
		free(kernel->modules);
		kernel->modules = NULL;
	}
	return 0;
}

int zm_vm_kernel_open(const char *what, const char *modules, const char *cache,
		      struct zm_vm_kernel *ret_kernel, struct zm_why *why)
{
	struct zm_vm_kernel kernel = { 0 };
	int r;

	if (strcmp(what, "debian") == 0 || strncmp(what, "debian:", 7) == 0)
		r = open_package(what, cache, &kernel, why);
	else if (is_folder(what))
		r = open_folder(what, cache, &kernel, why);
	else
		r = zm_vm_image_open(what, cache, &kernel.image, why);
	if (r == 0)
		r = take_modules(&kernel, modules, why);
	if (r < 0)
		zm_vm_kernel_release(&kernel);
	else
		*ret_kernel = kernel;
	return r;
}

void zm_vm_kernel_release(struct zm_vm_kernel *kernel)
{
	zm_vm_image_release(&kernel->image);
	free(kernel->modules);
	kernel->modules = NULL;
}
