/* hugepool: /proc/meminfo for the default size, /proc/sys/vm for its numbers. */
#include "faultload/hugepool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

#define NR_HUGEPAGES "proc/sys/vm/nr_hugepages"
#define NR_SURPLUS   "proc/sys/vm/nr_overcommit_hugepages"
#define PATH_SIZE    128

const char *const zm_hugepool_kinds[] = { "surplus", "pool", NULL };
const char *const zm_hugepool_save[] = { NR_HUGEPAGES, NR_SURPLUS, NULL };

uint64_t zm_hugepool_meminfo(const struct zm_sysroot *root, const char *field)
{
	zm_autofree char *text = NULL;
	size_t length = strlen(field);

	if (zm_sysroot_read(root, "proc/meminfo", &text, NULL) < 0)
		return 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, field, length) == 0 && line[length] == ':')
			return strtoull(line + length + 1, NULL, 10) * 1024;
	}
	return 0;
}

uint64_t zm_hugepool_default_bytes(const struct zm_sysroot *root)
{
	return zm_hugepool_meminfo(root, "Hugepagesize");
}

char *zm_hugepool_path(char *buf, size_t size, uint64_t page_bytes, int node)
{
	unsigned long long kib = page_bytes / 1024;

	if (node < 0)
		(void)snprintf(buf, size, "sys/kernel/mm/hugepages/hugepages-%llukB/nr_hugepages",
			       kib);
	else
		(void)snprintf(
			buf, size,
			"sys/devices/system/node/node%d/hugepages/hugepages-%llukB/nr_hugepages",
			node, kib);
	return buf;
}

int zm_hugepool_check(const struct zm_sysroot *root, struct zm_why *why)
{
	if (zm_hugepool_default_bytes(root) > 0 && zm_sysroot_has(root, NR_SURPLUS))
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "this kernel has no huge pages (hugetlb): no Hugepagesize in "
			  "/proc/meminfo");
}

static int write_number(const struct zm_sysroot *root, const char *path, uint64_t number,
			struct zm_why *why)
{
	char text[24];
	int r;

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	r = zm_sysroot_write(root, path, text);
	return r < 0 ? zm_why_errno(why, r, "/%s cannot be set to %s; run as root", path, text) : 0;
}

int zm_hugepool_check_size(const struct zm_sysroot *root, uint64_t page_bytes, struct zm_why *why)
{
	char path[PATH_SIZE];

	if (zm_sysroot_has(root, zm_hugepool_path(path, sizeof(path), page_bytes, -1)))
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "no /%s: this machine has no huge pages of that size; see "
			  "/sys/kernel/mm/hugepages",
			  path);
}

static int add(const struct zm_sysroot *root, const char *path, uint64_t nr_pages,
	       struct zm_why *why)
{
	uint64_t before, got;
	int r = zm_sysroot_read_u64(root, path, &before);

	if (r < 0)
		return zm_why_errno(why, r, "/%s cannot be read", path);
	r = write_number(root, path, before + nr_pages, why);
	if (r < 0)
		return r;
	r = zm_sysroot_read_u64(root, path, &got);
	if (r < 0)
		return zm_why_errno(why, r, "/%s cannot be read", path);
	if (got < before + nr_pages)
		return zm_why_set(why, -ENOMEM,
				  "the kernel made only %llu of %llu huge pages: memory is "
				  "fragmented or used; lower unit_size, or use pool=surplus",
				  (unsigned long long)(got > before ? got - before : 0),
				  (unsigned long long)nr_pages);
	return 0;
}

int zm_hugepool_add(const struct zm_sysroot *root, enum zm_hugepool_kind kind, uint64_t nr_pages,
		    struct zm_why *why)
{
	return add(root, kind == ZM_HUGEPOOL_POOL ? NR_HUGEPAGES : NR_SURPLUS, nr_pages, why);
}

int zm_hugepool_add_of(const struct zm_sysroot *root, uint64_t page_bytes,
		       enum zm_hugepool_kind kind, uint64_t nr_pages, struct zm_why *why)
{
	char path[PATH_SIZE];
	int r;

	if (kind == ZM_HUGEPOOL_POOL)
		return add(root, zm_hugepool_path(path, sizeof(path), page_bytes, -1), nr_pages,
			   why);
	(void)snprintf(path, sizeof(path),
		       "sys/kernel/mm/hugepages/hugepages-%llukB/nr_overcommit_hugepages",
		       (unsigned long long)page_bytes / 1024);
	r = add(root, path, nr_pages, why);
	return r == -EINVAL ? zm_why_set(why, r,
					 "pool=surplus: the kernel makes no huge pages of %llu "
					 "bytes when they are used; use pool=pool",
					 (unsigned long long)page_bytes)
			    : r;
}
