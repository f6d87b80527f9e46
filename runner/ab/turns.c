/*
 * turns: is a look due? -> has it ended? -> the next step.
 *
 * A step on metal, as a later boot finds it in the plan:
 *
 *     asked, by this boot           the machine has not gone down: ask again
 *     asked, by another boot        we are there: is it the kernel that was asked for? then measure
 *     running, in this boot         we were killed, and this boot is fresh no more: ask for another
 *     running, in another boot      the machine went down while it measured: ask again, ZM_AB_TRIES times
 */
#include "runner/ab/turns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/ab/boot.h"
#include "runner/cmd.h"
#include "workloads/base/clock.h"
#include "workloads/base/sysroot.h"

struct turns {
	const char *path;
	struct zm_ab_plan *plan;
	enum zm_ab_outcome outcome;
	int signal;
	bool is_over; /* of this process: outcome says how */
};

/* --- looks ----------------------------------------------------------------------------------- */

static size_t nr_pairs(const struct zm_ab_plan *plan)
{
	size_t a = zm_ab_plan_nr_done(plan, 0), b = zm_ab_plan_nr_done(plan, 1);

	return a < b ? a : b;
}

/* The looks that the boots so far allow; when the time is up, one more at what there is. */
static struct zm_looks looks_so_far(const struct zm_ab_plan *plan)
{
	struct zm_looks looks;
	size_t nr = nr_pairs(plan), kept = 0;

	zm_looks_plan(plan->most, plan->is_sequential, &looks);
	while (kept < looks.nr && looks.at[kept] <= nr)
		kept++;
	looks.nr = kept;
	if (plan->is_out_of_time && nr > 0 && (kept == 0 || looks.at[kept - 1] < nr))
		looks.at[looks.nr++] = nr;
	return looks;
}

/* Of the boots up to the look, so that a look is the same whenever it is repeated. */
struct counted {
	const struct zm_ab_plan *plan;
	size_t nr_steps;
};

static bool counts(const void *context, unsigned int side, const char *boot)
{
	const struct counted *counted = context;

	for (size_t i = 0; i < counted->nr_steps; i++) {
		const struct zm_ab_step *step = &counted->plan->steps[i];

		if (step->side == side && step->state == ZM_AB_DONE &&
		    strcmp(step->boot, boot) == 0)
			return true;
	}
	return false;
}

int zm_ab_turns_look(const struct zm_ab_plan *plan, struct zm_ab_look *ret_look,
		     struct zm_looks *ret_looks, struct zm_why *why)
{
	struct zm_looks looks = looks_so_far(plan);
	struct counted counted = { plan, plan->nr_steps };
	char labels[ZM_AB_SIDES][ZM_AB_LABEL];
	struct zm_ab_ask ask = {
		.db = plan->db,
		.context = &counted,
		.alpha = (100 - plan->confidence) / 100,
		.power = 0.8,
		.least = plan->least / 100,
		.looks = looks,
		.most = plan->most,
		.nr_verdicts = plan->nr_verdicts,
	};

	*ret_look = (struct zm_ab_look){ 0 };
	if (looks.nr == 0)
		return zm_why_set(why, -ENODATA,
				  "%s: %zu boots a side are done, too few for a look", plan->name,
				  nr_pairs(plan));
	if (!plan->is_out_of_time)
		counted.nr_steps = 2 * looks.at[looks.nr - 1];
	ask.is_last = plan->is_out_of_time || looks.at[looks.nr - 1] == plan->most;
	for (unsigned int side = 0; side < ZM_AB_SIDES; side++)
		ask.sides[side] = (struct zm_ab_side){
			zm_ab_plan_label(plan, side, labels[side], ZM_AB_LABEL), counts
		};
	*ret_looks = looks;
	return zm_ab_look_make(&ask, ret_look, why);
}

static bool is_look_due(const struct zm_ab_plan *plan)
{
	struct zm_looks looks = looks_so_far(plan);
	size_t nr = nr_pairs(plan);

	return looks.nr && looks.at[looks.nr - 1] == nr && plan->nr_steps == 2 * nr;
}

static void say_look(const struct zm_ab_plan *plan, const struct zm_ab_look *look)
{
	const size_t *nr_of = look->compare->nr_of;

	(void)fprintf(
		stderr,
		"%s: after %zu boots a side: %zu better, %zu worse, %zu same, %zu changed, %zu not "
		"decided (level %.2g)\n",
		plan->name, nr_pairs(plan), nr_of[ZM_VERDICT_BETTER], nr_of[ZM_VERDICT_WORSE],
		nr_of[ZM_VERDICT_SAME], nr_of[ZM_VERDICT_CHANGED],
		nr_of[ZM_VERDICT_TOO_NOISY] + nr_of[ZM_VERDICT_NOT_ENOUGH], look->level);
}

/* Nothing to compare is no end: the next boots may bring it. */
static int look(struct turns *turns, struct zm_why *why)
{
	struct zm_ab_plan *plan = turns->plan;
	size_t nr = nr_pairs(plan);
	struct zm_ab_look look;
	struct zm_looks looks;
	int r = zm_ab_turns_look(plan, &look, &looks, why);

	if (r == 0) {
		say_look(plan, &look);
		plan->nr_verdicts = look.nr_verdicts;
		if (plan->is_sequential && look.is_decided)
			(void)snprintf(plan->end, sizeof(plan->end),
				       "decided after %zu boots a side", nr);
	}
	zm_ab_look_release(&look);
	if (!plan->end[0] && nr >= plan->most)
		(void)snprintf(plan->end, sizeof(plan->end), "all %zu boots a side are done", nr);
	return r == -ENODATA ? 0 : r;
}

/* Would the next boot end after the hours are over? */
static bool is_out_of_time(const struct zm_ab_plan *plan)
{
	uint64_t now = zm_clock_wall_ns(), passed, each = 0;

	if (!plan->hours_ns || now < plan->start_wall_ns)
		return false;
	passed = now - plan->start_wall_ns;
	if (nr_pairs(plan))
		each = passed / (2 * nr_pairs(plan));
	return passed + each > plan->hours_ns;
}

static int see_whether_it_ends(struct turns *turns, struct zm_why *why)
{
	struct zm_ab_plan *plan = turns->plan;
	int r = is_look_due(plan) ? look(turns, why) : 0;

	if (r == 0 && !plan->end[0] && is_out_of_time(plan)) {
		plan->is_out_of_time = true;
		(void)snprintf(plan->end, sizeof(plan->end),
			       "the time was up after %zu boots a side", nr_pairs(plan));
	}
	if (r == 0 && plan->end[0])
		r = zm_ab_plan_save(turns->path, plan, why);
	return r;
}

/* --- a boot that measures -------------------------------------------------------------------- */

static void say_step(const struct zm_ab_plan *plan, const struct zm_ab_step *step)
{
	const char *append = plan->appends[step->side];

	(void)fprintf(stderr, "%s: boot %zu of at most %zu: %c: %s%s%s\n", plan->name,
		      plan->nr_steps, 2 * plan->most, step->side ? 'B' : 'A',
		      plan->kernels[step->side], *append ? " " : "", append);
}

/* It did not come to a measurement. */
static int note_try(struct turns *turns, struct zm_ab_step *step, const char *what,
		    struct zm_why *why)
{
	struct zm_ab_plan *plan = turns->plan;

	step->nr_tries++;
	(void)fprintf(stderr, "%s: this boot does not count (%u of %d tries): %s\n", plan->name,
		      step->nr_tries, ZM_AB_TRIES, what);
	if (step->nr_tries >= ZM_AB_TRIES) {
		plan->is_failed = true;
		(void)snprintf(plan->end, sizeof(plan->end), "%d boots of %.200s in a row: %.250s",
			       ZM_AB_TRIES, plan->kernels[step->side], what);
	}
	return zm_ab_plan_save(turns->path, plan, why);
}

static int note_done(struct turns *turns, struct zm_ab_step *step,
		     const struct zm_ab_booted *booted, struct zm_why *why)
{
	struct zm_ab_plan *plan = turns->plan;

	if (zm_ab_plan_has_boot(plan, 0, booted->boot) ||
	    zm_ab_plan_has_boot(plan, 1, booted->boot))
		return zm_why_set(
			why, -EINVAL,
			"%s: boot %s was measured before; each value needs a boot of its own",
			plan->name, booted->boot);
	step->state = ZM_AB_DONE;
	(void)snprintf(step->boot, sizeof(step->boot), "%s", booted->boot);
	if (!plan->accelerator[0])
		(void)snprintf(plan->accelerator, sizeof(plan->accelerator), "%s",
			       booted->accelerator);
	sync(); /* the runs are on disk before the plan says so */
	return zm_ab_plan_save(turns->path, plan, why);
}

/* What cannot work with any boot is not tried again. */
static int note_nothing(struct turns *turns, struct zm_ab_step *step, int status,
			struct zm_why *why)
{
	const char *name = turns->plan->name;
	char text[96];

	if (WIFEXITED(status) && WEXITSTATUS(status) == ZM_EXIT_SKIPPED)
		return zm_why_set(why, -ENOENT, "%s: nothing of it can run there", name);
	if (WIFEXITED(status) && WEXITSTATUS(status) == ZM_EXIT_USAGE)
		return zm_why_set(why, -EINVAL, "%s: it cannot work; the line above says why",
				  name);
	if (WIFEXITED(status))
		(void)snprintf(text, sizeof(text), "it ended with status %d and left no run",
			       WEXITSTATUS(status));
	else
		(void)snprintf(text, sizeof(text), "it was ended by signal %d", WTERMSIG(status));
	return note_try(turns, step, text, why);
}

static int measure(struct turns *turns, struct zm_ab_step *step, struct zm_why *why)
{
	struct zm_ab_plan *plan = turns->plan;
	char label[ZM_AB_LABEL];
	const struct zm_ab_boot boot = {
		.kernel = plan->kernels[step->side],
		.append = plan->appends[step->side],
		.label = zm_ab_plan_label(plan, step->side, label, sizeof(label)),
		.db = plan->db,
		.command = plan->boot_command,
		.accelerator = plan->accelerator,
		.vm_words = plan->vm_words,
		.words = plan->words,
		.is_here = plan->is_metal,
	};
	struct zm_ab_booted booted;
	int r;

	say_step(plan, step);
	step->state = ZM_AB_RUNNING;
	r = zm_ab_plan_save(turns->path, plan, why);
	if (r == 0)
		r = zm_ab_boot(&boot, &booted, &turns->signal, why);
	if (r < 0)
		return r;
	if (turns->signal) {
		turns->outcome = ZM_AB_SIGNALLED;
		turns->is_over = true;
		return 0;
	}
	return booted.boot[0] ? note_done(turns, step, &booted, why)
			      : note_nothing(turns, step, booted.status, why);
}

/* --- metal ----------------------------------------------------------------------------------- */

struct here {
	char boot[ZM_AB_BOOT];
	char identity[ZM_AB_IDENTITY];
};

/* What a JSON text cannot hold is not what kernels differ by. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

static int read_here(struct here *here, struct zm_why *why)
{
	struct zm_sysroot root;
	struct utsname name;
	char line[ZM_AB_IDENTITY / 2] = "";
	int r = zm_sysroot_open(&root, NULL);

	if (r < 0)
		return zm_why_errno(why, r, "/");
	(void)uname(&name);
	r = zm_sysroot_read_line(&root, "proc/sys/kernel/random/boot_id", here->boot,
				 sizeof(here->boot));
	(void)zm_sysroot_read_line(&root, "proc/cmdline", line, sizeof(line));
	zm_sysroot_release(&root);
	(void)snprintf(here->identity, sizeof(here->identity), "%s %s (%s)", name.release,
		       name.version, line);
	make_plain(here->identity);
	return r < 0 ? zm_why_errno(why, r, "the boot's id") : 0;
}

/* The next kernel is set, and the machine rebooted. It usually does not come back from this. */
static int ask(struct turns *turns, struct zm_ab_step *step, const struct here *here,
	       struct zm_why *why)
{
	struct zm_ab_plan *plan = turns->plan;
	const char *kernel = plan->kernels[step->side], *append = plan->appends[step->side];
	int r;

	step->state = ZM_AB_ASKED;
	(void)snprintf(step->boot, sizeof(step->boot), "%s", here->boot);
	r = zm_ab_plan_save(turns->path, plan, why);
	(void)fprintf(stderr, "%s: rebooting into %c: %s\n", plan->name, step->side ? 'B' : 'A',
		      kernel);
	if (r == 0)
		r = zm_ab_shell(plan->set_command, kernel, append, plan->name, why);
	sync();
	if (r == 0)
		r = zm_ab_shell(plan->reboot_command, kernel, append, plan->name, why);
	turns->outcome = ZM_AB_REBOOTING;
	turns->is_over = true;
	return r;
}

static bool are_different(const struct zm_ab_plan *plan)
{
	return strcmp(plan->kernels[0], plan->kernels[1]) != 0 ||
	       strcmp(plan->appends[0], plan->appends[1]) != 0;
}

/* The first boot of a side shows what its kernel is; all others must be the same. */
static int recognise(struct turns *turns, struct zm_ab_step *step, const struct here *here,
		     bool *ret_is_right, struct zm_why *why)
{
	struct zm_ab_plan *plan = turns->plan;
	char *known = plan->identities[step->side];
	const char *other = plan->identities[!step->side];

	*ret_is_right = false;
	if (!known[0] && are_different(plan) && strcmp(other, here->identity) == 0)
		return note_try(turns, step, "the same kernel came up for both sides", why);
	if (known[0] && strcmp(known, here->identity) != 0)
		return note_try(turns, step,
				"another kernel came up than at this side's first boot", why);
	*ret_is_right = true;
	(void)snprintf(known, ZM_AB_IDENTITY, "%s", here->identity);
	return 0;
}

static int arrive(struct turns *turns, struct zm_ab_step *step, const struct here *here,
		  struct zm_why *why)
{
	bool is_right;
	int r = recognise(turns, step, here, &is_right, why);

	if (r < 0 || turns->plan->end[0])
		return r;
	if (!is_right)
		return ask(turns, step, here, why);
	(void)snprintf(step->boot, sizeof(step->boot), "%s", here->boot);
	r = measure(turns, step, why);
	if (r == 0 && !turns->is_over && !turns->plan->end[0] && step->state != ZM_AB_DONE)
		r = ask(turns, step, here, why);
	return r;
}

static int step_on_metal(struct turns *turns, struct zm_ab_step *step, struct zm_why *why)
{
	struct here here;
	bool is_of_this_boot;
	int r = read_here(&here, why);

	if (r < 0)
		return r;
	is_of_this_boot = strcmp(step->boot, here.boot) == 0;
	if (step->state == ZM_AB_ASKED && step->boot[0] && !is_of_this_boot)
		return arrive(turns, step, &here, why);
	if (step->state == ZM_AB_RUNNING && !is_of_this_boot)
		r = note_try(turns, step, "the machine went down while it measured", why);
	if (r < 0 || turns->plan->end[0])
		return r;
	return ask(turns, step, &here, why);
}

/* --- all of it ------------------------------------------------------------------------------- */

static int take_step(struct turns *turns, struct zm_why *why)
{
	struct zm_ab_step *step = zm_ab_plan_step(turns->plan);

	if (!step)
		return zm_why_errno(why, -ENOMEM, "the plan");
	return turns->plan->is_metal ? step_on_metal(turns, step, why) : measure(turns, step, why);
}

int zm_ab_turns(const char *path, struct zm_ab_plan *plan, enum zm_ab_outcome *ret_outcome,
		int *ret_signal, struct zm_why *why)
{
	struct turns turns = { .path = path, .plan = plan, .outcome = ZM_AB_ENDED };
	int r = 0;

	if (!plan->end[0])
		r = see_whether_it_ends(&turns, why);
	while (r == 0 && !plan->end[0] && !turns.is_over) {
		r = take_step(&turns, why);
		if (r == 0 && !plan->end[0] && !turns.is_over)
			r = see_whether_it_ends(&turns, why);
	}
	if (r == 0) {
		*ret_outcome = turns.outcome;
		*ret_signal = turns.signal;
	}
	return r;
}
