/*
 * cmd_run: words -> plan -> runs -> table.
 *
 *     open    topology, plan, store, inventory, lock, journal: all that can be refused, in this order,
 *             before anything has been changed
 *     run     repeat by repeat, and in each cell by cell: so that what drifts in the machine drifts
 *             over all cells alike. A failing cell does not stop the others
 *     close   the reverse; after a signal the table is still printed, and then we die of it
 */
#include "runner/cmd.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "results/store.h"
#include "results/uuid.h"
#include "runner/catalogue.h"
#include "runner/inventory.h"
#include "runner/lock.h"
#include "runner/phase.h"
#include "runner/plan.h"
#include "runner/session.h"
#include "runner/setting.h"
#include "runner/summary.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/cpuset.h"

struct switches {
	uint64_t repeat;
	unsigned int place;
	char *mem, *cpus, *db, *label, *monitor, *monitor_interval;
	bool resume, share, overcommit, json;
};

#define AT(member) offsetof(struct switches, member)

static const struct zm_option switch_rows[] = {
	{ .name = "repeat",
	  .type = ZM_OPTION_U64,
	  .offset = AT(repeat),
	  .preset = "1",
	  .min = 1,
	  .max = 100000,
	  .unit = "launches",
	  .help = "launches of every cell, each with new processes; the cells take turns" },
	{ .name = "place",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(place),
	  .preset = "scatter",
	  .choices = zm_place_names,
	  .help = "who runs where" },
	{ .name = "mem",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(mem),
	  .unit = "policy",
	  .help = "where memory comes from: local, interleave, node:N, remote" },
	{ .name = "cpus",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(cpus),
	  .unit = "list",
	  .help = "use only these CPUs: 0-3,8" },
	{ .name = "db",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(db),
	  .unit = "file",
	  .help = "the store; otherwise $ZONEMARK_DB or zonemark/zonemark.db in the data folder" },
	{ .name = "label",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(label),
	  .unit = "text",
	  .help = "kept with the runs, to find and compare them by" },
	{ .name = "monitor",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(monitor),
	  .unit = "list",
	  .help = "which monitors are read: a list of names, default, all, or none" },
	{ .name = "monitor_interval",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(monitor_interval),
	  .unit = "duration",
	  .help = "between two reads of a monitor, as the option monitor_interval" },
	{ .name = "resume",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(resume),
	  .preset = "0",
	  .help = "go on with the last invocation of the same line: what went well is not run "
		  "again" },
	{ .name = "share",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(share),
	  .preset = "0",
	  .help = "run although another measuring run is under way; both are disturbed" },
	{ .name = "overcommit",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(overcommit),
	  .preset = "0",
	  .help = "run although it needs more than there is" },
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(json),
	  .preset = "0",
	  .help = "the answer as JSON" },
	{ .name = NULL },
};

/* Everything the command holds; closed in one place. */
struct command {
	const struct zm_args *args;
	const struct switches *switches;
	struct zm_sysroot root;
	bool has_root;
	struct zm_topology topology;
	bool has_topology;
	struct zm_plan plan;
	struct zm_summary summary;
	struct zm_progress progress;
	struct zm_session session;
	const struct zm_monitor **monitors;
	int lock_fd;
	sigset_t old_mask;
	bool has_mask;
	char *command_line, *inventory;
	char machine_id[17], boot_id[64], invocation[ZM_UUID_SIZE];
	struct utsname uname;
	int signal; /* that ended it */
};

/* --- opening --- */

static int open_topology(struct command *command, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset only = { 0 };
	const char *list = command->switches->cpus;
	int r = zm_sysroot_open(&command->root, NULL);

	if (r < 0)
		return zm_why_errno(why, r, "/");
	command->has_root = true;
	if (list && (zm_cpuset_parse(list, &only) < 0 || zm_cpuset_count(&only) == 0))
		return zm_why_set(why, -EINVAL, "--cpus %s: a list of CPUs is like 0-3,8", list);
	r = zm_topology_read(&command->root, list ? &only : NULL, &command->topology, why);
	command->has_topology = r == 0;
	if (r < 0 && list)
		zm_why_prefix(why, "--cpus %s", list);
	return r;
}

/* A policy that this machine or container cannot have is refused before anything starts: it is tried
 * on this process, which then takes the kernel's own again. */
static int open_memory_policy(struct command *command, struct zm_why *why)
{
	const char *text = command->switches->mem ? command->switches->mem : "local";
	struct zm_mem_policy *policy = &command->session.mem;
	const struct zm_mem_policy local = { ZM_MEM_LOCAL, -1 };
	int node = command->topology.cpus[0].node;
	int r = zm_mem_parse(text, policy, why);

	if (r < 0 || policy->mem == ZM_MEM_LOCAL)
		return r;
	r = zm_mem_apply(&command->topology, policy, node, why);
	(void)zm_mem_apply(&command->topology, &local, node, NULL);
	return r;
}

/* Before anything is run: a setting that cannot be set is wrong for the whole line. */
static int check_settings(const struct command *command, struct zm_why *why)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < command->plan.nr_cells; i++) {
		const struct zm_cell *cell = &command->plan.cells[i];

		for (size_t k = 0; r == 0 && k < cell->nr_settings; k++)
			r = zm_setting_check(&command->root, cell->settings[k].name,
					     cell->settings[k].value, why);
	}
	return r;
}

/* The words, and --monitor-interval as one of them. */
static int make_plan(struct command *command, const struct zm_cell_context *context,
		     struct zm_why *why)
{
	const struct zm_args *args = command->args;
	const char *interval = command->switches->monitor_interval;
	zm_autofree const char **words = calloc(args->nr_words + 1, sizeof(*words));
	zm_autofree char *word = NULL;
	size_t nr = args->nr_words;

	if (!words || (interval && asprintf(&word, "monitor_interval=%s", interval) < 0))
		return zm_why_errno(why, -ENOMEM, "planning the runs");
	for (size_t i = 0; i < nr; i++)
		words[i] = args->words[i];
	if (interval)
		words[nr++] = word;
	return zm_plan_make(context, zm_workloads, words, nr, &command->plan, why);
}

static int open_plan(struct command *command, struct zm_why *why)
{
	const struct switches *switches = command->switches;
	char place[] = "place", mem[] = "mem", cpus[] = "cpus", local[] = "local", all[] = "all";
	char chosen[32];
	const struct zm_pair extras[] = { { place, chosen },
					  { mem, switches->mem ? switches->mem : local },
					  { cpus, switches->cpus ? switches->cpus : all } };
	const struct zm_cell_context context = { (unsigned int)command->topology.nr_cpus, extras,
						 sizeof(extras) / sizeof(extras[0]) };
	int r;

	(void)snprintf(chosen, sizeof(chosen), "%s", zm_place_names[switches->place]);
	r = make_plan(command, &context, why);
	if (r == 0)
		r = check_settings(command, why);
	for (size_t i = 0; r == 0 && i < command->plan.nr_remarks; i++)
		(void)fprintf(stderr, "%s\n", command->plan.remarks[i]);
	if (r == 0 &&
	    zm_summary_init(&command->summary, &command->plan, (unsigned int)switches->repeat) < 0)
		r = zm_why_errno(why, -ENOMEM, "planning the runs");
	return r;
}

static int unknown_monitor(const char *name, struct zm_why *why)
{
	const char **names = calloc(zm_nr_monitors + 1, sizeof(*names));
	const char *nearest = NULL;

	for (unsigned int i = 0; names && i < zm_nr_monitors; i++)
		names[i] = zm_monitors[i]->name;
	if (names)
		nearest = zm_option_nearest(name, names);
	free(names);
	if (nearest)
		return zm_why_set(why, -EINVAL, "--monitor %s: no such monitor; did you mean %s?",
				  name, nearest);
	return zm_why_set(why, -EINVAL,
			  "--monitor %s: no such monitor; `zonemark list monitors` shows them",
			  name);
}

static int add_monitor(struct command *command, const char *name, struct zm_why *why)
{
	const struct zm_monitor *monitor = zm_monitor_find(name);
	size_t n = 0;

	if (!monitor)
		return unknown_monitor(name, why);
	while (command->monitors[n]) {
		if (command->monitors[n++] == monitor)
			return 0;
	}
	command->monitors[n] = monitor;
	return 0;
}

static void add_monitors(struct command *command, bool with_extra)
{
	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		if (with_extra || !zm_monitors[i]->is_extra)
			(void)add_monitor(command, zm_monitors[i]->name, NULL);
}

static int open_monitors(struct command *command, struct zm_why *why)
{
	const char *list = command->switches->monitor ? command->switches->monitor : "default";
	zm_autofree char *copy = strdup(list);
	char *save = NULL;
	int r = 0;

	command->monitors = calloc(zm_nr_monitors + 1, sizeof(const struct zm_monitor *));
	if (!command->monitors || !copy)
		return zm_why_errno(why, -ENOMEM, "--monitor %s", list);
	command->session.monitors = command->monitors;
	if (strcmp(list, "none") == 0)
		return 0;
	for (char *name = strtok_r(copy, ",", &save); r == 0 && name;
	     name = strtok_r(NULL, ",", &save)) {
		if (strcmp(name, "all") == 0 || strcmp(name, "default") == 0)
			add_monitors(command, strcmp(name, "all") == 0);
		else
			r = add_monitor(command, name, why);
	}
	return r;
}

static bool is_plain(const char *word)
{
	return word[0] && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789_-+=:,./%@")] == '\0';
}

static void print_quoted(FILE *out, const char *word)
{
	if (is_plain(word)) {
		(void)fprintf(out, " %s", word);
		return;
	}
	(void)fputs(" '", out);
	for (; *word; word++)
		(void)fputs(*word == '\'' ? "'\\''" : (char[]){ *word, '\0' }, out);
	(void)fputc('\'', out);
}

/* As typed, but for --resume: the line that it goes on with had none. */
static int quote_command_line(struct command *command, struct zm_why *why)
{
	size_t length;
	FILE *out = open_memstream(&command->command_line, &length);

	if (!out)
		return zm_why_errno(why, -errno, "the command line");
	(void)fputs("zonemark", out);
	for (int i = 0; i < command->args->argc; i++) {
		if (strcmp(command->args->argv[i], "--resume") != 0)
			print_quoted(out, command->args->argv[i]);
	}
	return fclose(out) == 0 ? 0 : zm_why_errno(why, -ENOMEM, "the command line");
}

static int open_store(struct command *command, struct zm_why *why)
{
	int r = quote_command_line(command, why);

	if (r == 0)
		r = zm_store_open(command->switches->db, true, &command->session.store, why);
	if (r < 0)
		return r;
	if (command->switches->resume &&
	    zm_store_last_invocation(command->session.store, command->command_line,
				     command->invocation, sizeof(command->invocation)) == 0)
		return 0;
	if (command->switches->resume)
		(void)fprintf(stderr,
			      "--resume: no earlier run of this line is in %s; it begins anew\n",
			      zm_store_path(command->session.store));
	r = zm_uuid_make(command->invocation);
	return r < 0 ? zm_why_errno(why, r, "a name for this invocation") : 0;
}

static int open_inventory(struct command *command, struct zm_why *why)
{
	json_t *inventory = NULL;
	int r = zm_inventory_read(&command->root, &command->topology, &inventory, why);

	if (r < 0)
		return r;
	command->inventory = json_dumps(inventory, JSON_COMPACT | JSON_SORT_KEYS);
	r = zm_inventory_machine_id(&command->root, inventory, command->machine_id,
				    sizeof(command->machine_id));
	json_decref(inventory);
	if (!command->inventory)
		return zm_why_errno(why, -ENOMEM, "the inventory");
	if (r < 0)
		return zm_why_errno(why, r, "this machine's id");
	if (zm_sysroot_read_line(&command->root, "proc/sys/kernel/random/boot_id", command->boot_id,
				 sizeof(command->boot_id)) < 0)
		(void)snprintf(command->boot_id, sizeof(command->boot_id), "unknown");
	(void)uname(&command->uname);
	return 0;
}

/* One that is ignored (nohup, a shell's background job) stays so: blocked, it would be heard. */
static int open_signals(struct command *command, struct zm_why *why)
{
	static const int heard[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++) {
		struct sigaction action;

		if (sigaction(heard[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			(void)sigaddset(&set, heard[i]);
	}
	if (sigprocmask(SIG_BLOCK, &set, &command->old_mask) == 0) {
		command->has_mask = true;
		command->session.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	}
	return command->session.signal_fd < 0 ? zm_why_errno(why, -errno, "hearing signals") : 0;
}

static int open_lock(struct command *command, struct zm_why *why)
{
	return command->switches->share ? 0 : zm_lock_take(&command->lock_fd, why);
}

static int open_journal(struct command *command, struct zm_why *why)
{
	return zm_journal_open(&command->root, NULL, &command->session.journal, why);
}

static void fill_session(struct command *command)
{
	struct zm_session *session = &command->session;

	session->root = &command->root;
	session->topology = &command->topology;
	session->progress = &command->progress;
	session->place = (enum zm_place)command->switches->place;
	session->is_overcommitted = command->switches->overcommit;
	session->is_shared = command->switches->share;
	session->invocation = command->invocation;
	session->command_line = command->command_line;
	session->label = command->switches->label;
	session->inventory = command->inventory;
	session->machine_id = command->machine_id;
	session->boot_id = command->boot_id;
	session->kernel = command->uname.release;
}

static int open_command(struct command *command, struct zm_why *why)
{
	static int (*const openers[])(struct command * command, struct zm_why * why) = {
		open_topology, open_memory_policy, open_plan,  open_monitors, open_inventory,
		open_lock,     open_signals,       open_store, open_journal,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(openers) / sizeof(openers[0]); i++)
		r = openers[i](command, why);
	if (r == 0)
		fill_session(command);
	return r;
}

static void close_command(struct command *command)
{
	zm_journal_close(command->session.journal);
	zm_store_close(command->session.store);
	if (command->session.signal_fd >= 0)
		(void)close(command->session.signal_fd);
	if (command->lock_fd >= 0)
		(void)close(command->lock_fd);
	free(command->inventory);
	free(command->command_line);
	free(command->monitors);
	zm_summary_release(&command->summary);
	zm_plan_release(&command->plan);
	if (command->has_topology)
		zm_topology_release(&command->topology);
	if (command->has_root)
		zm_sysroot_release(&command->root);
}

/* --- running --- */

static bool was_done(struct command *command, const struct zm_cell *cell, unsigned int repeat)
{
	return command->switches->resume &&
	       zm_store_has_run(command->session.store, command->invocation, cell->key, repeat) ==
		       1;
}

/* "301 k pages/s", of the first primary figure. */
static void print_figure(const struct zm_report *report, char *buf, size_t size)
{
	char number[32];

	buf[0] = '\0';
	for (size_t i = 0; i < report->nr_figures && !buf[0]; i++) {
		const struct zm_figure *figure = &report->figures[i];

		if (figure->metric.is_primary)
			(void)snprintf(buf, size, ", %s %s",
				       zm_units_human_count(number, sizeof(number), figure->value),
				       figure->metric.unit);
	}
}

static void say_outcome(struct command *command, const struct zm_outcome *outcome)
{
	bool is_ok = outcome->status == ZM_STATUS_OK;
	char line[ZM_WHY_SIZE + 256], figure[96];

	print_figure(&outcome->report, figure, sizeof(figure));
	(void)snprintf(line, sizeof(line), "%s%s%s%s%s", zm_status_name(outcome->status),
		       is_ok ? figure : ": ", is_ok ? "" : outcome->why.text,
		       is_ok && outcome->flags[0] ? "; notes: " : "", is_ok ? outcome->flags : "");
	zm_progress_end(&command->progress, line);
}

/* What can't run will not be able to the next time. */
static bool is_out(const struct zm_outcome *outcome)
{
	return outcome->status == ZM_STATUS_SKIPPED;
}

static int run_one(struct command *command, size_t index, unsigned int repeat, bool *ret_out,
		   struct zm_why *why)
{
	const struct zm_cell *cell = &command->plan.cells[index];
	struct zm_outcome outcome;
	int r;

	zm_progress_begin(&command->progress, cell->title, repeat);
	zm_phase_run(&command->session, cell, repeat, &outcome);
	say_outcome(command, &outcome);
	command->signal = outcome.signal;
	*ret_out = is_out(&outcome);
	r = zm_summary_add(&command->summary, index, &outcome);
	if (r < 0)
		(void)zm_why_errno(why, r, "summing up");
	if (outcome.store_error) {
		*why = outcome.why;
		r = outcome.store_error;
	}
	zm_outcome_release(&outcome);
	return r;
}

static uint64_t cell_ns(const struct zm_cell *cell)
{
	return cell->options.idle_ns + cell->options.warmup_ns + cell->options.runtime_ns;
}

/* Before the first launch: all of them. Each takes its own share off. */
static void expect(struct command *command)
{
	for (size_t i = 0; i < command->plan.nr_cells; i++)
		command->progress.later_ns +=
			cell_ns(&command->plan.cells[i]) * command->switches->repeat;
}

static int run_all(struct command *command, struct zm_why *why)
{
	size_t nr_cells = command->plan.nr_cells;
	zm_autofree bool *is_cell_out = calloc(nr_cells, sizeof(bool));
	int r = is_cell_out ? 0 : zm_why_errno(why, -ENOMEM, "%zu cells", nr_cells);

	for (unsigned int repeat = 0; r == 0 && repeat < command->switches->repeat; repeat++) {
		for (size_t i = 0; r == 0 && !command->signal && i < nr_cells; i++) {
			command->progress.later_ns -= cell_ns(&command->plan.cells[i]);
			if (is_cell_out[i])
				continue;
			if (was_done(command, &command->plan.cells[i], repeat))
				zm_summary_add_done(&command->summary, i);
			else
				r = run_one(command, i, repeat, &is_cell_out[i], why);
		}
	}
	return r;
}

static int answer(const struct command *command)
{
	const char *store = zm_store_path(command->session.store);
	uint64_t run = zm_summary_last_run(&command->summary);
	int r;

	if (command->switches->json)
		r = zm_summary_print_json(&command->summary, command->invocation, store, stdout);
	else
		r = zm_summary_print(&command->summary, stdout);
	if (r < 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "no memory for the answer");
	if (run && !command->switches->json)
		(void)fprintf(
			stderr,
			"`zonemark show %llu` shows the last of them: every figure, the tasks, "
			"the curves; the store is %s\n",
			(unsigned long long)run, store);
	return zm_summary_exit_status(&command->summary);
}

/* The signal that ended the runs ends the program, as it would have without us. */
static void die_of(const struct command *command, int number)
{
	(void)fflush(stdout);
	(void)signal(number, SIG_DFL);
	if (command->has_mask)
		(void)sigprocmask(SIG_SETMASK, &command->old_mask, NULL);
	(void)raise(number);
}

static int run(const struct zm_args *args)
{
	struct command command = { .args = args,
				   .switches = args->switches,
				   .lock_fd = -1,
				   .session = { .signal_fd = -1 } };
	struct zm_why why = { { 0 } };
	int status;

	if (open_command(&command, &why) < 0) {
		close_command(&command);
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	zm_progress_init(&command.progress, stderr,
			 (unsigned int)(command.plan.nr_cells * command.switches->repeat));
	expect(&command);
	if (run_all(&command, &why) < 0)
		status = zm_cmd_fail(ZM_EXIT_USAGE, &why);
	else
		status = answer(&command);
	close_command(&command);
	if (command.signal)
		die_of(&command, command.signal);
	return command.signal ? 128 + command.signal : status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "run workloads, measure them and keep what was measured",
	.usage = "WORKLOAD|MATRIX [option=value …]",
	.details = "Runs each workload in phases: used memory is watched while nothing runs, the "
		   "tasks are "
		   "made and wait at one gate, they warm up until their throughput is steady, the "
		   "window is "
		   "measured, they stop, and used memory is watched until it has come back. All "
		   "that was "
		   "read goes into the store; the table shows the primary figures of each cell.\n"
		   "\n"
		   "An option takes a list of values (nr_task=1,25%,100%, nr_task=1-8, "
		   "mode=process,thread), and the cells are all combinations. `zonemark list "
		   "WORKLOAD` shows "
		   "a workload's options; those of every run are nr_task, mode, runtime, warmup, "
		   "idle, "
		   "drain, interval, monitor_interval, start, stop, stall and seed; and what the "
		   "documents "
		   "set on the machine is an option too (thp_enabled=never, sysctl.NAME=VALUE), "
		   "put back "
		   "after the run.\n"
		   "\n"
		   "The exit status is 0 when all went well, 2 when something was asked for that "
		   "cannot be, "
		   "3 when a run failed, and 77 when nothing could run here.",
	.examples = "zonemark run quick\ta minute of page_fault1 and page_fault2\n"
		    "zonemark run page_fault1 nr_task=1,50%,100% mode=process,thread --repeat 3\t"
		    "six cells, three launches of each, in turns\n"
		    "zonemark run page_fault1 nr_task=100% thp_enabled=never --label base\t"
		    "with a machine setting that is put back",
	.completes = "workloads matrices options settings",
	.switches = switch_rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
