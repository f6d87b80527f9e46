/* utf8: texts from anywhere, made fit for a terminal, a table, a JSON string. */
#include "results/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

/* The length that a first byte announces, and the bits of it that count; 0: none. */
static size_t announced(unsigned char first, unsigned int *ret_bits)
{
	if (first < 0x80) {
		*ret_bits = first;
		return 1;
	}
	if (first >= 0xc2 && first < 0xe0) {
		*ret_bits = first & 0x1fu;
		return 2;
	}
	if (first >= 0xe0 && first < 0xf0) {
		*ret_bits = first & 0x0fu;
		return 3;
	}
	if (first >= 0xf0 && first < 0xf5) {
		*ret_bits = first & 0x07u;
		return 4;
	}
	return 0;
}

static bool is_allowed(unsigned int character, size_t length)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return character >= least[length] && character <= 0x10ffff &&
	       (character < 0xd800 || character > 0xdfff);
}

size_t zm_utf8_next(const char *text, unsigned int *ret_character)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned int character = 0;
	size_t length;

	if (!*at) {
		*ret_character = 0;
		return 0;
	}
	length = announced(*at, &character);
	*ret_character = REPLACEMENT;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 1;
		character = character << 6 | (at[i] & 0x3fu);
	}
	if (length == 0 || !is_allowed(character, length))
		return 1;
	*ret_character = character;
	return length;
}

struct range {
	unsigned int first, last;
};

/* Combining marks, joiners and variation selectors in common use. */
static const struct range marks[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a },
	{ 0x064b, 0x065f }, { 0x0900, 0x0902 }, { 0x093c, 0x093c }, { 0x0e31, 0x0e31 },
	{ 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
	{ 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x2064 }, { 0x20d0, 0x20ff },
	{ 0x3099, 0x309a }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
};

/* Wide and full-width ones of UAX #11. */
static const struct range wides[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },   { 0x3400, 0x4dbf },
	{ 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

static bool is_within(unsigned int character, const struct range *ranges, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	}
	return false;
}

static size_t width_of(unsigned int character)
{
	if (character < 0x300)
		return 1;
	if (is_within(character, marks, sizeof(marks) / sizeof(marks[0])))
		return 0;
	return is_within(character, wides, sizeof(wides) / sizeof(wides[0])) ? 2 : 1;
}

size_t zm_utf8_width(const char *text)
{
	unsigned int character;
	size_t width = 0, length;

	while ((length = zm_utf8_next(text, &character)) > 0) {
		width += width_of(character);
		text += length;
	}
	return width;
}

size_t zm_utf8_cut(const char *text, size_t columns)
{
	unsigned int character;
	size_t bytes = 0, length;

	while ((length = zm_utf8_next(text + bytes, &character)) > 0) {
		size_t width = width_of(character);

		if (width > columns)
			break;
		columns -= width;
		bytes += length;
	}
	return bytes;
}

/* C0, DEL and C1; and what turns the direction of writing, so that nothing is shown as what it is
 * not. */
static bool is_control(unsigned int character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
	       (character >= 0x202a && character <= 0x202e) ||
	       (character >= 0x2066 && character <= 0x2069) || character == 0x2028 ||
	       character == 0x2029;
}

static char *copy(const char *text, bool without_controls)
{
	char *made = malloc(strlen(text) * 3 + 1); /* U+FFFD has three bytes */
	char *at = made;
	unsigned int character;
	size_t length;

	if (!made)
		return NULL;
	while ((length = zm_utf8_next(text, &character)) > 0) {
		if (without_controls && is_control(character)) {
			*at++ = '?';
		} else if (character == REPLACEMENT && length == 1) {
			memcpy(at, "\xef\xbf\xbd", 3);
			at += 3;
		} else {
			memcpy(at, text, length);
			at += length;
		}
		text += length;
	}
	*at = '\0';
	return made;
}

char *zm_utf8_printable(const char *text)
{
	return copy(text, true);
}

char *zm_utf8_valid(const char *text)
{
	return copy(text, false);
}
