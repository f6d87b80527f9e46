/* send: a line each, and no password in it. */
#include "runner/send.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/dburl.h"
#include "results/query.h"
#include "workloads/base/cleanup.h"

int zm_send_check(const char *url, struct zm_store *outbox, struct zm_why *why)
{
	int error = zm_outbox_check(url, why);

	if (error == 0 || !zm_outbox_may_pass(error))
		return error;
	(void)fprintf(stderr, "%s; the runs wait in %s\n", why->text, zm_store_path(outbox));
	return 0;
}

static void say_sent(const struct zm_import *import, const char *name)
{
	uint64_t nr = import->nr_new + import->nr_replaced;

	if (nr)
		(void)fprintf(stderr, "%" PRIu64 " run%s sent to %s\n", nr, nr == 1 ? "" : "s",
			      name);
}

static void say_waiting(struct zm_store *outbox, const char *name, const struct zm_why *why)
{
	uint64_t nr = 0;

	(void)zm_query_nr_runs(outbox, &nr, NULL);
	(void)fprintf(stderr,
		      "%s; %" PRIu64 " run%s wait%s in %s: `zonemark push --db %s` sends %s\n",
		      why->text, nr, nr == 1 ? "" : "s", nr == 1 ? "s" : "", zm_store_path(outbox),
		      name, nr == 1 ? "it" : "them");
}

int zm_send_waiting(const char *url, struct zm_store *outbox)
{
	zm_autofree char *name = zm_dburl_public(url);
	struct zm_import import = { 0 };
	struct zm_why why = { "no memory for what is sent" };
	int error = zm_outbox_push(url, outbox, &import, &why);

	say_sent(&import, name ? name : "the server");
	if (error)
		say_waiting(outbox, name ? name : "URL", &why);
	return error;
}
