/*
 * json: what the store holds, as JSON values.
 *
 * Every function gives a new reference, or NULL without memory (which jansson's setters pass on as
 * an error). A number that does not exist is left out; texts are made UTF-8.
 */
#ifndef ZM_RESULTS_JSON_H
#define ZM_RESULTS_JSON_H

#include <jansson.h>

#include "results/query.h"
#include "results/stat.h"

/* NULL gives null. */
json_t *zm_json_text(const char *text);

/* A JSON text as the value it is; what is not one, as a string. */
json_t *zm_json_parsed(const char *text);

/* Sets key unless the value is NaN or infinite. 0 or -1. A whole number up to 2^53 is written as one. */
int zm_json_set_real(json_t *object, const char *key, double value);

/* "2026-05-01T12:00:00Z" */
json_t *zm_json_time(uint64_t wall_ns);
char *zm_json_time_text(char *buf, size_t size, uint64_t wall_ns);

const char *zm_json_better(enum zm_better better); /* "more", "less", "neither" */

json_t *zm_json_run(const struct zm_run_info *run);
json_t *zm_json_result(const struct zm_result *result);
json_t *zm_json_spread(const struct zm_spread *spread); /* null for no values */
json_t *zm_json_phases(const struct zm_run_view *view);
json_t *zm_json_tasks(const struct zm_run_view *view);
json_t *zm_json_notes(const struct zm_note_row *notes, size_t nr, const char *kind_key,
		      const char *text_key);
json_t *zm_json_flags(uint32_t flags); /* ["partial", "late"] */

#endif
