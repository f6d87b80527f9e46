/* words: parameters as one types them. */
#include "results/words.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "results/utf8.h"
#include "workloads/base/cleanup.h"

/* "key=value", printable, the caller's to free; NULL without memory. */
static char *word_of(const char *key, const json_t *value)
{
	zm_autofree char *dumped = NULL;
	zm_autofree char *word = NULL;

	if (!json_is_string(value))
		dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	if (asprintf(&word, "%s=%s", key,
		     json_is_string(value) ? json_string_value(value) : (dumped ? dumped : "")) <
	    0) {
		word = NULL;
		return NULL;
	}
	return zm_utf8_printable(word);
}

void zm_words_print(const char *json, size_t width, size_t indent, FILE *out)
{
	json_t *object = json_loads(json, 0, NULL);
	size_t column = indent;
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		zm_autofree char *word = word_of(key, value);
		size_t length = word ? zm_utf8_width(word) : 0;

		if (width && column > indent && column + 1 + length > width) {
			(void)fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		}
		(void)fprintf(out, "%s%s", column > indent ? " " : "", word ? word : "");
		column += length + (column > indent);
	}
	(void)fputc('\n', out);
	json_decref(object);
}

/* The keys in which the sets of one group differ. */
struct group {
	const char *name;
	const json_t *first; /* the group's first set */
	json_t *differing;   /* key: true */
};

struct comparing {
	json_t **objects; /* by set */
	struct group *groups;
	size_t nr_groups;
};

static struct group *find_group(struct comparing *comparing, const char *name)
{
	for (size_t i = 0; i < comparing->nr_groups; i++) {
		if (!strcmp(comparing->groups[i].name, name))
			return &comparing->groups[i];
	}
	return NULL;
}

static void note_differences(struct group *group, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (!json_equal(value, json_object_get(group->first, key)))
			json_object_set_new(group->differing, key, json_true());
	}
	json_object_foreach((json_t *)group->first, key, value)
	{
		if (!json_object_get(object, key))
			json_object_set_new(group->differing, key, json_true());
	}
}

static void compare_sets(struct comparing *comparing, const struct zm_words *sets, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct group *group = find_group(comparing, sets[i].group);

		comparing->objects[i] = json_loads(sets[i].json, 0, NULL);
		if (!json_is_object(comparing->objects[i])) {
			json_decref(comparing->objects[i]);
			comparing->objects[i] = json_object();
		}
		if (group)
			note_differences(group, comparing->objects[i]);
		else
			comparing->groups[comparing->nr_groups++] =
				(struct group){ .name = sets[i].group,
						.first = comparing->objects[i],
						.differing = json_object() };
	}
}

static int make_words(struct comparing *comparing, struct zm_words *set, json_t *object,
		      struct zm_pool *pool)
{
	const struct group *group = find_group(comparing, set->group);
	zm_autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const char *key;
	json_t *value;

	if (!out)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		zm_autofree char *word = NULL;

		if (!group || !json_object_get(group->differing, key))
			continue;
		word = word_of(key, value);
		(void)fprintf(out, "%s%s", ftell(out) > 0 ? " " : "", word ? word : "");
	}
	if (fclose(out))
		return -ENOMEM;
	set->words = zm_pool_text(pool, text);
	return pool->error;
}

int zm_words_differing(struct zm_words *sets, size_t nr, struct zm_pool *pool)
{
	struct comparing comparing = {
		.objects = calloc(nr + 1, sizeof(json_t *)),
		.groups = calloc(nr + 1, sizeof(struct group)),
	};
	int error = comparing.objects && comparing.groups ? 0 : -ENOMEM;

	if (!error)
		compare_sets(&comparing, sets, nr);
	for (size_t i = 0; i < nr && !error; i++)
		error = make_words(&comparing, &sets[i], comparing.objects[i], pool);
	for (size_t i = 0; comparing.objects && i < nr; i++)
		json_decref(comparing.objects[i]);
	for (size_t i = 0; i < comparing.nr_groups; i++)
		json_decref(comparing.groups[i].differing);
	free(comparing.objects);
	free(comparing.groups);
	return error;
}
