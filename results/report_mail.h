/*
 * report_mail: a kernel test robot's mail, read into records.
 *
 *     mail     subject, the commit it is about
 *     record   one table (or, where the mail has none, one statement): the workload with every
 *              parameter, the machine, what was claimed, the commits, the rows
 *
 * A table's record has what the mail says about it elsewhere too: the block of facts above it, the
 * box "In addition to that…", the attached job. Mails come quoted, wrapped, squeezed, cut, in wordings
 * of ten years; what is not there is NULL or NaN, never made up.
 *
 * Bytes from anywhere are taken: time and memory are bounded by the mail's length, nothing is executed,
 * nothing is opened. All texts are UTF-8 and live as long as the report.
 */
#ifndef ZM_RESULTS_REPORT_MAIL_H
#define ZM_RESULTS_REPORT_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/pool.h"
#include "results/report_table.h"
#include "workloads/base/why.h"

#define ZM_REPORT_MAIL_RECORDS 256 /* at most; further ones are left out */
#define ZM_REPORT_MAIL_PAIRS   128 /* of a record, at most */

struct zm_mail_pair {
	const char *name;
	const char *value;
};

struct zm_mail_pairs {
	struct zm_mail_pair *list;
	size_t nr;
};

struct zm_mail_machine {
	const char *text; /* as written; NULL: not said */
	const char *box;  /* its name: "lkp-icl-2sp2" */
	const char *model;
	const char *codename;
	unsigned int nr_cpus, nr_sockets, nr_nodes; /* 0: not said */
	uint64_t memory_bytes;                      /* 0: not said */
};

/* "-9.2% regression of will-it-scale.per_thread_ops". */
struct zm_mail_claim {
	const char *metric; /* NULL: nothing was claimed */
	double percent;     /* as written; newer mails leave the sign out */
	double change;      /* signed, by the table's row or a written sign; NaN: not known */
	bool is_regression;
};

struct zm_mail_commit {
	const char *head; /* above the dashes: "59142d87ab03b8ff"; NULL: lost */
	const char *name; /* in the list: "59142d87ab", "v5.8-rc3"; NULL: no list */
	const char *title;
	const char *note; /* what somebody wrote behind it: "<--- your patch" */
};

enum zm_mail_record_kind {
	ZM_MAIL_TABLE,    /* a table with its rows */
	ZM_MAIL_FACTS,    /* the facts or the opening sentence, without a table */
	ZM_MAIL_BOX,      /* a box "In addition", without a table */
	ZM_MAIL_JOB,      /* a job file, without a table */
	ZM_MAIL_COMMANDS, /* command lines of the benchmark, without a table */
};

struct zm_mail_record {
	enum zm_mail_record_kind kind;
	unsigned int line;                /* at which it begins, from 1 on */
	unsigned int depth;               /* of quoting, 0: the writer's own */
	const char *testcase;             /* "will-it-scale"; NULL: not said */
	struct zm_mail_pairs params;      /* of the workload: "nr_task": "50%" */
	struct zm_mail_pairs environment; /* "compiler", "kconfig", "rootfs", "ucode"… */
	struct zm_mail_machine machine;
	struct zm_mail_claim claim;
	struct zm_mail_commit *commits; /* a table's columns; the first is the base */
	unsigned int nr_commits;
	struct zm_mail_row *rows;
	size_t nr_rows;
	/* mmtests' table, a row per number of tasks: what their names begin with,
	 * "page_fault1-processes"; else NULL */
	const char *ladder;
	const char *remark; /* how something was found that is not plainly said; NULL: all was */
};

struct zm_report_mail {
	const char *subject;
	const char *commit; /* the hash it is about, as long as it is given; NULL: not said */
	const char *title;
	struct zm_mail_record **records; /* in the mail's order */
	size_t nr_records;
	struct zm_pool pool, texts;
};

/* A mail in any form, or a job file alone. -ENOENT: it is no report, and the sentence says so; -EFBIG,
 * -ENOMEM. */
int zm_report_mail_read(const char *bytes, size_t length, struct zm_report_mail *ret_report,
			struct zm_why *why);
void zm_report_mail_release(struct zm_report_mail *report);

/* The value of that name, or NULL. */
const char *zm_mail_pairs_find(const struct zm_mail_pairs *pairs, const char *name);

/* The record's row of that metric, or NULL. */
const struct zm_mail_row *zm_mail_record_row(const struct zm_mail_record *record,
					     const char *metric);

const char *zm_mail_record_kind_name(enum zm_mail_record_kind kind); /* "table" */

#endif
