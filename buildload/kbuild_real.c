/*
 * kbuild_real: real builds at once, each by its own make in its own cgroup, out of one source tree.
 *
 *     launcher   prepare   journal, keeper, a folder for the build trees, the cgroups
 *     task       setup     its build tree, configured               (before the gate)
 *                run       make -j … -> next: a fresh tree, configured -> make -j …
 *                          on stop: all that runs in its cgroup is killed
 *     launcher   cleanup   the journal undoes it all
 *
 * A task is an instance. It sleeps until its make says something; each line by which make announces a
 * job is one operation. What a whole build took is known when it has ended, and counted then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buildload/builds.h"
#include "buildload/cgroup.h"
#include "buildload/keeper.h"
#include "buildload/make.h"
#include "buildload/real.h"
#include "buildload/source.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/remove.h"
#include "workloads/worker.h"

#define LOOK_MS 50 /* how soon a stop is seen */

#define MAX_TARGETS 16

/* Shared by all; written by the launcher but for the last. */
struct real_run {
	struct zm_journal *journal; /* the launcher's */
	pid_t keeper;
	struct zm_cgroups cgroups;
	struct zm_source source;
	char folder[PATH_MAX]; /* with the build trees in it */
	char cpus[8192];       /* that the builds may use, as a list */
	unsigned int jobs;
	_Atomic unsigned int nr_reached; /* instances that have built often enough */
};

struct real_task {
	char tree[PATH_MAX + 16];
	char out[PATH_MAX + 24]; /* "O=" and the tree */
	char jobs[16];           /* "-j28" */
	char targets[256];
	struct zm_cpuset cpus;
	struct zm_make make;
	uint64_t nr_builds;
	uint64_t began_ns; /* of this iteration, cleaning included */
};

/* --- before ----------------------------------------------------------------------------------- */

static int check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_real_options *chosen = run->options;
	struct zm_cgroups cgroups;
	struct zm_source source;
	int r = zm_real_check(chosen, why);

	if (r == 0)
		r = zm_source_find(chosen->source, &source, why);
	return r == 0 ? zm_cgroups_plan(&cgroups, run->root, &chosen->limits, why) : r;
}

static int list_cpus(struct real_run *shared, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	int r = zm_cpuset_get_affinity(0, &set);

	if (r == 0 &&
	    zm_cpuset_print(&set, shared->cpus, sizeof(shared->cpus)) >= sizeof(shared->cpus))
		r = -ENOBUFS;
	return r < 0 ? zm_why_errno(why, r, "the CPUs that the builds may use") : 0;
}

static int prepare(struct zm_run *run, struct zm_why *why)
{
	const struct zm_real_options *chosen = run->options;
	struct real_run *shared = run->state;
	int r = zm_source_find(chosen->source, &shared->source, why);

	shared->jobs = zm_builds_jobs(&chosen->jobs, run->nr_tasks);
	if (r == 0)
		r = list_cpus(shared, why);
	if (r == 0)
		r = zm_keeper_start(run->root, &shared->keeper, why);
	if (r == 0)
		r = zm_journal_open(run->root, NULL, &shared->journal, why);
	if (r == 0)
		r = zm_builds_make_folder(chosen->dir, shared->journal, shared->folder, why);
	if (r == 0)
		r = zm_builds_make_cgroups(run, &chosen->limits, shared->journal, &shared->cgroups,
					   why);
	return r;
}

/* Also what still runs in the cgroups goes with them. What cannot be undone stays in the journal. */
static void cleanup(struct zm_run *run)
{
	struct real_run *shared = run->state;

	zm_journal_close(shared->journal);
	shared->journal = NULL;
	zm_keeper_stop(shared->keeper);
	shared->keeper = 0;
}

/* --- one make --------------------------------------------------------------------------------- */

/* Stopped: what runs in the cgroup goes, and the make with it. */
static int stop_make(struct zm_task *task, struct zm_why *why)
{
	const struct real_run *shared = task->run->state;
	struct real_task *own = task->state;
	int r = zm_cgroups_kill(&shared->cgroups, task->index, why);

	zm_make_abandon(&own->make);
	return r < 0 ? r : -ECANCELED;
}

/* To its end, or to the stop: -ECANCELED. */
static int run_make(struct zm_task *task, const char *const *argv, bool is_counted,
		    struct rusage *ret_usage, struct zm_why *why)
{
	const struct zm_real_options *chosen = task->run->options;
	struct real_run *shared = task->run->state;
	struct real_task *own = task->state;
	const struct zm_make_spec spec = { .argv = argv,
					   .cgroups = &shared->cgroups,
					   .index = task->index,
					   .cpus = &own->cpus,
					   .is_kernel = shared->source.is_kernel };
	uint64_t nr_seen = 0;
	bool has_more = true;
	int r = zm_make_start(&own->make, &spec, why);

	while (r == 0 && has_more) {
		has_more = zm_make_read(&own->make, LOOK_MS);
		if (is_counted)
			zm_task_add(task, own->make.nr_jobs - nr_seen);
		nr_seen = own->make.nr_jobs;
		if (zm_task_is_stopped(task))
			return stop_make(task, why);
	}
	if (r == 0)
		r = zm_make_finish(&own->make, ret_usage, why);
	if (r < 0)
		zm_builds_explain(&shared->cgroups, task->index, &chosen->limits, chosen->dir, why);
	return r;
}

/* --- one build -------------------------------------------------------------------------------- */

static int copy_config(const char *from, const char *tree, struct zm_why *why)
{
	zm_autoclose int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	char path[PATH_MAX + 32], bytes[16384];
	ssize_t n = 0;

	(void)snprintf(path, sizeof(path), "%s/.config", tree);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	while (in >= 0 && out >= 0 && (n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)n) != n)
			n = -1;
	if (in < 0 || out < 0 || n < 0)
		return zm_why_errno(why, -errno, "config=%s cannot be copied to %s", from, path);
	return 0;
}

/* A new, configured build tree. */
static int make_tree(struct zm_task *task, struct zm_why *why)
{
	const struct zm_real_options *chosen = task->run->options;
	const struct real_run *shared = task->run->state;
	struct real_task *own = task->state;
	bool is_target = zm_real_has_config(chosen) && zm_source_is_config_target(chosen->config);
	const char *argv[] = { "make",   "-C",      shared->source.path,
			       own->out, own->jobs, is_target ? chosen->config : "olddefconfig",
			       NULL };
	int r = mkdir(own->tree, 0700) < 0 ? zm_why_errno(why, -errno, "cannot make %s", own->tree)
					   : 0;

	if (r < 0 || !zm_real_has_config(chosen))
		return r;
	if (!is_target)
		r = copy_config(chosen->config, own->tree, why);
	if (r == 0)
		r = run_make(task, argv, false, NULL, why);
	if (r < 0 && r != -ECANCELED)
		zm_why_prefix(why, "configuring (%s)", chosen->config);
	return r;
}

static uint64_t us_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static void count_build(struct zm_task *task, uint64_t build_ns, const struct rusage *usage)
{
	const struct zm_real_options *chosen = task->run->options;
	struct real_run *shared = task->run->state;
	struct real_task *own = task->state;
	const struct zm_builds_cost cost = {
		.build_ns = build_ns,
		.whole_ns = zm_clock_now_ns() - own->began_ns,
		.user_us = us_of(&usage->ru_utime),
		.system_us = us_of(&usage->ru_stime),
		.faults = (uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt,
		.jobs = own->make.nr_jobs,
	};

	zm_builds_count(task, &cost);
	if (++own->nr_builds == chosen->iterations)
		atomic_fetch_add(&shared->nr_reached, 1);
}

static int build(struct zm_task *task, struct zm_why *why)
{
	const struct real_run *shared = task->run->state;
	struct real_task *own = task->state;
	const char *argv[6 + MAX_TARGETS] = { "make", "-C", shared->source.path, own->out,
					      own->jobs };
	char words[sizeof(own->targets)];
	uint64_t start_ns = zm_clock_now_ns();
	struct rusage usage;
	char *save = NULL;
	size_t nr = 5;
	int r;

	memcpy(words, own->targets, sizeof(words));
	for (char *word = strtok_r(words, " ", &save); word && nr < 5 + MAX_TARGETS;
	     word = strtok_r(NULL, " ", &save))
		argv[nr++] = word;
	r = run_make(task, argv, true, &usage, why);
	if (r == 0)
		count_build(task, zm_clock_now_ns() - start_ns, &usage);
	return r;
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_real_options *chosen = task->run->options;
	const struct real_run *shared = task->run->state;
	struct real_task *own = task->state;
	int r = zm_cpuset_parse(shared->cpus, &own->cpus);

	own->make.out_fd = -1;
	if (r < 0)
		return zm_why_errno(why, r, "the CPUs of the builds");
	(void)snprintf(own->tree, sizeof(own->tree), "%s/%u", shared->folder, task->index);
	(void)snprintf(own->out, sizeof(own->out), "O=%s", own->tree);
	(void)snprintf(own->jobs, sizeof(own->jobs), "-j%u", shared->jobs);
	if ((size_t)snprintf(own->targets, sizeof(own->targets), "%s",
			     chosen->target ? chosen->target : "") >= sizeof(own->targets))
		return zm_why_set(why, -EINVAL, "target: more than %zu bytes",
				  sizeof(own->targets) - 1);
	own->began_ns = zm_clock_now_ns();
	return make_tree(task, why);
}

/* Build, clean, configure, and again. Whoever has built often enough goes on, so that the others'
 * builds meet the same load to their end. */
static int run(struct zm_task *task)
{
	struct zm_why *why = &task->slot->why;
	struct real_task *own = task->state;
	int r = 0;

	while (r == 0 && !zm_task_is_stopped(task)) {
		r = build(task, why);
		own->began_ns = zm_clock_now_ns();
		if (r == 0)
			r = zm_remove_tree(own->tree, why);
		if (r == 0 && !zm_task_is_stopped(task))
			r = make_tree(task, why);
	}
	return r == -ECANCELED ? 0 : r;
}

/* The build tree goes here, by as many hands as there are instances. */
static void teardown(struct zm_task *task)
{
	const struct real_run *shared = task->run->state;
	struct real_task *own = task->state;

	zm_make_abandon(&own->make);
	if (shared->cgroups.prefix[0])
		(void)zm_cgroups_kill(&shared->cgroups, task->index, NULL);
	if (own->tree[0])
		(void)zm_remove_tree(own->tree, NULL);
	zm_cpuset_release(&own->cpus);
}

/* --- after ------------------------------------------------------------------------------------ */

static bool is_done(const struct zm_run *run)
{
	const struct zm_real_options *chosen = run->options;
	const struct real_run *shared = run->state;

	return zm_builds_are_done(run, chosen->iterations, atomic_load(&shared->nr_reached));
}

static int verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_real_options *chosen = run->options;
	const struct real_run *shared = run->state;

	return zm_builds_check_done(run, chosen->iterations, atomic_load(&shared->nr_reached), why);
}

static const char *const presets[] = { "runtime", "1h", "warmup", "0s", "start", "1h", NULL };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "builds a kernel, several times at once, each in a cgroup of its own",
	.op = "build job",
	.kinds = ZM_TASK_PROCESS,
	.units = "nr_instances",
	.has_children = true,
	.presets = presets,
	.need = { .commands = (const char *const[]){ "make", NULL } },
	.options = zm_real_options,
	.options_size = sizeof(struct zm_real_options),
	.counters = zm_builds_counters,
	.metrics = zm_builds_metrics,
	.patience_ns = 20 * 60 * ZM_NS_PER_S,
	.run_bytes = sizeof(struct real_run),
	.task_bytes = sizeof(struct real_task),
	.check = check,
	.footprint = zm_real_footprint,
	.prepare = prepare,
	.cleanup = cleanup,
	.setup = setup,
	.teardown = teardown,
	.run = run,
	.is_done = is_done,
	.verify = verify,
	.report = zm_builds_report,
};
