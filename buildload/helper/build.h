/*
 * build: the makes of an emulated build.
 *
 *     make build           the first: stage after stage; it runs a stage's jobs, or starts makes for it
 *     make part STAGE N    make N of a stage: its part of the jobs
 *
 * A job needs a slot. Every make has the one that it was started with; others are bytes in the
 * jobserver's pipe, shared by all makes of the build. What is left of a job is counted in the page
 * that all makes share (progress.h).
 */
#ifndef ZM_BUILDLOAD_HELPER_BUILD_H
#define ZM_BUILDLOAD_HELPER_BUILD_H

#include <stdint.h>

void zm_build_all(void);
void zm_build_part(uint32_t stage, uint32_t number);

#endif
