/*
 * launcher: makes the tasks, watches them, reaps them, and tells the runner.
 *
 *     become a process that leaves nothing behind -> prepare() -> listen
 *
 * It listens to three descriptors: the runner's words (socket), the tasks' notices (eventfd: the last
 * has come to the gate, or one has ended), and its children's deaths (signalfd). It never waits for
 * anything else, so a runner that gives up can always be heard. On the first failure all tasks are
 * told to stop.
 */
#include "runner/launcher.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/worker.h"
#include "workloads/base/cgroup.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#ifdef ZM_SANITIZED
#define STACK_BYTES (1024 * 1024)
#else
#define STACK_BYTES (256 * 1024)
#endif

struct maker; /* a thread's argument */

struct launcher {
	struct zm_launch_spec *spec;
	struct zm_run *run;
	int socket, signal_fd;
	struct maker *makers;
	unsigned int nr_made, nr_gone;
	bool is_prepared, has_said_ready, has_said_ended, has_said_failed, is_done;
};

struct maker {
	const struct zm_launch_spec *spec;
	unsigned int index;
	pid_t pid; /* 0 once reaped */
	pthread_t thread;
};

/* --- becoming the launcher --- */

static void die_with_parent(pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static int open_signals(int *ret_fd)
{
	static const int restored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };
	sigset_t children;

	for (size_t i = 0; i < sizeof(restored) / sizeof(restored[0]); i++)
		(void)signal(restored[i], SIG_DFL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)sigemptyset(&children);
	(void)sigaddset(&children, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &children, NULL) < 0)
		return -errno;
	*ret_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? -errno : 0;
}

/* Everything but stdio and these (sorted, ascending). */
static void close_all_but(const int *kept, size_t nr_kept)
{
	unsigned int from = 3;

	for (size_t i = 0; i < nr_kept; i++) {
		unsigned int fd = (unsigned int)kept[i];

		if (fd > from)
			(void)close_range(from, fd - 1, 0);
		if (fd >= from)
			from = fd + 1;
	}
	(void)close_range(from, ~0U, 0);
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void close_foreign(const struct launcher *launcher)
{
	int kept[] = { launcher->socket, launcher->spec->notice_fd, launcher->run->root->dir_fd };
	size_t nr = sizeof(kept) / sizeof(kept[0]);

	qsort(kept, nr, sizeof(kept[0]), compare_ints);
	close_all_but(kept, nr);
}

static void raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* When memory ends, the kernel is to take one of ours, never a bystander. */
static void offer_to_oom_killer(const struct launcher *launcher)
{
	(void)zm_sysroot_write(launcher->run->root, "proc/self/oom_score_adj", "1000");
}

static int become(struct launcher *launcher, pid_t runner)
{
	struct zm_launch_spec *spec = launcher->spec;

	/* A session of its own: what a terminal sends does not reach the tasks, and where the kernel
	 * groups processes by session, thousands of tasks do not crowd out the runner. */
	(void)setsid();
	die_with_parent(runner);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)prctl(PR_SET_NAME, "zm-launcher");
	zm_journal_forget(spec->journal);
	spec->journal = NULL;
	close_foreign(launcher);
	raise_open_files();
	offer_to_oom_killer(launcher);
	(void)zm_cpuset_set_affinity(0, &spec->topology->allowed);
	return open_signals(&launcher->signal_fd);
}

/* --- words and failures --- */

static void say(const struct launcher *launcher, enum zm_word word)
{
	unsigned char byte = (unsigned char)word;

	while (send(launcher->socket, &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void stop_tasks(const struct launcher *launcher)
{
	zm_arena_stop(launcher->spec->arena);
	zm_gate_open(&launcher->spec->arena->control->gate);
}

/* A failure record stands: everybody ends, and the runner hears of it, once. */
static void fail(struct launcher *launcher)
{
	if (launcher->has_said_failed)
		return;
	launcher->has_said_failed = true;
	stop_tasks(launcher);
	say(launcher, ZM_WORD_FAILED);
}

static void prepare(struct launcher *launcher)
{
	const struct zm_workload *workload = launcher->run->workload;
	struct zm_why why = { { 0 } };
	int r;

	launcher->is_prepared = true;
	r = workload->prepare ? workload->prepare(launcher->run, &why) : 0;
	if (r == 0) {
		say(launcher, ZM_WORD_PREPARED);
		return;
	}
	zm_arena_fail(launcher->spec->arena, -1, r, "preparing: %s", why.text);
	fail(launcher);
}

/* --- making tasks --- */

static void say_limits(const struct launcher *launcher, char *buf, size_t size)
{
	struct zm_cgroup cgroup;
	struct rlimit limit;
	uint64_t max = 0;
	int n = 0;

	buf[0] = '\0';
	if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		n = snprintf(buf, size, "; ulimit -u is %llu", (unsigned long long)limit.rlim_cur);
	if (n >= 0 && (size_t)n < size &&
	    zm_cgroup_find(launcher->run->root, "pids", &cgroup) == 0 &&
	    zm_cgroup_left(launcher->run->root, &cgroup, "pids.max", "pids.current", &max,
			   &cgroup) != UINT64_MAX)
		(void)snprintf(buf + n, size - (size_t)n, "; pids.max of %s is %llu", cgroup.path,
			       (unsigned long long)max);
}

static void fail_making(struct launcher *launcher, unsigned int index, int error)
{
	char limits[ZM_CGROUP_PATH_SIZE + 128];

	say_limits(launcher, limits, sizeof(limits));
	zm_arena_fail(launcher->spec->arena, (int)index, error,
		      "task %u of %u could not be made: %s%s", index, launcher->run->nr_tasks,
		      strerror(-error), limits);
	fail(launcher);
}

static void name_task(unsigned int index)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "zm-task-%u", index);
	(void)prctl(PR_SET_NAME, name);
}

static _Noreturn void be_process(const struct launcher *launcher, unsigned int index, pid_t parent)
{
	sigset_t none;

	die_with_parent(parent);
	name_task(index);
	(void)close(launcher->socket);
	(void)close(launcher->signal_fd);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	zm_worker_main(launcher->spec, index);
	_exit(0);
}

static void *be_thread(void *argument)
{
	const struct maker *maker = argument;

	name_task(maker->index);
	zm_worker_main(maker->spec, maker->index);
	return NULL;
}

static int make_process(struct launcher *launcher, struct maker *maker)
{
	pid_t self = getpid();

	maker->pid = fork();
	if (maker->pid == 0)
		be_process(launcher, maker->index, self);
	return maker->pid < 0 ? -errno : 0;
}

static int make_thread(struct maker *maker)
{
	pthread_attr_t attributes;
	int r = -pthread_attr_init(&attributes);

	if (r < 0)
		return r;
	r = -pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (r == 0)
		r = -pthread_create(&maker->thread, &attributes, be_thread, maker);
	(void)pthread_attr_destroy(&attributes);
	return r;
}

/* Goes on until a task that is there already has ended: it can only have failed. */
static void make_tasks(struct launcher *launcher)
{
	const struct zm_control *control = launcher->spec->arena->control;
	unsigned int nr_tasks = launcher->run->nr_tasks;
	int r = 0;

	launcher->makers = calloc(nr_tasks, sizeof(*launcher->makers));
	if (!launcher->makers) {
		fail_making(launcher, 0, -ENOMEM);
		return;
	}
	for (unsigned int i = 0; i < nr_tasks && atomic_load(&control->nr_ended) == 0; i++) {
		struct maker *maker = &launcher->makers[i];

		*maker = (struct maker){ .spec = launcher->spec, .index = i };
		r = launcher->run->kind == ZM_TASK_THREAD ? make_thread(maker)
							  : make_process(launcher, maker);
		if (r < 0) {
			fail_making(launcher, i, r);
			return;
		}
		launcher->nr_made++;
	}
}

/* --- watching them --- */

static void fail_dead(struct launcher *launcher, const struct maker *maker, int status)
{
	char who[64], death[ZM_WHY_SIZE];

	(void)snprintf(who, sizeof(who), "task %u (pid %d)", maker->index, (int)maker->pid);
	zm_launch_say_death(launcher->spec, who, status, death, sizeof(death));
	zm_arena_fail(launcher->spec->arena, (int)maker->index, -ECHILD, "%s", death);
	fail(launcher);
}

static bool has_ended_well(const struct zm_slot *slot)
{
	uint32_t state = atomic_load(&slot->state);

	return state == ZM_SLOT_DONE || state == ZM_SLOT_FAILED;
}

static void reap_one(struct launcher *launcher, pid_t pid, int status)
{
	for (unsigned int i = 0; i < launcher->nr_made; i++) {
		struct maker *maker = &launcher->makers[i];

		if (maker->pid != pid)
			continue;
		launcher->nr_gone++;
		if (!has_ended_well(zm_arena_slot(launcher->spec->arena, i)))
			fail_dead(launcher, maker, status);
		maker->pid = 0;
		return;
	}
}

static void reap(struct launcher *launcher)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(launcher->signal_fd, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		reap_one(launcher, pid, status);
}

static void join_threads(struct launcher *launcher)
{
	while (launcher->nr_gone < launcher->nr_made) {
		(void)pthread_join(launcher->makers[launcher->nr_gone].thread, NULL);
		launcher->nr_gone++;
	}
}

/* Has a task said that it failed? */
static void look_for_failure(struct launcher *launcher)
{
	const struct zm_arena *arena = launcher->spec->arena;

	for (unsigned int i = 0; i < launcher->nr_made; i++) {
		const struct zm_slot *slot = zm_arena_slot(arena, i);

		if (atomic_load(&slot->state) != ZM_SLOT_FAILED)
			continue;
		zm_arena_fail(arena, (int)i, atomic_load(&slot->error), "task %u: %s", i,
			      slot->why.text);
		fail(launcher);
		return;
	}
}

static void look(struct launcher *launcher)
{
	const struct zm_control *control = launcher->spec->arena->control;
	uint32_t nr_ended = atomic_load(&control->nr_ended);

	if (nr_ended > 0 && !launcher->has_said_failed)
		look_for_failure(launcher);
	if (launcher->run->kind == ZM_TASK_THREAD && launcher->nr_made > 0 &&
	    nr_ended == launcher->nr_made)
		join_threads(launcher);
	if (!launcher->has_said_ready && !launcher->has_said_failed &&
	    atomic_load(&control->nr_arrived) == launcher->run->nr_tasks) {
		launcher->has_said_ready = true;
		say(launcher, ZM_WORD_READY);
	}
	if (launcher->makers && !launcher->has_said_ended &&
	    launcher->nr_gone == launcher->nr_made) {
		launcher->has_said_ended = true;
		say(launcher, ZM_WORD_ENDED);
	}
}

/* --- the end --- */

/* Children that a workload started and left: they were given to this process. */
static void kill_strays(const struct launcher *launcher)
{
	zm_autofree char *text = NULL;
	char path[64];
	char *save = NULL;
	size_t length;
	uint64_t pid;

	(void)snprintf(path, sizeof(path), "proc/self/task/%d/children", (int)getpid());
	if (zm_sysroot_read(launcher->run->root, path, &text, &length) < 0)
		return;
	for (char *word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		if (zm_units_parse_u64(word, &pid) == 0)
			(void)kill((pid_t)pid, SIGKILL);
	}
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void finish(struct launcher *launcher)
{
	const struct zm_arena *arena = launcher->spec->arena;
	const struct zm_workload *workload = launcher->run->workload;
	struct zm_why why = { { 0 } };

	if (workload->verify && launcher->has_said_ended && !zm_arena_failure(arena)) {
		int r = workload->verify(launcher->run, &why);

		if (r < 0)
			zm_arena_fail(arena, -1, r, "verifying: %s", why.text);
	}
	if (launcher->is_prepared && workload->cleanup)
		workload->cleanup(launcher->run);
	kill_strays(launcher);
	free(launcher->makers);
	launcher->is_done = true;
	say(launcher, ZM_WORD_FINISHED);
}

/* --- listening --- */

static void obey(struct launcher *launcher)
{
	unsigned char word;
	ssize_t n = recv(launcher->socket, &word, 1, MSG_DONTWAIT);

	if (n == 0)
		launcher->is_done = true;
	else if (n == 1 && word == ZM_WORD_MAKE && !launcher->makers)
		make_tasks(launcher);
	else if (n == 1 && word == ZM_WORD_FINISH)
		finish(launcher);
}

static void listen_once(struct launcher *launcher)
{
	struct pollfd fds[] = { { launcher->socket, POLLIN, 0 },
				{ launcher->spec->notice_fd, POLLIN, 0 },
				{ launcher->signal_fd, POLLIN, 0 } };
	uint64_t notices;

	if (poll(fds, 3, -1) < 0)
		return;
	if (fds[2].revents)
		reap(launcher);
	if (fds[1].revents)
		(void)!read(launcher->spec->notice_fd, &notices, sizeof(notices));
	if (fds[0].revents)
		obey(launcher);
	if (!launcher->is_done)
		look(launcher);
}

int zm_launcher_main(struct zm_launch_spec *spec, pid_t runner, int socket)
{
	struct launcher launcher = {
		.spec = spec, .run = spec->arena->run, .socket = socket, .signal_fd = -1
	};
	int r = become(&launcher, runner);

	if (r < 0) {
		zm_arena_fail(spec->arena, -1, r, "starting the launcher: %s", strerror(-r));
		say(&launcher, ZM_WORD_FAILED);
	} else {
		prepare(&launcher);
	}
	while (!launcher.is_done)
		listen_once(&launcher);
	return 0;
}
