/*
 * report_reader: line by line; each kind of line has a function that takes it, and those that belong
 * to it, and says how many it took (0: it is not of this kind).
 *
 *     tables    report_block.h: rows, dashes, keys, commits
 *     facts     the opening sentence, commit, testcase, test machine, parameters
 *     boxes     "| testcase: change | will-it-scale: … |"
 *     commands  netperf -t …, ./runtest.py …
 */
#include "results/report_reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/report_block.h"
#include "results/report_fields.h"
#include "results/report_means.h"

#define SUBJECT_LINES 100 /* among the first of which a subject may stand */
#define PARAM_GAP     3   /* empty lines before the first parameter */

struct reader {
	struct zm_report_block block;
	struct zm_draft *draft;
	struct zm_draft_statement *facts; /* those that lines now add to */
	struct zm_draft_statement *box;
	struct zm_draft_record *commands;
	const char *command;
	unsigned int nr_commands;
	bool has_programs; /* several: none of them is the one */
};

static struct zm_pool *pool_of(const struct reader *reader)
{
	return &reader->draft->pool;
}

static const char *text_at(const struct reader *reader, size_t at)
{
	return zm_report_block_text(&reader->block, at);
}

static const struct zm_mail_line *line_at(const struct reader *reader, size_t at)
{
	return &reader->block.lines[at];
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* What stands behind one of the words at the beginning; NULL: none of them does. */
static const char *behind(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (begins(text, *words))
			return text + strlen(*words) +
			       strspn(text + strlen(*words), ZM_REPORT_BLANKS);
	}
	return NULL;
}

/* --- statements --- */

static void open_facts(struct reader *reader, size_t at)
{
	reader->facts = zm_report_draft_state(reader->draft, (unsigned int)at + 1,
					      line_at(reader, at)->depth);
	reader->block.table = NULL;
}

static bool is_same_claim(const struct zm_mail_claim *a, const struct zm_mail_claim *b)
{
	return a->metric && b->metric && strcmp(a->metric, b->metric) == 0 &&
	       fabs(a->percent - b->percent) < 0.01;
}

/* The statement that claims this already, in the subject or in what a reply quotes. */
static struct zm_draft_statement *find_claim(const struct zm_draft *draft,
					     const struct zm_mail_claim *claim)
{
	for (size_t i = 0; i < draft->nr_statements; i++) {
		if (is_same_claim(&draft->statements[i]->claim, claim))
			return draft->statements[i];
	}
	return NULL;
}

static size_t take_opening(struct reader *reader, size_t at)
{
	const char *text = text_at(reader, at);
	struct zm_mail_claim claim;
	char sentence[ZM_REPORT_SENTENCE];

	if (!strstr(text, "noticed a"))
		return 0;
	zm_report_block_join(&reader->block, at, 1 + ZM_REPORT_WRAPS, sentence, sizeof(sentence));
	text = strstr(sentence, "noticed a");
	if (!text || !zm_report_fields_claim(pool_of(reader), text, &claim))
		return 0;
	reader->facts = find_claim(reader->draft, &claim);
	reader->block.table = NULL;
	if (!reader->facts || reader->facts->testcase)
		open_facts(reader, at);
	if (reader->facts)
		reader->facts->claim = claim;
	return 1;
}

static bool is_hash(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && isxdigit((unsigned char)text[n]))
		n++;
	return n == length && n >= 10 && n <= 40;
}

/* `commit: HASH ("title")`, the title perhaps in several lines, and with quotes in it. */
static size_t take_commit(struct reader *reader, size_t at)
{
	static const char *const words[] = { "commit: ", NULL };
	const char *text = behind(text_at(reader, at), words);
	char sentence[ZM_REPORT_SENTENCE];
	struct zm_mail_commit commit = { 0 };
	size_t nr = 1;

	if (!text || !is_hash(text, strcspn(text, ZM_REPORT_BLANKS)))
		return 0;
	zm_report_block_join(&reader->block, at, nr, sentence, sizeof(sentence));
	while (strstr(sentence, "(\"") && !strstr(sentence, "\")") && nr < ZM_REPORT_WRAPS)
		zm_report_block_join(&reader->block, at, ++nr, sentence, sizeof(sentence));
	if (!strstr(sentence, "\")"))
		nr = 1;
	zm_report_fields_commit(pool_of(reader), behind(sentence, words), &commit);
	if (!reader->draft->title) {
		reader->draft->commit = commit.name;
		reader->draft->title = commit.title;
	}
	return nr;
}

static size_t take_testcase(struct reader *reader, size_t at)
{
	static const char *const words[] = { "testcase:", "in testcase:", NULL };
	const char *text = behind(text_at(reader, at), words);
	const char *name;

	if (!text)
		return 0;
	name = zm_report_fields_copy(pool_of(reader), text, strcspn(text, ZM_REPORT_BLANKS));
	if (!reader->facts || reader->facts->testcase)
		open_facts(reader, at);
	if (reader->facts)
		reader->facts->testcase = name;
	return 1;
}

static size_t take_machine(struct reader *reader, size_t at)
{
	static const char *const words[] = { "test machine:", "on test machine:", NULL };
	char sentence[ZM_REPORT_SENTENCE];
	size_t nr = 1;

	if (!behind(text_at(reader, at), words))
		return 0;
	zm_report_block_join(&reader->block, at, nr, sentence, sizeof(sentence));
	while (nr < ZM_REPORT_WRAPS && !strstr(sentence, "memory") && text_at(reader, at + nr)[0] &&
	       !strstr(text_at(reader, at + nr), "parameters:"))
		zm_report_block_join(&reader->block, at, ++nr, sentence, sizeof(sentence));
	if (!reader->facts)
		open_facts(reader, at);
	if (reader->facts && !reader->facts->machine.text)
		(void)zm_report_fields_machine(pool_of(reader), behind(sentence, words),
					       &reader->facts->machine);
	return nr;
}

/* "lkp-csl-2ap4: 192 threads … with 192G memory", above a table of its own. */
static size_t take_box_name(struct reader *reader, size_t at)
{
	const char *text = text_at(reader, at);
	size_t length = strcspn(text, ZM_REPORT_BLANKS);
	struct zm_mail_machine machine;

	if (length < 2 || text[length - 1] != ':' || !strstr(text, " threads ") ||
	    !strstr(text, "memory"))
		return 0;
	if (!zm_report_fields_machine(pool_of(reader), text + length, &machine))
		return 0;
	machine.box = zm_report_fields_copy(pool_of(reader), text, length - 1);
	reader->block.machine = machine;
	return 1;
}

/* --- parameters --- */

static void put_param(struct reader *reader, struct zm_draft_statement *statement,
		      const struct zm_mail_pair *pair)
{
	bool is_environment = zm_report_fields_is_environment(pair->name);
	struct zm_mail_pairs *pairs = is_environment ? &statement->environment : &statement->params;

	zm_report_fields_put(pool_of(reader), pairs, pair->name, pair->value);
}

/* Lines of the same form that are no parameters. */
static bool ends_params(const char *name)
{
	static const char *const names[] = { "commit",   "url",      "base",   "test-description",
					     "test-url", "testcase", "config", "version" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static size_t take_params(struct reader *reader, size_t at)
{
	static const char *const words[] = {
		"parameters:",           "with following parameters:",     "with parameters:",
		"following parameters:", "with the following parameters:", NULL
	};
	struct zm_mail_pair pair;
	size_t next = at + 1, gap = 0;

	if (!behind(text_at(reader, at), words))
		return 0;
	if (!reader->facts || reader->facts->params.nr > 0)
		open_facts(reader, at);
	if (!reader->facts)
		return 1;
	while (next < reader->block.nr_lines && gap <= PARAM_GAP) {
		const char *text = text_at(reader, next);

		if (!text[0]) {
			gap++;
		} else if (zm_report_fields_pair(pool_of(reader), text, &pair) &&
			   !ends_params(pair.name)) {
			put_param(reader, reader->facts, &pair);
			gap = PARAM_GAP; /* one more may stand between two of them */
		} else {
			break;
		}
		next++;
	}
	return next - at;
}

/* "config: x86_64-rhel-9.4" and "compiler: gcc-12" among the facts. */
static size_t take_setup(struct reader *reader, size_t at)
{
	static const char *const config[] = { "config: ", NULL };
	static const char *const compiler[] = { "compiler: ", NULL };
	const char *value = behind(text_at(reader, at), config);
	const char *name = value ? "kconfig" : "compiler";

	if (!value)
		value = behind(text_at(reader, at), compiler);
	if (!value || !reader->facts || !reader->facts->testcase)
		return 0;
	zm_report_fields_put(
		pool_of(reader), &reader->facts->environment, name,
		zm_report_fields_copy(pool_of(reader), value, strcspn(value, ZM_REPORT_BLANKS)));
	return 1;
}

/* --- boxes --- */

/* The text between two pipes; "" when the line ends before. */
static const char *cell_of(struct reader *reader, const char *line, unsigned int which)
{
	const char *copy;

	while (which > 0 && *line) {
		line += strcspn(line, "|");
		line += *line == '|';
		which--;
	}
	copy = zm_report_fields_copy(pool_of(reader), line, strcspn(line, "|"));
	return copy ? copy : "";
}

static void open_box(struct reader *reader, size_t at, const char *cell)
{
	size_t length = strcspn(cell, ":");
	struct zm_mail_claim claim;

	reader->box = zm_report_draft_state(reader->draft, (unsigned int)at + 1,
					    line_at(reader, at)->depth);
	if (!reader->box)
		return;
	reader->box->is_box = true;
	if (cell[length] == ':')
		reader->box->testcase = zm_report_fields_copy(pool_of(reader), cell, length);
	if (zm_report_fields_claim(pool_of(reader), cell, &claim))
		reader->box->claim = claim;
}

static void read_box_line(struct reader *reader, size_t at, const char *line)
{
	const char *title = cell_of(reader, line, 1);
	const char *cell = cell_of(reader, line, 2);
	struct zm_mail_pair pair;

	if (begins(title, "testcase: change"))
		open_box(reader, at, cell);
	else if (reader->box && begins(title, "test machine"))
		(void)zm_report_fields_machine(pool_of(reader), cell, &reader->box->machine);
	else if (reader->box && (!title[0] || begins(title, "test parameters")) &&
		 zm_report_fields_pair(pool_of(reader), cell, &pair))
		put_param(reader, reader->box, &pair);
}

/* A line of a box has a title that is known, or none when it goes on with the parameters. The pipes
 * below a table's head have nothing between them. */
static bool is_box_line(const struct reader *reader, const char *text)
{
	static const char *const titles[] = { "testcase: change", "test machine", "test parameters",
					      NULL };
	const char *title = text + 1 + strspn(text + 1, ZM_REPORT_BLANKS);

	if (text[0] != '|' || !strchr(text + 1, '|') ||
	    text[strspn(text, "|" ZM_REPORT_BLANKS)] == '\0')
		return false;
	return behind(title, titles) || (reader->box && title[0] == '|');
}

static bool is_closed(const char *line)
{
	size_t length = strlen(line);

	while (length > 0 && strchr(ZM_REPORT_BLANKS, line[length - 1]))
		length--;
	return length > 0 && line[length - 1] == '|';
}

/* A line that lacks its last pipe goes on in the next, if that has none at its beginning. */
static size_t take_box(struct reader *reader, size_t at)
{
	char line[ZM_REPORT_SENTENCE];
	size_t nr = 1;

	if (!is_box_line(reader, text_at(reader, at)))
		return 0;
	zm_report_block_join(&reader->block, at, nr, line, sizeof(line));
	while (nr < ZM_REPORT_WRAPS && !is_closed(line) && text_at(reader, at + nr)[0] &&
	       !strchr("|+", text_at(reader, at + nr)[0]))
		zm_report_block_join(&reader->block, at, ++nr, line, sizeof(line));
	read_box_line(reader, at, line);
	return nr;
}

/* --- commands --- */

static void put_count(struct reader *reader, unsigned int nr)
{
	char text[16];

	if (!reader->commands || nr < 2)
		return;
	(void)snprintf(text, sizeof(text), "%u", nr);
	zm_report_fields_put(pool_of(reader), &reader->commands->record.params, "nr_threads",
			     zm_pool_text(pool_of(reader), text));
}

static void end_commands(struct reader *reader)
{
	if (reader->command && begins(reader->command, "netperf"))
		put_count(reader, reader->nr_commands);
	reader->commands = NULL;
	reader->command = NULL;
	reader->nr_commands = 0;
}

/* "(repeat 36 times in total)" behind some of them. */
static size_t take_repeat(struct reader *reader, const char *text)
{
	static const char *const words[] = { "(repeat ", NULL };
	const char *at = behind(text, words);
	double number;
	size_t n;

	if (!at || !strstr(at, "times") ||
	    !zm_report_table_number(at, strcspn(at, ZM_REPORT_BLANKS), &number, &n) || number < 2 ||
	    number > 1e6)
		return 0;
	put_count(reader, (unsigned int)number);
	return 1;
}

static size_t take_command(struct reader *reader, size_t at)
{
	const char *text = text_at(reader, at);
	struct zm_report_job job;

	if (reader->command && strcmp(text, reader->command) == 0) {
		reader->nr_commands++;
		return 1;
	}
	if (reader->command && take_repeat(reader, text))
		return 1;
	if (!begins(text, "netperf ") && !begins(text, "./case-") && !strstr(text, "runtest.py"))
		return 0;
	if (!zm_report_job_command(pool_of(reader), text, &job))
		return 0;
	end_commands(reader);
	reader->commands = zm_report_draft_record(reader->draft, ZM_MAIL_COMMANDS,
						  (unsigned int)at + 1, line_at(reader, at)->depth);
	if (!reader->commands)
		return 1;
	reader->commands->record.testcase = job.testcase;
	reader->commands->record.params = job.params;
	reader->commands->record.remark = "read from the command lines";
	reader->command = text;
	reader->nr_commands = 1;
	return 1;
}

/* "page_fault2_processes" in the text: will-it-scale's programs are called so. */
static void note_program(struct reader *reader, const char *text)
{
	static const char *const ends[] = { "_processes", "_threads" };

	for (size_t i = 0; i < 2 && !reader->has_programs; i++) {
		const char *end = strstr(text, ends[i]), *begin = end;
		const char *name;

		if (!end || end == text || !isdigit((unsigned char)end[-1]))
			continue;
		while (begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
			begin--;
		end += strlen(ends[i]);
		if (isalnum((unsigned char)*end) || *end == '_' || !islower((unsigned char)*begin))
			continue;
		name = zm_report_fields_copy(pool_of(reader), begin, (size_t)(end - begin));
		if (reader->draft->program && name && strcmp(name, reader->draft->program) != 0) {
			reader->has_programs = true;
			name = NULL;
		}
		reader->draft->program = name;
	}
}

/* --- the subject --- */

void zm_report_reader_subject(struct zm_draft *draft, const char *subject)
{
	struct zm_draft_statement *statement;
	struct zm_mail_claim claim;

	if (!draft->subject)
		draft->subject = zm_pool_text(&draft->pool, subject);
	for (const char *at = subject; *at; at += *at != '\0') {
		size_t length = strcspn(at, " :");

		if (at[length] == ':' && is_hash(at, length) && !draft->commit)
			draft->commit = zm_report_fields_copy(&draft->pool, at, length);
		at += length;
	}
	if (!zm_report_fields_claim(&draft->pool, subject, &claim) || find_claim(draft, &claim))
		return;
	statement = zm_report_draft_state(draft, 1, 0);
	if (statement)
		statement->claim = claim;
}

static size_t take_subject(struct reader *reader, size_t at)
{
	static const char *const words[] = { "Subject: ", NULL };
	char sentence[ZM_REPORT_SENTENCE];
	size_t nr = 1;

	if (at > SUBJECT_LINES || reader->draft->subject || line_at(reader, at)->depth > 0 ||
	    !begins(line_at(reader, at)->text, words[0]))
		return 0;
	while (nr < ZM_REPORT_WRAPS && at + nr < reader->block.nr_lines &&
	       strchr(" \t", line_at(reader, at + nr)->text[0]) && text_at(reader, at + nr)[0])
		nr++;
	zm_report_block_join(&reader->block, at, nr, sentence, sizeof(sentence));
	zm_report_reader_subject(reader->draft, behind(sentence, words));
	if (reader->draft->nr_statements > 0)
		reader->facts = reader->draft->statements[reader->draft->nr_statements - 1];
	return nr;
}

/* --- all of it --- */

static size_t take_line(struct reader *reader, size_t at)
{
	static size_t (*const takers[])(struct reader * reader, size_t at) = {
		take_box,    take_opening,  take_commit, take_testcase, take_machine,
		take_params, take_box_name, take_setup,  take_subject,  take_command,
	};
	static size_t (*const of_block[])(struct zm_report_block * block, size_t at) = {
		zm_report_means_rows, zm_report_block_rows,    zm_report_block_dashes,
		zm_report_block_keys, zm_report_block_commits,
	};
	size_t taken = 0;

	if (text_at(reader, at)[0] == '\0')
		return 1;
	for (size_t i = 0; taken == 0 && i < sizeof(of_block) / sizeof(of_block[0]); i++)
		taken = of_block[i](&reader->block, at);
	for (size_t i = 0; taken == 0 && i < sizeof(takers) / sizeof(takers[0]); i++)
		taken = takers[i](reader, at);
	if (taken == 0)
		note_program(reader, text_at(reader, at));
	return taken > 0 ? taken : 1;
}

static struct reader reader_of(struct zm_draft *draft, struct zm_mail_text *text)
{
	return (struct reader){
		.draft = draft,
		.block = { .draft = draft, .lines = text->lines, .nr_lines = text->nr_lines },
		.facts = draft->nr_statements > 0 ? draft->statements[draft->nr_statements - 1]
						  : NULL,
	};
}

void zm_report_reader_read(struct zm_draft *draft, struct zm_mail_text *text)
{
	struct reader reader = reader_of(draft, text);

	for (size_t at = 0; at < text->nr_lines && !draft->pool.error;)
		at += take_line(&reader, at);
	end_commands(&reader);
}

void zm_report_reader_commands(struct zm_draft *draft, struct zm_mail_text *text)
{
	struct reader reader = reader_of(draft, text);

	for (size_t at = 0; at < text->nr_lines && !draft->pool.error; at++)
		(void)take_command(&reader, at);
	end_commands(&reader);
}
