/* course: what a run needs is made here before it starts, and given back after. */
#include "runner/course.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/clock.h"

#define FAST_NS  (100 * ZM_NS_PER_MS)
#define FLUSH_NS ZM_NS_PER_S

static int place_tasks(struct zm_course *course, struct zm_why *why)
{
	const struct zm_cell *cell = course->cell;
	unsigned int nr_ends = cell->workload->nr_ends ? cell->workload->nr_ends : 1;
	int r;

	course->cpus = calloc(cell->nr_tasks, sizeof(*course->cpus));
	if (!course->cpus)
		return zm_why_errno(why, -ENOMEM, "placing %u tasks", cell->nr_tasks);
	r = zm_place_tasks(course->session->topology, course->session->place, cell->nr_units,
			   nr_ends, course->cpus, why);
	for (unsigned int i = 0; r == 0 && i < cell->nr_tasks; i++) {
		if (course->cpus[i] >= 0)
			r = zm_cpuset_add(&course->used, (unsigned int)course->cpus[i]);
		else
			r = zm_cpuset_copy(&course->used, &course->session->topology->allowed);
		if (r < 0)
			(void)zm_why_errno(why, r, "placing %u tasks", cell->nr_tasks);
		if (course->cpus[i] < 0)
			break;
	}
	return r;
}

static void fill_run(struct zm_course *course, unsigned int repeat)
{
	struct zm_run *run = course->arena.run;

	run->options = course->cell->workload_options;
	run->root = course->session->root;
	run->kind = course->cell->kind;
	run->seed = course->cell->options.seed + repeat;
}

static void fill_spec(struct zm_course *course)
{
	course->spec = (struct zm_launch_spec){ .arena = &course->arena,
						.topology = course->session->topology,
						.cpus = course->cpus,
						.mem = course->session->mem,
						.journal = course->session->journal,
						.notice_fd = -1 };
}

static void fill_intervals(struct zm_course *course)
{
	const struct zm_run_options *options = &course->cell->options;
	uint64_t normal_ns = options->monitor_interval_ns;

	course->interval_ns[ZM_TICK_NORMAL] = normal_ns;
	course->interval_ns[ZM_TICK_FAST] = normal_ns < FAST_NS ? normal_ns : FAST_NS;
	course->interval_ns[ZM_TICK_TALLY] = options->interval_ns;
	course->interval_ns[ZM_TICK_FLUSH] = FLUSH_NS;
}

int zm_course_init(struct zm_course *course, struct zm_session *session, const struct zm_cell *cell,
		   unsigned int repeat, struct zm_outcome *outcome, struct zm_why *why)
{
	int r;

	*course = (struct zm_course){
		.session = session, .cell = cell, .outcome = outcome, .launch = { .socket = -1 }
	};
	r = zm_arena_init(&course->arena, cell->workload, cell->nr_tasks, why);
	if (r == 0)
		r = place_tasks(course, why);
	if (r < 0) {
		zm_course_release(course);
		return r;
	}
	fill_run(course, repeat);
	fill_spec(course);
	fill_intervals(course);
	return 0;
}

void zm_course_release(struct zm_course *course)
{
	zm_watch_close(&course->watch);
	zm_memused_release(&course->memused);
	zm_border_release(&course->start);
	zm_border_release(&course->end);
	zm_tasktimes_release(&course->times);
	zm_tally_release(&course->tally);
	zm_cpuset_release(&course->used);
	zm_cpuset_release(&course->home);
	free(course->cpus);
	zm_arena_release(&course->arena);
	*course = (struct zm_course){ 0 };
}

static void describe(const struct zm_course *course, unsigned int repeat,
		     struct zm_run_record *ret_record)
{
	const struct zm_session *session = course->session;
	const struct zm_cell *cell = course->cell;

	*ret_record = (struct zm_run_record){
		.invocation = session->invocation,
		.command_line = session->command_line,
		.label = session->label,
		.workload = cell->workload->name,
		.params = cell->params,
		.cell = cell->key,
		.repeat = repeat,
		.status = course->outcome->status,
		.reason = course->outcome->status == ZM_STATUS_SKIPPED ? course->outcome->why.text
								       : NULL,
		.nr_tasks = cell->nr_tasks,
		.kind = cell->kind == ZM_TASK_THREAD ? "thread" : "process",
		.inventory = session->inventory,
		.machine_id = session->machine_id,
		.boot_id = session->boot_id,
		.kernel = session->kernel,
		.version = ZM_VERSION,
	};
}

int zm_course_record(struct zm_course *course, unsigned int repeat, struct zm_why *why)
{
	struct zm_run_record record;
	int r;

	describe(course, repeat, &record);
	r = zm_recorder_begin(course->session->store, &record, &course->recorder, why);
	if (r < 0)
		return r;
	course->outcome->run_id = zm_recorder_run_id(course->recorder);
	zm_report_init(&course->outcome->report, course->recorder, course->cell->nr_units);
	if (course->session->guest_note)
		(void)zm_recorder_note(course->recorder, "guest", course->session->guest_note);
	if (course->outcome->status != ZM_STATUS_RUNNING)
		return 0;
	r = zm_tally_init(&course->tally, &course->arena, course->recorder, why);
	if (r == 0 && (zm_border_init(&course->start, &course->tally) < 0 ||
		       zm_border_init(&course->end, &course->tally) < 0))
		r = zm_why_errno(why, -ENOMEM, "counters of %u tasks", course->cell->nr_tasks);
	return r;
}

void zm_course_note(struct zm_course *course, const char *kind, const char *format, ...)
{
	char *flags = course->outcome->flags;
	size_t length = strlen(flags);
	char text[ZM_WHY_SIZE];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	(void)zm_recorder_note(course->recorder, kind, text);
	if (!strstr(flags, kind))
		(void)snprintf(flags + length, sizeof(course->outcome->flags) - length, "%s%s",
			       length ? " " : "", kind);
}

void zm_course_step_aside(struct zm_course *course)
{
	zm_autocpuset struct zm_cpuset others = { 0 };

	if (zm_cpuset_get_affinity(0, &course->home) < 0 ||
	    zm_cpuset_copy(&others, &course->session->topology->allowed) < 0)
		return;
	zm_cpuset_subtract(&others, &course->used);
	if (zm_cpuset_count(&others) > 0)
		course->is_aside = zm_cpuset_set_affinity(0, &others) == 0;
}

void zm_course_step_back(struct zm_course *course)
{
	if (course->is_aside)
		(void)zm_cpuset_set_affinity(0, &course->home);
	course->is_aside = false;
}

bool zm_course_has_heard(const struct zm_course *course, enum zm_word word)
{
	return (course->heard & (1u << word)) != 0;
}
