/* codec: the readings of a series as few bytes, and back. */
#include "results/codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum encoding {
	ENCODING_DELTAS,
	ENCODING_RUNS,
	ENCODING_XOR,
	ENCODING_HISTS,
};

void zm_readings_release(struct zm_readings *readings)
{
	free(readings->values);
	free(readings->flags);
	zm_buf_release(&readings->hists);
	*readings = (struct zm_readings){ .form = readings->form };
}

static int make_room(struct zm_readings *readings, size_t nr)
{
	size_t capacity = readings->capacity ? readings->capacity : 16;
	uint64_t *values;

	if (nr > ZM_READINGS_MAX)
		return -EOVERFLOW;
	if (nr <= readings->capacity)
		return 0;
	while (capacity < nr)
		capacity *= 2;
	values = realloc(readings->values, capacity * sizeof(*values));
	if (!values)
		return -ENOMEM;
	readings->values = values;
	if (readings->flags) {
		uint32_t *flags = realloc(readings->flags, capacity * sizeof(*flags));

		if (!flags)
			return -ENOMEM;
		memset(flags + readings->capacity, 0,
		       (capacity - readings->capacity) * sizeof(*flags));
		readings->flags = flags;
	}
	readings->capacity = capacity;
	return 0;
}

static int need_flags(struct zm_readings *readings)
{
	if (!readings->flags)
		readings->flags = calloc(readings->capacity, sizeof(*readings->flags));
	return readings->flags ? 0 : -ENOMEM;
}

int zm_readings_add(struct zm_readings *readings, uint64_t value, uint32_t flags)
{
	int error = make_room(readings, readings->nr + 1);

	if (!error && flags)
		error = need_flags(readings);
	if (error)
		return error;
	if (readings->flags)
		readings->flags[readings->nr] = flags;
	readings->values[readings->nr++] = value;
	return 0;
}

int zm_readings_add_hist(struct zm_readings *readings, const struct zm_hist *hist, uint32_t flags)
{
	size_t at = readings->hists.size;

	zm_codec_put_hist(&readings->hists, hist);
	if (readings->hists.error)
		return readings->hists.error;
	return zm_readings_add(readings, at, flags);
}

double zm_readings_f64(const struct zm_readings *readings, size_t index)
{
	double value;

	if (readings->form != ZM_FORM_F64)
		return (double)readings->values[index];
	memcpy(&value, &readings->values[index], sizeof(value));
	return value;
}

int zm_readings_hist(const struct zm_readings *readings, size_t index, struct zm_hist *ret_hist)
{
	size_t at = (size_t)readings->values[index];
	struct zm_cursor cursor;

	if (readings->form != ZM_FORM_HIST || at > readings->hists.size)
		return -EUCLEAN;
	cursor = zm_cursor(readings->hists.data + at, readings->hists.size - at);
	zm_codec_get_hist(&cursor, ret_hist);
	return cursor.is_bad ? -EUCLEAN : 0;
}

void zm_codec_put_times(struct zm_buf *buf, const uint64_t *t_ns, size_t nr)
{
	uint64_t before = 0, step_before = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t step = t_ns[i] - before;

		zm_buf_zigzag(buf, (int64_t)(step - step_before));
		step_before = i == 0 ? 0 : step;
		before = t_ns[i];
	}
}

void zm_codec_get_times(struct zm_cursor *cursor, size_t nr, uint64_t *ret_t_ns)
{
	uint64_t before = 0, step = 0;

	for (size_t i = 0; i < nr && !cursor->is_bad; i++) {
		step += (uint64_t)zm_cursor_zigzag(cursor);
		before += step;
		ret_t_ns[i] = before;
		if (i == 0)
			step = 0;
	}
}

static void put_flags(struct zm_buf *buf, const struct zm_readings *readings)
{
	size_t from, to;

	zm_buf_u8(buf, readings->flags != NULL);
	if (!readings->flags)
		return;
	for (from = 0; from < readings->nr; from = to) {
		for (to = from + 1; to < readings->nr; to++)
			if (readings->flags[to] != readings->flags[from])
				break;
		zm_buf_varint(buf, readings->flags[from]);
		zm_buf_varint(buf, to - from);
	}
}

/* The values have not been added yet: readings->nr is where they will start. */
static int get_flags(struct zm_cursor *cursor, size_t nr, struct zm_readings *readings)
{
	uint8_t has_flags = zm_cursor_u8(cursor);
	size_t done = 0;

	if (has_flags > 1)
		return -EUCLEAN;
	if (!has_flags) {
		if (readings->flags)
			memset(readings->flags + readings->nr, 0, nr * sizeof(*readings->flags));
		return 0;
	}
	if (nr && need_flags(readings))
		return -ENOMEM;
	while (done < nr) {
		uint32_t flags = (uint32_t)zm_cursor_bounded(cursor, UINT32_MAX);
		uint64_t times = zm_cursor_bounded(cursor, nr - done);

		if (cursor->is_bad || times == 0)
			return -EUCLEAN;
		while (times--)
			readings->flags[readings->nr + done++] = flags;
	}
	return 0;
}

static void put_deltas(struct zm_buf *buf, const struct zm_readings *readings)
{
	uint64_t before = 0;

	zm_buf_u8(buf, ENCODING_DELTAS);
	for (size_t i = 0; i < readings->nr; i++) {
		zm_buf_zigzag(buf, (int64_t)(readings->values[i] - before));
		before = readings->values[i];
	}
}

static void get_deltas(struct zm_cursor *cursor, size_t nr, uint64_t *values)
{
	uint64_t before = 0;

	for (size_t i = 0; i < nr && !cursor->is_bad; i++) {
		before += (uint64_t)zm_cursor_zigzag(cursor);
		values[i] = before;
	}
}

static void put_runs(struct zm_buf *buf, const struct zm_readings *readings)
{
	uint64_t before = 0;
	size_t from, to;

	zm_buf_u8(buf, ENCODING_RUNS);
	for (from = 0; from < readings->nr; from = to) {
		uint64_t delta = readings->values[from] - before;

		for (to = from + 1; to < readings->nr; to++)
			if (readings->values[to] - readings->values[to - 1] != delta)
				break;
		zm_buf_zigzag(buf, (int64_t)delta);
		zm_buf_varint(buf, to - from);
		before = readings->values[to - 1];
	}
}

static void get_runs(struct zm_cursor *cursor, size_t nr, uint64_t *values)
{
	uint64_t before = 0;
	size_t done = 0;

	while (done < nr && !cursor->is_bad) {
		uint64_t delta = (uint64_t)zm_cursor_zigzag(cursor);
		uint64_t times = zm_cursor_bounded(cursor, nr - done);

		if (times == 0)
			cursor->is_bad = true;
		for (; times; times--) {
			before += delta;
			values[done++] = before;
		}
	}
}

/* High nibble: bytes of 0 at the high end; low nibble: at the low end. 8 and 0: nothing differs. */
static void put_xor(struct zm_buf *buf, const struct zm_readings *readings)
{
	uint64_t before = 0;

	zm_buf_u8(buf, ENCODING_XOR);
	for (size_t i = 0; i < readings->nr; i++) {
		uint64_t bits = readings->values[i] ^ before;
		unsigned int high = bits ? (unsigned int)__builtin_clzll(bits) / 8 : 8;
		unsigned int low = bits ? (unsigned int)__builtin_ctzll(bits) / 8 : 0;

		zm_buf_u8(buf, (uint8_t)(high << 4 | low));
		for (unsigned int byte = low; byte + high < 8; byte++)
			zm_buf_u8(buf, (uint8_t)(bits >> (8 * byte)));
		before = readings->values[i];
	}
}

static void get_xor(struct zm_cursor *cursor, size_t nr, uint64_t *values)
{
	uint64_t before = 0;

	for (size_t i = 0; i < nr && !cursor->is_bad; i++) {
		uint8_t ends = zm_cursor_u8(cursor);
		unsigned int high = ends >> 4, low = ends & 0xf;

		if (high + low > 8)
			cursor->is_bad = true;
		for (unsigned int byte = low; byte + high < 8; byte++)
			before ^= (uint64_t)zm_cursor_u8(cursor) << (8 * byte);
		values[i] = before;
	}
}

void zm_codec_put_hist(struct zm_buf *buf, const struct zm_hist *hist)
{
	size_t next = 0, nr_used = 0;

	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++)
		nr_used += hist->buckets[i] != 0;
	zm_buf_varint(buf, hist->count);
	zm_buf_varint(buf, hist->sum);
	zm_buf_varint(buf, hist->min);
	zm_buf_varint(buf, hist->max);
	zm_buf_varint(buf, nr_used);
	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++) {
		if (!hist->buckets[i])
			continue;
		zm_buf_varint(buf, i - next);
		zm_buf_varint(buf, hist->buckets[i]);
		next = i + 1;
	}
}

/* hist may be NULL: skip one. */
static void get_hist(struct zm_cursor *cursor, struct zm_hist *hist)
{
	size_t next = 0, nr_used;
	uint64_t head[4];

	for (size_t i = 0; i < 4; i++)
		head[i] = zm_cursor_varint(cursor);
	nr_used = zm_cursor_bounded(cursor, ZM_HIST_BUCKETS);
	for (; nr_used && !cursor->is_bad; nr_used--) {
		size_t gap = zm_cursor_bounded(cursor, ZM_HIST_BUCKETS - 1);
		uint64_t count = zm_cursor_varint(cursor);

		if (cursor->is_bad || next + gap >= ZM_HIST_BUCKETS) {
			cursor->is_bad = true;
			return;
		}
		if (hist)
			hist->buckets[next + gap] = count;
		next += gap + 1;
	}
	if (!hist)
		return;
	hist->count = head[0];
	hist->sum = head[1];
	hist->min = head[2];
	hist->max = head[3];
}

void zm_codec_get_hist(struct zm_cursor *cursor, struct zm_hist *ret_hist)
{
	memset(ret_hist, 0, sizeof(*ret_hist));
	get_hist(cursor, ret_hist);
}

static void put_hists(struct zm_buf *buf, const struct zm_readings *readings)
{
	zm_buf_u8(buf, ENCODING_HISTS);
	zm_buf_bytes(buf, readings->hists.data, readings->hists.size);
}

static int get_hists(struct zm_cursor *cursor, size_t nr, struct zm_readings *readings)
{
	uint64_t *values = readings->values + readings->nr;
	const uint8_t *from = cursor->at;

	for (size_t i = 0; i < nr && !cursor->is_bad; i++) {
		values[i] = readings->hists.size + (size_t)(cursor->at - from);
		get_hist(cursor, NULL);
	}
	if (cursor->is_bad)
		return -EUCLEAN;
	zm_buf_bytes(&readings->hists, from, (size_t)(cursor->at - from));
	return readings->hists.error;
}

void zm_codec_put_readings(struct zm_buf *buf, const struct zm_readings *readings)
{
	size_t start, deltas;

	put_flags(buf, readings);
	if (readings->form == ZM_FORM_HIST) {
		put_hists(buf, readings);
		return;
	}
	if (readings->form == ZM_FORM_F64) {
		put_xor(buf, readings);
		return;
	}
	start = buf->size;
	put_runs(buf, readings);
	deltas = buf->size;
	put_deltas(buf, readings);
	if (!buf->error && buf->size - deltas < deltas - start) {
		memmove(buf->data + start, buf->data + deltas, buf->size - deltas);
		buf->size = start + (buf->size - deltas);
	} else {
		buf->size = deltas;
	}
}

static bool encoding_fits(uint8_t encoding, enum zm_form form)
{
	switch (encoding) {
	case ENCODING_DELTAS:
	case ENCODING_RUNS:
		return form == ZM_FORM_U64;
	case ENCODING_XOR:
		return form == ZM_FORM_F64;
	case ENCODING_HISTS:
		return form == ZM_FORM_HIST;
	default:
		return false;
	}
}

int zm_codec_get_readings(struct zm_cursor *cursor, size_t nr, struct zm_readings *readings)
{
	static void (*const decoders[])(struct zm_cursor *, size_t, uint64_t *) = {
		[ENCODING_DELTAS] = get_deltas,
		[ENCODING_RUNS] = get_runs,
		[ENCODING_XOR] = get_xor,
	};
	uint8_t encoding;
	int error;

	if (nr > ZM_READINGS_MAX)
		return -EOVERFLOW;
	error = make_room(readings, readings->nr + nr);
	if (!error)
		error = get_flags(cursor, nr, readings);
	if (error)
		return error;
	encoding = zm_cursor_u8(cursor);
	if (cursor->is_bad || !encoding_fits(encoding, readings->form))
		return -EUCLEAN;
	if (encoding == ENCODING_HISTS)
		error = get_hists(cursor, nr, readings);
	else
		decoders[encoding](cursor, nr, readings->values + readings->nr);
	if (error || cursor->is_bad)
		return error ? error : -EUCLEAN;
	readings->nr += nr;
	return 0;
}
