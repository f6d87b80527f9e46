/*
 * fields: reading "name value" lines, whatever else stands among them.
 *
 *     MemTotal:       24686576 kB        nr_free_pages 5871234        Node 0 MemFree:  1234 kB
 *
 * Fields are told by name, never by place. A line that is not of the form (a heading, a text value, a
 * negative or broken number) is passed over. The last line may lack its newline.
 */
#ifndef ZM_RUNNER_MONITORS_FIELDS_H
#define ZM_RUNNER_MONITORS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zm_field {
	const char *name; /* not terminated; no colon */
	size_t length;
	const char *unit; /* the word behind the value; length 0 without */
	size_t unit_length;
	uint64_t value;
	uint32_t flags; /* ZM_FLAG_SATURATED: larger than 64 bits */
};

/* The next line of a terminated text, without its newline; *text moves behind it. */
bool zm_fields_next_line(const char **text, const char **ret_line, size_t *ret_length);

/* The next word (between blanks) of [*at, end); *at moves behind it. */
bool zm_fields_next_word(const char **at, const char *end, const char **ret_word,
			 size_t *ret_length);

/* A whole decimal number from `from` to `end`. One that does not fit into 64 bits is the largest
 * value, and *ret_flags gets ZM_FLAG_SATURATED (else 0). */
bool zm_fields_number(const char *from, const char *end, uint64_t *ret_value, uint32_t *ret_flags);

/* The field of a line, its first skip_words words left out; false when it is none. */
bool zm_fields_parse(const char *line, size_t length, unsigned int skip_words,
		     struct zm_field *ret_field);

/* The next field of a text; *text moves behind its line. */
bool zm_fields_next(const char **text, unsigned int skip_words, struct zm_field *ret_field);

/* The value of the first field of that name. */
bool zm_fields_find(const char *text, unsigned int skip_words, const char *name,
		    uint64_t *ret_value);

/* What a field is by its name. */
bool zm_field_is(const struct zm_field *field, const char *name);
bool zm_field_starts(const struct zm_field *field, const char *prefix);

/* The same of a name given by its length. */
bool zm_name_is(const char *name, size_t length, const char *wanted);
bool zm_name_starts(const char *name, size_t length, const char *prefix);

#endif
