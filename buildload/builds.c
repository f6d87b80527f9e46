/*
 * builds: rows of figures, then where and how many, then cgroups.
 */
#include "buildload/builds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "workloads/base/cpuset.h"
#include "workloads/base/topology.h"

/* --- figures --- */

const struct zm_metric zm_builds_counters[] = {
	[ZM_BUILDS_BUILDS] = { .name = "kbuild.builds",
			       .unit = "builds",
			       .kind = ZM_COUNT,
			       .summary = "builds that have ended" },
	[ZM_BUILDS_BUILD_NS] = { .name = "kbuild.build_ns",
				 .unit = "ns",
				 .kind = ZM_COUNT,
				 .summary = "how long these builds took" },
	[ZM_BUILDS_WHOLE_NS] = { .name = "kbuild.iteration_ns",
				 .unit = "ns",
				 .kind = ZM_COUNT,
				 .summary = "the same with cleaning and configuring" },
	[ZM_BUILDS_USER_US] = { .name = "kbuild.user_us",
				.unit = "us",
				.kind = ZM_COUNT,
				.summary = "user time of these builds" },
	[ZM_BUILDS_SYSTEM_US] = { .name = "kbuild.system_us",
				  .unit = "us",
				  .kind = ZM_COUNT,
				  .summary = "system time of these builds" },
	[ZM_BUILDS_FAULTS] = { .name = "kbuild.faults",
			       .unit = "faults",
			       .kind = ZM_COUNT,
			       .summary = "page faults of these builds" },
	[ZM_BUILDS_JOBS] = { .name = "kbuild.jobs",
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

const struct zm_metric zm_builds_metrics[] = {
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
			  .summary = "jobs of all instances per second" },
	[METRIC_FAULTS] = { .name = "kbuild.faults_per_job",
			    .unit = "faults",
			    WITH_A_BUILD,
			    .better = ZM_BETTER_NEITHER,
			    .summary = "page faults of a build per job of it" },
	{ .name = NULL },
};

void zm_builds_count(struct zm_task *task, const struct zm_builds_cost *cost)
{
	zm_task_count(task, ZM_BUILDS_BUILD_NS, cost->build_ns);
	zm_task_count(task, ZM_BUILDS_WHOLE_NS, cost->whole_ns);
	zm_task_count(task, ZM_BUILDS_USER_US, cost->user_us);
	zm_task_count(task, ZM_BUILDS_SYSTEM_US, cost->system_us);
	zm_task_count(task, ZM_BUILDS_FAULTS, cost->faults);
	zm_task_count(task, ZM_BUILDS_JOBS, cost->jobs);
	zm_task_count(task, ZM_BUILDS_BUILDS, 1);
}

static uint64_t sum_of(const struct zm_window *window, unsigned int counter)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < window->run->nr_tasks; i++)
		sum += window->counters[(size_t)i * window->nr_counters + counter];
	return sum;
}

int zm_builds_report(const struct zm_window *window, struct zm_report *report)
{
	static const struct {
		unsigned int metric, counter, per;
		double unit;
	} rows[] = {
		{ METRIC_BUILDTIME, ZM_BUILDS_BUILD_NS, ZM_BUILDS_BUILDS, 1e9 },
		{ METRIC_REAL, ZM_BUILDS_WHOLE_NS, ZM_BUILDS_BUILDS, 1e9 },
		{ METRIC_USER, ZM_BUILDS_USER_US, ZM_BUILDS_BUILDS, 1e6 },
		{ METRIC_SYSTEM, ZM_BUILDS_SYSTEM_US, ZM_BUILDS_BUILDS, 1e6 },
		{ METRIC_FAULTS, ZM_BUILDS_FAULTS, ZM_BUILDS_JOBS, 1 },
	};
	uint64_t interval_ns = window->t1_ns - window->t0_ns, jobs = zm_window_ops(window);
	uint64_t builds = sum_of(window, ZM_BUILDS_BUILDS);
	int r = zm_report_add(report, &zm_builds_metrics[METRIC_WORKLOAD], (double)builds,
			      (double)builds, interval_ns);

	if (r == 0)
		r = zm_report_add(report, &zm_builds_metrics[METRIC_JOBS],
				  zm_window_rate(window, jobs), (double)jobs, interval_ns);
	for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		double count = (double)sum_of(window, rows[i].counter);
		double per = (double)sum_of(window, rows[i].per);

		if (per > 0)
			r = zm_report_add(report, &zm_builds_metrics[rows[i].metric],
					  count / rows[i].unit / per, count, interval_ns);
	}
	return r;
}

/* --- where, and how many --- */

const char *zm_builds_folder(const char *dir)
{
	const char *usual = getenv("TMPDIR");

	if (dir && *dir)
		return dir;
	return usual && *usual ? usual : "/tmp";
}

int zm_builds_check_folder(const char *dir, struct zm_why *why)
{
	const char *folder = zm_builds_folder(dir);
	struct stat status;

	if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
	    access(folder, W_OK | X_OK) == 0)
		return 0;
	return zm_why_set(why, -EINVAL, "dir=%s: choose a folder in which you can make files",
			  folder);
}

bool zm_builds_is_in_memory(const char *folder)
{
	struct statfs fs;

	return statfs(folder, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static unsigned int nr_cpus_here(void)
{
	zm_autocpuset struct zm_cpuset set = { 0 };

	return zm_cpuset_get_affinity(0, &set) == 0 ? (unsigned int)zm_cpuset_count(&set) : 1;
}

unsigned int zm_builds_jobs(const struct zm_amount *jobs, unsigned int nr_instances)
{
	uint64_t nr = zm_amount_of(jobs, nr_cpus_here());

	if (jobs->is_percent)
		nr /= nr_instances ? nr_instances : 1;
	return nr ? (unsigned int)nr : 1;
}

int zm_builds_check_jobs(const struct zm_amount *jobs, struct zm_why *why)
{
	if (jobs->value > 0 && jobs->value <= 4096)
		return 0;
	return zm_why_set(why, -EINVAL, "jobs: from 1 to 4096, or a percentage of the CPUs");
}

int zm_builds_make_folder(const char *dir, struct zm_journal *journal, char ret_folder[PATH_MAX],
			  struct zm_why *why)
{
	char folder[PATH_MAX];
	int n, r;

	if (!realpath(zm_builds_folder(dir), folder))
		return zm_why_errno(why, -errno, "dir=%s", zm_builds_folder(dir));
	n = snprintf(ret_folder, PATH_MAX, "%s/zonemark-kbuild-%d", folder, (int)getpid());
	if (n < 0 || n + 32 >= PATH_MAX) {
		ret_folder[0] = '\0';
		return zm_why_errno(why, -ENAMETOOLONG, "dir=%s", zm_builds_folder(dir));
	}
	r = zm_journal_made(journal, ZM_MADE_TREE, ret_folder, why);
	if (r == 0 && mkdir(ret_folder, 0700) < 0)
		r = zm_why_errno(why, -errno, "cannot make %s", ret_folder);
	return r;
}

/* --- cgroups --- */

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

static int make_with_sockets(const struct zm_run *run, const struct zm_cgroup_limits *limits,
			     struct zm_journal *journal, struct zm_cgroups *cgroups,
			     struct zm_why *why)
{
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
		r = zm_cgroups_make(cgroups, run->nr_tasks, limits, (const char *const *)lists,
				    journal, why);
	for (unsigned int i = 0; lists && i < run->nr_tasks; i++)
		free(lists[i]);
	free(lists);
	zm_topology_release(&topology);
	return r;
}

int zm_builds_make_cgroups(const struct zm_run *run, const struct zm_cgroup_limits *limits,
			   struct zm_journal *journal, struct zm_cgroups *ret_cgroups,
			   struct zm_why *why)
{
	int r = zm_cgroups_plan(ret_cgroups, run->root, limits, why);

	if (r < 0)
		return r;
	if (limits->cpuset && strcmp(limits->cpuset, ZM_CGROUPS_SOCKET) == 0)
		return make_with_sockets(run, limits, journal, ret_cgroups, why);
	return zm_cgroups_make(ret_cgroups, run->nr_tasks, limits, NULL, journal, why);
}

void zm_builds_explain(const struct zm_cgroups *cgroups, unsigned int index,
		       const struct zm_cgroup_limits *limits, const char *dir, struct zm_why *why)
{
	char said[160];

	(void)zm_cgroups_explain(cgroups, index, limits, said, sizeof(said));
	if (said[0])
		zm_why_prefix(why, "%s", said);
	if (strstr(why->text, "No space left"))
		zm_why_prefix(why, "%s is full, choose another dir", zm_builds_folder(dir));
}

bool zm_builds_are_done(const struct zm_run *run, uint64_t iterations, unsigned int nr_reached)
{
	return iterations && nr_reached == run->nr_tasks;
}

int zm_builds_check_done(const struct zm_run *run, uint64_t iterations, unsigned int nr_reached,
			 struct zm_why *why)
{
	if (!iterations || nr_reached == run->nr_tasks)
		return 0;
	return zm_why_set(
		why, -ETIME,
		"%u of %u instances had built %llu times when the runtime was over: raise "
		"runtime, or measure for just as long with iterations=0",
		nr_reached, run->nr_tasks, (unsigned long long)iterations);
}
