/*
 * record: from processes to classes, to jobs and recipes, to stages.
 *
 * A process that went on without an exec has a class of its own, "sh.fork": it has less to do than one
 * that began anew. What leads to another make is no job, and what it starts beside are jobs of their
 * own: a script that links, and calls make for a last object.
 */
#include "buildload/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buildload/ramp.h"
#include "workloads/base/cleanup.h"

#define MAIN_PAGES 1000 /* of anonymous memory, on average: all of a class's rows are kept */
#define MAIN_ROWS  1024
#define SMALL_ROWS 48
#define HEADER_MAX (1 << 20) /* larger files are programs and libraries */
#define FEW_JOBS   4         /* a stage has more, or 1 % of all */

struct job {
	int root; /* its first process */
	int make; /* who started it */
	uint64_t start_ns, end_ns;
	unsigned int recipe;
	int main; /* its largest process */
};

struct recorder {
	const struct zm_trace *trace;
	struct zm_profile *profile;
	int *class_of; /* of each process; -1: not ended */
	int *row_of;   /* of each process; -1: not kept */
	int *first_child, *next_sibling;
	bool *is_make, *has_make_below;
	struct job *jobs;
	size_t nr_jobs;
};

static const struct zm_trace_process *process_at(const struct recorder *recorder, int i)
{
	return &recorder->trace->processes[i];
}

/* --- classes ---------------------------------------------------------------------------------- */

static enum zm_profile_role role_of(const char *name)
{
	static const struct {
		const char *name;
		enum zm_profile_role role;
	} roles[] = {
		{ "sh", ZM_ROLE_SHELL },       { "sh.fork", ZM_ROLE_SHELL },
		{ "gcc", ZM_ROLE_DRIVER },     { "g++", ZM_ROLE_DRIVER },
		{ "cc", ZM_ROLE_DRIVER },      { "collect2", ZM_ROLE_DRIVER },
		{ "cc1", ZM_ROLE_COMPILER },   { "cc1plus", ZM_ROLE_COMPILER },
		{ "clang", ZM_ROLE_COMPILER }, { "rustc", ZM_ROLE_COMPILER },
		{ "lto1", ZM_ROLE_COMPILER },  { "as", ZM_ROLE_ASSEMBLER },
		{ "ld", ZM_ROLE_LINKER },      { "ld.bfd", ZM_ROLE_LINKER },
		{ "ld.gold", ZM_ROLE_LINKER }, { "ld.lld", ZM_ROLE_LINKER },
		{ "lld", ZM_ROLE_LINKER },     { "mold", ZM_ROLE_LINKER },
		{ "ar", ZM_ROLE_ARCHIVER },    { "ranlib", ZM_ROLE_ARCHIVER },
		{ "make", ZM_ROLE_MAKE },      { "ninja", ZM_ROLE_MAKE },
		{ "samu", ZM_ROLE_MAKE },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(name, roles[i].name) == 0)
			return roles[i].role;
	return ZM_ROLE_TOOL;
}

static int find_class(struct recorder *recorder, const struct zm_trace_process *process)
{
	struct zm_profile *profile = recorder->profile;
	struct zm_profile_class *grown;
	char name[ZM_TRACE_NAME + 8];

	(void)snprintf(name, sizeof(name), "%s%s", process->name,
		       process->has_execed ? "" : ".fork");
	for (size_t i = 0; i < profile->nr_classes; i++)
		if (strcmp(profile->classes[i].name, name) == 0)
			return (int)i;
	if (profile->nr_classes == ZM_PROFILE_CLASSES_MAX)
		return -E2BIG;
	grown = reallocarray(profile->classes, profile->nr_classes + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	profile->classes = grown;
	grown[profile->nr_classes] = (struct zm_profile_class){
		.name = strdup(name), .role = role_of(name), .fields = (1U << ZM_NR_FIELDS) - 1
	};
	grown[profile->nr_classes].fields &= ~(1U << ZM_FIELD_ZERO_READS);
	return grown[profile->nr_classes].name ? (int)profile->nr_classes++ : -ENOMEM;
}

static int make_classes(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->trace->nr; i++) {
		const struct zm_trace_process *process = process_at(recorder, (int)i);

		recorder->class_of[i] = process->has_ended ? find_class(recorder, process) : -1;
		if (process->has_ended && recorder->class_of[i] < 0)
			return recorder->class_of[i];
	}
	return 0;
}

static void fill_row(const struct zm_trace_process *process, uint64_t *row)
{
	uint64_t heap_pages =
		(process->mapped_bytes + process->broken_bytes) / (uint64_t)sysconf(_SC_PAGESIZE);

	if (process->has_execed && process->anon_pages > heap_pages)
		row[ZM_FIELD_COPIED_PAGES] = process->anon_pages - heap_pages;
	row[ZM_FIELD_ANON_PAGES] = process->anon_pages;
	row[ZM_FIELD_FAULTS] = process->faults;
	row[ZM_FIELD_FILE_PAGES] = process->file_pages;
	row[ZM_FIELD_TABLE_PAGES] = process->table_pages;
	row[ZM_FIELD_PEAK_RSS_PAGES] = process->peak_rss_pages;
	row[ZM_FIELD_USER_US] = process->user_ns / 1000;
	row[ZM_FIELD_SYSTEM_US] = process->system_ns / 1000;
	row[ZM_FIELD_LIFE_US] = (process->end_ns - process->start_ns) / 1000;
	row[ZM_FIELD_OPENS] = process->opens;
	row[ZM_FIELD_OPENS_MISSING] = process->opens_missing;
	row[ZM_FIELD_READ_BYTES] = process->read_bytes;
	row[process->writes_a_file ? ZM_FIELD_WRITE_BYTES : ZM_FIELD_PIPE_BYTES] =
		process->write_bytes;
	row[ZM_FIELD_SWITCHES] = process->switches;
}

/* What the processes of one class come to. */
struct sums {
	size_t nr;
	uint64_t anon_pages, image_bytes, images, mapped, broken, unmapped;
};

static struct sums sum_class(const struct recorder *recorder, int class)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < recorder->trace->nr; i++) {
		const struct zm_trace_process *process = process_at(recorder, (int)i);

		if (recorder->class_of[i] != class)
			continue;
		sums.nr++;
		sums.anon_pages += process->anon_pages;
		sums.image_bytes += process->image_bytes;
		sums.images += process->nr_images;
		sums.mapped += process->mapped_bytes;
		sums.broken += process->broken_bytes;
		sums.unmapped += process->unmapped_bytes;
	}
	return sums;
}

/* All rows of what is large; of the rest some, evenly spaced. */
static int keep_rows(struct recorder *recorder, int index, const struct sums *sums)
{
	struct zm_profile_class *class = &recorder->profile->classes[index];
	size_t most = sums->anon_pages / sums->nr >= MAIN_PAGES ? MAIN_ROWS : SMALL_ROWS;
	size_t nr = sums->nr < most ? sums->nr : most, seen = 0;

	class->rows = calloc(nr, sizeof(*class->rows));
	if (!class->rows)
		return -ENOMEM;
	for (size_t i = 0; i < recorder->trace->nr; i++) {
		if (recorder->class_of[i] != index)
			continue;
		if (seen++ * nr / sums->nr < class->nr_rows)
			continue;
		recorder->row_of[i] = (int)class->nr_rows;
		fill_row(process_at(recorder, (int)i), class->rows[class->nr_rows++]);
	}
	return 0;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : part > whole ? 1 : (double)part / (double)whole;
}

static int fill_class(struct recorder *recorder, int index)
{
	struct zm_profile_class *class = &recorder->profile->classes[index];
	struct sums sums = sum_class(recorder, index);
	int r = keep_rows(recorder, index, &sums);

	class->nr_images = (unsigned int)((sums.images + sums.nr / 2) / sums.nr);
	class->image_bytes = class->nr_images ? sums.image_bytes / sums.nr : 0;
	if (class->image_bytes == 0)
		class->nr_images = 0;
	class->brk_share = share(sums.broken, sums.broken + sums.mapped);
	class->unmap_share = share(sums.unmapped, sums.mapped);
	if (r == 0)
		r = zm_ramp_steps(recorder->trace, recorder->class_of, index, false, &class->maps);
	if (r == 0)
		r = zm_ramp_steps(recorder->trace, recorder->class_of, index, true, &class->brks);
	return r == 0 ? zm_ramp_fit(recorder->trace, recorder->class_of, index, class) : r;
}

/* --- jobs ------------------------------------------------------------------------------------- */

static void link_family(struct recorder *recorder)
{
	size_t nr = recorder->trace->nr;

	for (size_t i = 0; i < nr; i++)
		recorder->first_child[i] = recorder->next_sibling[i] = -1;
	/* From the last to the first, so that each list is in the order of the forks. */
	for (size_t i = nr; i-- > 1;) {
		int parent = process_at(recorder, (int)i)->parent;

		if (recorder->class_of[i] < 0 || parent < 0)
			continue;
		recorder->next_sibling[i] = recorder->first_child[parent];
		recorder->first_child[parent] = (int)i;
	}
}

static void find_makes(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->trace->nr; i++) {
		int class = recorder->class_of[i];

		recorder->is_make[i] =
			i == 0 ||
			(class >= 0 && recorder->profile->classes[class].role == ZM_ROLE_MAKE);
	}
	for (size_t i = recorder->trace->nr; i-- > 1;) {
		int parent = process_at(recorder, (int)i)->parent;

		if (parent >= 0 && (recorder->is_make[i] || recorder->has_make_below[i]))
			recorder->has_make_below[parent] = true;
	}
}

static bool starts_jobs(const struct recorder *recorder, int process)
{
	return recorder->is_make[process] || recorder->has_make_below[process];
}

/* The make that a process is below; the command itself is always one. */
static int make_above(const struct recorder *recorder, int process)
{
	do
		process = process_at(recorder, process)->parent;
	while (!recorder->is_make[process]);
	return process;
}

static int find_jobs(struct recorder *recorder)
{
	recorder->jobs = calloc(recorder->trace->nr, sizeof(*recorder->jobs));
	if (!recorder->jobs)
		return -ENOMEM;
	for (size_t i = 1; i < recorder->trace->nr; i++) {
		const struct zm_trace_process *process = process_at(recorder, (int)i);

		if (recorder->class_of[i] < 0 || process->parent < 0 ||
		    !starts_jobs(recorder, process->parent) || starts_jobs(recorder, (int)i))
			continue;
		recorder->jobs[recorder->nr_jobs++] =
			(struct job){ .root = (int)i,
				      .make = make_above(recorder, (int)i),
				      .start_ns = process->start_ns,
				      .end_ns = process->end_ns };
	}
	return recorder->nr_jobs ? 0 : -ENODATA;
}

/* --- recipes ---------------------------------------------------------------------------------- */

struct tree {
	struct zm_profile_node nodes[ZM_PROFILE_NODES_MAX];
	int processes[ZM_PROFILE_NODES_MAX];
	size_t nr;
};

/* Its parent, a make for a job's first process, has another output. */
static bool has_own_pipe(const struct recorder *recorder, int process)
{
	const struct zm_trace_process *self = process_at(recorder, process);

	return self->parent >= 0 && self->output &&
	       self->output != process_at(recorder, self->parent)->output;
}

static void walk(const struct recorder *recorder, int process, int parent, int depth,
		 struct tree *tree)
{
	uint64_t busy_until_ns = 0, output = 0; /* of the sibling before */
	int own = (int)tree->nr++;

	tree->processes[own] = process;
	tree->nodes[own].class_index = (unsigned int)recorder->class_of[process];
	tree->nodes[own].parent = parent;
	tree->nodes[own].is_fork = parent >= 0 && !process_at(recorder, process)->has_execed;
	tree->nodes[own].is_beside = false;
	tree->nodes[own].row = 0;
	tree->nodes[own].is_piped = has_own_pipe(recorder, process);
	for (int child = recorder->first_child[process];
	     child >= 0 && depth < ZM_PROFILE_DEPTH_MAX && tree->nr < ZM_PROFILE_NODES_MAX;
	     child = recorder->next_sibling[child]) {
		size_t place = tree->nr;

		walk(recorder, child, own, depth + 1, tree);
		tree->nodes[place].is_beside =
			process_at(recorder, child)->start_ns < busy_until_ns ||
			(output && output == process_at(recorder, child)->input);
		busy_until_ns = process_at(recorder, child)->end_ns;
		output = process_at(recorder, child)->output;
	}
}

static bool is_same_recipe(const struct zm_profile_recipe *recipe, const struct tree *tree)
{
	if (recipe->nr != tree->nr)
		return false;
	for (size_t i = 0; i < tree->nr; i++) {
		const struct zm_profile_node *a = &recipe->nodes[i], *b = &tree->nodes[i];

		if (a->class_index != b->class_index || a->parent != b->parent ||
		    a->is_fork != b->is_fork || a->is_beside != b->is_beside ||
		    a->is_piped != b->is_piped)
			return false;
	}
	return true;
}

static size_t difference(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* When there is no room for one more form: the one that begins alike and is nearest in size. */
static unsigned int nearest_recipe(const struct zm_profile *profile, const struct tree *tree)
{
	size_t best = 0, least = SIZE_MAX;

	for (size_t i = 0; i < profile->nr_recipes; i++) {
		const struct zm_profile_recipe *recipe = &profile->recipes[i];
		bool begins_alike = recipe->nodes[0].class_index == tree->nodes[0].class_index;
		size_t distance = difference(recipe->nr, tree->nr) +
				  (begins_alike ? 0 : (size_t)ZM_PROFILE_NODES_MAX);

		if (distance < least) {
			least = distance;
			best = i;
		}
	}
	return (unsigned int)best;
}

/* A job of many compilers is a script that tries out what the compiler can do: none of them is like the
 * others of the build, from which it would be drawn. */
static void keep_compilers(const struct recorder *recorder, struct tree *tree)
{
	const struct zm_profile *profile = recorder->profile;

	for (size_t i = 0; i < tree->nr; i++) {
		int row = recorder->row_of[tree->processes[i]];

		if (profile->classes[tree->nodes[i].class_index].role == ZM_ROLE_COMPILER &&
		    row >= 0)
			tree->nodes[i].row = (unsigned int)row + 1;
	}
}

static int find_recipe(const struct recorder *recorder, struct tree *tree)
{
	struct zm_profile *profile = recorder->profile;
	struct zm_profile_recipe *grown;

	for (size_t i = 0; i < profile->nr_recipes; i++)
		if (is_same_recipe(&profile->recipes[i], tree))
			return (int)i;
	if (profile->nr_recipes == ZM_PROFILE_RECIPES_MAX)
		return (int)nearest_recipe(profile, tree);
	grown = reallocarray(profile->recipes, profile->nr_recipes + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	profile->recipes = grown;
	grown += profile->nr_recipes;
	*grown = (struct zm_profile_recipe){ .nr = tree->nr };
	grown->nodes = calloc(tree->nr, sizeof(*grown->nodes));
	if (!grown->nodes)
		return -ENOMEM;
	keep_compilers(recorder, tree);
	memcpy(grown->nodes, tree->nodes, tree->nr * sizeof(*grown->nodes));
	return (int)profile->nr_recipes++;
}

static int make_recipes(struct recorder *recorder)
{
	zm_autofree struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return -ENOMEM;
	for (size_t i = 0; i < recorder->nr_jobs; i++) {
		struct job *job = &recorder->jobs[i];
		const struct zm_profile_recipe *recipe;
		size_t main;
		int r;

		tree->nr = 0;
		walk(recorder, job->root, -1, 1, tree);
		r = find_recipe(recorder, tree);
		if (r < 0)
			return r;
		job->recipe = (unsigned int)r;
		recipe = &recorder->profile->recipes[r];
		main = zm_profile_main(recorder->profile, recipe);
		job->main = is_same_recipe(recipe, tree) ? tree->processes[main] : -1;
	}
	return 0;
}

/* --- stages ----------------------------------------------------------------------------------- */

/* Jobs first … first + nr - 1, of which so many ran beside another. */
struct run_of_jobs {
	size_t first, nr, nr_beside;
};

static bool is_wide(const struct run_of_jobs *run)
{
	return run->nr_beside * 2 >= run->nr;
}

static void join(struct run_of_jobs *into, const struct run_of_jobs *from)
{
	into->nr += from->nr;
	into->nr_beside += from->nr_beside;
}

/* Where a job begins after all before it have ended, a new run does; runs of one kind are one. */
static size_t split(const struct recorder *recorder, struct run_of_jobs *runs)
{
	uint64_t busy_until_ns = 0;
	size_t nr = 0;

	for (size_t i = 0; i < recorder->nr_jobs; i++) {
		const struct job *job = &recorder->jobs[i];

		if (nr == 0 || job->start_ns >= busy_until_ns) {
			runs[nr++] = (struct run_of_jobs){ .first = i, .nr = 1 };
		} else {
			runs[nr - 1].nr++;
			runs[nr - 1].nr_beside = runs[nr - 1].nr;
		}
		if (job->end_ns > busy_until_ns)
			busy_until_ns = job->end_ns;
	}
	return nr;
}

/* Neighbours of one kind become one, and what is too short joins the one before it; not the last: a
 * build ends with its link. */
static size_t merge(struct run_of_jobs *runs, size_t nr, size_t least)
{
	size_t kept = 0;

	for (size_t i = 1; i < nr; i++) {
		bool is_alike = is_wide(&runs[kept]) == is_wide(&runs[i]);
		bool is_short = runs[i].nr < least && i + 1 < nr;

		if (is_alike || is_short || runs[kept].nr < least)
			join(&runs[kept], &runs[i]);
		else
			runs[++kept] = runs[i];
	}
	return nr ? kept + 1 : 0;
}

/* Makes below the first one that started jobs of the run. */
static unsigned int count_makes(const struct recorder *recorder, const struct run_of_jobs *run)
{
	unsigned int nr = 0;

	for (size_t i = run->first; i < run->first + run->nr; i++) {
		bool is_new = recorder->jobs[i].make != 0;

		for (size_t k = run->first; is_new && k < i; k++)
			is_new = recorder->jobs[k].make != recorder->jobs[i].make;
		nr += is_new;
	}
	return nr;
}

static int fill_stage(const struct recorder *recorder, const struct run_of_jobs *run, size_t number,
		      struct zm_profile_stage *stage)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%s-%zu", is_wide(run) ? "wide" : "serial", number + 1);
	stage->name = strdup(name);
	stage->max_jobs = is_wide(run) ? 0 : 1;
	stage->nr_makes = count_makes(recorder, run);
	stage->jobs = calloc(run->nr, sizeof(*stage->jobs));
	if (!stage->name || !stage->jobs)
		return -ENOMEM;
	for (size_t i = 0; i < run->nr; i++) {
		const struct job *job = &recorder->jobs[run->first + i];

		stage->jobs[stage->nr++] = (struct zm_profile_job){
			.recipe = job->recipe,
			.row = job->main < 0 ? -1 : recorder->row_of[job->main],
		};
	}
	return 0;
}

static int make_stages(struct recorder *recorder)
{
	struct zm_profile *profile = recorder->profile;
	zm_autofree struct run_of_jobs *runs = calloc(recorder->nr_jobs, sizeof(*runs));
	size_t least = recorder->nr_jobs / 100 > FEW_JOBS ? recorder->nr_jobs / 100 : FEW_JOBS;
	size_t nr;
	int r = 0;

	if (!runs)
		return -ENOMEM;
	nr = merge(runs, split(recorder, runs), 0);
	do {
		nr = merge(runs, nr, least);
		least *= 2;
	} while (nr > ZM_PROFILE_STAGES_MAX);
	profile->stages = calloc(nr, sizeof(*profile->stages));
	if (!profile->stages)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < nr; i++) {
		r = fill_stage(recorder, &runs[i], i, &profile->stages[i]);
		profile->nr_stages++;
	}
	return r;
}

/* --- the rest --------------------------------------------------------------------------------- */

static int make_headers(struct recorder *recorder)
{
	const struct zm_trace *trace = recorder->trace;
	zm_autofree uint64_t *sizes = calloc(trace->nr_files + 1, sizeof(*sizes));
	size_t nr = 0;

	if (!sizes)
		return -ENOMEM;
	for (size_t i = 0; i < trace->nr_files; i++)
		if (trace->files[i].bytes > 0 && trace->files[i].bytes <= HEADER_MAX)
			sizes[nr++] = trace->files[i].bytes;
	recorder->profile->nr_headers = nr;
	return zm_ramp_sizes(sizes, nr, &recorder->profile->headers);
}

static void fill_totals(struct recorder *recorder, const struct zm_record_about *about)
{
	const struct zm_trace *trace = recorder->trace;
	uint64_t *totals = recorder->profile->totals;

	for (size_t i = 0; i < trace->nr; i++) {
		const struct zm_trace_process *process = &trace->processes[i];

		totals[ZM_TOTAL_USER_US] += process->user_ns / 1000;
		totals[ZM_TOTAL_SYSTEM_US] += process->system_ns / 1000;
		totals[ZM_TOTAL_FAULTS] += process->faults;
		totals[ZM_TOTAL_SWITCHES] += process->switches;
	}
	totals[ZM_TOTAL_WALL_US] = trace->wall_ns / 1000;
	totals[ZM_TOTAL_FORKS] = trace->nr - 1;
	totals[ZM_TOTAL_EXECS] = trace->nr_execs;
	totals[ZM_TOTAL_SLOTS] = about->slots;
}

static int copy_texts(struct zm_profile *profile, const struct zm_record_about *about)
{
	profile->name = strndup(about->name, ZM_PROFILE_TEXT_MAX);
	profile->command = strndup(about->command, ZM_PROFILE_TEXT_MAX);
	profile->machine = strndup(about->machine, ZM_PROFILE_TEXT_MAX);
	profile->compiler = strndup(about->compiler, ZM_PROFILE_TEXT_MAX);
	profile->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	return profile->name && profile->command && profile->machine && profile->compiler ? 0
											  : -ENOMEM;
}

static int make_room(struct recorder *recorder, size_t nr)
{
	recorder->class_of = calloc(nr, sizeof(int));
	recorder->row_of = calloc(nr, sizeof(int));
	recorder->first_child = calloc(nr, sizeof(int));
	recorder->next_sibling = calloc(nr, sizeof(int));
	recorder->is_make = calloc(nr, sizeof(bool));
	recorder->has_make_below = calloc(nr, sizeof(bool));
	if (!recorder->class_of || !recorder->row_of || !recorder->first_child ||
	    !recorder->next_sibling || !recorder->is_make || !recorder->has_make_below)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		recorder->row_of[i] = -1;
	return 0;
}

static void release_room(struct recorder *recorder)
{
	free(recorder->class_of);
	free(recorder->row_of);
	free(recorder->first_child);
	free(recorder->next_sibling);
	free(recorder->is_make);
	free(recorder->has_make_below);
	free(recorder->jobs);
}

static int build(struct recorder *recorder, const struct zm_record_about *about)
{
	int r = make_room(recorder, recorder->trace->nr);

	if (r == 0)
		r = copy_texts(recorder->profile, about);
	if (r == 0)
		r = make_classes(recorder);
	for (size_t i = 0; r == 0 && i < recorder->profile->nr_classes; i++)
		r = fill_class(recorder, (int)i);
	if (r < 0)
		return r;
	link_family(recorder);
	find_makes(recorder);
	r = find_jobs(recorder);
	if (r == 0)
		r = make_recipes(recorder);
	if (r == 0)
		r = make_stages(recorder);
	if (r == 0)
		r = make_headers(recorder);
	fill_totals(recorder, about);
	return r;
}

int zm_record_profile(const struct zm_trace *trace, const struct zm_record_about *about,
		      struct zm_profile **ret_profile, struct zm_why *why)
{
	struct recorder recorder = { .trace = trace, .profile = zm_profile_new() };
	int r = recorder.profile ? build(&recorder, about) : -ENOMEM;

	release_room(&recorder);
	if (r == -ENODATA)
		(void)zm_why_set(why, r,
				 "%s started nothing that could be a job of a build: was all "
				 "built already?",
				 about->command);
	else if (r == -E2BIG)
		(void)zm_why_set(why, r, "%s runs more than %d different programs", about->command,
				 ZM_PROFILE_CLASSES_MAX);
	else if (r < 0)
		(void)zm_why_errno(why, r, "making a profile");
	if (r == 0)
		r = zm_profile_check(recorder.profile, why);
	if (r < 0) {
		zm_profile_free(recorder.profile);
		return r;
	}
	*ret_profile = recorder.profile;
	return 0;
}
