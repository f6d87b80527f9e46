/* since: a moment of the calendar as one types it, of --since. */
#ifndef ZM_RUNNER_SINCE_H
#define ZM_RUNNER_SINCE_H

#include <stdint.h>

#include "workloads/base/why.h"

/* What --since says of itself. */
#define ZM_SINCE_HELP "2026-05-01, 2026-05-01T12:00, or 7d, 12h, 30m ago"

/* In UTC, as everything is shown. NULL: the beginning of time. -EINVAL, and the sentence begins with the command. */
int zm_since_parse(const char *command, const char *text, uint64_t *ret_ns, struct zm_why *why);

#endif
