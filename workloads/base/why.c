/*
 * why: formats a sentence into a local buffer first, so that the old sentence may be an argument of
 * the new one, then copies what fits, never half a UTF-8 character. What users type may get into a
 * sentence: control characters are shown as '?', so that it stays one line and harmless.
 */
#include "workloads/base/why.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REASON_SIZE 128

/* How much of text may be kept in `limit` bytes without cutting a character in two. */
static size_t border_before(const char *text, size_t limit)
{
	size_t length = strlen(text);
	size_t border = limit;

	if (length <= limit)
		return length;
	while (border > 0 && limit - border < 3 && ((unsigned char)text[border] & 0xc0) == 0x80)
		border--;
	return ((unsigned char)text[border] & 0xc0) == 0x80 ? limit : border;
}

/* The sentence, then as much of the tail as there is room for; the tail is never cut for it. */
static void keep(struct zm_why *why, const char *sentence, const char *tail)
{
	size_t tail_length = strlen(tail);
	size_t length = border_before(sentence, ZM_WHY_SIZE - 1 - tail_length);

	memcpy(why->text, sentence, length);
	memcpy(why->text + length, tail, tail_length + 1);
	for (char *at = why->text; *at; at++)
		if (iscntrl((unsigned char)*at))
			*at = '?';
}

/* Into a buffer one larger than the sentence's, so that its border can be seen. */
__attribute__((format(printf, 2, 0))) static void print_sentence(char sentence[ZM_WHY_SIZE + 1],
								 const char *format, va_list args)
{
	if (vsnprintf(sentence, ZM_WHY_SIZE + 1, format, args) < 0)
		(void)snprintf(sentence, ZM_WHY_SIZE + 1, "%s", format);
}

int zm_why_set(struct zm_why *why, int error, const char *format, ...)
{
	char sentence[ZM_WHY_SIZE + 1];
	int saved = errno;
	va_list args;

	if (!why)
		return error;
	va_start(args, format);
	print_sentence(sentence, format, args);
	va_end(args);
	keep(why, sentence, "");
	errno = saved;
	return error;
}

int zm_why_errno(struct zm_why *why, int error, const char *format, ...)
{
	char sentence[ZM_WHY_SIZE + 1], reason[REASON_SIZE];
	const char *known = strerrordesc_np(-error);
	int saved = errno;
	va_list args;

	if (!why)
		return error;
	if (known)
		(void)snprintf(reason, sizeof(reason), ": %s", known);
	else
		(void)snprintf(reason, sizeof(reason), ": error %d", error);
	va_start(args, format);
	print_sentence(sentence, format, args);
	va_end(args);
	keep(why, sentence, reason);
	errno = saved;
	return error;
}

void zm_why_prefix(struct zm_why *why, const char *format, ...)
{
	char prefix[ZM_WHY_SIZE + 1], whole[2 * ZM_WHY_SIZE + 4];
	int saved = errno;
	va_list args;

	if (!why)
		return;
	va_start(args, format);
	print_sentence(prefix, format, args);
	va_end(args);
	(void)snprintf(whole, sizeof(whole), "%s: %s", prefix, why->text);
	keep(why, whole, "");
	errno = saved;
}
