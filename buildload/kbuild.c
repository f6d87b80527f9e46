/*
 * kbuild: emulated builds at once, each by makes and processes of its own in its own cgroup.
 *
 *     launcher   prepare   journal, the scene (scene.h), cgroups
 *     task       setup     its instance
 *                run       script -> build -> what it wrote is removed -> the next script -> …
 *                          on stop: all that runs of it is killed
 *     launcher   cleanup   the journal undoes it all
 *
 * A task is an instance. It sleeps while its build runs, and carries what the makes have counted
 * (progress.h) over to the harness. One operation is a job that has ended.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "buildload/builds.h"
#include "buildload/cgroup.h"
#include "buildload/instance.h"
#include "buildload/keeper.h"
#include "buildload/profile.h"
#include "buildload/scene.h"
#include "buildload/script.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/journal.h"
#include "workloads/worker.h"

#define LOOK_MS    50 /* how soon a stop is seen, and counts are carried over */
#define MAKE_BYTES (UINT64_C(8) << 20)

/* Kernel memory of a process: stack, page tables, its own structures. */
#define PROCESS_BYTES (UINT64_C(256) << 10)

struct kbuild_options {
	uint64_t nr_instances;
	struct zm_amount jobs;
	uint64_t iterations;
	uint64_t objects;
	double work;
	unsigned int order; /* enum order */
	char *profile, *target, *dir;
	struct zm_cgroup_limits limits;
};

enum order { ORDER_RECORDED, ORDER_DRAWN };

static const char *const orders[] = { "recorded", "drawn", NULL };

#define AT(member) offsetof(struct kbuild_options, member)

static const struct zm_option options[] = {
	ZM_BUILDS_ROWS(struct kbuild_options),
	{ .name = "profile",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(profile),
	  .preset = "tinyconfig",
	  .also = "kconfig",
	  .help = "the recorded build: one that comes with zonemark, or a file of `zonemark "
		  "record`" },
	{ .name = "target",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(target),
	  .help = "the last stage to be built, or what the recorded command built: all; all too "
		  "when "
		  "not given" },
	{ .name = "objects",
	  .type = ZM_OPTION_U64,
	  .offset = AT(objects),
	  .preset = "0",
	  .max = ZM_PROFILE_JOBS_MAX,
	  .unit = "jobs",
	  .help = "jobs of a stage, so many of the recorded ones; 0: all" },
	{ .name = "work",
	  .type = ZM_OPTION_DOUBLE,
	  .offset = AT(work),
	  .preset = "1",
	  .max = 1000,
	  .help = "CPU time that processes spend in user space, of the recorded one" },
	{ .name = "order",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(order),
	  .preset = "recorded",
	  .choices = orders,
	  .help = "in which order a stage's jobs are started" },
	{ .name = "dir",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(dir),
	  .unit = "folder",
	  .help = "where the builds' files are made; $TMPDIR or /tmp when not given" },
	ZM_CGROUP_ROWS(struct kbuild_options),
	{ .name = NULL },
};

/* Shared by all; written by the launcher but for the last. */
struct kbuild_run {
	struct zm_journal *journal; /* the launcher's */
	pid_t keeper;
	struct zm_cgroups cgroups;
	char folder[PATH_MAX]; /* of the scene */
	char cpus[8192];       /* that the builds may use, as a list */
	unsigned int jobs;
	_Atomic unsigned int nr_reached; /* instances that have built often enough */
	_Atomic uint32_t most_running;   /* jobs of one instance at once */
};

struct kbuild_task {
	struct zm_profile *profile;
	struct zm_instance instance;
	struct zm_instance_spec spec;
	struct zm_cpuset cpus;
	uint64_t nr_builds;
	uint64_t began_ns; /* of this iteration, its script and its cleaning included */
	/* What the progress page has said so far: it is never reset. */
	uint64_t jobs, faults, user_us, system_us;
};

/* --- the profile ------------------------------------------------------------------------------ */

static int read_profile(const struct kbuild_options *chosen, struct zm_profile **ret_profile,
			struct zm_why *why)
{
	return zm_scene_read_profile(chosen->profile, ret_profile, why);
}

/* Is it what the recorded command built? "make -j2 vmlinux": vmlinux. */
static bool is_recorded_target(const struct zm_profile *profile, const char *target)
{
	size_t length = strlen(target);
	const char *word = profile->command;

	while ((word = strstr(word, target))) {
		bool begins = word > profile->command && word[-1] == ' ';

		word += length;
		if (begins && (*word == '\0' || *word == ' '))
			return true;
	}
	return false;
}

/* The number of stages up to the target; 0: all. */
static int count_stages(const struct kbuild_options *chosen, const struct zm_profile *profile,
			unsigned int *ret_stages, struct zm_why *why)
{
	const char *names[ZM_PROFILE_STAGES_MAX + 1] = { NULL };
	const char *nearest;

	*ret_stages = 0;
	if (!chosen->target || !*chosen->target || is_recorded_target(profile, chosen->target))
		return 0;
	for (unsigned int i = 0; i < profile->nr_stages; i++) {
		names[i] = profile->stages[i].name;
		if (strcmp(names[i], chosen->target) == 0)
			*ret_stages = i + 1;
	}
	if (*ret_stages > 0)
		return 0;
	nearest = zm_option_nearest(chosen->target, names);
	return zm_why_set(why, -EINVAL, "target=%s: %s has no such stage; its last is %s%s%s",
			  chosen->target, profile->name, names[profile->nr_stages - 1],
			  nearest ? "; did you mean " : "", nearest ? nearest : "");
}

/* --- before ----------------------------------------------------------------------------------- */

static int check_profile(const struct kbuild_options *chosen, struct zm_why *why)
{
	struct zm_profile *profile = NULL;
	unsigned int nr_stages;
	int r = read_profile(chosen, &profile, why);

	if (r == 0)
		r = count_stages(chosen, profile, &nr_stages, why);
	zm_profile_free(profile);
	/* Whatever is wrong with a file is a wrong option. */
	return r < 0 && r != -ENOMEM ? -EINVAL : r;
}

static int check(const struct zm_run *run, struct zm_why *why)
{
	const struct kbuild_options *chosen = run->options;
	struct zm_cgroups cgroups;
	char helper[PATH_MAX];
	int r = zm_builds_check_jobs(&chosen->jobs, why);

	if (r == 0)
		r = check_profile(chosen, why);
	if (r == 0)
		r = zm_builds_check_folder(chosen->dir, why);
	if (r == 0 && zm_scene_find(ZM_SCENE_HELPER, helper, why) < 0)
		r = -ENOTSUP;
	return r == 0 ? zm_cgroups_plan(&cgroups, run->root, &chosen->limits, why) : r;
}

/* Mean of a ramp over CPU time. */
static double ramp_mean(const struct zm_profile_class *class)
{
	const struct zm_profile_ramp *ramp = class->nr_ramps ? &class->ramps[0] : NULL;
	double area = 0;

	if (!ramp)
		return 0.5;
	for (size_t i = 1; i < ramp->nr; i++)
		area += (ramp->points[i].cpu - ramp->points[i - 1].cpu) *
			(ramp->points[i].anon + ramp->points[i - 1].anon) / 2;
	return area;
}

/* A job's memory at some moment of the build: what its processes of most memory hold on average over
 * their time, longer ones counting for more; and how far it strays. */
static void weigh_jobs(const struct zm_profile *profile, double *ret_mean, double *ret_deviation)
{
	double weights = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < profile->nr_classes; i++) {
		const struct zm_profile_class *class = &profile->classes[i];
		double share = ramp_mean(class);

		for (size_t j = 0; class->role == ZM_ROLE_COMPILER && j < class->nr_rows; j++) {
			double weight = (double)class->rows[j][ZM_FIELD_USER_US] + 1;
			double bytes = (double)class->rows[j][ZM_FIELD_ANON_PAGES] *
				       (double)profile->page_bytes;

			weights += weight;
			sum += weight * bytes * share;
			squares += weight * bytes * bytes * share;
		}
	}
	*ret_mean = weights > 0 ? sum / weights : 0;
	*ret_deviation = weights > 0 ? sqrt(squares / weights - *ret_mean * *ret_mean) : 0;
}

/* n jobs at once, three deviations above their mean; every job with the few processes around it. */
static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct kbuild_options *chosen = run->options;
	double nr_jobs = (double)zm_builds_jobs(&chosen->jobs, run->nr_tasks) * run->nr_tasks;
	double limit = (double)chosen->limits.memory_max_bytes * run->nr_tasks;
	struct zm_profile *profile = NULL;
	double mean, deviation, bytes;

	if (read_profile(chosen, &profile, NULL) < 0)
		return;
	weigh_jobs(profile, &mean, &deviation);
	bytes = nr_jobs * (mean + 4.0 * PROCESS_BYTES) + 3 * sqrt(nr_jobs) * deviation +
		(double)(MAKE_BYTES * run->nr_tasks);
	if (limit > 0 && bytes > limit)
		bytes = limit;
	ret_footprint->shared_bytes = (uint64_t)bytes;
	ret_footprint->disk_path = zm_builds_folder(chosen->dir);
	ret_footprint->disk_bytes =
		zm_scene_shared_bytes(profile) +
		run->nr_tasks * (zm_scene_instance_bytes(profile) + zm_scene_output_bytes(profile));
	if (zm_builds_is_in_memory(ret_footprint->disk_path))
		ret_footprint->shared_bytes += ret_footprint->disk_bytes;
	ret_footprint->task_files = 16;
	zm_profile_free(profile);
}

static int list_cpus(struct kbuild_run *shared, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	int r = zm_cpuset_get_affinity(0, &set);

	if (r == 0 &&
	    zm_cpuset_print(&set, shared->cpus, sizeof(shared->cpus)) >= sizeof(shared->cpus))
		r = -ENOBUFS;
	return r < 0 ? zm_why_errno(why, r, "the CPUs that the builds may use") : 0;
}

static int make_scene(struct zm_run *run, struct zm_why *why)
{
	const struct kbuild_options *chosen = run->options;
	struct kbuild_run *shared = run->state;
	struct zm_profile *profile = NULL;
	int r = read_profile(chosen, &profile, why);

	if (r == 0)
		r = zm_builds_make_folder(chosen->dir, shared->journal, shared->folder, why);
	if (r == 0)
		r = zm_scene_make(shared->folder, profile, run->nr_tasks, run->seed, why);
	zm_profile_free(profile);
	return r;
}

static int prepare(struct zm_run *run, struct zm_why *why)
{
	const struct kbuild_options *chosen = run->options;
	struct kbuild_run *shared = run->state;
	int r = list_cpus(shared, why);

	shared->jobs = zm_builds_jobs(&chosen->jobs, run->nr_tasks);
	if (r == 0)
		r = zm_keeper_start(run->root, &shared->keeper, why);
	if (r == 0)
		r = zm_journal_open(run->root, NULL, &shared->journal, why);
	if (r == 0)
		r = make_scene(run, why);
	return r == 0 ? zm_builds_make_cgroups(run, &chosen->limits, shared->journal,
					       &shared->cgroups, why)
		      : r;
}

/* Also what still runs in the cgroups goes with them. What cannot be undone stays in the journal. */
static void cleanup(struct zm_run *run)
{
	struct kbuild_run *shared = run->state;

	zm_journal_close(shared->journal);
	shared->journal = NULL;
	zm_keeper_stop(shared->keeper);
	shared->keeper = 0;
}

/* --- one build -------------------------------------------------------------------------------- */

static int setup(struct zm_task *task, struct zm_why *why)
{
	struct kbuild_run *shared = task->run->state;
	struct kbuild_task *own = task->state;
	int r = zm_instance_open(&own->instance, why);

	if (r == 0)
		r = read_profile(task->run->options, &own->profile, why);
	if (r < 0)
		return r;
	r = zm_cpuset_parse(shared->cpus, &own->cpus);
	if (r < 0)
		return zm_why_errno(why, r, "the CPUs of the builds");
	own->spec = (struct zm_instance_spec){ .folder = shared->folder,
					       .index = task->index,
					       .jobs = shared->jobs,
					       .cgroups = &shared->cgroups,
					       .cpus = &own->cpus };
	return 0;
}

static int make_script(const struct zm_task *task, struct zm_script *ret_script, struct zm_why *why)
{
	const struct kbuild_options *chosen = task->run->options;
	const struct kbuild_task *own = task->state;
	struct zm_script_choice choice = { .seed = task->run->seed,
					   .number = (uint64_t)task->index << 32 | own->nr_builds,
					   .page_bytes = task->run->page_bytes,
					   .jobs = (unsigned int)chosen->objects,
					   .work_scale = chosen->work,
					   .is_shuffled = chosen->order == ORDER_DRAWN };
	int r = count_stages(chosen, own->profile, &choice.stages, why);

	return r == 0 ? zm_script_make(own->profile, &choice, ret_script, why) : r;
}

/* Jobs that have ended since the last look. */
static void carry_over(struct zm_task *task)
{
	struct kbuild_task *own = task->state;
	uint64_t jobs = atomic_load(&own->instance.progress->jobs);

	zm_task_add(task, jobs - own->jobs);
	own->jobs = jobs;
}

/* To its end, or to the stop: -ECANCELED. */
static int watch(struct zm_task *task, struct zm_why *why)
{
	struct kbuild_task *own = task->state;

	while (zm_instance_wait(&own->instance, LOOK_MS)) {
		carry_over(task);
		if (!zm_task_is_stopped(task))
			continue;
		zm_instance_stop(&own->instance, &own->spec);
		return -ECANCELED;
	}
	carry_over(task);
	return zm_instance_finish(&own->instance, why);
}

static uint64_t since(uint64_t *before, uint64_t now)
{
	uint64_t difference = now - *before;

	*before = now;
	return difference;
}

static void count_build(struct zm_task *task, uint64_t build_ns, uint64_t nr_jobs)
{
	const struct kbuild_options *chosen = task->run->options;
	struct kbuild_run *shared = task->run->state;
	struct kbuild_task *own = task->state;
	struct zm_progress *progress = own->instance.progress;
	const struct zm_builds_cost cost = {
		.build_ns = build_ns,
		.whole_ns = zm_clock_now_ns() - own->began_ns,
		.user_us = since(&own->user_us, atomic_load(&progress->user_us)),
		.system_us = since(&own->system_us, atomic_load(&progress->system_us)),
		.faults = since(&own->faults, atomic_load(&progress->faults)),
		.jobs = nr_jobs,
	};

	zm_builds_count(task, &cost);
	if (++own->nr_builds == chosen->iterations)
		atomic_fetch_add(&shared->nr_reached, 1);
}

static int build(struct zm_task *task, struct zm_why *why)
{
	const struct kbuild_options *chosen = task->run->options;
	const struct kbuild_run *shared = task->run->state;
	struct kbuild_task *own = task->state;
	struct zm_script script = { 0 };
	uint64_t start_ns, nr_jobs;
	int r = make_script(task, &script, why);

	if (r < 0)
		return r;
	nr_jobs = zm_script_head(&script)->nr_jobs;
	start_ns = zm_clock_now_ns();
	r = zm_instance_start(&own->instance, &own->spec, &script, why);
	zm_script_release(&script);
	if (r == 0)
		r = watch(task, why);
	if (r == 0)
		count_build(task, zm_clock_now_ns() - start_ns, nr_jobs);
	else if (r != -ECANCELED)
		zm_builds_explain(&shared->cgroups, task->index, &chosen->limits, chosen->dir, why);
	return r;
}

/* Build, clean, and again. Whoever has built often enough goes on, so that the others' builds meet the
 * same load to their end. */
static int run(struct zm_task *task)
{
	const struct kbuild_run *shared = task->run->state;
	struct zm_why *why = &task->slot->why;
	struct kbuild_task *own = task->state;
	int r = 0;

	while (r == 0 && !zm_task_is_stopped(task)) {
		own->began_ns = zm_clock_now_ns();
		r = build(task, why);
		if (r == 0)
			r = zm_scene_clean(shared->folder, task->index, why);
	}
	return r == -ECANCELED ? 0 : r;
}

static void note_most(const struct zm_task *task)
{
	struct kbuild_run *shared = task->run->state;
	const struct kbuild_task *own = task->state;
	uint32_t mine =
		own->instance.progress ? atomic_load(&own->instance.progress->most_running) : 0;
	uint32_t most = atomic_load(&shared->most_running);

	while (mine > most && !atomic_compare_exchange_weak(&shared->most_running, &most, mine))
		;
}

/* What the build wrote goes here, before used memory is looked at. */
static void teardown(struct zm_task *task)
{
	const struct kbuild_run *shared = task->run->state;
	struct kbuild_task *own = task->state;

	zm_instance_stop(&own->instance, &own->spec);
	note_most(task);
	zm_instance_close(&own->instance);
	if (own->spec.folder)
		(void)zm_scene_clean(shared->folder, task->index, NULL);
	zm_cpuset_release(&own->cpus);
	zm_profile_free(own->profile);
	own->profile = NULL;
}

/* --- after ------------------------------------------------------------------------------------ */

static bool is_done(const struct zm_run *run)
{
	const struct kbuild_options *chosen = run->options;
	const struct kbuild_run *shared = run->state;

	return zm_builds_are_done(run, chosen->iterations, atomic_load(&shared->nr_reached));
}

static int verify(struct zm_run *run, struct zm_why *why)
{
	const struct kbuild_options *chosen = run->options;
	const struct kbuild_run *shared = run->state;
	uint32_t most = atomic_load(&shared->most_running);

	if (most > shared->jobs)
		return zm_why_set(why, -EBADMSG, "%u jobs ran at once in an instance of jobs=%u",
				  most, shared->jobs);
	return zm_builds_check_done(run, chosen->iterations, atomic_load(&shared->nr_reached), why);
}

static const char *const presets[] = { "runtime", "1h", "warmup", "0s", "start", "10m", NULL };

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "emulates kernel builds, several at once, each in a cgroup of its own",
	.op = "build job",
	.kinds = ZM_TASK_PROCESS,
	.units = "nr_instances",
	.has_children = true,
	.presets = presets,
	.options = options,
	.options_size = sizeof(struct kbuild_options),
	.counters = zm_builds_counters,
	.metrics = zm_builds_metrics,
	.patience_ns = 20 * 60 * ZM_NS_PER_S,
	.run_bytes = sizeof(struct kbuild_run),
	.task_bytes = sizeof(struct kbuild_task),
	.check = check,
	.footprint = footprint,
	.prepare = prepare,
	.cleanup = cleanup,
	.setup = setup,
	.teardown = teardown,
	.run = run,
	.is_done = is_done,
	.verify = verify,
	.report = zm_builds_report,
};
