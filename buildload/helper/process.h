/*
 * process: a process of an emulated build, which does what its step says.
 *
 * Nothing here allocates, prints or reads a clock: what is not in the step is as little as can be.
 */
#ifndef ZM_BUILDLOAD_HELPER_PROCESS_H
#define ZM_BUILDLOAD_HELPER_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "buildload/script.h"

/* Reads from the script; ends the process when that fails. */
void zm_process_read(void *into, size_t bytes, uint64_t offset);
void zm_process_read_head(struct zm_script_head *ret_head);
void zm_process_read_step(const struct zm_script_head *head, uint32_t index,
			  struct zm_script_step *ret_step);
void zm_process_read_class(const struct zm_script_head *head, uint32_t index,
			   struct zm_script_class *ret_class);

/* Does all that step `index` says, its children too. The process goes on. */
void zm_process_run(uint32_t index);

/* What a child has instead of this process's input and output; -1: the same. */
struct zm_process_ends {
	int in, out;
};

/* Starts a program of this build: ../bin/NAME with these arguments. -errno. */
pid_t zm_process_spawn(const char *name, const char *mode, uint32_t number, uint32_t second,
		       struct zm_process_ends ends);

/* Says it and ends the process: "cc1: writing o/3: No space left on device". */
_Noreturn void zm_process_fail(const char *what, int error);

/* Another's end that was not as it should be. */
_Noreturn void zm_process_blame(const char *name, int status);

#endif
