/*
 * emit: values as JavaScript literals, and texts between the marks of HTML.
 *
 * What comes from a store may hold anything. A text is a JSON string in which no mark of HTML is left, so that
 * it is the same within a file of scripts and within a page; what is no UTF-8 becomes U+FFFD.
 */
#ifndef ZM_RESULTS_WEB_EMIT_H
#define ZM_RESULTS_WEB_EMIT_H

#include <stdint.h>
#include <stdio.h>

/* NULL gives null. */
void zm_emit_text(FILE *out, const char *text);

/* Nine digits, and whole numbers whole; null for what is no number. */
void zm_emit_number(FILE *out, double value);

/* Seconds since the epoch. */
void zm_emit_time(FILE *out, uint64_t wall_ns);

/* Escaped for an element or an attribute; control characters as '?'. */
void zm_emit_html(FILE *out, const char *text);

#endif
