/* campaign: words for invocations, one after the other. */
#include "runner/qualify/campaign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/qualify/evidence.h"
#include "workloads/base/cleanup.h"

static struct zm_invocation_ask ask_of(const struct zm_campaign *campaign)
{
	return (struct zm_invocation_ask){
		.argc = campaign->argc,
		.argv = campaign->argv,
		.repeat = 1,
		.place = ZM_PLACE_SCATTER,
		.db = (char *)campaign->store,
		.label = (char *)campaign->label,
		.share = campaign->share,
		.overcommit = campaign->overcommit,
	};
}

/* --- the plan --- */

static int make_plan(const struct zm_campaign *campaign, struct zm_plan *ret_plan,
		     struct zm_why *why)
{
	struct zm_invocation_ask ask = ask_of(campaign);

	ask.words = &campaign->file;
	ask.nr_words = 1;
	return zm_invocation_plan(&ask, &campaign->machine->root, &campaign->machine->topology,
				  ret_plan, why);
}

/* Is the cell one of those that the criterion is about? nr_task NULL: any. */
static bool is_about(const json_t *cell, const struct zm_criterion *criterion, const char *nr_task)
{
	const char *workload = json_string_value(json_object_get(cell, "workload"));
	const char *key;
	json_t *value;

	if (strcmp(criterion->about, "all") != 0 &&
	    (!workload || strcmp(workload, criterion->about) != 0))
		return false;
	json_object_foreach((json_t *)criterion->options, key, value)
	{
		if (!zm_evidence_has_option(cell, key, json_string_value(value)))
			return false;
	}
	return !nr_task || zm_evidence_has_option(cell, "nr_task", nr_task);
}

/* A new reference to the first cell's key that the criterion is about; NULL: there is none. */
static json_t *find_cell(const struct zm_plan *plan, const struct zm_criterion *criterion,
			 const char *nr_task)
{
	for (size_t i = 0; i < plan->nr_cells; i++) {
		json_t *cell = json_loads(plan->cells[i].key, 0, NULL);

		if (is_about(cell, criterion, nr_task))
			return cell;
		json_decref(cell);
	}
	return NULL;
}

static bool is_of_runs(const struct zm_criterion *criterion)
{
	return criterion->kind != ZM_CRITERION_MACHINE && criterion->kind != ZM_CRITERION_NO_NEW &&
	       criterion->kind != ZM_CRITERION_TIME;
}

static int check_criterion(const struct zm_campaign *campaign, const struct zm_plan *plan,
			   const struct zm_criterion *criterion, struct zm_why *why)
{
	const char *const counts[] = { criterion->from, criterion->to };

	for (size_t i = 0; i < (criterion->from ? 2 : 1); i++) {
		json_t *cell = find_cell(plan, criterion, counts[i]);

		json_decref(cell);
		if (!cell)
			return zm_why_set(why, -EINVAL, "%s:%u: %s: none of the runs is such%s%s",
					  campaign->profile->name, criterion->line, criterion->name,
					  counts[i] ? ", with nr_task=" : "",
					  counts[i] ? counts[i] : "");
	}
	return 0;
}

int zm_campaign_check(const struct zm_campaign *campaign, struct zm_why *why)
{
	const struct zm_standard *profile = campaign->profile;
	struct zm_plan plan = { 0 };
	int r = make_plan(campaign, &plan, why);

	/* What was left out, and said, may be what a criterion is about: it will be inconclusive. */
	for (size_t i = 0; r == 0 && plan.nr_remarks == 0 && i < profile->nr_criteria; i++) {
		if (is_of_runs(&profile->criteria[i]))
			r = check_criterion(campaign, &plan, &profile->criteria[i], why);
	}
	zm_plan_release(&plan);
	return r;
}

json_t *zm_campaign_cells(const struct zm_campaign *campaign, struct zm_why *why)
{
	struct zm_plan plan = { 0 };
	json_t *keys = NULL;

	if (make_plan(campaign, &plan, why) == 0)
		keys = json_array();
	for (size_t i = 0; keys && i < plan.nr_cells; i++)
		(void)json_array_append_new(keys, json_string(plan.cells[i].key));
	zm_plan_release(&plan);
	return keys;
}

/* --- words --- */

#define MAX_WORDS 128

struct words {
	char *list[MAX_WORDS];
	size_t nr;
};

static void release_words(struct words *words)
{
	for (size_t i = 0; i < words->nr; i++)
		free(words->list[i]);
	words->nr = 0;
}

/* A comma within a value parts none. */
static char *escape(const char *text)
{
	char *copy = malloc(2 * strlen(text) + 1), *at = copy;

	for (; copy && *text; text++) {
		if (*text == ',')
			*at++ = '\\';
		*at++ = *text;
	}
	if (copy)
		*at = '\0';
	return copy;
}

static int add_word(struct words *words, const char *name, const json_t *value)
{
	zm_autofree char *plain = json_is_string(value) ? escape(json_string_value(value))
							: json_dumps(value, JSON_ENCODE_ANY);
	char *word = NULL;

	if (!plain || words->nr == MAX_WORDS || asprintf(&word, "%s=%s", name, plain) < 0)
		return -ENOMEM;
	words->list[words->nr++] = word;
	return 0;
}

/* A cell's key as one would type it, without where it runs. */
static int make_words(const json_t *cell, struct words *words)
{
	static const char *const own[] = { "workload", "place", "mem", "cpus", NULL };
	const char *workload = json_string_value(json_object_get(cell, "workload"));
	const char *key;
	json_t *value;
	int r = 0;

	words->list[0] = workload ? strdup(workload) : NULL;
	if (!words->list[0])
		return -ENOMEM;
	words->nr = 1;
	json_object_foreach((json_t *)cell, key, value)
	{
		bool is_own = json_is_null(value);

		for (size_t i = 0; own[i]; i++)
			is_own = is_own || strcmp(own[i], key) == 0;
		if (r == 0 && !is_own)
			r = add_word(words, key, value);
	}
	return r;
}

/* --- runs --- */

static int run_words(struct zm_campaign *campaign, struct zm_invocation_ask *ask,
		     const char *const *words, size_t nr_words, unsigned int *ret_repeats,
		     struct zm_why *why)
{
	struct zm_invocation invocation;
	int r;

	ask->words = words;
	ask->nr_words = nr_words;
	r = zm_invocation_open(&invocation, ask, why);
	if (r < 0)
		return r;
	r = zm_invocation_run(&invocation, why);
	campaign->signal = invocation.signal;
	if (ret_repeats)
		*ret_repeats = invocation.nr_repeats;
	zm_invocation_close(&invocation);
	return r;
}

static int run_group(struct zm_campaign *campaign, const struct words *words,
		     enum zm_machine_part part, int number, char *cpus, struct zm_why *why)
{
	struct zm_invocation_ask ask = ask_of(campaign);
	char label[64];

	if (!cpus)
		return zm_why_errno(why, -ENOMEM, "the CPUs of a part");
	(void)snprintf(label, sizeof(label), ZM_EVIDENCE_LABEL "%s:%d", zm_part_names[part],
		       number);
	ask.label = label;
	ask.cpus = cpus;
	return run_words(campaign, &ask, (const char *const *)words->list, words->nr, NULL, why);
}

/* Every socket or node once. */
static int run_round(struct zm_campaign *campaign, const struct words *words,
		     enum zm_machine_part part, struct zm_why *why)
{
	int number, r = 0;

	for (size_t n = 0; r == 0 && !campaign->signal; n++) {
		zm_autofree char *cpus = NULL;

		if (!zm_qualify_machine_group(campaign->machine, part, n, &number, &cpus))
			break;
		r = run_group(campaign, words, part, number, cpus, why);
	}
	return r;
}

static int run_symmetry(struct zm_campaign *campaign, const struct zm_criterion *criterion,
			unsigned int nr_repeats, struct zm_why *why)
{
	struct words words = { .nr = 0 };
	struct zm_plan plan = { 0 };
	json_t *cell = NULL;
	int r;

	if (!(campaign->machine->parts[criterion->part] >= 2))
		return 0;
	r = make_plan(campaign, &plan, why);
	if (r == 0)
		cell = find_cell(&plan, criterion, NULL);
	if (cell && make_words(cell, &words) < 0)
		r = zm_why_errno(why, -ENOMEM, "%s", criterion->name);
	for (unsigned int i = 0; r == 0 && cell && i < nr_repeats && !campaign->signal; i++)
		r = run_round(campaign, &words, criterion->part, why);
	release_words(&words);
	json_decref(cell);
	zm_plan_release(&plan);
	return r;
}

int zm_campaign_run(struct zm_campaign *campaign, struct zm_why *why)
{
	struct zm_invocation_ask ask = ask_of(campaign);
	unsigned int nr_repeats = 1;
	int r = run_words(campaign, &ask, &campaign->file, 1, &nr_repeats, why);

	for (size_t i = 0; r == 0 && i < campaign->profile->nr_criteria; i++) {
		const struct zm_criterion *criterion = &campaign->profile->criteria[i];

		if (criterion->kind == ZM_CRITERION_SYMMETRY && !campaign->signal)
			r = run_symmetry(campaign, criterion, nr_repeats, why);
	}
	return r;
}
