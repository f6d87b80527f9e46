/*
 * cgroup: places on recorded machines of every kind; and, where this user may, real cgroups: tasks go
 * in, limits hold, what a killed run left is found.
 *
 * labels: unit root
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buildload/cgroup.h"
#include "workloads/base/remove.h"
#include "workloads/base/tests/tree.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

static struct tree tree;
static struct zm_why why;

static int set_up(void **state)
{
	(void)state;
	tree_make(&tree);
	memset(&why, 0, sizeof(why));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

/* --- recorded machines ------------------------------------------------------------------------ */

#define V2_MOUNT "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V1_MOUNTS                                                                                  \
	"31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                         \
	"32 1 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"                       \
	"33 1 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
#define HYBRID_MOUNT "34 1 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define ALL          "cpuset cpu io memory pids\n"

struct file {
	const char *path; /* below sys/fs/cgroup */
	const char *text;
};

/* One instance's limits, and where its cgroups would be: "VERSION:PARENT:CONTROLLERS:ENABLE", the
 * last two in hexadecimal; or what is said. */
static const struct {
	const char *what, *cgroup, *mounts;
	struct file files[10];
	struct zm_cgroup_limits limits;
	int error;
	const char *says;
} machines[] = {
	{ "version 1",
	  "5:memory:/a\n4:cpu,cpuacct:/\n3:pids:/b\n",
	  V1_MOUNTS,
	  { { "memory/a/tasks", "" }, { "pids/b/tasks", "" }, { "cpu/tasks", "" } },
	  { .cpu_max = 1, .pids_max = 10, .memory_max_bytes = 1 << 20 },
	  0,
	  "1:sys/fs/cgroup/memory/a:1:0 1:sys/fs/cgroup/cpu:2:0 1:sys/fs/cgroup/pids/b:8:0" },
	{ "version 1 has no memory.high",
	  "5:memory:/a\n",
	  V1_MOUNTS,
	  { { "memory/a/tasks", "" } },
	  { .memory_high_bytes = 1 << 20 },
	  -ENOTSUP,
	  "memory_high: the memory controller is a version 1 here" },
	{ "version 2, beside the scope that this runs in",
	  "0::/user.slice/own.scope\n",
	  V2_MOUNT,
	  { { "cgroup.controllers", ALL },
	    { "cgroup.subtree_control", ALL },
	    { "user.slice/cgroup.controllers", ALL },
	    { "user.slice/cgroup.type", "domain\n" },
	    { "user.slice/cgroup.procs", "" },
	    { "user.slice/cgroup.subtree_control", "memory pids\n" },
	    { "user.slice/own.scope/cgroup.controllers", "memory pids\n" },
	    { "user.slice/own.scope/cgroup.type", "domain\n" },
	    { "user.slice/own.scope/cgroup.procs", "77\n" },
	    { "user.slice/own.scope/cgroup.subtree_control", "" } },
	  { .pids_max = 10, .memory_high_bytes = 1 << 20 },
	  0,
	  "2:sys/fs/cgroup/user.slice:9:0" },
	{ "version 2, one more controller: an empty slice may hand it on",
	  "0::/user.slice/own.scope\n",
	  V2_MOUNT,
	  { { "cgroup.controllers", ALL },
	    { "user.slice/cgroup.controllers", ALL },
	    { "user.slice/cgroup.type", "domain\n" },
	    { "user.slice/cgroup.procs", "" },
	    { "user.slice/cgroup.subtree_control", "memory pids\n" },
	    { "user.slice/own.scope/cgroup.controllers", "memory pids\n" },
	    { "user.slice/own.scope/cgroup.type", "domain\n" },
	    { "user.slice/own.scope/cgroup.procs", "77\n" } },
	  { .cpu_max = 0.5 },
	  0,
	  "2:sys/fs/cgroup/user.slice:3:2" },
	{ "version 2, at the real top: it may hold tasks",
	  "0::/\n",
	  V2_MOUNT,
	  { { "cgroup.controllers", ALL },
	    { "cgroup.procs", "1\n77\n" },
	    { "cgroup.subtree_control", "" } },
	  { .cpuset = (char[]){ "0-1" } },
	  0,
	  "2:sys/fs/cgroup:5:5" },
	{ "version 2, at a container's top: it may not",
	  "0::/\n",
	  V2_MOUNT,
	  { { "cgroup.controllers", ALL },
	    { "cgroup.type", "domain\n" },
	    { "cgroup.procs", "1\n77\n" },
	    { "cgroup.subtree_control", "" } },
	  { 0 },
	  -ENOTSUP,
	  "cgroup /sys/fs/cgroup has tasks in it, so it cannot hand controllers on" },
	{ "hybrid: memory in version 1, pids in version 2",
	  "5:memory:/a\n0::/b\n",
	  V1_MOUNTS HYBRID_MOUNT,
	  { { "memory/a/tasks", "" },
	    { "unified/cgroup.controllers", "pids hugetlb\n" },
	    { "unified/b/cgroup.controllers", "pids\n" },
	    { "unified/b/cgroup.type", "domain\n" },
	    { "unified/b/cgroup.procs", "" } },
	  { .pids_max = 10 },
	  0,
	  "1:sys/fs/cgroup/memory/a:1:0 2:sys/fs/cgroup/unified/b:8:8" },
	{ "hybrid without the controller",
	  "5:memory:/a\n0::/b\n",
	  V1_MOUNTS HYBRID_MOUNT,
	  { { "memory/a/tasks", "" }, { "unified/b/cgroup.controllers", "hugetlb\n" } },
	  { .pids_max = 10 },
	  -ENOTSUP,
	  "no cgroup hierarchy has the controller pids" },
	{ "nothing mounted",
	  "0::/\n",
	  "",
	  { { NULL, NULL } },
	  { 0 },
	  -ENOTSUP,
	  "no cgroup hierarchy has the controller memory" },
	{ "limits that contradict each other",
	  "5:memory:/a\n",
	  V1_MOUNTS,
	  { { "memory/a/tasks", "" } },
	  { .memory_high_bytes = 2, .memory_max_bytes = 1 },
	  -EINVAL,
	  "memory_high is above memory_max" },
	{ "a list that is none",
	  "5:memory:/a\n",
	  V1_MOUNTS,
	  { { "memory/a/tasks", "" } },
	  { .cpuset = (char[]){ "first" } },
	  -EINVAL,
	  "cpuset=first: give a list of CPUs" },
};

static void say_places(const struct zm_cgroups *cgroups, char *buf, size_t size)
{
	int n = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < cgroups->nr_places; i++) {
		const struct zm_cgroups_place *place = &cgroups->places[i];

		n += snprintf(buf + n, size - (size_t)n, "%s%d:%s:%x:%x", i ? " " : "",
			      place->version, place->parent, place->controllers, place->enable);
	}
}

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_of(machines); i++) {
		struct zm_cgroups cgroups = { .nr_places = 99 };
		struct zm_sysroot root;
		struct tree machine;
		char said[1024];
		int r;

		tree_make(&machine);
		tree_write(&machine, "proc/self/cgroup", machines[i].cgroup);
		tree_write(&machine, "proc/self/mountinfo", machines[i].mounts);
		tree_mkdir(&machine, "sys/fs/cgroup");
		for (size_t k = 0; k < 10 && machines[i].files[k].path; k++) {
			char path[256];

			(void)snprintf(path, sizeof(path), "sys/fs/cgroup/%s",
				       machines[i].files[k].path);
			tree_write(&machine, path, machines[i].files[k].text);
		}
		assert_int_equal(zm_sysroot_open(&root, machine.path), 0);
		r = zm_cgroups_plan(&cgroups, &root, &machines[i].limits, &why);
		if (r == 0)
			say_places(&cgroups, said, sizeof(said));
		else
			(void)snprintf(said, sizeof(said), "%s", why.text);
		if (r != machines[i].error ||
		    strncmp(said, machines[i].says, strlen(machines[i].says)) != 0)
			fail_msg("%s: %d, %s", machines[i].what, r, said);
		assert_true(r == 0 || cgroups.nr_places == 99);
		zm_sysroot_release(&root);
		tree_remove(&machine);
	}
}

/* --- this machine ----------------------------------------------------------------------------- */

static struct zm_sysroot live;
static struct zm_journal *journal;

static int open_live(void **state)
{
	(void)set_up(state);
	assert_int_equal(zm_sysroot_open(&live, NULL), 0);
	tree_mkdir(&tree, "journal");
	return zm_journal_open(&live, tree_path(&tree, "journal"), &journal, NULL);
}

static int close_live(void **state)
{
	zm_journal_close(journal);
	zm_sysroot_release(&live);
	return tear_down(state);
}

/* Skips where no cgroup can be made. */
static void make_or_skip(struct zm_cgroups *cgroups, const struct zm_cgroup_limits *limits)
{
	int r = zm_cgroups_plan(cgroups, &live, limits, &why);

	if (r == 0)
		r = zm_cgroups_make(cgroups, 2, limits, NULL, journal, &why);
	if (r == -ENOTSUP || r == -EACCES || r == -EPERM || r == -EROFS) {
		(void)printf("skipped: %s\n", why.text);
		skip();
	}
	if (r < 0)
		fail_msg("%s", why.text);
}

static bool is_there(const struct zm_cgroups *cgroups, unsigned int index)
{
	bool is_there = false;

	for (unsigned int i = 0; i < cgroups->nr_places; i++) {
		char path[ZM_CGROUP_PATH_SIZE + 128] = "/";

		(void)zm_cgroups_path(cgroups, i, index, path + 1, sizeof(path) - 1);
		is_there |= access(path, F_OK) == 0;
	}
	return is_there;
}

/* A child in the cgroup that does `work`, and then waits to be killed. */
static pid_t start_in(const struct zm_cgroups *cgroups, unsigned int index, void (*work)(void))
{
	int ready[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (zm_cgroups_enter(cgroups, index) < 0)
			_exit(1);
		if (work)
			work();
		if (write(ready[1], "x", 1) != 1)
			_exit(2);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		(void)close(ready[0]);
		assert_int_equal(waitpid(child, NULL, 0), child);
		return -1;
	}
	(void)close(ready[0]);
	return child;
}

static void touch_memory(void)
{
	static char pages[8 << 20];

	memset(pages, 1, sizeof(pages));
}

static void test_live(void **state)
{
	const struct zm_cgroup_limits limits = { .memory_max_bytes = 256 << 20 };
	struct zm_cgroups cgroups;
	uint64_t bytes = 0, kills = 7;
	pid_t child;

	(void)state;
	make_or_skip(&cgroups, &limits);
	assert_true(is_there(&cgroups, 0) && is_there(&cgroups, 1));
	child = start_in(&cgroups, 1, touch_memory);
	assert_true(child > 0);
	assert_int_equal(zm_cgroups_read_memory(&cgroups, 1, &bytes), 0);
	assert_true(bytes >= 8 << 20);
	assert_int_equal(zm_cgroups_read_oom_kills(&cgroups, 1, &kills), 0);
	assert_int_equal(kills, 0);
	assert_int_equal(zm_cgroups_kill(&cgroups, 1, &why), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(zm_cgroups_kill(&cgroups, 0, &why), 0);
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_false(is_there(&cgroups, 0) || is_there(&cgroups, 1));
}

/* What runs in it goes with it. */
static void test_undone_with_tasks(void **state)
{
	const struct zm_cgroup_limits none = { 0 };
	struct zm_cgroups cgroups;
	int status;
	pid_t child;

	(void)state;
	make_or_skip(&cgroups, &none);
	child = start_in(&cgroups, 0, NULL);
	assert_true(child > 0);
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_false(is_there(&cgroups, 0) || is_there(&cgroups, 1));
}

/* More than the limit: the kernel kills, and the clause says so. */
static void hog(void)
{
	static char pages[64 << 20];

	memset(pages, 1, sizeof(pages));
}

static void test_out_of_memory(void **state)
{
	const struct zm_cgroup_limits limits = { .memory_max_bytes = 16 << 20 };
	struct zm_cgroups cgroups;
	uint64_t kills = 0;
	char said[160];

	(void)state;
	make_or_skip(&cgroups, &limits);
	assert_int_equal(start_in(&cgroups, 0, hog), -1);
	assert_int_equal(zm_cgroups_read_oom_kills(&cgroups, 0, &kills), 0);
	assert_int_equal(kills, 1);
	assert_string_equal(zm_cgroups_explain(&cgroups, 0, &limits, said, sizeof(said)),
			    "the kernel killed 1 of its tasks for memory (memory_max=16M)");
	assert_string_equal(zm_cgroups_explain(&cgroups, 1, &limits, said, sizeof(said)), "");
	assert_int_equal(zm_journal_undo(journal, &why), 0);
}

static void fork_much(void)
{
	for (int i = 0; i < 8; i++) {
		pid_t child = fork();

		if (child == 0)
			for (;;)
				(void)pause();
	}
}

static void test_fork_refused(void **state)
{
	const struct zm_cgroup_limits limits = { .pids_max = 4 };
	struct zm_cgroups cgroups;
	uint64_t refusals = 0;
	char said[160];
	pid_t child;

	(void)state;
	make_or_skip(&cgroups, &limits);
	child = start_in(&cgroups, 0, fork_much);
	assert_true(child > 0);
	assert_int_equal(zm_cgroups_read_fork_refusals(&cgroups, 0, &refusals), 0);
	assert_true(refusals > 0);
	assert_non_null(strstr(zm_cgroups_explain(&cgroups, 0, &limits, said, sizeof(said)),
			       "pids_max=4 refused it "));
	assert_int_equal(zm_cgroups_kill(&cgroups, 0, &why), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_false(is_there(&cgroups, 0));
}

static void test_cpu_limits(void **state)
{
	const struct zm_cgroup_limits limits = { .cpu_max = 0.5, .cpuset = (char[]){ "0" } };
	zm_autocpuset struct zm_cpuset cpus = { 0 };
	struct zm_cgroups cgroups;
	pid_t child;

	(void)state;
	make_or_skip(&cgroups, &limits);
	child = start_in(&cgroups, 0, NULL);
	assert_true(child > 0);
	assert_int_equal(zm_cpuset_get_affinity(child, &cpus), 0);
	assert_int_equal(zm_cpuset_count(&cpus), 1);
	assert_true(zm_cpuset_has(&cpus, 0));
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* A maker that was killed, whose journal is lost too: the next one finds what it made. */
static void test_left_by_the_dead(void **state)
{
	const struct zm_cgroup_limits none = { 0 };
	struct zm_cgroups *left, ours;
	int ready[2];
	char byte;
	pid_t maker;

	(void)state;
	left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(left, MAP_FAILED);
	if (zm_cgroups_plan(&ours, &live, &none, &why) < 0)
		skip();
	assert_int_equal(pipe(ready), 0);
	maker = fork();
	if (maker == 0) {
		struct zm_journal *lost = NULL;

		*left = ours;
		if (zm_journal_open(&live, tree_path(&tree, "lost"), &lost, NULL) < 0 ||
		    zm_cgroups_make(left, 2, &none, NULL, lost, NULL) < 0 ||
		    start_in(left, 1, NULL) < 0)
			_exit(1);
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		fail_msg("nothing could be made");
	(void)close(ready[0]);
	assert_int_equal(zm_cgroups_sweep(left), 0);
	assert_true(is_there(left, 1));
	assert_int_equal(kill(maker, SIGKILL), 0);
	assert_int_equal(waitpid(maker, NULL, 0), maker);
	make_or_skip(&ours, &none);
	assert_false(is_there(left, 0) || is_there(left, 1));
	assert_true(is_there(&ours, 0));
	assert_int_equal(zm_journal_undo(journal, &why), 0);
	(void)munmap(left, sizeof(*left));
}

#define live_test(test) cmocka_unit_test_setup_teardown(test, open_live, close_live)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
		live_test(test_live),
		live_test(test_undone_with_tasks),
		live_test(test_out_of_memory),
		live_test(test_fork_refused),
		live_test(test_cpu_limits),
		live_test(test_left_by_the_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
