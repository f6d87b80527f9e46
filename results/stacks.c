/* stacks: lines of frames; in the store a packed text. */
#include "results/stacks.h"

#include <errno.h>
#include <string.h>

#include "results/bytes.h"
#include "results/db.h"

/* --- the form -------------------------------------------------------------------------------- */

void zm_stacks_frame(FILE *out, const char *name)
{
	if (!*name)
		(void)fputc('_', out);
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		(void)fputc(c <= ' ' || c == ';' || c == 0x7f ? '_' : c, out);
	}
}

/* The number behind the last blank of [line, end). */
static bool parse_times(const char *line, const char *end, const char **ret_blank,
			uint64_t *ret_times)
{
	const char *blank = memrchr(line, ' ', (size_t)(end - line));
	uint64_t times = 0;

	if (!blank || blank == line || blank + 1 == end)
		return false;
	for (const char *at = blank + 1; at < end; at++) {
		if (*at < '0' || *at > '9' || __builtin_mul_overflow(times, UINT64_C(10), &times) ||
		    __builtin_add_overflow(times, (uint64_t)(*at - '0'), &times))
			return false;
	}
	*ret_blank = blank;
	*ret_times = times;
	return true;
}

static void split(const char *line, const char *end, struct zm_stack *ret_stack)
{
	ret_stack->nr = 0;
	while (line < end && ret_stack->nr < ZM_STACKS_DEPTH) {
		const char *semicolon = memchr(line, ';', (size_t)(end - line));
		const char *frame_end = semicolon ? semicolon : end;

		if (frame_end > line) {
			ret_stack->frames[ret_stack->nr] = line;
			ret_stack->lengths[ret_stack->nr++] = (size_t)(frame_end - line);
		}
		line = semicolon ? semicolon + 1 : end;
	}
}

bool zm_stacks_next(const char **at, struct zm_stack *ret_stack)
{
	while (**at) {
		const char *line = *at, *end = strchrnul(line, '\n'), *blank;

		*at = *end ? end + 1 : end;
		if (!parse_times(line, end, &blank, &ret_stack->times))
			continue;
		split(line, blank, ret_stack);
		if (ret_stack->nr > 0)
			return true;
	}
	return false;
}

/* --- the store ------------------------------------------------------------------------------- */

/* A text of it, terminated. */
static int unpack(const struct zm_rows *rows, struct zm_buf *ret_text)
{
	size_t size;
	const void *data = zm_rows_blob(rows, 3, &size);
	int error = zm_unpack(data, size, ret_text);

	if (error)
		return error;
	zm_buf_u8(ret_text, 0);
	return ret_text->error;
}

static int read_one(const struct zm_rows *rows,
		    int (*each)(void *context, const struct zm_stacks *stacks), void *context)
{
	zm_autobuf struct zm_buf text = { 0 };
	int error = unpack(rows, &text);

	if (error)
		return error;
	return each(context, &(struct zm_stacks){ .source = zm_rows_text(rows, 0),
						  .event = zm_rows_text(rows, 1),
						  .unit = zm_rows_text(rows, 2),
						  .folded = (const char *)text.data });
}

int zm_stacks_read(struct zm_store *store, uint64_t run,
		   int (*each)(void *context, const struct zm_stacks *stacks), void *context,
		   struct zm_why *why)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(zm_store_db(store), why, &rows,
				"SELECT source.name, event, unit, data FROM stacks"
				" JOIN source ON source.id = stacks.source"
				" WHERE stacks.run = ?1 ORDER BY seq",
				ZM_BIND(zm_int((int64_t)run)));

	while (!error && zm_rows_next(&rows, why, &error)) {
		error = read_one(&rows, each, context);
		if (error == -EUCLEAN)
			(void)zm_why_set(why, error, "%s: damaged: call chains of run %llu",
					 zm_store_path(store), (unsigned long long)run);
	}
	zm_rows_end(&rows);
	return error;
}
