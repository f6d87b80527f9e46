/* compare_noise: a floor counts for the metrics of its cell when its machine is one of those compared. */
#include "results/compare_read.h"

#include <math.h>
#include <string.h>

#include "results/noise.h"

struct placing {
	struct zm_compare *compare;
	const struct zm_read *read;
	size_t side;
};

static bool has_machine(const struct placing *placing, const char *machine)
{
	for (size_t i = 0; i < placing->read->sides[placing->side].nr_boots; i++) {
		if (!strcmp(placing->read->sides[placing->side].boots[i].machine, machine))
			return true;
	}
	return false;
}

/* What is so within a boot is so between boots, too. */
static void raise_floor(struct zm_compare_metric *metric, const struct zm_noise *noise)
{
	metric->floor = fmax(metric->floor, noise->change);
	if (noise->is_one_boot)
		metric->floor_one_boot = fmax(metric->floor_one_boot, noise->change);
}

static int place(void *context, const struct zm_noise_floor *floor)
{
	const struct placing *placing = context;
	const struct zm_noise *noise = &floor->largest;

	if (!has_machine(placing, noise->machine))
		return 0;
	for (size_t i = 0; i < placing->compare->nr_cells; i++) {
		struct zm_compare_cell *cell = &placing->compare->cells[i];

		if (strcmp(cell->workload, noise->workload) != 0 ||
		    strcmp(cell->cell, noise->cell) != 0)
			continue;
		for (size_t k = 0; k < cell->nr_primary; k++) {
			if (!strcmp(cell->metrics[k].name, noise->metric))
				raise_floor(&cell->metrics[k], noise);
		}
	}
	return 0;
}

int zm_compare_noise(struct zm_compare *compare, const struct zm_read *read, struct zm_why *why)
{
	struct placing placing = { .compare = compare, .read = read };
	int error = 0;

	for (; placing.side < compare->nr_sides && !error; placing.side++) {
		struct zm_store *store = compare->sides[placing.side].store;

		if (store)
			error = zm_noise_floors(store, place, &placing, why);
	}
	return error;
}
