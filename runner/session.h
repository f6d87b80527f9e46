/*
 * session: what all runs of one command share, and what becomes of each.
 */
#ifndef ZM_RUNNER_SESSION_H
#define ZM_RUNNER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "results/store.h"
#include "runner/cell.h"
#include "runner/monitor.h"
#include "runner/place.h"
#include "runner/progress.h"
#include "runner/report.h"
#include "workloads/base/journal.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"
#include "workloads/base/why.h"

struct zm_session {
	const struct zm_sysroot *root;
	const struct zm_topology *topology;
	struct zm_store *store;
	struct zm_journal *journal;
	const struct zm_monitor *const *monitors; /* NULL-terminated */
	struct zm_progress *progress;
	int signal_fd; /* INT, TERM and HUP, which are blocked */
	enum zm_place place;
	struct zm_mem_policy mem;
	bool is_overcommitted; /* start what does not fit, too */
	bool is_shared;        /* another measuring run may be under way */
	const char *invocation, *command_line, *label;
	const char *inventory, *machine_id, *boot_id, *kernel;
	const char *guest_note; /* what a guest's runs say of themselves; NULL: this is no guest */
};

/* What became of one launch of one cell. */
struct zm_outcome {
	enum zm_status status;
	bool is_refused; /* skipped because it was asked for wrongly or does not fit: exit status 2 */
	struct zm_why why; /* of everything but ZM_STATUS_OK */
	int signal;        /* that ended it, 0: none */
	int store_error;   /* -errno: the store failed, and `why` says how; the command ends */
	uint64_t run_id;   /* 0: none was recorded */
	struct zm_report report;
	double spread;   /* within the window, in percent; negative: not known */
	char flags[128]; /* "disturbed unsteady": the kinds of its notes */
};

#endif
