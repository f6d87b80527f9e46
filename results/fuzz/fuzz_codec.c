/*
 * fuzz_codec: a series' packed readings and moments from anywhere. The first byte is the form, the
 * second the number of readings. What is taken is packed again and must come back the same.
 */
#include "results/codec.h"

#include <stdlib.h>
#include <string.h>

#include "workloads/fuzz/fuzz.h"

static void check_readings(const struct zm_readings *readings)
{
	struct zm_readings again = { .form = readings->form };
	zm_autobuf struct zm_buf buf = { 0 };
	struct zm_cursor cursor;

	zm_codec_put_readings(&buf, readings);
	cursor = zm_cursor(buf.data, buf.size);
	fuzz_check(zm_codec_get_readings(&cursor, readings->nr, &again) == 0);
	fuzz_check(zm_cursor_left(&cursor) == 0);
	for (size_t i = 0; i < readings->nr; i++) {
		fuzz_check(again.values[i] == readings->values[i] ||
			   readings->form == ZM_FORM_HIST);
		fuzz_check((again.flags ? again.flags[i] : 0) ==
			   (readings->flags ? readings->flags[i] : 0));
	}
	zm_readings_release(&again);
}

static void check_times(const uint8_t *data, size_t size, size_t nr)
{
	uint64_t t_ns[256], again[256];
	struct zm_cursor cursor = zm_cursor(data, size);
	zm_autobuf struct zm_buf buf = { 0 };

	zm_codec_get_times(&cursor, nr, t_ns);
	if (cursor.is_bad)
		return;
	zm_codec_put_times(&buf, t_ns, nr);
	cursor = zm_cursor(buf.data, buf.size);
	zm_codec_get_times(&cursor, nr, again);
	fuzz_check(!cursor.is_bad && memcmp(t_ns, again, nr * sizeof(t_ns[0])) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zm_readings readings = { 0 };
	struct zm_buf raw = { 0 };
	struct zm_cursor cursor;

	if (size < 2)
		return 0;
	readings.form = data[0] % 3;
	if (zm_unpack(data + 2, size - 2, &raw) == 0) {
		cursor = zm_cursor(raw.data, raw.size);
		if (zm_codec_get_readings(&cursor, data[1], &readings) == 0)
			check_readings(&readings);
		zm_buf_release(&raw);
	}
	check_times(data + 2, size - 2, data[1]);
	zm_readings_release(&readings);
	return 0;
}
