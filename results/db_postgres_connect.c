/* db_postgres_connect: libpq's parameters, and which kind of refusal it was. */
#include "results/db_postgres_connect.h"

#ifdef ZM_HAVE_PQ

#include <errno.h>
#include <string.h>

int zm_postgres_line(const char *message)
{
	return (int)strcspn(message, "\n");
}

static void be_silent(void *context, const char *message)
{
	(void)context, (void)message;
}

/* What libpq is told beside the URL. The first ones give way to what the URL says. */
struct parameters {
	const char *names[8], *values[8];
};

static struct parameters parameters_of(const char *url)
{
	return (struct parameters){
		.names = { "connect_timeout", "tcp_user_timeout", "fallback_application_name",
			   "dbname", "client_encoding", NULL },
		.values = { "10", "30000", "zonemark", url, "UTF8", NULL },
	};
}

/* Does the server not answer, or does it refuse us? The one may pass, the other takes mending. */
static int explain_unconnected(PGconn *connection, const char *name,
			       const struct parameters *parameters, struct zm_why *why)
{
	const char *said = PQerrorMessage(connection);

	switch (PQpingParams(parameters->names, parameters->values, 1)) {
	case PQPING_OK:
		return zm_why_set(why, -EACCES, "%s: refused: %.*s", name, zm_postgres_line(said),
				  said);
	case PQPING_NO_ATTEMPT:
		return zm_why_set(why, -EINVAL, "%s: %.*s", name, zm_postgres_line(said), said);
	default:
		return zm_why_set(why, -ECONNREFUSED, "%s: cannot be reached: %.*s", name,
				  zm_postgres_line(said), said);
	}
}

static int check_encoding(PGconn *connection, const char *name, struct zm_why *why)
{
	const char *encoding = PQparameterStatus(connection, "server_encoding");

	if (encoding && (!strcmp(encoding, "UTF8") || !strcmp(encoding, "SQL_ASCII")))
		return 0;
	return zm_why_set(why, -EINVAL,
			  "%s: the database's encoding is %s; make one with CREATE DATABASE … "
			  "TEMPLATE template0 ENCODING 'UTF8'",
			  name, encoding ? encoding : "unknown");
}

int zm_postgres_connect(const char *url, const char *name, PGconn **ret_connection,
			struct zm_why *why)
{
	struct parameters parameters = parameters_of(url);
	PGconn *connection = PQconnectdbParams(parameters.names, parameters.values, 1);
	int error;

	if (!connection)
		return zm_why_errno(why, -ENOMEM, "%s", name);
	(void)PQsetNoticeProcessor(connection, be_silent, NULL);
	error = PQstatus(connection) == CONNECTION_OK
			? check_encoding(connection, name, why)
			: explain_unconnected(connection, name, &parameters, why);
	if (error) {
		PQfinish(connection);
		return error;
	}
	*ret_connection = connection;
	return 0;
}

#endif
