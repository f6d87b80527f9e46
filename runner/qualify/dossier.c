/* dossier: one writer per file. */
#include "runner/qualify/dossier.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/json.h"
#include "results/outfile.h"
#include "results/table.h"
#include "runner/qualify/pdf.h"
#include "workloads/base/cleanup.h"

static const char *const file_names[] = {
	"qualification.json", "summary.txt",  "report.html", "report.pdf", "inventory.json",
	"counters.json",      "profile.yaml", "bands.yaml",  "store.db",   NULL,
};

static const char *path_of(const struct zm_dossier *dossier, const char *name, char *buf,
			   size_t size)
{
	(void)snprintf(buf, size, "%s/%s", dossier->folder, name);
	return buf;
}

/* --- the table --- */

int zm_dossier_print(const struct zm_dossier *dossier, FILE *out, size_t width)
{
	static const struct zm_column columns[] = {
		{ .title = "verdict" },
		{ .title = "criterion" },
		{ .title = "value" },
		{ .title = "limits" },
		{ .title = "why", .may_be_cut = true },
	};
	struct zm_table *table = zm_table_new(columns, sizeof(columns) / sizeof(columns[0]));
	char text[128];
	int r;

	for (size_t i = 0; i < dossier->profile->nr_criteria; i++) {
		const struct zm_criterion *criterion = &dossier->profile->criteria[i];
		const struct zm_finding *finding = &dossier->findings[i];

		zm_table_cell(table, "%s", zm_grade_name(finding->grade));
		zm_table_cell(table, "%s", criterion->name);
		zm_table_cell(
			table, "%s",
			zm_finding_number(text, sizeof(text), criterion, finding, finding->value));
		zm_table_cell(table, "%s",
			      zm_finding_limits(text, sizeof(text), criterion, finding));
		zm_table_cell(table, "%s", finding->text);
	}
	r = table ? zm_table_print(table, out, width, "") : -ENOMEM;
	zm_table_free(table);
	return r;
}

/* --- files --- */

json_t *zm_dossier_json(const struct zm_dossier *dossier)
{
	const struct zm_qualify_machine *machine = dossier->machine;
	json_t *criteria = json_array();
	json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "profile", dossier->profile->name,
				   "verdict", zm_grade_name(dossier->grade), "machine", machine->id,
				   "version", ZM_VERSION);

	(void)json_object_set_new(object, "model", zm_json_text(machine->model));
	(void)json_object_set_new(object, "kernel",
				  json_incref(json_object_get(machine->inventory, "kernel")));
	(void)json_object_set_new(object, "began", zm_json_time(dossier->began_wall_ns));
	(void)json_object_set_new(object, "finished", zm_json_time(dossier->ended_wall_ns));
	(void)json_object_set_new(object, "signed_by", json_string(dossier->fingerprint));
	if (dossier->no_pdf[0])
		(void)json_object_set_new(object, "no_pdf", zm_json_text(dossier->no_pdf));
	for (size_t i = 0; i < dossier->profile->nr_criteria; i++)
		(void)json_array_append_new(
			criteria,
			zm_finding_json(&dossier->profile->criteria[i], &dossier->findings[i]));
	(void)json_object_set_new(object, "criteria", criteria);
	return object;
}

static int put_json(FILE *out, json_t *object)
{
	int r = object && json_dumpf(object, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF
			? 0
			: -EIO;

	json_decref(object);
	return r;
}

static int put_qualification(const struct zm_dossier *dossier, FILE *out, struct zm_why *why)
{
	(void)why;
	return put_json(out, zm_dossier_json(dossier));
}

static int put_inventory(const struct zm_dossier *dossier, FILE *out, struct zm_why *why)
{
	(void)why;
	return put_json(out, json_incref(dossier->machine->inventory));
}

static int put_counters(const struct zm_dossier *dossier, FILE *out, struct zm_why *why)
{
	(void)why;
	return put_json(out, zm_health_json(dossier->before, dossier->after));
}

static int put_summary(const struct zm_dossier *dossier, FILE *out, struct zm_why *why)
{
	char began[32], ended[32];

	(void)why;
	(void)fprintf(out,
		      "profile    %s\nmachine    %s: %s\nruns       %s to %s\nverdict    %s\n\n",
		      dossier->profile->name, dossier->machine->id, dossier->machine->model,
		      zm_json_time_text(began, sizeof(began), dossier->began_wall_ns),
		      zm_json_time_text(ended, sizeof(ended), dossier->ended_wall_ns),
		      zm_grade_name(dossier->grade));
	return zm_dossier_print(dossier, out, 0);
}

static int write_file(const struct zm_dossier *dossier, const char *name,
		      int (*put)(const struct zm_dossier *dossier, FILE *out, struct zm_why *why),
		      struct zm_why *why)
{
	char path[PATH_MAX];
	struct zm_outfile file = { 0 };
	int r = zm_outfile_open(&file, path_of(dossier, name, path, sizeof(path)), why);

	if (r < 0)
		return r;
	r = put(dossier, file.out, why);
	if (r < 0)
		(void)zm_why_errno(why, r, "%s", path);
	else
		r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return r;
}

static void make_pdf(struct zm_dossier *dossier)
{
	char html[PATH_MAX], pdf[PATH_MAX];
	struct zm_why why = { "it was not asked for (--pdf none)" };

	path_of(dossier, "report.html", html, sizeof(html));
	path_of(dossier, "report.pdf", pdf, sizeof(pdf));
	if (dossier->wants_pdf && zm_pdf_make(html, pdf, &why) == 0)
		return;
	(void)unlink(pdf);
	(void)snprintf(dossier->no_pdf, sizeof(dossier->no_pdf), "%s", why.text);
}

int zm_dossier_write(struct zm_dossier *dossier, struct zm_why *why)
{
	static const struct {
		const char *name;
		int (*put)(const struct zm_dossier *dossier, FILE *out, struct zm_why *why);
	} files[] = {
		{ "summary.txt", put_summary },
		{ "inventory.json", put_inventory },
		{ "counters.json", put_counters },
		{ "report.html", zm_dossier_page },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(files) / sizeof(files[0]); i++)
		r = write_file(dossier, files[i].name, files[i].put, why);
	if (r < 0)
		return r;
	make_pdf(dossier);
	return write_file(dossier, "qualification.json", put_qualification, why);
}

/* --- the bundle --- */

int zm_dossier_pack(const struct zm_dossier *dossier, const char *path,
		    const struct zm_signer *signer, struct zm_why *why)
{
	char paths[sizeof(file_names) / sizeof(file_names[0])][PATH_MAX];
	struct zm_bundle_source sources[ZM_BUNDLE_FILES];
	struct zm_outfile file = { 0 };
	size_t nr = 0;
	int r;

	for (size_t i = 0; file_names[i]; i++) {
		path_of(dossier, file_names[i], paths[nr], PATH_MAX);
		if (access(paths[nr], R_OK) < 0)
			continue;
		sources[nr] = (struct zm_bundle_source){ file_names[i], paths[nr] };
		nr++;
	}
	r = zm_outfile_open(&file, path, why);
	if (r == 0)
		r = zm_bundle_write(file.out, sources, nr, dossier->ended_wall_ns, signer, why);
	if (r == 0)
		r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return r;
}
