/*
 * cmd_store: a store that is to be there before the first run.
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "results/role.h"
#include "results/store.h"
#include "runner/cmd_rows.h"

struct switches {
	char *db, *role;
};

static const struct zm_option rows[] = {
	{ .name = "role",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct switches, role),
	  .unit = "name",
	  .help = "let this role of the server add runs, and nothing else; made when it is not "
		  "there" },
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

static int init(const struct switches *switches, struct zm_why *why)
{
	struct zm_store *store = NULL;
	int error = zm_store_open(switches->db, true, &store, why);

	if (!error && switches->role)
		error = zm_role_let_add(store, switches->role, why);
	if (!error && switches->role)
		(void)printf("%s: ready; %s may add runs to it\n", zm_store_path(store),
			     switches->role);
	else if (!error)
		(void)printf("%s: ready\n", zm_store_path(store));
	zm_store_close(store);
	return error;
}

static int run(const struct zm_args *args)
{
	struct zm_why why = { "no memory for the store" };

	if (args->nr_words != 1 || strcmp(args->words[0], "init") != 0)
		return zm_cmd_failf(
			ZM_EXIT_USAGE,
			"store: what is to be done with it? `zonemark store init` makes "
			"it, or brings it up to date");
	return init(args->switches, &why) ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "make a store, or bring it up to date; let machines add runs to it",
	.usage = "init",
	.details = "A file is made by the first run, too, and needs no init. On a PostgreSQL "
		   "server the "
		   "owner of an empty database makes the tables with it once, and again after each "
		   "version of zonemark that changes them.\n"
		   "\n"
		   "--role gives a role of the server the least that a machine needs to send its "
		   "runs: it "
		   "may add runs, it may not change or remove any, and it may not read figures. A "
		   "role "
		   "that is made here has no password: set one with ALTER ROLE, or let pg_hba.conf "
		   "know "
		   "it by its certificate.",
	.examples = "zonemark store init --db postgresql://owner@lab/zonemark --role node\t"
		    "the tables, and the role by which machines send",
	.completes = "",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
