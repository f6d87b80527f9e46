/*
 * cmd_restore: undoes what runs that ended unasked left behind, and says what it did.
 */
#include "runner/cmd.h"

#include <jansson.h>
#include <stdio.h>

#include "workloads/base/journal.h"
#include "workloads/base/sysroot.h"

struct switches {
	bool json;
};

static void print_line(void *context, const char *line)
{
	(void)context;
	(void)puts(line);
}

/* Values of settings are bytes of any kind: what is no UTF-8 is left out of JSON's list. */
static void keep_line(void *context, const char *line)
{
	(void)json_array_append_new(context, json_string(line));
}

static int answer_in_json(int nr_undone, json_t *lines, const struct zm_why *why)
{
	json_t *answer =
		json_pack("{s:i, s:O}", "undone", nr_undone < 0 ? 0 : nr_undone, "changes", lines);
	int error;

	if (answer && nr_undone < 0)
		(void)json_object_set_new(answer, "error", json_string(why->text));
	error = json_dumpf(answer, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(answer);
	return error ? ZM_EXIT_USAGE : nr_undone < 0 ? ZM_EXIT_NO : ZM_EXIT_OK;
}

static int restore(const struct switches *switches, const struct zm_sysroot *root)
{
	struct zm_why why;
	int nr, status;

	if (switches->json) {
		json_t *lines = json_array();

		nr = zm_journal_recover(root, NULL, keep_line, lines, &why);
		status = answer_in_json(nr, lines, &why);
		json_decref(lines);
		return status;
	}
	nr = zm_journal_recover(root, NULL, print_line, NULL, &why);
	if (nr < 0)
		return zm_cmd_fail(ZM_EXIT_NO, &why);
	if (nr == 0)
		(void)puts("Nothing to restore: every run has put back what it changed.");
	else
		(void)printf("Restored what %d run%s left behind.\n", nr, nr == 1 ? "" : "s");
	return ZM_EXIT_OK;
}

static int run(const struct zm_args *args)
{
	struct zm_sysroot root;
	int status;

	if (args->nr_words)
		return zm_cmd_failf(ZM_EXIT_USAGE, "restore takes no word, and got %s",
				    args->words[0]);
	if (zm_sysroot_open(&root, NULL))
		return zm_cmd_failf(ZM_EXIT_USAGE, "restore: / cannot be opened");
	status = restore(args->switches, &root);
	zm_sysroot_release(&root);
	return status;
}

static const struct zm_option rows[] = {
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct switches, json),
	  .preset = "0",
	  .help = "answer in JSON" },
	{ .name = NULL },
};

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "undo what a killed run left behind on this machine",
	.usage = "",
	.details = "Every zonemark command does this before its own work; this one does nothing "
		   "else, and "
		   "says what it put back. What somebody else has changed since is left, and said. "
		   "What cannot be put back stays written down, and the status is 1.",
	.examples = "zonemark restore\tafter a kill -9 or a power cut",
	.completes = "",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.leaves_journals = true,
	.run = run,
};
