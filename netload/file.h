/*
 * file: what tcp_sendfile sends: an unlinked file that holds what the ring of buffers would.
 */
#ifndef ZM_NETLOAD_FILE_H
#define ZM_NETLOAD_FILE_H

#include "netload/flow.h"
#include "netload/options.h"
#include "netload/supply.h"
#include "workloads/base/why.h"

/* `dir` of the options, else $TMPDIR, else /tmp. */
const char *zm_net_file_dir(const struct zm_net_options *options);

/* Writes the ring's buffers, stamped when they are, into a new file, flow->file_fd. */
int zm_net_file_open(struct zm_flow *flow, struct zm_supply *supply, struct zm_why *why);

#endif
