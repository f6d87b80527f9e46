/* channel: made, filled, and what came back checked. */
#include "runner/vm/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct zm_vm_channel) <= ZM_VM_CHANNEL_HEADER, "the header has its place");

int zm_vm_channel_make(int *ret_fd, struct zm_vm_channel **ret_channel, struct zm_why *why)
{
	int fd = memfd_create("zonemark-channel", MFD_CLOEXEC);
	struct zm_vm_channel *channel = MAP_FAILED;
	int error;

	if (fd >= 0 && ftruncate(fd, (off_t)ZM_VM_CHANNEL_BYTES) == 0)
		channel =
			mmap(NULL, ZM_VM_CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (channel == MAP_FAILED) {
		error = -errno;
		if (fd >= 0)
			(void)close(fd);
		return zm_why_errno(why, error, "the guest's channel");
	}
	channel->magic = ZM_VM_CHANNEL_MAGIC;
	channel->size = ZM_VM_CHANNEL_BYTES;
	*ret_fd = fd;
	*ret_channel = channel;
	return 0;
}

void zm_vm_channel_release(int fd, struct zm_vm_channel *channel)
{
	if (channel)
		(void)munmap(channel, ZM_VM_CHANNEL_BYTES);
	if (fd >= 0)
		(void)close(fd);
}

int zm_vm_channel_put_words(struct zm_vm_channel *channel, const char *const *words,
			    size_t nr_words, struct zm_why *why)
{
	size_t used = 0;

	for (size_t i = 0; i < nr_words; i++) {
		size_t size = strlen(words[i]) + 1;

		if (size > sizeof(channel->words) - used)
			return zm_why_set(why, -E2BIG,
					  "the guest's command is longer than %u bytes",
					  ZM_VM_MAX_LINE);
		memcpy(channel->words + used, words[i], size);
		used += size;
	}
	channel->nr_words = (uint32_t)nr_words;
	return 0;
}

int zm_vm_channel_taken(const struct zm_vm_channel *channel, struct zm_vm_taken *ret_taken,
			struct zm_why *why)
{
	uint64_t room = ZM_VM_CHANNEL_BYTES - ZM_VM_CHANNEL_HEADER;
	uint64_t answer = channel->answer_length, store = channel->store_length;
	const char *bytes = (const char *)channel + ZM_VM_CHANNEL_HEADER;

	if (answer > room || store > room - answer)
		return zm_why_set(why, -EBADMSG, "the guest's channel is damaged");
	*ret_taken = (struct zm_vm_taken){ .answer = bytes,
					   .answer_length = answer,
					   .store = bytes + answer,
					   .store_length = store };
	return 0;
}
