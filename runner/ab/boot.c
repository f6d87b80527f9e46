/*
 * boot: the newest run's number -> child -> runs with higher numbers.
 */
#include "runner/ab/boot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/pool.h"
#include "results/query.h"
#include "results/store.h"
#include "runner/child.h"
#include "workloads/base/cleanup.h"

/* --- the line -------------------------------------------------------------------------------- */

struct line {
	const char **argv;
	size_t nr, capacity;
	bool is_short_of_memory;
};

static void add(struct line *line, const char *word)
{
	if (line->nr + 1 >= line->capacity) {
		size_t capacity = line->capacity ? 2 * line->capacity : 32;
		const char **argv = realloc(line->argv, capacity * sizeof(*argv));

		if (!argv) {
			line->is_short_of_memory = true;
			return;
		}
		line->argv = argv;
		line->capacity = capacity;
	}
	line->argv[line->nr++] = word;
	line->argv[line->nr] = NULL;
}

static void add_all(struct line *line, json_t *words)
{
	size_t i;
	json_t *word;

	json_array_foreach(words, i, word) add(line, json_string_value(word));
}

static void add_vm(struct line *line, const struct zm_ab_boot *boot)
{
	add(line, "vm");
	add(line, "--kernel");
	add(line, boot->kernel);
	if (*boot->append) {
		add(line, "--append");
		add(line, boot->append);
	}
	add_all(line, boot->vm_words);
	if (*boot->accelerator) {
		add(line, "--accel");
		add(line, boot->accelerator);
	}
	add(line, "--db");
	add(line, boot->db);
}

static void make_line(const struct zm_ab_boot *boot, struct line *line)
{
	if (*boot->command) {
		add(line, "/bin/sh");
		add(line, "-c");
		add(line, boot->command);
	}
	add(line, "zonemark");
	if (!*boot->command && !boot->is_here)
		add_vm(line, boot);
	add(line, "run");
	add_all(line, boot->words);
	add(line, "--label");
	add(line, boot->label);
	if (!*boot->command && boot->is_here) {
		add(line, "--db");
		add(line, boot->db);
	}
}

/* --- the child ------------------------------------------------------------------------------- */

static void sign(const char *kernel, const char *append, const char *label, const char *db)
{
	(void)setenv("ZONEMARK_KERNEL", kernel, 1);
	(void)setenv("ZONEMARK_APPEND", append, 1);
	(void)setenv("ZONEMARK_LABEL", label, 1);
	if (db)
		(void)setenv("ZONEMARK_DB", db, 1);
}

static void sign_boot(const void *context)
{
	const struct zm_ab_boot *boot = context;

	sign(boot->kernel, boot->append, boot->label, boot->db);
}

static int run_child(const struct zm_ab_boot *boot, const char *const *argv, int *ret_status,
		     int *ret_signal)
{
	const struct zm_child child = {
		.program = *boot->command ? argv[0] : ZM_CHILD_THIS_PROGRAM,
		.argv = argv,
		.prepare = sign_boot,
		.context = boot,
	};

	return zm_child_run(&child, ret_status, ret_signal);
}

/* --- what it left ---------------------------------------------------------------------------- */

struct newest {
	uint64_t above;              /* only runs with higher numbers */
	uint64_t id;                 /* the highest */
	uint64_t found;              /* the run that booted is of */
	struct zm_ab_booted *booted; /* NULL: only the number is wanted */
};

static int look_at_run(void *context, const struct zm_run_info *run)
{
	struct newest *newest = context;

	if (run->id > newest->id)
		newest->id = run->id;
	if (!newest->booted || run->id <= newest->above || newest->found ||
	    (run->status != ZM_STATUS_OK && run->status != ZM_STATUS_FAILED))
		return 0;
	newest->found = run->id;
	(void)snprintf(newest->booted->boot, sizeof(newest->booted->boot), "%s", run->boot);
	(void)snprintf(newest->booted->kernel, sizeof(newest->booted->kernel), "%s", run->kernel);
	return 0;
}

static void read_accelerator(struct zm_store *store, uint64_t run, struct zm_ab_booted *booted)
{
	struct zm_run_view *view = NULL;
	const char *name = NULL;
	json_t *inventory;

	if (zm_query_run(store, run, &view, NULL) < 0)
		return;
	inventory = json_loads(view->inventory, 0, NULL);
	if (json_unpack(inventory, "{s:{s:s}}", "guest", "accelerator", &name) == 0)
		(void)snprintf(booted->accelerator, sizeof(booted->accelerator), "%s", name);
	json_decref(inventory);
	zm_run_view_free(view);
}

/* A store that is not there yet has no runs. */
static int look_into_store(const struct zm_ab_boot *boot, struct newest *newest, struct zm_why *why)
{
	const struct zm_run_filter filter = { .label = boot->label, .status = -1 };
	struct zm_store *store = NULL;
	int r = zm_store_open(boot->db, false, &store, why);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = zm_query_runs(store, &filter, look_at_run, newest, why);
	if (r == 0 && newest->found)
		read_accelerator(store, newest->found, newest->booted);
	zm_store_close(store);
	return r;
}

/* --- how many of a label ---------------------------------------------------------------------- */

struct boots {
	struct zm_pool pool;
	const char **names;
	size_t nr;
};

static int note_boot(void *context, const struct zm_run_info *run)
{
	struct boots *boots = context;
	const char **names;

	if (run->status != ZM_STATUS_OK && run->status != ZM_STATUS_FAILED)
		return 0;
	for (size_t i = 0; i < boots->nr; i++)
		if (strcmp(boots->names[i], run->boot) == 0)
			return 0;
	names = realloc(boots->names, (boots->nr + 1) * sizeof(*names));
	if (!names)
		return -ENOMEM;
	boots->names = names;
	boots->names[boots->nr++] = zm_pool_text(&boots->pool, run->boot);
	return boots->pool.error;
}

int zm_ab_nr_boots(const char *db, const char *label, size_t *ret_nr, struct zm_why *why)
{
	const struct zm_run_filter filter = { .label = label, .status = -1 };
	struct zm_store *store = NULL;
	struct boots boots = { 0 };
	int r = zm_store_open(db, false, &store, why);

	if (r == 0)
		r = zm_query_runs(store, &filter, note_boot, &boots, why);
	zm_store_close(store);
	free(boots.names);
	zm_pool_release(&boots.pool);
	if (r < 0 && r != -ENOENT)
		return r;
	*ret_nr = boots.nr;
	return 0;
}

/* --- both ------------------------------------------------------------------------------------ */

int zm_ab_boot(const struct zm_ab_boot *boot, struct zm_ab_booted *ret_booted, int *ret_signal,
	       struct zm_why *why)
{
	struct zm_ab_booted booted = { 0 };
	struct newest before = { 0 }, after = { .booted = &booted };
	struct line line = { 0 };
	int r = look_into_store(boot, &before, why);

	if (r < 0)
		return r;
	make_line(boot, &line);
	r = line.is_short_of_memory ? -ENOMEM
				    : run_child(boot, line.argv, &booted.status, ret_signal);
	free(line.argv);
	if (r < 0)
		return zm_why_errno(why, r, "the boot cannot be started");
	after.above = before.id;
	r = look_into_store(boot, &after, why);
	if (r == 0)
		*ret_booted = booted;
	return r;
}

int zm_ab_shell(const char *command, const char *kernel, const char *append, const char *label,
		struct zm_why *why)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	const struct zm_child shell = { .program = argv[0], .argv = argv };
	pid_t parent = getpid(), child;
	sigset_t mask;
	int status = 0;

	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	(void)fflush(NULL);
	child = fork();
	if (child == 0) {
		sign(kernel, append, label, NULL);
		zm_child_become(&shell, &mask, parent);
	}
	if (child < 0)
		return zm_why_errno(why, -errno, "%s", command);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0)
		return 0;
	if (WIFSIGNALED(status))
		return zm_why_set(why, -EIO, "`%s` was ended by signal %d", command,
				  WTERMSIG(status));
	return zm_why_set(why, -EIO, "`%s` ended with status %d", command, WEXITSTATUS(status));
}
