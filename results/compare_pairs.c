/*
 * compare_pairs: which values of two sides belong together, so that what moves both alike drops out.
 *
 *     one boot, in turns     a b | b a | a b | …     neighbours in time: what drifts in the machine
 *     the same boots         a b | a b | a b | …     a boot's means: what differs between boots
 *
 * Anything else is no pair: two sides that each ran in one block, or in boots of their own.
 */
#include "results/compare_read.h"

#include <errno.h>
#include <stdlib.h>

#define PAIRS_FROM 3 /* fewer say less than the two sides by themselves */

size_t zm_compare_values(const struct zm_samples *samples, bool by_run, double *ret_values)
{
	size_t nr = 0, from, to;

	if (by_run) {
		for (size_t i = 0; i < samples->nr; i++)
			ret_values[i] = samples->samples[i].value;
		return samples->nr;
	}
	for (from = 0; from < samples->nr; from = to) {
		double sum = 0;

		for (to = from;
		     to < samples->nr && samples->samples[to].boot == samples->samples[from].boot;
		     to++)
			sum += samples->samples[to].value;
		ret_values[nr++] = sum / (double)(to - from);
	}
	return nr;
}

size_t zm_compare_nr_boots(const struct zm_samples *samples)
{
	size_t nr = samples->nr > 0;

	for (size_t i = 1; i < samples->nr; i++)
		nr += samples->samples[i].boot != samples->samples[i - 1].boot;
	return nr;
}

/* The number that the boot of a sample has on the base's side. */
static uint32_t boot_in_base(const struct zm_read *read, size_t side,
			     const struct zm_sample *sample)
{
	return read->sides[side].boots[sample->boot].in_base;
}

bool zm_compare_is_one_boot(const struct zm_read *read, const struct zm_read_metric *metric,
			    size_t side)
{
	const struct zm_samples *base = &metric->sides[0], *new = &metric->sides[side];

	return zm_compare_nr_boots(base) == 1 && zm_compare_nr_boots(new) == 1 &&
	       boot_in_base(read, side, new->samples) == base->samples[0].boot;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of one boot, both sorted by time: is each pair over before the next one begins? */
static bool took_turns(const struct zm_samples *base, const struct zm_samples *new)
{
	const struct zm_sample *a = base->samples, *b = new->samples;

	for (size_t i = 1; i < base->nr; i++) {
		if (later(a[i - 1].start_ns, b[i - 1].start_ns) >=
		    earlier(a[i].start_ns, b[i].start_ns))
			return false;
	}
	return base->nr == new->nr;
}

static size_t pairs_in_turn(const struct zm_samples *base, const struct zm_samples *new,
			    double *ret_base, double *ret_new)
{
	if (base->nr < PAIRS_FROM || base->nr != new->nr || !took_turns(base, new))
		return 0;
	(void)zm_compare_values(base, true, ret_base);
	return zm_compare_values(new, true, ret_new);
}

struct boot_value {
	uint32_t boot;
	double value;
};

static int compare_boots(const void *a, const void *b)
{
	const struct boot_value *x = a, *y = b;

	return (x->boot > y->boot) - (x->boot < y->boot);
}

/* The new side's means in the order of the base's boots, if they are the same ones. */
static bool put_in_order(const struct zm_read *read, size_t side, const struct zm_samples *base,
			 const struct zm_samples *new, struct boot_value *room, double *means)
{
	size_t nr = 0;

	for (size_t i = 0; i < new->nr; i++) {
		if (i && new->samples[i].boot == new->samples[i - 1].boot)
			continue;
		room[nr] = (struct boot_value){ boot_in_base(read, side, &new->samples[i]),
						means[nr] };
		nr++;
	}
	qsort(room, nr, sizeof(*room), compare_boots);
	for (size_t i = 0, at = 0; i < base->nr; i++) {
		if (i && base->samples[i].boot == base->samples[i - 1].boot)
			continue;
		if (room[at].boot != base->samples[i].boot)
			return false;
		means[at] = room[at].value;
		at++;
	}
	return true;
}

static int pairs_of_boots(const struct zm_read *read, size_t side, const struct zm_samples *base,
			  const struct zm_samples *new, double *ret_base, double *ret_new,
			  size_t *ret_nr)
{
	size_t nr = zm_compare_nr_boots(base);
	struct boot_value *room;

	*ret_nr = 0;
	if (nr < PAIRS_FROM || zm_compare_nr_boots(new) != nr ||
	    boot_in_base(read, side, new->samples) == UINT32_MAX)
		return 0;
	room = malloc(nr * sizeof(*room));
	if (!room)
		return -ENOMEM;
	(void)zm_compare_values(base, false, ret_base);
	(void)zm_compare_values(new, false, ret_new);
	if (put_in_order(read, side, base, new, room, ret_new))
		*ret_nr = nr;
	free(room);
	return 0;
}

int zm_compare_pairs(const struct zm_read *read, const struct zm_read_metric *metric, size_t side,
		     double *ret_base, double *ret_new, size_t *ret_nr)
{
	const struct zm_samples *base = &metric->sides[0], *new = &metric->sides[side];

	if (!zm_compare_is_one_boot(read, metric, side))
		return pairs_of_boots(read, side, base, new, ret_base, ret_new, ret_nr);
	*ret_nr = pairs_in_turn(base, new, ret_base, ret_new);
	return 0;
}
