/*
 * nights: a lab's synthetic history, and what its dashboard costs.
 *
 *     nights [MACHINES [NIGHTS [CELLS [METRICS]]]]     1,000 machines, 365 nights, 10 cells of 20 figures each
 *     nights … all                                     with the pages of all figures, not of the primary ones alone
 *
 * Each machine has a boot and a command a night, with a run of every cell; a run has METRICS figures, one of them
 * primary, and no series. Values are 1 % apart from night to night; one line in a hundred is 5 % lower from ten
 * nights before the end on. Rows are put in directly, as an import would. The store, the site and their folder
 * go afterwards.
 *
 * Prints how long `zonemark dashboard` took and its peak memory, the size of the landing page and of the largest
 * page with its data. Exit status 1 when the landing page took more than 30 s, all more than 1 GiB, or a page
 * has more than 1 MB.
 */
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/timed.h"
#include "results/db.h"
#include "results/store.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define FIRST_WALL_NS UINT64_C(1735682400000000000) /* 2024-12-31 22:00 UTC */
#define DAY_NS        (UINT64_C(86400) * ZM_NS_PER_S)

struct plan {
	uint64_t nr_machines, nr_nights, nr_cells, nr_metrics;
	bool with_all;
	char folder[64], db[80], site[80];
};

static void check(int error, const struct zm_why *why)
{
	if (error) {
		(void)fprintf(stderr, "nights: %s (%d)\n", why->text, error);
		exit(2);
	}
}

/* --- the store --- */

static void put_names(struct zm_db *db, const struct plan *plan)
{
	struct zm_why why = { "" };
	char text[96];

	check(zm_db_run(db, &why, "INSERT INTO workload (id, name) VALUES (1, 'page_fault1')",
			ZM_BIND_NONE),
	      &why);
	check(zm_db_run(db, &why, "INSERT INTO source (id, name) VALUES (1, 'synthetic')",
			ZM_BIND_NONE),
	      &why);
	check(zm_db_run(db, &why,
			"INSERT INTO inventory (id, hash, json) VALUES"
			" (1, 1, '{\"cpu_model\":\"Example 9000\",\"cpus_online\":64}')",
			ZM_BIND_NONE),
	      &why);
	for (uint64_t i = 1; i <= plan->nr_machines; i++) {
		(void)snprintf(text, sizeof(text), "%016" PRIx64, i * UINT64_C(0x9e3779b97f4a7c15));
		check(zm_db_run(db, &why, "INSERT INTO machine (id, key) VALUES (?1, ?2)",
				ZM_BIND(zm_int((int64_t)i), zm_text(text))),
		      &why);
	}
	for (uint64_t i = 1; i <= plan->nr_cells; i++) {
		(void)snprintf(text, sizeof(text), "{\"nr_task\":\"%" PRIu64 "\"}", i);
		check(zm_db_run(db, &why,
				"INSERT INTO cell (id, workload, json) VALUES (?1, 1, ?2)",
				ZM_BIND(zm_int((int64_t)i), zm_text(text))),
		      &why);
		check(zm_db_run(db, &why, "INSERT INTO params (id, json) VALUES (?1, ?2)",
				ZM_BIND(zm_int((int64_t)i), zm_text(text))),
		      &why);
	}
	for (uint64_t i = 1; i <= plan->nr_metrics; i++) {
		(void)snprintf(text, sizeof(text), "figure.%" PRIu64, i);
		check(zm_db_run(db, &why,
				"INSERT INTO metric (id, name, unit, kind, better)"
				" VALUES (?1, ?2, 'pages/s', 0, ?3)",
				ZM_BIND(zm_int((int64_t)i), zm_text(text),
					zm_int(i == 1 ? ZM_BETTER_MORE : ZM_BETTER_NEITHER))),
		      &why);
	}
}

/* Names as random as real ones, so that their index is as large. */
static void put_name(char text[40], uint64_t number)
{
	uint64_t high = number * UINT64_C(0x9e3779b97f4a7c15), low = number;

	(void)snprintf(text, 40, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-8000-%012" PRIx64,
		       high >> 32, high >> 16 & 0xffff, high & 0xffff, low & 0xffffffffffff);
}

static void put_run(struct zm_db *db, const struct plan *plan, uint64_t run, uint64_t evening,
		    uint64_t cell, double level)
{
	uint64_t night = evening / plan->nr_machines;
	uint64_t wall_ns = FIRST_WALL_NS + night * DAY_NS + cell * 600 * ZM_NS_PER_S;
	struct zm_why why = { "" };
	char name[40];

	put_name(name, run);
	check(zm_db_run(db, &why,
			"INSERT INTO run (id, uuid, invocation, boot, inventory, cell, params,"
			" repeat, status, nr_tasks, kind, version, wall_ns, start_ns)"
			" VALUES (?1, ?2, ?3, ?3, 1, ?4, ?4, 0, 1, 4, 'process', '0.1.0', ?5, 1)",
			ZM_BIND(zm_int((int64_t)run), zm_text(name), zm_int((int64_t)evening + 1),
				zm_int((int64_t)cell), zm_int((int64_t)wall_ns))),
	      &why);
	/* Noise without a generator: the sum of two remainders. */
	check(zm_db_run(db, &why,
			"INSERT INTO result (run, metric, seq, source, is_primary, value, count,"
			" interval_ns) SELECT ?1, id, id - 1, 1, id = 1, ?2 * (1 +"
			" ((?1 * 7919 + id * 104729) % 1009 + (?1 * 6101 + id * 15485863) % 1013)"
			" / 100000.0), 1000, 10000000000 FROM metric",
			ZM_BIND(zm_int((int64_t)run), zm_real(level))),
	      &why);
}

static void put_night(struct zm_db *db, const struct plan *plan, uint64_t night)
{
	struct zm_why why = { "" };
	char name[40], kernel[32];

	(void)snprintf(kernel, sizeof(kernel), "6.%" PRIu64 ".0", 1 + night / 30);
	for (uint64_t machine = 0; machine < plan->nr_machines; machine++) {
		uint64_t evening = night * plan->nr_machines + machine;

		put_name(name, evening + 1);
		check(zm_db_run(
			      db, &why,
			      "INSERT INTO boot (id, machine, key, kernel) VALUES (?1, ?2, ?3, ?4)",
			      ZM_BIND(zm_int((int64_t)evening + 1), zm_int((int64_t)machine + 1),
				      zm_text(name), zm_text(kernel))),
		      &why);
		check(zm_db_run(db, &why,
				"INSERT INTO invocation (id, uuid, wall_ns, command_line, label)"
				" VALUES (?1, ?2, ?3, 'zonemark run nightly', 'nightly')",
				ZM_BIND(zm_int((int64_t)evening + 1), zm_text(name),
					zm_int((int64_t)(FIRST_WALL_NS + night * DAY_NS)))),
		      &why);
		for (uint64_t cell = 1; cell <= plan->nr_cells; cell++) {
			bool is_lower = (machine * plan->nr_cells + cell) % 100 == 7 &&
					night + 10 >= plan->nr_nights;

			put_run(db, plan, evening * plan->nr_cells + cell, evening, cell,
				1000 * (double)(machine + cell) * (is_lower ? 0.95 : 1));
		}
	}
}

static void make_store(const struct plan *plan)
{
	uint64_t from_ns = zm_clock_now_ns();
	struct zm_store *store;
	struct zm_why why = { "" };
	struct stat info;

	check(zm_store_open(plan->db, true, &store, &why), &why);
	check(zm_db_script(zm_store_db(store), &why,
			   "PRAGMA synchronous = OFF; PRAGMA cache_size = -200000"),
	      &why);
	for (uint64_t night = 0; night < plan->nr_nights; night++) {
		check(zm_db_begin(zm_store_db(store), &why), &why);
		if (night == 0)
			put_names(zm_store_db(store), plan);
		put_night(zm_store_db(store), plan, night);
		check(zm_db_commit(zm_store_db(store), &why), &why);
	}
	zm_store_close(store);
	if (stat(plan->db, &info) == 0)
		(void)printf("%" PRIu64 " machines, %" PRIu64 " nights, %" PRIu64
			     " cells of %" PRIu64 " figures: %.1f M values, %.2f GiB, made in "
			     "%.0f s\n",
			     plan->nr_machines, plan->nr_nights, plan->nr_cells, plan->nr_metrics,
			     (double)(plan->nr_machines * plan->nr_nights * plan->nr_cells *
				      plan->nr_metrics) /
				     1e6,
			     (double)info.st_size / 1073741824.0,
			     (double)(zm_clock_now_ns() - from_ns) / 1e9);
}

/* In a process of its own: what a program takes after a fork includes its parent's memory. */
static void make_store_apart(const struct plan *plan)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		make_store(plan);
		(void)fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		exit(2);
}

/* --- the site --- */

static off_t largest; /* of the files of figures; nftw takes no context */

static int look_at(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)walk;
	if (kind == FTW_F && strstr(path, "/data/g/") && info->st_size > largest)
		largest = info->st_size;
	return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info, (void)kind, (void)walk;
	return remove(path);
}

static off_t size_of(const struct plan *plan, const char *name)
{
	char path[160];
	struct stat info;

	(void)snprintf(path, sizeof(path), "%s/%s", plan->site, name);
	return stat(path, &info) == 0 ? info.st_size : 0;
}

/* What one page of a figure loads at most: itself, the style, the scripts, and two files of figures. */
static off_t page_size(const struct plan *plan)
{
	static const char *const names[] = { "series.html", "site.css",  "theme.js", "site.js",
					     "chart.js",    "series.js", "uplot.js", "uplot.css" };
	off_t size = 2 * largest;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		size += size_of(plan, names[i]);
	return size;
}

static bool measure(const struct plan *plan)
{
	char program[] = ZM_PROGRAM, command[] = "dashboard", db[] = "--db", out[] = "--output",
	     metrics[] = "--metrics", all[] = "all", primary[] = "primary",
	     site[sizeof(plan->site)], store[sizeof(plan->db)];
	char *argv[] = { program, command, db, store, out, site, metrics, NULL, NULL };
	struct zm_timed timed;
	off_t landing, page;

	argv[7] = plan->with_all ? all : primary;
	(void)snprintf(site, sizeof(site), "%s", plan->site);
	(void)snprintf(store, sizeof(store), "%s", plan->db);
	if (zm_timed_run(argv, &timed) < 0 || timed.status != 0) {
		(void)fprintf(stderr, "nights: zonemark dashboard failed\n");
		exit(2);
	}
	(void)nftw(plan->site, look_at, 16, FTW_PHYS);
	landing = size_of(plan, "index.html") + size_of(plan, "data/matrix.js");
	page = page_size(plan);
	(void)printf(
		"%s: %.1f s (%.1f s of CPU), %.0f MiB; landing page %.0f kB, a figure's page at "
		"most %.0f kB\n",
		plan->with_all ? "all figures" : "primary figures", timed.elapsed_s, timed.cpu_s,
		(double)timed.kib / 1024, (double)landing / 1e3, (double)page / 1e3);
	return (plan->with_all || timed.elapsed_s <= 30) && timed.kib <= 1024 * 1024 &&
	       page <= 1000000;
}

static uint64_t number_at(int argc, char **argv, int place, uint64_t otherwise)
{
	uint64_t number = otherwise;

	if (argc > place &&
	    (zm_units_parse_u64(argv[place], &number) < 0 || number == 0 || number > 1000000)) {
		(void)fprintf(stderr, "nights: %s: a number up to 1000000 is wanted\n",
			      argv[place]);
		exit(2);
	}
	return number;
}

int main(int argc, char **argv)
{
	bool with_all = argc > 1 && !strcmp(argv[argc - 1], "all"), is_good;
	int nr_numbers = argc - with_all;
	struct plan plan = {
		.nr_machines = number_at(nr_numbers, argv, 1, 1000),
		.nr_nights = number_at(nr_numbers, argv, 2, 365),
		.nr_cells = number_at(nr_numbers, argv, 3, 10),
		.nr_metrics = number_at(nr_numbers, argv, 4, 20),
		.with_all = with_all,
	};

	(void)snprintf(plan.folder, sizeof(plan.folder), "%.32s/zm-nights-XXXXXX",
		       getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(plan.folder)) {
		(void)fprintf(stderr, "nights: %s: %s\n", plan.folder, strerror(errno));
		return 2;
	}
	(void)snprintf(plan.db, sizeof(plan.db), "%s/store.db", plan.folder);
	(void)snprintf(plan.site, sizeof(plan.site), "%s/site", plan.folder);
	make_store_apart(&plan);
	is_good = measure(&plan);
	(void)nftw(plan.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return is_good ? 0 : 1;
}
