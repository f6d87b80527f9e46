/* pulse: one poll() whose time-out is the next thing that is due. */
#include "runner/pulse.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "runner/stall.h"
#include "workloads/base/clock.h"

/* --- events --- */

static int hear_signal(struct zm_course *course)
{
	struct signalfd_siginfo info;
	ssize_t n = read(course->session->signal_fd, &info, sizeof(info));

	if (n != (ssize_t)sizeof(info))
		return 0;
	course->outcome->signal = (int)info.ssi_signo;
	return -EINTR;
}

static int hear_launcher(struct zm_course *course)
{
	enum zm_word word;
	int r = 0;

	while (course->is_launched && r == 0) {
		r = zm_launch_hear(&course->launch, &word);
		if (r < 0 || word == ZM_WORD_NONE)
			return r;
		course->heard |= 1u << word;
		if (word == ZM_WORD_FAILED)
			r = -ECHILD;
	}
	return r;
}

static void wait_for_event(struct zm_course *course, uint64_t until_ns)
{
	struct pollfd fds[] = { { course->session->signal_fd, POLLIN, 0 },
				{ course->is_launched ? course->launch.socket : -1, POLLIN, 0 } };
	uint64_t now_ns = zm_clock_now_ns();
	uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec timeout = { (time_t)(left_ns / ZM_NS_PER_S),
				    (long)(left_ns % ZM_NS_PER_S) };

	(void)ppoll(fds, 2, &timeout, NULL);
}

static int hear(struct zm_course *course)
{
	int r = hear_signal(course);

	return r < 0 ? r : hear_launcher(course);
}

/* --- what is periodic --- */

static int tick_tally(struct zm_course *course, uint64_t late_ns)
{
	bool is_late = late_ns > course->interval_ns[ZM_TICK_TALLY] / 10;

	if (!course->is_gate_open)
		return 0;
	zm_tally_read(&course->tally);
	zm_tally_put(&course->tally, is_late ? ZM_FLAG_LATE : 0);
	zm_pace_add(&course->pace, course->tally.t_ns, zm_tally_ops(&course->tally));
	return zm_stall_find(course);
}

static int flush(struct zm_course *course)
{
	int r = zm_recorder_flush(course->recorder, &course->outcome->why);

	if (r == 0)
		return 0;
	course->outcome->store_error = r;
	return -EIO;
}

static int tick(struct zm_course *course, enum zm_tick which, uint64_t now_ns, uint64_t late_ns)
{
	switch (which) {
	case ZM_TICK_FAST:
		(void)zm_memused_read(&course->memused);
		zm_watch_read(&course->watch, ZM_RATE_FAST, course->phase, now_ns);
		return 0;
	case ZM_TICK_NORMAL:
		zm_watch_read(&course->watch, ZM_RATE_NORMAL, course->phase, now_ns);
		return 0;
	case ZM_TICK_TALLY:
		return tick_tally(course, late_ns);
	default:
		return flush(course);
	}
}

static int tick_due(struct zm_course *course)
{
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < ZM_NR_TICKS; i++) {
		uint64_t now_ns = zm_clock_now_ns();
		uint64_t late_ns;

		if (now_ns < course->next_ns[i])
			continue;
		late_ns = now_ns - course->next_ns[i];
		course->next_ns[i] += course->interval_ns[i];
		if (course->next_ns[i] < now_ns)
			course->next_ns[i] = now_ns + course->interval_ns[i];
		r = tick(course, i, now_ns, late_ns);
	}
	return r;
}

void zm_pulse_restart(struct zm_course *course, uint64_t now_ns)
{
	for (unsigned int i = 0; i < ZM_NR_TICKS; i++) {
		if (i != ZM_TICK_FLUSH)
			course->next_ns[i] = now_ns + course->interval_ns[i];
	}
}

static uint64_t next_due_ns(const struct zm_course *course, uint64_t until_ns)
{
	for (unsigned int i = 0; i < ZM_NR_TICKS; i++) {
		if (course->next_ns[i] < until_ns)
			until_ns = course->next_ns[i];
	}
	return until_ns;
}

/* --- what a person sees --- */

/* The rest of this phase, if it has a length and not only a limit, and the length of those after it. */
static uint64_t left_ns(const struct zm_course *course)
{
	const struct zm_run_options *options = &course->cell->options;
	uint64_t now_ns = zm_clock_now_ns();
	uint64_t left = 0;

	if ((course->phase == ZM_PHASE_IDLE || course->phase == ZM_PHASE_WARMUP ||
	     course->phase == ZM_PHASE_MEASURE) &&
	    course->phase_until_ns > now_ns)
		left = course->phase_until_ns - now_ns;
	if (course->phase < ZM_PHASE_IDLE)
		left += options->idle_ns;
	if (course->phase < ZM_PHASE_WARMUP)
		left += options->warmup_ns;
	if (course->phase < ZM_PHASE_MEASURE)
		left += options->runtime_ns;
	return left;
}

static void show(struct zm_course *course)
{
	const struct zm_progress_state state = {
		.phase = zm_phase_name(course->phase),
		.op = course->cell->workload->op,
		.rate = course->is_gate_open ? zm_pace_now(&course->pace) : -1,
		.used_bytes = course->memused.used_bytes,
		.left_ns = left_ns(course),
	};

	zm_progress_show(course->session->progress, &state);
}

/* --- waiting --- */

int zm_pulse_wait(struct zm_course *course, uint64_t until_ns, bool (*is_over)(struct zm_course *))
{
	course->phase_until_ns = until_ns;
	for (;;) {
		int r = hear(course);

		if (r == 0)
			r = tick_due(course);
		if (r < 0)
			return r;
		if (is_over && is_over(course))
			return 0;
		if (zm_clock_now_ns() >= until_ns)
			return is_over ? -ETIMEDOUT : 0;
		show(course);
		wait_for_event(course, next_due_ns(course, until_ns));
	}
}

int zm_pulse_wind_down(struct zm_course *course, enum zm_word word, uint64_t until_ns)
{
	while (!zm_course_has_heard(course, word)) {
		int r;

		if (zm_clock_now_ns() >= until_ns)
			return -ETIMEDOUT;
		wait_for_event(course, until_ns);
		if (hear_signal(course) < 0)
			return -EINTR;
		r = hear_launcher(course);
		if (r < 0 && course->launch.is_reaped)
			return r;
	}
	return 0;
}
