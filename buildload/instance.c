/*
 * instance: descriptors, a child in its cgroup, a pidfd to wait for.
 */
#include "buildload/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

#define HIGH_FD 32 /* where descriptors wait to be moved to their numbers: above all of those */

int zm_instance_open(struct zm_instance *instance, struct zm_why *why)
{
	void *page;
	int r;

	*instance = (struct zm_instance){ .pid_fd = -1, .progress_fd = -1, .complaints_fd = -1 };
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	instance->progress_fd = memfd_create("kbuild-progress", MFD_CLOEXEC);
	if (instance->progress_fd < 0 ||
	    ftruncate(instance->progress_fd, sizeof(struct zm_progress)) < 0)
		return zm_why_errno(why, -errno, "a page for a build's progress");
	page = mmap(NULL, sizeof(struct zm_progress), PROT_READ | PROT_WRITE, MAP_SHARED,
		    instance->progress_fd, 0);
	r = -errno;
	if (page == MAP_FAILED)
		return zm_why_errno(why, r, "a page for a build's progress");
	instance->progress = page;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void zm_instance_close(struct zm_instance *instance)
{
	if (instance->progress)
		(void)munmap(instance->progress, sizeof(struct zm_progress));
	instance->progress = NULL;
	close_fd(&instance->progress_fd);
	close_fd(&instance->complaints_fd);
	close_fd(&instance->pid_fd);
}

/* --- starting --- */

/* What the build inherits, in the order of enum zm_build_fd. */
struct descriptors {
	int fds[ZM_BUILD_PROGRESS - ZM_BUILD_SCRIPT + 1];
};

#define AT(number) ((number)-ZM_BUILD_SCRIPT)

static void close_descriptors(struct descriptors *descriptors)
{
	for (size_t i = 0; i < sizeof(descriptors->fds) / sizeof(descriptors->fds[0]); i++)
		close_fd(&descriptors->fds[i]);
}

static int write_script(const struct zm_script *script, int *ret_fd)
{
	zm_autoclose int fd = memfd_create("kbuild-script", MFD_CLOEXEC);
	size_t at = 0;

	if (fd < 0)
		return -errno;
	while (at < script->bytes) {
		ssize_t n = write(fd, script->data + at, script->bytes - at);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* The first slot is the first make's own; the others are bytes in the pipe. */
static int make_tokens(unsigned int jobs, int *ret_in, int *ret_out)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	*ret_in = fds[0];
	*ret_out = fds[1];
	(void)fcntl(fds[1], F_SETPIPE_SZ, (int)jobs);
	for (unsigned int i = 1; i < jobs; i++) {
		if (write(fds[1], "+", 1) != 1)
			return -errno;
	}
	return 0;
}

static int make_complaints(struct zm_instance *instance, int *ret_out)
{
	int fds[2];

	close_fd(&instance->complaints_fd);
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	instance->complaints_fd = fds[0];
	*ret_out = fds[1];
	return 0;
}

static int make_descriptors(struct zm_instance *instance, const struct zm_instance_spec *spec,
			    const struct zm_script *script, struct descriptors *descriptors)
{
	int *fds = descriptors->fds;
	int r = write_script(script, &fds[AT(ZM_BUILD_SCRIPT)]);

	if (r == 0)
		r = make_tokens(spec->jobs, &fds[AT(ZM_BUILD_TOKENS_IN)],
				&fds[AT(ZM_BUILD_TOKENS_OUT)]);
	if (r == 0)
		r = make_complaints(instance, &fds[AT(ZM_BUILD_COMPLAINTS)]);
	if (r == 0) {
		fds[AT(ZM_BUILD_PROGRESS)] = fcntl(instance->progress_fd, F_DUPFD_CLOEXEC, 0);
		if (fds[AT(ZM_BUILD_PROGRESS)] < 0)
			r = -errno;
	}
	return r;
}

static int place_descriptors(const struct descriptors *descriptors)
{
	const size_t nr = sizeof(descriptors->fds) / sizeof(descriptors->fds[0]);
	int high[sizeof(descriptors->fds) / sizeof(descriptors->fds[0])];
	int null_fd;

	for (size_t i = 0; i < nr; i++) {
		high[i] = fcntl(descriptors->fds[i], F_DUPFD_CLOEXEC, HIGH_FD);
		if (high[i] < 0)
			return -errno;
	}
	for (size_t i = 0; i < nr; i++) {
		if (dup2(high[i], ZM_BUILD_SCRIPT + (int)i) < 0)
			return -errno;
	}
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0)
		return -errno;
	(void)close_range(ZM_BUILD_PROGRESS + 1, ~0U, 0);
	return 0;
}

static _Noreturn void die(int fd, const char *what, int error)
{
	(void)dprintf(fd, "%s: %s\n", what, strerror(-error));
	_exit(1);
}

static _Noreturn void be_make(const struct zm_instance_spec *spec,
			      const struct descriptors *descriptors)
{
	static char *const environment[] = { NULL };
	char *argv[] = { (char *)"make", (char *)"build", NULL };
	int complaints = descriptors->fds[AT(ZM_BUILD_COMPLAINTS)];
	char folder[PATH_MAX];
	sigset_t none;
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setpgid(0, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)snprintf(folder, sizeof(folder), "%s/%u", spec->folder, spec->index);
	r = spec->cpus ? zm_cpuset_set_affinity(0, spec->cpus) : 0;
	if (r < 0)
		die(complaints, "the CPUs of a build", r);
	r = spec->cgroups ? zm_cgroups_enter(spec->cgroups, spec->index) : 0;
	if (r < 0)
		die(complaints, "entering the cgroup of a build", r);
	if (chdir(folder) < 0)
		die(complaints, folder, -errno);
	r = place_descriptors(descriptors);
	if (r < 0)
		die(complaints, "the descriptors of a build", r);
	(void)execve("../bin/make", argv, environment);
	die(ZM_BUILD_COMPLAINTS, "../bin/make", -errno);
}

static int fork_make(struct zm_instance *instance, const struct zm_instance_spec *spec,
		     const struct descriptors *descriptors)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		be_make(spec, descriptors);
	(void)setpgid(pid, pid);
	instance->pid = pid;
	close_fd(&instance->pid_fd);
	instance->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (instance->pid_fd >= 0)
		(void)fcntl(instance->pid_fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

int zm_instance_start(struct zm_instance *instance, const struct zm_instance_spec *spec,
		      const struct zm_script *script, struct zm_why *why)
{
	struct descriptors descriptors = { .fds = { -1, -1, -1, -1, -1 } };
	int r = make_descriptors(instance, spec, script, &descriptors);

	if (r == 0)
		r = fork_make(instance, spec, &descriptors);
	close_descriptors(&descriptors);
	return r < 0 ? zm_why_errno(why, r, "starting an emulated build with jobs=%u", spec->jobs)
		     : 0;
}

/* --- ending --- */

/* Whatever is left of a build whose first make has ended; orphans come here. */
static void end_others(pid_t group)
{
	(void)kill(-group, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

bool zm_instance_wait(struct zm_instance *instance, int timeout_ms)
{
	struct pollfd ended = { .fd = instance->pid_fd, .events = POLLIN };
	int status;
	pid_t pid;

	if (instance->pid == 0)
		return false;
	(void)poll(&ended, 1, timeout_ms);
	pid = waitpid(instance->pid, &status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return true;
	instance->status = pid > 0 ? status : -1;
	end_others(instance->pid);
	instance->pid = 0;
	return false;
}

/* The first line of what was said. */
static void read_complaint(const struct zm_instance *instance, char *line, size_t size)
{
	ssize_t n = read(instance->complaints_fd, line, size - 1);

	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

int zm_instance_finish(struct zm_instance *instance, struct zm_why *why)
{
	char line[256];

	if (instance->status == 0)
		return 0;
	read_complaint(instance, line, sizeof(line));
	if (!line[0] && WIFSIGNALED(instance->status))
		(void)snprintf(line, sizeof(line), "its make was killed by signal %d (%s)",
			       WTERMSIG(instance->status), strsignal(WTERMSIG(instance->status)));
	else if (!line[0])
		(void)snprintf(line, sizeof(line), "its make ended with status %d",
			       WEXITSTATUS(instance->status));
	return zm_why_set(why, -EPROTO, "an emulated build failed: %s", line);
}

void zm_instance_stop(struct zm_instance *instance, const struct zm_instance_spec *spec)
{
	if (instance->pid == 0)
		return;
	(void)kill(-instance->pid, SIGKILL);
	if (spec->cgroups)
		(void)zm_cgroups_kill(spec->cgroups, spec->index, NULL);
	(void)kill(instance->pid, SIGKILL); /* before it had a group of its own */
	end_others(instance->pid);
	instance->pid = 0;
}
