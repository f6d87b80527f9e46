/*
 * rig: a monitor on a machine of the tests, with a recorder and a report that keep what they are given.
 *
 * It defines the recorder's and the report's functions itself, so that a monitor's test needs no
 * store; include it once per test program.
 */
#ifndef ZM_RUNNER_MONITORS_TESTS_RIG_H
#define ZM_RUNNER_MONITORS_TESTS_RIG_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "runner/catalogue.h"
#include "runner/monitor.h"

#define RIG_ABSENT 64

struct rig_series {
	struct zm_series_desc desc;
	char metric[256];
	char source[64];
	unsigned int nr_readings;
	uint64_t t_ns;
	uint64_t u64;
	double f64;
	uint32_t flags;
};

struct zm_recorder {
	struct rig_series *series;
	uint32_t nr_series, capacity;
	char absent[RIG_ABSENT][ZM_WHY_SIZE + 64]; /* "SOURCE: REASON" */
	unsigned int nr_absent;
	char note[ZM_WHY_SIZE + 64]; /* "KIND: TEXT", the last */
	char *folded;                /* of the last call chains; NULL: none */
};

struct zm_report {
	struct {
		char metric[128];
		char unit[32];
		double value, count;
		uint64_t interval_ns;
	} rows[512];
	unsigned int nr_rows;
};

struct rig {
	struct zm_sysroot root;
	struct zm_recorder recorder;
	struct zm_report report;
	struct zm_monitor_context context;
	struct zm_why why;
	int open_error;
};

static struct rig_series *rig_find(struct zm_recorder *recorder, const char *metric,
				   enum zm_scope scope, uint32_t scope_id)
{
	for (uint32_t i = 0; i < recorder->nr_series; i++) {
		struct rig_series *series = &recorder->series[i];

		if (series->desc.scope == scope && series->desc.scope_id == scope_id &&
		    strcmp(series->metric, metric) == 0)
			return series;
	}
	return NULL;
}

int zm_recorder_series(struct zm_recorder *recorder, const struct zm_series_desc *desc,
		       uint32_t *ret_series)
{
	struct rig_series *series;

	if (rig_find(recorder, desc->metric, desc->scope, desc->scope_id))
		return -EEXIST;
	if (recorder->nr_series == recorder->capacity) {
		recorder->capacity = recorder->capacity ? recorder->capacity * 2 : 64;
		recorder->series = reallocarray(recorder->series, recorder->capacity,
						sizeof(*recorder->series));
		if (!recorder->series)
			abort();
	}
	series = &recorder->series[recorder->nr_series];
	*series = (struct rig_series){ .desc = *desc };
	(void)snprintf(series->metric, sizeof(series->metric), "%s", desc->metric);
	(void)snprintf(series->source, sizeof(series->source), "%s", desc->source);
	*ret_series = recorder->nr_series++;
	return 0;
}

static struct rig_series *rig_put(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns,
				  uint32_t flags)
{
	struct rig_series *into = &recorder->series[series];

	if (series >= recorder->nr_series || (into->nr_readings && into->t_ns >= t_ns))
		abort(); /* not declared, or two readings of one moment */
	into->nr_readings++;
	into->t_ns = t_ns;
	into->flags = flags;
	return into;
}

void zm_recorder_put_u64(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns,
			 uint64_t value, uint32_t flags)
{
	rig_put(recorder, series, t_ns, flags)->u64 = value;
}

void zm_recorder_put_f64(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns, double value,
			 uint32_t flags)
{
	rig_put(recorder, series, t_ns, flags)->f64 = value;
}

void zm_recorder_put_hist(struct zm_recorder *recorder, uint32_t series, uint64_t t_ns,
			  const struct zm_hist *hist, uint32_t flags)
{
	rig_put(recorder, series, t_ns, flags)->u64 = hist->count;
}

int zm_recorder_note(struct zm_recorder *recorder, const char *kind, const char *text)
{
	(void)snprintf(recorder->note, sizeof(recorder->note), "%s: %s", kind, text);
	return 0;
}

int zm_recorder_stacks(struct zm_recorder *recorder, const struct zm_stacks *stacks)
{
	free(recorder->folded);
	recorder->folded = strdup(stacks->folded);
	return recorder->folded ? 0 : -ENOMEM;
}

int zm_recorder_absent(struct zm_recorder *recorder, const char *source, const char *reason)
{
	if (recorder->nr_absent < RIG_ABSENT)
		(void)snprintf(recorder->absent[recorder->nr_absent++], ZM_WHY_SIZE + 64, "%s: %s",
			       source, reason);
	return 0;
}

int zm_report_add(struct zm_report *report, const struct zm_metric *metric, double value,
		  double count, uint64_t interval_ns)
{
	unsigned int row = report->nr_rows++;

	if (row >= sizeof(report->rows) / sizeof(report->rows[0]))
		abort();
	(void)snprintf(report->rows[row].metric, sizeof(report->rows[row].metric), "%s",
		       metric->name);
	(void)snprintf(report->rows[row].unit, sizeof(report->rows[row].unit), "%s", metric->unit);
	report->rows[row].value = value;
	report->rows[row].count = count;
	report->rows[row].interval_ns = interval_ns;
	return 0;
}

bool zm_report_value(const struct zm_report *report, const char *name, double *ret_value);
bool zm_report_value(const struct zm_report *report, const char *name, double *ret_value)
{
	for (unsigned int i = 0; i < report->nr_rows; i++) {
		if (strcmp(report->rows[i].metric, name) != 0)
			continue;
		*ret_value = report->rows[i].value;
		return true;
	}
	return false;
}

static inline const struct zm_monitor *rig_monitor(const char *name)
{
	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		if (strcmp(zm_monitors[i]->name, name) == 0)
			return zm_monitors[i];
	fprintf(stderr, "no monitor %s\n", name);
	abort();
}

/* root NULL: this machine. The open's result is in open_error and why. */
static inline void rig_open(struct rig *rig, const char *root, const char *monitor)
{
	memset(rig, 0, sizeof(*rig));
	if (zm_sysroot_open(&rig->root, root)) {
		fprintf(stderr, "no machine %s\n", root ? root : "/");
		abort();
	}
	rig->context = (struct zm_monitor_context){
		.monitor = rig_monitor(monitor),
		.root = &rig->root,
		.recorder = &rig->recorder,
	};
	rig->context.state = calloc(1, rig->context.monitor->state_bytes + 1);
	if (!rig->context.state)
		abort();
	rig->open_error = rig->context.monitor->open(&rig->context, &rig->why);
}

static inline int rig_read(struct rig *rig, enum zm_phase phase, uint64_t t_ns)
{
	rig->context.phase = phase;
	return rig->context.monitor->read(&rig->context, t_ns);
}

static inline int rig_report(struct rig *rig, uint64_t t0_ns, uint64_t t1_ns)
{
	if (!rig->context.monitor->report)
		return 0;
	return rig->context.monitor->report(&rig->context, t0_ns, t1_ns, &rig->report);
}

static inline void rig_close(struct rig *rig)
{
	rig->context.monitor->close(&rig->context);
	free(rig->context.state);
	free(rig->recorder.series);
	free(rig->recorder.folded);
	zm_sysroot_release(&rig->root);
}

#ifdef ZM_SOURCE_DIR
/* A machine of workloads/tests/machines. */
static inline const char *rig_machine(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/workloads/tests/machines/%s", ZM_SOURCE_DIR, name);
	return path;
}

#endif

static inline bool rig_has_absent(const struct zm_recorder *recorder, const char *part)
{
	for (unsigned int i = 0; i < recorder->nr_absent; i++)
		if (strstr(recorder->absent[i], part))
			return true;
	return false;
}

/* Its place in the report, or -1. */
static inline int rig_reported(const struct zm_report *report, const char *metric)
{
	for (unsigned int i = 0; i < report->nr_rows; i++)
		if (strcmp(report->rows[i].metric, metric) == 0)
			return (int)i;
	return -1;
}

#endif
