/*
 * profile: its names, its end, and what must hold of it. Reading is in profile_read.c, writing in
 * profile_write.c.
 */
#include "buildload/profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

static const char *const field_names[ZM_NR_FIELDS] = {
	[ZM_FIELD_ANON_PAGES] = "anon_pages",
	[ZM_FIELD_COPIED_PAGES] = "copied_pages",
	[ZM_FIELD_FAULTS] = "faults",
	[ZM_FIELD_ZERO_READS] = "zero_reads",
	[ZM_FIELD_FILE_PAGES] = "file_pages",
	[ZM_FIELD_TABLE_PAGES] = "table_pages",
	[ZM_FIELD_PEAK_RSS_PAGES] = "peak_rss_pages",
	[ZM_FIELD_USER_US] = "user_us",
	[ZM_FIELD_SYSTEM_US] = "system_us",
	[ZM_FIELD_LIFE_US] = "life_us",
	[ZM_FIELD_OPENS] = "opens",
	[ZM_FIELD_OPENS_MISSING] = "opens_missing",
	[ZM_FIELD_READ_BYTES] = "read_bytes",
	[ZM_FIELD_WRITE_BYTES] = "write_bytes",
	[ZM_FIELD_PIPE_BYTES] = "pipe_bytes",
	[ZM_FIELD_SWITCHES] = "switches",
};

static const char *const role_names[ZM_NR_ROLES] = {
	[ZM_ROLE_SHELL] = "shell",       [ZM_ROLE_DRIVER] = "driver",
	[ZM_ROLE_COMPILER] = "compiler", [ZM_ROLE_ASSEMBLER] = "assembler",
	[ZM_ROLE_LINKER] = "linker",     [ZM_ROLE_ARCHIVER] = "archiver",
	[ZM_ROLE_MAKE] = "make",         [ZM_ROLE_TOOL] = "tool",
};

static const char *const total_names[ZM_NR_TOTALS] = {
	[ZM_TOTAL_WALL_US] = "wall_us",     [ZM_TOTAL_USER_US] = "user_us",
	[ZM_TOTAL_SYSTEM_US] = "system_us", [ZM_TOTAL_FAULTS] = "faults",
	[ZM_TOTAL_FORKS] = "forks",         [ZM_TOTAL_EXECS] = "execs",
	[ZM_TOTAL_SWITCHES] = "switches",   [ZM_TOTAL_SLOTS] = "slots",
};

static const struct {
	const char *name;
	double preset;
	double max;
} knobs[ZM_NR_KNOBS] = {
	[ZM_KNOB_USER_SCALE] = { "user_scale", 1, 100 },
	[ZM_KNOB_ZERO_READ_SHARE] = { "zero_read_share", 0.064, 1 },
	[ZM_KNOB_EARLY_FILE_SHARE] = { "early_file_share", 0.66, 1 },
	[ZM_KNOB_COPY_SHARE] = { "copy_share", 0.13, 1 },
	[ZM_KNOB_WALK_BYTES] = { "walk_bytes", 2 << 20, 1e9 },
	[ZM_KNOB_HOPS] = { "hops", 1, 1000 },
	[ZM_KNOB_MAKE_PAGES] = { "make_pages", 1200, 1e6 },
};

const char *zm_profile_field_name(enum zm_profile_field field)
{
	return field_names[field];
}

const char *zm_profile_role_name(enum zm_profile_role role)
{
	return role_names[role];
}

const char *zm_profile_total_name(enum zm_profile_total total)
{
	return total_names[total];
}

const char *zm_profile_knob_name(enum zm_profile_knob knob)
{
	return knobs[knob].name;
}

double zm_profile_knob_preset(enum zm_profile_knob knob)
{
	return knobs[knob].preset;
}

struct zm_profile *zm_profile_new(void)
{
	struct zm_profile *profile = calloc(1, sizeof(*profile));

	for (size_t i = 0; profile && i < ZM_NR_KNOBS; i++)
		profile->knobs[i] = knobs[i].preset;
	return profile;
}

static void class_release(struct zm_profile_class *class)
{
	for (size_t i = 0; class->ramps && i < class->nr_ramps; i++)
		free(class->ramps[i].points);
	free(class->ramps);
	free(class->name);
	free(class->maps.steps);
	free(class->brks.steps);
	free(class->rows);
}

void zm_profile_free(struct zm_profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; profile->classes && i < profile->nr_classes; i++)
		class_release(&profile->classes[i]);
	for (size_t i = 0; profile->recipes && i < profile->nr_recipes; i++)
		free(profile->recipes[i].nodes);
	for (size_t i = 0; profile->stages && i < profile->nr_stages; i++) {
		free(profile->stages[i].name);
		free(profile->stages[i].jobs);
	}
	free(profile->classes);
	free(profile->recipes);
	free(profile->stages);
	free(profile->headers.steps);
	free(profile->name);
	free(profile->command);
	free(profile->machine);
	free(profile->compiler);
	free(profile);
}

/* --- what is asked of it --- */

double zm_profile_mean(const struct zm_profile_class *class, enum zm_profile_field field)
{
	double sum = 0;

	for (size_t i = 0; i < class->nr_rows; i++)
		sum += (double)class->rows[i][field];
	return class->nr_rows ? sum / (double)class->nr_rows : 0;
}

static void fill_means(const struct zm_profile *profile, double means[ZM_PROFILE_CLASSES_MAX])
{
	for (size_t i = 0; i < profile->nr_classes; i++)
		means[i] = zm_profile_mean(&profile->classes[i], ZM_FIELD_ANON_PAGES);
}

static size_t find_main(const struct zm_profile_recipe *recipe, const double means[])
{
	size_t found = 0;

	for (size_t i = 1; i < recipe->nr; i++) {
		if (means[recipe->nodes[i].class_index] > means[recipe->nodes[found].class_index])
			found = i;
	}
	return found;
}

size_t zm_profile_main(const struct zm_profile *profile, const struct zm_profile_recipe *recipe)
{
	double means[ZM_PROFILE_CLASSES_MAX];

	fill_means(profile, means);
	return find_main(recipe, means);
}

/* --- what must hold --- */

#define FIGURE_MAX (UINT64_C(1) << 50) /* of any: sums of them do not overflow */

static bool is_share(double value)
{
	return value >= 0 && value <= 1;
}

static int check_text(const char *text, const char *what, struct zm_why *why)
{
	if (!text || !*text)
		return zm_why_set(why, -EINVAL, "%s: a text is needed", what);
	if (strlen(text) > ZM_PROFILE_TEXT_MAX)
		return zm_why_set(why, -EINVAL, "%s: more than %d bytes", what,
				  ZM_PROFILE_TEXT_MAX);
	return 0;
}

static int check_count(size_t nr, size_t least, size_t most, const char *what, struct zm_why *why)
{
	if (nr < least || nr > most)
		return zm_why_set(why, -EINVAL, "%s: %zu of them; from %zu to %zu are taken", what,
				  nr, least, most);
	return 0;
}

static int check_mix(const struct zm_profile_mix *mix, const char *what, struct zm_why *why)
{
	int r = check_count(mix->nr, 0, ZM_PROFILE_STEPS_MAX, what, why);

	for (size_t i = 0; r == 0 && i < mix->nr; i++) {
		const struct zm_profile_step *step = &mix->steps[i];

		if (step->bytes == 0 || step->bytes > FIGURE_MAX || !isfinite(step->weight) ||
		    !(step->weight > 0))
			return zm_why_set(why, -EINVAL,
					  "%s[%zu]: bytes and weight must be above 0, and finite",
					  what, i);
	}
	return r;
}

static int check_ramp(const struct zm_profile_ramp *ramp, struct zm_why *why)
{
	int r = check_count(ramp->nr, 2, ZM_PROFILE_POINTS_MAX, "points", why);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ramp->nr; i++) {
		const struct zm_profile_point *point = &ramp->points[i];

		if (!is_share(point->cpu) || !is_share(point->anon) ||
		    (i > 0 && (point->cpu < point[-1].cpu || point->anon < point[-1].anon)))
			return zm_why_set(why, -EINVAL,
					  "points[%zu]: both must be from 0 to 1 and not fall", i);
	}
	if (ramp->points[0].cpu > 0 || ramp->points[ramp->nr - 1].cpu < 1 ||
	    ramp->points[ramp->nr - 1].anon < 1)
		return zm_why_set(why, -EINVAL, "points: the first is at cpu 0, the last is 1, 1");
	return 0;
}

static int check_ramps(const struct zm_profile_class *class, struct zm_why *why)
{
	uint64_t below_us = 0;
	int r = check_count(class->nr_ramps, 0, ZM_PROFILE_RAMPS_MAX, "ramps", why);

	for (size_t i = 0; r == 0 && i < class->nr_ramps; i++) {
		const struct zm_profile_ramp *ramp = &class->ramps[i];

		if (ramp->up_to_us <= below_us)
			return zm_why_set(why, -EINVAL, "ramps[%zu]: up_to_us must rise", i);
		below_us = ramp->up_to_us;
		r = check_ramp(ramp, why);
		if (r < 0)
			zm_why_prefix(why, "ramps[%zu]", i);
	}
	if (r == 0 && class->nr_ramps > 0 && below_us != UINT64_MAX)
		return zm_why_set(why, -EINVAL, "ramps: the last holds for all: no up_to_us");
	return r;
}

static int check_rows(const struct zm_profile_class *class, struct zm_why *why)
{
	const unsigned int needed = 1U << ZM_FIELD_ANON_PAGES | 1U << ZM_FIELD_FAULTS;
	int r = check_count(class->nr_rows, 1, ZM_PROFILE_ROWS_MAX, "rows", why);

	if (r < 0)
		return r;
	if ((class->fields & needed) != needed || class->fields >> ZM_NR_FIELDS)
		return zm_why_set(why, -EINVAL, "fields: anon_pages and faults are needed");
	for (size_t i = 0; i < class->nr_rows; i++) {
		for (size_t field = 0; field < ZM_NR_FIELDS; field++) {
			uint64_t value = class->rows[i][field];

			if (value > FIGURE_MAX || (value && !(class->fields >> field & 1)))
				return zm_why_set(why, -EINVAL, "rows[%zu]: %s=%llu", i,
						  field_names[field], (unsigned long long)value);
		}
	}
	return 0;
}

static int check_class(const struct zm_profile_class *class, struct zm_why *why)
{
	int r = check_text(class->name, "name", why);

	if (r == 0 && (unsigned int)class->role >= ZM_NR_ROLES)
		return zm_why_set(why, -EINVAL, "role: none");
	if (r == 0 && (class->image_bytes > FIGURE_MAX || class->nr_images > 1024 ||
		       (class->image_bytes > 0) != (class->nr_images > 0)))
		return zm_why_set(
			why, -EINVAL,
			"image_bytes, images: both above 0, or both 0; 1024 images at most");
	if (r == 0 && (!is_share(class->brk_share) || !is_share(class->unmap_share)))
		return zm_why_set(why, -EINVAL, "brk_share, unmap_share: from 0 to 1");
	if (r == 0)
		r = check_mix(&class->maps, "maps", why);
	if (r == 0)
		r = check_mix(&class->brks, "brks", why);
	if (r == 0)
		r = check_ramps(class, why);
	return r == 0 ? check_rows(class, why) : r;
}

static int check_node(const struct zm_profile *profile, const struct zm_profile_recipe *recipe,
		      size_t i, unsigned char depths[], struct zm_why *why)
{
	const struct zm_profile_node *node = &recipe->nodes[i];

	if (node->class_index >= profile->nr_classes)
		return zm_why_set(why, -EINVAL, "there is no such class");
	if (node->row > profile->classes[node->class_index].nr_rows)
		return zm_why_set(why, -EINVAL, "its class has no such row");
	if (i == 0) {
		if (node->parent != -1 || node->is_fork || node->is_beside)
			return zm_why_set(why, -EINVAL, "the first is started by make, alone");
		depths[0] = 1;
		return 0;
	}
	if (node->parent < 0 || (size_t)node->parent >= i)
		return zm_why_set(why, -EINVAL, "its parent must stand before it");
	depths[i] = (unsigned char)(depths[node->parent] + 1);
	if (depths[i] > ZM_PROFILE_DEPTH_MAX)
		return zm_why_set(why, -EINVAL, "deeper than %d", ZM_PROFILE_DEPTH_MAX);
	return 0;
}

static int check_recipe(const struct zm_profile *profile, const struct zm_profile_recipe *recipe,
			struct zm_why *why)
{
	unsigned char depths[ZM_PROFILE_NODES_MAX];
	int r = check_count(recipe->nr, 1, ZM_PROFILE_NODES_MAX, "nodes", why);

	for (size_t i = 0; r == 0 && i < recipe->nr; i++) {
		r = check_node(profile, recipe, i, depths, why);
		if (r < 0)
			zm_why_prefix(why, "nodes[%zu]", i);
	}
	return r;
}

/* mains[]: by recipe, the class of its main node. */
static int check_job(const struct zm_profile *profile, const unsigned int mains[],
		     const struct zm_profile_job *job, struct zm_why *why)
{
	const struct zm_profile_class *class;

	if (job->recipe >= profile->nr_recipes)
		return zm_why_set(why, -EINVAL, "there is no recipe %u", job->recipe);
	class = &profile->classes[mains[job->recipe]];
	if (job->row < -1 || (job->row >= 0 && (size_t)job->row >= class->nr_rows))
		return zm_why_set(why, -EINVAL, "class %s has no row %d", class->name, job->row);
	return 0;
}

static int check_stage(const struct zm_profile *profile, const unsigned int mains[],
		       const struct zm_profile_stage *stage, struct zm_why *why)
{
	int r = check_text(stage->name, "name", why);

	if (r == 0)
		r = check_count(stage->nr, 1, ZM_PROFILE_JOBS_MAX, "jobs", why);
	if (r == 0 && stage->nr_makes > stage->nr)
		return zm_why_set(why, -EINVAL, "makes: more of them than jobs");
	for (size_t i = 0; r == 0 && i < stage->nr; i++) {
		r = check_job(profile, mains, &stage->jobs[i], why);
		if (r < 0)
			zm_why_prefix(why, "jobs[%zu]", i);
	}
	return r;
}

/* The name of an earlier one? Counts are bounded, and small. */
static bool has_class_before(const struct zm_profile *profile, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (strcmp(profile->classes[j].name, profile->classes[i].name) == 0)
			return true;
	}
	return false;
}

static bool has_stage_before(const struct zm_profile *profile, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (strcmp(profile->stages[j].name, profile->stages[i].name) == 0)
			return true;
	}
	return false;
}

static int check_classes(const struct zm_profile *profile, struct zm_why *why)
{
	int r = check_count(profile->nr_classes, 1, ZM_PROFILE_CLASSES_MAX, "classes", why);

	for (size_t i = 0; r == 0 && i < profile->nr_classes; i++) {
		r = check_class(&profile->classes[i], why);
		if (r == 0 && has_class_before(profile, i))
			r = zm_why_set(why, -EINVAL, "name: \"%s\" is there already",
				       profile->classes[i].name);
		if (r < 0)
			zm_why_prefix(why, "classes[%zu]", i);
	}
	return r;
}

static int check_recipes(const struct zm_profile *profile, struct zm_why *why)
{
	int r = check_count(profile->nr_recipes, 1, ZM_PROFILE_RECIPES_MAX, "recipes", why);

	for (size_t i = 0; r == 0 && i < profile->nr_recipes; i++) {
		r = check_recipe(profile, &profile->recipes[i], why);
		if (r < 0)
			zm_why_prefix(why, "recipes[%zu]", i);
	}
	return r;
}

static int check_stages(const struct zm_profile *profile, struct zm_why *why)
{
	unsigned int mains[ZM_PROFILE_RECIPES_MAX];
	double means[ZM_PROFILE_CLASSES_MAX];
	int r = check_count(profile->nr_stages, 1, ZM_PROFILE_STAGES_MAX, "stages", why);

	fill_means(profile, means);
	for (size_t i = 0; i < profile->nr_recipes; i++)
		mains[i] = profile->recipes[i]
				   .nodes[find_main(&profile->recipes[i], means)]
				   .class_index;
	for (size_t i = 0; r == 0 && i < profile->nr_stages; i++) {
		r = check_stage(profile, mains, &profile->stages[i], why);
		if (r == 0 && has_stage_before(profile, i))
			r = zm_why_set(why, -EINVAL, "name: \"%s\" is there already",
				       profile->stages[i].name);
		if (r < 0)
			zm_why_prefix(why, "stages[%zu]", i);
	}
	return r;
}

static int check_knobs(const struct zm_profile *profile, struct zm_why *why)
{
	for (size_t i = 0; i < ZM_NR_KNOBS; i++) {
		double value = profile->knobs[i];

		if (!(value >= 0 && value <= knobs[i].max))
			return zm_why_set(why, -EINVAL, "knobs.%s: from 0 to %g", knobs[i].name,
					  knobs[i].max);
	}
	return 0;
}

static int check_totals(const struct zm_profile *profile, struct zm_why *why)
{
	for (size_t i = 0; i < ZM_NR_TOTALS; i++) {
		if (profile->totals[i] > FIGURE_MAX)
			return zm_why_set(why, -EINVAL, "totals.%s: too large", total_names[i]);
	}
	return 0;
}

int zm_profile_check(const struct zm_profile *profile, struct zm_why *why)
{
	int r = check_text(profile->name, "name", why);

	if (r == 0)
		r = check_text(profile->command, "command", why);
	if (r == 0)
		r = check_text(profile->machine, "machine", why);
	if (r == 0)
		r = check_text(profile->compiler, "compiler", why);
	if (r == 0 && (profile->page_bytes < 1024 || profile->page_bytes > 1 << 20 ||
		       (profile->page_bytes & (profile->page_bytes - 1))))
		return zm_why_set(why, -EINVAL, "page_bytes: not the size of a page");
	if (r == 0)
		r = check_mix(&profile->headers, "headers", why);
	if (r == 0 && (profile->nr_headers > 1000000 ||
		       (profile->nr_headers > 0) != (profile->headers.nr > 0)))
		return zm_why_set(
			why, -EINVAL,
			"header_files: from 1 to 1000000 where there are headers, else 0");
	if (r == 0)
		r = check_classes(profile, why);
	if (r == 0)
		r = check_recipes(profile, why);
	if (r == 0)
		r = check_stages(profile, why);
	if (r == 0)
		r = check_totals(profile, why);
	return r == 0 ? check_knobs(profile, why) : r;
}
