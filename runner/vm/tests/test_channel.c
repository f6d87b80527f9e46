/*
 * channel: what is put in is there; lengths that a guest wrote are not believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "runner/vm/channel.h"

static void words_go_in(void **state)
{
	const char *const words[] = { "run", "", "a b" };
	static char too_long[ZM_VM_MAX_LINE];
	const char *const long_words[] = { "run", too_long };
	struct zm_vm_channel *channel;
	int fd;

	(void)state;
	memset(too_long, 'x', sizeof(too_long) - 1);
	assert_int_equal(zm_vm_channel_make(&fd, &channel, NULL), 0);
	assert_int_equal(channel->magic, ZM_VM_CHANNEL_MAGIC);
	assert_int_equal(channel->state, ZM_VM_BOOTING);
	assert_int_equal(zm_vm_channel_put_words(channel, words, 3, NULL), 0);
	assert_int_equal(channel->nr_words, 3);
	assert_memory_equal(channel->words, "run\0\0a b", 9);
	assert_int_equal(zm_vm_channel_put_words(channel, long_words, 2, NULL), -E2BIG);
	zm_vm_channel_release(fd, channel);
	zm_vm_channel_release(-1, NULL);
}

static void lengths_are_checked(void **state)
{
	static const uint64_t room = ZM_VM_CHANNEL_BYTES - ZM_VM_CHANNEL_HEADER;
	static const struct {
		uint64_t answer, store;
		int r;
	} cases[] = {
		{ 0, 0, 0 },
		{ 10, 20, 0 },
		{ room, 0, 0 },
		{ 1, room - 1, 0 },
		{ 1, room, -EBADMSG },
		{ room + 1, 0, -EBADMSG },
		{ UINT64_MAX, 1, -EBADMSG },
		{ 1, UINT64_MAX, -EBADMSG },
	};
	struct zm_vm_channel *channel;
	int fd;

	(void)state;
	assert_int_equal(zm_vm_channel_make(&fd, &channel, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_vm_taken taken;

		channel->answer_length = cases[i].answer;
		channel->store_length = cases[i].store;
		assert_int_equal(zm_vm_channel_taken(channel, &taken, NULL), cases[i].r);
		if (cases[i].r)
			continue;
		assert_ptr_equal(taken.answer, (char *)channel + ZM_VM_CHANNEL_HEADER);
		assert_ptr_equal(taken.store, taken.answer + cases[i].answer);
	}
	zm_vm_channel_release(fd, channel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_go_in),
		cmocka_unit_test(lengths_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
