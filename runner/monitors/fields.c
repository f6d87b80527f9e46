/*
 * fields: one pass over the text, by pointers; nothing is copied.
 */
#include "runner/monitors/fields.h"

#include <string.h>

#include "workloads/sample.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool zm_fields_next_line(const char **text, const char **ret_line, size_t *ret_length)
{
	const char *line = *text;
	const char *newline;

	if (*line == '\0')
		return false;
	newline = strchr(line, '\n');
	*ret_line = line;
	*ret_length = newline ? (size_t)(newline - line) : strlen(line);
	*text = newline ? newline + 1 : line + *ret_length;
	return true;
}

bool zm_fields_next_word(const char **at, const char *end, const char **ret_word,
			 size_t *ret_length)
{
	const char *from = *at;
	const char *to;

	while (from < end && is_blank(*from))
		from++;
	if (from == end)
		return false;
	for (to = from; to < end && !is_blank(*to);)
		to++;
	*ret_word = from;
	*ret_length = (size_t)(to - from);
	*at = to;
	return true;
}

bool zm_fields_number(const char *from, const char *end, uint64_t *ret_value, uint32_t *ret_flags)
{
	uint64_t value = 0;
	bool is_saturated = false;

	if (from == end)
		return false;
	for (; from < end; from++) {
		unsigned int digit = (unsigned int)(unsigned char)*from - '0';

		if (digit > 9)
			return false;
		is_saturated |= __builtin_mul_overflow(value, 10, &value) ||
				__builtin_add_overflow(value, digit, &value);
	}
	*ret_value = is_saturated ? UINT64_MAX : value;
	*ret_flags = is_saturated ? ZM_FLAG_SATURATED : 0;
	return true;
}

bool zm_fields_parse(const char *line, size_t length, unsigned int skip_words,
		     struct zm_field *ret_field)
{
	const char *at = line;
	const char *end = line + length;
	struct zm_field field = { 0 };
	const char *word;
	size_t word_length;

	for (unsigned int i = 0; i < skip_words; i++)
		if (!zm_fields_next_word(&at, end, &word, &word_length))
			return false;
	if (!zm_fields_next_word(&at, end, &field.name, &field.length))
		return false;
	if (field.name[field.length - 1] == ':')
		field.length--;
	if (field.length == 0 || !zm_fields_next_word(&at, end, &word, &word_length) ||
	    !zm_fields_number(word, word + word_length, &field.value, &field.flags))
		return false;
	if (!zm_fields_next_word(&at, end, &field.unit, &field.unit_length))
		field.unit = at;
	*ret_field = field;
	return true;
}

bool zm_fields_next(const char **text, unsigned int skip_words, struct zm_field *ret_field)
{
	const char *line;
	size_t length;

	while (zm_fields_next_line(text, &line, &length))
		if (zm_fields_parse(line, length, skip_words, ret_field))
			return true;
	return false;
}

bool zm_fields_find(const char *text, unsigned int skip_words, const char *name,
		    uint64_t *ret_value)
{
	struct zm_field field;

	while (zm_fields_next(&text, skip_words, &field)) {
		if (!zm_field_is(&field, name))
			continue;
		*ret_value = field.value;
		return true;
	}
	return false;
}

bool zm_name_is(const char *name, size_t length, const char *wanted)
{
	return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

bool zm_name_starts(const char *name, size_t length, const char *prefix)
{
	size_t prefix_length = strlen(prefix);

	return prefix_length <= length && memcmp(name, prefix, prefix_length) == 0;
}

bool zm_field_is(const struct zm_field *field, const char *name)
{
	return zm_name_is(field->name, field->length, name);
}

bool zm_field_starts(const struct zm_field *field, const char *prefix)
{
	return zm_name_starts(field->name, field->length, prefix);
}
