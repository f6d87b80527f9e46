/*
 * fuzz_flame: call chains from a store of somebody else's: any text is drawn, or refused, and the picture is
 * text that no part of it breaks out of.
 */
#include "results/flame.h"

#include <stdlib.h>
#include <string.h>

#include "workloads/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct zm_flame flame = { .title = "a run", .unit = "samples", .is_inline = true };
	char *folded = strndup((const char *)data, size), *svg = NULL;
	size_t length;
	FILE *out = open_memstream(&svg, &length);

	fuzz_check(folded && out);
	if (zm_flame_write(&flame, folded, out) == 0) {
		fuzz_check(fflush(out) == 0);
		fuzz_check(length > 7 && strcmp(svg + length - 7, "</svg>\n") == 0);
		fuzz_check(!strstr(svg, "<script") && !strchr(svg, '\x1b'));
	}
	(void)fclose(out);
	free(svg);
	free(folded);
	return 0;
}
