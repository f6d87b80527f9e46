/* fold: a line per chain, sorted, and the same ones added up. */
#include "runner/monitors/fold.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/stacks.h"

struct line {
	char *frames;
	uint64_t times;
};

/* Outermost first. NULL without memory. */
static char *name_frames(const uint64_t *frames, uint32_t nr, const struct zm_ksyms *ksyms)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	for (uint32_t i = nr; i-- > 0;) {
		const struct zm_ksym *symbol = zm_ksyms_find(ksyms, frames[i]);

		zm_stacks_frame(out, symbol ? symbol->name : "[unknown]");
		if (i > 0)
			(void)fputc(';', out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->frames, y->frames);
}

static void print_lines(const struct line *lines, uint32_t nr, FILE *out)
{
	uint64_t times = 0;

	for (uint32_t i = 0; i < nr; i++) {
		times += lines[i].times;
		if (i + 1 < nr && strcmp(lines[i].frames, lines[i + 1].frames) == 0)
			continue;
		(void)fprintf(out, "%s %llu\n", lines[i].frames, (unsigned long long)times);
		times = 0;
	}
}

static void print_extras(const struct zm_fold_extra *extras, FILE *out)
{
	for (; extras && extras->frame; extras++) {
		if (extras->times == 0)
			continue;
		zm_stacks_frame(out, extras->frame);
		(void)fprintf(out, " %llu\n", (unsigned long long)extras->times);
	}
}

static int print_all(const struct line *lines, uint32_t nr, const struct zm_fold_extra *extras,
		     char **ret_folded)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	bool is_bad;

	if (!out)
		return -ENOMEM;
	print_lines(lines, nr, out);
	print_extras(extras, out);
	is_bad = ferror(out) != 0;
	if (fclose(out) || is_bad) {
		free(text);
		return -ENOMEM;
	}
	*ret_folded = text;
	return 0;
}

int zm_fold(const struct zm_chains *chains, const struct zm_ksyms *ksyms,
	    const struct zm_fold_extra *extras, char **ret_folded)
{
	struct line *lines = calloc((size_t)chains->nr + 1, sizeof(*lines));
	uint32_t nr = 0;
	int error = lines ? 0 : -ENOMEM;

	for (uint32_t i = 0; !error && i < chains->nr; i++) {
		const struct zm_chain *chain = &chains->list[i];

		if (chain->nr == 0)
			continue;
		lines[nr].frames = name_frames(zm_chains_frames(chains, chain), chain->nr, ksyms);
		lines[nr].times = chain->times;
		error = lines[nr].frames ? 0 : -ENOMEM;
		nr += !error;
	}
	if (!error && nr > 0)
		qsort(lines, nr, sizeof(*lines), compare);
	if (!error)
		error = print_all(lines, nr, extras, ret_folded);
	for (uint32_t i = 0; i < nr; i++)
		free(lines[i].frames);
	free(lines);
	return error;
}
