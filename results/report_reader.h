/*
 * report_reader: the lines of a text, read into a draft.
 */
#ifndef ZM_RESULTS_REPORT_READER_H
#define ZM_RESULTS_REPORT_READER_H

#include "results/mail_text.h"
#include "results/report_draft.h"

/* A mail's subject: what it claims, and about which commit. */
void zm_report_reader_subject(struct zm_draft *draft, const char *subject);

/* Changes the lines: names are terminated in place, so they must live as long as the draft. Running
 * out of memory is in draft->pool.error. */
void zm_report_reader_read(struct zm_draft *draft, struct zm_mail_text *text);

/* Of a text that is a script, only the benchmark's command lines. */
void zm_report_reader_commands(struct zm_draft *draft, struct zm_mail_text *text);

#endif
