/*
 * wis: the figures of will-it-scale, under the names that robot mails print.
 *
 *     will-it-scale.N.processes      operations of all N tasks per second; .threads in thread mode
 *     will-it-scale.per_process_ops  that divided by N; per_thread_ops in thread mode
 *     will-it-scale.workload         operations of all tasks per second, in either mode
 */
#ifndef ZM_FAULTLOAD_WIS_H
#define ZM_FAULTLOAD_WIS_H

#include "workloads/workload.h"

/* The metric rows, for workloads that count pages and for those that count anything else. */
extern const struct zm_metric zm_wis_page_metrics[];
extern const struct zm_metric zm_wis_metrics[];

/* For workload->report, with either list. */
int zm_wis_report(const struct zm_window *window, struct zm_report *report);

#endif
