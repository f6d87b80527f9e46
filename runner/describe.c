/* describe: one JSON object per row of the catalogue, with what it needs and whether it runs here. */
#include "runner/describe.h"

#include <errno.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/help.h"
#include "runner/probe.h"
#include "runner/reproduce.h"

static const char *const type_names[] = {
	[ZM_OPTION_BOOL] = "bool",         [ZM_OPTION_U64] = "whole number",
	[ZM_OPTION_DOUBLE] = "number",     [ZM_OPTION_SIZE] = "size",
	[ZM_OPTION_DURATION] = "duration", [ZM_OPTION_AMOUNT] = "count or percentage",
	[ZM_OPTION_CHOICE] = "choice",     [ZM_OPTION_STRING] = "text",
};

static const char *const better_names[] = {
	[ZM_BETTER_NEITHER] = "neither",
	[ZM_BETTER_MORE] = "more",
	[ZM_BETTER_LESS] = "less",
};

static json_t *strings(const char *const *list)
{
	json_t *array = json_array();

	for (; list && *list; list++)
		json_array_append_new(array, json_string(*list));
	return array;
}

static json_t *describe_option(const struct zm_option *row)
{
	char form[192], text[768];
	json_t *option =
		json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?, s:s}", "name", row->name, "type",
			  type_names[row->type], "form", zm_help_option(form, sizeof(form), row),
			  "preset", row->preset, "unit", row->unit, "help", row->help, "text",
			  zm_help_row(text, sizeof(text), row));

	if (row->type == ZM_OPTION_CHOICE)
		json_object_set_new(option, "choices", strings(row->choices));
	if (row->min)
		json_object_set_new(option, "min", json_integer((json_int_t)row->min));
	if (row->max)
		json_object_set_new(option, "max", json_integer((json_int_t)row->max));
	return option;
}

json_t *zm_describe_options(const struct zm_option *row)
{
	json_t *array = json_array();

	for (; row && row->name; row++)
		json_array_append_new(array, describe_option(row));
	return array;
}

static json_t *describe_metrics(const struct zm_metric *metric)
{
	json_t *array = json_array();

	for (; metric && metric->name; metric++)
		json_array_append_new(
			array, json_pack("{s:s, s:s?, s:s, s:s, s:b, s:s?}", "name", metric->name,
					 "unit", metric->unit, "kind", zm_kind_name(metric->kind),
					 "better", better_names[metric->better], "primary",
					 metric->is_primary, "summary", metric->summary));
	return array;
}

static json_t *describe_need(const struct zm_need *need)
{
	json_t *object = json_object();

	if (need->min_cpus)
		json_object_set_new(object, "cpus", json_integer(need->min_cpus));
	if (need->min_nodes)
		json_object_set_new(object, "nodes", json_integer(need->min_nodes));
	if (need->root)
		json_object_set_new(object, "root", json_true());
	if (need->protocols)
		json_object_set_new(object, "protocols", strings(need->protocols));
	if (need->files)
		json_object_set_new(object, "files", strings(need->files));
	if (need->commands)
		json_object_set_new(object, "commands", strings(need->commands));
	return object;
}

static json_t *describe_kinds(unsigned int kinds)
{
	json_t *array = json_array();

	if (kinds & ZM_TASK_PROCESS)
		json_array_append_new(array, json_string("process"));
	if (kinds & ZM_TASK_THREAD)
		json_array_append_new(array, json_string("thread"));
	return array;
}

static void set_verdict(json_t *object, int error, const struct zm_why *why)
{
	json_object_set_new(object, "runs_here", json_boolean(error == 0));
	if (error)
		json_object_set_new(object, "reason", json_string(why->text));
}

/* Which choices of the option, the others left alone, this machine or the workload refuses, and why. */
static json_t *refused_choices(const struct zm_workload *workload, const struct zm_sysroot *root,
			       const struct zm_topology *topology, const struct zm_option *option)
{
	json_t *array = json_array();

	for (const char *const *choice = option->choices; choice && *choice; choice++) {
		struct zm_why why = { .text = "" };

		if (zm_probe_option(workload, root, topology, option, *choice, &why) < 0)
			json_array_append_new(array, json_pack("{s:s, s:s}", "choice", *choice,
							       "reason", why.text));
	}
	return array;
}

/* Beside the description of each option: only where the workload itself runs. */
static void add_refusals(json_t *options, const struct zm_workload *workload,
			 const struct zm_sysroot *root, const struct zm_topology *topology)
{
	json_t *option;
	size_t i;

	json_array_foreach(options, i, option)
	{
		const struct zm_option *row = &workload->options[i];

		if (row->type == ZM_OPTION_CHOICE)
			json_object_set_new(option, "refused",
					    refused_choices(workload, root, topology, row));
	}
}

json_t *zm_describe_workload(const struct zm_workload *workload, const struct zm_sysroot *root,
			     const struct zm_topology *topology)
{
	struct zm_why why = { .text = "" };
	json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "name",
				   workload->name, "summary", workload->summary, "op", workload->op,
				   "kinds", describe_kinds(workload->kinds), "ends",
				   workload->nr_ends ? (int)workload->nr_ends : 1, "needs",
				   describe_need(&workload->need), "options",
				   zm_describe_options(workload->options), "metrics",
				   describe_metrics(workload->metrics), "counters",
				   describe_metrics(workload->counters), "histograms",
				   describe_metrics(workload->hists));

	int r = zm_probe_workload(workload, root, topology, &why);

	set_verdict(object, r, &why);
	if (r == 0)
		add_refusals(json_object_get(object, "options"), workload, root, topology);
	return object;
}

json_t *zm_describe_monitor(const struct zm_monitor *monitor, const struct zm_sysroot *root)
{
	struct zm_why why = { .text = "" };
	json_t *object =
		json_pack("{s:s, s:s, s:s?, s:b}", "name", monitor->name, "summary",
			  monitor->summary, "needs", monitor->needs, "extra", monitor->is_extra);

	set_verdict(object, zm_probe_monitor(monitor, root, &why), &why);
	return object;
}

json_t *zm_describe_matrix(const struct zm_matrix *matrix)
{
	return json_pack("{s:s, s:s, s:o}", "name", matrix->name, "summary", matrix->summary,
			 "lines", matrix->lines ? strings(matrix->lines) : json_null());
}

static size_t count_figures(const struct zm_document *document)
{
	size_t nr = 0;

	for (size_t i = 0; i < document->nr_tables; i++)
		nr += document->tables[i].record.nr_rows * document->tables[i].record.nr_commits;
	return nr;
}

/* Its workload, and whether that runs here. */
static void add_workload(json_t *object, const struct zm_document *document,
			 const struct zm_sysroot *root, const struct zm_topology *topology)
{
	const struct zm_reproduce_here here = { root, topology, NULL, zm_workloads };
	const struct zm_reproduce_options options = { .scaled = &document->scaled };
	struct zm_reproduction reproduction;
	struct zm_why why = { .text = "" };
	json_t *words = json_array();

	if (zm_reproduce_make(&document->tables[0].record, &here, &options, &reproduction, &why) <
	    0)
		return;
	for (size_t i = 0; i < reproduction.nr_words; i++)
		json_array_append_new(words, json_string(reproduction.words[i]));
	json_object_set_new(object, "words", words);
	if (reproduction.workload)
		set_verdict(object, zm_probe_workload(reproduction.workload, root, topology, &why),
			    &why);
	else
		set_verdict(object, zm_why_set(&why, -ENOENT, "%s", reproduction.reason), &why);
	zm_reproduction_release(&reproduction);
}

json_t *zm_describe_document(const struct zm_documented_file *file, const struct zm_sysroot *root,
			     const struct zm_topology *topology)
{
	struct zm_document document;
	struct zm_why why = { .text = "" };
	json_t *object;

	if (zm_document_read(file, &document, &why) < 0)
		return json_pack("{s:s, s:s, s:b, s:s}", "name", file->id, "summary", "",
				 "runs_here", false, "reason", why.text);
	object = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i}", "name", document.id, "summary",
			   document.title, "source", document.source, "layout",
			   zm_document_form_name(document.form), "tables", (int)document.nr_tables,
			   "figures", (int)count_figures(&document));
	add_workload(object, &document, root, topology);
	zm_document_release(&document);
	return object;
}

json_t *zm_describe_setting(const struct zm_setting_row *row, const struct zm_sysroot *root)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "name", row->name, "path", row->path, "help",
				   row->help);
	char now[256];

	if (zm_sysroot_read_choice(root, row->path, now, sizeof(now)) == 0)
		json_object_set_new(object, "now", json_string(now));
	return object;
}
