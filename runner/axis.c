/* axis: lists and ranges of values, and their combinations. */
#include "runner/axis.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

/* Takes the text over. */
static int add_value(struct zm_axis *axis, char *text)
{
	char **grown = NULL;

	if (text)
		grown = realloc(axis->values, (axis->nr_values + 1) * sizeof(*grown));
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	axis->values = grown;
	axis->values[axis->nr_values++] = text;
	return 0;
}

/* "3-17" is two numbers; everything else is not. */
static bool parse_range(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
	const char *dash = strchr(text, '-');
	zm_autofree char *first = dash ? strndup(text, (size_t)(dash - text)) : NULL;

	return first && zm_units_parse_u64(first, ret_first) == 0 &&
	       zm_units_parse_u64(dash + 1, ret_last) == 0;
}

static int add_range(struct zm_axis *axis, uint64_t first, uint64_t last, struct zm_why *why)
{
	if (first > last)
		return zm_why_set(why, -EINVAL,
				  "%s=%" PRIu64 "-%" PRIu64 ": a range goes from the smaller to "
				  "the larger",
				  axis->name, first, last);
	if (last - first >= ZM_AXIS_VALUES)
		return zm_why_set(why, -ERANGE, "%s=%" PRIu64 "-%" PRIu64 ": more than %d values",
				  axis->name, first, last, ZM_AXIS_VALUES);
	for (uint64_t i = first; i <= last; i++) {
		char text[24];
		int r;

		(void)snprintf(text, sizeof(text), "%" PRIu64, i);
		r = add_value(axis, strdup(text));
		if (r < 0)
			return zm_why_errno(why, r, "%s", axis->name);
	}
	return 0;
}

static int add_item(struct zm_axis *axis, char *item, bool has_ranges, struct zm_why *why)
{
	uint64_t first, last;
	int r;

	if (has_ranges && parse_range(item, &first, &last)) {
		r = add_range(axis, first, last, why);
		free(item);
		return r;
	}
	r = add_value(axis, item);
	return r < 0 ? zm_why_errno(why, r, "%s", axis->name) : 0;
}

/* Up to the next comma that is not escaped, without the escapes. *text goes behind it. */
static char *next_item(const char **text, bool *ret_more)
{
	char *item = malloc(strlen(*text) + 1);
	size_t length = 0;
	const char *at;

	if (!item)
		return NULL;
	for (at = *text; *at && *at != ','; at++) {
		if (at[0] == '\\' && at[1] == ',')
			at++;
		item[length++] = *at;
	}
	item[length] = '\0';
	*ret_more = *at == ',';
	*text = *ret_more ? at + 1 : at;
	return item;
}

static int parse_values(struct zm_axis *axis, const char *text, bool has_ranges, struct zm_why *why)
{
	bool has_more = true;

	while (has_more) {
		char *item = next_item(&text, &has_more);
		int r = item ? add_item(axis, item, has_ranges, why)
			     : zm_why_errno(why, -ENOMEM, "%s", axis->name);

		if (r < 0)
			return r;
		if (axis->nr_values > ZM_AXIS_VALUES)
			return zm_why_set(why, -ERANGE, "%s: more than %d values", axis->name,
					  ZM_AXIS_VALUES);
	}
	return 0;
}

int zm_axis_parse(const char *word, bool has_ranges, struct zm_axis *ret_axis, struct zm_why *why)
{
	const char *equals = strchr(word, '=');
	struct zm_axis axis = { 0 };
	int r;

	if (!equals || equals == word)
		return zm_why_set(why, -EINVAL, "%s: an option is typed NAME=VALUE", word);
	axis.name = strndup(word, (size_t)(equals - word));
	if (!axis.name)
		return zm_why_errno(why, -ENOMEM, "%s", word);
	r = parse_values(&axis, equals + 1, has_ranges, why);
	if (r < 0) {
		zm_axis_release(&axis);
		return r;
	}
	*ret_axis = axis;
	return 0;
}

void zm_axis_release(struct zm_axis *axis)
{
	for (size_t i = 0; i < axis->nr_values; i++)
		free(axis->values[i]);
	free(axis->values);
	free(axis->name);
	*axis = (struct zm_axis){ 0 };
}

int zm_axis_rename(struct zm_axis *axis, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(axis->name);
	axis->name = copy;
	return 0;
}

static size_t find(const struct zm_axes *axes, const char *name)
{
	size_t i = 0;

	while (i < axes->nr && strcmp(axes->list[i].name, name) != 0)
		i++;
	return i;
}

const struct zm_axis *zm_axes_find(const struct zm_axes *axes, const char *name)
{
	size_t i = find(axes, name);

	return i < axes->nr ? &axes->list[i] : NULL;
}

int zm_axes_put(struct zm_axes *axes, struct zm_axis *axis)
{
	size_t i = find(axes, axis->name);

	if (i == axes->nr) {
		struct zm_axis *grown = realloc(axes->list, (axes->nr + 1) * sizeof(*grown));

		if (!grown) {
			zm_axis_release(axis);
			return -ENOMEM;
		}
		axes->list = grown;
		axes->nr++;
	} else {
		zm_axis_release(&axes->list[i]);
	}
	axes->list[i] = *axis;
	*axis = (struct zm_axis){ 0 };
	return 0;
}

static int copy_one(const struct zm_axis *from, struct zm_axis *ret_axis)
{
	struct zm_axis copy = { .name = strdup(from->name) };
	int r = copy.name ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < from->nr_values; i++)
		r = add_value(&copy, strdup(from->values[i]));
	if (r < 0)
		zm_axis_release(&copy);
	else
		*ret_axis = copy;
	return r;
}

int zm_axes_copy(struct zm_axes *into, const struct zm_axes *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct zm_axis copy;
		int r = copy_one(&from->list[i], &copy);

		if (r == 0)
			r = zm_axes_put(into, &copy);
		if (r < 0)
			return r;
	}
	return 0;
}

void zm_axes_release(struct zm_axes *axes)
{
	for (size_t i = 0; i < axes->nr; i++)
		zm_axis_release(&axes->list[i]);
	free(axes->list);
	*axes = (struct zm_axes){ 0 };
}

size_t zm_axes_count(const struct zm_axes *axes)
{
	size_t count = 1;

	for (size_t i = 0; i < axes->nr; i++) {
		if (count > SIZE_MAX / 2 / axes->list[i].nr_values)
			return 0;
		count *= axes->list[i].nr_values;
	}
	return count;
}

const char *zm_axes_value(const struct zm_axes *axes, size_t index, size_t which)
{
	for (size_t i = axes->nr - 1; i > which; i--)
		index /= axes->list[i].nr_values;
	return axes->list[which].values[index % axes->list[which].nr_values];
}
