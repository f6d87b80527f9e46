/*
 * boot: one boot of one kernel, measured: a child that is `zonemark vm … run …`, `zonemark run …` on the kernel
 * that runs here, or a command given by the user; and what it left in the store.
 *
 * A given command is run by sh. It finds ZONEMARK_KERNEL, ZONEMARK_APPEND, ZONEMARK_DB and ZONEMARK_LABEL in
 * its environment, and the line for `zonemark` as its arguments ("$@": run MATRIX … --label LABEL). It boots
 * the kernel wherever it likes, runs the line there, and brings the runs into the store.
 */
#ifndef ZM_RUNNER_AB_BOOT_H
#define ZM_RUNNER_AB_BOOT_H

#include <jansson.h>
#include <stdbool.h>

#include "runner/ab/plan.h"

struct zm_ab_boot {
	const char *kernel, *append, *label, *db;
	const char *command;     /* "": zonemark's own way */
	const char *accelerator; /* "": vm finds it out */
	json_t *vm_words, *words;
	bool is_here; /* the kernel that runs here */
};

struct zm_ab_booted {
	int status; /* as waitpid gives it */
	char boot
		[ZM_AB_BOOT]; /* whose runs, good or failed, have come into the store; "": none has */
	char kernel[128];     /* its release */
	char accelerator[16]; /* "" where it was no guest, or does not say */
};

/* Signals that come meanwhile end the child, and then are *ret_signal; 0: none. The child's answer goes
 * to stderr. */
int zm_ab_boot(const struct zm_ab_boot *boot, struct zm_ab_booted *ret_booted, int *ret_signal,
	       struct zm_why *why);

/* How many boots have runs of that label, good or failed, in the store. */
int zm_ab_nr_boots(const char *db, const char *label, size_t *ret_nr, struct zm_why *why);

/* A shell's command, waited for, with these three in its environment. 0: it ended by 0; -EIO. */
int zm_ab_shell(const char *command, const char *kernel, const char *append, const char *label,
		struct zm_why *why);

#endif
