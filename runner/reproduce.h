/*
 * reproduce: from a record of a robot's mail to words behind `zonemark run`, and what cannot be the
 * same on this machine.
 *
 *     record    will-it-scale, page_fault2, nr_task 50% of 224 CPUs, cpufreq_governor performance…
 *     words     page_fault2 mode=process nr_task=50% runtime=295s
 *     differences   CPUs: 224 there, 2 here: 50 % of these
 *     remarks       cpufreq_governor=performance: this kernel does not scale frequencies: left out
 *
 * Nothing is guessed: a test that zonemark has not is said by name, with the parameters that were read.
 */
#ifndef ZM_RUNNER_REPRODUCE_H
#define ZM_RUNNER_REPRODUCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/report_mail.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"
#include "workloads/workload.h"

/* This machine, as it is compared with the mail's. */
struct zm_reproduce_here {
	const struct zm_sysroot *root;
	const struct zm_topology *topology;
	const json_t *inventory;                    /* runner/inventory.h */
	const struct zm_workload *const *workloads; /* NULL-terminated */
};

struct zm_reproduce_options {
	bool as_reported; /* as many tasks and bytes as there, not the same share of the machine */
	uint64_t runtime_ns; /* 0: as reported */
	/* What a smaller machine takes instead of the reported values; NULL: nothing. */
	const struct zm_mail_pairs *scaled;
};

struct zm_reproduce_difference {
	const char *what;  /* "CPUs", "memory", "microcode" */
	const char *there; /* "not said" where the mail does not say */
	const char *here;
	const char *done;
};

struct zm_reproduction {
	const struct zm_mail_record *record;
	const struct zm_workload *workload; /* NULL: zonemark has it not */
	const char *name;                   /* "will-it-scale page_fault2" */
	const char *reason;                 /* why it has it not */
	const char **words;                 /* as typed behind `zonemark run`; then NULL */
	size_t nr_words;
	struct zm_reproduce_difference *differences;
	size_t nr_differences;
	const char **remarks; /* what was changed or left out, a sentence each */
	size_t nr_remarks;
	const char *expected; /* the metric by which one would see it; NULL: the mail shows none */
	double change;        /* of it, in percent; NaN: not known */
	double noise; /* its stddev in percent there; NaN: below the 2 % that robots print */
	unsigned int nr_runs; /* on each kernel, to see such a change in such noise; 0: not known */
	struct zm_pool pool;
};

/* -ENOMEM only. */
int zm_reproduce_make(const struct zm_mail_record *record, const struct zm_reproduce_here *here,
		      const struct zm_reproduce_options *options,
		      struct zm_reproduction *ret_reproduction, struct zm_why *why);
void zm_reproduction_release(struct zm_reproduction *reproduction);

/* How many tasks a reported number ("16", "50%") is here: as many as words have of it; 0: it is no
 * number of tasks. */
uint64_t zm_reproduce_tasks(const struct zm_mail_record *record,
			    const struct zm_reproduce_options *options, unsigned int nr_cpus,
			    const char *reported);

/* Would both be the same runs? */
bool zm_reproduction_is_same(const struct zm_reproduction *a, const struct zm_reproduction *b);

#endif
