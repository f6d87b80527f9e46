/*
 * db_postgres: a store on a server, by libpq.
 *
 * Statements are prepared once and kept by the address of their text. Values go as text (blobs as they
 * are), answers come as binary. What is sent within a transaction (zm_db_send) goes down a pipeline, whose
 * outcomes are read at its end or after some hundreds; whatever else is asked for reads them first.
 *
 * SQLSTATEs become -errno in one place (error_of), sentences in one other (fail).
 */
#include "results/db_engine.h"

#include <errno.h>

#ifndef ZM_HAVE_PQ

static int refuse(struct zm_db *db, const char *where, enum zm_db_mode mode, struct zm_why *why)
{
	(void)db, (void)where, (void)mode;
	return zm_why_set(why, -ENOTSUP,
			  "a postgresql:// store: this zonemark was built without libpq; build it "
			  "with libpq-dev, or give a file with --db FILE");
}

static void close_nothing(struct zm_db *db)
{
	(void)db;
}

const struct zm_db_engine zm_db_postgres = {
	.size = sizeof(struct zm_db),
	.open = refuse,
	.close = close_nothing,
};

#else

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "results/db_postgres_bind.h"
#include "results/db_postgres_connect.h"
#include "results/db_postgres_sql.h"
#include "results/db_postgres_value.h"
#include "results/dburl.h"

#define NR_STATEMENTS 96
#define NR_UNHEARD    400 /* their outcomes fit into a socket's buffer */
#define PIECE         1000

struct postgres_db {
	struct zm_db base;
	PGconn *connection;
	struct kept {
		const char *sql;
		struct zm_postgres_places places;
	} kept[NR_STATEMENTS]; /* prepared as "s0", "s1"… */
	size_t nr_kept;
	size_t nr_unheard;     /* sent down the pipeline */
	unsigned int nr_walks; /* so far */
	bool is_lost;
};

static struct postgres_db *postgres_of(const struct zm_db *db)
{
	return (struct postgres_db *)db;
}

/* --- errors --- */

static const struct {
	const char *state; /* what it begins with; the longer ones first */
	int error;
} states[] = {
	{ "23505", -EEXIST },    /* unique_violation */
	{ "23P01", -EEXIST },    /* exclusion_violation */
	{ "40", -EAGAIN },       /* serialization_failure, deadlock_detected */
	{ "55P03", -EBUSY },     /* lock_not_available */
	{ "42501", -EACCES },    /* insufficient_privilege */
	{ "3F000", -EACCES },    /* no schema that we may use */
	{ "28", -EACCES },       /* not who we say */
	{ "25006", -EROFS },     /* read_only_sql_transaction */
	{ "53100", -ENOSPC },    /* disk_full */
	{ "53200", -ENOMEM },    /* out_of_memory */
	{ "54", -E2BIG },        /* a limit of the server's */
	{ "42", -EUCLEAN },      /* no such table, no such column */
	{ "57P", -ECONNRESET },  /* the server is being shut down */
	{ "57014", -ETIMEDOUT }, /* query_canceled */
	{ "22021", -EILSEQ },    /* not a character of the database's */
	{ "22P05", -EILSEQ },
};

/* What has no state was not said by the server but is libpq's, which could not send or hear: while only its
 * sending has failed, PQstatus still calls the connection good. */
static int error_of(const struct postgres_db *db, const PGresult *result)
{
	const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

	for (size_t i = 0; state && i < sizeof(states) / sizeof(states[0]); i++) {
		if (strncmp(state, states[i].state, strlen(states[i].state)) == 0)
			return states[i].error;
	}
	return state && PQstatus(db->connection) == CONNECTION_OK && !db->is_lost ? -EIO
										  : -ECONNRESET;
}

static int fail(const struct postgres_db *db, struct zm_why *why, const PGresult *result)
{
	const char *path = db->base.path;
	const char *said = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	int error = error_of(db, result);

	said = said ? said : PQerrorMessage(db->connection);
	said = *said ? said : "no word from it";
	switch (error) {
	case -ECONNRESET:
		return zm_why_set(why, error, "%s: the connection was lost (%.*s)", path,
				  zm_postgres_line(said), said);
	case -EBUSY:
		return zm_why_set(
			why, error,
			"%s: another command has kept it locked; try again when it is done", path);
	case -EACCES:
		return zm_why_set(why, error, "%s: not permitted to this role (%.*s)", path,
				  zm_postgres_line(said), said);
	case -EROFS:
		return zm_why_set(why, error,
				  "%s: the server takes no changes (%.*s); give its primary's URL",
				  path, zm_postgres_line(said), said);
	case -ENOSPC:
		return zm_why_set(
			why, error,
			"%s: the server's disk is full (%.*s); what was written before is "
			"kept",
			path, zm_postgres_line(said), said);
	case -EUCLEAN:
		return zm_why_set(why, error, "%s: not a zonemark store, or damaged (%.*s)", path,
				  zm_postgres_line(said), said);
	default:
		return zm_why_set(why, error, "%s: %.*s", path, zm_postgres_line(said), said);
	}
}

static bool is_good(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* --- the pipeline --- */

/* Reads until the end of the pipeline; the first failure counts, the others follow from it. Each statement
 * has its outcome and then NULL: a second NULL, or more outcomes than statements, come of a connection that
 * is lost, and would come for ever. */
static int hear_all(struct postgres_db *db, struct zm_why *why)
{
	size_t nr_left = db->nr_unheard + 1;
	bool is_end = false, was_null = false;
	int error = 0;

	while (!is_end && !db->is_lost) {
		PGresult *result = PQgetResult(db->connection);
		ExecStatusType status = PQresultStatus(result);

		is_end = result && status == PGRES_PIPELINE_SYNC;
		if (result && !is_end && !error && status != PGRES_PIPELINE_ABORTED &&
		    !is_good(result))
			error = fail(db, why, result);
		db->is_lost = !is_end && (PQstatus(db->connection) != CONNECTION_OK ||
					  (result ? nr_left-- == 0 : was_null));
		was_null = !result;
		PQclear(result);
	}
	return db->is_lost && error != -ECONNRESET ? fail(db, why, NULL) : error;
}

static int hear(struct postgres_db *db, struct zm_why *why)
{
	int error;

	if (db->is_lost)
		return fail(db, why, NULL);
	if (PQpipelineStatus(db->connection) == PQ_PIPELINE_OFF)
		return 0;
	error = PQpipelineSync(db->connection) ? hear_all(db, why) : fail(db, why, NULL);
	db->nr_unheard = 0;
	(void)PQexitPipelineMode(db->connection);
	return error;
}

/* --- statements --- */

static int take_command(struct postgres_db *db, struct zm_why *why, PGresult *result)
{
	int error = is_good(result) ? 0 : fail(db, why, result);

	PQclear(result);
	return error;
}

static int command(struct postgres_db *db, struct zm_why *why, const char *sql)
{
	int error = hear(db, why);

	return error ? error : take_command(db, why, PQexec(db->connection, sql));
}

/* When all places are taken the last one is given up; the statement keeps its name with the server. */
static int prepare(struct postgres_db *db, struct zm_why *why, const char *sql,
		   struct kept **ret_kept)
{
	struct zm_postgres_places places;
	char *text = zm_postgres_statement(sql, &places);
	char name[16];
	int error = text ? hear(db, why) : zm_why_errno(why, -ENOMEM, "%s", db->base.path);

	if (!error && db->nr_kept == NR_STATEMENTS) {
		(void)snprintf(name, sizeof(name), "DEALLOCATE s%d", NR_STATEMENTS - 1);
		error = command(db, why, name);
		db->nr_kept -= !error;
	}
	(void)snprintf(name, sizeof(name), "s%zu", db->nr_kept);
	if (!error)
		error = take_command(db, why, PQprepare(db->connection, name, text, 0, NULL));
	free(text);
	if (error)
		return error;
	*ret_kept = &db->kept[db->nr_kept++];
	**ret_kept = (struct kept){ .sql = sql, .places = places };
	return 0;
}

static int find_statement(struct postgres_db *db, struct zm_why *why, const char *sql,
			  struct kept **ret_kept)
{
	for (size_t i = 0; i < db->nr_kept; i++) {
		if (db->kept[i].sql == sql) {
			*ret_kept = &db->kept[i];
			return 0;
		}
	}
	return prepare(db, why, sql, ret_kept);
}

static int start(struct postgres_db *db, struct zm_why *why, const char *sql,
		 const struct zm_bind *binds, char name[16], struct zm_postgres_binds *values)
{
	struct kept *kept = NULL;
	int error = find_statement(db, why, sql, &kept);

	if (error)
		return error;
	(void)snprintf(name, 16, "s%td", kept - db->kept);
	error = zm_postgres_bind(&kept->places, binds, values);
	return error ? zm_why_errno(why, error, "%s: a value", db->base.path) : 0;
}

static int execute(struct postgres_db *db, struct zm_why *why, const char *sql,
		   const struct zm_bind *binds, PGresult **ret_result)
{
	struct zm_postgres_binds values = { 0 };
	PGresult *result = NULL;
	char name[16];
	int error = hear(db, why);

	if (!error)
		error = start(db, why, sql, binds, name, &values);
	if (!error)
		result = PQexecPrepared(db->connection, name, values.nr, values.texts,
					values.lengths, values.are_binary, 1);
	zm_postgres_unbind(&values);
	if (!error && !is_good(result))
		error = fail(db, why, result);
	if (error) {
		PQclear(result);
		return error;
	}
	*ret_result = result;
	return 0;
}

static int postgres_run(struct zm_db *base, struct zm_why *why, const char *sql,
			const struct zm_bind *binds)
{
	PGresult *result = NULL;
	int error = execute(postgres_of(base), why, sql, binds, &result);

	PQclear(result);
	return error;
}

static bool postgres_in_transaction(const struct zm_db *base)
{
	return PQtransactionStatus(postgres_of(base)->connection) != PQTRANS_IDLE;
}

static int send_down(struct postgres_db *db, struct zm_why *why, const char *name,
		     const struct zm_postgres_binds *values)
{
	if (PQenterPipelineMode(db->connection) &&
	    PQsendQueryPrepared(db->connection, name, values->nr, values->texts, values->lengths,
				values->are_binary, 1)) {
		db->nr_unheard++;
		return 0;
	}
	return fail(db, why, NULL);
}

static int postgres_send(struct zm_db *base, struct zm_why *why, const char *sql,
			 const struct zm_bind *binds)
{
	struct postgres_db *db = postgres_of(base);
	struct zm_postgres_binds values = { 0 };
	char name[16];
	int error;

	if (!postgres_in_transaction(base))
		return postgres_run(base, why, sql, binds);
	error = db->nr_unheard < NR_UNHEARD ? 0 : hear(db, why);
	if (!error)
		error = start(db, why, sql, binds, name, &values);
	if (!error)
		error = send_down(db, why, name, &values);
	zm_postgres_unbind(&values);
	return error;
}

static int postgres_script(struct zm_db *base, struct zm_why *why, const char *sql)
{
	char *text = zm_postgres_script(sql);
	int error = text ? command(postgres_of(base), why, text)
			 : zm_why_errno(why, -ENOMEM, "%s", base->path);

	free(text);
	return error;
}

/* --- transactions --- */

static int postgres_begin(struct zm_db *base, enum zm_transaction kind, struct zm_why *why)
{
	static const char *const commands[] = {
		[ZM_TRANSACTION_READ] = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
		[ZM_TRANSACTION_WRITE] = "BEGIN",
		/* The number is ours alone: "ZMRK". */
		[ZM_TRANSACTION_SCHEMA] = "BEGIN; SELECT pg_advisory_xact_lock(1515016779)",
	};

	return command(postgres_of(base), why, commands[kind]);
}

/* The end of a transaction that has failed is told as a success of another name. */
static int postgres_commit(struct zm_db *base, struct zm_why *why)
{
	struct postgres_db *db = postgres_of(base);
	int error = hear(db, why);
	PGresult *result;

	if (error)
		return error;
	result = PQexec(db->connection, "COMMIT");
	if (!is_good(result))
		error = fail(db, why, result);
	else if (strcmp(PQcmdStatus(result), "COMMIT") != 0)
		error = zm_why_set(why, -ECANCELED, "%s: the transaction had failed before",
				   base->path);
	PQclear(result);
	return error;
}

static void postgres_rollback(struct zm_db *base)
{
	struct postgres_db *db = postgres_of(base);

	(void)hear(db, NULL);
	if (PQtransactionStatus(db->connection) == PQTRANS_INTRANS ||
	    PQtransactionStatus(db->connection) == PQTRANS_INERROR)
		PQclear(PQexec(db->connection, "ROLLBACK"));
}

/* --- rows --- */

static int postgres_query(struct zm_db *base, struct zm_why *why, struct zm_rows *rows,
			  const char *sql, const struct zm_bind *binds)
{
	PGresult *result;
	int error = execute(postgres_of(base), why, sql, binds, &result);

	if (!error)
		rows->cursor = result;
	return error;
}

static int fetch_piece(struct postgres_db *db, unsigned int walk, struct zm_why *why,
		       PGresult **ret_result)
{
	PGresult *result;
	char sql[64];
	int error = hear(db, why);

	if (error)
		return error;
	(void)snprintf(sql, sizeof(sql), "FETCH %d FROM walk%u", PIECE, walk);
	result = PQexecParams(db->connection, sql, 0, NULL, NULL, NULL, NULL, 1);
	if (!is_good(result)) {
		error = fail(db, why, result);
		PQclear(result);
		return error;
	}
	*ret_result = result;
	return 0;
}

static int declare(struct postgres_db *db, struct zm_why *why, const char *sql,
		   const struct zm_bind *binds)
{
	struct zm_postgres_binds values = { 0 };
	struct zm_postgres_places places;
	char *text = zm_postgres_statement(sql, &places), *whole = NULL;
	int error = text ? zm_postgres_bind(&places, binds, &values) : -ENOMEM;

	if (!error && asprintf(&whole, "DECLARE walk%u NO SCROLL CURSOR FOR %s", db->nr_walks + 1,
			       text) < 0) {
		whole = NULL;
		error = -ENOMEM;
	}
	error = error ? zm_why_errno(why, error, "%s", db->base.path) : hear(db, why);
	if (!error)
		error = take_command(db, why,
				     PQexecParams(db->connection, whole, values.nr, NULL,
						  values.texts, values.lengths, values.are_binary,
						  1));
	zm_postgres_unbind(&values);
	free(whole);
	free(text);
	return error;
}

/* By a cursor of the server's, which lives as long as the transaction. */
static int postgres_walk(struct zm_db *base, struct zm_why *why, struct zm_rows *rows,
			 const char *sql, const struct zm_bind *binds)
{
	struct postgres_db *db = postgres_of(base);
	PGresult *result = NULL;
	int error;

	if (!postgres_in_transaction(base))
		return postgres_query(base, why, rows, sql, binds);
	error = declare(db, why, sql, binds);
	if (!error)
		error = fetch_piece(db, ++db->nr_walks, why, &result);
	if (error)
		return error;
	rows->cursor = result;
	rows->walk = db->nr_walks;
	return 0;
}

/* rows->at is the place behind the row that is looked at. */
static bool postgres_next(struct zm_rows *rows, struct zm_why *why, int *ret_error)
{
	PGresult *next = NULL;

	if (rows->at == PIECE && rows->walk) {
		*ret_error = fetch_piece(postgres_of(rows->db), rows->walk, why, &next);
		if (*ret_error)
			return false;
		PQclear(rows->cursor);
		rows->cursor = next;
		rows->at = 0;
	}
	if (rows->at >= PQntuples(rows->cursor))
		return false;
	rows->at++;
	return true;
}

/* A cursor that is not closed because something is under way goes with the transaction. */
static void postgres_end(struct zm_rows *rows)
{
	struct postgres_db *db = postgres_of(rows->db);
	char sql[32];

	PQclear(rows->cursor);
	if (!rows->walk || PQpipelineStatus(db->connection) != PQ_PIPELINE_OFF ||
	    PQtransactionStatus(db->connection) != PQTRANS_INTRANS)
		return;
	(void)snprintf(sql, sizeof(sql), "CLOSE walk%u", rows->walk);
	PQclear(PQexec(db->connection, sql));
}

static bool postgres_is_null(const struct zm_rows *rows, int column)
{
	return PQgetisnull(rows->cursor, rows->at - 1, column);
}

static struct zm_postgres_value value_at(const struct zm_rows *rows, int column)
{
	return (struct zm_postgres_value){
		.type = PQftype(rows->cursor, column),
		.data = (const unsigned char *)PQgetvalue(rows->cursor, rows->at - 1, column),
		.size = (size_t)PQgetlength(rows->cursor, rows->at - 1, column),
	};
}

static int64_t postgres_int(const struct zm_rows *rows, int column)
{
	struct zm_postgres_value value = value_at(rows, column);

	return zm_postgres_int(&value);
}

static double postgres_real(const struct zm_rows *rows, int column)
{
	struct zm_postgres_value value = value_at(rows, column);

	return zm_postgres_real(&value);
}

static const char *postgres_text(const struct zm_rows *rows, int column)
{
	return postgres_is_null(rows, column) ? NULL
					      : PQgetvalue(rows->cursor, rows->at - 1, column);
}

static const void *postgres_blob(const struct zm_rows *rows, int column, size_t *ret_size)
{
	*ret_size = (size_t)PQgetlength(rows->cursor, rows->at - 1, column);
	return postgres_text(rows, column);
}

/* --- the store's mark: a table of its own --- */

static int postgres_read_mark(struct zm_db *db, struct zm_db_mark *ret_mark, struct zm_why *why)
{
	struct zm_db_mark mark = { 0 };
	struct zm_rows rows = { 0 };
	int64_t is_marked = 0;
	int error =
		zm_db_int(db, why,
			  "SELECT count(*) FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace"
			  " ON pg_namespace.oid = relnamespace"
			  " WHERE nspname = current_schema() AND relkind IN ('r', 'p', 'v')",
			  ZM_BIND_NONE, &mark.nr_tables);

	if (!error)
		error = zm_db_int(db, why, "SELECT to_regclass('zonemark_store') IS NOT NULL",
				  ZM_BIND_NONE, &is_marked);
	if (!error && is_marked) {
		error = zm_db_query(db, why, &rows,
				    "SELECT application, version FROM zonemark_store",
				    ZM_BIND_NONE);
		if (!error && zm_rows_next(&rows, why, &error)) {
			mark.application = zm_rows_int(&rows, 0);
			mark.version = zm_rows_int(&rows, 1);
		}
		zm_rows_end(&rows);
	}
	if (!error)
		*ret_mark = mark;
	return error;
}

static int postgres_write_mark(struct zm_db *db, int64_t application, int64_t version,
			       struct zm_why *why)
{
	char sql[512];

	(void)snprintf(sql, sizeof(sql),
		       "CREATE TABLE IF NOT EXISTS zonemark_store"
		       " (application BIGINT NOT NULL, version BIGINT NOT NULL);"
		       "DELETE FROM zonemark_store;"
		       "INSERT INTO zonemark_store VALUES (%" PRId64 ", %" PRId64 ")",
		       application, version);
	return command(postgres_of(db), why, sql);
}

/* --- the connection --- */

static int postgres_open(struct zm_db *base, const char *where, enum zm_db_mode mode,
			 struct zm_why *why)
{
	struct postgres_db *db = postgres_of(base);
	char *name = zm_dburl_public(where);
	int error;

	if (!name)
		return -ENOMEM;
	free(base->path);
	base->path = name;
	error = zm_postgres_connect(where, name, &db->connection, why);
	if (!error)
		error = command(db, why, "SET lock_timeout = '10s'");
	if (!error && mode == ZM_DB_READ)
		error = command(db, why, "SET default_transaction_read_only = on");
	return error;
}

static void postgres_close(struct zm_db *base)
{
	PQfinish(postgres_of(base)->connection);
}

/* What has been said to be written is on the server's disk, whatever its default is. */
static int postgres_settle(struct zm_db *base, struct zm_why *why)
{
	return command(postgres_of(base), why, "SET synchronous_commit = on");
}

const struct zm_db_engine zm_db_postgres = {
	.size = sizeof(struct postgres_db),
	.is_shared = true,
	.open = postgres_open,
	.close = postgres_close,
	.settle = postgres_settle,
	.script = postgres_script,
	.run = postgres_run,
	.send = postgres_send,
	.begin = postgres_begin,
	.commit = postgres_commit,
	.rollback = postgres_rollback,
	.in_transaction = postgres_in_transaction,
	.query = postgres_query,
	.walk = postgres_walk,
	.next = postgres_next,
	.end = postgres_end,
	.is_null = postgres_is_null,
	.integer = postgres_int,
	.real = postgres_real,
	.text = postgres_text,
	.blob = postgres_blob,
	.read_mark = postgres_read_mark,
	.write_mark = postgres_write_mark,
};

#endif
