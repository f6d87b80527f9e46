/*
 * store: where all results live: one file (SQLite), or a database on a server that many machines share
 * (PostgreSQL, by its URL). A run is recorded into a file; a server gets it when it has ended
 * (results/outbox.h).
 *
 *     machine  1--n  boot  1--n  run  1--n  phase, task, result, note, absent, stacks
 *                                      1--n  series (values) n--1 timebase (moments)
 *     invocation 1--n run              one command; its runs share label and command line
 *
 * Opened in WAL mode with a busy time-out, so that several zonemark commands work on one store. The
 * schema carries a version (PRAGMA user_version): an older one is migrated in one transaction by whoever
 * writes, a newer one is refused with the sentence. Every run has a UUID, so that stores can be merged.
 *
 * Of a run that is under way the store holds everything up to the last flush. A run whose process
 * died is closed as `interrupted` by the next command that opens the store for writing; a command
 * that only reads shows it so.
 *
 * A process that forks keeps its store: the children neither use nor close it.
 *
 * Errors are -errno with one sentence: -ENOSPC (the store stays readable), -EACCES, -EROFS,
 * -EUCLEAN (not a zonemark store, or damaged), -EPROTO (made by a newer zonemark), -ECONNREFUSED and
 * -ECONNRESET (the server cannot be reached, or not any more), -ESTALE (the server's is of an older version,
 * and bringing it up to date is not ours).
 */
#ifndef ZM_RESULTS_STORE_H
#define ZM_RESULTS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/recorder.h"
#include "workloads/base/why.h"
#include "workloads/sample.h"

struct zm_db;
struct zm_store;

/* Where the store is when nobody says: $ZONEMARK_DB, $XDG_DATA_HOME/zonemark/zonemark.db,
 * ~/.local/share/zonemark/zonemark.db. -ENOBUFS. */
int zm_store_default_path(char *buf, size_t size);

/* A file of this name beside the usual store, whatever $ZONEMARK_DB says. -ENOBUFS. */
int zm_store_data_path(const char *name, char *buf, size_t size);

/* path NULL: the default. Writing makes the file, and at the usual place (where nobody has named one) missing
 * folders too; reading makes nothing (-ENOENT, and the sentence says how to make one), and reads a store of an
 * older version as it is. */
int zm_store_open(const char *path, bool for_writing, struct zm_store **ret_store,
		  struct zm_why *why);
void zm_store_close(struct zm_store *store);
const char *zm_store_path(const struct zm_store *store);

/* The connection, for the other files of this folder. */
struct zm_db *zm_store_db(struct zm_store *store);

/* How a run ended. */
enum zm_status {
	ZM_STATUS_RUNNING,
	ZM_STATUS_OK,
	ZM_STATUS_FAILED,      /* a task died, stalled…; nothing of it counts as a result */
	ZM_STATUS_INTERRUPTED, /* by a signal, or its runner died */
	ZM_STATUS_SKIPPED,     /* could not run here; reason says why */
};

const char *zm_status_name(enum zm_status status);

/* What is known before a run starts. All strings are copied. */
struct zm_run_record {
	const char *invocation;   /* UUID of this command */
	const char *command_line; /* as typed, shell-quoted */
	const char *label;        /* may be NULL */
	const char *workload;
	const char *params;    /* canonical JSON object of every effective option, as text */
	const char *cell;      /* canonical JSON of what was asked for: the same for all repeats */
	unsigned int repeat;   /* 0 … repeats - 1 */
	enum zm_status status; /* RUNNING, or SKIPPED with a reason */
	const char *reason;
	unsigned int nr_tasks;
	const char *kind;       /* "process", "thread" */
	const char *inventory;  /* JSON object: the machine, runner/inventory.h */
	const char *machine_id; /* stable for one machine */
	const char *boot_id;
	const char *kernel;  /* release */
	const char *version; /* zonemark's own */
	const char *uuid;    /* NULL: a new one */
	uint64_t wall_ns;    /* when it begins, by the calendar and by the monotonic clock; */
	uint64_t start_ns;   /* 0: now */
};

/* Starts a run. The recorder belongs to the caller until zm_recorder_end. */
int zm_recorder_begin(struct zm_store *store, const struct zm_run_record *record,
		      struct zm_recorder **ret_recorder, struct zm_why *why);
uint64_t zm_recorder_run_id(const struct zm_recorder *recorder);

/* A phase has ended. Phases do not overlap. */
int zm_recorder_phase(struct zm_recorder *recorder, enum zm_phase phase, uint64_t t0_ns,
		      uint64_t t1_ns);

/* Where a task ran. */
int zm_recorder_task(struct zm_recorder *recorder, unsigned int index, int pid, int cpu, int node);

/* A derived figure with what it was derived from. metric: "{n}" already filled in. -EEXIST: the run
 * has a figure of that name; -EINVAL: value or count is not a finite number. */
struct zm_result {
	const char *metric;
	const char *unit;
	const char *source;
	enum zm_better better;
	bool is_primary;
	double value;
	double count;         /* the raw count it came from */
	uint64_t interval_ns; /* over this interval; 0 when it has none */
};
int zm_recorder_result(struct zm_recorder *recorder, const struct zm_result *result);

/* Something a reader must know beside the figures. kind is a short word: "disturbed", "unsteady",
 * "ops-per-fault", "setting", "skew"; text one sentence. */
int zm_recorder_note(struct zm_recorder *recorder, const char *kind, const char *text);

/* Call chains and how often each was met, folded (results/stacks.h). Copied. */
struct zm_stacks {
	const char *source;
	const char *event; /* what was counted: "cycles-pp", "cpu-clock" */
	const char *unit;  /* "samples" */
	const char *folded;
};
int zm_recorder_stacks(struct zm_recorder *recorder, const struct zm_stacks *stacks);

/* Writes what is pending in one transaction. -ENOSPC and the like end the run. */
int zm_recorder_flush(struct zm_recorder *recorder, struct zm_why *why);

/* Flushes, puts the series together, sets the status, frees. Frees on failure too. NULL is fine. */
int zm_recorder_end(struct zm_recorder *recorder, enum zm_status status, const char *reason,
		    struct zm_why *why);

/* For --resume: has this (invocation's) cell and repeat ended well? 1, 0, or -errno. */
int zm_store_has_run(struct zm_store *store, const char *invocation, const char *cell,
		     unsigned int repeat);

/* For --resume: the newest invocation whose command line is the same; -ENOENT. buf takes the UUID (37
 * bytes, else -ENOBUFS). */
int zm_store_last_invocation(struct zm_store *store, const char *command_line, char *buf,
			     size_t size);

#endif
