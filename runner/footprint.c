/*
 * footprint: one check per resource, each with the figure needed, the figure there is, and the mend.
 */
#include "runner/footprint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "workloads/base/cgroup.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define HARNESS_FILES 24                    /* descriptors of the launcher, and of a task */
#define HARNESS_BYTES (UINT64_C(8) << 20)   /* of the launcher */
#define TASK_BYTES    (UINT64_C(64) << 10)  /* of a task, its slot apart */
#define STACK_BYTES   (UINT64_C(256) << 10) /* a thread's, of its address space */

struct need {
	const struct zm_arena *arena;
	struct zm_footprint footprint;
	uint64_t nr_tasks;
	bool has_threads;
	uint64_t memory_bytes; /* all of it, the harness's too */
};

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static const char *human(char *buf, size_t size, uint64_t bytes)
{
	return zm_units_human_bytes(buf, size, (double)bytes);
}

static int refuse_bytes(struct zm_why *why, const struct need *need, uint64_t bytes, uint64_t left,
			const char *what, const char *mend)
{
	char a[32], b[32];

	return zm_why_set(why, -E2BIG, "%" PRIu64 " %s%s need%s %s of %s, and %s are left; %s",
			  need->nr_tasks, need->has_threads ? "thread" : "process",
			  need->nr_tasks == 1 ? ""
			  : need->has_threads ? "s"
					      : "es",
			  need->nr_tasks == 1 ? "s" : "", human(a, sizeof(a), bytes), what,
			  human(b, sizeof(b), left), mend);
}

/* --- memory --- */

static int read_meminfo(const struct zm_sysroot *root, const char *name, uint64_t *ret_value)
{
	zm_autofree char *text = NULL;
	size_t length;
	const char *line;
	int r = zm_sysroot_read(root, "proc/meminfo", &text, &length);

	if (r < 0)
		return r;
	line = strstr(text, name);
	if (!line || sscanf(line + strlen(name), " %" SCNu64, ret_value) != 1)
		return -ENOENT;
	return 0;
}

static int check_machine_memory(const struct need *need, struct zm_why *why)
{
	uint64_t available_kb;

	if (read_meminfo(need->arena->run->root, "MemAvailable:", &available_kb) < 0 ||
	    need->memory_bytes <= times(available_kb, 1024))
		return 0;
	return refuse_bytes(why, need, need->memory_bytes, times(available_kb, 1024), "memory",
			    "use fewer tasks or less memory per task, or --overcommit");
}

/* What a cgroup has used holds page cache too, which it can give back. */
static uint64_t reclaimable(const struct zm_sysroot *root, const struct zm_cgroup *cgroup)
{
	const char *key = cgroup->version == 1 ? "total_inactive_file" : "inactive_file";
	uint64_t bytes;

	return zm_cgroup_read_key(root, cgroup, "memory.stat", key, &bytes) == 0 ? bytes : 0;
}

static int check_cgroup_memory(const struct need *need, struct zm_why *why)
{
	const struct zm_sysroot *root = need->arena->run->root;
	struct zm_cgroup cgroup;
	uint64_t left, limit;
	char what[ZM_CGROUP_PATH_SIZE + 64];

	if (zm_cgroup_find(root, "memory", &cgroup) < 0)
		return 0;
	left = zm_cgroup_memory_left(root, &cgroup, &limit, &cgroup);
	if (left == UINT64_MAX)
		return 0;
	left = add(left, reclaimable(root, &cgroup));
	if (need->memory_bytes <= left)
		return 0;
	(void)snprintf(what, sizeof(what), "the memory of cgroup %s", cgroup.path);
	return refuse_bytes(why, need, need->memory_bytes, left, what,
			    "raise its limit, use fewer tasks or less memory per task, or "
			    "--overcommit");
}

static uint64_t address_space_used(const struct zm_sysroot *root)
{
	char line[256];
	uint64_t pages = 0;

	if (zm_sysroot_read_line(root, "proc/self/statm", line, sizeof(line)) < 0 ||
	    sscanf(line, "%" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Threads share one address space, processes have one each. The arena is mapped already. */
static int check_address_space(const struct need *need, struct zm_why *why)
{
	uint64_t per_task = add(need->footprint.task_bytes, TASK_BYTES);
	struct rlimit limit;
	uint64_t used, bytes;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	used = address_space_used(need->arena->run->root);
	bytes = add(need->footprint.shared_bytes,
		    need->has_threads ? times(add(per_task, STACK_BYTES), need->nr_tasks)
				      : per_task);
	if (add(bytes, used) <= limit.rlim_cur)
		return 0;
	return refuse_bytes(why, need, bytes, limit.rlim_cur > used ? limit.rlim_cur - used : 0,
			    "address space", "raise ulimit -v");
}

static int check_hugepages(const struct need *need, struct zm_why *why)
{
	const struct zm_sysroot *root = need->arena->run->root;
	uint64_t nr_total = 0, nr_free = 0, nr_reserved = 0, nr_surplus = 0, nr_overcommit = 0;
	uint64_t left;

	if (need->footprint.hugepages == 0)
		return 0;
	(void)read_meminfo(root, "HugePages_Total:", &nr_total);
	(void)read_meminfo(root, "HugePages_Free:", &nr_free);
	(void)read_meminfo(root, "HugePages_Rsvd:", &nr_reserved);
	(void)read_meminfo(root, "HugePages_Surp:", &nr_surplus);
	(void)zm_sysroot_read_u64(root, "proc/sys/vm/nr_overcommit_hugepages", &nr_overcommit);
	left = nr_free > nr_reserved ? nr_free - nr_reserved : 0;
	left = add(left, nr_overcommit > nr_surplus ? nr_overcommit - nr_surplus : 0);
	if (need->footprint.hugepages <= left)
		return 0;
	return zm_why_set(why, -E2BIG,
			  "%" PRIu64 " huge pages are needed, and %" PRIu64
			  " are free; add sysctl.vm.nr_hugepages=%" PRIu64,
			  need->footprint.hugepages, left,
			  add(nr_total, need->footprint.hugepages - left));
}

/* As the kernel names a size: "2MB", "64KB", "1GB". */
static void name_size(char *buf, size_t size, uint64_t kb)
{
	bool is_gb = kb >= 1 << 20;
	bool is_mb = kb >= 1 << 10;

	(void)snprintf(buf, size, "%" PRIu64 "%s",
		       is_gb   ? kb >> 20
		       : is_mb ? kb >> 10
			       : kb,
		       is_gb   ? "GB"
		       : is_mb ? "MB"
			       : "KB");
}

/* kind "" for what is used, "rsvd." for what is mapped: beyond the first a task is killed (SIGBUS),
 * beyond the second mmap fails. */
static int check_hugetlb_limit(const struct need *need, const struct zm_cgroup *cgroup,
			       const char *page, const char *kind, uint64_t bytes,
			       struct zm_why *why)
{
	const struct zm_sysroot *root = need->arena->run->root;
	bool is_v1 = cgroup->version == 1;
	char limit_file[64], usage_file[64], what[ZM_CGROUP_PATH_SIZE + 64], mend[160];
	struct zm_cgroup where = *cgroup;
	uint64_t left;

	(void)snprintf(limit_file, sizeof(limit_file), "hugetlb.%s.%s%s", page, kind,
		       is_v1 ? "limit_in_bytes" : "max");
	(void)snprintf(usage_file, sizeof(usage_file), "hugetlb.%s.%s%s", page, kind,
		       is_v1 ? "usage_in_bytes" : "current");
	left = zm_cgroup_left(root, cgroup, limit_file, usage_file, NULL, &where);
	if (bytes <= left)
		return 0;
	(void)snprintf(what, sizeof(what), "the huge pages of cgroup %s", where.path);
	(void)snprintf(mend, sizeof(mend),
		       "raise its %s, use fewer tasks or less memory per task, or --overcommit",
		       limit_file);
	return refuse_bytes(why, need, bytes, left, what, mend);
}

static int check_cgroup_hugetlb(const struct need *need, struct zm_why *why)
{
	const struct zm_sysroot *root = need->arena->run->root;
	const struct zm_footprint *footprint = &need->footprint;
	struct zm_cgroup cgroup;
	uint64_t kb = footprint->hugetlb_page_bytes / 1024;
	char page[32];
	int r;

	if (footprint->hugetlb_bytes == 0 ||
	    (kb == 0 && read_meminfo(root, "Hugepagesize:", &kb) < 0) ||
	    zm_cgroup_find(root, "hugetlb", &cgroup) < 0)
		return 0;
	name_size(page, sizeof(page), kb);
	r = check_hugetlb_limit(need, &cgroup, page, "", footprint->hugetlb_bytes, why);
	if (r == 0)
		r = check_hugetlb_limit(need, &cgroup, page, "rsvd.",
					footprint->hugetlb_mapped_bytes, why);
	return r;
}

/* --- the rest --- */

static int check_disk(const struct need *need, struct zm_why *why)
{
	const struct zm_footprint *footprint = &need->footprint;
	struct statvfs fs;
	uint64_t left;
	char a[32], b[32];

	if (footprint->disk_bytes == 0 || !footprint->disk_path)
		return 0;
	if (statvfs(footprint->disk_path, &fs) < 0) {
		int r = -errno;

		return zm_why_errno(why, r, "%s", footprint->disk_path);
	}
	left = times(geteuid() == 0 ? fs.f_bfree : fs.f_bavail, fs.f_frsize);
	if (footprint->disk_bytes <= left)
		return 0;
	return zm_why_set(why, -E2BIG, "%s of disk are needed in %s, and %s are left",
			  human(a, sizeof(a), footprint->disk_bytes), footprint->disk_path,
			  human(b, sizeof(b), left));
}

/* The launcher raises the soft limit to the hard one. */
static int check_files(const struct need *need, struct zm_why *why)
{
	uint64_t nr = times(need->footprint.task_files, need->has_threads ? need->nr_tasks : 1);
	struct rlimit limit;

	nr = add(nr, HARNESS_FILES);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || nr <= limit.rlim_max)
		return 0;
	return zm_why_set(why, -E2BIG,
			  "%" PRIu64 " open files are needed, and %" PRIu64
			  " are allowed; raise ulimit -n",
			  nr, (uint64_t)limit.rlim_max);
}

static int refuse_processes(struct zm_why *why, uint64_t nr, uint64_t left, const char *mend)
{
	return zm_why_set(why, -E2BIG,
			  "%" PRIu64 " processes or threads are needed, and %" PRIu64
			  " are left; raise %s or use fewer tasks",
			  nr, left, mend);
}

/* ulimit -u counts what the user has running elsewhere too, and not for root: what is sure is that
 * more than the limit cannot be. */
static int check_processes(const struct need *need, struct zm_why *why)
{
	const struct zm_sysroot *root = need->arena->run->root;
	uint64_t nr = add(need->nr_tasks, 1), left, limit;
	struct zm_cgroup cgroup;
	struct rlimit allowed;
	char what[ZM_CGROUP_PATH_SIZE + 32];

	if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &allowed) == 0 && nr > allowed.rlim_cur)
		return refuse_processes(why, nr, allowed.rlim_cur, "ulimit -u");
	if (zm_cgroup_find(root, "pids", &cgroup) < 0)
		return 0;
	left = zm_cgroup_left(root, &cgroup, "pids.max", "pids.current", &limit, &cgroup);
	if (nr <= left)
		return 0;
	(void)snprintf(what, sizeof(what), "pids.max of %s (%" PRIu64 ")", cgroup.path, limit);
	return refuse_processes(why, nr, left, what);
}

static void fill_need(struct need *need, const struct zm_arena *arena)
{
	const struct zm_run *run = arena->run;
	const struct zm_footprint *footprint = &need->footprint;
	uint64_t per_task;

	*need = (struct need){ .arena = arena,
			       .nr_tasks = run->nr_tasks,
			       .has_threads = run->kind == ZM_TASK_THREAD };
	if (run->workload->footprint)
		run->workload->footprint(run, &need->footprint);
	per_task = add(footprint->task_bytes, TASK_BYTES + arena->slot_bytes);
	need->memory_bytes = add(footprint->shared_bytes, times(per_task, need->nr_tasks));
	need->memory_bytes = add(need->memory_bytes, HARNESS_BYTES);
}

int zm_footprint_check(const struct zm_arena *arena, struct zm_why *why)
{
	static int (*const checks[])(const struct need *need, struct zm_why *why) = {
		check_files,     check_processes,      check_machine_memory, check_cgroup_memory,
		check_hugepages, check_cgroup_hugetlb, check_address_space,  check_disk,
	};
	struct need need;
	int r = 0;

	fill_need(&need, arena);
	for (size_t i = 0; r == 0 && i < sizeof(checks) / sizeof(checks[0]); i++)
		r = checks[i](&need, why);
	return r;
}
