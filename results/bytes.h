/*
 * bytes: writing and reading small binary records.
 *
 * A writer (zm_buf) grows and remembers that it ran out of memory; a reader (zm_cursor) never goes
 * past its end and remembers that it wanted to. Both are checked once, at the end:
 *
 *     zm_buf_varint(&buf, 300);            cursor = zm_cursor(data, size);
 *     zm_buf_text(&buf, "pages");          nr = zm_cursor_varint(&cursor);
 *     if (buf.error) …                     if (cursor.is_bad) return -EUCLEAN;
 *
 * A varint has 7 bits a byte, low ones first, at most 10 bytes. A signed number is folded (zigzag:
 * 0, -1, 1, -2…) so that small ones of either sign are short.
 */
#ifndef ZM_RESULTS_BYTES_H
#define ZM_RESULTS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zm_buf {
	uint8_t *data;
	size_t size;
	size_t capacity;
	int error; /* -ENOMEM once memory ran out; the content is then of no use */
};

void zm_buf_release(struct zm_buf *buf);
#define zm_autobuf __attribute__((cleanup(zm_buf_release)))

/* Room for `size` bytes more; NULL and buf->error when there is none. buf->size is not changed. */
uint8_t *zm_buf_reserve(struct zm_buf *buf, size_t size);
void zm_buf_u8(struct zm_buf *buf, uint8_t value);
void zm_buf_varint(struct zm_buf *buf, uint64_t value);
void zm_buf_zigzag(struct zm_buf *buf, int64_t value);
void zm_buf_bytes(struct zm_buf *buf, const void *data, size_t size);
void zm_buf_text(struct zm_buf *buf, const char *text); /* its length, then its bytes */

struct zm_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool is_bad;
};

struct zm_cursor zm_cursor(const void *data, size_t size);
size_t zm_cursor_left(const struct zm_cursor *cursor);

/* 0 (NULL) when the bytes are not there or not of the form; the cursor is bad from then on. */
uint8_t zm_cursor_u8(struct zm_cursor *cursor);
uint64_t zm_cursor_varint(struct zm_cursor *cursor);
int64_t zm_cursor_zigzag(struct zm_cursor *cursor);
const uint8_t *zm_cursor_bytes(struct zm_cursor *cursor, size_t size);

/* A varint that must not be above most. */
uint64_t zm_cursor_bounded(struct zm_cursor *cursor, uint64_t most);

/* A new string, the caller's to free. NULL when bad, when memory ran out, or with a NUL in it. */
char *zm_cursor_text(struct zm_cursor *cursor);

/* Packing: the data as it is, or by zstd when that is shorter. */
struct zm_packer; /* holds what zstd likes to use again */
void zm_packer_free(struct zm_packer *packer);

/* *packer may be NULL, and is then made. Appends to out. -ENOMEM. */
int zm_pack(struct zm_packer **packer, struct zm_buf *out, const void *data, size_t size);

/* The reverse, for data from anywhere: -EUCLEAN when it is not of the form or would unpack to more
 * than ZM_UNPACK_MAX bytes. *ret_buf is overwritten (release it before and after). */
#define ZM_UNPACK_MAX ((size_t)1 << 28)
int zm_unpack(const void *data, size_t size, struct zm_buf *ret_buf);

#endif
