/* mapping: two system calls an operation. */
#include "faultload/mapping.h"

#include <errno.h>
#include <sys/mman.h>

static int say_failed(struct zm_task *task, const char *call)
{
	return zm_why_errno(&task->slot->why, -errno, "%s of %llu bytes", call,
			    (unsigned long long)ZM_MAPPING_BYTES);
}

int64_t zm_mapping_step(struct zm_task *task, uint64_t n)
{
	const struct zm_mapping *mapping = task->state;
	int flags = mapping->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;

	for (uint64_t i = 0; i < n; i++) {
		void *base =
			mmap(NULL, ZM_MAPPING_BYTES, PROT_READ | PROT_WRITE, flags, mapping->fd, 0);

		if (base == MAP_FAILED)
			return say_failed(task, "mmap");
		if (munmap(base, ZM_MAPPING_BYTES) < 0)
			return say_failed(task, "munmap");
	}
	return (int64_t)n;
}
