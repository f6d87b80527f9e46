/*
 * touch: the innermost loops of page faults, each in one place, for the workloads and for the bare loops
 * that they are measured against.
 *
 * The address of the instruction that faults is worth more than anything around it. On an AMD EPYC (in
 * a VM) the same four instructions fault 8 to 15 % faster where they straddle a 64-byte line than where
 * they lie within one (541,000 against 490,000 pages a second, all of 12 processes). Two copies of a loop
 * would compare the linker's luck; so would one kernel's figure from two builds. Each loop therefore begins
 * at a line's start in every program; the first is, on x86-64, laid across a line's end by hand, the
 * quicker place, where it hides less of the kernel's cost.
 *
 * All are called by steps; what they touch ascends, and nothing else is read or written.
 */
#ifndef ZM_WORKLOADS_BASE_TOUCH_H
#define ZM_WORKLOADS_BASE_TOUCH_H

#include <stdint.h>

/* Writes a zero byte at `page` and at every `stride` bytes after it until `end`, which is `page` plus a
 * multiple of `stride`. */
void zm_touch_write(volatile char *page, const volatile char *end, uint64_t stride);

/* The same places: a 1 is written, the page of `stride` bytes given up (MADV_DONTNEED), and its first byte
 * read. 0 or -errno; *ret_sum: of all that was read. */
int zm_touch_flush(volatile char *page, const volatile char *end, uint64_t stride,
		   uint64_t *ret_sum);

/* Words `from` to `end` - 1, of 8 bytes: each gets its own number, or is read. Others may do the same at
 * the same time. */
void zm_touch_write_words(uint64_t *words, uint64_t from, uint64_t end);
void zm_touch_read_words(uint64_t *words, uint64_t from, uint64_t end);

#endif
