/*
 * source: a file of "name value" lines of a monitor: opened once, its fields declared as series, read
 * again and again.
 *
 * A field that comes later in the run has no series and is passed over; one that goes missing has a
 * gap. A file that outgrew its buffer is used up to its last whole line, and flagged.
 */
#ifndef ZM_RUNNER_MONITORS_SOURCE_H
#define ZM_RUNNER_MONITORS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/monitor.h"
#include "runner/monitors/fields.h"
#include "runner/monitors/table.h"

/* Opens a file of a monitor, or says which one cannot be read and why. */
int zm_source_open_file(struct zm_sysfile *file, const struct zm_sysroot *root, const char *path,
			struct zm_why *why);

/* Reads it anew. *ret_flags is ZM_FLAG_PARTIAL when it was cut, else 0. -ENODATA: it is empty. */
int zm_source_read_file(struct zm_sysfile *file, uint32_t *ret_flags);

/* How the fields of a file become series. */
struct zm_source_rules {
	const char *prefix;      /* stands before each name: "proc-vmstat." */
	unsigned int skip_words; /* words of a line before the name */
	enum zm_scope scope;
	uint32_t scope_id;
	/* Fills in unit and kind of a field, the rest is there; false for one that is not kept. */
	bool (*describe)(const struct zm_field *field, struct zm_series_desc *desc);
};

struct zm_source {
	struct zm_sysfile file;
	struct zm_table table;
	unsigned int skip_words;
};

/* -ENODATA: no line of the file is such a field. Release it also after a failure. */
int zm_source_open(struct zm_source *source, struct zm_monitor_context *context, const char *path,
		   const struct zm_source_rules *rules, struct zm_why *why);
int zm_source_read(struct zm_source *source, struct zm_recorder *recorder, uint64_t t_ns);
void zm_source_release(struct zm_source *source);

/* The calls of a monitor whose state is one zm_source. */
int zm_source_monitor_read(struct zm_monitor_context *context, uint64_t t_ns);
void zm_source_monitor_close(struct zm_monitor_context *context);

/* The same file of every node: sys/devices/system/node/nodeN/FILE. Its series have the node's scope
 * and are called nodeN.FIELD behind the rules' prefix. A node whose file cannot be read is recorded as absent, with the reason; none at all is an error. */
struct zm_node_sources {
	struct zm_source *sources;
	size_t nr_sources;
};

int zm_node_sources_open(struct zm_node_sources *nodes, struct zm_monitor_context *context,
			 const char *file, const struct zm_source_rules *rules, struct zm_why *why);
int zm_node_sources_read(struct zm_node_sources *nodes, struct zm_recorder *recorder,
			 uint64_t t_ns);
void zm_node_sources_release(struct zm_node_sources *nodes);

/* The calls of a monitor whose state is one zm_node_sources. */
int zm_node_sources_monitor_read(struct zm_monitor_context *context, uint64_t t_ns);
void zm_node_sources_monitor_close(struct zm_monitor_context *context);

#endif
