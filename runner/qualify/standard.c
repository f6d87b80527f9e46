/* standard: YAML values to criteria, each value checked where it stands. */
#include "runner/qualify/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/yaml.h"
#include "runner/matrix_file.h"
#include "runner/readfile.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define NR_KINDS (ZM_CRITERION_TIME + 1)

const char *const zm_part_names[] = { "sockets", "nodes", "cpus", "memory", NULL };

/* What a limit is typed as. */
enum scale {
	SCALE_NONE, /* no limits */
	SCALE_NUMBER,
	SCALE_PERCENT,
	SCALE_SECONDS,
	SCALE_PART, /* a number, or bytes */
};

static const struct kind_row {
	const char *name;
	enum scale scale;
	bool is_of_workload, takes_all; /* what it may be about */
	const char *keys;               /* beside those that all have */
} kinds[NR_KINDS] = {
	[ZM_CRITERION_RUNS] = { "runs", SCALE_NONE, false, false, " " },
	[ZM_CRITERION_MACHINE] = { "machine", SCALE_PART, false, false, " least most " },
	[ZM_CRITERION_THROUGHPUT] = { "throughput", SCALE_NUMBER, true, false,
				      " options metric least most " },
	[ZM_CRITERION_SCALING] = { "scaling", SCALE_PERCENT, true, false,
				   " options from to least most " },
	[ZM_CRITERION_SPREAD] = { "spread", SCALE_PERCENT, true, false, " options metric most " },
	[ZM_CRITERION_SYMMETRY] = { "symmetry", SCALE_PERCENT, true, false,
				    " options metric of most " },
	[ZM_CRITERION_MEMORY] = { "memory_returned", SCALE_PERCENT, true, true, " options most " },
	[ZM_CRITERION_PAYLOAD] = { "payload", SCALE_NONE, true, true, " options " },
	[ZM_CRITERION_NO_NEW] = { "no_new", SCALE_NONE, false, false, " " },
	[ZM_CRITERION_TIME] = { "time", SCALE_SECONDS, false, true, " most " },
};

struct reader {
	const char *name;
	const struct zm_workload *const *workloads;
	struct zm_yaml_marks marks;
	struct zm_standard profile;
	struct zm_why *why;
	int error;
};

const char *zm_criterion_kind_name(enum zm_criterion_kind kind)
{
	return kinds[kind].name;
}

bool zm_criterion_is_share(enum zm_criterion_kind kind)
{
	return kinds[kind].scale == SCALE_PERCENT;
}

__attribute__((format(printf, 3, 4))) static void wrong(struct reader *reader, const json_t *value,
							const char *format, ...)
{
	unsigned int line = zm_yaml_line(&reader->marks, value);
	char text[ZM_WHY_SIZE];
	va_list list;

	if (reader->error)
		return;
	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	reader->error =
		zm_why_set(reader->why, -EINVAL, "%s:%u: %s", reader->name, line ? line : 1, text);
}

static void suggest(struct reader *reader, const json_t *value, const char *word, const char *what,
		    const char *const *names)
{
	const char *nearest = zm_option_nearest(word, names);

	wrong(reader, value, "%s: no such %s%s%s%s", word, what, nearest ? "; did you mean " : "",
	      nearest ? nearest : "", nearest ? "?" : "");
}

/* --- values --- */

static int index_of(const char *const *names, const char *word)
{
	for (int i = 0; word && names[i]; i++) {
		if (strcmp(names[i], word) == 0)
			return i;
	}
	return -1;
}

static int parse_percent(const char *text, double *ret_share)
{
	size_t length = strlen(text);
	char number[32];

	if (length < 2 || length >= sizeof(number) || text[length - 1] != '%')
		return -EINVAL;
	(void)snprintf(number, sizeof(number), "%.*s", (int)length - 1, text);
	if (zm_units_parse_double(number, ret_share) < 0)
		return -EINVAL;
	*ret_share /= 100;
	return 0;
}

static int parse_seconds(const char *text, double *ret_s)
{
	uint64_t ns;
	int r = zm_units_parse_duration(text, &ns);

	if (r == 0)
		*ret_s = (double)ns / (double)ZM_NS_PER_S;
	return r;
}

static int parse_bytes(const char *text, double *ret_bytes)
{
	uint64_t bytes;
	int r = zm_units_parse_size(text, &bytes);

	if (r == 0)
		*ret_bytes = (double)bytes;
	return r;
}

static void read_limit(struct reader *reader, const struct zm_criterion *criterion,
		       const json_t *value, const char *key, double *ret_limit)
{
	enum scale scale = kinds[criterion->kind].scale;
	const char *text = json_string_value(value);
	const char *wanted = "a number";
	double limit = NAN;
	int r = -EINVAL;

	if (scale == SCALE_PART)
		scale = criterion->part == ZM_PART_MEMORY ? SCALE_PART : SCALE_NUMBER;
	if (scale == SCALE_PERCENT) {
		wanted = "a percentage (5%)";
		r = text ? parse_percent(text, &limit) : r;
	} else if (scale == SCALE_SECONDS) {
		wanted = "a time (20m)";
		r = text ? parse_seconds(text, &limit) : r;
	} else if (scale == SCALE_PART) {
		wanted = "a size (64G)";
		r = text ? parse_bytes(text, &limit) : r;
	} else {
		r = text ? zm_units_parse_double(text, &limit) : r;
	}
	if (r < 0 || limit < 0)
		wrong(reader, value, "%s: %s is wanted", key, wanted);
	else
		*ret_limit = limit;
}

static const char *read_word(struct reader *reader, const json_t *value, const char *key)
{
	const char *text = json_string_value(value);

	if (!text || !text[0])
		wrong(reader, value, "%s: a word is wanted", key);
	return text;
}

static void read_options(struct reader *reader, struct zm_criterion *criterion, const json_t *value)
{
	const char *key;
	json_t *item;

	if (!json_is_object(value))
		wrong(reader, value, "options: {NAME: VALUE…} is wanted");
	json_object_foreach((json_t *)value, key, item)
	{
		if (!json_is_string(item))
			wrong(reader, item, "options: %s: one value is wanted", key);
	}
	criterion->options = value;
}

static void read_where(struct reader *reader, struct zm_criterion *criterion, const json_t *value)
{
	const char *key;
	json_t *item;

	if (!json_is_object(value))
		wrong(reader, value, "where: {sockets: 2} is wanted");
	json_object_foreach((json_t *)value, key, item)
	{
		int part = index_of(zm_part_names, key);
		const char *text = json_string_value(item);
		double *least = part < 0 ? NULL : &criterion->where[part];

		if (!least)
			suggest(reader, item, key, "part of a machine", zm_part_names);
		else if (!text || (part == ZM_PART_MEMORY ? parse_bytes(text, least)
							  : zm_units_parse_double(text, least)) < 0)
			wrong(reader, item, "where: %s: a number is wanted", key);
	}
}

/* --- a criterion --- */

static bool is_key_of(enum zm_criterion_kind kind, const char *key)
{
	char word[64];

	(void)snprintf(word, sizeof(word), " %.60s ", key);
	return strstr(kinds[kind].keys, word) || strcmp(key, "name") == 0 ||
	       strcmp(key, "where") == 0;
}

static void read_key(struct reader *reader, struct zm_criterion *criterion, const char *key,
		     const json_t *value)
{
	static const char *const names[] = { "options", "metric", "from", "to",    "of",
					     "least",   "most",   "name", "where", NULL };
	static const char *const groups[] = { "sockets", "nodes", NULL };

	if (!is_key_of(criterion->kind, key))
		suggest(reader, value, key, "key of this criterion", names);
	else if (strcmp(key, "options") == 0)
		read_options(reader, criterion, value);
	else if (strcmp(key, "where") == 0)
		read_where(reader, criterion, value);
	else if (strcmp(key, "least") == 0)
		read_limit(reader, criterion, value, key, &criterion->least);
	else if (strcmp(key, "most") == 0)
		read_limit(reader, criterion, value, key, &criterion->most);
	else if (strcmp(key, "of") == 0 && index_of(groups, json_string_value(value)) < 0)
		wrong(reader, value, "of: sockets, or nodes, is wanted");
	else if (strcmp(key, "of") == 0)
		criterion->part =
			(enum zm_machine_part)index_of(zm_part_names, json_string_value(value));
	else if (strcmp(key, "metric") == 0)
		criterion->metric = read_word(reader, value, key);
	else if (strcmp(key, "from") == 0)
		criterion->from = read_word(reader, value, key);
	else if (strcmp(key, "to") == 0)
		criterion->to = read_word(reader, value, key);
	else
		criterion->name = read_word(reader, value, key);
}

static const char *find_workload(struct reader *reader, const json_t *value, const char *word)
{
	const char *names[512];
	size_t n = 0;

	for (size_t i = 0; reader->workloads[i]; i++) {
		if (zm_workload_is_named(reader->workloads[i], word))
			return reader->workloads[i]->name;
		if (n < 511)
			names[n++] = reader->workloads[i]->name;
	}
	names[n] = NULL;
	suggest(reader, value, word, "workload", names);
	return word;
}

static void read_about(struct reader *reader, struct zm_criterion *criterion, const json_t *value)
{
	const struct kind_row *row = &kinds[criterion->kind];
	const char *word = read_word(reader, value, row->name);
	int index;

	criterion->about = word;
	if (!word || (row->takes_all && strcmp(word, "all") == 0))
		return;
	if (criterion->kind == ZM_CRITERION_MACHINE) {
		index = index_of(zm_part_names, word);
		if (index < 0)
			suggest(reader, value, word, "part of a machine", zm_part_names);
		else
			criterion->part = (enum zm_machine_part)index;
	} else if (criterion->kind == ZM_CRITERION_NO_NEW) {
		index = index_of(zm_health_names, word);
		if (index < 0)
			suggest(reader, value, word, "kind of fault", zm_health_names);
		else
			criterion->class = (enum zm_health_class)index;
	} else if (row->is_of_workload) {
		criterion->about = find_workload(reader, value, word);
	} else {
		wrong(reader, value, "%s: all is wanted", row->name);
	}
}

/* "throughput page_fault1 nr_task=100%". */
static const char *make_name(struct reader *reader, const struct zm_criterion *criterion)
{
	char text[512];
	size_t length;
	const char *key;
	json_t *value;

	(void)snprintf(text, sizeof(text), "%s %s", kinds[criterion->kind].name, criterion->about);
	if (criterion->kind == ZM_CRITERION_SYMMETRY) {
		length = strlen(text);
		(void)snprintf(text + length, sizeof(text) - length, " of=%s",
			       zm_part_names[criterion->part]);
	}
	if (criterion->metric) {
		length = strlen(text);
		(void)snprintf(text + length, sizeof(text) - length, " %s", criterion->metric);
	}
	if (criterion->from && criterion->to) {
		length = strlen(text);
		(void)snprintf(text + length, sizeof(text) - length, " nr_task=%s…%s",
			       criterion->from, criterion->to);
	}
	json_object_foreach((json_t *)criterion->options, key, value)
	{
		length = strlen(text);
		(void)snprintf(text + length, sizeof(text) - length, " %s=%s", key,
			       json_string_value(value));
	}
	return zm_pool_text(&reader->profile.pool, text);
}

static void check_whole(struct reader *reader, const struct zm_criterion *criterion,
			const json_t *item)
{
	bool has_least = !isnan(criterion->least), has_most = !isnan(criterion->most);

	if (criterion->kind == ZM_CRITERION_SCALING && !(criterion->from && criterion->to))
		wrong(reader, item, "scaling: from: and to: are wanted, values of nr_task");
	if (criterion->kind == ZM_CRITERION_MACHINE && !has_least && !has_most)
		wrong(reader, item, "machine: least:, most: or both are wanted");
	if ((criterion->kind == ZM_CRITERION_SPREAD || criterion->kind == ZM_CRITERION_SYMMETRY ||
	     criterion->kind == ZM_CRITERION_MEMORY || criterion->kind == ZM_CRITERION_TIME) &&
	    !has_most)
		wrong(reader, item, "%s: most: is wanted", kinds[criterion->kind].name);
	if (has_least && has_most && criterion->least > criterion->most)
		wrong(reader, item, "least: is above most:");
	for (size_t i = 0; i < reader->profile.nr_criteria; i++) {
		if (&reader->profile.criteria[i] != criterion &&
		    strcmp(reader->profile.criteria[i].name, criterion->name) == 0)
			wrong(reader, item,
			      "'%s' is there already; give it a name:", criterion->name);
	}
}

/* The kind is the one key that is a kind's name. */
static int find_kind(struct reader *reader, const json_t *item)
{
	const char *names[NR_KINDS + 1] = { NULL };
	const char *key = NULL, *first = NULL;
	json_t *value;
	int kind = -1;

	for (int i = 0; i < NR_KINDS - 1; i++)
		names[i] = kinds[i + 1].name; /* every profile has `runs` */
	json_object_foreach((json_t *)item, key, value)
	{
		int index = index_of(names, key);

		first = first ? first : key;
		if (index >= 0 && kind >= 0)
			wrong(reader, value, "%s: a criterion is of one kind", key);
		if (index >= 0 && kind < 0)
			kind = index + 1;
	}
	if (!json_is_object(item) || !first)
		wrong(reader, item, "a criterion is `KIND: WHAT`, and its limits");
	else if (kind < 0)
		suggest(reader, item, first, "kind of criterion", names);
	return kind;
}

static void read_criterion(struct reader *reader, const json_t *item)
{
	struct zm_criterion *criterion = &reader->profile.criteria[reader->profile.nr_criteria];
	int kind = find_kind(reader, item);
	const char *key;
	json_t *value;

	if (reader->error)
		return;
	*criterion = (struct zm_criterion){ .kind = (enum zm_criterion_kind)kind,
					    .line = zm_yaml_line(&reader->marks, item),
					    .least = NAN,
					    .most = NAN };
	read_about(reader, criterion, json_object_get(item, kinds[kind].name));
	json_object_foreach((json_t *)item, key, value)
	{
		if (strcmp(key, kinds[kind].name) != 0)
			read_key(reader, criterion, key, value);
	}
	if (!reader->error && !criterion->name)
		criterion->name = make_name(reader, criterion);
	if (reader->error || !criterion->name)
		return;
	reader->profile.nr_criteria++;
	check_whole(reader, criterion, item);
}

/* --- the file --- */

static void read_criteria(struct reader *reader, const json_t *object)
{
	const json_t *list = json_object_get(object, "criteria");
	size_t nr = json_array_size(list), i;
	json_t *item;

	if (nr == 0 || nr > ZM_STANDARD_CRITERIA) {
		wrong(reader, list ? list : object, "criteria: a list of 1 to %d is wanted",
		      ZM_STANDARD_CRITERIA);
		return;
	}
	reader->profile.criteria =
		zm_pool_take(&reader->profile.pool, (nr + 1) * sizeof(*reader->profile.criteria));
	if (!reader->profile.criteria)
		return;
	reader->profile.criteria[reader->profile.nr_criteria++] = (struct zm_criterion){
		.kind = ZM_CRITERION_RUNS,
		.line = zm_yaml_line(&reader->marks, json_object_get(object, "runs")),
		.name = "runs all",
		.about = "all",
		.least = NAN,
		.most = NAN,
	};
	json_array_foreach((json_t *)list, i, item)
	{
		if (!reader->error)
			read_criterion(reader, item);
	}
}

static void read_documents(struct reader *reader)
{
	const json_t *object = json_array_get(reader->profile.documents, 0), *summary;

	if (json_array_size(reader->profile.documents) != 1 || !json_is_object(object)) {
		wrong(reader, NULL, "a mapping is wanted: `runs:` and `criteria:`");
		return;
	}
	if (json_array_size(json_object_get(object, "runs")) == 0)
		wrong(reader, object, "runs: a list of runs is wanted");
	summary = json_object_get(object, "summary");
	if (summary)
		reader->profile.summary =
			zm_pool_text(&reader->profile.pool, read_word(reader, summary, "summary"));
	read_criteria(reader, object);
}

static int unreadable(const char *name, int r, struct zm_why *why)
{
	struct zm_why inner = *why;
	unsigned int line = 0;
	int length = 0;

	if (sscanf(inner.text, "line %u: %n", &line, &length) == 1 && length > 0)
		return zm_why_set(why, r, "%s:%u: %s", name, line, inner.text + length);
	zm_why_prefix(why, "%s:1", name);
	return r;
}

int zm_standard_parse(const char *name, const char *text, size_t length,
		      const struct zm_workload *const *workloads, struct zm_standard *ret_profile,
		      struct zm_why *why)
{
	struct reader reader = { .name = name, .workloads = workloads, .why = why };
	struct zm_standard *profile = &reader.profile;
	char *copy;
	int r = zm_yaml_read_marked(text, length, &profile->documents, &reader.marks, why);

	if (r < 0)
		return unreadable(name, r, why);
	read_documents(&reader);
	r = reader.error;
	copy = zm_pool_take(&profile->pool, length + 1);
	if (copy)
		memcpy(copy, text, length);
	profile->text = copy;
	profile->length = length;
	profile->name = zm_pool_text(&profile->pool, name);
	if (r == 0 && profile->pool.error)
		r = zm_why_errno(why, profile->pool.error, "%s", name);
	zm_yaml_marks_release(&reader.marks);
	if (r < 0)
		zm_standard_release(profile);
	else
		*ret_profile = *profile;
	return r;
}

void zm_standard_release(struct zm_standard *profile)
{
	json_decref(profile->documents);
	zm_pool_release(&profile->pool);
	*profile = (struct zm_standard){ 0 };
}

static int open_file(const char *path, const struct zm_workload *const *workloads,
		     struct zm_standard *ret_profile, struct zm_why *why)
{
	zm_autofree char *text = malloc(ZM_STANDARD_BYTES + 1);
	zm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t length = 0;
	int r;

	if (!text || fd < 0)
		return zm_why_errno(why, text ? -errno : -ENOMEM, "%s", path);
	r = zm_readfile(fd, text, ZM_STANDARD_BYTES + 1, &length);
	if (r < 0)
		return zm_why_errno(why, r, "%s", path);
	if (length > ZM_STANDARD_BYTES)
		return zm_why_set(why, -E2BIG, "%s: larger than %zu KiB; is it a profile?", path,
				  ZM_STANDARD_BYTES >> 10);
	return zm_standard_parse(path, text, length, workloads, ret_profile, why);
}

int zm_standard_open(const char *word, const struct zm_workload *const *workloads,
		     struct zm_standard *ret_profile, struct zm_why *why)
{
	const char *names[64], *nearest;
	size_t n = 0;

	for (size_t i = 0; zm_standard_files[i].name && n < 63; i++) {
		if (strcmp(zm_standard_files[i].name, word) == 0)
			return zm_standard_parse(word, (const char *)zm_standard_files[i].text,
						 zm_standard_files[i].length, workloads,
						 ret_profile, why);
		names[n++] = zm_standard_files[i].name;
	}
	names[n] = NULL;
	if (zm_matrix_file_is_named(word))
		return open_file(word, workloads, ret_profile, why);
	nearest = zm_option_nearest(word, names);
	return zm_why_set(why, -ENOENT, "%s: no such profile; %s%s%s", word,
			  nearest ? "did you mean " : "`zonemark qualify --help` has their names",
			  nearest ? nearest : "", nearest ? "?" : "");
}
