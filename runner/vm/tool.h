/*
 * tool: another program, run to its end without a shell: xz, apt-get, the dynamic loader.
 */
#ifndef ZM_RUNNER_VM_TOOL_H
#define ZM_RUNNER_VM_TOOL_H

#include <stddef.h>

#include "workloads/base/why.h"

struct zm_vm_tool {
	const char *const *argv; /* NULL-terminated; argv[0] is looked for in PATH */
	const char *directory;   /* where it works; NULL: here */
	int in_fd, out_fd;       /* its standard input and output; -1: nothing */
};

/* -ENOENT: it is not here; -EIO: it ended otherwise than by 0, and the sentence has its last line. */
int zm_vm_tool_run(const struct zm_vm_tool *tool, struct zm_why *why);

/* The same with what it writes, terminated; the caller frees. The tool's out_fd is not looked at. */
int zm_vm_tool_ask(const struct zm_vm_tool *tool, char **ret_text, struct zm_why *why);

#endif
