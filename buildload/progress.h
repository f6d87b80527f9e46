/*
 * progress: what an emulated build tells whoever started it, while it runs and when it fails.
 *
 * A page of shared memory that only the makes map (their jobs cost nothing by it), written when a job
 * has ended; and a pipe for the one sentence of whoever fails. Both are descriptors with fixed numbers,
 * which all processes of the build inherit.
 */
#ifndef ZM_BUILDLOAD_PROGRESS_H
#define ZM_BUILDLOAD_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

enum zm_build_fd {
	ZM_BUILD_SCRIPT = 3, /* the script; read only */
	ZM_BUILD_TOKENS_IN, /* the jobserver's pipe: a byte is a slot that nobody uses; not blocking */
	ZM_BUILD_TOKENS_OUT,
	ZM_BUILD_COMPLAINTS, /* a pipe; not blocking */
	ZM_BUILD_PROGRESS,   /* a memory file with a struct zm_progress */
};

struct zm_progress {
	_Atomic uint64_t jobs, processes; /* that have ended */
	_Atomic uint64_t weight;          /* of these jobs: struct zm_script_job */
	_Atomic uint64_t faults, user_us, system_us,
		switches;                       /* of jobs and makes that have ended */
	_Atomic uint32_t running, most_running; /* jobs now; the most there have been at once */
};

#endif
