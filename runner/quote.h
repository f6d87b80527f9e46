/*
 * quote: words as one would type them to a shell.
 */
#ifndef ZM_RUNNER_QUOTE_H
#define ZM_RUNNER_QUOTE_H

#include <stdio.h>

/* As it is where a shell would leave it alone, else in single quotes. */
void zm_quote_word(FILE *out, const char *word);

/* All words with blanks between them; the caller's to free, NULL without memory. */
char *zm_quote_line(const char *const *words, size_t nr_words);

#endif
