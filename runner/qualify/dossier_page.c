/* dossier_page: the verdict, the criteria, the fault counters; then each cell's newest good run. */
#include "runner/qualify/dossier.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "results/digest.h"
#include "results/json.h"
#include "results/page.h"

#define MOST_RUNS 40 /* shown with their curves */

static void put_criteria(const struct zm_dossier *dossier, FILE *out)
{
	static const struct zm_column columns[] = {
		{ .title = "verdict" },
		{ .title = "criterion" },
		{ .title = "value", .is_right = true },
		{ .title = "95 % from", .is_right = true },
		{ .title = "to", .is_right = true },
		{ .title = "limits" },
		{ .title = "launches", .is_right = true },
		{ .title = "why" },
	};
	struct zm_page_table table;
	char text[128];

	zm_page_table_begin(&table, out, "criteria", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < dossier->profile->nr_criteria; i++) {
		const struct zm_criterion *criterion = &dossier->profile->criteria[i];
		const struct zm_finding *finding = &dossier->findings[i];
		const double numbers[] = { finding->value, finding->low, finding->high };

		zm_page_cell(&table, "%s", zm_grade_name(finding->grade));
		zm_page_cell(&table, "%s", criterion->name);
		for (size_t k = 0; k < 3; k++)
			zm_page_cell(&table, "%s",
				     zm_finding_number(text, sizeof(text), criterion, finding,
						       numbers[k]));
		zm_page_cell(&table, "%s%s",
			     zm_finding_limits(text, sizeof(text), criterion, finding),
			     finding->is_banded ? " (learned)" : "");
		zm_page_cell(&table, "%zu", finding->nr);
		zm_page_cell(&table, "%s", finding->text);
	}
	zm_page_table_end(&table);
}

static void put_counters(const struct zm_dossier *dossier, FILE *out)
{
	static const struct zm_column columns[] = {
		{ .title = "source" },
		{ .title = "counters", .is_right = true },
		{ .title = "what they did" },
	};
	struct zm_page_table table;

	zm_page_table_begin(&table, out, "fault counters of the machine, before and after", columns,
			    sizeof(columns) / sizeof(columns[0]));
	for (int class = 0; class < ZM_NR_HEALTH; class ++) {
		char text[200] = "";

		(void)zm_health_compare(dossier->before, dossier->after,
					(enum zm_health_class) class, text, sizeof(text));
		zm_page_cell(&table, "%s", zm_health_names[class]);
		zm_page_cell(&table, "%zu", dossier->after->nr_of[class]);
		zm_page_cell(&table, "%s", text);
	}
	zm_page_table_end(&table);
}

static void put_head(const struct zm_dossier *dossier, FILE *out)
{
	char began[32], ended[32], text[512];

	zm_page_element(out, "p", dossier->profile->summary);
	(void)snprintf(text, sizeof(text), "Machine %s: %s. Runs from %s to %s, zonemark %s.",
		       dossier->machine->id, dossier->machine->model,
		       zm_json_time_text(began, sizeof(began), dossier->began_wall_ns),
		       zm_json_time_text(ended, sizeof(ended), dossier->ended_wall_ns), ZM_VERSION);
	zm_page_element(out, "p", text);
	(void)snprintf(text, sizeof(text), "Signed by the key %s.", dossier->fingerprint);
	zm_page_element(out, "p", text);
}

/* Is there no newer good run of its cell? */
static bool is_newest(const struct zm_evidence *evidence, size_t at)
{
	const struct zm_run_info *info = &evidence->runs[at].view->info;

	if (info->status != ZM_STATUS_OK || !zm_evidence_is_whole(&evidence->runs[at]))
		return false;
	for (size_t i = at + 1; i < evidence->nr; i++) {
		const struct zm_run_info *other = &evidence->runs[i].view->info;

		if (other->status == ZM_STATUS_OK && strcmp(other->cell, info->cell) == 0)
			return false;
	}
	return true;
}

static int put_run(FILE *out, struct zm_store *store, uint64_t run, struct zm_why *why)
{
	struct zm_digest *digest = NULL;
	int r = zm_digest_make(store, run, NULL, &digest, why);

	if (r == 0)
		r = zm_page_run(out, store, digest, why);
	zm_digest_free(digest);
	return r;
}

static int put_runs(const struct zm_dossier *dossier, FILE *out, struct zm_why *why)
{
	const struct zm_evidence *evidence = dossier->evidence;
	struct zm_store *store = NULL;
	char path[PATH_MAX];
	size_t nr = 0;
	int r;

	if (evidence->nr == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "%s/store.db", dossier->folder);
	r = zm_store_open(path, false, &store, why);
	for (size_t i = 0; r == 0 && i < evidence->nr; i++) {
		if (is_newest(evidence, i) && nr++ < MOST_RUNS)
			r = put_run(out, store, evidence->runs[i].view->info.id, why);
	}
	zm_store_close(store);
	return r;
}

int zm_dossier_page(const struct zm_dossier *dossier, FILE *out, struct zm_why *why)
{
	char title[256];
	int r;

	(void)snprintf(title, sizeof(title), "Qualification %s: %s", dossier->profile->name,
		       zm_grade_name(dossier->grade));
	zm_page_begin(out, title);
	put_head(dossier, out);
	put_criteria(dossier, out);
	put_counters(dossier, out);
	r = put_runs(dossier, out, why);
	zm_page_end(out);
	return r;
}
