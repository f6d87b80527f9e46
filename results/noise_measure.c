/* noise_measure: which runs are held against each other, and what is kept of it. */
#include "results/noise_measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/noise.h"
#include "results/query.h"
#include "workloads/base/clock.h"

/* --- what is kept --- */

struct measuring {
	struct zm_store *store;
	struct zm_compare *compare;
	char *machine, *kernel; /* the one of all runs */
	struct zm_noise *list;
	size_t nr, capacity;
	struct zm_why *why;
};

/* Is it the one that the runs before it had? */
static int agree(struct measuring *measuring, char **one, const char *value, const char *what)
{
	if (!*one) {
		*one = strdup(value);
		return *one ? 0 : -ENOMEM;
	}
	if (!strcmp(*one, value))
		return 0;
	return zm_why_set(measuring->why, -EINVAL,
			  "runs of one %s are wanted, these are of %s and %s", what, *one, value);
}

static int check_run(struct measuring *measuring, uint64_t run)
{
	struct zm_run_view *view = NULL;
	int error = zm_query_run(measuring->store, run, &view, measuring->why);

	if (!error)
		error = agree(measuring, &measuring->machine, view->info.machine, "machine");
	if (!error)
		error = agree(measuring, &measuring->kernel, view->info.kernel, "kernel");
	zm_run_view_free(view);
	return error;
}

static int check_side(struct measuring *measuring, const struct zm_compare_side *side)
{
	int error = 0;

	if (side->store != measuring->store)
		return zm_why_set(measuring->why, -EINVAL,
				  "%s: not of the store in which it is kept; `zonemark import` "
				  "takes another's runs into it",
				  side->name);
	for (size_t i = 0; i < side->runs.nr && !error; i++)
		error = check_run(measuring, side->runs.runs[i]);
	return error;
}

/* As the judge takes a margin: a share, or points of a percentage. */
static double size_of(const struct zm_compare_metric *metric)
{
	const struct zm_judgement *judgement = &metric->outcomes[1].judgement;
	double change = fabs(judgement->change);

	return judgement->is_ratio || metric->is_share ? change : change / fabs(judgement->base);
}

static int keep_metric(struct measuring *measuring, const struct zm_compare_cell *cell,
		       const struct zm_compare_metric *metric)
{
	const struct zm_compare_outcome *outcome = &metric->outcomes[1];
	double size = size_of(metric);
	int error;

	if (!isfinite(size))
		return 0;
	error = zm_array_grow((void **)&measuring->list, &measuring->capacity, measuring->nr,
			      sizeof(*measuring->list));
	if (error)
		return error;
	measuring->list[measuring->nr++] =
		(struct zm_noise){ .machine = measuring->machine,
				   .workload = cell->workload,
				   .cell = cell->cell,
				   .metric = metric->name,
				   .change = size,
				   .is_points = metric->is_share,
				   .is_one_boot = outcome->is_within_boots,
				   .nr_base = outcome->judgement.nr_base,
				   .nr_again = outcome->judgement.nr_new,
				   .kernel = measuring->kernel,
				   .wall_ns = zm_clock_wall_ns() };
	return 0;
}

static int keep(struct measuring *measuring)
{
	const struct zm_compare *compare = measuring->compare;
	int error = 0;

	for (size_t i = 0; i < compare->nr_cells && !error; i++) {
		const struct zm_compare_cell *cell = &compare->cells[i];

		for (size_t k = 0; k < cell->nr_primary && !error; k++)
			error = keep_metric(measuring, cell, &cell->metrics[k]);
	}
	if (!error && measuring->nr == 0)
		error = zm_why_set(measuring->why, -ENODATA,
				   "no primary metric that both sides have");
	return error ? error
		     : zm_noise_add(measuring->store, measuring->list, measuring->nr,
				    measuring->why);
}

int zm_noise_measure(struct zm_store *store, struct zm_compare_side *sides, struct zm_why *why)
{
	const struct zm_compare_options options = {
		.judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 }
	};
	struct measuring measuring = { .store = store, .why = why };
	int error = check_side(&measuring, &sides[0]);

	if (!error)
		error = check_side(&measuring, &sides[1]);
	if (!error)
		error = zm_compare_make(sides, 2, &options, &measuring.compare, why);
	if (!error)
		error = keep(&measuring);
	zm_compare_free(measuring.compare);
	free(measuring.list);
	free(measuring.machine);
	free(measuring.kernel);
	return error == -ENOMEM ? zm_why_errno(why, error, "noise") : error;
}

/* --- which runs --- */

/* The runs of one cell so far. */
struct turn {
	const char *workload, *cell;
	uint64_t last; /* waits for its neighbour; 0: none does */
	size_t nr_pairs;
};

struct turns {
	struct turn *turns;
	size_t nr, capacity;
	struct zm_pool pool;
	struct zm_runset *a, *b;
};

static int find_turn(struct turns *turns, const struct zm_run_info *info, struct turn **ret_turn)
{
	int error;

	for (size_t i = 0; i < turns->nr; i++) {
		*ret_turn = &turns->turns[i];
		if (!strcmp((*ret_turn)->cell, info->cell) &&
		    !strcmp((*ret_turn)->workload, info->workload))
			return 0;
	}
	error = zm_array_grow((void **)&turns->turns, &turns->capacity, turns->nr,
			      sizeof(*turns->turns));
	if (error)
		return error;
	*ret_turn = &turns->turns[turns->nr++];
	**ret_turn = (struct turn){ .workload = zm_pool_text(&turns->pool, info->workload),
				    .cell = zm_pool_text(&turns->pool, info->cell) };
	return turns->pool.error;
}

/* The newest first: so pairs are made from the end, and it does not matter which of them begins. */
static int take_turn(void *context, const struct zm_run_info *info)
{
	struct turns *turns = context;
	struct turn *turn;
	bool is_swapped;
	int error = find_turn(turns, info, &turn);

	if (error)
		return error;
	if (!turn->last) {
		turn->last = info->id;
		return 0;
	}
	is_swapped = turn->nr_pairs++ % 2;
	error = zm_runset_add(is_swapped ? turns->b : turns->a, turn->last);
	if (!error)
		error = zm_runset_add(is_swapped ? turns->a : turns->b, info->id);
	turn->last = 0;
	return error;
}

int zm_noise_turns(struct zm_store *store, const char *invocation, struct zm_runset *ret_a,
		   struct zm_runset *ret_b, struct zm_why *why)
{
	const struct zm_run_filter filter = { .invocation = invocation, .status = ZM_STATUS_OK };
	struct turns turns = { .a = ret_a, .b = ret_b };
	int error = zm_query_runs(store, &filter, take_turn, &turns, why);

	zm_pool_release(&turns.pool);
	free(turns.turns);
	return error == -ENOMEM ? zm_why_errno(why, error, "noise") : error;
}

struct earlier {
	const struct zm_noise_boot *now;
	char *boot; /* the newest other one; NULL: none so far */
	struct zm_runset *runs;
};

static int take_earlier(void *context, const struct zm_run_info *info)
{
	struct earlier *earlier = context;
	const struct zm_noise_boot *now = earlier->now;

	if (!info->label || strcmp(info->label, now->label) != 0 ||
	    strcmp(info->machine, now->machine) != 0 || strcmp(info->kernel, now->kernel) != 0 ||
	    strcmp(info->boot, now->boot) == 0)
		return 0;
	if (!earlier->boot) {
		earlier->boot = strdup(info->boot);
		if (!earlier->boot)
			return -ENOMEM;
	}
	return strcmp(info->boot, earlier->boot) == 0 ? zm_runset_add(earlier->runs, info->id) : 0;
}

int zm_noise_earlier(struct zm_store *store, const struct zm_noise_boot *now,
		     struct zm_runset *ret_runs, struct zm_why *why)
{
	const struct zm_run_filter filter = { .status = ZM_STATUS_OK };
	struct earlier earlier = { .now = now, .runs = ret_runs };
	int error = zm_query_runs(store, &filter, take_earlier, &earlier, why);

	free(earlier.boot);
	return error == -ENOMEM ? zm_why_errno(why, error, "noise") : error;
}
