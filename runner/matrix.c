/* matrix: the built-in ones. */
#include "runner/matrix.h"

#include <stddef.h>
#include <string.h>

static const char *const quick[] = {
	"page_fault1 mode=process,thread nr_task=1,100% idle=0.5 warmup=2 runtime=3",
	"page_fault2 mode=process,thread nr_task=1,100% idle=0.5 warmup=2 runtime=3",
	NULL,
};

const struct zm_matrix zm_matrices[] = {
	{ .name = "quick",
	  .summary = "page_fault1 and 2, processes and threads, 1 task and all CPUs: a minute",
	  .lines = quick },
	{ .name = NULL },
};

const struct zm_matrix *zm_matrix_find(const char *name)
{
	for (size_t i = 0; zm_matrices[i].name; i++) {
		if (strcmp(zm_matrices[i].name, name) == 0)
			return &zm_matrices[i];
	}
	return NULL;
}
