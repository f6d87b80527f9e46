/*
 * cmd_list: what there is to run, what it needs, and whether it runs here.
 *
 *     section   workloads, options, settings, matrices, documented, monitors: an array of
 *               descriptions
 *     answer    {section: array, …} as JSON, or a text made of the same objects
 *     detail    one workload with its options, figures and counters
 */
#include "runner/cmd.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/cell.h"
#include "runner/describe.h"
#include "runner/help.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"

struct switches {
	bool json;
	bool names;
};

struct machine {
	struct zm_sysroot root;
	struct zm_topology topology;
};

static json_t *describe_workloads(const struct machine *machine)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < zm_nr_workloads; i++)
		json_array_append_new(array, zm_describe_workload(zm_workloads[i], &machine->root,
								  &machine->topology));
	return array;
}

static json_t *describe_run_options(const struct machine *machine)
{
	(void)machine;
	return zm_describe_options(zm_run_option_rows);
}

static json_t *describe_monitors(const struct machine *machine)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		json_array_append_new(array, zm_describe_monitor(zm_monitors[i], &machine->root));
	return array;
}

static json_t *describe_matrices(const struct machine *machine)
{
	json_t *array = json_array();

	(void)machine;
	for (const struct zm_matrix *matrix = zm_matrices; matrix->name; matrix++)
		json_array_append_new(array, zm_describe_matrix(matrix));
	return array;
}

static json_t *describe_documented(const struct machine *machine)
{
	json_t *array = json_array();

	for (const struct zm_documented_file *file = zm_documented_files; file->id; file++)
		json_array_append_new(
			array, zm_describe_document(file, &machine->root, &machine->topology));
	return array;
}

static json_t *describe_settings(const struct machine *machine)
{
	json_t *array = json_array();

	for (const struct zm_setting_row *row = zm_setting_rows; row->name; row++)
		json_array_append_new(array, zm_describe_setting(row, &machine->root));
	return array;
}

static const struct section {
	const char *name;
	const char *title;
	json_t *(*describe)(const struct machine *machine);
} sections[] = {
	{ "workloads", "Workloads (`zonemark list NAME` says more of one):", describe_workloads },
	{ "options", "Options of every run:", describe_run_options },
	{ "settings",
	  "Machine settings, options of every run, put back after it:", describe_settings },
	{ "matrices", "Matrices, sets of runs:", describe_matrices },
	{ "documented", "Documented tables, for `zonemark reproduce`:", describe_documented },
	{ "monitors", "Monitors, read during runs:", describe_monitors },
};

#define NR_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static const char *string_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* The words of an array, with ", " between them. */
static const char *join(const json_t *array, char *buf, size_t size)
{
	size_t used = 0, i;
	json_t *word;

	buf[0] = '\0';
	json_array_foreach(array, i, word)
	{
		int n = snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
				 json_string_value(word));

		used += n > 0 ? (size_t)n : 0;
		if (used >= size)
			break;
	}
	return buf;
}

static void print_reason(const json_t *object, int width)
{
	char text[600];

	if (json_is_true(json_object_get(object, "runs_here")) ||
	    !json_object_get(object, "runs_here"))
		return;
	(void)snprintf(text, sizeof(text), "cannot run here: %s", string_of(object, "reason"));
	zm_help_columns(stdout, 2, width, "", text);
}

/* "refused: tls=kernel: this kernel has no TLS"; most reasons name the choice themselves. */
static void print_refusal(const char *option, const char *choices, const char *reason, int width)
{
	char name[256], text[800];

	(void)snprintf(name, sizeof(name), "%s=%s", option, choices);
	if (strncmp(reason, name, strlen(name)) == 0)
		(void)snprintf(text, sizeof(text), "refused: %s", reason);
	else
		(void)snprintf(text, sizeof(text), "refused: %s: %s", name, reason);
	zm_help_columns(stdout, 2, width, "", text);
}

/* Neighbours with one reason share a line. */
static void print_refused(const json_t *option, int width)
{
	const json_t *refused = json_object_get(option, "refused"), *refusal;
	char choices[128] = "";
	size_t i;

	json_array_foreach(refused, i, refusal)
	{
		const char *reason = string_of(refusal, "reason");
		size_t used = strlen(choices);

		(void)snprintf(choices + used, sizeof(choices) - used, "%s%s", used ? ", " : "",
			       string_of(refusal, "choice"));
		if (strcmp(reason, string_of(json_array_get(refused, i + 1), "reason")) == 0)
			continue;
		print_refusal(string_of(option, "name"), choices, reason, width);
		choices[0] = '\0';
	}
}

/* Choices of a workload's options that cannot be had here. */
static void print_refusals(const json_t *workload, int width)
{
	const json_t *option;
	size_t i;

	json_array_foreach(json_object_get(workload, "options"), i, option)
	{
		print_refused(option, width);
	}
}

static void print_entry(const json_t *object, int width)
{
	char kinds[32], text[600];
	const char *what = string_of(object, "summary");

	zm_help_columns(stdout, 2, width, string_of(object, "name"),
			*what ? what : string_of(object, "help"));
	if (json_object_get(object, "op")) {
		(void)snprintf(text, sizeof(text), "counts one per %s; tasks: %s",
			       string_of(object, "op"),
			       join(json_object_get(object, "kinds"), kinds, sizeof(kinds)));
		zm_help_columns(stdout, 2, width, "", text);
	}
	if (json_object_get(object, "now")) {
		(void)snprintf(text, sizeof(text), "now %s", string_of(object, "now"));
		zm_help_columns(stdout, 2, width, "", text);
	}
	if (json_is_true(json_object_get(object, "extra")))
		zm_help_columns(stdout, 2, width, "", "only when asked for: run --monitor NAME");
	if (json_object_get(object, "source")) {
		(void)snprintf(text, sizeof(text), "from: %s", string_of(object, "source"));
		zm_help_columns(stdout, 2, width, "", text);
	}
	print_reason(object, width);
	print_refusals(object, width);
}

static void print_option(const json_t *option, int width)
{
	zm_help_columns(stdout, 2, width, string_of(option, "form"), string_of(option, "text"));
}

static int widest_name(const json_t *array)
{
	size_t i, width = 8;
	json_t *object;

	json_array_foreach(array, i, object)
	{
		size_t length = strlen(
			string_of(object, json_object_get(object, "form") ? "form" : "name"));

		width = length > width ? length : width;
	}
	return width > 24 ? 24 : (int)width;
}

static void print_section(const struct section *section, const json_t *array)
{
	int width = widest_name(array);
	json_t *object;
	size_t i;

	puts(section->title);
	json_array_foreach(array, i, object)
	{
		if (json_object_get(object, "form"))
			print_option(object, width);
		else
			print_entry(object, width);
	}
}

static void print_options(const json_t *options)
{
	json_t *option;
	size_t i;

	puts("\nOptions, beside those of every run:");
	json_array_foreach(options, i, option)
	{
		print_option(option, 24);
	}
}

static void print_metrics(const char *title, const json_t *metrics)
{
	json_t *metric;
	size_t i;

	if (json_array_size(metrics) == 0)
		return;
	printf("\n%s\n", title);
	json_array_foreach(metrics, i, metric)
	{
		const char *better = string_of(metric, "better");
		const char *summary = string_of(metric, "summary");
		bool has_side = strcmp(better, "neither") != 0;
		const char *unit = string_of(metric, "unit");
		char text[600];

		(void)snprintf(text, sizeof(text), "%s%s%s%s%s%s", unit,
			       has_side && *unit ? ", " : "", has_side ? better : "",
			       has_side ? " is better" : "", *summary ? ": " : "", summary);
		zm_help_columns(stdout, 2, 32, string_of(metric, "name"), text);
	}
}

static void print_detail(const json_t *object)
{
	char text[256];

	zm_help_columns(stdout, 0, (int)strlen(string_of(object, "name")),
			string_of(object, "name"), string_of(object, "summary"));
	printf("Counts one per %s. Tasks: %s.\n", string_of(object, "op"),
	       join(json_object_get(object, "kinds"), text, sizeof(text)));
	if (json_is_false(json_object_get(object, "runs_here")))
		printf("Cannot run here: %s\n", string_of(object, "reason"));
	if (json_array_size(json_object_get(object, "options")) > 0)
		print_options(json_object_get(object, "options"));
	print_refusals(object, 24);
	print_metrics("Figures:", json_object_get(object, "metrics"));
	print_metrics("Counters of each task:", json_object_get(object, "counters"));
	print_metrics("Histograms:", json_object_get(object, "histograms"));
}

static int print_json(const json_t *object)
{
	if (json_dumpf(object, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER) < 0)
		return ZM_EXIT_USAGE; /* main says why */
	putchar('\n');
	return ZM_EXIT_OK;
}

static void print_names(const json_t *array)
{
	json_t *object;
	size_t i;

	json_array_foreach(array, i, object)
	{
		puts(string_of(object, "name"));
	}
}

/* All sections, or the one called `only`. */
static int list_sections(const struct machine *machine, const struct switches *switches,
			 const char *only)
{
	json_t *answer = json_object();
	bool is_first = true;
	int status = ZM_EXIT_OK;

	for (size_t i = 0; i < NR_SECTIONS; i++) {
		json_t *array;

		if (only && strcmp(sections[i].name, only) != 0)
			continue;
		array = sections[i].describe(machine);
		json_object_set_new(answer, sections[i].name, array);
		if (switches->names) {
			print_names(array);
		} else if (!switches->json) {
			fputs(is_first ? "" : "\n", stdout);
			print_section(&sections[i], array);
		}
		is_first = false;
	}
	if (switches->json)
		status = print_json(answer);
	json_decref(answer);
	return status;
}

static int list_workload(const struct machine *machine, const struct switches *switches,
			 const struct zm_workload *workload)
{
	json_t *object = zm_describe_workload(workload, &machine->root, &machine->topology);
	int status = ZM_EXIT_OK;

	if (switches->json)
		status = print_json(object);
	else
		print_detail(object);
	json_decref(object);
	return status;
}

/* The row of that name in any section, as the section shows it. -1: there is none. */
static int list_row(const struct machine *machine, const struct switches *switches,
		    const char *word)
{
	int status = -1;

	for (size_t i = 0; i < NR_SECTIONS && status < 0; i++) {
		json_t *array = sections[i].describe(machine), *row = json_array(), *object;
		size_t k;

		json_array_foreach(array, k, object)
		{
			if (strcmp(string_of(object, "name"), word) == 0)
				(void)json_array_append(row, object);
		}
		if (json_array_size(row) > 0) {
			status = ZM_EXIT_OK;
			if (switches->json)
				status = print_json(json_array_get(row, 0));
			else
				print_section(&sections[i], row);
		}
		json_decref(row);
		json_decref(array);
	}
	return status;
}

static bool is_section(const char *word)
{
	for (size_t i = 0; i < NR_SECTIONS; i++)
		if (strcmp(sections[i].name, word) == 0)
			return true;
	return false;
}

static int no_such_name(const char *word)
{
	zm_autofree const char **names = calloc(zm_nr_workloads + NR_SECTIONS + 1, sizeof(*names));
	const char *nearest = NULL;
	size_t n = 0;

	for (size_t i = 0; names && i < NR_SECTIONS; i++)
		names[n++] = sections[i].name;
	for (unsigned int i = 0; names && i < zm_nr_workloads; i++)
		names[n++] = zm_workloads[i]->name;
	if (names)
		nearest = zm_option_nearest(word, names);
	if (nearest)
		return zm_cmd_failf(ZM_EXIT_USAGE, "list: there is no %s; did you mean %s?", word,
				    nearest);
	return zm_cmd_failf(ZM_EXIT_USAGE,
			    "list: there is no %s; `zonemark list` shows what there is", word);
}

static int list(const struct machine *machine, const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	const char *word = args->nr_words ? args->words[args->nr_words - 1] : NULL;
	const struct zm_workload *workload;
	int status;

	if (args->nr_words > 2 || (args->nr_words == 2 && strcmp(args->words[0], "workloads") != 0))
		return zm_cmd_failf(ZM_EXIT_USAGE, "list: %s: too many words; one name at a time",
				    args->words[1]);
	if (!word || (args->nr_words == 1 && is_section(word)))
		return list_sections(machine, switches, word);
	workload = zm_workload_find(word);
	if (workload)
		return list_workload(machine, switches, workload);
	status = list_row(machine, switches, word);
	return status < 0 ? no_such_name(word) : status;
}

static int run(const struct zm_args *args)
{
	struct machine machine;
	struct zm_why why;
	int status;

	if (zm_sysroot_open(&machine.root, NULL) < 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "list: / cannot be opened");
	if (zm_topology_read(&machine.root, NULL, &machine.topology, &why) < 0) {
		zm_sysroot_release(&machine.root);
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	status = list(&machine, args);
	zm_topology_release(&machine.topology);
	zm_sysroot_release(&machine.root);
	return status;
}

static const struct zm_option rows[] = {
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct switches, json),
	  .preset = "0",
	  .help = "answer in JSON" },
	{ .name = "names",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct switches, names),
	  .preset = "0",
	  .help = "names only, one a line" },
	{ .name = NULL },
};

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "show what there is to run, with its options, and what runs here",
	.usage = "[workloads|options|settings|matrices|documented|monitors] [WORKLOAD]",
	.details =
		"With the name of a workload: its options with their presets, the figures that it "
		"gives and what its tasks count.\n\n"
		"What cannot run on this machine stays in the list, with the reason; so do the "
		"values of options that it cannot have here, such as an engine.",
	.examples = "zonemark list\teverything\n"
		    "zonemark list page_fault1\tone workload, with its options\n"
		    "zonemark list workloads --json\tfor a program",
	.completes = "sections workloads",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
