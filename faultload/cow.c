/* cow: a round in a child, and what its end says. */
#include "faultload/cow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/clock.h"

/* Words between two looks at the stop word, whose lines have gone from the caches by then: from end to end a page is
 * some hundreds of them; at random each may be a page that is read anew, or the first ones all copy. */
#define STRAIGHT_WORDS 16384
#define READ_WORDS     256
#define RANDOM_WORDS   2048
#define COPIED_WORDS   64

struct zm_cow_note {
	struct zm_vmscal_clock clock;
	uint64_t end_ns; /* the child's last moment */
};

int zm_cow_setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_area_case *own = task->run->workload->own;
	const struct zm_usemem_run *shared = task->run->state;
	struct zm_cow_task *state = task->state;
	uint64_t nr_pages = shared->vmscal.area_bytes / shared->page_bytes;
	void *note = mmap(NULL, sizeof(*state->note), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (note == MAP_FAILED)
		return zm_why_errno(why, -errno, "a page to share with the children");
	state->note = note;
	state->walk.is_random = own->is_random;
	state->walk.is_read = own->is_read;
	if (!own->is_random || own->is_read || task->run->kind != ZM_TASK_PROCESS)
		return 0;
	state->marks = calloc(nr_pages / 64 + 1, sizeof(*state->marks));
	return state->marks ? 0 : zm_why_errno(why, -ENOMEM, "a bit for each page of the area");
}

static uint64_t most_words(const struct zm_walk *walk)
{
	if (!walk->is_random)
		return STRAIGHT_WORDS;
	if (walk->is_read)
		return READ_WORDS;
	return walk->marks ? COPIED_WORDS : RANDOM_WORDS;
}

/* Over the area to its end, or to the stop. The first pages of a random walk are marked until all of
 * them are copies. */
static void go_over(struct zm_task *task, struct zm_cow_task *state)
{
	struct zm_walk *walk = &state->walk;
	uint64_t n;

	while (!zm_task_is_stopped(task) && (n = zm_walk_on(walk, most_words(walk))) > 0) {
		zm_task_add(task, n);
		if (zm_walk_has_marked_all(walk)) {
			zm_vmscal_copied(task, &state->note->clock);
			walk->marks = NULL;
		}
	}
	if (walk->done == walk->nr_words)
		zm_vmscal_accessed(task, &state->note->clock);
}

static void begin(struct zm_task *task, struct zm_cow_task *state, uint64_t since_ns)
{
	const struct zm_usemem_run *shared = task->run->state;

	zm_walk_begin(&state->walk, shared->base, shared->vmscal.area_bytes,
		      zm_usemem_seed(task, state->note->clock.round));
	if (state->marks)
		zm_walk_mark(&state->walk, state->marks, shared->page_bytes);
	zm_vmscal_begun(task, &state->note->clock, since_ns);
}

/* A word that was written holds its number. */
static void look_at_last(struct zm_task *task, const struct zm_walk *walk)
{
	struct zm_usemem_run *shared = task->run->state;

	if (walk->done == 0)
		return;
	shared->nr_checked++;
	shared->nr_wrong += zm_walk_last(walk) != (walk->is_read ? 0 : walk->last);
}

__attribute__((noreturn)) static void be_child(struct zm_task *task, pid_t parent,
					       uint64_t since_ns)
{
	struct zm_cow_task *state = task->state;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	begin(task, state, since_ns);
	go_over(task, state);
	look_at_last(task, &state->walk);
	state->note->end_ns = zm_clock_now_ns();
	_exit(0);
}

static int say_death(struct zm_task *task, pid_t pid, int status)
{
	const struct zm_area_case *own = task->run->workload->own;

	if (!WIFSIGNALED(status))
		return zm_why_set(&task->slot->why, -ECHILD, "its child %d ended with status %d",
				  (int)pid, WEXITSTATUS(status));
	if (WTERMSIG(status) == SIGBUS && own->is_huge)
		return zm_why_set(&task->slot->why, -ENOMEM,
				  "its child %d found no huge page to copy to (SIGBUS); lower "
				  "unit_size or nr_task, or use pool=pool",
				  (int)pid);
	return zm_why_set(&task->slot->why, -ECHILD, "its child %d was killed by signal %d (%s)",
			  (int)pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
}

static int run_child(struct zm_task *task, struct zm_cow_task *state)
{
	uint64_t since_ns = zm_clock_now_ns();
	pid_t self = getpid();
	pid_t pid;
	int status;

	pid = fork();
	if (pid < 0)
		return zm_why_errno(&task->slot->why, -errno,
				    "fork of a round's child; see ulimit -u");
	if (pid == 0)
		be_child(task, self, since_ns);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (status != 0)
		return say_death(task, pid, status);
	zm_vmscal_freed(task, state->note->end_ns);
	return 0;
}

int zm_cow_round(struct zm_task *task)
{
	struct zm_cow_task *state = task->state;

	if (task->run->kind == ZM_TASK_PROCESS)
		return run_child(task, state);
	begin(task, state, zm_clock_now_ns());
	go_over(task, state);
	look_at_last(task, &state->walk);
	return 0;
}

void zm_cow_teardown(struct zm_task *task)
{
	struct zm_cow_task *state = task->state;

	free(state->marks);
	state->marks = NULL;
	if (state->note)
		(void)munmap(state->note, sizeof(*state->note));
	state->note = NULL;
}

/* The tasks have ended, and their children before them: the parent's area is as it was. */
int zm_cow_verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_usemem_run *shared = run->state;
	const uint64_t *area = (const uint64_t *)(const void *)shared->base;
	uint64_t nr_words = shared->vmscal.area_bytes / ZM_WORD_BYTES;
	uint64_t page_words = shared->page_bytes / ZM_WORD_BYTES;
	int r = zm_usemem_verify(run, why);

	if (r < 0 || run->kind != ZM_TASK_PROCESS)
		return r;
	for (uint64_t word = page_words / 2; word < nr_words; word += page_words)
		if (area[word] != 0)
			return zm_why_set(
				why, -EBADMSG,
				"what a child wrote is in its parent's memory: nothing was "
				"copied");
	return 0;
}
