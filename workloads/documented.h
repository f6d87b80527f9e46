/*
 * documented: the catalogue of what is documented, built in: the files of workloads/documented/ as
 * they are, each a table (or several) with its machine, its parameters and every figure.
 *
 * They are YAML; results/document.h reads them.
 */
#ifndef ZM_WORKLOADS_DOCUMENTED_H
#define ZM_WORKLOADS_DOCUMENTED_H

#include <stddef.h>

struct zm_documented_file {
	const char *id;            /* its path without the suffix: "pcp-v3/kbuild" */
	const unsigned char *text; /* terminated */
	size_t length;
};

/* In the order of their ids; a NULL id ends them. Written by the build. */
extern const struct zm_documented_file zm_documented_files[];

/* The file of that id, or NULL. */
const struct zm_documented_file *zm_documented_find(const char *id);

#endif
