/*
 * channel: the shared memory between a guest and us: what it shall run goes in; its answer, its store
 * and how it ended come out. The guest sees it as a PCI device (ivshmem), so it needs no driver.
 *
 *     0          the header
 *     64 KiB …   the answer (standard output), then the store's file
 *
 * Nothing that the guest wrote is believed: whoever reads it checks lengths (zm_vm_channel_taken).
 */
#ifndef ZM_RUNNER_VM_CHANNEL_H
#define ZM_RUNNER_VM_CHANNEL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/why.h"

#define ZM_VM_CHANNEL_BYTES  (UINT64_C(256) << 20)
#define ZM_VM_CHANNEL_MAGIC  UINT64_C(0x3154534555474d5a) /* ZMGUEST1 */
#define ZM_VM_CHANNEL_HEADER (UINT64_C(64) << 10)
#define ZM_VM_MAX_LINE       16384u

enum zm_vm_state {
	ZM_VM_BOOTING,
	ZM_VM_UP,      /* the agent is there */
	ZM_VM_RUNNING, /* the command runs */
	ZM_VM_DONE,    /* it has ended, and all of it is in the channel */
	ZM_VM_REFUSED, /* the agent cannot go on; why says what is missing */
};

struct zm_vm_channel {
	uint64_t magic;
	uint64_t size;
	/* in */
	char words[ZM_VM_MAX_LINE]; /* the command's, each with its end */
	uint32_t nr_words;
	char about[1024];     /* JSON: what the guest shall say of itself */
	char machine_id[128]; /* of the host: the guest's machines are its own */
	uint64_t wall_ns;
	/* out */
	_Atomic uint32_t state; /* enum zm_vm_state */
	int32_t wait_status;    /* as waitpid gives it */
	uint64_t up_ns; /* the guest's clock when the agent came up, and when the command began */
	uint64_t running_ns;
	uint64_t answer_length, store_length;
	char why[ZM_WHY_SIZE];
	char warning[ZM_WHY_SIZE]; /* what could not be had, and the command runs without */
};

/* A fresh one in a file without a name, mapped. */
int zm_vm_channel_make(int *ret_fd, struct zm_vm_channel **ret_channel, struct zm_why *why);
void zm_vm_channel_release(int fd, struct zm_vm_channel *channel);

/* Words into it. -E2BIG. */
int zm_vm_channel_put_words(struct zm_vm_channel *channel, const char *const *words,
			    size_t nr_words, struct zm_why *why);

/* What came out, checked; the pointers lie in the channel. -EBADMSG. */
struct zm_vm_taken {
	const char *answer;
	size_t answer_length;
	const char *store;
	size_t store_length;
};
int zm_vm_channel_taken(const struct zm_vm_channel *channel, struct zm_vm_taken *ret_taken,
			struct zm_why *why);

#endif
