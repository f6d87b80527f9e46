/*
 * finding: kind by kind: values from the runs, an interval, and the limits held against them.
 *
 *     collect   launches of a criterion's runs -> values
 *     judge_…   values -> value, low, high -> decide
 */
#include "runner/qualify/finding.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/dist.h"
#include "results/judge.h"
#include "results/stat.h"
#include "workloads/base/clock.h"

#define CONFIDENCE 0.95
#define MAX_GROUPS 64

__attribute__((format(printf, 3, 4))) static int say(struct zm_finding *finding,
						     enum zm_grade grade, const char *format, ...)
{
	va_list list;

	finding->grade = grade;
	va_start(list, format);
	(void)vsnprintf(finding->text, sizeof(finding->text), format, list);
	va_end(list);
	return 0;
}

/* --- limits --- */

/* The value lies outside; does all of its interval? */
static int decide_outside(struct zm_finding *finding, const char *where, bool is_all)
{
	if (is_all)
		return say(finding, ZM_GRADE_FAIL, "%s", where);
	return say(finding, ZM_GRADE_INCONCLUSIVE,
		   "%s, but the interval of its %zu launches reaches inside: more launches would "
		   "tell",
		   where, finding->nr);
}

static int decide(struct zm_finding *finding)
{
	double low = isnan(finding->low) ? finding->value : finding->low;
	double high = isnan(finding->high) ? finding->value : finding->high;

	if (isnan(finding->least) && isnan(finding->most))
		return say(finding, ZM_GRADE_INCONCLUSIVE,
			   "there is no band for it: learn one (--learn), give it (--bands)");
	if (finding->value < finding->least)
		return decide_outside(finding, "too low", high < finding->least);
	if (finding->value > finding->most)
		return decide_outside(finding, "too high", low > finding->most);
	if (low < finding->least || high > finding->most)
		return say(finding, ZM_GRADE_INCONCLUSIVE,
			   "within the limits, but the interval of its %zu launches reaches over "
			   "one: more launches would tell",
			   finding->nr);
	return say(finding, ZM_GRADE_PASS, "%s",
		   finding->nr == 1 ? "one launch, without an interval" : "");
}

static void take_limits(struct zm_finding *finding, const struct zm_criterion *criterion,
			const struct zm_facts *facts)
{
	const struct zm_band *band =
		facts->bands ? zm_bands_find(facts->bands, criterion->name) : NULL;

	finding->least = criterion->least;
	finding->most = criterion->most;
	if (!band)
		return;
	finding->is_banded = true;
	/* What has no lower limit is the better the lower it is. */
	if (criterion->kind == ZM_CRITERION_THROUGHPUT || criterion->kind == ZM_CRITERION_SCALING)
		finding->least = band->least;
	finding->most = band->most;
}

/* --- values --- */

struct values {
	double *list;
	size_t nr, capacity;
};

static int put(struct values *values, double value)
{
	int r = zm_array_grow((void **)&values->list, &values->capacity, values->nr,
			      sizeof(*values->list));

	if (r == 0)
		values->list[values->nr++] = value;
	return r;
}

static bool is_of(const struct zm_facts *facts, const struct zm_criterion *criterion,
		  const struct zm_evidence_run *run)
{
	return (!facts->machine || strcmp(facts->machine, run->view->info.machine) == 0) &&
	       (!facts->boot || strcmp(facts->boot, run->view->info.boot) == 0) &&
	       zm_evidence_run_is(run, criterion->about, criterion->options);
}

static bool is_good(const struct zm_evidence_run *run)
{
	return run->view->info.status == ZM_STATUS_OK;
}

static const struct zm_result *figure_of(const struct zm_evidence_run *run, const char *metric)
{
	if (metric)
		return zm_run_view_result(run->view, metric);
	for (size_t i = 0; i < run->view->nr_results; i++) {
		if (run->view->results[i].is_primary)
			return &run->view->results[i];
	}
	return NULL;
}

static int put_figure(struct values *values, struct zm_finding *finding,
		      const struct zm_evidence_run *run, const char *metric)
{
	const struct zm_result *result = figure_of(run, metric);

	if (!result)
		return 0;
	(void)snprintf(finding->unit, sizeof(finding->unit), "%s",
		       result->unit ? result->unit : "");
	return put(values, result->value);
}

/* Nothing to judge: why not? A launch that failed or was skipped has the reason. */
static int say_nothing(struct zm_finding *finding, const struct zm_criterion *criterion,
		       const struct zm_facts *facts)
{
	const struct zm_evidence *evidence = facts->evidence;
	size_t nr = 0;

	if (facts->not_run)
		return say(finding, ZM_GRADE_INCONCLUSIVE, "%s", facts->not_run);
	for (size_t i = 0; i < evidence->nr; i++) {
		const struct zm_evidence_run *run = &evidence->runs[i];

		if (!is_of(facts, criterion, run))
			continue;
		nr++;
		if (!is_good(run))
			return say(finding, ZM_GRADE_INCONCLUSIVE, "its run %s: %s",
				   zm_status_name(run->view->info.status),
				   run->view->info.reason ? run->view->info.reason : "?");
	}
	return say(finding, ZM_GRADE_INCONCLUSIVE, "%s",
		   nr ? "its runs have no such figure" : "none of the runs is of this");
}

/* The mean of the logarithms and its interval; of values that are not all positive, of themselves. */
static void average(struct zm_finding *finding, const struct values *values)
{
	double mean = 0, sum = 0, half;
	bool is_log = true;
	size_t nr = values->nr;

	for (size_t i = 0; i < nr; i++)
		is_log = is_log && values->list[i] > 0;
	for (size_t i = 0; i < nr; i++)
		mean += (is_log ? log(values->list[i]) : values->list[i]) / (double)nr;
	for (size_t i = 0; i < nr; i++)
		sum += pow((is_log ? log(values->list[i]) : values->list[i]) - mean, 2);
	finding->nr = nr;
	finding->value = is_log ? exp(mean) : mean;
	if (nr < 2)
		return;
	half = zm_t_quantile(1 - (1 - CONFIDENCE) / 2, (double)nr - 1) *
	       sqrt(sum / ((double)nr - 1) / (double)nr);
	finding->low = is_log ? exp(mean - half) : mean - half;
	finding->high = is_log ? exp(mean + half) : mean + half;
}

/* --- kinds --- */

static int judge_throughput(const struct zm_criterion *criterion, const struct zm_facts *facts,
			    struct zm_finding *finding)
{
	struct values values = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];

		if (is_of(facts, criterion, run) && is_good(run) && zm_evidence_is_whole(run))
			r = put_figure(&values, finding, run, criterion->metric);
	}
	if (r == 0 && values.nr == 0) {
		r = say_nothing(finding, criterion, facts);
	} else if (r == 0) {
		average(finding, &values);
		r = decide(finding);
	}
	free(values.list);
	return r;
}

static int judge_spread(const struct zm_criterion *criterion, const struct zm_facts *facts,
			struct zm_finding *finding)
{
	struct values values = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];

		if (is_of(facts, criterion, run) && is_good(run) && zm_evidence_is_whole(run))
			r = put_figure(&values, finding, run, criterion->metric);
	}
	finding->nr = values.nr;
	if (r == 0 && values.nr == 0) {
		r = say_nothing(finding, criterion, facts);
	} else if (r == 0 && values.nr < 3) {
		r = say(finding, ZM_GRADE_INCONCLUSIVE,
			"%zu launches went well; three are the least that have a spread",
			values.nr);
	} else if (r == 0) {
		finding->value = zm_stat_cv(values.list, values.nr);
		r = decide(finding);
	}
	free(values.list);
	return r;
}

/* All tasks' operations per second. */
static int put_total(struct values *values, const struct zm_evidence_run *run)
{
	const struct zm_result *ops = zm_run_view_result(run->view, ZM_FIGURE_OPS);

	if (!ops || ops->interval_ns == 0 || !(ops->value > 0))
		return 0;
	return put(values, ops->value * (double)ZM_NS_PER_S / (double)ops->interval_ns);
}

/* Two samples' ratio, base to new, with its interval. */
static int ratio_of(const struct values *base, const struct values *new, double alpha,
		    struct zm_judgement *ret_judgement)
{
	struct zm_judge judge = { .alpha = alpha, .power = 0.8, .margin = 0.01 };
	int r = zm_judge_samples(&judge, base->list, base->nr, new->list, new->nr, ret_judgement);

	zm_judge_release(&judge);
	return r;
}

static int decide_scaling(struct zm_finding *finding, const struct values *from,
			  const struct values *to, double times)
{
	struct zm_judgement judgement;
	int r = ratio_of(from, to, 1 - CONFIDENCE, &judgement);

	if (r < 0)
		return r;
	finding->nr = from->nr < to->nr ? from->nr : to->nr;
	finding->value = (1 + judgement.change) / times;
	finding->low = (1 + judgement.low) / times;
	finding->high = (1 + judgement.high) / times;
	return decide(finding);
}

static int judge_scaling(const struct zm_criterion *criterion, const struct zm_facts *facts,
			 struct zm_finding *finding)
{
	struct values from = { 0 }, to = { 0 };
	double nr_from = NAN, nr_to = NAN;
	int r = 0;

	for (size_t i = 0; r == 0 && i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];

		if (!is_of(facts, criterion, run) || !is_good(run) || !zm_evidence_is_whole(run))
			continue;
		if (zm_evidence_has_option(run->cell, "nr_task", criterion->from)) {
			nr_from = run->nr_units;
			r = put_total(&from, run);
		} else if (zm_evidence_has_option(run->cell, "nr_task", criterion->to)) {
			nr_to = run->nr_units;
			r = put_total(&to, run);
		}
	}
	if (r == 0 && (from.nr == 0 || to.nr == 0))
		r = say_nothing(finding, criterion, facts);
	else if (r == 0 && nr_from == nr_to)
		r = say(finding, ZM_GRADE_INCONCLUSIVE,
			"nr_task=%s and nr_task=%s are both %g here: nothing to scale",
			criterion->from, criterion->to, nr_to);
	else if (r == 0)
		r = decide_scaling(finding, &from, &to, nr_to / nr_from);
	free(from.list);
	free(to.list);
	return r;
}

/* --- symmetry --- */

struct groups {
	const char *names[MAX_GROUPS];
	struct values values[MAX_GROUPS];
	size_t nr;
};

static int put_group(struct groups *groups, struct zm_finding *finding,
		     const struct zm_evidence_run *run, const char *name, const char *metric)
{
	size_t i = 0;

	while (i < groups->nr && strcmp(groups->names[i], name) != 0)
		i++;
	if (i == MAX_GROUPS)
		return 0;
	if (i == groups->nr)
		groups->names[groups->nr++] = name;
	return put_figure(&groups->values[i], finding, run, metric);
}

/* The pair's difference; the largest value and bounds so far are kept. */
static int compare_pair(struct zm_finding *finding, const struct groups *groups, size_t a, size_t b,
			double alpha)
{
	struct zm_judgement judgement;
	int r = ratio_of(&groups->values[a], &groups->values[b], alpha, &judgement);
	double low, high;

	if (r < 0)
		return r;
	if (!(fabs(judgement.change) <= finding->value)) {
		finding->value = fabs(judgement.change);
		(void)snprintf(finding->text, sizeof(finding->text), "%.40s against %.40s",
			       groups->names[b], groups->names[a]);
	}
	if (isnan(judgement.low) || isnan(judgement.high))
		return 0;
	high = fmax(fabs(judgement.low), fabs(judgement.high));
	low = judgement.low <= 0 && judgement.high >= 0
		      ? 0
		      : fmin(fabs(judgement.low), fabs(judgement.high));
	finding->high = fmax(high, finding->high); /* the other one, when one is NaN */
	finding->low = fmax(low, finding->low);
	return 0;
}

static int decide_symmetry(struct zm_finding *finding, const struct groups *groups)
{
	double nr_pairs = (double)groups->nr * (double)(groups->nr - 1) / 2;
	char pair[100];
	int r = 0;

	finding->nr = groups->values[0].nr;
	for (size_t a = 0; a < groups->nr; a++) {
		if (groups->values[a].nr < finding->nr)
			finding->nr = groups->values[a].nr;
		for (size_t b = a + 1; r == 0 && b < groups->nr; b++)
			r = compare_pair(finding, groups, a, b, (1 - CONFIDENCE) / nr_pairs);
	}
	if (r < 0)
		return r;
	(void)snprintf(pair, sizeof(pair), "%.96s", finding->text);
	r = decide(finding);
	if (finding->grade == ZM_GRADE_FAIL)
		return say(finding, ZM_GRADE_FAIL, "too high: %s", pair);
	return r;
}

static int judge_symmetry(const struct zm_criterion *criterion, const struct zm_facts *facts,
			  struct zm_finding *finding)
{
	const char *part = zm_part_names[criterion->part];
	double nr_parts = facts->parts[criterion->part];
	struct groups *groups = calloc(1, sizeof(*groups));
	size_t nr_without = 0;
	int r = groups ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];
		const char *name = zm_evidence_group(run, part);

		if (name && is_of(facts, criterion, run) && is_good(run))
			r = put_group(groups, finding, run, name, criterion->metric);
	}
	for (size_t i = 0; r == 0 && i < groups->nr; i++)
		nr_without += groups->values[i].nr == 0;
	if (r == 0 && nr_parts < 2)
		r = say(finding, ZM_GRADE_INCONCLUSIVE,
			"this machine has one of its %s in use: nothing to compare", part);
	else if (r == 0 && (groups->nr < 2 || nr_without))
		r = say_nothing(finding, criterion, facts);
	else if (r == 0 && (double)groups->nr < nr_parts)
		r = say(finding, ZM_GRADE_INCONCLUSIVE, "only %zu of its %g %s were measured",
			groups->nr, nr_parts, part);
	else if (r == 0)
		r = decide_symmetry(finding, groups);
	for (size_t i = 0; groups && i < groups->nr; i++)
		free(groups->values[i].list);
	free(groups);
	return r;
}

/* --- what runs leave behind, and what they carried --- */

static bool left_of(const struct zm_evidence_run *run, double *ret_bytes)
{
	const struct zm_result *idle = zm_run_view_result(run->view, ZM_FIGURE_IDLE_USED);
	const struct zm_result *drained = zm_run_view_result(run->view, ZM_FIGURE_DRAINED_USED);

	if (!idle || !drained)
		return false;
	*ret_bytes = drained->value - idle->value;
	return true;
}

static int judge_memory(const struct zm_criterion *criterion, const struct zm_facts *facts,
			struct zm_finding *finding)
{
	double worst = -INFINITY, left;
	size_t nr_blind = 0;

	for (size_t i = 0; i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];

		if (!is_of(facts, criterion, run) || !is_good(run))
			continue;
		finding->nr++;
		if (left_of(run, &left))
			worst = fmax(worst, left);
		else
			nr_blind++;
	}
	if (finding->nr == 0)
		return say_nothing(finding, criterion, facts);
	if (nr_blind)
		return say(finding, ZM_GRADE_INCONCLUSIVE,
			   "used memory after the drain is not known of %zu of its %zu launches",
			   nr_blind, finding->nr);
	if (!(facts->parts[ZM_PART_MEMORY] > 0))
		return say(finding, ZM_GRADE_INCONCLUSIVE, "how much memory it has is not known");
	/* What went down meanwhile was somebody else's. */
	finding->value = fmax(worst, 0) / facts->parts[ZM_PART_MEMORY];
	(void)decide(finding);
	if (finding->grade == ZM_GRADE_PASS)
		return say(finding, ZM_GRADE_PASS, "the most that a launch left");
	return 0;
}

/* "verify: message 7 …" is what a checker's failure begins with. */
static bool is_corrupt(const struct zm_evidence_run *run)
{
	const char *reason = run->view->info.reason;

	return run->view->info.status == ZM_STATUS_FAILED && reason && strstr(reason, "verify: ");
}

static int judge_payload(const struct zm_criterion *criterion, const struct zm_facts *facts,
			 struct zm_finding *finding)
{
	double nr_messages = 0;

	for (size_t i = 0; i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];

		if (is_of(facts, criterion, run) && is_corrupt(run))
			return say(finding, ZM_GRADE_FAIL, "%s: %s", run->view->info.workload,
				   run->view->info.reason);
	}
	for (size_t i = 0; i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];
		const struct zm_result *verified =
			zm_run_view_result(run->view, "netload.verified");
		const char *how = json_string_value(json_object_get(run->cell, "verify"));

		if (!is_of(facts, criterion, run) || !how)
			continue;
		if (!is_good(run))
			return say(finding, ZM_GRADE_INCONCLUSIVE, "a run of %s %s: %s",
				   run->view->info.workload, zm_status_name(run->view->info.status),
				   run->view->info.reason ? run->view->info.reason : "?");
		if (strcmp(how, "full") != 0 || !verified || !(verified->value > 0))
			return say(finding, ZM_GRADE_INCONCLUSIVE,
				   "not every byte of %s was verified (verify=%s)",
				   run->view->info.workload, how);
		nr_messages += verified->value;
		finding->nr++;
	}
	if (finding->nr == 0 && !facts->not_run)
		return say(finding, ZM_GRADE_INCONCLUSIVE,
			   "none of its runs verifies what it carries (verify: full)");
	if (finding->nr == 0)
		return say_nothing(finding, criterion, facts);
	finding->value = nr_messages;
	(void)snprintf(finding->unit, sizeof(finding->unit), "messages");
	return say(finding, ZM_GRADE_PASS, "every byte verified at its receiver, none corrupt");
}

/* Other load on the machine: what was measured then is the machine's with it. */
static bool is_disturbed(const struct zm_evidence_run *run)
{
	for (size_t i = 0; i < run->view->nr_notes; i++) {
		if (strcmp(run->view->notes[i].kind, "disturbed") == 0)
			return true;
	}
	return false;
}

static int judge_runs(const struct zm_criterion *criterion, const struct zm_facts *facts,
		      struct zm_finding *finding)
{
	const struct zm_evidence_run *skipped = NULL, *failed = NULL;
	size_t nr_failed = 0, nr_skipped = 0, nr_disturbed = 0;

	for (size_t i = 0; i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];

		if (!is_of(facts, criterion, run))
			continue;
		finding->nr++;
		nr_disturbed += is_disturbed(run);
		if (run->view->info.status == ZM_STATUS_FAILED && nr_failed++ == 0)
			failed = run;
		else if (!is_good(run) && run->view->info.status != ZM_STATUS_FAILED &&
			 nr_skipped++ == 0)
			skipped = run;
	}
	if (failed)
		return say(finding, ZM_GRADE_FAIL, "%zu of %zu failed; %s: %s", nr_failed,
			   finding->nr, failed->view->info.workload,
			   failed->view->info.reason ? failed->view->info.reason : "?");
	if (skipped)
		return say(finding, ZM_GRADE_INCONCLUSIVE, "%zu of %zu did not run; %s: %s",
			   nr_skipped, finding->nr, skipped->view->info.workload,
			   skipped->view->info.reason ? skipped->view->info.reason : "?");
	if (facts->not_run || finding->nr == 0)
		return say_nothing(finding, criterion, facts);
	if (nr_disturbed)
		return say(finding, ZM_GRADE_PASS,
			   "all %zu launches went well, %zu of them disturbed by other load",
			   finding->nr, nr_disturbed);
	return say(finding, ZM_GRADE_PASS, "all %zu launches went well", finding->nr);
}

/* --- the machine --- */

static int judge_machine(const struct zm_criterion *criterion, const struct zm_facts *facts,
			 struct zm_finding *finding)
{
	finding->value = facts->parts[criterion->part];
	if (isnan(finding->value))
		return say(finding, ZM_GRADE_INCONCLUSIVE, "how many it has is not known");
	return decide(finding);
}

static int judge_no_new(const struct zm_criterion *criterion, const struct zm_facts *facts,
			struct zm_finding *finding)
{
	bool is_hidden = facts->is_guest && criterion->class != ZM_HEALTH_NIC;
	char text[200] = "";

	if (facts->not_run || !facts->before || !facts->after)
		return say(finding, ZM_GRADE_INCONCLUSIVE, "%s",
			   facts->not_run ? facts->not_run : "its counters were not read");
	switch (zm_health_compare(facts->before, facts->after, criterion->class, text,
				  sizeof(text))) {
	case ZM_HEALTH_RISEN:
		return say(finding, ZM_GRADE_FAIL, "%s", text);
	case ZM_HEALTH_STILL:
		if (is_hidden)
			return say(finding, ZM_GRADE_INCONCLUSIVE,
				   "%s, but a guest does not see what its host's hardware suffers",
				   text);
		return say(finding, ZM_GRADE_PASS, "%s", text);
	default:
		return say(finding, ZM_GRADE_INCONCLUSIVE, "%s", text);
	}
}

static int judge_time(const struct zm_criterion *criterion, const struct zm_facts *facts,
		      struct zm_finding *finding)
{
	(void)criterion;
	finding->value = facts->elapsed_s;
	(void)snprintf(finding->unit, sizeof(finding->unit), "s");
	if (facts->not_run || isnan(finding->value))
		return say(finding, ZM_GRADE_INCONCLUSIVE, "%s",
			   facts->not_run ? facts->not_run : "how long it took is not known");
	return decide(finding);
}

/* What other load on the machine may have done is no proof against it. */
static void excuse(const struct zm_criterion *criterion, const struct zm_facts *facts,
		   struct zm_finding *finding)
{
	size_t nr_disturbed = 0;
	char text[sizeof(finding->text)];

	for (size_t i = 0; i < facts->evidence->nr; i++) {
		const struct zm_evidence_run *run = &facts->evidence->runs[i];

		nr_disturbed += is_of(facts, criterion, run) && is_disturbed(run);
	}
	if (finding->grade != ZM_GRADE_FAIL || nr_disturbed == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s", finding->text);
	(void)say(finding, ZM_GRADE_INCONCLUSIVE,
		  "%.200s, but %zu of its launches were disturbed by other load: run it on an "
		  "idle machine",
		  text, nr_disturbed);
}

static bool is_measured(enum zm_criterion_kind kind)
{
	return kind == ZM_CRITERION_THROUGHPUT || kind == ZM_CRITERION_SCALING ||
	       kind == ZM_CRITERION_SPREAD || kind == ZM_CRITERION_SYMMETRY ||
	       kind == ZM_CRITERION_MEMORY;
}

int zm_finding_make(const struct zm_criterion *criterion, const struct zm_facts *facts,
		    struct zm_finding *ret_finding)
{
	static int (*const judges[])(const struct zm_criterion *criterion,
				     const struct zm_facts *facts, struct zm_finding *finding) = {
		[ZM_CRITERION_RUNS] = judge_runs,
		[ZM_CRITERION_MACHINE] = judge_machine,
		[ZM_CRITERION_THROUGHPUT] = judge_throughput,
		[ZM_CRITERION_SCALING] = judge_scaling,
		[ZM_CRITERION_SPREAD] = judge_spread,
		[ZM_CRITERION_SYMMETRY] = judge_symmetry,
		[ZM_CRITERION_MEMORY] = judge_memory,
		[ZM_CRITERION_PAYLOAD] = judge_payload,
		[ZM_CRITERION_NO_NEW] = judge_no_new,
		[ZM_CRITERION_TIME] = judge_time,
	};
	struct zm_finding finding = { .value = NAN, .low = NAN, .high = NAN };
	int r;

	take_limits(&finding, criterion, facts);
	for (int part = 0; part < ZM_NR_PARTS; part++) {
		if (facts->parts[part] < criterion->where[part]) {
			(void)say(&finding, ZM_GRADE_NOT_FOR_IT, "it is for %g %s or more",
				  criterion->where[part], zm_part_names[part]);
			*ret_finding = finding;
			return 0;
		}
	}
	r = judges[criterion->kind](criterion, facts, &finding);
	if (r == 0 && is_measured(criterion->kind))
		excuse(criterion, facts, &finding);
	if (r == 0)
		*ret_finding = finding;
	return r;
}

enum zm_grade zm_finding_overall(const struct zm_finding *findings, size_t nr)
{
	size_t nr_of[ZM_NR_GRADES] = { 0 };

	for (size_t i = 0; i < nr; i++)
		nr_of[findings[i].grade]++;
	if (nr_of[ZM_GRADE_FAIL])
		return ZM_GRADE_FAIL;
	if (nr_of[ZM_GRADE_INCONCLUSIVE] || nr_of[ZM_GRADE_PASS] == 0)
		return ZM_GRADE_INCONCLUSIVE;
	return ZM_GRADE_PASS;
}
