/*
 * migrate: a file's pages are moved from node to node.
 *
 * The task maps a sparse file shared and reads it, 8 bytes at a time, so that its pages are interleaved over
 * all nodes; then, for ever, moves its own pages of each node to the next (migrate_pages). One operation is
 * such a call. As vm-scalability's migrate, where another process calls.
 *
 *     node 0 -> node 1 -> … -> the last -> node 0
 */
#include <errno.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faultload/area.h"
#include "faultload/scratch.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"
#include "workloads/worker.h"

#define BITS_PER_LONG (8 * sizeof(unsigned long))
#define NODE_DIR      "sys/devices/system/node"
#define PATIENCE_NS   (600 * ZM_NS_PER_S)

static const struct zm_area_case own = { .is_read = true, .is_file = true };

enum { NOT_MOVED };

static const struct zm_metric counters[] = {
	[NOT_MOVED] = { .name = "vm-scalability.not_moved",
			.unit = "pages",
			.kind = ZM_COUNT,
			.summary = "pages that migrate_pages said it could not move" },
	{ .name = NULL },
};

static const struct zm_metric metrics[] = {
	{ .name = "vm-scalability.migrate_mbps",
	  .unit = "MB/s",
	  .kind = ZM_GAUGE,
	  .better = ZM_BETTER_MORE,
	  .is_primary = true,
	  .summary = "calls times the bytes of all pages, as the original prints it" },
	{ .name = NULL },
};

struct migrate_run {
	uint64_t unit_bytes;
};

struct migrate_task {
	int fd;
	char *base;
	struct zm_cpuset nodes; /* with memory */
	unsigned int from;
};

static int list_nodes(const struct zm_run *run, struct zm_cpuset *ret_nodes)
{
	return zm_sysroot_read_cpuset(run->root, NODE_DIR "/has_memory", ret_nodes);
}

/* Half of the memory, split among the nodes. */
static uint64_t unit_bytes_of(const struct zm_run *run)
{
	zm_autocpuset struct zm_cpuset nodes = { 0 };
	size_t nr = list_nodes(run, &nodes) == 0 ? zm_cpuset_count(&nodes) : 1;
	uint64_t preset = zm_area_memory_bytes(run->root) / 2 / (nr ? nr : 1);

	return zm_area_unit_bytes(run, preset) / run->page_bytes * run->page_bytes;
}

static int check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_options *chosen = run->options;

	if (run->nr_tasks > 1)
		return zm_why_set(why, -EINVAL,
				  "nr_task=%u: one task moves its own pages; run with nr_task=1",
				  run->nr_tasks);
	if (unit_bytes_of(run) == 0)
		return zm_why_set(why, -EINVAL, "unit_size: less than a page of %llu bytes",
				  (unsigned long long)run->page_bytes);
	return zm_scratch_check(chosen->dir, why);
}

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_area_options *chosen = run->options;

	ret_footprint->task_files = 1;
	ret_footprint->task_bytes = unit_bytes_of(run);
	if (!zm_scratch_is_memory(chosen->dir))
		return;
	ret_footprint->disk_path = zm_scratch_dir(chosen->dir);
	ret_footprint->disk_bytes = unit_bytes_of(run);
}

static int prepare(struct zm_run *run, struct zm_why *why)
{
	struct migrate_run *shared = run->state;

	(void)why;
	shared->unit_bytes = unit_bytes_of(run);
	return 0;
}

static int set_policy(int mode, const struct zm_cpuset *nodes)
{
	long r = syscall(SYS_set_mempolicy, mode, nodes ? nodes->words : NULL,
			 nodes ? nodes->nr_words * BITS_PER_LONG + 1 : 0);

	return r < 0 ? -errno : 0;
}

static int read_interleaved(const struct migrate_task *state, uint64_t bytes)
{
	volatile const uint64_t *words = (volatile const uint64_t *)(const void *)state->base;
	int r = set_policy(MPOL_INTERLEAVE, &state->nodes);

	for (uint64_t i = 0; r == 0 && i < bytes / sizeof(*words); i++)
		(void)words[i];
	return r < 0 ? r : set_policy(MPOL_DEFAULT, NULL);
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_area_options *chosen = task->run->options;
	const struct migrate_run *shared = task->run->state;
	struct migrate_task *state = task->state;
	void *base;
	int r;

	state->fd = -1;
	r = list_nodes(task->run, &state->nodes);
	if (r < 0)
		return zm_why_errno(why, r, "/" NODE_DIR "/has_memory");
	r = zm_scratch_open(chosen->dir, shared->unit_bytes, &state->fd, why);
	if (r < 0)
		return r;
	base = mmap(NULL, shared->unit_bytes, PROT_READ, MAP_SHARED, state->fd, 0);
	if (base == MAP_FAILED)
		return zm_why_errno(why, -errno, "mapping the file; lower unit_size");
	state->base = base;
	state->from = (unsigned int)zm_cpuset_next(&state->nodes, 0);
	r = read_interleaved(state, shared->unit_bytes);
	return r < 0 ? zm_why_errno(why, r, "set_mempolicy(MPOL_INTERLEAVE)") : 0;
}

static void teardown(struct zm_task *task)
{
	const struct migrate_run *shared = task->run->state;
	struct migrate_task *state = task->state;

	if (state->base)
		(void)munmap(state->base, shared->unit_bytes);
	state->base = NULL;
	if (state->fd >= 0)
		(void)close(state->fd);
	state->fd = -1;
	zm_cpuset_release(&state->nodes);
}

/* Round and round. */
static unsigned int node_after(const struct zm_cpuset *nodes, unsigned int node)
{
	int next = zm_cpuset_next(nodes, node + 1);

	return (unsigned int)(next < 0 ? zm_cpuset_next(nodes, 0) : next);
}

/* A set of one node, as long as it must be to have the other too. */
static int make_set(struct zm_cpuset *set, unsigned int node, unsigned int other)
{
	int r = zm_cpuset_add(set, node);

	if (r == 0)
		r = zm_cpuset_add(set, other);
	if (r == 0 && other != node)
		zm_cpuset_remove(set, other);
	return r;
}

/* How many pages could not be moved, or -errno. */
static int64_t move(unsigned int from, unsigned int to)
{
	zm_autocpuset struct zm_cpuset old_nodes = { 0 };
	zm_autocpuset struct zm_cpuset new_nodes = { 0 };
	int r = make_set(&old_nodes, from, to);
	long left;

	if (r == 0)
		r = make_set(&new_nodes, to, from);
	if (r < 0)
		return r;
	left = syscall(SYS_migrate_pages, 0, old_nodes.nr_words * BITS_PER_LONG + 1,
		       old_nodes.words, new_nodes.words);
	return left < 0 ? -errno : left;
}

static int call(struct zm_task *task)
{
	struct migrate_task *state = task->state;
	unsigned int to = node_after(&state->nodes, state->from);
	int64_t left = move(state->from, to);

	if (left < 0)
		return zm_why_errno(&task->slot->why, (int)left,
				    "migrate_pages from node %u to node %u", state->from, to);
	zm_task_count(task, NOT_MOVED, (uint64_t)left);
	zm_task_add(task, 1);
	state->from = to;
	return 0;
}

static int report(const struct zm_window *window, struct zm_report *report)
{
	const struct migrate_run *shared = window->run->state;
	uint64_t calls = zm_window_ops(window);

	if (calls == 0)
		return zm_report_fail(
			report, -ENODATA,
			"no call of migrate_pages ended in the window of %.1f s; set a "
			"longer runtime, or a smaller unit_size",
			(double)(window->t1_ns - window->t0_ns) / 1e9);
	return zm_report_add(report, &metrics[0],
			     zm_window_rate(window, calls) * (double)shared->unit_bytes / 1e6,
			     (double)calls, window->t1_ns - window->t0_ns);
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "moves a file's pages from node to node",
	.op = "call",
	.kinds = ZM_TASK_PROCESS,
	.need = { .min_nodes = 2 },
	.own = &own,
	.options = zm_area_file_options,
	.options_size = sizeof(struct zm_area_options),
	.counters = counters,
	.metrics = metrics,
	.patience_ns = PATIENCE_NS,
	.run_bytes = sizeof(struct migrate_run),
	.task_bytes = sizeof(struct migrate_task),
	.check = check,
	.footprint = footprint,
	.prepare = prepare,
	.setup = setup,
	.teardown = teardown,
	.round = call,
	.report = report,
};
