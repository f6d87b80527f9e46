/*
 * tool: its standard error goes into a file without a name, and is read when it failed.
 */
#include "runner/vm/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/vm/bytes.h"
#include "workloads/base/cleanup.h"

extern char **environ;

static int point(posix_spawn_file_actions_t *actions, int fd, int standard)
{
	int mode = standard == STDIN_FILENO ? O_RDONLY : O_WRONLY;

	return fd < 0 ? posix_spawn_file_actions_addopen(actions, standard, "/dev/null", mode, 0)
		      : posix_spawn_file_actions_adddup2(actions, fd, standard);
}

/* Signals are the tool's own again: SIGPIPE is ignored here, and others may be blocked. */
static int calm(posix_spawnattr_t *attributes)
{
	sigset_t none, restored;

	(void)sigemptyset(&none);
	(void)sigemptyset(&restored);
	(void)sigaddset(&restored, SIGPIPE);
	(void)posix_spawnattr_setsigmask(attributes, &none);
	(void)posix_spawnattr_setsigdefault(attributes, &restored);
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const struct zm_vm_tool *tool, int error_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	(void)posix_spawnattr_init(&attributes);
	r = calm(&attributes);
	if (!r && tool->directory)
		r = posix_spawn_file_actions_addchdir_np(&actions, tool->directory);
	if (!r)
		r = point(&actions, tool->in_fd, STDIN_FILENO);
	if (!r)
		r = point(&actions, tool->out_fd, STDOUT_FILENO);
	if (!r)
		r = point(&actions, error_fd, STDERR_FILENO);
	if (!r)
		r = posix_spawnp(ret_pid, tool->argv[0], &actions, &attributes,
				 (char *const *)tool->argv, environ);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static char *last_line(char *text)
{
	size_t length = strlen(text);
	char *newline;

	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		text[--length] = '\0';
	newline = strrchr(text, '\n');
	return newline ? newline + 1 : text;
}

static int failed(const struct zm_vm_tool *tool, int status, int error_fd, struct zm_why *why)
{
	zm_autofree char *text = NULL;
	const char *line = "";

	if (zm_vm_bytes_read_fd(error_fd, (uint8_t **)&text, NULL) == 0)
		line = last_line(text);
	if (WIFSIGNALED(status))
		return zm_why_set(why, -EIO, "%s was ended by signal %d", tool->argv[0],
				  WTERMSIG(status));
	return zm_why_set(why, -EIO, "%s ended with status %d%s%s", tool->argv[0],
			  WEXITSTATUS(status), *line ? ": " : "", line);
}

int zm_vm_tool_run(const struct zm_vm_tool *tool, struct zm_why *why)
{
	zm_autoclose int error_fd = memfd_create("said", MFD_CLOEXEC);
	int status = 0, r;
	pid_t pid;

	if (error_fd < 0)
		return zm_why_errno(why, -errno, "%s", tool->argv[0]);
	r = spawn(tool, error_fd, &pid);
	if (r == -ENOENT)
		return zm_why_set(why, r, "the program %s is not here; install it", tool->argv[0]);
	if (r < 0)
		return zm_why_errno(why, r, "%s cannot be started", tool->argv[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : failed(tool, status, error_fd, why);
}

int zm_vm_tool_ask(const struct zm_vm_tool *tool, char **ret_text, struct zm_why *why)
{
	zm_autoclose int fd = memfd_create("answer", MFD_CLOEXEC);
	struct zm_vm_tool with_answer = *tool;
	uint8_t *text;
	int r;

	if (fd < 0)
		return zm_why_errno(why, -errno, "%s", tool->argv[0]);
	with_answer.out_fd = fd;
	r = zm_vm_tool_run(&with_answer, why);
	if (r < 0)
		return r;
	r = zm_vm_bytes_read_fd(fd, &text, NULL);
	if (r < 0)
		return zm_why_errno(why, r, "%s's answer", tool->argv[0]);
	*ret_text = (char *)text;
	return 0;
}
