/* bare: in a file of its own, so that nothing of its caller gets into the loop. */
#include "bench/bare.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "workloads/base/touch.h"

int zm_bare_rounds(const struct zm_bare *bare, uint64_t nr_rounds)
{
	uint64_t page_bytes = bare->page_bytes;

	for (uint64_t i = 0; i < nr_rounds; i++) {
		char *base =
			mmap(NULL, bare->size, PROT_READ | PROT_WRITE, bare->flags, bare->fd, 0);

		if (base == MAP_FAILED)
			return -errno;

		zm_touch_write(base, base + bare->size, page_bytes);
		if (munmap(base, bare->size) < 0)
			return -errno;
	}
	return 0;
}
