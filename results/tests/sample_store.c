/*
 * sample_store: a store that is the same every time, for the tests of the commands.
 *
 *     sample_store FILE [NR]      a history of NR runs of two kernels (6 unless told otherwise)
 *
 * Every six runs are two boots, of the same two kernels. Run 1 and 2 are launches of one cell (label "base"), 3 and 4 of another (label "new", another kernel
 * and boot), 5 failed, 6 was skipped. The first have 2 tasks, 10 intervals of 500 ms, used memory at 10
 * Hz, a count that never moves, a histogram, call chains, notes and an absence, and a hostile label on run 6.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define WALL_NS     UINT64_C(1777636800000000000) /* 2026-05-01 12:00:00 UTC */
#define START_NS    (100 * ZM_NS_PER_S)
#define NR_TASKS    2
#define INTERVAL_NS (500 * ZM_NS_PER_MS)

static void check(int error, const struct zm_why *why)
{
	if (error) {
		(void)fprintf(stderr, "sample_store: %s (%d)\n", why->text, error);
		exit(1);
	}
}

/* Seconds since the run's start at which each phase begins; the last one's end. */
static const double borders_s[ZM_NR_PHASES + 1] = { 0, 0.1, 1.1, 1.2, 2.2, 7.2, 7.25, 9.25, 9.3 };

static uint64_t moment(double seconds)
{
	return START_NS + (uint64_t)(seconds * 1e9 + 0.5);
}

/* Pages touched by a task after so many seconds: 100,000 a second from the gate to the stop, the second
 * task a tenth slower, and in every other interval a hundredth more. */
static uint64_t ops_at(unsigned int task, double seconds, double speed)
{
	double from = borders_s[ZM_PHASE_WARMUP], to = borders_s[ZM_PHASE_STOP];
	double t = seconds < from ? 0 : seconds > to ? to - from : seconds - from;
	double wave = 0.01 * (double)((unsigned int)(t * 2) % 2) * 0.5;

	return (uint64_t)(100000 * speed * (task ? 0.9 : 1) * (t + wave));
}

struct sample {
	struct zm_recorder *recorder;
	uint32_t ops[NR_TASKS], faults[NR_TASKS], used, still, pgfault, latency;
	double speed;
};

static uint32_t declare(const struct sample *sample, const struct zm_series_desc *desc)
{
	const struct zm_why none = { "series" };
	uint32_t series = 0;

	check(zm_recorder_series(sample->recorder, desc, &series), &none);
	return series;
}

static void declare_all(struct sample *sample)
{
	for (uint32_t i = 0; i < NR_TASKS; i++) {
		sample->ops[i] =
			declare(sample, &(struct zm_series_desc){ .source = ZM_SOURCE_ENGINE,
								  .metric = ZM_SERIES_TASK_OPS,
								  .unit = "page",
								  .kind = ZM_COUNT,
								  .better = ZM_BETTER_MORE,
								  .scope = ZM_SCOPE_TASK,
								  .scope_id = i });
		sample->faults[i] =
			declare(sample, &(struct zm_series_desc){ .source = ZM_SOURCE_ENGINE,
								  .metric = ZM_SERIES_TASK_FAULTS,
								  .unit = "faults",
								  .kind = ZM_COUNT,
								  .scope = ZM_SCOPE_TASK,
								  .scope_id = i });
	}
	sample->used = declare(sample, &(struct zm_series_desc){ .source = "memused",
								 .metric = "meminfo.Memused",
								 .unit = "kB",
								 .kind = ZM_GAUGE });
	sample->still = declare(sample, &(struct zm_series_desc){ .source = "proc-vmstat",
								  .metric = "proc-vmstat.oom_kill",
								  .unit = "events",
								  .kind = ZM_COUNT });
	sample->pgfault = declare(sample, &(struct zm_series_desc){ .source = "proc-vmstat",
								    .metric = "proc-vmstat.pgfault",
								    .unit = "faults",
								    .kind = ZM_COUNT });
	sample->latency = declare(sample, &(struct zm_series_desc){ .source = "page_fault1",
								    .metric = "fault.latency",
								    .unit = "ns",
								    .kind = ZM_HIST });
}

static void read_tasks(const struct sample *sample, double seconds, bool is_border)
{
	uint64_t t_ns = moment(seconds);

	for (unsigned int i = 0; i < NR_TASKS; i++) {
		uint64_t ops = ops_at(i, seconds, sample->speed);

		zm_recorder_put_u64(sample->recorder, sample->ops[i], t_ns, ops, 0);
		if (is_border)
			zm_recorder_put_u64(sample->recorder, sample->faults[i], t_ns, ops + 7, 0);
	}
}

static void read_machine(const struct sample *sample, double seconds)
{
	uint64_t t_ns = moment(seconds);
	struct zm_hist hist;
	uint64_t ops = ops_at(0, seconds, sample->speed) + ops_at(1, seconds, sample->speed);

	zm_recorder_put_u64(sample->recorder, sample->still, t_ns, 3, 0);
	zm_recorder_put_u64(sample->recorder, sample->pgfault, t_ns, 5000000 + ops + ops / 20, 0);
	zm_hist_init(&hist);
	zm_hist_add(&hist, 1000, ops);
	zm_hist_add(&hist, 20000, ops / 100);
	zm_recorder_put_hist(sample->recorder, sample->latency, t_ns, &hist, 0);
}

static void read_used(const struct sample *sample, double seconds)
{
	bool is_busy = seconds >= borders_s[ZM_PHASE_WARMUP] && seconds < borders_s[ZM_PHASE_STOP];

	zm_recorder_put_u64(sample->recorder, sample->used, moment(seconds),
			    UINT64_C(2000000) + (is_busy ? 262144u : 0u) +
				    (uint64_t)(seconds * 10 + 0.5) % 7u * 100u,
			    seconds > 4.95 && seconds < 5.05 ? ZM_FLAG_LATE : 0);
}

static void play_phase(const struct sample *sample, enum zm_phase phase)
{
	double from = borders_s[phase], to = borders_s[phase + 1];

	for (double t = from + 0.1; t < to - 0.01; t += 0.1)
		read_used(sample, t);
	for (double t = from + 0.5; t < to - 0.01; t += 0.5)
		read_tasks(sample, t, false);
	read_used(sample, to);
	read_tasks(sample, to, true);
	read_machine(sample, to);
	(void)zm_recorder_phase(sample->recorder, phase, moment(from), moment(to));
	(void)zm_recorder_flush(sample->recorder, NULL);
}

static void add_figure(const struct sample *sample, const char *metric, const char *unit,
		       const char *source, double value, double count, bool is_primary)
{
	const struct zm_why none = { "figure" };

	check(zm_recorder_result(sample->recorder,
				 &(struct zm_result){ .metric = metric,
						      .unit = unit,
						      .source = source,
						      .better = is_primary ? ZM_BETTER_MORE
									   : ZM_BETTER_NEITHER,
						      .is_primary = is_primary,
						      .value = value,
						      .count = count,
						      .interval_ns = 5 * ZM_NS_PER_S }),
	      &none);
}

static void add_figures(const struct sample *sample)
{
	double from = borders_s[ZM_PHASE_MEASURE], to = borders_s[ZM_PHASE_STOP];
	double ops = 0;

	for (unsigned int i = 0; i < NR_TASKS; i++)
		ops += (double)(ops_at(i, to, sample->speed) - ops_at(i, from, sample->speed));
	add_figure(sample, "will-it-scale.per_process_ops", "pages/s", "page_fault1",
		   ops / 5 / NR_TASKS, ops, true);
	add_figure(sample, "will-it-scale.2.processes", "pages/s", "page_fault1", ops / 5, ops,
		   false);
	add_figure(sample, ZM_FIGURE_OPS, "", ZM_SOURCE_ENGINE, ops, ops, false);
	add_figure(sample, ZM_FIGURE_TASK_FAULTS, "faults", ZM_SOURCE_ENGINE, ops, ops, false);
	add_figure(sample, ZM_FIGURE_KERNEL_FAULTS, "faults", ZM_SOURCE_ENGINE, ops * 1.05,
		   ops * 1.05, false);
	add_figure(sample, ZM_FIGURE_STEAL, "%", ZM_SOURCE_ENGINE, 0, 0, false);
	add_figure(sample, ZM_FIGURE_PEAK_USED, "bytes", ZM_SOURCE_ENGINE, 2317000704, 0, false);
	add_figure(sample, ZM_FIGURE_SKEW, "ns", ZM_SOURCE_ENGINE, 41200, 0, false);
}

static void add_chains(const struct sample *sample)
{
	static const char folded[] = "asm_exc_page_fault;handle_mm_fault 300\n"
				     "asm_exc_page_fault;handle_mm_fault;clear_page 600\n"
				     "do_syscall_64;__munmap;free_pages 90\n"
				     "[user] 10\n";
	const struct zm_why none = { "call chains" };

	check(zm_recorder_stacks(sample->recorder, &(struct zm_stacks){ .source = "perf-profile",
									.event = "cpu-clock",
									.unit = "samples",
									.folded = folded }),
	      &none);
}

static void play(const struct sample *sample, enum zm_status status, const char *reason)
{
	struct zm_why why = { "" };

	read_used(sample, 0);
	read_tasks(sample, 0, true);
	read_machine(sample, 0);
	for (unsigned int phase = 0; phase < ZM_NR_PHASES; phase++)
		play_phase(sample, (enum zm_phase)phase);
	for (unsigned int i = 0; i < NR_TASKS; i++)
		(void)zm_recorder_task(sample->recorder, i, 4711 + (int)i, (int)i, 0);
	if (status == ZM_STATUS_OK)
		add_figures(sample);
	(void)zm_recorder_note(sample->recorder, "disturbed",
			       "other processes had 3.7 % of the CPUs' time");
	(void)zm_recorder_absent(sample->recorder, "perf-stat",
				 "no CPU PMU (perf_event_open: ENOENT)");
	if (status == ZM_STATUS_OK)
		add_chains(sample);
	check(zm_recorder_end(sample->recorder, status, reason, &why), &why);
}

static const struct plan {
	const char *label, *workload, *kernel, *boot, *reason;
	enum zm_status status;
	unsigned int repeat;
	double speed;
} plans[] = {
	{ "base", "page_fault1", "6.18.0", "b1", NULL, ZM_STATUS_OK, 0, 1.00 },
	{ "base", "page_fault1", "6.18.0", "b1", NULL, ZM_STATUS_OK, 1, 1.02 },
	{ "new", "page_fault1", "6.19.0-rc1", "b2", NULL, ZM_STATUS_OK, 0, 1.10 },
	{ "new", "page_fault1", "6.19.0-rc1", "b2", NULL, ZM_STATUS_OK, 1, 1.08 },
	{ "new", "page_fault2", "6.19.0-rc1", "b2", "task 1 was killed by signal 9",
	  ZM_STATUS_FAILED, 0, 1 },
	{ "\x1b[31m<b>\"evil\",\n'label'", "sctp_stream_many", "6.19.0-rc1", "b2",
	  "SCTP is not in this kernel", ZM_STATUS_SKIPPED, 0, 1 },
};
#define NR_PLANS (sizeof(plans) / sizeof(plans[0]))

static void make_run(struct zm_store *store, uint64_t number)
{
	const struct plan *plan = &plans[number % NR_PLANS];
	/* later rounds are boots of their own, up to 0.8 % quicker */
	struct sample sample = { .speed = plan->speed *
					  (1 + 0.002 * (double)(number / NR_PLANS * 7 % 5)) };
	struct zm_why why = { "" };
	char uuid[37], invocation[37], params[128], cell[128], boot[48];
	struct zm_run_record record = {
		.invocation = invocation,
		.command_line = "zonemark run page_fault1 mode=process nr_task=2 --repeat 2",
		.label = plan->label,
		.workload = plan->workload,
		.params = params,
		.cell = cell,
		.repeat = plan->repeat,
		.status = plan->status == ZM_STATUS_SKIPPED ? plan->status : ZM_STATUS_RUNNING,
		.reason = plan->reason,
		.nr_tasks = NR_TASKS,
		.kind = "process",
		.inventory = "{\"cpu_model\":\"Example 9000\",\"cpus_online\":2,\"sockets\":1,"
			     "\"memory_bytes\":17179869184,\"nodes\":[{\"node\":0}]}",
		.machine_id = "0123456789abcdef",
		.boot_id = boot,
		.kernel = plan->kernel,
		.version = "0.1.0",
		.uuid = uuid,
		.wall_ns = WALL_NS + number * 60 * ZM_NS_PER_S,
		.start_ns = START_NS,
	};

	(void)snprintf(uuid, sizeof(uuid), "%08llx-0000-4000-8000-%012llx",
		       (unsigned long long)(number + 1) * 0x11111111 & 0xffffffff,
		       (unsigned long long)number & 0xffffffffffffU);
	(void)snprintf(invocation, sizeof(invocation), "cccccccc-0000-4000-8000-%012llx",
		       (unsigned long long)((number / NR_PLANS) << 8 |
					    (unsigned char)plan->boot[1] |
					    (plan->workload[0] == 's' ? 128 : 0)));
	(void)snprintf(boot, sizeof(boot), "%s-%llu", plan->boot,
		       (unsigned long long)(number / NR_PLANS));
	(void)snprintf(params, sizeof(params),
		       "{\"mode\":\"process\",\"nr_task\":2,\"size\":\"128M\",\"workload\":\"%s\"}",
		       plan->workload);
	(void)snprintf(cell, sizeof(cell),
		       "{\"mode\":\"process\",\"nr_task\":\"2\",\"workload\":\"%s\"}",
		       plan->workload);
	check(zm_recorder_begin(store, &record, &sample.recorder, &why), &why);
	if (plan->status == ZM_STATUS_SKIPPED) {
		check(zm_recorder_end(sample.recorder, plan->status, plan->reason, &why), &why);
		return;
	}
	declare_all(&sample);
	play(&sample, plan->status, plan->reason);
}

int main(int argc, char **argv)
{
	struct zm_store *store = NULL;
	struct zm_why why = { "" };
	uint64_t nr = NR_PLANS;

	if (argc < 2 || (argc > 2 && zm_units_parse_u64(argv[2], &nr) < 0))
		return 2;
	check(zm_store_open(argv[1], true, &store, &why), &why);
	for (uint64_t i = 0; i < nr; i++)
		make_run(store, i);
	zm_store_close(store);
	return 0;
}
