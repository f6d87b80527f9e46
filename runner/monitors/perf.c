/*
 * perf: the kernel writes at data_head, we read from data_tail; a record that goes round the ring's end
 * is put together first.
 */
#include "runner/monitors/perf.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_RECORD 65536 /* a record's size is 16 bits */

int zm_perf_check(const struct zm_monitor_context *context, struct zm_why *why)
{
	if (!context->root->is_live)
		return zm_why_set(why, -ENOTSUP,
				  "a recorded machine has no events to count: use this machine");
	return 0;
}

int zm_perf_open(struct perf_event_attr *attr, int cpu)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static const char *mend_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENXIO:
		return "no CPU performance counters here, as in most guests";
	case -EOPNOTSUPP:
	case -EINVAL:
		return "this CPU's performance counters do not have it";
	case -EACCES:
	case -EPERM:
		return geteuid() == 0
			       ? "root may not either: a seccomp filter or a container without "
				 "CAP_PERFMON forbids it, or kernel.perf_event_paranoid"
			       : "run as root or with CAP_PERFMON, or lower "
				 "kernel.perf_event_paranoid to 0";
	case -EMFILE:
		return "raise ulimit -n: an event needs a descriptor on every CPU";
	case -ENOSYS:
		return "the kernel has no perf events, or a seccomp filter hides them";
	default:
		return "refused";
	}
}

int zm_perf_why(struct zm_why *why, int error, const char *what)
{
	return zm_why_set(why, error, "%s: perf_event_open: %s: %s", what, strerror(-error),
			  mend_of(error));
}

int zm_perf_ring_open(struct zm_perf_ring *ring, struct perf_event_attr *attr, int cpu,
		      size_t nr_pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	int fd = zm_perf_open(attr, cpu);
	void *memory;
	int error;

	if (fd < 0)
		return fd;
	memory = mmap(NULL, (nr_pages + 1) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		error = -errno;
		(void)close(fd);
		return error;
	}
	*ring = (struct zm_perf_ring){ .fd = fd, .head = memory, .bytes = nr_pages * page_bytes };
	return 0;
}

void zm_perf_ring_close(struct zm_perf_ring *ring)
{
	if (!ring->head)
		return;
	(void)munmap(ring->head, ring->bytes + (size_t)sysconf(_SC_PAGESIZE));
	(void)close(ring->fd);
	ring->head = NULL;
}

int zm_perf_ring_enable(const struct zm_perf_ring *ring, bool is_on)
{
	unsigned long what = is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	return ioctl(ring->fd, what, 0) ? -errno : 0;
}

static void copy_out(const struct zm_perf_ring *ring, uint64_t at, void *buf, size_t size)
{
	const char *data = (const char *)ring->head + sysconf(_SC_PAGESIZE);
	size_t offset = (size_t)(at & (ring->bytes - 1));
	size_t first = ring->bytes - offset < size ? ring->bytes - offset : size;

	memcpy(buf, data + offset, first);
	memcpy((char *)buf + first, data, size - first);
}

void zm_perf_ring_drain(struct zm_perf_ring *ring,
			void (*take)(void *user, const struct perf_event_header *record),
			void *user)
{
	static _Alignas(8) char record[MAX_RECORD];
	struct perf_event_header header;
	uint64_t head, tail;

	if (!ring->head)
		return;
	head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	tail = ring->head->data_tail;
	while (head - tail >= sizeof(header)) {
		copy_out(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		copy_out(ring, tail, record, header.size);
		take(user, (const struct perf_event_header *)(const void *)record);
		tail += header.size;
	}
	/* what cannot be made out is left behind as a whole */
	__atomic_store_n(&ring->head->data_tail, head, __ATOMIC_RELEASE);
}
