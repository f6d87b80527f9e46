/*
 * changes: the levels of results/changes, and what they lead to.
 *
 *     changes levels [HISTORIES [SEED]]   the table for results/changes.c, from so many histories of noise
 *     changes rate [NIGHTS [SEED]]        false alarms among so many nights of each kind of noise (JSON)
 *     changes power [HISTORIES [SEED]]    how soon a change is seen that is so many sd high, after so many
 *                                         nights (JSON)
 *
 * A level is found as it is used: all histories go on night by night; the level of n nights is what one
 * history in 1 / RATE is above, and those that are above it have had their alarm and are left out from then on.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/changes.h"
#include "results/dist.h"
#include "results/energy.h"
#include "results/stat.h"
#include "workloads/base/random.h"
#include "workloads/base/units.h"

/* Below 1 in 1,000, because an alarm makes another a little likelier: what it takes for a level of its own is
 * what chance had put aside. `rate` has the sum of both. */
#define RATE      0.00075
#define MOVING    30 /* nights for which the full window moves on */
#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void *must_have(void *pointer)
{
	if (pointer)
		return pointer;
	(void)fprintf(stderr, "changes: out of memory\n");
	exit(2);
}

static double normal(struct zm_random *random)
{
	return zm_normal_quantile(zm_random_unit(random) * (1 - 2e-12) + 1e-12);
}

/* --- levels --- */

struct histories {
	struct zm_energy *nights; /* the last of each history */
	double *most;             /* the greatest energy of each, last night */
	size_t nr;
};

/* One night more; the oldest goes when the window is full. Ranks are all that counts, so any noise will do. */
static double next_night(struct zm_energy *nights, struct zm_random *random)
{
	double energies[ZM_ENERGY_MOST], most = 0;

	if (nights->nr == ZM_CHANGES_WINDOW)
		zm_energy_pop(nights);
	zm_energy_push(nights, zm_random_unit(random), 0);
	if (nights->nr < 2 * ZM_CHANGES_LEAST)
		return 0;
	zm_energy_splits(nights, energies);
	for (size_t k = ZM_CHANGES_LEAST; k <= nights->nr - ZM_CHANGES_LEAST; k++)
		most = fmax(most, energies[k]);
	return most;
}

/* The least level that no more than the share is above; rounded up, so that what is printed holds, too. */
static double level_of(const struct histories *histories)
{
	double *sorted = must_have(malloc(histories->nr * sizeof(*sorted)));
	size_t nr_above = (size_t)(RATE * (double)histories->nr);
	double level;

	memcpy(sorted, histories->most, histories->nr * sizeof(*sorted));
	zm_stat_sort(sorted, histories->nr);
	level = ceil(sorted[histories->nr - 1 - nr_above] * 1e4 + 1e-6) / 1e4;
	free(sorted);
	return level;
}

static void leave_out(struct histories *histories, double level)
{
	for (size_t i = 0; i < histories->nr;) {
		if (histories->most[i] <= level) {
			i++;
			continue;
		}
		histories->nr--;
		histories->most[i] = histories->most[histories->nr];
		histories->nights[i] = histories->nights[histories->nr];
	}
}

static int print_levels(size_t nr, uint64_t seed)
{
	struct histories histories = {
		.nights = must_have(calloc(nr, sizeof(*histories.nights))),
		.most = must_have(calloc(nr, sizeof(*histories.most))),
		.nr = nr,
	};
	double last = 0;
	struct zm_random random;

	zm_random_init(&random, seed, 0);
	for (size_t night = 1; night < ZM_CHANGES_WINDOW + MOVING; night++) {
		double level;

		for (size_t i = 0; i < histories.nr; i++)
			histories.most[i] = next_night(&histories.nights[i], &random);
		level = level_of(&histories);
		leave_out(&histories, level);
		if (night >= ZM_CHANGES_WINDOW)
			last = fmax(last, level);
		else if (night >= 2 * ZM_CHANGES_LEAST)
			printf("\t[%zu] = %.4f,\n", night, level);
	}
	printf("\t[%d] = %.4f,\n", ZM_CHANGES_WINDOW, last);
	free(histories.nights);
	free(histories.most);
	return 0;
}

/* --- false alarms --- */

static double plain(struct zm_random *random)
{
	return 100 + normal(random);
}

static double skewed(struct zm_random *random)
{
	return 100 * exp(0.3 * normal(random));
}

/* One in twenty ten times as far. */
static double with_outliers(struct zm_random *random)
{
	return 100 + normal(random) * (zm_random_below(random, 20) ? 1 : 10);
}

static double whole_numbers(struct zm_random *random)
{
	return 100 + round(normal(random));
}

static const struct {
	const char *name;
	double (*draw)(struct zm_random *random);
	double resembles; /* the night before by so much (a first-order autoregression) */
} noises[] = {
	{ .name = "normal", .draw = plain },
	{ .name = "log-normal", .draw = skewed },
	{ .name = "with outliers", .draw = with_outliers },
	{ .name = "whole numbers", .draw = whole_numbers },
	{ .name = "resembles the night before by 0.1", .draw = plain, .resembles = 0.1 },
	{ .name = "resembles the night before by 0.3", .draw = plain, .resembles = 0.3 },
};

#define NIGHTS_OF_A_HISTORY 1000

static size_t alarms_of(size_t noise, struct zm_random *random)
{
	struct zm_judge judge = { .alpha = 0.05, .power = 0.8, .margin = 0 };
	double values[NIGHTS_OF_A_HISTORY], before = 0;
	struct zm_changes changes;
	size_t nr;

	for (size_t i = 0; i < NIGHTS_OF_A_HISTORY; i++) {
		double next = noises[noise].draw(random) - 100;

		before = noises[noise].resembles * before + next;
		values[i] = 100 + before;
	}
	if (zm_changes_find(&judge, values, NIGHTS_OF_A_HISTORY, &changes))
		must_have(NULL);
	nr = changes.nr;
	zm_changes_release(&changes);
	zm_judge_release(&judge);
	return nr;
}

static int print_rate(size_t nr_nights, uint64_t seed)
{
	size_t nr = (nr_nights + NIGHTS_OF_A_HISTORY - 1) / NIGHTS_OF_A_HISTORY;

	for (size_t noise = 0; noise < NR(noises); noise++) {
		struct zm_random random;
		size_t nr_alarms = 0;

		zm_random_init(&random, seed, noise);
		for (size_t i = 0; i < nr; i++)
			nr_alarms += alarms_of(noise, &random);
		printf("{\"noise\": \"%s\", \"nights\": %zu, \"alarms\": %zu, "
		       "\"per_1000_nights\": %.3f}\n",
		       noises[noise].name, nr * NIGHTS_OF_A_HISTORY, nr_alarms,
		       (double)nr_alarms / (double)nr);
	}
	return 0;
}

/* --- power --- */

#define NIGHTS_AFTER 40

/* After how many nights it is seen; 0: not within NIGHTS_AFTER. */
static size_t nights_until_seen(size_t nr_before, double shift, struct zm_random *random,
				double *ret_missed_by)
{
	struct zm_judge judge = { .alpha = 0.05, .power = 0.8, .margin = 0 };
	double values[ZM_CHANGES_WINDOW + NIGHTS_AFTER];
	struct zm_changes changes;
	size_t seen = 0;

	for (size_t i = 0; i < nr_before + NIGHTS_AFTER; i++)
		values[i] = 100 + normal(random) + (i >= nr_before ? shift : 0);
	if (zm_changes_find(&judge, values, nr_before + NIGHTS_AFTER, &changes))
		must_have(NULL);
	for (size_t i = 0; i < changes.nr && !seen; i++) {
		if (changes.changes[i].seen < nr_before)
			continue;
		seen = changes.changes[i].seen - nr_before + 1;
		*ret_missed_by = fabs((double)changes.changes[i].first - (double)nr_before);
	}
	zm_changes_release(&changes);
	zm_judge_release(&judge);
	return seen;
}

static void print_power_of(size_t nr_before, double shift, size_t nr, struct zm_random *random)
{
	size_t within[NIGHTS_AFTER + 1] = { 0 }, nr_seen = 0, nr_near = 0;

	for (size_t i = 0; i < nr; i++) {
		double missed_by = 0;
		size_t nights = nights_until_seen(nr_before, shift, random, &missed_by);

		nr_seen += nights > 0;
		nr_near += nights > 0 && missed_by <= 1;
		for (size_t k = nights; nights && k <= NIGHTS_AFTER; k++)
			within[k]++;
	}
	printf("{\"nights_before\": %zu, \"shift_sd\": %.1f, \"within_5\": %.3f, \"within_10\": "
	       "%.3f, "
	       "\"within_20\": %.3f, \"within_40\": %.3f, \"place_within_1_night\": %.3f}\n",
	       nr_before, shift, (double)within[5] / (double)nr, (double)within[10] / (double)nr,
	       (double)within[20] / (double)nr, (double)within[40] / (double)nr,
	       nr_seen ? (double)nr_near / (double)nr_seen : 0);
}

static int print_power(size_t nr, uint64_t seed)
{
	static const size_t before[] = { 15, 30, 60 };
	static const double shifts[] = { 0.5, 1, 1.5, 2, 3, 5 };
	struct zm_random random;

	zm_random_init(&random, seed, 0);
	for (size_t i = 0; i < NR(before); i++) {
		for (size_t k = 0; k < NR(shifts); k++)
			print_power_of(before[i], shifts[k], nr, &random);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*print)(size_t nr, uint64_t seed);
		uint64_t nr;
	} parts[] = {
		{ "levels", print_levels, 500000 },
		{ "rate", print_rate, 1000000 },
		{ "power", print_power, 2000 },
	};

	for (size_t i = 0; i < NR(parts) && argc > 1; i++) {
		uint64_t nr = parts[i].nr, seed = 1;

		if (strcmp(argv[1], parts[i].name) != 0)
			continue;
		if ((argc > 2 && (zm_units_parse_u64(argv[2], &nr) < 0 || nr == 0)) ||
		    (argc > 3 && zm_units_parse_u64(argv[3], &seed) < 0))
			break;
		return parts[i].print((size_t)nr, seed);
	}
	(void)fprintf(stderr, "usage: changes levels|rate|power [NUMBER [SEED]]\n");
	return 2;
}
