/*
 * launch: the runner's end of one launch: it starts the launcher, tells it what to do, hears what
 * became of it, and can end it.
 *
 *     runner                          launcher (a session of its own)        tasks
 *       | fork ---------------------->  prepare()
 *       | <---------------- PREPARED
 *       | MAKE --------------------->   makes the tasks ------------------> pin, setup()
 *       | <------------------- READY    all have come to the gate <-------- wait at the gate
 *       | opens the gate (shared memory) ---------------------------------> step(), step(), …
 *       | sets the stop word ---------------------------------------------> teardown()
 *       | <------------------- ENDED    all are reaped
 *       | FINISH ------------------->   verify(), cleanup()
 *       | <---------------- FINISHED    exits
 *
 * FAILED can come instead of any answer; the arena's failure record says why, and the tasks have been
 * told to stop. Nobody but the launcher is the tasks' parent, so their deaths are its to see; the
 * launcher's own is the runner's. A dead parent takes its children along (PR_SET_PDEATHSIG).
 */
#ifndef ZM_RUNNER_LAUNCH_H
#define ZM_RUNNER_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "runner/arena.h"
#include "runner/oom.h"
#include "runner/place.h"
#include "workloads/base/journal.h"
#include "workloads/base/topology.h"
#include "workloads/base/why.h"

/* What the launcher and the tasks must know. Lives longer than they. */
struct zm_launch_spec {
	const struct zm_arena *arena;
	const struct zm_topology *topology;
	const int *cpus; /* by task: where it is pinned, -1: nowhere */
	struct zm_mem_policy mem;
	struct zm_oom oom;          /* the kernel's counts before the launch */
	struct zm_journal *journal; /* the child forgets it */
	int notice_fd;              /* an eventfd: a task came to the gate as the last, or ended */
};

enum zm_word {
	ZM_WORD_NONE,
	/* to the launcher */
	ZM_WORD_MAKE,
	ZM_WORD_FINISH,
	/* from it */
	ZM_WORD_PREPARED,
	ZM_WORD_READY,
	ZM_WORD_ENDED,
	ZM_WORD_FINISHED,
	ZM_WORD_FAILED,
};

struct zm_launch {
	struct zm_launch_spec *spec;
	pid_t pid;
	int socket;
	bool is_finished; /* it has said ZM_WORD_FINISHED: its death is no failure */
	bool is_reaped;
	int status;   /* of waitpid, once reaped */
	int niceness; /* the runner's own, before */
	bool has_risen;
};

int zm_launch_start(struct zm_launch *launch, struct zm_launch_spec *spec, struct zm_why *why);

int zm_launch_tell(struct zm_launch *launch, enum zm_word word);

/* What the launcher has said; ZM_WORD_NONE when nothing. -ECHILD when it has died (it is reaped, and
 * the failure record is set if it died of anything but its own exit after ZM_WORD_FINISHED). Never
 * blocks; poll launch->socket for when to call. */
int zm_launch_hear(struct zm_launch *launch, enum zm_word *ret_word);

/* Kills the launcher and all in its group, and reaps it. Done already: nothing happens. */
void zm_launch_kill(struct zm_launch *launch);

/* Kills if needed, and releases. */
void zm_launch_end(struct zm_launch *launch);

/* "task 3 (pid 77) was killed by signal 9 (Killed)", with the OOM killer's mark when it was he. */
void zm_launch_say_death(const struct zm_launch_spec *spec, const char *who, int status, char *buf,
			 size_t size);

#endif
