/*
 * mail_text: line by line: quotes off, ends off; and the breaking of lines that once were many.
 *
 * Breaking goes over the words of a line once. For each word it is decided whether a line begins
 * there, by the word itself and by where in a report we are:
 *
 *     params    behind "parameters:": each "key:" begins a line
 *     commits   behind "commit:": each hash does
 *     rows      behind a row of dashes: the word behind a row's name does
 *     box       between its borders: the word behind every third pipe does
 */
#include "results/mail_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_table.h"

#define BLANKS   " \t\f\v"
#define RULE     40 /* characters of a rule, at least */
#define MIN_LINE 60 /* shorter ones never were many */

size_t zm_mail_rule(const char *word, size_t length, char of)
{
	for (size_t i = 0; i < length; i++) {
		if (word[i] != of)
			return 0;
	}
	return length;
}

bool zm_mail_is_keys(const char *word, size_t length)
{
	static const char name[] = "testcase";
	const size_t n = sizeof(name) - 1;
	const char *at = length > n ? memmem(word, length, name, n) : NULL;

	if (!at || word[length - 1] != ':' || !memchr(word, '/', length))
		return false;
	return (at == word || at[-1] == '/') && (at[n] == '/' || at[n] == ':');
}

/* --- lines --- */

static int add_line(struct zm_mail_text *text, struct zm_mail_line line)
{
	if (text->nr_lines == text->capacity) {
		size_t capacity = text->capacity ? text->capacity * 2 : 256;
		struct zm_mail_line *grown = realloc(text->lines, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		text->lines = grown;
		text->capacity = capacity;
	}
	text->lines[text->nr_lines++] = line;
	return 0;
}

/* Takes quote marks off the beginning. */
static void unquote(struct zm_mail_line *line)
{
	for (;;) {
		size_t blanks = strspn(line->text, BLANKS);

		if (line->text[blanks] != '>' || (line->depth == 0 && blanks > 0))
			return;
		line->text += blanks + 1;
		line->length -= blanks + 1;
		line->depth++;
		if (line->text[0] == ' ' && line->text[1] != '>') {
			line->text++;
			line->length--;
		}
	}
}

/* --- is it a line that once was many? --- */

/* The first run of RULE such characters. */
static const char *find_rule(const struct zm_mail_line *line, const char *rule)
{
	return memmem(line->text, line->length, rule, RULE);
}

/* Something beside the rule that begins at `at`. */
static bool has_company(const struct zm_mail_line *line, const char *at)
{
	const char *end = at + strspn(at, (char[]){ *at, '\0' });

	for (const char *c = line->text; c < at; c++) {
		if (!isspace((unsigned char)*c))
			return true;
	}
	return end[strspn(end, BLANKS ">")] != '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\0';
}

/* A row of dashes with other words on its line. */
static bool has_dashes_within(const struct zm_mail_line *line)
{
	const char *at = memmem(line->text, line->length, "---------------- -------------", 30);

	if (!at || (at > line->text && !is_blank(at[-1])))
		return false;
	for (const char *c = line->text; *c; c++) {
		if (*c != '-' && !is_blank(*c))
			return true;
	}
	return false;
}

/* The keys of a table with other words on their line, or a key and value behind "parameters:". */
static bool has_words_within(const struct zm_mail_line *line)
{
	const char *word = memmem(line->text, line->length, "testcase", 8);
	const char *begin = word, *end = word;

	if (word) {
		while (begin > line->text && !is_blank(begin[-1]))
			begin--;
		end += strcspn(end, BLANKS);
		if (zm_mail_is_keys(begin, (size_t)(end - begin)))
			return end[strspn(end, BLANKS)] != '\0' ||
			       strspn(line->text, BLANKS) < (size_t)(begin - line->text);
	}
	word = memmem(line->text, line->length, "parameters:", 11);
	return word && strstr(word + 11, ": ");
}

/* mmtests' rows behind something else. */
static bool has_means_within(const struct zm_mail_line *line)
{
	static const char *const means[] = { " Hmean ", " Amean ", " Gmean " };

	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
		const char *at = memmem(line->text, line->length, means[i], strlen(means[i]));

		if (at && line->text + strspn(line->text, BLANKS) < at)
			return true;
	}
	return false;
}

/* Nearly all lines have none of these, and are seen through quickly. */
static bool once_was_many(const struct zm_mail_line *line)
{
	static const char equals[] = "========================================";
	static const char stars[] = "****************************************";
	static const char dashes[] = "----------------------------------------";
	const char *at;

	if (line->length < MIN_LINE)
		return false;
	at = memchr(line->text, '=', line->length) ? find_rule(line, equals) : NULL;
	if (at && has_company(line, at))
		return true;
	at = memchr(line->text, '*', line->length) ? find_rule(line, stars) : NULL;
	if (at && has_company(line, at))
		return true;
	if (memmem(line->text, line->length, "------", 6)) {
		at = find_rule(line, dashes);
		if (at && line->text[strspn(line->text, BLANKS)] != '+' && has_company(line, at))
			return true;
		if (has_dashes_within(line))
			return true;
	}
	if (has_means_within(line))
		return true;
	return memchr(line->text, ':', line->length) && has_words_within(line);
}

/* --- breaking it --- */

enum place { ELSEWHERE, PARAMS, COMMITS, ROWS, BOX };

struct word {
	char *text;
	size_t length;
};

struct breaker {
	struct zm_mail_text *text;
	unsigned int depth;
	enum place place;
	struct word before; /* the word that was last; NULL: none */
	bool breaks_next;   /* whatever comes, it begins a line */
	bool was_key;       /* in PARAMS: a value is due */
	bool has_keys;      /* of a table that has not begun */
	unsigned int nr_pipes;
};

static bool is(struct word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static bool begins(struct word word, const char *text)
{
	return word.length >= strlen(text) && memcmp(word.text, text, strlen(text)) == 0;
}

static struct word word_at(char *text)
{
	text += strspn(text, BLANKS);
	return (struct word){ text, strcspn(text, BLANKS) };
}

static struct word next_of(struct word word)
{
	return word_at(word.text + word.length);
}

static bool is_key(struct word word)
{
	if (word.length < 2 || word.text[word.length - 1] != ':' ||
	    !islower((unsigned char)word.text[0]))
		return false;
	for (size_t i = 1; i + 1 < word.length; i++) {
		if (!isalnum((unsigned char)word.text[i]) && !strchr("_-.", word.text[i]))
			return false;
	}
	return true;
}

static bool is_hash(struct word word)
{
	size_t n = 0;

	while (n < word.length && isxdigit((unsigned char)word.text[n]))
		n++;
	return n >= 10 && n <= 40 && (n == word.length || word.text[n] == '/');
}

static bool is_rule(struct word word)
{
	bool has_arrow = word.length > 0 && word.text[word.length - 1] == '>';

	return word.length >= RULE && (zm_mail_rule(word.text, word.length, '=') ||
				       zm_mail_rule(word.text, word.length, '*') ||
				       zm_mail_rule(word.text, word.length - has_arrow, '-'));
}

static bool is_border(struct word word)
{
	return word.length > 8 && begins(word, "+-----") && word.text[word.length - 1] == '+';
}

static bool is_head(struct word word)
{
	return is(word, "\\") || is(word, "|") || is(word, "%stddev");
}

/* A row's name, or the head of the columns, is behind us, and a number here. */
static bool is_behind_row(const struct breaker *breaker, struct word word)
{
	struct word before = breaker->before;
	double number;
	size_t n;

	if (!before.text ||
	    !(zm_report_table_number(word.text, word.length, &number, &n) || word.text[0] == ':'))
		return false;
	return is_head(before) ||
	       (memchr(before.text, '.', before.length) &&
		!zm_report_table_number(before.text, before.length, &number, &n));
}

/* In a part of the report that has lines of its own. */
static bool begins_by_place(struct breaker *breaker, struct word word)
{
	switch (breaker->place) {
	case PARAMS:
		if (breaker->was_key) {
			breaker->was_key = false;
			return false;
		}
		breaker->was_key = is_key(word);
		breaker->place = breaker->was_key ? PARAMS : ELSEWHERE;
		return true;
	case COMMITS:
		return is_hash(word);
	case ROWS:
		return is_behind_row(breaker, word) ||
		       (begins(word, "%stddev") && breaker->before.text &&
			zm_report_table_is_dashes(breaker->before.text, breaker->before.length));
	case BOX:
		breaker->nr_pipes += is(word, "|");
		return is(word, "|") && breaker->nr_pipes % 3 == 1;
	default:
		return false;
	}
}

/* A word that opens a place, or is a line of its own. */
static bool begins_by_word(struct breaker *breaker, struct word word)
{
	bool is_dashes = zm_report_table_is_dashes(word.text, word.length);
	bool was_dashes = breaker->before.text &&
			  zm_report_table_is_dashes(breaker->before.text, breaker->before.length);

	if (is_dashes || was_dashes) {
		breaker->place = ROWS;
		breaker->has_keys = false;
		return is_dashes != was_dashes;
	}
	if (is_rule(word) || zm_mail_is_keys(word.text, word.length)) {
		breaker->place = ELSEWHERE;
		breaker->breaks_next = true;
		breaker->has_keys |= !is_rule(word);
		return true;
	}
	if (is_border(word)) {
		breaker->place = BOX;
		breaker->nr_pipes = 0;
		breaker->breaks_next = true;
		return true;
	}
	if (is(word, "Hmean") || is(word, "Amean") || is(word, "Gmean"))
		return true;
	if (is(word, "commit:") || (begins(word, "commit/") && word.text[word.length - 1] == ':')) {
		struct word next = next_of(word);

		breaker->place = !breaker->has_keys && is_hash(next) && next.length == 40
					 ? ELSEWHERE
					 : COMMITS;
		breaker->breaks_next = breaker->place == COMMITS;
		return true;
	}
	if (is(word, "parameters:")) {
		breaker->place = PARAMS;
		breaker->was_key = false;
		return true;
	}
	return false;
}

/* Words at which a statement of the report begins. */
static bool begins_statement(struct word word)
{
	return is(word, "testcase:") || is(word, "FYI,") || is(word, "Subject:") ||
	       is(word, "test-description:") || is(word, "test-url:") ||
	       (is(word, "test") && is(next_of(word), "machine:")) ||
	       (is(word, "kernel") && is(next_of(word), "test") &&
		is(next_of(next_of(word)), "robot"));
}

static bool begins_line(struct breaker *breaker, struct word word)
{
	bool is_due = breaker->breaks_next;

	breaker->breaks_next = false;
	if (begins_by_word(breaker, word))
		return true;
	if (breaker->place != BOX && begins_statement(word)) {
		breaker->place = ELSEWHERE;
		return true;
	}
	return begins_by_place(breaker, word) || is_due;
}

static int break_line(struct zm_mail_text *text, const struct zm_mail_line *line)
{
	struct breaker breaker = { .text = text, .depth = line->depth };
	char *begin = line->text;
	struct word word = word_at(line->text);
	int r = 0;

	for (; r == 0 && word.length > 0; word = next_of(word)) {
		if (zm_mail_rule(word.text, word.length, '>')) {
			memset(word.text, ' ', word.length);
			continue;
		}
		if (begins_line(&breaker, word) && word.text > begin) {
			word.text[-1] = '\0';
			r = add_line(text,
				     (struct zm_mail_line){ begin, (size_t)(word.text - 1 - begin),
							    line->depth });
			begin = word.text;
		}
		breaker.before = word;
	}
	if (r < 0)
		return r;
	return add_line(text,
			(struct zm_mail_line){ begin, (size_t)(line->text + line->length - begin),
					       line->depth });
}

int zm_mail_text_read(char *text, struct zm_mail_text *ret_text)
{
	struct zm_mail_text lines = { 0 };
	int r = 0;

	while (r == 0 && *text && lines.nr_lines < ZM_MAIL_LINES) {
		struct zm_mail_line line = { .text = text, .length = strcspn(text, "\n") };

		text += line.length + (text[line.length] == '\n');
		line.text[line.length] = '\0';
		if (line.length > 0 && line.text[line.length - 1] == '\r')
			line.text[--line.length] = '\0';
		unquote(&line);
		r = once_was_many(&line) ? break_line(&lines, &line) : add_line(&lines, line);
	}
	if (r < 0)
		zm_mail_text_release(&lines);
	else
		*ret_text = lines;
	return r;
}

void zm_mail_text_release(struct zm_mail_text *text)
{
	free(text->lines);
	*text = (struct zm_mail_text){ 0 };
}
