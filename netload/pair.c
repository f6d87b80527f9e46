/* pair: one mapping, and a word per end that the other end can sleep on. */
#include "netload/pair.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "workloads/base/clock.h"

static size_t pairs_bytes(unsigned int nr_pairs)
{
	return (nr_pairs ? nr_pairs : 1) * sizeof(struct zm_pair);
}

int zm_pairs_new(unsigned int nr_pairs, struct zm_pair **ret_pairs, struct zm_why *why)
{
	void *memory = mmap(NULL, pairs_bytes(nr_pairs), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return zm_why_errno(why, -errno, "no memory for %u pairs", nr_pairs);
	*ret_pairs = memory;
	return 0;
}

void zm_pairs_free(struct zm_pair *pairs, unsigned int nr_pairs)
{
	if (pairs)
		(void)munmap(pairs, pairs_bytes(nr_pairs));
}

static void futex_wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, 64, NULL, NULL, 0);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t deadline_ns)
{
	uint64_t now_ns = zm_clock_now_ns();
	uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(left_ns / ZM_NS_PER_S),
		.tv_nsec = (long)(left_ns % ZM_NS_PER_S),
	};

	(void)syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

void zm_pair_say(struct zm_pair *pair, unsigned int end, enum zm_pair_stage stage)
{
	atomic_store(&pair->ends[end].stage, stage);
	futex_wake(&pair->ends[end].stage);
}

void zm_pair_leave(struct zm_pair *pair, unsigned int end)
{
	if (atomic_load(&pair->ends[end].stage) != ZM_PAIR_DONE)
		zm_pair_say(pair, end, ZM_PAIR_FAILED);
}

void zm_pair_fail(struct zm_pair *pair, unsigned int end, const struct zm_why *why)
{
	pair->ends[end].why = *why;
	zm_pair_say(pair, end, ZM_PAIR_FAILED);
}

int zm_pair_hear(struct zm_pair *pair, unsigned int end, enum zm_pair_stage stage,
		 uint64_t deadline_ns)
{
	_Atomic uint32_t *word = &pair->ends[end].stage;

	for (;;) {
		uint32_t seen = atomic_load(word);

		if (seen == ZM_PAIR_FAILED)
			return -ECONNABORTED;
		if (seen >= stage)
			return 0;
		if (zm_clock_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		futex_wait(word, seen, deadline_ns);
	}
}
