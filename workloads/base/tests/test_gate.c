/*
 * gate: nobody passes before it opens, everybody passes after, in processes and in threads.
 *
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/base/clock.h"
#include "workloads/base/gate.h"

#define NR_PROCESSES 1024
#define NR_THREADS   256
#define NR_ROUNDS    300
#define LONG_NS      (50 * ZM_NS_PER_S)

/* What the test and its tasks share: how many went through, and how many of them saw it closed. */
struct shared {
	struct zm_gate gate;
	uint32_t nr_through;
	uint32_t nr_early;
};

static struct shared *shared;

static int set_up(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(shared, sizeof(*shared));
}

static uint64_t in_ns(uint64_t ns)
{
	return zm_clock_now_ns() + ns;
}

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* opened_ns is written before the door opens, so whoever is through must see it. */
static void pass(void)
{
	zm_gate_wait(&shared->gate);
	if (!load(&shared->gate.is_open) || shared->gate.opened_ns == 0)
		__atomic_add_fetch(&shared->nr_early, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&shared->nr_through, 1, __ATOMIC_SEQ_CST);
}

static void *pass_as_thread(void *unused)
{
	(void)unused;
	pass();
	return NULL;
}

/* --- without anybody ------------------------------------------------------------------------- */

static void nobody_comes_until_the_deadline(void **state)
{
	uint64_t deadline_ns = in_ns(20 * ZM_NS_PER_MS);

	(void)state;
	assert_int_equal(zm_gate_await(&shared->gate, 1, deadline_ns), -ETIMEDOUT);
	assert_true(zm_clock_now_ns() >= deadline_ns);
	assert_int_equal(zm_gate_await(&shared->gate, 1, 0), -ETIMEDOUT);
	assert_int_equal(zm_gate_await(&shared->gate, 0, 0), 0);
}

static void an_open_gate_lets_through_at_once(void **state)
{
	uint64_t before_ns = zm_clock_now_ns();

	(void)state;
	assert_true(shared->gate.opened_ns == 0);
	zm_gate_open(&shared->gate);
	assert_in_range(shared->gate.opened_ns, before_ns, zm_clock_now_ns());
	pass();
	assert_int_equal(shared->nr_through, 1);
	assert_int_equal(zm_gate_await(&shared->gate, 1, 0), 0);
}

static void init_shuts_it_again(void **state)
{
	(void)state;
	zm_gate_open(&shared->gate);
	pass();
	zm_gate_init(&shared->gate);
	assert_int_equal(shared->gate.opened_ns, 0);
	assert_int_equal(zm_gate_await(&shared->gate, 1, 0), -ETIMEDOUT);
}

/* --- processes ------------------------------------------------------------------------------- */

static size_t fork_tasks(pid_t *children, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		children[i] = fork();
		if (children[i] < 0)
			return i;
		if (children[i] == 0) {
			pass();
			_exit(0);
		}
	}
	return nr;
}

static void reap(const pid_t *children, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
}

static void a_thousand_processes(void **state)
{
	pid_t *children = calloc(NR_PROCESSES, sizeof(*children));
	size_t nr;

	(void)state;
	assert_non_null(children);
	nr = fork_tasks(children, NR_PROCESSES);
	if (nr < NR_PROCESSES) { /* a limit of this machine; what is there must pass all the same */
		zm_gate_open(&shared->gate);
		reap(children, nr);
		free(children);
		skip();
	}
	assert_int_equal(zm_gate_await(&shared->gate, NR_PROCESSES, in_ns(LONG_NS)), 0);
	assert_int_equal(load(&shared->nr_through), 0);
	assert_int_equal(zm_gate_await(&shared->gate, NR_PROCESSES + 1, in_ns(ZM_NS_PER_MS)),
			 -ETIMEDOUT);
	zm_gate_open(&shared->gate);
	reap(children, NR_PROCESSES);
	assert_int_equal(shared->nr_through, NR_PROCESSES);
	assert_int_equal(shared->nr_early, 0);
	free(children);
}

/* A task that dies on its way is missed at the deadline; the others still get through. */
static void a_task_that_never_comes(void **state)
{
	pid_t children[3];

	(void)state;
	assert_int_equal(fork_tasks(children, 3), 3);
	assert_int_equal(zm_gate_await(&shared->gate, 4, in_ns(50 * ZM_NS_PER_MS)), -ETIMEDOUT);
	assert_int_equal(zm_gate_await(&shared->gate, 3, in_ns(LONG_NS)), 0);
	zm_gate_open(&shared->gate);
	reap(children, 3);
	assert_int_equal(shared->nr_early, 0);
}

/* --- threads --------------------------------------------------------------------------------- */

static void many_threads(void **state)
{
	pthread_t threads[NR_THREADS];

	(void)state;
	for (size_t i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, pass_as_thread, NULL), 0);
	assert_int_equal(zm_gate_await(&shared->gate, NR_THREADS, in_ns(LONG_NS)), 0);
	assert_int_equal(load(&shared->nr_through), 0);
	zm_gate_open(&shared->gate);
	for (size_t i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(shared->nr_through, NR_THREADS);
	assert_int_equal(shared->nr_early, 0);
}

/* Arrivals, the harness's wait and the opening race with one another: a lost wake-up would hang the
 * round until the deadline, or the join for good. */
static void no_wake_up_is_lost(void **state)
{
	(void)state;
	for (int round = 0; round < NR_ROUNDS; round++) {
		pthread_t threads[3];

		zm_gate_init(&shared->gate);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, pass_as_thread, NULL),
					 0);
		if (round % 2)
			assert_int_equal(zm_gate_await(&shared->gate, 3, in_ns(LONG_NS)), 0);
		zm_gate_open(&shared->gate);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
	assert_int_equal(shared->nr_through, 3 * NR_ROUNDS);
	assert_int_equal(shared->nr_early, 0);
}

/* --- signals --------------------------------------------------------------------------------- */

static void do_nothing(int signal)
{
	(void)signal;
}

/* Neither a waiting task nor the waiting harness is thrown out by a signal. */
static void signals_change_nothing(void **state)
{
	const struct sigaction action = { .sa_handler = do_nothing };
	uint64_t deadline_ns = in_ns(50 * ZM_NS_PER_MS);
	pthread_t thread;
	pid_t parent = getpid(), sender;
	int status;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, pass_as_thread, NULL), 0);
	assert_int_equal(zm_gate_await(&shared->gate, 1, in_ns(LONG_NS)), 0);
	sender = fork();
	if (sender == 0) {
		while (getppid() == parent)
			if (kill(parent, SIGUSR1) || usleep(1000))
				break;
		_exit(0);
	}
	for (int i = 0; i < 20; i++)
		assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
	assert_int_equal(zm_gate_await(&shared->gate, 2, deadline_ns), -ETIMEDOUT);
	assert_true(zm_clock_now_ns() >= deadline_ns);
	assert_int_equal(load(&shared->nr_through), 0);
	assert_int_equal(kill(sender, SIGKILL), 0);
	while (waitpid(sender, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	zm_gate_open(&shared->gate);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(shared->nr_through, 1);
}

#define test_with_gate(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_with_gate(nobody_comes_until_the_deadline),
		test_with_gate(an_open_gate_lets_through_at_once),
		test_with_gate(init_shuts_it_again),
		test_with_gate(a_thousand_processes),
		test_with_gate(a_task_that_never_comes),
		test_with_gate(many_threads),
		test_with_gate(no_wake_up_is_lost),
		test_with_gate(signals_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
