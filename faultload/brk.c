/* brk: moves the heap's end, and keeps the C library's allocator away from it meanwhile. */
#include "faultload/brk.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

/* What the launcher may allocate without a new heap end, in pieces below the library's own threshold
 * for mmap. */
#define SPARE_PIECES 16
#define PIECE_BYTES  ((size_t)64 << 10)

/* The library takes the pieces from the kernel and, told to keep what it has, never gives them back.
 * Another allocator in its place knows no mallopt, and leaves the heap alone. */
int zm_brk_prepare(struct zm_run *run, struct zm_why *why)
{
	void *pieces[SPARE_PIECES];
	bool has_all = true;

	(void)run;
	(void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
	for (size_t i = 0; i < SPARE_PIECES; i++) {
		pieces[i] = malloc(PIECE_BYTES);
		__asm__ volatile("" : "+r"(pieces[i]) : : "memory");
		has_all = has_all && pieces[i];
	}
	for (size_t i = 0; i < SPARE_PIECES; i++)
		free(pieces[i]);
	return has_all ? 0 : zm_why_errno(why, -ENOMEM, "malloc(%zu)", PIECE_BYTES);
}

int zm_brk_setup(struct zm_task *task, struct zm_why *why)
{
	unsigned int nr_pages = *(const unsigned int *)task->run->workload->own;
	uint64_t page_bytes = task->run->page_bytes;
	struct zm_brk *state = task->state;
	char *end = sbrk((intptr_t)(nr_pages * page_bytes));

	if (end == (char *)-1)
		return zm_why_errno(why, -errno, "sbrk of %u pages; see ulimit -d", nr_pages);
	state->low = end + nr_pages * page_bytes;
	return 0;
}

int64_t zm_brk_step(struct zm_task *task, uint64_t n)
{
	struct zm_brk *state = task->state;
	char *here = state->low, *there = here + task->run->page_bytes;
	uint64_t left = n;

	if (state->is_up) {
		here = there;
		there = state->low;
	}
	if (n % 2) /* there and back by twos, and there once more */
		state->is_up = !state->is_up;
	for (; left > 1; left -= 2)
		if (brk(there) < 0 || brk(here) < 0)
			break;
	if (left > 1 || (left == 1 && brk(there) < 0)) {
		state->is_up = true; /* wherever it is */
		return zm_why_errno(&task->slot->why, -errno, "brk; see ulimit -d");
	}
	return (int64_t)n;
}

void zm_brk_teardown(struct zm_task *task)
{
	struct zm_brk *state = task->state;

	if (state->low && state->is_up)
		(void)brk(state->low);
	state->low = NULL;
}
