/*
 * report_job: what a robot attaches to its mail, read without running any of it.
 *
 *     job.yaml     the job as data
 *     job-script   the same as shell: "export nr_cpu=192", "run_test test='mmap1' … will-it-scale"
 *     reproduce    the benchmark's own command lines
 */
#ifndef ZM_RESULTS_REPORT_JOB_H
#define ZM_RESULTS_REPORT_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "results/report_mail.h"

struct zm_report_job {
	const char *testcase;
	struct zm_mail_pairs params, environment;
	struct zm_mail_machine machine;
};

/* A job.yaml or a job-script. False: it is neither, or says no testcase. */
bool zm_report_job_read(struct zm_pool *pool, const char *text, size_t length,
			struct zm_report_job *ret_job);

/* Is this key, beside the suite's own, a parameter of the workload ("runtime", "nr_task")? */
bool zm_report_job_is_param(const char *name);

/* One command line: netperf, will-it-scale's runtest.py, a vm-scalability case. */
bool zm_report_job_command(struct zm_pool *pool, const char *line, struct zm_report_job *ret_job);

#endif
