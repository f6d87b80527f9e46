/*
 * matrix_file: YAML values to lines.
 *
 *     own     runs: each a name with its options; values are checked where cells are made
 *     job     every combination of a job's lists is a record, as if a mail had it, and goes the way
 *             of reproduce
 */
#include "runner/matrix_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_fields.h"
#include "results/report_job.h"
#include "results/yaml.h"
#include "runner/readfile.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define MAX_AXES 64

struct reader {
	const char *name;
	const struct zm_cell_context *context;
	const struct zm_workload *const *workloads;
	struct zm_yaml_marks marks;
	struct zm_matrix_set set;
	json_t *options; /* of every run */
	const char *monitor;
	struct zm_why *why;
	int error;
};

/* The sentence of the value's line; the first one counts. */
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

static const char *where(struct reader *reader, const json_t *value)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%s:%u", reader->name,
		       zm_yaml_line(&reader->marks, value));
	return zm_pool_text(&reader->set.pool, text);
}

/* --- words --- */

/* "a,b" as one value: commas part values. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == ',')
			(void)fputc('\\', out);
		(void)fputc(*text, out);
	}
}

static void put_list(struct reader *reader, FILE *out, const char *name, const json_t *value)
{
	json_t *item;
	size_t i;

	if (json_array_size(value) == 0)
		wrong(reader, value, "%s: a list without values", name);
	json_array_foreach(value, i, item)
	{
		(void)fputs(i ? "," : "", out);
		if (json_is_string(item))
			put_escaped(out, json_string_value(item));
		else
			wrong(reader, value, "%s: a list of words or numbers is wanted", name);
	}
}

/* "nr_task=1,50%". A single word is as it would be typed: ranges and lists in it count. */
static void add_option(struct reader *reader, struct zm_matrix_line *line, const char *name,
		       const json_t *value)
{
	zm_autofree char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		reader->set.pool.error = -ENOMEM;
		return;
	}
	(void)fprintf(out, "%s=", name);
	if (json_is_string(value))
		(void)fputs(json_string_value(value), out);
	else if (json_is_array(value))
		put_list(reader, out, name, value);
	else
		wrong(reader, value, "%s: a value, or a list of values, is wanted", name);
	if (fclose(out) != 0)
		reader->set.pool.error = -ENOMEM;
	else if (!reader->error)
		zm_matrix_line_add(&reader->set, line, text);
}

/* --- our own form --- */

static bool is_name(const char *name)
{
	return name[0] && !strpbrk(name, "=, \t\n");
}

/* The name may be one of a list; options that the run itself has come last, so they count. */
static void add_run(struct reader *reader, const json_t *place, const char *name,
		    const json_t *options)
{
	struct zm_matrix_line *line;
	const char *key;
	json_t *value;

	if (!is_name(name))
		wrong(reader, place, "'%s' is no name of a workload or a matrix", name);
	line = reader->error ? NULL : zm_matrix_set_add(&reader->set);
	if (!line)
		return;
	line->where = where(reader, place);
	line->monitor = reader->monitor;
	zm_matrix_line_add(&reader->set, line, name);
	json_object_foreach(reader->options, key, value)
	{
		if (!json_object_get(options, key))
			add_option(reader, line, key, value);
	}
	json_object_foreach((json_t *)options, key, value)
	{
		if (strcmp(key, "monitor") == 0 && json_is_string(value))
			line->monitor = zm_pool_text(&reader->set.pool, json_string_value(value));
		else if (strcmp(key, "workload") != 0)
			add_option(reader, line, key, value);
	}
}

/* "name", {name: {options}}, or {workload: name, option: value…}. */
static void read_run(struct reader *reader, const json_t *item, const json_t *list)
{
	const char *key;
	json_t *value, *workload = json_object_get(item, "workload");

	if (json_is_string(item)) {
		add_run(reader, item, json_string_value(item), NULL);
	} else if (json_is_string(workload)) {
		add_run(reader, item, json_string_value(workload), item);
	} else if (json_object_size(item) == 1) {
		json_object_foreach((json_t *)item, key, value)
		{
			if (json_is_object(value) || json_is_null(value))
				add_run(reader, item, key, json_is_object(value) ? value : NULL);
			else
				wrong(reader, value, "%s: options are wanted, NAME: VALUE each",
				      key);
		}
	} else {
		wrong(reader, json_is_null(item) ? list : item,
		      "a run is a name (\"null\" in quotes), or `NAME: {option: value}`");
	}
}

static void read_number(struct reader *reader, const json_t *value, const char *key, double most,
			double *ret_number)
{
	const char *text = json_string_value(value);
	double number;

	if (!text || zm_units_parse_double(text, &number) < 0 || !(number > 0) || number > most)
		wrong(reader, value, "%s: a number up to %g is wanted", key, most);
	else
		*ret_number = number;
}

static void read_head(struct reader *reader, const char *key, json_t *value)
{
	static const char *const names[] = { "repeat", "hours",   "budget",   "monitor", "options",
					     "runs",   "summary", "criteria", NULL };
	const char *nearest = zm_option_nearest(key, names);
	double number = 0;

	if (strcmp(key, "repeat") == 0) {
		read_number(reader, value, key, 100000, &number);
		if (number != floor(number))
			wrong(reader, value, "repeat: a whole number is wanted");
		reader->set.nr_repeats = (unsigned int)number;
	} else if (strcmp(key, "hours") == 0) {
		read_number(reader, value, key, 10000, &number);
		reader->set.budget_ns = (uint64_t)(number * 3600e9);
	} else if (strcmp(key, "budget") == 0) {
		if (!json_is_string(value) ||
		    zm_units_parse_duration(json_string_value(value), &reader->set.budget_ns) < 0)
			wrong(reader, value, "budget: a time (90m, 2h) is wanted");
	} else if (strcmp(key, "monitor") == 0 && json_is_string(value)) {
		reader->monitor = zm_pool_text(&reader->set.pool, json_string_value(value));
	} else if (strcmp(key, "options") == 0 && json_is_object(value)) {
		reader->options = value;
	} else if (strcmp(key, "runs") != 0 && strcmp(key, "summary") != 0 &&
		   strcmp(key, "criteria") != 0) {
		wrong(reader, value, "%s: there is no such key%s%s, or not with such a value", key,
		      nearest ? "; did you mean " : "", nearest ? nearest : "");
	}
}

static void read_own(struct reader *reader, json_t *object)
{
	json_t *runs = json_object_get(object, "runs"), *value;
	const char *key;
	size_t i;

	json_object_foreach(object, key, value)
	{
		read_head(reader, key, value);
	}
	if (json_array_size(runs) == 0)
		wrong(reader, json_is_null(runs) ? object : runs, "runs: a list of runs is wanted");
	json_array_foreach(runs, i, value)
	{
		if (!reader->error)
			read_run(reader, value, runs);
	}
}

/* --- job files --- */

struct axes {
	const char *names[MAX_AXES];
	const json_t *values[MAX_AXES]; /* a word, or a list of words */
	size_t nr;
};

static void put_axis(struct reader *reader, struct axes *axes, const char *name,
		     const json_t *value)
{
	size_t i = 0;

	while (i < axes->nr && strcmp(axes->names[i], name) != 0)
		i++;
	if (i == MAX_AXES) {
		wrong(reader, value, "more than %d parameters", MAX_AXES);
		return;
	}
	axes->names[i] = name;
	axes->values[i] = value;
	axes->nr += i == axes->nr;
}

static bool is_values(const json_t *value)
{
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
	{
		if (!json_is_string(item))
			return false;
	}
	return json_is_string(value) || json_array_size(value) > 0;
}

static void take_own_keys(struct reader *reader, struct axes *axes, const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		if (is_values(value))
			put_axis(reader, axes, key, value);
	}
}

/* What stands beside the suite's own key: its parameters only. */
static void take_keys(struct reader *reader, struct axes *axes, const json_t *job)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)job, key, value)
	{
		if (is_values(value) && zm_report_job_is_param(key))
			put_axis(reader, axes, key, value);
	}
}

static size_t nr_values(const json_t *value)
{
	return json_is_array(value) ? json_array_size(value) : 1;
}

static const char *value_at(const json_t *value, size_t index)
{
	return json_string_value(json_is_array(value) ? json_array_get(value, index) : value);
}

static void take_machine(const json_t *job, struct zm_mail_machine *machine)
{
	const char *cpus = json_string_value(json_object_get(job, "nr_cpu"));
	uint64_t number;

	if (cpus && zm_units_parse_u64(cpus, &number) == 0 && number <= 1000000)
		machine->nr_cpus = (unsigned int)number;
}

/* One combination of the lists, as a record. */
static void run_combination(struct reader *reader, const json_t *job, const struct axes *axes,
			    size_t index)
{
	const struct zm_reproduce_here here = { reader->context->root, reader->context->topology,
						NULL, reader->workloads };
	struct zm_mail_record record = { .kind = ZM_MAIL_JOB, .claim = { .change = NAN } };
	struct zm_reproduce_options options = { 0 };
	struct zm_reproduction reproduction;
	struct zm_pool pool = { 0 };
	int r;

	record.testcase = json_string_value(json_object_get(job, "testcase"));
	take_machine(job, &record.machine);
	options.as_reported = record.machine.nr_cpus == 0;
	for (size_t i = 0; i < axes->nr; i++) {
		size_t nr = nr_values(axes->values[i]);

		zm_report_fields_put(&pool, &record.params, axes->names[i],
				     value_at(axes->values[i], index % nr));
		index /= nr;
	}
	r = zm_reproduce_make(&record, &here, &options, &reproduction, reader->why);
	if (r == 0) {
		zm_matrix_set_take(&reader->set, &reproduction, reproduction.name,
				   where(reader, job), reader->monitor);
		zm_reproduction_release(&reproduction);
	} else if (!reader->error) {
		reader->error = r;
	}
	if (pool.error && !reader->error)
		reader->error = zm_why_errno(reader->why, pool.error, "%s", reader->name);
	zm_pool_release(&pool);
}

static void run_axes(struct reader *reader, const json_t *job, const struct axes *axes)
{
	size_t count = 1;

	for (size_t i = 0; i < axes->nr; i++) {
		count *= nr_values(axes->values[i]);
		if (count > ZM_MATRIX_FILE_COMBINATIONS)
			wrong(reader, job, "its lists combine to more than %d runs",
			      ZM_MATRIX_FILE_COMBINATIONS);
		if (reader->error)
			return;
	}
	for (size_t i = 0; !reader->error && i < count; i++)
		run_combination(reader, job, axes, i);
}

/* The suite's own key may hold several sets of parameters. */
static void read_job(struct reader *reader, const json_t *job)
{
	const char *testcase = json_string_value(json_object_get(job, "testcase"));
	const json_t *own = testcase ? json_object_get(job, testcase) : NULL;
	size_t nr = json_is_array(own) ? json_array_size(own) : 1;

	if (!testcase)
		wrong(reader, job, "testcase: a name is wanted");
	for (size_t i = 0; !reader->error && i < nr; i++) {
		struct axes axes = { .nr = 0 };

		take_keys(reader, &axes, job);
		take_own_keys(reader, &axes, json_is_array(own) ? json_array_get(own, i) : own);
		run_axes(reader, job, &axes);
	}
}

/* A copy of the first document with another's keys put in; lines are those of the first. */
static void read_further(struct reader *reader, const json_t *first, json_t *further)
{
	json_t *merged = json_copy((json_t *)first);

	if (!merged || json_object_update(merged, further) < 0)
		reader->set.pool.error = -ENOMEM;
	else
		read_job(reader, merged);
	json_decref(merged);
}

/* Keys under "<<" are the mapping's own, unless it has them. */
static void merge(json_t *object, unsigned int depth)
{
	json_t *list = json_object_get(object, "<<"), *item;
	const char *key;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (json_is_object(item))
			(void)json_object_update_missing(object, item);
	}
	(void)json_object_del(object, "<<");
	json_object_foreach(object, key, item)
	{
		if (json_is_object(item) && depth < ZM_YAML_DEPTH)
			merge(item, depth + 1);
	}
}

/* --- the file --- */

static void read_documents(struct reader *reader, json_t *documents)
{
	json_t *first = json_array_get(documents, 0), *further;
	size_t i;

	json_array_foreach(documents, i, further)
	{
		if (!json_is_object(further))
			wrong(reader, further,
			      "a mapping is wanted: `runs:`, or a job's `testcase:`");
		else
			merge(further, 0);
	}
	if (json_array_size(documents) == 0)
		wrong(reader, NULL, "the file is empty");
	if (reader->error)
		return;
	if (json_object_get(first, "runs")) {
		read_own(reader, first);
		return;
	}
	if (!json_object_get(first, "testcase"))
		wrong(reader, first, "neither `runs:` nor a job's `testcase:` is there");
	if (!reader->error)
		read_job(reader, first);
	for (i = 1; !reader->error && i < json_array_size(documents); i++)
		read_further(reader, first, json_array_get(documents, i));
}

static int finish(struct reader *reader)
{
	if (!reader->error && reader->set.pool.error)
		return zm_why_errno(reader->why, reader->set.pool.error, "%s", reader->name);
	if (!reader->error && reader->set.nr_lines == 0)
		return zm_why_set(reader->why, -ENOPKG, "%s: %s", reader->name,
				  reader->set.nr_remarks ? reader->set.remarks[0]
							 : "nothing to run");
	return reader->error;
}

/* "line 7: …" becomes "m.yaml:7: …". */
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

int zm_matrix_file_parse(const char *name, const char *text, size_t length,
			 const struct zm_cell_context *context,
			 const struct zm_workload *const *workloads, struct zm_matrix_set *ret_set,
			 struct zm_why *why)
{
	struct reader reader = {
		.name = name, .context = context, .workloads = workloads, .why = why
	};
	json_t *documents = NULL;
	int r;

	if (!context->root || !context->topology)
		return zm_why_set(why, -ENOTSUP, "%s: files are scaled to a machine", name);
	r = zm_yaml_read_marked(text, length, &documents, &reader.marks, why);
	if (r < 0)
		return unreadable(name, r, why);
	read_documents(&reader, documents);
	r = finish(&reader);
	zm_yaml_marks_release(&reader.marks);
	json_decref(documents);
	if (r < 0)
		zm_matrix_set_release(&reader.set);
	else
		*ret_set = reader.set;
	return r;
}

int zm_matrix_file_read(const char *path, const struct zm_cell_context *context,
			const struct zm_workload *const *workloads, struct zm_matrix_set *ret_set,
			struct zm_why *why)
{
	zm_autofree char *text = malloc(ZM_MATRIX_FILE_BYTES + 1);
	zm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t length = 0;
	int r;

	if (!text)
		return zm_why_errno(why, -ENOMEM, "%s", path);
	if (fd < 0)
		return zm_why_errno(why, -errno, "%s", path);
	r = zm_readfile(fd, text, ZM_MATRIX_FILE_BYTES + 1, &length);
	if (r < 0)
		return zm_why_errno(why, r, "%s", path);
	if (length > ZM_MATRIX_FILE_BYTES)
		return zm_why_set(why, -E2BIG, "%s: larger than %zu KiB; is it a matrix?", path,
				  ZM_MATRIX_FILE_BYTES >> 10);
	return zm_matrix_file_parse(path, text, length, context, workloads, ret_set, why);
}

bool zm_matrix_file_is_named(const char *word)
{
	size_t length = strlen(word);

	return strchr(word, '/') || (length > 5 && strcmp(word + length - 5, ".yaml") == 0) ||
	       (length > 4 && strcmp(word + length - 4, ".yml") == 0);
}
