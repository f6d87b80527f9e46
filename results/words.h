/*
 * words: parameters as one types them, "mode=process nr_task=2".
 */
#ifndef ZM_RESULTS_WORDS_H
#define ZM_RESULTS_WORDS_H

#include <stddef.h>
#include <stdio.h>

#include "results/pool.h"

/* All of a JSON object's, made printable; wrapped at width (0: not), with `indent` blanks before the lines
 * behind the first. Ends with a newline. */
void zm_words_print(const char *json, size_t width, size_t indent, FILE *out);

/* One set of parameters among others. */
struct zm_words {
	const char *group; /* only sets of one group are compared: the workload */
	const char *json;
	const char *words; /* comes out: those in which the sets of its group differ; in the pool */
};

/* -ENOMEM. A text that is no JSON object has no parameters. */
int zm_words_differing(struct zm_words *sets, size_t nr, struct zm_pool *pool);

#endif
