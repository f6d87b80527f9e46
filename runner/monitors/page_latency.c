/*
 * page-latency: how long pages take into a CPU's list and out of it, under the zone's lock.
 *
 *     refill   from the zone into a list (rmqueue_bulk)
 *     drain    from a list into the zone (free_pcppages_bulk)
 *
 * Each side by the best that the kernel allows:
 *
 *     calls    entry and exit of the function, and of the lock's slow path within it
 *     locks    of the zone's lock within an allocation, where the refill is no function of its own
 *     runs     of the events of single blocks: a guess, whose figures are called "approximate"
 *
 * All of them keep their lengths in the same memory (bpf/page_latency.h). The histograms are read at phase
 * borders, the counts at each reading.
 */
#include "runner/monitor.h"
#include "runner/monitors/bpf.h"

#ifdef ZM_HAVE_BPF_PROGRAMS

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "runner/monitors/bpf/page_latency.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"

#include "runner/monitors/bpf/page_latency_calls.skel.h"
#include "runner/monitors/bpf/page_latency_locks.skel.h"
#include "runner/monitors/bpf/page_latency_runs.skel.h"

enum form {
	RUNS,
	CALLS,
	LOCKS,
};

/* What is counted of a side. */
enum count {
	SECTIONS,
	BLOCKS,     /* of runs: their events */
	UNMEASURED, /* of runs: those of one event */
	OWN_TIME,   /* of runs: of the events whose own time was taken */
	OWN_TIMED,
	NR_COUNTS,
};

struct side {
	enum form form;
	bool has_orders, has_parts;
	bool was_refused; /* something better was there, and closed */
	char prefix[40];  /* of its figures' names */
	uint32_t counts[NR_COUNTS];
	uint32_t hists[LATENCY_NR_PARTS][LATENCY_SLOTS];
	struct zm_window_figure windows[NR_COUNTS];
	/* at the borders of the window */
	struct zm_hist first[LATENCY_NR_PARTS][LATENCY_SLOTS],
		last[LATENCY_NR_PARTS][LATENCY_SLOTS];
};

struct state {
	struct zm_bpf bpf;
	struct zm_bpf_memory cpus, hists;
	struct page_latency_calls_bpf *calls[LATENCY_NR_SIDES];
	struct page_latency_locks_bpf *locks;
	struct page_latency_runs_bpf *runs;
	bool had_single_pages_only; /* its lists: before 5.13 */
	struct side sides[LATENCY_NR_SIDES];
	struct zm_hist now;
	uint32_t lost_series;
	uint64_t last_lost;
	enum zm_phase last_phase;
	bool has_read;
};

static const char *const side_names[LATENCY_NR_SIDES] = { "refill", "drain" };
static const char *const part_names[LATENCY_NR_PARTS] = { "section", "wait", "hold" };
static const char *const slot_names[LATENCY_SLOTS] = { "order0", "order1", "order2", "order3",
						       "huge" };
static const struct {
	const char *name, *unit;
	bool is_of_runs;
} count_rows[NR_COUNTS] = {
	[SECTIONS] = { "sections", "sections", false },
	[BLOCKS] = { "blocks", "blocks", true },
	[UNMEASURED] = { "unmeasured", "sections", true },
	[OWN_TIME] = { "probe_time", "ns", true },
	[OWN_TIMED] = { "probe_timed", "blocks", true },
};

/* --- loading ----------------------------------------------------------------------------------- */

static int share(const struct state *state, struct bpf_map *cpus, struct bpf_map *hists)
{
	int error = zm_bpf_share(cpus, &state->cpus);

	return error ? error : zm_bpf_share(hists, &state->hists);
}

static void let_load(struct bpf_program *entry, struct bpf_program *exit, bool is_wanted)
{
	(void)bpf_program__set_autoload(entry, is_wanted);
	(void)bpf_program__set_autoload(exit, is_wanted);
}

/* A side by its function's entry and exit, with or without the wait. */
static int try_calls(struct state *state, enum latency_side side, bool has_wait)
{
	struct page_latency_calls_bpf *skeleton = page_latency_calls_bpf__open();
	int nr_args = zm_bpf_function_args(&state->bpf, "free_pcppages_bulk");
	const char *const native = "native_queued_spin_lock_slowpath";
	const char *const pv = "__pv_queued_spin_lock_slowpath";
	int error;

	if (!skeleton)
		return -errno;
	skeleton->rodata->own_side = side;
	skeleton->rodata->has_pindex = nr_args > 3;
	skeleton->rodata->has_wait = has_wait;
	let_load(skeleton->progs.on_drain_entry, skeleton->progs.on_drain_exit,
		 side == LATENCY_DRAIN);
	let_load(skeleton->progs.on_refill_entry, skeleton->progs.on_refill_exit,
		 side == LATENCY_REFILL);
	let_load(skeleton->progs.on_native_entry, skeleton->progs.on_native_exit,
		 has_wait && zm_bpf_has_function(&state->bpf, native));
	let_load(skeleton->progs.on_pv_entry, skeleton->progs.on_pv_exit,
		 has_wait && zm_bpf_has_function(&state->bpf, pv));
	error = share(state, skeleton->maps.cpus, skeleton->maps.hists);
	if (!error)
		error = zm_bpf_start(skeleton->skeleton);
	if (error) {
		page_latency_calls_bpf__destroy(skeleton);
		return error;
	}
	state->calls[side] = skeleton;
	state->sides[side].form = CALLS;
	state->sides[side].has_parts = has_wait;
	/* before 5.13 the lists had single pages only; before 5.18 it is not said whose list it is */
	state->sides[side].has_orders =
		side == LATENCY_REFILL || nr_args > 3 || state->had_single_pages_only;
	return 0;
}

static unsigned int huge_order(const struct zm_sysroot *root)
{
	uint64_t bytes;
	unsigned int order = 0;

	if (zm_sysroot_read_u64(root, "sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes))
		return 9;
	while (bytes > 4096 && order < 20) {
		bytes /= 2;
		order++;
	}
	return order;
}

static int try_locks(struct state *state, const struct zm_sysroot *root)
{
	struct page_latency_locks_bpf *skeleton = page_latency_locks_bpf__open();
	int error;

	if (!skeleton)
		return -errno;
	skeleton->rodata->huge_order = huge_order(root);
	error = share(state, skeleton->maps.cpus, skeleton->maps.hists);
	if (!error)
		error = zm_bpf_start(skeleton->skeleton);
	if (error) {
		page_latency_locks_bpf__destroy(skeleton);
		return error;
	}
	state->locks = skeleton;
	state->sides[LATENCY_REFILL].form = LOCKS;
	state->sides[LATENCY_REFILL].has_parts = true;
	state->sides[LATENCY_REFILL].has_orders = true;
	return 0;
}

static int load_runs(struct state *state, struct zm_why *why)
{
	int nr_args = zm_bpf_tracepoint_args(&state->bpf, "mm_page_alloc_zone_locked");
	int error;

	if (nr_args < 3)
		return zm_why_set(why, -ENOTSUP,
				  "the kernel has no tracepoint kmem:mm_page_alloc_zone_locked");
	state->runs = page_latency_runs_bpf__open();
	if (!state->runs)
		return zm_bpf_why(why, -errno);
	state->runs->rodata->has_refill = nr_args > 3;
	state->runs->rodata->wants_refill = state->sides[LATENCY_REFILL].form == RUNS;
	state->runs->rodata->wants_drain = state->sides[LATENCY_DRAIN].form == RUNS;
	error = share(state, state->runs->maps.cpus, state->runs->maps.hists);
	if (!error)
		error = zm_bpf_start(state->runs->skeleton);
	return error ? zm_bpf_why(why, error) : 0;
}

static void try_side(struct state *state, enum latency_side side, const char *function)
{
	if (!zm_bpf_has_function(&state->bpf, function))
		return;
	if (state->bpf.is_ftrace_off ||
	    (try_calls(state, side, true) && try_calls(state, side, false)))
		state->sides[side].was_refused = true;
}

/* The refill takes the lock with interrupts off since 6.2; before, the lock is taken inline. */
static bool may_try_locks(const struct state *state, const struct zm_sysroot *root)
{
	return state->sides[LATENCY_REFILL].form == RUNS && !zm_bpf_kernel_is_before(root, 6, 2) &&
	       zm_bpf_may_attach(&state->bpf, "get_page_from_freelist") &&
	       zm_bpf_may_attach(&state->bpf, "_raw_spin_lock_irqsave");
}

static int load(struct state *state, const struct zm_sysroot *root, struct zm_why *why)
{
	int error =
		zm_bpf_memory_make(&state->cpus, sizeof(struct latency_cpu), state->bpf.nr_cpus);

	if (!error)
		error = zm_bpf_memory_make(&state->hists, sizeof(struct latency_hists),
					   LATENCY_NR_SIDES);
	if (error)
		return zm_bpf_why(why, error);
	for (unsigned int side = 0; side < LATENCY_NR_SIDES; side++)
		state->sides[side].has_orders = true;
	state->had_single_pages_only = zm_bpf_kernel_is_before(root, 5, 13);
	try_side(state, LATENCY_DRAIN, "free_pcppages_bulk");
	try_side(state, LATENCY_REFILL, "rmqueue_bulk");
	if (may_try_locks(state, root) && try_locks(state, root))
		state->sides[LATENCY_REFILL].was_refused = true;
	for (unsigned int side = 0; side < LATENCY_NR_SIDES; side++)
		if (state->sides[side].form == RUNS)
			return load_runs(state, why);
	return 0;
}

/* --- declaring --------------------------------------------------------------------------------- */

static int declare_hist(struct zm_monitor_context *context, const char *metric,
			uint32_t *ret_series)
{
	const struct zm_series_desc desc = {
		.source = context->monitor->name, .metric = metric, .unit = "ns", .kind = ZM_HIST
	};

	return zm_recorder_series(context->recorder, &desc, ret_series);
}

static unsigned int nr_slots(const struct side *side)
{
	return side->has_orders ? LATENCY_SLOTS : 1;
}

static unsigned int nr_parts(const struct side *side)
{
	return side->has_parts ? LATENCY_NR_PARTS : 1;
}

static int declare_side(struct zm_monitor_context *context, struct side *side)
{
	char metric[96];
	int error = 0;

	for (unsigned int i = 0; !error && i < NR_COUNTS; i++) {
		if (count_rows[i].is_of_runs && side->form != RUNS)
			continue;
		(void)snprintf(metric, sizeof(metric), "%s.%s", side->prefix, count_rows[i].name);
		error = zm_bpf_declare(context, metric, count_rows[i].unit, &side->counts[i]);
	}
	for (unsigned int i = 0; !error && i < nr_slots(side) * nr_parts(side); i++) {
		unsigned int slot = i / nr_parts(side), part = i % nr_parts(side);

		(void)snprintf(metric, sizeof(metric), "%s%s%s.%s", side->prefix,
			       side->has_orders ? "." : "",
			       side->has_orders ? slot_names[slot] : "", part_names[part]);
		error = declare_hist(context, metric, &side->hists[part][slot]);
	}
	return error;
}

static const char *text_of(const struct side *side, enum latency_side which)
{
	if (side->form == LOCKS)
		return "the zone's lock within get_page_from_freelist";
	if (side->form == CALLS)
		return which == LATENCY_DRAIN ? "entry and exit of free_pcppages_bulk"
					      : "entry and exit of rmqueue_bulk";
	return which == LATENCY_DRAIN ? "approximate, runs of mm_page_pcpu_drain"
				      : "approximate, runs of mm_page_alloc_zone_locked";
}

static int note_forms(struct zm_monitor_context *context)
{
	const struct side *sides = ((const struct state *)context->state)->sides;
	bool was_refused = sides[LATENCY_REFILL].was_refused || sides[LATENCY_DRAIN].was_refused;
	char text[400];

	(void)snprintf(text, sizeof(text), "refill: %s; drain: %s%s",
		       text_of(&sides[LATENCY_REFILL], LATENCY_REFILL),
		       text_of(&sides[LATENCY_DRAIN], LATENCY_DRAIN),
		       was_refused ? " (functions are closed to BPF here)" : "");
	return zm_recorder_note(context->recorder, "page-latency", text);
}

static int declare_all(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	int error = 0;

	for (unsigned int i = 0; !error && i < LATENCY_NR_SIDES; i++) {
		struct side *side = &state->sides[i];

		(void)snprintf(side->prefix, sizeof(side->prefix), "page-latency.%s%s",
			       side->form == RUNS ? "approximate." : "", side_names[i]);
		error = declare_side(context, side);
	}
	if (!error)
		error = zm_bpf_declare(context, "page-latency.lost", "events", &state->lost_series);
	return error ? error : note_forms(context);
}

static int open_latency(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int error = zm_bpf_begin(&state->bpf, context, why);

	if (error)
		return error;
	error = load(state, context->root, why);
	if (error)
		return error;
	zm_bpf_forget_types(&state->bpf);
	error = declare_all(context);
	return error ? zm_why_errno(why, error, "page-latency") : 0;
}

/* --- reading ----------------------------------------------------------------------------------- */

struct sums {
	uint64_t counts[NR_COUNTS];
	uint64_t sections[LATENCY_SLOTS];
	uint64_t ns[LATENCY_NR_PARTS][LATENCY_SLOTS];
	uint64_t lost;
};

static void add_cpu(struct sums *sums, const struct latency_sums *own)
{
	for (unsigned int slot = 0; slot < LATENCY_SLOTS; slot++) {
		sums->sections[slot] += zm_bpf_load_u64(&own->sections[slot]);
		for (unsigned int part = 0; part < LATENCY_NR_PARTS; part++)
			sums->ns[part][slot] += zm_bpf_load_u64(&own->ns[part][slot]);
	}
	sums->counts[BLOCKS] += zm_bpf_load_u64(&own->blocks);
	sums->counts[UNMEASURED] += zm_bpf_load_u64(&own->unmeasured);
	sums->counts[OWN_TIME] += zm_bpf_load_u64(&own->own_ns);
	sums->counts[OWN_TIMED] += zm_bpf_load_u64(&own->own_timed);
	sums->lost += zm_bpf_load_u64(&own->lost);
}

static void sum_side(const struct state *state, enum latency_side side, struct sums *sums)
{
	*sums = (struct sums){ .lost = 0 };
	for (unsigned int cpu = 0; cpu < state->bpf.nr_cpus; cpu++) {
		const struct latency_cpu *own = zm_bpf_memory_at(&state->cpus, cpu);

		add_cpu(sums, &own->sides[side]);
	}
	sums->counts[SECTIONS] = sums->counts[UNMEASURED];
	for (unsigned int slot = 0; slot < LATENCY_SLOTS; slot++)
		sums->counts[SECTIONS] += sums->sections[slot];
}

static void put_counts(struct zm_monitor_context *context, struct side *side,
		       const struct sums *sums, uint64_t t_ns, uint32_t flags)
{
	for (unsigned int i = 0; i < NR_COUNTS; i++) {
		if (count_rows[i].is_of_runs && side->form != RUNS)
			continue;
		zm_recorder_put_u64(context->recorder, side->counts[i], t_ns, sums->counts[i],
				    flags);
		zm_window_feed(&side->windows[i], context->phase, t_ns, (double)sums->counts[i]);
	}
}

/* The buckets are off by up to 0.8 %, the sum is exact. */
static void read_hists(struct zm_monitor_context *context, enum latency_side which,
		       const struct sums *sums, uint64_t t_ns)
{
	struct state *state = context->state;
	struct side *side = &state->sides[which];
	const struct latency_hists *own = zm_bpf_memory_at(&state->hists, which);
	bool is_begin = context->phase == ZM_PHASE_MEASURE;
	bool is_end = state->has_read && state->last_phase == ZM_PHASE_MEASURE;

	for (unsigned int i = 0; i < nr_slots(side) * nr_parts(side); i++) {
		unsigned int slot = i / nr_parts(side), part = i % nr_parts(side);
		const __u64 *buckets =
			&own->buckets[(part * LATENCY_SLOTS + slot) * LATENCY_BUCKETS];
		struct zm_hist *hist = &state->now;

		zm_hist_init(hist);
		zm_bpf_add_hist(hist, buckets, LATENCY_BUCKETS);
		if (hist->count)
			hist->sum = sums->ns[part][slot];
		zm_recorder_put_hist(context->recorder, side->hists[part][slot], t_ns, hist, 0);
		if (is_begin)
			side->first[part][slot] = *hist;
		else if (is_end)
			side->last[part][slot] = *hist;
	}
}

static uint64_t missed(const struct state *state)
{
	uint64_t nr = 0;

	for (unsigned int side = 0; side < LATENCY_NR_SIDES; side++) {
		const struct page_latency_calls_bpf *calls = state->calls[side];

		if (calls)
			nr += side == LATENCY_DRAIN
				      ? zm_bpf_missed(calls->progs.on_drain_entry) +
						zm_bpf_missed(calls->progs.on_drain_exit)
				      : zm_bpf_missed(calls->progs.on_refill_entry) +
						zm_bpf_missed(calls->progs.on_refill_exit);
	}
	if (state->locks)
		nr += zm_bpf_missed(state->locks->progs.on_unlock);
	if (state->runs)
		nr += zm_bpf_missed(state->runs->progs.on_alloc) +
		      zm_bpf_missed(state->runs->progs.on_drain);
	return nr;
}

static int read_latency(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	bool is_border = !state->has_read || context->phase != state->last_phase;
	uint64_t lost = missed(state);
	struct sums sums[LATENCY_NR_SIDES];
	uint32_t flags;

	for (unsigned int i = 0; i < LATENCY_NR_SIDES; i++) {
		sum_side(state, i, &sums[i]);
		lost += sums[i].lost;
	}
	flags = state->has_read && lost > state->last_lost ? ZM_FLAG_LOST : 0;
	for (unsigned int i = 0; i < LATENCY_NR_SIDES; i++) {
		put_counts(context, &state->sides[i], &sums[i], t_ns, flags);
		if (is_border)
			read_hists(context, i, &sums[i], t_ns);
	}
	zm_recorder_put_u64(context->recorder, state->lost_series, t_ns, lost, flags);
	state->last_lost = lost;
	state->last_phase = context->phase;
	state->has_read = true;
	return 0;
}

/* --- the report -------------------------------------------------------------------------------- */

/* Quantiles, mean and maximum of what a histogram got in the window. */
static int report_hist(const struct zm_hist *hist, const char *prefix, uint64_t width_ns,
		       struct zm_report *report)
{
	static const struct {
		const char *name;
		double q; /* 0: the mean */
	} rows[] = { { "avg", 0 },    { "p50", 0.5 },     { "p90", 0.9 },
		     { "p99", 0.99 }, { "p99.9", 0.999 }, { "max", 1 } };
	int error = 0;

	for (size_t i = 0; !error && hist->count && i < sizeof(rows) / sizeof(rows[0]); i++) {
		char name[128];
		const struct zm_metric metric = { .name = name, .unit = "us" };
		double ns = rows[i].q > 0 ? zm_hist_quantile(hist, rows[i].q) : zm_hist_mean(hist);

		(void)snprintf(name, sizeof(name), "%s.%s_us", prefix, rows[i].name);
		error = zm_report_add(report, &metric, ns / 1e3, (double)hist->count, width_ns);
	}
	return error;
}

static void window_of(const struct side *side, unsigned int part, unsigned int slot,
		      struct zm_hist *ret_hist)
{
	*ret_hist = side->last[part][slot];
	zm_hist_subtract(ret_hist, &side->first[part][slot]);
}

/* All orders together, and with the wait known, its parts. */
static int report_parts(const struct side *side, uint64_t width_ns, struct zm_report *report)
{
	struct zm_hist all, one;
	char prefix[96];
	int error = 0;

	for (unsigned int part = 0; !error && part < nr_parts(side); part++) {
		zm_hist_init(&all);
		for (unsigned int slot = 0; slot < nr_slots(side); slot++) {
			window_of(side, part, slot, &one);
			zm_hist_merge(&all, &one);
		}
		(void)snprintf(prefix, sizeof(prefix), "%s%s%s", side->prefix, part ? "." : "",
			       part ? part_names[part] : "");
		error = report_hist(&all, prefix, width_ns, report);
	}
	return error;
}

static int report_orders(const struct side *side, uint64_t width_ns, struct zm_report *report)
{
	struct zm_hist one;
	char prefix[96];
	int error = 0;

	for (unsigned int slot = 0; !error && side->has_orders && slot < LATENCY_SLOTS; slot++) {
		window_of(side, LATENCY_SECTION, slot, &one);
		(void)snprintf(prefix, sizeof(prefix), "%s.%s", side->prefix, slot_names[slot]);
		error = report_hist(&one, prefix, width_ns, report);
	}
	return error;
}

/* What the probe itself takes of a section: of each block, and of the sections' time. */
static int report_probe(const struct side *side, uint64_t width_ns, struct zm_report *report)
{
	double own_ns, timed, blocks, total_ns = 0;
	char name[96];
	struct zm_metric metric = { .name = name, .unit = "ns" };
	int error;

	if (side->form != RUNS || !zm_window_delta(&side->windows[OWN_TIME], &own_ns) ||
	    !zm_window_delta(&side->windows[OWN_TIMED], &timed) ||
	    !zm_window_delta(&side->windows[BLOCKS], &blocks) || timed <= 0)
		return 0;
	for (unsigned int slot = 0; slot < LATENCY_SLOTS; slot++)
		total_ns += (double)side->last[LATENCY_SECTION][slot].sum -
			    (double)side->first[LATENCY_SECTION][slot].sum;
	(void)snprintf(name, sizeof(name), "%s.probe_ns", side->prefix);
	error = zm_report_add(report, &metric, own_ns / timed, timed, width_ns);
	(void)snprintf(name, sizeof(name), "%s.probe%%", side->prefix);
	metric.unit = "%";
	if (!error && total_ns > 0)
		error = zm_report_add(report, &metric, 100 * own_ns / timed * blocks / total_ns,
				      blocks, width_ns);
	return error;
}

static int report_side(const struct side *side, uint64_t width_ns, struct zm_report *report)
{
	char name[96];
	const struct zm_metric metric = { .name = name, .unit = "sections/s" };
	double sections;
	int error = 0;

	(void)snprintf(name, sizeof(name), "%s.per_s", side->prefix);
	if (zm_window_delta(&side->windows[SECTIONS], &sections))
		error = zm_report_add(report, &metric,
				      sections * (double)ZM_NS_PER_S / (double)width_ns, sections,
				      width_ns);
	if (!error)
		error = report_parts(side, width_ns, report);
	if (!error)
		error = report_orders(side, width_ns, report);
	return error ? error : report_probe(side, width_ns, report);
}

static int report_latency(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			  struct zm_report *report)
{
	const struct state *state = context->state;
	const struct zm_window_figure *window = &state->sides[0].windows[SECTIONS];
	uint64_t width_ns = window->t1_ns - window->t0_ns;
	int error = 0;

	if (!zm_window_is_whole(window, t0_ns, t1_ns) || width_ns == 0)
		return zm_window_say_absent(context);
	for (unsigned int i = 0; !error && i < LATENCY_NR_SIDES; i++)
		error = report_side(&state->sides[i], width_ns, report);
	return error;
}

static void close_latency(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	for (unsigned int side = 0; side < LATENCY_NR_SIDES; side++)
		page_latency_calls_bpf__destroy(state->calls[side]);
	page_latency_locks_bpf__destroy(state->locks);
	page_latency_runs_bpf__destroy(state->runs);
	zm_bpf_memory_release(&state->cpus);
	zm_bpf_memory_release(&state->hists);
	zm_bpf_end(&state->bpf);
}

#endif

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "time under the zone's lock to refill and to drain a CPU's page list",
	.needs = "functions or kmem tracepoints by BPF: CAP_BPF, CAP_PERFMON, kernel 5.10 with BTF",
	.rate = ZM_RATE_NORMAL,
	.is_extra = true,
	.state_bytes = ZM_BPF_CALL(sizeof(struct state), 0),
	.open = ZM_BPF_CALL(open_latency, zm_bpf_open_unbuilt),
	.read = ZM_BPF_CALL(read_latency, zm_bpf_read_unbuilt),
	.report = ZM_BPF_CALL(report_latency, NULL),
	.close = ZM_BPF_CALL(close_latency, zm_bpf_close_unbuilt),
};
