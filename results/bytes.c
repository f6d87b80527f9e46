/* bytes: writing and reading small binary records, and packing them by zstd. */
#include "results/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

enum {
	PACK_PLAIN = 0,
	PACK_ZSTD = 1,
	PACK_WORTH_TRYING = 48, /* a zstd frame has about 15 bytes of its own */
	PACK_LEVEL = 3,
};

void zm_buf_release(struct zm_buf *buf)
{
	free(buf->data);
	*buf = (struct zm_buf){ 0 };
}

static bool grow(struct zm_buf *buf, size_t least)
{
	size_t capacity = buf->capacity ? buf->capacity : 64;
	uint8_t *data;

	while (capacity < least) {
		if (capacity > SIZE_MAX / 2)
			return false;
		capacity *= 2;
	}
	data = realloc(buf->data, capacity);
	if (!data)
		return false;
	buf->data = data;
	buf->capacity = capacity;
	return true;
}

uint8_t *zm_buf_reserve(struct zm_buf *buf, size_t size)
{
	if (buf->error)
		return NULL;
	if (size > SIZE_MAX - buf->size ||
	    (buf->size + size > buf->capacity && !grow(buf, buf->size + size))) {
		buf->error = -ENOMEM;
		return NULL;
	}
	return buf->data + buf->size;
}

void zm_buf_u8(struct zm_buf *buf, uint8_t value)
{
	uint8_t *at = zm_buf_reserve(buf, 1);

	if (!at)
		return;
	*at = value;
	buf->size++;
}

void zm_buf_varint(struct zm_buf *buf, uint64_t value)
{
	uint8_t *at = zm_buf_reserve(buf, 10);

	if (!at)
		return;
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	buf->size = (size_t)(at - buf->data);
}

void zm_buf_zigzag(struct zm_buf *buf, int64_t value)
{
	zm_buf_varint(buf, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void zm_buf_bytes(struct zm_buf *buf, const void *data, size_t size)
{
	uint8_t *at;

	if (size == 0)
		return;
	at = zm_buf_reserve(buf, size);
	if (!at)
		return;
	memcpy(at, data, size);
	buf->size += size;
}

void zm_buf_text(struct zm_buf *buf, const char *text)
{
	size_t length = strlen(text);

	zm_buf_varint(buf, length);
	zm_buf_bytes(buf, text, length);
}

struct zm_cursor zm_cursor(const void *data, size_t size)
{
	const uint8_t *at = data;

	return (struct zm_cursor){ .at = at, .end = size ? at + size : at };
}

size_t zm_cursor_left(const struct zm_cursor *cursor)
{
	return cursor->is_bad ? 0 : (size_t)(cursor->end - cursor->at);
}

const uint8_t *zm_cursor_bytes(struct zm_cursor *cursor, size_t size)
{
	const uint8_t *at = cursor->at;

	if (size > zm_cursor_left(cursor) || cursor->is_bad) {
		cursor->is_bad = true;
		return NULL;
	}
	cursor->at += size;
	return at;
}

uint8_t zm_cursor_u8(struct zm_cursor *cursor)
{
	const uint8_t *at = zm_cursor_bytes(cursor, 1);

	return at ? *at : 0;
}

uint64_t zm_cursor_varint(struct zm_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = zm_cursor_u8(cursor);

		if (cursor->is_bad || (shift == 63 && byte > 1))
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->is_bad = true;
	return 0;
}

int64_t zm_cursor_zigzag(struct zm_cursor *cursor)
{
	uint64_t folded = zm_cursor_varint(cursor);

	return (int64_t)((folded >> 1) ^ (folded & 1 ? UINT64_MAX : 0));
}

uint64_t zm_cursor_bounded(struct zm_cursor *cursor, uint64_t most)
{
	uint64_t value = zm_cursor_varint(cursor);

	if (value <= most)
		return value;
	cursor->is_bad = true;
	return 0;
}

char *zm_cursor_text(struct zm_cursor *cursor)
{
	size_t length = zm_cursor_bounded(cursor, zm_cursor_left(cursor));
	const uint8_t *at = zm_cursor_bytes(cursor, length);
	char *text;

	if (!at || memchr(at, 0, length)) {
		cursor->is_bad = true;
		return NULL;
	}
	text = strndup((const char *)at, length);
	if (!text)
		cursor->is_bad = true;
	return text;
}

struct zm_packer {
	ZSTD_CCtx *context;
};

void zm_packer_free(struct zm_packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->context);
	free(packer);
}

static int packer_make(struct zm_packer **packer)
{
	struct zm_packer *made;

	if (*packer)
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->context = ZSTD_createCCtx();
	if (!made->context) {
		free(made);
		return -ENOMEM;
	}
	*packer = made;
	return 0;
}

static int pack_plain(struct zm_buf *out, const void *data, size_t size)
{
	zm_buf_u8(out, PACK_PLAIN);
	zm_buf_bytes(out, data, size);
	return out->error;
}

int zm_pack(struct zm_packer **packer, struct zm_buf *out, const void *data, size_t size)
{
	size_t bound = ZSTD_compressBound(size);
	size_t before = out->size;
	size_t packed;
	int error;

	if (size < PACK_WORTH_TRYING)
		return pack_plain(out, data, size);
	error = packer_make(packer);
	if (error)
		return error;
	zm_buf_u8(out, PACK_ZSTD);
	if (!zm_buf_reserve(out, bound))
		return out->error;
	packed = ZSTD_compressCCtx((*packer)->context, out->data + out->size, bound, data, size,
				   PACK_LEVEL);
	if (ZSTD_isError(packed) || packed >= size) {
		out->size = before;
		return pack_plain(out, data, size);
	}
	out->size += packed;
	return 0;
}

static int unpack_zstd(struct zm_cursor *cursor, struct zm_buf *ret_buf)
{
	size_t packed = zm_cursor_left(cursor);
	unsigned long long size = ZSTD_getFrameContentSize(cursor->at, packed);
	struct zm_buf buf = { 0 };

	if (size > ZM_UNPACK_MAX) /* unknown and error are huge values, too */
		return -EUCLEAN;
	if (!zm_buf_reserve(&buf, size ? (size_t)size : 1))
		return -ENOMEM;
	if (ZSTD_decompress(buf.data, (size_t)size, cursor->at, packed) != size) {
		zm_buf_release(&buf);
		return -EUCLEAN;
	}
	buf.size = (size_t)size;
	*ret_buf = buf;
	return 0;
}

int zm_unpack(const void *data, size_t size, struct zm_buf *ret_buf)
{
	struct zm_cursor cursor = zm_cursor(data, size);
	uint8_t form = zm_cursor_u8(&cursor);
	struct zm_buf buf = { 0 };

	if (cursor.is_bad || form > PACK_ZSTD)
		return -EUCLEAN;
	if (form == PACK_ZSTD)
		return unpack_zstd(&cursor, ret_buf);
	zm_buf_bytes(&buf, cursor.at, zm_cursor_left(&cursor));
	if (buf.error)
		return buf.error;
	*ret_buf = buf;
	return 0;
}
