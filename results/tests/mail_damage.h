/*
 * mail_damage: what mailing does to a text, and how mails are packed.
 *
 * Each takes a text over and gives a new one.
 */
#ifndef ZM_RESULTS_TESTS_MAIL_DAMAGE_H
#define ZM_RESULTS_TESTS_MAIL_DAMAGE_H

#include "results/tests/mail_maker.h"

#define PM "\xc2\xb1"

struct damage {
	char *text;
	size_t size;
	FILE *out;
};

static inline void damage_begin(struct damage *damage)
{
	*damage = (struct damage){ 0 };
	damage->out = open_memstream(&damage->text, &damage->size);
}

static inline char *damage_end(struct damage *damage, char *before)
{
	(void)fclose(damage->out);
	free(before);
	return damage->text;
}

/* Every line with its end, to `each`. */
static inline char *damage_lines(char *text, struct zm_random *random,
				 void (*each)(FILE *out, struct zm_random *random, const char *line,
					      size_t length))
{
	struct damage damage;

	damage_begin(&damage);
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "\n");

		each(damage.out, random, at, length);
		at += length + (at[length] == '\n');
	}
	return damage_end(&damage, text);
}

static inline void damage_quote_line(FILE *out, struct zm_random *random, const char *line,
				     size_t length)
{
	unsigned int depth = 1 + (unsigned int)zm_random_below(random, 2);

	for (unsigned int i = 0; i < depth; i++)
		(void)fputs(zm_random_below(random, 2) ? "> " : ">", out);
	(void)fprintf(out, "%s%.*s\n", length > 0 && line[0] == '>' ? "" : " ", (int)length, line);
}

static inline char *damage_quote(char *text, struct zm_random *random)
{
	return damage_lines(text, random, damage_quote_line);
}

static inline void damage_crlf_line(FILE *out, struct zm_random *random, const char *line,
				    size_t length)
{
	(void)random;
	(void)fprintf(out, "%.*s\r\n", (int)length, line);
}

static inline char *damage_crlf(char *text, struct zm_random *random)
{
	return damage_lines(text, random, damage_crlf_line);
}

/* At most 78 letters a line, broken at blanks. */
static inline void damage_wrap_line(FILE *out, struct zm_random *random, const char *line,
				    size_t length)
{
	(void)random;
	while (length > 78) {
		size_t at = 78;

		while (at > 0 && line[at] != ' ')
			at--;
		if (at == 0 || strspn(line, " ") >= at)
			break;
		(void)fprintf(out, "%.*s\n", (int)at, line);
		line += at + 1;
		length -= at + 1;
	}
	(void)fprintf(out, "%.*s\n", (int)length, line);
}

static inline char *damage_wrap(char *text, struct zm_random *random)
{
	return damage_lines(text, random, damage_wrap_line);
}

/* Runs of blanks become one, tabs too. */
static inline char *damage_squeeze(char *text, struct zm_random *random)
{
	struct damage damage;
	bool was_blank = true;

	damage_begin(&damage);
	(void)random;
	for (const char *at = text; *at; at++) {
		bool is_blank = *at == ' ' || *at == '\t';

		if (!(is_blank && was_blank))
			(void)fputc(is_blank ? ' ' : *at, damage.out);
		was_blank = is_blank || *at == '\n';
	}
	return damage_end(&damage, text);
}

/* Empty lines are lost. */
static inline void damage_close_line(FILE *out, struct zm_random *random, const char *line,
				     size_t length)
{
	(void)random;
	if (length > 0)
		(void)fprintf(out, "%.*s\n", (int)length, line);
}

static inline char *damage_close(char *text, struct zm_random *random)
{
	return damage_lines(text, random, damage_close_line);
}

/* All on one line. */
static inline char *damage_join(char *text, struct zm_random *random)
{
	text = damage_squeeze(text, random);
	for (char *at = text; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	return damage_squeeze(text, random);
}

/* The ± in another form; without one ("") the stddev stands bare. */
static inline char *damage_mark(char *text, struct zm_random *random)
{
	static const char *const marks[] = { "",
					     "+-",
					     "A+-",
					     "~",
					     "+/-",
					     "\xc4\x85",
					     "\xef\xbf\xbd",
					     "\xc3\x82\xc2\xb1",
					     " " PM " ",
					     "\xef\xbf\xbd\xef\xbf\xbd",
					     NULL };
	const char *mark = made_pick(random, marks);
	struct damage damage;

	damage_begin(&damage);
	for (const char *at = text; *at; at++) {
		if (strncmp(at, PM, 2) != 0) {
			(void)fputc(*at, damage.out);
			continue;
		}
		(void)fputs(mark, damage.out);
		at++;
	}
	return damage_end(&damage, text);
}

/* Some of it, at random. */
static inline char *damage_some(char *text, struct zm_random *random)
{
	static char *(*const kinds[])(char *text, struct zm_random *random) = {
		damage_wrap, damage_squeeze, damage_close, damage_join, damage_mark,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (zm_random_below(random, 4) == 0)
			text = kinds[i](text, random);
	}
	for (uint64_t depth = zm_random_below(random, 4); depth > 0; depth--)
		text = damage_quote(text, random);
	if (zm_random_below(random, 4) == 0)
		text = damage_crlf(text, random);
	return text;
}

/* --- packing --- */

static inline void pack_quoted(FILE *out, const char *text)
{
	size_t column = 0;

	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		bool is_plain =
			(*at >= 33 && *at < 127 && *at != '=') || (*at == ' ' && at[1] != '\n');

		if (*at == '\n') {
			(void)fputc('\n', out);
			column = 0;
			continue;
		}
		if (column > 72) {
			(void)fputs("=\n", out);
			column = 0;
		}
		column += is_plain ? 1 : 3;
		if (is_plain)
			(void)fputc(*at, out);
		else
			(void)fprintf(out, "=%02X", *at);
	}
}

static inline void pack_base64(FILE *out, const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i += 3) {
		unsigned int bits = (unsigned int)(unsigned char)text[i] << 16;

		if (i + 1 < length)
			bits |= (unsigned int)(unsigned char)text[i + 1] << 8;
		if (i + 2 < length)
			bits |= (unsigned int)(unsigned char)text[i + 2];
		(void)fputc(digits[bits >> 18], out);
		(void)fputc(digits[bits >> 12 & 63], out);
		(void)fputc(i + 1 < length ? digits[bits >> 6 & 63] : '=', out);
		(void)fputc(i + 2 < length ? digits[bits & 63] : '=', out);
		if (i % 57 == 54)
			(void)fputc('\n', out);
	}
	(void)fputc('\n', out);
}

/* ± as one byte. */
static inline void pack_latin1(FILE *out, const char *text)
{
	for (const char *at = text; *at; at++) {
		if (strncmp(at, PM, 2) == 0) {
			(void)fputc(0xb1, out);
			at++;
		} else {
			(void)fputc(*at, out);
		}
	}
}

enum packing {
	PLAIN,
	PLAIN_LATIN1,
	PLAIN_QUOTED,
	MAIL_8BIT,
	MAIL_LATIN1,
	MAIL_QUOTED,
	MAIL_BASE64,
	MAIL_PARTS,
	MAIL_HTML,
	NR_PACKINGS
};

static inline void pack_html(FILE *out, const char *text)
{
	(void)fputs("<html><body><pre>", out);
	for (const char *at = text; *at; at++) {
		if (strncmp(at, PM, 2) == 0) {
			(void)fputs("&plusmn;", out);
			at++;
		} else if (*at == '<' || *at == '>' || *at == '&') {
			(void)fputs(*at == '<' ? "&lt;" : *at == '>' ? "&gt;" : "&amp;", out);
		} else {
			(void)fputc(*at, out);
		}
	}
	(void)fputs("</pre></body></html>\n", out);
}

static inline void pack_part(FILE *out, const char *type, const char *encoding)
{
	(void)fprintf(out, "Content-Type: %s\nContent-Transfer-Encoding: %s\n", type, encoding);
}

static inline char *pack(char *text, const struct made *made, enum packing packing)
{
	static const char utf8[] = "text/plain; charset=\"utf-8\"";
	const struct made_table *table = &made->tables[0];
	struct damage damage;

	damage_begin(&damage);
	if (packing >= MAIL_8BIT)
		(void)fprintf(damage.out,
			      "Return-Path: <name@example.com>\nFrom: robot <name@example.com>\n"
			      "Subject: [mm]  %.10s:\n  %s %s %s\nMIME-Version: 1.0\n",
			      table->commits[1][0], table->claimed, table->percent,
			      table->is_regression ? "regression" : "improvement");
	switch (packing) {
	case MAIL_8BIT:
		pack_part(damage.out, utf8, "8bit");
		break;
	case MAIL_LATIN1:
		pack_part(damage.out, "text/plain; charset=iso-8859-15", "8bit");
		break;
	case MAIL_QUOTED:
		pack_part(damage.out, utf8, "quoted-printable");
		break;
	case MAIL_BASE64:
		pack_part(damage.out, utf8, "base64");
		break;
	case MAIL_PARTS:
		(void)fputs(
			"Content-Type: multipart/mixed;\n boundary=\"=_a.b\"\n\nignored\n--=_a.b\n",
			damage.out);
		pack_part(damage.out, utf8, "quoted-printable");
		break;
	case MAIL_HTML:
		pack_part(damage.out, "text/html; charset=utf-8", "8bit");
		break;
	default:
		break;
	}
	if (packing >= MAIL_8BIT)
		(void)fputc('\n', damage.out);
	if (packing == MAIL_QUOTED || packing == PLAIN_QUOTED || packing == MAIL_PARTS)
		pack_quoted(damage.out, text);
	else if (packing == MAIL_BASE64)
		pack_base64(damage.out, text);
	else if (packing == MAIL_LATIN1 || packing == PLAIN_LATIN1)
		pack_latin1(damage.out, text);
	else if (packing == MAIL_HTML)
		pack_html(damage.out, text);
	else
		(void)fputs(text, damage.out);
	if (packing == MAIL_PARTS)
		(void)fprintf(damage.out,
			      "\n--=_a.b\nContent-Type: text/plain; name=\"job.yaml\"\n"
			      "Content-Disposition: attachment; filename=\"job.yaml\"\n\n"
			      "---\nsuite: %s\ntestcase: %s\nnr_node: 7\nkernel_cmdline_hw: quiet\n"
			      "--=_a.b--\n",
			      table->testcase, table->testcase);
	return damage_end(&damage, text);
}

#endif
