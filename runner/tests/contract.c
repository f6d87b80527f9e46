/*
 * contract: runs one workload with 1 and with 2 units of tasks, as each kind it supports, and holds
 * it to workload.h: the counts rise, the work is verified, every declared figure is there, and the
 * machine is as it was.
 *
 *     contract NAME
 *
 * Exit status 77 when the workload cannot run here, and it says why. The build makes one test of it
 * per workload that it found.
 *
 * timeout: 120
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/catalogue.h"
#include "runner/plan.h"
#include "runner/tests/bench.h"
#include "workloads/base/cleanup.h"

#define RUN_OPTIONS "runtime=300ms warmup=0 idle=0 drain=0 interval=50ms monitor_interval=100ms"
/* Where a workload has one of these, it works on so much and not on its preset. */
#define SMALL_SIZE "8M"

static unsigned int nr_offences, nr_runs, nr_skipped;

__attribute__((format(printf, 1, 2))) static void offend(const char *format, ...)
{
	va_list list;

	nr_offences++;
	va_start(list, format);
	(void)vprintf(format, list);
	va_end(list);
	(void)putchar('\n');
}

/* --- the machine, as text: what is left behind shows as a line more --- */

struct picture {
	FILE *out;
	char *text;
	size_t length;
};

static struct picture *picture_now; /* for nftw's callback */
static const char *journal;         /* its directory */

static void add_names(struct picture *picture, const char *directory)
{
	zm_autoclosedir DIR *dir = opendir(directory);
	const struct dirent *entry;

	/* Hidden ones are the directory itself, and the journal's lock, which stays; the others are of
	 * tests that run beside this one. */
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && strncmp(entry->d_name, "zm-test-", 8) != 0)
			(void)fprintf(picture->out, "%s/%s\n", directory, entry->d_name);
	}
}

static int add_directory(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)walk;
	/* Ours have our name in theirs; the machine's own come and go. */
	if (type == FTW_D && (strstr(path, "zm") || strstr(path, "zonemark")) &&
	    !strstr(path, "/zm-test-"))
		(void)fprintf(picture_now->out, "%s\n", path);
	return 0;
}

static void add_file(struct picture *picture, const struct zm_sysroot *root, const char *path)
{
	zm_autofree char *text = NULL;
	size_t length;

	if (zm_sysroot_read(root, path, &text, &length) == 0)
		(void)fprintf(picture->out, "%s: %s\n", path, text);
}

static void add_pattern(struct picture *picture, const struct zm_sysroot *root, const char *pattern)
{
	char absolute[PATH_MAX];
	glob_t found;

	(void)snprintf(absolute, sizeof(absolute), "/%s", pattern);
	if (glob(absolute, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_file(picture, root, found.gl_pathv[i] + 1);
	globfree(&found);
}

static void add_open_files(struct picture *picture)
{
	for (int fd = 0; fd < 256; fd++) {
		char path[64], target[256];
		ssize_t n;

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		/* The journal keeps its directory open from its first record on. */
		if (n > 0 && !memmem(target, (size_t)n, "/journal", 8))
			(void)fprintf(picture->out, "fd %d: %.*s\n", fd, (int)n, target);
	}
}

static void add_hugepages(struct picture *picture, const struct zm_sysroot *root)
{
	zm_autofree char *text = NULL;
	char *save = NULL;
	size_t length;

	if (zm_sysroot_read(root, "proc/meminfo", &text, &length) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		/* None is nothing left behind, whoever has taken his away meanwhile. */
		if (strncmp(line, "HugePages_", 10) == 0 && !strstr(line, " 0"))
			(void)fprintf(picture->out, "%s\n", line);
	}
}

static void take_picture(struct picture *picture, const struct zm_workload *workload,
			 const struct zm_sysroot *root)
{
	*picture = (struct picture){ 0 };
	picture->out = open_memstream(&picture->text, &picture->length);
	tree_must(picture->out);
	picture_now = picture;
	add_open_files(picture);
	add_names(picture, getenv("TMPDIR"));
	add_names(picture, journal);
	add_names(picture, "/dev/shm");
	add_hugepages(picture, root);
	add_file(picture, root, "proc/self/mountinfo");
	for (size_t i = 0; workload->save && workload->save[i]; i++)
		add_pattern(picture, root, workload->save[i]);
	(void)nftw("/sys/fs/cgroup", add_directory, 8, FTW_PHYS);
	tree_must(fclose(picture->out) == 0);
}

/* Lines of `after` that `before` does not have. Others work on this machine too: what is named here is
 * looked at again before it counts. */
static unsigned int count_new_lines(const struct picture *before, const struct picture *after,
				    bool is_said)
{
	zm_autofree char *copy = strdup(after->text);
	unsigned int nr = 0;
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strstr(before->text, line))
			continue;
		nr++;
		if (is_said)
			offend("left behind: %s", line);
	}
	return nr;
}

static void compare_pictures(const struct picture *before, const struct zm_workload *workload,
			     const struct zm_sysroot *root)
{
	for (unsigned int attempt = 0; attempt < 20; attempt++) {
		struct picture after;
		unsigned int nr;

		take_picture(&after, workload, root);
		nr = count_new_lines(before, &after, attempt == 19);
		free(after.text);
		if (nr == 0)
			return;
		(void)usleep(100000);
	}
}

/* --- one run --- */

/* The declared figures are there (the engine has refused the run otherwise); what is there is declared,
 * and the operations have risen. */
static void check_figures(const struct zm_workload *workload, const struct zm_report *report)
{
	double ops = 0;

	for (size_t i = 0; i < report->nr_figures; i++) {
		if (strcmp(report->figures[i].name, ZM_FIGURE_OPS) == 0)
			ops = report->figures[i].value;
		if (!isfinite(report->figures[i].value))
			offend("%s is not a number", report->figures[i].name);
	}
	if (!(ops > 0))
		offend("no operation was counted");
	for (size_t i = 0; workload->metrics && workload->metrics[i].name; i++) {
		const struct zm_metric *metric = &workload->metrics[i];

		if (!metric->is_optional && zm_report_find(report, metric))
			(void)printf("    %-40s %14.6g %s\n", zm_report_find(report, metric)->name,
				     zm_report_find(report, metric)->value, metric->unit);
	}
}

static void check_no_children(void)
{
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		offend("a child process is left");
}

static void run_cell(struct bench *bench, const struct zm_cell *cell)
{
	struct zm_outcome outcome;
	struct picture before;

	take_picture(&before, cell->workload, &bench->root);
	zm_phase_run(&bench->session, cell, 0, &outcome);
	(void)printf("%s: %s%s%s%s%s\n", cell->title, zm_status_name(outcome.status),
		     outcome.status == ZM_STATUS_OK ? "" : ": ",
		     outcome.status == ZM_STATUS_OK ? "" : outcome.why.text,
		     outcome.flags[0] ? ", notes: " : "", outcome.flags);
	nr_runs++;
	if (outcome.status == ZM_STATUS_SKIPPED)
		nr_skipped++;
	else if (outcome.status != ZM_STATUS_OK)
		offend("the run did not go well");
	else
		check_figures(cell->workload, &outcome.report);
	zm_outcome_release(&outcome);
	check_no_children();
	compare_pictures(&before, cell->workload, &bench->root);
	free(before.text);
}

static size_t make_words(const struct zm_workload *workload, char (*texts)[64],
			 const char **ret_words)
{
	static const char *const sizes[] = { "size", "unit_size", NULL };
	/* Of emulated builds: a small one, for as long as the window is. */
	static const char *const builds[][2] = { { "profile", "small" },
						 { "iterations", "0" },
						 { "work", "0" } };
	char line[] = RUN_OPTIONS;
	char *save = NULL;
	size_t n = 0;

	(void)snprintf(texts[n++], 64, "%s", workload->name);
	(void)snprintf(texts[n++], 64, "%s=1,2", workload->units ? workload->units : "nr_task");
	(void)snprintf(texts[n++], 64, "mode=process,thread");
	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		(void)snprintf(texts[n++], 64, "%s", word);
	for (size_t i = 0; sizes[i]; i++) {
		const struct zm_option *row =
			workload->options ? zm_option_find(workload->options, sizes[i]) : NULL;

		if (row && row->type == ZM_OPTION_SIZE)
			(void)snprintf(texts[n++], 64, "%s=" SMALL_SIZE, sizes[i]);
	}
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		if (workload->options && zm_option_find(workload->options, builds[i][0]))
			(void)snprintf(texts[n++], 64, "%s=%s", builds[i][0], builds[i][1]);
	}
	for (size_t i = 0; i < n; i++)
		ret_words[i] = texts[i];
	return n;
}

static const struct zm_monitor *const *default_monitors(void)
{
	static const struct zm_monitor *list[128];
	size_t n = 0;

	for (unsigned int i = 0; i < zm_nr_monitors && n < 127; i++) {
		if (!zm_monitors[i]->is_extra)
			list[n++] = zm_monitors[i];
	}
	list[n] = NULL;
	return list;
}

static void run_all(const struct zm_workload *workload)
{
	const struct zm_workload *const workloads[] = { workload, NULL };
	struct zm_why why = { "" };
	const char *words[16];
	char texts[16][64];
	size_t nr_words = make_words(workload, texts, words);
	struct zm_plan plan;
	struct bench bench;

	bench_open(&bench, default_monitors());
	journal = bench.journal;
	/* What a workload journals, and what it would find in the user's cache, is the test's own. */
	tree_must(setenv("ZONEMARK_JOURNAL", journal, 1) == 0);
	tree_must(setenv("XDG_CACHE_HOME", tree_path(&bench.tree, "cache"), 1) == 0);
	const struct zm_cell_context context = { .nr_cpus = (unsigned int)bench.topology.nr_cpus };

	if (zm_plan_make(&context, workloads, words, nr_words, &plan, &why) < 0) {
		offend("%s", why.text);
	} else {
		for (size_t i = 0; i < plan.nr_cells; i++)
			run_cell(&bench, &plan.cells[i]);
		zm_plan_release(&plan);
	}
	bench_close(&bench);
}

int main(int argc, char **argv)
{
	const struct zm_workload *workload = argc == 2 ? zm_workload_find(argv[1]) : NULL;

	if (!workload) {
		(void)fprintf(stderr, "contract NAME: of a workload\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	run_all(workload);
	if (nr_offences)
		return 1;
	return nr_runs == nr_skipped ? 77 : 0;
}
