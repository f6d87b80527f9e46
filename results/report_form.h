/*
 * report_form: figures in the form in which the field prints them, so that a table of ours reads like
 * one of theirs, and is read back by whatever reads theirs (report_mail.h does). Every table of these
 * forms is written here: of what a mail says, of a comparison, of the documented catalogue.
 *
 *     59142d87ab03b8ff 70a64b7919cbd6c12306051ff28
 *     ---------------- ---------------------------
 *              %stddev     %change         %stddev
 *                  \          |                \
 *         91713           -11.9%      80789 ±  3%  will-it-scale.per_process_ops
 *
 * Values below 1,000 have two decimals, from 10^8 on four digits; a stddev of less than 2 % is not
 * printed. What is NaN (a first column's change, a value that was not had) is left blank.
 */
#ifndef ZM_RESULTS_REPORT_FORM_H
#define ZM_RESULTS_REPORT_FORM_H

#include <stdio.h>

#include "results/report_mail.h"

#define ZM_REPORT_FORM_RULE                                                                        \
	"========================================================================================" \
	"="

/* The rule, and below it the parameters' names and their values, with the suite as the last. */
void zm_report_form_keys(FILE *out, const struct zm_mail_pairs *params, const char *testcase);

/* "commit:" and one line for each. */
void zm_report_form_commits(FILE *out, const struct zm_mail_commit *commits, unsigned int nr);

/* The columns' names, cut to their widths, and the dashes below them. */
void zm_report_form_heads(FILE *out, const char *const *heads, unsigned int nr_columns);

/* The lines above rows of figures, or of fails. */
void zm_report_form_titles(FILE *out, unsigned int nr_columns, bool are_fails);

void zm_report_form_row(FILE *out, const struct zm_mail_row *row, unsigned int nr_columns);

/* mmtests' own: "  2695780.35 (    0.04%)", the gain between stars when it is significant. A mean that
 * is NaN is left blank. */
#define ZM_REPORT_FORM_MEAN 28 /* columns of it */
void zm_report_form_mean(FILE *out, double mean, double gain, bool is_marked);

/* One value without its column: "91713", "0.35", "4.277e+09". Returns buf. */
char *zm_report_form_value(char *buf, size_t size, double value);

#endif
