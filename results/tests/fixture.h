/*
 * fixture: what the tests of this folder share: a folder that goes away, a run that is always the
 * same, and how many rows there are.
 */
#ifndef ZM_RESULTS_TESTS_FIXTURE_H
#define ZM_RESULTS_TESTS_FIXTURE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/db.h"
#include "results/store.h"

struct fixture {
	char folder[64];
	char path[320]; /* of a store in it, or a URL (server.h) */
};

static inline int fixture_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	(void)snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/zm-results-XXXXXX");
	if (!mkdtemp(fixture->folder))
		return -1;
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s/store.db", fixture->folder);
	*state = fixture;
	return 0;
}

static inline int fixture_remove(const char *path, const struct stat *info, int kind,
				 struct FTW *walk)
{
	(void)info, (void)kind, (void)walk;
	return remove(path);
}

static inline int fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)nftw(fixture->folder, fixture_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(fixture);
	return 0;
}

/* 2026-05-01 12:00:00 UTC */
#define FIXTURE_WALL_NS UINT64_C(1777636800000000000)

static inline struct zm_run_record fixture_record(void)
{
	return (struct zm_run_record){
		.invocation = "11111111-1111-4111-8111-111111111111",
		.command_line = "zonemark run page_fault1 nr_task=2",
		.label = "base",
		.workload = "page_fault1",
		.params = "{\"nr_task\":2,\"size\":\"128M\"}",
		.cell = "{\"nr_task\":\"2\"}",
		.repeat = 0,
		.status = ZM_STATUS_RUNNING,
		.nr_tasks = 2,
		.kind = "process",
		.inventory = "{\"cpu_model\":\"Example 9000\",\"cpus_online\":2}",
		.machine_id = "0123456789abcdef",
		.boot_id = "22222222-2222-4222-8222-222222222222",
		.kernel = "6.18.0",
		.version = "0.1.0",
		.wall_ns = FIXTURE_WALL_NS,
		.start_ns = 1000000000,
	};
}

static inline struct zm_store *fixture_open(const struct fixture *fixture, bool for_writing)
{
	struct zm_store *store = NULL;
	struct zm_why why = { "" };

	if (zm_store_open(fixture->path, for_writing, &store, &why))
		fail_msg("%s", why.text);
	return store;
}

static inline int64_t fixture_count(struct zm_store *store, const char *sql)
{
	struct zm_why why = { "" };
	int64_t count = -1;

	if (zm_db_int(zm_store_db(store), &why, sql, ZM_BIND_NONE, &count))
		fail_msg("%s: %s", sql, why.text);
	return count;
}

#endif
