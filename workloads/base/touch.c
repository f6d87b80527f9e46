/* touch: never inlined, so that every caller runs the same code; why the loop begins where it does says
 * the header. */
#include "workloads/base/touch.h"

__attribute__((noinline)) void zm_touch_write(volatile char *page, const volatile char *end,
					      uint64_t stride)
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
