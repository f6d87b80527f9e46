/*
 * format_tonight: a night (tonight.h) as people and programs want it.
 *
 *     text           what a person reads over coffee: what changed, how much, how sure; then every figure
 *     mail           the same behind a subject: `sendmail -t` takes it with a "To:" line before it
 *     json           everything, for programs
 *     junit          a test case per figure: a confirmed regression fails, what cannot be told is skipped
 *     openmetrics    for a scraper or a node exporter's folder
 *     page           sections of an HTML page (page.h)
 */
#ifndef ZM_RESULTS_FORMAT_TONIGHT_H
#define ZM_RESULTS_FORMAT_TONIGHT_H

#include <stdio.h>

#include "results/tonight.h"

/* 0, -ENOMEM. A failed write is the stream's to tell. */
int zm_format_tonight_text(const struct zm_tonight *tonight, FILE *out);
int zm_format_tonight_mail(const struct zm_tonight *tonight, FILE *out);
int zm_format_tonight_json(const struct zm_tonight *tonight, FILE *out);
int zm_format_tonight_junit(const struct zm_tonight *tonight, FILE *out);
int zm_format_tonight_openmetrics(const struct zm_tonight *tonight, FILE *out);
int zm_format_tonight_page(const struct zm_tonight *tonight, FILE *out);

#endif
