/*
 * image: boot header -> release and packed payload -> vmlinux in the cache.
 */
#include "runner/vm/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/vm/bytes.h"
#include "runner/vm/cache.h"
#include "runner/vm/elf.h"
#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"

/* Offsets in the boot header (x86 boot protocol 2.08 and later). */
#define SETUP_SECTORS  0x1f1
#define MAGIC          0x202
#define PROTOCOL       0x206
#define RELEASE        0x20e
#define PAYLOAD_OFFSET 0x248
#define PAYLOAD_LENGTH 0x24c
#define LEAST_LENGTH   0x260
#define KEPT_KERNELS   4
#define BANNER         "Linux version "

static const struct {
	const char *magic;
	size_t length;
	const char *const argv[4];
} packers[] = {
	{ "\xfd"
	  "7zXZ",
	  5,
	  { "xz", "-dc", "--single-stream", NULL } },
	{ "\x28\xb5\x2f\xfd", 4, { "zstd", "-dcq", NULL } },
	{ "\x1f\x8b", 2, { "gzip", "-dcq", NULL } },
	{ "\x02\x21\x4c\x18", 4, { "lz4", "-dcq", NULL } },
	{ "\x04\x22\x4d\x18", 4, { "lz4", "-dcq", NULL } },
	{ "BZh", 3, { "bzip2", "-dcq", NULL } },
	{ "\x89LZO", 4, { "lzop", "-dcq", NULL } },
	{ "\x5d\x00\x00", 3, { "xz", "-dc", "--format=lzma", NULL } },
};

static uint32_t read_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static int memory_file(const char *name, const uint8_t *bytes, size_t length)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	int r = fd < 0 ? -errno : zm_vm_bytes_write_fd(fd, bytes, length);

	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0 && fd >= 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

int zm_vm_unpack(const uint8_t *bytes, size_t length, uint8_t **ret_bytes, size_t *ret_length,
		 struct zm_why *why)
{
	zm_autoclose int in = -1;
	zm_autoclose int out = -1;
	size_t i = 0;
	int r;

	while (i < sizeof(packers) / sizeof(packers[0]) &&
	       (length < packers[i].length ||
		memcmp(bytes, packers[i].magic, packers[i].length) != 0))
		i++;
	if (i == sizeof(packers) / sizeof(packers[0]))
		return zm_why_set(why, -ENOTSUP, "packed in a way that is not known");
	in = memory_file("packed", bytes, length);
	out = memory_file("unpacked", NULL, 0);
	if (in < 0 || out < 0)
		return zm_why_errno(why, in < 0 ? in : out, "unpacking");
	r = zm_vm_tool_run(
		&(struct zm_vm_tool){ .argv = packers[i].argv, .in_fd = in, .out_fd = out }, why);
	if (r < 0)
		return r;
	r = zm_vm_bytes_read_fd(out, ret_bytes, ret_length);
	return r < 0 ? zm_why_errno(why, r, "unpacking") : 0;
}

static bool is_bzimage(const uint8_t *bytes, size_t length)
{
	return length > LEAST_LENGTH && memcmp(bytes + MAGIC, "HdrS", 4) == 0;
}

/* Up to the first space: "6.1.0-57-amd64 (debian-kernel@…". */
static void take_release(const uint8_t *bytes, size_t length, size_t at, char *release, size_t size)
{
	size_t n = 0;

	while (at + n < length && n + 1 < size && bytes[at + n] > ' ' && bytes[at + n] < 0x7f)
		n++;
	memcpy(release, bytes + at, n);
	release[n] = '\0';
}

static void find_release(const uint8_t *bytes, size_t length, char *release, size_t size)
{
	const uint8_t *banner;

	release[0] = '\0';
	if (is_bzimage(bytes, length)) {
		size_t at = (size_t)bytes[RELEASE] + ((size_t)bytes[RELEASE + 1] << 8) + 0x200;

		if (at < length)
			take_release(bytes, length, at, release, size);
		return;
	}
	banner = memmem(bytes, length, BANNER, strlen(BANNER));
	if (banner)
		take_release(bytes, length, (size_t)(banner - bytes) + strlen(BANNER), release,
			     size);
}

/* The packed vmlinux inside; its last four bytes are its unpacked size, which only gzip has itself. */
static bool find_payload(const uint8_t *bytes, size_t length, const uint8_t **ret_at,
			 size_t *ret_length)
{
	size_t sectors = bytes[SETUP_SECTORS] ? bytes[SETUP_SECTORS] : 4;
	size_t start = (sectors + 1) * 512 + read_u32(bytes + PAYLOAD_OFFSET);
	size_t size = read_u32(bytes + PAYLOAD_LENGTH);

	if (bytes[PROTOCOL + 1] < 2 || bytes[PROTOCOL] < 8 || size < 8 || start > length ||
	    size > length - start)
		return false;
	*ret_at = bytes + start;
	*ret_length = bytes[start] == 0x1f ? size : size - 4;
	return true;
}

/* Puts the vmlinux into the cache under its bzImage's digest. Whatever does not work is no failure:
 * the bzImage boots too. */
static char *unpack_into(const char *cache, const uint8_t *bytes, size_t length)
{
	zm_autofree uint8_t *vmlinux = NULL;
	char digest[ZM_VM_DIGEST_SIZE], *path;
	size_t vmlinux_length, packed_length;
	const uint8_t *packed;

	if (zm_vm_bytes_digest(bytes, length, digest) < 0 ||
	    asprintf(&path, "%s/vmlinux-%s", cache, digest) < 0)
		return NULL;
	if (access(path, R_OK) == 0 && utimensat(AT_FDCWD, path, NULL, 0) == 0)
		return path;
	if (find_payload(bytes, length, &packed, &packed_length) &&
	    zm_vm_unpack(packed, packed_length, &vmlinux, &vmlinux_length, NULL) == 0 &&
	    zm_vm_elf_has_pvh(vmlinux, vmlinux_length) &&
	    zm_vm_bytes_write(path, vmlinux, vmlinux_length) == 0) {
		zm_vm_cache_trim(cache, "vmlinux-", KEPT_KERNELS);
		return path;
	}
	free(path);
	return NULL;
}

int zm_vm_image_open(const char *path, const char *cache, struct zm_vm_image *ret_image,
		     struct zm_why *why)
{
	struct zm_vm_image image = { 0 };
	zm_autofree uint8_t *bytes = NULL;
	size_t length;
	int r = zm_vm_bytes_read(path, &bytes, &length);

	if (r < 0)
		return zm_why_errno(why, r, "the kernel %s", path);
	if (is_bzimage(bytes, length))
		image.path = unpack_into(cache, bytes, length);
	else if (!zm_vm_elf_is_one(bytes, length))
		return zm_why_set(why, -EINVAL, "%s is no kernel: neither a bzImage nor a vmlinux",
				  path);
	else if (!zm_vm_elf_has_pvh(bytes, length))
		return zm_why_set(why, -EINVAL,
				  "%s has no PVH entry (CONFIG_PVH); give its bzImage instead",
				  path);
	find_release(bytes, length, image.release, sizeof(image.release));
	if (!image.path)
		image.path = strdup(path);
	if (!image.path)
		return zm_why_errno(why, -ENOMEM, "the kernel %s", path);
	*ret_image = image;
	return 0;
}

void zm_vm_image_release(struct zm_vm_image *image)
{
	free(image->path);
	*image = (struct zm_vm_image){ 0 };
}
