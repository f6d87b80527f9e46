/*
 * turbostat: at which frequency the CPUs run, and what power they take.
 *
 *     turbostat.MHz            of each CPU, now; and their mean, least and most
 *     turbostat.PkgJ.socket0   energy that a package has taken, as RAPL counts it; CorJ its cores, RAMJ its
 *                              memory
 *
 * Frequencies are cpufreq's, energy is the power capping driver's: few guests have either. RAPL's counters
 * run over after some minutes at full power; the sums here go on. The report gives the mean frequency and
 * the robot's turbostat.PkgWatt, CorWatt and RAMWatt, of all packages together. Time in idle states is
 * cpuidle's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/fields.h"
#include "runner/monitors/window.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

#define MAX_DOMAINS 64
#define PATH_SIZE   160

enum part {
	PACKAGE,
	CORES,
	MEMORY,
	NR_PARTS,
};

static const struct {
	const char *domain; /* how its name begins in sysfs */
	const char *energy;
	struct zm_metric power;
} parts[NR_PARTS] = {
	[PACKAGE] = { "package-", "PkgJ", { .name = "turbostat.PkgWatt", .unit = "W" } },
	[CORES] = { "core", "CorJ", { .name = "turbostat.CorWatt", .unit = "W" } },
	[MEMORY] = { "dram", "RAMJ", { .name = "turbostat.RAMWatt", .unit = "W" } },
};

/* A counter of energy. */
struct domain {
	char folder[64]; /* "intel-rapl:0:2" */
	enum part part;
	uint64_t last_uj, range_uj;
	uint64_t sum_uj;
	bool has_begun;
	uint32_t series;
};

enum shown {
	MEAN,
	LEAST,
	MOST,
	NR_SHOWN,
};

struct state {
	struct zm_cpuset cpus; /* that tell their frequency */
	uint32_t *cpu_series;  /* in their order */
	uint32_t series[NR_SHOWN];
	struct zm_window_figure windows[NR_SHOWN];
	struct domain domains[MAX_DOMAINS];
	unsigned int nr_domains;
	struct zm_window_figure energy[NR_PARTS]; /* uJ, summed over the packages */
};

static const struct zm_metric frequencies[NR_SHOWN] = {
	[MEAN] = { .name = "turbostat.MHz", .unit = "MHz" },
	[LEAST] = { .name = "turbostat.min_MHz", .unit = "MHz" },
	[MOST] = { .name = "turbostat.max_MHz", .unit = "MHz" },
};

/* --- opening ----------------------------------------------------------------------------------- */

static int read_number(const struct zm_sysroot *root, const char *path, uint64_t *ret_value)
{
	char text[64];
	uint32_t flags;
	size_t length;
	int error = zm_sysroot_read_into(root, path, text, sizeof(text), &length);

	if (error)
		return error;
	return zm_fields_number(text, text + strcspn(text, "\n"), ret_value, &flags) ? 0 : -ENODATA;
}

static int read_khz(const struct zm_sysroot *root, int cpu, uint64_t *ret_khz)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
		       cpu);
	return read_number(root, path, ret_khz);
}

static int read_energy(const struct zm_sysroot *root, const struct domain *domain, const char *file,
		       uint64_t *ret_uj)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "sys/class/powercap/%s/%s", domain->folder, file);
	return read_number(root, path, ret_uj);
}

static int declare_frequencies(struct zm_monitor_context *context)
{
	struct state *state = context->state;
	struct zm_series_desc desc = { .source = context->monitor->name,
				       .metric = frequencies[MEAN].name,
				       .unit = "MHz",
				       .kind = ZM_GAUGE,
				       .scope = ZM_SCOPE_CPU,
				       .is_float = true };
	size_t nr = 0;
	int error = 0;

	state->cpu_series = calloc(zm_cpuset_count(&state->cpus) + 1, sizeof(uint32_t));
	if (!state->cpu_series)
		return -ENOMEM;
	zm_cpuset_for_each (cpu, &state->cpus) {
		desc.scope_id = (uint32_t)cpu;
		if (!error)
			error = zm_recorder_series(context->recorder, &desc,
						   &state->cpu_series[nr++]);
	}
	desc.scope = ZM_SCOPE_HOST;
	desc.scope_id = 0;
	for (enum shown i = 0; !error && i < NR_SHOWN; i++) {
		desc.metric = frequencies[i].name;
		error = zm_recorder_series(context->recorder, &desc, &state->series[i]);
	}
	return error;
}

/* -ENOTSUP: no CPU tells its frequency. */
static int open_frequencies(struct zm_monitor_context *context)
{
	zm_autocpuset struct zm_cpuset all = { 0 };
	struct state *state = context->state;
	uint64_t khz;
	int error = zm_sysroot_list_numbered(context->root, "sys/devices/system/cpu", "cpu", &all);

	zm_cpuset_for_each (cpu, &all) {
		if (!error && read_khz(context->root, cpu, &khz) == 0)
			error = zm_cpuset_add(&state->cpus, (unsigned int)cpu);
	}
	if (!error && zm_cpuset_count(&state->cpus) == 0)
		error = -ENOTSUP;
	return error ? error : declare_frequencies(context);
}

/* A domain whose counter may not be read keeps the error for the sentence. */
static int add_domain(struct zm_monitor_context *context, const char *folder, unsigned int socket,
		      int *refused)
{
	struct state *state = context->state;
	struct domain domain = { .part = NR_PARTS };
	char path[PATH_SIZE], name[32], metric[64];
	const struct zm_series_desc desc = {
		.source = context->monitor->name, .metric = metric, .unit = "uJ", .kind = ZM_COUNT
	};
	int error;

	(void)snprintf(domain.folder, sizeof(domain.folder), "%s", folder);
	(void)snprintf(path, sizeof(path), "sys/class/powercap/%s/name", folder);
	if (zm_sysroot_read_line(context->root, path, name, sizeof(name)))
		return 0;
	for (enum part i = 0; i < NR_PARTS; i++)
		if (strncmp(name, parts[i].domain, strlen(parts[i].domain)) == 0)
			domain.part = i;
	if (domain.part == NR_PARTS || state->nr_domains == MAX_DOMAINS)
		return 0;
	error = read_energy(context->root, &domain, "energy_uj", &domain.last_uj);
	if (error) {
		*refused = error;
		return 0;
	}
	(void)read_energy(context->root, &domain, "max_energy_range_uj", &domain.range_uj);
	(void)snprintf(metric, sizeof(metric), "turbostat.%s.socket%u", parts[domain.part].energy,
		       socket);
	error = zm_recorder_series(context->recorder, &desc, &domain.series);
	if (error == -EEXIST) /* a package in dies: the first one speaks for it */
		return 0;
	state->domains[state->nr_domains++] = domain;
	return error;
}

static int add_package(struct zm_monitor_context *context, int package, int *refused)
{
	zm_autocpuset struct zm_cpuset inner = { 0 };
	char folder[48], prefix[48], path[PATH_SIZE], name[32];
	unsigned int socket = (unsigned int)package;
	int error;

	(void)snprintf(folder, sizeof(folder), "intel-rapl:%d", package);
	(void)snprintf(path, sizeof(path), "sys/class/powercap/%s/name", folder);
	if (zm_sysroot_read_line(context->root, path, name, sizeof(name)) ||
	    sscanf(name, "package-%u", &socket) != 1)
		return 0; /* the platform's as a whole ("psys"), or gone */
	error = add_domain(context, folder, socket, refused);
	(void)snprintf(prefix, sizeof(prefix), "%s:", folder);
	if (!error)
		error = zm_sysroot_list_numbered(context->root, "sys/class/powercap", prefix,
						 &inner);
	zm_cpuset_for_each (domain, &inner) {
		(void)snprintf(folder, sizeof(folder), "intel-rapl:%d:%d", package, domain);
		if (!error)
			error = add_domain(context, folder, socket, refused);
	}
	return error;
}

/* -ENOTSUP: there is no counter; -EACCES and the like: none may be read. */
static int open_energy(struct zm_monitor_context *context)
{
	zm_autocpuset struct zm_cpuset packages = { 0 };
	const struct state *state = context->state;
	int refused = -ENOTSUP;
	int error = zm_sysroot_list_numbered(context->root, "sys/class/powercap",
					     "intel-rapl:", &packages);

	zm_cpuset_for_each (package, &packages) {
		if (!error)
			error = add_package(context, package, &refused);
	}
	return error ? error : state->nr_domains ? 0 : refused;
}

static const char *power_reason(int error)
{
	return error == -ENOTSUP
		       ? "no /sys/class/powercap/intel-rapl:*: no RAPL driver, as in most guests"
		       : "/sys/class/powercap/intel-rapl:*/energy_uj may not be read: run as root";
}

static int open_turbostat(struct zm_monitor_context *context, struct zm_why *why)
{
	static const char no_frequency[] = "no /sys/devices/system/cpu/cpu*/cpufreq: no cpufreq "
					   "driver, as in most guests";
	int no_freq = open_frequencies(context);
	int no_power = no_freq && no_freq != -ENOTSUP ? no_freq : open_energy(context);
	int error = 0;

	if ((no_freq && no_freq != -ENOTSUP) || no_power == -ENOMEM)
		return zm_why_errno(why, no_freq ? no_freq : no_power, "turbostat");
	if (no_freq && no_power)
		return zm_why_set(why, -ENOTSUP, "%s; %s", no_frequency, power_reason(no_power));
	if (no_freq)
		error = zm_recorder_absent(context->recorder, "turbostat.MHz", no_frequency);
	else if (no_power)
		error = zm_recorder_absent(context->recorder, "turbostat.PkgWatt",
					   power_reason(no_power));
	return error ? zm_why_errno(why, error, "turbostat") : 0;
}

/* --- reading ----------------------------------------------------------------------------------- */

static int read_frequencies(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	double shown[NR_SHOWN] = { 0 };
	size_t at = 0, nr = 0;
	int first_error = 0;

	zm_cpuset_for_each (cpu, &state->cpus) {
		uint32_t series = state->cpu_series[at++];
		uint64_t khz;
		int error = read_khz(context->root, cpu, &khz);
		double mhz = error ? 0 : (double)khz / 1000;

		if (error) {
			first_error = first_error ? first_error : error;
			continue;
		}
		zm_recorder_put_f64(context->recorder, series, t_ns, mhz, 0);
		shown[MEAN] += mhz;
		shown[LEAST] = nr == 0 || mhz < shown[LEAST] ? mhz : shown[LEAST];
		shown[MOST] = mhz > shown[MOST] ? mhz : shown[MOST];
		nr++;
	}
	if (nr == 0)
		return first_error;
	shown[MEAN] /= (double)nr;
	for (enum shown i = 0; i < NR_SHOWN; i++) {
		zm_recorder_put_f64(context->recorder, state->series[i], t_ns, shown[i], 0);
		zm_window_feed(&state->windows[i], context->phase, t_ns, shown[i]);
	}
	return first_error;
}

static int advance(const struct zm_sysroot *root, struct domain *domain)
{
	uint64_t now_uj;
	int error = read_energy(root, domain, "energy_uj", &now_uj);

	if (error)
		return error;
	if (domain->has_begun && now_uj >= domain->last_uj)
		domain->sum_uj += now_uj - domain->last_uj;
	else if (domain->has_begun && domain->range_uj >= domain->last_uj)
		domain->sum_uj += domain->range_uj - domain->last_uj + now_uj;
	domain->last_uj = now_uj;
	domain->has_begun = true;
	return 0;
}

static int read_energies(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	double sums[NR_PARTS] = { 0 };
	bool has[NR_PARTS] = { false };
	int first_error = 0;

	for (unsigned int i = 0; i < state->nr_domains; i++) {
		struct domain *domain = &state->domains[i];
		int error = advance(context->root, domain);

		if (error) {
			first_error = first_error ? first_error : error;
			continue;
		}
		zm_recorder_put_u64(context->recorder, domain->series, t_ns, domain->sum_uj, 0);
		sums[domain->part] += (double)domain->sum_uj;
		has[domain->part] = true;
	}
	for (enum part i = 0; !first_error && i < NR_PARTS; i++)
		if (has[i])
			zm_window_feed(&state->energy[i], context->phase, t_ns, sums[i]);
	return first_error;
}

static int read_turbostat(struct zm_monitor_context *context, uint64_t t_ns)
{
	const struct state *state = context->state;
	int error = zm_cpuset_count(&state->cpus) ? read_frequencies(context, t_ns) : 0;
	int energy_error = read_energies(context, t_ns);

	return error ? error : energy_error;
}

/* --- the report -------------------------------------------------------------------------------- */

static int report_turbostat(struct zm_monitor_context *context, uint64_t t0_ns, uint64_t t1_ns,
			    struct zm_report *report)
{
	const struct state *state = context->state;
	int error = 0;

	for (enum shown i = 0; !error && i < NR_SHOWN; i++) {
		const struct zm_window_figure *window = &state->windows[i];

		if (zm_window_is_whole(window, t0_ns, t1_ns))
			error = zm_report_add(report, &frequencies[i], zm_window_mean(window), 0,
					      t1_ns - t0_ns);
	}
	for (enum part i = 0; !error && i < NR_PARTS; i++) {
		const struct zm_window_figure *window = &state->energy[i];
		uint64_t width_ns = window->t1_ns - window->t0_ns;
		double uj;

		if (!zm_window_is_whole(window, t0_ns, t1_ns) || !zm_window_delta(window, &uj))
			continue;
		if (width_ns > 0)
			error = zm_report_add(report, &parts[i].power,
					      uj / 1e6 * (double)ZM_NS_PER_S / (double)width_ns, uj,
					      width_ns);
	}
	return error;
}

static void close_turbostat(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_cpuset_release(&state->cpus);
	free(state->cpu_series);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "the CPUs' frequency, and the power of packages, cores and memory (RAPL)",
	.needs = "cpufreq; /sys/class/powercap/intel-rapl:* as root",
	.rate = ZM_RATE_NORMAL,
	.state_bytes = sizeof(struct state),
	.open = open_turbostat,
	.read = read_turbostat,
	.report = report_turbostat,
	.close = close_turbostat,
};
