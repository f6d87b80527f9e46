/* learn: units, a value of each per criterion, a tolerance interval. */
#include "runner/qualify/learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/stat.h"
#include "results/tolerance.h"
#include "runner/qualify/finding.h"
#include "runner/qualify/machine.h"

#define COVERAGE   0.99
#define CONFIDENCE 0.95

struct unit {
	const char *machine, *boot; /* boot NULL: all of the machine's */
	double parts[ZM_NR_PARTS];
	bool is_guest;
};

struct units {
	struct unit *list;
	size_t nr;
	char model[256];
};

static bool is_of_cells(const void *context, const struct zm_evidence_run *run)
{
	const json_t *cells = context;

	if (!zm_evidence_is_whole(run))
		return true;
	for (size_t i = 0; i < json_array_size(cells); i++) {
		if (strcmp(json_string_value(json_array_get(cells, i)), run->view->info.cell) == 0)
			return true;
	}
	return false;
}

static bool is_unit(const struct unit *unit, const struct zm_evidence_run *run)
{
	return strcmp(unit->machine, run->view->info.machine) == 0 &&
	       (!unit->boot || strcmp(unit->boot, run->view->info.boot) == 0);
}

/* The first run of a unit says what it is; another model is refused. */
static int add_unit(struct units *units, const struct zm_evidence_run *run, bool by_boot,
		    struct zm_why *why)
{
	json_t *inventory = json_loads(run->view->inventory ? run->view->inventory : "{}", 0, NULL);
	struct unit *unit = &units->list[units->nr];
	char model[sizeof(units->model)];

	unit->machine = run->view->info.machine;
	unit->boot = by_boot ? run->view->info.boot : NULL;
	zm_qualify_inventory(inventory, unit->parts, model, sizeof(model), &unit->is_guest);
	json_decref(inventory);
	if (units->nr == 0)
		memcpy(units->model, model, sizeof(model));
	if (strcmp(units->model, model) != 0)
		return zm_why_set(why, -EINVAL,
				  "machines of two models: '%.120s' and '%.120s'; learn from each "
				  "model alone",
				  units->model, model);
	units->nr++;
	return 0;
}

static int find_units(const struct zm_evidence *evidence, bool by_boot, struct units *units,
		      struct zm_why *why)
{
	int r = 0;

	units->nr = 0;
	for (size_t i = 0; r == 0 && i < evidence->nr; i++) {
		bool is_known = false;

		for (size_t k = 0; k < units->nr; k++)
			is_known = is_known || is_unit(&units->list[k], &evidence->runs[i]);
		if (!is_known)
			r = add_unit(units, &evidence->runs[i], by_boot, why);
	}
	return r;
}

/* Limits that a criterion has hide nothing: only its value is taken. */
static int add_band(struct zm_bands *bands, const struct zm_criterion *criterion,
		    const struct zm_evidence *evidence, const struct units *units)
{
	double *values = calloc(units->nr, sizeof(*values));
	struct zm_band *band = &bands->list[bands->nr];
	struct zm_tolerance tolerance;
	size_t nr = 0;
	int r = values ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < units->nr; i++) {
		const struct unit *unit = &units->list[i];
		struct zm_facts facts = { .evidence = evidence,
					  .machine = unit->machine,
					  .boot = unit->boot,
					  .is_guest = unit->is_guest,
					  .elapsed_s = NAN };
		struct zm_finding finding;

		memcpy(facts.parts, unit->parts, sizeof(facts.parts));
		r = zm_finding_make(criterion, &facts, &finding);
		if (r == 0 && !isnan(finding.value))
			values[nr++] = finding.value;
	}
	if (r == 0 && nr >= 2) {
		tolerance = zm_tolerance_of(values, nr, COVERAGE, CONFIDENCE);
		*band = (struct zm_band){ .criterion = zm_pool_text(&bands->pool, criterion->name),
					  .least = tolerance.low,
					  .most = tolerance.high,
					  .median = zm_stat_median(values, nr),
					  .nr = nr };
		bands->nr++;
	}
	free(values);
	return r;
}

static bool is_learned(const struct zm_criterion *criterion)
{
	return criterion->kind == ZM_CRITERION_THROUGHPUT ||
	       criterion->kind == ZM_CRITERION_SCALING || criterion->kind == ZM_CRITERION_SPREAD ||
	       criterion->kind == ZM_CRITERION_SYMMETRY || criterion->kind == ZM_CRITERION_MEMORY;
}

static int add_bands(const struct zm_standard *profile, const struct zm_evidence *evidence,
		     const struct units *units, bool by_boot, struct zm_bands *bands)
{
	int r = 0;

	bands->profile = zm_pool_text(&bands->pool, profile->name);
	bands->model = zm_pool_text(&bands->pool, units->model);
	bands->of = by_boot ? "boots" : "machines";
	bands->list = zm_pool_take(&bands->pool, (profile->nr_criteria + 1) * sizeof(*bands->list));
	for (size_t i = 0; r == 0 && bands->list && i < profile->nr_criteria; i++) {
		if (is_learned(&profile->criteria[i]))
			r = add_band(bands, &profile->criteria[i], evidence, units);
	}
	return r < 0 ? r : bands->pool.error;
}

int zm_learn_bands(const struct zm_standard *profile, struct zm_evidence *evidence,
		   const json_t *cells, struct zm_bands *ret_bands, struct zm_why *why)
{
	struct zm_bands bands = { 0 };
	struct units units = { 0 };
	bool by_boot = false;
	int r;

	zm_evidence_keep(evidence, is_of_cells, cells);
	units.list = calloc(evidence->nr + 1, sizeof(*units.list));
	if (!units.list)
		return zm_why_errno(why, -ENOMEM, "learning");
	r = find_units(evidence, by_boot, &units, why);
	if (r == 0 && units.nr == 1) {
		by_boot = true;
		r = find_units(evidence, by_boot, &units, why);
	}
	if (r == 0 && units.nr < 2)
		r = zm_why_set(why, -ENODATA,
			       "%s of this profile's runs: bands are learned from two machines, or "
			       "two boots, or more",
			       units.nr ? "one boot has" : "none have");
	if (r == 0) {
		r = add_bands(profile, evidence, &units, by_boot, &bands);
		if (r < 0)
			(void)zm_why_errno(why, r, "learning");
	}
	if (r == 0 && bands.nr == 0)
		r = zm_why_set(why, -ENODATA, "no criterion of %s has a value in two of them",
			       profile->name);
	free(units.list);
	if (r < 0)
		zm_bands_release(&bands);
	else
		*ret_bands = bands;
	return r;
}
