/*
 * workload: the check of a workload's constant, field by field in the struct's order. What it lets
 * through, the harness, the help and the store may rely on: names are words, texts are one line,
 * every figure has a unit, every preset is within its own bounds.
 */
#include "workloads/workload.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/worker.h"

#define MAX_NAME       63
#define MAX_SUMMARY    120
#define MAX_RUN_BYTES  ((size_t)1 << 30)
#define MAX_TASK_BYTES ((size_t)1 << 24)

/* --- words and lines ------------------------------------------------------------------------- */

/* Lower-case letters, digits and underscores: what a command line, a file and a C name can take. */
static bool is_word(const char *text)
{
	size_t length = text ? strnlen(text, MAX_NAME + 1) : 0;

	if (length == 0 || length > MAX_NAME || !islower((unsigned char)text[0]))
		return false;
	for (; *text; text++)
		if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) &&
		    *text != '_')
			return false;
	return true;
}

/* A metric's name: printable, without white space or what separates it from a value. */
static bool is_metric_name(const char *text)
{
	size_t length = strlen(text);

	if (length == 0 || length > 2 * MAX_NAME)
		return false;
	for (; *text; text++) {
		if (!isgraph((unsigned char)*text) || strchr("=,\"\\'", *text))
			return false;
		if (*text == '{' && strncmp(text, "{n}", 3) != 0)
			return false;
	}
	return true;
}

/* NULL when the text is one line as help shows it, otherwise what is wrong with it. */
static const char *fault_of_line(const char *text)
{
	size_t length = text ? strlen(text) : 0;

	if (length == 0)
		return "is empty";
	if (length > MAX_SUMMARY)
		return "is longer than 120 bytes";
	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)text[i]))
			return "has a control character";
	if (isspace((unsigned char)text[0]) || isspace((unsigned char)text[length - 1]))
		return "has white space at an end";
	return text[length - 1] == '.' ? "ends with a full stop" : NULL;
}

/* Below the root: no leading slash, no "..", nothing empty. */
static bool is_relative_path(const char *path)
{
	for (const char *part = path;; part++) {
		size_t length = strcspn(part, "/");

		if (length == 0 || strncmp(part, ".", length) == 0 ||
		    strncmp(part, "..", length) == 0)
			return false;
		part += length;
		if (!*part)
			return true;
	}
}

static bool is_command_name(const char *name)
{
	return *name && !strchr(name, '/');
}

static bool is_protocol_name(const char *name)
{
	return *name && !strpbrk(name, " \t\n");
}

/* --- the parts of the constant --------------------------------------------------------------- */

static int check_words(const struct zm_workload *workload, struct zm_why *why)
{
	const char *fault = fault_of_line(workload->summary);

	if (fault)
		return zm_why_set(why, -EINVAL, "the summary %s", fault);
	fault = fault_of_line(workload->op);
	if (fault)
		return zm_why_set(why, -EINVAL, "the name of one operation (op) %s", fault);
	return 0;
}

static int check_tasks(const struct zm_workload *workload, struct zm_why *why)
{
	if (workload->kinds == 0 || workload->kinds > (ZM_TASK_PROCESS | ZM_TASK_THREAD))
		return zm_why_set(why, -EINVAL,
				  "kinds=%#x: or ZM_TASK_PROCESS and ZM_TASK_THREAD together",
				  workload->kinds);
	if (workload->nr_ends > 2)
		return zm_why_set(why, -EINVAL, "nr_ends=%u: one task is one end, a stream has two",
				  workload->nr_ends);
	if (workload->run_bytes > MAX_RUN_BYTES)
		return zm_why_set(why, -EINVAL,
				  "run_bytes=%zu: more than 1 GiB; what a run uses belongs into "
				  "footprint and prepare",
				  workload->run_bytes);
	if (workload->task_bytes > MAX_TASK_BYTES)
		return zm_why_set(why, -EINVAL,
				  "task_bytes=%zu: more than 16 MiB; what a task uses belongs into "
				  "footprint and setup",
				  workload->task_bytes);
	return 0;
}

static int check_list(const char *what, const char *const *list, bool (*is_good)(const char *),
		      struct zm_why *why)
{
	for (size_t i = 0; list && list[i]; i++) {
		if (!is_good(list[i]))
			return zm_why_set(why, -EINVAL, "%s: \"%s\" is none", what, list[i]);
		for (size_t j = 0; j < i; j++)
			if (strcmp(list[i], list[j]) == 0)
				return zm_why_set(why, -EINVAL, "%s: \"%s\" is there twice", what,
						  list[i]);
	}
	return 0;
}

static int check_lists(const struct zm_workload *workload, struct zm_why *why)
{
	int error = check_list("protocols needed", workload->need.protocols, is_protocol_name, why);

	if (!error)
		error = check_list("files needed, below the root", workload->need.files,
				   is_relative_path, why);
	if (!error)
		error = check_list("commands needed, by name", workload->need.commands,
				   is_command_name, why);
	if (!error)
		error = check_list("files saved, below the root", workload->save, is_relative_path,
				   why);
	return error;
}

/* --- options --------------------------------------------------------------------------------- */

/* What a row writes must lie within the struct, and as its type is aligned. */
static int check_place(const struct zm_option *row, size_t options_size, struct zm_why *why)
{
	static const struct {
		size_t bytes, alignment;
	} types[] = {
		[ZM_OPTION_BOOL] = { sizeof(bool), _Alignof(bool) },
		[ZM_OPTION_U64] = { sizeof(uint64_t), _Alignof(uint64_t) },
		[ZM_OPTION_DOUBLE] = { sizeof(double), _Alignof(double) },
		[ZM_OPTION_SIZE] = { sizeof(uint64_t), _Alignof(uint64_t) },
		[ZM_OPTION_DURATION] = { sizeof(uint64_t), _Alignof(uint64_t) },
		[ZM_OPTION_AMOUNT] = { sizeof(struct zm_amount), _Alignof(struct zm_amount) },
		[ZM_OPTION_CHOICE] = { sizeof(unsigned int), _Alignof(unsigned int) },
		[ZM_OPTION_STRING] = { sizeof(char *), _Alignof(char *) },
	};
	size_t bytes;

	if ((unsigned int)row->type >= sizeof(types) / sizeof(types[0]))
		return zm_why_set(why, -EINVAL, "option %s: no such type", row->name);
	bytes = types[row->type].bytes;
	if (row->offset > options_size || bytes > options_size - row->offset)
		return zm_why_set(why, -EINVAL, "option %s: lies outside the option struct",
				  row->name);
	if (row->offset % types[row->type].alignment)
		return zm_why_set(why, -EINVAL, "option %s: offset %zu is not that of its type",
				  row->name, row->offset);
	return 0;
}

static int check_option(const struct zm_option *row, const struct zm_workload *workload,
			struct zm_why *why)
{
	const char *fault = fault_of_line(row->help);

	if (!is_word(row->name))
		return zm_why_set(why, -EINVAL,
				  "option \"%s\": a name is lower-case letters, digits and _",
				  row->name);
	if (fault)
		return zm_why_set(why, -EINVAL, "option %s: the help %s", row->name, fault);
	for (const struct zm_option *other = workload->options; other != row; other++)
		if (other->offset == row->offset)
			return zm_why_set(why, -EINVAL, "options %s and %s have the same place",
					  other->name, row->name);
	return check_place(row, workload->options_size, why);
}

static int check_options(const struct zm_workload *workload, struct zm_why *why)
{
	zm_autofree void *options = NULL;
	int error;

	if (!workload->options != !workload->options_size)
		return zm_why_set(why, -EINVAL, "options and options_size go together");
	if (!workload->options)
		return 0;
	for (const struct zm_option *row = workload->options; row->name; row++) {
		error = check_option(row, workload, why);
		if (error)
			return error;
	}
	options = calloc(1, workload->options_size);
	if (!options)
		return zm_why_errno(why, -ENOMEM, "%zu bytes of options", workload->options_size);
	error = zm_options_init(workload->options, options, why);
	zm_options_release(workload->options, options);
	return error;
}

/* How many units there are is one of its options, and a number. */
static int check_units(const struct zm_workload *workload, struct zm_why *why)
{
	const struct zm_option *row;

	if (!workload->units)
		return 0;
	row = workload->options ? zm_option_find(workload->options, workload->units) : NULL;
	if (!row)
		return zm_why_set(why, -EINVAL, "units=%s: it has no such option", workload->units);
	if (row->type != ZM_OPTION_U64 && row->type != ZM_OPTION_AMOUNT)
		return zm_why_set(why, -EINVAL, "units=%s: that option is no number",
				  workload->units);
	return 0;
}

/* --- figures --------------------------------------------------------------------------------- */

#define ANY_KIND -1

static int check_metric(const struct zm_metric *metric, int kind, struct zm_why *why)
{
	if (!is_metric_name(metric->name))
		return zm_why_set(why, -EINVAL, "figure \"%s\": not a name", metric->name);
	if (!metric->unit)
		return zm_why_set(why, -EINVAL, "figure %s: no unit; a pure number's is \"\"",
				  metric->name);
	if ((unsigned int)metric->kind > ZM_HIST || (kind != ANY_KIND && (int)metric->kind != kind))
		return zm_why_set(why, -EINVAL, "figure %s: its kind cannot be %s", metric->name,
				  zm_kind_name(metric->kind));
	if ((unsigned int)metric->better > ZM_BETTER_LESS)
		return zm_why_set(why, -EINVAL, "figure %s: better=%d is none", metric->name,
				  (int)metric->better);
	if (metric->is_primary && metric->better == ZM_BETTER_NEITHER)
		return zm_why_set(why, -EINVAL,
				  "figure %s: a primary one needs to say which way is better",
				  metric->name);
	if (metric->summary && fault_of_line(metric->summary))
		return zm_why_set(why, -EINVAL, "figure %s: the summary %s", metric->name,
				  fault_of_line(metric->summary));
	return 0;
}

static bool has_name(const struct zm_metric *list, const struct zm_metric *end, const char *name)
{
	for (; list && list != end && list->name; list++)
		if (strcmp(list->name, name) == 0)
			return true;
	return false;
}

/* Names are one space: all three lists end up as series or figures of the same run. */
static int check_figures(const struct zm_workload *workload, struct zm_why *why)
{
	const struct {
		const struct zm_metric *list;
		int kind;
	} all[] = {
		{ workload->counters, ZM_COUNT },
		{ workload->hists, ZM_HIST },
		{ workload->metrics, ANY_KIND },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (const struct zm_metric *row = all[i].list; row && row->name; row++) {
			bool is_twice = has_name(all[i].list, row, row->name);
			int error = check_metric(row, all[i].kind, why);

			if (error)
				return error;
			for (size_t j = 0; j < i; j++)
				is_twice |= has_name(all[j].list, NULL, row->name);
			if (is_twice)
				return zm_why_set(why, -EINVAL, "figure %s: there are two of it",
						  row->name);
		}
	}
	return 0;
}

static int check_counters(const struct zm_workload *workload, struct zm_why *why)
{
	size_t nr_counters = 0;

	while (workload->counters && workload->counters[nr_counters].name)
		nr_counters++;
	if (nr_counters > ZM_SLOT_COUNTERS)
		return zm_why_set(why, -EINVAL, "%zu counters: a task's slot holds %d", nr_counters,
				  ZM_SLOT_COUNTERS);
	return 0;
}

/* --- calls ----------------------------------------------------------------------------------- */

static int check_calls(const struct zm_workload *workload, struct zm_why *why)
{
	bool has_metrics = workload->metrics && workload->metrics[0].name;
	int nr_loops = !!workload->step + !!workload->round + !!workload->run;

	if (nr_loops != 1)
		return zm_why_set(why, -EINVAL,
				  "exactly one of step, round and run must be there, not %d",
				  nr_loops);
	if (workload->step && workload->batch == 0)
		return zm_why_set(why, -EINVAL, "batch=0: a step needs a number of operations");
	if (workload->step && workload->batch > INT64_MAX)
		return zm_why_set(why, -EINVAL, "batch=%llu: more than a step can report",
				  (unsigned long long)workload->batch);
	if (has_metrics && !workload->report)
		return zm_why_set(why, -EINVAL, "metrics are declared, but no report derives them");
	if (!has_metrics && workload->report)
		return zm_why_set(why, -EINVAL, "there is a report, but no metrics are declared");
	return 0;
}

int zm_workload_validate(const struct zm_workload *workload, struct zm_why *why)
{
	static int (*const checks[])(const struct zm_workload *workload, struct zm_why *why) = {
		check_words, check_tasks,   check_lists,    check_options,
		check_units, check_figures, check_counters, check_calls,
	};

	if (!is_word(workload->name))
		return zm_why_set(why, -EINVAL,
				  "workload \"%.80s\": a name is lower-case letters, digits and _",
				  workload->name ? workload->name : "");
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		int error = checks[i](workload, why);

		if (error) {
			zm_why_prefix(why, "workload %s", workload->name);
			return error;
		}
	}
	return 0;
}

bool zm_workload_is_named(const struct zm_workload *workload, const char *name)
{
	const char *own = workload->name;

	for (; *own && *name; own++, name++)
		if (*own != (*name == '-' ? '_' : *name))
			return false;
	return *own == *name;
}
