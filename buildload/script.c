/*
 * script: the profile's recipes are put into walking order once; then jobs are gone through, and a row
 * is taken for each process.
 *
 *     size everything -> one allocation -> stages, jobs, classes -> steps, job by job -> the makes' own
 */
#include "buildload/script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buildload/act.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/random.h"

/* A recipe in the order of a walk through its tree. */
struct walk {
	unsigned int *nodes;    /* node numbers */
	unsigned int *below;    /* by node */
	unsigned int *children; /* how many, by node */
	size_t main;
};

struct maker {
	const struct zm_profile *profile;
	const struct zm_script_choice *choice;
	struct walk *walks; /* by recipe */
	struct zm_random random;
	struct zm_script script;
	struct zm_script_head *head;
	uint32_t nr_steps; /* so far */
};

/* --- recipes in walking order --- */

/* Children's subtrees follow each other: a node's place is its parent's, one more, and what is below
 * its elder siblings. Parents stand before children, so one pass back and one forth do. */
static int walk_recipe(const struct zm_profile_recipe *recipe, struct walk *walk)
{
	zm_autofree unsigned int *place = calloc(recipe->nr, sizeof(*place));
	zm_autofree unsigned int *next = calloc(recipe->nr, sizeof(*next));

	walk->nodes = calloc(recipe->nr, sizeof(*walk->nodes));
	walk->below = calloc(recipe->nr, sizeof(*walk->below));
	walk->children = calloc(recipe->nr, sizeof(*walk->children));
	if (!place || !next || !walk->nodes || !walk->below || !walk->children)
		return -ENOMEM;
	for (size_t i = recipe->nr; i-- > 0;) {
		int parent = recipe->nodes[i].parent;

		walk->below[i]++;
		if (parent >= 0) {
			walk->below[parent] += walk->below[i];
			walk->children[parent]++;
		}
	}
	next[0] = 1;
	for (size_t i = 1; i < recipe->nr; i++) {
		int parent = recipe->nodes[i].parent;

		place[i] = next[parent];
		next[parent] += walk->below[i];
		next[i] = place[i] + 1;
	}
	for (size_t i = 0; i < recipe->nr; i++)
		walk->nodes[place[i]] = (unsigned int)i;
	return 0;
}

static int walk_recipes(struct maker *maker)
{
	const struct zm_profile *profile = maker->profile;
	int r = 0;

	maker->walks = calloc(profile->nr_recipes, sizeof(*maker->walks));
	if (!maker->walks)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < profile->nr_recipes; i++) {
		r = walk_recipe(&profile->recipes[i], &maker->walks[i]);
		maker->walks[i].main = zm_profile_main(profile, &profile->recipes[i]);
	}
	return r;
}

static void release_walks(struct maker *maker)
{
	for (size_t i = 0; maker->walks && i < maker->profile->nr_recipes; i++) {
		free(maker->walks[i].nodes);
		free(maker->walks[i].below);
		free(maker->walks[i].children);
	}
	free(maker->walks);
}

/* --- how much there will be --- */

static size_t nr_stages_of(const struct maker *maker)
{
	size_t nr = maker->profile->nr_stages;

	return maker->choice->stages && maker->choice->stages < nr ? maker->choice->stages : nr;
}

static size_t nr_jobs_of(const struct maker *maker, const struct zm_profile_stage *stage)
{
	return maker->choice->jobs && maker->choice->jobs < stage->nr ? maker->choice->jobs
								      : stage->nr;
}

/* Of the stage's jobs, evenly, when not all are wanted. */
static const struct zm_profile_job *recorded_job(const struct maker *maker,
						 const struct zm_profile_stage *stage, size_t i)
{
	return &stage->jobs[i * stage->nr / nr_jobs_of(maker, stage)];
}

static uint32_t nr_makes_of(const struct maker *maker, const struct zm_profile_stage *stage)
{
	size_t nr = nr_jobs_of(maker, stage);

	return (uint32_t)(stage->nr_makes < nr ? stage->nr_makes : nr);
}

static int lay_out(struct maker *maker)
{
	const struct zm_profile *profile = maker->profile;
	struct zm_script_head head = { .magic = ZM_SCRIPT_MAGIC };
	uint64_t nr_steps = 0, nr_jobs = 0;

	head.nr_stages = (uint32_t)nr_stages_of(maker);
	head.nr_classes = (uint32_t)profile->nr_classes;
	for (size_t i = 0; i < head.nr_stages; i++) {
		const struct zm_profile_stage *stage = &profile->stages[i];

		nr_jobs += nr_jobs_of(maker, stage);
		for (size_t j = 0; j < nr_jobs_of(maker, stage); j++)
			nr_steps += profile->recipes[recorded_job(maker, stage, j)->recipe].nr;
	}
	head.first_make_step = (uint32_t)nr_steps;
	for (size_t i = 0; i < head.nr_stages; i++)
		nr_steps += nr_makes_of(maker, &profile->stages[i]);
	if (nr_steps > INT32_MAX)
		return -EOVERFLOW;
	head.nr_steps = (uint32_t)nr_steps;
	head.nr_jobs = (uint32_t)nr_jobs;
	head.stages_at = sizeof(head);
	head.jobs_at = head.stages_at + head.nr_stages * sizeof(struct zm_script_stage);
	head.classes_at = head.jobs_at + head.nr_jobs * sizeof(struct zm_script_job);
	head.steps_at = head.classes_at + head.nr_classes * sizeof(struct zm_script_class);
	head.bytes = head.steps_at + nr_steps * sizeof(struct zm_script_step);
	maker->script.data = calloc(1, head.bytes);
	if (!maker->script.data)
		return -ENOMEM;
	maker->script.bytes = head.bytes;
	maker->head = (struct zm_script_head *)(void *)maker->script.data;
	*maker->head = head;
	return 0;
}

/* --- classes --- */

static uint32_t ppm(double share)
{
	return (uint32_t)lrint(share * 1e6);
}

static void fill_mix(const struct zm_profile_mix *mix, struct zm_script_mix *ret_mix)
{
	double sum = 0, so_far = 0;

	for (size_t i = 0; i < mix->nr; i++)
		sum += mix->steps[i].weight;
	ret_mix->nr = (uint32_t)mix->nr;
	for (size_t i = 0; i < mix->nr; i++) {
		so_far += mix->steps[i].weight / sum;
		ret_mix->steps[i].bytes = mix->steps[i].bytes;
		ret_mix->steps[i].until = (uint64_t)(so_far * 4294967296.0);
	}
	if (mix->nr > 0)
		ret_mix->steps[mix->nr - 1].until = UINT64_C(1) << 32;
}

uint64_t zm_script_image_bytes(const struct zm_profile_class *class)
{
	return class->image_bytes < ZM_SCRIPT_IMAGE_BYTES ? class->image_bytes
							  : ZM_SCRIPT_IMAGE_BYTES;
}

/* More than so many pages, so that each image begins with a window. */
static uint64_t whole_windows(uint64_t pages)
{
	return (pages / ZM_ACT_WINDOW_PAGES + 1) * ZM_ACT_WINDOW_PAGES;
}

static void fill_class(const struct maker *maker, const struct zm_profile_class *class,
		       struct zm_script_class *ret_class)
{
	const double *knobs = maker->profile->knobs;
	uint64_t page_bytes = maker->choice->page_bytes;

	for (size_t i = 0; i < ZM_SCRIPT_NAME - 1 && class->name[i]; i++) {
		char c = class->name[i];

		ret_class->name[i] = c > ' ' && c < 127 && c != '/' ? c : '_';
	}
	ret_class->role = (uint32_t) class->role;
	ret_class->nr_images =
		class->nr_images < ZM_SCRIPT_IMAGES ? class->nr_images : ZM_SCRIPT_IMAGES;
	if (class->nr_images)
		ret_class->image_pages = whole_windows(zm_script_image_bytes(class) /
						       (ret_class->nr_images * page_bytes));
	ret_class->brk_ppm = ppm(class->maps.nr == 0   ? 1
				 : class->brks.nr == 0 ? 0
						       : class->brk_share);
	ret_class->unmap_ppm = ppm(class->unmap_share);
	ret_class->early_ppm = ppm(knobs[ZM_KNOB_EARLY_FILE_SHARE]);
	ret_class->copy_ppm = ppm(knobs[ZM_KNOB_COPY_SHARE]);
	fill_mix(&class->maps, &ret_class->maps);
	fill_mix(&class->brks, &ret_class->brks);
}

/* --- steps --- */

static const struct zm_profile_ramp *find_ramp(const struct zm_profile_class *class,
					       uint64_t user_us)
{
	for (size_t i = 0; i < class->nr_ramps; i++) {
		if (user_us < class->ramps[i].up_to_us || i == class->nr_ramps - 1)
			return &class->ramps[i];
	}
	return NULL;
}

static double ramp_at(const struct zm_profile_ramp *ramp, double cpu)
{
	size_t i = 1;

	if (!ramp)
		return cpu;
	while (i < ramp->nr - 1 && ramp->points[i].cpu < cpu)
		i++;
	const struct zm_profile_point *to = &ramp->points[i], *from = to - 1;

	if (to->cpu <= from->cpu)
		return to->anon;
	if (cpu <= from->cpu)
		return from->anon;
	return from->anon + (to->anon - from->anon) * (cpu - from->cpu) / (to->cpu - from->cpu);
}

static uint64_t scaled(uint64_t value, double scale)
{
	return (uint64_t)((double)value * scale + 0.5);
}

/* Faults that are neither on files nor the heap's first ones: its pages are read before they are
 * written to. */
static uint64_t rest_of_faults(const uint64_t *row)
{
	uint64_t windows = row[ZM_FIELD_FILE_PAGES] / ZM_ACT_FILLED_PAGES;
	uint64_t others = row[ZM_FIELD_ANON_PAGES] + ZM_ACT_BASE_FAULTS - ZM_ACT_BASE_PAGES;
	uint64_t base = ZM_ACT_BASE_FILE_PAGES / ZM_ACT_FILLED_PAGES;

	others += windows > base ? windows - base : 0;
	return row[ZM_FIELD_FAULTS] > others ? row[ZM_FIELD_FAULTS] - others : 0;
}

/* A knob of 1.3 is one for most and two for three of ten. */
static uint32_t draw_hops(struct maker *maker, const struct zm_profile_class *class)
{
	double hops = maker->profile->knobs[ZM_KNOB_HOPS];
	double rest = hops - floor(hops);

	if (class->role != ZM_ROLE_COMPILER)
		return 0;
	return (uint32_t)hops + (rest > 0 && zm_random_unit(&maker->random) < rest);
}

static void fill_step(struct maker *maker, unsigned int class_index, const uint64_t *row,
		      struct zm_script_step *step)
{
	const struct zm_profile *profile = maker->profile;
	const struct zm_profile_class *class = &profile->classes[class_index];
	const struct zm_profile_ramp *ramp = find_ramp(class, row[ZM_FIELD_USER_US]);
	double pages = (double)profile->page_bytes / (double)maker->choice->page_bytes;
	double user = profile->knobs[ZM_KNOB_USER_SCALE] * maker->choice->work_scale;

	step->class_index = (uint16_t)class_index;
	step->seed = zm_random_next(&maker->random);
	step->anon_pages = scaled(row[ZM_FIELD_ANON_PAGES], pages);
	step->copied_pages = scaled(row[ZM_FIELD_COPIED_PAGES], pages);
	step->faults = scaled(row[ZM_FIELD_FAULTS], pages);
	if (class->fields >> ZM_FIELD_ZERO_READS & 1)
		step->zero_reads = scaled(row[ZM_FIELD_ZERO_READS], pages);
	else if (class->fields >> ZM_FIELD_FILE_PAGES & 1)
		step->zero_reads = scaled(rest_of_faults(row), pages);
	else if (class->role == ZM_ROLE_COMPILER)
		step->zero_reads =
			scaled(step->anon_pages, profile->knobs[ZM_KNOB_ZERO_READ_SHARE]);
	step->work = scaled(row[ZM_FIELD_USER_US], user);
	step->hops = draw_hops(maker, class);
	step->opens = row[ZM_FIELD_OPENS];
	step->opens_missing = row[ZM_FIELD_OPENS_MISSING];
	step->read_bytes = row[ZM_FIELD_READ_BYTES];
	step->write_bytes = row[ZM_FIELD_WRITE_BYTES];
	step->pipe_bytes = row[ZM_FIELD_PIPE_BYTES];
	for (size_t i = 0; i < ZM_SCRIPT_RAMP; i++)
		step->ramp[i] =
			(uint16_t)lrint(ramp_at(ramp, (double)(i + 1) / ZM_SCRIPT_RAMP) * 65535);
}

static const uint64_t *draw_row(struct maker *maker, unsigned int class_index)
{
	const struct zm_profile_class *class = &maker->profile->classes[class_index];

	return class->rows[zm_random_below(&maker->random, class->nr_rows)];
}

static struct zm_script_step *step_at(const struct maker *maker, uint32_t i)
{
	return (struct zm_script_step *)(void *)(maker->script.data + maker->head->steps_at) + i;
}

static bool has_next_beside(const struct zm_profile_recipe *recipe, const struct walk *walk,
			    size_t place)
{
	unsigned int number = walk->nodes[place];
	size_t after = place + walk->below[number];
	const struct zm_profile_node *next;

	if (after >= recipe->nr)
		return false;
	next = &recipe->nodes[walk->nodes[after]];
	return next->is_beside && next->parent == recipe->nodes[number].parent;
}

/* Is what it reads a pipe of the sibling before it? */
static bool has_piped_before(const struct zm_profile_recipe *recipe, unsigned int number)
{
	const struct zm_profile_node *nodes = recipe->nodes;

	for (unsigned int i = number; nodes[number].is_beside && i-- > 0;) {
		if (nodes[i].parent == nodes[number].parent)
			return nodes[i].is_piped;
	}
	return false;
}

static uint16_t flags_of(const struct zm_profile *profile, const struct zm_profile_recipe *recipe,
			 unsigned int number)
{
	const struct zm_profile_node *node = &recipe->nodes[number];
	bool is_compiler = profile->classes[node->class_index].role == ZM_ROLE_COMPILER;

	return (uint16_t)((node->is_fork ? ZM_STEP_FORK : 0) |
			  (node->is_beside ? ZM_STEP_BESIDE : 0) |
			  (node->is_piped ? ZM_STEP_PIPED : 0) |
			  (has_piped_before(recipe, number) ? ZM_STEP_READS : 0) |
			  (is_compiler ? ZM_STEP_TEMPORARY : 0));
}

/* What was recorded with the job, or with its form; or any of its class, by lot. */
static const uint64_t *row_of(struct maker *maker, const struct zm_profile_node *node,
			      const struct zm_profile_job *recorded, bool is_main)
{
	const struct zm_profile_class *class = &maker->profile->classes[node->class_index];
	const uint64_t *drawn = draw_row(maker, node->class_index);

	if (is_main && recorded->row >= 0)
		return class->rows[recorded->row];
	return node->row > 0 ? class->rows[node->row - 1] : drawn;
}

static void fill_job(struct maker *maker, const struct zm_profile_job *recorded,
		     struct zm_script_job *job)
{
	const struct zm_profile_recipe *recipe = &maker->profile->recipes[recorded->recipe];
	const struct walk *walk = &maker->walks[recorded->recipe];

	job->first_step = maker->nr_steps;
	job->nr_steps = (uint32_t)recipe->nr;
	for (size_t i = 0; i < recipe->nr; i++) {
		unsigned int number = walk->nodes[i];
		const struct zm_profile_node *node = &recipe->nodes[number];
		struct zm_script_step *step = step_at(maker, maker->nr_steps);
		const uint64_t *row = row_of(maker, node, recorded, number == walk->main);

		fill_step(maker, node->class_index, row, step);
		step->nr_below = walk->below[number];
		step->nr_children = walk->children[number];
		step->flags = flags_of(maker->profile, recipe, number);
		if (has_next_beside(recipe, walk, i))
			step->flags |= ZM_STEP_NEXT_BESIDE;
		step->output = maker->nr_steps++;
		job->weight += row[ZM_FIELD_USER_US] + 1;
	}
}

/* The order in which a stage's jobs are taken. */
static void shuffle(struct maker *maker, uint32_t order[], size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (size_t i = nr; maker->choice->is_shuffled && i > 1; i--) {
		size_t j = zm_random_below(&maker->random, i);
		uint32_t other = order[j];

		order[j] = order[i - 1];
		order[i - 1] = other;
	}
}

static int fill_stages(struct maker *maker)
{
	struct zm_script_stage *stages = (void *)(maker->script.data + maker->head->stages_at);
	struct zm_script_job *job = (void *)(maker->script.data + maker->head->jobs_at);
	zm_autofree uint32_t *order = calloc(maker->head->nr_jobs + 1, sizeof(*order));
	uint32_t first_job = 0, first_make = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < maker->head->nr_stages; i++) {
		const struct zm_profile_stage *recorded = &maker->profile->stages[i];
		size_t nr = nr_jobs_of(maker, recorded);

		stages[i] = (struct zm_script_stage){ .first_job = first_job,
						      .nr_jobs = (uint32_t)nr,
						      .max_jobs = recorded->max_jobs,
						      .nr_makes = nr_makes_of(maker, recorded),
						      .first_make = first_make };
		shuffle(maker, order, nr);
		for (size_t j = 0; j < nr; j++)
			fill_job(maker, recorded_job(maker, recorded, order[j]), job++);
		first_job += (uint32_t)nr;
		first_make += stages[i].nr_makes;
	}
	return 0;
}

/* Makes below the first: a row of a make's class, or nothing but the helper itself. */
static void fill_makes(struct maker *maker)
{
	static const uint64_t none[ZM_NR_FIELDS];
	unsigned int class_index = 0;

	while (class_index < maker->profile->nr_classes &&
	       maker->profile->classes[class_index].role != ZM_ROLE_MAKE)
		class_index++;
	for (; maker->nr_steps < maker->head->nr_steps; maker->nr_steps++) {
		struct zm_script_step *step = step_at(maker, maker->nr_steps);
		bool is_there = class_index < maker->profile->nr_classes;

		fill_step(maker, is_there ? class_index : 0,
			  is_there ? draw_row(maker, class_index) : none, step);
		step->nr_below = 1;
		step->output = maker->nr_steps;
	}
}

static void fill_head(struct maker *maker)
{
	const struct zm_profile *profile = maker->profile;
	double pages = (double)profile->page_bytes / (double)maker->choice->page_bytes;

	maker->head->make_pages = (uint32_t)(profile->knobs[ZM_KNOB_MAKE_PAGES] * pages);
	maker->head->nr_headers = (uint32_t)profile->nr_headers;
	maker->head->page_bytes = (uint32_t)maker->choice->page_bytes;
	maker->head->walk_bytes = (uint32_t)profile->knobs[ZM_KNOB_WALK_BYTES];
}

static int fill(struct maker *maker)
{
	struct zm_script_class *classes;
	int r = walk_recipes(maker);

	if (r == 0)
		r = lay_out(maker);
	if (r < 0)
		return r;
	fill_head(maker);
	classes = (void *)(maker->script.data + maker->head->classes_at);
	for (size_t i = 0; i < maker->profile->nr_classes; i++)
		fill_class(maker, &maker->profile->classes[i], &classes[i]);
	r = fill_stages(maker);
	if (r == 0)
		fill_makes(maker);
	return r;
}

int zm_script_make(const struct zm_profile *profile, const struct zm_script_choice *choice,
		   struct zm_script *ret_script, struct zm_why *why)
{
	struct maker maker = { .profile = profile, .choice = choice };
	int r;

	zm_random_init(&maker.random, choice->seed, choice->number);
	r = fill(&maker);
	release_walks(&maker);
	if (r < 0) {
		zm_script_release(&maker.script);
		return zm_why_errno(why, r, "%s: the script of a build", profile->name);
	}
	*ret_script = maker.script;
	return 0;
}

void zm_script_release(struct zm_script *script)
{
	free(script->data);
	*script = (struct zm_script){ 0 };
}

const struct zm_script_head *zm_script_head(const struct zm_script *script)
{
	return (const void *)script->data;
}

const struct zm_script_stage *zm_script_stages(const struct zm_script *script)
{
	return (const void *)(script->data + zm_script_head(script)->stages_at);
}

const struct zm_script_job *zm_script_jobs(const struct zm_script *script)
{
	return (const void *)(script->data + zm_script_head(script)->jobs_at);
}

const struct zm_script_class *zm_script_classes(const struct zm_script *script)
{
	return (const void *)(script->data + zm_script_head(script)->classes_at);
}

const struct zm_script_step *zm_script_steps(const struct zm_script *script)
{
	return (const void *)(script->data + zm_script_head(script)->steps_at);
}
