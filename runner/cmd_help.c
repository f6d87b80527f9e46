/* cmd_help: what the program and its commands are, from the same rows that parse their lines. */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>

#include "runner/catalogue.h"
#include "runner/help.h"

enum form {
	FORM_TEXT,
	FORM_MAN,
	FORM_BASH,
};

struct switches {
	unsigned int as;
};

static int explain(const char *name)
{
	const struct zm_cmd *cmd = zm_cmd_find(name);
	struct zm_why why;

	if (!cmd) {
		(void)zm_cmd_unknown(name, &why);
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	zm_help_cmd(stdout, cmd);
	return ZM_EXIT_OK;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;

	if (args->nr_words > 1)
		return zm_cmd_failf(ZM_EXIT_USAGE, "help: %s: one command at a time",
				    args->words[1]);
	if (args->nr_words == 1)
		return explain(args->words[0]);
	if (switches->as == FORM_MAN)
		zm_help_man(stdout);
	else if (switches->as == FORM_BASH)
		zm_help_bash(stdout);
	else
		zm_help_program(stdout);
	return ZM_EXIT_OK;
}

static const char *const forms[] = { "text", "man", "bash", NULL };

static const struct zm_option rows[] = {
	{ .name = "as",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct switches, as),
	  .preset = "text",
	  .choices = forms,
	  .help = "the whole program as text, as a man page (roff) or as completion for bash" },
	{ .name = NULL },
};

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "explain the program or one of its commands",
	.usage = "[COMMAND]",
	.completes = "commands",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.leaves_journals = true,
	.run = run,
};
