/*
 * report_block: a table's block: its keys, its commits, the heads of its columns, its rows.
 *
 *     =========================================================================================
 *     compiler/mode/nr_task/tbox_group/test/testcase:
 *       gcc-12/process/50%/lkp-skl-fpga01/tlb_flush2/will-it-scale
 *
 *     commit:
 *       e0bf1dc859 ("mm: memcg: move vmstats structs definition above flushing code")
 *       8d59d2214c ("mm: memcg: make stats flushing threshold per-memcg")
 *
 *     e0bf1dc859fdd08e 8d59d2214c2362e7a9d185d80b6
 *     ---------------- ---------------------------
 *              %stddev     %change         %stddev
 *                  \          |                \
 *        2132437           -32.3%    1444430        will-it-scale.52.processes
 *
 * Each function takes the lines that are its own, from `at` on, and returns how many it took; 0: the
 * line is none of its.
 */
#ifndef ZM_RESULTS_REPORT_BLOCK_H
#define ZM_RESULTS_REPORT_BLOCK_H

#include "results/mail_text.h"
#include "results/report_draft.h"

#define ZM_REPORT_BLANKS   " \t\f\v"
#define ZM_REPORT_WRAPS    6    /* lines that a wrapped one may go on for */
#define ZM_REPORT_SENTENCE 2048 /* bytes of one that was wrapped */

struct zm_report_block {
	struct zm_draft *draft;
	struct zm_mail_line *lines;
	size_t nr_lines;
	struct zm_draft_record *table;                /* the open one; NULL: none */
	struct zm_mail_machine machine;               /* announced for the next one */
	struct zm_mail_commit heads[ZM_MAIL_COLUMNS]; /* found in the list of commits */
	unsigned int nr_heads;
	struct zm_mail_token pending[ZM_MAIL_TOKENS]; /* of a row that was wrapped */
	size_t nr_pending, nr_pending_lines;
};

size_t zm_report_block_rows(struct zm_report_block *block, size_t at);
size_t zm_report_block_dashes(struct zm_report_block *block, size_t at);
size_t zm_report_block_keys(struct zm_report_block *block, size_t at);
size_t zm_report_block_commits(struct zm_report_block *block, size_t at);

/* The line without blanks at its beginning; "" behind the last. */
const char *zm_report_block_text(const struct zm_report_block *block, size_t at);

/* Up to nr lines, with blanks between, up to an empty one. */
void zm_report_block_join(const struct zm_report_block *block, size_t at, size_t nr, char *buf,
			  size_t size);

#endif
