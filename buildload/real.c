/*
 * real: rows, then checks, then needs. A job's memory is an estimate: compilers differ by their input.
 */
#include "buildload/real.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "buildload/builds.h"
#include "buildload/source.h"

#define MIB(n) (UINT64_C(n) << 20)
#define GIB(n) (UINT64_C(n) << 30)

/* Of compiling kernel code: what a job has on average while it runs, and how far the sum of n jobs
 * strays from n times that, per square root of n. docs/buildload.md says where they come from. */
#define JOB_BYTES    MIB(63)
#define SPREAD_BYTES MIB(85)
#define MAKE_BYTES   MIB(8)

#define AT(member) offsetof(struct zm_real_options, member)

const struct zm_option zm_real_options[] = {
	ZM_BUILDS_ROWS(struct zm_real_options),
	{ .name = "source",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(source),
	  .unit = "folder",
	  .help = "the source tree; otherwise what `zonemark fetch-kernel-source` fetched" },
	{ .name = "config",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(config),
	  .preset = "tinyconfig",
	  .also = "kconfig",
	  .help = "tinyconfig, defconfig or another target that makes one, a file, or none" },
	{ .name = "target",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(target),
	  .help = "what to build, words with blanks between them; otherwise make's default" },
	{ .name = "dir",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(dir),
	  .unit = "folder",
	  .help = "where the build trees are made; $TMPDIR or /tmp when not given" },
	{ .name = "build_size",
	  .type = ZM_OPTION_SIZE,
	  .offset = AT(build_bytes),
	  .preset = "0",
	  .unit = "bytes",
	  .help = "disk that a build tree takes; 0: as its config usually does" },
	{ .name = "job_memory",
	  .type = ZM_OPTION_SIZE,
	  .offset = AT(job_bytes),
	  .preset = "0",
	  .unit = "bytes",
	  .help = "memory that a job has on average; 0: as compiling the kernel does" },
	ZM_CGROUP_ROWS(struct zm_real_options),
	{ .name = NULL },
};

/* --- what was chosen -------------------------------------------------------------------------- */

bool zm_real_has_config(const struct zm_real_options *chosen)
{
	return chosen->config && *chosen->config && strcmp(chosen->config, "none") != 0;
}

/* What a build tree takes, with room to spare. */
static uint64_t tree_bytes(const struct zm_real_options *chosen)
{
	static const struct {
		const char *config;
		uint64_t bytes;
	} usual[] = {
		{ "tinyconfig", MIB(96) },   { "allnoconfig", MIB(96) },  { "defconfig", GIB(2) },
		{ "allmodconfig", GIB(24) }, { "allyesconfig", GIB(32) },
	};

	if (chosen->build_bytes)
		return chosen->build_bytes;
	for (size_t i = 0; chosen->config && i < sizeof(usual) / sizeof(usual[0]); i++)
		if (strcmp(chosen->config, usual[i].config) == 0)
			return usual[i].bytes;
	return zm_real_has_config(chosen) ? GIB(4) : MIB(64);
}

static int check_config(const struct zm_real_options *chosen, struct zm_why *why)
{
	if (!zm_real_has_config(chosen) || zm_source_is_config_target(chosen->config))
		return 0;
	if (access(chosen->config, R_OK) == 0)
		return 0;
	return zm_why_set(why, -EINVAL,
			  "config=%s is neither a file nor the name of a target such as "
			  "tinyconfig; `none` is for trees that need none",
			  chosen->config);
}

int zm_real_check(const struct zm_real_options *chosen, struct zm_why *why)
{
	int r = zm_builds_check_jobs(&chosen->jobs, why);

	if (r == 0)
		r = check_config(chosen, why);
	return r == 0 ? zm_builds_check_folder(chosen->dir, why) : r;
}

/* n jobs at once: their mean, and what their sum may be above it. */
void zm_real_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_real_options *chosen = run->options;
	double nr_jobs = (double)zm_builds_jobs(&chosen->jobs, run->nr_tasks) * run->nr_tasks;
	uint64_t job_bytes = chosen->job_bytes ? chosen->job_bytes : JOB_BYTES;
	uint64_t limit = chosen->limits.memory_max_bytes * run->nr_tasks;
	double spread = (double)SPREAD_BYTES * (double)job_bytes / (double)JOB_BYTES;
	double bytes = nr_jobs * (double)job_bytes + sqrt(nr_jobs) * spread +
		       (double)(MAKE_BYTES * run->nr_tasks);

	if (limit && bytes > (double)limit)
		bytes = (double)limit;
	ret_footprint->shared_bytes = (uint64_t)bytes;
	ret_footprint->disk_bytes = tree_bytes(chosen) * run->nr_tasks;
	ret_footprint->disk_path = zm_builds_folder(chosen->dir);
	if (zm_builds_is_in_memory(ret_footprint->disk_path))
		ret_footprint->shared_bytes += ret_footprint->disk_bytes;
	ret_footprint->task_files = 8;
}
