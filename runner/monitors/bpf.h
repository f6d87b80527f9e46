/*
 * bpf: what the monitors that load BPF programs share.
 *
 * Whether they can be loaded here at all, what the running kernel's type information says, and one
 * sentence for whatever libbpf or the kernel refuses. libbpf's own talk is kept, not printed: its last
 * line goes into the sentence.
 */
#ifndef ZM_RUNNER_MONITORS_BPF_H
#define ZM_RUNNER_MONITORS_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/monitor.h"

struct bpf_map;
struct bpf_program;
struct btf;

/* The reason of a program that was built without them. -ENOTSUP. */
int zm_bpf_not_built(struct zm_why *why);

/* Only this machine can be asked, and only with its type information: -ENOTSUP and the sentence. */
int zm_bpf_check(const struct zm_monitor_context *context, struct zm_why *why);

/* The sentence of a failed load or attach: "WHAT: …". Returns the error. */
int zm_bpf_why(struct zm_why *why, int error, const char *what);

/* The kernel's type information; NULL and errno. Freed by btf__free. */
struct btf *zm_bpf_kernel_types(void);

/* How many arguments a tracepoint hands to its programs; -ENOENT: the kernel has no such tracepoint. */
int zm_bpf_tracepoint_args(const struct btf *btf, const char *tracepoint);

/* The name of an enumerator by its value, without a prefix and in small letters:
 * (migratetype, "MIGRATE_", 1) is "movable". false: there is none, or its name begins otherwise. */
bool zm_bpf_enumerator(const struct btf *btf, const char *type, const char *prefix, int value,
		       char *buf, size_t size);

/* One more than the largest CPU number that this machine can have. */
unsigned int zm_bpf_nr_cpus(const struct zm_sysroot *root);

/* Runs of a program that the kernel left out because another was running on the CPU. */
uint64_t zm_bpf_missed(const struct bpf_program *program);

/* A mmapable array map as memory of this process, read-only; NULL and errno. */
const void *zm_bpf_map_memory(const struct bpf_map *map, size_t value_bytes,
			      unsigned int nr_values);
void zm_bpf_unmap_memory(const void *memory, size_t value_bytes, unsigned int nr_values);

#endif
