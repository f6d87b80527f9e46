/* keeper: told of its parent's death by a signal, told to end by another; deaf to the rest. */
#include "buildload/keeper.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/clock.h"
#include "workloads/base/journal.h"
#include "workloads/base/owner.h"

#define PARENT_IS_DEAD SIGUSR1
#define END            SIGTERM
#define DYING_NS       (10 * ZM_NS_PER_S)
#define LOOK_NS        (5 * ZM_NS_PER_MS)

/* What it inherited is not its own; the root's directory is what it works with. */
static void close_all_but(int kept)
{
	if (kept > 3)
		(void)close_range(3, (unsigned int)kept - 1, 0);
	(void)close_range(kept >= 3 ? (unsigned int)kept + 1 : 3, ~0U, 0);
}

/* The parent's end is seen before it is complete: a journal of somebody who still dies is a living
 * one's. */
static void undo_after(const struct zm_sysroot *root, const struct zm_owner *parent)
{
	uint64_t deadline_ns = zm_clock_now_ns() + DYING_NS;

	while (zm_owner_is_alive(parent) && zm_clock_now_ns() < deadline_ns)
		(void)zm_clock_sleep_until(zm_clock_now_ns() + LOOK_NS);
	(void)zm_journal_recover(root, NULL, NULL, NULL, NULL);
}

static _Noreturn void keep(const struct zm_sysroot *root, pid_t parent_pid,
			   const struct zm_owner *parent)
{
	sigset_t all;
	int signal = 0;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setsid();
	(void)prctl(PR_SET_NAME, "zm-keeper");
	(void)prctl(PR_SET_PDEATHSIG, PARENT_IS_DEAD);
	close_all_but(root->dir_fd);
	(void)zm_sysroot_write(root, "proc/self/oom_score_adj", "0");
	if (getppid() != parent_pid)
		signal = PARENT_IS_DEAD;
	while (signal != PARENT_IS_DEAD && signal != END)
		signal = sigwaitinfo(&all, NULL);
	if (signal == PARENT_IS_DEAD)
		undo_after(root, parent);
	_exit(0);
}

int zm_keeper_start(const struct zm_sysroot *root, pid_t *ret_pid, struct zm_why *why)
{
	struct zm_owner self;
	pid_t parent = getpid(), pid;
	int r = zm_owner_self(&self, why);

	if (r < 0)
		return r;
	pid = fork();
	if (pid == 0)
		keep(root, parent, &self);
	if (pid < 0)
		return zm_why_errno(why, -errno, "no process to clear up after the builds");
	*ret_pid = pid;
	return 0;
}

void zm_keeper_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, END);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
