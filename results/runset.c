/* runset: numbers of runs, in the order in which they were added. */
#include "results/runset.h"

#include <stdlib.h>

#include "results/array.h"

void zm_runset_release(struct zm_runset *set)
{
	free(set->runs);
	*set = (struct zm_runset){ 0 };
}

int zm_runset_add(struct zm_runset *set, uint64_t run)
{
	int error = zm_array_grow((void **)&set->runs, &set->capacity, set->nr, sizeof(run));

	if (!error)
		set->runs[set->nr++] = run;
	return error;
}

int zm_runset_add_info(void *set, const struct zm_run_info *run)
{
	return zm_runset_add(set, run->id);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void zm_runset_sort(struct zm_runset *set)
{
	size_t kept = 0;

	if (set->nr > 1)
		qsort(set->runs, set->nr, sizeof(*set->runs), compare);
	for (size_t i = 0; i < set->nr; i++) {
		if (!kept || set->runs[kept - 1] != set->runs[i])
			set->runs[kept++] = set->runs[i];
	}
	set->nr = kept;
}
