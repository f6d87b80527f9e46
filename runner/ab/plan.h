/*
 * plan: what an A/B comparison is to do and how far it has come: one JSON file that survives a crash.
 *
 * Boots come in turn, A B B A A B B A …, so that what drifts in the machine meets both sides alike. A step is
 * one boot:
 *
 *     asked      the next kernel is being set, and the machine rebooted (metal only)
 *     running    its boot measures
 *     done       its runs are in the store; `boot` is what they are found by
 *
 * A step that got lost on its way (a crash, a kernel that panics) is begun anew, with another boot: only
 * boots of done steps count. The file is written beside, synced, renamed, and its folder synced, before
 * whatever it says is done.
 */
#ifndef ZM_RUNNER_AB_PLAN_H
#define ZM_RUNNER_AB_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

#define ZM_AB_SIDES    2
#define ZM_AB_TRIES    3 /* of one step */
#define ZM_AB_BOOT     64
#define ZM_AB_IDENTITY 1024

enum zm_ab_state {
	ZM_AB_ASKED,
	ZM_AB_RUNNING,
	ZM_AB_DONE,
};

struct zm_ab_step {
	unsigned int side;
	enum zm_ab_state state;
	unsigned int nr_tries; /* begun so often */
	char boot
		[ZM_AB_BOOT]; /* asked: the boot that asked; else the one that measures, "" as long as not known */
};

struct zm_ab_plan {
	json_t *owner; /* of the texts and arrays below */
	const char *name;
	const char *kernels[ZM_AB_SIDES];
	const char *appends[ZM_AB_SIDES]; /* "": nothing */
	const char *db;                   /* absolute */
	const char *folder; /* where it was asked for: file names are meant from here */
	const char
		*boot_command; /* boots and measures; "": `zonemark vm`, on metal `zonemark run` */
	const char *set_command, *reboot_command; /* on metal */
	json_t *vm_words;                         /* switches of `zonemark vm` */
	json_t *words;                            /* behind `zonemark run` */
	bool is_metal, is_sequential;
	size_t most;                      /* boots a side */
	double least, confidence;         /* percent */
	uint64_t start_wall_ns, hours_ns; /* hours_ns 0: no limit */
	/* how far it has come */
	char accelerator[16];                         /* "": not known yet */
	char identities[ZM_AB_SIDES][ZM_AB_IDENTITY]; /* of the kernels that came up; metal only */
	size_t nr_verdicts;                           /* at the looks so far, at most */
	char end[ZM_WHY_SIZE];                        /* "": under way */
	bool is_failed;                               /* it ended because it could not go on */
	bool is_out_of_time;                          /* it ended by hours_ns */
	struct zm_ab_step *steps;
	size_t nr_steps;
};

/* What a name may be made of: labels are looked for by patterns, so it has nothing of one. */
#define ZM_AB_NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* A new one, "ab-3f2a91c0". */
int zm_ab_name_make(const char *prefix, char *buf, size_t size, struct zm_why *why);

/* Where it is when nobody says: /var/lib/zonemark/ab.json for root, else in the state folder. -ENOENT. */
int zm_ab_plan_default_path(char *buf, size_t size, struct zm_why *why);

/* Nobody else works on the plan until it is unlocked, or this process ends. -EBUSY. Makes missing folders. */
int zm_ab_plan_lock(const char *path, int *ret_fd, struct zm_why *why);

/* The lock's file goes, too. -1 is nothing. */
void zm_ab_plan_unlock(const char *path, int fd);

/* -ENOENT, without a sentence, when there is none; -EUCLEAN: it is none, or damaged. */
int zm_ab_plan_load(const char *path, struct zm_ab_plan *ret_plan, struct zm_why *why);

/* What a file would hold, in plan->owner, taken apart. -EUCLEAN: something is missing in it. */
int zm_ab_plan_adopt(struct zm_ab_plan *plan, struct zm_why *why);
int zm_ab_plan_save(const char *path, const struct zm_ab_plan *plan, struct zm_why *why);
void zm_ab_plan_release(struct zm_ab_plan *plan);

/* The step under way, or a new one; NULL: no memory. */
struct zm_ab_step *zm_ab_plan_step(struct zm_ab_plan *plan);

/* How many boots of a side are done. */
size_t zm_ab_plan_nr_done(const struct zm_ab_plan *plan, unsigned int side);
bool zm_ab_plan_has_boot(const struct zm_ab_plan *plan, unsigned int side, const char *boot);

/* "NAME-a": what a side's runs are labelled by. Returns buf. */
char *zm_ab_plan_label(const struct zm_ab_plan *plan, unsigned int side, char *buf, size_t size);

#endif
