/* touch: never inlined, so that every caller runs the same code; why the loops begin where they do says
 * the header. */
#include "workloads/base/touch.h"

#include <errno.h>
#include <sys/mman.h>

#define IN_ONE_PLACE __attribute__((noinline, aligned(64)))

IN_ONE_PLACE void zm_touch_write(volatile char *page, const volatile char *end, uint64_t stride)
{
	if (page == end)
		return;
#ifdef __x86_64__
	/* From byte 56 of a line into the next, whatever the compiler. */
	__asm__ volatile(".p2align 6\n\t"
			 ".nops 56\n"
			 "1:\tmovb $0, (%[page])\n\t"
			 "add %[stride], %[page]\n\t"
			 "cmp %[page], %[end]\n\t"
			 "jne 1b"
			 : [page] "+r"(page)
			 : [end] "r"(end), [stride] "r"(stride)
			 : "memory", "cc");
#else
	for (; page != end; page += stride)
		*page = 0;
#endif
}

IN_ONE_PLACE int zm_touch_flush(volatile char *page, const volatile char *end, uint64_t stride,
				uint64_t *ret_sum)
{
	uint64_t sum = 0;

	for (; page != end; page += stride) {
		*page = 1;
		if (madvise((void *)page, stride, MADV_DONTNEED) < 0)
			return -errno;
		sum += (unsigned char)*page;
	}
	*ret_sum = sum;
	return 0;
}

/* One load, or one store, of the whole word. */
IN_ONE_PLACE void zm_touch_write_words(uint64_t *words, uint64_t from, uint64_t end)
{
	for (uint64_t i = from; i < end; i++)
		__atomic_store_n((volatile uint64_t *)&words[i], i, __ATOMIC_RELAXED);
}

IN_ONE_PLACE void zm_touch_read_words(uint64_t *words, uint64_t from, uint64_t end)
{
	for (uint64_t i = from; i < end; i++)
		(void)__atomic_load_n((volatile uint64_t *)&words[i], __ATOMIC_RELAXED);
}
