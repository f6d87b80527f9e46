/* expect: the claimed metric, else a primary one of the table; its change and its noise there. */
#include "runner/expect.h"

#include <math.h>
#include <string.h>

/* Robots print no stddev below this, in percent. */
#define SILENT_NOISE 2.0

/* "will-it-scale.{n}.processes" is "will-it-scale.16.processes". */
static bool is_metric(const char *pattern, const char *name)
{
	const char *hole = strstr(pattern, "{n}");
	size_t before = hole ? (size_t)(hole - pattern) : 0, digits;

	if (!hole)
		return strcmp(pattern, name) == 0;
	if (strncmp(pattern, name, before) != 0)
		return false;
	digits = strspn(name + before, "0123456789");
	return digits > 0 && strcmp(name + before + digits, hole + strlen("{n}")) == 0;
}

bool zm_expect_has_metric(const struct zm_workload *workload, const char *name, bool is_primary)
{
	for (const struct zm_metric *metric = workload->metrics; metric && metric->name; metric++) {
		if ((!is_primary || metric->is_primary) && is_metric(metric->name, name))
			return true;
	}
	return false;
}

/* The claimed metric, else a primary one of the table. */
static const char *find_expected(const struct zm_reproduction *made)
{
	const struct zm_mail_record *record = made->record;
	const struct zm_workload *workload = made->workload;

	if (record->claim.metric && zm_expect_has_metric(workload, record->claim.metric, false))
		return record->claim.metric;
	for (size_t i = 0; i < record->nr_rows; i++) {
		if (zm_expect_has_metric(workload, record->rows[i].metric, true))
			return record->rows[i].metric;
	}
	return NULL;
}

static double noise_of(const struct zm_mail_record *record, const struct zm_mail_row *row)
{
	double noise = NAN;

	for (unsigned int i = 0; i < record->nr_commits; i++)
		noise = fmax(noise, row->cells[i].stddev);
	return noise;
}

/* Two-sided 5 %, power 80 %: 2 (1.96 + 0.84)^2 (sd / change)^2, and two at least. */
static unsigned int runs_for(double change, double noise)
{
	double ratio = (isnan(noise) ? SILENT_NOISE : noise) / change;
	double runs = ceil(15.7 * ratio * ratio);

	if (!isfinite(runs) || runs > 10000)
		return 0;
	return runs < 2 ? 2 : (unsigned int)runs;
}

void zm_expect(struct zm_reproduction *made)
{
	const struct zm_mail_record *record = made->record;
	const struct zm_mail_row *row;

	made->expected = find_expected(made);
	row = zm_mail_record_row(record, made->expected);
	if (made->expected && record->claim.metric &&
	    strcmp(made->expected, record->claim.metric) == 0)
		made->change = record->claim.change;
	if (row && record->nr_commits > 1 && isnan(made->change) && row->cells[1].is_percent)
		made->change = row->cells[1].change;
	if (row)
		made->noise = noise_of(record, row);
	if (!isnan(made->change))
		made->nr_runs = runs_for(made->change, made->noise);
}
