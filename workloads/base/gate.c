/*
 * gate: two futexes. Tasks sleep on is_open, the harness on nr_ready.
 *
 * No wake-up is lost: the harness writes nr_awaited and then reads nr_ready, a task adds to
 * nr_ready and then reads nr_awaited. In the one order that all these operations have, either the
 * task sees that somebody waits, or the harness sees the task. Only the task that completes the
 * number makes the system call, so that n arrivals cost the harness one wake-up and not n.
 */
#include "workloads/base/gate.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "workloads/base/clock.h"

/* Until somebody wakes us, the word is not `expected`, a signal comes, or the moment has come. */
static int futex_wait(uint32_t *word, uint32_t expected, const struct timespec *deadline)
{
	long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, deadline, NULL,
			      FUTEX_BITSET_MATCH_ANY);

	return result < 0 ? -errno : 0;
}

static void futex_wake(uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void zm_gate_init(struct zm_gate *gate)
{
	__atomic_store_n(&gate->nr_ready, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&gate->is_open, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&gate->nr_awaited, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&gate->opened_ns, 0, __ATOMIC_SEQ_CST);
}

void zm_gate_wait(struct zm_gate *gate)
{
	uint32_t nr_ready = __atomic_add_fetch(&gate->nr_ready, 1, __ATOMIC_SEQ_CST);
	uint32_t nr_awaited = __atomic_load_n(&gate->nr_awaited, __ATOMIC_SEQ_CST);

	if (nr_awaited && nr_ready >= nr_awaited)
		futex_wake(&gate->nr_ready);
	while (!__atomic_load_n(&gate->is_open, __ATOMIC_ACQUIRE))
		(void)futex_wait(&gate->is_open, 0, NULL);
}

int zm_gate_await(struct zm_gate *gate, uint32_t nr_tasks, uint64_t deadline_ns)
{
	const struct timespec deadline = {
		.tv_sec = (time_t)(deadline_ns / ZM_NS_PER_S),
		.tv_nsec = (long)(deadline_ns % ZM_NS_PER_S),
	};
	int error = 0;

	__atomic_store_n(&gate->nr_awaited, nr_tasks, __ATOMIC_SEQ_CST);
	for (;;) {
		uint32_t nr_ready = __atomic_load_n(&gate->nr_ready, __ATOMIC_SEQ_CST);

		if (nr_ready >= nr_tasks)
			return 0;
		if (error == -ETIMEDOUT)
			return error;
		error = futex_wait(&gate->nr_ready, nr_ready, &deadline);
	}
}

void zm_gate_open(struct zm_gate *gate)
{
	__atomic_store_n(&gate->opened_ns, zm_clock_now_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&gate->is_open, 1, __ATOMIC_SEQ_CST);
	futex_wake(&gate->is_open);
}
