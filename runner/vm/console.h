/*
 * console: what a guest's kernel prints, line by line: the last lines are kept, and the line that says
 * why it ended is recognised.
 */
#ifndef ZM_RUNNER_VM_CONSOLE_H
#define ZM_RUNNER_VM_CONSOLE_H

#include <stddef.h>

#define ZM_VM_CONSOLE_LINES 24
#define ZM_VM_CONSOLE_WIDTH 240

enum zm_vm_trouble {
	ZM_VM_NO_TROUBLE,
	ZM_VM_PANIC,
	ZM_VM_NO_INIT,    /* the kernel did not find or could not run /init */
	ZM_VM_OOM,        /* out of memory */
	ZM_VM_HYPERVISOR, /* QEMU's or KVM's own error */
	ZM_VM_LOCKUP,
	ZM_VM_AGENT, /* the agent said so, and had no channel to say it through */
};

struct zm_vm_console {
	char lines[ZM_VM_CONSOLE_LINES][ZM_VM_CONSOLE_WIDTH]; /* a ring */
	size_t nr_lines;                                      /* ever */
	size_t column;                                        /* of the line being read */
	enum zm_vm_trouble trouble; /* the gravest so far, in the order panic, no init… above */
	char culprit[ZM_VM_CONSOLE_WIDTH]; /* the line it was recognised by */
};

void zm_vm_console_init(struct zm_vm_console *console);

/* Bytes as they come; ANSI sequences and control characters are left out. */
void zm_vm_console_feed(struct zm_vm_console *console, const char *bytes, size_t length);

/* The nth of the kept lines, the oldest first; NULL behind the last. Empty lines are not kept. */
const char *zm_vm_console_line(const struct zm_vm_console *console, size_t n);

/* A short phrase: "its kernel panicked". */
const char *zm_vm_trouble_text(enum zm_vm_trouble trouble);

#endif
