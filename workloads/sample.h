/*
 * sample: what a measurement is.
 *
 * A *metric* has a name the field already uses, a unit, a kind, and a direction. A *series* is one
 * metric of one scope (a task, a CPU, a node…) from one source during one run. A *reading* is one
 * point of a series: a raw number and the moment of the monotonic clock at which it was read.
 *
 *     count   cumulative: only differences of two readings mean something. A sample is the
 *             difference of two neighbours over the interval between their moments.
 *     gauge   the value at that moment.
 *     hist    a log-linear histogram (base/hist.h), cumulative like a count.
 *
 * Readings are raw and in base units (ns, bytes, pages, operations) as the source gave them; rates,
 * percentages and tables are derived when shown. What could not be read is absent, with a reason,
 * never 0. Readings of every phase are kept; each is labelled with its phase, and every phase
 * border has a reading of all series, so that a phase's total is the difference of its borders.
 */
#ifndef ZM_WORKLOADS_SAMPLE_H
#define ZM_WORKLOADS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum zm_kind {
	ZM_COUNT,
	ZM_GAUGE,
	ZM_HIST,
};

enum zm_better {
	ZM_BETTER_NEITHER, /* an explanation, never a verdict */
	ZM_BETTER_MORE,
	ZM_BETTER_LESS,
};

enum zm_scope {
	ZM_SCOPE_HOST, /* scope_id 0 */
	ZM_SCOPE_TASK, /* the task's index */
	ZM_SCOPE_CPU,
	ZM_SCOPE_NODE,
	ZM_SCOPE_ZONE, /* node * 16 + the zone's place in the node */
	ZM_SCOPE_CGROUP,
};

/* The phases of a run, in order. */
enum zm_phase {
	ZM_PHASE_PREPARE,
	ZM_PHASE_IDLE,  /* the used-memory baseline, after prepare, before any task is there */
	ZM_PHASE_SETUP, /* tasks are made, pinned, set up; ends when the gate opens */
	ZM_PHASE_WARMUP,
	ZM_PHASE_MEASURE,
	ZM_PHASE_STOP,  /* tasks are told to stop, and end */
	ZM_PHASE_DRAIN, /* used memory comes back */
	ZM_PHASE_CLEANUP,
	ZM_NR_PHASES,
};

const char *zm_phase_name(enum zm_phase phase); /* "measure" */
const char *zm_scope_name(enum zm_scope scope); /* "task" */
const char *zm_kind_name(enum zm_kind kind);    /* "count" */

enum zm_flag {
	ZM_FLAG_PARTIAL = 1 << 0,   /* the file was cut, or not everything could be read */
	ZM_FLAG_SATURATED = 1 << 1, /* a counter of the source had reached its limit */
	ZM_FLAG_LOST = 1 << 2,      /* the source dropped events in this interval */
	ZM_FLAG_LATE = 1 << 3,      /* read more than a tenth of an interval after its time */
};

/* A metric's declaration. Strings are constants of the declarer, or live as long as the recorder. */
struct zm_metric {
	/* "will-it-scale.per_process_ops"; "{n}" stands for the number of tasks */
	const char *name;
	const char *unit; /* "pages/s", "kB", "pages", "ns", "" */
	enum zm_kind kind;
	enum zm_better better;
	bool is_primary; /* verdicts are given on these */
	/* One line: what it is; may be NULL for kernel fields passed through. */
	const char *summary;
	/* A workload's metric: the task kinds (enum zm_task_kind, or-ed) whose runs have it; 0: all. */
	unsigned int kinds;
	bool is_optional; /* appears with certain options, or on certain kernels, only */
};

/*
 * The series and figures that the engine itself keeps of every run, by name. Series: source
 * ZM_SOURCE_ENGINE, scope task, kind count. Operations are read at every border and interval, CPU
 * times and faults at the borders. The workload's own counters stand beside them (source: the
 * workload, metric: the counter's name, scope task). Figures have the same source.
 */
#define ZM_SOURCE_ENGINE        "engine"
#define ZM_SERIES_TASK_OPS      "task.ops"    /* unit: the workload's `op` */
#define ZM_SERIES_TASK_FAULTS   "task.faults" /* minor and major */
#define ZM_SERIES_TASK_USER     "task.user_ns"
#define ZM_SERIES_TASK_SYSTEM   "task.system_ns"
#define ZM_FIGURE_OPS           "window.ops"           /* operations in the measured window */
#define ZM_FIGURE_TASK_FAULTS   "window.task_faults"   /* the tasks' own faults */
#define ZM_FIGURE_KERNEL_FAULTS "window.kernel_faults" /* pgfault of /proc/vmstat: everybody's */
#define ZM_FIGURE_WITHIN        "window.spread%"       /* of its intervals: stddev / mean */
#define ZM_FIGURE_STEAL         "disturb.steal%"       /* of the time of the CPUs used */
#define ZM_FIGURE_OTHERS        "disturb.others%"      /* other processes, of the CPUs used */
#define ZM_FIGURE_THROTTLED     "disturb.throttled%"   /* of the window, by a cgroup's quota */
#define ZM_FIGURE_SKEW          "start.skew"           /* gate opened to the last first op */
#define ZM_FIGURE_IDLE_USED     "used.idle"            /* bytes used before the tasks were there */
#define ZM_FIGURE_PEAK_USED     "used.peak"
#define ZM_FIGURE_DRAINED_USED  "used.drained" /* after they had gone */

struct zm_reading {
	uint64_t t_ns;
	union {
		uint64_t u64;
		double f64;
	} value;
	uint32_t flags;
};

#endif
