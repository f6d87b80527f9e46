/*
 * ksyms: "ffffffff8120492a t name [module]" lines; text symbols only, sorted.
 */
#include "runner/monitors/ksyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runner/monitors/fields.h"

static bool parse_hex(const char *word, size_t length, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (length == 0 || length > 16)
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = word[i];
		unsigned int digit = c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
				     : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
							    : 16;

		if (digit > 15)
			return false;
		value = value << 4 | digit;
	}
	*ret_value = value;
	return true;
}

/* The name is cut in the text itself, before a compiler's ending. */
static bool parse_line(char *line, size_t length, struct zm_ksym *ret_symbol)
{
	const char *at = line, *end = line + length, *word, *kind, *name;
	size_t word_length, kind_length, name_length;
	char *dot;

	if (!zm_fields_next_word(&at, end, &word, &word_length) ||
	    !parse_hex(word, word_length, &ret_symbol->address) ||
	    !zm_fields_next_word(&at, end, &kind, &kind_length) || kind_length != 1 ||
	    !strchr("tTwW", *kind) || !zm_fields_next_word(&at, end, &name, &name_length))
		return false;
	line[name + name_length - line] = '\0';
	dot = strchr(line + (name - line) + 1, '.');
	if (dot)
		*dot = '\0';
	ret_symbol->name = name;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct zm_ksym *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int parse_all(struct zm_ksyms *ksyms, size_t text_length)
{
	const char *text = ksyms->text, *line;
	size_t length, capacity = text_length / 20 + 1; /* "ffffffff8120492a t x" at least */

	ksyms->list = calloc(capacity, sizeof(*ksyms->list));
	if (!ksyms->list)
		return -ENOMEM;
	while (ksyms->nr < capacity && zm_fields_next_line(&text, &line, &length))
		if (parse_line(ksyms->text + (line - ksyms->text), length, &ksyms->list[ksyms->nr]))
			ksyms->nr++;
	qsort(ksyms->list, ksyms->nr, sizeof(*ksyms->list), compare);
	return 0;
}

int zm_ksyms_read(struct zm_ksyms *ksyms, const struct zm_sysroot *root, struct zm_why *why)
{
	size_t length;
	int error = zm_sysroot_read(root, "proc/kallsyms", &ksyms->text, &length);

	if (!error)
		error = parse_all(ksyms, length);
	if (error)
		return zm_why_errno(why, error, "/proc/kallsyms cannot be read");
	if (ksyms->nr == 0 || ksyms->list[ksyms->nr - 1].address == 0)
		return zm_why_set(why, -EACCES,
				  "/proc/kallsyms hides the addresses: run as root or with "
				  "CAP_SYSLOG, and set kernel.kptr_restrict to 0 or 1");
	return 0;
}

void zm_ksyms_release(struct zm_ksyms *ksyms)
{
	free(ksyms->text);
	free(ksyms->list);
	*ksyms = (struct zm_ksyms){ 0 };
}

const struct zm_ksym *zm_ksyms_find(const struct zm_ksyms *ksyms, uint64_t address)
{
	size_t first = 0, end = ksyms->nr;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (ksyms->list[middle].address <= address)
			first = middle + 1;
		else
			end = middle;
	}
	return first > 0 ? &ksyms->list[first - 1] : NULL;
}
