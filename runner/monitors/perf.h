/*
 * perf: perf_event_open, its rings, and one sentence for what it refuses.
 */
#ifndef ZM_RUNNER_MONITORS_PERF_H
#define ZM_RUNNER_MONITORS_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/monitor.h"

/* Only this machine can be asked: -ENOTSUP and the sentence. */
int zm_perf_check(const struct zm_monitor_context *context, struct zm_why *why);

/* An event of all tasks on one CPU. A descriptor, or -errno. */
int zm_perf_open(struct perf_event_attr *attr, int cpu);

/* "WHAT: …" of a refused event. Returns the error. */
int zm_perf_why(struct zm_why *why, int error, const char *what);

/* A ring that the kernel fills with samples of one event. */
struct zm_perf_ring {
	int fd;
	struct perf_event_mmap_page *head; /* NULL: not open */
	size_t bytes;                      /* of the data behind it: a power of two */
};

/* Opens the event and its ring of so many pages, a power of two. */
int zm_perf_ring_open(struct zm_perf_ring *ring, struct perf_event_attr *attr, int cpu,
		      size_t nr_pages);
void zm_perf_ring_close(struct zm_perf_ring *ring);
int zm_perf_ring_enable(const struct zm_perf_ring *ring, bool is_on);

/* Hands every record since the last time to take(), whole, and gives its place back. */
void zm_perf_ring_drain(struct zm_perf_ring *ring,
			void (*take)(void *user, const struct perf_event_header *record),
			void *user);

#endif
