/*
 * touch: the innermost loop of page faults: one zero byte per page.
 *
 * It stands in one place, for the workloads and for the bare loop that they are measured against,
 * because its address is worth more than anything around it. On an AMD EPYC (in a VM) the same four
 * instructions fault 8 to 15 % faster where they straddle a 64-byte line than where they lie within one
 * (541,000 against 490,000 pages a second, all of 12 processes). Two copies of the loop would compare
 * the linker's luck; so would one kernel's figure from two builds. On x86-64 it is therefore laid
 * across a line's end by hand, the quicker place, where it hides less of the kernel's cost.
 */
#ifndef ZM_WORKLOADS_BASE_TOUCH_H
#define ZM_WORKLOADS_BASE_TOUCH_H

#include <stdint.h>

/* Called by a step: writes a zero byte at `page` and at every `stride` bytes after it until `end`, which
 * is `page` plus a multiple of `stride`. Ascending, no byte between; nothing else is read or written. */
void zm_touch_write(volatile char *page, const volatile char *end, uint64_t stride);

#endif
