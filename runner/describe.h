/*
 * describe: what is in the catalogue, as JSON objects; `list` prints them, or a text made of them.
 *
 * Each gives a new reference, or NULL without memory. Where something cannot run here, the object
 * has "runs_here": false and the "reason". A workload that runs here has, with each option that is a
 * choice, the choices that are "refused" here, each with its "reason".
 */
#ifndef ZM_RUNNER_DESCRIBE_H
#define ZM_RUNNER_DESCRIBE_H

#include <jansson.h>

#include "results/document.h"
#include "runner/matrix.h"
#include "runner/monitor.h"
#include "runner/setting.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"
#include "workloads/workload.h"

json_t *zm_describe_workload(const struct zm_workload *workload, const struct zm_sysroot *root,
			     const struct zm_topology *topology);
json_t *zm_describe_options(const struct zm_option *rows);
json_t *zm_describe_monitor(const struct zm_monitor *monitor, const struct zm_sysroot *root);
json_t *zm_describe_matrix(const struct zm_matrix *matrix);
json_t *zm_describe_document(const struct zm_documented_file *file, const struct zm_sysroot *root,
			     const struct zm_topology *topology);
json_t *zm_describe_setting(const struct zm_setting_row *row, const struct zm_sysroot *root);

#endif
