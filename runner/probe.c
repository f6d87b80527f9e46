/* probe: a run that is asked whether it could, and never starts. */
#include "runner/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "results/store.h"
#include "runner/need.h"
#include "workloads/base/cleanup.h"

static enum zm_task_kind first_kind(const struct zm_workload *workload)
{
	return workload->kinds & ZM_TASK_PROCESS ? ZM_TASK_PROCESS : ZM_TASK_THREAD;
}

/* check() with the presets in `options`. */
static int ask(const struct zm_workload *workload, const struct zm_sysroot *root, void *options,
	       struct zm_why *why)
{
	zm_autofree void *state = calloc(1, workload->run_bytes + 1);
	struct zm_run run = {
		.workload = workload,
		.options = options,
		.root = root,
		.kind = first_kind(workload),
		.nr_tasks = workload->nr_ends ? workload->nr_ends : 1,
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.state = state,
	};

	if (!state)
		return zm_why_errno(why, -ENOMEM, "%s", workload->name);
	return workload->check(&run, why);
}

int zm_probe_option(const struct zm_workload *workload, const struct zm_sysroot *root,
		    const struct zm_topology *topology, const struct zm_option *option,
		    const char *value, struct zm_why *why)
{
	zm_autofree void *options = calloc(1, workload->options_size + 1);
	int r = zm_need_check(&workload->need, root, topology, why);

	if (r < 0 || !workload->check)
		return r;
	if (!options)
		return zm_why_errno(why, -ENOMEM, "%s", workload->name);
	if (workload->options)
		r = zm_options_init(workload->options, options, why);
	if (r == 0 && option)
		r = zm_option_set(workload->options, options, option->name, value, why);
	if (r == 0)
		r = ask(workload, root, options, why);
	if (workload->options)
		zm_options_release(workload->options, options);
	return r;
}

int zm_probe_workload(const struct zm_workload *workload, const struct zm_sysroot *root,
		      const struct zm_topology *topology, struct zm_why *why)
{
	return zm_probe_option(workload, root, topology, NULL, NULL, why);
}

int zm_probe_monitor(const struct zm_monitor *monitor, const struct zm_sysroot *root,
		     struct zm_why *why)
{
	zm_autofree void *state = calloc(1, monitor->state_bytes + 1);
	struct zm_monitor_context context = { .monitor = monitor, .root = root, .state = state };
	int r = state ? zm_recorder_begin_nowhere(&context.recorder) : -ENOMEM;

	if (r < 0)
		return zm_why_errno(why, r, "%s", monitor->name);
	r = monitor->open(&context, why);
	monitor->close(&context);
	(void)zm_recorder_end(context.recorder, ZM_STATUS_SKIPPED, NULL, NULL);
	return r;
}
