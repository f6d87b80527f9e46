/*
 * lockside: addresses to names, names to sides, and equal chains together.
 */
#include "runner/monitors/lockside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_FRAMES 7 /* of a trace's name */

static bool starts_with_any(const char *function, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (strncmp(function, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

bool zm_lockside_is_lock(const char *function)
{
	static const char *const prefixes[] = {
		"bpf_",           "__bpf_",      "trace_contention", "__traceiter_",
		"_raw_spin_lock", "__raw_spin",  "do_raw_spin",      "queued_spin",
		"pv_queued",      "__pv_queued", "native_queued",    "__pv_hybrid",
		"virt_spin",      NULL,
	};

	return starts_with_any(function, prefixes);
}

static bool is_watcher(const char *function)
{
	static const char *const prefixes[] = { "bpf_", "__bpf_", "trace_contention",
						"__traceiter_", NULL };

	return starts_with_any(function, prefixes);
}

enum zm_lockside_side zm_lockside_of(const char *function)
{
	static const char *const alloc[] = { "rmqueue",  "__rmqueue", "get_page_from_freelist",
					     "__alloc_", "alloc_",    NULL };
	static const char *const give_back[] = { "free_",    "__free_",        "drain_",
						 "__drain_", "decay_pcp_high", NULL };

	if (starts_with_any(function, alloc))
		return ZM_LOCKSIDE_ALLOC;
	return starts_with_any(function, give_back) ? ZM_LOCKSIDE_FREE : ZM_LOCKSIDE_OTHER;
}

static const char *name_of(const struct zm_ksyms *ksyms, uint64_t address)
{
	const struct zm_ksym *symbol = zm_ksyms_find(ksyms, address);

	return symbol ? symbol->name : "[unknown]";
}

/* The frame behind the lock's own ones; ZM_LOCKSIDE_FRAMES when there is none. */
static unsigned int find_caller(const struct zm_ksyms *ksyms, const struct zm_lockside_chain *chain)
{
	unsigned int i = 0;

	while (i < ZM_LOCKSIDE_FRAMES && chain->frames[i] &&
	       zm_lockside_is_lock(name_of(ksyms, chain->frames[i])))
		i++;
	return i < ZM_LOCKSIDE_FRAMES && chain->frames[i] ? i : ZM_LOCKSIDE_FRAMES;
}

/* The first frame of the slow path, or else the lock's first one behind those of what watches it. */
static unsigned int find_slowpath(const struct zm_ksyms *ksyms,
				  const struct zm_lockside_chain *chain, unsigned int caller)
{
	unsigned int first = caller < ZM_LOCKSIDE_FRAMES ? caller : 0;

	for (unsigned int i = 0; i < caller && i < ZM_LOCKSIDE_FRAMES; i++)
		if (strstr(name_of(ksyms, chain->frames[i]), "spin_lock_slowpath"))
			return i;
	while (first > 0 && !is_watcher(name_of(ksyms, chain->frames[first - 1])))
		first--;
	return first;
}

static void print_trace(const struct zm_ksyms *ksyms, const struct zm_lockside_chain *chain,
			unsigned int first, struct zm_lockside_trace *trace)
{
	size_t used = 0;

	trace->times = chain->times;
	trace->name[0] = '\0';
	for (unsigned int i = first;
	     i < first + TRACE_FRAMES && i < ZM_LOCKSIDE_FRAMES && chain->frames[i]; i++) {
		int n = snprintf(trace->name + used, sizeof(trace->name) - used, "%s%s",
				 i > first ? "." : "", name_of(ksyms, chain->frames[i]));

		if (n < 0 || (size_t)n >= sizeof(trace->name) - used) {
			trace->name[used] = '\0';
			return;
		}
		used += (size_t)n;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct zm_lockside_trace *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_times(const void *a, const void *b)
{
	const struct zm_lockside_trace *x = a, *y = b;

	return (x->times < y->times) - (x->times > y->times);
}

/* Chains that differ only in addresses within the same functions are one trace. */
static void merge_traces(struct zm_lockside *lockside)
{
	unsigned int nr = 0;

	qsort(lockside->traces, lockside->nr_traces, sizeof(*lockside->traces), compare_names);
	for (unsigned int i = 0; i < lockside->nr_traces; i++) {
		if (nr > 0 && strcmp(lockside->traces[nr - 1].name, lockside->traces[i].name) == 0)
			lockside->traces[nr - 1].times += lockside->traces[i].times;
		else
			lockside->traces[nr++] = lockside->traces[i];
	}
	lockside->nr_traces = nr;
	qsort(lockside->traces, nr, sizeof(*lockside->traces), compare_times);
}

static void judge_chain(struct zm_lockside *lockside, const struct zm_ksyms *ksyms,
			const struct zm_lockside_chain *chain)
{
	unsigned int caller = find_caller(ksyms, chain);
	enum zm_lockside_side side = ZM_LOCKSIDE_OTHER;

	if (caller < ZM_LOCKSIDE_FRAMES)
		side = zm_lockside_of(name_of(ksyms, chain->frames[caller]));
	lockside->times[side] += chain->times;
	lockside->total += chain->times;
	for (unsigned int i = 0; i < caller && chain->frames[i]; i++)
		if (strstr(name_of(ksyms, chain->frames[i]), "pv_queued_spin_lock_slowpath"))
			lockside->is_pv = true;
	print_trace(ksyms, chain, find_slowpath(ksyms, chain, caller),
		    &lockside->traces[lockside->nr_traces++]);
}

int zm_lockside_judge(struct zm_lockside *lockside, const struct zm_ksyms *ksyms,
		      const struct zm_lockside_chain *chains, unsigned int nr_chains)
{
	lockside->traces = calloc((size_t)nr_chains + 1, sizeof(*lockside->traces));
	if (!lockside->traces)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr_chains; i++)
		judge_chain(lockside, ksyms, &chains[i]);
	merge_traces(lockside);
	return 0;
}

void zm_lockside_release(struct zm_lockside *lockside)
{
	free(lockside->traces);
	*lockside = (struct zm_lockside){ .total = 0 };
}

int zm_lockside_report(const struct zm_lockside *lockside, const char *prefix, unsigned int max,
		       uint64_t width_ns, struct zm_report *report)
{
	int error = 0;

	for (unsigned int i = 0; !error && i < lockside->nr_traces && i < max; i++) {
		const struct zm_lockside_trace *trace = &lockside->traces[i];
		char name[sizeof(trace->name) + 64];
		const struct zm_metric metric = { .name = name, .unit = "%" };

		(void)snprintf(name, sizeof(name), "%s.%s", prefix, trace->name);
		error = zm_report_add(report, &metric,
				      100 * (double)trace->times / (double)lockside->total,
				      (double)trace->times, width_ns);
	}
	return error;
}
