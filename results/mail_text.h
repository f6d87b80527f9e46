/*
 * mail_text: a text as lines, without what mailing put before and between them.
 *
 *     "> >> \t nr_task: 16\r\n"    line "\t nr_task: 16", depth 3
 *     a line that once was many     many lines again
 *
 * Some archives and tools put a whole report on one line. Such a line is taken apart where the report's
 * own marks are: rules of = and *, rows of dashes, "testcase:", "commit:", "parameters:", the pipes of
 * a box, and the names at the ends of a table's rows.
 */
#ifndef ZM_RESULTS_MAIL_TEXT_H
#define ZM_RESULTS_MAIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define ZM_MAIL_LINES ((size_t)2000000) /* at most; what follows is not looked at */

struct zm_mail_line {
	char *text; /* terminated, in place */
	size_t length;
	unsigned int depth; /* of quoting */
};

struct zm_mail_text {
	struct zm_mail_line *lines;
	size_t nr_lines, capacity;
};

/* The text is changed: line ends become terminators. It must live as long as the lines. -ENOMEM. */
int zm_mail_text_read(char *text, struct zm_mail_text *ret_text);
void zm_mail_text_release(struct zm_mail_text *text);

/* Is this a word that names a table's keys: "mode/nr_task/testcase:"? */
bool zm_mail_is_keys(const char *word, size_t length);

/* How long a run of the same character a word is, 0: it has others too. */
size_t zm_mail_rule(const char *word, size_t length, char of);

#endif
