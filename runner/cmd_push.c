/*
 * cmd_push: the runs that wait here go to the store on a server.
 */
#include "runner/cmd.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/dburl.h"
#include "results/query.h"
#include "runner/cmd_rows.h"
#include "runner/send.h"
#include "workloads/base/cleanup.h"

struct switches {
	char *db;
	bool json;
};

static const struct zm_option rows[] = {
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

static void print_text(const char *name, const struct zm_import *import, uint64_t nr_left)
{
	(void)printf("%s: %" PRIu64 " new, %" PRIu64 " there already, %" PRIu64 " left here\n",
		     name, import->nr_new + import->nr_replaced, import->nr_there, nr_left);
}

static void print_json(const char *name, const struct zm_import *import, uint64_t nr_left)
{
	json_t *object = json_pack("{s:s, s:I, s:I, s:I}", "store", name, "new",
				   (json_int_t)(import->nr_new + import->nr_replaced), "there",
				   (json_int_t)import->nr_there, "left", (json_int_t)nr_left);

	(void)json_dumpf(object, stdout, JSON_COMPACT);
	json_decref(object);
	(void)putchar('\n');
}

static int push(const char *url, bool json, struct zm_why *why)
{
	zm_autofree char *name = zm_dburl_public(url);
	struct zm_store *outbox = NULL;
	struct zm_import import = { 0 };
	uint64_t nr_left = 0;
	int error = zm_outbox_open(url, &outbox, why);

	if (!error)
		error = zm_outbox_push(url, outbox, &import, why);
	if (outbox)
		(void)zm_query_nr_runs(outbox, &nr_left, NULL);
	if (outbox && name)
		(json ? print_json : print_text)(name, &import, nr_left);
	zm_store_close(outbox);
	return error;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	zm_autofree char *url = NULL;
	struct zm_why why = { "" };
	int error;

	if (args->nr_words)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "push: %s: it sends what waits here; `zonemark import %s --db "
				    "URL` sends another store's runs",
				    args->words[0], args->words[0]);
	error = zm_outbox_url(switches->db, &url, &why);
	if (!error && !url)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "push: the store is a file here, and its runs are in it; give "
				    "the server's with --db postgresql://HOST/NAME");
	if (!error)
		error = push(url, switches->json, &why);
	return error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "send the runs that wait here to the store on a server",
	.usage = "",
	.details = "With --db postgresql://… a run is recorded into a file of this machine and "
		   "sent when "
		   "the command ends, so that the network is not in what is measured and a server "
		   "that is "
		   "away costs no run. Those that could not be sent wait in the file; push sends "
		   "them, "
		   "each whole or not at all. A run that is sent twice is there once.\n"
		   "\n"
		   "What has been sent goes from the file. The exit status is 2, and the line says "
		   "why, "
		   "when something is left that should have gone.",
	.examples = "zonemark push --db postgresql://node@lab/zonemark\tafter the server is back\n"
		    "ZONEMARK_DB=postgresql://node@lab/zonemark zonemark push\tin a cron line",
	.completes = "",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
