/*
 * free_high: how often a CPU's page list was drained because high-order pages were freed one after the other.
 *
 *     pcp.free_high           told by what free_pcppages_bulk is asked to drain; .free_high_unsure: may be
 *     pcp.free_high_at_most   where that function is closed: drains that such a page set off
 *
 * A part of the monitor pcp.
 */
#ifndef ZM_RUNNER_MONITORS_FREE_HIGH_H
#define ZM_RUNNER_MONITORS_FREE_HIGH_H

#include <stdint.h>

#include "runner/monitor.h"
#include "runner/monitors/bpf.h"
#include "runner/monitors/window.h"

struct free_high_bpf;
struct free_high_runs_bpf;

enum zm_free_high_count {
	ZM_FREE_HIGH_DRAINS,
	ZM_FREE_HIGH_PAGES,
	ZM_FREE_HIGH_UNSURE,
	ZM_FREE_HIGH_NR,
};

/* A zeroed struct counts nothing. */
struct zm_free_high {
	struct free_high_bpf *exact;
	struct free_high_runs_bpf *runs;
	struct zm_bpf_memory cpus;
	uint32_t series[ZM_FREE_HIGH_NR];
	struct zm_window_figure windows[ZM_FREE_HIGH_NR];
};

/* Loads one of them and declares its series. Where neither can be had, records why as absent; that is no
 * error. */
int zm_free_high_open(struct zm_free_high *high, struct zm_monitor_context *context,
		      const struct zm_bpf *bpf);
void zm_free_high_read(struct zm_free_high *high, struct zm_monitor_context *context,
		       uint64_t t_ns);
int zm_free_high_report(const struct zm_free_high *high, uint64_t width_ns,
			struct zm_report *report);

/* Runs of its programs that the kernel left out. */
uint64_t zm_free_high_missed(const struct zm_free_high *high);
void zm_free_high_close(struct zm_free_high *high);

#endif
