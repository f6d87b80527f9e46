/* schedule: cells by rank, launches by rounds. */
#include "runner/schedule.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define NAMED       8                 /* cells that are named before "and N more" */
#define OVERHEAD_NS (2 * ZM_NS_PER_S) /* making and reaping tasks, drain */

uint64_t zm_schedule_cost_ns(const struct zm_cell *cell)
{
	const struct zm_run_options *options = &cell->options;
	uint64_t warmup_ns = options->warmup_ns;
	uint64_t drain_ns = options->drain_ns < ZM_NS_PER_S ? options->drain_ns : ZM_NS_PER_S;

	/* Steady after a second at best, and after all of it at worst. */
	if (warmup_ns > ZM_NS_PER_S)
		warmup_ns = (ZM_NS_PER_S + warmup_ns) / 2;
	return options->idle_ns + warmup_ns + options->runtime_ns + drain_ns + OVERHEAD_NS;
}

/* Bisection: last, first, then the middle of the widest gap, from the left. */
unsigned int zm_schedule_place(size_t index, size_t nr)
{
	unsigned int place = 2;

	if (nr < 2 || index + 1 == nr)
		return 0;
	if (index == 0)
		return 1;
	for (size_t width = nr - 1; width > 1; width = (width + 1) / 2) {
		for (size_t at = width / 2; at + 1 < nr; at += width) {
			if (at == index)
				return place;
			place++;
		}
	}
	return place + (unsigned int)index;
}

struct ranked {
	size_t cell;
	unsigned int rank;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

struct maker {
	const struct zm_plan *plan;
	struct zm_schedule *schedule;
	struct ranked *order;
	bool *is_chosen;
	unsigned int nr_repeats;
	uint64_t left_ns;
};

static void add(struct maker *maker, size_t cell, unsigned int repeat)
{
	struct zm_schedule *schedule = maker->schedule;

	schedule->launches[schedule->nr_launches++] = (struct zm_launch){ cell, repeat };
}

/* Rounds from..to of the cells that are chosen, or of those that are not. */
static void add_rounds(struct maker *maker, unsigned int from, unsigned int to, bool are_chosen)
{
	for (unsigned int repeat = from; repeat < to; repeat++) {
		for (size_t i = 0; i < maker->plan->nr_cells; i++) {
			size_t cell = maker->order[i].cell;

			if (maker->is_chosen[cell] == are_chosen)
				add(maker, cell, repeat);
		}
	}
}

/* So many cells as fit with so many launches each. False: none. */
static bool choose(struct maker *maker, unsigned int nr_launches)
{
	bool has_any = false;

	for (size_t i = 0; i < maker->plan->nr_cells; i++) {
		size_t cell = maker->order[i].cell;
		uint64_t cost_ns = zm_schedule_cost_ns(&maker->plan->cells[cell]) * nr_launches;

		if (cost_ns > maker->left_ns)
			continue;
		maker->left_ns -= cost_ns;
		maker->is_chosen[cell] = has_any = true;
	}
	return has_any;
}

static int too_short(const struct maker *maker, struct zm_why *why)
{
	uint64_t least_ns = UINT64_MAX;
	char least[32], budget[32];

	for (size_t i = 0; i < maker->plan->nr_cells; i++) {
		uint64_t cost_ns = zm_schedule_cost_ns(&maker->plan->cells[i]);

		least_ns = cost_ns < least_ns ? cost_ns : least_ns;
	}
	return zm_why_set(
		why, -ETIME,
		"not one launch fits into %s: the shortest takes about %s; give it more "
		"time (--hours) or a shorter runtime",
		zm_units_human_ns(budget, sizeof(budget), (double)maker->schedule->budget_ns),
		zm_units_human_ns(least, sizeof(least), (double)least_ns));
}

/* How many of the launches are expected to be over in time. */
static void count_fitting(struct maker *maker)
{
	struct zm_schedule *schedule = maker->schedule;

	for (size_t i = 0; i < schedule->nr_launches; i++) {
		uint64_t cost_ns =
			zm_schedule_cost_ns(&maker->plan->cells[schedule->launches[i].cell]);

		if (schedule->budget_ns && schedule->expected_ns + cost_ns > schedule->budget_ns)
			return;
		schedule->expected_ns += cost_ns;
		schedule->nr_fitting++;
	}
}

static int fit(struct maker *maker, struct zm_why *why)
{
	unsigned int nr_launches =
		maker->nr_repeats < ZM_SCHEDULE_LAUNCHES ? maker->nr_repeats : ZM_SCHEDULE_LAUNCHES;

	qsort(maker->order, maker->plan->nr_cells, sizeof(*maker->order), compare_ranked);
	while (!choose(maker, nr_launches)) {
		if (--nr_launches == 0)
			return too_short(maker, why);
	}
	add_rounds(maker, 0, nr_launches, true);
	add_rounds(maker, nr_launches, maker->nr_repeats, true);
	add_rounds(maker, 0, maker->nr_repeats, false);
	return 0;
}

static int make(struct maker *maker, struct zm_why *why)
{
	size_t nr_cells = maker->plan->nr_cells;
	int r = 0;

	for (size_t i = 0; i < nr_cells; i++)
		maker->order[i] = (struct ranked){ i, maker->plan->cells[i].rank };
	if (maker->schedule->budget_ns) {
		r = fit(maker, why);
	} else {
		for (size_t i = 0; i < nr_cells; i++)
			maker->is_chosen[i] = true;
		add_rounds(maker, 0, maker->nr_repeats, true);
	}
	if (r == 0)
		count_fitting(maker);
	return r;
}

int zm_schedule_make(const struct zm_plan *plan, unsigned int nr_repeats, uint64_t budget_ns,
		     struct zm_schedule *ret_schedule, struct zm_why *why)
{
	size_t nr = plan->nr_cells * nr_repeats;
	struct zm_schedule schedule = { .launches = calloc(nr + 1, sizeof(*schedule.launches)),
					.budget_ns = budget_ns };
	zm_autofree struct ranked *order = calloc(plan->nr_cells + 1, sizeof(*order));
	zm_autofree bool *is_chosen = calloc(plan->nr_cells + 1, sizeof(*is_chosen));
	struct maker maker = { plan, &schedule, order, is_chosen, nr_repeats, budget_ns };
	int r = schedule.launches && order && is_chosen
			? make(&maker, why)
			: zm_why_errno(why, -ENOMEM, "%zu launches", nr);

	if (r < 0)
		zm_schedule_release(&schedule);
	else
		*ret_schedule = schedule;
	return r;
}

void zm_schedule_release(struct zm_schedule *schedule)
{
	free(schedule->launches);
	*schedule = (struct zm_schedule){ 0 };
}

/* --- what it says --- */

static bool is_fitting(const struct zm_schedule *schedule, size_t cell)
{
	for (size_t i = 0; i < schedule->nr_fitting; i++) {
		if (schedule->launches[i].cell == cell)
			return true;
	}
	return false;
}

static void say_left_out(const struct zm_schedule *schedule, const struct zm_plan *plan, FILE *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < plan->nr_cells; i++) {
		if (is_fitting(schedule, i))
			continue;
		if (nr++ < NAMED)
			(void)fprintf(out, "  left out unless time remains: %s\n",
				      plan->cells[i].title);
	}
	if (nr > NAMED)
		(void)fprintf(out, "  … and %zu more\n", nr - NAMED);
}

void zm_schedule_say(const struct zm_schedule *schedule, const struct zm_plan *plan,
		     unsigned int nr_repeats, FILE *out)
{
	char budget[32], expected[32];
	size_t nr_cells = 0;

	if (!schedule->budget_ns || schedule->nr_fitting == schedule->nr_launches)
		return;
	for (size_t i = 0; i < plan->nr_cells; i++)
		nr_cells += is_fitting(schedule, i);
	(void)fprintf(out,
		      "%s: %zu of %zu launches (%zu of %zu cells%s) are expected to fit, in %s\n",
		      zm_units_human_ns(budget, sizeof(budget), (double)schedule->budget_ns),
		      schedule->nr_fitting, schedule->nr_launches, nr_cells, plan->nr_cells,
		      nr_repeats > 1 ? ", not all as often as asked for" : "",
		      zm_units_human_ns(expected, sizeof(expected), (double)schedule->expected_ns));
	say_left_out(schedule, plan, out);
}
