/* invocation: opening in order, running by turns, closing in the reverse. */
#include "runner/invocation.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "results/dburl.h"
#include "results/store.h"
#include "runner/catalogue.h"
#include "runner/inventory.h"
#include "runner/lock.h"
#include "runner/matrix.h"
#include "runner/phase.h"
#include "runner/quote.h"
#include "runner/send.h"
#include "runner/setting.h"
#include "runner/shard.h"
#include "runner/vm/about.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/units.h"

/* --- opening --- */

static int check_label(struct zm_invocation *invocation, struct zm_why *why)
{
	const char *label = invocation->ask->label;

	if (!label || strlen(label) <= ZM_INVOCATION_LABEL)
		return 0;
	return zm_why_set(why, -EINVAL, "--label %.20s…: %zu bytes; a label has at most %d", label,
			  strlen(label), ZM_INVOCATION_LABEL);
}

int zm_invocation_topology(const char *cpus, const struct zm_sysroot *root,
			   struct zm_topology *ret_topology, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset only = { 0 };
	int r;

	if (cpus && (zm_cpuset_parse(cpus, &only) < 0 || zm_cpuset_count(&only) == 0))
		return zm_why_set(why, -EINVAL, "--cpus %s: a list of CPUs is like 0-3,8", cpus);
	r = zm_topology_read(root, cpus ? &only : NULL, ret_topology, why);
	if (r < 0 && cpus)
		zm_why_prefix(why, "--cpus %s", cpus);
	return r;
}

static int open_topology(struct zm_invocation *invocation, struct zm_why *why)
{
	int r = zm_sysroot_open(&invocation->root, NULL);

	if (r < 0)
		return zm_why_errno(why, r, "/");
	invocation->has_root = true;
	r = zm_invocation_topology(invocation->ask->cpus, &invocation->root, &invocation->topology,
				   why);
	invocation->has_topology = r == 0;
	return r;
}

/* A policy that this machine or container cannot have is refused before anything starts: it is tried
 * on this process, which then takes the kernel's own again. */
static int open_memory_policy(struct zm_invocation *invocation, struct zm_why *why)
{
	const char *text = invocation->ask->mem ? invocation->ask->mem : "local";
	struct zm_mem_policy *policy = &invocation->session.mem;
	const struct zm_mem_policy local = { ZM_MEM_LOCAL, -1 };
	int node = invocation->topology.cpus[0].node;
	int r = zm_mem_parse(text, policy, why);

	if (r < 0 || policy->mem == ZM_MEM_LOCAL)
		return r;
	r = zm_mem_apply(&invocation->topology, policy, node, why);
	(void)zm_mem_apply(&invocation->topology, &local, node, NULL);
	return r;
}

/* Before anything is run: a setting that cannot be set is wrong for the whole line. */
static int check_settings(const struct zm_invocation *invocation, struct zm_why *why)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < invocation->plan.nr_cells; i++) {
		const struct zm_cell *cell = &invocation->plan.cells[i];

		for (size_t k = 0; r == 0 && k < cell->nr_settings; k++)
			r = zm_setting_check(&invocation->root, cell->settings[k].name,
					     cell->settings[k].value, why);
	}
	return r;
}

/* The words, and --monitor-interval as one of them. */
static int make_plan(const struct zm_invocation_ask *ask, const struct zm_cell_context *context,
		     struct zm_plan *ret_plan, struct zm_why *why)
{
	const char *interval = ask->monitor_interval;
	zm_autofree const char **words = calloc(ask->nr_words + 1, sizeof(*words));
	zm_autofree char *word = NULL;
	size_t nr = ask->nr_words;

	if (!words || (interval && asprintf(&word, "monitor_interval=%s", interval) < 0))
		return zm_why_errno(why, -ENOMEM, "planning the runs");
	for (size_t i = 0; i < nr; i++)
		words[i] = ask->words[i];
	if (interval)
		words[nr++] = word;
	return zm_plan_make(context, zm_workloads, words, nr, ret_plan, why);
}

int zm_invocation_plan(const struct zm_invocation_ask *ask, const struct zm_sysroot *root,
		       const struct zm_topology *topology, struct zm_plan *ret_plan,
		       struct zm_why *why)
{
	char place[] = "place", mem[] = "mem", cpus[] = "cpus", local[] = "local", all[] = "all";
	char chosen[32];
	const struct zm_pair extras[] = { { place, chosen },
					  { mem, ask->mem ? ask->mem : local },
					  { cpus, ask->cpus ? ask->cpus : all } };
	const struct zm_cell_context context = { .nr_cpus = (unsigned int)topology->nr_cpus,
						 .extras = extras,
						 .nr_extras = sizeof(extras) / sizeof(extras[0]),
						 .root = root,
						 .topology = topology };

	if (ask->is_planless)
		return 0;
	(void)snprintf(chosen, sizeof(chosen), "%s", zm_place_names[ask->place]);
	return make_plan(ask, &context, ret_plan, why);
}

/* Was it typed? Then it counts, else what the matrix's file says. */
static bool has_switch(const struct zm_invocation_ask *ask, const char *name)
{
	size_t length = strlen(name);

	for (int i = 0; i < ask->argc; i++) {
		if (strncmp(ask->argv[i], name, length) == 0 &&
		    (!ask->argv[i][length] || ask->argv[i][length] == '='))
			return true;
	}
	return false;
}

static int open_schedule(struct zm_invocation *invocation, struct zm_why *why)
{
	const struct zm_invocation_ask *ask = invocation->ask;
	const struct zm_plan *plan = &invocation->plan;
	uint64_t budget_ns = plan->budget_ns;
	int r;

	invocation->nr_repeats = (unsigned int)ask->repeat;
	if (plan->nr_repeats && !has_switch(ask, "--repeat"))
		invocation->nr_repeats = plan->nr_repeats;
	if (ask->hours > 0)
		budget_ns = (uint64_t)(ask->hours * 3600 * (double)ZM_NS_PER_S);
	r = zm_schedule_make(plan, invocation->nr_repeats, budget_ns, &invocation->schedule, why);
	if (r == 0)
		zm_schedule_say(&invocation->schedule, plan, invocation->nr_repeats, stderr);
	return r;
}

static int keep_shard(struct zm_invocation *invocation, struct zm_why *why)
{
	struct zm_shard_share share;
	struct zm_shard shard;
	char human[32];
	int r = zm_shard_parse(invocation->ask->shard, &shard, why);

	if (r == 0)
		r = zm_shard_keep(&shard, &invocation->plan, &share, why);
	if (r < 0)
		return r;
	(void)fprintf(stderr, "part %u/%u: %zu of %zu cells, about %s a round; split %08x\n",
		      shard.index, shard.nr, share.nr_asked, share.nr_asked_all,
		      zm_units_human_ns(human, sizeof(human), (double)share.expected_ns), share.id);
	if (invocation->plan.nr_cells < share.nr_asked)
		(void)fprintf(stderr,
			      "%zu of them are not run: this machine has not what they need, or "
			      "they are the same here\n",
			      share.nr_asked - invocation->plan.nr_cells);
	return 0;
}

static void leave_out_unwanted(struct zm_invocation *invocation)
{
	const struct zm_invocation_ask *ask = invocation->ask;
	struct zm_plan *plan = &invocation->plan;
	size_t nr = 0;

	for (size_t i = 0; ask->wants && i < plan->nr_cells; i++) {
		if (ask->wants(ask->wants_context, &plan->cells[i]))
			plan->cells[nr++] = plan->cells[i];
		else
			zm_cell_release(&plan->cells[i]);
	}
	if (ask->wants)
		plan->nr_cells = nr;
}

static int open_plan(struct zm_invocation *invocation, struct zm_why *why)
{
	const struct zm_invocation_ask *ask = invocation->ask;
	int r = zm_invocation_plan(ask, &invocation->root, &invocation->topology, &invocation->plan,
				   why);

	if (r == 0 && ask->shard)
		r = keep_shard(invocation, why);
	if (r == 0)
		leave_out_unwanted(invocation);
	if (r == 0)
		r = check_settings(invocation, why);
	for (size_t i = 0; r == 0 && i < invocation->plan.nr_remarks; i++)
		(void)fprintf(stderr, "%s\n", invocation->plan.remarks[i]);
	if (r == 0)
		r = open_schedule(invocation, why);
	if (r == 0 &&
	    zm_summary_init(&invocation->summary, &invocation->plan, invocation->nr_repeats) < 0)
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

static int add_monitor(const struct zm_monitor **list, const char *name, struct zm_why *why)
{
	const struct zm_monitor *monitor = zm_monitor_find(name);
	size_t n = 0;

	if (!monitor)
		return unknown_monitor(name, why);
	while (list[n]) {
		if (list[n++] == monitor)
			return 0;
	}
	list[n] = monitor;
	return 0;
}

static void add_monitors(const struct zm_monitor **list, bool with_extra)
{
	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		if (with_extra || !zm_monitors[i]->is_extra)
			(void)add_monitor(list, zm_monitors[i]->name, NULL);
}

/* "default,pcp": a new list. */
static int read_monitors(const char *text, const struct zm_monitor ***ret_list, struct zm_why *why)
{
	const struct zm_monitor **list = calloc(zm_nr_monitors + 1, sizeof(*list));
	zm_autofree char *copy = strdup(text);
	char *save = NULL;
	int r = 0;

	if (!list || !copy) {
		free(list);
		return zm_why_errno(why, -ENOMEM, "--monitor %s", text);
	}
	if (strcmp(text, "none") == 0)
		copy[0] = '\0';
	for (char *name = strtok_r(copy, ",", &save); r == 0 && name;
	     name = strtok_r(NULL, ",", &save)) {
		if (strcmp(name, "all") == 0 || strcmp(name, "default") == 0)
			add_monitors(list, strcmp(name, "all") == 0);
		else
			r = add_monitor(list, name, why);
	}
	if (r < 0)
		free(list);
	else
		*ret_list = list;
	return r;
}

/* Cells beside each other with the same text share a list. */
static int open_own_monitors(struct zm_invocation *invocation, struct zm_why *why)
{
	const struct zm_plan *plan = &invocation->plan;
	int r = 0;

	invocation->own_monitors = calloc(plan->nr_cells, sizeof(*invocation->own_monitors));
	if (!invocation->own_monitors)
		return zm_why_errno(why, -ENOMEM, "--monitor");
	for (size_t i = 0; r == 0 && i < plan->nr_cells; i++) {
		const char *text = plan->cells[i].monitor;
		const char *before = i ? plan->cells[i - 1].monitor : NULL;

		if (text && before && strcmp(text, before) == 0)
			invocation->own_monitors[i] = invocation->own_monitors[i - 1];
		else if (text)
			r = read_monitors(text, &invocation->own_monitors[i], why);
	}
	return r;
}

static void release_own_monitors(struct zm_invocation *invocation)
{
	size_t nr = invocation->own_monitors ? invocation->plan.nr_cells : 0;

	for (size_t i = 0; i < nr; i++) {
		if (i == 0 || invocation->own_monitors[i] != invocation->own_monitors[i - 1])
			free(invocation->own_monitors[i]);
	}
	free(invocation->own_monitors);
}

static int open_monitors(struct zm_invocation *invocation, struct zm_why *why)
{
	const char *asked = invocation->ask->monitor;
	const struct zm_matrix *matrix = invocation->plan.matrix;
	int r = read_monitors(asked ? asked : "default", &invocation->monitors, why);

	invocation->session.monitors = invocation->monitors; /* a cell may have its own */
	if (r < 0 || asked)
		return r;
	/* That of a matrix, where this build has it. */
	if (matrix && matrix->monitor && zm_monitor_find(matrix->monitor))
		(void)add_monitor(invocation->monitors, matrix->monitor, NULL);
	return open_own_monitors(invocation, why);
}

/* A URL without the password in it; also behind "--db=". */
static void quote_word(FILE *out, const char *word)
{
	const char *url = strncmp(word, "--db=", 5) == 0 ? word + 5 : word;
	zm_autofree char *public = zm_dburl_is(url) ? zm_dburl_public(url) : NULL;
	zm_autofree char *whole = NULL;

	if (public && asprintf(&whole, "%.*s%s", (int)(url - word), word, public) < 0)
		whole = NULL;
	zm_quote_word(out, whole ? whole : zm_dburl_is(url) ? "--db" : word);
}

/* As typed, but for --resume: the line that it goes on with had none. */
static int quote_command_line(struct zm_invocation *invocation, struct zm_why *why)
{
	size_t length;
	FILE *out = open_memstream(&invocation->command_line, &length);

	if (!out)
		return zm_why_errno(why, -errno, "the command line");
	(void)fputs("zonemark", out);
	for (int i = 0; i < invocation->ask->argc; i++) {
		if (strcmp(invocation->ask->argv[i], "--resume") == 0)
			continue;
		(void)fputc(' ', out);
		quote_word(out, invocation->ask->argv[i]);
	}
	return fclose(out) == 0 ? 0 : zm_why_errno(why, -ENOMEM, "the command line");
}

/* A store on a server gets its runs when all have been measured: until then they are in the outbox. */
static int open_sink(struct zm_invocation *invocation, struct zm_why *why)
{
	int r = zm_outbox_url(invocation->ask->db, &invocation->url, why);

	if (r == 0 && !invocation->url)
		return zm_store_open(invocation->ask->db, true, &invocation->session.store, why);
	if (r == 0)
		r = zm_outbox_open(invocation->url, &invocation->session.store, why);
	if (r == 0)
		r = zm_send_check(invocation->url, invocation->session.store, why);
	/* What was done earlier is not in the outbox any more; without the server it is done again. */
	if (r == 0 && invocation->ask->resume)
		(void)zm_store_open(invocation->url, false, &invocation->server, NULL);
	return r;
}

static int open_store(struct zm_invocation *invocation, struct zm_why *why)
{
	int r = quote_command_line(invocation, why);

	if (r == 0)
		r = open_sink(invocation, why);
	if (r < 0)
		return r;
	if (invocation->ask->resume &&
	    zm_store_last_invocation(invocation->session.store, invocation->command_line,
				     invocation->uuid, sizeof(invocation->uuid)) == 0)
		return 0;
	if (invocation->ask->resume)
		(void)fprintf(stderr,
			      "--resume: no earlier run of this line is in %s; it begins anew\n",
			      zm_store_path(invocation->session.store));
	r = zm_uuid_make(invocation->uuid);
	return r < 0 ? zm_why_errno(why, r, "a name for this invocation") : 0;
}

static int open_inventory(struct zm_invocation *invocation, struct zm_why *why)
{
	json_t *inventory = NULL;
	int r = zm_inventory_read(&invocation->root, &invocation->topology, &inventory, why);

	if (r < 0)
		return r;
	invocation->inventory = json_dumps(inventory, JSON_COMPACT | JSON_SORT_KEYS);
	r = zm_inventory_machine_id(&invocation->root, inventory, invocation->machine_id,
				    sizeof(invocation->machine_id));
	if (json_object_get(inventory, "guest"))
		invocation->session.guest_note =
			zm_vm_about_note(json_object_get(inventory, "guest"));
	json_decref(inventory);
	if (!invocation->inventory)
		return zm_why_errno(why, -ENOMEM, "the inventory");
	if (r < 0)
		return zm_why_errno(why, r, "this machine's id");
	if (zm_sysroot_read_line(&invocation->root, "proc/sys/kernel/random/boot_id",
				 invocation->boot_id, sizeof(invocation->boot_id)) < 0)
		(void)snprintf(invocation->boot_id, sizeof(invocation->boot_id), "unknown");
	(void)uname(&invocation->uname);
	return 0;
}

/* One that is ignored (nohup, a shell's background job) stays so: blocked, it would be heard. */
static int open_signals(struct zm_invocation *invocation, struct zm_why *why)
{
	static const int heard[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++) {
		struct sigaction action;

		if (sigaction(heard[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			(void)sigaddset(&set, heard[i]);
	}
	if (sigprocmask(SIG_BLOCK, &set, &invocation->old_mask) == 0) {
		invocation->has_mask = true;
		invocation->session.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	}
	return invocation->session.signal_fd < 0 ? zm_why_errno(why, -errno, "hearing signals") : 0;
}

static int open_lock(struct zm_invocation *invocation, struct zm_why *why)
{
	return invocation->ask->share ? 0 : zm_lock_take(&invocation->lock_fd, why);
}

static int open_journal(struct zm_invocation *invocation, struct zm_why *why)
{
	return zm_journal_open(&invocation->root, NULL, &invocation->session.journal, why);
}

static void fill_session(struct zm_invocation *invocation)
{
	struct zm_session *session = &invocation->session;

	session->root = &invocation->root;
	session->topology = &invocation->topology;
	session->progress = &invocation->progress;
	session->place = (enum zm_place)invocation->ask->place;
	session->is_overcommitted = invocation->ask->overcommit;
	session->is_shared = invocation->ask->share;
	session->invocation = invocation->uuid;
	session->command_line = invocation->command_line;
	session->label = invocation->ask->label;
	session->inventory = invocation->inventory;
	session->machine_id = invocation->machine_id;
	session->boot_id = invocation->boot_id;
	session->kernel = invocation->uname.release;
}

static int open_all(struct zm_invocation *invocation, struct zm_why *why)
{
	static int (*const openers[])(struct zm_invocation * invocation, struct zm_why * why) = {
		check_label,    open_topology, open_memory_policy, open_plan,  open_monitors,
		open_inventory, open_lock,     open_signals,       open_store, open_journal,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(openers) / sizeof(openers[0]); i++)
		r = openers[i](invocation, why);
	if (r == 0)
		fill_session(invocation);
	invocation->is_open = r == 0;
	return r;
}

/* When the machine is others' again. */
static void send_runs(struct zm_invocation *invocation)
{
	if (invocation->url && invocation->is_open)
		(void)zm_send_waiting(invocation->url, invocation->session.store);
	free(invocation->url);
	zm_store_close(invocation->server);
	zm_store_close(invocation->session.store);
}

void zm_invocation_close(struct zm_invocation *invocation)
{
	zm_journal_close(invocation->session.journal);
	if (invocation->session.signal_fd >= 0)
		(void)close(invocation->session.signal_fd);
	if (invocation->lock_fd >= 0)
		(void)close(invocation->lock_fd);
	free(invocation->inventory);
	free(invocation->command_line);
	release_own_monitors(invocation);
	free(invocation->monitors);
	zm_schedule_release(&invocation->schedule);
	zm_summary_release(&invocation->summary);
	zm_plan_release(&invocation->plan);
	if (invocation->has_topology)
		zm_topology_release(&invocation->topology);
	if (invocation->has_root)
		zm_sysroot_release(&invocation->root);
	if (invocation->has_mask)
		(void)sigprocmask(SIG_SETMASK, &invocation->old_mask, NULL);
	send_runs(invocation);
}

int zm_invocation_open(struct zm_invocation *invocation, const struct zm_invocation_ask *ask,
		       struct zm_why *why)
{
	int r;

	*invocation =
		(struct zm_invocation){ .ask = ask, .lock_fd = -1, .session = { .signal_fd = -1 } };
	r = open_all(invocation, why);
	if (r < 0)
		zm_invocation_close(invocation);
	return r;
}

/* --- running --- */

static bool is_in(struct zm_store *store, const struct zm_invocation *invocation,
		  const struct zm_cell *cell, unsigned int repeat)
{
	return store && zm_store_has_run(store, invocation->uuid, cell->key, repeat) == 1;
}

static bool was_done(struct zm_invocation *invocation, const struct zm_cell *cell,
		     unsigned int repeat)
{
	return invocation->ask->resume &&
	       (is_in(invocation->session.store, invocation, cell, repeat) ||
		is_in(invocation->server, invocation, cell, repeat));
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

static void say_outcome(struct zm_invocation *invocation, const struct zm_outcome *outcome)
{
	bool is_ok = outcome->status == ZM_STATUS_OK;
	char line[ZM_WHY_SIZE + 256], figure[96];

	print_figure(&outcome->report, figure, sizeof(figure));
	(void)snprintf(line, sizeof(line), "%s%s%s%s%s", zm_status_name(outcome->status),
		       is_ok ? figure : ": ", is_ok ? "" : outcome->why.text,
		       is_ok && outcome->flags[0] ? "; notes: " : "", is_ok ? outcome->flags : "");
	zm_progress_end(&invocation->progress, line);
}

/* What can't run will not be able to the next time. */
static bool is_out(const struct zm_outcome *outcome)
{
	return outcome->status == ZM_STATUS_SKIPPED;
}

static int run_one(struct zm_invocation *invocation, size_t index, unsigned int repeat,
		   bool *ret_out, struct zm_why *why)
{
	const struct zm_cell *cell = &invocation->plan.cells[index];
	struct zm_outcome outcome;
	int r;

	invocation->session.monitors = invocation->monitors;
	if (invocation->own_monitors && invocation->own_monitors[index])
		invocation->session.monitors = invocation->own_monitors[index];
	zm_progress_begin(&invocation->progress, cell->title, repeat);
	zm_phase_run(&invocation->session, cell, repeat, &outcome);
	say_outcome(invocation, &outcome);
	invocation->signal = outcome.signal;
	*ret_out = is_out(&outcome);
	r = zm_summary_add(&invocation->summary, index, &outcome);
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

/* Before the first launch: all that is expected to be. Each takes its own share off. */
static void expect(struct zm_invocation *invocation)
{
	const struct zm_schedule *schedule = &invocation->schedule;

	for (size_t i = 0; i < schedule->nr_fitting; i++)
		invocation->progress.later_ns +=
			cell_ns(&invocation->plan.cells[schedule->launches[i].cell]);
}

/* Is there time for it? What was done earlier counts as what it takes. */
static bool has_time(const struct zm_invocation *invocation, const struct zm_cell *cell)
{
	uint64_t budget_ns = invocation->schedule.budget_ns;

	return budget_ns == 0 || invocation->used_ns + zm_schedule_cost_ns(cell) <= budget_ns;
}

static int launch(struct zm_invocation *invocation, size_t index, bool *is_cell_out,
		  struct zm_why *why)
{
	const struct zm_launch *next = &invocation->schedule.launches[index];
	const struct zm_cell *cell = &invocation->plan.cells[next->cell];
	uint64_t since_ns = zm_clock_now_ns();
	int r = 0;

	if (index < invocation->schedule.nr_fitting)
		invocation->progress.later_ns -= cell_ns(cell);
	if (is_cell_out[next->cell])
		return 0;
	if (was_done(invocation, cell, next->repeat)) {
		zm_summary_add_done(&invocation->summary, next->cell);
		invocation->used_ns += zm_schedule_cost_ns(cell);
	} else if (has_time(invocation, cell)) {
		r = run_one(invocation, next->cell, next->repeat, &is_cell_out[next->cell], why);
		invocation->used_ns += zm_clock_now_ns() - since_ns;
	}
	return r;
}

static int run_all(struct zm_invocation *invocation, struct zm_why *why)
{
	size_t nr_cells = invocation->plan.nr_cells;
	zm_autofree bool *is_cell_out = calloc(nr_cells, sizeof(bool));
	int r = is_cell_out ? 0 : zm_why_errno(why, -ENOMEM, "%zu cells", nr_cells);

	for (size_t i = 0; r == 0 && !invocation->signal && i < invocation->schedule.nr_launches;
	     i++)
		r = launch(invocation, i, is_cell_out, why);
	return r;
}

int zm_invocation_run(struct zm_invocation *invocation, struct zm_why *why)
{
	zm_progress_init(&invocation->progress, stderr,
			 (unsigned int)invocation->schedule.nr_fitting);
	expect(invocation);
	return run_all(invocation, why);
}

void zm_invocation_die(const struct zm_invocation *invocation)
{
	if (!invocation->signal)
		return;
	(void)fflush(stdout);
	(void)signal(invocation->signal, SIG_DFL);
	(void)raise(invocation->signal);
}
