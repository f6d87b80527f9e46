/*
 * report_table: the rows of a robot's tables, token by token.
 *
 *          %stddev     %change         %stddev
 *              \          |                \
 *       2132437 ±  3%     -32.3%    1444430        will-it-scale.52.processes
 *             0:4           25%           1:4      dmesg.WARNING:at_mm/page_alloc.c
 *
 * The columns' places are not looked at: mails lose blanks, tabs, line ends, and the ± in the middle.
 */
#ifndef ZM_RESULTS_REPORT_TABLE_H
#define ZM_RESULTS_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define ZM_MAIL_COLUMNS 16 /* at most */
#define ZM_MAIL_TOKENS  96 /* of a row, at most */

enum zm_mail_token_kind {
	ZM_TOKEN_WORD,
	ZM_TOKEN_NUMBER, /* "1.5e+09", "-0.3%", "+Inf%" */
	ZM_TOKEN_RATIO,  /* "3:6", ":6" */
};

struct zm_mail_token {
	char *text; /* in place, not terminated */
	size_t length;
	enum zm_mail_token_kind kind;
	bool is_percent;
	bool is_signed; /* begins with + or - */
	bool is_marked; /* stood behind a ± in one of its disguises */
	double number;  /* of a ratio: the fails */
	double runs;
};

/* Takes a terminated line apart. Returns how many tokens there are, at most `max`; what is behind
 * them is not looked at. */
size_t zm_report_table_tokens(char *line, struct zm_mail_token *ret_tokens, size_t max);

/* A column of a row. */
struct zm_mail_cell {
	double value;  /* of a fail row: the fails */
	double stddev; /* percent; NaN: not given, below 2 % */
	double change; /* against the first column; NaN: none. A fail row's: percent of the runs */
	bool is_percent; /* the change is one; else it is a difference */
	double runs;     /* of a fail row; else 0 */
	bool is_marked;  /* the change is called significant (mmtests' tables do) */
};

struct zm_mail_row {
	const char *metric;
	bool is_fail; /* fails of runs */
	struct zm_mail_cell *cells;
};

enum zm_mail_match {
	ZM_MATCH_NO,
	ZM_MATCH_BEGINS, /* all tokens fit, more must come */
	ZM_MATCH_WHOLE,
};

/* Do the tokens begin with a row of so many columns (0: any number from two on)? Then the cells are
 * filled in, and the last token used is the metric's name, *ret_used - 1. */
enum zm_mail_match zm_report_table_match(const struct zm_mail_token *tokens, size_t nr_tokens,
					 unsigned int nr_columns, struct zm_mail_cell *ret_cells,
					 unsigned int *ret_nr_columns, size_t *ret_used);

/* Is this token one of a row of dashes that stands under a column's name? */
bool zm_report_table_is_dashes(const char *text, size_t length);

/* A number as the robots write it; false: it is none. *ret_length is how much of the text it is. */
bool zm_report_table_number(const char *text, size_t length, double *ret_number,
			    size_t *ret_length);

#endif
