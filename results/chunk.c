/* chunk: everything that came between two flushes, as one packed row. */
#include "results/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void zm_pending_release(struct zm_pending *pending)
{
	free(pending->readings);
	zm_buf_release(&pending->hists);
	*pending = (struct zm_pending){ 0 };
}

/* The readings of one series within the sorted pending ones. */
struct stretch {
	size_t from, to;
	uint32_t times;
};

struct layout {
	struct stretch *stretches;
	size_t nr_stretches;
	uint32_t nr_times;
};

/* Stable: moments of one series keep their order. Counting sort by series. */
static int sort_by_series(struct zm_pending *pending, size_t nr_series)
{
	struct zm_pending_reading *sorted = malloc((pending->nr + 1) * sizeof(*sorted));
	size_t *starts = calloc(nr_series + 1, sizeof(*starts));

	if (!sorted || !starts) {
		free(sorted);
		free(starts);
		return -ENOMEM;
	}
	for (size_t i = 0; i < pending->nr; i++)
		starts[pending->readings[i].series + 1]++;
	for (size_t i = 1; i <= nr_series; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < pending->nr; i++)
		sorted[starts[pending->readings[i].series]++] = pending->readings[i];
	memcpy(pending->readings, sorted, pending->nr * sizeof(*sorted));
	free(sorted);
	free(starts);
	return 0;
}

static bool same_times(const struct zm_pending *pending, const struct stretch *a,
		       const struct stretch *b)
{
	size_t nr = a->to - a->from;

	if (nr != b->to - b->from)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (pending->readings[a->from + i].t_ns != pending->readings[b->from + i].t_ns)
			return false;
	return true;
}

/* The time base of a stretch: that of an earlier one, newest first, or a new one. A run has only as
 * many time bases as monitors, so the search over `firsts` is short. */
static uint32_t find_times(const struct zm_pending *pending, const struct layout *layout,
			   const struct stretch *stretch, uint32_t *firsts)
{
	for (uint32_t i = layout->nr_times; i-- > 0;)
		if (same_times(pending, &layout->stretches[firsts[i]], stretch))
			return i;
	return layout->nr_times;
}

static int lay_out(const struct zm_pending *pending, struct layout *layout, uint32_t *firsts)
{
	size_t from, to;

	for (from = 0; from < pending->nr; from = to) {
		struct stretch *stretch = &layout->stretches[layout->nr_stretches];

		to = from + 1;
		while (to < pending->nr &&
		       pending->readings[to].series == pending->readings[from].series)
			to++;
		*stretch = (struct stretch){ .from = from, .to = to };
		stretch->times = find_times(pending, layout, stretch, firsts);
		if (stretch->times == layout->nr_times)
			firsts[layout->nr_times++] = (uint32_t)layout->nr_stretches;
		layout->nr_stretches++;
	}
	return 0;
}

static int put_times(struct zm_buf *raw, const struct zm_pending *pending,
		     const struct layout *layout, const uint32_t *firsts)
{
	uint64_t *t_ns = malloc((pending->nr + 1) * sizeof(*t_ns));

	if (!t_ns)
		return -ENOMEM;
	zm_buf_varint(raw, layout->nr_times);
	for (uint32_t i = 0; i < layout->nr_times; i++) {
		const struct stretch *stretch = &layout->stretches[firsts[i]];
		size_t nr = stretch->to - stretch->from;

		for (size_t k = 0; k < nr; k++)
			t_ns[k] = pending->readings[stretch->from + k].t_ns;
		zm_buf_varint(raw, nr);
		zm_codec_put_times(raw, t_ns, nr);
	}
	free(t_ns);
	return raw->error;
}

static int take_readings(const struct zm_pending *pending, const struct stretch *stretch,
			 struct zm_readings *readings)
{
	int error = 0;

	for (size_t i = stretch->from; i < stretch->to && !error; i++) {
		const struct zm_pending_reading *from = &pending->readings[i];

		if (readings->form == ZM_FORM_HIST) {
			struct zm_hist hist;
			struct zm_cursor cursor = zm_cursor(pending->hists.data + from->value,
							    pending->hists.size - from->value);

			zm_codec_get_hist(&cursor, &hist);
			error = zm_readings_add_hist(readings, &hist, from->flags);
		} else {
			error = zm_readings_add(readings, from->value, from->flags);
		}
	}
	return error;
}

static int put_block(struct zm_buf *raw, const struct zm_declared *declared,
		     const struct zm_pending *pending, const struct stretch *stretch,
		     struct zm_buf *scratch)
{
	uint32_t series = pending->readings[stretch->from].series;
	struct zm_readings readings = { .form = zm_declared_form(declared, series) };
	int error = take_readings(pending, stretch, &readings);

	scratch->size = 0;
	if (!error) {
		zm_codec_put_readings(scratch, &readings);
		error = scratch->error;
	}
	if (!error) {
		zm_buf_varint(raw, series);
		zm_buf_varint(raw, stretch->times);
		zm_buf_varint(raw, scratch->size);
		zm_buf_bytes(raw, scratch->data, scratch->size);
		error = raw->error;
	}
	zm_readings_release(&readings);
	return error;
}

static int put_body(struct zm_buf *raw, const struct zm_declared *declared,
		    const struct zm_pending *pending, struct layout *layout, uint32_t *firsts)
{
	zm_autobuf struct zm_buf scratch = { 0 };
	int error = lay_out(pending, layout, firsts);

	if (!error)
		error = put_times(raw, pending, layout, firsts);
	zm_buf_varint(raw, layout->nr_stretches);
	for (size_t i = 0; i < layout->nr_stretches && !error; i++)
		error = put_block(raw, declared, pending, &layout->stretches[i], &scratch);
	return error ? error : raw->error;
}

int zm_chunk_put(struct zm_packer **packer, struct zm_buf *out, const struct zm_declared *declared,
		 size_t from_metric, size_t from_series, struct zm_pending *pending)
{
	zm_autobuf struct zm_buf raw = { 0 };
	struct layout layout = { 0 };
	uint32_t *firsts = calloc(declared->nr_series + 1, sizeof(*firsts));
	int error = sort_by_series(pending, declared->nr_series);

	layout.stretches = calloc(declared->nr_series + 1, sizeof(*layout.stretches));
	if (!firsts || !layout.stretches)
		error = -ENOMEM;
	zm_declared_put(&raw, declared, from_metric, from_series);
	if (!error)
		error = put_body(&raw, declared, pending, &layout, firsts);
	if (!error)
		error = zm_pack(packer, out, raw.data, raw.size);
	free(firsts);
	free(layout.stretches);
	return error;
}

void zm_chunk_release(struct zm_chunk *chunk)
{
	for (size_t i = 0; i < chunk->nr_times; i++)
		free(chunk->times[i].t_ns);
	free(chunk->times);
	free(chunk->blocks);
	zm_buf_release(&chunk->raw);
	*chunk = (struct zm_chunk){ 0 };
}

static int get_times(struct zm_cursor *cursor, struct zm_chunk *chunk)
{
	size_t nr_times = zm_cursor_bounded(cursor, zm_cursor_left(cursor));

	if (cursor->is_bad)
		return -EUCLEAN;
	chunk->times = calloc(nr_times + 1, sizeof(*chunk->times));
	if (!chunk->times)
		return -ENOMEM;
	for (; chunk->nr_times < nr_times; chunk->nr_times++) {
		struct zm_chunk_times *times = &chunk->times[chunk->nr_times];

		times->nr = zm_cursor_bounded(cursor, zm_cursor_left(cursor)); /* a byte each */
		times->t_ns = calloc(times->nr + 1, sizeof(*times->t_ns));
		if (!times->t_ns)
			return -ENOMEM;
		zm_codec_get_times(cursor, times->nr, times->t_ns);
		if (cursor->is_bad) {
			chunk->nr_times++; /* its moments are to be freed, too */
			return -EUCLEAN;
		}
	}
	return 0;
}

static int get_block(struct zm_cursor *cursor, struct zm_chunk *chunk, size_t nr_series)
{
	struct zm_chunk_block *block = &chunk->blocks[chunk->nr_blocks];

	block->series = (uint32_t)zm_cursor_bounded(cursor, UINT32_MAX);
	block->times = (uint32_t)zm_cursor_bounded(cursor, UINT32_MAX);
	block->size = zm_cursor_bounded(cursor, zm_cursor_left(cursor));
	block->offset = (size_t)(cursor->at - chunk->raw.data);
	(void)zm_cursor_bytes(cursor, block->size);
	if (cursor->is_bad || block->series >= nr_series || block->times >= chunk->nr_times)
		return -EUCLEAN;
	if (chunk->nr_blocks && block->series <= block[-1].series)
		return -EUCLEAN;
	chunk->nr_blocks++;
	return 0;
}

static int get_blocks(struct zm_cursor *cursor, struct zm_chunk *chunk, size_t nr_series)
{
	size_t nr = zm_cursor_bounded(cursor, nr_series);
	int error = 0;

	if (cursor->is_bad)
		return -EUCLEAN;
	chunk->blocks = calloc(nr + 1, sizeof(*chunk->blocks));
	if (!chunk->blocks)
		return -ENOMEM;
	for (; nr && !error; nr--)
		error = get_block(cursor, chunk, nr_series);
	return error;
}

int zm_chunk_get(const void *data, size_t size, struct zm_declared *declared,
		 struct zm_chunk *ret_chunk)
{
	struct zm_chunk chunk = { 0 };
	struct zm_cursor cursor;
	int error = zm_unpack(data, size, &chunk.raw);

	if (error)
		return error;
	cursor = zm_cursor(chunk.raw.data, chunk.raw.size);
	error = zm_declared_get(&cursor, declared);
	if (!error)
		error = get_times(&cursor, &chunk);
	if (!error)
		error = get_blocks(&cursor, &chunk, declared->nr_series);
	if (error) {
		zm_chunk_release(&chunk);
		return error;
	}
	*ret_chunk = chunk;
	return 0;
}

int zm_chunk_readings(const struct zm_chunk *chunk, const struct zm_chunk_block *block,
		      struct zm_readings *readings)
{
	struct zm_cursor cursor = zm_cursor(chunk->raw.data + block->offset, block->size);

	return zm_codec_get_readings(&cursor, chunk->times[block->times].nr, readings);
}
