/*
 * zoneinfo: the zones' pages and watermarks, and every CPU's page list (PCP) of every zone.
 *
 *     zoneinfo.managed.node0.Normal   scope zone   every figure of the zone itself
 *     pcp.high.node0.Normal           scope cpu    count, high, batch, high_min, high_max
 *
 * The per-node stats are left to numa-vmstat and proc-vmstat, which have the same. Kernels before 6.7
 * have no high_min and high_max: said so, once.
 */
#include <errno.h>
#include <stdio.h>

#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/vmfield.h"
#include "runner/monitors/zones.h"

struct state {
	struct zm_sysfile file;
	struct zm_table table;
	bool has_pcp;
	bool has_high_min;
};

/* One number per node, zone and CPU; 0 in the last place is the zone itself. */
static uint64_t group_of(const struct zm_zones_item *item)
{
	uint64_t place = zm_zones_place(item->zone, item->zone_length);
	uint64_t cpu = item->part == ZM_ZONES_PCP ? item->cpu + UINT64_C(1) : 0;

	return (uint64_t)item->node << 32 | place << 28 | cpu;
}

static struct zm_series_desc describe(const struct zm_zones_item *item, const char *source,
				      const char *metric)
{
	struct zm_vmfield vmfield = zm_vmfield_of(item->field.name, item->field.length);
	struct zm_series_desc desc = {
		.source = source,
		.metric = metric,
		.unit = vmfield.unit,
		.kind = vmfield.kind,
		.scope = ZM_SCOPE_ZONE,
		.scope_id = item->node * 16 + zm_zones_place(item->zone, item->zone_length),
	};

	if (item->part == ZM_ZONES_PCP) {
		desc.unit = "pages";
		desc.kind = ZM_GAUGE;
		desc.scope = ZM_SCOPE_CPU;
		desc.scope_id = item->cpu;
	}
	return desc;
}

static int declare(struct zm_monitor_context *context, const struct zm_zones_item *item)
{
	struct state *state = context->state;
	const struct zm_field *field = &item->field;
	struct zm_series_desc desc;
	char metric[256];
	uint32_t series;
	int error;
	int length = snprintf(metric, sizeof(metric), "%s.%.*s.node%u.%.*s",
			      item->part == ZM_ZONES_PCP ? "pcp" : "zoneinfo", (int)field->length,
			      field->name, item->node, (int)item->zone_length, item->zone);

	if (length < 0 || (size_t)length >= sizeof(metric) || item->part == ZM_ZONES_NODE)
		return 0;
	desc = describe(item, context->monitor->name, metric);
	error = zm_recorder_series(context->recorder, &desc, &series);
	if (!error)
		error = zm_table_add(&state->table, group_of(item), field->name, field->length,
				     series);
	if (item->part == ZM_ZONES_PCP) {
		state->has_pcp = true;
		state->has_high_min |= zm_field_is(field, "high_min");
	}
	return error == -EEXIST ? 0 : error;
}

static int declare_all(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	struct zm_zones_item item;
	struct zm_zones zones;
	uint32_t flags;
	int error = zm_source_read_file(&state->file, &flags);

	if (error)
		return error;
	zm_zones_init(&zones, state->file.text);
	while (!error && zm_zones_next(&zones, &item))
		error = declare(context, &item);
	if (!error && state->has_pcp && !state->has_high_min)
		error = zm_recorder_absent(context->recorder, "pcp.high_min",
					   "/proc/zoneinfo has no high_min and high_max: the "
					   "kernel is older than 6.7");
	return error;
}

static int open_zoneinfo(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	int error = zm_source_open_file(&state->file, context->root, "proc/zoneinfo", why);

	if (error)
		return error;
	error = declare_all(context);
	if (error)
		return zm_why_errno(why, error, "/proc/zoneinfo cannot be read");
	if (state->table.nr_rows == 0)
		return zm_why_set(why, -ENODATA, "/proc/zoneinfo has no zone with figures");
	return 0;
}

static int read_zoneinfo(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	const struct zm_table_row *row;
	struct zm_zones_item item;
	struct zm_zones zones;
	uint32_t flags;
	int error = zm_source_read_file(&state->file, &flags);

	if (error)
		return error;
	zm_zones_init(&zones, state->file.text);
	zm_table_begin(&state->table);
	while (zm_zones_next(&zones, &item)) {
		if (item.part == ZM_ZONES_NODE)
			continue;
		row = zm_table_find(&state->table, group_of(&item), item.field.name,
				    item.field.length);
		if (row)
			zm_recorder_put_u64(context->recorder, row->series, t_ns, item.field.value,
					    flags | item.field.flags);
	}
	return 0;
}

static void close_zoneinfo(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_sysfile_release(&state->file);
	zm_table_release(&state->table);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the zones' pages and watermarks, and each CPU's page lists (PCP)",
	.needs = "/proc/zoneinfo",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct state),
	.open = open_zoneinfo,
	.read = read_zoneinfo,
	.close = close_zoneinfo,
};
