/*
 * builds: what emulated and real builds have in common, so that their figures stand beside each other:
 * what is counted, what is derived from it, how many jobs there are, where the files go.
 */
#ifndef ZM_BUILDLOAD_BUILDS_H
#define ZM_BUILDLOAD_BUILDS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "buildload/cgroup.h"
#include "workloads/worker.h"

/* The rows of the members nr_instances, jobs and iterations of a workload's own option struct. */
/* clang-format off */
#define ZM_BUILDS_ROWS(own)                                                                        \
	{ .name = "nr_instances", .type = ZM_OPTION_U64,                                           \
	  .offset = offsetof(own, nr_instances), .preset = "8", .min = 1, .max = 65536,            \
	  .unit = "builds",                                                                        \
	  .help = "builds at once, each in a cgroup of its own" },                                 \
	{ .name = "jobs", .type = ZM_OPTION_AMOUNT,                                                \
	  .offset = offsetof(own, jobs), .preset = "28", .also = "nr_task", .unit = "jobs",        \
	  .help = "-j of each build; a percentage is of the CPUs, for all builds together" },      \
	{ .name = "iterations", .type = ZM_OPTION_U64,                                             \
	  .offset = offsetof(own, iterations), .preset = "1",                                      \
	  .help = "the window ends when every instance has built so often; 0: after the "          \
	          "runtime" }
/* clang-format on */

/* The counters of a build's workload. */
enum zm_builds_counter {
	ZM_BUILDS_BUILDS,
	ZM_BUILDS_BUILD_NS,
	ZM_BUILDS_WHOLE_NS,
	ZM_BUILDS_USER_US,
	ZM_BUILDS_SYSTEM_US,
	ZM_BUILDS_FAULTS,
	ZM_BUILDS_JOBS,
};

extern const struct zm_metric zm_builds_counters[];
extern const struct zm_metric zm_builds_metrics[];

int zm_builds_report(const struct zm_window *window, struct zm_report *report);

/* What a build that has ended came to: into the task's counters. */
struct zm_builds_cost {
	uint64_t build_ns;
	uint64_t whole_ns; /* with what was done before it */
	uint64_t user_us, system_us, faults, jobs;
};
void zm_builds_count(struct zm_task *task, const struct zm_builds_cost *cost);

/* dir, or $TMPDIR, or /tmp. */
const char *zm_builds_folder(const char *dir);

/* -EINVAL: not a folder in which this user can make files. */
int zm_builds_check_folder(const char *dir, struct zm_why *why);

/* Is what is written there in memory? */
bool zm_builds_is_in_memory(const char *folder);

/* -j of one instance of so many: a share of the CPUs is for all of them together. 1 or more. */
unsigned int zm_builds_jobs(const struct zm_amount *jobs, unsigned int nr_instances);
int zm_builds_check_jobs(const struct zm_amount *jobs, struct zm_why *why);

/* A new folder for this run's files, journalled before it is made. */
int zm_builds_make_folder(const char *dir, struct zm_journal *journal, char ret_folder[PATH_MAX],
			  struct zm_why *why);

/* One cgroup per instance; with cpuset=socket, each with the CPUs of its own socket, round them. */
int zm_builds_make_cgroups(const struct zm_run *run, const struct zm_cgroup_limits *limits,
			   struct zm_journal *journal, struct zm_cgroups *ret_cgroups,
			   struct zm_why *why);

/* Puts what the cgroup's limits or a full disk did in front of a failed build's sentence. */
void zm_builds_explain(const struct zm_cgroups *cgroups, unsigned int index,
		       const struct zm_cgroup_limits *limits, const char *dir, struct zm_why *why);

/* For is_done and verify: have all instances built as often as `iterations` says? With 0 the time decides,
 * and that is never so. verify then fails with -ETIME and the sentence. */
bool zm_builds_are_done(const struct zm_run *run, uint64_t iterations, unsigned int nr_reached);
int zm_builds_check_done(const struct zm_run *run, uint64_t iterations, unsigned int nr_reached,
			 struct zm_why *why);

#endif
