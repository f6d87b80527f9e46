/* report: figures with their names filled in; no figure twice, none that is not a number. */
#include "runner/report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACEHOLDER "{n}"

void zm_report_init(struct zm_report *report, struct zm_recorder *recorder, unsigned int nr_units)
{
	*report = (struct zm_report){ .recorder = recorder, .nr_units = nr_units };
}

void zm_report_release(struct zm_report *report)
{
	for (size_t i = 0; i < report->nr_figures; i++)
		free(report->figures[i].name);
	free(report->figures);
	*report = (struct zm_report){ 0 };
}

char *zm_report_name(const char *name, unsigned int nr_units)
{
	const char *hole = strstr(name, PLACEHOLDER);
	char *filled = NULL;

	if (!hole)
		return strdup(name);
	if (asprintf(&filled, "%.*s%u%s", (int)(hole - name), name, nr_units,
		     hole + strlen(PLACEHOLDER)) < 0)
		return NULL;
	return filled;
}

static const struct zm_figure *find_name(const struct zm_report *report, const char *name)
{
	for (size_t i = 0; i < report->nr_figures; i++) {
		if (strcmp(report->figures[i].name, name) == 0)
			return &report->figures[i];
	}
	return NULL;
}

const struct zm_figure *zm_report_find(const struct zm_report *report,
				       const struct zm_metric *metric)
{
	for (size_t i = 0; i < report->nr_figures; i++) {
		if (report->figures[i].row == metric)
			return &report->figures[i];
	}
	return NULL;
}

bool zm_report_value(const struct zm_report *report, const char *name, double *ret_value)
{
	const struct zm_figure *figure = find_name(report, name);

	if (figure)
		*ret_value = figure->value;
	return figure != NULL;
}

/* Takes the name over. */
static int keep(struct zm_report *report, const struct zm_metric *metric, char *name, double value)
{
	struct zm_figure *grown =
		realloc(report->figures, (report->nr_figures + 1) * sizeof(*grown));

	if (!grown) {
		free(name);
		return -ENOMEM;
	}
	report->figures = grown;
	report->figures[report->nr_figures++] = (struct zm_figure){
		.row = metric, .metric = *metric, .name = name, .value = value
	};
	report->figures[report->nr_figures - 1].metric.name = NULL;
	return 0;
}

static int record(const struct zm_report *report, const struct zm_metric *metric, double count,
		  uint64_t interval_ns)
{
	const struct zm_figure *figure = &report->figures[report->nr_figures - 1];
	const struct zm_result result = { .metric = figure->name,
					  .unit = metric->unit,
					  .source = report->source,
					  .better = metric->better,
					  .is_primary = metric->is_primary,
					  .value = figure->value,
					  .count = count,
					  .interval_ns = interval_ns };

	return report->recorder ? zm_recorder_result(report->recorder, &result) : 0;
}

int zm_report_add(struct zm_report *report, const struct zm_metric *metric, double value,
		  double count, uint64_t interval_ns)
{
	char *name;
	int r;

	if (!isfinite(value))
		return -EDOM;
	name = zm_report_name(metric->name, report->nr_units);
	if (!name)
		return -ENOMEM;
	if (find_name(report, name)) {
		free(name);
		return -EEXIST;
	}
	r = keep(report, metric, name, value);
	return r < 0 ? r : record(report, metric, count, interval_ns);
}

int zm_report_fail(struct zm_report *report, int error, const char *format, ...)
{
	char text[ZM_WHY_SIZE];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return zm_why_set(&report->why, error, "%s", text);
}

int zm_report_check(const struct zm_report *report, const struct zm_workload *workload,
		    enum zm_task_kind kind, struct zm_why *why)
{
	for (size_t i = 0; workload->metrics && workload->metrics[i].name; i++) {
		const struct zm_metric *metric = &workload->metrics[i];

		if (zm_metric_is_for(metric, kind) && !metric->is_optional &&
		    !zm_report_find(report, metric))
			return zm_why_set(why, -ENODATA,
					  "%s did not report %s: a fault of the workload",
					  workload->name, metric->name);
	}
	return 0;
}
