/*
 * free_high: the exact program where it can be attached, else the runs of events, else the reason.
 */
#include "runner/monitors/free_high.h"

#ifdef ZM_HAVE_BPF_PROGRAMS

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "results/recorder.h"
#include "results/store.h"
#include "runner/monitors/bpf/free_high.h"
#include "runner/monitors/ksyms.h"
#include "workloads/base/clock.h"

#include "runner/monitors/bpf/free_high.skel.h"
#include "runner/monitors/bpf/free_high_runs.skel.h"

static const struct {
	const char *exact, *at_most, *unit;
} names[ZM_FREE_HIGH_NR] = {
	[ZM_FREE_HIGH_DRAINS] = { "pcp.free_high", "pcp.free_high_at_most", "drains" },
	[ZM_FREE_HIGH_PAGES] = { "pcp.free_high_pages", "pcp.free_high_at_most_pages", "pages" },
	[ZM_FREE_HIGH_UNSURE] = { "pcp.free_high_unsure", NULL, "drains" },
};

static const char *name_of(const struct zm_free_high *high, unsigned int which)
{
	return high->exact ? names[which].exact : names[which].at_most;
}

/* --- opening ----------------------------------------------------------------------------------- */

static int load_exact(struct zm_free_high *high)
{
	struct free_high_bpf *skeleton = free_high_bpf__open();
	int error;

	if (!skeleton)
		return -errno;
	error = zm_bpf_share(skeleton->maps.cpus, &high->cpus);
	if (!error)
		error = zm_bpf_start(skeleton->skeleton);
	if (error)
		free_high_bpf__destroy(skeleton);
	else
		high->exact = skeleton;
	return error;
}

static void set_range(volatile struct free_high_range *range, const struct zm_ksyms *ksyms,
		      const char *name)
{
	for (size_t i = 0; i + 1 < ksyms->nr; i++) {
		if (strcmp(ksyms->list[i].name, name) != 0)
			continue;
		range->start = ksyms->list[i].address;
		range->end = ksyms->list[i + 1].address;
		return;
	}
}

/* Without the kernel's addresses none is told apart: then there are at most that many all the same. */
static void set_others(struct free_high_runs_bpf *skeleton, const struct zm_sysroot *root)
{
	static const char *const drainers[] = { "decay_pcp_high",    "drain_zone_pages",
						"drain_pages_zone",  "drain_pages",
						"__drain_all_pages", "refresh_cpu_vm_stats" };
	struct zm_ksyms ksyms = { 0 };

	if (zm_ksyms_read(&ksyms, root, NULL) == 0)
		for (size_t i = 0; i < sizeof(drainers) / sizeof(drainers[0]); i++)
			set_range(&skeleton->rodata->others[i], &ksyms, drainers[i]);
	zm_ksyms_release(&ksyms);
}

static int load_runs(struct zm_free_high *high, const struct zm_sysroot *root)
{
	struct free_high_runs_bpf *skeleton = free_high_runs_bpf__open();
	int error;

	if (!skeleton)
		return -errno;
	set_others(skeleton, root);
	error = zm_bpf_share(skeleton->maps.cpus, &high->cpus);
	if (!error)
		error = zm_bpf_start(skeleton->skeleton);
	if (error)
		free_high_runs_bpf__destroy(skeleton);
	else
		high->runs = skeleton;
	return error;
}

/* It came with the argument that says whose page's free led to a drain. */
static bool has_kernel_it(const struct zm_bpf *bpf, const struct zm_sysroot *root)
{
	int nr_args = zm_bpf_function_args(bpf, "free_pcppages_bulk");

	return nr_args > 0 ? nr_args > 3 : !zm_bpf_kernel_is_before(root, 5, 18);
}

static int load(struct zm_free_high *high, const struct zm_monitor_context *context,
		const struct zm_bpf *bpf, struct zm_why *why)
{
	int error;

	if (!has_kernel_it(bpf, context->root))
		return zm_why_set(why, -ENOTSUP,
				  "the kernel never drains a list for that: it needs 5.18");
	error = zm_bpf_memory_make(&high->cpus, sizeof(struct free_high_cpu), bpf->nr_cpus);
	if (!error && (!zm_bpf_may_attach(bpf, "free_pcppages_bulk") || load_exact(high)))
		error = load_runs(high, context->root);
	return error ? zm_bpf_why(why, error) : 0;
}

int zm_free_high_open(struct zm_free_high *high, struct zm_monitor_context *context,
		      const struct zm_bpf *bpf)
{
	struct zm_why why = { "" };
	int error = load(high, context, bpf, &why);

	if (error)
		return zm_recorder_absent(context->recorder, "pcp.free_high", why.text);
	for (unsigned int i = 0; !error && i < ZM_FREE_HIGH_NR; i++)
		if (name_of(high, i))
			error = zm_bpf_declare(context, name_of(high, i), names[i].unit,
					       &high->series[i]);
	if (!error && high->runs)
		error = zm_recorder_note(context->recorder, "pcp",
					 "free_high: at most, by runs of mm_page_pcpu_drain; the "
					 "kernel does not let BPF attach to free_pcppages_bulk");
	return error;
}

/* --- reading ----------------------------------------------------------------------------------- */

void zm_free_high_read(struct zm_free_high *high, struct zm_monitor_context *context, uint64_t t_ns)
{
	uint64_t sums[ZM_FREE_HIGH_NR] = { 0 };

	if (!high->exact && !high->runs)
		return;
	for (unsigned int cpu = 0; cpu < high->cpus.nr_values; cpu++) {
		const struct free_high_cpu *own = zm_bpf_memory_at(&high->cpus, cpu);

		sums[ZM_FREE_HIGH_DRAINS] += zm_bpf_load_u64(&own->drains);
		sums[ZM_FREE_HIGH_PAGES] += zm_bpf_load_u64(&own->pages);
		sums[ZM_FREE_HIGH_UNSURE] += zm_bpf_load_u64(&own->unsure);
	}
	for (unsigned int i = 0; i < ZM_FREE_HIGH_NR; i++) {
		if (!name_of(high, i))
			continue;
		zm_recorder_put_u64(context->recorder, high->series[i], t_ns, sums[i], 0);
		zm_window_feed(&high->windows[i], context->phase, t_ns, (double)sums[i]);
	}
}

uint64_t zm_free_high_missed(const struct zm_free_high *high)
{
	if (high->exact)
		return zm_bpf_missed(high->exact->progs.on_bulk);
	return high->runs ? zm_bpf_missed(high->runs->progs.on_drain) : 0;
}

int zm_free_high_report(const struct zm_free_high *high, uint64_t width_ns,
			struct zm_report *report)
{
	static const struct zm_metric exact[ZM_FREE_HIGH_NR] = {
		{ .name = "pcp.free_high_per_s", .unit = "drains/s" },
		{ .name = "pcp.free_high_pages_per_s", .unit = "pages/s" },
		{ .name = "pcp.free_high_unsure_per_s", .unit = "drains/s" },
	};
	static const struct zm_metric at_most[ZM_FREE_HIGH_NR] = {
		{ .name = "pcp.free_high_at_most_per_s", .unit = "drains/s" },
		{ .name = "pcp.free_high_at_most_pages_per_s", .unit = "pages/s" },
	};
	int error = 0;

	for (unsigned int i = 0; !error && i < ZM_FREE_HIGH_NR; i++) {
		const struct zm_metric *metric = high->exact ? &exact[i] : &at_most[i];
		double count;

		if ((high->exact || high->runs) && metric->name && width_ns > 0 &&
		    zm_window_delta(&high->windows[i], &count))
			error = zm_report_add(report, metric,
					      count * (double)ZM_NS_PER_S / (double)width_ns, count,
					      width_ns);
	}
	return error;
}

void zm_free_high_close(struct zm_free_high *high)
{
	free_high_bpf__destroy(high->exact);
	free_high_runs_bpf__destroy(high->runs);
	zm_bpf_memory_release(&high->cpus);
}

#endif
