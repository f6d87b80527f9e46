/*
 * tracepoint: perf's own count of a tracepoint on all CPUs, to hold a monitor's against.
 */
#ifndef ZM_RUNNER_MONITORS_TESTS_TRACEPOINT_H
#define ZM_RUNNER_MONITORS_TESTS_TRACEPOINT_H

#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/base/cpuset.h"
#include "workloads/base/sysroot.h"

#define TRACEPOINT_MAX_CPUS 4096

struct tracepoint {
	int fds[TRACEPOINT_MAX_CPUS];
	unsigned int nr;
};

/* Its number; tracefs is mounted in a mount namespace of our own where it is not. */
static inline bool tracepoint_find(const char *name, uint64_t *ret_id)
{
	char path[256];
	FILE *file;
	bool is_read;

	(void)snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	if (access(path, R_OK) != 0 && unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		(void)mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fscanf(file, "%" SCNu64, ret_id) == 1;
	(void)fclose(file);
	return is_read;
}

static inline void tracepoint_close(const struct tracepoint *tracepoint)
{
	for (unsigned int i = 0; i < tracepoint->nr; i++)
		(void)close(tracepoint->fds[i]);
}

/* name: "kmem/mm_page_alloc"; filter may be NULL. */
static inline bool tracepoint_open(struct tracepoint *tracepoint, const struct zm_sysroot *root,
				   const char *name, const char *filter)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	zm_autocpuset struct zm_cpuset online = { 0 };
	uint64_t id;

	tracepoint->nr = 0;
	if (!tracepoint_find(name, &id) ||
	    zm_sysroot_read_cpuset(root, "sys/devices/system/cpu/online", &online))
		return false;
	attr.config = id;
	zm_cpuset_for_each (cpu, &online) {
		int fd =
			(int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 || tracepoint->nr == TRACEPOINT_MAX_CPUS ||
		    (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))) {
			tracepoint_close(tracepoint);
			return false;
		}
		tracepoint->fds[tracepoint->nr++] = fd;
	}
	return true;
}

static inline uint64_t tracepoint_read(const struct tracepoint *tracepoint)
{
	uint64_t sum = 0, value;

	for (unsigned int i = 0; i < tracepoint->nr; i++)
		if (read(tracepoint->fds[i], &value, sizeof(value)) == sizeof(value))
			sum += value;
	return sum;
}

#endif
