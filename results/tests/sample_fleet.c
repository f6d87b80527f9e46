/*
 * sample_fleet: a store of many machines that is the same every time, for the tests of who differs.
 *
 *     sample_fleet FILE [NR]      NR machines of one model (12 unless told otherwise), two of another
 *
 * Each ran two cells, twice in each of two boots. The machine m05 is 6 % slower than the others with all tasks,
 * and m09 20 % slower in both, with another microcode. Everything else lies within a half per cent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "results/store.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define WALL_NS UINT64_C(1777636800000000000) /* 2026-05-01 12:00:00 UTC */

static void check(int error, const struct zm_why *why)
{
	if (error) {
		(void)fprintf(stderr, "sample_fleet: %s (%d)\n", why->text, error);
		exit(1);
	}
}

struct plan {
	uint64_t machine, boot, repeat;
	bool is_all, is_other; /* all tasks; of the other model */
};

static double figure_of(const struct plan *plan)
{
	uint64_t wave =
		(plan->machine * 7 + plan->boot * 3 + plan->repeat * 5 + (plan->is_all ? 4 : 0)) %
		11;
	double value = (plan->is_all ? 80000 : 100000) * (1 + 0.001 * ((double)wave - 5));

	if (plan->is_other)
		return value * 2;
	if (plan->machine == 5 && plan->is_all)
		value *= 0.94;
	return plan->machine == 9 ? value * 0.8 : value;
}

static void make_run(struct zm_store *store, const struct plan *plan, uint64_t number)
{
	char machine[32], boot[48], inventory[256], uuid[37], cell[96];
	struct zm_why why = { "" };
	struct zm_recorder *recorder = NULL;
	const struct zm_run_record record = {
		.invocation = uuid,
		.command_line = "zonemark run page_fault1 nr_task=1,100%",
		.label = "fleet",
		.workload = "page_fault1",
		.params = cell,
		.cell = cell,
		.repeat = (unsigned int)plan->repeat,
		.status = ZM_STATUS_RUNNING,
		.nr_tasks = 8,
		.kind = "process",
		.inventory = inventory,
		.machine_id = machine,
		.boot_id = boot,
		.kernel = plan->boot ? "6.19.0" : "6.18.0",
		.version = "0.1.0",
		.uuid = uuid,
		.wall_ns = WALL_NS + number * 60 * ZM_NS_PER_S,
		.start_ns = ZM_NS_PER_S,
	};
	const struct zm_result result = { .metric = "will-it-scale.per_process_ops",
					  .unit = "pages/s",
					  .source = "page_fault1",
					  .better = ZM_BETTER_MORE,
					  .is_primary = true,
					  .value = figure_of(plan),
					  .count = 1,
					  .interval_ns = ZM_NS_PER_S };

	(void)snprintf(machine, sizeof(machine), "%c%02llu", plan->is_other ? 'x' : 'm',
		       (unsigned long long)plan->machine);
	(void)snprintf(boot, sizeof(boot), "%s-%llu", machine, (unsigned long long)plan->boot);
	(void)snprintf(inventory, sizeof(inventory),
		       "{\"product\":\"ACME X1\",\"cpu_model\":\"Example %s\",\"sockets\":2,"
		       "\"memory_bytes\":137438953472,\"microcode\":\"%s\",\"cpus_allowed\":8}",
		       plan->is_other ? "7000" : "9000",
		       plan->machine == 9 && !plan->is_other ? "0x11" : "0x12");
	(void)snprintf(uuid, sizeof(uuid), "%08llx-0000-4000-8000-000000000000",
		       (unsigned long long)number);
	(void)snprintf(cell, sizeof(cell), "{\"nr_task\":\"%s\",\"workload\":\"page_fault1\"}",
		       plan->is_all ? "100%" : "1");
	check(zm_recorder_begin(store, &record, &recorder, &why), &why);
	check(zm_recorder_result(recorder, &result), &why);
	check(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, &why), &why);
}

int main(int argc, char **argv)
{
	struct zm_store *store = NULL;
	struct zm_why why = { "" };
	uint64_t nr = 12, number = 0;

	if (argc < 2 || (argc > 2 && zm_units_parse_u64(argv[2], &nr) < 0))
		return 2;
	check(zm_store_open(argv[1], true, &store, &why), &why);
	for (uint64_t i = 0; i < (nr + 2) * 8; i++) {
		const struct plan plan = { .machine = i / 8 < nr ? i / 8 : i / 8 - nr,
					   .boot = i / 4 % 2,
					   .repeat = i / 2 % 2,
					   .is_all = i % 2,
					   .is_other = i / 8 >= nr };

		make_run(store, &plan, number++);
	}
	zm_store_close(store);
	return 0;
}
