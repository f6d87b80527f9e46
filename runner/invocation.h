/*
 * invocation: one command's runs, from words to what became of them.
 *
 *     open    topology, plan, store, inventory, lock, journal: all that can be refused, in this order,
 *             before anything has been changed
 *     run     repeat by repeat, and in each cell by cell: so that what drifts in the machine drifts
 *             over all cells alike. A failing cell does not stop the others
 *     close   the reverse; then, with --db postgresql://…, the runs are sent (runner/send.h)
 *
 * `zonemark run` is this and a table; other commands that measure go the same way.
 */
#ifndef ZM_RUNNER_INVOCATION_H
#define ZM_RUNNER_INVOCATION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "results/uuid.h"
#include "runner/plan.h"
#include "runner/schedule.h"
#include "runner/session.h"
#include "runner/summary.h"
#include "workloads/base/option.h"

#define ZM_INVOCATION_LABEL 200 /* bytes of a label, at most */

/* What is asked for. The texts live as long as the invocation. */
struct zm_invocation_ask {
	const char *const *words; /* as behind `zonemark run` */
	size_t nr_words;
	int argc; /* the line as typed from the command's name on, for the record */
	char *const *argv;
	uint64_t repeat;
	unsigned int place;
	char *mem, *cpus, *db, *label, *monitor, *monitor_interval;
	char *shard;  /* "2/8": this part of the cells (shard.h); NULL: all */
	double hours; /* that all may take; 0: as long as it does */
	bool resume, share, overcommit;
	/* Of the cells that the words mean only those that it wants are run; NULL: all. */
	bool (*wants)(void *context, const struct zm_cell *cell);
	void *wants_context;
	bool is_planless; /* no words: the caller runs something of its own; the plan stays empty */
};

/* The switches that fill it, for a command's rows; at(member) is its offset in the command's switches.
 * --json and what only one command has stand beside them. */
#define ZM_INVOCATION_ROWS(at)                                                                     \
	{ .name = "repeat",                                                                        \
	  .type = ZM_OPTION_U64,                                                                   \
	  .offset = at(repeat),                                                                    \
	  .preset = "1",                                                                           \
	  .min = 1,                                                                                \
	  .max = 100000,                                                                           \
	  .unit = "launches",                                                                      \
	  .help = "launches of every cell, each with new processes; the cells take turns" },       \
		{ .name = "place",                                                                 \
		  .type = ZM_OPTION_CHOICE,                                                        \
		  .offset = at(place),                                                             \
		  .preset = "scatter",                                                             \
		  .choices = zm_place_names,                                                       \
		  .help = "who runs where" },                                                      \
		{ .name = "mem",                                                                   \
		  .type = ZM_OPTION_STRING,                                                        \
		  .offset = at(mem),                                                               \
		  .unit = "policy",                                                                \
		  .help = "where memory comes from: local, interleave, node:N, remote" },          \
		{ .name = "cpus",                                                                  \
		  .type = ZM_OPTION_STRING,                                                        \
		  .offset = at(cpus),                                                              \
		  .unit = "list",                                                                  \
		  .help = "use only these CPUs: 0-3,8" },                                          \
		{ .name = "db",                                                                    \
		  .type = ZM_OPTION_STRING,                                                        \
		  .offset = at(db),                                                                \
		  .unit = "file",                                                                  \
		  .help = "the store: a file, or postgresql://HOST/NAME; otherwise $ZONEMARK_DB "  \
			  "or "                                                                    \
			  "zonemark/zonemark.db in the data folder" },                             \
		{ .name = "label",                                                                 \
		  .type = ZM_OPTION_STRING,                                                        \
		  .offset = at(label),                                                             \
		  .unit = "text",                                                                  \
		  .help = "kept with the runs, to find and compare them by; 200 bytes at most" },  \
		{ .name = "monitor",                                                               \
		  .type = ZM_OPTION_STRING,                                                        \
		  .offset = at(monitor),                                                           \
		  .unit = "list",                                                                  \
		  .help = "which monitors are read: a list of names, default, all, or none" },     \
		{ .name = "monitor_interval",                                                      \
		  .type = ZM_OPTION_STRING,                                                        \
		  .offset = at(monitor_interval),                                                  \
		  .unit = "duration",                                                              \
		  .help = "between two reads of a monitor, as the option monitor_interval" },      \
		{ .name = "hours",                                                                 \
		  .type = ZM_OPTION_DOUBLE,                                                        \
		  .offset = at(hours),                                                             \
		  .preset = "0",                                                                   \
		  .max = 10000,                                                                    \
		  .unit = "hours",                                                                 \
		  .help = "take no longer than this: the most telling cells first, and what is "   \
			  "left out is said; 0: no limit" },                                       \
		{ .name = "resume",                                                                \
		  .type = ZM_OPTION_BOOL,                                                          \
		  .offset = at(resume),                                                            \
		  .preset = "0",                                                                   \
		  .help = "go on with the last invocation of the same line: what went well is "    \
			  "not run again" },                                                       \
		{ .name = "share",                                                                 \
		  .type = ZM_OPTION_BOOL,                                                          \
		  .offset = at(share),                                                             \
		  .preset = "0",                                                                   \
		  .help = "run although another measuring run is under way; both are disturbed" }, \
	{                                                                                          \
		.name = "overcommit", .type = ZM_OPTION_BOOL, .offset = at(overcommit),            \
		.preset = "0", .help = "run although it needs more than there is"                  \
	}

/* Everything it holds; closed in one place. */
struct zm_invocation {
	const struct zm_invocation_ask *ask;
	struct zm_sysroot root;
	bool has_root;
	struct zm_topology topology;
	bool has_topology;
	struct zm_plan plan;
	struct zm_summary summary;
	struct zm_progress progress;
	struct zm_session session;
	struct zm_schedule schedule;
	const struct zm_monitor **monitors;      /* those asked for, or the usual ones */
	const struct zm_monitor ***own_monitors; /* of each cell that has its own; else NULL */
	unsigned int nr_repeats;                 /* as asked for, else as the matrix's file says */
	uint64_t used_ns;                        /* of the time that all may take */
	int lock_fd;
	sigset_t old_mask;
	bool has_mask;
	char *url; /* of the server's store that gets the runs in the end; NULL: none */
	struct zm_store *server; /* that, to look up what --resume need not do again; or NULL */
	bool is_open;
	char *command_line, *inventory;
	char machine_id[17], boot_id[64], uuid[ZM_UUID_SIZE];
	struct utsname uname;
	int signal; /* that ended it */
};

/* The machine as --cpus leaves it; NULL: all that may be used. */
int zm_invocation_topology(const char *cpus, const struct zm_sysroot *root,
			   struct zm_topology *ret_topology, struct zm_why *why);

/* The cells that the ask means, without running them. */
int zm_invocation_plan(const struct zm_invocation_ask *ask, const struct zm_sysroot *root,
		       const struct zm_topology *topology, struct zm_plan *ret_plan,
		       struct zm_why *why);

/* What the plan has to say goes to stderr. On failure it is closed already. -ENOPKG: nothing of it can run
 * here; -ENODATA: the part that is asked for is empty. */
int zm_invocation_open(struct zm_invocation *invocation, const struct zm_invocation_ask *ask,
		       struct zm_why *why);

/* All launches, or those until a signal. -errno: the store, or memory; what was run is in the
 * summary all the same. */
int zm_invocation_run(struct zm_invocation *invocation, struct zm_why *why);
void zm_invocation_close(struct zm_invocation *invocation);

/* After closing it: if a signal ended the runs, the program dies of it, as it would have without us. */
void zm_invocation_die(const struct zm_invocation *invocation);

#endif
