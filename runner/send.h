/*
 * send: runs on their way to a store on a server, and what is said about it on stderr.
 */
#ifndef ZM_RUNNER_SEND_H
#define ZM_RUNNER_SEND_H

#include <stdbool.h>

#include "results/outbox.h"

/* Before anything is measured: may runs be sent there at all? A server that cannot take them now is
 * said, and is no error: the runs will wait. */
int zm_send_check(const char *url, struct zm_store *outbox, struct zm_why *why);

/* Sends what waits, and says how many runs went, or why not, where they wait and how they are sent later.
 * The result is as zm_outbox_push's. */
int zm_send_waiting(const char *url, struct zm_store *outbox);

#endif
