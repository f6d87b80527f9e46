/*
 * outbox: runs that wait here until a store on a server has them.
 *
 *     run -> outbox (a file, as any store) -> push -> the server; then it goes from the outbox
 *
 * A run is recorded into the outbox and sent when it has ended: no word goes over the network while
 * something is measured, and a server that is away costs no run. The server's store knows runs by their
 * UUIDs, so that what was sent and could not be taken off the outbox is there once all the same.
 *
 * There is one outbox for each place (zm_dburl_place), whoever one is there.
 */
#ifndef ZM_RESULTS_OUTBOX_H
#define ZM_RESULTS_OUTBOX_H

#include <stdbool.h>

#include "results/import.h"
#include "results/store.h"

/* The store that --db means, NULL being the usual one: *ret_url is its URL (the caller's to free), or NULL
 * for a file. */
int zm_outbox_url(const char *db, char **ret_url, struct zm_why *why);

/* To write; made when it is not there. */
int zm_outbox_open(const char *url, struct zm_store **ret_outbox, struct zm_why *why);

/* Is the server's store such that runs can be sent to it? As zm_store_open says it; the tables are made
 * where they are not there and may be made. */
int zm_outbox_check(const char *url, struct zm_why *why);

/* May what failed by this error pass without us: the server answers again or has a place for us, its disk has
 * room, its owner has let us in or brought it up to date? */
bool zm_outbox_may_pass(int error);

/* Sends all runs that have ended, the oldest first. What *ret_import counts is there, whatever is
 * returned. */
int zm_outbox_push(const char *url, struct zm_store *outbox, struct zm_import *ret_import,
		   struct zm_why *why);

#endif
