/*
 * perf-profile: where the CPUs' time goes, by function and call chain of the kernel.
 *
 *     perf-profile.samples  .idle  .user     what was sampled in the measured window
 *     perf-profile.lost  .throttled  .unkept samples that found no room in a ring; how often the kernel
 *                                            held the sampling back; samples whose chain found no room
 *
 * Every CPU is sampled 997 times a second while the window is measured, by cycles where the CPU counts
 * them, else by its clock; the call chains are kept, and named when the run is over (profile.h). Idle
 * samples are left out of the percentages.
 *
 * The clock's interrupt has to wait where interrupts are off, and a zone's lock is held so: what is spent
 * there is charged to the place where they are let in again. So a share of time spent waiting for the
 * lock is given from cycles only; from the clock there is the share of the lock's sections, waiting and
 * holding together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "runner/monitor.h"
#include "runner/monitors/chains.h"
#include "runner/monitors/fold.h"
#include "runner/monitors/perf.h"
#include "runner/monitors/profile.h"
#include "workloads/base/cpuset.h"

#define FREQUENCY_HZ 997 /* a prime, so that it keeps no step with the timer */
#define RING_PAGES   64
#define MAX_STACK    48
#define MAX_CHAINS   16384
#define MAX_FRAMES   ((size_t)MAX_CHAINS * 12)
#define MAX_ROWS     100 /* of each kind in the report */
#define MIN_PERCENT  0.1

enum total {
	SAMPLES,
	IDLE,
	USER,
	LOST,
	THROTTLED,
	UNKEPT,
	NR_TOTALS,
};

struct state {
	struct zm_perf_ring *rings;
	size_t nr_rings;
	bool is_cycles;
	bool is_on;
	struct zm_chains chains;
	uint64_t totals[NR_TOTALS];
	uint32_t series[NR_TOTALS];
	uint64_t t0_ns, t1_ns; /* while it was on */
};

static const struct {
	const char *name, *unit;
} totals[NR_TOTALS] = {
	[SAMPLES] = { "perf-profile.samples", "samples" },
	[IDLE] = { "perf-profile.idle", "samples" },
	[USER] = { "perf-profile.user", "samples" },
	[LOST] = { "perf-profile.lost", "samples" },
	[THROTTLED] = { "perf-profile.throttled", "events" },
	[UNKEPT] = { "perf-profile.unkept", "samples" },
};

/* --- opening ----------------------------------------------------------------------------------- */

static void describe_event(struct perf_event_attr *attr, bool is_cycles)
{
	*attr = (struct perf_event_attr){
		.type = is_cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = is_cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = FREQUENCY_HZ,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_user = 1,
		.sample_max_stack = MAX_STACK,
		.disabled = 1,
	};
}

/* Smaller rings where so much memory may not be locked. */
static int open_ring(struct zm_perf_ring *ring, int cpu, bool is_cycles)
{
	struct perf_event_attr attr;
	int error = -EPERM;

	for (size_t nr_pages = RING_PAGES; error == -EPERM && nr_pages >= 4; nr_pages /= 2) {
		describe_event(&attr, is_cycles);
		error = zm_perf_ring_open(ring, &attr, cpu, nr_pages);
	}
	return error;
}

static void close_rings(struct state *state)
{
	for (size_t i = 0; i < state->nr_rings; i++)
		zm_perf_ring_close(&state->rings[i]);
	free(state->rings);
	state->rings = NULL;
	state->nr_rings = 0;
}

static int open_rings(struct state *state, const struct zm_cpuset *online, bool is_cycles)
{
	int error = 0;

	state->rings = calloc(zm_cpuset_count(online), sizeof(*state->rings));
	if (!state->rings)
		return -ENOMEM;
	zm_cpuset_for_each (cpu, online) {
		if (error)
			break;
		error = open_ring(&state->rings[state->nr_rings], cpu, is_cycles);
		state->nr_rings += !error;
	}
	state->is_cycles = is_cycles;
	return error;
}

static int declare(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	int error = zm_chains_init(&state->chains, MAX_CHAINS, MAX_FRAMES);

	for (unsigned int i = 0; !error && i < NR_TOTALS; i++) {
		const struct zm_series_desc desc = {
			.source = context->monitor->name,
			.metric = totals[i].name,
			.unit = totals[i].unit,
			.kind = ZM_COUNT,
		};

		error = zm_recorder_series(context->recorder, &desc, &state->series[i]);
	}
	if (!error)
		error = zm_recorder_note(context->recorder, "perf-profile",
					 state->is_cycles
						 ? "sampled by cycles"
						 : "sampled by cpu-clock: time with interrupts off "
						   "is charged to where they come on again");
	return error;
}

static int open_profile(struct zm_monitor_context *context, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset online = { 0 };
	struct state *state = context->state;
	int error = zm_perf_check(context, why);

	if (error)
		return error;
	error = zm_sysroot_read_cpuset(context->root, "sys/devices/system/cpu/online", &online);
	if (error)
		return zm_why_errno(why, error, "/sys/devices/system/cpu/online");
	error = open_rings(state, &online, true);
	if (error) {
		close_rings(state);
		error = open_rings(state, &online, false);
	}
	if (error)
		return zm_perf_why(why, error, "perf-profile");
	error = declare(context);
	return error ? zm_why_errno(why, error, "perf-profile") : 0;
}

/* --- reading ----------------------------------------------------------------------------------- */

/* The record of a sample as it was asked for. */
struct sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t nr;
	uint64_t ips[];
};

struct lost {
	struct perf_event_header header;
	uint64_t id;
	uint64_t nr;
};

/* The kernel's frames of a chain: marks in it say whose the next ones are. */
static uint32_t kernel_frames(const struct sample *sample, uint64_t *frames)
{
	uint64_t max = (sample->header.size - sizeof(*sample)) / sizeof(uint64_t);
	bool is_kernel = true;
	uint32_t nr = 0;

	for (uint64_t i = 0; i < sample->nr && i < max && nr < MAX_STACK; i++) {
		if (sample->ips[i] >= (uint64_t)PERF_CONTEXT_MAX)
			is_kernel = sample->ips[i] == (uint64_t)PERF_CONTEXT_KERNEL;
		else if (is_kernel)
			frames[nr++] = sample->ips[i];
	}
	return nr;
}

static void take_sample(struct state *state, const struct sample *sample)
{
	uint64_t frames[MAX_STACK];
	uint32_t nr;

	state->totals[SAMPLES]++;
	if (sample->pid == 0) {
		state->totals[IDLE]++;
		return;
	}
	nr = kernel_frames(sample, frames);
	if (nr == 0)
		state->totals[USER]++;
	else
		zm_chains_add(&state->chains, frames, nr, 1);
}

static void take(void *user, const struct perf_event_header *record)
{
	struct state *state = user;

	if (record->type == PERF_RECORD_SAMPLE && record->size >= sizeof(struct sample))
		take_sample(state, (const struct sample *)(const void *)record);
	else if (record->type == PERF_RECORD_LOST && record->size >= sizeof(struct lost))
		state->totals[LOST] += ((const struct lost *)(const void *)record)->nr;
	else if (record->type == PERF_RECORD_THROTTLE)
		state->totals[THROTTLED]++;
}

static int switch_rings(struct state *state, bool is_on)
{
	int first_error = 0;

	for (size_t i = 0; i < state->nr_rings; i++) {
		int error = zm_perf_ring_enable(&state->rings[i], is_on);

		if (error && !first_error)
			first_error = error;
	}
	state->is_on = is_on;
	return first_error;
}

static int read_profile(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	bool is_measuring = context->phase == ZM_PHASE_MEASURE;
	uint64_t lost_before = state->totals[LOST];
	uint32_t flags;
	int error = 0;

	if (state->is_on && !is_measuring) {
		error = switch_rings(state, false);
		state->t1_ns = t_ns;
	}
	for (size_t i = 0; i < state->nr_rings; i++)
		zm_perf_ring_drain(&state->rings[i], take, state);
	state->totals[UNKEPT] = state->chains.nr_unkept;
	flags = state->totals[LOST] > lost_before ? ZM_FLAG_LOST : 0;
	for (unsigned int i = 0; i < NR_TOTALS; i++)
		zm_recorder_put_u64(context->recorder, state->series[i], t_ns, state->totals[i],
				    flags);
	if (!state->is_on && is_measuring && state->t0_ns == 0) {
		error = switch_rings(state, true);
		state->t0_ns = t_ns;
	}
	return error;
}

/* --- the report -------------------------------------------------------------------------------- */

static const struct zm_metric slowpath = { .name = "perf-profile.slowpath%", .unit = "%" };
static const struct zm_metric slowpath_alloc = { .name = "perf-profile.zone-lock.alloc%",
						 .unit = "%" };
static const struct zm_metric slowpath_free = { .name = "perf-profile.zone-lock.free%",
						.unit = "%" };
static const struct zm_metric section_alloc = { .name = "perf-profile.zone-lock-section.alloc%",
						.unit = "%" };
static const struct zm_metric section_free = { .name = "perf-profile.zone-lock-section.free%",
					       .unit = "%" };

static int add_share(struct zm_report *report, const struct zm_metric *metric, uint64_t times,
		     uint64_t total, uint64_t width_ns)
{
	return zm_report_add(report, metric, 100 * (double)times / (double)total, (double)times,
			     width_ns);
}

static int report_locks(const struct state *state, const struct zm_profile *profile,
			uint64_t width_ns, struct zm_report *report)
{
	uint64_t total = profile->total;
	int error;

	if (!state->is_cycles) {
		error = add_share(report, &section_alloc, profile->section_alloc, total, width_ns);
		return error ? error
			     : add_share(report, &section_free, profile->section_free, total,
					 width_ns);
	}
	error = add_share(report, &slowpath, profile->slowpath, total, width_ns);
	if (!error)
		error = add_share(report, &slowpath_alloc, profile->slowpath_alloc, total,
				  width_ns);
	if (!error)
		error = add_share(report, &slowpath_free, profile->slowpath_free, total, width_ns);
	return error;
}

static const char *event_of(const struct state *state)
{
	return state->is_cycles ? "cycles-pp" : "cpu-clock";
}

/* All chains, for flame graphs: the sum is all samples but the idle ones. */
static int keep_chains(struct zm_monitor_context *context, const struct zm_ksyms *ksyms)
{
	const struct state *state = context->state;
	const struct zm_fold_extra extras[] = { { "[user]", state->totals[USER] },
						{ "[chain not kept]", state->totals[UNKEPT] },
						{ .frame = NULL } };
	struct zm_stacks stacks = { .source = context->monitor->name,
				    .event = event_of(state),
				    .unit = "samples" };
	char *folded;
	int error = zm_fold(&state->chains, ksyms, extras, &folded);

	if (error)
		return error;
	stacks.folded = folded;
	error = folded[0] ? zm_recorder_stacks(context->recorder, &stacks) : 0;
	free(folded);
	return error;
}

/* What is missing stands beside the figures. */
static int say_missing(struct zm_monitor_context *context)
{
	const struct state *state = context->state;
	char text[256];

	if (state->totals[LOST] == 0 && state->totals[THROTTLED] == 0 && state->totals[UNKEPT] == 0)
		return 0;
	(void)snprintf(text, sizeof(text),
		       "perf-profile: beside %llu samples %llu were lost, %llu had no room for "
		       "their chain, and "
		       "the kernel held the sampling back %llu times",
		       (unsigned long long)state->totals[SAMPLES],
		       (unsigned long long)state->totals[LOST],
		       (unsigned long long)state->totals[UNKEPT],
		       (unsigned long long)state->totals[THROTTLED]);
	return zm_recorder_note(context->recorder, "lost", text);
}

static int report_named(struct zm_monitor_context *context, const struct zm_ksyms *ksyms,
			struct zm_report *report)
{
	const struct state *state = context->state;
	uint64_t width_ns = state->t1_ns - state->t0_ns;
	struct zm_profile profile;
	int error = zm_profile_count(&profile, &state->chains, ksyms,
				     state->totals[SAMPLES] - state->totals[IDLE]);

	if (!error && profile.total > 0)
		error = report_locks(state, &profile, width_ns, report);
	if (!error)
		error = zm_profile_report(&profile, event_of(state), MIN_PERCENT, MAX_ROWS,
					  width_ns, report);
	if (!error)
		error = keep_chains(context, ksyms);
	if (!error)
		error = say_missing(context);
	zm_profile_release(&profile);
	return error;
}

static int report_profile(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			  struct zm_report *report)
{
	const struct state *state = context->state;
	struct zm_ksyms ksyms = { 0 };
	struct zm_why why = { "" };
	int error;

	(void)t0_ns;
	(void)t1_ns;
	if (state->t1_ns == 0)
		return zm_recorder_absent(context->recorder, context->monitor->name,
					  "the measured window did not end");
	error = zm_ksyms_read(&ksyms, context->root, &why);
	if (error)
		error = zm_recorder_absent(context->recorder, context->monitor->name, why.text);
	else
		error = report_named(context, &ksyms, report);
	zm_ksyms_release(&ksyms);
	return error;
}

static void close_profile(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	close_rings(state);
	zm_chains_release(&state->chains);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the kernel's functions and call chains by the time they took",
	.needs = "perf events: CAP_PERFMON, CAP_SYSLOG; cycles with a PMU, cpu-clock without",
	.rate = ZM_RATE_FAST,
	.is_extra = true,
	.state_bytes = sizeof(struct state),
	.open = open_profile,
	.read = read_profile,
	.report = report_profile,
	.close = close_profile,
};
