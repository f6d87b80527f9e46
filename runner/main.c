/*
 * main: the program's entry. Makes the process sane, checks the catalogue, finds the command, puts
 * back what dead runs left changed, runs the command, and sees its answer written. As a guest's /init
 * it is the guest's agent instead.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/cmd.h"
#include "runner/help.h"
#include "runner/vm/agent.h"
#include "workloads/base/journal.h"
#include "workloads/base/sysroot.h"

/* A descriptor 0-2 that was closed would become the next file opened, and an answer would go into
 * it. In its place stands /dev/null, opened so that using it fails as it would have. */
static int keep_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			return -EBADF;
	}
	return 0;
}

/* Characters are the user's; numbers stay those of the C locale. A reader that goes away must not
 * end a run: writing says so instead (zm_cmd_close_stdout). */
static int make_process_sane(void)
{
	(void)setlocale(LC_CTYPE, "");
	(void)signal(SIGPIPE, SIG_IGN);
	return keep_standard_descriptors();
}

static void say(void *context, const char *line)
{
	(void)context;
	(void)zm_cmd_failf(ZM_EXIT_OK, "%s", line);
}

/* What cannot be put back is said, and stays in its journal; the command goes on. */
static void undo_dead_runs(void)
{
	struct zm_sysroot root;
	struct zm_why why;

	if (zm_sysroot_open(&root, NULL) < 0)
		return;
	if (zm_journal_recover(&root, NULL, say, NULL, &why) < 0)
		(void)zm_cmd_fail(ZM_EXIT_OK, &why);
	zm_sysroot_release(&root);
}

static int run_cmd(const struct zm_cmd *cmd, int argc, char **argv)
{
	struct zm_args args;
	struct zm_why why;
	int status;

	if (zm_cmd_parse(cmd, argc, argv, &args, &why) < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	if (args.wants_help) {
		zm_help_cmd(stdout, cmd);
		status = ZM_EXIT_OK;
	} else {
		if (!cmd->leaves_journals)
			undo_dead_runs();
		status = cmd->run(&args);
	}
	zm_args_release(cmd, &args);
	return status;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const struct zm_cmd *cmd;
	struct zm_why why;

	if (zm_catalogue_validate(&why) < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	if (argc < 2) {
		zm_help_program(stderr);
		return ZM_EXIT_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		zm_help_program(stdout);
		return ZM_EXIT_OK;
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		puts("zonemark " ZM_VERSION);
		return ZM_EXIT_OK;
	}
	cmd = zm_cmd_find(word);
	if (!cmd) {
		(void)zm_cmd_unknown(word, &why);
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	return run_cmd(cmd, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	if (zm_vm_agent_is_wanted(argv[0]))
		zm_vm_agent_run();
	if (make_process_sane() < 0)
		return ZM_EXIT_USAGE;
	return zm_cmd_close_stdout(dispatch(argc, argv));
}
