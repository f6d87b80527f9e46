/*
 * area: the options, and what they come to on this machine.
 */
#include "faultload/area.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "faultload/hugepool.h"
#include "faultload/scratch.h"
#include "faultload/thp.h"
#include "workloads/base/cgroup.h"

#define MOST_BYTES  (UINT64_C(1) << 46)
#define READ_BYTES  (UINT64_C(1) << 42) /* the original's limit for cases that only read */
#define ENTRY_BYTES 8                   /* of page table, for each base page */

#define UNIT_ROW                                                                                   \
	{                                                                                          \
		.name = "unit_size", .type = ZM_OPTION_SIZE,                                       \
		.offset = offsetof(struct zm_area_options, unit_size), .preset = "0",              \
		.max = MOST_BYTES, .unit = "bytes",                                                \
		.help = "what all tasks together go over in a round; 0 is half of the memory"      \
	}

#define SIZE_ROW                                                                                   \
	{                                                                                          \
		.name = "size", .type = ZM_OPTION_SIZE,                                            \
		.offset = offsetof(struct zm_area_options, size), .preset = "0",                   \
		.max = MOST_BYTES, .unit = "bytes",                                                \
		.help = "most of unit_size per node, as robots' mails give it; 0 is no limit"      \
	}

const struct zm_option zm_area_anon_options[] = {
	UNIT_ROW,
	SIZE_ROW,
	{ .name = "thp",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct zm_area_options, thp),
	  .preset = "default",
	  .choices = zm_thp_names,
	  .help = "transparent huge pages for this run; default is as the machine is set" },
	{ .name = NULL },
};

const struct zm_option zm_area_small_options[] = {
	UNIT_ROW,
	SIZE_ROW,
	{ .name = NULL },
};

const struct zm_option zm_area_huge_options[] = {
	UNIT_ROW,
	SIZE_ROW,
	{ .name = "pool",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct zm_area_options, pool),
	  .preset = "surplus",
	  .choices = zm_hugepool_kinds,
	  .help = "where huge pages come from: made when they are used, or made before" },
	{ .name = NULL },
};

#define DIR_ROW(preset_dir, text)                                                                  \
	{                                                                                          \
		.name = "dir", .type = ZM_OPTION_STRING,                                           \
		.offset = offsetof(struct zm_area_options, dir), .preset = preset_dir,             \
		.help = text                                                                       \
	}

const struct zm_option zm_area_file_options[] = {
	UNIT_ROW,
	SIZE_ROW,
	DIR_ROW(NULL, "directory of the sparse files; $TMPDIR or /tmp when not given"),
	{ .name = NULL },
};

const struct zm_option zm_area_shm_options[] = {
	UNIT_ROW,
	SIZE_ROW,
	DIR_ROW("/dev/shm", "directory of the sparse files, on a tmpfs"),
	{ .name = NULL },
};

/* --- how large --------------------------------------------------------------------------------- */

/* What the tightest memory cgroup leaves, or UINT64_MAX. */
static uint64_t cgroup_left(const struct zm_sysroot *root)
{
	struct zm_cgroup cgroup;

	if (zm_cgroup_find(root, "memory", &cgroup) < 0)
		return UINT64_MAX;
	return zm_cgroup_memory_left(root, &cgroup, NULL, NULL);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t zm_area_memory_bytes(const struct zm_sysroot *root)
{
	return least(zm_hugepool_meminfo(root, "MemTotal"), cgroup_left(root));
}

static uint64_t nr_nodes(const struct zm_sysroot *root)
{
	zm_autocpuset struct zm_cpuset nodes = { 0 };
	size_t n = 0;

	if (zm_sysroot_list_numbered(root, "sys/devices/system/node", "node", &nodes) == 0)
		n = zm_cpuset_count(&nodes);
	return n ? n : 1;
}

/* What is free, and what the page cache could give back. */
static uint64_t reclaimable_bytes(const struct zm_sysroot *root)
{
	return zm_hugepool_meminfo(root, "MemFree") + zm_hugepool_meminfo(root, "Cached") +
	       zm_hugepool_meminfo(root, "Buffers");
}

/* Half of the memory (a quarter where threads share one area); of cases that only read the zero page,
 * or a cache that can be dropped, so much that the page tables take half of what is free. */
static uint64_t default_unit_bytes(const struct zm_run *run)
{
	const struct zm_area_case *own = run->workload->own;
	uint64_t unit;

	if (own->is_read && !own->is_shm) {
		uint64_t available = zm_hugepool_meminfo(run->root, "MemAvailable");

		unit = least(available, cgroup_left(run->root)) / 2 / ENTRY_BYTES * run->page_bytes;
		unit = least(unit, READ_BYTES);
		return own->is_eighth ? unit / 8 : unit;
	}
	if (own->is_locked)
		return least(reclaimable_bytes(run->root), cgroup_left(run->root)) / 3;
	unit = zm_area_memory_bytes(run->root) / 2;
	return own->is_prepared && run->kind == ZM_TASK_THREAD ? unit / 2 : unit;
}

uint64_t zm_area_unit_bytes(const struct zm_run *run, uint64_t preset)
{
	const struct zm_area_options *chosen = run->options;
	uint64_t unit = chosen->unit_size ? chosen->unit_size : preset;

	return chosen->size ? least(unit, chosen->size * nr_nodes(run->root)) : unit;
}

static uint64_t unit_bytes_of(const struct zm_run *run)
{
	return zm_area_unit_bytes(run, default_unit_bytes(run));
}

uint64_t zm_area_page_bytes(const struct zm_run *run)
{
	const struct zm_area_case *own = run->workload->own;

	return own->is_huge ? zm_hugepool_default_bytes(run->root) : run->page_bytes;
}

/* A prepared area is the parent's share, which as many processes copy, or one for all threads. */
uint64_t zm_area_bytes(const struct zm_run *run)
{
	const struct zm_area_case *own = run->workload->own;
	uint64_t page_bytes = zm_area_page_bytes(run);
	unsigned int nr_ends = run->workload->nr_ends ? run->workload->nr_ends : 1;
	uint64_t nr_parts = run->nr_tasks / nr_ends;

	if (own->is_prepared)
		nr_parts = run->kind == ZM_TASK_PROCESS ? nr_parts + 1 : 1;
	if (own->is_whole)
		nr_parts = 1;
	return page_bytes ? unit_bytes_of(run) / nr_parts / page_bytes * page_bytes : 0;
}

/* --- what it takes --------------------------------------------------------------------------- */

/* Threads share one limit, and one address space. */
static int check_lock(const struct zm_run *run, struct zm_why *why)
{
	uint64_t bytes = zm_area_bytes(run) * (run->kind == ZM_TASK_THREAD ? run->nr_tasks : 1);
	struct rlimit limit;

	if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || bytes <= limit.rlim_cur)
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "%llu bytes are to be locked, and ulimit -l allows %llu; run as root, or "
			  "lower unit_size",
			  (unsigned long long)bytes, (unsigned long long)limit.rlim_cur);
}

int zm_area_check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_case *own = run->workload->own;
	const struct zm_area_options *chosen = run->options;
	int r;

	if (own->is_huge)
		r = zm_hugepool_check(run->root, why);
	else if (own->is_file)
		r = zm_scratch_check(chosen->dir, why);
	else
		r = zm_thp_check(run->root, chosen->thp, why);
	if (r < 0)
		return r;
	if (zm_area_bytes(run) == 0)
		return zm_why_set(why, -EINVAL,
				  "unit_size=%llu: less than a page of %llu bytes for each task",
				  (unsigned long long)unit_bytes_of(run),
				  (unsigned long long)zm_area_page_bytes(run));
	return own->is_locked ? check_lock(run, why) : 0;
}

/* A tmpfs keeps what a hole is read as; a file system's cache can be dropped. */
static void add_files(const struct zm_run *run, uint64_t area, struct zm_footprint *footprint)
{
	const struct zm_area_case *own = run->workload->own;
	const struct zm_area_options *chosen = run->options;

	footprint->task_files = 2;
	footprint->disk_path = zm_scratch_dir(chosen->dir);
	if (!own->is_shm && !zm_scratch_is_memory(chosen->dir))
		return;
	footprint->disk_bytes = own->is_one ? area : area * run->nr_tasks;
	if (own->is_one)
		footprint->shared_bytes = area;
	else
		footprint->task_bytes += area;
}

/* Processes map their areas; of a prepared one each makes a copy. */
static void add_huge_pages(const struct zm_run *run, uint64_t area, struct zm_footprint *footprint)
{
	const struct zm_area_case *own = run->workload->own;
	bool has_copies = run->kind == ZM_TASK_PROCESS || !own->is_prepared;

	footprint->hugetlb_bytes = area * ((has_copies ? run->nr_tasks : 0) + own->is_prepared);
	footprint->hugetlb_mapped_bytes = own->is_prepared ? area : area * run->nr_tasks;
}

void zm_area_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_area_case *own = run->workload->own;
	uint64_t area = zm_area_bytes(run);
	uint64_t tables = own->is_called ? 0 : area / run->page_bytes * ENTRY_BYTES;
	bool is_first = own->is_prepared || own->is_crowd; /* before the tasks are made */

	ret_footprint->task_files = 1;
	ret_footprint->task_bytes = own->is_read ? tables : area + tables;
	if (own->is_file)
		add_files(run, area, ret_footprint);
	if (own->is_huge)
		add_huge_pages(run, area, ret_footprint);
	if (is_first)
		ret_footprint->shared_bytes += ret_footprint->task_bytes;
	if (is_first && run->kind == ZM_TASK_THREAD)
		ret_footprint->task_bytes = 0;
}

int zm_area_map(const struct zm_area_case *own, int fd, uint64_t bytes, int flags, void **ret_base)
{
	void *base = NULL;

	flags |= own->is_file ? MAP_SHARED : MAP_PRIVATE;
	if (own->is_huge)
		flags |= MAP_ANONYMOUS | MAP_HUGETLB;
	base = mmap(NULL, bytes, own->is_read ? PROT_READ : PROT_READ | PROT_WRITE, flags,
		    own->is_huge ? -1 : fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	*ret_base = base;
	return 0;
}
