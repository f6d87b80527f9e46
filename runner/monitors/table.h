/*
 * table: which series a named figure goes into.
 *
 * A row is a name within a group (a node, a zone's CPU, 0 where there is only one) and the series of
 * it. Sources print their figures in the same order every time, so the row after the last one found is
 * tried first: a whole file costs one comparison per figure. What comes out of order, or is not known,
 * costs a hash look-up. Adding allocates; finding does not.
 *
 * A name that a file prints twice counts once per round: the first one.
 */
#ifndef ZM_RUNNER_MONITORS_TABLE_H
#define ZM_RUNNER_MONITORS_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct zm_table_row {
	uint64_t group;
	char *name;
	uint32_t length;
	uint32_t series;
	uint32_t round; /* the round it was last found in */
};

/* A zeroed struct is the empty table. */
struct zm_table {
	struct zm_table_row *rows;
	size_t nr_rows;
	size_t capacity;
	uint32_t *slots; /* by hash: 1 + the row's place, 0 empty; a power of two of them */
	size_t nr_slots;
	size_t expected; /* the row that should come next */
	uint32_t round;
};

void zm_table_release(struct zm_table *table);

/* -EEXIST: the group has the name already; -ENOMEM. */
int zm_table_add(struct zm_table *table, uint64_t group, const char *name, size_t length,
		 uint32_t series);

/* The file is read anew: every row can be found once. */
void zm_table_begin(struct zm_table *table);

/* The row, or NULL: not there, or found in this round already. */
const struct zm_table_row *zm_table_find(struct zm_table *table, uint64_t group, const char *name,
					 size_t length);

#endif
