/*
 * place: an order of the CPUs, and tasks along it.
 *
 *     spots    one per allowed CPU, with its ranks: which sibling of its core, which core of its cache
 *              group, which place in its socket
 *     order    the spots sorted by the ranks that the placement looks at
 *     single   task i has the i-th spot, round and round
 *     pairs    the least loaded spot that has a partner, then its least loaded partner
 */
#include "runner/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

const char *const zm_place_names[] = {
	"scatter",   "compact",  "cores",     "none",         "same-cpu",
	"same-core", "same-llc", "same-node", "cross-socket", NULL,
};

/* A CPU in the order. */
struct spot {
	const struct zm_cpu *cpu;
	unsigned int sibling; /* which allowed thread of its core */
	unsigned int core;    /* which allowed core of its cache group (of that sibling) */
	unsigned int group;   /* which cache group of its socket */
	unsigned int load;    /* tasks placed on it */
	bool has_partner;
};

/* -1 is one socket, node or cache that all its CPUs share; a core that is not known is alone. */
static bool is_same_core(const struct zm_cpu *a, const struct zm_cpu *b)
{
	return a->cpu == b->cpu || (a->core >= 0 && a->core == b->core);
}

static bool is_same_group(const struct zm_cpu *a, const struct zm_cpu *b)
{
	return a->package == b->package && a->node == b->node && a->llc == b->llc;
}

static int compare_int(int a, int b)
{
	return (a > b) - (a < b);
}

/* Core after core: what neighbours share most. */
static int compare_compact(const void *left, const void *right)
{
	const struct spot *a = left, *b = right;
	int order = compare_int(a->cpu->package, b->cpu->package);

	if (!order)
		order = compare_int(a->cpu->node, b->cpu->node);
	if (!order)
		order = compare_int(a->cpu->llc, b->cpu->llc);
	if (!order)
		order = compare_int(a->cpu->core, b->cpu->core);
	return order ? order : compare_int(a->cpu->cpu, b->cpu->cpu);
}

/* Sockets in turn, in each its cache groups in turn, siblings last: what neighbours share least. */
static int compare_scatter(const void *left, const void *right)
{
	const struct spot *a = left, *b = right;
	int order = compare_int((int)a->sibling, (int)b->sibling);

	if (!order)
		order = compare_int((int)a->core, (int)b->core);
	if (!order)
		order = compare_int((int)a->group, (int)b->group);
	if (!order)
		order = compare_int(a->cpu->package, b->cpu->package);
	return order ? order : compare_int(a->cpu->cpu, b->cpu->cpu);
}

/* Ranks the spots, which stand in compact order: siblings together, cores of a group together, groups
 * of a socket together. */
static void rank(struct spot *spots, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct spot *spot = &spots[i];
		const struct spot *before = &spots[i - 1];
		bool is_core = is_same_core(before->cpu, spot->cpu);
		bool is_group = is_same_group(before->cpu, spot->cpu);

		spot->sibling = is_core ? before->sibling + 1 : 0;
		spot->core = is_group ? before->core + !is_core : 0;
		if (before->cpu->package == spot->cpu->package)
			spot->group = before->group + !is_group;
	}
}

static int make_spots(const struct zm_topology *topology, enum zm_place place,
		      struct spot **ret_spots, size_t *ret_nr)
{
	size_t nr = topology->nr_cpus, nr_kept = 0;
	struct spot *spots = calloc(nr, sizeof(*spots));

	if (!spots)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		spots[i].cpu = &topology->cpus[i];
	qsort(spots, nr, sizeof(*spots), compare_compact);
	rank(spots, nr);
	for (size_t i = 0; i < nr; i++)
		if (place != ZM_PLACE_CORES || spots[i].sibling == 0)
			spots[nr_kept++] = spots[i];
	if (place != ZM_PLACE_COMPACT && place != ZM_PLACE_CORES)
		qsort(spots, nr_kept, sizeof(*spots), compare_scatter);
	*ret_spots = spots;
	*ret_nr = nr_kept;
	return 0;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* Does `second` stand to `first` as the placement wants? */
static bool is_partner(enum zm_place place, const struct zm_cpu *first, const struct zm_cpu *second)
{
	switch (place) {
	case ZM_PLACE_SAME_CPU:
		return first->cpu == second->cpu;
	case ZM_PLACE_SAME_CORE:
		return first->cpu != second->cpu && is_same_core(first, second);
	case ZM_PLACE_SAME_LLC:
		return !is_same_core(first, second) && first->llc >= 0 && first->llc == second->llc;
	case ZM_PLACE_SAME_NODE:
		return !is_same_core(first, second) && first->node >= 0 &&
		       first->node == second->node;
	case ZM_PLACE_CROSS_SOCKET:
		return first->package >= 0 && second->package >= 0 &&
		       first->package != second->package;
	default:
		return false;
	}
}

/* Is b the better partner? Less loaded; on one node, with another cache. */
static bool is_better(enum zm_place place, const struct spot *first, const struct spot *a,
		      const struct spot *b)
{
	if (place == ZM_PLACE_SAME_NODE) {
		bool is_a_near = a->cpu->llc == first->cpu->llc;
		bool is_b_near = b->cpu->llc == first->cpu->llc;

		if (is_a_near != is_b_near)
			return is_a_near;
	}
	return b->load < a->load;
}

static struct spot *find_partner(enum zm_place place, struct spot *spots, size_t nr,
				 const struct spot *first)
{
	struct spot *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!is_partner(place, first->cpu, spots[i].cpu))
			continue;
		if (!best || is_better(place, first, best, &spots[i]))
			best = &spots[i];
	}
	return best;
}

/* Only those with a partner: one without is nobody's partner either. */
static size_t keep_partnered(enum zm_place place, struct spot *spots, size_t nr)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < nr; i++)
		spots[i].has_partner = find_partner(place, spots, nr, &spots[i]) != NULL;
	for (size_t i = 0; i < nr; i++)
		if (spots[i].has_partner)
			spots[nr_kept++] = spots[i];
	return nr_kept;
}

static struct spot *find_idlest(struct spot *spots, size_t nr)
{
	struct spot *best = &spots[0];

	for (size_t i = 1; i < nr; i++)
		if (spots[i].load < best->load)
			best = &spots[i];
	return best;
}

static int say_no_partner(enum zm_place place, const struct zm_topology *topology,
			  struct zm_why *why)
{
	switch (place) {
	case ZM_PLACE_SAME_CORE:
		return zm_why_set(
			why, -ENOTSUP,
			"same-core: no core has two CPUs that may be used (SMT is off or not "
			"there): use same-llc");
	case ZM_PLACE_SAME_LLC:
		if (topology->nr_llcs == 0)
			return zm_why_set(
				why, -ENOTSUP,
				"same-llc: this machine does not say which CPUs share a cache: "
				"use same-node");
		return zm_why_set(why, -ENOTSUP,
				  "same-llc: no two cores that may be used share their last-level "
				  "cache: use same-node");
	case ZM_PLACE_SAME_NODE:
		return zm_why_set(
			why, -ENOTSUP,
			"same-node: no node has two cores that may be used: use same-cpu");
	default:
		return zm_why_set(
			why, -ENOTSUP,
			"cross-socket: the CPUs that may be used are on %zu socket%s: use "
			"same-node",
			topology->nr_packages, topology->nr_packages == 1 ? "" : "s");
	}
}

static int place_pairs(const struct zm_topology *topology, enum zm_place place, struct spot *spots,
		       size_t nr, unsigned int nr_units, int *ret_cpus, struct zm_why *why)
{
	nr = keep_partnered(place, spots, nr);
	if (nr == 0)
		return say_no_partner(place, topology, why);
	for (size_t unit = 0; unit < nr_units; unit++) {
		struct spot *first = find_idlest(spots, nr), *second;

		first->load++;
		second = find_partner(place, spots, nr, first);
		second->load++;
		ret_cpus[unit * 2] = first->cpu->cpu;
		ret_cpus[unit * 2 + 1] = second->cpu->cpu;
	}
	return 0;
}

static int check_request(const struct zm_topology *topology, enum zm_place place,
			 unsigned int nr_units, unsigned int nr_ends, struct zm_why *why)
{
	if (nr_units == 0)
		return zm_why_set(why, -EINVAL, "no task to place: at least one is needed");
	if (nr_ends != 1 && nr_ends != 2)
		return zm_why_set(why, -EINVAL, "tasks with %u ends: one or two can be placed",
				  nr_ends);
	if (topology->nr_cpus == 0)
		return zm_why_set(why, -ENODEV, "no CPU to place tasks on");
	if (place >= ZM_PLACE_SAME_CPU && nr_ends == 1)
		return zm_why_set(
			why, -EINVAL,
			"%s places the two ends of a pair, and these tasks are single: use "
			"scatter, compact, cores or none",
			zm_place_names[place]);
	return 0;
}

int zm_place_tasks(const struct zm_topology *topology, enum zm_place place, unsigned int nr_units,
		   unsigned int nr_ends, int *ret_cpus, struct zm_why *why)
{
	zm_autofree struct spot *spots = NULL;
	size_t nr, nr_tasks = (size_t)nr_units * nr_ends;
	int error = check_request(topology, place, nr_units, nr_ends, why);

	if (error)
		return error;
	if (place == ZM_PLACE_NONE) {
		for (size_t i = 0; i < nr_tasks; i++)
			ret_cpus[i] = -1;
		return 0;
	}
	error = make_spots(topology, place, &spots, &nr);
	if (error)
		return zm_why_errno(why, error, "cannot place the tasks");
	if (place >= ZM_PLACE_SAME_CPU)
		return place_pairs(topology, place, spots, nr, nr_units, ret_cpus, why);
	for (size_t i = 0; i < nr_tasks; i++)
		ret_cpus[i] = spots[i % nr].cpu->cpu;
	return 0;
}
