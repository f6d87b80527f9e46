/*
 * fuzz: what a fuzzer's file needs. It defines LLVMFuzzerTestOneInput, hands the bytes to a parser,
 * and states what must hold of whatever the parser takes:
 *
 *     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
 *     {
 *             char *text = fuzz_text(data, size);
 *             uint64_t bytes;
 *
 *             if (zm_units_parse_size(text, &bytes) == 0)
 *                     fuzz_check(…prints and reads back…);
 *             free(text);
 *             return 0;
 *     }
 */
#ifndef ZM_WORKLOADS_FUZZ_FUZZ_H
#define ZM_WORKLOADS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert(), always there. */
#define fuzz_check(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The bytes as a terminated text, which ends where its memory ends: a sanitizer sees one byte too
 * many. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	fuzz_check(text);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
