/*
 * dossier: the files that say how a qualification went, and the bundle that they go into.
 *
 *     qualification.json  verdict, criteria, limits, machine, times: for programs
 *     summary.txt         the same to read
 *     report.html         the same as a page, with every run's curves
 *     report.pdf          the page; where it cannot be made, qualification.json says why
 *     inventory.json      the machine
 *     counters.json       its fault counters, before and after
 *     profile.yaml        what it was qualified by; bands.yaml, if there were any
 *     store.db            all that was measured
 */
#ifndef ZM_RUNNER_QUALIFY_DOSSIER_H
#define ZM_RUNNER_QUALIFY_DOSSIER_H

#include <stdbool.h>
#include <stdio.h>

#include "results/bundle.h"
#include "runner/qualify/finding.h"
#include "runner/qualify/machine.h"

struct zm_dossier {
	const struct zm_standard *profile;
	const struct zm_qualify_machine *machine;
	const struct zm_evidence *evidence;
	const struct zm_health *before, *after;
	const struct zm_finding *findings; /* one per criterion */
	enum zm_grade grade;
	uint64_t began_wall_ns, ended_wall_ns;
	const char *fingerprint; /* of the key that will sign */
	const char *folder;      /* where its files are; absolute */
	const char *bands;       /* file; NULL: none */
	bool wants_pdf;
	char no_pdf[ZM_WHY_SIZE]; /* comes out: why there is none */
};

/* Writes all of them into the folder, in which profile.yaml and store.db are already. */
int zm_dossier_write(struct zm_dossier *dossier, struct zm_why *why);

/* Packs them. The bundle is whole or as it was before. */
int zm_dossier_pack(const struct zm_dossier *dossier, const char *path,
		    const struct zm_signer *signer, struct zm_why *why);

/* The table of criteria, as text; width 0: as wide as it gets. */
int zm_dossier_print(const struct zm_dossier *dossier, FILE *out, size_t width);

/* A new reference; NULL without memory. */
json_t *zm_dossier_json(const struct zm_dossier *dossier);

/* The page. -ENOMEM, or the store's error. */
int zm_dossier_page(const struct zm_dossier *dossier, FILE *out, struct zm_why *why);

#endif
