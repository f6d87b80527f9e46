/*
 * health: what the machine itself counts of its faults, read before a qualification and after it.
 *
 *     machine-check      /proc/interrupts: MCE (exceptions), THR (corrected errors over a threshold), DFR
 *                        (deferred errors)
 *     edac               /sys/devices/system/edac/mc/mc*: corrected and uncorrected memory errors
 *     thermal-throttle   /sys/devices/system/cpu/cpu*: how often a core or a package was slowed for heat
 *     nic                /sys/class/net/NAME/statistics: the errors of interfaces that have a device, and
 *                        how often the link went down or up
 *
 * A source that is not there is no proof of health: its class says why it is absent.
 */
#ifndef ZM_RUNNER_QUALIFY_HEALTH_H
#define ZM_RUNNER_QUALIFY_HEALTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

enum zm_health_class {
	ZM_HEALTH_MACHINE_CHECK,
	ZM_HEALTH_EDAC,
	ZM_HEALTH_THERMAL,
	ZM_HEALTH_NIC,
	ZM_NR_HEALTH,
};

extern const char *const zm_health_names[]; /* "edac"; NULL-terminated */

struct zm_health_counter {
	enum zm_health_class class;
	char name[80]; /* "mc0 ce_count" */
	uint64_t value;
};

struct zm_health {
	struct zm_health_counter *counters;
	size_t nr, capacity;
	size_t nr_of[ZM_NR_HEALTH];
};

/* -ENOMEM only; what cannot be read is not there. */
int zm_health_read(const struct zm_sysroot *root, struct zm_health *ret_health);
void zm_health_release(struct zm_health *health);

/* Why a class has no counters here. */
const char *zm_health_absent(enum zm_health_class class);

enum zm_health_change {
	ZM_HEALTH_UNKNOWN, /* no counters, or one that vanished or went back */
	ZM_HEALTH_STILL,
	ZM_HEALTH_RISEN,
};

/* What a class's counters did; `text` says which and by how much. One that came up in between counts from
 * 0. */
enum zm_health_change zm_health_compare(const struct zm_health *before,
					const struct zm_health *after, enum zm_health_class class,
					char *text, size_t size);

/* A new reference: {"edac": {"mc0 ce_count": [before, after]…}…}; NULL without memory. */
json_t *zm_health_json(const struct zm_health *before, const struct zm_health *after);

#endif
