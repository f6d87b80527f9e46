/*
 * pcp: the page blocks that cross between the zones and the CPUs' page lists.
 *
 *     pcp.alloc_zone          taken from a zone: by a list's refill, or directly
 *     pcp.drain               given back by a list
 *     ….order3, ….movable     by order, by migrate type
 *     pcp.free_high           drains because of high-order frees (free_high.h)
 *
 * Counted by two small BPF programs in memory that is shared with this process, so that a reading is a
 * sum over the CPUs. A block of order n is 2^n pages. How many faults the machine had meanwhile is read
 * beside, for the figures per 1,000 faults.
 */
#include "runner/monitor.h"
#include "runner/monitors/bpf.h"

#ifdef ZM_HAVE_BPF_PROGRAMS

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/monitors/bpf/pcp.h"
#include "runner/monitors/fields.h"
#include "runner/monitors/free_high.h"
#include "runner/monitors/source.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/cpuset.h"

#include "runner/monitors/bpf/pcp.skel.h"

#define NAME_SIZE 24

/* What is kept of the counts, in blocks unless it says pages. */
enum total {
	ALLOC_ZONE,
	ALLOC_ZONE_PAGES,
	REFILL,
	DIRECT,
	DRAIN,
	DRAIN_PAGES,
	MISSED,
	NR_TOTALS,
};

struct state {
	struct pcp_bpf *skeleton;
	struct zm_bpf bpf;
	struct zm_bpf_memory counts; /* struct pcp_counts, by CPU */
	unsigned int nr_orders;
	unsigned int nr_types;
	uint32_t totals[NR_TOTALS];
	uint32_t alloc_order[PCP_ORDERS], drain_order[PCP_ORDERS];
	uint32_t alloc_type[PCP_TYPES], drain_type[PCP_TYPES];
	uint32_t *alloc_cpu, *drain_cpu;
	struct zm_free_high free_high;
	struct zm_sysfile vmstat;
	struct zm_window_figure windows[NR_TOTALS];
	struct zm_window_figure faults;
};

static const struct {
	const char *name;
	const char *unit;
} totals[NR_TOTALS] = {
	[ALLOC_ZONE] = { "pcp.alloc_zone", "blocks" },
	[ALLOC_ZONE_PAGES] = { "pcp.alloc_zone_pages", "pages" },
	[REFILL] = { "pcp.refill", "blocks" },
	[DIRECT] = { "pcp.direct", "blocks" },
	[DRAIN] = { "pcp.drain", "blocks" },
	[DRAIN_PAGES] = { "pcp.drain_pages", "pages" },
	[MISSED] = { "pcp.missed", "events" },
};

/* --- opening ----------------------------------------------------------------------------------- */

/* "pcp.alloc_zone.NAME" and "pcp.drain.NAME" */
static int declare_pair(struct zm_monitor_context *context, const char *name,
			uint32_t *ret_alloc_series, uint32_t *ret_drain_series)
{
	char metric[NAME_SIZE + 32];
	int error;

	(void)snprintf(metric, sizeof(metric), "pcp.alloc_zone.%s", name);
	error = zm_bpf_declare(context, metric, "blocks", ret_alloc_series);
	(void)snprintf(metric, sizeof(metric), "pcp.drain.%s", name);
	if (!error)
		error = zm_bpf_declare(context, metric, "blocks", ret_drain_series);
	return error;
}

static int declare_orders(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	char name[NAME_SIZE];
	int error = 0;

	for (unsigned int i = 0; !error && i < state->nr_orders; i++) {
		(void)snprintf(name, sizeof(name), "order%u", i);
		error = declare_pair(context, name, &state->alloc_order[i], &state->drain_order[i]);
	}
	return error;
}

static int declare_types(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	char name[NAME_SIZE];
	int error = 0;

	/* MIGRATE_TYPES itself, their number, does not begin so and ends them */
	while (!error && state->nr_types < PCP_TYPES &&
	       zm_bpf_enumerator(&state->bpf, "migratetype", "MIGRATE_", (int)state->nr_types, name,
				 sizeof(name)) &&
	       strcmp(name, "types") != 0) {
		unsigned int type = state->nr_types++;

		error = declare_pair(context, name, &state->alloc_type[type],
				     &state->drain_type[type]);
	}
	return error;
}

static int declare_all(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	int error = 0;

	for (unsigned int i = 0; !error && i < NR_TOTALS; i++)
		error = zm_bpf_declare(context, totals[i].name, totals[i].unit, &state->totals[i]);
	if (!error)
		error = declare_orders(context);
	if (!error)
		error = declare_types(context);
	if (!error)
		error = zm_bpf_declare_cpus(context, &state->bpf, "pcp.alloc_zone", "blocks",
					    &state->alloc_cpu);
	return error ? error
		     : zm_bpf_declare_cpus(context, &state->bpf, "pcp.drain", "blocks",
					   &state->drain_cpu);
}

/* As many as /proc/buddyinfo has columns: "Node 0, zone DMA 1 0 …". */
static unsigned int count_orders(const struct zm_sysroot *root)
{
	zm_autofree char *text = NULL;
	const char *at, *line, *word;
	size_t length, word_length, nr_words = 0;

	if (zm_sysroot_read(root, "proc/buddyinfo", &text, NULL))
		return 11;
	at = text;
	if (!zm_fields_next_line(&at, &line, &length))
		return 11;
	at = line;
	while (zm_fields_next_word(&at, line + length, &word, &word_length))
		nr_words++;
	return nr_words > 4 && nr_words - 4 <= PCP_ORDERS ? (unsigned int)nr_words - 4 : 11;
}

static int load(struct state *state, struct zm_why *why)
{
	int nr_args = zm_bpf_tracepoint_args(&state->bpf, "mm_page_alloc_zone_locked");
	int error;

	if (nr_args < 3)
		return zm_why_set(why, -ENOTSUP,
				  "the kernel has no tracepoint kmem:mm_page_alloc_zone_locked");
	error = zm_bpf_memory_make(&state->counts, sizeof(struct pcp_counts), state->bpf.nr_cpus);
	if (error)
		return zm_bpf_why(why, error);
	state->skeleton = pcp_bpf__open();
	if (!state->skeleton)
		return zm_bpf_why(why, -errno);
	state->skeleton->rodata->has_refill = nr_args > 3;
	error = zm_bpf_share(state->skeleton->maps.counts, &state->counts);
	if (!error)
		error = zm_bpf_start(state->skeleton->skeleton);
	return error ? zm_bpf_why(why, error) : 0;
}

static int open_pcp(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int error = zm_bpf_begin(&state->bpf, context, why);

	if (!error)
		error = load(state, why);
	if (error)
		return error;
	state->nr_orders = count_orders(context->root);
	error = declare_all(context);
	if (!error)
		error = zm_free_high_open(&state->free_high, context, &state->bpf);
	zm_bpf_forget_types(&state->bpf);
	if (!error)
		error = zm_sysfile_open(&state->vmstat, context->root, "proc/vmstat");
	return error ? zm_why_errno(why, error, "pcp") : 0;
}

/* --- reading ----------------------------------------------------------------------------------- */

/* One reading's sums. */
struct sums {
	uint64_t totals[NR_TOTALS];
	uint64_t alloc_order[PCP_ORDERS], drain_order[PCP_ORDERS];
	uint64_t alloc_type[PCP_TYPES], drain_type[PCP_TYPES];
};

static void add_blocks(struct sums *sums, enum pcp_way way, unsigned int order, unsigned int type,
		       uint64_t blocks)
{
	if (way == PCP_DRAIN) {
		sums->totals[DRAIN] += blocks;
		sums->totals[DRAIN_PAGES] += blocks << order;
		sums->drain_order[order] += blocks;
		sums->drain_type[type] += blocks;
		return;
	}
	sums->totals[way == PCP_REFILL ? REFILL : DIRECT] += blocks;
	sums->totals[ALLOC_ZONE] += blocks;
	sums->totals[ALLOC_ZONE_PAGES] += blocks << order;
	sums->alloc_order[order] += blocks;
	sums->alloc_type[type] += blocks;
}

static void add_cpu(struct sums *sums, const struct pcp_counts *counts)
{
	for (unsigned int i = 0; i < PCP_NR_WAYS * PCP_ORDERS * PCP_TYPES; i++) {
		unsigned int type = i % PCP_TYPES;
		unsigned int order = i / PCP_TYPES % PCP_ORDERS;
		enum pcp_way way = i / PCP_TYPES / PCP_ORDERS;
		uint64_t blocks = zm_bpf_load_u64(&counts->blocks[way][order][type]);

		if (blocks)
			add_blocks(sums, way, order, type, blocks);
	}
}

static void put_sums(struct zm_monitor_context *context, const struct sums *sums, uint64_t t_ns,
		     uint32_t flags)
{
	struct zm_recorder *recorder = context->recorder;
	struct state *state = context->state;

	for (unsigned int i = 0; i < NR_TOTALS; i++) {
		zm_recorder_put_u64(recorder, state->totals[i], t_ns, sums->totals[i], flags);
		zm_window_feed(&state->windows[i], context->phase, t_ns, (double)sums->totals[i]);
	}
	for (unsigned int i = 0; i < state->nr_orders; i++) {
		zm_recorder_put_u64(recorder, state->alloc_order[i], t_ns, sums->alloc_order[i],
				    flags);
		zm_recorder_put_u64(recorder, state->drain_order[i], t_ns, sums->drain_order[i],
				    flags);
	}
	for (unsigned int i = 0; i < state->nr_types; i++) {
		zm_recorder_put_u64(recorder, state->alloc_type[i], t_ns, sums->alloc_type[i],
				    flags);
		zm_recorder_put_u64(recorder, state->drain_type[i], t_ns, sums->drain_type[i],
				    flags);
	}
}

static void feed_faults(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	uint64_t faults;
	uint32_t flags;

	if (zm_source_read_file(&state->vmstat, &flags) == 0 &&
	    zm_fields_find(state->vmstat.text, 0, "pgfault", &faults))
		zm_window_feed(&state->faults, context->phase, t_ns, (double)faults);
}

static int read_pcp(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	struct sums all = { 0 };
	double missed_before = state->windows[MISSED].last;
	uint32_t flags = 0;

	for (unsigned int cpu = 0; cpu < state->bpf.nr_cpus; cpu++) {
		uint64_t alloc_before = all.totals[ALLOC_ZONE], drain_before = all.totals[DRAIN];

		add_cpu(&all, zm_bpf_memory_at(&state->counts, cpu));
		if (!zm_cpuset_has(&state->bpf.online, cpu))
			continue;
		zm_recorder_put_u64(context->recorder, state->alloc_cpu[cpu], t_ns,
				    all.totals[ALLOC_ZONE] - alloc_before, 0);
		zm_recorder_put_u64(context->recorder, state->drain_cpu[cpu], t_ns,
				    all.totals[DRAIN] - drain_before, 0);
	}
	all.totals[MISSED] = zm_bpf_missed(state->skeleton->progs.on_alloc) +
			     zm_bpf_missed(state->skeleton->progs.on_drain) +
			     zm_free_high_missed(&state->free_high);
	if (state->windows[MISSED].has_begun && (double)all.totals[MISSED] > missed_before)
		flags = ZM_FLAG_LOST;
	put_sums(context, &all, t_ns, flags);
	zm_free_high_read(&state->free_high, context, t_ns);
	feed_faults(context, t_ns);
	return 0;
}

/* --- the report -------------------------------------------------------------------------------- */

static const struct shown {
	enum total total;
	bool is_per_fault; /* per 1,000 of them; else per second */
	struct zm_metric metric;
} shown[] = {
	{ ALLOC_ZONE, false, { .name = "pcp.alloc_zone_per_s", .unit = "blocks/s" } },
	{ ALLOC_ZONE_PAGES, false, { .name = "pcp.alloc_zone_pages_per_s", .unit = "pages/s" } },
	{ DRAIN, false, { .name = "pcp.drain_per_s", .unit = "blocks/s" } },
	{ DRAIN_PAGES, false, { .name = "pcp.drain_pages_per_s", .unit = "pages/s" } },
	{ REFILL, true, { .name = "pcp.refill_per_1000_faults", .unit = "blocks" } },
	{ DRAIN, true, { .name = "pcp.drain_per_1000_faults", .unit = "blocks" } },
};

static int report_pcp(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
		      struct zm_report *report)
{
	const struct state *state = context->state;
	double seconds, count, faults = 0;
	int error = 0;

	if (!zm_window_is_whole(&state->windows[0], t0_ns, t1_ns))
		return zm_window_say_absent(context);
	seconds = (double)(state->windows[0].t1_ns - state->windows[0].t0_ns) / (double)ZM_NS_PER_S;
	if (zm_window_is_whole(&state->faults, t0_ns, t1_ns))
		(void)zm_window_delta(&state->faults, &faults);
	for (unsigned int i = 0; !error && i < sizeof(shown) / sizeof(shown[0]); i++) {
		const struct zm_window_figure *window = &state->windows[shown[i].total];
		double per = shown[i].is_per_fault ? faults / 1000 : seconds;

		if (per > 0 && zm_window_delta(window, &count))
			error = zm_report_add(report, &shown[i].metric, count / per, count,
					      window->t1_ns - window->t0_ns);
	}
	return error ? error
		     : zm_free_high_report(&state->free_high,
					   state->windows[0].t1_ns - state->windows[0].t0_ns,
					   report);
}

static void close_pcp(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_free_high_close(&state->free_high);
	pcp_bpf__destroy(state->skeleton);
	zm_bpf_memory_release(&state->counts);
	zm_bpf_end(&state->bpf);
	zm_sysfile_release(&state->vmstat);
	free(state->alloc_cpu);
	free(state->drain_cpu);
}

#endif

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "page blocks between the zones and the CPUs' page lists (alloc_zone, drains)",
	.needs = "kmem tracepoints by BPF: CAP_BPF, CAP_PERFMON, kernel 5.10 with BTF",
	.rate = ZM_RATE_NORMAL,
	.is_extra = true,
	.state_bytes = ZM_BPF_CALL(sizeof(struct state), 0),
	.open = ZM_BPF_CALL(open_pcp, zm_bpf_open_unbuilt),
	.read = ZM_BPF_CALL(read_pcp, zm_bpf_read_unbuilt),
	.report = ZM_BPF_CALL(report_pcp, NULL),
	.close = ZM_BPF_CALL(close_pcp, zm_bpf_close_unbuilt),
};
