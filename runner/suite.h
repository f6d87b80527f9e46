/*
 * suite: the field's benchmark suites, as robots' mails and job files name them, and what of them
 * zonemark has.
 *
 *     testcase will-it-scale, test page_fault2      workload page_fault2
 *     testcase vm-scalability, test anon-cow-rand-mt    anon_cow_rand, mode=thread
 *     testcase netperf, test SCTP_STREAM_MANY       sctp_stream_many, nr_threads is nr_task
 *     testcase zonemark, test hugetlb_pool          itself: a table that zonemark wrote
 */
#ifndef ZM_RUNNER_SUITE_H
#define ZM_RUNNER_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/workload.h"

#define ZM_SUITE_NAME 64 /* of a workload, with its end */

/* A parameter of the suite that has another name here, or that says nothing about the kernel's load. */
struct zm_suite_param {
	const char *name;
	const char *option; /* NULL: it has no counterpart, and `reason` says why */
	const char *reason;
};

struct zm_suite {
	const char *testcase;
	const struct zm_suite_param *params;   /* ends with a NULL name; others keep their names */
	const struct zm_suite_param *defaults; /* option: the value that the suite itself takes */
	uint64_t unmeasured_ns;                /* of its runtime, what it warms up with */
	bool has_one_test;                     /* the suite is the workload: kbuild */
	bool has_memory_sizes; /* its sizes were chosen for the memory of the machine that ran it */
};

/* NULL: zonemark has nothing of that suite. */
const struct zm_suite *zm_suite_find(const char *testcase);

/* What zonemark calls that test, whether it has it or not; test may be NULL where the suite has only
 * one. *ret_mode: the mode that the test's name says ("-mt"), or NULL. False: no name can be made. */
bool zm_suite_workload(const struct zm_suite *suite, const char *test, char *ret_name, size_t size,
		       const char **ret_mode);

/* The option that a parameter is here. NULL: none, for *ret_reason. */
const char *zm_suite_option(const struct zm_suite *suite, const char *param,
			    const char **ret_reason);

/* Which share of the memory the workload goes over there when nobody says its unit; 0: it does not hang on
 * the memory. */
double zm_suite_memory_share(const struct zm_suite *suite, const struct zm_workload *workload);

/* What the suite takes when nobody says; NULL: nothing is known. */
const char *zm_suite_default(const struct zm_suite *suite, const char *option);

#endif
