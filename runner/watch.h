/*
 * watch: the monitors of one run.
 *
 * A monitor that cannot be opened or attached is noted as absent with its reason, and the run goes on
 * without it. A failed read is a gap; the first one of each monitor becomes a note.
 */
#ifndef ZM_RUNNER_WATCH_H
#define ZM_RUNNER_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/monitor.h"
#include "runner/report.h"

struct zm_watched;

struct zm_watch {
	struct zm_watched *list;
	size_t nr;
	struct zm_recorder *recorder;
};

/* monitors: NULL-terminated. -ENOMEM only. */
int zm_watch_open(struct zm_watch *watch, const struct zm_monitor *const *monitors,
		  const struct zm_sysroot *root, struct zm_recorder *recorder);
void zm_watch_attach(struct zm_watch *watch, const struct zm_target *target);

/* Reads those of this rate; ZM_RATE_BORDERS: all, for a border. phase: what the reading lies in. */
void zm_watch_read(struct zm_watch *watch, enum zm_rate rate, enum zm_phase phase, uint64_t t_ns);

void zm_watch_report(struct zm_watch *watch, uint64_t t0_ns, uint64_t t1_ns,
		     struct zm_report *report);
void zm_watch_close(struct zm_watch *watch);

#endif
