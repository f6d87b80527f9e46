/*
 * finding: a criterion, held against what was measured.
 *
 *     pass           the value, and its interval where there is one, lies within the limits
 *     fail           it lies outside, or a counter rose, a byte was corrupt, a run failed; not what was measured
 *                    while other load disturbed a launch, which is inconclusive
 *     inconclusive   it could not be measured, there is no limit, or the interval reaches over one: never
 *                    passed for want of data
 *     not for it     `where` says that this machine is not meant
 *
 * Intervals are at 95 %: of a mean over launches by t on logarithms, of ratios as compare has them
 * (results/judge.h), and of the largest of several differences each at 95 % for all together.
 */
#ifndef ZM_RUNNER_QUALIFY_FINDING_H
#define ZM_RUNNER_QUALIFY_FINDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "runner/qualify/bands.h"
#include "runner/qualify/evidence.h"
#include "runner/qualify/health.h"
#include "runner/qualify/standard.h"

enum zm_grade {
	ZM_GRADE_PASS,
	ZM_GRADE_FAIL,
	ZM_GRADE_INCONCLUSIVE,
	ZM_GRADE_NOT_FOR_IT,
	ZM_NR_GRADES,
};

const char *zm_grade_name(enum zm_grade grade); /* "pass" */

/* What is known of a machine and of its runs. */
struct zm_facts {
	const struct zm_evidence *evidence;
	const char *machine, *boot; /* only this machine's runs, this boot's; NULL: all */
	double parts[ZM_NR_PARTS];  /* NaN: not known */
	bool is_guest;              /* what the hardware suffers is not seen in it */
	const struct zm_health *before, *after; /* NULL: not read */
	double elapsed_s;                       /* NaN: not known */
	const struct zm_bands *bands;           /* NULL: none were given */
	const char *not_run;                    /* why nothing was run; NULL: it was */
};

struct zm_finding {
	enum zm_grade grade;
	double value, low, high; /* NaN: none */
	double least, most;      /* that were held against it; NaN: none */
	bool is_banded;          /* they were learned */
	size_t nr;               /* launches behind the value */
	char unit[24];
	char text[320]; /* why */
};

/* -ENOMEM. */
int zm_finding_make(const struct zm_criterion *criterion, const struct zm_facts *facts,
		    struct zm_finding *ret_finding);

/* fail if one fails, else inconclusive if one is (or if there is nothing to judge), else pass. */
enum zm_grade zm_finding_overall(const struct zm_finding *findings, size_t nr);

/* "2.31e+05 pages/s", "4.2%"; "" for NaN. Returns buf. */
char *zm_finding_number(char *buf, size_t size, const struct zm_criterion *criterion,
			const struct zm_finding *finding, double value);

/* "0.9 … 1.1", "at least 0.9"; "" without limits. Returns buf. */
char *zm_finding_limits(char *buf, size_t size, const struct zm_criterion *criterion,
			const struct zm_finding *finding);

json_t *zm_finding_json(const struct zm_criterion *criterion, const struct zm_finding *finding);

#endif
