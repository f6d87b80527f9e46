/*
 * test_instance: a small emulated build, run for real: what it counts is what its script says, never
 * more jobs at once than slots, failures say what failed, and nothing of it is left.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "buildload/instance.h"
#include "buildload/scene.h"
#include "buildload/tests/small_profile.h"
#include "workloads/base/clock.h"

#define PROFILE ZM_SOURCE_DIR "/buildload/profiles/small.json"

/* A build of the small profile in a folder of its own. */
struct rig {
	struct tree tree;
	struct zm_profile *profile;
	struct zm_script script;
	struct zm_instance instance;
	struct zm_instance_spec spec;
	struct zm_why why;
};

static void rig_make(struct rig *rig, unsigned int jobs, size_t nr_objects)
{
	const struct zm_script_choice choice = { .seed = 5,
						 .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
						 .work_scale = 1 };
	struct zm_profile_stage *stage;

	tree_make(&rig->tree);
	if (zm_profile_read(PROFILE, &rig->profile, &rig->why) < 0)
		fail_msg("%s", rig->why.text);
	stage = &rig->profile->stages[1]; /* objects */
	stage->jobs = realloc(stage->jobs, nr_objects * sizeof(*stage->jobs));
	assert_non_null(stage->jobs);
	for (size_t i = 3; i < nr_objects; i++)
		stage->jobs[i] = stage->jobs[i % 3];
	stage->nr = nr_objects;
	stage->nr_makes = nr_objects > 4 ? 2 : 1;
	if (zm_scene_make(rig->tree.path, rig->profile, 1, 5, &rig->why) < 0)
		fail_msg("%s", rig->why.text);
	assert_int_equal(zm_script_make(rig->profile, &choice, &rig->script, &rig->why), 0);
	assert_int_equal(zm_instance_open(&rig->instance, &rig->why), 0);
	rig->spec = (struct zm_instance_spec){ .folder = rig->tree.path, .jobs = jobs };
}

static void rig_end(struct rig *rig)
{
	zm_instance_stop(&rig->instance, &rig->spec);
	/* Nothing runs. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	zm_instance_close(&rig->instance);
	zm_script_release(&rig->script);
	zm_profile_free(rig->profile);
	tree_remove(&rig->tree);
}

static int rig_run(struct rig *rig)
{
	uint64_t deadline_ns = zm_clock_now_ns() + 50 * ZM_NS_PER_S;

	if (zm_instance_start(&rig->instance, &rig->spec, &rig->script, &rig->why) < 0)
		fail_msg("%s", rig->why.text);
	while (zm_instance_wait(&rig->instance, 100))
		assert_true(zm_clock_now_ns() < deadline_ns);
	return zm_instance_finish(&rig->instance, &rig->why);
}

/* What the script's steps come to. */
static uint64_t script_faults(const struct rig *rig)
{
	const struct zm_script_head *head = zm_script_head(&rig->script);
	uint64_t faults = 0;

	for (uint32_t i = 0; i < head->nr_steps; i++)
		faults += zm_script_steps(&rig->script)[i].faults;
	return faults + head->make_pages;
}

static void test_counts(void **state)
{
	struct rig rig = { 0 };
	const struct zm_progress *progress;
	uint64_t expected;

	(void)state;
	rig_make(&rig, 2, 9);
	if (rig_run(&rig) < 0)
		fail_msg("%s", rig.why.text);
	progress = rig.instance.progress;
	expected = script_faults(&rig);
	assert_int_equal(progress->jobs, 4 + 9 + 1);
	/* Those of the jobs, two makes, and the first. */
	assert_int_equal(progress->processes, 4 + 9 * 7 + 2 + 2 + 1);
	assert_int_equal(progress->running, 0);
	assert_true(progress->weight > 0);
	print_message("%llu faults; the script says %llu\n", (unsigned long long)progress->faults,
		      (unsigned long long)expected);
	assert_true(progress->faults > expected * 9 / 10 && progress->faults < expected * 11 / 10);
	/* The same again: as many faults, but for a few that depend on addresses. */
	expected = progress->faults;
	assert_int_equal(zm_scene_clean(rig.tree.path, 0, &rig.why), 0);
	assert_int_equal(rig_run(&rig), 0);
	assert_true(progress->faults - expected > expected * 98 / 100);
	assert_true(progress->faults - expected < expected * 102 / 100);
	rig_end(&rig);
}

static void test_slots(void **state)
{
	static const unsigned int jobs[] = { 1, 2, 3, 28 };

	(void)state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct rig rig = { 0 };
		uint32_t most;

		rig_make(&rig, jobs[i], 12);
		if (rig_run(&rig) < 0)
			fail_msg("jobs=%u: %s", jobs[i], rig.why.text);
		most = rig.instance.progress->most_running;
		assert_true(most >= 1 && most <= jobs[i]);
		rig_end(&rig);
	}
}

static void test_stopped(void **state)
{
	struct rig rig = { 0 };

	(void)state;
	rig_make(&rig, 4, 400);
	assert_int_equal(zm_instance_start(&rig.instance, &rig.spec, &rig.script, &rig.why), 0);
	while (atomic_load(&rig.instance.progress->jobs) < 6)
		assert_true(zm_instance_wait(&rig.instance, 1));
	rig_end(&rig);
}

/* Whoever fails says what, and the build ends. */
static void test_missing(void **state)
{
	static const struct {
		const char *file, *says;
	} cases[] = {
		{ "image", "../image: No such file" },
		{ "bin/cc1", "starting a process: No such file" },
		{ "bin/make", "../bin/make: No such file" },
		{ "0/h", "h/" },
		{ "0/o", "o/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = { 0 };
		char aside[PATH_MAX];

		rig_make(&rig, 2, 3);
		(void)snprintf(aside, sizeof(aside), "%s/aside", rig.tree.path);
		assert_int_equal(rename(tree_path(&rig.tree, cases[i].file), aside), 0);
		if (rig_run(&rig) != -EPROTO || !strstr(rig.why.text, cases[i].says))
			fail_msg("without %s: \"%s\"", cases[i].file, rig.why.text);
		rig_end(&rig);
	}
}

/* A mount that only this process and its children see. */
static bool has_small_disk(const struct rig *rig)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", tree_path(&rig->tree, "0/o"), "tmpfs", 0, "size=16k") == 0;
}

static void test_full(void **state)
{
	struct rig rig = { 0 };

	(void)state;
	rig_make(&rig, 2, 3);
	if (has_small_disk(&rig)) {
		if (rig_run(&rig) != -EPROTO || !strstr(rig.why.text, "No space left"))
			fail_msg("on a full disk: \"%s\"", rig.why.text);
		assert_int_equal(umount(tree_path(&rig.tree, "0/o")), 0);
	}
	rig_end(&rig);
}

/* The kernel kills one of it, as for memory: the build fails and says so. */
static void test_killed(void **state)
{
	struct rig rig = { 0 };

	(void)state;
	rig_make(&rig, 2, 400);
	assert_int_equal(zm_instance_start(&rig.instance, &rig.spec, &rig.script, &rig.why), 0);
	while (atomic_load(&rig.instance.progress->jobs) < 6)
		assert_true(zm_instance_wait(&rig.instance, 1));
	assert_int_equal(kill(rig.instance.pid, SIGKILL), 0);
	while (zm_instance_wait(&rig.instance, 100))
		;
	assert_int_equal(zm_instance_finish(&rig.instance, &rig.why), -EPROTO);
	assert_non_null(strstr(rig.why.text, "killed by signal 9"));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),  cmocka_unit_test(test_slots),
		cmocka_unit_test(test_stopped), cmocka_unit_test(test_missing),
		cmocka_unit_test(test_killed),  cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
