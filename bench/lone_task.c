/* lone_task: an arena for one or two, and nobody who looks into it. */
#include "bench/lone_task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/arena.h"
#include "runner/launch.h"
#include "runner/worker.h"
#include "workloads/base/clock.h"
#include "workloads/base/sysroot.h"

static const struct zm_arena *running;

static int fail(const struct zm_workload *workload, const struct zm_why *why)
{
	(void)fprintf(stderr, "%s: %s\n", workload->name, why->text);
	return 2;
}

static int set_options(const struct zm_workload *workload, void *options, char **words,
		       struct zm_why *why)
{
	int r = workload->options ? zm_options_init(workload->options, options, why) : 0;

	for (; r == 0 && *words; words++) {
		char *value = strchr(*words, '=');

		if (!value)
			return zm_why_set(why, -EINVAL, "%s: NAME=VALUE is needed", *words);
		*value++ = '\0';
		r = zm_option_set(workload->options, options, *words, value, why);
	}
	return r;
}

void zm_lone_task_stop(void)
{
	zm_arena_stop(running);
}

/* What a task needs around it. */
struct surroundings {
	struct zm_workload workload; /* with the caller's step */
	struct zm_topology topology;
	int cpus[2];
	void *options;
	struct zm_sysroot root;
	struct zm_arena arena;
	struct zm_launch_spec spec;
};

static int furnish(struct surroundings *around, const struct zm_workload *workload,
		   unsigned int nr_tasks, char **words)
{
	struct zm_why why = { "" };
	int r;

	*around = (struct surroundings){ .workload = *workload, .cpus = { -1, -1 } };
	around->options = calloc(1, workload->options_size + 1);
	r = around->options ? zm_sysroot_open(&around->root, NULL) : -ENOMEM;
	if (r == 0)
		r = set_options(workload, around->options, words, &why);
	if (r == 0)
		r = zm_arena_init(&around->arena, &around->workload, nr_tasks, &why);
	if (r < 0)
		return fail(workload, &why);
	around->arena.run->options = around->options;
	around->arena.run->root = &around->root;
	around->arena.run->kind = ZM_TASK_PROCESS;
	around->spec = (struct zm_launch_spec){ .arena = &around->arena,
						.topology = &around->topology,
						.cpus = around->cpus,
						.notice_fd = eventfd(0, EFD_CLOEXEC) };
	running = &around->arena;
	zm_gate_open(&around->arena.control->gate);
	if (workload->prepare && workload->prepare(around->arena.run, &why) < 0)
		return fail(workload, &why);
	return 0;
}

static void clear_away(struct surroundings *around)
{
	if (around->workload.cleanup)
		around->workload.cleanup(around->arena.run);
	(void)close(around->spec.notice_fd);
	zm_arena_release(&around->arena);
	zm_sysroot_release(&around->root);
	free(around->options);
}

/* How the task has ended. */
static int judge(const struct surroundings *around, unsigned int index)
{
	const struct zm_slot *slot = zm_arena_slot(&around->arena, index);

	return slot->state == ZM_SLOT_DONE ? 0 : fail(&around->workload, &slot->why);
}

int zm_lone_task_run(const struct zm_workload *workload,
		     int64_t (*step)(struct zm_task *task, uint64_t n), char **words,
		     uint64_t *ret_ops)
{
	struct surroundings around;
	int r = furnish(&around, workload, 1, words);

	if (r != 0)
		return r;
	around.workload.step = step;
	if (around.workload.batch == 0)
		around.workload.batch = 1; /* its step does a round */
	zm_worker_main(&around.spec, 0);
	r = judge(&around, 0);
	*ret_ops = zm_arena_slot(&around.arena, 0)->ops;
	clear_away(&around);
	return r;
}

int zm_lone_pair_run(const struct zm_workload *workload, char **words, uint64_t length_ns)
{
	struct surroundings around;
	pid_t pids[2];
	int r = furnish(&around, workload, 2, words);

	if (r != 0)
		return r;
	for (unsigned int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			zm_worker_main(&around.spec, i);
			_exit(0);
		}
	}
	(void)zm_clock_sleep_until(zm_clock_now_ns() + length_ns);
	zm_lone_task_stop();
	for (unsigned int i = 0; i < 2; i++) {
		while (pids[i] > 0 && waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
			;
		r = r == 0 ? judge(&around, i) : r;
	}
	clear_away(&around);
	return r;
}
