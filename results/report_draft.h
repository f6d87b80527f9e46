/*
 * report_draft: what has been read of a report so far, and how its pieces are put together.
 *
 *     statement   what a mail says outside of tables: the opening with its block of facts, or a box
 *     record      a table, while its rows come
 *
 * A statement belongs to the table whose workload and parameters agree with it and whose rows show
 * what it claims. A statement that no table belongs to becomes a record of its own.
 */
#ifndef ZM_RESULTS_REPORT_DRAFT_H
#define ZM_RESULTS_REPORT_DRAFT_H

#include "results/report_job.h"
#include "results/report_mail.h"

struct zm_draft_statement {
	bool is_box;
	bool is_used;
	unsigned int line, depth;
	const char *testcase;
	struct zm_mail_pairs params, environment;
	struct zm_mail_machine machine;
	struct zm_mail_claim claim;
};

struct zm_draft_record {
	struct zm_mail_record record;
	bool has_keys;
	bool has_table; /* its dashes were seen */
	unsigned int nr_columns;
};

struct zm_draft {
	struct zm_pool pool; /* becomes the report's */
	const char *subject, *commit, *title;
	struct zm_draft_statement **statements;
	size_t nr_statements;
	struct zm_draft_record **records;
	size_t nr_records;
	struct zm_report_job *jobs;
	size_t nr_jobs;
	const char *program; /* "page_fault2_processes", where somebody mentions one */
};

/* NULL: no memory, or ZM_REPORT_MAIL_RECORDS of them are there. */
struct zm_draft_statement *zm_report_draft_state(struct zm_draft *draft, unsigned int line,
						 unsigned int depth);
struct zm_draft_record *zm_report_draft_record(struct zm_draft *draft,
					       enum zm_mail_record_kind kind, unsigned int line,
					       unsigned int depth);
void zm_report_draft_job(struct zm_draft *draft, const struct zm_report_job *job);

/* Puts the pieces together. The draft's pool is the report's from then on. -ENOENT: it comes to no
 * report. */
int zm_report_draft_finish(struct zm_draft *draft, struct zm_report_mail *ret_report);

#endif
