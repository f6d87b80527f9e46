/*
 * cmd_import: other stores' runs into this one.
 */
#include "runner/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "results/import.h"
#include "results/store.h"
#include "runner/cmd_rows.h"

struct switches {
	char *db;
	bool json;
};

static const struct zm_option rows[] = {
	ZM_ROW_JSON(struct switches),
	ZM_ROW_DB(struct switches),
	{ .name = NULL },
};

static void print_text(const char *path, const struct zm_import *import)
{
	(void)printf("%s: %" PRIu64 " new, %" PRIu64 " replaced, %" PRIu64 " there already", path,
		     import->nr_new, import->nr_replaced, import->nr_there);
	if (import->nr_under_way)
		(void)printf(", %" PRIu64 " still under way", import->nr_under_way);
	if (import->nr_floors)
		(void)printf(", %" PRIu64 " for noise floors", import->nr_floors);
	(void)putchar('\n');
}

static void print_json(const char *path, const struct zm_import *import)
{
	json_t *object = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I}", "store", path, "new", (json_int_t)import->nr_new,
		"replaced", (json_int_t)import->nr_replaced, "there", (json_int_t)import->nr_there,
		"under_way", (json_int_t)import->nr_under_way, "floors",
		(json_int_t)import->nr_floors);

	(void)json_dumpf(object, stdout, JSON_COMPACT);
	json_decref(object);
	(void)putchar('\n');
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int import_one(struct zm_store *into, const char *path, bool json, struct zm_why *why)
{
	struct zm_import import = { 0 };
	struct zm_store *from = NULL;
	int error;

	if (is_same_file(path, zm_store_path(into)))
		return zm_why_set(why, -EINVAL, "import: %s: this is the store itself", path);
	error = zm_store_open(path, false, &from, why);
	if (!error)
		error = zm_import_store(into, from, &import, why);
	if (from)
		(json ? print_json : print_text)(zm_store_path(from), &import);
	zm_store_close(from);
	return error;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_store *into = NULL;
	struct zm_why why = { "" };
	int error;

	if (args->nr_words == 0)
		return zm_cmd_failf(ZM_EXIT_USAGE,
				    "import: which store? give its file, or its URL");
	error = zm_store_open(switches->db, true, &into, &why);
	for (size_t i = 0; i < args->nr_words && !error; i++)
		error = import_one(into, args->words[i], switches->json, &why);
	zm_store_close(into);
	return error ? zm_cmd_fail(ZM_EXIT_USAGE, &why) : ZM_EXIT_OK;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "take another store's runs into this one",
	.usage = "STORE…",
	.details =
		"A run is the same everywhere by its UUID, so importing twice changes nothing. A "
		"run "
		"arrives whole or not at all; one that was here as interrupted and has ended over "
		"there since is replaced; one that is still under way is left for the next time.",
	.examples = "zonemark import guest.db\ta guest's runs\n"
		    "zonemark import nodes/*.db --db lab.db\tmany machines' runs\n"
		    "zonemark import node.db --db postgresql://lab/zonemark\tinto a lab's "
		    "store\n"
		    "zonemark import postgresql://lab/zonemark --db copy.db\tall of it, to look "
		    "at elsewhere",
	.completes = "files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
