/* report_fields: pairs, claims, machines, commits, and keys set against values. */
#include "results/report_fields.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_table.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define WORDS    64 /* of a sentence that are looked at */
#define SEGMENTS 96 /* of a line of values */

/* --- the pool --- */

const char *zm_report_fields_copy(struct zm_pool *pool, const char *text, size_t length)
{
	char *copy;

	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	while (length > 0 && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	copy = length > 0 ? zm_pool_take(pool, length + 1) : NULL;
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

/* A list has room for the next power of two. */
void *zm_report_fields_grow(struct zm_pool *pool, void *list, size_t nr, size_t size)
{
	void *grown;

	if (nr > 0 && (nr & (nr - 1)) != 0)
		return list;
	grown = zm_pool_take(pool, (nr ? 2 * nr : 1) * size);
	if (grown && nr > 0)
		memcpy(grown, list, nr * size);
	return grown;
}

const char *zm_mail_pairs_find(const struct zm_mail_pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->nr; i++) {
		if (strcmp(pairs->list[i].name, name) == 0)
			return pairs->list[i].value;
	}
	return NULL;
}

void zm_report_fields_put(struct zm_pool *pool, struct zm_mail_pairs *pairs, const char *name,
			  const char *value)
{
	struct zm_mail_pair *list;

	if (!name || !value || pairs->nr >= ZM_REPORT_MAIL_PAIRS || zm_mail_pairs_find(pairs, name))
		return;
	list = zm_report_fields_grow(pool, pairs->list, pairs->nr, sizeof(*list));
	if (!list)
		return;
	pairs->list = list;
	pairs->list[pairs->nr++] = (struct zm_mail_pair){ name, value };
}

/* --- pairs --- */

static size_t key_length(const char *text)
{
	size_t n = 0;

	if (!islower((unsigned char)text[0]))
		return 0;
	while (isalnum((unsigned char)text[n]) || (text[n] && strchr("_.-", text[n])))
		n++;
	return n < 64 ? n : 0;
}

/* Without what a person wrote around or behind it: "***600s***", "50%   <--- here". */
static const char *copy_value(struct zm_pool *pool, const char *text)
{
	const char *note = strstr(text, " <-");
	size_t length = note ? (size_t)(note - text) : strlen(text);

	while (length > 0 && (isspace((unsigned char)text[length - 1]) || text[length - 1] == '*'))
		length--;
	if (length > 3 && strncmp(text, "***", 3) == 0) {
		text += 3;
		length -= 3;
	}
	return zm_report_fields_copy(pool, text, length);
}

bool zm_report_fields_pair(struct zm_pool *pool, const char *line, struct zm_mail_pair *ret_pair)
{
	const char *name = line + strspn(line, " \t");
	size_t length = key_length(name);
	const char *at = name + length;

	if (length == 0)
		return false;
	if (*at == ':' && at[1] != ' ' && at[1] != '\t')
		return false;
	at += strspn(at, " ");
	if (*at != ':' && *at != '=')
		return false;
	at++;
	at += strspn(at, " \t");
	ret_pair->name = zm_report_fields_copy(pool, name, length);
	ret_pair->value = copy_value(pool, at);
	return ret_pair->name && ret_pair->value;
}

bool zm_report_fields_is_environment(const char *name)
{
	static const char *const names[] = { "compiler",     "kconfig", "rootfs",
					     "tbox_group",   "testbox", "ucode",
					     "microcode",    "monitor", "monitors",
					     "debug-setup",  "cluster", "arch",
					     "need_kconfig", "commit",  "branch" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* --- claims --- */

struct word {
	const char *text;
	size_t length;
};

static size_t split(const char *text, struct word *ret_words, size_t max)
{
	size_t nr = 0;

	while (nr < max) {
		text += strspn(text, " \t\r\n");
		if (!*text)
			break;
		ret_words[nr] = (struct word){ text, strcspn(text, " \t\r\n") };
		text += ret_words[nr++].length;
	}
	return nr;
}

static bool is(struct word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static bool is_percent(struct word word, double *ret_number)
{
	size_t n;

	return zm_report_table_number(word.text, word.length, ret_number, &n) &&
	       n + 1 == word.length && word.text[n] == '%' && isfinite(*ret_number);
}

/* "regression", also with a full stop or a bracket behind it. */
static bool is_verdict(struct word word, bool *ret_regression)
{
	while (word.length > 0 && ispunct((unsigned char)word.text[word.length - 1]))
		word.length--;
	*ret_regression = is(word, "regression");
	return *ret_regression || is(word, "improvement");
}

static const char *copy_metric(struct zm_pool *pool, struct word word)
{
	while (word.length > 0 && strchr(",;:\"'", word.text[word.length - 1]))
		word.length--;
	while (word.length > 0 && strchr("\"'|", word.text[0])) {
		word.text++;
		word.length--;
	}
	if (!memchr(word.text, '.', word.length))
		return NULL;
	return zm_report_fields_copy(pool, word.text, word.length);
}

bool zm_report_fields_claim(struct zm_pool *pool, const char *text, struct zm_mail_claim *ret_claim)
{
	struct word words[WORDS];
	size_t nr = split(text, words, WORDS);

	for (size_t i = 0; i + 1 < nr; i++) {
		struct zm_mail_claim claim = { .change = NAN };

		if (!is_percent(words[i], &claim.percent) ||
		    !is_verdict(words[i + 1], &claim.is_regression))
			continue;
		if (i + 3 < nr && is(words[i + 2], "of"))
			claim.metric = copy_metric(pool, words[i + 3]);
		else if (i > 0)
			claim.metric = copy_metric(pool, words[i - 1]);
		if (!claim.metric)
			continue;
		if (!isdigit((unsigned char)words[i].text[0]))
			claim.change = claim.percent;
		*ret_claim = claim;
		return true;
	}
	return false;
}

/* --- machines --- */

static unsigned int count_before(const struct word *words, size_t nr, const char *what)
{
	for (size_t i = 1; i < nr; i++) {
		double number;
		size_t n;

		if (is(words[i], what) &&
		    zm_report_table_number(words[i - 1].text, words[i - 1].length, &number, &n) &&
		    n == words[i - 1].length && number >= 1 && number <= 1e6)
			return (unsigned int)number;
	}
	return 0;
}

/* The word behind one of a command line. */
static const char *word_behind(struct zm_pool *pool, const struct word *words, size_t nr,
			       const char *option)
{
	for (size_t i = 0; i + 1 < nr; i++) {
		if (is(words[i], option))
			return zm_report_fields_copy(pool, words[i + 1].text, words[i + 1].length);
	}
	return NULL;
}

static uint64_t size_of(const char *text)
{
	uint64_t bytes;

	return text && zm_units_parse_size(text, &bytes) == 0 ? bytes : 0;
}

/* "(Ice Lake)", but not "(R)", "(TM)". Returns where it begins, and its length. */
static const char *find_codename(const char *text, size_t *ret_length)
{
	const char *close = strstr(text, ") with ");
	const char *open = close;

	while (open && open > text && *open != '(')
		open--;
	if (!open || *open != '(' || close - open < 5)
		return NULL;
	*ret_length = (size_t)(close - open) + 1;
	return open;
}

static void read_model(struct zm_pool *pool, const char *text, struct zm_mail_machine *machine)
{
	const char *begin = strstr(text, " sockets ");
	const char *end = strstr(text, " with ");
	size_t length = 0;
	const char *codename = find_codename(text, &length);

	begin = begin ? begin + strlen(" sockets ") : strstr(text, " threads ");
	if (begin && strncmp(begin, " threads ", 9) == 0)
		begin += 9;
	if (codename)
		machine->codename = zm_report_fields_copy(pool, codename + 1, length - 2);
	if (codename && begin && codename >= begin)
		end = codename;
	if (begin && end && end > begin)
		machine->model = zm_report_fields_copy(pool, begin, (size_t)(end - begin));
}

static void read_virtual(struct zm_pool *pool, const struct word *words, size_t nr,
			 struct zm_mail_machine *machine)
{
	const char *cpus = word_behind(pool, words, nr, "-smp");
	uint64_t number;

	if (cpus && zm_units_parse_u64(cpus, &number) == 0 && number <= 1000000)
		machine->nr_cpus = (unsigned int)number;
	machine->memory_bytes = size_of(word_behind(pool, words, nr, "-m"));
	machine->model = zm_report_fields_copy(pool, words[0].text, words[0].length);
}

bool zm_report_fields_machine(struct zm_pool *pool, const char *text,
			      struct zm_mail_machine *ret_machine)
{
	struct zm_mail_machine machine = { 0 };
	struct word words[WORDS];
	size_t nr = split(text, words, WORDS);

	if (nr < 2)
		return false;
	if (words[0].length > 4 && memcmp(words[0].text, "qemu", 4) == 0) {
		read_virtual(pool, words, nr, &machine);
	} else {
		machine.nr_cpus = count_before(words, nr, "threads");
		machine.nr_sockets = count_before(words, nr, "sockets");
		machine.memory_bytes = size_of(word_behind(pool, words, nr, "with"));
		read_model(pool, text, &machine);
		if (machine.nr_cpus == 0 && machine.memory_bytes == 0)
			return false;
	}
	machine.text = zm_report_fields_copy(pool, text, strlen(text));
	*ret_machine = machine;
	return true;
}

/* --- commits --- */

/* The last `")` of a text, up to its end; NULL: none. */
static const char *find_close(const char *text, size_t length)
{
	for (size_t i = length; i >= 2; i--) {
		if (text[i - 2] == '"' && text[i - 1] == ')')
			return text + i;
	}
	return NULL;
}

/* Without the brackets and quotes around it, and what stands behind them. */
static const char *copy_title(struct zm_pool *pool, const char *text, size_t length)
{
	const char *close = strncmp(text, "(\"", 2) == 0 ? find_close(text, length) : NULL;

	if (close)
		length = (size_t)(close - text);
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	if (length >= 2 && text[0] == '(' && text[length - 1] == ')') {
		text++;
		length -= 2;
	}
	if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
		text++;
		length -= 2;
	}
	return zm_report_fields_copy(pool, text, length);
}

void zm_report_fields_commit(struct zm_pool *pool, const char *text,
			     struct zm_mail_commit *ret_commit)
{
	const char *name = text + strspn(text, " \t"), *note, *title;
	size_t length = strcspn(name, " \t");
	const char *slash = memchr(name, '/', length);

	note = strstr(name, " <-");
	title = name + length + strspn(name + length, " \t");
	ret_commit->title =
		title < (note ? note : name + strlen(name))
			? copy_title(pool, title, note ? (size_t)(note - title) : strlen(title))
			: NULL;
	ret_commit->note = note ? zm_report_fields_copy(pool, note, strlen(note)) : NULL;
	if (slash && strncmp(slash, "/0x", 3) == 0)
		length = (size_t)(slash - name);
	ret_commit->name = zm_report_fields_copy(pool, name, length);
}

/* --- keys against values --- */

struct aligner {
	struct zm_pool *pool;
	struct word keys[SEGMENTS], values[SEGMENTS];
	struct word
		known[SEGMENTS]; /* [key]: its value as elsewhere in the mail; NULL: not there */
	size_t nr_keys, nr_values;
	/* [key][value]: the least cost of giving all values before `value` to the keys before `key`,
	 * and how many values the last of those keys then has */
	unsigned int cost[SEGMENTS + 1][SEGMENTS + 1];
	unsigned char took[SEGMENTS + 1][SEGMENTS + 1];
};

#define IMPOSSIBLE   1000000u
#define TAKE_AT_MOST 6 /* segments of one value */

static size_t split_slashes(const char *text, struct word *ret_words, size_t max)
{
	size_t nr = 0;

	text += strspn(text, " \t");
	while (nr < max) {
		ret_words[nr].text = text;
		ret_words[nr++].length = strcspn(text, "/");
		text += ret_words[nr - 1].length;
		if (*text != '/')
			break;
		text++;
	}
	return nr;
}

/* What the mail says of a key elsewhere. */
static struct word find_known(struct word key, const struct zm_mail_pairs *const *known)
{
	for (size_t i = 0; known && known[i]; i++) {
		for (size_t k = 0; k < known[i]->nr; k++) {
			const struct zm_mail_pair *pair = &known[i]->list[k];

			if (is(key, pair->name))
				return (struct word){ pair->value, strlen(pair->value) };
		}
	}
	return (struct word){ NULL, 0 };
}

/* Does the value look like one of that key? */
static bool fits(struct word key, struct word value)
{
	bool begins_with_digit = value.length > 0 && isdigit((unsigned char)value.text[0]);

	if (is(key, "compiler"))
		return (value.length > 3 && memcmp(value.text, "gcc", 3) == 0) ||
		       (value.length > 5 && memcmp(value.text, "clang", 5) == 0);
	if (is(key, "runtime") || is(key, "testtime") || is(key, "nr_task") ||
	    is(key, "nr_threads") || is(key, "ucode") || is(key, "size"))
		return begins_with_digit;
	if (is(key, "tbox_group") || is(key, "rootfs") || is(key, "kconfig"))
		return memchr(value.text, '-', value.length) || value.length > 2;
	return true;
}

static struct word join(const struct aligner *aligner, size_t first, size_t nr)
{
	const struct word *last = &aligner->values[first + nr - 1];

	return (struct word){ aligner->values[first].text,
			      (size_t)(last->text + last->length - aligner->values[first].text) };
}

static unsigned int cost_of(const struct aligner *aligner, size_t key, size_t first, size_t nr)
{
	struct word value = join(aligner, first, nr);
	struct word known = aligner->known[key];

	if (known.text && known.length == value.length &&
	    memcmp(known.text, value.text, value.length) == 0)
		return 0;
	return (known.text ? 8u : 0u) + (fits(aligner->keys[key], value) ? 0u : 4u) +
	       2 * (unsigned int)(nr - 1) + 1;
}

static void fill_key(struct aligner *aligner, size_t key)
{
	for (size_t end = 0; end <= aligner->nr_values; end++) {
		unsigned int *best = &aligner->cost[key + 1][end];

		*best = IMPOSSIBLE;
		for (size_t nr = 1; nr <= end && nr <= TAKE_AT_MOST; nr++) {
			unsigned int before = aligner->cost[key][end - nr], cost;

			if (before >= IMPOSSIBLE)
				continue;
			cost = before + cost_of(aligner, key, end - nr, nr);
			if (cost < *best) {
				*best = cost;
				aligner->took[key + 1][end] = (unsigned char)nr;
			}
		}
	}
}

static void put_aligned(struct aligner *aligner, size_t key, struct word value,
			struct zm_mail_pairs *pairs)
{
	struct word name = aligner->keys[key];

	zm_report_fields_put(aligner->pool, pairs,
			     zm_report_fields_copy(aligner->pool, name.text, name.length),
			     zm_report_fields_copy(aligner->pool, value.text, value.length));
}

static void align(struct aligner *aligner, struct zm_mail_pairs *pairs)
{
	size_t firsts[SEGMENTS], end = aligner->nr_values;

	for (size_t i = 1; i <= aligner->nr_values; i++)
		aligner->cost[0][i] = IMPOSSIBLE;
	for (size_t key = 0; key < aligner->nr_keys; key++)
		fill_key(aligner, key);
	if (aligner->cost[aligner->nr_keys][end] >= IMPOSSIBLE)
		return;
	for (size_t key = aligner->nr_keys; key > 0; key--) {
		end -= aligner->took[key][end];
		firsts[key - 1] = end;
	}
	for (size_t key = 0; key < aligner->nr_keys; key++)
		put_aligned(
			aligner, key,
			join(aligner, firsts[key],
			     (key + 1 < aligner->nr_keys ? firsts[key + 1] : aligner->nr_values) -
				     firsts[key]),
			pairs);
}

void zm_report_fields_keys(struct zm_pool *pool, const char *keys, const char *values,
			   const struct zm_mail_pairs *const *known,
			   struct zm_mail_pairs *ret_pairs)
{
	zm_autofree struct aligner *aligner = calloc(1, sizeof(*aligner));
	struct word *last;

	*ret_pairs = (struct zm_mail_pairs){ 0 };
	if (!aligner) {
		pool->error = -ENOMEM;
		return;
	}
	aligner->pool = pool;
	aligner->nr_keys = split_slashes(keys, aligner->keys, SEGMENTS);
	aligner->nr_values = split_slashes(values, aligner->values, SEGMENTS);
	last = &aligner->keys[aligner->nr_keys - 1];
	if (last->length > 0 && last->text[last->length - 1] == ':')
		last->length--;
	for (size_t i = 0; i < aligner->nr_keys; i++)
		aligner->known[i] = find_known(aligner->keys[i], known);
	if (aligner->nr_keys <= aligner->nr_values) {
		align(aligner, ret_pairs);
		return;
	}
	for (size_t i = 0; i < aligner->nr_values; i++) /* cut: what is there, from the left */
		put_aligned(aligner, i, aligner->values[i], ret_pairs);
}
