/* stall: silence, and what the task's state and CPU time make of it. */
#include "runner/stall.h"

#include <errno.h>

#include "workloads/base/clock.h"

#define PATIENCE_NS (5 * ZM_NS_PER_S)
/* Sharing a CPU costs turns: so much more silence is allowed for each task that shares it. */
#define TURN_NS (20 * ZM_NS_PER_MS)
/* A task that is silent for so long at the window's end is looked at. */
#define NOTICED_NS (500 * ZM_NS_PER_MS)
/* In a window shorter than this only a stopped task is known to have stalled. */
#define WINDOW_NS ZM_NS_PER_S
/* Waiting for a CPU so many times longer than allowed is taken for a stall after all. */
#define STARVED_TIMES 12

static uint64_t turns_ns(const struct zm_course *course)
{
	size_t nr_cpus = zm_cpuset_count(&course->used);

	return TURN_NS * (course->cell->nr_tasks / (nr_cpus ? nr_cpus : 1));
}

static uint64_t limit_ns(const struct zm_course *course)
{
	uint64_t limit = course->cell->options.stall_ns;

	if (limit == 0)
		limit = course->cell->workload->patience_ns;
	return (limit ? limit : PATIENCE_NS) + turns_ns(course);
}

/* CPU time in the silence by which a task could have counted. */
#define SPIN_NS (50 * ZM_NS_PER_MS)

enum silence { STARVED, WAITING, STOPPED, SPINNING };

/* CPU time is known from the last border on: what the task had beyond the time before its silence, it
 * had in it. */
static enum silence judge(const struct zm_course *course, unsigned int task, uint64_t silent_ns)
{
	struct zm_tasktime now;
	uint64_t spent_ns, before_ns;

	if (zm_tasktimes_look(&course->times, task, &now) < 0)
		return STARVED;
	spent_ns = now.cpu_ns - course->times.cpu_ns[task];
	if (now.state == 'T' || now.state == 't')
		return STOPPED;
	if (now.state != 'R')
		return WAITING;
	before_ns = course->tally.t_ns - course->times.t_ns;
	before_ns = before_ns > silent_ns ? before_ns - silent_ns : 0;
	return spent_ns > before_ns + SPIN_NS ? SPINNING : STARVED;
}

static enum silence judge_unit(const struct zm_course *course, unsigned int task,
			       uint64_t silent_ns)
{
	unsigned int nr_ends = course->cell->workload->nr_ends;
	enum silence silence = judge(course, task, silent_ns);
	unsigned int other = task ^ 1;

	if (nr_ends == 2 && silence == WAITING && other < course->arena.nr_tasks &&
	    judge(course, other, silent_ns) == STARVED)
		return STARVED;
	return silence;
}

static int fail(struct zm_course *course, unsigned int task, enum silence silence,
		uint64_t silent_ns)
{
	static const char *const how[] = { "it has no CPU", "it waits", "it is stopped",
					   "it runs without counting" };

	zm_arena_fail(&course->arena, (int)task, -ETIMEDOUT,
		      "task %u (%s %d) has stalled: no operation for %.1f s, %s", task,
		      course->cell->kind == ZM_TASK_THREAD ? "thread" : "pid",
		      zm_arena_slot(&course->arena, task)->tid, (double)silent_ns / 1e9,
		      how[silence]);
	return -ECHILD;
}

int zm_stall_find(struct zm_course *course)
{
	uint64_t silent_ns;
	unsigned int task = zm_tally_most_silent(&course->tally, &silent_ns);
	enum silence silence;

	if (silent_ns <= limit_ns(course))
		return 0;
	silence = judge_unit(course, task, silent_ns);
	if (silence == STARVED && silent_ns <= STARVED_TIMES * limit_ns(course))
		return 0;
	return fail(course, task, silence, silent_ns);
}

int zm_stall_find_in_window(struct zm_course *course)
{
	const struct zm_tally *tally = &course->tally;
	unsigned int nr_starved = 0;
	uint64_t window_ns;
	bool can_tell;

	zm_tally_read(&course->tally);
	window_ns = tally->t_ns - course->start.t_ns;
	can_tell = window_ns > WINDOW_NS + turns_ns(course) &&
		   window_ns > course->cell->workload->patience_ns;
	for (unsigned int i = 0; i < course->arena.nr_tasks; i++) {
		uint64_t silent_ns = tally->t_ns - tally->moved_ns[i];
		bool is_whole = tally->moved_ns[i] <= course->start.t_ns;
		enum silence silence;

		if (silent_ns < NOTICED_NS && !is_whole)
			continue;
		silence = judge_unit(course, i, silent_ns);
		if (silence == STOPPED || (is_whole && silence != STARVED && can_tell))
			return fail(course, i, silence, silent_ns);
		nr_starved += is_whole;
	}
	if (nr_starved)
		zm_course_note(course, "starved",
			       "%u of %u tasks counted nothing in the window: too little CPU for "
			       "them, or too short a window",
			       nr_starved, course->arena.nr_tasks);
	return 0;
}
