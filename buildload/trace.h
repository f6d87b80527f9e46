/*
 * trace: a command with every process below it, each seen from its fork to its exit.
 *
 * By ptrace, so it needs no root, no kernel option and no polling: the kernel stops a process at its
 * fork, exec and exit, and (by a seccomp filter) when it maps memory, moves its break or opens a file;
 * nothing else is slowed. At each growth the process's anonymous pages and its CPU time are read, and
 * at its exit what it came to.
 *
 *     fork --> exec --> mmap, brk: pages and CPU time --> exit: faults, pages, CPU time, I/O
 *              (what was before it is forgotten, but for faults and CPU time)
 *
 * What the tracer costs: two stops for each such call, about 10 us each. The kernel books most of it to
 * the tracer; the voluntary context switches it makes are taken off.
 */
#ifndef ZM_BUILDLOAD_TRACE_H
#define ZM_BUILDLOAD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "workloads/base/why.h"

#define ZM_TRACE_NAME 32

/* A growth of anonymous memory: `bytes` by mmap or by brk, and how the process stood before it. */
struct zm_trace_growth {
	uint64_t bytes;
	bool is_brk;
	uint64_t cpu_ns;
	uint64_t anon_pages;
};

struct zm_trace_process {
	pid_t pid;
	int parent;               /* its place in the trace; -1: the command itself */
	char name[ZM_TRACE_NAME]; /* "sh", "cc1": the program's file, without triplet and version */
	bool has_execed;          /* false: a fork that went on with its parent's image */
	bool has_ended;           /* false: it was killed before its exit could be seen */
	uint64_t start_ns, end_ns;
	uint64_t user_ns, system_ns;
	uint64_t faults, anon_pages, file_pages, table_pages, peak_rss_pages;
	uint64_t read_bytes, write_bytes, switches;
	uint64_t opens, opens_missing;
	uint64_t input, output; /* inodes of its input and output, where these are pipes; else 0 */
	bool writes_a_file;     /* it has opened one to write to, or its output is one */
	uint64_t image_bytes;
	unsigned int nr_images;
	uint64_t mapped_bytes, broken_bytes,
		unmapped_bytes; /* anonymous: by mmap, by brk; given back */
	struct zm_trace_growth *growths;
	size_t nr_growths;
};

/* A file that was opened, once however often. */
struct zm_trace_file {
	uint64_t device, inode, bytes;
};

struct zm_trace {
	struct zm_trace_process *processes; /* in the order of their forks, so parents first */
	size_t nr;
	struct zm_trace_file *files;
	size_t nr_files;
	uint64_t wall_ns, nr_execs, nr_threads;
};

/* Runs argv (NULL-terminated, found by PATH) to the end of all its processes; *ret_status is the
 * command's, as of waitpid. -ENOTSUP: no ptrace or no seccomp here. What the command writes goes where
 * this process's output goes. */
int zm_trace_run(const char *const *argv, struct zm_trace **ret_trace, int *ret_status,
		 struct zm_why *why);
void zm_trace_free(struct zm_trace *trace);

#endif
