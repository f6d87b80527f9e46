/*
 * matrix: named sets of runs, built in.
 *
 * A matrix is lines as one types them behind `zonemark run`; options on the command line replace the
 * lines' own of the same name. A line with a machine setting that this kernel does not have is passed
 * over.
 */
#ifndef ZM_RUNNER_MATRIX_H
#define ZM_RUNNER_MATRIX_H

#include <stdbool.h>

struct zm_matrix {
	const char *name;
	const char *summary; /* one line, no full stop */
	/* "page_fault1 mode=process,thread nr_task=1,100%"; then NULL. NULL itself: the documented
	 * catalogue (matrix_set.h) */
	const char *const *lines;
	const char *monitor; /* read too, where this build has it; NULL: none */
	bool has_latency_table; /* what the cells came to is shown in the form of latency_table.h too */
};

/* In the order of their names; a NULL name ends them. */
extern const struct zm_matrix zm_matrices[];

const struct zm_matrix *zm_matrix_find(const char *name);

#endif
