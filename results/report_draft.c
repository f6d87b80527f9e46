/* report_draft: pieces, and the joining of them. */
#include "results/report_draft.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_fields.h"

/* --- pieces --- */

struct zm_draft_statement *zm_report_draft_state(struct zm_draft *draft, unsigned int line,
						 unsigned int depth)
{
	struct zm_draft_statement *statement, **list;

	if (draft->nr_statements >= ZM_REPORT_MAIL_RECORDS)
		return NULL;
	statement = zm_pool_take(&draft->pool, sizeof(*statement));
	list = zm_report_fields_grow(&draft->pool, draft->statements, draft->nr_statements,
				     sizeof(struct zm_draft_statement *));
	if (!statement || !list)
		return NULL;
	statement->line = line;
	statement->depth = depth;
	statement->claim.change = NAN;
	draft->statements = list;
	draft->statements[draft->nr_statements++] = statement;
	return statement;
}

struct zm_draft_record *zm_report_draft_record(struct zm_draft *draft,
					       enum zm_mail_record_kind kind, unsigned int line,
					       unsigned int depth)
{
	struct zm_draft_record *record, **list;

	if (draft->nr_records >= ZM_REPORT_MAIL_RECORDS)
		return NULL;
	record = zm_pool_take(&draft->pool, sizeof(*record));
	list = zm_report_fields_grow(&draft->pool, draft->records, draft->nr_records,
				     sizeof(struct zm_draft_record *));
	if (!record || !list)
		return NULL;
	record->record.kind = kind;
	record->record.line = line;
	record->record.depth = depth;
	record->record.claim.change = NAN;
	draft->records = list;
	draft->records[draft->nr_records++] = record;
	return record;
}

void zm_report_draft_job(struct zm_draft *draft, const struct zm_report_job *job)
{
	struct zm_report_job *list;

	if (draft->nr_jobs >= ZM_REPORT_MAIL_RECORDS)
		return;
	list = zm_report_fields_grow(&draft->pool, draft->jobs, draft->nr_jobs, sizeof(*list));
	if (!list)
		return;
	draft->jobs = list;
	draft->jobs[draft->nr_jobs++] = *job;
}

/* --- what agrees with what --- */

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Do all of them that `in` has too have the same value there? */
static bool agree(const struct zm_mail_pairs *pairs, const struct zm_mail_pairs *in)
{
	for (size_t i = 0; i < pairs->nr; i++) {
		const char *value = zm_mail_pairs_find(in, pairs->list[i].name);

		if (value && strcmp(value, pairs->list[i].value) != 0)
			return false;
	}
	return true;
}

const struct zm_mail_row *zm_mail_record_row(const struct zm_mail_record *record,
					     const char *metric)
{
	for (size_t i = 0; metric && i < record->nr_rows; i++) {
		if (strcmp(record->rows[i].metric, metric) == 0)
			return &record->rows[i];
	}
	return NULL;
}

/* The change that a row shows of the size that was claimed; NaN: it shows none. */
static double shown_change(const struct zm_mail_record *record, const struct zm_mail_row *row,
			   const struct zm_mail_claim *claim)
{
	for (unsigned int i = 1; i < record->nr_commits; i++) {
		double change = row->cells[i].change;

		if (fabs(fabs(change) - fabs(claim->percent)) < 0.06)
			return change;
	}
	return NAN;
}

/* "will-it-scale" of "will-it-scale.per_thread_ops"; a name may have dots only behind it. */
static const char *testcase_of(struct zm_pool *pool, const char *metric)
{
	return metric ? zm_report_fields_copy(pool, metric, strcspn(metric, ".")) : NULL;
}

/* What workload the rows are of: the one whose own times are among them, or the claim's. */
static const char *testcase_of_rows(struct zm_pool *pool, const struct zm_mail_record *record,
				    const char *expected)
{
	static const char *const suites[] = { "will-it-scale", "vm-scalability", "netperf",
					      "lmbench3",      "kbuild",         "unixbench",
					      "stress-ng",     "hackbench" };
	size_t length = expected ? strlen(expected) : 0;

	for (size_t i = 0; i < record->nr_rows; i++) {
		const char *metric = record->rows[i].metric;

		if (length > 0 && strncmp(metric, expected, length) == 0 && metric[length] == '.')
			return expected;
		for (size_t k = 0; k < sizeof(suites) / sizeof(suites[0]); k++) {
			if (strncmp(metric, suites[k], strlen(suites[k])) == 0 &&
			    metric[strlen(suites[k])] == '.')
				return zm_report_fields_copy(pool, metric, strlen(suites[k]));
		}
	}
	return NULL;
}

/* May this be a statement about the record's run? */
static bool belongs(const struct zm_draft_statement *statement,
		    const struct zm_draft_record *record)
{
	const struct zm_mail_record *table = &record->record;
	const struct zm_mail_row *row;

	if (statement->testcase && table->testcase &&
	    !is_same(statement->testcase, table->testcase))
		return false;
	if (!agree(&statement->params, &table->params) ||
	    !agree(&statement->environment, &table->environment))
		return false;
	if (!record->has_keys && statement->is_box)
		return false;
	row = zm_mail_record_row(table, statement->claim.metric);
	return !row || !isnan(shown_change(table, row, &statement->claim));
}

/* --- joining --- */

static void add_pairs(struct zm_pool *pool, struct zm_mail_pairs *into,
		      const struct zm_mail_pairs *from)
{
	for (size_t i = 0; i < from->nr; i++)
		zm_report_fields_put(pool, into, from->list[i].name, from->list[i].value);
}

static void add_machine(struct zm_mail_machine *into, const struct zm_mail_machine *from)
{
	const char *box = into->box ? into->box : from->box;

	if (!into->text && from->text) {
		*into = *from;
	} else {
		into->nr_cpus = into->nr_cpus ? into->nr_cpus : from->nr_cpus;
		into->nr_nodes = into->nr_nodes ? into->nr_nodes : from->nr_nodes;
		into->memory_bytes = into->memory_bytes ? into->memory_bytes : from->memory_bytes;
		into->model = into->model ? into->model : from->model;
		into->codename = into->codename ? into->codename : from->codename;
	}
	into->box = box;
}

static void join(struct zm_draft *draft, struct zm_draft_statement *statement,
		 struct zm_draft_record *record)
{
	struct zm_mail_record *table = &record->record;
	const struct zm_mail_row *row = zm_mail_record_row(table, statement->claim.metric);

	statement->is_used = true;
	if (!table->testcase)
		table->testcase = statement->testcase;
	add_pairs(&draft->pool, &table->params, &statement->params);
	add_pairs(&draft->pool, &table->environment, &statement->environment);
	add_machine(&table->machine, &statement->machine);
	if (table->claim.metric || !statement->claim.metric)
		return;
	table->claim = statement->claim;
	if (row)
		table->claim.change = shown_change(table, row, &statement->claim);
}

/* The statement a table belongs to: of those above it the nearest, else of those below. One that has
 * a table already gives way to one that has none. */
static struct zm_draft_statement *find_statement(const struct zm_draft *draft,
						 const struct zm_draft_record *record)
{
	struct zm_draft_statement *best = NULL;

	for (size_t i = 0; i < draft->nr_statements; i++) {
		struct zm_draft_statement *statement = draft->statements[i];
		bool is_above = statement->line < record->record.line;
		bool best_is_above = best && best->line < record->record.line;

		if (!belongs(statement, record))
			continue;
		if (!best || (best->is_used && !statement->is_used) ||
		    (best->is_used == statement->is_used && is_above &&
		     (!best_is_above || best->line < statement->line)))
			best = statement;
	}
	return best;
}

/* A table without keys takes its testcase from its rows. */
static void name_tables(struct zm_draft *draft)
{
	for (size_t i = 0; i < draft->nr_records; i++) {
		struct zm_mail_record *record = &draft->records[i]->record;

		if (!record->testcase)
			record->testcase = testcase_of_rows(&draft->pool, record, NULL);
	}
}

/* All CPUs, and a metric that has their number in its name: "will-it-scale.104.processes". */
static void count_cpus(struct zm_mail_record *record)
{
	static const char prefix[] = "will-it-scale.";
	const char *nr_task = zm_mail_pairs_find(&record->params, "nr_task");

	if (record->machine.nr_cpus || !nr_task || strcmp(nr_task, "100%") != 0)
		return;
	for (size_t i = 0; i < record->nr_rows; i++) {
		const char *metric = record->rows[i].metric;
		const char *number = metric + strlen(prefix);
		double nr_cpus;
		size_t n;

		if (strncmp(metric, prefix, strlen(prefix)) != 0 ||
		    !zm_report_table_number(number, strspn(number, "0123456789"), &nr_cpus, &n))
			continue;
		if ((strcmp(number + n, ".processes") == 0 ||
		     strcmp(number + n, ".threads") == 0) &&
		    nr_cpus >= 1 && nr_cpus <= 1e6)
			record->machine.nr_cpus = (unsigned int)nr_cpus;
	}
}

static void name_statements(struct zm_draft *draft)
{
	for (size_t i = 0; i < draft->nr_statements; i++) {
		struct zm_draft_statement *statement = draft->statements[i];

		if (!statement->testcase)
			statement->testcase = testcase_of(&draft->pool, statement->claim.metric);
	}
}

/* Command lines, and no table and no other test: what the mail claims is about them. */
static bool is_lone(const struct zm_draft *draft, const struct zm_draft_record *record)
{
	for (size_t i = 0; i < draft->nr_records; i++) {
		const struct zm_mail_record *other = &draft->records[i]->record;

		if (other->kind != ZM_MAIL_COMMANDS ||
		    !is_same(zm_mail_pairs_find(&other->params, "test"),
			     zm_mail_pairs_find(&record->record.params, "test")))
			return false;
	}
	return record->record.kind == ZM_MAIL_COMMANDS;
}

static void join_statements(struct zm_draft *draft)
{
	for (size_t i = 0; i < draft->nr_records; i++) {
		struct zm_draft_record *record = draft->records[i];
		struct zm_draft_statement *statement = NULL;

		if (record->record.kind == ZM_MAIL_TABLE || is_lone(draft, record))
			statement = find_statement(draft, record);
		if (statement)
			join(draft, statement, record);
	}
}

static bool says_enough(const struct zm_draft_statement *statement)
{
	return statement->testcase &&
	       (statement->claim.metric || statement->params.nr > 0 || statement->machine.text);
}

/* Statements without a table: a record each. */
static void keep_statements(struct zm_draft *draft)
{
	for (size_t i = 0; i < draft->nr_statements; i++) {
		struct zm_draft_statement *statement = draft->statements[i];
		struct zm_draft_record *record;

		if (statement->is_used || !says_enough(statement))
			continue;
		record = zm_report_draft_record(draft,
						statement->is_box ? ZM_MAIL_BOX : ZM_MAIL_FACTS,
						statement->line, statement->depth);
		if (record)
			join(draft, statement, record);
	}
}

/* The same test of the same suite? What is not said on one side may be anything. */
static bool is_of_job(const struct zm_mail_record *record, const struct zm_report_job *job)
{
	const char *a = zm_mail_pairs_find(&record->params, "test");
	const char *b = zm_mail_pairs_find(&job->params, "test");

	return is_same(record->testcase, job->testcase) && (!a || !b || strcmp(a, b) == 0) &&
	       agree(&record->params, &job->params);
}

static void join_job(struct zm_draft *draft, const struct zm_report_job *job)
{
	struct zm_draft_record *record = NULL;
	struct zm_mail_record *table;

	for (size_t i = 0; !record && i < draft->nr_records; i++) {
		const struct zm_mail_record *candidate = &draft->records[i]->record;

		if (candidate->kind != ZM_MAIL_JOB && candidate->kind != ZM_MAIL_COMMANDS &&
		    is_of_job(candidate, job))
			record = draft->records[i];
	}
	if (!record)
		record = zm_report_draft_record(draft, ZM_MAIL_JOB, 0, 0);
	if (!record)
		return;
	table = &record->record;
	if (!table->testcase)
		table->testcase = job->testcase;
	add_pairs(&draft->pool, &table->params, &job->params);
	add_pairs(&draft->pool, &table->environment, &job->environment);
	add_machine(&table->machine, &job->machine);
}

/* Command lines are worth a record only where nothing else names that test; else they can say how many
 * there were. */
static void drop_commands(struct zm_draft *draft)
{
	size_t kept = 0;

	for (size_t i = 0; i < draft->nr_records; i++) {
		const struct zm_mail_record *record = &draft->records[i]->record;
		bool is_said = false;

		for (size_t k = 0; record->kind == ZM_MAIL_COMMANDS && k < draft->nr_records; k++) {
			const struct zm_mail_record *other = &draft->records[k]->record;

			is_said |= (other->kind != ZM_MAIL_COMMANDS || k < i) &&
				   is_same(other->testcase, record->testcase) &&
				   is_same(zm_mail_pairs_find(&other->params, "test"),
					   zm_mail_pairs_find(&record->params, "test"));
		}
		if (!is_said)
			draft->records[kept++] = draft->records[i];
	}
	draft->nr_records = kept;
}

/* "page_fault2_processes" is a program of will-it-scale: whoever mentions it has named the test. */
static void use_program(struct zm_draft *draft)
{
	const char *end = draft->program ? strrchr(draft->program, '_') : NULL;

	for (size_t i = 0; end && i < draft->nr_records; i++) {
		struct zm_mail_record *record = &draft->records[i]->record;

		if (!is_same(record->testcase, "will-it-scale") ||
		    zm_mail_pairs_find(&record->params, "test"))
			continue;
		zm_report_fields_put(&draft->pool, &record->params, "test",
				     zm_report_fields_copy(&draft->pool, draft->program,
							   (size_t)(end - draft->program)));
		zm_report_fields_put(&draft->pool, &record->params, "mode",
				     strcmp(end, "_threads") == 0 ? "thread" : "process");
		record->remark = "the test is the program that the text mentions";
	}
}

/* Line 0, a job's, comes last. */
static int by_line(const void *left, const void *right)
{
	unsigned int a = (*(const struct zm_draft_record *const *)left)->record.line - 1;
	unsigned int b = (*(const struct zm_draft_record *const *)right)->record.line - 1;

	return (a > b) - (a < b);
}

/* --- the whole --- */

/* Tables that came to nothing: no keys and no rows. */
static void drop_empty(struct zm_draft *draft)
{
	size_t kept = 0;

	for (size_t i = 0; i < draft->nr_records; i++) {
		if (draft->records[i]->has_keys || draft->records[i]->record.nr_rows > 0 ||
		    draft->records[i]->record.kind != ZM_MAIL_TABLE)
			draft->records[kept++] = draft->records[i];
	}
	draft->nr_records = kept;
}

/* What has keys and no rows is a statement of facts. */
static void name_kinds(struct zm_draft *draft)
{
	for (size_t i = 0; i < draft->nr_records; i++) {
		struct zm_mail_record *record = &draft->records[i]->record;

		if (record->kind == ZM_MAIL_TABLE && record->nr_rows == 0)
			record->kind = ZM_MAIL_FACTS;
	}
}

int zm_report_draft_finish(struct zm_draft *draft, struct zm_report_mail *ret_report)
{
	struct zm_report_mail report = { .subject = draft->subject,
					 .commit = draft->commit,
					 .title = draft->title };

	drop_empty(draft);
	name_tables(draft);
	name_statements(draft);
	join_statements(draft);
	name_kinds(draft);
	keep_statements(draft);
	for (size_t i = 0; i < draft->nr_jobs; i++)
		join_job(draft, &draft->jobs[i]);
	drop_commands(draft);
	use_program(draft);
	for (size_t i = 0; i < draft->nr_records; i++)
		count_cpus(&draft->records[i]->record);
	if (draft->nr_records == 0)
		return -ENOENT;
	qsort(draft->records, draft->nr_records, sizeof(struct zm_draft_record *), by_line);
	report.records =
		zm_pool_take(&draft->pool, draft->nr_records * sizeof(struct zm_mail_record *));
	for (size_t i = 0; report.records && i < draft->nr_records; i++)
		report.records[i] = &draft->records[i]->record;
	report.nr_records = draft->nr_records;
	report.pool = draft->pool;
	draft->pool = (struct zm_pool){ 0 };
	*ret_report = report;
	return 0;
}
