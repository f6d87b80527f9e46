/*
 * hunt: working tree -> reference -> git bisect, step by step -> confirmation.
 *
 * git keeps the state of a bisection for each working tree, so what is checked out in the source folder stays as
 * it is. Whether git has found the commit stands in `git bisect log`, in the same words in every language.
 */
#include "runner/ab/hunt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/ab/boot.h"
#include "runner/ab/look.h"
#include "runner/vm/bytes.h"
#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/remove.h"
#include "workloads/base/units.h"

#define LABEL     160
#define SHORT_SHA 12

const char *zm_hunt_verdict_name(enum zm_hunt_verdict verdict)
{
	static const char *const names[] = {
		[ZM_HUNT_GOOD] = "good",
		[ZM_HUNT_BAD] = "bad",
		[ZM_HUNT_SKIPPED] = "skipped",
	};

	return names[verdict];
}

/* --- a commit's kernel ----------------------------------------------------------------------- */

/* Kept beside the working tree, under the commit's name. */
static char *image_of(const struct zm_hunt *hunt, const char *sha)
{
	char *path = NULL;

	return asprintf(&path, "%s.images/%s", hunt->ask->work, sha) < 0 ? NULL : path;
}

static int check_out(const struct zm_hunt *hunt, const char *sha, struct zm_why *why)
{
	const char *const words[] = { "checkout", "--quiet", "--force", "--detach", sha, NULL };

	return zm_git_run(hunt->ask->work, words, why);
}

static int keep_image(const struct zm_hunt *hunt, const char *to, struct zm_why *why)
{
	zm_autofree char *from = NULL;
	zm_autofree uint8_t *bytes = NULL;
	size_t length;
	int r;

	if (asprintf(&from, "%s/%s", hunt->ask->work, hunt->ask->image) < 0) {
		from = NULL;
		return zm_why_errno(why, -ENOMEM, "the kernel's image");
	}
	r = zm_vm_bytes_read(from, &bytes, &length);
	if (r < 0)
		return zm_why_set(why, -ENOEXEC, "it left no %s", hunt->ask->image);
	r = zm_vm_bytes_write(to, bytes, length);
	return r < 0 ? zm_why_errno(why, r, "%s", to) : 0;
}

/* -ENOEXEC: it does not build. An image of the commit before must not be taken for its own. */
static int build(const struct zm_hunt *hunt, const char *sha, struct zm_why *why)
{
	const char *const argv[] = { "/bin/sh", "-c", hunt->ask->build, NULL };
	const struct zm_vm_tool tool = {
		.argv = argv, .directory = hunt->ask->work, .in_fd = -1, .out_fd = -1
	};
	zm_autofree char *image = image_of(hunt, sha), *stale = NULL;
	int r;

	if (!image || asprintf(&stale, "%s/%s", hunt->ask->work, hunt->ask->image) < 0) {
		stale = NULL;
		return zm_why_errno(why, -ENOMEM, "the kernel's image");
	}
	if (access(image, R_OK) == 0)
		return 0;
	(void)fprintf(stderr, "%s: building %.*s\n", hunt->ask->name, SHORT_SHA, sha);
	(void)unlink(stale);
	r = zm_vm_tool_run(&tool, why);
	if (r == -EIO)
		return -ENOEXEC;
	return r < 0 ? r : keep_image(hunt, image, why);
}

/* --- boots ----------------------------------------------------------------------------------- */

/* suffix: boots of another purpose have another label. */
static char *label_of(const struct zm_hunt *hunt, const char *sha, const char *suffix,
		      char buf[LABEL])
{
	(void)snprintf(buf, LABEL, "%s-%.*s%s", hunt->ask->name, SHORT_SHA, sha, suffix);
	return buf;
}

/* One more boot. -ENOEXEC: three did not come to a measurement. */
static int boot_once(struct zm_hunt *hunt, const char *sha, const char *label, struct zm_why *why)
{
	const struct zm_hunt_ask *ask = hunt->ask;
	zm_autofree char *image = image_of(hunt, sha);
	const struct zm_ab_boot boot = {
		.kernel = image,
		.append = ask->append,
		.label = label,
		.db = ask->db,
		.command = ask->boot_command,
		.accelerator = hunt->accelerator,
		.vm_words = ask->vm_words,
		.words = ask->words,
	};

	if (!image)
		return zm_why_errno(why, -ENOMEM, "a boot");
	for (unsigned int i = 0; i < ZM_AB_TRIES; i++) {
		struct zm_ab_booted booted;
		int r = zm_ab_boot(&boot, &booted, &hunt->signal, why);

		if (r < 0)
			return r;
		if (hunt->signal)
			return zm_why_set(why, -EINTR, "ended by signal %d", hunt->signal);
		if (!booted.boot[0])
			continue;
		if (!hunt->accelerator[0])
			(void)snprintf(hunt->accelerator, sizeof(hunt->accelerator), "%s",
				       booted.accelerator);
		return 0;
	}
	return zm_why_set(why, -ENOEXEC, "does not boot, or its workload cannot run");
}

/* Boots of before, under the same name, count. */
static int boot_up_to(struct zm_hunt *hunt, const char *sha, const char *label, size_t nr,
		      struct zm_why *why)
{
	size_t have;
	int r = zm_ab_nr_boots(hunt->ask->db, label, &have, why);

	for (; r == 0 && have < nr; have++) {
		(void)fprintf(stderr, "%s: boot %zu of %.*s\n", hunt->ask->name, have + 1,
			      SHORT_SHA, sha);
		r = boot_once(hunt, sha, label, why);
	}
	return r;
}

/* Commits in turn, A B B A, up to so many boots of each: what drifts in the machine meets all alike. */
static int boot_in_turn(struct zm_hunt *hunt, const char *const *shas, char (*labels)[LABEL],
			size_t nr_sides, size_t nr, struct zm_why *why)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nr; i++) {
		for (size_t k = 0; r == 0 && k < nr_sides; k++) {
			size_t side = i % 2 ? nr_sides - 1 - k : k;

			r = boot_up_to(hunt, shas[side], labels[side], i + 1, why);
		}
	}
	return r;
}

/* --- looks ----------------------------------------------------------------------------------- */

static bool count_all(const void *context, unsigned int side, const char *boot)
{
	(void)context, (void)side, (void)boot;
	return true;
}

/* What two labels come to, at the last of these looks. */
static int look(const struct zm_hunt *hunt, const char *base, const char *against, double alpha,
		const struct zm_looks *looks, struct zm_ab_look *ret_look, struct zm_why *why)
{
	const struct zm_ab_ask ask = {
		.db = hunt->ask->db,
		.sides = { { base, count_all }, { against, count_all } },
		.alpha = alpha,
		.power = 0.8,
		.least = hunt->ask->least,
		.looks = *looks,
		.most = hunt->ask->most,
		.is_last = looks->at[looks->nr - 1] == hunt->ask->most,
	};

	return zm_ab_look_make(&ask, ret_look, why);
}

static bool has_changed(const struct zm_compare_outcome *outcome)
{
	return outcome->verdict == ZM_VERDICT_WORSE || outcome->verdict == ZM_VERDICT_BETTER ||
	       outcome->verdict == ZM_VERDICT_CHANGED;
}

/* The figure that differs most surely. */
static void choose_figure(struct zm_hunt *hunt, const struct zm_compare *compare)
{
	double best = HUGE_VAL;

	for (size_t i = 0; i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary; k++) {
			const struct zm_compare_metric *metric = &cell->metrics[k];
			const struct zm_compare_outcome *outcome = &metric->outcomes[1];

			if (!has_changed(outcome) || outcome->judgement.p >= best)
				continue;
			best = outcome->judgement.p;
			hunt->is_found = true;
			hunt->is_ratio = outcome->judgement.is_ratio;
			(void)snprintf(hunt->workload, sizeof(hunt->workload), "%s",
				       cell->workload);
			(void)snprintf(hunt->cell, sizeof(hunt->cell), "%s", cell->cell);
			(void)snprintf(hunt->metric, sizeof(hunt->metric), "%s", metric->name);
			(void)snprintf(hunt->unit, sizeof(hunt->unit), "%s", metric->unit);
		}
	}
}

static const struct zm_compare_outcome *outcome_of(const struct zm_hunt *hunt,
						   const struct zm_compare *compare)
{
	for (size_t i = 0; compare && i < compare->nr_cells; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		if (strncmp(cell->cell, hunt->cell, sizeof(hunt->cell) - 1) != 0)
			continue;
		for (size_t k = 0; k < cell->nr_primary; k++)
			if (strcmp(cell->metrics[k].name, hunt->metric) == 0)
				return &cell->metrics[k].outcomes[1];
	}
	return NULL;
}

/* One label against another, in the figure. p NaN: it has none. */
struct against {
	double p, level, change, low, high, value;
	bool has_changed;
};

static int judge(const struct zm_hunt *hunt, const char *base, const char *label, double alpha,
		 const struct zm_looks *looks, struct against *ret_against, struct zm_why *why)
{
	struct zm_looks taken = *looks;
	const struct zm_compare_outcome *outcome;
	struct zm_ab_look made;
	int r = look(hunt, base, label, alpha, &taken, &made, why);

	*ret_against = (struct against){ .p = NAN, .value = NAN, .change = NAN };
	if (r == 0)
		r = zm_looks_level(alpha, &taken, hunt->ask->most,
				   taken.at[taken.nr - 1] == hunt->ask->most, 1,
				   &ret_against->level);
	outcome = r == 0 ? outcome_of(hunt, made.compare) : NULL;
	if (outcome) {
		ret_against->p = outcome->judgement.p;
		ret_against->change = outcome->judgement.change;
		ret_against->low = outcome->judgement.low;
		ret_against->high = outcome->judgement.high;
		ret_against->value = outcome->judgement.new;
		ret_against->has_changed = has_changed(outcome);
	}
	zm_ab_look_release(&made);
	return r == -ENODATA ? 0 : r;
}

/* --- the reference --------------------------------------------------------------------------- */

static struct zm_looks looks_up_to(const struct zm_hunt *hunt, size_t look)
{
	struct zm_looks looks;

	zm_looks_plan(hunt->ask->most, true, &looks);
	looks.nr = look + 1 < looks.nr ? look + 1 : looks.nr;
	return looks;
}

static bool is_last(const struct zm_hunt *hunt, const struct zm_looks *looks)
{
	return looks->at[looks->nr - 1] >= hunt->ask->most;
}

static void fill_step(struct zm_hunt_step *step, const struct against *against, size_t nr_boots)
{
	step->nr_boots = nr_boots;
	step->value = against->value;
	step->change = against->change;
	step->low = against->low;
	step->high = against->high;
}

static void read_subject(const struct zm_hunt *hunt, struct zm_hunt_step *step)
{
	const char *const words[] = { "log", "-1", "--format=%s", step->sha, NULL };
	zm_autofree char *text = NULL;

	if (zm_git_ask(hunt->ask->source, words, &text, NULL) == 0)
		(void)snprintf(step->subject, sizeof(step->subject), "%s", text);
}

static struct zm_hunt_step *new_step(struct zm_hunt *hunt, const char *sha)
{
	struct zm_hunt_step *step;

	if (hunt->nr_steps == ZM_HUNT_STEPS)
		return NULL;
	step = &hunt->steps[hunt->nr_steps++];
	*step = (struct zm_hunt_step){ .value = NAN, .change = NAN };
	(void)snprintf(step->sha, sizeof(step->sha), "%s", sha);
	read_subject(hunt, step);
	return step;
}

static int build_reference(struct zm_hunt *hunt, const char *sha, const char *what,
			   struct zm_why *why)
{
	int r = check_out(hunt, sha, why);

	if (r == 0)
		r = build(hunt, sha, why);
	if (r == -ENOEXEC)
		zm_why_prefix(why, "the %s commit %.*s does not build", what, SHORT_SHA, sha);
	return r;
}

static int note_reference(struct zm_hunt *hunt, char labels[2][LABEL], const struct zm_looks *looks,
			  struct zm_why *why)
{
	static const enum zm_hunt_verdict verdicts[] = { ZM_HUNT_GOOD, ZM_HUNT_BAD };
	const char *const shas[] = { hunt->good, hunt->bad };
	int r = 0;

	for (unsigned int side = 0; side < 2 && r == 0; side++) {
		struct zm_hunt_step *step = new_step(hunt, shas[side]);
		struct against against;

		r = judge(hunt, labels[0], labels[side], hunt->ask->alpha, looks, &against, why);
		step->verdict = verdicts[side];
		(void)snprintf(step->why, sizeof(step->why), "given");
		if (r == 0)
			fill_step(step, &against, looks->at[looks->nr - 1]);
	}
	return r;
}

static int measure_reference(struct zm_hunt *hunt, struct zm_why *why)
{
	const char *const shas[] = { hunt->good, hunt->bad };
	char labels[2][LABEL];
	struct zm_looks looks = { .nr = 0 };
	int r = 0;

	(void)label_of(hunt, hunt->good, "", labels[0]);
	(void)label_of(hunt, hunt->bad, "", labels[1]);
	for (size_t i = 0; r == 0 && !hunt->is_found && (i == 0 || !is_last(hunt, &looks)); i++) {
		struct zm_ab_look made = { 0 };

		looks = looks_up_to(hunt, i);
		r = boot_in_turn(hunt, shas, labels, 2, looks.at[looks.nr - 1], why);
		if (r == 0)
			r = look(hunt, labels[0], labels[1], hunt->ask->alpha, &looks, &made, why);
		if (r == 0)
			choose_figure(hunt, made.compare);
		zm_ab_look_release(&made);
	}
	if (r == -ENOEXEC)
		zm_why_prefix(why, "the good or the bad commit");
	return r < 0 ? r : note_reference(hunt, labels, &looks, why);
}

/* --- a step ---------------------------------------------------------------------------------- */

static bool is_nearer_to_bad(const struct zm_hunt *hunt, const struct against *good,
			     const struct against *bad)
{
	if (hunt->is_ratio)
		return fabs(log1p(bad->change)) < fabs(log1p(good->change));
	return fabs(bad->change) < fabs(good->change);
}

/* True: it is decided. */
static bool decide(const struct zm_hunt *hunt, struct zm_hunt_step *step,
		   const struct against *good, const struct against *bad)
{
	bool is_not_good = good->p <= good->level, is_not_bad = bad->p <= bad->level;

	if (!is_not_good && !is_not_bad)
		return false;
	step->verdict = is_not_bad ? ZM_HUNT_GOOD : ZM_HUNT_BAD;
	if (is_not_good && is_not_bad) {
		step->verdict = is_nearer_to_bad(hunt, good, bad) ? ZM_HUNT_BAD : ZM_HUNT_GOOD;
		(void)snprintf(step->why, sizeof(step->why), "is like neither; the nearer one");
	}
	return true;
}

static void skip(struct zm_hunt_step *step, const char *why)
{
	step->verdict = ZM_HUNT_SKIPPED;
	(void)snprintf(step->why, sizeof(step->why), "%s", why);
}

/* So many steps will be taken, so each has this part of the error. */
static double alpha_of_step(const struct zm_hunt *hunt)
{
	return hunt->ask->alpha / fmax(1, ceil(log2((double)hunt->nr_commits + 1)));
}

/* With new boots of the good and the bad one: those of before were of another hour. */
static int measure_step(struct zm_hunt *hunt, struct zm_hunt_step *step, struct zm_why *why)
{
	const char *const shas[] = { hunt->good, hunt->bad, step->sha };
	char labels[3][LABEL], suffix[32];
	struct zm_looks looks = { .nr = 0 };
	bool is_decided = false;
	int r = 0;

	(void)snprintf(suffix, sizeof(suffix), "-for-%.8s", step->sha);
	(void)label_of(hunt, hunt->good, suffix, labels[0]);
	(void)label_of(hunt, hunt->bad, suffix, labels[1]);
	(void)label_of(hunt, step->sha, "", labels[2]);
	for (size_t i = 0; r == 0 && !is_decided && (i == 0 || !is_last(hunt, &looks)); i++) {
		struct against good, bad;

		looks = looks_up_to(hunt, i);
		r = boot_in_turn(hunt, shas, labels, 3, looks.at[looks.nr - 1], why);
		if (r == 0)
			r = judge(hunt, labels[0], labels[2], alpha_of_step(hunt), &looks, &good,
				  why);
		if (r == 0)
			r = judge(hunt, labels[1], labels[2], alpha_of_step(hunt), &looks, &bad,
				  why);
		if (r < 0)
			break;
		fill_step(step, &good, looks.at[looks.nr - 1]);
		is_decided = decide(hunt, step, &good, &bad);
	}
	if (r == 0 && !is_decided)
		skip(step,
		     isnan(step->value) ? "its runs failed" : "cannot be told within the boots");
	return r;
}

static int take_step(struct zm_hunt *hunt, struct zm_hunt_step *step, struct zm_why *why)
{
	struct zm_why here = { { 0 } };
	int r = build(hunt, step->sha, &here);

	if (r == 0)
		r = measure_step(hunt, step, &here);
	if (r == -ENOEXEC) {
		skip(step, here.text);
		return 0;
	}
	if (r < 0 && why)
		*why = here;
	return r;
}

/* --- git bisect ------------------------------------------------------------------------------ */

static int bisect(const struct zm_hunt *hunt, const char *word, const char *sha, const char *other,
		  struct zm_why *why)
{
	const char *const words[] = { "bisect", word, sha, other, NULL };

	return zm_git_run(hunt->ask->work, words, why);
}

/* "# first bad commit: [SHA] subject", "# possible first bad commit: [SHA] subject" */
static void read_result(struct zm_hunt *hunt, const char *line)
{
	static const char first[] = "# first bad commit: [",
			  possible[] = "# possible first bad commit: [";
	char *to = NULL;

	if (strncmp(line, first, sizeof(first) - 1) == 0) {
		line += sizeof(first) - 1;
		to = hunt->culprit;
	} else if (strncmp(line, possible, sizeof(possible) - 1) == 0 &&
		   hunt->nr_candidates < ZM_HUNT_STEPS) {
		line += sizeof(possible) - 1;
		to = hunt->candidates[hunt->nr_candidates++];
	}
	if (to)
		(void)snprintf(to, ZM_GIT_SHA, "%s", line);
}

static int read_log(struct zm_hunt *hunt, struct zm_why *why)
{
	static const char *const words[] = { "bisect", "log", NULL };
	zm_autofree char *text = NULL;
	char *rest, *line;
	int r = zm_git_ask(hunt->ask->work, words, &text, why);

	rest = text;
	while (r == 0 && (line = strsep(&rest, "\n")))
		read_result(hunt, line);
	return r;
}

static int take_steps(struct zm_hunt *hunt, struct zm_why *why)
{
	static const char *const words[] = {
		[ZM_HUNT_GOOD] = "good", [ZM_HUNT_BAD] = "bad", [ZM_HUNT_SKIPPED] = "skip"
	};
	int r = bisect(hunt, "start", hunt->bad, hunt->good, why);

	if (r == 0)
		r = read_log(hunt, why);
	while (r == 0 && !hunt->culprit[0] && !hunt->nr_candidates) {
		char sha[ZM_GIT_SHA];
		struct zm_hunt_step *step;

		r = zm_git_commit(hunt->ask->work, "HEAD", sha, why);
		step = r == 0 ? new_step(hunt, sha) : NULL;
		if (r == 0 && !step)
			return zm_why_set(why, -E2BIG, "more than %d steps", ZM_HUNT_STEPS);
		if (r == 0)
			r = take_step(hunt, step, why);
		if (r < 0)
			break;
		/* with status 2 when only skipped ones are left; the log says so, too */
		(void)bisect(hunt, words[step->verdict], sha, NULL, why);
		r = read_log(hunt, why);
	}
	return r;
}

/* --- the culprit, once more ------------------------------------------------------------------ */

static int compare_again(struct zm_hunt *hunt, const char *const *shas, struct zm_why *why)
{
	char labels[2][LABEL];
	struct zm_looks looks = { .nr = 0 };
	struct against against = { .p = NAN };
	int r = 0;

	for (unsigned int side = 0; side < 2; side++)
		(void)label_of(hunt, shas[side], "-again", labels[side]);
	for (size_t i = 0; r == 0 && !against.has_changed && (i == 0 || !is_last(hunt, &looks));
	     i++) {
		looks = looks_up_to(hunt, i);
		r = boot_in_turn(hunt, shas, labels, 2, looks.at[looks.nr - 1], why);
		if (r == 0)
			r = judge(hunt, labels[0], labels[1], hunt->ask->alpha, &looks, &against,
				  why);
	}
	if (r < 0)
		return r;
	fill_step(&hunt->confirmed, &against, looks.at[looks.nr - 1]);
	hunt->is_confirmed = against.has_changed;
	return 0;
}

/* A parent that does not build is no failure of the hunt. */
static int confirm(struct zm_hunt *hunt, struct zm_why *why)
{
	char parent[ZM_GIT_SHA], revision[ZM_GIT_SHA + 2];
	const char *const shas[] = { parent, hunt->culprit };
	int r;

	(void)snprintf(revision, sizeof(revision), "%s^", hunt->culprit);
	r = zm_git_commit(hunt->ask->work, revision, parent, why);
	(void)fprintf(stderr, "%s: %.*s, and its parent, once more\n", hunt->ask->name, SHORT_SHA,
		      hunt->culprit);
	for (unsigned int side = 0; side < 2 && r == 0; side++) {
		r = check_out(hunt, shas[side], why);
		if (r == 0)
			r = build(hunt, shas[side], why);
	}
	if (r == 0)
		r = compare_again(hunt, shas, why);
	return r == -ENOEXEC ? 0 : r;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int resolve(struct zm_hunt *hunt, struct zm_why *why)
{
	const struct zm_hunt_ask *ask = hunt->ask;
	zm_autofree char *count = NULL;
	char range[2 * ZM_GIT_SHA + 2];
	const char *const count_words[] = { "rev-list", "--count", range, NULL };
	const char *const base_words[] = { "merge-base", "--is-ancestor", hunt->good, hunt->bad,
					   NULL };
	uint64_t nr = 0;
	int r = zm_git_commit(ask->source, ask->good, hunt->good, why);

	if (r == 0)
		r = zm_git_commit(ask->source, ask->bad, hunt->bad, why);
	if (r < 0)
		return r;
	if (strcmp(hunt->good, hunt->bad) == 0 || zm_git_run(ask->source, base_words, NULL) < 0)
		return zm_why_set(why, -EINVAL, "%s comes not before %s in %s", ask->good, ask->bad,
				  ask->source);
	(void)snprintf(range, sizeof(range), "%s..%s", hunt->good, hunt->bad);
	r = zm_git_ask(ask->source, count_words, &count, why);
	if (r == 0 && zm_units_parse_u64(count, &nr) == 0)
		hunt->nr_commits = (size_t)nr;
	return r;
}

/* One of before, that a crash has left, is taken away first. */
static int make_work(const struct zm_hunt *hunt, struct zm_why *why)
{
	const struct zm_hunt_ask *ask = hunt->ask;
	const char *const remove[] = { "worktree", "remove", "--force", ask->work, NULL };
	const char *const prune[] = { "worktree", "prune", NULL };
	const char *const add[] = { "worktree", "add",     "--quiet",  "--force",
				    "--detach", ask->work, hunt->good, NULL };
	zm_autofree char *images = NULL;

	if (asprintf(&images, "%s.images", ask->work) < 0) {
		images = NULL;
		return zm_why_errno(why, -ENOMEM, "%s", ask->work);
	}
	if (!ask->is_kept)
		(void)zm_remove_tree(images, NULL);
	if (mkdir(images, 0755) < 0 && errno != EEXIST)
		return zm_why_errno(why, -errno, "%s", images);
	if (access(ask->work, F_OK) == 0 && ask->is_kept)
		return check_out(hunt, hunt->good, why);
	(void)zm_git_run(ask->source, remove, NULL);
	(void)zm_git_run(ask->source, prune, NULL);
	return zm_git_run(ask->source, add, why);
}

static void remove_work(const struct zm_hunt *hunt)
{
	const char *const remove[] = { "worktree", "remove", "--force", hunt->ask->work, NULL };
	zm_autofree char *images = NULL;

	(void)bisect(hunt, "reset", NULL, NULL, NULL);
	if (hunt->ask->is_kept)
		return;
	(void)zm_git_run(hunt->ask->source, remove, NULL);
	if (asprintf(&images, "%s.images", hunt->ask->work) < 0)
		images = NULL;
	else
		(void)zm_remove_tree(images, NULL);
}

static int hunt_down(struct zm_hunt *hunt, struct zm_why *why)
{
	int r = build_reference(hunt, hunt->good, "good", why);

	if (r == 0)
		r = build_reference(hunt, hunt->bad, "bad", why);
	if (r == 0)
		r = measure_reference(hunt, why);
	if (r < 0 || !hunt->is_found)
		return r;
	r = take_steps(hunt, why);
	return r == 0 && hunt->culprit[0] && hunt->ask->is_confirmed ? confirm(hunt, why) : r;
}

int zm_hunt_run(const struct zm_hunt_ask *ask, struct zm_hunt *hunt, struct zm_why *why)
{
	int r;

	*hunt = (struct zm_hunt){ .ask = ask };
	r = resolve(hunt, why);
	if (r < 0)
		return r;
	r = make_work(hunt, why);
	if (r == 0)
		r = hunt_down(hunt, why);
	remove_work(hunt);
	return r;
}
