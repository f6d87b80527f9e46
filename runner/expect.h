/*
 * expect: which of a record's figures one would look at here, by how much it changed there, and how many
 * runs would show that.
 */
#ifndef ZM_RUNNER_EXPECT_H
#define ZM_RUNNER_EXPECT_H

#include "runner/reproduce.h"

/* Fills in expected, change, noise and nr_runs; the record and the workload are there. */
void zm_expect(struct zm_reproduction *made);

/* Does the workload give a figure of that name ("{n}" is any number)? */
bool zm_expect_has_metric(const struct zm_workload *workload, const char *name, bool is_primary);

#endif
