/*
 * scene: folders, links, and files with something in them: a hole would be no page of a file.
 */
#include "buildload/scene.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buildload/act.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/random.h"
#include "workloads/base/remove.h"

#define BLOCK_BYTES 65536
#define DISK_BLOCK  4096 /* a file takes whole ones */

/* --- what there is beside this program --- */

int zm_scene_find(const char *name, char ret_path[PATH_MAX], struct zm_why *why)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return zm_why_errno(why, -errno, "/proc/self/exe");
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	if (snprintf(ret_path, PATH_MAX, "%s/../%s", self, name) >= PATH_MAX)
		return zm_why_errno(why, -ENAMETOOLONG, "%s", self);
	if (access(ret_path, R_OK) < 0)
		return zm_why_errno(why, -ENOENT,
				    "%s: it belongs to zonemark and is installed with it",
				    ret_path);
	return 0;
}

int zm_scene_read_profile(const char *name, struct zm_profile **ret_profile, struct zm_why *why)
{
	char file[NAME_MAX], path[PATH_MAX];

	if (!name || !*name)
		name = "tinyconfig";
	if (strpbrk(name, "/."))
		return zm_profile_read(name, ret_profile, why);
	(void)snprintf(file, sizeof(file), ZM_SCENE_PROFILES "/%s.json", name);
	if (zm_scene_find(file, path, NULL) < 0)
		return zm_why_set(why, -EINVAL,
				  "profile=%s: none that comes with zonemark; a file's name has a "
				  "'/' or a '.' in it",
				  name);
	return zm_profile_read(path, ret_profile, why);
}

/* --- how much it is --- */

static uint64_t whole_blocks(uint64_t bytes)
{
	return (bytes + DISK_BLOCK - 1) / DISK_BLOCK * DISK_BLOCK;
}

static uint64_t image_bytes(const struct zm_profile *profile)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t most = 0;

	for (size_t i = 0; i < profile->nr_classes; i++) {
		const struct zm_profile_class *class = &profile->classes[i];
		/* Each of its parts is whole windows. */
		uint64_t bytes = zm_script_image_bytes(class) +
				 ZM_SCRIPT_IMAGES * ZM_ACT_WINDOW_PAGES * page_bytes;

		most = bytes > most ? bytes : most;
	}
	return most;
}

uint64_t zm_scene_shared_bytes(const struct zm_profile *profile)
{
	return whole_blocks(image_bytes(profile));
}

static double mean_bytes(const struct zm_profile_mix *mix)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < mix->nr; i++) {
		sum += (double)whole_blocks(mix->steps[i].bytes) * mix->steps[i].weight;
		weights += mix->steps[i].weight;
	}
	return weights > 0 ? sum / weights : 0;
}

/* A tenth more: sizes are drawn. */
uint64_t zm_scene_instance_bytes(const struct zm_profile *profile)
{
	return (uint64_t)(1.1 * mean_bytes(&profile->headers) * (double)profile->nr_headers);
}

static double written_by(const struct zm_profile *profile, const struct zm_profile_recipe *recipe)
{
	double bytes = 0;

	for (size_t i = 0; i < recipe->nr; i++) {
		const struct zm_profile_class *class =
			&profile->classes[recipe->nodes[i].class_index];
		double mean = zm_profile_mean(class, ZM_FIELD_WRITE_BYTES);

		bytes += mean > 0 ? mean + DISK_BLOCK : 0;
	}
	return bytes;
}

uint64_t zm_scene_output_bytes(const struct zm_profile *profile)
{
	double bytes = 0;

	for (size_t i = 0; i < profile->nr_stages; i++) {
		const struct zm_profile_stage *stage = &profile->stages[i];

		for (size_t j = 0; j < stage->nr; j++)
			bytes += written_by(profile, &profile->recipes[stage->jobs[j].recipe]);
	}
	return (uint64_t)(1.25 * bytes);
}

/* --- making it --- */

/* Something: a hole would be no page of a file. */
static int write_bytes(int fd, uint64_t bytes, struct zm_random *random)
{
	uint64_t block[BLOCK_BYTES / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(block) / sizeof(block[0]) && i * sizeof(block[0]) < bytes;
	     i++)
		block[i] = zm_random_next(random);
	while (bytes > 0) {
		size_t part = bytes < sizeof(block) ? bytes : sizeof(block);
		ssize_t n = write(fd, block, part);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static int write_file(int folder_fd, const char *name, uint64_t bytes, struct zm_random *random)
{
	zm_autoclose int fd =
		openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : write_bytes(fd, bytes, random);
}

/* What programs map: the first pages of each window, and holes. Each page is written by itself, so that the
 * page cache has it by itself, as it has programs that were unpacked; a larger folio is mapped for less. */
static int write_image(int folder_fd, uint64_t bytes, uint64_t page_bytes, struct zm_random *random)
{
	zm_autoclose int fd =
		openat(folder_fd, "image", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 || ftruncate(fd, (off_t)bytes) < 0 ? -errno : 0;

	for (uint64_t at = 0; r == 0 && at < bytes; at += ZM_ACT_WINDOW_PAGES * page_bytes) {
		uint64_t end = at + ZM_ACT_FILLED_PAGES * page_bytes;

		if (lseek(fd, (off_t)at, SEEK_SET) < 0)
			r = -errno;
		for (uint64_t page = at; r == 0 && page < end && page < bytes; page += page_bytes)
			r = write_bytes(fd, page_bytes < bytes - page ? page_bytes : bytes - page,
					random);
	}
	return r;
}

/* A folder below, opened. -errno. */
static int make_below(int folder_fd, const char *name)
{
	int fd;

	if (mkdirat(folder_fd, name, 0700) < 0)
		return -errno;
	fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static uint64_t draw_bytes(const struct zm_profile_mix *mix, struct zm_random *random)
{
	double sum = 0, at;
	size_t i = 0;

	for (size_t j = 0; j < mix->nr; j++)
		sum += mix->steps[j].weight;
	at = zm_random_unit(random) * sum;
	while (i + 1 < mix->nr && at >= mix->steps[i].weight)
		at -= mix->steps[i++].weight;
	return mix->steps[i].bytes;
}

static int make_headers(int instance_fd, const struct zm_profile *profile, struct zm_random *random)
{
	zm_autoclose int fd = make_below(instance_fd, "h");
	int r = fd < 0 ? fd : 0;

	for (uint64_t i = 0; r == 0 && i < profile->nr_headers; i++) {
		char name[24];

		(void)snprintf(name, sizeof(name), "%llu", (unsigned long long)i);
		r = write_file(fd, name, draw_bytes(&profile->headers, random), random);
	}
	return r;
}

static int make_instance(int folder_fd, const struct zm_profile *profile, unsigned int instance,
			 uint64_t seed)
{
	struct zm_random random;
	zm_autoclose int fd = -1;
	char name[16];

	zm_random_init(&random, seed, instance);
	(void)snprintf(name, sizeof(name), "%u", instance);
	fd = make_below(folder_fd, name);
	if (fd < 0)
		return fd;
	if (mkdirat(fd, "o", 0700) < 0)
		return -errno;
	return make_headers(fd, profile, &random);
}

/* The names of the classes as a script has them, "make" among them. */
static int make_links(int folder_fd, const struct zm_profile *profile, const char *helper,
		      uint64_t page_bytes, struct zm_why *why)
{
	const struct zm_script_choice choice = {
		.page_bytes = page_bytes, .jobs = 1, .stages = 1, .work_scale = 1
	};
	zm_autoclose int fd = make_below(folder_fd, "bin");
	struct zm_script script;
	int r = fd < 0 ? fd : symlinkat(helper, fd, "make") < 0 ? -errno : 0;

	if (r < 0)
		return r;
	r = zm_script_make(profile, &choice, &script, why);
	for (size_t i = 0; r == 0 && i < profile->nr_classes; i++) {
		const char *name = zm_script_classes(&script)[i].name;

		if (symlinkat(helper, fd, name) < 0 && errno != EEXIST)
			r = -errno;
	}
	zm_script_release(&script);
	return r;
}

int zm_scene_make(const char *folder, const struct zm_profile *profile, unsigned int nr_instances,
		  uint64_t seed, struct zm_why *why)
{
	zm_autoclose int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	char helper[PATH_MAX];
	struct zm_random random;
	int r;

	if (fd < 0)
		return zm_why_errno(why, -errno, "%s", folder);
	r = zm_scene_find(ZM_SCENE_HELPER, helper, why);
	if (r < 0)
		return r;
	zm_random_init(&random, seed, UINT64_MAX);
	r = make_links(fd, profile, helper, page_bytes, why);
	if (r == 0)
		r = write_image(fd, zm_scene_shared_bytes(profile), page_bytes, &random);
	for (unsigned int i = 0; r == 0 && i < nr_instances; i++)
		r = make_instance(fd, profile, i, seed);
	/* Else they would be written back while the builds run, which read them clean. */
	if (r == 0 && syncfs(fd) < 0)
		r = -errno;
	return r < 0 ? zm_why_errno(why, r,
				    "%s: the files that builds read cannot be made; choose another "
				    "dir",
				    folder)
		     : 0;
}

int zm_scene_clean(const char *folder, unsigned int instance, struct zm_why *why)
{
	char path[PATH_MAX];
	int r;

	if (snprintf(path, sizeof(path), "%s/%u/o", folder, instance) >= (int)sizeof(path))
		return zm_why_errno(why, -ENAMETOOLONG, "%s", folder);
	r = zm_remove_tree(path, why);
	if (r == 0 && mkdir(path, 0700) < 0)
		r = zm_why_errno(why, -errno, "%s", path);
	return r;
}
