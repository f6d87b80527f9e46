/* quote: letters, digits and what means nothing to a shell stay; a ' is closed, escaped, opened. */
#include "runner/quote.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain(const char *word)
{
	return word[0] && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789_-+=:,./%@")] == '\0';
}

void zm_quote_word(FILE *out, const char *word)
{
	if (is_plain(word)) {
		(void)fputs(word, out);
		return;
	}
	(void)fputc('\'', out);
	for (; *word; word++)
		(void)fputs(*word == '\'' ? "'\\''" : (char[]){ *word, '\0' }, out);
	(void)fputc('\'', out);
}

char *zm_quote_line(const char *const *words, size_t nr_words)
{
	char *line = NULL;
	size_t length;
	FILE *out = open_memstream(&line, &length);

	if (!out)
		return NULL;
	for (size_t i = 0; i < nr_words; i++) {
		if (i > 0)
			(void)fputc(' ', out);
		zm_quote_word(out, words[i]);
	}
	if (fclose(out)) {
		free(line);
		return NULL;
	}
	return line;
}
