/*
 * bpf: what the monitors that load BPF programs share.
 *
 *     begin   can they be loaded here at all? what do the running kernel's types say?
 *     start   one object of programs, with memory for each CPU that is shared with this process
 *
 * For whatever libbpf or the kernel refuses there is one sentence. libbpf's own talk is kept, not printed:
 * its last line goes into the sentence.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_H
#define ZM_RUNNER_MONITORS_BPF_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/monitor.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/hist.h"

struct bpf_map;
struct bpf_object_skeleton;
struct bpf_program;
struct btf;

/* A monitor's call where the programs were built, else what stands in for it. */
#ifdef ZM_HAVE_BPF_PROGRAMS
#define ZM_BPF_CALL(call, instead) call
#else
#define ZM_BPF_CALL(call, instead) instead
#endif

/* The calls of a monitor that was built without: the reason, and nothing. */
int zm_bpf_open_unbuilt(struct zm_monitor_context *context, struct zm_why *why);
int zm_bpf_read_unbuilt(struct zm_monitor_context *context, uint64_t t_ns);
void zm_bpf_close_unbuilt(struct zm_monitor_context *context);

/* What such a monitor knows of the machine. A zeroed struct knows nothing. */
struct zm_bpf {
	struct btf *btf;      /* the kernel's types; NULL when they are forgotten */
	unsigned int nr_cpus; /* one more than the largest number that a CPU can have here */
	struct zm_cpuset online;
	bool is_ftrace_off; /* by its sysctl: programs of functions attach, and are never called */
};

/* Only this machine can be asked, and only with its type information: else the sentence. */
int zm_bpf_begin(struct zm_bpf *bpf, const struct zm_monitor_context *context, struct zm_why *why);
void zm_bpf_end(struct zm_bpf *bpf);

/* The types take some megabytes: away with them when everything is loaded and declared. */
void zm_bpf_forget_types(struct zm_bpf *bpf);

/* The sentence of a failed load or attach. Returns the error. */
int zm_bpf_why(struct zm_why *why, int error);

/* An array map whose values this process sees as memory. A zeroed struct is none. */
struct zm_bpf_memory {
	const void *start; /* NULL: none */
	size_t value_bytes;
	unsigned int nr_values;
	int fd;
};

int zm_bpf_memory_make(struct zm_bpf_memory *memory, size_t value_bytes, unsigned int nr_values);
void zm_bpf_memory_release(struct zm_bpf_memory *memory);
const void *zm_bpf_memory_at(const struct zm_bpf_memory *memory, unsigned int index);

/* A word that a program may be writing. */
uint64_t zm_bpf_load_u64(const __u64 *word);

/* Makes an opened object's map that memory; several objects may share it. */
int zm_bpf_share(struct bpf_map *map, const struct zm_bpf_memory *memory);

/* Loads an opened object and attaches all of its programs. After a failure it is good for nothing but to
 * be destroyed. */
int zm_bpf_start(struct bpf_object_skeleton *skeleton);

/* Declares a count of the machine, and the same of every CPU that is online: by number, the caller's to
 * free. */
int zm_bpf_declare(struct zm_monitor_context *context, const char *metric, const char *unit,
		   uint32_t *ret_series);
int zm_bpf_declare_cpus(struct zm_monitor_context *context, const struct zm_bpf *bpf,
			const char *metric, const char *unit, uint32_t **ret_series);

/* A histogram that a program keeps (bpf/hist.bpf.h), added to hist. */
void zm_bpf_add_hist(struct zm_hist *hist, const __u64 *buckets, size_t nr_buckets);

/* Has the kernel this function, by its types? It may be closed to programs all the same. */
bool zm_bpf_has_function(const struct zm_bpf *bpf, const char *name);

/* May a program of this function be attached and called, as far as one can tell without trying? */
bool zm_bpf_may_attach(const struct zm_bpf *bpf, const char *name);

/* Is this kernel older than that? */
bool zm_bpf_kernel_is_before(const struct zm_sysroot *root, unsigned int major, unsigned int minor);

/* How many arguments that function takes; -ENOENT. */
int zm_bpf_function_args(const struct zm_bpf *bpf, const char *name);

/* How many arguments a tracepoint hands to its programs; -ENOENT: the kernel has no such tracepoint. */
int zm_bpf_tracepoint_args(const struct zm_bpf *bpf, const char *tracepoint);

/* The name of an enumerator by its value, without a prefix and in small letters:
 * (migratetype, "MIGRATE_", 1) is "movable". false: there is none, or its name begins otherwise. */
bool zm_bpf_enumerator(const struct zm_bpf *bpf, const char *type, const char *prefix, int value,
		       char *buf, size_t size);

/* Runs of a program that the kernel left out because another was running on the CPU. */
uint64_t zm_bpf_missed(const struct bpf_program *program);

#endif
