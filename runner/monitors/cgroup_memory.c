/*
 * cgroup-memory: what the cgroup that this runs in is charged, in version 1, version 2 and both.
 *
 *     cgroup-memory.current      memory.current      memory.usage_in_bytes
 *     cgroup-memory.peak         memory.peak (5.19)  memory.max_usage_in_bytes
 *     cgroup-memory.swap         memory.swap.current
 *     cgroup-memory.failcnt                          memory.failcnt
 *     cgroup-memory.stat.NAME    memory.stat         memory.stat
 *     cgroup-memory.events.NAME  memory.events       memory.oom_control (oom_kill)
 *
 * Version 1's usage is counted in batches per CPU, so it may lag by some dozen pages each.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/source.h"
#include "runner/monitors/vmfield.h"
#include "workloads/base/cgroup.h"

#define MAX_VALUES 3
#define MAX_LISTS  2

/* A file with one number. */
struct value {
	const char *file;
	const char *metric;
	const char *unit;
	enum zm_kind kind;
	bool is_optional;
};

/* A file of "name number" lines. */
struct list {
	const char *file;
	struct zm_source_rules rules;
};

struct open_value {
	struct zm_sysfile file;
	uint32_t series;
};

struct state {
	struct open_value values[MAX_VALUES];
	unsigned int nr_values;
	struct zm_source lists[MAX_LISTS];
	unsigned int nr_lists;
};

static bool describe_stat(const struct zm_field *field, struct zm_series_desc *desc)
{
	struct zm_vmfield vmfield = zm_vmfield_of_cgroup(field->name, field->length);

	desc->kind = vmfield.kind;
	desc->unit = vmfield.unit;
	return true;
}

static bool describe_event(const struct zm_field *field, struct zm_series_desc *desc)
{
	if (zm_field_starts(field, "oom_kill_disable") || zm_field_is(field, "under_oom"))
		return false;
	desc->kind = ZM_COUNT;
	desc->unit = "events";
	return true;
}

static const struct value values_of_version[2][MAX_VALUES] = {
	{
		{ "memory.usage_in_bytes", "cgroup-memory.current", "bytes", ZM_GAUGE, false },
		{ "memory.max_usage_in_bytes", "cgroup-memory.peak", "bytes", ZM_GAUGE, false },
		{ "memory.failcnt", "cgroup-memory.failcnt", "events", ZM_COUNT, true },
	},
	{
		{ "memory.current", "cgroup-memory.current", "bytes", ZM_GAUGE, false },
		{ "memory.peak", "cgroup-memory.peak", "bytes", ZM_GAUGE, false },
		{ "memory.swap.current", "cgroup-memory.swap", "bytes", ZM_GAUGE, true },
	},
};

#define LIST(file_, prefix_, describe_)                                                            \
	{                                                                                          \
		file_,                                                                             \
		{                                                                                  \
			.prefix = prefix_, .scope = ZM_SCOPE_CGROUP, .describe = describe_         \
		}                                                                                  \
	}

static const struct list lists_of_version[2][MAX_LISTS] = {
	{
		LIST("memory.stat", "cgroup-memory.stat.", describe_stat),
		LIST("memory.oom_control", "cgroup-memory.events.", describe_event),
	},
	{
		LIST("memory.stat", "cgroup-memory.stat.", describe_stat),
		LIST("memory.events", "cgroup-memory.events.", describe_event),
	},
};

static bool parse_value(const struct zm_sysfile *file, uint64_t *ret_value, uint32_t *ret_flags)
{
	return zm_fields_number(file->text, file->text + strcspn(file->text, "\n"), ret_value,
				ret_flags);
}

static int open_value(struct zm_monitor_context *context, const struct zm_cgroup *cgroup,
		      const struct value *value)
{
	struct state *state = context->state;
	struct open_value *into = &state->values[state->nr_values];
	const struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = value->metric,
		.unit = value->unit,
		.kind = value->kind,
		.scope = ZM_SCOPE_CGROUP,
	};
	char path[ZM_CGROUP_PATH_SIZE + 64];
	struct zm_why reason;
	int error;

	(void)snprintf(path, sizeof(path), "%s/%s", cgroup->path, value->file);
	error = zm_source_open_file(&into->file, context->root, path, &reason);
	if (error == -ENOENT && value->is_optional)
		return 0;
	if (error)
		return zm_recorder_absent(context->recorder, value->metric, reason.text);
	state->nr_values++;
	return zm_recorder_series(context->recorder, &desc, &into->series);
}

static int open_list(struct zm_monitor_context *context, const struct zm_cgroup *cgroup,
		     const struct list *list)
{
	struct state *state = context->state;
	struct zm_source *source = &state->lists[state->nr_lists];
	char path[ZM_CGROUP_PATH_SIZE + 64];
	struct zm_why reason = { "" };
	int error;

	(void)snprintf(path, sizeof(path), "%s/%s", cgroup->path, list->file);
	error = zm_source_open(source, context, path, &list->rules, &reason);
	if (!error) {
		state->nr_lists++;
		return 0;
	}
	zm_source_release(source);
	*source = (struct zm_source){ 0 };
	if (error == -ENOMEM)
		return error;
	return zm_recorder_absent(context->recorder, list->rules.prefix, reason.text);
}

static int open_files(struct zm_monitor_context *context, const struct zm_cgroup *cgroup)
{
	unsigned int version = cgroup->version == 2 ? 1 : 0;
	int error = 0;

	for (unsigned int i = 0; !error && i < MAX_VALUES; i++)
		error = open_value(context, cgroup, &values_of_version[version][i]);
	for (unsigned int i = 0; !error && i < MAX_LISTS; i++)
		error = open_list(context, cgroup, &lists_of_version[version][i]);
	return error;
}

static int open_cgroup(struct zm_monitor_context *context, struct zm_why *why)
{
	const struct state *state = context->state;
	struct zm_cgroup cgroup;
	int error = zm_cgroup_find(context->root, "memory", &cgroup);

	if (error == -ENOENT)
		return zm_why_set(why, -ENOTSUP,
				  "no cgroup hierarchy with the memory controller is mounted");
	if (!error)
		error = open_files(context, &cgroup);
	if (error)
		return zm_why_errno(why, error, "this process's memory cgroup");
	if (state->nr_values == 0 && state->nr_lists == 0)
		return zm_why_set(why, -ENOTSUP,
				  "/%s has no memory.* files that can be read: "
				  "is the memory controller enabled for it?",
				  cgroup.path);
	return 0;
}

static int read_value(struct zm_monitor_context *context, struct open_value *value, uint64_t t_ns)
{
	uint64_t number;
	uint32_t flags, own;
	int error = zm_source_read_file(&value->file, &own);

	if (error)
		return error;
	if (!parse_value(&value->file, &number, &flags))
		return -ENODATA;
	zm_recorder_put_u64(context->recorder, value->series, t_ns, number, flags | own);
	return 0;
}

static int read_cgroup(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	int error, first_error = 0;

	for (unsigned int i = 0; i < state->nr_values; i++) {
		error = read_value(context, &state->values[i], t_ns);
		first_error = first_error ? first_error : error;
	}
	for (unsigned int i = 0; i < state->nr_lists; i++) {
		error = zm_source_read(&state->lists[i], context->recorder, t_ns);
		first_error = first_error ? first_error : error;
	}
	return first_error;
}

static void close_cgroup(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	for (unsigned int i = 0; i < MAX_VALUES; i++)
		zm_sysfile_release(&state->values[i].file);
	for (unsigned int i = 0; i < MAX_LISTS; i++)
		zm_source_release(&state->lists[i]);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the memory that this cgroup is charged, and what happened at its limits",
	.needs = "the memory controller of cgroup 1 or 2",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct state),
	.open = open_cgroup,
	.read = read_cgroup,
	.close = close_cgroup,
};
