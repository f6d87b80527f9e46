/* suite: one row per suite, and how it names its tests. */
#include "runner/suite.h"

#include <ctype.h>
#include <string.h>

#include "workloads/base/clock.h"

static const struct zm_suite_param will_it_scale_params[] = {
	{ "no_affinity", NULL, "tasks are pinned as --place says" },
	{ "smt", NULL, "tasks are pinned as --place says" },
	{ NULL, NULL, NULL },
};

/* Without a number of tasks its script goes up a ladder, and averages over it. */
static const struct zm_suite_param will_it_scale_defaults[] = {
	{ "mode", "process,thread", "without a mode it runs both" },
	{ "nr_task", "1,25%,50%,75%,100%",
	  "without a number of tasks it goes up a ladder, and its per-task figures are averages "
	  "over that" },
	{ "runtime", "300s", "its own length" },
	{ NULL, NULL, NULL },
};

static const struct zm_suite_param vm_scalability_params[] = {
	{ "repeat", NULL, "rounds follow each other until the time is over" },
	{ "bind_cpu", NULL, "tasks are pinned as --place says" },
	{ "pre_setup", NULL, "its files are made anew for each run" },
	{ NULL, NULL, NULL },
};

static const struct zm_suite_param vm_scalability_defaults[] = {
	{ "nr_task", "100%", "without a number of tasks it takes all CPUs" },
	{ "runtime", "300s", "its own length" },
	{ NULL, NULL, NULL },
};

static const struct zm_suite_param netperf_params[] = {
	{ "nr_threads", "nr_task", NULL },
	{ "iterations", NULL, "one window is measured; --repeat has more" },
	{ "delay", NULL, "the warm-up waits for a steady throughput" },
	{ "set_nic_irq_affinity", NULL, "both ends are on this machine" },
	{ NULL, NULL, NULL },
};

static const struct zm_suite_param netperf_defaults[] = {
	{ "runtime", "300s", "as its jobs have it" },
	{ NULL, NULL, NULL },
};

static const struct zm_suite_param lmbench3_params[] = {
	{ "nr_threads", "nr_task", NULL },
	{ "mode", NULL, "it says which of lmbench's scripts ran" },
	{ "test_memory_size", NULL, "this test's memory does not follow it" },
	{ "standalone", NULL, "it says which of lmbench's scripts ran" },
	{ NULL, NULL, NULL },
};

static const struct zm_suite_param lmbench3_defaults[] = {
	{ "nr_task", "1", "its own number" },
	{ NULL, NULL, NULL },
};

/* A table that zonemark itself wrote: options keep their names. */
static const struct zm_suite_param zonemark_params[] = {
	{ "place", NULL, "tasks are pinned as --place says" },
	{ "mem", NULL, "memory comes from where --mem says" },
	{ "cpus", NULL, "the CPUs are those that --cpus says" },
	{ NULL, NULL, NULL },
};

static const struct zm_suite_param no_params[] = { { NULL, NULL, NULL } };

static const struct zm_suite suites[] = {
	{ .testcase = "will-it-scale",
	  .params = will_it_scale_params,
	  .defaults = will_it_scale_defaults,
	  .unmeasured_ns = 5 * ZM_NS_PER_S },
	{ .testcase = "vm-scalability",
	  .params = vm_scalability_params,
	  .defaults = vm_scalability_defaults,
	  .has_memory_sizes = true },
	{ .testcase = "netperf", .params = netperf_params, .defaults = netperf_defaults },
	{ .testcase = "lmbench3", .params = lmbench3_params, .defaults = lmbench3_defaults },
	{ .testcase = "zonemark", .params = zonemark_params, .defaults = no_params },
	{ .testcase = "kbuild", .params = no_params, .defaults = no_params, .has_one_test = true },
};

const struct zm_suite *zm_suite_find(const char *testcase)
{
	for (size_t i = 0; testcase && i < sizeof(suites) / sizeof(suites[0]); i++) {
		if (strcmp(suites[i].testcase, testcase) == 0)
			return &suites[i];
	}
	return NULL;
}

/* lmbench's tests by the names of its scripts: the half of each that moves bytes. */
static const char *lmbench3_name(const char *test)
{
	static const char *const names[][2] = { { "UNIX", "unix_stream" },
						{ "PIPE", "pipe_stream" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(test, names[i][0]) == 0)
			return names[i][1];
	}
	return test;
}

/* A test that is threads by its name: "anon-cow-rand-mt". */
static bool ends_with_threads(const char *test, size_t length)
{
	return length > 3 && strcmp(test + length - 3, "-mt") == 0;
}

bool zm_suite_workload(const struct zm_suite *suite, const char *test, char *ret_name, size_t size,
		       const char **ret_mode)
{
	const char *name = suite->has_one_test ? suite->testcase : test;
	size_t length;

	*ret_mode = NULL;
	if (!name)
		return false;
	if (strcmp(suite->testcase, "lmbench3") == 0)
		name = lmbench3_name(name);
	length = strlen(name);
	if (strcmp(suite->testcase, "vm-scalability") == 0 && ends_with_threads(name, length)) {
		*ret_mode = "thread";
		length -= 3;
	}
	if (length == 0 || length >= size)
		return false;
	for (size_t i = 0; i < length; i++)
		ret_name[i] = name[i] == '-' ? '_' : (char)tolower((unsigned char)name[i]);
	ret_name[length] = '\0';
	return true;
}

static const struct zm_suite_param *find(const struct zm_suite_param *params, const char *name)
{
	for (; params->name; params++) {
		if (strcmp(params->name, name) == 0)
			return params;
	}
	return NULL;
}

const char *zm_suite_option(const struct zm_suite *suite, const char *param,
			    const char **ret_reason)
{
	const struct zm_suite_param *row = find(suite->params, param);

	*ret_reason = row ? row->reason : NULL;
	return row ? row->option : param;
}

/* Its scripts: half of the memory where memory is written or kept in tmpfs, all of it where a cache is
 * filled; what only reads goes as far as page tables let it. */
double zm_suite_memory_share(const struct zm_suite *suite, const struct zm_workload *workload)
{
	static const struct {
		const char *prefix;
		double share;
	} rows[] = {
		{ "anon_cow_", 0.5 }, { "anon_w", 0.5 }, { "lru_shm", 0.5 },
		{ "shm_", 0.5 },      { "truncate", 1 },
	};

	for (size_t i = 0; suite->has_memory_sizes && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strncmp(workload->name, rows[i].prefix, strlen(rows[i].prefix)) == 0)
			return rows[i].share;
	}
	return 0;
}

const char *zm_suite_default(const struct zm_suite *suite, const char *option)
{
	const struct zm_suite_param *row = find(suite->defaults, option);

	return row ? row->option : NULL;
}
