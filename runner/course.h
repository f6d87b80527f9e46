/*
 * course: one run under way: everything that its phases work on.
 */
#ifndef ZM_RUNNER_COURSE_H
#define ZM_RUNNER_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/arena.h"
#include "runner/border.h"
#include "runner/launch.h"
#include "runner/memused.h"
#include "runner/pace.h"
#include "runner/session.h"
#include "runner/tally.h"
#include "runner/tasktime.h"
#include "runner/watch.h"

enum zm_tick {
	ZM_TICK_FAST,   /* used memory */
	ZM_TICK_NORMAL, /* the other monitors */
	ZM_TICK_TALLY,  /* the tasks' counters, while the gate is open */
	ZM_TICK_FLUSH,  /* what is pending, into the store */
	ZM_NR_TICKS,
};

struct zm_course {
	struct zm_session *session;
	const struct zm_cell *cell;
	struct zm_outcome *outcome;
	struct zm_recorder *recorder;

	struct zm_arena arena;
	int *cpus;             /* by task */
	struct zm_cpuset used; /* the tasks' CPUs; all allowed ones when they are not pinned */
	struct zm_launch_spec spec;
	struct zm_launch launch;
	struct zm_cpuset home; /* the runner's own CPUs, while it stands aside */
	bool is_aside;
	unsigned int heard; /* what the launcher has said: 1 << enum zm_word */
	bool is_launched, has_told_make, is_gate_open;

	struct zm_watch watch;
	struct zm_memused memused;
	struct zm_tally tally;
	struct zm_tasktimes times;
	struct zm_pace pace;
	struct zm_border start, end; /* of the measured window */
	uint64_t idle_used_bytes, drained_used_bytes;

	enum zm_phase phase;
	uint64_t phase_t0_ns;
	uint64_t phase_until_ns; /* when it ends at the latest, for the progress line */
	uint64_t interval_ns[ZM_NR_TICKS];
	uint64_t next_ns[ZM_NR_TICKS];
};

/* Everything that needs no running launcher: arena, places, borders. -ENOMEM, or what zm_place_tasks
 * says. zm_course_release accepts what has not been initialised (zeroed). */
int zm_course_init(struct zm_course *course, struct zm_session *session, const struct zm_cell *cell,
		   unsigned int repeat, struct zm_outcome *outcome, struct zm_why *why);
void zm_course_release(struct zm_course *course);

/* Opens the run in the store, and the series of its tasks. */
int zm_course_record(struct zm_course *course, unsigned int repeat, struct zm_why *why);

/* Something a reader must know: into the store, and its kind into the outcome's flags. */
void zm_course_note(struct zm_course *course, const char *kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The runner leaves the tasks' CPUs to them, where there are others; and comes back. */
void zm_course_step_aside(struct zm_course *course);
void zm_course_step_back(struct zm_course *course);

bool zm_course_has_heard(const struct zm_course *course, enum zm_word word);

#endif
