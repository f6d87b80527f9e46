/*
 * source: declaring what a file has when the run begins, and putting what it has at each reading.
 */
#include "runner/monitors/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cpuset.h"

#define METRIC_SIZE 256 /* the longest name of a metric */

int zm_source_open_file(struct zm_sysfile *file, const struct zm_sysroot *root, const char *path,
			struct zm_why *why)
{
	int error = zm_sysfile_open(file, root, path);

	if (error)
		return zm_why_errno(why, error, "/%s cannot be read", path);
	return 0;
}

int zm_source_read_file(struct zm_sysfile *file, uint32_t *ret_flags)
{
	int error = zm_sysfile_read(file);
	char *newline;

	if (error && error != -ENOBUFS)
		return error;
	if (error) { /* the number at the cut may be short of digits */
		newline = strrchr(file->text, '\n');
		file->length = newline ? (size_t)(newline + 1 - file->text) : 0;
		file->text[file->length] = '\0';
	}
	if (file->length == 0)
		return -ENODATA;
	*ret_flags = error ? ZM_FLAG_PARTIAL : 0;
	return 0;
}

/* Declares one field. 0 also for a field that is not kept, or that is there already. */
static int declare(struct zm_source *source, struct zm_monitor_context *context,
		   const struct zm_source_rules *rules, const struct zm_field *field)
{
	char metric[METRIC_SIZE];
	struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = metric,
		.scope = rules->scope,
		.scope_id = rules->scope_id,
	};
	uint32_t series;
	int error;
	int length = snprintf(metric, sizeof(metric), "%s%.*s", rules->prefix, (int)field->length,
			      field->name);

	if (length < 0 || (size_t)length >= sizeof(metric) || !rules->describe(field, &desc))
		return 0;
	error = zm_recorder_series(context->recorder, &desc, &series);
	if (!error)
		error = zm_table_add(&source->table, 0, field->name, field->length, series);
	return error == -EEXIST ? 0 : error;
}

static int declare_all(struct zm_source *source, struct zm_monitor_context *context,
		       const struct zm_source_rules *rules)
{
	const char *text = source->file.text;
	struct zm_field field;
	uint32_t flags;
	int error = zm_source_read_file(&source->file, &flags);

	if (error)
		return error;
	while (!error && zm_fields_next(&text, rules->skip_words, &field))
		error = declare(source, context, rules, &field);
	if (!error && source->table.nr_rows == 0)
		error = -ENODATA;
	return error;
}

int zm_source_open(struct zm_source *source, struct zm_monitor_context *context, const char *path,
		   const struct zm_source_rules *rules, struct zm_why *why)
{
	int error = zm_source_open_file(&source->file, context->root, path, why);

	if (error)
		return error;
	source->skip_words = rules->skip_words;
	error = declare_all(source, context, rules);
	if (error == -ENODATA)
		return zm_why_set(why, error, "/%s has no field with a number", path);
	if (error)
		return zm_why_errno(why, error, "/%s cannot be read", path);
	return 0;
}

int zm_source_read(struct zm_source *source, struct zm_recorder *recorder, uint64_t t_ns)
{
	const struct zm_table_row *row;
	const char *text;
	struct zm_field field;
	size_t left = source->table.nr_rows;
	uint32_t flags;
	int error = zm_source_read_file(&source->file, &flags);

	if (error)
		return error;
	text = source->file.text;
	zm_table_begin(&source->table);
	while (left > 0 && zm_fields_next(&text, source->skip_words, &field)) {
		row = zm_table_find(&source->table, 0, field.name, field.length);
		if (!row)
			continue;
		zm_recorder_put_u64(recorder, row->series, t_ns, field.value, flags | field.flags);
		left--;
	}
	return 0;
}

void zm_source_release(struct zm_source *source)
{
	zm_sysfile_release(&source->file);
	zm_table_release(&source->table);
}

int zm_source_monitor_read(struct zm_monitor_context *context, uint64_t t_ns)
{
	return zm_source_read(context->state, context->recorder, t_ns);
}

void zm_source_monitor_close(struct zm_monitor_context *context)
{
	zm_source_release(context->state);
}

/* One node's file, into the next free place. A node that cannot be read is said to be absent. */
static int open_node(struct zm_node_sources *nodes, struct zm_monitor_context *context, int node,
		     const char *file, const struct zm_source_rules *rules, struct zm_why *why)
{
	struct zm_source *source = &nodes->sources[nodes->nr_sources];
	char path[128];
	char prefix[METRIC_SIZE];
	struct zm_source_rules own = *rules;
	int error;

	(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%d/%s", node, file);
	(void)snprintf(prefix, sizeof(prefix), "%snode%d.", rules->prefix, node);
	own.prefix = prefix;
	own.scope = ZM_SCOPE_NODE;
	own.scope_id = (uint32_t)node;
	error = zm_source_open(source, context, path, &own, why);
	if (!error) {
		nodes->nr_sources++;
		return 0;
	}
	zm_source_release(source);
	*source = (struct zm_source){ 0 };
	if (error == -ENOMEM)
		return error;
	return zm_recorder_absent(context->recorder, context->monitor->name, why->text);
}

int zm_node_sources_open(struct zm_node_sources *nodes, struct zm_monitor_context *context,
			 const char *file, const struct zm_source_rules *rules, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	struct zm_why reason = { "" };
	int error =
		zm_sysroot_list_numbered(context->root, "sys/devices/system/node", "node", &set);

	if (!error && zm_cpuset_count(&set) == 0)
		return zm_why_set(why, -ENOTSUP,
				  "/sys/devices/system/node has no nodes: the kernel is built "
				  "without CONFIG_NUMA");
	if (!error) {
		nodes->sources = calloc(zm_cpuset_count(&set), sizeof(*nodes->sources));
		error = nodes->sources ? 0 : -ENOMEM;
	}
	if (error)
		return zm_why_errno(why, error, "/sys/devices/system/node cannot be read");
	zm_cpuset_for_each (node, &set) {
		error = open_node(nodes, context, node, file, rules, &reason);
		if (error)
			return zm_why_errno(why, error, "node%d/%s", node, file);
	}
	if (nodes->nr_sources == 0)
		return zm_why_set(why, -ENOTSUP, "%s", reason.text);
	return 0;
}

int zm_node_sources_read(struct zm_node_sources *nodes, struct zm_recorder *recorder, uint64_t t_ns)
{
	int first_error = 0;

	for (size_t i = 0; i < nodes->nr_sources; i++) {
		int error = zm_source_read(&nodes->sources[i], recorder, t_ns);

		if (error && !first_error)
			first_error = error;
	}
	return first_error;
}

void zm_node_sources_release(struct zm_node_sources *nodes)
{
	for (size_t i = 0; i < nodes->nr_sources; i++)
		zm_source_release(&nodes->sources[i]);
	free(nodes->sources);
	*nodes = (struct zm_node_sources){ 0 };
}

int zm_node_sources_monitor_read(struct zm_monitor_context *context, uint64_t t_ns)
{
	return zm_node_sources_read(context->state, context->recorder, t_ns);
}

void zm_node_sources_monitor_close(struct zm_monitor_context *context)
{
	zm_node_sources_release(context->state);
}
