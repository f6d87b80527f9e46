/* emit: values as JavaScript literals, and texts between the marks of HTML. */
#include "results/web/emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "results/utf8.h"
#include "workloads/base/clock.h"

static void put_escaped(FILE *out, unsigned int character)
{
	if (character > 0xffff) {
		character -= 0x10000;
		(void)fprintf(out, "\\u%04x\\u%04x", 0xd800 | character >> 10,
			      0xdc00 | (character & 0x3ff));
		return;
	}
	(void)fprintf(out, "\\u%04x", character);
}

void zm_emit_text(FILE *out, const char *text)
{
	unsigned int character;
	size_t length;

	if (!text) {
		(void)fputs("null", out);
		return;
	}
	(void)fputc('"', out);
	for (; (length = zm_utf8_next(text, &character)) > 0; text += length) {
		if (character == '"' || character == '\\')
			(void)fprintf(out, "\\%c", (char)character);
		else if (character < ' ' || character > '~' || character == '<' ||
			 character == '>' || character == '&')
			put_escaped(out, character);
		else
			(void)fputc((int)character, out);
	}
	(void)fputc('"', out);
}

void zm_emit_number(FILE *out, double value)
{
	if (!isfinite(value))
		(void)fputs("null", out);
	else if (value == rint(value) && fabs(value) < 1e15)
		(void)fprintf(out, "%" PRId64, (int64_t)value);
	else
		(void)fprintf(out, "%.9g", value);
}

void zm_emit_time(FILE *out, uint64_t wall_ns)
{
	(void)fprintf(out, "%" PRIu64, wall_ns / ZM_NS_PER_S);
}

static const char *mark_of(char character)
{
	switch (character) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void zm_emit_html(FILE *out, const char *text)
{
	char *printable = text ? zm_utf8_printable(text) : NULL;

	for (const char *at = printable; at && *at; at++) {
		const char *mark = mark_of(*at);

		if (mark)
			(void)fputs(mark, out);
		else
			(void)fputc(*at, out);
	}
	free(printable);
}
