/*
 * lock-contention: waits for the kernel's locks, and the zone locks' among them.
 *
 *     lock-contention.KIND.waits  .wait_time     spin, rwlock, mutex, rwsem, rtmutex, percpu-rwsem
 *     zone-lock.waits  .timed  .wait_time        the zone locks, which are spin locks too
 *     zone-lock.wait                             their histogram
 *
 * The counting is done in the kernel, by bpf/lock_contention.bpf.c; a reading is a sum over the CPUs. Two
 * sources are tried: the spin locks' slow paths themselves, and where these cannot be attached the events
 * contention_begin and _end alone. Which it was is noted in the run. Of native spin locks the events miss the
 * first waiter: these figures have names of their own, "zone-lock.queued", so that they can be taken for the
 * whole nowhere.
 *
 * The histogram, the call chains, the stolen time and the tasks' CPU time are read at phase borders only. The
 * report sets the zone locks' waits against the tasks' CPU time, and splits them by who called: allocating,
 * freeing, others (lockside.h).
 */
#include "runner/monitor.h"
#include "runner/monitors/bpf.h"

#ifdef ZM_HAVE_BPF_PROGRAMS

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "runner/monitors/bpf/lock_contention.h"
#include "runner/monitors/ksyms.h"
#include "runner/monitors/lockside.h"
#include "runner/monitors/pvlock.h"
#include "runner/monitors/source.h"
#include "runner/monitors/stat.h"
#include "runner/monitors/tasks.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/hist.h"

#include "runner/monitors/bpf/lock_contention.skel.h"

#define MAX_TRACES       12 /* call chains in the report */
#define MAX_OTHER_TRACES 3  /* of each kind of other locks */

enum figure {
	WAITS,
	TIMED,
	WAIT_TIME,
	NR_FIGURES,
};

#define ZONE    LOCK_ZONE
#define NR_ROWS (LOCK_NR_KINDS + 1)

/* What the window had, between its two borders. */
struct window_ends {
	struct zm_hist first, last; /* of the zone locks' waits */
	uint64_t first_stacks[NR_ROWS][LOCK_MAX_STACKS], last_stacks[NR_ROWS][LOCK_MAX_STACKS];
};

struct state {
	struct lock_contention_bpf *skeleton;
	struct zm_bpf bpf;
	struct zm_bpf_memory cpus; /* struct lock_cpu */
	bool has_slowpath;
	bool is_whole; /* every waiter of a spin lock is seen */
	uint32_t series[NR_ROWS][NR_FIGURES];
	uint32_t hist_series, lost_series, chains_series;
	uint32_t *cpu_waits, *cpu_times;
	struct zm_window_figure windows[NR_ROWS][NR_FIGURES];
	struct zm_window_figure cpu_time;
	struct zm_sysfile stat;
	struct zm_window_figure steal, all_time; /* of all CPUs */
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

/* The same where the first waiter is not seen. */
#define QUEUED_SPIN "lock-contention.spin-queued"
#define QUEUED_ZONE "zone-lock.queued"

static const char *const figure_names[NR_FIGURES] = { "waits", "timed", "wait_time" };
static const char *const figure_units[NR_FIGURES] = { "events", "events", "ns" };

/* --- opening ----------------------------------------------------------------------------------- */

static const char *row_name(const struct state *state, unsigned int row)
{
	if (!state->is_whole && row == LOCK_SPIN)
		return QUEUED_SPIN;
	return !state->is_whole && row == ZONE ? QUEUED_ZONE : row_names[row];
}

/* "zone-lock.WHAT" */
static const char *zone_name(const struct state *state, const char *what, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s.%s", row_name(state, ZONE), what);
	return buf;
}

static int declare_rows(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	char metric[64];
	int error = 0;

	for (unsigned int i = 0; !error && i < NR_ROWS * NR_FIGURES; i++) {
		unsigned int row = i / NR_FIGURES, figure = i % NR_FIGURES;

		(void)snprintf(metric, sizeof(metric), "%s.%s", row_name(state, row),
			       figure_names[figure]);
		error = zm_bpf_declare(context, metric, figure_units[figure],
				       &state->series[row][figure]);
	}
	return error;
}

static int declare_all(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	char name[64];
	const struct zm_series_desc hist = { .source = context->monitor->name,
					     .metric = zone_name(state, "wait", name, sizeof(name)),
					     .unit = "ns",
					     .kind = ZM_HIST };
	int error = declare_rows(context);

	if (!error)
		error = zm_recorder_series(context->recorder, &hist, &state->hist_series);
	if (!error)
		error = zm_bpf_declare(context, "lock-contention.lost", "events",
				       &state->lost_series);
	if (!error)
		error = zm_bpf_declare(context, "lock-contention.lost_chains", "chains",
				       &state->chains_series);
	if (!error)
		error = zm_bpf_declare_cpus(context, &state->bpf,
					    zone_name(state, "waits", name, sizeof(name)), "events",
					    &state->cpu_waits);
	return error ? error
		     : zm_bpf_declare_cpus(context, &state->bpf,
					   zone_name(state, "wait_time", name, sizeof(name)), "ns",
					   &state->cpu_times);
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
	error = zm_bpf_memory_make(&state->cpus, sizeof(struct lock_cpu), state->bpf.nr_cpus);
	if (!error)
		error = zm_bpf_share(skeleton->maps.cpus, &state->cpus);
	if (!error)
		error = zm_bpf_start(skeleton->skeleton);
	if (error) {
		lock_contention_bpf__destroy(skeleton);
		zm_bpf_memory_release(&state->cpus);
		return error;
	}
	state->skeleton = skeleton;
	state->has_slowpath = has_native || has_pv;
	return 0;
}

static int load(struct state *state, struct zm_why *why)
{
	bool has_native = zm_bpf_may_attach(&state->bpf, "native_queued_spin_lock_slowpath");
	bool has_pv = zm_bpf_may_attach(&state->bpf, "__pv_queued_spin_lock_slowpath");
	int error = -ENOENT;

	if (zm_bpf_tracepoint_args(&state->bpf, "contention_begin") < 2)
		return zm_why_set(why, -ENOTSUP,
				  "the kernel has no tracepoint lock:contention_begin: it needs "
				  "5.19");
	if (has_native || has_pv)
		error = try_load(state, has_native, has_pv);
	if (error)
		error = try_load(state, false, false);
	return error ? zm_bpf_why(why, error) : 0;
}

static const char *source_of(const struct state *state)
{
	if (state->has_slowpath)
		return "spin locks by entry and exit of their slow path: every waiter is seen";
	if (state->is_whole)
		return "spin locks by lock:contention_begin and _end; they are paravirtual: every "
		       "waiter queues and is seen";
	return "spin locks by lock:contention_begin and _end: the first waiter of a lock spins "
	       "unseen, the others are the \"queued\" figures";
}

static int open_locks(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int error = zm_bpf_begin(&state->bpf, context, why);

	if (!error)
		error = load(state, why);
	if (error)
		return error;
	state->tick_ns = zm_stat_tick_ns();
	state->is_whole = state->has_slowpath ||
			  (zm_bpf_has_function(&state->bpf, "__pv_queued_spin_lock_slowpath") &&
			   zm_pvlock_is_on(context->root));
	zm_bpf_forget_types(&state->bpf);
	error = zm_sysfile_open(&state->stat, context->root, "proc/stat");
	if (!error)
		error = declare_all(context);
	if (!error)
		error = zm_recorder_note(context->recorder, "lock-contention", source_of(state));
	return error ? zm_why_errno(why, error, "lock-contention") : 0;
}

static int attach_locks(struct zm_monitor_context *context, const struct zm_target *target,
			struct zm_why *why)
{
	struct state *state = context->state;

	return zm_tasks_attach(&state->tasks, context->root, target, why);
}

/* --- reading ----------------------------------------------------------------------------------- */

static void add_sums(uint64_t *into, const struct lock_sums *sums)
{
	into[WAITS] += zm_bpf_load_u64(&sums->waits);
	into[TIMED] += zm_bpf_load_u64(&sums->timed);
	into[WAIT_TIME] += zm_bpf_load_u64(&sums->wait_ns);
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

static void put_cpu(struct zm_monitor_context *context, unsigned int cpu,
		    const struct lock_cpu *own, uint64_t t_ns)
{
	const struct state *state = context->state;

	zm_recorder_put_u64(context->recorder, state->cpu_waits[cpu], t_ns,
			    zm_bpf_load_u64(&own->zone.waits), 0);
	zm_recorder_put_u64(context->recorder, state->cpu_times[cpu], t_ns,
			    zm_bpf_load_u64(&own->zone.wait_ns), 0);
}

/* The sums of all CPUs, and each CPU's own waits. */
static void read_rows(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	uint64_t rows[NR_ROWS][NR_FIGURES] = { 0 };
	uint64_t lost = zm_bpf_missed(state->skeleton->progs.on_begin) +
			zm_bpf_missed(state->skeleton->progs.on_end);
	uint64_t lost_chains = 0;
	uint32_t flags = 0;

	for (unsigned int cpu = 0; cpu < state->bpf.nr_cpus; cpu++) {
		const struct lock_cpu *own = zm_bpf_memory_at(&state->cpus, cpu);

		for (unsigned int kind = 0; kind < LOCK_NR_KINDS; kind++)
			add_sums(rows[kind], &own->kinds[kind]);
		add_sums(rows[ZONE], &own->zone);
		lost += zm_bpf_load_u64(&own->lost);
		lost_chains += zm_bpf_load_u64(&own->lost_chains);
		if (zm_cpuset_has(&state->bpf.online, cpu))
			put_cpu(context, cpu, own, t_ns);
	}
	if (state->has_read && lost > state->last_lost)
		flags = ZM_FLAG_LOST;
	state->last_lost = lost;
	zm_recorder_put_u64(context->recorder, state->lost_series, t_ns, lost, 0);
	zm_recorder_put_u64(context->recorder, state->chains_series, t_ns, lost_chains, 0);
	put_rows(context, rows, t_ns, flags);
}

/* The zone locks' waits of all CPUs as one histogram. */
static void sum_hist(const struct state *state, struct zm_hist *hist)
{
	zm_hist_init(hist);
	for (unsigned int cpu = 0; cpu < state->bpf.nr_cpus; cpu++) {
		const struct lock_cpu *own = zm_bpf_memory_at(&state->cpus, cpu);

		zm_bpf_add_hist(hist, own->buckets, LOCK_BUCKETS);
	}
}

static void read_stacks(const struct state *state, uint64_t counts[NR_ROWS][LOCK_MAX_STACKS])
{
	int fd = bpf_map__fd(state->skeleton->maps.stack_counts);
	struct lock_caller key, next, *previous = NULL;
	__u64 count;

	memset(counts, 0, NR_ROWS * sizeof(counts[0]));
	while (bpf_map_get_next_key(fd, previous, &next) == 0) {
		if (next.stack < LOCK_MAX_STACKS && next.kind < NR_ROWS &&
		    bpf_map_lookup_elem(fd, &next, &count) == 0)
			counts[next.kind][next.stack] = count;
		key = next;
		previous = &key;
	}
}

/* Time that the hypervisor gave to others, of all time of all CPUs. */
static void read_steal(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	struct zm_stat_cpu cpu;
	const char *text;
	uint64_t all = 0;
	uint32_t flags;

	if (zm_source_read_file(&state->stat, &flags))
		return;
	text = state->stat.text;
	if (!zm_stat_next_cpu(&text, &cpu) || cpu.cpu >= 0 || cpu.nr_times <= ZM_STAT_STEAL)
		return;
	for (unsigned int i = 0; i <= ZM_STAT_STEAL; i++) /* guests' time is in the user's */
		all += cpu.ticks[i];
	zm_window_feed(&state->steal, context->phase, t_ns, (double)cpu.ticks[ZM_STAT_STEAL]);
	zm_window_feed(&state->all_time, context->phase, t_ns, (double)all);
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
	read_steal(context, t_ns);
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

/* "zone-lock.WHAT" */
static int report_zone(const struct state *state, const char *what, const char *unit, double value,
		       double count, struct zm_report *report)
{
	const struct zm_window_figure *window = &state->windows[ZONE][WAITS];
	char name[64];
	const struct zm_metric metric = { .name = zone_name(state, what, name, sizeof(name)),
					  .unit = unit };

	return zm_report_add(report, &metric, value, count, window->t1_ns - window->t0_ns);
}

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
	return width_ns * (double)zm_cpuset_count(&state->bpf.online);
}

static int report_times(const struct state *state, uint64_t width_ns, struct zm_report *report)
{
	double waits = delta_of(state, ZONE, WAITS);
	struct zm_hist hist = state->ends.last;
	int error = report_zone(state, "waits_per_s", "events/s",
				waits * (double)ZM_NS_PER_S / (double)width_ns, waits, report);

	zm_hist_subtract(&hist, &state->ends.first);
	if (error || hist.count == 0)
		return error;
	error = report_zone(state, "avg_us", "us", wait_ns_of(state, ZONE) / waits / 1e3, waits,
			    report);
	if (!error)
		error = report_zone(state, "p99_us", "us", zm_hist_quantile(&hist, 0.99) / 1e3,
				    (double)hist.count, report);
	return error ? error
		     : report_zone(state, "max_us", "us", (double)hist.max / 1e3,
				   (double)hist.count, report);
}

/* A wait during which the CPU was stolen took as long: how much there was of it stands beside. */
static int report_steal(const struct state *state, struct zm_report *report)
{
	double steal, all;

	if (!state->steal.has_ended || !zm_window_delta(&state->steal, &steal) ||
	    !zm_window_delta(&state->all_time, &all) || all <= 0)
		return 0;
	return report_zone(state, "steal%", "%", 100 * steal / all, steal, report);
}

static int report_kinds(const struct state *state, double base, uint64_t width_ns,
			struct zm_report *report)
{
	int error = 0;

	for (unsigned int kind = 0; !error && kind < LOCK_NR_KINDS; kind++) {
		char name[64];
		const struct zm_metric metric = { .name = name, .unit = "%" };
		double ns = wait_ns_of(state, kind);

		(void)snprintf(name, sizeof(name), "%s%%", row_name(state, kind));
		error = zm_report_add(report, &metric, 100 * ns / base, ns, width_ns);
	}
	return error;
}

/* Fills in the call chains of a row in the window. */
static unsigned int collect_chains(const struct state *state, unsigned int row,
				   struct zm_lockside_chain *chains)
{
	int fd = bpf_map__fd(state->skeleton->maps.stacks);
	const uint64_t *first = state->ends.first_stacks[row];
	const uint64_t *last = state->ends.last_stacks[row];
	unsigned int nr = 0;

	for (__u32 id = 0; id < LOCK_MAX_STACKS; id++) {
		if (last[id] <= first[id])
			continue;
		memset(&chains[nr], 0, sizeof(chains[nr]));
		if (bpf_map_lookup_elem(fd, &id, chains[nr].frames) == 0)
			chains[nr++].times = last[id] - first[id];
	}
	return nr;
}

static int report_sides(const struct state *state, const struct zm_lockside *lockside,
			double contended, struct zm_report *report)
{
	static const char *const sides[ZM_LOCKSIDE_NR] = {
		[ZM_LOCKSIDE_ALLOC] = "alloc%",
		[ZM_LOCKSIDE_FREE] = "free%",
		[ZM_LOCKSIDE_OTHER] = "other%",
	};
	int error = 0;

	for (unsigned int i = 0; !error && lockside->total && i < ZM_LOCKSIDE_NR; i++)
		error = report_zone(state, sides[i], "%",
				    contended * (double)lockside->times[i] /
					    (double)lockside->total,
				    (double)lockside->times[i], report);
	return error;
}

/* A row's callers; the zone locks' by side too. */
static int report_callers(const struct state *state, unsigned int row, const struct zm_ksyms *ksyms,
			  double contended, struct zm_lockside_chain *chains,
			  struct zm_report *report)
{
	const struct zm_window_figure *window = &state->windows[row][WAITS];
	unsigned int nr = collect_chains(state, row, chains);
	struct zm_lockside lockside = { .total = 0 };
	char prefix[64];
	int error = nr ? zm_lockside_judge(&lockside, ksyms, chains, nr) : 0;

	if (!error && row == ZONE)
		error = report_sides(state, &lockside, contended, report);
	(void)snprintf(prefix, sizeof(prefix), "%s.calltrace", row_name(state, row));
	if (!error)
		error = zm_lockside_report(&lockside, prefix,
					   row == ZONE ? MAX_TRACES : MAX_OTHER_TRACES,
					   window->t1_ns - window->t0_ns, report);
	zm_lockside_release(&lockside);
	return error;
}

static int report_chains(struct zm_monitor_context *context, double contended,
			 struct zm_report *report)
{
	struct zm_lockside_chain *chains = calloc(LOCK_MAX_STACKS, sizeof(*chains));
	const struct state *state = context->state;
	struct zm_ksyms ksyms = { 0 };
	struct zm_why why = { "" };
	char name[64];
	int error = 0;

	if (!chains)
		return -ENOMEM;
	if (zm_ksyms_read(&ksyms, context->root, &why))
		error = zm_recorder_absent(context->recorder,
					   zone_name(state, "alloc%", name, sizeof(name)),
					   why.text);
	for (unsigned int row = 0; !error && ksyms.nr && row < NR_ROWS; row++)
		error = report_callers(state, row, &ksyms, contended, chains, report);
	zm_ksyms_release(&ksyms);
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
	error = report_zone(state, "contend%", "%", contended, wait_ns_of(state, ZONE), report);
	if (!error)
		error = report_steal(state, report);
	if (!error)
		error = report_times(state, width_ns, report);
	if (!error)
		error = report_kinds(state, base, width_ns, report);
	return error ? error : report_chains(context, contended, report);
}

static void close_locks(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	lock_contention_bpf__destroy(state->skeleton);
	zm_bpf_memory_release(&state->cpus);
	zm_bpf_end(&state->bpf);
	zm_tasks_release(&state->tasks);
	zm_sysfile_release(&state->stat);
	free(state->cpu_waits);
	free(state->cpu_times);
}

#endif

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "waits for the kernel's locks, the zone locks apart and by caller",
	.needs = "lock:contention_* by BPF: CAP_BPF, CAP_PERFMON, kernel 5.19 with BTF",
	.rate = ZM_RATE_NORMAL,
	.is_extra = true,
	.state_bytes = ZM_BPF_CALL(sizeof(struct state), 0),
	.open = ZM_BPF_CALL(open_locks, zm_bpf_open_unbuilt),
	.attach = ZM_BPF_CALL(attach_locks, NULL),
	.read = ZM_BPF_CALL(read_locks, zm_bpf_read_unbuilt),
	.report = ZM_BPF_CALL(report_locks, NULL),
	.close = ZM_BPF_CALL(close_locks, zm_bpf_close_unbuilt),
};
