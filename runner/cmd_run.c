/* cmd_run: words -> runs -> table. After a signal the table is still printed, and then we die of it. */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "results/dburl.h"
#include "results/store.h"
#include "runner/invocation.h"
#include "runner/latency_table.h"
#include "runner/matrix.h"
#include "workloads/base/cleanup.h"

struct switches {
	struct zm_invocation_ask ask;
	bool json;
};

#define AT(member)  offsetof(struct switches, member)
#define ASK(member) AT(ask.member)

static const struct zm_option switch_rows[] = {
	ZM_INVOCATION_ROWS(ASK),
	{ .name = "shard",
	  .type = ZM_OPTION_STRING,
	  .offset = ASK(shard),
	  .unit = "I/N",
	  .help = "only part I of N of the cells: every machine splits them the same way, and "
		  "evenly by the time they take" },
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(json),
	  .preset = "0",
	  .help = "the answer as JSON" },
	{ .name = NULL },
};

static json_t *latency_json(const struct zm_invocation *invocation)
{
	return zm_latency_table_json(invocation->session.store, &invocation->summary, NULL);
}

static int answer(const struct zm_invocation *invocation, bool is_json)
{
	const struct zm_matrix *matrix = invocation->plan.matrix;
	bool has_table = matrix && matrix->has_latency_table;
	zm_autofree char *server = invocation->url ? zm_dburl_public(invocation->url) : NULL;
	const char *store = server ? server : zm_store_path(invocation->session.store);
	uint64_t run = zm_summary_last_run(&invocation->summary);
	struct zm_why why = { "no memory for the answer" };
	int r;

	if (is_json)
		r = zm_summary_print_json(&invocation->summary, invocation->uuid, store,
					  has_table ? latency_json(invocation) : NULL, stdout);
	else
		r = zm_summary_print(&invocation->summary, stdout);
	if (r == 0 && has_table && !is_json)
		r = zm_latency_table_print(invocation->session.store, &invocation->summary, stdout,
					   &why);
	if (r < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	/* A guest's numbers and store are not those that its user will find; nor is an outbox. */
	if (run && !is_json && !invocation->session.guest_note && !server)
		(void)fprintf(
			stderr,
			"`zonemark show %llu` shows the last of them: every figure, the tasks, "
			"the curves; the store is %s\n",
			(unsigned long long)run, store);
	return zm_summary_exit_status(&invocation->summary);
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_invocation_ask ask = switches->ask;
	struct zm_invocation invocation;
	struct zm_why why = { { 0 } };
	int status, r;

	ask.words = args->words;
	ask.nr_words = args->nr_words;
	ask.argc = args->argc;
	ask.argv = args->argv;
	r = zm_invocation_open(&invocation, &ask, &why);
	if (r == -ENODATA) /* a part of nothing is done */
		return zm_cmd_fail(ZM_EXIT_OK, &why);
	if (r < 0)
		return zm_cmd_fail(r == -ENOPKG ? ZM_EXIT_SKIPPED : ZM_EXIT_USAGE, &why);
	if (zm_invocation_run(&invocation, &why) < 0)
		status = zm_cmd_fail(ZM_EXIT_USAGE, &why);
	else
		status = answer(&invocation, switches->json);
	zm_invocation_close(&invocation);
	zm_invocation_die(&invocation);
	return invocation.signal ? 128 + invocation.signal : status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "run workloads, measure them and keep what was measured",
	.usage = "WORKLOAD|MATRIX|FILE|DOCUMENTED [option=value …]",
	.details =
		"Runs each workload in phases: used memory is watched while nothing runs, the "
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
		"A matrix is a set of runs: `full` (every documented table), `nightly`, `quick`, "
		"or "
		"a file of one's own in YAML (docs/matrices.md), also a job file of lkp-tests as "
		"it "
		"is. --hours fits it to a time: the most telling cells first, and what is left out "
		"is said. A cell that fails does not stop the others; the end names it. --resume "
		"goes on after a crash or a reboot. --shard 2/8 runs the second of eight parts, "
		"for as many machines or tasks of a scheduler (docs/fleet.md).\n\n"
		"The exit status is 0 when all went well, 2 when something was asked for that "
		"cannot be, "
		"3 when a run failed, and 77 when nothing could run here.",
	.examples = "zonemark run full --hours 2 --repeat 3\tthe documented tables, as far as two "
		    "hours go\n"
		    "zonemark run full --shard 2/8\tthe second of eight machines' part of them\n"
		    "zonemark run night.yaml --resume\ta matrix of one's own, where it stood\n"
		    "zonemark run quick\ta minute of page_fault1 and page_fault2\n"
		    "zonemark run page_fault1 nr_task=1,50%,100% mode=process,thread --repeat 3\t"
		    "six cells, three launches of each, in turns\n"
		    "zonemark run page_fault1 nr_task=100% thp_enabled=never --label base\t"
		    "with a machine setting that is put back",
	.completes = "workloads matrices documented options settings files",
	.switches = switch_rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
