/*
 * hunt: which commit changed a figure? `git bisect` asks, and boots answer.
 *
 *     reference   the good and the bad commit, in turn, until a primary figure differs between them: the
 *                 figure that is hunted. If none does, there is nothing to hunt
 *     steps       each commit that git asks for is built, and booted in turn with the good and the bad one,
 *                 anew, until its figure differs from the good one's or from the bad one's. What does not build or boot, and what cannot be told
 *                 within the boots, is skipped
 *     confirm     the culprit and its parent, in turn, anew
 *
 * The looks at each step share its error (results/looks.h), and the steps share the hunt's.
 */
#ifndef ZM_RUNNER_AB_HUNT_H
#define ZM_RUNNER_AB_HUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/compare.h"
#include "runner/ab/git.h"

#define ZM_HUNT_STEPS 64

/* What is asked for. */
struct zm_hunt_ask {
	const char *source, *good, *bad;
	const char
		*work; /* the working tree that is built in; made and removed unless it is_kept */
	bool is_kept;
	const char *name;                       /* labels are NAME-SHA */
	const char *build;                      /* a command of sh, in the working tree */
	const char *image;                      /* what it leaves, from there */
	const char *append, *boot_command, *db; /* as in runner/ab/boot.h */
	json_t *vm_words, *words;
	size_t most; /* boots of a commit */
	double alpha, least;
	bool is_confirmed;
};

enum zm_hunt_verdict {
	ZM_HUNT_GOOD,
	ZM_HUNT_BAD,
	ZM_HUNT_SKIPPED,
};

const char *zm_hunt_verdict_name(enum zm_hunt_verdict verdict);

/* One commit, and what is known of it. */
struct zm_hunt_step {
	char sha[ZM_GIT_SHA], subject[96];
	enum zm_hunt_verdict verdict;
	char why[160]; /* of what was skipped; of the others, what else there is to say */
	size_t nr_boots;
	double value;             /* the figure's median; NaN: none */
	double change, low, high; /* against the good commit, on the scale of the figure */
};

struct zm_hunt {
	const struct zm_hunt_ask *ask;
	char good[ZM_GIT_SHA], bad[ZM_GIT_SHA];
	size_t nr_commits; /* between them */
	struct zm_hunt_step steps[ZM_HUNT_STEPS];
	size_t nr_steps; /* the first two are the reference */
	/* the figure; is_found: the reference differs in it */
	bool is_found, is_ratio;
	char workload[64], cell[512], metric[128], unit[32];
	/* the answer */
	char culprit[ZM_GIT_SHA];                   /* "": none */
	char candidates[ZM_HUNT_STEPS][ZM_GIT_SHA]; /* when only skipped ones are left */
	size_t nr_candidates;
	struct zm_hunt_step confirmed; /* the culprit against its parent; nr_boots 0: was not */
	bool is_confirmed;
	char accelerator[16];
	int signal; /* that ended it */
};

/* 0: it has come to an end, and the struct says to which. -errno and the sentence. A signal: -EINTR. The
 * working tree is removed in any case, unless it is kept. */
int zm_hunt_run(const struct zm_hunt_ask *ask, struct zm_hunt *hunt, struct zm_why *why);

#endif
