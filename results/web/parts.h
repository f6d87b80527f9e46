/* parts: the files of which a site is made, and what they share. Inside this folder only. */
#ifndef ZM_RESULTS_WEB_PARTS_H
#define ZM_RESULTS_WEB_PARTS_H

#include "results/web/dashboard.h"
#include "results/web/site.h"
#include "results/web/standing.h"

/* What everything is made of. */
struct zm_making {
	struct zm_store *store;
	const struct zm_dashboard_options *options;
	const struct zm_night_names *names;
	struct zm_judge judge;
	struct zm_site *site;
	struct zm_dashboard result;
	uint64_t now_ns;
	struct zm_why *why;
};

/* The judge for a metric. */
struct zm_judge *zm_making_judge(struct zm_making *making, uint32_t metric);

/* A primary figure as the landing page shows it. */
struct zm_entry {
	uint32_t group, line;
	struct zm_standing standing;
	struct zm_change_brief *changes; /* among the last nights, oldest first */
	size_t nr_changes;
};

struct zm_change_brief {
	uint32_t first;  /* the group's night */
	uint32_t before; /* the last one with a value before it */
	enum zm_change_state state;
	enum zm_verdict verdict;
	struct zm_judgement judgement;
};

/* data/matrix.js and index.html. */
int zm_part_matrix(struct zm_making *making, const struct zm_nights *nights,
		   const struct zm_entry *entries, size_t nr);
int zm_part_index(struct zm_making *making, const struct zm_nights *nights,
		  const struct zm_entry *entries, size_t nr);

/* data/g/ID.js, its further files, and the curves of its newest runs. */
int zm_part_group(struct zm_making *making, const struct zm_group *group);

/* data/r1/NAME.js; ret_has_it: there is one. */
int zm_part_run(struct zm_making *making, const struct zm_night_run *run, bool *ret_has_it);

/* "Example 9000, 2 sockets, 64 CPUs, 256 GiB", or nothing. */
int zm_part_machine(struct zm_making *making, const struct zm_nights *nights, uint32_t machine,
		    char *buf, size_t size);

/* Names as the files have them. */
void zm_part_run_name(char *buf, size_t size, const struct zm_night_run *run);

#endif
