/* report_block: keys, commits, heads, rows. */
#include "results/report_block.h"

#include <ctype.h>
#include <string.h>

#include "results/mime.h"
#include "results/report_fields.h"

#define LOOK_AHEAD 64 /* lines of a list of commits */
#define TABLE_ROWS 200000

static struct zm_pool *pool_of(const struct zm_report_block *block)
{
	return &block->draft->pool;
}

const char *zm_report_block_text(const struct zm_report_block *block, size_t at)
{
	const char *text = at < block->nr_lines ? block->lines[at].text : "";

	return text + strspn(text, ZM_REPORT_BLANKS);
}

static bool is_empty(const struct zm_report_block *block, size_t at)
{
	return zm_report_block_text(block, at)[0] == '\0';
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

void zm_report_block_join(const struct zm_report_block *block, size_t at, size_t nr, char *buf,
			  size_t size)
{
	size_t used = 0;

	for (size_t i = at; i < at + nr && used + 2 < size && !is_empty(block, i); i++) {
		const char *text = zm_report_block_text(block, i);
		size_t n;

		if (used > 0)
			buf[used++] = ' ';
		n = zm_mime_cut(text, strlen(text), size - used - 1);
		memcpy(buf + used, text, n);
		used += n;
	}
	buf[used] = '\0';
}

/* --- rows --- */

static void add_row(struct zm_report_block *block, const struct zm_mail_token *name,
		    const struct zm_mail_cell *cells, unsigned int nr_columns)
{
	struct zm_mail_record *record = &block->table->record;
	struct zm_mail_row *list;
	struct zm_mail_cell *copy;

	if (record->nr_rows >= TABLE_ROWS)
		return;
	list = zm_report_fields_grow(pool_of(block), record->rows, record->nr_rows, sizeof(*list));
	copy = zm_pool_take(pool_of(block), nr_columns * sizeof(*copy));
	if (!list || !copy)
		return;
	memcpy(copy, cells, nr_columns * sizeof(*copy));
	name->text[name->length] = '\0';
	record->rows = list;
	record->rows[record->nr_rows++] =
		(struct zm_mail_row){ name->text, cells[0].runs > 0, copy };
}

/* A table whose beginning was cut away: keys and rows, or rows alone. */
static bool open_bare_table(struct zm_report_block *block, size_t at, unsigned int nr_columns)
{
	struct zm_draft_record *table = block->table;
	struct zm_mail_commit *commits =
		zm_pool_take(pool_of(block), nr_columns * sizeof(*commits));

	if (!table)
		table = zm_report_draft_record(block->draft, ZM_MAIL_TABLE, (unsigned int)at + 1,
					       block->lines[at].depth);
	if (!table || !commits)
		return false;
	if (table->record.nr_commits == nr_columns)
		memcpy(commits, table->record.commits, nr_columns * sizeof(*commits));
	table->has_table = true;
	table->nr_columns = nr_columns;
	table->record.nr_commits = nr_columns;
	table->record.commits = commits;
	block->table = table;
	return true;
}

static unsigned int columns_of(const struct zm_report_block *block)
{
	return block->table ? block->table->nr_columns : 0;
}

/* The tokens as a row, if they are one. *ret_used: tokens it took. */
static enum zm_mail_match take_row(struct zm_report_block *block, size_t at,
				   struct zm_mail_token *tokens, size_t nr_tokens, size_t *ret_used)
{
	struct zm_mail_cell cells[ZM_MAIL_COLUMNS];
	unsigned int nr_columns = 0;
	enum zm_mail_match match = zm_report_table_match(tokens, nr_tokens, columns_of(block),
							 cells, &nr_columns, ret_used);

	if (match != ZM_MATCH_WHOLE)
		return match;
	if (!(block->table && block->table->has_table) && !open_bare_table(block, at, nr_columns))
		return ZM_MATCH_NO;
	add_row(block, &tokens[*ret_used - 1], cells, nr_columns);
	return match;
}

static void keep_pending(struct zm_report_block *block, const struct zm_mail_token *tokens,
			 size_t nr)
{
	block->nr_pending = nr;
	block->nr_pending_lines = 1;
	memcpy(block->pending, tokens, nr * sizeof(*tokens));
}

/* What earlier lines began, with these tokens. */
static bool take_with_pending(struct zm_report_block *block, size_t at,
			      const struct zm_mail_token *tokens, size_t nr, size_t *ret_used)
{
	size_t before = block->nr_pending, used;
	enum zm_mail_match match;

	if (before == 0 || before + nr > ZM_MAIL_TOKENS ||
	    block->nr_pending_lines > ZM_REPORT_WRAPS) {
		block->nr_pending = 0;
		return false;
	}
	memcpy(block->pending + before, tokens, nr * sizeof(*tokens));
	match = take_row(block, at, block->pending, before + nr, &used);
	block->nr_pending = match == ZM_MATCH_BEGINS ? before + nr : 0;
	block->nr_pending_lines++;
	*ret_used = match == ZM_MATCH_WHOLE ? used - before : nr;
	return match != ZM_MATCH_NO;
}

static bool may_be_row(const struct zm_report_block *block, const char *text)
{
	if (block->nr_pending > 0)
		return true;
	return isdigit((unsigned char)text[0]) || text[0] == ':' ||
	       (text[0] == '-' && isdigit((unsigned char)text[1]));
}

/* A line of rows: usually one, a part of one, or several. Outside of a table only whole rows count. */
size_t zm_report_block_rows(struct zm_report_block *block, size_t at)
{
	struct zm_mail_token tokens[ZM_MAIL_TOKENS];
	char *text = block->lines[at].text;
	bool is_first = true, is_taken = false;
	size_t nr, used = 0;

	if (!may_be_row(block, zm_report_block_text(block, at)))
		return 0;
	while ((nr = zm_report_table_tokens(text, tokens, ZM_MAIL_TOKENS)) > 0) {
		enum zm_mail_match match = take_row(block, at, tokens, nr, &used);

		if (match == ZM_MATCH_WHOLE) {
			block->nr_pending = 0;
		} else if (is_first && take_with_pending(block, at, tokens, nr, &used)) {
			match = ZM_MATCH_WHOLE;
		} else {
			if (match == ZM_MATCH_BEGINS && block->table)
				keep_pending(block, tokens, nr);
			return is_taken || (match == ZM_MATCH_BEGINS && block->table);
		}
		is_first = false;
		is_taken = true;
		if (used == 0 || used >= nr)
			return 1;
		text = tokens[used].text;
	}
	return is_taken;
}

/* --- the beginning of a table --- */

/* How many columns the dashes of this line make, 0: it is no such line. */
static unsigned int count_dashes(const char *text)
{
	unsigned int nr = 0;

	for (;;) {
		size_t length;

		text += strspn(text, ZM_REPORT_BLANKS);
		length = strcspn(text, ZM_REPORT_BLANKS);
		if (length == 0)
			return nr;
		if (!zm_report_table_is_dashes(text, length) || nr == ZM_MAIL_COLUMNS)
			return 0;
		text += length;
		nr++;
	}
}

/* The last words of one line, for the columns before `found` of the last; *ret_rest: what stands before
 * them. */
static unsigned int take_words(struct zm_report_block *block, const char *text,
			       struct zm_mail_commit *commits, unsigned int nr, unsigned int found,
			       size_t *ret_rest)
{
	size_t end = strlen(text), begin;

	while (found < nr) {
		while (end > 0 && strchr(ZM_REPORT_BLANKS, text[end - 1]))
			end--;
		begin = end;
		while (begin > 0 && !strchr(ZM_REPORT_BLANKS, text[begin - 1]))
			begin--;
		if (begin == end)
			break;
		commits[nr - 1 - found++].head =
			zm_report_fields_copy(pool_of(block), text + begin, end - begin);
		end = begin;
	}
	*ret_rest = end;
	return found;
}

/* The last words of the lines above `at`, one for each column. Where they stand in the list of commits
 * they are cut off from it; else they must be alone in their lines. False: there are not so many. */
static bool take_heads(struct zm_report_block *block, size_t at, bool is_list,
		       struct zm_mail_commit *commits, unsigned int nr)
{
	unsigned int found = 0;
	size_t rest = 0;

	for (size_t back = 1; found < nr && back <= at && back <= ZM_MAIL_COLUMNS; back++) {
		char *text = block->lines[at - back].text;

		if (is_empty(block, at - back))
			break;
		found = take_words(block, text, commits, nr, found, &rest);
		if (is_list)
			text[rest] = '\0';
		else if (strspn(text, ZM_REPORT_BLANKS) < rest)
			return false;
	}
	return found == nr;
}

/* Is one the beginning of the other? The head is a name of up to 40 letters cut to its column. */
static bool is_name_of(const char *name, const char *head)
{
	size_t a = strlen(name), b = strlen(head);

	return strncmp(name, head, a < b ? a : b) == 0 && (a < b ? a : b) >= 2;
}

static void copy_name(struct zm_mail_commit *commit, const struct zm_mail_commit *from)
{
	commit->name = from->name;
	commit->title = from->title;
	commit->note = from->note;
}

/* Each head's commit of the list, in whose order they stand; where lines of wrapped titles are
 * among them, only those that a head begins with count. */
static void take_names(const struct zm_mail_record *list, struct zm_mail_commit *commits,
		       unsigned int nr)
{
	unsigned int next = 0;

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int k = next;

		while (commits[i].head && k < list->nr_commits &&
		       !(list->commits[k].name &&
			 is_name_of(list->commits[k].name, commits[i].head)))
			k++;
		if (commits[i].head && k < list->nr_commits) {
			copy_name(&commits[i], &list->commits[k]);
			next = k + 1;
		} else if (list->nr_commits == nr) {
			copy_name(&commits[i], &list->commits[i]);
		}
	}
}

/* A second table below the same keys is a record of its own. */
static struct zm_draft_record *next_table(struct zm_report_block *block, size_t at)
{
	struct zm_draft_record *before = block->table, *table = before;

	if (before && !before->has_table)
		return before;
	table = zm_report_draft_record(block->draft, ZM_MAIL_TABLE, (unsigned int)at + 1,
				       block->lines[at].depth);
	if (table && before && before->has_keys) {
		table->has_keys = true;
		table->record.testcase = before->record.testcase;
		table->record.params = before->record.params;
		table->record.environment = before->record.environment;
		table->record.machine = before->record.machine;
	}
	return table;
}

size_t zm_report_block_dashes(struct zm_report_block *block, size_t at)
{
	unsigned int nr = count_dashes(block->lines[at].text), more;
	struct zm_mail_commit *commits;
	struct zm_draft_record *table;
	size_t taken = 1;

	if (nr == 0)
		return 0;
	while (taken <= ZM_REPORT_WRAPS && at + taken < block->nr_lines &&
	       (more = count_dashes(block->lines[at + taken].text)) > 0) {
		nr += more;
		taken++;
	}
	if (nr < 2 || nr > ZM_MAIL_COLUMNS)
		return taken;
	table = next_table(block, at);
	commits = zm_pool_take(pool_of(block), nr * sizeof(*commits));
	if (!table || !commits)
		return taken;
	if (block->nr_heads == nr)
		memcpy(commits, block->heads, nr * sizeof(*commits));
	else if (!take_heads(block, at, false, commits, nr))
		memset(commits, 0, nr * sizeof(*commits));
	block->nr_heads = 0;
	take_names(&table->record, commits, nr);
	table->record.commits = commits;
	table->record.nr_commits = nr;
	table->nr_columns = nr;
	table->has_table = true;
	block->table = table;
	block->nr_pending = 0;
	return taken;
}

/* --- keys and commits --- */

static bool is_keys(const char *text)
{
	return zm_mail_is_keys(text, strcspn(text, ZM_REPORT_BLANKS)) &&
	       text[strcspn(text, ZM_REPORT_BLANKS) +
		    strspn(text + strcspn(text, ZM_REPORT_BLANKS), ZM_REPORT_BLANKS)] == '\0';
}

static bool is_commit_list(const char *text)
{
	size_t length = strcspn(text, ZM_REPORT_BLANKS);

	return (length == 7 && begins(text, "commit:")) ||
	       (begins(text, "commit/") && text[length - 1] == ':');
}

/* What else the mail says of the same parameters: the facts and boxes so far, the nearest first. */
static size_t list_known(const struct zm_report_block *block,
			 const struct zm_mail_pairs **ret_known, size_t max)
{
	const struct zm_draft *draft = block->draft;
	size_t nr = 0;

	for (size_t i = draft->nr_statements; i > 0 && nr + 1 < max; i--) {
		if (draft->statements[i - 1]->params.nr > 0)
			ret_known[nr++] = &draft->statements[i - 1]->params;
	}
	ret_known[nr] = NULL;
	return nr;
}

/* How well the values read with what one statement says agree with all of that statement. */
static bool agrees(const struct zm_mail_pairs *known, const struct zm_mail_pairs *pairs)
{
	for (size_t i = 0; i < known->nr; i++) {
		const char *value = zm_mail_pairs_find(pairs, known->list[i].name);

		if (value && strcmp(value, known->list[i].value) != 0)
			return false;
	}
	return true;
}

static void read_keys(struct zm_report_block *block, const char *keys, const char *values,
		      struct zm_mail_pairs *ret_pairs)
{
	const struct zm_mail_pairs *known[17], *one[2] = { NULL, NULL };
	size_t nr = list_known(block, known, 17);

	for (size_t i = 0; i < nr; i++) {
		one[0] = known[i];
		zm_report_fields_keys(pool_of(block), keys, values, one, ret_pairs);
		if (agrees(known[i], ret_pairs))
			return;
	}
	zm_report_fields_keys(pool_of(block), keys, values, NULL, ret_pairs);
}

static void sort_pairs(struct zm_report_block *block, const struct zm_mail_pairs *pairs,
		       struct zm_mail_record *record)
{
	for (size_t i = 0; i < pairs->nr; i++) {
		const struct zm_mail_pair *pair = &pairs->list[i];

		if (strcmp(pair->name, "testcase") == 0)
			record->testcase = pair->value;
		else if (zm_report_fields_is_environment(pair->name))
			zm_report_fields_put(pool_of(block), &record->environment, pair->name,
					     pair->value);
		else
			zm_report_fields_put(pool_of(block), &record->params, pair->name,
					     pair->value);
	}
	record->machine.box = zm_mail_pairs_find(&record->environment, "tbox_group");
}

size_t zm_report_block_keys(struct zm_report_block *block, size_t at)
{
	const char *keys = zm_report_block_text(block, at);
	char values[2 * ZM_REPORT_SENTENCE];
	struct zm_mail_pairs pairs;
	struct zm_draft_record *table;
	size_t first = at + 1, nr = 0;

	if (!is_keys(keys))
		return 0;
	while (first < block->nr_lines && first - at < ZM_REPORT_WRAPS && is_empty(block, first))
		first++;
	while (nr < ZM_REPORT_WRAPS && !is_empty(block, first + nr) &&
	       !is_commit_list(zm_report_block_text(block, first + nr)) &&
	       count_dashes(zm_report_block_text(block, first + nr)) == 0)
		nr++;
	zm_report_block_join(block, first, nr, values, sizeof(values));
	table = zm_report_draft_record(block->draft, ZM_MAIL_TABLE, (unsigned int)at + 1,
				       block->lines[at].depth);
	block->table = table;
	block->nr_pending = 0;
	if (!table)
		return first - at + nr;
	table->has_keys = true;
	table->record.machine = block->machine;
	block->machine = (struct zm_mail_machine){ 0 };
	if (nr > 0) {
		read_keys(block, keys, values, &pairs);
		sort_pairs(block, &pairs, &table->record);
	}
	return first - at + nr;
}

/* `c828e65251 ("title` goes on in the next line. */
static bool is_open(const char *text)
{
	if (strstr(text, "(\""))
		return !strstr(text, "\")");
	return strchr(text, '(') && !strchr(text, ')');
}

/* Of the lines from `at` on, those of one paragraph that come before a line of dashes; when the dashes
 * follow at once, the last words are the heads and not read as a commit. */
static size_t count_list(const struct zm_report_block *block, size_t at, bool *ret_touches)
{
	size_t nr = 0;

	*ret_touches = false;
	while (nr < LOOK_AHEAD && at + nr < block->nr_lines && !is_empty(block, at + nr)) {
		if (count_dashes(zm_report_block_text(block, at + nr)) > 0) {
			*ret_touches = true;
			break;
		}
		if (is_keys(zm_report_block_text(block, at + nr)) ||
		    is_commit_list(zm_report_block_text(block, at + nr)))
			break;
		nr++;
	}
	return nr;
}

static void add_commit(struct zm_report_block *block, struct zm_mail_record *record,
		       const char *text)
{
	struct zm_mail_commit *list;

	if (record->nr_commits >= ZM_MAIL_COLUMNS)
		return;
	list = zm_report_fields_grow(pool_of(block), record->commits, record->nr_commits,
				     sizeof(*list));
	if (!list)
		return;
	record->commits = list;
	zm_report_fields_commit(pool_of(block), text, &record->commits[record->nr_commits++]);
}

/* Where blank lines were lost, the heads stand right behind the list: they are cut off from it, and
 * kept for the dashes that follow. */
static void spare_heads(struct zm_report_block *block, size_t at)
{
	unsigned int nr = count_dashes(zm_report_block_text(block, at)), more;
	size_t next = at + 1;

	while (next - at <= ZM_REPORT_WRAPS &&
	       (more = count_dashes(zm_report_block_text(block, next))) > 0) {
		nr += more;
		next++;
	}
	memset(block->heads, 0, sizeof(block->heads));
	if (nr >= 2 && nr <= ZM_MAIL_COLUMNS && take_heads(block, at, true, block->heads, nr))
		block->nr_heads = nr;
}

/* "lab1+ lab2+ lab3+": names alone, all on one line. */
static bool split_names(struct zm_report_block *block, const char *text)
{
	unsigned int nr = 0;

	for (const char *at = text; *at; at += strspn(at, ZM_REPORT_BLANKS), nr++)
		at += strcspn(at, ZM_REPORT_BLANKS);
	if (nr < 2 || nr != block->nr_heads || strchr(text, '('))
		return false;
	while (*text) {
		size_t length = strcspn(text, ZM_REPORT_BLANKS);
		const char *name = zm_report_fields_copy(pool_of(block), text, length);

		if (name)
			add_commit(block, &block->table->record, name);
		text += length + strspn(text + length, ZM_REPORT_BLANKS);
	}
	return true;
}

static void read_list(struct zm_report_block *block, size_t first, size_t nr)
{
	char text[ZM_REPORT_SENTENCE];

	for (size_t i = first; i < first + nr;) {
		size_t lines = 1;

		zm_report_block_join(block, i, lines, text, sizeof(text));
		while (is_open(text) && lines < ZM_REPORT_WRAPS && i + lines < first + nr)
			zm_report_block_join(block, i, ++lines, text, sizeof(text));
		if (text[0] && !split_names(block, text))
			add_commit(block, &block->table->record, text);
		i += lines;
	}
}

size_t zm_report_block_commits(struct zm_report_block *block, size_t at)
{
	size_t first = at + 1, nr;
	bool touches;

	if (!is_commit_list(zm_report_block_text(block, at)) || !block->table ||
	    block->table->has_table)
		return 0;
	while (first < block->nr_lines && first - at < ZM_REPORT_WRAPS && is_empty(block, first))
		first++;
	nr = count_list(block, first, &touches);
	block->nr_heads = 0;
	if (touches)
		spare_heads(block, first + nr);
	read_list(block, first, nr);
	return first - at + nr;
}
