/*
 * matrix: named sets of runs, built in.
 *
 * A matrix is lines as one types them behind `zonemark run`; options on the command line replace the
 * lines' own of the same name.
 */
#ifndef ZM_RUNNER_MATRIX_H
#define ZM_RUNNER_MATRIX_H

struct zm_matrix {
	const char *name;
	const char *summary;      /* one line, no full stop */
	const char *const *lines; /* "page_fault1 mode=process,thread nr_task=1,100%"; then NULL */
};

/* In the order of their names; a NULL name ends them. */
extern const struct zm_matrix zm_matrices[];

const struct zm_matrix *zm_matrix_find(const char *name);

#endif
