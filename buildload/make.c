/*
 * make: a pipe with both of its outputs, and a second one by which a child that cannot exec says why.
 */
#include "buildload/make.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

/* --- starting it ------------------------------------------------------------------------------ */

/* What a make above this program has set would make it share that one's jobs. */
static void clean_environment(void)
{
	(void)unsetenv("MAKEFLAGS");
	(void)unsetenv("MFLAGS");
	(void)unsetenv("MAKELEVEL");
	(void)unsetenv("MAKEOVERRIDES");
	(void)setenv("LC_ALL", "C", 1);
}

static int place_descriptors(int out_fd)
{
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(out_fd, 2) < 0)
		return -errno;
	return 0;
}

/* What failed, as a child tells it. */
struct failure {
	int error;
	enum { IN_CGROUP, IN_CPUS, IN_EXEC } where;
};

static _Noreturn void be_make(const struct zm_make_spec *spec, pid_t parent, int out_fd, int say_fd)
{
	struct failure failure = { 0, IN_CGROUP };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)signal(SIGPIPE, SIG_DFL);
	if (spec->cgroups)
		failure.error = zm_cgroups_enter(spec->cgroups, spec->index);
	if (failure.error == 0 && spec->cpus) {
		failure.where = IN_CPUS;
		failure.error = zm_cpuset_set_affinity(0, spec->cpus);
	}
	if (failure.error == 0) {
		failure.where = IN_EXEC;
		failure.error = place_descriptors(out_fd);
	}
	if (failure.error == 0) {
		clean_environment();
		(void)execvp(spec->argv[0], (char *const *)(const void *)spec->argv);
		failure.error = -errno;
	}
	(void)!write(say_fd, &failure, sizeof(failure));
	_exit(127);
}

static int say_failure(const struct zm_make_spec *spec, const struct failure *failure,
		       struct zm_why *why)
{
	char path[ZM_CGROUP_PATH_SIZE] = "";

	switch (failure->where) {
	case IN_CGROUP:
		(void)zm_cgroups_path(spec->cgroups, 0, spec->index, path, sizeof(path));
		return zm_why_errno(why, failure->error, "a process cannot enter cgroup /%s", path);
	case IN_CPUS:
		return zm_why_errno(why, failure->error, "a build's CPUs cannot be set");
	default:
		return zm_why_errno(why, failure->error, "cannot start %s", spec->argv[0]);
	}
}

/* Nothing comes when exec closes the pipe: it has begun. */
static int hear_of_start(const struct zm_make_spec *spec, int fd, struct zm_why *why)
{
	struct failure failure;
	ssize_t n;

	do
		n = read(fd, &failure, sizeof(failure));
	while (n < 0 && errno == EINTR);
	return n == sizeof(failure) ? say_failure(spec, &failure, why) : 0;
}

int zm_make_start(struct zm_make *make, const struct zm_make_spec *spec, struct zm_why *why)
{
	int out[2] = { -1, -1 }, say[2] = { -1, -1 };
	pid_t self = getpid();
	int r = 0;

	*make = (struct zm_make){ .out_fd = -1, .is_kernel = spec->is_kernel };
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(say, O_CLOEXEC) < 0)
		r = zm_why_errno(why, -errno, "no pipe to a build");
	if (r == 0) {
		make->pid = fork();
		if (make->pid == 0)
			be_make(spec, self, out[1], say[1]);
		if (make->pid < 0)
			r = zm_why_errno(why, -errno, "no process for a build");
	}
	zm_cleanup_close(&out[1]);
	zm_cleanup_close(&say[1]);
	make->out_fd = out[0];
	if (r == 0)
		r = hear_of_start(spec, say[0], why);
	zm_cleanup_close(&say[0]);
	if (r < 0)
		zm_make_abandon(make);
	return r;
}

/* --- reading it ------------------------------------------------------------------------------- */

/* "  CC      init/main.o"; else whatever is not "make[1]: Entering …". */
static bool is_job(const struct zm_make *make)
{
	const char *start = make->start;

	if (make->is_kernel)
		return make->column > 3 && start[0] == ' ' && start[1] == ' ' && start[2] >= 'A' &&
		       start[2] <= 'Z';
	return make->column > 0 && strncmp(start, "make", 4) != 0;
}

static void take_bytes(struct zm_make *make, const char *bytes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		make->tail[make->written++ % ZM_MAKE_TAIL] = bytes[i];
		if (bytes[i] == '\n') {
			make->nr_jobs += is_job(make);
			make->column = 0;
			memset(make->start, 0, sizeof(make->start));
			continue;
		}
		if (make->column < sizeof(make->start))
			make->start[make->column] = bytes[i];
		make->column++;
	}
}

/* Has the process itself ended, whoever else still holds its output? */
static bool has_ended(const struct zm_make *make)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)make->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid == make->pid;
}

bool zm_make_read(struct zm_make *make, int timeout_ms)
{
	struct pollfd fd = { make->out_fd, POLLIN, 0 };
	char bytes[4096];
	ssize_t n;

	if (make->is_quiet)
		return false;
	if (poll(&fd, 1, timeout_ms) <= 0) {
		make->is_quiet = has_ended(make);
		return !make->is_quiet;
	}
	n = read(make->out_fd, bytes, sizeof(bytes));
	if (n > 0)
		take_bytes(make, bytes, (size_t)n);
	else if (n == 0 || errno != EINTR)
		make->is_quiet = true;
	return !make->is_quiet;
}

/* --- its end ---------------------------------------------------------------------------------- */

/* The ring in order, white space at the ends of lines apart. */
static size_t unroll(const struct zm_make *make, char *buf)
{
	size_t nr = make->written < ZM_MAKE_TAIL ? make->written : ZM_MAKE_TAIL;

	for (size_t i = 0; i < nr; i++)
		buf[i] = make->tail[(make->written - nr + i) % ZM_MAKE_TAIL];
	while (nr > 0 && (buf[nr - 1] == '\n' || buf[nr - 1] == ' '))
		nr--;
	buf[nr] = '\0';
	return nr;
}

static const char *start_of_line(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

/* The first place of any of these words, or NULL. */
static const char *find_first(const char *text, const char *const *words)
{
	const char *first = NULL;

	for (size_t i = 0; words[i]; i++) {
		const char *at = strstr(text, words[i]);

		if (at && (!first || at < first))
			first = at;
	}
	return first;
}

/* Where the trouble begins: the first line in which somebody complains, else the first in which make
 * gives up, else the last few. */
static const char *find_trouble(const char *text, size_t length)
{
	static const char *const complaints[] = {
		"error:", "not found", "annot ", "No such file", "No space left", "Killed", NULL
	};
	static const char *const ends[] = { "*** ", "rror ", NULL };
	const char *first = find_first(text, complaints);

	if (!first)
		first = find_first(text, ends);
	if (!first)
		first = text + (length > 300 ? length - 300 : 0);
	first = start_of_line(text, first);
	return first + strspn(first, " ");
}

char *zm_make_last_lines(const struct zm_make *make, char *buf, size_t size)
{
	char text[ZM_MAKE_TAIL + 1];
	size_t length = unroll(make, text), n = 0;

	for (const char *at = find_trouble(text, length); *at && n + 4 < size; at++) {
		if (*at == '\n') {
			memcpy(buf + n, " | ", 3);
			n += 3;
			at += strspn(at, "\n ") - 1;
		} else {
			buf[n++] = *at;
		}
	}
	buf[n] = '\0';
	return buf;
}

static int judge(const struct zm_make *make, int status, struct zm_why *why)
{
	char lines[ZM_WHY_SIZE - 96];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	(void)zm_make_last_lines(make, lines, sizeof(lines));
	if (WIFSIGNALED(status))
		return zm_why_set(why, -EPROTO, "make was killed by signal %d%s%s",
				  WTERMSIG(status), lines[0] ? ": " : "", lines);
	return zm_why_set(why, -EPROTO, "make ended with status %d%s%s", WEXITSTATUS(status),
			  lines[0] ? ": " : "", lines);
}

int zm_make_finish(struct zm_make *make, struct rusage *ret_usage, struct zm_why *why)
{
	struct rusage usage = { 0 };
	pid_t pid = make->pid;
	int status, r;

	while (zm_make_read(make, 100))
		;
	do
		r = (int)wait4(pid, &status, 0, &usage);
	while (r < 0 && errno == EINTR);
	make->pid = 0;
	zm_make_abandon(make);
	if (r < 0)
		return zm_why_errno(why, -errno, "waiting for make");
	if (ret_usage)
		*ret_usage = usage;
	return judge(make, status, why);
}

void zm_make_abandon(struct zm_make *make)
{
	if (make->pid > 0) {
		(void)kill(make->pid, SIGKILL);
		while (waitpid(make->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	make->pid = 0;
	if (make->out_fd >= 0)
		(void)close(make->out_fd);
	make->out_fd = -1;
}
