/*
 * cmd_calibrate: real and emulated builds by turns, and how close they come.
 *
 *     words -> kbuild_real, kbuild, by turns (one invocation, as `zonemark run`) -> pairs -> table
 *                                                                        '-> --fit: a profile whose
 *                                                                            knobs are moved
 */
#include "runner/cmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buildload/profile.h"
#include "buildload/scene.h"
#include "results/outfile.h"
#include "results/query.h"
#include "runner/calibrate.h"
#include "runner/invocation.h"
#include "workloads/base/cleanup.h"

#define MONITORS "default,exits,pcp"
#define MIB      (1 << 20)

struct switches {
	struct zm_invocation_ask ask;
	double tolerance;
	char *fit;
	bool json;
};

#define AT(member)  offsetof(struct switches, member)
#define ASK(member) AT(ask.member)

static const struct zm_option rows[] = {
	ZM_INVOCATION_ROWS(ASK),
	{ .name = "tolerance",
	  .type = ZM_OPTION_DOUBLE,
	  .offset = AT(tolerance),
	  .preset = "0.1",
	  .max = 100,
	  .help = "how far from the real build a figure may be; those further away are marked" },
	{ .name = "fit",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(fit),
	  .unit = "file",
	  .help = "write the profile there with its knobs moved so that it would have come "
		  "closer" },
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(json),
	  .preset = "0",
	  .help = "the answer as JSON" },
	{ .name = NULL },
};

/* --- pairs --- */

struct run_ids {
	uint64_t real[ZM_CALIBRATE_PAIRS];
	uint64_t emulated[ZM_CALIBRATE_PAIRS];
};

static int add_run(void *context, const struct zm_run_info *info)
{
	struct run_ids *ids = context;

	if (info->repeat >= ZM_CALIBRATE_PAIRS)
		return 0;
	if (strcmp(info->workload, "kbuild_real") == 0)
		ids->real[info->repeat] = info->id;
	else
		ids->emulated[info->repeat] = info->id;
	return 0;
}

static int read_pairs(const struct zm_invocation *invocation, struct zm_calibration *calibration,
		      struct zm_why *why)
{
	const struct zm_run_filter filter = { .invocation = invocation->uuid,
					      .status = ZM_STATUS_OK };
	struct run_ids ids = { 0 };
	int r = zm_query_runs(invocation->session.store, &filter, add_run, &ids, why);

	for (size_t i = 0; r == 0 && i < ZM_CALIBRATE_PAIRS; i++) {
		if (ids.real[i] && ids.emulated[i])
			r = zm_calibrate_add(calibration, invocation->session.store, ids.real[i],
					     ids.emulated[i], why);
	}
	return r;
}

/* --- fitting --- */

/* The value behind NAME=, the last one; NULL: not there. */
static const char *word_of(const struct zm_args *args, const char *name)
{
	const char *found = NULL;
	size_t length = strlen(name);

	for (size_t i = 0; i < args->nr_words; i++) {
		if (strncmp(args->words[i], name, length) == 0 && args->words[i][length] == '=')
			found = args->words[i] + length + 1;
	}
	return found;
}

static const char *profile_of(const struct zm_args *args)
{
	const char *name = word_of(args, "profile");

	return name ? name : word_of(args, "kconfig");
}

/* Work in proportion to the user time that is missing; what the first make holds by the anonymous
 * memory that is. */
static void move_knobs(struct zm_profile *profile, const struct zm_calibration *calibration)
{
	struct zm_calibrate_result result;

	if (zm_calibrate_result(calibration, ZM_CALIBRATE_USER_TIME, &result))
		profile->knobs[ZM_KNOB_USER_SCALE] /= result.ratio;
	if (zm_calibrate_result(calibration, ZM_CALIBRATE_ANON, &result)) {
		double pages = (result.real - result.emulated) * MIB / (double)profile->page_bytes;

		profile->knobs[ZM_KNOB_MAKE_PAGES] =
			fmax(0, round(profile->knobs[ZM_KNOB_MAKE_PAGES] + pages));
	}
}

static int fit(const struct zm_args *args, const struct zm_calibration *calibration,
	       struct zm_why *why)
{
	const struct switches *switches = args->switches;
	struct zm_profile *profile = NULL;
	int r = zm_scene_read_profile(profile_of(args), &profile, why);

	if (r < 0)
		return r;
	move_knobs(profile, calibration);
	r = zm_profile_write(profile, switches->fit, why);
	if (r == 0)
		(void)fprintf(stderr, "%s: user_scale %.4g, make_pages %.0f\n", switches->fit,
			      profile->knobs[ZM_KNOB_USER_SCALE],
			      profile->knobs[ZM_KNOB_MAKE_PAGES]);
	zm_profile_free(profile);
	return r;
}

/* --- all of it --- */

static int answer(const struct zm_args *args, const struct zm_calibration *calibration,
		  struct zm_why *why)
{
	const struct switches *switches = args->switches;
	int r = 0;

	if (calibration->nr_pairs == 0)
		return 0;
	if (switches->json)
		r = zm_calibrate_print_json(calibration, switches->tolerance, stdout);
	else
		zm_calibrate_print(calibration, switches->tolerance, stdout);
	if (r < 0)
		return zm_why_errno(why, r, "the answer");
	return switches->fit ? fit(args, calibration, why) : 0;
}

static int run_pairs(const struct zm_args *args, struct zm_invocation_ask *ask)
{
	zm_autofree struct zm_calibration *calibration = calloc(1, sizeof(*calibration));
	const struct switches *switches = args->switches;
	struct zm_invocation invocation;
	struct zm_why why = { { 0 } };
	int status, r;

	if (!calibration)
		return zm_cmd_failf(ZM_EXIT_USAGE, "no memory for the answer");
	if (switches->fit && zm_outfile_check(switches->fit, &why) < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	if (zm_invocation_open(&invocation, ask, &why) < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	r = zm_invocation_run(&invocation, &why);
	if (r == 0)
		r = read_pairs(&invocation, calibration, &why);
	if (r == 0)
		r = answer(args, calibration, &why);
	status = zm_summary_exit_status(&invocation.summary);
	if (status != ZM_EXIT_OK || calibration->nr_pairs == 0)
		(void)zm_summary_print(&invocation.summary, stderr);
	if (r < 0)
		status = zm_cmd_fail(ZM_EXIT_USAGE, &why);
	zm_invocation_close(&invocation);
	zm_invocation_die(&invocation);
	return invocation.signal ? 128 + invocation.signal : status;
}

/* Both workloads, one build with as many jobs as CPUs, and then what was typed, which may say other. */
static int run(const struct zm_args *args)
{
	static const char *const ours[] = { "kbuild_real", "kbuild", "nr_instances=1",
					    "jobs=100%" };
	const size_t nr_ours = sizeof(ours) / sizeof(ours[0]);
	const struct switches *switches = args->switches;
	struct zm_invocation_ask ask = switches->ask;
	zm_autofree const char **words = calloc(nr_ours + args->nr_words, sizeof(*words));
	char monitors[] = MONITORS;

	if (!words)
		return zm_cmd_failf(ZM_EXIT_USAGE, "no memory for the words");
	if (args->nr_words == 0 || strcmp(args->words[0], "kbuild") != 0)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "calibrate: say what: `zonemark calibrate kbuild …`; nothing "
				    "else is emulated");
	memcpy(words, ours, sizeof(ours));
	for (size_t i = 1; i < args->nr_words; i++)
		words[nr_ours + i - 1] = args->words[i];
	ask.words = words;
	ask.nr_words = nr_ours + args->nr_words - 1;
	ask.argc = args->argc;
	ask.argv = args->argv;
	if (!ask.monitor)
		ask.monitor = monitors;
	return run_pairs(args, &ask);
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "how close an emulated build comes to the real one",
	.usage = "kbuild [option=value …]",
	.details = "Runs kbuild_real and kbuild by turns, as often as --repeat says, and prints "
		   "figure by figure what each came to, and the ratio: its mean over the pairs, "
		   "the least and the most. Options are those of both workloads; one build with "
		   "as many jobs as there are CPUs when nothing is said. The profile should be "
		   "one of the same build (`zonemark record kbuild`).\n"
		   "\n"
		   "With --fit the profile is written to a file with its free knobs moved by what "
		   "was measured; measure again with profile=FILE.",
	.examples = "zonemark calibrate kbuild kconfig=tinyconfig --repeat 3\t"
		    "three pairs of the kernel's tinyconfig\n"
		    "zonemark calibrate kbuild profile=./my.json source=DIR --fit ./fitted.json\t"
		    "and a profile that comes closer",
	.completes = "options",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
