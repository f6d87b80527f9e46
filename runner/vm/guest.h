/*
 * guest: one QEMU from its start to its end. It is in a session of its own, and dies with this process
 * however that ends.
 */
#ifndef ZM_RUNNER_VM_GUEST_H
#define ZM_RUNNER_VM_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/vm/channel.h"
#include "runner/vm/console.h"
#include "runner/vm/qemu.h"

struct zm_vm_limits {
	uint64_t boot_ns; /* until the agent is up */
	uint64_t all_ns;  /* until all is done; 0: no limit */
	int signal_fd;    /* a signalfd whose signals end the guest */
	bool shows_console;
};

struct zm_vm_course {
	uint64_t up_ns, running_ns, done_ns; /* since QEMU was started; 0: never came to it */
	int signal;                          /* that ended it; 0: none */
	int qemu_status;                     /* as waitpid gives it */
};

/* What the guest says goes to stderr as it comes. 0: the command has ended, and the channel holds how.
 * -ENOENT: no QEMU here; -ETIMEDOUT; -EINTR: a signal; -ECONNABORTED: the agent refused; -EIO: the
 * guest ended without a word. */
int zm_vm_guest_run(struct zm_vm_spec *spec, struct zm_vm_channel *channel,
		    const struct zm_vm_limits *limits, struct zm_vm_console *console,
		    struct zm_vm_course *ret_course, struct zm_why *why);

#endif
