/*
 * format_compare: a comparison in the forms that people put into mails, pages and programs.
 *
 *     text       verdicts first, then tables, then explanations
 *     json       everything, every value
 *     csv        a row per cell, metric and side
 *     markdown   a table for a page or a forge
 *     lkp        the kernel test robot's table: fail:runs, %stddev, %change
 *     mmtests    Hmean and Amean, gains in percent, significant ones starred
 *     benchstat  Go's table, ~ for what is not significant
 *     changelog  a table for a commit message: base = 100.0, under 75 columns
 *     junit      a test case per verdict, for a build server
 *     html       one page that stands by itself: no scripts, nothing loaded, light and dark
 */
#ifndef ZM_RESULTS_FORMAT_COMPARE_H
#define ZM_RESULTS_FORMAT_COMPARE_H

#include <stddef.h>
#include <stdio.h>

#include "results/compare.h"

enum zm_compare_format {
	ZM_COMPARE_TEXT,
	ZM_COMPARE_JSON,
	ZM_COMPARE_CSV,
	ZM_COMPARE_MARKDOWN,
	ZM_COMPARE_LKP,
	ZM_COMPARE_MMTESTS,
	ZM_COMPARE_BENCHSTAT,
	ZM_COMPARE_CHANGELOG,
	ZM_COMPARE_JUNIT,
	ZM_COMPARE_HTML,
	ZM_NR_COMPARE_FORMATS,
};

extern const char *const zm_compare_formats[]; /* NULL-terminated, in the enum's order */

struct zm_format_compare {
	size_t width;           /* of the terminal; 0: as wide as it gets */
	size_t nr_explanations; /* at most so many of each cell */
};

/* -ENOMEM, -EIO. */
int zm_format_compare(const struct zm_compare *compare, enum zm_compare_format format,
		      const struct zm_format_compare *options, FILE *out);

/* The formats, each in a file of its own kind. */
int zm_format_compare_text(const struct zm_compare *compare,
			   const struct zm_format_compare *options, FILE *out);
int zm_format_compare_json(const struct zm_compare *compare,
			   const struct zm_format_compare *options, FILE *out);
int zm_format_compare_csv(const struct zm_compare *compare, const struct zm_format_compare *options,
			  FILE *out);
int zm_format_compare_junit(const struct zm_compare *compare,
			    const struct zm_format_compare *options, FILE *out);
int zm_format_compare_html(const struct zm_compare *compare,
			   const struct zm_format_compare *options, FILE *out);
int zm_format_compare_markdown(const struct zm_compare *compare,
			       const struct zm_format_compare *options, FILE *out);
int zm_format_compare_lkp(const struct zm_compare *compare, const struct zm_format_compare *options,
			  FILE *out);
int zm_format_compare_mmtests(const struct zm_compare *compare,
			      const struct zm_format_compare *options, FILE *out);
int zm_format_compare_benchstat(const struct zm_compare *compare,
				const struct zm_format_compare *options, FILE *out);
int zm_format_compare_changelog(const struct zm_compare *compare,
				const struct zm_format_compare *options, FILE *out);

/* "+8.1%", "-0.04%", "+1.2 points", "" for NaN, "+inf%". Returns buf. */
char *zm_compare_change(char *buf, size_t size, const struct zm_compare_metric *metric,
			const struct zm_judgement *judgement, double change);

/* "page_fault1 nr_task=2": what tells the cell from the others. Returns buf. */
char *zm_compare_title(char *buf, size_t size, const struct zm_compare_cell *cell);

/* "1 worse, 2 same": how many of which verdict. Returns buf. */
char *zm_compare_counts(char *buf, size_t size, const struct zm_compare *compare);

/* Is an explanation worth its line: likely enough to be one (q), or among all that were asked for? */
bool zm_compare_explains(const struct zm_compare *compare, const struct zm_compare_metric *metric);

/* "page_fault1: ops: one kernel differed from itself by 2.1%; …", where the noise floor is what decides;
 * false: it is not. */
bool zm_compare_floor(char *buf, size_t size, const struct zm_compare *compare,
		      const struct zm_compare_cell *cell, const struct zm_compare_metric *metric);

/* "95 % interval", of the confidence that was asked for. Returns buf. */
char *zm_compare_interval_title(char *buf, size_t size, const struct zm_compare *compare);

/* Is any verdict one between two single boots? */
bool zm_compare_any_between_boots(const struct zm_compare *compare);

/* "not by chance", "may be chance": of runs that failed. */
const char *zm_compare_chance(const struct zm_compare *compare, const struct zm_compare_cell *cell,
			      size_t side);

/* How the table of verdicts is to be read: a few lines without marks of HTML, an empty one before them. */
void zm_compare_print_legend(const struct zm_compare *compare, FILE *out);

#endif
