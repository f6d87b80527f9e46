/*
 * option: one table per type says how its text is read, checked and printed; everything else (the
 * presets, the sentences, the record of effective values) goes through that table.
 */
#include "workloads/base/option.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE  512
#define WORD_SIZE  64 /* longer words have no nearest one */
#define SHOWN_SIZE 80 /* of a value the user gave, in a sentence */

/* A value of any type, between its text and its place. */
union value {
	bool truth;
	uint64_t u64;
	double number;
	struct zm_amount amount;
	unsigned int choice;
	char *string;
};

struct type {
	const char *what; /* "size=12Q: not a size (…)" */
	const char *form;
	size_t bytes;
	int (*parse)(const struct zm_option *row, const char *text, union value *ret_value);
	int (*print)(const struct zm_option *row, const union value *value, char *buf, size_t size);

	/* Below min (-1), above max (1), or within; NULL where bounds mean nothing. */
	int (*compare)(const struct zm_option *row, const union value *value);
	char *(*print_bound)(char *buf, size_t size, uint64_t bound);
};

/* --- each type ------------------------------------------------------------------------------- */

static int fits(int length, size_t size)
{
	return length < 0 || (size_t)length >= size ? -ENOBUFS : 0;
}

static int compare_u64(const struct zm_option *row, const union value *value)
{
	if (value->u64 < row->min)
		return -1;
	return row->max > 0 && value->u64 > row->max;
}

static char *print_plain_bound(char *buf, size_t size, uint64_t bound)
{
	(void)snprintf(buf, size, "%llu", (unsigned long long)bound);
	return buf;
}

static int parse_bool(const struct zm_option *row, const char *text, union value *ret_value)
{
	static const char *const words[] = { "0", "1", "off", "on", "no", "yes", "false", "true" };

	(void)row;
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i]) == 0) {
			ret_value->truth = i % 2;
			return 0;
		}
	}
	return -EINVAL;
}

static int print_bool(const struct zm_option *row, const union value *value, char *buf, size_t size)
{
	(void)row;
	return fits(snprintf(buf, size, "%s", value->truth ? "on" : "off"), size);
}

static int parse_u64(const struct zm_option *row, const char *text, union value *ret_value)
{
	(void)row;
	return zm_units_parse_u64(text, &ret_value->u64);
}

static int print_u64(const struct zm_option *row, const union value *value, char *buf, size_t size)
{
	(void)row;
	return fits(snprintf(buf, size, "%llu", (unsigned long long)value->u64), size);
}

static int parse_double(const struct zm_option *row, const char *text, union value *ret_value)
{
	(void)row;
	return zm_units_parse_double(text, &ret_value->number);
}

static int print_double(const struct zm_option *row, const union value *value, char *buf,
			size_t size)
{
	char text[TEXT_SIZE];

	(void)row;
	zm_units_print_double(text, sizeof(text), value->number);
	return fits(snprintf(buf, size, "%s", text), size);
}

static int compare_double(const struct zm_option *row, const union value *value)
{
	if (value->number < (double)row->min)
		return -1;
	return row->max > 0 && value->number > (double)row->max;
}

static int parse_size(const struct zm_option *row, const char *text, union value *ret_value)
{
	(void)row;
	return zm_units_parse_size(text, &ret_value->u64);
}

static int print_size(const struct zm_option *row, const union value *value, char *buf, size_t size)
{
	char text[TEXT_SIZE];

	(void)row;
	zm_units_print_size(text, sizeof(text), value->u64);
	return fits(snprintf(buf, size, "%s", text), size);
}

static int parse_duration(const struct zm_option *row, const char *text, union value *ret_value)
{
	(void)row;
	return zm_units_parse_duration(text, &ret_value->u64);
}

static int print_duration(const struct zm_option *row, const union value *value, char *buf,
			  size_t size)
{
	char text[TEXT_SIZE];

	(void)row;
	zm_units_print_duration(text, sizeof(text), value->u64);
	return fits(snprintf(buf, size, "%s", text), size);
}

static int parse_amount(const struct zm_option *row, const char *text, union value *ret_value)
{
	(void)row;
	return zm_units_parse_amount(text, &ret_value->amount);
}

static int print_amount(const struct zm_option *row, const union value *value, char *buf,
			size_t size)
{
	char text[TEXT_SIZE];

	(void)row;
	zm_units_print_amount(text, sizeof(text), &value->amount);
	return fits(snprintf(buf, size, "%s", text), size);
}

/* A percentage is of something not known here: it is only asked to be more than nothing. */
static int compare_amount(const struct zm_option *row, const union value *value)
{
	double count = value->amount.value;

	if (value->amount.is_percent)
		return row->min > 0 && count <= 0 ? -1 : 0;
	if (count < (double)row->min)
		return -1;
	return row->max > 0 && count > (double)row->max;
}

static int parse_choice(const struct zm_option *row, const char *text, union value *ret_value)
{
	for (unsigned int i = 0; row->choices[i]; i++) {
		if (strcmp(text, row->choices[i]) == 0) {
			ret_value->choice = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int print_choice(const struct zm_option *row, const union value *value, char *buf,
			size_t size)
{
	for (unsigned int i = 0; row->choices[i]; i++)
		if (i == value->choice)
			return fits(snprintf(buf, size, "%s", row->choices[i]), size);
	return -EINVAL;
}

/* The empty text is the unset string, so that it prints and reads back. */
static int parse_string(const struct zm_option *row, const char *text, union value *ret_value)
{
	char *string = NULL;

	(void)row;
	if (*text) {
		string = strdup(text);
		if (!string)
			return -ENOMEM;
	}
	ret_value->string = string;
	return 0;
}

static int print_string(const struct zm_option *row, const union value *value, char *buf,
			size_t size)
{
	(void)row;
	return fits(snprintf(buf, size, "%s", value->string ? value->string : ""), size);
}

static const struct type types[] = {
	[ZM_OPTION_BOOL] = { "a switch", "write on or off", sizeof(bool), parse_bool, print_bool,
			     NULL, NULL },
	[ZM_OPTION_U64] = { "a whole number", "write digits, as 16 or 0x10", sizeof(uint64_t),
			    parse_u64, print_u64, compare_u64, print_plain_bound },
	[ZM_OPTION_DOUBLE] = { "a number", "write it as 2 or 0.5", sizeof(double), parse_double,
			       print_double, compare_double, print_plain_bound },
	[ZM_OPTION_SIZE] = { "a size", "write bytes as 4096, 128M or 1.5G", sizeof(uint64_t),
			     parse_size, print_size, compare_u64, zm_units_print_size },
	[ZM_OPTION_DURATION] = { "a duration", "write it as 300, 1.5s, 250ms or 2m",
				 sizeof(uint64_t), parse_duration, print_duration, compare_u64,
				 zm_units_print_duration },
	[ZM_OPTION_AMOUNT] = { "a count or a share", "write it as 16 or 50%",
			       sizeof(struct zm_amount), parse_amount, print_amount, compare_amount,
			       print_plain_bound },
	[ZM_OPTION_CHOICE] = { "one of the choices", "", sizeof(unsigned int), parse_choice,
			       print_choice, NULL, NULL },
	[ZM_OPTION_STRING] = { "a text", "", sizeof(char *), parse_string, print_string, NULL,
			       NULL },
};

static const struct type *type_of(const struct zm_option *row)
{
	unsigned int index = (unsigned int)row->type;

	return index < sizeof(types) / sizeof(types[0]) ? &types[index] : NULL;
}

/* --- sentences ------------------------------------------------------------------------------- */

/* "never, madvise, always" */
static void print_words(const char *const *words, char *buf, size_t size)
{
	size_t length = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; words[i] && length < size; i++)
		length += (size_t)snprintf(buf + length, size - length, "%s%s", i ? ", " : "",
					   words[i]);
}

/* How much of a value is shown, without cutting a UTF-8 character. */
static int shown_length(const char *value)
{
	size_t length = strnlen(value, SHOWN_SIZE + 1);

	if (length <= SHOWN_SIZE)
		return (int)length;
	length = SHOWN_SIZE;
	while (length > SHOWN_SIZE - 3 && ((unsigned char)value[length] & 0xc0) == 0x80)
		length--;
	return (int)length;
}

static int refuse_form(const struct zm_option *row, const char *value, int error,
		       struct zm_why *why)
{
	const struct type *type = type_of(row);
	int shown = shown_length(value);
	char words[TEXT_SIZE / 2];
	const char *nearest;

	if (error == -ENOMEM)
		return zm_why_errno(why, error, "%s", row->name);
	if (error == -ERANGE)
		return zm_why_set(why, error, "%s=%.*s: too large a number", row->name, shown,
				  value);
	if (row->type != ZM_OPTION_CHOICE)
		return zm_why_set(why, error, "%s=%.*s: not %s; %s", row->name, shown, value,
				  type->what, type->form);
	print_words(row->choices, words, sizeof(words));
	nearest = zm_option_nearest(value, row->choices);
	if (nearest)
		return zm_why_set(why, error, "%s=%.*s: did you mean %s? The choices are %s",
				  row->name, shown, value, nearest, words);
	return zm_why_set(why, error, "%s=%.*s: the choices are %s", row->name, shown, value,
			  words);
}

static int refuse_bound(const struct zm_option *row, const char *value, int side,
			struct zm_why *why)
{
	char bound[TEXT_SIZE];

	type_of(row)->print_bound(bound, sizeof(bound), side < 0 ? row->min : row->max);
	return zm_why_set(why, -ERANGE, "%s=%.*s: %s; the %s is %s%s%s", row->name,
			  shown_length(value), value, side < 0 ? "too small" : "too large",
			  side < 0 ? "least" : "most", bound, row->unit ? " " : "",
			  row->unit ? row->unit : "");
}

static int refuse_name(const struct zm_option *rows, const char *name, struct zm_why *why)
{
	const char *nearest = NULL;
	size_t nr_rows = 0;
	const char **names;

	while (rows && rows[nr_rows].name)
		nr_rows++;
	names = calloc(nr_rows + 1, sizeof(*names));
	if (names) {
		for (size_t i = 0; i < nr_rows; i++)
			names[i] = rows[i].name;
		nearest = zm_option_nearest(name, names);
	}
	free(names);
	if (nearest)
		return zm_why_set(why, -ENOENT, "%.*s: no such option; did you mean %s?",
				  shown_length(name), name, nearest);
	return zm_why_set(why, -ENOENT, "%.*s: no such option", shown_length(name), name);
}

/* --- the struct ------------------------------------------------------------------------------ */

static int store(const struct zm_option *row, void *options, const char *text, struct zm_why *why)
{
	const struct type *type = type_of(row);
	char *place = (char *)options + row->offset;
	union value value;
	int error, side;

	error = type->parse(row, text, &value);
	if (error)
		return refuse_form(row, text, error, why);
	side = type->compare ? type->compare(row, &value) : 0;
	if (side)
		return refuse_bound(row, text, side, why);
	if (row->type == ZM_OPTION_STRING) {
		char *old;

		memcpy(&old, place, sizeof(old));
		free(old);
	}
	memcpy(place, &value, type->bytes);
	return 0;
}

static int check_row(const struct zm_option *rows, const struct zm_option *row, struct zm_why *why)
{
	if (!*row->name)
		return zm_why_set(why, -EINVAL, "option %td: no name", row - rows);
	if (!type_of(row))
		return zm_why_set(why, -EINVAL, "option %s: no such type", row->name);
	if (!row->preset && row->type != ZM_OPTION_STRING)
		return zm_why_set(why, -EINVAL, "option %s: no preset", row->name);
	if (row->type == ZM_OPTION_CHOICE && (!row->choices || !row->choices[0]))
		return zm_why_set(why, -EINVAL, "option %s: no choices", row->name);
	if (row->max > 0 && row->min > row->max)
		return zm_why_set(why, -EINVAL, "option %s: min is above max", row->name);
	if (zm_option_find(rows, row->name) != row)
		return zm_why_set(why, -EINVAL, "option %s: there are two of it", row->name);
	return 0;
}

int zm_options_init(const struct zm_option *rows, void *options, struct zm_why *why)
{
	for (const struct zm_option *row = rows; row && row->name; row++) {
		int error = check_row(rows, row, why);

		if (!error && row->preset) {
			error = store(row, options, row->preset, why);
			if (error)
				zm_why_prefix(why, "the preset of option %s", row->name);
			if (error == -ERANGE)
				error = -EINVAL;
		}
		if (error) {
			zm_options_release(rows, options);
			return error;
		}
	}
	return 0;
}

void zm_options_release(const struct zm_option *rows, void *options)
{
	int saved = errno;

	if (!options)
		return;
	for (const struct zm_option *row = rows; row && row->name; row++) {
		char *place = (char *)options + row->offset;
		char *string;

		if (row->type != ZM_OPTION_STRING)
			continue;
		memcpy(&string, place, sizeof(string));
		free(string);
		string = NULL;
		memcpy(place, &string, sizeof(string));
	}
	errno = saved;
}

const struct zm_option *zm_option_find(const struct zm_option *rows, const char *name)
{
	for (const struct zm_option *row = rows; row && row->name; row++)
		if (strcmp(row->name, name) == 0 || (row->also && strcmp(row->also, name) == 0))
			return row;
	return NULL;
}

int zm_option_set(const struct zm_option *rows, void *options, const char *name, const char *value,
		  struct zm_why *why)
{
	const struct zm_option *row = zm_option_find(rows, name);

	return row ? store(row, options, value, why) : refuse_name(rows, name, why);
}

int zm_option_print(const struct zm_option *row, const void *options, char *buf, size_t size)
{
	const struct type *type = type_of(row);
	union value value;

	if (!type)
		return -EINVAL;
	memcpy(&value, (const char *)options + row->offset, type->bytes);
	return type->print(row, &value, buf, size);
}

/* --- the nearest word ------------------------------------------------------------------------ */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours between two words of less than WORD_SIZE
 * bytes: three rows of the table at a time. */
static unsigned int edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned int rows[3][WORD_SIZE];

	for (unsigned int j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (unsigned int i = 1; i <= a_length; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];
		const unsigned int *above2 = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned int j = 1; j <= b_length; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], above2[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

const char *zm_option_nearest(const char *word, const char *const *names)
{
	size_t length = strnlen(word, WORD_SIZE);
	unsigned int best = (unsigned int)(length / 3) + 1;
	const char *nearest = NULL;

	if (length == WORD_SIZE)
		return NULL;
	for (; *names; names++) {
		size_t name_length = strnlen(*names, WORD_SIZE);
		unsigned int distance;

		if (name_length == WORD_SIZE)
			continue;
		distance = edit_distance(word, length, *names, name_length);
		if (distance < best) {
			best = distance;
			nearest = *names;
		}
	}
	return nearest;
}
