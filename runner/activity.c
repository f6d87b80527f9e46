/*
 * activity: two looks, and the differences.
 *
 *     proc/stat        each CPU's busy and stolen ticks
 *     proc/PID/stat    each process's ticks, to name the busiest; and our own, to leave them out
 *     proc/zoneinfo    pages that the allocator manages
 */
#include "runner/activity.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

/* A process at one look. */
struct process {
	long pid;
	uint64_t start_ticks;
	uint64_t ticks;
	bool is_kernel; /* a thread of the kernel: a child of kthreadd, or that itself */
	char name[32];
};

struct look {
	uint64_t busy_ticks, stolen_ticks, all_ticks;
	uint64_t managed_pages;
	struct process *processes; /* sorted by pid */
	size_t nr_processes;
};

static void look_release(struct look *look)
{
	free(look->processes);
	look->processes = NULL;
}

/* --- one look -------------------------------------------------------------------------------- */

/* "cpu3 user nice system idle iowait irq softirq steal …" */
static void add_cpu_line(const char *line, const struct zm_cpuset *cpus, struct look *look)
{
	uint64_t user, nice, system, idle, wait, irq, softirq, steal = 0, busy;
	unsigned int cpu;

	if (!isdigit((unsigned char)line[3]) ||
	    sscanf(line,
		   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &cpu, &user, &nice, &system, &idle, &wait, &irq, &softirq, &steal) < 8 ||
	    !zm_cpuset_has(cpus, cpu))
		return;
	busy = user + nice + system + irq + softirq;
	look->busy_ticks += busy;
	look->stolen_ticks += steal;
	look->all_ticks += busy + steal + idle + wait;
}

static int look_at_cpus(const struct zm_sysroot *root, const struct zm_cpuset *cpus,
			struct look *look)
{
	zm_autofree char *text = NULL;
	int error = zm_sysroot_read(root, "proc/stat", &text, NULL);

	for (const char *line = text; !error && line && strncmp(line, "cpu", 3) == 0;) {
		add_cpu_line(line, cpus, look);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return error;
}

static void look_at_zones(const struct zm_sysroot *root, struct look *look)
{
	zm_autofree char *text = NULL;
	uint64_t pages;

	if (zm_sysroot_read(root, "proc/zoneinfo", &text, NULL))
		return;
	for (const char *at = text; (at = strstr(at, " managed "));) {
		at += strlen(" managed ");
		if (sscanf(at, "%" SCNu64, &pages) == 1)
			look->managed_pages += pages;
	}
}

/* "pid (name) state …", utime and stime being fields 14 and 15, the start 22. */
static bool parse_process(const char *text, struct process *ret_process)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t user, system;
	long parent;
	size_t length;

	if (!open || !close || close < open ||
	    sscanf(close,
		   ") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %*d %*d %" SCNu64,
		   &parent, &user, &system, &ret_process->start_ticks) != 4)
		return false;
	length = (size_t)(close - open - 1);
	if (length >= sizeof(ret_process->name))
		length = sizeof(ret_process->name) - 1;
	memcpy(ret_process->name, open + 1, length);
	ret_process->name[length] = '\0';
	ret_process->pid = strtol(text, NULL, 10);
	ret_process->ticks = user + system;
	ret_process->is_kernel = parent == 2 || (parent == 0 && ret_process->pid == 2);
	return true;
}

static int add_process(struct look *look, size_t *capacity, const struct process *process)
{
	if (look->nr_processes == *capacity) {
		size_t larger = *capacity ? *capacity * 2 : 256;
		struct process *bigger =
			reallocarray(look->processes, larger, sizeof(*look->processes));

		if (!bigger)
			return -ENOMEM;
		look->processes = bigger;
		*capacity = larger;
	}
	look->processes[look->nr_processes++] = *process;
	return 0;
}

static bool read_process(int proc_fd, const char *pid, struct process *ret_process)
{
	char path[300], text[1024];
	ssize_t length;

	(void)snprintf(path, sizeof(path), "%s/stat", pid);
	zm_autoclose int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return parse_process(text, ret_process);
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *first = a, *second = b;

	return (first->pid > second->pid) - (first->pid < second->pid);
}

static int look_at_processes(const struct zm_sysroot *root, struct look *look)
{
	int proc_fd = openat(root->dir_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	zm_autoclosedir DIR *proc = proc_fd < 0 ? NULL : fdopendir(proc_fd);
	size_t capacity = 0;
	int error = 0;

	if (!proc)
		return -errno;
	for (struct dirent *entry; !error && (entry = readdir(proc));) {
		struct process process;

		if (isdigit((unsigned char)entry->d_name[0]) &&
		    read_process(dirfd(proc), entry->d_name, &process))
			error = add_process(look, &capacity, &process);
	}
	if (look->nr_processes)
		qsort(look->processes, look->nr_processes, sizeof(*look->processes),
		      compare_processes);
	return error;
}

static int look_now(const struct zm_sysroot *root, const struct zm_cpuset *cpus, struct look *look)
{
	int error = look_at_cpus(root, cpus, look);

	look_at_zones(root, look);
	return error ? error : look_at_processes(root, look);
}

/* --- differences ----------------------------------------------------------------------------- */

/* Ticks since the first look; of a process that is new, all of them. */
static uint64_t ticks_since(const struct look *before, const struct process *process)
{
	const struct process *earlier =
		before->nr_processes ? bsearch(process, before->processes, before->nr_processes,
					       sizeof(*process), compare_processes)
				     : NULL;

	if (!earlier || earlier->start_ticks != process->start_ticks)
		return process->ticks;
	return process->ticks > earlier->ticks ? process->ticks - earlier->ticks : 0;
}

static void find_names(const struct look *now, struct zm_activity *activity)
{
	for (size_t i = 0; i < now->nr_processes; i++) {
		const char *name = now->processes[i].name;

		activity->has_kdamond |= strncmp(name, "kdamond", 7) == 0;
		activity->has_deferred_init |= strncmp(name, "pgdatinit", 9) == 0;
	}
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Clocks of CPUs do not tick at the same moment: a difference may be a tick below what it is made
 * of. */
static uint64_t above(uint64_t later, uint64_t earlier)
{
	return later > earlier ? later - earlier : 0;
}

static void compare(const struct look *before, const struct look *now, size_t nr_cpus,
		    struct zm_activity *activity)
{
	uint64_t all = above(now->all_ticks, before->all_ticks), own = 0, most = 0;
	uint64_t busy = above(now->busy_ticks, before->busy_ticks);

	for (size_t i = 0; i < now->nr_processes; i++) {
		const struct process *process = &now->processes[i];
		uint64_t ticks = ticks_since(before, process);

		if (process->pid == (long)getpid()) {
			own = ticks;
		} else if (ticks > most) {
			most = ticks;
			activity->busiest_pid = process->pid;
			activity->is_busiest_kernel = process->is_kernel;
			(void)snprintf(activity->busiest_name, sizeof(activity->busiest_name), "%s",
				       process->name);
		}
	}
	activity->busy_share = share(above(busy, own), all);
	activity->steal_share = share(above(now->stolen_ticks, before->stolen_ticks), all);
	activity->busiest_share = share(most * nr_cpus, all);
	activity->managed_pages = now->managed_pages;
	activity->managed_change = (int64_t)(now->managed_pages - before->managed_pages);
}

int zm_activity_read(const struct zm_sysroot *root, const struct zm_cpuset *cpus, uint64_t wait_ns,
		     struct zm_activity *ret_activity)
{
	struct zm_activity activity = { .busiest_pid = 0 };
	struct look before = { .processes = NULL }, now = { .processes = NULL };
	int error = root->is_live ? look_now(root, cpus, &before) : -ENOTSUP;

	if (!error) {
		(void)zm_clock_sleep_until(zm_clock_now_ns() + wait_ns);
		error = look_now(root, cpus, &now);
	}
	if (!error) {
		compare(&before, &now, zm_cpuset_count(cpus), &activity);
		find_names(&now, &activity);
		*ret_activity = activity;
	}
	look_release(&before);
	look_release(&now);
	return error;
}
