/* throughput: all tasks' operations as one count over time. */
#include "results/throughput.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void zm_throughput_release(struct zm_throughput *throughput)
{
	free(throughput->op);
	free(throughput->t_ns);
	free(throughput->count);
	*throughput = (struct zm_throughput){ 0 };
}

static int begin(struct zm_throughput *throughput, const struct zm_series *series)
{
	throughput->op = strdup(series->desc.unit);
	throughput->t_ns = malloc((series->nr + 1) * sizeof(*throughput->t_ns));
	throughput->count = calloc(series->nr + 1, sizeof(*throughput->count));
	if (!throughput->op || !throughput->t_ns || !throughput->count) {
		zm_throughput_release(throughput);
		return -ENOMEM;
	}
	memcpy(throughput->t_ns, series->t_ns, series->nr * sizeof(*throughput->t_ns));
	throughput->nr = series->nr;
	return 0;
}

/* The count at a moment, from the readings around it; *at moves on with the moments. */
static double count_at(const struct zm_series *series, uint64_t t_ns, size_t *at)
{
	double before, after, part;

	while (*at + 1 < series->nr && series->t_ns[*at + 1] <= t_ns)
		++*at;
	before = zm_readings_f64(series->readings, *at);
	if (t_ns <= series->t_ns[*at] || *at + 1 == series->nr)
		return before;
	after = zm_readings_f64(series->readings, *at + 1);
	part = (double)(t_ns - series->t_ns[*at]) /
	       (double)(series->t_ns[*at + 1] - series->t_ns[*at]);
	return before + part * (after - before);
}

int zm_throughput_add(struct zm_throughput *throughput, const struct zm_series *series)
{
	size_t at = 0;

	if (series->nr == 0)
		return 0;
	if (!throughput->op && begin(throughput, series))
		return -ENOMEM;
	for (size_t i = 0; i < throughput->nr; i++)
		throughput->count[i] += count_at(series, throughput->t_ns[i], &at);
	throughput->nr_tasks++;
	return 0;
}

static int add(void *context, const struct zm_series *series)
{
	return zm_throughput_add(context, series);
}

int zm_throughput_read(struct zm_store *store, uint64_t run, struct zm_throughput *ret_throughput,
		       struct zm_why *why)
{
	const struct zm_series_filter filter = { .metric = ZM_SERIES_TASK_OPS,
						 .source = ZM_SOURCE_ENGINE,
						 .scope = ZM_SCOPE_TASK };
	struct zm_throughput throughput = { 0 };
	int error = zm_series_read(store, run, &filter, add, &throughput, NULL, why);

	if (error) {
		zm_throughput_release(&throughput);
		return error;
	}
	*ret_throughput = throughput;
	return 0;
}

/* Is there an interval before reading i, and does it lie between the moments? */
static int is_inside(const struct zm_throughput *throughput, size_t i, uint64_t t0_ns,
		     uint64_t t1_ns)
{
	return throughput->t_ns[i - 1] >= t0_ns && throughput->t_ns[i] <= t1_ns &&
	       throughput->t_ns[i] > throughput->t_ns[i - 1] &&
	       throughput->count[i] >= throughput->count[i - 1];
}

size_t zm_throughput_intervals(const struct zm_throughput *throughput, uint64_t t0_ns,
			       uint64_t t1_ns, struct zm_interval *ret_intervals)
{
	size_t nr = 0;

	for (size_t i = 1; i < throughput->nr; i++) {
		if (is_inside(throughput, i, t0_ns, t1_ns))
			ret_intervals[nr++] = (struct zm_interval){
				.t0_ns = throughput->t_ns[i - 1],
				.t1_ns = throughput->t_ns[i],
				.delta = throughput->count[i] - throughput->count[i - 1],
			};
	}
	return zm_interval_join_short(ret_intervals, nr);
}

int64_t zm_throughput_rates(const struct zm_throughput *throughput, uint64_t t0_ns, uint64_t t1_ns,
			    double **ret_rates)
{
	struct zm_interval *intervals = calloc(throughput->nr + 1, sizeof(*intervals));
	double *rates = calloc(throughput->nr + 1, sizeof(*rates));
	size_t nr = 0;

	if (!intervals || !rates) {
		free(intervals);
		free(rates);
		return -ENOMEM;
	}
	nr = zm_throughput_intervals(throughput, t0_ns, t1_ns, intervals);
	for (size_t i = 0; i < nr; i++)
		rates[i] = zm_interval_rate(&intervals[i]);
	free(intervals);
	*ret_rates = rates;
	return (int64_t)nr;
}

double zm_throughput_total(const struct zm_throughput *throughput, uint64_t t0_ns, uint64_t t1_ns,
			   uint64_t *ret_covered_ns)
{
	uint64_t covered_ns = 0;
	double total = 0;

	for (size_t i = 1; i < throughput->nr; i++) {
		if (!is_inside(throughput, i, t0_ns, t1_ns))
			continue;
		total += throughput->count[i] - throughput->count[i - 1];
		covered_ns += throughput->t_ns[i] - throughput->t_ns[i - 1];
	}
	*ret_covered_ns = covered_ns;
	return total;
}
