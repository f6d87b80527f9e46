/*
 * rows: what a run has to say beside its series, waiting for the next flush: phases, tasks, figures,
 * notes, absences, call chains.
 */
#ifndef ZM_RESULTS_ROWS_H
#define ZM_RESULTS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/db.h"

enum zm_row_kind {
	ZM_ROW_PHASE,  /* phase, t0, t1 */
	ZM_ROW_TASK,   /* index, pid, cpu, node */
	ZM_ROW_RESULT, /* is primary, interval, better; value, count; metric, unit, source */
	ZM_ROW_NOTE,   /* kind, text */
	ZM_ROW_ABSENT, /* source, reason */
	ZM_ROW_STACKS, /* source, event, unit, the folded text */
	ZM_NR_ROW_KINDS,
};

#define ZM_ROW_TEXTS 4

struct zm_row {
	enum zm_row_kind kind;
	int64_t seq; /* within its kind; given by the list */
	int64_t integers[4];
	double reals[2];
	const char *texts[ZM_ROW_TEXTS];
};

struct zm_row_list {
	struct zm_row *rows;
	size_t nr, capacity;
	int64_t nr_of_kind[ZM_NR_ROW_KINDS]; /* so far, written ones too */
	bool is_copy;                        /* of a run that is there: nothing in it comes twice */
	char **names;                        /* of all figures so far */
	size_t nr_names, names_capacity;
};

void zm_row_list_release(struct zm_row_list *list);

/* Texts are copied. -ENOMEM. */
int zm_row_list_add(struct zm_row_list *list, const struct zm_row *row);

/* Takes a figure's name: -EEXIST when it has been taken. */
int zm_row_list_name(struct zm_row_list *list, const char *metric);

/* Writes all of them, inside the caller's transaction; they stay in the list until it is cleared. */
int zm_row_list_write(const struct zm_row_list *list, struct zm_db *db, int64_t run,
		      struct zm_why *why);
void zm_row_list_clear(struct zm_row_list *list);

#endif
