/*
 * changes: from which night on is it different?
 *
 *     nights with a value -> each in turn: into the window -> energies -> above the level, and does it matter?
 *     -> the split that fits best -> a change, the window begins there -> … -> outliers of each level
 *
 * A night that brings nothing new costs a few steps for each night in the window, so that the histories of a whole
 * fleet can be gone through again and again.
 */
#include "results/changes.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/energy.h"
#include "results/stat.h"
#include "workloads/base/random.h"

static const char *const state_names[] = {
	[ZM_CHANGE_ASKED] = "asked",
	[ZM_CHANGE_CONFIRMED] = "confirmed",
	[ZM_CHANGE_WITHDRAWN] = "withdrawn",
};

const char *zm_change_state_name(enum zm_change_state state)
{
	return state_names[state];
}

static const char confirmation[] = " confirmation";

char *zm_change_confirmation(char *buf, size_t size, const char *label)
{
	(void)snprintf(buf, size, "%s%s", label, confirmation);
	return buf;
}

bool zm_change_is_confirmation(const char *label)
{
	size_t length = label ? strlen(label) : 0, end = sizeof(confirmation) - 1;

	return length > end && strcmp(label + length - end, confirmation) == 0;
}

/* What `bench/changes levels` prints, by the number of nights. One that is not there (0) is not known, and
 * nothing is called a change. */
static const double levels[ZM_CHANGES_WINDOW + 1] = {
	[6] = 2.7143,  [7] = 3.1251,  [8] = 3.6667,  [9] = 4.1001,  [10] = 4.6364, [11] = 5.0834,
	[12] = 5.6154, [13] = 6.0715, [14] = 6.4667, [15] = 6.8126, [16] = 6.8544, [17] = 6.8081,
	[18] = 6.8948, [19] = 6.9893, [20] = 7.0001, [21] = 7.0480, [22] = 7.0575, [23] = 7.1056,
	[24] = 7.1867, [25] = 7.1909, [26] = 7.2223, [27] = 7.2702, [28] = 7.3172, [29] = 7.3212,
	[30] = 7.3647, [31] = 7.3904, [32] = 7.4463, [33] = 7.4477, [34] = 7.4755, [35] = 7.4564,
	[36] = 7.5021, [37] = 7.5201, [38] = 7.5101, [39] = 7.5478, [40] = 7.5452, [41] = 7.5494,
	[42] = 7.5652, [43] = 7.5966, [44] = 7.6154, [45] = 7.5859, [46] = 7.6520, [47] = 7.6568,
	[48] = 7.6615, [49] = 7.6793, [50] = 7.6623, [51] = 7.6738, [52] = 7.6448, [53] = 7.6348,
	[54] = 7.6328, [55] = 7.6849, [56] = 7.6628, [57] = 7.7003, [58] = 7.7142, [59] = 7.7511,
	[60] = 8.2951,
};

double zm_changes_level(size_t nr_nights)
{
	if (nr_nights < 2 * ZM_CHANGES_LEAST)
		return HUGE_VAL;
	if (nr_nights > ZM_CHANGES_WINDOW)
		nr_nights = ZM_CHANGES_WINDOW;
	return levels[nr_nights] > 0 ? levels[nr_nights] : HUGE_VAL;
}

/* The nights since the last change, as many as the window holds. */
struct window {
	struct zm_energy energy;
	size_t at[ZM_CHANGES_WINDOW]; /* each night's index among the values given */
};

static void push_night(struct window *window, double value, uint64_t tie, size_t at)
{
	window->at[window->energy.nr] = at;
	zm_energy_push(&window->energy, value, tie);
}

static void forget_nights(struct window *window, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		zm_energy_pop(&window->energy);
	memmove(window->at, window->at + nr, window->energy.nr * sizeof(*window->at));
}

/* --- where it falls into two parts --- */

/* Its values in their order, and which of them, by rank, lie before a split. */
struct order {
	double sorted[ZM_CHANGES_WINDOW];
	uint64_t all, before;
};

static void order_make(const struct zm_energy *energy, struct order *ret_order)
{
	for (size_t i = 0; i < energy->nr; i++)
		ret_order->sorted[energy->ranks[i]] = energy->values[i];
	ret_order->all = UINT64_MAX >> (64 - energy->nr);
	ret_order->before = 0;
}

/* The k-th of those whose bits are set, from 0. */
static double nth(const struct order *order, uint64_t bits, size_t k)
{
	while (k--)
		bits &= bits - 1;
	return order->sorted[__builtin_ctzll(bits)];
}

static double median_of(const struct order *order, uint64_t bits, size_t nr)
{
	return (nth(order, bits, (nr - 1) / 2) + nth(order, bits, nr / 2)) / 2;
}

/* The medians on both sides of a split. */
struct sides {
	double before, after;
};

static struct sides sides_of(const struct order *order, size_t split, size_t nr)
{
	return (struct sides){
		.before = median_of(order, order->before, split),
		.after = median_of(order, order->all & ~order->before, nr - split),
	};
}

/* Do they differ by what matters? */
static bool matters(const struct zm_judge *judge, struct sides sides)
{
	double distance = fabs(sides.after - sides.before);

	return distance > 0 &&
	       distance >= judge->margin * (judge->is_share ? 1 : fabs(sides.before));
}

/* How far the nights on both sides of the split are from their medians, in all. */
static double distances(const struct zm_energy *energy, size_t split, struct sides sides)
{
	double sum = 0;

	for (size_t i = 0; i < energy->nr; i++)
		sum += fabs(energy->values[i] - (i < split ? sides.before : sides.after));
	return sum;
}

struct split {
	size_t at; /* so many nights before it; 0: there is none */
	double energy, distances;
};

/* Is there one whose energy is above the level and that matters? Then of all that matter the one that leaves the
 * least distances: ranks say that there is a change, but do not know a small step from a large one. */
static struct split best_split(const struct zm_judge *judge, const struct zm_energy *energy,
			       const double *energies, double level)
{
	struct split best = { .distances = HUGE_VAL };
	size_t last = energy->nr - ZM_CHANGES_LEAST;
	struct order order;

	order_make(energy, &order);
	for (size_t k = 1; k <= last; k++) {
		struct sides sides;

		order.before |= UINT64_C(1) << energy->ranks[k - 1];
		if (k < ZM_CHANGES_LEAST)
			continue;
		sides = sides_of(&order, k, energy->nr);
		if (!matters(judge, sides))
			continue;
		if (energies[k] > level)
			best.energy = fmax(best.energy, energies[k]);
		if (distances(energy, k, sides) < best.distances) {
			best.distances = distances(energy, k, sides);
			best.at = k;
		}
	}
	if (best.energy == 0)
		best.at = 0;
	return best;
}

static struct split find_split(const struct zm_judge *judge, const struct zm_energy *energy)
{
	double energies[ZM_ENERGY_MOST], level = zm_changes_level(energy->nr), most = 0;

	if (energy->nr < 2 * ZM_CHANGES_LEAST)
		return (struct split){ 0 };
	zm_energy_splits(energy, energies);
	for (size_t k = ZM_CHANGES_LEAST; k <= energy->nr - ZM_CHANGES_LEAST; k++)
		most = energies[k] > most ? energies[k] : most;
	if (most <= level)
		return (struct split){ 0 };
	return best_split(judge, energy, energies, level);
}

/* --- nights, one after the other --- */

/* The nights that have a value. */
struct nights {
	double *values;
	size_t *at; /* among the values given */
	size_t nr;
};

static void nights_release(struct nights *nights)
{
	free(nights->values);
	free(nights->at);
}

static int nights_make(const double *values, size_t nr, struct nights *ret_nights)
{
	struct nights nights = { .values = calloc(nr + 1, sizeof(*nights.values)),
				 .at = calloc(nr + 1, sizeof(*nights.at)) };
	int error = nights.values && nights.at ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !error; i++) {
		if (isinf(values[i]))
			error = -EINVAL;
		if (isnan(values[i]))
			continue;
		nights.values[nights.nr] = values[i];
		nights.at[nights.nr++] = i;
	}
	if (error)
		nights_release(&nights);
	else
		*ret_nights = nights;
	return error;
}

static int add_change(struct zm_judge *judge, const struct window *window, struct split split,
		      struct zm_changes *changes)
{
	const struct zm_energy *energy = &window->energy;
	void *array = changes->changes;
	struct zm_change change = {
		.first = window->at[split.at],
		.seen = window->at[energy->nr - 1],
		.energy = split.energy,
	};
	int error = zm_judge_samples(judge, energy->values, split.at, energy->values + split.at,
				     energy->nr - split.at, &change.nights);

	if (!error)
		error = zm_array_grow(&array, &changes->capacity, changes->nr, sizeof(change));
	changes->changes = array;
	if (!error)
		changes->changes[changes->nr++] = change;
	return error;
}

/* Of the nights of one level. */
static void find_outliers(const struct zm_judge *judge, const struct nights *nights, size_t begin,
			  size_t end, struct zm_changes *changes)
{
	double median, mad, margin;

	if (end - begin < 2 * ZM_CHANGES_LEAST)
		return;
	median = zm_stat_median(nights->values + begin, end - begin);
	mad = zm_stat_mad(nights->values + begin, end - begin);
	margin = judge->margin * (judge->is_share ? 1 : fabs(median));
	for (size_t i = begin; i < end; i++) {
		double distance = fabs(nights->values[i] - median);

		if (distance > margin && distance > ZM_CHANGES_OUTLIER * mad)
			changes->outliers[changes->nr_outliers++] = nights->at[i];
	}
}

/* Equal values are put into an order that is no order, the same each time. */
static int walk(struct zm_judge *judge, const struct nights *nights, struct window *window,
		struct zm_changes *changes)
{
	struct zm_random random;
	size_t begin = 0;
	int error = 0;

	zm_random_init(&random, 1, 0);
	for (size_t i = 0; i < nights->nr && !error; i++) {
		size_t begins_at;
		struct split split;

		forget_nights(window, window->energy.nr == ZM_CHANGES_WINDOW);
		push_night(window, nights->values[i], zm_random_next(&random), nights->at[i]);
		split = find_split(judge, &window->energy);
		if (!split.at)
			continue;
		error = add_change(judge, window, split, changes);
		begins_at = i + 1 - window->energy.nr + split.at;
		find_outliers(judge, nights, begin, begins_at, changes);
		forget_nights(window, split.at);
		begin = begins_at;
	}
	if (!error)
		find_outliers(judge, nights, begin, nights->nr, changes);
	return error;
}

int zm_changes_find(struct zm_judge *judge, const double *values, size_t nr,
		    struct zm_changes *ret_changes)
{
	struct zm_changes changes = { 0 };
	struct window window = { .energy = { .nr = 0 } };
	struct nights nights;
	int error = nights_make(values, nr, &nights);

	if (error)
		return error;
	changes.outliers = calloc(nr + 1, sizeof(*changes.outliers));
	error = changes.outliers ? walk(judge, &nights, &window, &changes) : -ENOMEM;
	nights_release(&nights);
	if (error)
		zm_changes_release(&changes);
	else
		*ret_changes = changes;
	return error;
}

void zm_changes_release(struct zm_changes *changes)
{
	free(changes->changes);
	free(changes->outliers);
	*changes = (struct zm_changes){ 0 };
}

int zm_change_settle(struct zm_judge *judge, struct zm_change *change, const double *before,
		     size_t nr_before, const double *after, size_t nr_after)
{
	struct zm_judgement found;
	enum zm_verdict verdict;
	int error = zm_judge_samples(judge, before, nr_before, after, nr_after, &found);

	if (error)
		return error;
	verdict = zm_judge_verdict(judge, &found, found.p, ZM_BETTER_NEITHER);
	change->confirmation = found;
	if (verdict == ZM_VERDICT_CHANGED)
		change->state = (found.change > 0) == (change->nights.change > 0)
					? ZM_CHANGE_CONFIRMED
					: ZM_CHANGE_WITHDRAWN;
	else
		change->state = verdict == ZM_VERDICT_SAME ? ZM_CHANGE_WITHDRAWN : ZM_CHANGE_ASKED;
	return 0;
}
