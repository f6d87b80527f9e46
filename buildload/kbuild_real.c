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

#include "buildload/cgroup.h"
#include "buildload/keeper.h"
#include "buildload/make.h"
#include "buildload/real.h"
#include "buildload/source.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/remove.h"
#include "workloads/base/topology.h"
#include "workloads/worker.h"

#define LOOK_MS 50 /* how soon a stop is seen */

#define MAX_TARGETS 16

enum {
	COUNTER_BUILDS,
	COUNTER_BUILD_NS,
	COUNTER_WHOLE_NS,
	COUNTER_USER_US,
	COUNTER_SYSTEM_US,
	COUNTER_FAULTS,
	COUNTER_JOBS,
};

static const struct zm_metric counters[] = {
	[COUNTER_BUILDS] = { .name = "kbuild.builds",
			     .unit = "builds",
			     .kind = ZM_COUNT,
			     .summary = "builds that have ended" },
	[COUNTER_BUILD_NS] = { .name = "kbuild.build_ns",
			       .unit = "ns",
			       .kind = ZM_COUNT,
			       .summary = "how long these builds took" },
	[COUNTER_WHOLE_NS] = { .name = "kbuild.iteration_ns",
			       .unit = "ns",
			       .kind = ZM_COUNT,
			       .summary = "the same with cleaning and configuring" },
	[COUNTER_USER_US] = { .name = "kbuild.user_us",
			      .unit = "us",
			      .kind = ZM_COUNT,
			      .summary = "user time of these builds" },
	[COUNTER_SYSTEM_US] = { .name = "kbuild.system_us",
				.unit = "us",
				.kind = ZM_COUNT,
				.summary = "system time of these builds" },
	[COUNTER_FAULTS] = { .name = "kbuild.faults",
			     .unit = "faults",
			     .kind = ZM_COUNT,
			     .summary = "page faults of these builds" },
	[COUNTER_JOBS] = { .name = "kbuild.jobs",
			   .unit = "jobs",
			   .kind = ZM_COUNT,
			   .summary = "jobs of these builds" },
	{ .name = NULL },
};

enum {
	METRIC_BUILDTIME,
	METRIC_REAL,
	METRIC_USER,
	METRIC_SYSTEM,
	METRIC_WORKLOAD,
	METRIC_JOBS,
	METRIC_FAULTS,
};

#define WITH_A_BUILD .kind = ZM_GAUGE, .is_optional = true

static const struct zm_metric metrics[] = {
	[METRIC_BUILDTIME] = { .name = "kbuild.buildtime_per_iteration",
			       .unit = "s",
			       WITH_A_BUILD,
			       .better = ZM_BETTER_LESS,
			       .is_primary = true,
			       .summary = "how long a build took, on average of those that ended" },
	[METRIC_REAL] = { .name = "kbuild.real_time_per_iteration",
			  .unit = "s",
			  WITH_A_BUILD,
			  .better = ZM_BETTER_LESS,
			  .summary = "the same with cleaning and configuring before it" },
	[METRIC_USER] = { .name = "kbuild.user_time_per_iteration",
			  .unit = "s",
			  WITH_A_BUILD,
			  .better = ZM_BETTER_LESS,
			  .summary = "user time of a build" },
	[METRIC_SYSTEM] = { .name = "kbuild.sys_time_per_iteration",
			    .unit = "s",
			    WITH_A_BUILD,
			    .better = ZM_BETTER_LESS,
			    .summary = "system time of a build" },
	[METRIC_WORKLOAD] = { .name = "kbuild.workload",
			      .unit = "builds",
			      .kind = ZM_GAUGE,
			      .summary = "builds that ended in the window" },
	[METRIC_JOBS] = { .name = "kbuild.jobs_per_second",
			  .unit = "jobs/s",
			  .kind = ZM_GAUGE,
			  .better = ZM_BETTER_MORE,
			  .is_primary = true,
			  .summary = "jobs that all instances' makes announced per second" },
	[METRIC_FAULTS] = { .name = "kbuild.faults_per_job",
			    .unit = "faults",
			    WITH_A_BUILD,
			    .better = ZM_BETTER_NEITHER,
			    .summary = "page faults of a build per job of it" },
	{ .name = NULL },
};

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

static int make_folder(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_real_options *chosen = run->options;
	struct real_run *shared = run->state;
	char folder[PATH_MAX];
	int n, r;

	if (!realpath(zm_real_folder(chosen), folder))
		return zm_why_errno(why, -errno, "dir=%s", zm_real_folder(chosen));
	n = snprintf(shared->folder, sizeof(shared->folder), "%s/zonemark-kbuild-%d", folder,
		     (int)getpid());
	if (n < 0 || (size_t)n + 16 >= sizeof(shared->folder)) {
		shared->folder[0] = '\0';
		return zm_why_errno(why, -ENAMETOOLONG, "dir=%s", zm_real_folder(chosen));
	}
	r = zm_journal_made(shared->journal, ZM_MADE_TREE, shared->folder, why);
	if (r == 0 && mkdir(shared->folder, 0700) < 0)
		r = zm_why_errno(why, -errno, "cannot make %s", shared->folder);
	return r;
}

/* The CPUs of each instance's socket, round the sockets. */
static int list_socket(const struct zm_topology *topology, unsigned int instance, char **ret_list)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	int socket = (int)(instance % (topology->nr_packages ? topology->nr_packages : 1));
	size_t size;
	int r = 0;

	for (size_t i = 0; r == 0 && i < topology->nr_cpus; i++) {
		const struct zm_cpu *cpu = &topology->cpus[i];

		if (cpu->package < 0 || cpu->package == socket)
			r = zm_cpuset_add(&set, (unsigned int)cpu->cpu);
	}
	/* A socket none of whose CPUs may be used has no number of its own among nr_packages. */
	if (r == 0 && zm_cpuset_count(&set) == 0)
		r = zm_cpuset_copy(&set, &topology->allowed);
	size = zm_cpuset_print(&set, NULL, 0) + 1;
	*ret_list = r == 0 ? malloc(size) : NULL;
	if (!*ret_list)
		return r < 0 ? r : -ENOMEM;
	(void)zm_cpuset_print(&set, *ret_list, size);
	return 0;
}

static int make_with_sockets(struct zm_run *run, struct zm_why *why)
{
	const struct zm_real_options *chosen = run->options;
	struct real_run *shared = run->state;
	struct zm_topology topology = { 0 };
	char **lists = calloc(run->nr_tasks, sizeof(*lists));
	int r = lists ? zm_topology_read(run->root, NULL, &topology, why)
		      : zm_why_errno(why, -ENOMEM, "a list of sockets");

	for (unsigned int i = 0; r == 0 && i < run->nr_tasks; i++) {
		r = list_socket(&topology, i, &lists[i]);
		if (r < 0)
			(void)zm_why_errno(why, r, "a list of sockets");
	}
	if (r == 0)
		r = zm_cgroups_make(&shared->cgroups, run->nr_tasks, &chosen->limits,
				    (const char *const *)lists, shared->journal, why);
	for (unsigned int i = 0; lists && i < run->nr_tasks; i++)
		free(lists[i]);
	free(lists);
	zm_topology_release(&topology);
	return r;
}

static int make_cgroups(struct zm_run *run, struct zm_why *why)
{
	const struct zm_real_options *chosen = run->options;
	struct real_run *shared = run->state;
	int r = zm_cgroups_plan(&shared->cgroups, run->root, &chosen->limits, why);

	if (r < 0)
		return r;
	if (chosen->limits.cpuset && strcmp(chosen->limits.cpuset, ZM_CGROUPS_SOCKET) == 0)
		return make_with_sockets(run, why);
	return zm_cgroups_make(&shared->cgroups, run->nr_tasks, &chosen->limits, NULL,
			       shared->journal, why);
}

static int prepare(struct zm_run *run, struct zm_why *why)
{
	const struct zm_real_options *chosen = run->options;
	struct real_run *shared = run->state;
	int r = zm_source_find(chosen->source, &shared->source, why);

	shared->jobs = zm_real_jobs(chosen, run->nr_tasks);
	if (r == 0)
		r = list_cpus(shared, why);
	if (r == 0)
		r = zm_keeper_start(run->root, &shared->keeper, why);
	if (r == 0)
		r = zm_journal_open(run->root, NULL, &shared->journal, why);
	if (r == 0)
		r = make_folder(run, why);
	return r == 0 ? make_cgroups(run, why) : r;
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

/* Puts what the cgroup's limits or a full disk did before the sentence of a failed make. */
static void explain(const struct zm_task *task, struct zm_why *why)
{
	const struct zm_real_options *chosen = task->run->options;
	const struct real_run *shared = task->run->state;
	char said[160];

	(void)zm_cgroups_explain(&shared->cgroups, task->index, &chosen->limits, said,
				 sizeof(said));
	if (said[0])
		zm_why_prefix(why, "%s", said);
	if (strstr(why->text, "No space left"))
		zm_why_prefix(why, "%s is full, choose another dir", zm_real_folder(chosen));
}

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
		explain(task, why);
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

static void count_build(struct zm_task *task, uint64_t build_ns, const struct rusage *usage)
{
	const struct zm_real_options *chosen = task->run->options;
	struct real_run *shared = task->run->state;
	struct real_task *own = task->state;

	zm_task_count(task, COUNTER_BUILD_NS, build_ns);
	zm_task_count(task, COUNTER_WHOLE_NS, zm_clock_now_ns() - own->began_ns);
	zm_task_count(task, COUNTER_USER_US,
		      (uint64_t)usage->ru_utime.tv_sec * 1000000 +
			      (uint64_t)usage->ru_utime.tv_usec);
	zm_task_count(task, COUNTER_SYSTEM_US,
		      (uint64_t)usage->ru_stime.tv_sec * 1000000 +
			      (uint64_t)usage->ru_stime.tv_usec);
	zm_task_count(task, COUNTER_FAULTS,
		      (uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt);
	zm_task_count(task, COUNTER_JOBS, own->make.nr_jobs);
	zm_task_count(task, COUNTER_BUILDS, 1);
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

	return chosen->iterations && atomic_load(&shared->nr_reached) == run->nr_tasks;
}

static int verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_real_options *chosen = run->options;
	const struct real_run *shared = run->state;
	unsigned int nr_reached = atomic_load(&shared->nr_reached);

	if (!chosen->iterations || nr_reached == run->nr_tasks)
		return 0;
	return zm_why_set(
		why, -ETIME,
		"%u of %u instances had built %llu times when the runtime was over: raise "
		"runtime, or measure for just as long with iterations=0",
		nr_reached, run->nr_tasks, (unsigned long long)chosen->iterations);
}

static uint64_t sum_of(const struct zm_window *window, unsigned int counter)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < window->run->nr_tasks; i++)
		sum += window->counters[(size_t)i * window->nr_counters + counter];
	return sum;
}

static int report(const struct zm_window *window, struct zm_report *report)
{
	static const struct {
		unsigned int metric, counter, per;
		double unit;
	} rows[] = {
		{ METRIC_BUILDTIME, COUNTER_BUILD_NS, COUNTER_BUILDS, 1e9 },
		{ METRIC_REAL, COUNTER_WHOLE_NS, COUNTER_BUILDS, 1e9 },
		{ METRIC_USER, COUNTER_USER_US, COUNTER_BUILDS, 1e6 },
		{ METRIC_SYSTEM, COUNTER_SYSTEM_US, COUNTER_BUILDS, 1e6 },
		{ METRIC_FAULTS, COUNTER_FAULTS, COUNTER_JOBS, 1 },
	};
	uint64_t interval_ns = window->t1_ns - window->t0_ns, jobs = zm_window_ops(window);
	uint64_t builds = sum_of(window, COUNTER_BUILDS);
	int r = zm_report_add(report, &metrics[METRIC_WORKLOAD], (double)builds, (double)builds,
			      interval_ns);

	if (r == 0)
		r = zm_report_add(report, &metrics[METRIC_JOBS], zm_window_rate(window, jobs),
				  (double)jobs, interval_ns);
	for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		double count = (double)sum_of(window, rows[i].counter);
		double per = (double)sum_of(window, rows[i].per);

		if (per > 0)
			r = zm_report_add(report, &metrics[rows[i].metric],
					  count / rows[i].unit / per, count, interval_ns);
	}
	return r;
}

static const char *const presets[] = { "runtime", "1h", "warmup", "0s", "start", "1h", NULL };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "builds a kernel, several times at once, each in a cgroup of its own",
	.op = "build job",
	.kinds = ZM_TASK_PROCESS,
	.units = "nr_instances",
	.presets = presets,
	.need = { .commands = (const char *const[]){ "make", NULL } },
	.options = zm_real_options,
	.options_size = sizeof(struct zm_real_options),
	.counters = counters,
	.metrics = metrics,
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
	.report = report,
};
