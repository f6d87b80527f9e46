/* outbox: a file beside the usual store, named by a digest of the place. */
#include "results/outbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"
#include "results/dburl.h"
#include "results/noise.h"

int zm_outbox_url(const char *db, char **ret_url, struct zm_why *why)
{
	char usual[4096];
	char *url = NULL;
	int error = db ? 0 : zm_store_default_path(usual, sizeof(usual));

	if (error)
		return zm_why_set(why, error, "the store's usual path is too long; give --db FILE");
	db = db ? db : usual;
	if (zm_dburl_is(db)) {
		url = strdup(db);
		if (!url)
			return zm_why_errno(why, -ENOMEM, "the store's URL");
	}
	*ret_url = url;
	return 0;
}

/* FNV-1a. */
static uint64_t digest_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

int zm_outbox_open(const char *url, struct zm_store **ret_outbox, struct zm_why *why)
{
	char *place = zm_dburl_place(url);
	char name[64], path[4096];
	int error;

	if (!place)
		return zm_why_errno(why, -ENOMEM, "the outbox");
	(void)snprintf(name, sizeof(name), "outbox/%016" PRIx64 ".db", digest_of(place));
	free(place);
	error = zm_store_data_path(name, path, sizeof(path));
	if (error)
		return zm_why_errno(why, error, "the outbox's path");
	return zm_store_open(path, true, ret_outbox, why);
}

int zm_outbox_check(const char *url, struct zm_why *why)
{
	struct zm_store *server = NULL;
	int error = zm_store_open(url, true, &server, why);

	zm_store_close(server);
	return error;
}

bool zm_outbox_may_pass(int error)
{
	return error == -ESTALE || error == -EACCES || error == -ENOENT || error == -ECONNREFUSED ||
	       error == -ECONNRESET || error == -ETIMEDOUT || error == -EBUSY || error == -EAGAIN ||
	       error == -ENOSPC || error == -EROFS;
}

/* What cannot be taken off now will be found to be there the next time. */
static void take_off(struct zm_store *outbox, const struct zm_runset *taken)
{
	struct zm_db *db = zm_store_db(outbox);
	int error = taken->nr ? zm_db_begin(db, NULL) : -ENOENT;

	if (error)
		return;
	for (size_t i = 0; i < taken->nr && !error; i++)
		error = zm_db_run(db, NULL, "DELETE FROM run WHERE id = ?1",
				  ZM_BIND(zm_int((int64_t)taken->runs[i])));
	if (error)
		zm_db_rollback(db);
	else
		(void)zm_db_commit(db, NULL);
}

int zm_outbox_push(const char *url, struct zm_store *outbox, struct zm_import *ret_import,
		   struct zm_why *why)
{
	struct zm_runset taken = { 0 };
	struct zm_store *server = NULL;
	int error = zm_store_open(url, true, &server, why);

	*ret_import = (struct zm_import){ 0 };
	if (error)
		return error;
	error = zm_import_taking(server, outbox, &taken, ret_import, why);
	/* Who may only add has no say in noise floors: they stay here. */
	if (!error)
		(void)zm_noise_import(server, outbox, &ret_import->nr_floors, NULL);
	zm_store_close(server);
	take_off(outbox, &taken);
	zm_runset_release(&taken);
	return error;
}
