/*
 * area: what vm-scalability's cases go over: how large it is, and where it comes from.
 *
 *     unit_size  bytes that all tasks together use in a round: half of the memory when not given, at
 *                most `size` per node, as robots' mails give it
 *     area       a task's part of it, in whole pages
 *
 * A case says in its workload's `own` (a struct zm_area_case) what it is.
 */
#ifndef ZM_FAULTLOAD_AREA_H
#define ZM_FAULTLOAD_AREA_H

#include <stdbool.h>

#include "workloads/workload.h"

struct zm_area_case {
	bool is_random;
	bool is_read;
	bool is_huge;     /* hugetlb pages of the default size */
	bool is_prepared; /* the area is mapped and populated before the tasks are made */
	bool is_file;     /* a sparse file, mapped shared: each task's own */
	bool is_one;      /* …but one for all tasks */
	bool is_shm;      /* …in a tmpfs */
	bool is_whole;    /* each task goes over all of unit_size, not over its part */
	bool is_eighth;   /* …and by default over an eighth of what it would be */
	bool is_crowd; /* one area for all tasks, mapped before they are made, and not populated */
	bool is_remapped; /* …and moved to ten times its length */
	bool is_called;   /* the file is read by calls, not mapped: no page tables */
	bool is_locked;   /* at a round's end the area is locked into memory */
};

struct zm_area_options {
	uint64_t unit_size; /* 0: the default */
	uint64_t size;      /* 0: no limit */
	unsigned int pool;  /* enum zm_hugepool_kind */
	unsigned int thp;   /* enum zm_thp */
	char *dir;          /* of files */
};

extern const struct zm_option zm_area_anon_options[];  /* unit_size, size, thp */
extern const struct zm_option zm_area_small_options[]; /* unit_size, size */
extern const struct zm_option zm_area_huge_options[];  /* unit_size, size, pool */
extern const struct zm_option zm_area_file_options[];  /* unit_size, size, dir */
extern const struct zm_option zm_area_shm_options[];   /* the same, in /dev/shm */

int zm_area_check(const struct zm_run *run, struct zm_why *why);
void zm_area_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint);

/* Of one task; 0: less than a page. */
uint64_t zm_area_bytes(const struct zm_run *run);

/* What the options make of a preset of the case's own. */
uint64_t zm_area_unit_bytes(const struct zm_run *run, uint64_t preset);

/* The machine's memory, or what the tightest memory cgroup leaves, if that is less. */
uint64_t zm_area_memory_bytes(const struct zm_sysroot *root);

/* The base page, or the huge page of the cases on huge pages. */
uint64_t zm_area_page_bytes(const struct zm_run *run);

/* Memory as the original maps it; flags are beyond MAP_PRIVATE or MAP_SHARED. */
int zm_area_map(const struct zm_area_case *own, int fd, uint64_t bytes, int flags, void **ret_base);

#endif
