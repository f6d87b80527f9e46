/*
 * one_boot: in a boot command's place: a run into $ZONEMARK_DB, labelled $ZONEMARK_LABEL, of a boot that nobody
 * has seen before.
 *
 *     one_boot VALUE [BOOT]      a run of page_fault1 that came to VALUE pages/s a task
 *     one_boot failed            a run that failed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "results/uuid.h"
#include "workloads/base/units.h"

static void check(int error, const struct zm_why *why)
{
	if (error) {
		(void)fprintf(stderr, "one_boot: %s (%d)\n", why->text, error);
		exit(1);
	}
}

static void make_run(struct zm_store *store, const char *boot, const char *invocation, double value)
{
	const struct zm_run_record record = {
		.invocation = invocation,
		.command_line = "zonemark run page_fault1",
		.label = getenv("ZONEMARK_LABEL"),
		.workload = "page_fault1",
		.params = "{\"workload\":\"page_fault1\"}",
		.cell = "{\"workload\":\"page_fault1\"}",
		.nr_tasks = 2,
		.kind = "process",
		.status = ZM_STATUS_RUNNING,
		.inventory = "{\"guest\":{\"accelerator\":\"tcg\"}}",
		.machine_id = "0123456789abcdef",
		.boot_id = boot,
		.kernel = "9.9.0",
		.version = "0.1.0",
	};
	struct zm_recorder *recorder = NULL;
	struct zm_why why = { "" };

	check(zm_recorder_begin(store, &record, &recorder, &why), &why);
	if (value > 0)
		check(zm_recorder_result(
			      recorder,
			      &(struct zm_result){ .metric = "will-it-scale.per_process_ops",
						   .unit = "pages/s",
						   .source = "page_fault1",
						   .better = ZM_BETTER_MORE,
						   .is_primary = true,
						   .value = value,
						   .count = value,
						   .interval_ns = 1000000000 }),
		      &why);
	check(zm_recorder_end(recorder, value > 0 ? ZM_STATUS_OK : ZM_STATUS_FAILED,
			      value > 0 ? NULL : "task 1 was killed by signal 9", &why),
	      &why);
}

int main(int argc, char **argv)
{
	const char *db = getenv("ZONEMARK_DB");
	char boot[ZM_UUID_SIZE], invocation[ZM_UUID_SIZE];
	struct zm_store *store = NULL;
	struct zm_why why = { "" };
	double value = 0;

	if (argc < 2 || !db ||
	    (strcmp(argv[1], "failed") != 0 && zm_units_parse_double(argv[1], &value) < 0))
		return 2;
	if (zm_uuid_make(boot) < 0 || zm_uuid_make(invocation) < 0)
		return 2;
	check(zm_store_open(db, true, &store, &why), &why);
	make_run(store, argc > 2 ? argv[2] : boot, invocation, value);
	zm_store_close(store);
	return 0;
}
