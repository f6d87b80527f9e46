/* role: a script of grants; the name goes in as it is, so only plain names are taken. */
#include "results/role.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "results/db.h"

#define NAME_MOST 63

static int check_name(const char *role, struct zm_why *why)
{
	size_t length = strlen(role);

	if (length > 0 && length <= NAME_MOST && (role[0] < '0' || role[0] > '9') &&
	    strspn(role, "abcdefghijklmnopqrstuvwxyz0123456789_") == length)
		return 0;
	return zm_why_set(
		why, -EINVAL,
		"--role %.70s: a role's name is of a-z, 0-9 and _, and begins with no digit", role);
}

static int make(struct zm_db *db, const char *role, struct zm_why *why)
{
	int64_t one;
	char sql[128];
	int error = zm_db_int(db, why, "SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = ?1",
			      ZM_BIND(zm_text(role)), &one);

	if (error != -ENOENT)
		return error;
	(void)snprintf(sql, sizeof(sql), "CREATE ROLE %s LOGIN", role);
	return zm_db_script(db, why, sql);
}

/* %1$s is the role. */
static const char grants[] =
	"DO $$ BEGIN"
	" EXECUTE format('REVOKE ALL ON SCHEMA %%I FROM %1$s', current_schema());"
	" EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %%I FROM %1$s', current_schema());"
	" EXECUTE format('GRANT USAGE ON SCHEMA %%I TO %1$s', current_schema());"
	" END $$;"
	"GRANT SELECT ON zonemark_store TO %1$s;"
	"GRANT SELECT, INSERT ON machine, boot, inventory, invocation, workload, cell, params,"
	" source, metric, run TO %1$s;"
	"GRANT INSERT ON phase, task, result, note, absent, timebase, series, stacks TO %1$s;"
	"GRANT SELECT (id) ON timebase TO %1$s;";

int zm_role_let_add(struct zm_store *store, const char *role, struct zm_why *why)
{
	struct zm_db *db = zm_store_db(store);
	char sql[sizeof(grants) + 8 * NAME_MOST];
	int error = check_name(role, why);

	if (error)
		return error;
	if (!zm_db_is_shared(db))
		return zm_why_set(why, -EINVAL,
				  "--role %s: %s is a file; who may write to it, its mode says",
				  role, zm_db_path(db));
	(void)snprintf(sql, sizeof(sql), grants, role);
	error = zm_db_begin_schema(db, why);
	if (error)
		return error;
	error = make(db, role, why);
	if (!error)
		error = zm_db_script(db, why, sql);
	if (!error)
		return zm_db_commit(db, why);
	zm_db_rollback(db);
	return error;
}
