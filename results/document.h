/*
 * document: a file of workloads/documented/: tables of a document, as records of the kind that mails are
 * read into, and what each of their figures is here.
 *
 *     form        rows are          columns are
 *     changelog   kernels           figures: score, lock contend %…, many of them with base = 100
 *     lkp         figures           kernels, as the robot prints them
 *     mmtests     numbers of tasks  kernels: harmonic means, * where significant
 *     sweep       a parameter       figures, of one kernel; a table per machine
 *
 * Whatever the form, a record's columns are the kernels and its rows the figures; with mmtests and
 * sweep each row also has its point, the value of what varies.
 */
#ifndef ZM_RESULTS_DOCUMENT_H
#define ZM_RESULTS_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "results/pool.h"
#include "results/report_mail.h"
#include "workloads/base/why.h"
#include "workloads/documented.h"

#define ZM_DOCUMENT_METRICS 4 /* names of a figure here, at most */

enum zm_document_form {
	ZM_DOCUMENT_CHANGELOG,
	ZM_DOCUMENT_LKP,
	ZM_DOCUMENT_MMTESTS,
	ZM_DOCUMENT_SWEEP,
};

/* What a row of the record is. */
struct zm_document_figure {
	const char *name; /* as its column, or its row, is called there */
	const char
		*metrics[ZM_DOCUMENT_METRICS]; /* ours, the best first; none: not measured here */
	size_t point;                          /* of the table's, 0 without any */
	bool is_relative;                      /* the first kernel's is 100 */
	bool is_inverse;                       /* seconds there, per second here */
};

struct zm_document_table {
	const char *title; /* "Ice Lake Server"; NULL: it is the only one */
	struct zm_mail_record record;
	struct zm_document_figure *figures; /* one per row of the record */
	const char **points;                /* values of what varies; NULL: nothing does */
	size_t nr_points;
};

/* What the text around a table says in figures. */
struct zm_document_claim {
	const char *name;
	const char *metrics[ZM_DOCUMENT_METRICS];
	const char *of[ZM_MAIL_COLUMNS]; /* kernels that it is said of, then NULL */
	const char *against;             /* a kernel */
	double base, value;              /* NaN: not said */
	double change;                   /* value against base, or as said */
	bool is_percent;                 /* else the change is in points */
	bool is_most;                    /* at most so much */
};

struct zm_document {
	const char *id, *title, *source;
	enum zm_document_form form;
	const char *monitor; /* what `run --monitor` takes for its figures; NULL: as usual */
	const char *vary;    /* what its points are values of; NULL: it has none */
	bool is_option;      /* …and it is an option of the run, in the record's params too */
	const char *label;   /* mmtests: what a row's name begins with */
	struct zm_mail_pairs scaled; /* params that a smaller machine takes instead */
	const char **columns;        /* names of the figures of a changelog or a sweep */
	size_t nr_columns;
	struct zm_document_table *tables;
	size_t nr_tables;
	struct zm_document_claim *claims;
	size_t nr_claims;
	struct zm_pool pool;
};

/* -EINVAL and the sentence (with the file and the line, where it has one); -ENOMEM. */
int zm_document_read(const struct zm_documented_file *file, struct zm_document *ret_document,
		     struct zm_why *why);
void zm_document_release(struct zm_document *document);

const char *zm_document_form_name(enum zm_document_form form); /* "changelog" */

#endif
