/*
 * yaml: a YAML stream as JSON values, by libyaml.
 *
 * Every scalar is a string, as it is written ("0x5003006" and "1e3" stay what they are), but for plain
 * empty ones, "~" and "null", which are null. Of a key given twice the last counts; but what stands
 * under "<<" is collected in an array. Aliases are followed. Bounded: ZM_YAML_NODES values, nested
 * ZM_YAML_DEPTH deep.
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

#endif
