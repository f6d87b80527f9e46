/*
 * mail: bytes -> entity (headers, body) -> parts.
 *
 *     take_entity   headers -> multipart? each part is an entity again
 *                           -> a mail in the mail? an entity again
 *                           -> text? decode, keep
 */
#include "results/mail.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "results/mime.h"

#define HEADER_SIZE   1024
#define BOUNDARY_SIZE 80
#define NAME_SIZE     128
#define TAG_SIZE      4096

struct span {
	const char *text;
	size_t length;
};

/* What an entity's headers say. */
struct head {
	char type[HEADER_SIZE]; /* with its parameters; "" is text/plain */
	char encoding[64];
	char disposition[HEADER_SIZE];
	char subject[HEADER_SIZE];
	bool is_mail; /* it has headers that only a mail has */
};

struct reader {
	struct zm_mail *mail;
	unsigned int nr_entities;
	int error;
};

static struct span rest_of(struct span span, size_t used)
{
	return (struct span){ span.text + used, span.length - used };
}

/* The line at the beginning, without its end; *ret_used is with it. */
static struct span line_of(struct span span, size_t *ret_used)
{
	const char *end = memchr(span.text, '\n', span.length);
	size_t length = end ? (size_t)(end - span.text) : span.length;

	*ret_used = length + (end != NULL);
	if (length > 0 && span.text[length - 1] == '\r')
		length--;
	return (struct span){ span.text, length };
}

/* Control characters of both blocks, but tabs and line ends: each becomes '?'. Returns the length. */
static size_t clean(char *text, size_t length)
{
	size_t to = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		unsigned char next = (unsigned char)text[i + 1];

		if (c == 0xc2 && next >= 0x80 && next < 0xa0) {
			text[to++] = '?';
			i++;
		} else {
			text[to++] =
				(c < 0x20 && !strchr("\t\n\r", c)) || c == 0x7f ? '?' : text[i];
		}
	}
	text[to] = '\0';
	return to;
}

/* --- headers --- */

/* The length of the name in "Name: value", 0: it is none. */
static size_t name_length(struct span line)
{
	size_t n = 0;

	while (n < line.length && n < 64 &&
	       (isalnum((unsigned char)line.text[n]) || line.text[n] == '-'))
		n++;
	return n > 0 && n < line.length && line.text[n] == ':' ? n : 0;
}

static bool is_named(struct span line, const char *name)
{
	return strlen(name) == name_length(line) && strncasecmp(line.text, name, strlen(name)) == 0;
}

/* A header goes on in lines that begin with a blank. */
static struct span header_of(struct span span, size_t *ret_used)
{
	struct span header = line_of(span, ret_used);

	while (*ret_used < span.length &&
	       (span.text[*ret_used] == ' ' || span.text[*ret_used] == '\t')) {
		size_t used;
		struct span more = line_of(rest_of(span, *ret_used), &used);

		header.length = (size_t)(more.text + more.length - header.text);
		*ret_used += used;
	}
	return header;
}

static void copy_value(struct span header, char *buf, size_t size)
{
	size_t skip = name_length(header) + 1, n = 0;

	while (skip < header.length && isspace((unsigned char)header.text[skip]))
		skip++;
	for (size_t i = skip; i < header.length && n + 1 < size; i++)
		buf[n++] = header.text[i] ? header.text[i] : ' ';
	buf[n] = '\0';
}

static void copy_subject(struct span header, struct head *head)
{
	struct span value = rest_of(header, name_length(header) + 1);
	struct zm_buf words = { 0 };
	size_t n;

	while (value.length > 0 && isspace((unsigned char)*value.text))
		value = rest_of(value, 1);
	zm_mime_words(&words, value.text, value.length);
	n = zm_mime_cut((const char *)words.data, words.size, sizeof(head->subject) - 1);
	if (n > 0)
		memcpy(head->subject, words.data, n);
	head->subject[n] = '\0';
	(void)clean(head->subject, n);
	zm_buf_release(&words);
}

static void take_header(struct head *head, struct span header)
{
	static const char *const mail_names[] = { "From", "Date", "Message-ID", "Received",
						  "Return-Path" };

	if (is_named(header, "Content-Type"))
		copy_value(header, head->type, sizeof(head->type));
	else if (is_named(header, "Content-Transfer-Encoding"))
		copy_value(header, head->encoding, sizeof(head->encoding));
	else if (is_named(header, "Content-Disposition"))
		copy_value(header, head->disposition, sizeof(head->disposition));
	else if (is_named(header, "Subject"))
		copy_subject(header, head);
	for (size_t i = 0; i < sizeof(mail_names) / sizeof(mail_names[0]); i++)
		head->is_mail |= is_named(header, mail_names[i]);
}

/* "From name@example.com Tue…" and ">From…", which mail boxes put before a mail. */
static bool is_mbox_line(struct span line)
{
	return (line.length > 5 && memcmp(line.text, "From ", 5) == 0) ||
	       (line.length > 6 && memcmp(line.text, ">From ", 6) == 0);
}

/* How long the headers are, with the empty line behind them; 0: there are none. */
static size_t take_head(struct span entity, struct head *head)
{
	size_t used = 0, line_used;
	bool has_any = false;

	*head = (struct head){ 0 };
	while (used < entity.length) {
		struct span header = header_of(rest_of(entity, used), &line_used);

		if (header.length == 0)
			return has_any || used == 0 ? used + line_used : 0;
		if (name_length(header) > 0) {
			take_header(head, header);
			has_any = true;
		} else if (has_any || !is_mbox_line(header)) {
			return 0;
		}
		used += line_used;
	}
	return has_any ? used : 0;
}

/* --- parts --- */

static bool has_type(const struct head *head, const char *type)
{
	return strncasecmp(head->type, type, strlen(type)) == 0;
}

static const char *name_of(struct reader *reader, const struct head *head)
{
	char name[NAME_SIZE];

	if (!zm_mime_parameter(head->disposition, "filename", name, sizeof(name)) &&
	    !zm_mime_parameter(head->type, "name", name, sizeof(name)))
		return strncasecmp(head->disposition, "attachment", 10) == 0 ? "" : NULL;
	return zm_pool_text(&reader->mail->pool, name);
}

static void decode(struct zm_buf *out, const struct head *head, struct span body)
{
	if (strncasecmp(head->encoding, "base64", 6) == 0)
		zm_mime_base64(out, body.text, body.length);
	else if (strncasecmp(head->encoding, "quoted-printable", 16) == 0)
		zm_mime_quoted(out, body.text, body.length);
	else
		zm_buf_bytes(out, body.text, body.length);
}

/* Text that was put into quoted-printable and kept so, as archives do. */
static void decode_again(struct zm_buf *raw)
{
	struct zm_buf plain = { 0 };

	if (raw->error || raw->size == 0 || !zm_mime_is_quoted((const char *)raw->data, raw->size))
		return;
	zm_mime_quoted(&plain, (const char *)raw->data, raw->size);
	zm_buf_release(raw);
	*raw = plain;
}

/* &amp; and its like at text[0] == '&': how long it is beyond the '&', 0: none. */
static size_t entity_at(const char *text, size_t length, char *ret_c)
{
	static const struct {
		const char *name, c;
	} entities[] = { { "&amp;", '&' },  { "&lt;", '<' },   { "&gt;", '>' },
			 { "&quot;", '"' }, { "&nbsp;", ' ' }, { "&#160;", ' ' },
			 { "&#39;", '\'' }, { "&#43;", '+' },  { "&plusmn;", '~' },
			 { "&#177;", '~' } };

	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
		size_t n = strlen(entities[i].name);

		if (n <= length && strncasecmp(text, entities[i].name, n) == 0) {
			*ret_c = entities[i].c;
			return n - 1;
		}
	}
	return 0;
}

/* Is this tag the end of a line? */
static bool breaks_line(const char *tag, size_t length)
{
	static const char *const tags[] = { "<br", "<p", "</p", "<div", "</div", "</tr", "</pre" };

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		size_t n = strlen(tags[i]);

		if (n < length && strncasecmp(tag, tags[i], n) == 0 &&
		    !isalnum((unsigned char)tag[n]))
			return true;
	}
	return false;
}

/* In place: tags go, some become line ends. A '<' that no '>' follows soon is no tag. */
static size_t strip_html(char *text, size_t length)
{
	const char *end = text; /* the next '>', once looked for */
	size_t to = 0;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (c == '<' && end && end <= text + i)
			end = memchr(text + i, '>', length - i);
		if (c == '<' && end && end - (text + i) < TAG_SIZE) {
			if (breaks_line(text + i, (size_t)(end - (text + i)) + 1))
				text[to++] = '\n';
			i = (size_t)(end - text);
			continue;
		}
		if (c == '&')
			i += entity_at(text + i, length - i, &c);
		text[to++] = c;
	}
	text[to] = '\0';
	return to;
}

static void keep_part(struct reader *reader, const struct head *head, const struct zm_buf *text)
{
	struct zm_mail *mail = reader->mail;
	struct zm_mail_part *part = &mail->parts[mail->nr_parts];
	char *copy = zm_pool_take(&mail->pool, text->size + 1);

	if (!copy)
		return;
	if (text->size > 0)
		memcpy(copy, text->data, text->size);
	copy[text->size] = '\0';
	*part = (struct zm_mail_part){ name_of(reader, head), copy, text->size };
	if (has_type(head, "text/html"))
		part->length = strip_html(copy, text->size);
	part->length = clean(copy, part->length);
	mail->nr_parts++;
}

static void take_text(struct reader *reader, const struct head *head, struct span body)
{
	struct zm_buf raw = { 0 }, text = { 0 };
	char charset[64];
	bool has_charset = zm_mime_parameter(head->type, "charset", charset, sizeof(charset));

	if (reader->mail->nr_parts == ZM_MAIL_PARTS)
		return;
	decode(&raw, head, body);
	decode_again(&raw);
	if (raw.size > 0)
		zm_mime_utf8(&text, (const char *)raw.data, raw.size, has_charset ? charset : NULL);
	if (raw.error || text.error)
		reader->error = -ENOMEM;
	else if (text.size > 0)
		keep_part(reader, head, &text);
	zm_buf_release(&raw);
	zm_buf_release(&text);
}

/* --- entities --- */

static void take_entity(struct reader *reader, struct span entity, unsigned int depth);

/* The next line "--BOUNDARY" or "--BOUNDARY--" from the beginning of a line on. */
static bool find_border(struct span body, const char *boundary, size_t *ret_at, size_t *ret_used,
			bool *ret_last)
{
	size_t length = strlen(boundary), at = 0, used;

	while (at < body.length) {
		struct span line = line_of(rest_of(body, at), &used);

		if (line.length >= length + 2 && line.text[0] == '-' && line.text[1] == '-' &&
		    memcmp(line.text + 2, boundary, length) == 0) {
			*ret_at = at;
			*ret_used = used;
			*ret_last = line.length >= length + 4 &&
				    memcmp(line.text + 2 + length, "--", 2) == 0;
			return true;
		}
		at += used;
	}
	return false;
}

static void take_multipart(struct reader *reader, const struct head *head, struct span body,
			   unsigned int depth)
{
	bool is_choice = has_type(head, "multipart/alternative");
	size_t before = reader->mail->nr_parts;
	char boundary[BOUNDARY_SIZE];
	bool is_last = false;
	size_t at, used;

	if (!zm_mime_parameter(head->type, "boundary", boundary, sizeof(boundary)) ||
	    !find_border(body, boundary, &at, &used, &is_last)) {
		take_text(reader, &(struct head){ 0 }, body);
		return;
	}
	body = rest_of(body, at + used);
	while (body.length > 0 && !is_last && !(is_choice && reader->mail->nr_parts > before)) {
		bool has_next = find_border(body, boundary, &at, &used, &is_last);

		take_entity(reader, (struct span){ body.text, has_next ? at : body.length },
			    depth + 1);
		body = rest_of(body, has_next ? at + used : body.length);
	}
}

static void take_entity(struct reader *reader, struct span entity, unsigned int depth)
{
	struct head head;
	size_t used = take_head(entity, &head);
	struct span body = rest_of(entity, used);

	if (reader->error || reader->mail->pool.error || depth > ZM_MAIL_DEPTH ||
	    reader->nr_entities++ > 4 * ZM_MAIL_PARTS)
		return;
	if (depth == 0 && !head.is_mail && !head.type[0] && !head.subject[0]) {
		take_text(reader, &(struct head){ 0 }, entity);
		return;
	}
	if (!reader->mail->subject && head.subject[0])
		reader->mail->subject = zm_pool_text(&reader->mail->pool, head.subject);
	if (has_type(&head, "multipart/"))
		take_multipart(reader, &head, body, depth);
	else if (has_type(&head, "message/rfc822"))
		take_entity(reader, body, depth + 1);
	else if (!head.type[0] || has_type(&head, "text/") ||
		 has_type(&head, "application/x-yaml") || has_type(&head, "application/yaml") ||
		 has_type(&head, "application/x-sh"))
		take_text(reader, &head, body);
}

int zm_mail_read(const char *bytes, size_t length, struct zm_mail *ret_mail, struct zm_why *why)
{
	struct reader reader = { .mail = ret_mail };

	if (length > ZM_MAIL_BYTES)
		return zm_why_set(why, -EFBIG,
				  "the mail is larger than %zu MiB: cut out the report",
				  ZM_MAIL_BYTES >> 20);
	*ret_mail = (struct zm_mail){ 0 };
	take_entity(&reader, (struct span){ bytes, length }, 0);
	if (reader.error || ret_mail->pool.error) {
		zm_mail_release(ret_mail);
		return zm_why_errno(why, -ENOMEM, "reading the mail");
	}
	return 0;
}

void zm_mail_release(struct zm_mail *mail)
{
	zm_pool_release(&mail->pool);
	*mail = (struct zm_mail){ 0 };
}
