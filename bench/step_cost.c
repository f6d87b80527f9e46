/*
 * step_cost: what an emulated process costs that has nothing to do: its start, its reading of the
 * script, its end.
 *
 *     step_cost [JOBS]        1000 jobs of one process, one after the other
 *
 * The build is a real one (make, jobserver, kbuild-step under another name), with a profile in which
 * every figure is 0. Beside it, the same number of processes of /bin/true, started in the same way.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buildload/instance.h"
#include "buildload/scene.h"
#include "workloads/base/clock.h"
#include "workloads/base/remove.h"
#include "workloads/base/units.h"

struct cost {
	double wall_us, user_us, system_us, faults; /* of one process */
};

static void print_cost(const char *what, const struct cost *cost)
{
	(void)printf(
		"%-12s %8.0f us from start to end, %6.0f us user, %6.0f us system, %5.1f faults\n",
		what, cost->wall_us, cost->user_us, cost->system_us, cost->faults);
}

/* The small profile with nothing to do in it: one stage of nr jobs, each a shell. */
static int empty_profile(size_t nr, struct zm_profile **ret_profile, struct zm_why *why)
{
	struct zm_profile_job *jobs = calloc(nr, sizeof(*jobs));
	struct zm_profile_stage *stage;
	struct zm_profile *profile;
	int r = jobs ? zm_scene_read_profile("small", &profile, why) : -ENOMEM;

	if (r < 0) {
		free(jobs);
		return r;
	}
	for (size_t i = 0; i < profile->nr_classes; i++)
		memset(profile->classes[i].rows, 0,
		       profile->classes[i].nr_rows * sizeof(*profile->classes[i].rows));
	profile->recipes[0].nr = 1;
	profile->knobs[ZM_KNOB_MAKE_PAGES] = 0;
	stage = &profile->stages[0];
	free(stage->jobs);
	stage->jobs = jobs;
	stage->nr = nr;
	stage->nr_makes = 0;
	*ret_profile = profile;
	return 0;
}

static int run_build(const char *folder, const struct zm_profile *profile, struct cost *ret_cost,
		     struct zm_why *why)
{
	const struct zm_script_choice choice = { .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
						 .stages = 1,
						 .work_scale = 1 };
	const struct zm_instance_spec spec = { .folder = folder, .jobs = 1 };
	struct zm_instance instance;
	struct zm_script script = { 0 };
	uint64_t start_ns, nr = profile->stages[0].nr;
	int r = zm_instance_open(&instance, why);

	if (r == 0)
		r = zm_script_make(profile, &choice, &script, why);
	start_ns = zm_clock_now_ns();
	if (r == 0)
		r = zm_instance_start(&instance, &spec, &script, why);
	while (r == 0 && zm_instance_wait(&instance, 1000))
		;
	if (r == 0)
		r = zm_instance_finish(&instance, why);
	if (r == 0)
		*ret_cost = (struct cost){
			.wall_us = (double)(zm_clock_now_ns() - start_ns) / 1e3 / (double)nr,
			.user_us = (double)instance.progress->user_us / (double)nr,
			.system_us = (double)instance.progress->system_us / (double)nr,
			.faults = (double)instance.progress->faults / (double)nr,
		};
	zm_script_release(&script);
	zm_instance_close(&instance);
	return r;
}

static int measure_build(size_t nr, struct cost *ret_cost, struct zm_why *why)
{
	char folder[] = "/tmp/zm-step-XXXXXX";
	struct zm_profile *profile = NULL;
	int r = mkdtemp(folder) ? 0 : zm_why_errno(why, -errno, "%s", folder);

	if (r < 0)
		return r;
	r = empty_profile(nr, &profile, why);
	if (r == 0)
		r = zm_scene_make(folder, profile, 1, 1, why);
	if (r == 0)
		r = run_build(folder, profile, ret_cost, why);
	zm_profile_free(profile);
	(void)zm_remove_tree(folder, NULL);
	return r;
}

static double us_of(const struct timeval *time)
{
	return (double)time->tv_sec * 1e6 + (double)time->tv_usec;
}

static int measure_true(size_t nr, struct cost *ret_cost, struct zm_why *why)
{
	uint64_t start_ns = zm_clock_now_ns();
	struct rusage before, after;

	(void)getrusage(RUSAGE_CHILDREN, &before);
	for (size_t i = 0; i < nr; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			(void)execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
			return zm_why_errno(why, -errno, "/bin/true");
	}
	(void)getrusage(RUSAGE_CHILDREN, &after);
	*ret_cost = (struct cost){
		.wall_us = (double)(zm_clock_now_ns() - start_ns) / 1e3 / (double)nr,
		.user_us = (us_of(&after.ru_utime) - us_of(&before.ru_utime)) / (double)nr,
		.system_us = (us_of(&after.ru_stime) - us_of(&before.ru_stime)) / (double)nr,
		.faults = (double)(after.ru_minflt - before.ru_minflt) / (double)nr,
	};
	return 0;
}

int main(int argc, char **argv)
{
	struct cost step = { 0 }, plain = { 0 };
	struct zm_why why = { "" };
	uint64_t nr = 1000;

	if (argc > 2 || (argc == 2 && (zm_units_parse_u64(argv[1], &nr) < 0 || nr == 0 ||
				       nr > ZM_PROFILE_JOBS_MAX))) {
		(void)fprintf(stderr, "step_cost [JOBS]\n");
		return 2;
	}
	if (measure_build(nr, &step, &why) < 0 || measure_true(nr, &plain, &why) < 0) {
		(void)fprintf(stderr, "step_cost: %s\n", why.text);
		return 2;
	}
	print_cost("kbuild-step", &step);
	print_cost("/bin/true", &plain);
	return 0;
}
