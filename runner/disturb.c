/* disturb: proc/stat, cpu.stat, and the arithmetic between two reads of them. */
#include "runner/disturb.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "workloads/base/cgroup.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define STEAL_MUCH     1.0 /* percent */
#define OTHERS_MUCH    2.0
#define THROTTLED_MUCH 0.1

/* "cpu7 user nice system idle iowait irq softirq steal …", in ticks. */
static void add_cpu(const char *line, const struct zm_cpuset *used, uint64_t tick_ns,
		    struct zm_disturb_sample *sample)
{
	uint64_t v[8] = { 0 };
	unsigned int cpu;

	if (sscanf(line,
		   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &cpu, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) < 5 ||
	    !zm_cpuset_has(used, cpu))
		return;
	sample->has_cpu = true;
	sample->busy_ns += (v[0] + v[1] + v[2]) * tick_ns;
	sample->steal_ns += v[7] * tick_ns;
	for (size_t i = 0; i < 8; i++)
		sample->total_ns += v[i] * tick_ns;
}

static void read_cpus(const struct zm_sysroot *root, const struct zm_cpuset *used,
		      struct zm_disturb_sample *sample)
{
	uint64_t tick_ns = ZM_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	zm_autofree char *text = NULL;
	char *save = NULL;
	size_t length;

	if (zm_sysroot_read(root, "proc/stat", &text, &length) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "cpu", 3) == 0 && line[3] != ' ')
			add_cpu(line, used, tick_ns, sample);
	}
}

static void read_self(struct zm_disturb_sample *sample)
{
	struct timespec spent;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent) == 0)
		sample->self_ns = (uint64_t)spent.tv_sec * ZM_NS_PER_S + (uint64_t)spent.tv_nsec;
}

/* Of this process's cgroup and those above it: any of their quotas may bite. */
static void read_throttle(const struct zm_sysroot *root, struct zm_disturb_sample *sample)
{
	struct zm_cgroup cgroup;

	if (zm_cgroup_find(root, "cpu", &cgroup) < 0)
		return;
	do {
		bool is_old = cgroup.version == 1;
		uint64_t value;

		if (zm_cgroup_read_key(root, &cgroup, "cpu.stat",
				       is_old ? "throttled_time" : "throttled_usec", &value) < 0)
			continue;
		sample->has_throttle = true;
		sample->throttled_ns += value * (is_old ? 1 : ZM_NS_PER_US);
	} while (zm_cgroup_ascend(&cgroup));
}

void zm_disturb_read(const struct zm_sysroot *root, const struct zm_cpuset *used,
		     struct zm_disturb_sample *ret_sample)
{
	*ret_sample = (struct zm_disturb_sample){ 0 };
	read_cpus(root, used, ret_sample);
	read_self(ret_sample);
	read_throttle(root, ret_sample);
}

static double since(uint64_t from, uint64_t to)
{
	return to > from ? (double)(to - from) : 0;
}

void zm_disturb_between(const struct zm_disturb_sample *from, const struct zm_disturb_sample *to,
			const struct zm_tasktime *tasks, uint64_t interval_ns,
			struct zm_disturb *ret_disturb)
{
	double total = since(from->total_ns, to->total_ns);

	*ret_disturb = (struct zm_disturb){ -1, -1, -1 };
	if (from->has_cpu && to->has_cpu && total > 0) {
		double others =
			since(from->busy_ns, to->busy_ns) - since(from->self_ns, to->self_ns);

		ret_disturb->steal = 100 * since(from->steal_ns, to->steal_ns) / total;
		if (tasks) {
			others -= (double)tasks->cpu_ns;
			ret_disturb->others = others > 0 ? 100 * others / total : 0;
		}
	}
	if (from->has_throttle && to->has_throttle && interval_ns > 0)
		ret_disturb->throttled =
			100 * since(from->throttled_ns, to->throttled_ns) / (double)interval_ns;
}

bool zm_disturb_is_much(const struct zm_disturb *disturb, char *buf, size_t size)
{
	if (disturb->steal > STEAL_MUCH)
		(void)snprintf(buf, size, "the hypervisor took %.1f %% of the CPUs' time (steal)",
			       disturb->steal);
	else if (disturb->others > OTHERS_MUCH)
		(void)snprintf(buf, size, "other processes had %.1f %% of the CPUs' time",
			       disturb->others);
	else if (disturb->throttled > THROTTLED_MUCH)
		(void)snprintf(buf, size, "a CPU quota held tasks back for %.1f %% of the time",
			       disturb->throttled);
	else
		return false;
	return true;
}
