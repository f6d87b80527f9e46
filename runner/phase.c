/*
 * phase: the table of phases, the borders between them, and the one way out.
 *
 *     run -> check -> record -> journal -> phases -> wind down -> restore -> figures -> close
 */
#include "runner/phase.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/course.h"
#include "runner/figures.h"
#include "runner/footprint.h"
#include "runner/need.h"
#include "runner/pulse.h"
#include "runner/save.h"
#include "runner/setting.h"
#include "runner/stall.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define WARMUP_LEAST_NS   ZM_NS_PER_S
#define END_NS            (3 * ZM_NS_PER_S) /* in a run that has gone wrong */
#define CLEANUP_NS        (10 * ZM_NS_PER_S)
#define DRAIN_SETTLED     10 /* reads, a second */
#define DRAIN_LEAST_BYTES (UINT64_C(16) << 20)
#define DRAIN_STILL_BYTES (UINT64_C(1) << 20)

/* --- borders --- */

/* The phase that begins at this border tells which reads are deep: the window's two. */
static void read_counters(struct zm_course *course, enum zm_phase begins)
{
	struct zm_tasktime sum;

	if (begins == ZM_PHASE_MEASURE)
		zm_border_read(&course->start, &course->tally, &course->times, &course->used);
	else if (begins == ZM_PHASE_STOP)
		zm_border_read(&course->end, &course->tally, &course->times, &course->used);
	else
		zm_tally_read(&course->tally);
	if (begins == ZM_PHASE_WARMUP)
		(void)zm_tasktimes_read(&course->times, course->tally.t_ns, &sum);
	zm_tally_put(&course->tally, 0);
}

/* One moment for all: the counters', which are read first. */
static void pass_border(struct zm_course *course, enum zm_phase begins)
{
	uint64_t t_ns;

	read_counters(course, begins);
	t_ns = course->tally.t_ns;
	zm_watch_read(&course->watch, ZM_RATE_BORDERS, begins, t_ns);
	(void)zm_memused_read(&course->memused);
	(void)zm_recorder_phase(course->recorder, course->phase, course->phase_t0_ns, t_ns);
	course->phase = begins;
	course->phase_t0_ns = t_ns;
	zm_pulse_restart(course, t_ns);
}

/* --- the phases --- */

static uint64_t from_now(uint64_t ns)
{
	return zm_clock_now_ns() + ns;
}

static int fail_late(struct zm_course *course, int r, const char *what, uint64_t limit_ns)
{
	char limit[32];

	if (r != -ETIMEDOUT)
		return r;
	zm_arena_fail(&course->arena, -1, -ETIMEDOUT, "%s after %s", what,
		      zm_units_print_duration(limit, sizeof(limit), limit_ns));
	return -ECHILD;
}

static bool is_prepared(struct zm_course *course)
{
	return zm_course_has_heard(course, ZM_WORD_PREPARED);
}

static int open_monitors(struct zm_course *course)
{
	int r = zm_watch_open(&course->watch, course->session->monitors, course->session->root,
			      course->recorder);

	if (r < 0) {
		zm_arena_fail(&course->arena, -1, r, "no memory for the monitors");
		return -ECHILD;
	}
	r = zm_memused_open(&course->memused, course->session->root);
	if (r < 0)
		(void)zm_recorder_absent(course->recorder, ZM_FIGURE_IDLE_USED,
					 "/proc/meminfo cannot be read");
	return 0;
}

static int do_prepare(struct zm_course *course)
{
	uint64_t limit_ns = course->cell->options.start_ns;
	struct zm_why why = { { 0 } };
	int r;

	zm_oom_read(course->session->root, &course->spec.oom);
	r = zm_launch_start(&course->launch, &course->spec, &why);
	if (r < 0) {
		zm_arena_fail(&course->arena, -1, r, "%s", why.text);
		return -ECHILD;
	}
	course->is_launched = true;
	r = zm_pulse_wait(course, from_now(limit_ns), is_prepared);
	r = fail_late(course, r, "the workload was not prepared", limit_ns);
	return r < 0 ? r : open_monitors(course);
}

static int do_idle(struct zm_course *course)
{
	int r = zm_pulse_wait(course, course->phase_t0_ns + course->cell->options.idle_ns, NULL);

	(void)zm_memused_read(&course->memused);
	course->idle_used_bytes = course->memused.used_bytes;
	return r;
}

static bool is_ready(struct zm_course *course)
{
	return zm_course_has_heard(course, ZM_WORD_READY);
}

/* The first task that is not where it should be. */
static unsigned int find_laggard(const struct zm_course *course, bool (*is_there)(uint32_t state))
{
	unsigned int i = 0;

	while (i + 1 < course->arena.nr_tasks &&
	       is_there(atomic_load(&zm_arena_slot(&course->arena, i)->state)))
		i++;
	return i;
}

static bool is_at_gate(uint32_t state)
{
	return state == ZM_SLOT_READY;
}

static int fail_laggard(struct zm_course *course, int r, bool (*is_there)(uint32_t state),
			const char *what, uint64_t limit_ns)
{
	unsigned int task;
	char limit[32];

	if (r != -ETIMEDOUT)
		return r;
	task = find_laggard(course, is_there);
	zm_arena_fail(&course->arena, (int)task, -ETIMEDOUT, "task %u %s after %s", task, what,
		      zm_units_print_duration(limit, sizeof(limit), limit_ns));
	return -ECHILD;
}

static int node_of(const struct zm_course *course, int cpu)
{
	const struct zm_cpu *found =
		cpu < 0 ? NULL : zm_topology_find(course->session->topology, cpu);

	return found ? found->node : -1;
}

/* Where each task is; its series of CPU time and faults; and the monitors may look at it. */
static int meet_tasks(struct zm_course *course)
{
	unsigned int nr = course->arena.nr_tasks;
	pid_t *tids = calloc(nr, sizeof(*tids));
	struct zm_target target = { course->cell->kind, course->launch.pid, tids, nr };
	struct zm_why why = { { 0 } };
	int r = tids ? 0 : zm_why_errno(&why, -ENOMEM, "%u tasks", nr);

	if (r == 0)
		r = zm_tasktimes_init(&course->times, &course->arena, course->recorder,
				      course->launch.pid, &why);
	for (unsigned int i = 0; r == 0 && i < nr; i++) {
		tids[i] = zm_arena_slot(&course->arena, i)->tid;
		(void)zm_recorder_task(course->recorder, i, tids[i], course->cpus[i],
				       node_of(course, course->cpus[i]));
	}
	if (r == 0) {
		zm_watch_attach(&course->watch, &target);
		zm_course_step_aside(course);
	} else {
		zm_arena_fail(&course->arena, -1, r, "%s", why.text);
	}
	free(tids);
	return r < 0 ? -ECHILD : 0;
}

static int do_setup(struct zm_course *course)
{
	uint64_t limit_ns = course->cell->options.start_ns;
	int r;

	course->has_told_make = true;
	(void)zm_launch_tell(&course->launch, ZM_WORD_MAKE);
	r = zm_pulse_wait(course, from_now(limit_ns), is_ready);
	r = fail_laggard(course, r, is_at_gate, "was not at the gate", limit_ns);
	return r < 0 ? r : meet_tasks(course);
}

static void start_pace(struct zm_course *course)
{
	zm_pace_start(&course->pace, course->cell->options.interval_ns, course->tally.t_ns,
		      zm_tally_ops(&course->tally));
}

static bool is_steady(struct zm_course *course)
{
	return zm_clock_now_ns() >= course->phase_t0_ns + WARMUP_LEAST_NS &&
	       zm_pace_is_steady(&course->pace);
}

static int do_warmup(struct zm_course *course)
{
	uint64_t limit_ns = course->cell->options.warmup_ns;
	int r;

	zm_gate_open(&course->arena.control->gate);
	course->is_gate_open = true;
	zm_tally_start_watch(&course->tally, zm_clock_now_ns());
	start_pace(course);
	r = zm_pulse_wait(course, course->phase_t0_ns + limit_ns, is_steady);
	if (r != -ETIMEDOUT)
		return r;
	if (zm_pace_can_judge(&course->pace))
		zm_course_note(course, "unsteady",
			       "throughput was not steady after a warm-up of %.1f s",
			       (double)limit_ns / 1e9);
	return 0;
}

static bool has_done_all(struct zm_course *course)
{
	const struct zm_workload *workload = course->cell->workload;

	return workload->is_done && workload->is_done(course->arena.run);
}

static int do_measure(struct zm_course *course)
{
	int r;

	start_pace(course);
	r = zm_pulse_wait(course, course->start.t_ns + course->cell->options.runtime_ns,
			  has_done_all);
	return r < 0 && r != -ETIMEDOUT ? r : zm_stall_find_in_window(course);
}

static bool is_ended(struct zm_course *course)
{
	return zm_course_has_heard(course, ZM_WORD_ENDED);
}

static bool is_done(uint32_t state)
{
	return state == ZM_SLOT_DONE;
}

static int do_stop(struct zm_course *course)
{
	uint64_t limit_ns = course->cell->options.stop_ns;
	int r;

	course->is_gate_open = false; /* the last counts are read at the border */
	zm_arena_stop(&course->arena);
	r = zm_pulse_wait(course, from_now(limit_ns), is_ended);
	return fail_laggard(course, r, is_done, "had not ended", limit_ns);
}

static uint64_t drained_mark(const struct zm_course *course)
{
	uint64_t idle = course->idle_used_bytes, peak = course->memused.peak_bytes;
	uint64_t slack = peak > idle ? (peak - idle) / 100 : 0;

	return idle + (slack > DRAIN_LEAST_BYTES ? slack : DRAIN_LEAST_BYTES);
}

static bool is_drained(struct zm_course *course)
{
	const struct zm_memused *memused = &course->memused;

	return !memused->is_open ||
	       (memused->nr_reads && memused->used_bytes <= drained_mark(course)) ||
	       zm_memused_is_settled(memused, DRAIN_SETTLED, DRAIN_STILL_BYTES);
}

static int do_drain(struct zm_course *course)
{
	uint64_t limit_ns = course->cell->options.drain_ns;
	char rest[32];
	int r;

	zm_memused_restart(&course->memused);
	(void)zm_memused_read(&course->memused);
	r = zm_pulse_wait(course, course->phase_t0_ns + limit_ns, is_drained);
	course->drained_used_bytes = course->memused.used_bytes;
	if (r < 0 && r != -ETIMEDOUT)
		return r;
	if (course->memused.is_open && course->memused.used_bytes > drained_mark(course))
		zm_course_note(course, "not-drained", "used memory %s %s above the idle baseline",
			       r == 0 ? "settled" : "was still falling",
			       zm_units_human_bytes(rest, sizeof(rest),
						    (double)(course->memused.used_bytes -
							     course->idle_used_bytes)));
	return 0;
}

static bool is_finished(struct zm_course *course)
{
	return zm_course_has_heard(course, ZM_WORD_FINISHED);
}

static int do_cleanup(struct zm_course *course)
{
	uint64_t limit_ns = course->cell->options.stop_ns;
	int r;

	(void)zm_launch_tell(&course->launch, ZM_WORD_FINISH);
	r = zm_pulse_wait(course, from_now(limit_ns), is_finished);
	r = fail_late(course, r, "the workload had not cleaned up", limit_ns);
	return r == 0 && zm_arena_failure(&course->arena) ? -ECHILD : r;
}

static int (*const phases[ZM_NR_PHASES])(struct zm_course *) = {
	[ZM_PHASE_PREPARE] = do_prepare, [ZM_PHASE_IDLE] = do_idle,
	[ZM_PHASE_SETUP] = do_setup,     [ZM_PHASE_WARMUP] = do_warmup,
	[ZM_PHASE_MEASURE] = do_measure, [ZM_PHASE_STOP] = do_stop,
	[ZM_PHASE_DRAIN] = do_drain,     [ZM_PHASE_CLEANUP] = do_cleanup,
};

static int go_through_phases(struct zm_course *course)
{
	int r = 0;

	course->phase_t0_ns = zm_clock_now_ns();
	zm_pulse_restart(course, course->phase_t0_ns);
	while (r == 0 && course->phase < ZM_NR_PHASES) {
		r = phases[course->phase](course);
		if (r == 0)
			pass_border(course, course->phase + 1);
	}
	return r;
}

/* --- before --- */

static int check_settings(const struct zm_course *course, struct zm_why *why)
{
	const struct zm_cell *cell = course->cell;
	int r = 0;

	for (size_t i = 0; r == 0 && i < cell->nr_settings; i++)
		r = zm_setting_check(course->session->root, cell->settings[i].name,
				     cell->settings[i].value, why);
	return r;
}

/* May it run here? -ENOTSUP: not here; anything else: not as asked for. */
static int check(struct zm_course *course, struct zm_why *why)
{
	const struct zm_workload *workload = course->cell->workload;
	int r = zm_need_check(&workload->need, course->session->root, course->session->topology,
			      why);

	if (r == 0 && workload->check)
		r = workload->check(course->arena.run, why);
	if (r == 0)
		r = check_settings(course, why);
	if (r == 0 && !course->session->is_overcommitted)
		r = zm_footprint_check(&course->arena, why);
	return r;
}

static int change_machine(struct zm_course *course, struct zm_why *why)
{
	const struct zm_cell *cell = course->cell;
	struct zm_journal *journal = course->session->journal;
	int r = 0;

	for (size_t i = 0; r == 0 && i < cell->nr_settings; i++)
		r = zm_setting_apply(course->session->root, journal, cell->settings[i].name,
				     cell->settings[i].value, why);
	if (r == 0)
		r = zm_save_all(course->session->root, journal, cell->workload->save, why);
	return r;
}

/* --- after --- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Stops what runs, and lets the launcher clean up; whoever hangs is killed later. */
static void wind_down(struct zm_course *course)
{
	uint64_t limit_ns = course->cell->options.stop_ns;
	int r = 0;

	course->is_gate_open = false;
	if (!course->is_launched || course->launch.is_reaped)
		return;
	zm_arena_stop(&course->arena);
	zm_gate_open(&course->arena.control->gate);
	if (course->has_told_make)
		r = zm_pulse_wind_down(course, ZM_WORD_ENDED, from_now(least(limit_ns, END_NS)));
	if (r == 0 && zm_launch_tell(&course->launch, ZM_WORD_FINISH) == 0)
		(void)zm_pulse_wind_down(course, ZM_WORD_FINISHED,
					 from_now(least(limit_ns, CLEANUP_NS)));
}

static void explain(struct zm_course *course)
{
	const struct zm_failure *failure = zm_arena_failure(&course->arena);
	struct zm_outcome *outcome = course->outcome;

	if (outcome->signal) {
		outcome->status = ZM_STATUS_INTERRUPTED;
		(void)zm_why_set(&outcome->why, 0, "interrupted by SIG%s",
				 sigabbrev_np(outcome->signal));
		return;
	}
	outcome->status = ZM_STATUS_FAILED;
	if (outcome->store_error == 0)
		(void)zm_why_set(&outcome->why, 0, "%s in the %s phase",
				 failure ? failure->why.text : "an unknown failure",
				 zm_phase_name(course->phase));
}

/* What a launcher that was killed had written down itself (a build's cgroups) is undone at once. */
static void restore_for_the_dead(struct zm_course *course)
{
	struct zm_why why = { { 0 } };

	if (course->is_launched && !course->launch.is_finished &&
	    zm_journal_recover(course->session->root, NULL, NULL, NULL, &why) < 0)
		zm_course_note(course, "not-restored", "%s", why.text);
}

static void restore(struct zm_course *course)
{
	struct zm_why why = { { 0 } };

	if (zm_journal_undo(course->session->journal, &why) < 0) {
		zm_course_note(course, "not-restored", "%s", why.text);
		zm_progress_say(course->session->progress, why.text);
	} else if (why.text[0]) {
		/* Somebody set it otherwise during the run: it was not what was asked for. */
		zm_course_note(course, "setting-left", "%s", why.text);
		zm_progress_say(course->session->progress, why.text);
	}
}

static void run_recorded(struct zm_course *course)
{
	struct zm_outcome *outcome = course->outcome;
	int r = change_machine(course, &outcome->why);

	if (course->session->is_shared)
		zm_course_note(course, "shared", "--share: another measuring run was allowed");
	if (r < 0) {
		outcome->status = ZM_STATUS_FAILED;
	} else {
		r = go_through_phases(course);
		if (r < 0) {
			explain(course);
			wind_down(course);
		}
	}
	zm_launch_end(&course->launch);
	zm_course_step_back(course);
	restore_for_the_dead(course);
	restore(course);
	if (r == 0 && zm_figures_derive(course, &outcome->why) < 0)
		outcome->status = ZM_STATUS_FAILED;
	else if (r == 0)
		outcome->status = ZM_STATUS_OK;
}

/* The store's own failure stands above every other. */
static void close_record(struct zm_course *course)
{
	struct zm_outcome *outcome = course->outcome;
	struct zm_why why = { { 0 } };
	int r;

	if (!course->recorder)
		return;
	r = zm_recorder_end(course->recorder, outcome->status,
			    outcome->status == ZM_STATUS_OK ? NULL : outcome->why.text, &why);
	course->recorder = NULL;
	outcome->report.recorder = NULL;
	if (r < 0 && outcome->store_error == 0) {
		outcome->store_error = r;
		outcome->why = why;
	}
}

static void refuse(struct zm_outcome *outcome, int error)
{
	outcome->status = ZM_STATUS_SKIPPED;
	outcome->is_refused = error != -ENOTSUP;
}

void zm_phase_run(struct zm_session *session, const struct zm_cell *cell, unsigned int repeat,
		  struct zm_outcome *ret_outcome)
{
	struct zm_course course = { 0 };
	int r;

	*ret_outcome = (struct zm_outcome){ .status = ZM_STATUS_RUNNING, .spread = -1 };
	r = zm_course_init(&course, session, cell, repeat, ret_outcome, &ret_outcome->why);
	if (r == 0)
		r = check(&course, &ret_outcome->why);
	if (r < 0)
		refuse(ret_outcome, r);
	if (course.session && zm_course_record(&course, repeat, &ret_outcome->why) < 0)
		ret_outcome->store_error = -EIO;
	else if (r == 0)
		run_recorded(&course);
	close_record(&course);
	zm_course_release(&course);
}

void zm_outcome_release(struct zm_outcome *outcome)
{
	zm_report_release(&outcome->report);
}
