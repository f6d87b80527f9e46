/* heap: the C library's allocator as it comes, so that its thresholds are part of the figure. */
#include "faultload/heap.h"

#include <errno.h>
#include <stdlib.h>

/* A compiler that sees both ends may leave out malloc and free together. */
static void *hide(void *pointer)
{
	__asm__ volatile("" : "+r"(pointer) : : "memory");
	return pointer;
}

int64_t zm_heap_step(struct zm_task *task, uint64_t n)
{
	size_t bytes = *(const size_t *)task->run->workload->own;

	for (uint64_t i = 0; i < n; i++) {
		void *memory = hide(malloc(bytes));

		if (!memory)
			return zm_why_errno(&task->slot->why, -ENOMEM, "malloc(%zu)", bytes);
		free(memory);
	}
	return (int64_t)n;
}
