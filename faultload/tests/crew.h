/*
 * crew: all tasks of a rig at work at the same time, each in a thread of the test: for workloads whose tasks
 * wait for each other.
 *
 *     crew_run(&rig, ops);      until each has done so many operations; then the stop
 */
#ifndef ZM_FAULTLOAD_TESTS_CREW_H
#define ZM_FAULTLOAD_TESTS_CREW_H

#include "workloads/tests/rig.h"

struct crew_member {
	struct rig *rig;
	unsigned int index;
	int r;
};

static inline void *crew_work(void *context)
{
	struct crew_member *member = context;

	member->r = zm_task_loop(&member->rig->tasks[member->index]);
	return NULL;
}

static inline bool crew_is_done(const struct rig *rig, uint64_t ops)
{
	for (unsigned int i = 0; i < rig->run.nr_tasks; i++)
		if (rig->slots[i].ops < ops && rig->slots[i].why.text[0] == '\0')
			return false;
	return true;
}

static inline void crew_run(struct rig *rig, uint64_t ops)
{
	struct crew_member members[RIG_TASKS];
	pthread_t threads[RIG_TASKS];
	uint64_t child_faults = rig_child_faults();

	rig->stop = 0;
	for (unsigned int i = 0; i < rig->run.nr_tasks; i++) {
		members[i] = (struct crew_member){ rig, i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, crew_work, &members[i]), 0);
	}
	while (!crew_is_done(rig, ops))
		usleep(1000);
	rig->stop = 1;
	for (unsigned int i = 0; i < rig->run.nr_tasks; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		if (members[i].r < 0)
			fail_msg("task %u: %s", i, rig->slots[i].why.text);
	}
	rig_assert_children(rig, child_faults);
}

#endif
