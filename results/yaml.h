/*
 * yaml: a YAML stream as JSON values, by libyaml.
 *
 * Every scalar is a string, as it is written ("0x5003006" and "1e3" stay what they are), but for plain
 * empty ones, "~" and "null", which are null. Of a key given twice the last counts; but what stands
 * under "<<" is collected in an array. Aliases are followed. Bounded: ZM_YAML_NODES values, nested
 * ZM_YAML_DEPTH deep, aliases and all.
 */
#ifndef ZM_RESULTS_YAML_H
#define ZM_RESULTS_YAML_H

#include <jansson.h>
#include <stddef.h>

#include "workloads/base/why.h"

#define ZM_YAML_NODES 200000u
#define ZM_YAML_DEPTH 32u

/* A new array of the stream's documents. -EINVAL: no YAML, and the sentence says at which line;
 * -E2BIG, -ENOMEM. */
int zm_yaml_read(const char *text, size_t length, json_t **ret_documents, struct zm_why *why);

/* At which line each value stands, that of its key where it has one. Copies that aliases make, and null,
 * have none. */
struct zm_yaml_marks {
	struct zm_yaml_mark *list;
	size_t nr, capacity;
};

/* The same, with lines. The marks are good as long as the documents are. */
int zm_yaml_read_marked(const char *text, size_t length, json_t **ret_documents,
			struct zm_yaml_marks *ret_marks, struct zm_why *why);
void zm_yaml_marks_release(struct zm_yaml_marks *marks);

/* From 1 on; 0: not known. */
unsigned int zm_yaml_line(const struct zm_yaml_marks *marks, const json_t *value);

#endif
