/*
 * table: rows in the order in which they were added, and an open-addressing index over them that is
 * kept at most half full.
 */
#include "runner/monitors/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void zm_table_release(struct zm_table *table)
{
	for (size_t i = 0; i < table->nr_rows; i++)
		free(table->rows[i].name);
	free(table->rows);
	free(table->slots);
	*table = (struct zm_table){ 0 };
}

/* FNV-1a over the name, begun with the group. */
static size_t hash_of(uint64_t group, const char *name, size_t length)
{
	uint64_t hash = (UINT64_C(14695981039346656037) ^ group) * UINT64_C(1099511628211);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
	return (size_t)(hash ^ (hash >> 32));
}

static bool row_is(const struct zm_table_row *row, uint64_t group, const char *name, size_t length)
{
	return row->group == group && row->length == length && memcmp(row->name, name, length) == 0;
}

/* The slot that holds the row, or the empty one where it would go. */
static uint32_t *find_slot(const struct zm_table *table, uint64_t group, const char *name,
			   size_t length)
{
	size_t mask = table->nr_slots - 1;
	size_t at = hash_of(group, name, length) & mask;

	while (table->slots[at] && !row_is(&table->rows[table->slots[at] - 1], group, name, length))
		at = (at + 1) & mask;
	return &table->slots[at];
}

static int grow_slots(struct zm_table *table)
{
	size_t nr_slots = table->nr_slots ? table->nr_slots * 2 : 64;
	uint32_t *slots = calloc(nr_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->nr_slots = nr_slots;
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct zm_table_row *row = &table->rows[i];

		*find_slot(table, row->group, row->name, row->length) = (uint32_t)i + 1;
	}
	return 0;
}

static int grow_rows(struct zm_table *table)
{
	size_t capacity = table->capacity ? table->capacity * 2 : 32;
	struct zm_table_row *rows = reallocarray(table->rows, capacity, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	table->capacity = capacity;
	return 0;
}

static int make_room(struct zm_table *table)
{
	int error = 0;

	if ((table->nr_rows + 1) * 2 > table->nr_slots)
		error = grow_slots(table);
	if (!error && table->nr_rows == table->capacity)
		error = grow_rows(table);
	return error;
}

int zm_table_add(struct zm_table *table, uint64_t group, const char *name, size_t length,
		 uint32_t series)
{
	int error = make_room(table);
	uint32_t *slot;
	char *copy;

	if (error)
		return error;
	slot = find_slot(table, group, name, length);
	if (*slot)
		return -EEXIST;
	copy = strndup(name, length);
	if (!copy)
		return -ENOMEM;
	table->rows[table->nr_rows] = (struct zm_table_row){
		.group = group,
		.name = copy,
		.length = (uint32_t)length,
		.series = series,
	};
	*slot = (uint32_t)++table->nr_rows;
	return 0;
}

void zm_table_begin(struct zm_table *table)
{
	table->expected = 0;
	table->round++;
}

static struct zm_table_row *look_up(const struct zm_table *table, uint64_t group, const char *name,
				    size_t length)
{
	uint32_t place = table->nr_slots ? *find_slot(table, group, name, length) : 0;

	return place ? &table->rows[place - 1] : NULL;
}

const struct zm_table_row *zm_table_find(struct zm_table *table, uint64_t group, const char *name,
					 size_t length)
{
	struct zm_table_row *row = NULL;

	if (table->expected < table->nr_rows)
		row = &table->rows[table->expected];
	if (!row || !row_is(row, group, name, length))
		row = look_up(table, group, name, length);
	if (!row || row->round == table->round)
		return NULL;
	row->round = table->round;
	table->expected = (size_t)(row - table->rows) + 1;
	return row;
}
