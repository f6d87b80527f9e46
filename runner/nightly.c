/*
 * nightly: one night of a lab.
 *
 *     folder, lock -> the night's invocation -> histories -> an invocation of the cells that ask -> histories
 *     -> mail, JUnit, OpenMetrics, page -> nightly.json, which says what has been told -> site
 */
#include "runner/nightly.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/format_tonight.h"
#include "results/outfile.h"
#include "results/page.h"
#include "results/web/dashboard.h"
#include "runner/lock.h"
#include "workloads/base/cleanup.h"

#define ALPHA 0.05 /* of intervals and confirmations */

/* --- folders --- */

static int make_folder(const char *path, struct zm_why *why)
{
	zm_autofree char *folder = strdup(path);
	char *at = folder;

	if (!folder)
		return zm_why_errno(why, -ENOMEM, "%s", path);
	do {
		at = strchr(at + 1, '/');
		if (at)
			*at = '\0';
		if (mkdir(folder, 0777) < 0 && errno != EEXIST && errno != EISDIR)
			return zm_why_errno(why, -errno, "%s: cannot make this folder", folder);
		if (at)
			*at = '/';
	} while (at && at[1]);
	return 0;
}

int zm_nightly_folder(const char *db, char **ret_folder, struct zm_why *why)
{
	char path[4096];
	char *slash;
	int r = 0;

	if (db &&
	    !strstr(db, "://")) /* what is no file has no folder: beside the usual one, then */
		r = snprintf(path, sizeof(path), "%s", db) < (int)sizeof(path) ? 0 : -ENOBUFS;
	else
		r = zm_store_default_path(path, sizeof(path));
	if (r < 0)
		return zm_why_errno(why, r, "the store's folder");
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	if (asprintf(ret_folder, "%s/" ZM_NIGHTLY_LABEL, slash ? path : ".") < 0)
		return zm_why_errno(why, -ENOMEM, "the store's folder");
	return 0;
}

static int take_lock(const char *folder, int *ret_fd, struct zm_why *why)
{
	zm_autofree char *path = NULL;
	struct zm_why held = { "" };
	int r;

	if (asprintf(&path, "%s/lock", folder) < 0) {
		path = NULL;
		return zm_why_errno(why, -ENOMEM, "%s", folder);
	}
	r = zm_lock_take_at(path, ret_fd, &held);
	if (r == -EBUSY)
		return zm_why_set(why, r,
				  "another nightly is at work on %s: wait for its end, or give "
				  "this one a folder of its own with --out",
				  folder);
	if (r < 0)
		*why = held;
	return r;
}

/* --- runs --- */

static int run_cells(const struct zm_invocation_ask *ask, struct zm_nightly_outcome *outcome,
		     char ret_uuid[ZM_UUID_SIZE], char ret_machine[17], struct zm_why *why)
{
	struct zm_invocation invocation;
	int r = zm_invocation_open(&invocation, ask, why);

	if (r < 0)
		return r;
	r = zm_invocation_run(&invocation, why);
	outcome->status = zm_summary_exit_status(&invocation.summary);
	outcome->signal = invocation.signal;
	memcpy(ret_uuid, invocation.uuid, ZM_UUID_SIZE);
	memcpy(ret_machine, invocation.machine_id, sizeof(invocation.machine_id));
	zm_invocation_close(&invocation);
	return r;
}

/* The night as it goes on. */
struct night {
	const struct zm_nightly_options *options;
	struct zm_nightly_outcome *outcome;
	struct zm_judge judge;
	char uuid[ZM_UUID_SIZE], machine[17];
};

static int read_histories(struct night *night, struct zm_store *store, struct zm_why *why)
{
	zm_nightly_release(&night->outcome->nightly);
	return zm_nightly_read(store, night->options->ask.label, night->machine, &night->judge,
			       &night->outcome->nightly, why);
}

static bool wants_cell(void *context, const struct zm_cell *cell)
{
	const struct zm_nightly *nightly = context;

	for (size_t i = 0; i < nightly->nr; i++) {
		const struct zm_nightly_history *history = &nightly->histories[i];

		if (zm_nightly_asks(history) && !strcmp(history->workload, cell->workload->name) &&
		    !strcmp(history->cell, cell->key))
			return true;
	}
	return false;
}

/* Is there a cell of tonight's that asks? */
static size_t nr_asking(const struct night *night, struct zm_store *store, struct zm_why *why)
{
	const struct zm_nightly *nightly = &night->outcome->nightly;
	struct zm_tonight tonight;
	size_t nr = 0;

	if (zm_tonight_make(store, nightly, night->uuid, NULL, &tonight, why) < 0)
		return 0;
	for (size_t i = 0; i < tonight.nr_rows; i++)
		nr += zm_nightly_asks(tonight.rows[i].history);
	zm_tonight_release(&tonight);
	return nr;
}

/* As one would type it. */
static int confirmation_line(const struct night *night, const char *label, char *repeat,
			     size_t size, char ***ret_argv, int *ret_argc)
{
	static char run[] = "run", label_switch[] = "--label", repeat_switch[] = "--repeat";
	const struct zm_invocation_ask *ask = &night->options->ask;
	char **argv = calloc(ask->nr_words + 6, sizeof(*argv));
	int n = 0;

	if (!argv)
		return -ENOMEM;
	(void)snprintf(repeat, size, "%llu", (unsigned long long)night->options->nr_confirming);
	argv[n++] = run;
	argv[n++] = label_switch;
	argv[n++] = (char *)label;
	argv[n++] = repeat_switch;
	argv[n++] = repeat;
	for (size_t i = 0; i < ask->nr_words; i++)
		argv[n++] = (char *)ask->words[i];
	*ret_argv = argv;
	*ret_argc = n;
	return 0;
}

static int confirm(struct night *night, struct zm_why *why)
{
	const struct zm_nightly_options *options = night->options;
	struct zm_invocation_ask ask = options->ask;
	zm_autofree char **argv = NULL;
	char label[ZM_INVOCATION_LABEL + 64], repeat[32], uuid[ZM_UUID_SIZE], machine[17];
	int status = night->outcome->status, r;

	ask.label = zm_change_confirmation(label, sizeof(label), options->ask.label);
	r = confirmation_line(night, label, repeat, sizeof(repeat), &argv, &ask.argc);
	if (r < 0)
		return zm_why_errno(why, r, "a confirmation run");
	ask.argv = argv;
	ask.repeat = options->nr_confirming;
	ask.resume = false;
	ask.wants = wants_cell;
	ask.wants_context = &night->outcome->nightly;
	r = run_cells(&ask, night->outcome, uuid, machine, why);
	night->outcome->status = status;
	return r;
}

static int read_night(struct night *night, struct zm_store **store, struct zm_why *why)
{
	int r = zm_store_open(night->options->ask.db, false, store, why);

	return r < 0 ? r : read_histories(night, *store, why);
}

/* The store is closed while runs are made: they have it for themselves. When they cannot be made, what was seen is
 * told all the same. */
static int confirm_what_asks(struct night *night, struct zm_store **store, struct zm_why *why)
{
	size_t nr = night->options->nr_confirming ? nr_asking(night, *store, why) : 0;
	struct zm_why undone = { "" };

	if (nr == 0)
		return 0;
	(void)fprintf(stderr,
		      "nightly: %zu figure%s changed; confirmation runs, %llu launches a cell\n",
		      nr, nr == 1 ? "" : "s", (unsigned long long)night->options->nr_confirming);
	zm_store_close(*store);
	*store = NULL;
	if (confirm(night, &undone) < 0)
		(void)fprintf(stderr, "nightly: the confirmation run: %s\n", undone.text);
	return night->outcome->signal ? 0 : read_night(night, store, why);
}

/* --- files --- */

/* What nightly.json said last was told; the caller frees. NULL: nothing. */
static char *read_told(const char *folder)
{
	zm_autofree char *path = NULL;
	json_t *object;
	const char *text;
	char *told;

	if (asprintf(&path, "%s/nightly.json", folder) < 0) {
		path = NULL;
		return NULL;
	}
	object = json_load_file(path, 0, NULL);
	text = json_string_value(json_object_get(object, "last_told"));
	told = text ? strdup(text) : NULL;
	json_decref(object);
	return told;
}

static int write_file(const char *folder, const char *name,
		      int (*print)(const struct zm_tonight *tonight, FILE *out),
		      const struct zm_tonight *tonight, struct zm_why *why)
{
	zm_autofree char *path = NULL;
	struct zm_outfile file = { 0 };
	int r;

	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		path = NULL;
		return zm_why_errno(why, -ENOMEM, "%s", name);
	}
	r = zm_outfile_open(&file, path, why);
	if (r == 0)
		r = print(tonight, file.out);
	if (r == 0)
		r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return r;
}

static int print_page(const struct zm_tonight *tonight, FILE *out)
{
	int error;

	zm_page_begin(out, "zonemark nightly");
	error = zm_format_tonight_page(tonight, out);
	zm_page_end(out);
	return error;
}

static int tell(const struct zm_nightly_options *options, const struct zm_tonight *tonight,
		struct zm_why *why)
{
	static const struct {
		const char *name;
		int (*print)(const struct zm_tonight *tonight, FILE *out);
	} files[] = {
		{ "mail.txt", zm_format_tonight_mail },
		{ "junit.xml", zm_format_tonight_junit },
		{ "openmetrics.txt", zm_format_tonight_openmetrics },
		{ "tonight.html", print_page },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && r == 0; i++)
		r = write_file(options->folder, files[i].name, files[i].print, tonight, why);
	if (r == 0)
		r = write_file(options->folder, "nightly.json", zm_format_tonight_json, tonight,
			       why);
	return r;
}

/* The nights' own runs, whole history. */
static int update_site(const struct zm_nightly_options *options, struct zm_store *store,
		       struct zm_why *why)
{
	const struct zm_dashboard_options wanted = { .label = options->ask.label,
						     .margin = options->margin,
						     .alpha = ALPHA,
						     .recent = ZM_DASHBOARD_RECENT,
						     .nr_curves = ZM_DASHBOARD_CURVES };
	struct zm_dashboard site;

	return options->site ? zm_dashboard_write(store, options->site, &wanted, &site, why) : 0;
}

/* --- the night --- */

static int after_runs(struct night *night, struct zm_store **store, struct zm_why *why)
{
	struct zm_nightly_outcome *outcome = night->outcome;
	zm_autofree char *told = read_told(night->options->folder);
	int r = read_night(night, store, why);

	if (r == 0)
		r = confirm_what_asks(night, store, why);
	if (r < 0 || outcome->signal)
		return r;
	r = zm_tonight_make(*store, &outcome->nightly, night->uuid, told, &outcome->tonight, why);
	if (r == 0)
		r = tell(night->options, &outcome->tonight, why);
	outcome->is_told = r == 0;
	return r < 0 ? r : update_site(night->options, *store, why);
}

int zm_nightly_run(const struct zm_nightly_options *options, struct zm_nightly_outcome *ret_outcome,
		   struct zm_why *why)
{
	struct night night = { .options = options,
			       .outcome = ret_outcome,
			       .judge = {
				       .alpha = ALPHA, .power = 0.8, .margin = options->margin } };
	zm_autoclose int lock = -1;
	struct zm_store *store = NULL;
	int r;

	*ret_outcome = (struct zm_nightly_outcome){ 0 };
	r = make_folder(options->folder, why);
	if (r == 0)
		r = take_lock(options->folder, &lock, why);
	if (r == 0)
		r = run_cells(&options->ask, ret_outcome, night.uuid, night.machine, why);
	if (r == 0 && !ret_outcome->signal)
		r = after_runs(&night, &store, why);
	zm_store_close(store);
	zm_judge_release(&night.judge);
	return r;
}

void zm_nightly_outcome_release(struct zm_nightly_outcome *outcome)
{
	zm_tonight_release(&outcome->tonight);
	zm_nightly_release(&outcome->nightly);
}
