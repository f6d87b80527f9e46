/* mime: quoted-printable, base64, charsets (by iconv), encoded words, parameters. */
#include "results/mime.h"

#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#define CHARSET_SIZE 48

/* --- quoted-printable and base64 --- */

static int hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* How long a soft line break at text[0] == '=' is; 0: it is none. Blanks may stand before its end. */
static size_t soft_break(const char *text, size_t length)
{
	size_t i = 1;

	while (i < length && (text[i] == ' ' || text[i] == '\t'))
		i++;
	if (i < length && text[i] == '\r')
		i++;
	if (i < length && text[i] == '\n')
		return i + 1;
	return i == length ? i : 0;
}

void zm_mime_quoted(struct zm_buf *out, const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && !out->error) {
		const char *equals = memchr(text + i, '=', length - i);
		size_t plain = equals ? (size_t)(equals - text) - i : length - i;
		size_t jump;

		zm_buf_bytes(out, text + i, plain);
		i += plain;
		if (!equals)
			return;
		jump = soft_break(text + i, length - i);
		if (jump > 0) {
			i += jump;
		} else if (length - i >= 3 && hex_of(text[i + 1]) >= 0 &&
			   hex_of(text[i + 2]) >= 0) {
			zm_buf_u8(out, (uint8_t)(hex_of(text[i + 1]) * 16 + hex_of(text[i + 2])));
			i += 3;
		} else {
			zm_buf_u8(out, '=');
			i++;
		}
	}
}

bool zm_mime_is_quoted(const char *text, size_t length)
{
	static const char *const signs[] = {
		"=3D=3D=3D=3D=3D=3D", "=C2=B1", "=c2=b1", "=20\n", "=B1 ", "=09"
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (memmem(text, length, signs[i], strlen(signs[i])))
			return true;
	}
	return false;
}

static int digit_of(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

void zm_mime_base64(struct zm_buf *out, const char *text, size_t length)
{
	unsigned int bits = 0, nr_bits = 0;

	for (size_t i = 0; i < length && !out->error; i++) {
		int digit = digit_of((unsigned char)text[i]);

		if (text[i] == '=') {
			bits = 0;
			nr_bits = 0;
		}
		if (digit < 0)
			continue;
		bits = (bits << 6 | (unsigned int)digit) & 0xffff;
		nr_bits += 6;
		if (nr_bits >= 8) {
			nr_bits -= 8;
			zm_buf_u8(out, (uint8_t)(bits >> nr_bits & 0xff));
		}
	}
}

/* --- charsets --- */

/* The length of the UTF-8 character at text, 0: it is none. */
static size_t utf8_length(const unsigned char *text, size_t length)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t need = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	unsigned int c = text[0];

	if (need == 1)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4 || need > length)
		return 0;
	c &= 0x7fu >> need;
	for (size_t i = 1; i < need; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	return c < least[need] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : need;
}

size_t zm_mime_cut(const char *text, size_t length, size_t size)
{
	size_t n = length < size ? length : size;

	while (n > 0 && n < length && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static void put_character(struct zm_buf *out, unsigned int c)
{
	if (c < 0x80) {
		zm_buf_u8(out, (uint8_t)c);
	} else if (c < 0x800) {
		zm_buf_u8(out, (uint8_t)(0xc0 | c >> 6));
		zm_buf_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else {
		zm_buf_u8(out, (uint8_t)(0xe0 | c >> 12));
		zm_buf_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		zm_buf_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	}
}

/* Quotes, dashes and blanks are what mails have of windows-1252's own part. */
static unsigned int windows_1252(unsigned char c)
{
	switch (c) {
	case 0x80:
		return 0x20ac;
	case 0x85:
		return 0x2026;
	case 0x91:
		return 0x2018;
	case 0x92:
		return 0x2019;
	case 0x93:
		return 0x201c;
	case 0x94:
		return 0x201d;
	case 0x96:
		return 0x2013;
	case 0x97:
		return 0x2014;
	default:
		return c < 0xa0 ? 0xfffd : c;
	}
}

static void repair_utf8(struct zm_buf *out, const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t i = 0;

	while (i < length && !out->error) {
		size_t plain = i, n;

		while (plain < length && bytes[plain] > 0 && bytes[plain] < 0x80)
			plain++;
		zm_buf_bytes(out, text + i, plain - i);
		i = plain;
		if (i == length)
			return;
		n = bytes[i] == 0 ? 0 : utf8_length(bytes + i, length - i);
		if (n > 0)
			zm_buf_bytes(out, text + i, n);
		else
			put_character(out, bytes[i] == 0 ? ' ' : windows_1252(bytes[i]));
		i += n > 0 ? n : 1;
	}
}

/* What iconv may be asked for: a plain name, without suffixes that change what it does. */
static bool is_charset(const char *name)
{
	return name && *name && strlen(name) < CHARSET_SIZE &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-_.:()")] == '\0';
}

static bool is_utf8(const char *charset)
{
	return strcasecmp(charset, "utf-8") == 0 || strcasecmp(charset, "utf8") == 0 ||
	       strcasecmp(charset, "us-ascii") == 0;
}

/* False: not all of it could be converted, and `out` is as before. */
static bool convert(struct zm_buf *out, iconv_t handle, const char *text, size_t length)
{
	size_t before = out->size;
	char *in = (char *)text, piece[4096];

	while (length > 0 && !out->error) {
		char *to = piece;
		size_t room = sizeof(piece);
		size_t n = iconv(handle, &in, &length, &to, &room);

		zm_buf_bytes(out, piece, (size_t)(to - piece));
		if (n == (size_t)-1 && errno != E2BIG) {
			out->size = before;
			return false;
		}
	}
	for (size_t i = before; i < out->size && !out->error; i++)
		out->data[i] = out->data[i] ? out->data[i] : ' ';
	return true;
}

void zm_mime_utf8(struct zm_buf *out, const char *text, size_t length, const char *charset)
{
	iconv_t handle = (iconv_t)-1;
	bool is_done = false;

	if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
		charset = "UTF-16";
	else if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		return zm_mime_utf8(out, text + 3, length - 3, NULL);
	if (is_charset(charset) && !is_utf8(charset))
		handle = iconv_open("UTF-8", charset);
	if (handle != (iconv_t)-1) {
		is_done = convert(out, handle, text, length);
		(void)iconv_close(handle);
	}
	if (!is_done)
		repair_utf8(out, text, length);
}

/* --- headers --- */

/* Quoted-printable in which a blank is '_'. */
static void put_q_text(struct zm_buf *out, const char *text, size_t length)
{
	while (length > 0) {
		const char *blank = memchr(text, '_', length);
		size_t n = blank ? (size_t)(blank - text) : length;

		zm_mime_quoted(out, text, n);
		if (blank)
			zm_buf_u8(out, ' ');
		n += blank != NULL;
		text += n;
		length -= n;
	}
}

/* "=?charset?q?text?=" at text. Returns its length, 0: it is none. */
static size_t put_word(struct zm_buf *out, const char *text, size_t length)
{
	const char *end = text + length, *kind, *body, *stop;
	struct zm_buf raw = { 0 };
	char charset[CHARSET_SIZE];
	size_t n;

	kind = memchr(text + 2, '?', length - 2);
	n = kind ? (size_t)(kind - text) - 2 : 0;
	if (n == 0 || n >= sizeof(charset) || end - kind < 5 || kind[2] != '?')
		return 0;
	memcpy(charset, text + 2, n);
	charset[n] = '\0';
	charset[strcspn(charset, "*")] = '\0'; /* a language */
	body = kind + 3;
	stop = memmem(body, (size_t)(end - body), "?=", 2);
	if (!stop)
		return 0;
	if (tolower((unsigned char)kind[1]) == 'b')
		zm_mime_base64(&raw, body, (size_t)(stop - body));
	else
		put_q_text(&raw, body, (size_t)(stop - body));
	if (raw.size > 0)
		zm_mime_utf8(out, (const char *)raw.data, raw.size, charset);
	zm_buf_release(&raw);
	return (size_t)(stop + 2 - text);
}

static size_t blanks_at(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && isspace((unsigned char)text[n]))
		n++;
	return n;
}

/* Up to the next blank or '=', but at least a byte. */
static size_t plain_at(const char *text, size_t length)
{
	size_t n = length > 0;

	while (n < length && !isspace((unsigned char)text[n]) && text[n] != '=')
		n++;
	return n;
}

void zm_mime_words(struct zm_buf *out, const char *text, size_t length)
{
	bool was_word = false;
	size_t i = 0;

	while (i < length && !out->error) {
		size_t blanks = blanks_at(text + i, length - i);
		bool is_word = length - i - blanks > 6 && text[i + blanks] == '=' &&
			       text[i + blanks + 1] == '?';
		size_t n = 0;

		if (blanks > 0 && !(is_word && was_word))
			zm_buf_u8(out, ' ');
		i += blanks;
		if (is_word)
			n = put_word(out, text + i, length - i);
		was_word = n > 0;
		if (n == 0)
			n = plain_at(text + i, length - i);
		if (!was_word)
			zm_mime_utf8(out, text + i, n, NULL);
		i += n;
	}
}

/* Takes one value, quoted or not. Returns where it ended; false in *ret_fits: it did not fit. */
static const char *take_value(const char *at, char *buf, size_t size, bool *ret_fits)
{
	bool is_quoted = *at == '"';
	size_t n = 0;

	at += is_quoted;
	while (*at && (is_quoted ? *at != '"' : !strchr("; \t\r\n", *at))) {
		if (is_quoted && *at == '\\' && at[1])
			at++;
		if (n + 1 < size)
			buf[n] = *at;
		n++;
		at++;
	}
	*ret_fits = n > 0 && n < size;
	buf[n < size ? n : size - 1] = '\0';
	return at + (is_quoted && *at == '"');
}

bool zm_mime_parameter(const char *value, const char *name, char *buf, size_t size)
{
	size_t length = strlen(name);
	const char *at = strchr(value, ';');

	while (at && *at) {
		bool is_it, fits;

		at += strspn(at, "; \t\r\n");
		is_it = strncasecmp(at, name, length) == 0 && at[length] == '=';
		at += strcspn(at, "=;");
		if (*at != '=')
			continue;
		at = take_value(at + 1, buf, size, &fits);
		if (is_it)
			return fits;
	}
	return false;
}
