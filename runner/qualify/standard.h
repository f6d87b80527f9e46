/*
 * standard: a profile, by which a machine is qualified: runs, and criteria that their figures must meet. YAML:
 *
 *     summary: minutes, to see that nothing is badly wrong
 *     repeat: 3                         runs as in a matrix's file (runner/matrix_file.h)
 *     options: {runtime: 5s}
 *     runs:
 *     - page_fault1: {nr_task: [1, 100%]}
 *     criteria:
 *     - throughput: page_fault1         a kind, and what it is about
 *       options: {nr_task: 100%}        which of its runs
 *       least: 20000
 *
 *     kind              about              value                            judged by
 *     machine           sockets, nodes,    how many there are               least, most
 *                       cpus, memory
 *     throughput        a workload         its primary figure, or `metric`  least, most, or a learned band
 *     scaling           a workload         share of the throughput that the tasks of `to` would have if
 *                                          each did what those of `from` do; least, most, or a learned band
 *     spread            a workload         stddev / mean over the launches  most
 *     symmetry          a workload         largest difference between the sockets or the nodes (`of`),
 *                                          each measured alone              most
 *     memory_returned   all, a workload    what is still used after the drain, as a share of the
 *                                          machine's memory                 most
 *     payload           all, a workload    verified messages; a corrupt one fails
 *     no_new            machine-check, edac, thermal-throttle, nic          counters that may not rise
 *     time              all                seconds that all of it took      most
 *
 * Any criterion may have a `name`, which its verdict and its band go by (otherwise made of it), and
 * `where: {sockets: 2}`: it is for machines with at least so many only, and not judged on others. That all runs
 * went well is a criterion that every profile has.
 */
#ifndef ZM_RUNNER_QUALIFY_STANDARD_H
#define ZM_RUNNER_QUALIFY_STANDARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/pool.h"
#include "runner/qualify/health.h"
#include "workloads/base/why.h"
#include "workloads/workload.h"

#define ZM_STANDARD_BYTES    ((size_t)1 << 20)
#define ZM_STANDARD_CRITERIA 1000

enum zm_criterion_kind {
	ZM_CRITERION_RUNS,
	ZM_CRITERION_MACHINE,
	ZM_CRITERION_THROUGHPUT,
	ZM_CRITERION_SCALING,
	ZM_CRITERION_SPREAD,
	ZM_CRITERION_SYMMETRY,
	ZM_CRITERION_MEMORY,
	ZM_CRITERION_PAYLOAD,
	ZM_CRITERION_NO_NEW,
	ZM_CRITERION_TIME,
};

/* What of a machine is counted. */
enum zm_machine_part {
	ZM_PART_SOCKETS,
	ZM_PART_NODES, /* with CPUs and memory */
	ZM_PART_CPUS,
	ZM_PART_MEMORY, /* bytes */
	ZM_NR_PARTS,
};

extern const char *const zm_part_names[]; /* "sockets"; NULL-terminated */

struct zm_criterion {
	enum zm_criterion_kind kind;
	unsigned int line;
	const char *name;
	const char *about;          /* the workload, "all", the class, the part */
	const json_t *options;      /* {"nr_task": "100%"}; NULL: any */
	const char *metric;         /* NULL: the primary figure */
	const char *from, *to;      /* of scaling: values of nr_task */
	enum zm_machine_part part;  /* of machine, symmetry */
	enum zm_health_class class; /* of no_new */
	double least, most;        /* NaN: none. Shares, seconds, bytes, or the figure's own unit */
	double where[ZM_NR_PARTS]; /* at least so many of each; 0: any */
};

struct zm_standard {
	const char *name;    /* "quick", or the file's name */
	const char *summary; /* may be NULL */
	const char *text;
	size_t length;
	struct zm_criterion *criteria;
	size_t nr_criteria;
	json_t *documents;
	struct zm_pool pool;
};

/* Those that come with zonemark; a NULL name ends them. */
struct zm_standard_file {
	const char *name;
	const unsigned char *text;
	size_t length;
};
extern const struct zm_standard_file zm_standard_files[];

/* A name, or a file's (it has a slash, or ends in .yaml or .yml). -ENOENT, with the nearest name; -EINVAL: the
 * sentence begins with "NAME:LINE: ". Of the runs only that they are there is checked here. */
int zm_standard_open(const char *word, const struct zm_workload *const *workloads,
		     struct zm_standard *ret_profile, struct zm_why *why);
int zm_standard_parse(const char *name, const char *text, size_t length,
		      const struct zm_workload *const *workloads, struct zm_standard *ret_profile,
		      struct zm_why *why);
void zm_standard_release(struct zm_standard *profile);

const char *zm_criterion_kind_name(enum zm_criterion_kind kind); /* "memory_returned" */

/* Is its value a share, shown in percent? */
bool zm_criterion_is_share(enum zm_criterion_kind kind);

#endif
