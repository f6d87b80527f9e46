/* meet: tasks meet as often as they like, the last is alone meanwhile, turns go round; and the stop. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "faultload/meet.h"

#define NR_TASKS  4
#define NR_ROUNDS 500

static struct zm_run run = { .nr_tasks = NR_TASKS };
static struct zm_slot slots[NR_TASKS];
static struct zm_task tasks[NR_TASKS];
static _Atomic uint32_t stop;
static struct zm_meet meet;
static _Atomic unsigned int counts[NR_TASKS], nr_wrong, nr_alone;
static unsigned int order[NR_TASKS * NR_ROUNDS], nr_ordered;

static void reset(void)
{
	memset(&meet, 0, sizeof(meet));
	memset((void *)counts, 0, sizeof(counts));
	nr_wrong = nr_alone = stop = nr_ordered = 0;
	for (unsigned int i = 0; i < NR_TASKS; i++) {
		slots[i].stop = &stop;
		tasks[i] = (struct zm_task){ .run = &run, .index = i, .slot = &slots[i] };
	}
}

static void work_together(void *(*work)(void *context))
{
	pthread_t threads[NR_TASKS];

	for (unsigned int i = 0; i < NR_TASKS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &tasks[i]), 0);
	for (unsigned int i = 0; i < NR_TASKS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* All have come as often as the last one, and nobody goes on meanwhile. */
static void *meet_often(void *context)
{
	const struct zm_task *task = context;

	for (unsigned int round = 1; round <= NR_ROUNDS; round++) {
		counts[task->index]++;
		if (zm_meet_wait(&meet, task)) {
			nr_alone++;
			for (unsigned int i = 0; i < NR_TASKS; i++)
				nr_wrong += counts[i] != round;
			zm_meet_open(&meet);
		}
	}
	return NULL;
}

static void test_all_meet(void **state)
{
	(void)state;
	reset();
	work_together(meet_often);
	assert_int_equal(nr_alone, NR_ROUNDS);
	assert_int_equal(nr_wrong, 0);
}

static void *take_turns(void *context)
{
	const struct zm_task *task = context;

	for (unsigned int round = 0; round < NR_ROUNDS; round++) {
		zm_meet_wait_turn(&meet, task);
		order[nr_ordered++] = task->index;
		zm_meet_pass_turn(&meet, task);
	}
	return NULL;
}

static void test_turns(void **state)
{
	(void)state;
	reset();
	work_together(take_turns);
	assert_int_equal(nr_ordered, NR_TASKS * NR_ROUNDS);
	for (unsigned int i = 0; i < nr_ordered; i++)
		assert_int_equal(order[i], i % NR_TASKS);
}

/* One never comes: the stop ends the waiting. */
static void *wait_in_vain(void *context)
{
	const struct zm_task *task = context;

	if (task->index == 0) {
		usleep(20000);
		stop = 1;
	} else if (task->index == 1) {
		zm_meet_wait_turn(&meet, task);
	} else {
		nr_wrong += zm_meet_wait(&meet, task);
	}
	return NULL;
}

static void test_stop(void **state)
{
	(void)state;
	reset();
	work_together(wait_in_vain);
	assert_int_equal(nr_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_meet),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
