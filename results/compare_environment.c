/*
 * compare_environment: what the machines' inventories do not have in common.
 *
 * Inventories are flattened ("sysctl.vm.swappiness"); a key whose set of values is not the same on every
 * side is a difference; sides of which nothing is known do not count. What changes by itself from one command to the next is left out.
 */
#include "results/compare_read.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"

static const char *const restless[] = { "swap_used_bytes", "kernel_version" };

/* One value of one side. */
struct fact {
	const char *key, *value;
	size_t side;
};

struct facts {
	struct zm_pool *pool;
	struct fact *facts;
	size_t nr, capacity;
};

static bool is_restless(const char *key)
{
	for (size_t i = 0; i < sizeof(restless) / sizeof(restless[0]); i++) {
		if (!strcmp(key, restless[i]))
			return true;
	}
	return false;
}

static int add_fact(struct facts *facts, size_t side, const char *key, const char *value)
{
	int error = zm_array_grow((void **)&facts->facts, &facts->capacity, facts->nr,
				  sizeof(*facts->facts));

	if (error)
		return error;
	facts->facts[facts->nr++] = (struct fact){ .key = zm_pool_text(facts->pool, key),
						   .value = zm_pool_text(facts->pool, value),
						   .side = side };
	return facts->pool->error;
}

static int flatten(struct facts *facts, size_t side, const char *prefix, json_t *object)
{
	const char *name;
	json_t *value;
	int error = 0;

	json_object_foreach(object, name, value)
	{
		char key[256];
		char *text;

		(void)snprintf(key, sizeof(key), "%s%s%s", prefix, *prefix ? "." : "", name);
		if (error || is_restless(key))
			continue;
		if (json_is_object(value)) {
			error = flatten(facts, side, key, value);
			continue;
		}
		if (json_is_string(value)) {
			error = add_fact(facts, side, key, json_string_value(value));
			continue;
		}
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
		error = text ? add_fact(facts, side, key, text) : -ENOMEM;
		free(text);
	}
	return error;
}

static int compare_facts(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (!order)
		order = (x->side > y->side) - (x->side < y->side);
	return order ? order : strcmp(x->value, y->value);
}

/* The side's values of one key, each once: "a | b". */
static const char *join(struct zm_pool *pool, const struct fact *facts, size_t nr, size_t side)
{
	const char *joined = NULL, *last = NULL;

	for (size_t i = 0; i < nr; i++) {
		char *text = NULL;

		if (facts[i].side != side || (last && !strcmp(last, facts[i].value)))
			continue;
		last = facts[i].value;
		if (!joined) {
			joined = last;
		} else if (asprintf(&text, "%s | %s", joined, last) >= 0) {
			joined = zm_pool_text(pool, text);
			free(text);
		}
	}
	return joined;
}

static bool is_other(const char *a, const char *b)
{
	return !a != !b || (a && strcmp(a, b) != 0);
}

static int add_difference(struct zm_compare *compare, const struct zm_read *read,
			  const struct fact *facts, size_t nr)
{
	struct zm_compare_difference difference = { .key = facts[0].key };
	bool differs = false;
	size_t first = SIZE_MAX;

	for (size_t side = 0; side < compare->nr_sides; side++) {
		difference.values[side] = join(&compare->pool, facts, nr, side);
		if (!difference.values[side] && read->sides[side].nr_inventories == 0)
			continue;
		if (first == SIZE_MAX)
			first = side;
		differs |= is_other(difference.values[first], difference.values[side]);
	}
	if (differs)
		compare->differences[compare->nr_differences++] = difference;
	return compare->pool.error;
}

static int find_differences(struct zm_compare *compare, const struct zm_read *read,
			    struct facts *facts)
{
	size_t from, to;
	int error = 0;

	if (facts->nr)
		qsort(facts->facts, facts->nr, sizeof(*facts->facts), compare_facts);
	compare->differences =
		zm_pool_take(&compare->pool, (facts->nr + 1) * sizeof(*compare->differences));
	if (!compare->differences)
		return -ENOMEM;
	for (from = 0; from < facts->nr && !error; from = to) {
		to = from + 1;
		while (to < facts->nr && !strcmp(facts->facts[to].key, facts->facts[from].key))
			to++;
		error = add_difference(compare, read, &facts->facts[from], to - from);
	}
	return error;
}

int zm_compare_environment(struct zm_compare *compare, const struct zm_read *read)
{
	struct facts facts = { .pool = &compare->pool };
	int error = 0;

	for (size_t side = 0; side < compare->nr_sides && !error; side++) {
		for (size_t i = 0; i < read->sides[side].nr_inventories && !error; i++)
			error = flatten(&facts, side, "", read->sides[side].inventories[i]);
		for (size_t i = 0; i < read->sides[side].nr_boots && !error; i++)
			error = add_fact(&facts, side, "machine",
					 *read->sides[side].boots[i].machine
						 ? read->sides[side].boots[i].machine
						 : "not known");
	}
	if (!error)
		error = find_differences(compare, read, &facts);
	free(facts.facts);
	return error;
}
