/* cmd_help: what the program and its commands are, from the same rows that parse their lines. */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>

#include "runner/catalogue.h"
#include "runner/help.h"

static int run(const struct zm_args *args)
{
	const struct zm_cmd *cmd;
	struct zm_why why;

	if (args->nr_words == 0) {
		zm_help_program(stdout);
		return ZM_EXIT_OK;
	}
	cmd = zm_cmd_find(args->words[0]);
	if (!cmd) {
		(void)zm_cmd_unknown(args->words[0], &why);
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	zm_help_cmd(stdout, cmd);
	return ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "explain the program or one of its commands",
	.usage = "[COMMAND]",
	.completes = "commands",
	.leaves_journals = true,
	.run = run,
};
