/*
 * figures: what is derived from a run that went well: the workload's metrics, the engine's own
 * figures (sample.h), and the notes that go with them.
 */
#ifndef ZM_RUNNER_FIGURES_H
#define ZM_RUNNER_FIGURES_H

#include "runner/course.h"

/* -errno and the sentence when the workload's report fails, or lacks a metric it declares. */
int zm_figures_derive(struct zm_course *course, struct zm_why *why);

#endif
