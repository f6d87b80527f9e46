/*
 * look: what the boots so far say of two sides: a comparison at the level that this look has
 * (results/looks.h).
 */
#ifndef ZM_RUNNER_AB_LOOK_H
#define ZM_RUNNER_AB_LOOK_H

#include <stdbool.h>
#include <stdio.h>

#include "results/compare.h"
#include "results/looks.h"

#define ZM_AB_LABEL 256

/* Which runs are a side: those of the label, of boots that count. */
struct zm_ab_side {
	const char *label;
	bool (*counts)(const void *context, unsigned int side, const char *boot);
};

struct zm_ab_ask {
	const char *db;
	struct zm_ab_side sides[2];
	const void *context;        /* for counts */
	double alpha, power, least; /* shares */
	struct zm_looks looks;      /* this one and those before it */
	size_t most;
	bool is_last;
	size_t nr_verdicts; /* as many as at the looks before, at least */
};

struct zm_ab_look {
	struct zm_store *store;
	char names[2][ZM_AB_LABEL];
	struct zm_compare_side sides[2];
	struct zm_compare *compare;
	double level;
	size_t nr_verdicts;
	bool is_decided; /* a verdict on every primary figure */
};

/* -ENODATA: the sides have nothing in common. Released in any case. */
int zm_ab_look_make(const struct zm_ab_ask *ask, struct zm_ab_look *ret_look, struct zm_why *why);
void zm_ab_look_release(struct zm_ab_look *look);

#endif
