/* memuse: the lists of all CPUs are added up first, moment by moment; then used memory is gone through. */
#include "runner/memuse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "results/series.h"
#include "workloads/base/clock.h"

#define NEAR_NS (ZM_NS_PER_S / 2) /* readings further apart are not of the same moment */

/* What lies in the lists, of all CPUs and zones. One monitor reads them all, at the same moments. */
struct lists {
	size_t nr;
	uint64_t *t_ns;
	double *kb;
};

static void release_lists(struct lists *lists)
{
	free(lists->t_ns);
	free(lists->kb);
}

static int begin_lists(struct lists *lists, const struct zm_series *series)
{
	lists->t_ns = calloc(series->nr + 1, sizeof(*lists->t_ns));
	lists->kb = calloc(series->nr + 1, sizeof(*lists->kb));
	if (!lists->t_ns || !lists->kb)
		return -ENOMEM;
	for (size_t i = 0; i < series->nr; i++)
		lists->t_ns[i] = series->t_ns[i];
	lists->nr = series->nr;
	return 0;
}

static int add_list(void *context, const struct zm_series *series)
{
	struct lists *lists = context;
	double page_kb = (double)sysconf(_SC_PAGESIZE) / 1024;
	int r = lists->t_ns ? 0 : begin_lists(lists, series);

	for (size_t i = 0, at = 0; r == 0 && i < series->nr; i++) {
		while (at < lists->nr && lists->t_ns[at] < series->t_ns[i])
			at++;
		if (at < lists->nr && lists->t_ns[at] == series->t_ns[i])
			lists->kb[at] += page_kb * zm_readings_f64(series->readings, i);
	}
	return r;
}

struct reader {
	const struct lists *lists;
	const struct zm_phase_row *idle, *window;
	struct zm_memuse memuse;
};

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The reading next to a moment; NaN: none is near. */
static double value_near(const struct zm_series *series, uint64_t t_ns)
{
	size_t best = 0;

	for (size_t i = 1; i < series->nr; i++) {
		if (distance(series->t_ns[i], t_ns) < distance(series->t_ns[best], t_ns))
			best = i;
	}
	if (series->nr == 0 || distance(series->t_ns[best], t_ns) > NEAR_NS)
		return NAN;
	return zm_readings_f64(series->readings, best);
}

/* Mean and peak, in a phase, of what is used and not in the lists. */
static void without_lists(const struct lists *lists, const struct zm_series *series,
			  const struct zm_phase_row *phase, double *ret_mean, double *ret_peak)
{
	double mean = zm_series_mean(series, phase->t0_ns, phase->t1_ns);
	double sum = 0, peak = NAN;
	size_t nr = 0;

	for (size_t i = 0; i < lists->nr; i++) {
		double used;

		if (lists->t_ns[i] < phase->t0_ns || lists->t_ns[i] > phase->t1_ns)
			continue;
		used = value_near(series, lists->t_ns[i]);
		if (isnan(used))
			continue;
		peak = fmax(peak, used - lists->kb[i]);
		sum += lists->kb[i];
		nr++;
	}
	*ret_mean = nr > 0 ? mean - sum / (double)nr : mean;
	*ret_peak = peak;
}

static double peak_of(const struct zm_series *series, const struct zm_phase_row *phase)
{
	double peak = NAN;

	for (size_t i = 0; i < series->nr; i++) {
		if (series->t_ns[i] >= phase->t0_ns && series->t_ns[i] <= phase->t1_ns)
			peak = fmax(peak, zm_readings_f64(series->readings, i));
	}
	return peak;
}

static int read_used(void *context, const struct zm_series *series)
{
	struct reader *reader = context;
	struct zm_memuse *memuse = &reader->memuse;
	double ignored;

	without_lists(reader->lists, series, reader->idle, &memuse->idle, &ignored);
	without_lists(reader->lists, series, reader->window, &memuse->mean, &memuse->peak);
	if (reader->lists->nr == 0)
		memuse->peak = peak_of(series, reader->window);
	return 0;
}

int zm_memuse_read(struct zm_store *store, uint64_t run, const struct zm_phase_row *idle,
		   const struct zm_phase_row *window, struct zm_memuse *ret_memuse,
		   struct zm_why *why)
{
	const struct zm_series_filter of_lists = { .metric = "pcp.count.*", .scope = -1 };
	const struct zm_series_filter of_used = { .metric = "meminfo.Memused",
						  .scope = ZM_SCOPE_HOST };
	struct lists lists = { 0 };
	struct reader reader = {
		.lists = &lists, .idle = idle, .window = window, .memuse = { NAN, NAN, NAN }
	};
	int r = zm_series_read(store, run, &of_lists, add_list, &lists, NULL, why);

	if (r == 0)
		r = zm_series_read(store, run, &of_used, read_used, &reader, NULL, why);
	if (r == 0)
		*ret_memuse = reader.memuse;
	release_lists(&lists);
	return r;
}
