/*
 * guest: one loop over three descriptors and the channel.
 *
 *     console   QEMU's stdout and stderr: the kernel's lines, and QEMU's own
 *     talk      the second serial line: the command's standard error, passed on
 *     signals   the user's: they end the guest
 *     channel   looked at ten times a second: up, running, done
 *
 * Once the command is done the guest has a moment to power off, then it is killed. While this machine itself
 * stands still (it is a virtual one that is stopped or moved, a laptop asleep) the guest's time stands still, too.
 */
#include "runner/vm/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/vm/bytes.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define TICK_MS  100
#define LOOK_NS  (2 * ZM_NS_PER_S) /* between two looks, when nothing stands still */
#define LEAVE_NS (3 * ZM_NS_PER_S)
#define GRACE_NS (2 * ZM_NS_PER_S) /* for the last lines of a guest that has refused */

struct watch {
	const struct zm_vm_limits *limits;
	struct zm_vm_channel *channel;
	struct zm_vm_console *console;
	struct zm_vm_course course;
	pid_t qemu;
	int console_fd, talk_fd;
	uint64_t start_ns;
	uint64_t looked_ns; /* the last look */
	uint64_t stood_ns;  /* for how long nobody could look */
};

/* --- start ----------------------------------------------------------------------------------- */

static void keep_open(int fd)
{
	(void)fcntl(fd, F_SETFD, 0);
}

/* In the child; what goes wrong is written into error_fd. */
__attribute__((noreturn)) static void become_qemu(const struct zm_vm_spec *spec, char **argv,
						  int console_fd, int error_fd, pid_t parent)
{
	sigset_t none;
	int null, error;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	(void)setsid();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(console_fd, STDOUT_FILENO);
	(void)dup2(console_fd, STDERR_FILENO);
	keep_open(spec->channel_fd);
	keep_open(spec->talk_fd);
	(void)execvp(argv[0], argv);
	error = errno;
	(void)zm_vm_bytes_write_fd(error_fd, &error, sizeof(error));
	_exit(127);
}

/* 0, or why it could not be executed: the pipe closes when it could. */
static int read_exec_error(int fd)
{
	int error = 0;
	ssize_t n;

	do {
		n = read(fd, &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? -error : 0;
}

static int fork_qemu(struct watch *watch, const struct zm_vm_spec *spec, char **argv,
		     int console_fd)
{
	int error_pipe[2];
	pid_t parent = getpid();
	int r;

	if (pipe2(error_pipe, O_CLOEXEC) < 0)
		return -errno;
	watch->qemu = fork();
	if (watch->qemu == 0)
		become_qemu(spec, argv, console_fd, error_pipe[1], parent);
	r = watch->qemu < 0 ? -errno : 0;
	(void)close(error_pipe[1]);
	if (r == 0)
		r = read_exec_error(error_pipe[0]);
	(void)close(error_pipe[0]);
	if (r < 0 && watch->qemu > 0)
		(void)waitpid(watch->qemu, NULL, 0);
	return r;
}

static int start(struct watch *watch, struct zm_vm_spec *spec, struct zm_why *why)
{
	zm_autofree char **argv = NULL;
	int console[2] = { -1, -1 }, talk[2] = { -1, -1 };
	int r = 0;

	if (pipe2(console, O_CLOEXEC) < 0 || pipe2(talk, O_CLOEXEC) < 0)
		r = -errno;
	spec->talk_fd = talk[1];
	if (r == 0)
		r = zm_vm_qemu_argv(spec, &argv);
	watch->start_ns = watch->looked_ns = zm_clock_now_ns();
	if (r == 0)
		r = fork_qemu(watch, spec, argv, console[1]);
	for (int i = 0; i < 2 && r < 0; i++) {
		if (console[i] >= 0)
			(void)close(console[i]);
		if (talk[i] >= 0)
			(void)close(talk[i]);
	}
	if (r == -ENOENT)
		return zm_why_set(why, r,
				  "qemu-system-x86_64 is not here; install it (Debian: "
				  "qemu-system-x86)");
	if (r < 0)
		return zm_why_errno(why, r, "QEMU cannot be started");
	(void)close(console[1]);
	(void)close(talk[1]);
	watch->console_fd = console[0];
	watch->talk_fd = talk[0];
	return 0;
}

/* --- watching -------------------------------------------------------------------------------- */

/* A guest's bytes may do nothing to the terminal but move it down. */
static void pass_on(char *bytes, size_t length)
{
	size_t kept = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c >= ' ' && c != 0x7f) || c == '\n' || c == '\t')
			bytes[kept++] = bytes[i];
	}
	(void)zm_vm_bytes_write_fd(STDERR_FILENO, bytes, kept);
}

/* False: it is at its end, and closed. */
static bool read_some(struct watch *watch, int *fd)
{
	char bytes[4096];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) {
		(void)close(*fd);
		*fd = -1;
		return false;
	}
	if (fd == &watch->console_fd)
		zm_vm_console_feed(watch->console, bytes, (size_t)n);
	if (fd == &watch->talk_fd || watch->limits->shows_console)
		pass_on(bytes, (size_t)n);
	return true;
}

static void look_at_channel(struct watch *watch)
{
	uint64_t now_ns = zm_clock_now_ns() - watch->start_ns;
	struct zm_vm_course *course = &watch->course;
	uint32_t state = atomic_load(&watch->channel->state);

	if (state >= ZM_VM_UP && !course->up_ns)
		course->up_ns = now_ns;
	if (state >= ZM_VM_RUNNING && state != ZM_VM_REFUSED && !course->running_ns)
		course->running_ns = now_ns;
	if (state >= ZM_VM_DONE && !course->done_ns)
		course->done_ns = now_ns;
}

static int hear_signal(struct watch *watch)
{
	struct signalfd_siginfo info;

	if (read(watch->limits->signal_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	watch->course.signal = (int)info.ssi_signo;
	return -EINTR;
}

/* -ETIMEDOUT, or 1 when it has had its moment to power off. */
static int look_at_time(struct watch *watch)
{
	const struct zm_vm_course *course = &watch->course;
	uint64_t now_ns = zm_clock_now_ns();

	if (now_ns - watch->looked_ns > LOOK_NS)
		watch->stood_ns += now_ns - watch->looked_ns - LOOK_NS;
	watch->looked_ns = now_ns;
	now_ns -= watch->start_ns;
	if (course->done_ns)
		return now_ns > course->done_ns + LEAVE_NS;
	now_ns -= watch->stood_ns;
	if (!course->up_ns && now_ns > watch->limits->boot_ns)
		return -ETIMEDOUT;
	return watch->limits->all_ns && now_ns > watch->limits->all_ns ? -ETIMEDOUT : 0;
}

/* 1: QEMU has ended or may be ended. */
static int watch_once(struct watch *watch)
{
	struct pollfd fds[] = {
		{ .fd = watch->console_fd, .events = POLLIN },
		{ .fd = watch->talk_fd, .events = POLLIN },
		{ .fd = watch->limits->signal_fd, .events = POLLIN },
	};

	if (poll(fds, 3, TICK_MS) > 0) {
		if (fds[0].revents && !read_some(watch, &watch->console_fd))
			return 1;
		if (fds[1].revents)
			(void)read_some(watch, &watch->talk_fd);
		if (fds[2].revents && hear_signal(watch) < 0)
			return -EINTR;
	}
	look_at_channel(watch);
	return look_at_time(watch);
}

/* --- the end --------------------------------------------------------------------------------- */

/* What is still in the pipes, once nobody writes any more. */
static void drain(struct watch *watch)
{
	while (watch->console_fd >= 0 && read_some(watch, &watch->console_fd))
		;
	while (watch->talk_fd >= 0 && read_some(watch, &watch->talk_fd))
		;
}

static void stop(struct watch *watch)
{
	pid_t pid;

	(void)kill(watch->qemu, SIGKILL);
	do {
		pid = waitpid(watch->qemu, &watch->course.qemu_status, 0);
	} while (pid < 0 && errno == EINTR);
	drain(watch);
	look_at_channel(watch);
}

/* It has closed its console: let it end by itself, so that its status is its own. */
static void await_end(const struct watch *watch)
{
	for (uint64_t until_ns = zm_clock_now_ns() + GRACE_NS; zm_clock_now_ns() < until_ns;) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)watch->qemu, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    info.si_pid)
			return;
		(void)zm_clock_sleep_until(zm_clock_now_ns() + 10 * ZM_NS_PER_MS);
	}
}

/* Was it the limit for all of it that came first? */
static bool is_all_over(const struct watch *watch)
{
	return watch->limits->all_ns && watch->limits->all_ns < watch->limits->boot_ns;
}

static int say_end(const struct watch *watch, int r, struct zm_why *why)
{
	const struct zm_vm_channel *channel = watch->channel;
	const struct zm_vm_console *console = watch->console;
	uint32_t state = atomic_load(&channel->state);

	if (r == -EINTR)
		return zm_why_set(why, r, "the guest was ended by signal %d, %s",
				  watch->course.signal,
				  state >= ZM_VM_RUNNING ? "its command running"
				  : state >= ZM_VM_UP    ? "up, but not running its command"
							 : "before it was up");
	if (state == ZM_VM_DONE)
		return 0;
	if (state == ZM_VM_REFUSED)
		return zm_why_set(why, -ECONNABORTED, "%.*s", (int)sizeof(channel->why) - 1,
				  channel->why);
	if (console->trouble != ZM_VM_NO_TROUBLE && console->trouble != ZM_VM_LOCKUP)
		return zm_why_set(why, -EIO, "the guest ended: %s: %s",
				  zm_vm_trouble_text(console->trouble), console->culprit);
	if (r == -ETIMEDOUT && !watch->course.up_ns && !is_all_over(watch))
		return zm_why_set(why, r,
				  "the guest did not come up within %llu s (--boot-timeout)%s",
				  (unsigned long long)(watch->limits->boot_ns / ZM_NS_PER_S),
				  console->nr_lines ? ""
						    : "; its console is silent "
						      "(CONFIG_SERIAL_8250_CONSOLE)");
	if (r == -ETIMEDOUT)
		return zm_why_set(why, r, "the guest was not done within %llu s (--timeout)%s%s%s",
				  (unsigned long long)(watch->limits->all_ns / ZM_NS_PER_S),
				  watch->course.up_ns ? "" : ": it did not come up",
				  console->trouble ? "; " : "",
				  console->trouble ? zm_vm_trouble_text(console->trouble) : "");
	return zm_why_set(why, -EIO, "the guest ended without a word (QEMU's status 0x%x)",
			  (unsigned int)watch->course.qemu_status);
}

int zm_vm_guest_run(struct zm_vm_spec *spec, struct zm_vm_channel *channel,
		    const struct zm_vm_limits *limits, struct zm_vm_console *console,
		    struct zm_vm_course *ret_course, struct zm_why *why)
{
	struct watch watch = { .limits = limits,
			       .channel = channel,
			       .console = console,
			       .console_fd = -1,
			       .talk_fd = -1 };
	int r;

	zm_vm_console_init(console);
	channel->wall_ns = zm_clock_wall_ns();
	r = start(&watch, spec, why);
	if (r < 0)
		return r;
	do {
		r = watch_once(&watch);
	} while (r == 0);
	if (r == 1)
		await_end(&watch);
	stop(&watch);
	*ret_course = watch.course;
	return say_end(&watch, r, why);
}
