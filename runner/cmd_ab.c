/*
 * cmd_ab: two kernels, boot by boot in turn, until the difference is known.
 *
 *     ab …            a plan, written to disk, and its first boot
 *     ab --next       goes on with it: after a reboot, or after whatever ended it
 *     ab --status     what it says so far
 *     ab --stop       ends it here
 */
#include "runner/cmd.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/ab/plan.h"
#include "runner/ab/turns.h"
#include "runner/ab/words.h"
#include "runner/cmd_rows.h"
#include "runner/verdicts.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define USUAL_BOOTS  8
#define USUAL_MOST   40
#define USUAL_SET    "grub-reboot \"$ZONEMARK_KERNEL\""
#define USUAL_REBOOT "systemctl reboot"
#define HOUR_NS      (3600 * (double)ZM_NS_PER_S)

enum until {
	UNTIL_BOOTS,
	UNTIL_DECIDED,
};

static const char *const untils[] = { "boots", "decided", NULL };

struct switches {
	char *kernel, *kernel_b, *append, *append_a, *append_b;
	struct zm_verdict_switches verdicts;
	uint64_t boots;
	unsigned int until;
	double hours;
	bool next, status, stop, metal;
	char *name, *plan, *db, *boot, *set, *reboot;
	struct zm_ab_guest guest;
};

#define AT(member)               offsetof(struct switches, member)
#define GUEST(member)            AT(guest.member)
#define VERDICTS(member)         AT(verdicts.member)
#define TEXT(member, what, text) ZM_AB_TEXT_ROW(AT, member, what, text)
#define FLAG(member, text)                                                                         \
	{                                                                                          \
		.name = #member, .type = ZM_OPTION_BOOL, .offset = AT(member), .preset = "0",      \
		.help = (text)                                                                     \
	}

static const struct zm_option rows[] = {
	TEXT(kernel, "kernel",
	     "A, the base: as for `zonemark vm`; on metal what --set takes, an entry of GRUB's "
	     "menu"),
	{ .name = "kernel_b",
	  .also = "kernel",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(kernel_b),
	  .unit = "kernel",
	  .help = "B, what is compared with it; a second --kernel is this" },
	TEXT(append, "text", "more of both kernels' command line"),
	TEXT(append_a, "text", "more of A's"),
	TEXT(append_b, "text", "more of B's; with one --kernel it is what A and B differ by"),
	{ .name = "boots",
	  .type = ZM_OPTION_U64,
	  .offset = AT(boots),
	  .preset = "0",
	  .max = ZM_LOOKS_VALUES,
	  .unit = "boots",
	  .help = "so many of each kernel; with --until decided at most. 0: 8, or at most 40" },
	{ .name = "until",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(until),
	  .preset = "boots",
	  .choices = untils,
	  .help = "look once, when all boots are done, or in between, and stop when every primary "
		  "figure has a verdict" },
	{ .name = "hours",
	  .type = ZM_OPTION_DOUBLE,
	  .offset = AT(hours),
	  .preset = "0",
	  .max = 10000,
	  .unit = "hours",
	  .help = "no boot begins that would end later; 0: no limit" },
	ZM_VERDICT_ROWS(VERDICTS, "of all verdicts at all looks together", 99),
	FLAG(next, "go on with the plan: after a reboot, or after whatever ended it"),
	FLAG(status, "what the plan's boots say so far; changes nothing"),
	FLAG(stop, "end the plan here; its runs stay in the store"),
	FLAG(metal, "this machine itself is rebooted for each boot; needs --next after each"),
	TEXT(set, "command",
	     "on metal: makes $ZONEMARK_KERNEL the next boot's; otherwise grub-reboot"),
	TEXT(reboot, "command", "on metal: reboots; otherwise systemctl reboot"),
	TEXT(boot, "command",
	     "boots $ZONEMARK_KERNEL, runs `zonemark \"$@\"` there and brings its runs into "
	     "$ZONEMARK_DB; otherwise a guest of `zonemark vm`"),
	TEXT(name, "name", "of the plan: its runs get the labels NAME-a and NAME-b"),
	TEXT(plan, "file", "where the plan lies; otherwise in the state folder"),
	ZM_ROW_DB(struct switches),
	ZM_AB_GUEST_ROWS(GUEST),
	{ .name = NULL },
};

/* --- a new plan ------------------------------------------------------------------------------ */

static int check_line(const struct zm_args *args, struct zm_why *why)
{
	const struct switches *switches = args->switches;

	if (!switches->kernel)
		return zm_why_set(
			why, -EINVAL,
			"ab: which kernels? --kernel A --kernel B, or one with --append-b");
	if (!switches->kernel_b && !switches->append_a && !switches->append_b)
		return zm_why_set(
			why, -EINVAL,
			"ab: A and B are the same; give a second --kernel, or --append-b");
	if (args->nr_words == 0)
		return zm_why_set(why, -EINVAL,
				  "ab: what shall be measured? a workload or a matrix");
	if (switches->name &&
	    (strspn(switches->name, ZM_AB_NAME_LETTERS) != strlen(switches->name) ||
	     strlen(switches->name) > 64))
		return zm_why_set(why, -EINVAL,
				  "ab: --name %s: at most 64 letters, digits, and . _ -",
				  switches->name);
	if (switches->metal && (switches->append || switches->append_a || switches->append_b) &&
	    !switches->set)
		return zm_why_set(
			why, -EINVAL,
			"ab: grub-reboot takes no --append; give a menu entry for each, or "
			"--set COMMAND, which finds it in $ZONEMARK_APPEND");
	return zm_ab_line_check(args->words, args->nr_words, "ab", why);
}

static char *join(const char *a, const char *b)
{
	char *both = NULL;

	if (asprintf(&both, "%s%s%s", a ? a : "", a && b ? " " : "", b ? b : "") < 0)
		return NULL;
	return both;
}

static const char *or_else(const char *text, const char *other)
{
	return text ? text : other;
}

/* As a file would be read: so that there is one way only by which a plan comes to be. */
static json_t *new_plan(const struct zm_args *args, const char *name, const char *db,
			const char *folder)
{
	const struct switches *switches = args->switches;
	zm_autofree char *append_a = join(switches->append, switches->append_a);
	zm_autofree char *append_b = join(switches->append, switches->append_b);
	bool is_sequential = switches->until == UNTIL_DECIDED;
	uint64_t most = switches->boots ? switches->boots
			: is_sequential ? USUAL_MOST
					: USUAL_BOOTS;

	return json_pack(
		"{s:i, s:s, s:[ss], s:[ss], s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:b, s:I, s:f, "
		"s:f, "
		"s:I, s:I, s:s, s:[ss], s:i, s:s, s:b, s:b, s:[]}",
		"format", 1, "name", name, "kernels", switches->kernel,
		or_else(switches->kernel_b, switches->kernel), "appends", append_a, append_b, "db",
		db, "folder", folder, "boot_command", or_else(switches->boot, ""), "set_command",
		or_else(switches->set, USUAL_SET), "reboot_command",
		or_else(switches->reboot, USUAL_REBOOT), "vm_words",
		zm_ab_guest_words(&switches->guest), "words",
		zm_ab_line_words(args->words, args->nr_words), "is_metal", (int)switches->metal,
		"is_sequential", (int)is_sequential, "most", (json_int_t)most, "least",
		switches->verdicts.least, "confidence", switches->verdicts.confidence,
		"start_wall_ns", (json_int_t)zm_clock_wall_ns(), "hours_ns",
		(json_int_t)llround(switches->hours * HOUR_NS), "accelerator", "", "identities", "",
		"", "verdicts", 0, "end", "", "is_failed", 0, "is_out_of_time", 0, "steps");
}

static int write_new(const struct zm_args *args, const char *path, struct zm_why *why)
{
	const struct switches *switches = args->switches;
	char name[80], folder[PATH_MAX], db[PATH_MAX];
	struct zm_ab_plan plan = { 0 };
	int r = zm_ab_store_path(switches->db, db, sizeof(db), why);

	if (r == 0 && !getcwd(folder, sizeof(folder)))
		r = zm_why_errno(why, -errno, "ab: this folder");
	if (r == 0)
		r = zm_ab_name_make("ab", name, sizeof(name), why);
	if (r < 0)
		return r;
	plan.owner = new_plan(args, or_else(switches->name, name), db, folder);
	r = plan.owner
		    ? zm_ab_plan_adopt(&plan, why)
		    : zm_why_set(why, -EINVAL, "ab: the line is not UTF-8, or there is no memory");
	if (r == 0)
		r = zm_ab_plan_save(path, &plan, why);
	zm_ab_plan_release(&plan);
	return r;
}

static int begin(const struct zm_args *args, const char *path, struct zm_why *why)
{
	struct zm_ab_plan old;
	int r = check_line(args, why);

	if (r < 0)
		return r;
	r = zm_ab_plan_load(path, &old, why);
	if (r == 0) {
		if (!old.end[0])
			r = zm_why_set(
				why, -EBUSY,
				"ab: the plan %s is under way (%zu boots done): `zonemark ab "
				"--next` goes on with it, `zonemark ab --stop` ends it",
				old.name,
				zm_ab_plan_nr_done(&old, 0) + zm_ab_plan_nr_done(&old, 1));
		zm_ab_plan_release(&old);
	}
	return r < 0 && r != -ENOENT ? r : write_new(args, path, why);
}

/* --- the answer ------------------------------------------------------------------------------ */

static void print_head(const struct zm_ab_plan *plan, const struct zm_ab_look *look,
		       const struct zm_looks *looks)
{
	(void)printf("%s: %s, of at most %zu\n", plan->name, *plan->end ? plan->end : "under way",
		     plan->most);
	if (plan->is_sequential)
		(void)printf(
			"look %zu at the level %.2g: verdicts and intervals hold with %g %% over "
			"all looks together\n",
			looks->nr, look->level, plan->confidence);
	(void)putchar('\n');
}

static int print_look(const struct zm_ab_plan *plan, const struct switches *switches,
		      struct zm_why *why)
{
	struct zm_ab_look look;
	struct zm_looks looks;
	int r = zm_ab_turns_look(plan, &look, &looks, why);

	if (r == 0) {
		if (switches->verdicts.format == ZM_COMPARE_TEXT)
			print_head(plan, &look, &looks);
		r = zm_verdicts_print(&switches->verdicts, look.compare, stdout);
		if (r == -EIO)
			r = 0; /* standard output failed: main says how */
		if (r < 0)
			(void)zm_why_errno(why, r, "ab");
	}
	zm_ab_look_release(&look);
	return r;
}

/* --next of a plan that has ended stands in a unit that runs at every boot: it is no failure. */
static int answer(const struct zm_ab_plan *plan, const struct switches *switches)
{
	struct zm_why why = { { 0 } };
	int r = print_look(plan, switches, &why);

	if (plan->is_failed)
		return zm_cmd_failf(ZM_EXIT_RUN_FAILED, "%s: %s", plan->name, plan->end);
	if (r == -ENODATA && !plan->end[0]) {
		(void)printf("%s\n", why.text);
		return ZM_EXIT_OK;
	}
	return r < 0 ? zm_cmd_fail(ZM_EXIT_RUN_FAILED, &why) : ZM_EXIT_OK;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int stop(const char *path, struct zm_ab_plan *plan, struct zm_why *why)
{
	if (plan->end[0])
		return 0;
	(void)snprintf(plan->end, sizeof(plan->end), "stopped after %zu boots",
		       zm_ab_plan_nr_done(plan, 0) + zm_ab_plan_nr_done(plan, 1));
	return zm_ab_plan_save(path, plan, why);
}

static void die_of(int number)
{
	(void)fflush(stdout);
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* A plan whose line cannot work at all is not kept: nothing is lost with it. */
static void forget_useless(const char *path, const struct zm_ab_plan *plan, int r)
{
	if ((r == -EINVAL || r == -ENOENT) && plan->nr_steps <= 1)
		(void)unlink(path);
}

static int take_turns(const char *path, struct zm_ab_plan *plan, const struct switches *switches)
{
	enum zm_ab_outcome outcome;
	struct zm_why why = { { 0 } };
	int number = 0, r;

	if (chdir(plan->folder) < 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "ab: %s: %s", plan->folder, strerror(errno));
	r = zm_ab_turns(path, plan, &outcome, &number, &why);
	if (r < 0) {
		forget_useless(path, plan, r);
		return zm_cmd_fail(r == -ENOENT ? ZM_EXIT_SKIPPED : ZM_EXIT_USAGE, &why);
	}
	if (outcome == ZM_AB_SIGNALLED) {
		(void)fprintf(stderr, "%s: `zonemark ab --next` goes on\n", plan->name);
		die_of(number);
	}
	return outcome == ZM_AB_ENDED ? answer(plan, switches) : ZM_EXIT_OK;
}

static int go_on(const char *path, const struct switches *switches)
{
	struct zm_ab_plan plan;
	struct zm_why why = { { 0 } };
	int r = zm_ab_plan_load(path, &plan, &why), status;

	if (r == -ENOENT && switches->next) {
		(void)fprintf(stderr, "ab: there is no plan to go on with (%s)\n", path);
		return ZM_EXIT_OK;
	}
	if (r == -ENOENT)
		return zm_cmd_failf(ZM_EXIT_USAGE, "ab: there is no plan (%s)", path);
	if (r < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	if (switches->stop && stop(path, &plan, &why) < 0)
		status = zm_cmd_fail(ZM_EXIT_USAGE, &why);
	else if (switches->status || switches->stop)
		status = answer(&plan, switches);
	else
		status = take_turns(path, &plan, switches);
	zm_ab_plan_release(&plan);
	return status;
}

static int find_path(const struct switches *switches, char *buf, size_t size, struct zm_why *why)
{
	return switches->plan ? zm_ab_path_absolute(switches->plan, buf, size, why)
			      : zm_ab_plan_default_path(buf, size, why);
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	bool is_new = !switches->next && !switches->status && !switches->stop;
	struct zm_why why = { { 0 } };
	char path[PATH_MAX];
	int lock_fd = -1, status;
	int r = find_path(switches, path, sizeof(path), &why);

	if (r == 0 && !is_new && (args->nr_words || switches->kernel))
		r = zm_why_set(&why, -EINVAL,
			       "ab: --next, --status and --stop take the plan as it is");
	if (r == 0 && !switches->status)
		r = zm_ab_plan_lock(path, &lock_fd, &why);
	if (r == 0 && is_new)
		r = begin(args, path, &why);
	status = r < 0 ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : go_on(path, switches);
	zm_ab_plan_unlock(path, lock_fd);
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "compare two kernels over many boots in turn",
	.usage = "--kernel A --kernel B MATRIX [option=value …]",
	.details =
		"Boots both kernels in turn (A B B A A B B A …), each time anew, and runs the line "
		"behind the switches once in each boot, as `zonemark run` does. A boot is one "
		"value. "
		"It ends with `zonemark compare`'s verdicts.\n"
		"\n"
		"With --until decided it looks after 4, 6, 9, 13, 19, 28, 40 … boots of each, and "
		"ends "
		"when every primary figure has a verdict. Each look is stricter by as much as it "
		"takes "
		"that all of them together are wrong no more often than --confidence says.\n"
		"\n"
		"The kernels run in guests, as by `zonemark vm`; under TCG that says nothing about "
		"speed. With --metal it is this machine that is rebooted, at once: --set makes the "
		"kernel the next one, --reboot reboots, and `zonemark ab --next`, called after "
		"every "
		"boot (by a unit of systemd, say), measures and goes on until the end. With --boot "
		"a "
		"command does it all, on another machine perhaps.\n"
		"\n"
		"The plan is on disk before whatever it says is done. After a crash, --next goes "
		"on; a "
		"boot that was lost is made up for. Three lost ones in a row end it, with exit "
		"status 3.\n"
		"\n"
		"docs/ab.md says more.",
	.examples =
		"zonemark ab --kernel ./old --kernel ./new --until decided --hours 10 "
		"nightly\tover "
		"night\n"
		"zonemark ab --kernel debian --append-b transparent_hugepage=never page_fault1\t"
		"one kernel, two command lines\n"
		"zonemark ab --metal --kernel '1>2' --kernel '1>4' --boots 10 page_fault1\tthis "
		"machine, GRUB's entries\n"
		"zonemark ab --status\thow far it is",
	.completes = "workloads matrices options settings",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.takes_a_line = true,
	.run = run,
};
