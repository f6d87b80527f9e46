/*
 * cgroup: one cgroup per instance of a build, in version 1, version 2, or both at once.
 *
 *     plan     where can they be, with these limits?      changes nothing: check()
 *     make     all of them, each written into the journal launcher: prepare()
 *     enter    this process goes into one                 a forked child, before it execs
 *     read     memory in use, its peak, tasks killed      any time
 *     kill     all that runs in one                       when an instance is stopped
 *     remove   with what still runs in them               launcher: cleanup()
 *
 * A cgroup always has the memory controller, and those that the limits ask for. Version 1 has a
 * directory per hierarchy; version 2 one in all, below the nearest ancestor that may hand controllers
 * on. Their names tell who made them (pid, start time, pid namespace): those of a maker that has died
 * are removed by whoever makes the next ones, beside what the undo journal does.
 *
 * The struct is plain memory without pointers into itself: it may lie in a run's shared state, be
 * filled by the launcher and used by its tasks.
 */
#ifndef ZM_BUILDLOAD_CGROUP_H
#define ZM_BUILDLOAD_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/cgroup.h"
#include "workloads/base/journal.h"
#include "workloads/base/option.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

enum zm_controller {
	ZM_CONTROLLER_MEMORY,
	ZM_CONTROLLER_CPU,
	ZM_CONTROLLER_CPUSET,
	ZM_CONTROLLER_PIDS,
	ZM_NR_CONTROLLERS,
};

/* What each instance may use; part of an option struct, filled by ZM_CGROUP_ROWS. */
struct zm_cgroup_limits {
	uint64_t memory_high_bytes; /* 0: none, as for the others */
	uint64_t memory_max_bytes;
	double cpu_max; /* CPUs' worth of time: 1.5 */
	uint64_t pids_max;
	char *cpuset; /* a list of CPUs; NULL or "": none */
};

/* The rows of the member `limits` of a workload's own option struct. */
/* clang-format off */
#define ZM_CGROUP_ROWS(own)                                                                        \
	{ .name = "memory_high", .type = ZM_OPTION_SIZE,                                           \
	  .offset = offsetof(own, limits.memory_high_bytes), .preset = "0",                        \
	  .also = "memory.high", .unit = "bytes",                                                  \
	  .help = "memory.high of an instance's cgroup (version 2 only); 0 is none" },             \
	{ .name = "memory_max", .type = ZM_OPTION_SIZE,                                            \
	  .offset = offsetof(own, limits.memory_max_bytes), .preset = "0",                         \
	  .also = "memory.max", .unit = "bytes",                                                   \
	  .help = "memory.max of an instance's cgroup; 0 is none" },                               \
	{ .name = "cpu_max", .type = ZM_OPTION_DOUBLE,                                             \
	  .offset = offsetof(own, limits.cpu_max), .preset = "0", .max = 1048576,                  \
	  .also = "cpu.max", .unit = "CPUs",                                                       \
	  .help = "CPU time of an instance's cgroup, in CPUs: 1.5 of them; 0 is no limit" },       \
	{ .name = "pids_max", .type = ZM_OPTION_U64,                                               \
	  .offset = offsetof(own, limits.pids_max), .preset = "0", .max = 4194304,                 \
	  .also = "pids.max", .unit = "processes",                                                 \
	  .help = "pids.max of an instance's cgroup; 0 is none" },                                 \
	{ .name = "cpuset", .type = ZM_OPTION_STRING,                                              \
	  .offset = offsetof(own, limits.cpuset),                                                  \
	  .unit = "CPUs",                                                                          \
	  .help = "CPUs that instances may use, as a list (0-3,8), or `socket`: each those "       \
	          "of its own socket" }
/* clang-format on */

#define ZM_CGROUPS_SOCKET "socket" /* the value of cpuset that the maker resolves per instance */

/* One place where cgroups are made. */
struct zm_cgroups_place {
	int version;
	unsigned int controllers; /* 1 << enum zm_controller, or-ed */
	unsigned int enable;      /* of these, what the parent must first hand on (version 2) */
	char parent[ZM_CGROUP_PATH_SIZE]; /* below the root: "sys/fs/cgroup/memory" */
};

struct zm_cgroups {
	const struct zm_sysroot *root;
	unsigned int nr; /* made, or about to be */
	unsigned int nr_places;
	char prefix[96]; /* of their names; "" before make */
	struct zm_cgroups_place places[ZM_NR_CONTROLLERS];
};

/* Where would they be? Changes nothing. -ENOTSUP and a sentence with the mend: no hierarchy has a
 * controller that is asked for, or this user may not make a cgroup there; -EINVAL: limits that do not
 * fit (memory.high above memory.max, a list that is none). */
int zm_cgroups_plan(struct zm_cgroups *ret_cgroups, const struct zm_sysroot *root,
		    const struct zm_cgroup_limits *limits, struct zm_why *why);

/* Makes `nr` of them where the plan says, with these limits. `cpusets`: each instance's list of CPUs,
 * or NULL: limits->cpuset for all. What was made before a failure is taken back by the journal. */
int zm_cgroups_make(struct zm_cgroups *cgroups, unsigned int nr,
		    const struct zm_cgroup_limits *limits, const char *const *cpusets,
		    struct zm_journal *journal, struct zm_why *why);

/* This process into number `index`. Makes system calls only: fit for a child of a process with
 * threads. */
int zm_cgroups_enter(const struct zm_cgroups *cgroups, unsigned int index);

/* The directory of number `index` in place `place`, without the slash before it; its length. */
size_t zm_cgroups_path(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
		       char *buf, size_t size);

/* Bytes charged to it now, and the most so far. -ENOENT: this kernel does not say (memory.peak came
 * with Linux 5.19). */
int zm_cgroups_read_memory(const struct zm_cgroups *cgroups, unsigned int index,
			   uint64_t *ret_bytes);
int zm_cgroups_read_peak(const struct zm_cgroups *cgroups, unsigned int index, uint64_t *ret_bytes);

/* Tasks that the kernel killed in it when its memory, or the machine's, was at an end. */
int zm_cgroups_read_oom_kills(const struct zm_cgroups *cgroups, unsigned int index,
			      uint64_t *ret_kills);

/* How often pids.max refused a fork. -ENOENT where there is no limit. */
int zm_cgroups_read_fork_refusals(const struct zm_cgroups *cgroups, unsigned int index,
				  uint64_t *ret_refusals);

/* What its limits did to it, for a failure's sentence: "the kernel killed 2 of its tasks for memory
 * (memory_max=64M)". "" when they did nothing. */
char *zm_cgroups_explain(const struct zm_cgroups *cgroups, unsigned int index,
			 const struct zm_cgroup_limits *limits, char *buf, size_t size);

/* Kills all that runs in it, and what that forks meanwhile, and waits until it is empty, 10 s at most:
 * -EBUSY when a task does not end. */
int zm_cgroups_kill(const struct zm_cgroups *cgroups, unsigned int index, struct zm_why *why);

/* Removes the cgroups beside ours whose makers have died. Returns how many. make does it too. */
int zm_cgroups_sweep(const struct zm_cgroups *cgroups);

#endif
