/* peers_inventory: in what a machine is not as most of its model's. */
#include "results/peers.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

/* What changes by itself, or is a machine's own. */
static const char *const restless[] = { "swap_used_bytes", "kernel_version", NULL };

static bool is_restless(const char *key)
{
	for (size_t i = 0; restless[i]; i++) {
		if (strcmp(restless[i], key) == 0)
			return true;
	}
	return false;
}

/* The value that most of the model's machines have; how many have it, and whether `value` is one of those. The
 * inventories are those of the model. */
static const json_t *most_common(json_t *const *inventories, size_t nr, const char *key,
				 size_t *ret_nr)
{
	const json_t *best = NULL;

	*ret_nr = 0;
	for (size_t i = 0; i < nr; i++) {
		const json_t *value = json_object_get(inventories[i], key);
		size_t nr_same = 0;

		for (size_t k = 0; k < nr; k++) {
			const json_t *other = json_object_get(inventories[k], key);

			nr_same += value == other || json_equal(value, other);
		}
		if (nr_same > *ret_nr) {
			*ret_nr = nr_same;
			best = value;
		}
	}
	return best;
}

static void add_difference(char *buf, size_t size, const char *key, const json_t *own,
			   const json_t *usual)
{
	zm_autofree char *mine = own ? json_dumps(own, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	zm_autofree char *theirs = usual ? json_dumps(usual, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	size_t length = strlen(buf);

	(void)snprintf(buf + length, size - length, "%s%s %.80s (most: %.80s)", length ? ", " : "",
		       key, mine ? mine : "absent", theirs ? theirs : "absent");
}

/* Every machine of the model once: at most so many, of a thousand the first ones tell what is usual. */
#define MOST_READ 64

char *zm_peers_differences(const struct zm_peers *peers, size_t machine, char *buf, size_t size)
{
	json_t *own = json_loads(peers->machines[machine].inventory, 0, NULL);
	json_t *inventories[MOST_READ];
	size_t nr = 0, nr_same;
	const char *key;
	json_t *value;

	buf[0] = '\0';
	for (size_t i = 0; i < peers->nr_machines && nr < MOST_READ; i++) {
		if (peers->machines[i].model == peers->machines[machine].model && i != machine)
			inventories[nr++] = json_loads(peers->machines[i].inventory, 0, NULL);
	}
	json_object_foreach(own, key, value)
	{
		const json_t *usual;

		if (is_restless(key) || nr == 0)
			continue;
		usual = most_common(inventories, nr, key, &nr_same);
		/* Where no two thirds agree nothing is usual. */
		if (nr_same * 3 >= nr * 2 && !(usual && json_equal(usual, value)))
			add_difference(buf, size, key, value, usual);
	}
	for (size_t i = 0; i < nr; i++)
		json_decref(inventories[i]);
	json_decref(own);
	return buf;
}
