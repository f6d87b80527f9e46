/*
 * outside_lkp: lkp-tests' folders.
 *
 *     ROOT/0/stats.json   {"will-it-scale.per_process_ops": 96334, …}    a run's figures
 *     ROOT/0/job.yaml     what ran, with which parameters, on which commit
 *     ROOT/1/             no stats.json: that run failed
 *     ROOT/matrix.json    {"will-it-scale.per_process_ops": [96334, 96401], …}    all runs' figures
 *
 * Runs by themselves are preferred to the matrix, which fills with 0 what a run has not.
 */
#include "results/outside.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_job.h"
#include "workloads/base/cleanup.h"

#define INCOMPLETE "last_state.is_incomplete_run"
#define BOOT_TIME  "boot-time.boot"
#define LAST_RUN   999999u /* of a folder's name */

struct lkp {
	struct zm_outside *outside;
	const char *path;
	int folder;
	struct zm_why *why;
};

/* --- what ran --- */

struct job {
	char *workload, *cell, *machine, *kernel;
};

static void release_job(struct job *job)
{
	free(job->workload);
	free(job->cell);
	free(job->machine);
	free(job->kernel);
	*job = (struct job){ 0 };
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Suites whose tests are workloads of zonemark's: "anon-w-seq" -> "anon_w_seq". */
static bool has_tests(const char *testcase)
{
	static const char *const suites[] = { "will-it-scale", "vm-scalability", "netperf" };

	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		if (!strcmp(suites[i], testcase))
			return true;
	}
	return false;
}

static char *name_workload(const struct zm_report_job *job)
{
	const char *test =
		has_tests(job->testcase) ? zm_mail_pairs_find(&job->params, "test") : NULL;
	char *name = strdup(test ? test : job->testcase);

	for (char *at = name; test && at && *at; at++)
		*at = *at == '-' ? '_' : (char)tolower((unsigned char)*at);
	return name;
}

/* "50%" of the machine's CPUs is how many; other values stay as they are. */
static json_t *value_of(const struct zm_report_job *job, const char *name, const char *value)
{
	char *end;
	unsigned long percent = strtoul(value, &end, 10);
	char text[32];

	if (strcmp(name, "nr_task") != 0 || !isdigit((unsigned char)*value) ||
	    strcmp(end, "%") != 0 || percent > 10000 || !job->machine.nr_cpus)
		return json_string(value);
	(void)snprintf(text, sizeof(text), "%lu", job->machine.nr_cpus * percent / 100);
	return json_string(text);
}

static char *describe_cell(const struct zm_report_job *job)
{
	json_t *cell = json_object();
	char *text;

	for (size_t i = 0; i < job->params.nr; i++) {
		const char *name = job->params.list[i].name;

		if (has_tests(job->testcase) && !strcmp(name, "test"))
			continue;
		if (!strcmp(name, "nr_threads"))
			name = "nr_task";
		(void)json_object_set_new(cell, name,
					  value_of(job, name, or_empty(job->params.list[i].value)));
	}
	text = json_dumps(cell, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(cell);
	return text;
}

static int understand_job(const struct lkp *lkp, const char *shown, const char *text, size_t length,
			  struct job *ret_job)
{
	struct zm_pool pool = { 0 };
	struct zm_report_job job;
	int error = 0;

	if (!zm_report_job_read(&pool, text, length, &job))
		error = zm_why_set(lkp->why, -EINVAL, "%s: no job that says its testcase", shown);
	if (!error) {
		ret_job->workload = name_workload(&job);
		ret_job->cell = describe_cell(&job);
		ret_job->machine = strdup(or_empty(job.machine.box));
		ret_job->kernel = strdup(or_empty(zm_mail_pairs_find(&job.environment, "commit")));
		if (pool.error || !ret_job->workload || !ret_job->cell || !ret_job->machine ||
		    !ret_job->kernel)
			error = zm_why_errno(lkp->why, -ENOMEM, "%s", shown);
	}
	if (error)
		release_job(ret_job);
	zm_pool_release(&pool);
	return error;
}

/* -ENOENT without a sentence. */
static int read_job(const struct lkp *lkp, const char *name, struct job *ret_job)
{
	zm_autofree char *shown = NULL, *text = NULL;
	size_t length;
	int error;

	if (asprintf(&shown, "%s/%s", lkp->path, name) < 0)
		return zm_why_errno(lkp->why, -ENOMEM, "%s", lkp->path);
	error = zm_outside_file(lkp->folder, name, shown, &text, &length, lkp->why);
	return error ? error : understand_job(lkp, shown, text, length, ret_job);
}

/* That of the run, else of the root. */
static int find_job(const struct lkp *lkp, const char *run, struct job *ret_job)
{
	char name[32];
	int error = -ENOENT;

	if (run) {
		(void)snprintf(name, sizeof(name), "%s/job.yaml", run);
		error = read_job(lkp, name, ret_job);
	}
	if (error == -ENOENT)
		error = read_job(lkp, "job.yaml", ret_job);
	if (error == -ENOENT)
		error = zm_why_set(lkp->why, -EINVAL,
				   "%s: no job.yaml says what ran there; it lies beside lkp-tests' "
				   "results",
				   lkp->path);
	return error;
}

/* --- figures --- */

static int read_object(const struct lkp *lkp, const char *name, json_t **ret_object)
{
	zm_autofree char *shown = NULL, *text = NULL;
	json_error_t where;
	json_t *object;
	size_t length;
	int error;

	if (asprintf(&shown, "%s/%s", lkp->path, name) < 0)
		return zm_why_errno(lkp->why, -ENOMEM, "%s", lkp->path);
	error = zm_outside_file(lkp->folder, name, shown, &text, &length, lkp->why);
	if (error)
		return error;
	object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
	if (!object)
		return zm_why_set(lkp->why, -EINVAL, "%s: line %d: %s", shown, where.line,
				  where.text);
	if (!json_is_object(object)) {
		json_decref(object);
		return zm_why_set(lkp->why, -EINVAL, "%s: not an object of figures", shown);
	}
	*ret_object = object;
	return 0;
}

/* Column of a matrix; of stats.json, whose values are numbers, the only one. *ret_value NaN: the run has
 * none. */
static int take_figure(const struct lkp *lkp, const char *key, const json_t *value, size_t column,
		       bool is_matrix, double *ret_value)
{
	*ret_value = NAN;
	if (is_matrix && !json_is_array(value))
		return zm_why_set(lkp->why, -EINVAL, "%s/matrix.json: %s: not an array", lkp->path,
				  key);
	if (is_matrix)
		value = json_array_get(value, column);
	if (!value)
		return 0;
	if (!json_is_number(value))
		return zm_why_set(lkp->why, -EINVAL, "%s: %s: not a number", lkp->path, key);
	*ret_value = json_number_value(value);
	return 0;
}

static bool has_failed(const json_t *object, size_t column, bool is_matrix)
{
	const json_t *value = json_object_get(object, INCOMPLETE);

	if (is_matrix)
		value = json_array_get(value, column);
	return json_number_value(value) > 0;
}

/* Of which boot a run is: whoever cannot tell takes them for the same. */
static void name_boot(const struct lkp *lkp, const json_t *object, size_t column, bool is_matrix,
		      char **ret_boot)
{
	const json_t *value = json_object_get(object, BOOT_TIME);

	if (is_matrix)
		value = json_array_get(value, column);
	if (asprintf(ret_boot, "%s#%.9g", lkp->path, json_number_value(value)) < 0)
		*ret_boot = NULL;
}

static int add_figures(const struct lkp *lkp, const json_t *object, size_t column, bool is_matrix)
{
	const char *key;
	json_t *value;
	int error = 0;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		double number;

		error = take_figure(lkp, key, value, column, is_matrix, &number);
		if (!error && !isnan(number))
			error = zm_outside_add_result(lkp->outside, key, number, lkp->why);
		if (error)
			break;
	}
	return error;
}

/* object NULL: the run has no figures. */
static int add_run(const struct lkp *lkp, const struct job *job, const json_t *object,
		   size_t column, bool is_matrix)
{
	zm_autofree char *boot = NULL;
	struct zm_outside_run run = { .workload = job->workload,
				      .cell = job->cell,
				      .machine = job->machine,
				      .kernel = job->kernel,
				      .has_failed =
					      !object || has_failed(object, column, is_matrix) };
	int error;

	name_boot(lkp, object, column, is_matrix, &boot);
	if (!boot)
		return zm_why_errno(lkp->why, -ENOMEM, "%s", lkp->path);
	run.boot = boot;
	error = zm_outside_add_run(lkp->outside, &run, lkp->why);
	if (!error && !run.has_failed)
		error = add_figures(lkp, object, column, is_matrix);
	return error;
}

/* --- folders --- */

/* A run's folder, or (run NULL) the folder itself. */
static int read_run(const struct lkp *lkp, const char *run)
{
	char name[32] = "stats.json";
	json_t *object = NULL;
	struct job job = { 0 };
	int error;

	if (run)
		(void)snprintf(name, sizeof(name), "%s/stats.json", run);
	error = read_object(lkp, name, &object);
	if (error && error != -ENOENT)
		return error;
	error = find_job(lkp, run, &job);
	if (!error)
		error = add_run(lkp, &job, object, 0, false);
	release_job(&job);
	json_decref(object);
	return error;
}

static size_t nr_columns(const json_t *object)
{
	size_t nr = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		if (json_array_size(value) > nr)
			nr = json_array_size(value);
	}
	return nr;
}

static int read_matrix(const struct lkp *lkp)
{
	json_t *object = NULL;
	struct job job = { 0 };
	size_t nr;
	int error = read_object(lkp, "matrix.json", &object);

	if (error)
		return error;
	nr = nr_columns(object);
	error = nr ? find_job(lkp, "0", &job)
		   : zm_why_set(lkp->why, -EINVAL, "%s/matrix.json: no figures", lkp->path);
	for (size_t i = 0; i < nr && !error; i++)
		error = add_run(lkp, &job, object, i, true);
	release_job(&job);
	json_decref(object);
	return error;
}

static int compare_numbers(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

/* Is it a number as folders of runs have it: "0", "17"? */
static bool is_run(const char *name, unsigned int *ret_number)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*name) || (*name == '0' && name[1]))
		return false;
	number = strtoul(name, &end, 10);
	if (*end || number > LAST_RUN)
		return false;
	*ret_number = (unsigned int)number;
	return true;
}

static int list_runs(const struct lkp *lkp, unsigned int *numbers, size_t *ret_nr)
{
	int fd = fcntl(lkp->folder, F_DUPFD_CLOEXEC, 3);
	zm_autoclosedir DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t nr = 0;

	if (!folder) {
		int error = -errno;

		if (fd >= 0)
			(void)close(fd);
		return zm_why_errno(lkp->why, error, "%s", lkp->path);
	}
	while ((entry = readdir(folder))) {
		if (!is_run(entry->d_name, &numbers[nr]))
			continue;
		if (++nr > ZM_OUTSIDE_RUNS)
			return zm_why_set(lkp->why, -E2BIG, "%s: more than %u runs", lkp->path,
					  ZM_OUTSIDE_RUNS);
	}
	if (nr > 1)
		qsort(numbers, nr, sizeof(*numbers), compare_numbers);
	*ret_nr = nr;
	return 0;
}

/* Has any of the runs figures of its own? Roots that were copied for their matrix have none. */
static bool any_stats(const struct lkp *lkp, const unsigned int *numbers, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "%u/stats.json", numbers[i]);
		if (faccessat(lkp->folder, name, F_OK, 0) == 0)
			return true;
	}
	return false;
}

static int read_root(const struct lkp *lkp)
{
	unsigned int numbers[ZM_OUTSIDE_RUNS + 1];
	size_t nr = 0;
	int error = list_runs(lkp, numbers, &nr);

	if (error)
		return error;
	if (!any_stats(lkp, numbers, nr)) {
		error = read_matrix(lkp);
		return error != -ENOENT
			       ? error
			       : zm_why_set(lkp->why, -EINVAL,
					    "%s: no results of lkp-tests: neither stats.json nor "
					    "matrix.json, nor folders of runs with them",
					    lkp->path);
	}
	for (size_t i = 0; i < nr && !error; i++) {
		char run[16];

		(void)snprintf(run, sizeof(run), "%u", numbers[i]);
		error = read_run(lkp, run);
	}
	return error;
}

int zm_outside_read_lkp(struct zm_outside *outside, const char *path, struct zm_why *why)
{
	zm_autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct lkp lkp = { .outside = outside, .path = path, .folder = fd, .why = why };

	if (fd < 0)
		return zm_why_errno(why, -errno, "%s", path);
	return faccessat(fd, "stats.json", F_OK, 0) == 0 ? read_run(&lkp, NULL) : read_root(&lkp);
}
