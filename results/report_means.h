/*
 * report_means: mmtests' tables in mails: a ladder of tasks, a mean per kernel.
 *
 *                                              5.17.0-rc3             5.17.0-rc3
 *                                                 vanilla      mm-highpcpopt-v2
 *     Hmean     page_fault1-processes-2   2694662.26 (   0.00%)  2695780.35 (   0.04%)
 *     Hmean     page_fault1-processes-5   6425819.34 (   0.00%)  6435544.57 *   0.15%*
 */
#ifndef ZM_RESULTS_REPORT_MEANS_H
#define ZM_RESULTS_REPORT_MEANS_H

#include "results/report_block.h"

/* As the functions of report_block.h: how many lines were its own. */
size_t zm_report_means_rows(struct zm_report_block *block, size_t at);

#endif
