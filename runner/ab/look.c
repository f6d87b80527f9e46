/* look: runs -> comparison, once to know how many verdicts there are, then at the level for so many. */
#include "runner/ab/look.h"

#include <errno.h>
#include <string.h>

#include "results/query.h"

struct chooser {
	const struct zm_ab_ask *ask;
	unsigned int side;
	struct zm_runset *runs;
};

static int choose(void *context, const struct zm_run_info *run)
{
	const struct chooser *chooser = context;
	const struct zm_ab_ask *ask = chooser->ask;

	if (!ask->sides[chooser->side].counts(ask->context, chooser->side, run->boot))
		return 0;
	return zm_runset_add(chooser->runs, run->id);
}

static int find_side(const struct zm_ab_ask *ask, unsigned int side, struct zm_ab_look *look,
		     struct zm_why *why)
{
	const struct zm_run_filter filter = { .label = ask->sides[side].label, .status = -1 };
	struct chooser chooser = { ask, side, &look->sides[side].runs };
	int r;

	(void)snprintf(look->names[side], sizeof(look->names[side]), "%s", ask->sides[side].label);
	look->sides[side].name = look->names[side];
	look->sides[side].store = look->store;
	r = zm_query_runs(look->store, &filter, choose, &chooser, why);
	zm_runset_sort(&look->sides[side].runs);
	return r;
}

static int compare_at(const struct zm_ab_ask *ask, double level, struct zm_ab_look *look,
		      struct zm_why *why)
{
	const struct zm_compare_options options = {
		.judge = { .alpha = level, .power = ask->power, .margin = ask->least },
	};

	zm_compare_free(look->compare);
	look->compare = NULL;
	for (unsigned int side = 0; side < 2; side++)
		look->sides[side].nr_ok = look->sides[side].nr_failed = 0;
	return zm_compare_make(look->sides, 2, &options, &look->compare, why);
}

static int look_twice(const struct zm_ab_ask *ask, struct zm_ab_look *look, struct zm_why *why)
{
	int r = compare_at(ask, ask->alpha, look, why);

	if (r < 0)
		return r;
	look->nr_verdicts = look->compare->nr_verdicts > ask->nr_verdicts
				    ? look->compare->nr_verdicts
				    : ask->nr_verdicts;
	r = zm_looks_level(ask->alpha, &ask->looks, ask->most, ask->is_last, look->nr_verdicts,
			   &look->level);
	if (r < 0)
		return zm_why_errno(why, r, "the level of this look");
	r = compare_at(ask, look->level, look, why);
	if (r < 0)
		return r;
	look->is_decided = look->compare->nr_verdicts > 0 &&
			   !look->compare->nr_of[ZM_VERDICT_TOO_NOISY] &&
			   !look->compare->nr_of[ZM_VERDICT_NOT_ENOUGH];
	return 0;
}

int zm_ab_look_make(const struct zm_ab_ask *ask, struct zm_ab_look *ret_look, struct zm_why *why)
{
	int r = 0;

	*ret_look = (struct zm_ab_look){ 0 };
	r = zm_store_open(ask->db, false, &ret_look->store, why);
	for (unsigned int side = 0; side < 2 && r == 0; side++)
		r = find_side(ask, side, ret_look, why);
	return r < 0 ? r : look_twice(ask, ret_look, why);
}

void zm_ab_look_release(struct zm_ab_look *look)
{
	zm_compare_free(look->compare);
	for (unsigned int side = 0; side < 2; side++)
		zm_runset_release(&look->sides[side].runs);
	zm_store_close(look->store);
	*look = (struct zm_ab_look){ 0 };
}
