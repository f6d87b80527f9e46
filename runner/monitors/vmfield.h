/*
 * vmfield: what a counter of the kernel's memory management is, told from its name.
 *
 * /proc/vmstat, the nodes' vmstat, the zones of /proc/zoneinfo and the cgroups' memory.stat print
 * gauges and counts in one list without a mark. Names are all there is to go by, and the kernel adds
 * some with every release: a name nobody has seen yet is judged by its prefix.
 */
#ifndef ZM_RUNNER_MONITORS_VMFIELD_H
#define ZM_RUNNER_MONITORS_VMFIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "results/recorder.h"
#include "runner/monitors/fields.h"
#include "workloads/sample.h"

struct zm_vmfield {
	enum zm_kind kind;
	const char *unit; /* "pages", "kB", "bytes", "events" */
};

/* Of vmstat and zoneinfo: "nr_free_pages" is a gauge of pages, "pgfault" a count of events. */
struct zm_vmfield zm_vmfield_of(const char *name, size_t length);

/* Of a cgroup's memory.stat, version 1 or 2: "anon" is a gauge of bytes. */
struct zm_vmfield zm_vmfield_of_cgroup(const char *name, size_t length);

/* Unit and kind of a field of vmstat and its like, for struct zm_source_rules. Always true. */
bool zm_vmfield_describe(const struct zm_field *field, struct zm_series_desc *desc);

/* The same for meminfo's, whose values carry their unit. */
bool zm_vmfield_describe_meminfo(const struct zm_field *field, struct zm_series_desc *desc);

#endif
