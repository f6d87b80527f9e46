/*
 * workload: the contract between a load and the harness.
 *
 * A workload is one file that ends in one constant, ZM_WORKLOAD; the build finds the file, names
 * the constant and the workload after its path (faultload/page_fault1.c: page_fault1), lists it and
 * runs the generated contract test on it. workloads/skeleton.c is this page as code.
 *
 * Who calls what, in which process, and in which order:
 *
 *     runner     check      may it run here? as often as somebody asks; changes nothing
 *     runner     footprint  what does it need? before anything is started
 *     launcher   prepare    once; makes what all tasks share (files, segments)
 *     task       setup      once per task, after pinning, before the gate
 *     task       step|round|run   the hot loop, from the gate to the stop
 *     task       teardown   once per task, also after a failed setup
 *     launcher   verify     once, after all tasks have ended well
 *     launcher   cleanup    once, also after a failed prepare
 *     runner     report     once, from the counts of the measured window
 *
 * The launcher is a process of its own, the tasks are its children or its threads. A task does not
 * know which, nor how long it runs. teardown and cleanup run whenever their counterpart was
 * *entered*, so they accept half-built state. Every call that can fail returns 0 or -errno and puts
 * one sentence into `why`.
 */
#ifndef ZM_WORKLOADS_WORKLOAD_H
#define ZM_WORKLOADS_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/hist.h"
#include "workloads/base/option.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"
#include "workloads/sample.h"

/* How a task is made. */
enum zm_task_kind {
	ZM_TASK_PROCESS = 1 << 0,
	ZM_TASK_THREAD = 1 << 1,
};

/* Has a run of this kind the metric? True means: it must appear. */
static inline bool zm_metric_is_for(const struct zm_metric *metric, enum zm_task_kind kind)
{
	return metric->kinds == 0 || (metric->kinds & (unsigned int)kind) != 0;
}

/* What a workload cannot do without; the harness checks it and says what is missing. */
struct zm_need {
	unsigned int min_cpus;        /* allowed CPUs; 0: one */
	unsigned int min_nodes;       /* nodes with memory */
	bool root;                    /* effective uid 0 */
	const char *const *protocols; /* names in /proc/net/protocols ("SCTP"), NULL-terminated */
	const char *const *files;    /* paths that must exist, below the root ("proc/sys/vm/…") */
	const char *const *commands; /* programs that must be on PATH */
};

/* What a run will use, computed before it starts; the harness refuses what does not fit. */
struct zm_footprint {
	uint64_t shared_bytes; /* memory for the run as a whole (page cache, shared mappings) */
	uint64_t task_bytes;   /* memory per task, in addition */
	uint64_t hugepages;    /* default-size huge pages in all, which must be there before */
	/* Bytes in huge pages (hugetlb) of one size (0: the default one), of the run as a whole, wherever they
	 * come from: used, and mapped (a copy that a write makes is used, but was never mapped as such). */
	uint64_t hugetlb_bytes, hugetlb_mapped_bytes, hugetlb_page_bytes;
	uint64_t disk_bytes; /* on the file system of `disk_path` */
	const char *disk_path;
	unsigned int task_files; /* descriptors per task beyond stdio */
};

/* A run as its workload sees it. Lies in memory shared by runner, launcher and tasks. */
struct zm_run {
	const struct zm_workload *workload;
	const void *options; /* the workload's option struct, read-only after check */
	const struct zm_sysroot *root;
	enum zm_task_kind kind;
	unsigned int nr_tasks; /* a multiple of workload->nr_ends */
	uint64_t seed;
	uint64_t page_bytes; /* the base page: 4,096, 16,384 or 65,536 */
	void *state;         /* workload->run_bytes, zeroed, shared */
};

/* A task as its workload sees it. */
struct zm_task {
	struct zm_run *run;
	unsigned int index;   /* 0 … nr_tasks - 1 */
	unsigned int pair;    /* index / nr_ends */
	unsigned int end;     /* index % nr_ends: with two ends, 0 sends and 1 receives */
	int cpu;              /* the CPU it is pinned to, -1 when it is not */
	int node;             /* that CPU's node, -1 when unknown */
	void *state;          /* workload->task_bytes, zeroed, private to the task */
	struct zm_slot *slot; /* its counters: worker.h */
};

/* What the tasks did in the measured window, handed to report(). */
struct zm_window {
	const struct zm_run *run;
	uint64_t t0_ns, t1_ns;       /* the moments of the two reads of all counters */
	const uint64_t *ops;         /* per task, in the window */
	const uint64_t *counters;    /* [task * nr_counters + counter], in the window */
	const struct zm_hist *hists; /* [hist], all tasks merged, in the window; NULL without */
	unsigned int nr_counters;
	unsigned int nr_hists;
	uint64_t task_faults; /* the tasks' own minor and major faults (rusage) */
	bool has_task_faults;
};

/* All tasks' operations in the window. */
static inline uint64_t zm_window_ops(const struct zm_window *window)
{
	uint64_t ops = 0;

	for (unsigned int i = 0; i < window->run->nr_tasks; i++)
		ops += window->ops[i];
	return ops;
}

/* A count of the window per second. */
static inline double zm_window_rate(const struct zm_window *window, uint64_t count)
{
	return (double)count * 1e9 / (double)(window->t1_ns - window->t0_ns);
}

/* Where report() puts derived figures. Implemented by the runner. */
struct zm_report;
/* name and the rest come from the metric's row ("{n}" is filled in); count and interval_ns are the
 * raw figures that the value was derived from. */
int zm_report_add(struct zm_report *report, const struct zm_metric *metric, double value,
		  double count, uint64_t interval_ns);

/* What report() says when the window has nothing to derive figures from ("no guest was started in the
 * window of 0.3 s: set a longer runtime"): the run's sentence. Returns error, which report() returns. */
int zm_report_fail(struct zm_report *report, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct zm_workload {
	/* Named by the build: write `.name = ZM_WORKLOAD_NAME`. */
	const char *name;

	/* One line: what it does to the kernel. No full stop. */
	const char *summary;

	/* What one operation is, a singular noun: "page", "byte", "message", "build job". The count
	 * that step, round or run reports is a count of these. */
	const char *op;

	/* Which enum zm_task_kind it supports, or-ed. */
	unsigned int kinds;

	/* Tasks that work together as one unit: 1, or 2 for the ends of a stream. nr_task counts
	 * units. 0 means 1. */
	unsigned int nr_ends;

	struct zm_need need;

	/* What a room's workloads tell their shared code about themselves; the harness never looks.
	 * May be NULL. */
	const void *own;

	/* The name of its own option (U64 or AMOUNT) that says how many units there are, where nr_task
	 * means something else to its users: the instances of a build, each of which runs jobs. Such a
	 * workload's options are looked at before the run's, so a row may be called nr_task too
	 * (`also`). NULL: nr_task is the number of units. */
	const char *units;

	/* Its tasks start processes that work for them, whose CPU time is the run's: it does not count as
	 * disturbance by others. */
	bool has_children;

	/* What the run's options are for it when nobody says otherwise: "runtime", "5m", "warmup",
	 * "0s", NULL. May be NULL. */
	const char *const *presets;

	/* Typed rows (NULL-terminated) and the size of the struct they fill. May be NULL and 0. */
	const struct zm_option *options;
	size_t options_size;

	/* Raw counts beyond the operations that each task keeps (zm_task_count), and histograms
	 * (zm_task_hist); each list ends with a NULL name and may be NULL. Kept as series per task. */
	const struct zm_metric *counters;
	const struct zm_metric *hists;

	/* The figures report() derives. Every declared one whose `kinds` allow the run's kind must
	 * appear in every good run (zm_metric_is_for), but for those marked is_optional, which appear
	 * with the options they belong to. */
	const struct zm_metric *metrics;

	/* sysctls and sysfs files that prepare or the tasks write, relative to the root; journalled
	 * before prepare and put back afterwards, whatever happens. '*' stands for any part of a name
	 * ("hugepages-*"); what this machine does not have is passed over. NULL-terminated, may be
	 * NULL. */
	const char *const *save;

	/* Operations per step, at most: large enough that the harness's share is small (it spends about
	 * 20 instructions a step, and walks through pages that the step drove out of the caches). A task
	 * works up to it, from one operation, as long as its steps take less than 10 ms, so that a slow
	 * machine's counts stay fresh and its tasks can be stopped. */
	uint64_t batch;

	/* How long a task may honestly go without a count (operations or counters): a build job takes
	 * minutes. A task that is silent for longer has stalled, and the run failed. 0: 5 s. */
	uint64_t patience_ns;

	/* Zeroed memory the harness provides: per run (shared), per task (private). */
	size_t run_bytes;
	size_t task_bytes;

	/* Can it run here with these options? -ENOTSUP and one sentence: the run is skipped (77);
	 * -EINVAL: the options do not fit each other (2). May be NULL. */
	int (*check)(const struct zm_run *run, struct zm_why *why);

	/* Fills in what the run will use (zeroed before). May be NULL: next to nothing. */
	void (*footprint)(const struct zm_run *run, struct zm_footprint *ret_footprint);

	int (*prepare)(struct zm_run *run, struct zm_why *why);
	void (*cleanup)(struct zm_run *run);

	int (*setup)(struct zm_task *task, struct zm_why *why);
	void (*teardown)(struct zm_task *task);

	/* Exactly one of step, round and run. step does n operations, and returns how many it did (at
	 * most n, more than 0) or -errno. No clock, no log, no lock, no shared cache line. round and run
	 * report with zm_task_add(), and return 0 or -errno: round does a round, which is begun anew
	 * until the stop, and which the stop may cut short; run loops until zm_task_is_stopped(). */
	int64_t (*step)(struct zm_task *task, uint64_t n);
	int (*round)(struct zm_task *task);
	int (*run)(struct zm_task *task);

	/* Has it done all that it was to do (so many builds)? Then the measured window ends before its
	 * runtime is over. Asked in the runner, after every reading of the counters, so it looks at the
	 * run's shared state only; the tasks go on until they are stopped. May be NULL: never. */
	bool (*is_done)(const struct zm_run *run);

	/* Was the work really done? May be NULL. */
	int (*verify)(struct zm_run *run, struct zm_why *why);

	/* How many operations one page fault of a task should make with these options (1; 512 with
	 * huge pages of 2 MiB; a folio's pages), from `ret_least` to `ret_most`; a window outside is
	 * flagged. Return false when faults are not what it is about. Asked after the run, when the
	 * machine is put back: what hangs on its settings is looked up in prepare. May be NULL:
	 * false. */
	bool (*expect_ops_per_fault)(const struct zm_run *run, double *ret_least, double *ret_most);

	/* Derives the declared metrics from the measured window. Runs in the runner. */
	int (*report)(const struct zm_window *window, struct zm_report *report);
};

/* Checks the constant itself: exactly one of step, round and run, every metric with a unit, every option's
 * preset in its own bounds… The sentence names the offender. Run on all of them at start-up. */
int zm_workload_validate(const struct zm_workload *workload, struct zm_why *why);

/* Is it what a user means by this name? Some of the originals have '-' where a file has '_'. */
bool zm_workload_is_named(const struct zm_workload *workload, const char *name);

#endif
