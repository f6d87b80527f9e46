/* ramp: sorted values become steps with weights; curves of processes become one, weighted by size. */
#include "buildload/ramp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

#define FEW_GROWTHS 6  /* a process with fewer says nothing of its ramp */
#define FEW_CURVES  32 /* with fewer, one ramp is for all */
#define NR_RAMPS    4

static const double places[] = { 0, .02, .05, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1 };

#define NR_PLACES (sizeof(places) / sizeof(places[0]))

/* --- steps ------------------------------------------------------------------------------------ */

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_weights(const void *a, const void *b)
{
	double x = ((const struct zm_profile_step *)a)->weight;
	double y = ((const struct zm_profile_step *)b)->weight;

	return (x < y) - (x > y);
}

/* Equal neighbours of the sorted values become a step; the heaviest stay. */
static int count_equal(const uint64_t *values, size_t nr, struct zm_profile_mix *ret_mix)
{
	struct zm_profile_step *steps = calloc(nr + 1, sizeof(*steps));
	size_t nr_steps = 0;

	if (!steps)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (nr_steps == 0 || steps[nr_steps - 1].bytes != values[i])
			steps[nr_steps++].bytes = values[i];
		steps[nr_steps - 1].weight++;
	}
	qsort(steps, nr_steps, sizeof(*steps), compare_weights);
	*ret_mix = (struct zm_profile_mix){ steps, nr_steps < ZM_PROFILE_STEPS_MAX
							   ? nr_steps
							   : ZM_PROFILE_STEPS_MAX };
	if (nr_steps == 0) {
		free(steps);
		ret_mix->steps = NULL;
	}
	return 0;
}

int zm_ramp_steps(const struct zm_trace *trace, const int *class_of, int class, bool is_brk,
		  struct zm_profile_mix *ret_mix)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	zm_autofree uint64_t *values = NULL;
	size_t nr = 0, all = 0;

	for (size_t i = 0; i < trace->nr; i++)
		all += class_of[i] == class ? trace->processes[i].nr_growths : 0;
	values = calloc(all + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < trace->nr; i++) {
		const struct zm_trace_process *process = &trace->processes[i];

		for (size_t k = 0; class_of[i] == class && k < process->nr_growths; k++)
			if (process->growths[k].is_brk == is_brk && process->growths[k].bytes)
				values[nr++] = (process->growths[k].bytes + page - 1) / page * page;
	}
	qsort(values, nr, sizeof(*values), compare_u64);
	return count_equal(values, nr, ret_mix);
}

static uint64_t round_up(uint64_t bytes)
{
	uint64_t quarter = 1;

	while (quarter * 8 <= bytes)
		quarter *= 2;
	return (bytes + quarter - 1) / quarter * quarter;
}

int zm_ramp_sizes(uint64_t *sizes, size_t nr, struct zm_profile_mix *ret_mix)
{
	for (size_t i = 0; i < nr; i++)
		sizes[i] = round_up(sizes[i]);
	qsort(sizes, nr, sizeof(*sizes), compare_u64);
	return count_equal(sizes, nr, ret_mix);
}

/* --- curves ----------------------------------------------------------------------------------- */

static uint64_t cpu_of(const struct zm_trace_process *process)
{
	return process->user_ns + process->system_ns;
}

static bool has_curve(const struct zm_trace_process *process)
{
	return process->nr_growths >= FEW_GROWTHS && process->anon_pages > 0 && cpu_of(process) > 0;
}

/* Pages when so much CPU time was spent: between the two readings around it. */
static double pages_at(const struct zm_trace_process *process, double cpu_ns)
{
	double last_cpu = 0, last_pages = 0;

	for (size_t i = 0; i <= process->nr_growths; i++) {
		bool is_end = i == process->nr_growths;
		double cpu = (double)(is_end ? cpu_of(process) : process->growths[i].cpu_ns);
		double pages =
			(double)(is_end ? process->anon_pages : process->growths[i].anon_pages);

		if (cpu >= cpu_ns)
			return cpu > last_cpu
				       ? last_pages + (pages - last_pages) * (cpu_ns - last_cpu) /
							      (cpu - last_cpu)
				       : pages;
		last_cpu = cpu;
		last_pages = pages;
	}
	return (double)process->anon_pages;
}

static int compare_user(const void *a, const void *b)
{
	const struct zm_trace_process *x = *(const struct zm_trace_process *const *)a;
	const struct zm_trace_process *y = *(const struct zm_trace_process *const *)b;

	return (x->user_ns > y->user_ns) - (x->user_ns < y->user_ns);
}

/* Together, each with the weight of its size; never falling, and all at the end. */
static int fit_one(const struct zm_trace_process *const *processes, size_t nr,
		   struct zm_profile_ramp *ramp)
{
	double all = 0, most = 0;

	ramp->points = calloc(NR_PLACES, sizeof(*ramp->points));
	if (!ramp->points)
		return -ENOMEM;
	ramp->nr = NR_PLACES;
	for (size_t i = 0; i < nr; i++)
		all += (double)processes[i]->anon_pages;
	for (size_t place = 0; place < NR_PLACES; place++) {
		double pages = 0;

		for (size_t i = 0; i < nr; i++)
			pages += pages_at(processes[i],
					  places[place] * (double)cpu_of(processes[i]));
		most = pages / all > most ? pages / all : most;
		ramp->points[place] =
			(struct zm_profile_point){ places[place], most < 1 ? most : 1 };
	}
	ramp->points[NR_PLACES - 1].anon = 1;
	return 0;
}

static int fit_all(const struct zm_trace_process **processes, size_t nr,
		   struct zm_profile_class *class)
{
	size_t nr_ramps = nr >= FEW_CURVES ? NR_RAMPS : nr > 0;
	int r = 0;

	qsort(processes, nr, sizeof(const struct zm_trace_process *), compare_user);
	class->ramps = calloc(nr_ramps + 1, sizeof(*class->ramps));
	if (!class->ramps)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < nr_ramps; i++) {
		size_t from = nr * i / nr_ramps, to = nr * (i + 1) / nr_ramps;
		uint64_t below_us = i ? class->ramps[class->nr_ramps - 1].up_to_us : 0;
		uint64_t up_to_us = i + 1 < nr_ramps ? processes[to]->user_ns / 1000 : UINT64_MAX;

		if (up_to_us <= below_us) /* too many of one length */
			continue;
		class->ramps[class->nr_ramps].up_to_us = up_to_us;
		r = fit_one(processes + from, to - from, &class->ramps[class->nr_ramps++]);
	}
	return r;
}

int zm_ramp_fit(const struct zm_trace *trace, const int *class_of, int class,
		struct zm_profile_class *ret_class)
{
	zm_autofree const struct zm_trace_process **processes =
		calloc(trace->nr, sizeof(const struct zm_trace_process *));
	size_t nr = 0;

	if (!processes)
		return -ENOMEM;
	for (size_t i = 0; i < trace->nr; i++)
		if (class_of[i] == class && has_curve(&trace->processes[i]))
			processes[nr++] = &trace->processes[i];
	return fit_all(processes, nr, ret_class);
}
