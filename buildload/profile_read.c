/*
 * profile_read: from JSON to a profile.
 *
 *     file -> text -> jansson's tree -> one function per member -> zm_profile_check
 *
 * What is built is in the profile from the start, so a failure anywhere ends in one zm_profile_free.
 * A function that fails has said what; its callers put the place in front.
 */
#include "buildload/profile.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "workloads/base/cleanup.h"

#define FORMAT  "zonemark-build-profile"
#define VERSION 1

/* --- members and their types --- */

static int wrong(struct zm_why *why, const char *member, const char *wanted)
{
	return zm_why_set(why, -EINVAL, "%s: %s is needed", member, wanted);
}

/* No member but these. */
static int only(const json_t *object, const char *const *members, struct zm_why *why)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return zm_why_set(why, -EINVAL, "an object is needed");
	json_object_foreach((json_t *)object, key, value)
	{
		size_t i = 0;

		while (members[i] && strcmp(members[i], key) != 0)
			i++;
		if (!members[i])
			return zm_why_set(why, -EINVAL, "%.64s: there is no such member", key);
	}
	return 0;
}

static int get_text(const json_t *object, const char *member, char **ret_text, struct zm_why *why)
{
	const char *text = json_string_value(json_object_get(object, member));

	if (!text)
		return wrong(why, member, "a text");
	*ret_text = strdup(text);
	return *ret_text ? 0 : zm_why_errno(why, -ENOMEM, "%s", member);
}

static int as_u64(const json_t *value, const char *what, uint64_t *ret_value, struct zm_why *why)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return wrong(why, what, "a whole number");
	*ret_value = (uint64_t)json_integer_value(value);
	return 0;
}

static int get_u64(const json_t *object, const char *member, uint64_t *ret_value,
		   struct zm_why *why)
{
	return as_u64(json_object_get(object, member), member, ret_value, why);
}

static int get_unsigned(const json_t *object, const char *member, unsigned int *ret_value,
			struct zm_why *why)
{
	uint64_t value = 0;
	int r = get_u64(object, member, &value, why);

	if (r == 0 && value > INT32_MAX)
		r = zm_why_set(why, -EINVAL, "%s: too large", member);
	if (r == 0)
		*ret_value = (unsigned int)value;
	return r;
}

static int get_real(const json_t *object, const char *member, double *ret_value, struct zm_why *why)
{
	const json_t *value = json_object_get(object, member);

	if (!json_is_number(value))
		return wrong(why, member, "a number");
	*ret_value = json_number_value(value);
	return 0;
}

/* May be left out: false then. */
static int get_flag(const json_t *object, const char *member, bool *ret_value, struct zm_why *why)
{
	const json_t *value = json_object_get(object, member);

	if (value && !json_is_boolean(value))
		return wrong(why, member, "true or false");
	*ret_value = json_is_true(value);
	return 0;
}

/* A list of `least` to `most`, and zeroed room for it in *ret_array, which must have been NULL. */
static int get_list(const json_t *object, const char *member, size_t least, size_t most,
		    size_t size, const json_t **ret_list, void **ret_array, struct zm_why *why)
{
	const json_t *list = json_object_get(object, member);
	size_t nr = json_array_size(list);

	if (!json_is_array(list))
		return wrong(why, member, "a list");
	if (nr < least || nr > most)
		return zm_why_set(why, -EINVAL, "%s: %zu elements; from %zu to %zu are taken",
				  member, nr, least, most);
	*ret_array = calloc(nr + 1, size);
	if (!*ret_array)
		return zm_why_errno(why, -ENOMEM, "%s", member);
	*ret_list = list;
	return 0;
}

/* The place in front of what was said. */
static int in_element(struct zm_why *why, const char *member, size_t i, int error)
{
	zm_why_prefix(why, "%s[%zu]", member, i);
	return error;
}

/* --- classes --- */

static int read_step(const json_t *pair, struct zm_profile_step *step, struct zm_why *why)
{
	const json_t *weight = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_number(weight))
		return zm_why_set(why, -EINVAL, "[bytes, weight] is needed");
	step->weight = json_number_value(weight);
	return as_u64(json_array_get(pair, 0), "bytes", &step->bytes, why);
}

static int get_mix(const json_t *object, const char *member, struct zm_profile_mix *mix,
		   struct zm_why *why)
{
	const json_t *list;
	int r = get_list(object, member, 0, ZM_PROFILE_STEPS_MAX, sizeof(*mix->steps), &list,
			 (void **)&mix->steps, why);

	if (r < 0)
		return r;
	mix->nr = json_array_size(list);
	for (size_t i = 0; i < mix->nr; i++) {
		r = read_step(json_array_get(list, i), &mix->steps[i], why);
		if (r < 0)
			return in_element(why, member, i, r);
	}
	return 0;
}

static int read_point(const json_t *pair, struct zm_profile_point *point, struct zm_why *why)
{
	const json_t *cpu = json_array_get(pair, 0);
	const json_t *anon = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_number(cpu) || !json_is_number(anon))
		return zm_why_set(why, -EINVAL, "[cpu, anon] is needed");
	point->cpu = json_number_value(cpu);
	point->anon = json_number_value(anon);
	return 0;
}

static int read_ramp(const json_t *object, struct zm_profile_ramp *ramp, struct zm_why *why)
{
	static const char *const members[] = { "up_to_us", "points", NULL };
	const json_t *list;
	int r = only(object, members, why);

	ramp->up_to_us = UINT64_MAX;
	if (r == 0 && json_object_get(object, "up_to_us"))
		r = get_u64(object, "up_to_us", &ramp->up_to_us, why);
	if (r == 0)
		r = get_list(object, "points", 2, ZM_PROFILE_POINTS_MAX, sizeof(*ramp->points),
			     &list, (void **)&ramp->points, why);
	if (r < 0)
		return r;
	ramp->nr = json_array_size(list);
	for (size_t i = 0; i < ramp->nr; i++) {
		r = read_point(json_array_get(list, i), &ramp->points[i], why);
		if (r < 0)
			return in_element(why, "points", i, r);
	}
	return 0;
}

static int get_ramps(const json_t *object, struct zm_profile_class *class, struct zm_why *why)
{
	const json_t *list;
	int r = get_list(object, "ramps", 0, ZM_PROFILE_RAMPS_MAX, sizeof(*class->ramps), &list,
			 (void **)&class->ramps, why);

	if (r < 0)
		return r;
	class->nr_ramps = json_array_size(list);
	for (size_t i = 0; i < class->nr_ramps; i++) {
		r = read_ramp(json_array_get(list, i), &class->ramps[i], why);
		if (r < 0)
			return in_element(why, "ramps", i, r);
	}
	return 0;
}

/* The columns' fields, in the order of the file. */
struct columns {
	enum zm_profile_field fields[ZM_NR_FIELDS];
	size_t nr;
};

static int read_column(const json_t *name, struct columns *columns, unsigned int *fields,
		       struct zm_why *why)
{
	const char *text = json_string_value(name);

	for (enum zm_profile_field field = 0; text && field < ZM_NR_FIELDS; field++) {
		if (strcmp(text, zm_profile_field_name(field)) != 0 || *fields >> field & 1)
			continue;
		*fields |= 1U << field;
		columns->fields[columns->nr++] = field;
		return 0;
	}
	return zm_why_set(why, -EINVAL, "%.64s: there is no such field, or twice",
			  text ? text : "no text");
}

static int get_columns(const json_t *object, struct columns *columns, unsigned int *fields,
		       struct zm_why *why)
{
	const json_t *list = json_object_get(object, "fields");
	size_t nr = json_array_size(list);

	if (!json_is_array(list) || nr > ZM_NR_FIELDS)
		return wrong(why, "fields", "a list of fields");
	for (size_t i = 0; i < nr; i++) {
		int r = read_column(json_array_get(list, i), columns, fields, why);

		if (r < 0)
			return in_element(why, "fields", i, r);
	}
	return 0;
}

static int read_row(const json_t *list, const struct columns *columns, uint64_t row[ZM_NR_FIELDS],
		    struct zm_why *why)
{
	int r = 0;

	if (json_array_size(list) != columns->nr)
		return zm_why_set(why, -EINVAL, "%zu numbers are needed", columns->nr);
	for (size_t i = 0; r == 0 && i < columns->nr; i++)
		r = as_u64(json_array_get(list, i), zm_profile_field_name(columns->fields[i]),
			   &row[columns->fields[i]], why);
	return r;
}

static int get_rows(const json_t *object, struct zm_profile_class *class, struct zm_why *why)
{
	struct columns columns = { .nr = 0 };
	const json_t *list;
	int r = get_columns(object, &columns, &class->fields, why);

	if (r == 0)
		r = get_list(object, "rows", 1, ZM_PROFILE_ROWS_MAX, sizeof(*class->rows), &list,
			     (void **)&class->rows, why);
	if (r < 0)
		return r;
	class->nr_rows = json_array_size(list);
	for (size_t i = 0; i < class->nr_rows; i++) {
		r = read_row(json_array_get(list, i), &columns, class->rows[i], why);
		if (r < 0)
			return in_element(why, "rows", i, r);
	}
	return 0;
}

static int get_role(const json_t *object, enum zm_profile_role *ret_role, struct zm_why *why)
{
	const char *text = json_string_value(json_object_get(object, "role"));

	for (enum zm_profile_role role = 0; text && role < ZM_NR_ROLES; role++) {
		if (strcmp(text, zm_profile_role_name(role)) == 0) {
			*ret_role = role;
			return 0;
		}
	}
	return wrong(why, "role",
		     "shell, driver, compiler, assembler, linker, archiver, make or tool");
}

static int read_class(const json_t *object, struct zm_profile_class *class, struct zm_why *why)
{
	static const char *const members[] = { "name",  "role",   "image_bytes", "images",
					       "maps",  "brks",   "brk_share",   "unmap_share",
					       "ramps", "fields", "rows",        NULL };
	int r = only(object, members, why);

	if (r == 0)
		r = get_text(object, "name", &class->name, why);
	if (r == 0)
		r = get_role(object, &class->role, why);
	if (r == 0)
		r = get_u64(object, "image_bytes", &class->image_bytes, why);
	if (r == 0)
		r = get_unsigned(object, "images", &class->nr_images, why);
	if (r == 0)
		r = get_mix(object, "maps", &class->maps, why);
	if (r == 0)
		r = get_mix(object, "brks", &class->brks, why);
	if (r == 0)
		r = get_real(object, "brk_share", &class->brk_share, why);
	if (r == 0)
		r = get_real(object, "unmap_share", &class->unmap_share, why);
	if (r == 0)
		r = get_ramps(object, class, why);
	return r == 0 ? get_rows(object, class, why) : r;
}

static int get_classes(const json_t *object, struct zm_profile *profile, struct zm_why *why)
{
	const json_t *list;
	int r = get_list(object, "classes", 1, ZM_PROFILE_CLASSES_MAX, sizeof(*profile->classes),
			 &list, (void **)&profile->classes, why);

	if (r < 0)
		return r;
	profile->nr_classes = json_array_size(list);
	for (size_t i = 0; i < profile->nr_classes; i++) {
		r = read_class(json_array_get(list, i), &profile->classes[i], why);
		if (r < 0)
			return in_element(why, "classes", i, r);
	}
	return 0;
}

/* --- recipes and stages --- */

static int find_class(const struct zm_profile *profile, const json_t *name, unsigned int *ret_index,
		      struct zm_why *why)
{
	const char *text = json_string_value(name);

	for (size_t i = 0; text && i < profile->nr_classes; i++) {
		if (strcmp(profile->classes[i].name, text) == 0) {
			*ret_index = (unsigned int)i;
			return 0;
		}
	}
	return zm_why_set(why, -EINVAL, "class: there is no class %.64s",
			  text ? text : "(no text)");
}

static int read_node(const struct zm_profile *profile, const json_t *object,
		     struct zm_profile_node *node, struct zm_why *why)
{
	static const char *const members[] = { "class", "parent", "fork", "beside",
					       "pipe",  "row",    NULL };
	unsigned int parent = 0, row = 0;
	int r = only(object, members, why);

	node->parent = -1;
	if (r == 0)
		r = find_class(profile, json_object_get(object, "class"), &node->class_index, why);
	if (r == 0 && json_object_get(object, "parent")) {
		r = get_unsigned(object, "parent", &parent, why);
		node->parent = (int)parent;
	}
	if (r == 0 && json_object_get(object, "row")) {
		r = get_unsigned(object, "row", &row, why);
		node->row = row + 1;
	}
	if (r == 0)
		r = get_flag(object, "fork", &node->is_fork, why);
	if (r == 0)
		r = get_flag(object, "beside", &node->is_beside, why);
	return r == 0 ? get_flag(object, "pipe", &node->is_piped, why) : r;
}

static int read_recipe(const struct zm_profile *profile, const json_t *object,
		       struct zm_profile_recipe *recipe, struct zm_why *why)
{
	static const char *const members[] = { "nodes", NULL };
	const json_t *list;
	int r = only(object, members, why);

	if (r == 0)
		r = get_list(object, "nodes", 1, ZM_PROFILE_NODES_MAX, sizeof(*recipe->nodes),
			     &list, (void **)&recipe->nodes, why);
	if (r < 0)
		return r;
	recipe->nr = json_array_size(list);
	for (size_t i = 0; i < recipe->nr; i++) {
		r = read_node(profile, json_array_get(list, i), &recipe->nodes[i], why);
		if (r < 0)
			return in_element(why, "nodes", i, r);
	}
	return 0;
}

static int get_recipes(const json_t *object, struct zm_profile *profile, struct zm_why *why)
{
	const json_t *list;
	int r = get_list(object, "recipes", 1, ZM_PROFILE_RECIPES_MAX, sizeof(*profile->recipes),
			 &list, (void **)&profile->recipes, why);

	if (r < 0)
		return r;
	profile->nr_recipes = json_array_size(list);
	for (size_t i = 0; i < profile->nr_recipes; i++) {
		r = read_recipe(profile, json_array_get(list, i), &profile->recipes[i], why);
		if (r < 0)
			return in_element(why, "recipes", i, r);
	}
	return 0;
}

static int read_job(const json_t *pair, struct zm_profile_job *job, struct zm_why *why)
{
	json_int_t recipe = json_integer_value(json_array_get(pair, 0));
	json_int_t row = json_integer_value(json_array_get(pair, 1));

	if (json_array_size(pair) != 2 || !json_is_integer(json_array_get(pair, 0)) ||
	    !json_is_integer(json_array_get(pair, 1)) || recipe < 0 || recipe > INT32_MAX ||
	    row < -1 || row > INT32_MAX)
		return zm_why_set(why, -EINVAL, "[recipe, row] is needed");
	job->recipe = (unsigned int)recipe;
	job->row = (int)row;
	return 0;
}

static int read_stage(const json_t *object, struct zm_profile_stage *stage, struct zm_why *why)
{
	static const char *const members[] = { "name", "max_jobs", "makes", "jobs", NULL };
	const json_t *list;
	int r = only(object, members, why);

	if (r == 0)
		r = get_text(object, "name", &stage->name, why);
	if (r == 0)
		r = get_unsigned(object, "max_jobs", &stage->max_jobs, why);
	if (r == 0)
		r = get_unsigned(object, "makes", &stage->nr_makes, why);
	if (r == 0)
		r = get_list(object, "jobs", 1, ZM_PROFILE_JOBS_MAX, sizeof(*stage->jobs), &list,
			     (void **)&stage->jobs, why);
	if (r < 0)
		return r;
	stage->nr = json_array_size(list);
	for (size_t i = 0; i < stage->nr; i++) {
		r = read_job(json_array_get(list, i), &stage->jobs[i], why);
		if (r < 0)
			return in_element(why, "jobs", i, r);
	}
	return 0;
}

static int get_stages(const json_t *object, struct zm_profile *profile, struct zm_why *why)
{
	const json_t *list;
	int r = get_list(object, "stages", 1, ZM_PROFILE_STAGES_MAX, sizeof(*profile->stages),
			 &list, (void **)&profile->stages, why);

	if (r < 0)
		return r;
	profile->nr_stages = json_array_size(list);
	for (size_t i = 0; i < profile->nr_stages; i++) {
		r = read_stage(json_array_get(list, i), &profile->stages[i], why);
		if (r < 0)
			return in_element(why, "stages", i, r);
	}
	return 0;
}

/* --- totals and knobs: any of them may be left out --- */

static int get_totals(const json_t *object, struct zm_profile *profile, struct zm_why *why)
{
	const char *members[ZM_NR_TOTALS + 1] = { NULL };
	const json_t *totals = json_object_get(object, "totals");
	int r;

	for (enum zm_profile_total i = 0; i < ZM_NR_TOTALS; i++)
		members[i] = zm_profile_total_name(i);
	r = only(totals, members, why);
	for (size_t i = 0; r == 0 && i < ZM_NR_TOTALS; i++) {
		if (json_object_get(totals, members[i]))
			r = get_u64(totals, members[i], &profile->totals[i], why);
	}
	if (r < 0)
		zm_why_prefix(why, "totals");
	return r;
}

static int get_knobs(const json_t *object, struct zm_profile *profile, struct zm_why *why)
{
	const char *members[ZM_NR_KNOBS + 1] = { NULL };
	const json_t *knobs = json_object_get(object, "knobs");
	int r;

	for (enum zm_profile_knob i = 0; i < ZM_NR_KNOBS; i++)
		members[i] = zm_profile_knob_name(i);
	r = only(knobs, members, why);
	for (size_t i = 0; r == 0 && i < ZM_NR_KNOBS; i++) {
		if (json_object_get(knobs, members[i]))
			r = get_real(knobs, members[i], &profile->knobs[i], why);
	}
	if (r < 0)
		zm_why_prefix(why, "knobs");
	return r;
}

/* --- the whole --- */

static int check_format(const json_t *object, struct zm_why *why)
{
	const char *format = json_string_value(json_object_get(object, "format"));
	uint64_t version = 0;
	int r;

	if (!format || strcmp(format, FORMAT) != 0)
		return zm_why_set(why, -EINVAL, "format: not \"%s\": this is no build profile",
				  FORMAT);
	r = get_u64(object, "version", &version, why);
	if (r == 0 && version != VERSION)
		r = zm_why_set(why, -EINVAL, "version: %llu; this zonemark reads version %d",
			       (unsigned long long)version, VERSION);
	return r;
}

static int read_all(const json_t *object, struct zm_profile *profile, struct zm_why *why)
{
	static const char *const members[] = { "format",  "version",  "name",       "command",
					       "machine", "compiler", "page_bytes", "header_files",
					       "headers", "classes",  "recipes",    "stages",
					       "totals",  "knobs",    NULL };
	int r = check_format(object, why);

	if (r == 0)
		r = only(object, members, why);
	if (r == 0)
		r = get_text(object, "name", &profile->name, why);
	if (r == 0)
		r = get_text(object, "command", &profile->command, why);
	if (r == 0)
		r = get_text(object, "machine", &profile->machine, why);
	if (r == 0)
		r = get_text(object, "compiler", &profile->compiler, why);
	if (r == 0)
		r = get_u64(object, "page_bytes", &profile->page_bytes, why);
	if (r == 0)
		r = get_u64(object, "header_files", &profile->nr_headers, why);
	if (r == 0)
		r = get_mix(object, "headers", &profile->headers, why);
	if (r == 0)
		r = get_classes(object, profile, why);
	if (r == 0)
		r = get_recipes(object, profile, why);
	if (r == 0)
		r = get_stages(object, profile, why);
	if (r == 0)
		r = get_totals(object, profile, why);
	if (r == 0)
		r = get_knobs(object, profile, why);
	return r == 0 ? zm_profile_check(profile, why) : r;
}

static int load(const char *text, size_t length, json_t **ret_json, struct zm_why *why)
{
	json_error_t error;

	if (length > ZM_PROFILE_BYTES_MAX)
		return zm_why_set(why, -EFBIG, "more than %d MiB", ZM_PROFILE_BYTES_MAX >> 20);
	*ret_json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	if (!*ret_json)
		return zm_why_set(why, -EINVAL, "line %d: %s", error.line, error.text);
	return 0;
}

int zm_profile_parse(const char *text, size_t length, const char *name,
		     struct zm_profile **ret_profile, struct zm_why *why)
{
	struct zm_profile *profile = zm_profile_new();
	json_t *json = NULL;
	int r;

	if (!profile)
		return zm_why_errno(why, -ENOMEM, "%s", name);
	r = load(text, length, &json, why);
	if (r == 0)
		r = read_all(json, profile, why);
	json_decref(json);
	if (r < 0) {
		zm_why_prefix(why, "%s", name);
		zm_profile_free(profile);
		return r;
	}
	*ret_profile = profile;
	return 0;
}

/* Up to one byte more than is taken, which zm_profile_parse then refuses. */
static int read_text(FILE *in, char **ret_text, size_t *ret_length)
{
	size_t room = ZM_PROFILE_BYTES_MAX + 1;
	zm_autofree char *text = malloc(room);

	if (!text)
		return -ENOMEM;
	*ret_length = fread(text, 1, room, in);
	if (ferror(in))
		return errno ? -errno : -EIO;
	*ret_text = text;
	text = NULL;
	return 0;
}

int zm_profile_read(const char *path, struct zm_profile **ret_profile, struct zm_why *why)
{
	zm_autofclose FILE *in = fopen(path, "re");
	zm_autofree char *text = NULL;
	size_t length;
	int r;

	if (!in)
		return zm_why_errno(why, -errno, "%s: the build profile cannot be opened", path);
	r = read_text(in, &text, &length);
	if (r < 0)
		return zm_why_errno(why, r, "%s", path);
	return zm_profile_parse(text, length, path, ret_profile, why);
}
