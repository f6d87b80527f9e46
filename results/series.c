/* series: the readings of a run as they are read back, and what is derived from them. */
#include "results/series.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/assembly.h"
#include "results/db.h"
#include "results/finish.h"

/* A reading of a run's series under way. */
struct reading {
	struct zm_store *store;
	uint64_t run;
	const struct zm_series_filter *filter;
	int (*each)(void *context, const struct zm_series *series);
	void *context;
	size_t nr_damaged;
	struct zm_why *why;

	struct base {
		int64_t id;
		size_t nr;
		uint64_t *t_ns;
	} * bases; /* time bases that have been decoded */
	size_t nr_bases, bases_capacity;
};

static bool wants(void *context, const struct zm_series_desc *desc)
{
	const struct reading *reading = context;
	const struct zm_series_filter *filter = reading->filter;

	return (filter->scope < 0 || filter->scope == (int)desc->scope) &&
	       (!filter->source || !strcmp(filter->source, desc->source)) &&
	       (!filter->metric || fnmatch(filter->metric, desc->metric, 0) == 0);
}

static int hand_out(void *context, const struct zm_assembled *assembled)
{
	const struct reading *reading = context;

	return reading->each(reading->context,
			     &(struct zm_series){ .desc = assembled->desc,
						  .nr = assembled->readings->nr,
						  .t_ns = assembled->t_ns,
						  .readings = assembled->readings });
}

static int read_chunks(struct reading *reading)
{
	struct zm_finish_chunks chunks = { .db = zm_store_db(reading->store),
					   .run = (int64_t)reading->run,
					   .why = reading->why };
	struct zm_chunk_source source;
	struct zm_assembly *assembly = NULL;
	size_t nr_chunks;
	int error = zm_finish_source(&chunks, &source, &nr_chunks);

	if (error || nr_chunks == 0)
		return error;
	error = zm_assembly_open(&source, nr_chunks, &assembly);
	if (!error)
		error = zm_assembly_each(assembly, wants, hand_out, reading);
	zm_finish_source_end(&chunks);
	if (assembly)
		reading->nr_damaged +=
			zm_assembly_nr_lost(assembly) + zm_assembly_nr_damaged(assembly);
	zm_assembly_close(assembly);
	return error;
}

static int decode_base(const struct zm_rows *rows, struct base *base)
{
	zm_autobuf struct zm_buf raw = { 0 };
	struct zm_cursor cursor;
	size_t size;
	const void *data = zm_rows_blob(rows, 1, &size);
	int64_t nr = zm_rows_int(rows, 0);
	int error = zm_unpack(data, size, &raw);

	if (error)
		return error;
	if (nr < 0 || (uint64_t)nr > raw.size || (uint64_t)nr > ZM_READINGS_MAX)
		return -EUCLEAN;
	base->nr = (size_t)nr;
	base->t_ns = malloc((base->nr + 1) * sizeof(*base->t_ns));
	if (!base->t_ns)
		return -ENOMEM;
	cursor = zm_cursor(raw.data, raw.size);
	zm_codec_get_times(&cursor, base->nr, base->t_ns);
	return cursor.is_bad ? -EUCLEAN : 0;
}

static int load_base(struct reading *reading, struct base *base)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(zm_store_db(reading->store), reading->why, &rows,
				"SELECT nr, data FROM timebase WHERE id = ?1 AND run = ?2",
				ZM_BIND(zm_int(base->id), zm_int((int64_t)reading->run)));

	if (!error) {
		if (zm_rows_next(&rows, reading->why, &error))
			error = decode_base(&rows, base);
		else if (!error)
			error = -EUCLEAN;
	}
	zm_rows_end(&rows);
	return error;
}

static int find_base(struct reading *reading, int64_t id, const struct base **ret_base)
{
	struct base base = { .id = id };
	int error;

	for (size_t i = reading->nr_bases; i-- > 0;) {
		if (reading->bases[i].id == id) {
			*ret_base = &reading->bases[i];
			return 0;
		}
	}
	error = zm_array_grow((void **)&reading->bases, &reading->bases_capacity, reading->nr_bases,
			      sizeof(base));
	if (error)
		return error;
	error = load_base(reading, &base);
	if (error) {
		free(base.t_ns);
		return error;
	}
	reading->bases[reading->nr_bases++] = base;
	*ret_base = &reading->bases[reading->nr_bases - 1];
	return 0;
}

static enum zm_form form_of(const struct zm_series_desc *desc)
{
	if (desc->kind == ZM_HIST)
		return ZM_FORM_HIST;
	return desc->is_float ? ZM_FORM_F64 : ZM_FORM_U64;
}

static int decode_row(struct reading *reading, const struct zm_rows *rows,
		      const struct zm_series_desc *desc, struct zm_readings *readings,
		      struct zm_series *ret_series)
{
	zm_autobuf struct zm_buf raw = { 0 };
	const struct base *base;
	struct zm_cursor cursor;
	size_t size;
	const void *data = zm_rows_blob(rows, 9, &size);
	int error = find_base(reading, zm_rows_int(rows, 8), &base);

	if (!error)
		error = zm_unpack(data, size, &raw);
	if (error)
		return error;
	cursor = zm_cursor(raw.data, raw.size);
	readings->form = form_of(desc);
	error = zm_codec_get_readings(&cursor, base->nr, readings);
	if (error)
		return error == -EOVERFLOW ? -EUCLEAN : error;
	*ret_series = (struct zm_series){
		.desc = *desc, .nr = base->nr, .t_ns = base->t_ns, .readings = readings
	};
	return 0;
}

static bool describe(const struct zm_rows *rows, struct zm_series_desc *ret_desc)
{
	int64_t kind = zm_rows_int(rows, 3), better = zm_rows_int(rows, 4);
	int64_t scope = zm_rows_int(rows, 5);

	*ret_desc = (struct zm_series_desc){
		.source = zm_rows_text(rows, 0),
		.metric = zm_rows_text(rows, 1),
		.unit = zm_rows_text(rows, 2),
		.kind = (enum zm_kind)kind,
		.better = (enum zm_better)better,
		.scope = (enum zm_scope)scope,
		.scope_id = (uint32_t)zm_rows_int(rows, 6),
		.is_float = zm_rows_int(rows, 7) != 0,
	};
	return ret_desc->source && ret_desc->metric && ret_desc->unit && kind >= 0 &&
	       kind <= ZM_HIST && better >= 0 && better <= ZM_BETTER_LESS && scope >= 0 &&
	       scope <= ZM_SCOPE_CGROUP;
}

static int read_row(struct reading *reading, const struct zm_rows *rows)
{
	struct zm_readings readings = { 0 };
	struct zm_series_desc desc;
	struct zm_series series;
	int error = describe(rows, &desc) ? 0 : -EUCLEAN;

	if (!error && !wants(reading, &desc))
		return 0;
	if (!error)
		error = decode_row(reading, rows, &desc, &readings, &series);
	if (!error)
		error = reading->each(reading->context, &series);
	else if (error == -EUCLEAN) {
		reading->nr_damaged++;
		error = 0;
	}
	zm_readings_release(&readings);
	return error;
}

static int read_rows(struct reading *reading)
{
	struct zm_rows rows = { 0 };
	int error = zm_db_query(
		zm_store_db(reading->store), reading->why, &rows,
		"SELECT source.name, metric.name, metric.unit, metric.kind, metric.better, scope,"
		" scope_id, is_float, timebase, data FROM series"
		" JOIN metric ON metric.id = series.metric"
		" JOIN source ON source.id = series.source WHERE series.run = ?1"
		" ORDER BY series.id",
		ZM_BIND(zm_int((int64_t)reading->run)));

	while (!error && zm_rows_next(&rows, reading->why, &error))
		error = read_row(reading, &rows);
	zm_rows_end(&rows);
	return error;
}

int zm_series_read(struct zm_store *store, uint64_t run, const struct zm_series_filter *filter,
		   int (*each)(void *context, const struct zm_series *series), void *context,
		   size_t *ret_nr_damaged, struct zm_why *why)
{
	struct reading reading = { .store = store,
				   .run = run,
				   .filter = filter,
				   .each = each,
				   .context = context,
				   .why = why };
	int error = read_rows(&reading);

	if (!error)
		error = read_chunks(&reading);
	for (size_t i = 0; i < reading.nr_bases; i++)
		free(reading.bases[i].t_ns);
	free(reading.bases);
	if (!error && ret_nr_damaged)
		*ret_nr_damaged = reading.nr_damaged;
	return error;
}

size_t zm_series_window(const struct zm_series *series, uint64_t t0_ns, uint64_t t1_ns,
			size_t *ret_first)
{
	size_t first = 0, end;

	while (first < series->nr && series->t_ns[first] < t0_ns)
		first++;
	end = first;
	while (end < series->nr && series->t_ns[end] <= t1_ns)
		end++;
	*ret_first = first;
	return end - first;
}

size_t zm_series_intervals(const struct zm_series *series, uint64_t t0_ns, uint64_t t1_ns,
			   struct zm_interval *ret_intervals)
{
	size_t first, nr = 0;
	size_t nr_inside = zm_series_window(series, t0_ns, t1_ns, &first);

	for (size_t i = first + 1; i < first + nr_inside; i++) {
		double before = zm_readings_f64(series->readings, i - 1);
		double after = zm_readings_f64(series->readings, i);
		const uint32_t *flags = series->readings->flags;

		if (!(after >= before) || series->t_ns[i] <= series->t_ns[i - 1])
			continue;
		ret_intervals[nr++] = (struct zm_interval){
			.t0_ns = series->t_ns[i - 1],
			.t1_ns = series->t_ns[i],
			.delta = series->readings->form == ZM_FORM_U64
					 ? (double)(series->readings->values[i] -
						    series->readings->values[i - 1])
					 : after - before,
			.flags = flags ? flags[i] : 0,
		};
	}
	return nr;
}

static int compare_lengths(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t median_length(const struct zm_interval *intervals, size_t nr)
{
	uint64_t *lengths = malloc((nr + 1) * sizeof(*lengths));
	uint64_t median = 0;

	if (!lengths)
		return 0;
	for (size_t i = 0; i < nr; i++)
		lengths[i] = intervals[i].t1_ns - intervals[i].t0_ns;
	qsort(lengths, nr, sizeof(*lengths), compare_lengths);
	median = lengths[nr / 2];
	free(lengths);
	return median;
}

static bool is_short(const struct zm_interval *interval, uint64_t median_ns)
{
	return interval->t1_ns - interval->t0_ns < median_ns / 2;
}

size_t zm_interval_join_short(struct zm_interval *intervals, size_t nr)
{
	uint64_t median_ns = nr > 1 ? median_length(intervals, nr) : 0;
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		struct zm_interval *before = kept ? &intervals[kept - 1] : NULL;

		if (before && before->t1_ns == intervals[i].t0_ns &&
		    (is_short(&intervals[i], median_ns) ||
		     (kept == 1 && is_short(before, median_ns)))) {
			before->t1_ns = intervals[i].t1_ns;
			before->delta += intervals[i].delta;
			before->flags |= intervals[i].flags;
		} else {
			intervals[kept++] = intervals[i];
		}
	}
	return kept;
}

double zm_interval_rate(const struct zm_interval *interval)
{
	return interval->delta * 1e9 / (double)(interval->t1_ns - interval->t0_ns);
}

double zm_series_total(const struct zm_series *series, uint64_t t0_ns, uint64_t t1_ns,
		       uint64_t *ret_covered_ns)
{
	struct zm_interval *intervals = malloc((series->nr + 1) * sizeof(*intervals));
	uint64_t covered_ns = 0;
	double total = 0;
	size_t nr = intervals ? zm_series_intervals(series, t0_ns, t1_ns, intervals) : 0;

	for (size_t i = 0; i < nr; i++) {
		total += intervals[i].delta;
		covered_ns += intervals[i].t1_ns - intervals[i].t0_ns;
	}
	free(intervals);
	*ret_covered_ns = covered_ns;
	return total;
}

double zm_series_mean(const struct zm_series *series, uint64_t t0_ns, uint64_t t1_ns)
{
	size_t first;
	size_t nr = zm_series_window(series, t0_ns, t1_ns, &first);
	double area = 0, span = 0;

	if (nr == 0)
		return NAN;
	for (size_t i = first + 1; i < first + nr; i++) {
		double width = (double)(series->t_ns[i] - series->t_ns[i - 1]);
		double both = zm_readings_f64(series->readings, i - 1) +
			      zm_readings_f64(series->readings, i);

		if (series->t_ns[i] <= series->t_ns[i - 1])
			continue;
		area += both / 2 * width;
		span += width;
	}
	return span > 0 ? area / span : zm_readings_f64(series->readings, first);
}
