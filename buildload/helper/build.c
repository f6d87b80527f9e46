/*
 * build: one loop for both kinds of make.
 *
 *     while there is something to start, or something runs:
 *         reap what has ended           its slot goes back
 *         a slot is there: start one    its own, or a byte of the pipe
 *         else sleep                    until a child ends or a byte comes
 *
 * A job whose output is a pipe is one of a makefile's `$(shell …)`: nothing else is done until it has ended.
 */
#include "buildload/helper/build.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buildload/helper/process.h"
#include "buildload/progress.h"

#define RUNNING_MAX 4096 /* children of one make */

struct child {
	pid_t pid;       /* 0: free */
	uint32_t number; /* of a job, or of a make */
	bool has_token;  /* of the pipe; else this make's own slot */
};

static struct child children[RUNNING_MAX];

/* What makes start has their input and output. */
static const struct zm_process_ends same = { -1, -1 };

struct crew {
	struct zm_script_head head;
	struct zm_progress *progress;
	uint32_t next, end; /* jobs, or makes of a stage */
	uint32_t stage;
	uint32_t nr_running, limit;
	bool are_makes;
	bool is_own_free; /* this make's own slot */
	bool has_failed;
};

static void read_stage(const struct zm_script_head *head, uint32_t index,
		       struct zm_script_stage *ret_stage)
{
	zm_process_read(ret_stage, sizeof(*ret_stage),
			head->stages_at + index * sizeof(*ret_stage));
}

static void read_job(const struct zm_script_head *head, uint32_t index,
		     struct zm_script_job *ret_job)
{
	zm_process_read(ret_job, sizeof(*ret_job), head->jobs_at + index * sizeof(*ret_job));
}

/* --- counting --- */

static void add_usage(struct zm_progress *progress, const struct rusage *usage)
{
	const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;

	atomic_fetch_add(&progress->faults, (uint64_t)(usage->ru_minflt + usage->ru_majflt));
	atomic_fetch_add(&progress->user_us,
			 (uint64_t)user->tv_sec * 1000000 + (uint64_t)user->tv_usec);
	atomic_fetch_add(&progress->system_us,
			 (uint64_t)system->tv_sec * 1000000 + (uint64_t)system->tv_usec);
	atomic_fetch_add(&progress->switches, (uint64_t)(usage->ru_nvcsw + usage->ru_nivcsw));
}

static void count_start(struct zm_progress *progress)
{
	uint32_t now = atomic_fetch_add(&progress->running, 1) + 1;
	uint32_t most = atomic_load(&progress->most_running);

	while (now > most && !atomic_compare_exchange_weak(&progress->most_running, &most, now))
		;
}

static void count_job(const struct crew *crew, uint32_t number, const struct rusage *usage)
{
	struct zm_progress *progress = crew->progress;
	struct zm_script_job job;

	read_job(&crew->head, number, &job);
	add_usage(progress, usage);
	atomic_fetch_add(&progress->processes, job.nr_steps);
	atomic_fetch_add(&progress->weight, job.weight);
	atomic_fetch_add(&progress->jobs, 1);
}

/* A make counts what it used itself; what its jobs did it has counted with each. */
static void count_self(struct zm_progress *progress)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) == 0)
		add_usage(progress, &usage);
	atomic_fetch_add(&progress->processes, 1);
}

/* --- slots --- */

static bool take_token(void)
{
	char byte;

	return read(ZM_BUILD_TOKENS_IN, &byte, 1) == 1;
}

static void give_token(void)
{
	(void)!write(ZM_BUILD_TOKENS_OUT, "+", 1);
}

static void give_back(struct crew *crew, struct child *child)
{
	if (child->has_token)
		give_token();
	else
		crew->is_own_free = true;
	*child = (struct child){ 0 };
	crew->nr_running--;
}

/* --- children --- */

static struct child *free_child(void)
{
	for (size_t i = 0; i < RUNNING_MAX; i++) {
		if (children[i].pid == 0)
			return &children[i];
	}
	return NULL;
}

static void end_child(struct crew *crew, struct child *child, int status,
		      const struct rusage *usage)
{
	if (!crew->are_makes)
		atomic_fetch_sub(&crew->progress->running, 1);
	if (status != 0)
		zm_process_blame(crew->are_makes ? "a make" : "a job", status);
	if (!crew->are_makes)
		count_job(crew, child->number, usage);
	give_back(crew, child);
}

/* To the end of what it says, and of itself. */
static void hear(struct crew *crew, struct child *child, int output)
{
	static char text[4096];
	struct rusage usage;
	int status;
	ssize_t n;

	do
		n = read(output, text, sizeof(text));
	while (n > 0 || (n < 0 && errno == EINTR));
	(void)close(output);
	while (wait4(child->pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			zm_process_fail("waiting", errno);
	end_child(crew, child, status, &usage);
}

/* *ret_output: the end of its pipe, where it has one; else -1. */
static pid_t spawn_job(const struct crew *crew, uint32_t number, int *ret_output)
{
	struct zm_script_class class;
	struct zm_script_step step;
	struct zm_script_job job;
	int fds[2] = { -1, -1 };
	pid_t pid;

	read_job(&crew->head, number, &job);
	zm_process_read_step(&crew->head, job.first_step, &step);
	zm_process_read_class(&crew->head, step.class_index, &class);
	if (step.flags & ZM_STEP_PIPED && pipe2(fds, O_CLOEXEC) < 0)
		zm_process_fail("a pipe", errno);
	pid = zm_process_spawn(class.name, "step", job.first_step, 0,
			       (struct zm_process_ends){ -1, fds[1] });
	if (fds[1] >= 0)
		(void)close(fds[1]);
	*ret_output = fds[0];
	return pid;
}

static void start(struct crew *crew, struct child *child)
{
	uint32_t number = crew->next++;
	int output = -1;
	pid_t pid = crew->are_makes ? zm_process_spawn("make", "part", crew->stage, number, same)
				    : spawn_job(crew, number, &output);

	if (pid < 0)
		zm_process_fail("starting a job", -pid);
	child->pid = pid;
	child->number = number;
	crew->nr_running++;
	if (!crew->are_makes)
		count_start(crew->progress);
	if (output >= 0)
		hear(crew, child, output);
}

/* False: there is no slot now, or nothing more to start. */
static bool start_one(struct crew *crew)
{
	struct child *child;

	if (crew->next == crew->end || crew->has_failed || crew->nr_running >= crew->limit)
		return false;
	child = free_child();
	if (!child)
		return false;
	if (crew->is_own_free)
		crew->is_own_free = false;
	else if (take_token())
		child->has_token = true;
	else
		return false;
	start(crew, child);
	return true;
}

/* Whether any had ended. */
static bool reap(struct crew *crew)
{
	bool has_any = false;
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		for (size_t i = 0; i < RUNNING_MAX; i++) {
			if (children[i].pid != pid)
				continue;
			end_child(crew, &children[i], status, &usage);
			has_any = true;
			break;
		}
	}
	return has_any;
}

/* Until a child ends; until a byte is in the pipe as well, when one more could be started. */
static void sleep_until_something(const struct crew *crew, const sigset_t *open_mask)
{
	struct pollfd tokens = { .fd = ZM_BUILD_TOKENS_IN, .events = POLLIN };
	bool wants_token = crew->next < crew->end && crew->nr_running < crew->limit;

	(void)ppoll(&tokens, wants_token ? 1 : 0, NULL, open_mask);
}

static void wake_up(int number)
{
	(void)number;
}

/* SIGCHLD comes only while it sleeps. */
static void block_children(sigset_t *ret_open_mask)
{
	struct sigaction action = { .sa_handler = wake_up };
	sigset_t blocked;

	(void)sigaction(SIGCHLD, &action, NULL);
	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &blocked, ret_open_mask);
	(void)sigdelset(ret_open_mask, SIGCHLD);
}

static void run_all(struct crew *crew, const sigset_t *open_mask)
{
	while (crew->next < crew->end || crew->nr_running > 0) {
		if (reap(crew) || start_one(crew))
			continue;
		sleep_until_something(crew, open_mask);
	}
}

static void enter(struct crew *crew)
{
	void *page;

	zm_process_read_head(&crew->head);
	page = mmap(NULL, sizeof(struct zm_progress), PROT_READ | PROT_WRITE, MAP_SHARED,
		    ZM_BUILD_PROGRESS, 0);
	if (page == MAP_FAILED)
		zm_process_fail("mapping the progress", errno);
	crew->progress = page;
	crew->is_own_free = true;
}

static uint32_t limit_of(const struct zm_script_stage *stage)
{
	return stage->max_jobs && stage->max_jobs < RUNNING_MAX ? stage->max_jobs : RUNNING_MAX;
}

static void run_stage(struct crew *crew, uint32_t index, const sigset_t *open_mask)
{
	struct zm_script_stage stage;

	read_stage(&crew->head, index, &stage);
	crew->stage = index;
	crew->are_makes = stage.nr_makes > 0;
	crew->next = crew->are_makes ? 0 : stage.first_job;
	crew->end = crew->next + (crew->are_makes ? stage.nr_makes : stage.nr_jobs);
	crew->limit = limit_of(&stage);
	run_all(crew, open_mask);
}

static void hold_memory(const struct crew *crew)
{
	uint64_t bytes = (uint64_t)crew->head.make_pages * crew->head.page_bytes;
	volatile char *base;

	if (bytes == 0)
		return;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		zm_process_fail("mapping memory", errno);
	for (uint64_t i = 0; i < bytes; i += crew->head.page_bytes)
		base[i] = 1;
}

void zm_build_all(void)
{
	struct crew crew = { 0 };
	sigset_t open_mask;

	enter(&crew);
	hold_memory(&crew);
	block_children(&open_mask);
	for (uint32_t i = 0; i < crew.head.nr_stages; i++)
		run_stage(&crew, i, &open_mask);
	count_self(crew.progress);
}

void zm_build_part(uint32_t index, uint32_t number)
{
	struct crew crew = { .stage = index };
	struct zm_script_stage stage;
	sigset_t open_mask;

	enter(&crew);
	read_stage(&crew.head, index, &stage);
	zm_process_run(crew.head.first_make_step + stage.first_make + number);
	crew.next = stage.first_job + (uint32_t)((uint64_t)stage.nr_jobs * number / stage.nr_makes);
	crew.end = stage.first_job +
		   (uint32_t)((uint64_t)stage.nr_jobs * (number + 1) / stage.nr_makes);
	crew.limit = RUNNING_MAX;
	block_children(&open_mask);
	run_all(&crew, &open_mask);
	count_self(crew.progress);
}
