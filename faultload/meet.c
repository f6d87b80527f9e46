/* meet: futexes; whoever sleeps looks at the stop word now and then. */
#include "faultload/meet.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 10000000 /* at the stop word, this often */

static void sleep_on(_Atomic uint32_t *word, uint32_t while_it_is)
{
	const struct timespec most = { .tv_nsec = LOOK_NS };

	(void)syscall(SYS_futex, word, FUTEX_WAIT, while_it_is, &most, NULL, 0);
}

static void wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool zm_meet_wait(struct zm_meet *meet, const struct zm_task *task)
{
	uint32_t nr_opened = atomic_load(&meet->nr_opened);

	if (atomic_fetch_add(&meet->nr_arrived, 1) + 1 == task->run->nr_tasks)
		return true;
	while (atomic_load(&meet->nr_opened) == nr_opened && !zm_task_is_stopped(task))
		sleep_on(&meet->nr_opened, nr_opened);
	return false;
}

void zm_meet_open(struct zm_meet *meet)
{
	atomic_store(&meet->nr_arrived, 0);
	atomic_fetch_add(&meet->nr_opened, 1);
	wake(&meet->nr_opened);
}

void zm_meet_wait_turn(struct zm_meet *meet, const struct zm_task *task)
{
	uint32_t turn;

	while ((turn = atomic_load(&meet->turn)) != task->index && !zm_task_is_stopped(task))
		sleep_on(&meet->turn, turn);
}

void zm_meet_pass_turn(struct zm_meet *meet, const struct zm_task *task)
{
	atomic_store(&meet->turn, (task->index + 1) % task->run->nr_tasks);
	wake(&meet->turn);
}
