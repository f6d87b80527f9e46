/*
 * turns: a workload's loop as a task runs it, and its bare loop, by turns in one process: pieces of as many
 * rounds, of some ten milliseconds each, and the ratio of their rates.
 *
 *     turns NAME [SECONDS [DIRECTORY]]      one line: the ratio, its interval at 95 %, the pairs of pieces
 *
 *     ours 0 | bare 0, bare 1 | ours 1, ours 2 | bare 2, bare 3 | …      a pair: the two of one number
 *
 * Launches differ by percents: in where memory lies, on an unlucky CPU, in what else the machine does. Two
 * loops in one process, over the same minutes, share all of that; what is left is what the harness's loop
 * costs: its step or round, its count, its look at the stop word. Time is the CPU time of the thread and of
 * its children that have ended, so others on the machine disturb little (the clock's only where the workload's
 * figure is about a part of each round). What one process has beside another
 * (a launcher, a runner that looks on) is not in it: that is for pairs of launches.
 *
 * The pieces are whole rounds, so both map, touch and unmap as often; those of steps begin with a round's
 * second operation, since what a round has mapped is unmapped with the next one's first. Workloads that only
 * run have no turns. A pool of huge pages that a workload makes larger is the caller's to put back.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/bare_load.h"
#include "bench/lone_task.h"
#include "bench/pair.h"
#include "faultload/region.h"
#include "faultload/usemem.h"
#include "runner/catalogue.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"
#include "workloads/worker.h"

#define PIECE_NS (10 * ZM_NS_PER_MS)
#define LEAST    8
#define MOST     ZM_PAIR_MOST

static const struct zm_workload *measured;
static const struct zm_bare_load *bare;
static uint64_t piece_ops, piece_rounds;
static uint64_t left;         /* operations, or rounds, of ours until this piece's end */
static uint64_t since_ns;     /* what was spent at its beginning */
static uint64_t until_ns;     /* of the clock: the last piece begins before */
static double rates[2][MOST]; /* pieces per second of CPU time: ours, bare */
static size_t nr[2];
static bool is_begun, has_failed;

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * ZM_NS_PER_S + (uint64_t)time->tv_usec * 1000;
}

/* Of the thread and its children. */
static uint64_t cpu_now_ns(void)
{
	struct rusage children;
	struct timespec now;

	(void)getrusage(RUSAGE_CHILDREN, &children);
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * ZM_NS_PER_S + (uint64_t)now.tv_nsec +
	       ns_of(&children.ru_utime) + ns_of(&children.ru_stime);
}

/* What either side has spent so far on what the workload's figure is about. */
static uint64_t ours_spent_ns(const struct zm_task *task)
{
	uint64_t sum_ns = 0;

	if (!bare->spent_ns)
		return cpu_now_ns();
	for (unsigned int i = 0; i < ZM_SLOT_COUNTERS; i++)
		if (bare->spent_counters & 1U << i)
			sum_ns += task->slot->counters[i];
	return sum_ns;
}

static uint64_t bare_spent_ns(void)
{
	return bare->spent_ns ? (uint64_t)bare->spent_ns() : cpu_now_ns();
}

static void note(int which, uint64_t spent_ns)
{
	rates[which][nr[which]++] = 1e9 / (double)(spent_ns ? spent_ns : 1);
}

static bool do_rounds(uint64_t n)
{
	int r = 0;

	for (; r == 0 && n > 0; n--)
		r = bare->round();
	if (r < 0)
		(void)fprintf(stderr, "turns: %s: bare: %s\n", bare->name, strerror(-r));
	return r == 0;
}

static bool do_bare_piece(void)
{
	uint64_t start_ns = bare_spent_ns();
	bool is_good = do_rounds(piece_rounds);

	note(1, bare_spent_ns() - start_ns);
	return is_good;
}

/* A piece of ours has ended. Whose turn is it now? Each side has two in a row, but for the first. */
static void turn(const struct zm_task *task)
{
	note(0, ours_spent_ns(task) - since_ns);
	while (!has_failed && nr[1] < MOST && nr[1] < nr[0] + (nr[0] % 2))
		has_failed = !do_bare_piece();
	if (has_failed || nr[0] >= MOST - 1 || (nr[0] >= LEAST && zm_clock_now_ns() > until_ns))
		zm_lone_task_stop();
	left = piece_ops;
	since_ns = ours_spent_ns(task);
}

/* What a piece of ours is counted in. */
static int64_t go_on(struct zm_task *task, uint64_t n)
{
	int r;

	if (measured->step)
		return measured->step(task, n < left ? n : left);
	r = measured->round(task);
	return r < 0 ? r : 1;
}

static void lend(const struct zm_task *task)
{
	if (bare->is_copier)
		zm_bare_load_lend(((const struct zm_usemem_run *)task->run->state)->base);
	if (bare->has_region)
		zm_bare_load_lend_file(((const struct zm_region *)task->state)->fd);
}

static int64_t step_by_turns(struct zm_task *task, uint64_t n)
{
	int64_t done = go_on(task, n);

	if (!is_begun) { /* the worker's first operation, or round, alone */
		lend(task);
		is_begun = true;
		since_ns = ours_spent_ns(task);
		return done;
	}
	if (done > 0)
		left -= (uint64_t)done;
	if (left == 0)
		turn(task);
	return done;
}

/* As many rounds as take about a piece's time, from one that is thrown away and a second. */
static bool calibrate(void)
{
	uint64_t start_ns;
	bool is_good = do_rounds(1);

	start_ns = cpu_now_ns();
	is_good = is_good && do_rounds(1);
	piece_rounds = PIECE_NS / (cpu_now_ns() - start_ns + 1);
	if (piece_rounds == 0)
		piece_rounds = 1;
	piece_ops = piece_rounds;
	if (measured->step)
		piece_ops = (uint64_t)(zm_bare_load_harness_ops(bare) * (double)piece_rounds);
	left = piece_ops;
	return is_good && piece_ops > 0;
}

/* The options of the bare loop's row, as words. */
static char **words_of(const char *directory)
{
	static char text[512], *words[16];
	char *rest = text;
	size_t n = 0;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(text, sizeof(text), bare->options, directory); /* holds one %s, or none */
#pragma GCC diagnostic pop
	for (char *word; n + 1 < sizeof(words) / sizeof(words[0]) && (word = strsep(&rest, " "));)
		if (*word)
			words[n++] = word;
	words[n] = NULL;
	return words;
}

/* The first pair is no warm one. */
static int print(void)
{
	size_t pairs = (nr[0] < nr[1] ? nr[0] : nr[1]) - 1;
	struct zm_pair_result result;

	if (zm_pair_compare(rates[0] + 1, rates[1] + 1, pairs, &result) < 0)
		return 2;
	(void)printf("%.5f [%.5f, %.5f] %zu\n", result.ratio, result.low, result.high, pairs);
	return 0;
}

int main(int argc, char **argv)
{
	const char *directory = argc > 3 ? argv[3] : "/tmp";
	uint64_t length_ns = 5 * ZM_NS_PER_S, ops;
	int r;

	if (argc > 1) {
		measured = zm_workload_find(argv[1]);
		bare = zm_bare_load_find(argv[1]);
	}
	if (!bare || !measured || argc > 4 ||
	    (argc > 2 && zm_units_parse_duration(argv[2], &length_ns) < 0)) {
		(void)fprintf(stderr, "usage: turns NAME [SECONDS [DIRECTORY]]\n");
		return 2;
	}
	if (measured->run)
		return 77;                           /* nobody can take turns with it */
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* the options say thp=never */
	r = bare->open(directory);
	if (r < 0 || !calibrate()) {
		(void)fprintf(stderr, "turns: %s: %s\n", bare->name, strerror(-r));
		return 2;
	}
	until_ns = zm_clock_now_ns() + length_ns;
	r = zm_lone_task_run(measured, step_by_turns, words_of(directory), &ops);
	return r == 0 && !has_failed ? print() : 2;
}
