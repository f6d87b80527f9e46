/* evidence: run by run; what a cell was asked for is compared as text. */
#include "runner/qualify/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/runset.h"

static void release_run(struct zm_evidence_run *run)
{
	json_decref(run->cell);
	zm_run_view_free(run->view);
}

void zm_evidence_release(struct zm_evidence *evidence)
{
	for (size_t i = 0; i < evidence->nr; i++)
		release_run(&evidence->runs[i]);
	free(evidence->runs);
	*evidence = (struct zm_evidence){ 0 };
}

static double units_of(const struct zm_run_info *info)
{
	json_t *params = json_loads(info->params, 0, NULL);
	const json_t *value = json_object_get(params, "nr_task");
	double nr = json_is_number(value) ? json_number_value(value) : info->nr_tasks;

	json_decref(params);
	return nr;
}

static int add(struct zm_evidence *evidence, struct zm_store *store, uint64_t id,
	       struct zm_why *why)
{
	struct zm_evidence_run run = { 0 };
	int r = zm_array_grow((void **)&evidence->runs, &evidence->capacity, evidence->nr,
			      sizeof(run));

	if (r < 0)
		return zm_why_errno(why, r, "reading the runs");
	r = zm_query_run(store, id, &run.view, why);
	if (r < 0)
		return r;
	if (run.view->info.status == ZM_STATUS_RUNNING) {
		zm_run_view_free(run.view);
		return 0;
	}
	run.cell = json_loads(run.view->info.cell, 0, NULL);
	run.nr_units = units_of(&run.view->info);
	evidence->runs[evidence->nr++] = run;
	return 0;
}

int zm_evidence_read(struct zm_evidence *evidence, struct zm_store *store, struct zm_why *why)
{
	const struct zm_run_filter all = { .status = -1 };
	struct zm_runset runs = { 0 };
	int r = zm_query_runs(store, &all, zm_runset_add_info, &runs, why);

	zm_runset_sort(&runs);
	for (size_t i = 0; r == 0 && i < runs.nr; i++)
		r = add(evidence, store, runs.runs[i], why);
	zm_runset_release(&runs);
	return r;
}

void zm_evidence_keep(struct zm_evidence *evidence,
		      bool (*is_wanted)(const void *context, const struct zm_evidence_run *run),
		      const void *context)
{
	size_t nr = 0;

	for (size_t i = 0; i < evidence->nr; i++) {
		if (is_wanted(context, &evidence->runs[i]))
			evidence->runs[nr++] = evidence->runs[i];
		else
			release_run(&evidence->runs[i]);
	}
	evidence->nr = nr;
}

static bool is_truth(const char *value, bool truth)
{
	static const char *const words[2][5] = { { "0", "off", "no", "false", NULL },
						 { "1", "on", "yes", "true", NULL } };

	for (size_t i = 0; words[truth][i]; i++) {
		if (strcmp(words[truth][i], value) == 0)
			return true;
	}
	return false;
}

bool zm_evidence_has_option(const json_t *cell, const char *name, const char *value)
{
	const json_t *have = json_object_get(cell, name);
	char number[32];

	if (json_is_string(have))
		return strcmp(json_string_value(have), value) == 0;
	if (json_is_boolean(have))
		return is_truth(value, json_is_true(have));
	if (!json_is_integer(have))
		return false;
	(void)snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(have));
	return strcmp(number, value) == 0;
}

bool zm_evidence_run_is(const struct zm_evidence_run *run, const char *workload,
			const json_t *options)
{
	const char *key;
	json_t *value;

	if (strcmp(workload, "all") != 0 && strcmp(workload, run->view->info.workload) != 0)
		return false;
	json_object_foreach((json_t *)options, key, value)
	{
		if (!zm_evidence_has_option(run->cell, key, json_string_value(value)))
			return false;
	}
	return true;
}

bool zm_evidence_is_whole(const struct zm_evidence_run *run)
{
	const char *label = run->view->info.label;

	return !label || strncmp(label, ZM_EVIDENCE_LABEL, sizeof(ZM_EVIDENCE_LABEL) - 1) != 0;
}

const char *zm_evidence_group(const struct zm_evidence_run *run, const char *part)
{
	const char *label = run->view->info.label;
	size_t length = strlen(part);

	if (zm_evidence_is_whole(run))
		return NULL;
	label += sizeof(ZM_EVIDENCE_LABEL) - 1;
	if (strncmp(label, part, length) != 0 || label[length] != ':')
		return NULL;
	return label + length + 1;
}
