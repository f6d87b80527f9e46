/*
 * cmd_bisect: the commit that changed a figure, and what shows that it did.
 *
 *     words -> ask -> hunt (runner/ab/hunt.h) -> table of evidence, culprit, exit status
 */
#include "runner/cmd.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/looks.h"
#include "results/table.h"
#include "runner/ab/hunt.h"
#include "runner/ab/plan.h"
#include "runner/ab/words.h"
#include "runner/cmd_rows.h"
#include "runner/vm/bytes.h"
#include "runner/vm/cache.h"
#include "workloads/base/cleanup.h"

#define USUAL_IMAGE "arch/x86/boot/bzImage"
#define USUAL_BUILD                                                                                \
	"{ test -e .config || make -s defconfig; } && make -s olddefconfig && "                    \
	"make -s -j\"$(nproc)\" bzImage"
#define SHORT_SHA 12

struct switches {
	char *good, *bad, *source, *build, *image, *config, *work, *name, *db, *boot, *append;
	uint64_t boots;
	double least, confidence;
	bool confirm;
	struct zm_ab_guest guest;
};

#define AT(member)               offsetof(struct switches, member)
#define GUEST(member)            AT(guest.member)
#define TEXT(member, what, text) ZM_AB_TEXT_ROW(AT, member, what, text)

static const struct zm_option rows[] = {
	TEXT(good, "revision", "a commit before the change"),
	TEXT(bad, "revision", "one behind it"),
	TEXT(source, "folder", "the repository; what is checked out in it stays as it is"),
	TEXT(build, "command",
	     "builds what is checked out; otherwise make olddefconfig, and bzImage"),
	TEXT(image, "file", "what the build leaves; otherwise arch/x86/boot/bzImage"),
	TEXT(config, "file", "becomes .config before the first build"),
	TEXT(work, "folder",
	     "the working tree that is built in, kept for the next time; otherwise one in the "
	     "cache "
	     "folder, removed at the end"),
	{ .name = "boots",
	  .type = ZM_OPTION_U64,
	  .offset = AT(boots),
	  .preset = "19",
	  .min = 4,
	  .max = ZM_LOOKS_VALUES,
	  .unit = "boots",
	  .help = "of one commit, at most" },
	ZM_ROW_LEAST(struct switches),
	ZM_ROW_CONFIDENCE(struct switches, "that none of all steps went the wrong way"),
	{ .name = "confirm",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(confirm),
	  .preset = "1",
	  .help = "measure the culprit and its parent once more, in turn; --confirm=0: do not" },
	TEXT(boot, "command", "boots and measures, as for `zonemark ab`"),
	TEXT(name, "name",
	     "labels are NAME-COMMIT; with the same name again, boots of before count"),
	ZM_ROW_DB(struct switches),
	TEXT(append, "text", "more of the kernel's command line"),
	ZM_AB_GUEST_ROWS(GUEST),
	{ .name = NULL },
};

/* --- what is asked for ----------------------------------------------------------------------- */

/* The texts that an ask points to. */
struct texts {
	char source[PATH_MAX], work[PATH_MAX], db[PATH_MAX], name[80];
	char *build;
	json_t *vm_words, *words;
	int lock_fd;
};

static int check_line(const struct zm_args *args, struct zm_why *why)
{
	const struct switches *switches = args->switches;

	if (!switches->good || !switches->bad)
		return zm_why_set(why, -EINVAL,
				  "bisect: between which commits? --good REV --bad REV");
	if (!switches->source)
		return zm_why_set(why, -EINVAL, "bisect: of which repository? --source FOLDER");
	if (args->nr_words == 0)
		return zm_why_set(why, -EINVAL, "bisect: what shall be measured? a workload");
	if (switches->name &&
	    (strspn(switches->name, ZM_AB_NAME_LETTERS) != strlen(switches->name) ||
	     strlen(switches->name) > 64))
		return zm_why_set(why, -EINVAL,
				  "bisect: --name %s: at most 64 letters, digits, and . _ -",
				  switches->name);
	return zm_ab_line_check(args->words, args->nr_words, "bisect", why);
}

/* By default one for each repository, so that what a crash has left is found by the next. */
static int find_work(const struct switches *switches, struct texts *texts, struct zm_why *why)
{
	zm_autofree char *cache = NULL;
	char digest[ZM_VM_DIGEST_SIZE];
	int r;

	if (switches->work)
		return zm_ab_path_absolute(switches->work, texts->work, sizeof(texts->work), why);
	r = zm_vm_cache_open(&cache, why);
	if (r == 0 && zm_vm_bytes_digest(texts->source, strlen(texts->source), digest) < 0)
		r = zm_why_errno(why, -ENOMEM, "bisect");
	if (r == 0)
		(void)snprintf(texts->work, sizeof(texts->work), "%.3000s/bisect-%.12s", cache,
			       digest);
	return r;
}

static int find_places(const struct switches *switches, struct texts *texts, struct zm_why *why)
{
	int r;

	if (!realpath(switches->source, texts->source))
		return zm_why_errno(why, -errno, "bisect: --source %s", switches->source);
	r = zm_ab_store_path(switches->db, texts->db, sizeof(texts->db), why);
	return r == 0 ? find_work(switches, texts, why) : r;
}

/* A given configuration is put in place by the build itself, so that it is there at the first one. */
static int make_build(const struct switches *switches, struct texts *texts, struct zm_why *why)
{
	const char *build = switches->build ? switches->build : USUAL_BUILD;
	char config[PATH_MAX];
	int r = 0;

	if (!switches->config) {
		texts->build = strdup(build);
	} else {
		r = zm_ab_path_absolute(switches->config, config, sizeof(config), why);
		if (r == 0 && access(config, R_OK) < 0)
			r = zm_why_errno(why, -errno, "bisect: --config %s", config);
		if (r == 0 && strchr(config, '\''))
			r = zm_why_set(why, -EINVAL, "bisect: --config %s: no ' in its name",
				       config);
		if (r == 0 &&
		    asprintf(&texts->build, "cp '%s' .config && { %s; }", config, build) < 0)
			texts->build = NULL;
	}
	return r == 0 && !texts->build ? zm_why_errno(why, -ENOMEM, "bisect") : r;
}

static int furnish(const struct zm_args *args, struct texts *texts, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	int r = check_line(args, why);

	if (r == 0)
		r = find_places(switches, texts, why);
	if (r == 0)
		r = make_build(switches, texts, why);
	if (r == 0)
		r = zm_ab_plan_lock(texts->work, &texts->lock_fd, why);
	if (r < 0)
		return r;
	if (switches->name)
		(void)snprintf(texts->name, sizeof(texts->name), "%s", switches->name);
	else
		r = zm_ab_name_make("bisect", texts->name, sizeof(texts->name), why);
	texts->vm_words = zm_ab_guest_words(&switches->guest);
	texts->words = zm_ab_line_words(args->words, args->nr_words);
	return r;
}

/* --- the answer ------------------------------------------------------------------------------ */

static const struct zm_column columns[] = {
	{ .title = "commit" },
	{ .title = "verdict" },
	{ .title = "boots", .is_right = true },
	{ .title = "median", .is_right = true },
	{ .title = "", .is_right = false },
	{ .title = "against good", .is_right = true },
	{ .title = "interval", .is_right = true },
	{ .title = "subject", .may_be_cut = true },
	{ .title = "", .may_be_cut = true },
};

static void add_change(struct zm_table *table, const struct zm_hunt *hunt, double change)
{
	if (isnan(change))
		zm_table_cell(table, "%s", "");
	else
		zm_table_cell(table, hunt->is_ratio ? "%+.2f%%" : "%+.4g",
			      hunt->is_ratio ? 100 * change : change);
}

static void add_interval(struct zm_table *table, const struct zm_hunt *hunt,
			 const struct zm_hunt_step *step)
{
	double scale = hunt->is_ratio ? 100 : 1;
	const char *unit = hunt->is_ratio ? "%" : "";

	if (isnan(step->change) || isnan(step->low))
		zm_table_cell(table, "%s", "");
	else
		zm_table_cell(table, "%+.2f%s … %+.2f%s", scale * step->low, unit,
			      scale * step->high, unit);
}

static void add_step(struct zm_table *table, const struct zm_hunt *hunt,
		     const struct zm_hunt_step *step)
{
	bool is_base = step == &hunt->steps[0];

	zm_table_cell(table, "%.*s", SHORT_SHA, step->sha);
	zm_table_cell(table, "%s", zm_hunt_verdict_name(step->verdict));
	if (step->nr_boots)
		zm_table_cell(table, "%zu", step->nr_boots);
	else
		zm_table_cell(table, "%s", "");
	zm_table_figure(table, step->value);
	zm_table_cell(table, "%s", isnan(step->value) ? "" : hunt->unit);
	add_change(table, hunt, is_base ? NAN : step->change);
	if (is_base)
		zm_table_cell(table, "%s", "");
	else
		add_interval(table, hunt, step);
	zm_table_cell(table, "%s", step->subject);
	zm_table_cell(table, "%s", step->why);
}

static int print_steps(const struct zm_hunt *hunt)
{
	struct zm_table *table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int r;

	for (size_t i = 0; i < hunt->nr_steps; i++)
		add_step(table, hunt, &hunt->steps[i]);
	(void)printf("\n%s %s, %zu commits, %zu measured\n", hunt->workload, hunt->metric,
		     hunt->nr_commits, hunt->nr_steps);
	r = zm_table_print(table, stdout, zm_table_terminal_width(), "  ");
	zm_table_free(table);
	return r;
}

static const struct zm_hunt_step *find_step(const struct zm_hunt *hunt, const char *sha)
{
	for (size_t i = 0; i < hunt->nr_steps; i++)
		if (strcmp(hunt->steps[i].sha, sha) == 0)
			return &hunt->steps[i];
	return NULL;
}

static void print_confirmation(const struct zm_hunt *hunt)
{
	const struct zm_hunt_step *step = &hunt->confirmed;
	double scale = hunt->is_ratio ? 100 : 1;

	if (!step->nr_boots)
		return;
	(void)printf("against its parent, %zu boots of each in turn: %+.2f%s (%+.2f … %+.2f): %s\n",
		     step->nr_boots, scale * step->change, hunt->is_ratio ? "%" : "",
		     scale * step->low, scale * step->high,
		     hunt->is_confirmed ? "confirmed" : "not confirmed");
}

static int print_culprit(const struct zm_hunt *hunt)
{
	const struct zm_hunt_step *step = find_step(hunt, hunt->culprit);

	if (hunt->culprit[0]) {
		(void)printf("\n%s is the first bad commit: %s\n", hunt->culprit,
			     step ? step->subject : "");
		print_confirmation(hunt);
		return hunt->confirmed.nr_boots && !hunt->is_confirmed ? ZM_EXIT_NO : ZM_EXIT_OK;
	}
	(void)printf("\nThe first bad commit is one of these; those between could not be told:\n");
	for (size_t i = 0; i < hunt->nr_candidates; i++)
		(void)printf("  %s\n", hunt->candidates[i]);
	return ZM_EXIT_NO;
}

static int answer(const struct zm_hunt *hunt)
{
	if (!hunt->is_found) {
		(void)printf(
			"%.*s and %.*s do not differ in any primary figure, with up to %zu boots "
			"of each; nothing to bisect. `zonemark compare %s-%.*s %s-%.*s` shows what "
			"these could have seen\n",
			SHORT_SHA, hunt->good, SHORT_SHA, hunt->bad, hunt->ask->most,
			hunt->ask->name, SHORT_SHA, hunt->good, hunt->ask->name, SHORT_SHA,
			hunt->bad);
		return ZM_EXIT_NO;
	}
	if (print_steps(hunt) < 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "no memory for the answer");
	return print_culprit(hunt);
}

/* --- all of it ------------------------------------------------------------------------------- */

static enum zm_exit status_of(int r)
{
	return r == -ENOEXEC ? ZM_EXIT_RUN_FAILED : ZM_EXIT_USAGE;
}

static int hunt(const struct zm_args *args, const struct texts *texts)
{
	const struct switches *switches = args->switches;
	const struct zm_hunt_ask ask = {
		.source = texts->source,
		.good = switches->good,
		.bad = switches->bad,
		.work = texts->work,
		.is_kept = switches->work != NULL,
		.name = texts->name,
		.build = texts->build,
		.image = switches->image ? switches->image : USUAL_IMAGE,
		.append = switches->append ? switches->append : "",
		.boot_command = switches->boot ? switches->boot : "",
		.db = texts->db,
		.vm_words = texts->vm_words,
		.words = texts->words,
		.most = switches->boots,
		.alpha = (100 - switches->confidence) / 100,
		.least = switches->least / 100,
		.is_confirmed = switches->confirm,
	};
	zm_autofree struct zm_hunt *found = calloc(1, sizeof(*found));
	struct zm_why why = { { 0 } };
	int r = found ? zm_hunt_run(&ask, found, &why) : zm_why_errno(&why, -ENOMEM, "bisect");
	int number = found ? found->signal : 0;

	if (r == 0)
		return answer(found);
	if (!number) {
		zm_why_prefix(&why, "bisect");
		return zm_cmd_fail(status_of(r), &why);
	}
	(void)fprintf(stderr, "%s: with --name %s, what was measured counts the next time\n",
		      texts->name, texts->name);
	(void)fflush(stdout);
	(void)signal(number, SIG_DFL);
	(void)raise(number);
	return 128 + number;
}

static int run(const struct zm_args *args)
{
	struct texts texts = { .lock_fd = -1 };
	struct zm_why why = { { 0 } };
	int r = furnish(args, &texts, &why);
	int status = r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : hunt(args, &texts);

	json_decref(texts.vm_words);
	json_decref(texts.words);
	free(texts.build);
	zm_ab_plan_unlock(texts.work, texts.lock_fd);
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "find the commit that changed a figure",
	.usage = "--good REV --bad REV --source FOLDER WORKLOAD [option=value …]",
	.details =
		"Builds and boots the good and the bad commit in turn until a primary figure "
		"differs "
		"between them; then `git bisect` asks for commits, and each is built, and booted "
		"in turn "
		"with both until its figure differs from the good one's or the bad one's. The "
		"looks "
		"at a commit, and all commits together, keep the error (--confidence). At the end "
		"the culprit and its parent are measured once more, in turn.\n"
		"\n"
		"A commit that does not build, does not boot, or cannot be told within --boots is "
		"skipped. The repository's own working tree is not touched: a second one is made.\n"
		"\n"
		"The exit status is 0 when the commit was found and confirmed; 1 when good and bad "
		"do not "
		"differ, when only skipped commits are left, or when it was not confirmed.",
	.examples =
		"zonemark bisect --good v6.18 --bad v6.19-rc1 --source ~/linux --config my.config "
		"page_fault1 nr_task=4\tin guests\n"
		"zonemark bisect --good HEAD~50 --bad HEAD --source . --boot ./on-the-lab-machine "
		"page_fault1\twhere a command boots them",
	.completes = "workloads matrices options settings",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.takes_a_line = true,
	.run = run,
};
