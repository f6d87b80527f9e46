/*
 * lock-contention: waits for the kernel's locks, and the zone locks' among them.
 *
 *     lock-contention.KIND.waits  .wait_time     spin, rwlock, mutex, rwsem, rtmutex, percpu-rwsem
 *     zone-lock.waits  .timed  .wait_time        the zone locks, which are spin locks too
 *     zone-lock.wait                             their histogram
 *
 * The counting is done in the kernel, by bpf/lock_contention.bpf.c; a reading is a sum over the CPUs. Two
 * sources are tried: the spin locks' slow paths themselves, and where these cannot be attached the events
 * contention_begin and _end alone. Which it was is noted in the run.
 *
 * The histogram, the call chains and the tasks' CPU time are read at phase borders only. The report sets
 * the zone locks' waits against the tasks' CPU time, and splits them by who called: allocating, freeing,
 * others (lockside.h).
 */
#include "runner/monitor.h"
#include "runner/monitors/bpf.h"

#ifndef ZM_HAVE_BPF_PROGRAMS

#include <errno.h>

static int open_locks(struct zm_monitor_context *context, struct zm_why *why)
{
	(void)context;
	return zm_bpf_not_built(why);
}

static int read_locks(struct zm_monitor_context *context, uint64_t t_ns)
{
	(void)context;
	(void)t_ns;
	return -ENOTSUP;
}

static void close_locks(struct zm_monitor_context *context)
{
	(void)context;
}

#define STATE_BYTES  0
#define ATTACH_LOCKS NULL
#define REPORT_LOCKS NULL

#else

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "runner/monitors/bpf/lock_contention.h"
#include "runner/monitors/lockside.h"
#include "runner/monitors/stat.h"
#include "runner/monitors/tasks.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/hist.h"

#include "runner/monitors/bpf/lock_contention.skel.h"

#define MAX_TRACES 12 /* call chains in the report */

enum figure {
	WAITS,
	TIMED,
	WAIT_TIME,
	NR_FIGURES,
};

#define ZONE    LOCK_NR_KINDS /* as a kind of its own */
#define NR_ROWS (LOCK_NR_KINDS + 1)

/* What the window had, between its two borders. */
struct window_ends {
	struct zm_hist first, last; /* of the zone locks' waits */
	uint64_t first_stacks[LOCK_MAX_STACKS], last_stacks[LOCK_MAX_STACKS];
};

struct state {
	struct lock_contention_bpf *skeleton;
	const struct lock_cpu *cpus;
	unsigned int nr_cpus;
	struct zm_cpuset online;
	bool has_slowpath;
	uint32_t series[NR_ROWS][NR_FIGURES];
	uint32_t hist_series, lost_series;
	uint32_t *cpu_series;
	struct zm_window_figure windows[NR_ROWS][NR_FIGURES];
	struct zm_window_figure cpu_time;
	struct zm_tasks tasks;
	uint64_t tick_ns;
	enum zm_phase last_phase;
	bool has_read;
	uint64_t last_lost;
	struct zm_hist now;
	struct window_ends ends;
};

static const char *const row_names[NR_ROWS] = {
	"lock-contention.spin",
	"lock-contention.rwlock",
	"lock-contention.mutex",
	"lock-contention.rwsem",
	"lock-contention.rtmutex",
	"lock-contention.percpu-rwsem",
	"zone-lock",
};

static const char *const figure_names[NR_FIGURES] = { "waits", "timed", "wait_time" };
static const char *const figure_units[NR_FIGURES] = { "events", "events", "ns" };

/* --- opening ----------------------------------------------------------------------------------- */

static int declare(struct zm_monitor_context *context, struct zm_series_desc desc,
		   uint32_t *ret_series)
{
	desc.source = context->monitor->name;
	return zm_recorder_series(context->recorder, &desc, ret_series);
}

static int declare_rows(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	char metric[64];
	int error = 0;

	for (unsigned int i = 0; !error && i < NR_ROWS * NR_FIGURES; i++) {
		unsigned int row = i / NR_FIGURES, figure = i % NR_FIGURES;
		const struct zm_series_desc desc = { .metric = metric,
						     .unit = figure_units[figure],
						     .kind = ZM_COUNT };

		(void)snprintf(metric, sizeof(metric), "%s.%s", row_names[row],
			       figure_names[figure]);
		error = declare(context, desc, &state->series[row][figure]);
	}
	return error;
}

static int declare_cpus(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	int error = zm_sysroot_read_cpuset(context->root, "sys/devices/system/cpu/online",
					   &state->online);

	state->cpu_series = calloc(state->nr_cpus, sizeof(*state->cpu_series));
	if (!state->cpu_series)
		return -ENOMEM;
	zm_cpuset_for_each (cpu, &state->online) {
		const struct zm_series_desc desc = {
			.metric = "zone-lock.waits",
			.unit = "events",
			.kind = ZM_COUNT,
			.scope = ZM_SCOPE_CPU,
			.scope_id = (uint32_t)cpu,
		};

		if (!error)
			error = declare(context, desc, &state->cpu_series[cpu]);
	}
	return error;
}

static int declare_all(struct zm_monitor_context *context)
{
	const struct zm_series_desc hist = { .metric = "zone-lock.wait",
					     .unit = "ns",
					     .kind = ZM_HIST };
	const struct zm_series_desc lost = { .metric = "lock-contention.lost",
					     .unit = "events",
					     .kind = ZM_COUNT };
	struct state *state = context->state;
	int error = declare_rows(context);

	if (!error)
		error = declare(context, hist, &state->hist_series);
	if (!error)
		error = declare(context, lost, &state->lost_series);
	return error ? error : declare_cpus(context);
}

static bool has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) >= 0;
}

/* Opens, loads and attaches with or without the slow paths; all or nothing. */
static int try_load(struct state *state, bool has_native, bool has_pv)
{
	struct lock_contention_bpf *skeleton = lock_contention_bpf__open();
	int error;

	if (!skeleton)
		return -errno;
	skeleton->rodata->has_slowpath = has_native || has_pv;
	(void)bpf_program__set_autoload(skeleton->progs.on_native_entry, has_native);
	(void)bpf_program__set_autoload(skeleton->progs.on_native_exit, has_native);
	(void)bpf_program__set_autoload(skeleton->progs.on_pv_entry, has_pv);
	(void)bpf_program__set_autoload(skeleton->progs.on_pv_exit, has_pv);
	error = bpf_map__set_max_entries(skeleton->maps.cpus, state->nr_cpus);
	if (!error)
		error = lock_contention_bpf__load(skeleton);
	if (!error)
		error = lock_contention_bpf__attach(skeleton);
	if (error) {
		lock_contention_bpf__destroy(skeleton);
		return error;
	}
	state->skeleton = skeleton;
	state->has_slowpath = has_native || has_pv;
	return 0;
}

static int load(struct state *state, const struct btf *btf, struct zm_why *why)
{
	bool has_native = has_function(btf, "native_queued_spin_lock_slowpath");
	bool has_pv = has_function(btf, "__pv_queued_spin_lock_slowpath");
	int error = -ENOENT;

	if (zm_bpf_tracepoint_args(btf, "contention_begin") < 2)
		return zm_why_set(why, -ENOTSUP,
				  "the kernel has no tracepoint lock:contention_begin: it needs "
				  "5.19");
	if (has_native || has_pv)
		error = try_load(state, has_native, has_pv);
	if (error)
		error = try_load(state, false, false);
	if (error)
		return zm_bpf_why(why, error, "lock-contention");
	state->cpus =
		zm_bpf_map_memory(state->skeleton->maps.cpus, sizeof(*state->cpus), state->nr_cpus);
	return state->cpus ? 0 : zm_bpf_why(why, -errno, "lock-contention");
}

static int open_locks(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	struct btf *btf;
	int error = zm_bpf_check(context, why);

	if (error)
		return error;
	btf = zm_bpf_kernel_types();
	if (!btf)
		return zm_bpf_why(why, -errno, "lock-contention");
	state->nr_cpus = zm_bpf_nr_cpus(context->root);
	state->tick_ns = zm_stat_tick_ns();
	error = load(state, btf, why);
	btf__free(btf);
	if (error)
		return error;
	error = declare_all(context);
	if (!error)
		error = zm_recorder_note(
			context->recorder, "lock-contention",
			state->has_slowpath ? "spin locks by entry and exit of their slow path"
					    : "spin locks by lock:contention_begin and _end: on "
					      "native spin locks the first waiter is not seen");
	return error ? zm_why_errno(why, error, "lock-contention") : 0;
}

static int attach_locks(struct zm_monitor_context *context, const struct zm_target *target,
			struct zm_why *why)
{
	struct state *state = context->state;

	return zm_tasks_attach(&state->tasks, context->root, target, why);
}

/* --- reading ----------------------------------------------------------------------------------- */

static uint64_t load_u64(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void add_sums(uint64_t *into, const struct lock_sums *sums)
{
	into[WAITS] += load_u64(&sums->waits);
	into[TIMED] += load_u64(&sums->timed);
	into[WAIT_TIME] += load_u64(&sums->wait_ns);
}

static void put_rows(struct zm_monitor_context *context, uint64_t rows[NR_ROWS][NR_FIGURES],
		     uint64_t t_ns, uint32_t flags)
{
	struct state *state = context->state;

	for (unsigned int row = 0; row < NR_ROWS; row++)
		for (unsigned int i = 0; i < NR_FIGURES; i++) {
			zm_recorder_put_u64(context->recorder, state->series[row][i], t_ns,
					    rows[row][i], flags);
			zm_window_feed(&state->windows[row][i], context->phase, t_ns,
				       (double)rows[row][i]);
		}
}

/* The sums of all CPUs, and each CPU's own waits. */
static void read_rows(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	uint64_t rows[NR_ROWS][NR_FIGURES] = { 0 };
	uint64_t lost = zm_bpf_missed(state->skeleton->progs.on_begin) +
			zm_bpf_missed(state->skeleton->progs.on_end);
	uint32_t flags = 0;

	for (unsigned int cpu = 0; cpu < state->nr_cpus; cpu++) {
		const struct lock_cpu *own = &state->cpus[cpu];

		for (unsigned int kind = 0; kind < LOCK_NR_KINDS; kind++)
			add_sums(rows[kind], &own->kinds[kind]);
		add_sums(rows[ZONE], &own->zone);
		lost += load_u64(&own->lost);
		if (zm_cpuset_has(&state->online, cpu))
			zm_recorder_put_u64(context->recorder, state->cpu_series[cpu], t_ns,
					    load_u64(&own->zone.waits), 0);
	}
	if (state->has_read && lost > state->last_lost)
		flags = ZM_FLAG_LOST;
	state->last_lost = lost;
	zm_recorder_put_u64(context->recorder, state->lost_series, t_ns, lost, 0);
	put_rows(context, rows, t_ns, flags);
}

/* The zone locks' waits of all CPUs as one histogram. */
static void sum_hist(const struct state *state, struct zm_hist *hist)
{
	uint64_t first, end;

	zm_hist_init(hist);
	for (unsigned int cpu = 0; cpu < state->nr_cpus; cpu++) {
		for (size_t i = 0; i < LOCK_BUCKETS; i++) {
			uint64_t times = load_u64(&state->cpus[cpu].buckets[i]);

			if (!times)
				continue;
			zm_hist_bounds(i, &first, &end);
			zm_hist_add(hist, first + (end - first) / 2, times);
		}
	}
}

static void read_stacks(const struct state *state, uint64_t *counts)
{
	int fd = bpf_map__fd(state->skeleton->maps.stack_counts);
	__u32 key, next, *previous = NULL;
	__u64 count;

	memset(counts, 0, LOCK_MAX_STACKS * sizeof(*counts));
	while (bpf_map_get_next_key(fd, previous, &next) == 0) {
		if (next < LOCK_MAX_STACKS && bpf_map_lookup_elem(fd, &next, &count) == 0)
			counts[next] = count;
		key = next;
		previous = &key;
	}
}

/* The CPU time that the tasks have had; false when one of them cannot be read. */
static bool sum_cpu_time(const struct zm_monitor_context *context, double *ret_ns)
{
	const struct state *state = context->state;
	struct zm_taskstat stat;
	uint64_t ticks = 0;

	for (unsigned int i = 0; i < state->tasks.nr; i++) {
		if (zm_tasks_stat(&state->tasks, context->root, i, &stat))
			return false;
		ticks += stat.user_ticks + stat.system_ticks;
		if (state->tasks.kind == ZM_TASK_PROCESS)
			ticks += stat.child_user_ticks + stat.child_system_ticks;
	}
	*ret_ns = (double)zm_stat_ns(ticks, state->tick_ns);
	return state->tasks.nr > 0;
}

static void read_border(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	bool is_begin = context->phase == ZM_PHASE_MEASURE;
	bool is_end = state->has_read && state->last_phase == ZM_PHASE_MEASURE;
	double cpu_ns;

	sum_hist(state, &state->now);
	zm_recorder_put_hist(context->recorder, state->hist_series, t_ns, &state->now, 0);
	if (sum_cpu_time(context, &cpu_ns))
		zm_window_feed(&state->cpu_time, context->phase, t_ns, cpu_ns);
	if (is_begin) {
		state->ends.first = state->now;
		read_stacks(state, state->ends.first_stacks);
	} else if (is_end) {
		state->ends.last = state->now;
		read_stacks(state, state->ends.last_stacks);
	}
}

static int read_locks(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;

	read_rows(context, t_ns);
	if (!state->has_read || context->phase != state->last_phase)
		read_border(context, t_ns);
	state->last_phase = context->phase;
	state->has_read = true;
	return 0;
}

/* --- the report -------------------------------------------------------------------------------- */

static const struct zm_metric waits_per_s = { .name = "zone-lock.waits_per_s", .unit = "events/s" };
static const struct zm_metric mean_us = { .name = "zone-lock.avg_us", .unit = "us" };
static const struct zm_metric p99_us = { .name = "zone-lock.p99_us", .unit = "us" };
static const struct zm_metric max_us = { .name = "zone-lock.max_us", .unit = "us" };
static const struct zm_metric contend = { .name = "zone-lock.contend%", .unit = "%" };
static const struct zm_metric sides[ZM_LOCKSIDE_NR] = {
	[ZM_LOCKSIDE_ALLOC] = { .name = "zone-lock.alloc%", .unit = "%" },
	[ZM_LOCKSIDE_FREE] = { .name = "zone-lock.free%", .unit = "%" },
	[ZM_LOCKSIDE_OTHER] = { .name = "zone-lock.other%", .unit = "%" },
};

static double delta_of(const struct state *state, unsigned int row, enum figure figure)
{
	double delta;

	return zm_window_delta(&state->windows[row][figure], &delta) ? delta : 0;
}

/* The time of all waits of a row: of the timed ones, scaled to all. */
static double wait_ns_of(const struct state *state, unsigned int row)
{
	double timed = delta_of(state, row, TIMED);

	return timed > 0 ? delta_of(state, row, WAIT_TIME) / timed * delta_of(state, row, WAITS)
			 : 0;
}

/* What the waits are a share of: the tasks' CPU time; of all CPUs, when there are no tasks. */
static double base_ns(const struct state *state, double width_ns)
{
	double ns;

	if (state->cpu_time.has_ended && zm_window_delta(&state->cpu_time, &ns) && ns > 0)
		return ns;
	return width_ns * (double)zm_cpuset_count(&state->online);
}

static int report_times(const struct state *state, uint64_t width_ns, struct zm_report *report)
{
	double waits = delta_of(state, ZONE, WAITS);
	struct zm_hist hist = state->ends.last;
	int error = zm_report_add(report, &waits_per_s,
				  waits * (double)ZM_NS_PER_S / (double)width_ns, waits, width_ns);

	zm_hist_subtract(&hist, &state->ends.first);
	if (error || hist.count == 0)
		return error;
	error = zm_report_add(report, &mean_us, wait_ns_of(state, ZONE) / waits / 1e3, waits,
			      width_ns);
	if (!error)
		error = zm_report_add(report, &p99_us, zm_hist_quantile(&hist, 0.99) / 1e3,
				      (double)hist.count, width_ns);
	return error ? error
		     : zm_report_add(report, &max_us, (double)hist.max / 1e3, (double)hist.count,
				     width_ns);
}

static int report_kinds(const struct state *state, double base, uint64_t width_ns,
			struct zm_report *report)
{
	int error = 0;

	for (unsigned int kind = 0; !error && kind < LOCK_NR_KINDS; kind++) {
		char name[64];
		const struct zm_metric metric = { .name = name, .unit = "%" };
		double ns = wait_ns_of(state, kind);

		(void)snprintf(name, sizeof(name), "%s%%", row_names[kind]);
		error = zm_report_add(report, &metric, 100 * ns / base, ns, width_ns);
	}
	return error;
}

/* Fills in the call chains of the window. */
static unsigned int collect_chains(const struct state *state, struct zm_lockside_chain *chains)
{
	int fd = bpf_map__fd(state->skeleton->maps.stacks);
	unsigned int nr = 0;

	for (__u32 id = 0; id < LOCK_MAX_STACKS; id++) {
		uint64_t times = state->ends.last_stacks[id] - state->ends.first_stacks[id];

		if (state->ends.last_stacks[id] <= state->ends.first_stacks[id])
			continue;
		memset(&chains[nr], 0, sizeof(chains[nr]));
		if (bpf_map_lookup_elem(fd, &id, chains[nr].frames) == 0)
			chains[nr++].times = times;
	}
	return nr;
}

static int report_sides(struct zm_monitor_context *context, const struct zm_lockside *lockside,
			double contended, uint64_t width_ns, struct zm_report *report)
{
	int error = 0;

	if (lockside->total == 0)
		return 0;
	for (unsigned int i = 0; !error && i < ZM_LOCKSIDE_NR; i++)
		error = zm_report_add(report, &sides[i],
				      contended * (double)lockside->times[i] /
					      (double)lockside->total,
				      (double)lockside->times[i], width_ns);
	if (!error && !((const struct state *)context->state)->has_slowpath && lockside->is_pv)
		error = zm_recorder_note(context->recorder, "lock-contention",
					 "the spin locks are paravirtual: every waiter queues and "
					 "is seen");
	return error;
}

static int report_chains(struct zm_monitor_context *context, double contended, uint64_t width_ns,
			 struct zm_report *report)
{
	struct zm_lockside_chain *chains = calloc(LOCK_MAX_STACKS, sizeof(*chains));
	struct zm_lockside lockside = { .total = 0 };
	struct zm_why why = { "" };
	unsigned int nr;
	int error;

	if (!chains)
		return -ENOMEM;
	nr = collect_chains(context->state, chains);
	error = nr ? zm_lockside_judge(&lockside, context->root, chains, nr, &why) : 0;
	if (error)
		error = zm_recorder_absent(context->recorder, "zone-lock.alloc%", why.text);
	else
		error = report_sides(context, &lockside, contended, width_ns, report);
	if (!error)
		error = zm_lockside_report(&lockside, "zone-lock.calltrace", MAX_TRACES, width_ns,
					   report);
	zm_lockside_release(&lockside);
	free(chains);
	return error;
}

static int report_locks(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			struct zm_report *report)
{
	const struct state *state = context->state;
	const struct zm_window_figure *waits = &state->windows[ZONE][WAITS];
	uint64_t width_ns = waits->t1_ns - waits->t0_ns;
	double base, contended;
	int error;

	if (!zm_window_is_whole(waits, t0_ns, t1_ns) || width_ns == 0)
		return zm_window_say_absent(context);
	base = base_ns(state, (double)width_ns);
	contended = 100 * wait_ns_of(state, ZONE) / base;
	error = zm_report_add(report, &contend, contended, wait_ns_of(state, ZONE), width_ns);
	if (!error)
		error = report_times(state, width_ns, report);
	if (!error)
		error = report_kinds(state, base, width_ns, report);
	return error ? error : report_chains(context, contended, width_ns, report);
}

static void close_locks(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_bpf_unmap_memory(state->cpus, sizeof(*state->cpus), state->nr_cpus);
	lock_contention_bpf__destroy(state->skeleton);
	zm_tasks_release(&state->tasks);
	zm_cpuset_release(&state->online);
	free(state->cpu_series);
}

#define STATE_BYTES  sizeof(struct state)
#define ATTACH_LOCKS attach_locks
#define REPORT_LOCKS report_locks

#endif

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "waits for the kernel's locks, the zone locks apart and by caller",
	.needs = "lock:contention_* by BPF: CAP_BPF, CAP_PERFMON, kernel 5.19 with BTF",
	.rate = ZM_RATE_NORMAL,
	.is_extra = true,
	.state_bytes = STATE_BYTES,
	.open = open_locks,
	.attach = ATTACH_LOCKS,
	.read = read_locks,
	.report = REPORT_LOCKS,
	.close = close_locks,
};
