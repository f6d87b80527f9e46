/* shard: sorted, then dealt out by what each part has to do. */
#include "runner/shard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

/* Eight hexadecimal digits, as it is printed. */
static bool parse_id(const char *text, uint32_t *ret_id)
{
	if (strlen(text) != 8 || strspn(text, "0123456789abcdef") != 8)
		return false;
	*ret_id = (uint32_t)strtoul(text, NULL, 16);
	return true;
}

int zm_shard_parse(const char *text, struct zm_shard *ret_shard, struct zm_why *why)
{
	zm_autofree char *copy = strdup(text);
	struct zm_shard shard = { 0 };
	char *rest = copy, *first, *second;
	uint64_t index = 0, nr = 0;

	if (!copy)
		return zm_why_errno(why, -ENOMEM, "--shard");
	first = strsep(&rest, "/");
	second = rest ? strsep(&rest, ":") : copy + strlen(copy);
	shard.has_id = rest != NULL;
	if (zm_units_parse_u64(first, &index) < 0 || zm_units_parse_u64(second, &nr) < 0 ||
	    (rest && !parse_id(rest, &shard.id)))
		return zm_why_set(why, -EINVAL,
				  "--shard %s: a part is like 2/8, the second of eight", text);
	if (nr == 0 || nr > ZM_SHARD_MAX)
		return zm_why_set(why, -ERANGE, "--shard %s: 1 to %d parts", text, ZM_SHARD_MAX);
	if (index == 0 || index > nr)
		return zm_why_set(why, -ERANGE, "--shard %s: the parts are 1/%llu to %llu/%llu",
				  text, (unsigned long long)nr, (unsigned long long)nr,
				  (unsigned long long)nr);
	shard.index = (unsigned int)index;
	shard.nr = (unsigned int)nr;
	*ret_shard = shard;
	return 0;
}

/* --- the split --- */

static int compare_asks(const void *a, const void *b)
{
	const struct zm_plan_ask *const *x = a, *const *y = b;

	if ((*x)->cost_ns != (*y)->cost_ns)
		return (*x)->cost_ns > (*y)->cost_ns ? -1 : 1;
	return strcmp((*x)->key, (*y)->key);
}

static bool is_same_ask(const struct zm_plan_ask *x, const struct zm_plan_ask *y)
{
	return strcmp(x->key, y->key) == 0;
}

static unsigned int least_busy(const uint64_t *busy_ns, unsigned int nr)
{
	unsigned int least = 0;

	for (unsigned int i = 1; i < nr; i++) {
		if (busy_ns[i] < busy_ns[least])
			least = i;
	}
	return least;
}

/* FNV-1a, the end of each text included. */
static uint32_t mix(uint32_t hash, const char *text)
{
	size_t length = strlen(text) + 1;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

static void deal(const struct zm_plan *plan, const struct zm_plan_ask **order, uint64_t *busy_ns,
		 unsigned int nr, unsigned int *ret_parts, struct zm_shard_share *ret_all)
{
	unsigned int part = 0;
	char number[16];

	(void)snprintf(number, sizeof(number), "%u", nr);
	*ret_all = (struct zm_shard_share){ .id = mix(2166136261u, number) };
	for (size_t i = 0; i < plan->nr_asks; i++) {
		if (i == 0 || !is_same_ask(order[i], order[i - 1])) {
			part = least_busy(busy_ns, nr);
			busy_ns[part] += order[i]->cost_ns;
			ret_all->id = mix(ret_all->id, order[i]->key);
			ret_all->nr_asked++;
		}
		ret_parts[order[i] - plan->asks] = part;
	}
	ret_all->nr_asked_all = ret_all->nr_asked;
}

int zm_shard_split(const struct zm_plan *plan, unsigned int nr, unsigned int *ret_parts,
		   struct zm_shard_share *ret_all)
{
	zm_autofree const struct zm_plan_ask **order = calloc(plan->nr_asks + 1, sizeof(*order));
	zm_autofree uint64_t *busy_ns = calloc(nr, sizeof(*busy_ns));

	if (!order || !busy_ns)
		return -ENOMEM;
	for (size_t i = 0; i < plan->nr_asks; i++)
		order[i] = &plan->asks[i];
	qsort(order, plan->nr_asks, sizeof(*order), compare_asks);
	deal(plan, order, busy_ns, nr, ret_parts, ret_all);
	return 0;
}

/* --- one part of it --- */

/* The asks of the part, and which cells stay. */
static void mark(const struct zm_shard *shard, const struct zm_plan *plan,
		 const unsigned int *parts, bool *is_kept, struct zm_shard_share *share)
{
	share->nr_asked = 0;
	for (size_t i = 0; i < plan->nr_asks; i++) {
		const struct zm_plan_ask *ask = &plan->asks[i];

		if (parts[i] != shard->index - 1)
			continue;
		share->nr_asked++;
		if (ask->cell == ZM_PLAN_NO_CELL)
			continue;
		share->expected_ns += ask->cost_ns;
		is_kept[ask->cell] = true;
	}
}

static void keep(struct zm_plan *plan, const bool *is_kept)
{
	size_t nr = 0;

	for (size_t i = 0; i < plan->nr_cells; i++) {
		if (is_kept[i])
			plan->cells[nr++] = plan->cells[i];
		else
			zm_cell_release(&plan->cells[i]);
	}
	plan->nr_cells = nr;
	zm_plan_forget_asks(plan);
}

int zm_shard_keep(const struct zm_shard *shard, struct zm_plan *plan,
		  struct zm_shard_share *ret_share, struct zm_why *why)
{
	zm_autofree unsigned int *parts = calloc(plan->nr_asks + 1, sizeof(*parts));
	zm_autofree bool *is_kept = calloc(plan->nr_cells + 1, sizeof(*is_kept));
	struct zm_shard_share share;

	if (!parts || !is_kept || zm_shard_split(plan, shard->nr, parts, &share) < 0)
		return zm_why_errno(why, -ENOMEM, "--shard %u/%u", shard->index, shard->nr);
	if (shard->has_id && shard->id != share.id)
		return zm_why_set(
			why, -EXDEV,
			"--shard %u/%u:%08x: this machine splits it otherwise (%08x): its "
			"zonemark is another, or documented tables are scaled to another "
			"size; take machines of one kind",
			shard->index, shard->nr, shard->id, share.id);
	mark(shard, plan, parts, is_kept, &share);
	keep(plan, is_kept);
	if (share.nr_asked == 0)
		return zm_why_set(why, -ENODATA,
				  "--shard %u/%u: nothing to do, there being only %zu cell%s",
				  shard->index, shard->nr, share.nr_asked_all,
				  share.nr_asked_all == 1 ? "" : "s");
	if (plan->nr_cells == 0)
		return zm_why_set(why, -ENOPKG,
				  "--shard %u/%u: none of its %zu cells can run on this machine",
				  shard->index, shard->nr, share.nr_asked);
	*ret_share = share;
	return 0;
}
