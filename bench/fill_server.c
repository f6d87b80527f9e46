/*
 * fill_server: how many figures a second a server takes from many writers.
 *
 *     fill_server URL [WRITERS [RUNS [FIGURES]]]      8 writers of 100 runs of 200 figures
 *
 * Each writer is a process with a store of its own in a file, made before. What is measured is the time from
 * the first connection until the last run is committed: runs, their names, their figures. Exit status 1 when
 * fewer than 20,000 figures a second came in from 8 writers or more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/db.h"
#include "results/import.h"
#include "results/store.h"
#include "workloads/base/clock.h"
#include "workloads/base/remove.h"
#include "workloads/base/units.h"

#define WRITERS         8
#define WANTED_A_SECOND 20000

static void check(int error, const struct zm_why *why)
{
	if (error) {
		(void)fprintf(stderr, "fill_server: %s (%d)\n", why->text, error);
		exit(2);
	}
}

static void make_run(struct zm_store *store, uint64_t writer, uint64_t number, uint64_t nr_figures)
{
	char machine[32], boot[48], kernel[32], name[48], params[64];
	const struct zm_run_record record = {
		.invocation = boot,
		.command_line = "zonemark run nightly",
		.label = "night",
		.workload = number % 2 ? "page_fault1" : "page_fault2",
		.params = params,
		.cell = params,
		.status = ZM_STATUS_RUNNING,
		.nr_tasks = 4,
		.kind = "process",
		.inventory = "{\"cpu_model\":\"Example 9000\"}",
		.machine_id = machine,
		.boot_id = boot,
		.kernel = kernel,
		.version = "0.1.0",
	};
	struct zm_recorder *recorder;
	struct zm_why why = { "" };

	(void)snprintf(machine, sizeof(machine), "machine-%" PRIu64, writer);
	(void)snprintf(boot, sizeof(boot), "%" PRIu64 "-%" PRIu64, writer, number / 10);
	(void)snprintf(kernel, sizeof(kernel), "6.%" PRIu64 ".0", number / 50);
	(void)snprintf(params, sizeof(params), "{\"nr_task\":%" PRIu64 "}", number % 20);
	check(zm_recorder_begin(store, &record, &recorder, &why), &why);
	for (uint64_t i = 0; i < nr_figures; i++) {
		(void)snprintf(name, sizeof(name), "proc-vmstat.figure_%" PRIu64, i);
		check(zm_recorder_result(recorder,
					 &(struct zm_result){ .metric = name,
							      .unit = "pages/s",
							      .source = "proc-vmstat",
							      .is_primary = i == 0,
							      .value = (double)(number * 7 + i),
							      .count = (double)i * 10,
							      .interval_ns = ZM_NS_PER_S }),
		      &why);
	}
	check(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, &why), &why);
}

static void path_of(char buf[128], const char *folder, uint64_t writer)
{
	(void)snprintf(buf, 128, "%.80s/%" PRIu64 ".db", folder, writer);
}

static void make_store(const char *folder, uint64_t writer, uint64_t nr_runs, uint64_t nr_figures)
{
	struct zm_store *store = NULL;
	struct zm_why why = { "" };
	char path[128];

	path_of(path, folder, writer);
	check(zm_store_open(path, true, &store, &why), &why);
	check(zm_db_script(zm_store_db(store), &why, "PRAGMA synchronous = OFF"), &why);
	for (uint64_t i = 0; i < nr_runs; i++)
		make_run(store, writer, i, nr_figures);
	zm_store_close(store);
}

static void send_store(const char *folder, uint64_t writer, const char *url)
{
	struct zm_store *from = NULL, *server = NULL;
	struct zm_import import;
	struct zm_why why = { "" };
	char path[128];

	path_of(path, folder, writer);
	check(zm_store_open(path, false, &from, &why), &why);
	check(zm_store_open(url, true, &server, &why), &why);
	check(zm_import_store(server, from, &import, &why), &why);
	zm_store_close(server);
	zm_store_close(from);
}

/* Returns whether all went well. */
static bool send_all(const char *folder, uint64_t nr_writers, const char *url)
{
	bool is_good = true;
	int status;

	for (uint64_t i = 0; i < nr_writers; i++) {
		if (fork() == 0) {
			send_store(folder, i, url);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		is_good &= status == 0;
	return is_good;
}

static uint64_t number_at(int argc, char **argv, int place, uint64_t otherwise)
{
	uint64_t number = otherwise;

	if (argc > place && (zm_units_parse_u64(argv[place], &number) < 0 || number == 0)) {
		(void)fprintf(stderr, "fill_server: %s: a number is wanted\n", argv[place]);
		exit(2);
	}
	return number;
}

int main(int argc, char **argv)
{
	uint64_t nr_writers = number_at(argc, argv, 2, WRITERS),
		 nr_runs = number_at(argc, argv, 3, 100);
	uint64_t nr_figures = number_at(argc, argv, 4, 200), since_ns;
	char folder[] = "/tmp/zm-fill-XXXXXX";
	double seconds, rate;
	bool is_good, is_slow;

	if (argc < 2 || !mkdtemp(folder)) {
		(void)fprintf(stderr, "fill_server: which server? give its URL\n");
		return 2;
	}
	for (uint64_t i = 0; i < nr_writers; i++)
		make_store(folder, i, nr_runs, nr_figures);
	since_ns = zm_clock_now_ns();
	is_good = send_all(folder, nr_writers, argv[1]);
	seconds = (double)(zm_clock_now_ns() - since_ns) / 1e9;
	(void)zm_remove_tree(folder, NULL);
	if (!is_good)
		return 2;
	rate = (double)(nr_writers * nr_runs * nr_figures) / seconds;
	is_slow = nr_writers >= WRITERS && rate < WANTED_A_SECOND;
	(void)printf("%" PRIu64 " writers, %" PRIu64 " runs of %" PRIu64
		     " figures each: %.2f s, %.0f figures/s, %.0f runs/s%s\n",
		     nr_writers, nr_runs, nr_figures, seconds, rate,
		     (double)(nr_writers * nr_runs) / seconds, is_slow ? "  TOO SLOW" : "");
	return is_slow;
}
