/*
 * format_hist: buckets put together into rows.
 *
 * A row is one of `split` equal parts of a power of two; its number is power * split + part, so rows follow
 * each other without a gap. Zero has the row of one.
 */
#include "results/format_hist.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "results/table.h"
#include "workloads/base/units.h"

#define MAX_ROWS  32
#define MAX_SPLIT 16
#define BAR       40

static size_t row_of(uint64_t value, unsigned int split)
{
	unsigned int power = value > 1 ? 63u - (unsigned int)__builtin_clzll(value) : 0;
	double part = value > 1 ? ldexp((double)value, -(int)power) - 1 : 0;

	return (size_t)power * split + (size_t)(part * split);
}

static double start_of(size_t row, unsigned int split)
{
	return ldexp(1 + (double)(row % split) / split, (int)(row / split));
}

static uint64_t first_of(size_t bucket)
{
	uint64_t first, end;

	zm_hist_bounds(bucket, &first, &end);
	return first;
}

struct span {
	uint64_t least, greatest; /* first values of the outermost buckets */
	uint64_t total;
};

static void find_span(const struct zm_hist *hist, struct span *span)
{
	*span = (struct span){ .total = 0 };
	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++) {
		if (!hist->buckets[i])
			continue;
		if (!span->total)
			span->least = first_of(i);
		span->greatest = first_of(i);
		span->total += hist->buckets[i];
	}
}

/* The finest that has few enough rows. */
static unsigned int choose_split(const struct span *span)
{
	unsigned int split = MAX_SPLIT;

	while (split > 1 && row_of(span->greatest, split) - row_of(span->least, split) >= MAX_ROWS)
		split /= 2;
	return split;
}

static void add_value(struct zm_table *table, double value, const char *unit)
{
	char text[64];

	if (!strcmp(unit, "ns"))
		(void)zm_units_human_ns(text, sizeof(text), value);
	else
		(void)zm_table_number(text, sizeof(text), value);
	zm_table_cell(table, "%s", text);
}

static void add_bar(struct zm_table *table, uint64_t times, uint64_t most)
{
	static const char bar[] = "########################################";
	int length = most ? (int)ceil(BAR * (double)times / (double)most) : 0;

	zm_table_cell(table, "%.*s", length, bar);
}

int zm_format_hist(const struct zm_hist *hist, const char *unit, size_t width, FILE *out)
{
	static const struct zm_column columns[] = {
		{ .title = "from", .is_right = true },   { .title = "below", .is_right = true },
		{ .title = "values", .is_right = true }, { .title = "share", .is_right = true },
		{ .title = "", .may_be_cut = true },
	};
	struct zm_table *table = zm_table_new(columns, 5);
	uint64_t rows[64 * 2 + MAX_ROWS] = { 0 }, most = 0;
	unsigned int split;
	size_t low, nr;
	struct span span;
	char share[32];
	int error = 0;

	find_span(hist, &span);
	split = choose_split(&span);
	low = row_of(span.least, split);
	nr = row_of(span.greatest, split) - low + 1;
	for (size_t i = 0; i < ZM_HIST_BUCKETS; i++)
		if (hist->buckets[i])
			rows[row_of(first_of(i), split) - low] += hist->buckets[i];
	for (size_t i = 0; i < nr; i++)
		most = rows[i] > most ? rows[i] : most;
	for (size_t i = 0; span.total && i < nr; i++) {
		add_value(table, i || span.least ? start_of(low + i, split) : 0, unit);
		add_value(table, start_of(low + i + 1, split), unit);
		zm_table_figure(table, (double)rows[i]);
		zm_table_cell(table, "%s",
			      zm_table_percent(share, sizeof(share),
					       (double)rows[i] / (double)span.total));
		add_bar(table, rows[i], most);
	}
	if (span.total)
		error = table ? zm_table_print(table, out, width, "  ") : -ENOMEM;
	zm_table_free(table);
	return error;
}
