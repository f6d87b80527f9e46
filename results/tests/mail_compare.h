/*
 * mail_compare: what was made up (mail_maker.h) against what was read of it. Whoever includes this defines
 * must(condition), which does not go on when it is not met.
 */
#ifndef ZM_RESULTS_TESTS_MAIL_COMPARE_H
#define ZM_RESULTS_TESTS_MAIL_COMPARE_H

#include "results/report_mail.h"
#include "results/tests/mail_maker.h"

static inline bool is_close(double a, const char *text)
{
	double b = strtod(text, NULL);

	return fabs(a - b) <= 1e-9 * fabs(b);
}

static inline void compare_cell(const struct made_row *row, const struct made_cell *made,
				const struct zm_mail_cell *read, bool is_first)
{
	if (row->is_fail) {
		must((int)read->value == made->fails && (int)read->runs == made->runs);
		must(is_first || is_close(read->change, made->change));
		return;
	}
	must(is_close(read->value, made->value));
	must(made->stddev ? (int)read->stddev == made->stddev : (bool)isnan(read->stddev));
	must(is_first ? (bool)isnan(read->change) : is_close(read->change, made->change));
	must(is_first || read->is_percent == (strchr(made->change, '%') != NULL));
}

static inline void compare_rows(const struct made_table *made, const struct zm_mail_record *read)
{
	must(read->nr_rows == made->nr_rows);
	must(read->nr_commits == made->nr_columns);
	for (unsigned int i = 0; i < made->nr_rows; i++) {
		const struct zm_mail_row *row = zm_mail_record_row(read, made->rows[i].metric);

		must(row && row->is_fail == made->rows[i].is_fail);
		for (unsigned int k = 0; k < made->nr_columns; k++)
			compare_cell(&made->rows[i], &made->rows[i].cells[k], &row->cells[k],
				     k == 0);
	}
}

static inline void compare_commits(const struct made_table *made, const struct zm_mail_record *read)
{
	for (unsigned int i = 0; i < made->nr_columns; i++) {
		const struct zm_mail_commit *commit = &read->commits[i];

		must(commit->head &&
		     strncmp(commit->head, made->commits[i][0], strlen(commit->head)) == 0);
		must(commit->name &&
		     strncmp(commit->name, made->commits[i][0], strlen(commit->name)) == 0);
		must(made->commits[i][1][0]
			     ? commit->title && strcmp(commit->title, made->commits[i][1]) == 0
			     : !commit->title);
	}
}

static inline void compare_pair(const struct zm_mail_pairs *pairs, const char *name,
				const char *value)
{
	const char *read = zm_mail_pairs_find(pairs, name);

	must(read && strcmp(read, value) == 0);
}

static inline void compare_table(const struct made_table *made, const struct zm_mail_record *read)
{
	must(strcmp(read->testcase, made->testcase) == 0);
	must(read->params.nr == made->nr_params);
	for (unsigned int i = 0; i < made->nr_params; i++)
		compare_pair(&read->params, made->params[i][0], made->params[i][1]);
	for (unsigned int i = 0; i < 4; i++)
		compare_pair(&read->environment, made->environment[i][0], made->environment[i][1]);
	must(read->machine.box && strcmp(read->machine.box, made->box) == 0);
	must(read->machine.nr_cpus == made->nr_cpus);
	must(read->machine.nr_sockets == made->nr_sockets);
	must(read->machine.memory_bytes == (uint64_t)made->memory_gb << 30);
	must(read->machine.codename && strcmp(read->machine.codename, "Ice Lake") == 0);
	must(read->claim.metric && strcmp(read->claim.metric, made->claimed) == 0);
	must(read->claim.is_regression == made->is_regression);
	must(is_close(read->claim.change, made->rows[0].cells[1].change));
	compare_commits(made, read);
	compare_rows(made, read);
}

static inline void made_compare(const struct made *made, const struct zm_report_mail *report)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < report->nr_records; i++) {
		must(report->records[i]->kind == ZM_MAIL_TABLE);
		must(nr < made->nr_tables);
		compare_table(&made->tables[nr++], report->records[i]);
	}
	must(nr == made->nr_tables);
	must(report->commit &&
	     strncmp(report->commit, made->tables[0].commits[1][0], strlen(report->commit)) == 0);
}

#endif
