/*
 * utf8: texts from anywhere, made fit for a terminal, a table, a JSON string.
 *
 * Independent of the locale: everything is UTF-8, what is not becomes U+FFFD.
 */
#ifndef ZM_RESULTS_UTF8_H
#define ZM_RESULTS_UTF8_H

#include <stddef.h>

/* The next character of a terminated text: its number and how many bytes it has (at least 1); bytes
 * that are no UTF-8 (overlong forms and surrogates too) are U+FFFD, one byte at a time. At the end 0
 * and 0 bytes. */
size_t zm_utf8_next(const char *text, unsigned int *ret_character);

/* How many columns of a terminal a text takes: 0 for combining marks, 2 for wide East Asian
 * characters and emoji, 1 for others. */
size_t zm_utf8_width(const char *text);

/* A new text without control characters (shown as '?'; they could move the cursor or more) and
 * without what is no UTF-8. NULL when memory runs out. */
char *zm_utf8_printable(const char *text);

/* A new text that is UTF-8 throughout; control characters stay. */
char *zm_utf8_valid(const char *text);

/* How many bytes of a text take at most so many columns. */
size_t zm_utf8_cut(const char *text, size_t columns);

#endif
