/*
 * report_fields: the small sentences of a robot's mail, each read by one function.
 *
 * Texts that are given back lie in the pool. Nothing here knows where in a mail it is.
 */
#ifndef ZM_RESULTS_REPORT_FIELDS_H
#define ZM_RESULTS_REPORT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "results/report_mail.h"

/* A copy of `length` bytes without blanks at both ends; NULL when nothing is left. */
const char *zm_report_fields_copy(struct zm_pool *pool, const char *text, size_t length);

/* Room for one more in a list of the pool: the list, or a larger copy of it. NULL: no memory. */
void *zm_report_fields_grow(struct zm_pool *pool, void *list, size_t nr, size_t size);

/* Sets a pair; one of the same name keeps its value. Does nothing when there are too many. */
void zm_report_fields_put(struct zm_pool *pool, struct zm_mail_pairs *pairs, const char *name,
			  const char *value);

/* "	nr_task: 50%", "nr_task=50%", "runtime: ***600s***". False: it is no pair. */
bool zm_report_fields_pair(struct zm_pool *pool, const char *line, struct zm_mail_pair *ret_pair);

/* Is this key about how the machine was set up, not about the workload? */
bool zm_report_fields_is_environment(const char *name);

/* "…a -9.2% regression of METRIC…" and "METRIC -9.2% regression". False: nothing is claimed. */
bool zm_report_fields_claim(struct zm_pool *pool, const char *text,
			    struct zm_mail_claim *ret_claim);

/* "224 threads 4 sockets Intel(R)… (Cooper Lake) with 192G memory", or qemu's command line. False:
 * it is no machine. */
bool zm_report_fields_machine(struct zm_pool *pool, const char *text,
			      struct zm_mail_machine *ret_machine);

/* `c828e65251 ("title")`, `v5.8-rc3`, `b5af188232e56 <--- your patch`, "hash/ucode (title)". */
void zm_report_fields_commit(struct zm_pool *pool, const char *text,
			     struct zm_mail_commit *ret_commit);

/* Keys "a/b/testcase:" with their values "1/2/netperf", in which a value may hold a '/' too: what is
 * known of some of them (may be NULL) decides. */
void zm_report_fields_keys(struct zm_pool *pool, const char *keys, const char *values,
			   const struct zm_mail_pairs *const *known,
			   struct zm_mail_pairs *ret_pairs);

#endif
