/*
 * replay: the monitors on recorded machines, as far as they are at hand ($ZM_SHARED/machines, or
 * ../shared/machines beside the sources).
 *
 * labels: replay
 * timeout: 120
 *
 * What each must have read is told by a second, simple-minded reading of the same file with sscanf.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <ftw.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"

#define PATH_SIZE 1024

static const char *const monitors[] = {
	"meminfo", "memused", "numa-meminfo", "proc-vmstat", "numa-vmstat",   "numa-numastat",
	"vmstat",  "mpstat",  "zoneinfo",     "pressure",    "cgroup-memory", "uptime",
};

static char machines_path[PATH_SIZE];
static char scratch[PATH_SIZE];

/* --- files and programs ------------------------------------------------------------------------ */

static bool find_machines(void)
{
	const char *shared = getenv("ZM_SHARED");

	(void)snprintf(machines_path, sizeof(machines_path), "%s/machines",
		       shared ? shared : ZM_SOURCE_DIR "/../shared");
	return access(machines_path, R_OK) == 0;
}

static int run_program(const char *const *argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)freopen("/dev/null", "w", stderr);
		(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void make_scratch(void)
{
	(void)snprintf(scratch, sizeof(scratch), "/tmp/zm-replay-XXXXXX");
	assert_non_null(mkdtemp(scratch));
}

static void drop_scratch(void)
{
	const char *const open_up[] = { "chmod", "-R", "u+rwX", scratch, NULL };
	const char *const drop[] = { "rm", "-rf", scratch, NULL };

	(void)run_program(open_up);
	assert_int_equal(run_program(drop), 0);
}

/* Copies a file below the scratch folder, with the folders above it. */
static void copy_to(const char *from, const char *path)
{
	char target[2 * PATH_SIZE];
	char *slash;
	const char *const copy[] = { "cp", from, target, NULL };

	(void)snprintf(target, sizeof(target), "%s/%s", scratch, path);
	for (slash = target + strlen(scratch) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(mkdir(target, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	assert_int_equal(run_program(copy), 0);
}

static FILE *open_below(const char *root, const char *path)
{
	char whole[2 * PATH_SIZE];

	(void)snprintf(whole, sizeof(whole), "%s/%s", root, path);
	return fopen(whole, "re");
}

/* --- the second opinion ------------------------------------------------------------------------ */

/* "name: value" or "Node 0 name: value" */
static bool read_pair(char *line, char *ret_name, uint64_t *ret_value)
{
	for (char *colon = line; (colon = strchr(colon, ':'));)
		*colon = ' ';
	return sscanf(line, "Node %*u %127s %" SCNu64, ret_name, ret_value) == 2 ||
	       sscanf(line, "%127s %" SCNu64, ret_name, ret_value) == 2;
}

/* Every "name value" line of a file has its series with that value. */
static unsigned int check_fields(struct rig *rig, FILE *file, const char *prefix,
				 enum zm_scope scope, uint32_t scope_id)
{
	char line[4096], name[128], metric[256];
	unsigned int nr_fields = 0;
	uint64_t value;

	while (fgets(line, sizeof(line), file)) {
		const struct rig_series *series;

		if (!read_pair(line, name, &value))
			continue;
		(void)snprintf(metric, sizeof(metric), "%s%s", prefix, name);
		series = rig_find(&rig->recorder, metric, scope, scope_id);
		if (!series) /* one that another monitor has */
			continue;
		nr_fields++;
		if (series->u64 != value)
			print_error("%s: %s\n", scratch, metric);
		assert_int_equal(series->u64, value);
	}
	return nr_fields;
}

static unsigned int count_series(const struct rig *rig, const char *prefix)
{
	unsigned int nr_series = 0;

	for (uint32_t i = 0; i < rig->recorder.nr_series; i++)
		nr_series += strncmp(rig->recorder.series[i].metric, prefix, strlen(prefix)) == 0;
	return nr_series;
}

static uint64_t sum_series(const struct rig *rig, const char *prefix)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rig->recorder.nr_series; i++)
		if (strncmp(rig->recorder.series[i].metric, prefix, strlen(prefix)) == 0)
			sum += rig->recorder.series[i].u64;
	return sum;
}

static void check_flat(struct rig *rig, const char *root, const char *path, const char *prefix)
{
	FILE *file = open_below(root, path);

	assert_non_null(file);
	assert_int_equal(check_fields(rig, file, prefix, ZM_SCOPE_HOST, 0),
			 rig->recorder.nr_series);
	(void)fclose(file);
}

static void check_nodes(struct rig *rig, const char *root, const char *file_name)
{
	unsigned int nr_fields = 0;

	for (uint32_t node = 0; node < 256; node++) {
		char path[128], prefix[64];
		FILE *file;

		(void)snprintf(path, sizeof(path), "sys/devices/system/node/node%u/%s", node,
			       file_name);
		(void)snprintf(prefix, sizeof(prefix), "%s.node%u.", rig->context.monitor->name,
			       node);
		file = open_below(root, path);
		if (!file)
			continue;
		nr_fields += check_fields(rig, file, prefix, ZM_SCOPE_NODE, node);
		(void)fclose(file);
	}
	assert_int_equal(nr_fields, rig->recorder.nr_series);
}

/* Lines "name: value" with a colon are the page lists', without one the zones'. */
static void check_zones(struct rig *rig, const char *root)
{
	static const char *const pcp[] = { "count", "high", "batch", "high_min", "high_max" };
	static const char *const zone[] = { "managed", "present", "spanned", "low" };
	unsigned int nr_pcp[5] = { 0 }, nr_zone[4] = { 0 };
	uint64_t pcp_sum[5] = { 0 }, zone_sum[4] = { 0 }, value;
	char line[4096], name[128], prefix[160];
	FILE *file = open_below(root, "proc/zoneinfo");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %127s %" SCNu64, name, &value) != 2)
			continue;
		for (unsigned int i = 0; i < 5; i++) {
			(void)snprintf(prefix, sizeof(prefix), "%s:", pcp[i]);
			nr_pcp[i] += strcmp(name, prefix) == 0;
			pcp_sum[i] += strcmp(name, prefix) == 0 ? value : 0;
		}
		for (unsigned int i = 0; i < 4; i++) {
			nr_zone[i] += strcmp(name, zone[i]) == 0;
			zone_sum[i] += strcmp(name, zone[i]) == 0 ? value : 0;
		}
	}
	(void)fclose(file);
	for (unsigned int i = 0; i < 5; i++) {
		(void)snprintf(prefix, sizeof(prefix), "pcp.%s.", pcp[i]);
		assert_int_equal(count_series(rig, prefix), nr_pcp[i]);
		assert_int_equal(sum_series(rig, prefix), pcp_sum[i]);
	}
	for (unsigned int i = 0; i < 4; i++) {
		(void)snprintf(prefix, sizeof(prefix), "zoneinfo.%s.", zone[i]);
		assert_int_equal(count_series(rig, prefix), nr_zone[i]);
		assert_int_equal(sum_series(rig, prefix), zone_sum[i]);
	}
}

static void check_cpus(struct rig *rig, const char *root)
{
	FILE *file = open_below(root, "proc/stat");
	char line[8192];
	unsigned int nr_lines = 0;
	uint64_t idle;
	unsigned int cpu;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		const struct rig_series *series;

		if (line[3] == ' ' || sscanf(line, "cpu%u %*s %*s %*s %" SCNu64, &cpu, &idle) != 2)
			continue;
		series = rig_find(&rig->recorder, "mpstat.cpu.idle", ZM_SCOPE_CPU, cpu);
		assert_non_null(series);
		assert_int_equal(series->u64, idle * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK)));
		nr_lines++;
	}
	(void)fclose(file);
	assert_int_equal(count_series(rig, "mpstat.cpu.idle"), nr_lines);
}

static void second_opinion(struct rig *rig, const char *root, const char *monitor)
{
	if (strcmp(monitor, "meminfo") == 0)
		check_flat(rig, root, "proc/meminfo", "meminfo.");
	else if (strcmp(monitor, "proc-vmstat") == 0)
		check_flat(rig, root, "proc/vmstat", "proc-vmstat.");
	else if (strcmp(monitor, "numa-meminfo") == 0)
		check_nodes(rig, root, "meminfo");
	else if (strcmp(monitor, "numa-vmstat") == 0)
		check_nodes(rig, root, "vmstat");
	else if (strcmp(monitor, "numa-numastat") == 0)
		check_nodes(rig, root, "numastat");
	else if (strcmp(monitor, "zoneinfo") == 0)
		check_zones(rig, root);
	else if (strcmp(monitor, "mpstat") == 0)
		check_cpus(rig, root);
}

/* --- machines ---------------------------------------------------------------------------------- */

/* All monitors on one root; returns how many could be had. */
static unsigned int check_root(const char *root)
{
	unsigned int nr_open = 0;
	struct rig rig;

	for (size_t i = 0; i < sizeof(monitors) / sizeof(monitors[0]); i++) {
		rig_open(&rig, root, monitors[i]);
		if (rig.open_error) {
			assert_true(rig.why.text[0] != '\0');
			rig_close(&rig);
			continue;
		}
		for (uint64_t t_ns = 1; t_ns <= 2; t_ns++)
			assert_int_equal(rig_read(&rig, ZM_PHASE_MEASURE, t_ns), 0);
		for (uint32_t k = 0; k < rig.recorder.nr_series; k++)
			assert_int_equal(rig.recorder.series[k].nr_readings, 2);
		second_opinion(&rig, root, monitors[i]);
		nr_open++;
		rig_close(&rig);
	}
	return nr_open;
}

/* The folder that holds proc or sys: the scratch folder, or one that it is alone in. */
static bool find_root(char *path, size_t size, unsigned int depth)
{
	char proc[2 * PATH_SIZE], sys[2 * PATH_SIZE], name[256] = "";
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(proc, sizeof(proc), "%s/proc", path);
	(void)snprintf(sys, sizeof(sys), "%s/sys", path);
	if (access(proc, F_OK) == 0 || access(sys, F_OK) == 0)
		return true;
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			(void)snprintf(name, sizeof(name), "%s", entry->d_name);
	if (dir)
		(void)closedir(dir);
	if (!name[0] || depth == 0 || strlen(path) + strlen(name) + 2 > size)
		return false;
	(void)snprintf(path + strlen(path), size - strlen(path), "/%s", name);
	return find_root(path, size, depth - 1);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), suffix_length = strlen(suffix);

	return length >= suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

static unsigned int check_archive(const char *path)
{
	/* only what the monitors read: some of them have thousands of devices */
	const char *const unpack[] = { "tar",
				       "-xf",
				       path,
				       "-C",
				       scratch,
				       "--no-same-owner",
				       "--no-anchored",
				       "--wildcards",
				       "proc/meminfo",
				       "proc/stat",
				       "proc/vmstat",
				       "proc/zoneinfo",
				       "proc/uptime",
				       "proc/pressure",
				       "proc/self/*",
				       "node*/meminfo",
				       "node*/vmstat",
				       "node*/numastat",
				       "memory.*",
				       NULL };
	char root[PATH_SIZE];
	unsigned int nr_open = 0;

	make_scratch();
	(void)run_program(unpack); /* that some of them are not in it is no failure */
	(void)snprintf(root, sizeof(root), "%s", scratch);
	if (find_root(root, sizeof(root), 3))
		nr_open = check_root(root);
	drop_scratch();
	return nr_open;
}

/* Calls check on every file of a folder of the machines; returns the sum. */
static unsigned int for_each_file(const char *folder, unsigned int (*check)(const char *path))
{
	char path[2 * PATH_SIZE];
	unsigned int sum = 0;
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/%s", machines_path, folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		(void)snprintf(path, sizeof(path), "%s/%s/%s", machines_path, folder,
			       entry->d_name);
		if (entry->d_name[0] != '.' && !has_suffix(entry->d_name, ".source"))
			sum += check(path);
	}
	if (dir)
		(void)closedir(dir);
	return sum;
}

static unsigned int check_if_archive(const char *path)
{
	bool is_archive = has_suffix(path, ".tgz") || has_suffix(path, ".tar.gz") ||
			  has_suffix(path, ".tar.bz2") || has_suffix(path, ".tar.xz");

	return is_archive ? check_archive(path) : 0;
}

/* A single file stands where its name says. */
static unsigned int check_if_text(const char *path)
{
	static const struct {
		const char *part;
		const char *place;
	} places[] = {
		{ "node1_vmstat", "sys/devices/system/node/node1/vmstat" },
		{ "node2_vmstat", "sys/devices/system/node/node2/vmstat" },
		{ "meminfo", "proc/meminfo" },
		{ "zoneinfo", "proc/zoneinfo" },
		{ "vmstat", "proc/vmstat" },
	};
	const char *name = strrchr(path, '/') + 1;
	unsigned int nr_open;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!strstr(name, places[i].part) || !has_suffix(name, ".txt"))
			continue;
		make_scratch();
		copy_to(path, places[i].place);
		nr_open = check_root(scratch);
		assert_true(nr_open > 0);
		drop_scratch();
		return nr_open;
	}
	return 0;
}

static void test_texts(void **state)
{
	(void)state;
	assert_true(for_each_file("proc", check_if_text) >= 10);
	assert_true(for_each_file("text", check_if_text) >= 2);
	assert_true(for_each_file("sysstat", check_if_text) >= 8);
}

static void test_archives(void **state)
{
	static const char *const folders[] = { "hwloc", "lscpu", "ghw", "nri" };

	(void)state;
	assert_true(for_each_file("pcp", check_if_archive) >= 60);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_true(for_each_file(folders[i], check_if_archive) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_archives),
	};

	if (!find_machines())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
