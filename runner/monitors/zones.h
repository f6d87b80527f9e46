/*
 * zones: /proc/zoneinfo, figure by figure, whatever the kernel's age.
 *
 *     Node 0, zone   Normal
 *       per-node stats               since 4.8, before the node's first zone with memory
 *           nr_active_anon 1433
 *       pages free     3840          the zone's own, up to the pagesets
 *             min      19            (before 4.8: nr_ names follow, less indented)
 *       pagesets
 *         cpu: 0
 *                   count:    12     the CPU's share of the zone: its page list
 *                   high_min: 11     since 6.7
 *       vm stats threshold: 4
 *       node_unreclaimable: 0        the zone's own again
 *
 * Which section a figure is in is told by what its line says; indentation only helps where a name
 * could be either.
 */
#ifndef ZM_RUNNER_MONITORS_ZONES_H
#define ZM_RUNNER_MONITORS_ZONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/monitors/fields.h"

/* What a figure is about. */
enum zm_zones_part {
	ZM_ZONES_ZONE, /* the zone: "managed" */
	ZM_ZONES_NODE, /* the node that the zone is in: "nr_active_anon" of the per-node stats */
	ZM_ZONES_PCP,  /* a CPU's page list of the zone: "high" */
};

struct zm_zones_item {
	enum zm_zones_part part;
	unsigned int node;
	const char *zone; /* "Normal", not terminated */
	size_t zone_length;
	unsigned int cpu; /* of ZM_ZONES_PCP */
	struct zm_field field;
};

struct zm_zones {
	const char *text; /* what is left of it */
	struct zm_zones_item at;
	bool is_in_zone; /* a heading has been read */
	bool is_in_pagesets;
	bool is_in_cpu;
	size_t cpu_indent; /* of the line "cpu: N" */
};

void zm_zones_init(struct zm_zones *zones, const char *text);
bool zm_zones_next(struct zm_zones *zones, struct zm_zones_item *ret_item);

/* A zone's place in its node by its name, the same on every kernel: DMA 0, DMA32 1, Normal 2,
 * HighMem 3, Movable 4, Device 5; others 6 to 15. */
unsigned int zm_zones_place(const char *zone, size_t length);

#endif
