/*
 * guest_cycle: guests start and stop: their memory is made, touched, and given back.
 *
 * Each task is a guest that, for ever: makes its memory (backing), touches each page of it (by `threads`
 * threads at once, as a VMM that allocates all before the guest starts; or, with 0, page after page,
 * as the guest's one CPU would), and gives it back. One operation is such a cycle.
 */
#include <errno.h>
#include <stddef.h>

#include "faultload/guest.h"
#include "faultload/hugepool.h"
#include "faultload/piece.h"
#include "faultload/thp.h"
#include "workloads/base/clock.h"

#define PATIENCE_NS (600 * ZM_NS_PER_S) /* a cycle of a large guest takes its time */

struct guest_options {
	uint64_t size;
	uint64_t threads;
	uint64_t hugepagesize;
	unsigned int backing;
	unsigned int pool;
};

static const struct zm_option options[] = {
	{ .name = "size",
	  .type = ZM_OPTION_SIZE,
	  .offset = offsetof(struct guest_options, size),
	  .preset = "256M",
	  .min = 4096,
	  .max = UINT64_C(1) << 46,
	  .unit = "bytes",
	  .help = "memory of one guest" },
	{ .name = "backing",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct guest_options, backing),
	  .preset = "thp",
	  .choices = zm_guest_backings,
	  .help = "what the guest's memory is made of" },
	{ .name = "threads",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct guest_options, threads),
	  .preset = "1",
	  .max = 1024,
	  .unit = "threads",
	  .help = "threads that touch all memory before the guest starts; 0: the guest does, by "
		  "itself" },
	{ .name = "hugepagesize",
	  .type = ZM_OPTION_SIZE,
	  .offset = offsetof(struct guest_options, hugepagesize),
	  .preset = "0",
	  .max = UINT64_C(1) << 40,
	  .unit = "bytes",
	  .help = "size of a hugetlb page; 0 is the default size" },
	{ .name = "pool",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct guest_options, pool),
	  .preset = "surplus",
	  .choices = zm_hugepool_kinds,
	  .help = "where hugetlb pages come from: made when they are used, or made before" },
	{ .name = NULL },
};

/* Pieces of a cycle, in order; counters and metrics are in the same order. */
enum piece { MAKE, TOUCH, END, NR_PIECES };

enum { COUNTER_PAGES = NR_PIECES };

static const struct zm_metric counters[] = {
	[MAKE] = { .name = "guest_cycle.make_ns",
		   .unit = "ns",
		   .kind = ZM_COUNT,
		   .summary = "time in memfd_create, mmap, madvise" },
	[TOUCH] = { .name = "guest_cycle.touch_ns",
		    .unit = "ns",
		    .kind = ZM_COUNT,
		    .summary = "time until all pages were touched" },
	[END] = { .name = "guest_cycle.end_ns",
		  .unit = "ns",
		  .kind = ZM_COUNT,
		  .summary = "time in munmap and close" },
	[COUNTER_PAGES] = { .name = "guest_cycle.pages",
			    .unit = "pages",
			    .kind = ZM_COUNT,
			    .summary = "pages touched" },
	{ .name = NULL },
};

enum { METRIC_PAGE = NR_PIECES, METRIC_CYCLES, NR_METRICS };

static const struct zm_metric metrics[] = {
	[MAKE] = { .name = "guest_cycle.make_time",
		   .unit = "s",
		   .kind = ZM_GAUGE,
		   .better = ZM_BETTER_LESS,
		   .summary = "until a guest's memory is mapped, on average" },
	[TOUCH] = { .name = "guest_cycle.touch_time",
		    .unit = "s",
		    .kind = ZM_GAUGE,
		    .better = ZM_BETTER_LESS,
		    .summary = "until all its pages are there, on average" },
	[END] = { .name = "guest_cycle.end_time",
		  .unit = "s",
		  .kind = ZM_GAUGE,
		  .better = ZM_BETTER_LESS,
		  .summary = "until its memory is given back, on average" },
	[METRIC_PAGE] = { .name = "guest_cycle.touch_page_ns",
			  .unit = "ns",
			  .kind = ZM_GAUGE,
			  .better = ZM_BETTER_LESS,
			  .summary = "touch_time for one page" },
	[METRIC_CYCLES] = { .name = "guest_cycle.cycles",
			    .unit = "cycles/s",
			    .kind = ZM_GAUGE,
			    .better = ZM_BETTER_MORE,
			    .is_primary = true,
			    .summary = "guests started and stopped by all tasks" },
	{ .name = NULL },
};

struct guest_run {
	struct zm_piece pieces[NR_PIECES];
	int thp_before;
};

struct guest_task {
	struct zm_guest guest;
};

static bool is_hugetlb(const struct guest_options *chosen)
{
	return chosen->backing == ZM_GUEST_HUGETLB || chosen->backing == ZM_GUEST_MEMFD_HUGETLB;
}

static uint64_t page_bytes_of(const struct zm_run *run)
{
	const struct guest_options *chosen = run->options;

	if (!is_hugetlb(chosen))
		return run->page_bytes;
	return chosen->hugepagesize ? chosen->hugepagesize : zm_hugepool_default_bytes(run->root);
}

static int check_hugetlb(const struct zm_run *run, struct zm_why *why)
{
	const struct guest_options *chosen = run->options;
	int r = zm_hugepool_check(run->root, why);

	if (r == 0 && chosen->hugepagesize)
		r = zm_hugepool_check_size(run->root, chosen->hugepagesize, why);
	return r;
}

static int check(const struct zm_run *run, struct zm_why *why)
{
	const struct guest_options *chosen = run->options;
	int r = 0;

	if (chosen->hugepagesize && !is_hugetlb(chosen))
		return zm_why_set(why, -EINVAL,
				  "hugepagesize=%llu: backing=%s has none; use backing=hugetlb or "
				  "memfd-hugetlb",
				  (unsigned long long)chosen->hugepagesize,
				  zm_guest_backings[chosen->backing]);
	if (is_hugetlb(chosen))
		r = check_hugetlb(run, why);
	else if (chosen->backing == ZM_GUEST_THP)
		r = zm_thp_check(run->root, ZM_THP_MADVISE, why);
	if (r < 0)
		return r;
	if (chosen->size % page_bytes_of(run) != 0)
		return zm_why_set(
			why, -EINVAL, "size=%llu: not a multiple of the page of %llu bytes",
			(unsigned long long)chosen->size, (unsigned long long)page_bytes_of(run));
	return 0;
}

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct guest_options *chosen = run->options;

	ret_footprint->task_bytes = chosen->size;
	ret_footprint->task_files = 1;
	ret_footprint->hugetlb_page_bytes = chosen->hugepagesize;
	if (is_hugetlb(chosen))
		ret_footprint->hugetlb_bytes = ret_footprint->hugetlb_mapped_bytes =
			chosen->size * run->nr_tasks;
}

static int prepare(struct zm_run *run, struct zm_why *why)
{
	const struct guest_options *chosen = run->options;
	struct guest_run *shared = run->state;
	uint64_t nr_pages = chosen->size / page_bytes_of(run);

	shared->thp_before = -1;
	if (chosen->hugepagesize)
		return zm_hugepool_add_of(run->root, chosen->hugepagesize, chosen->pool,
					  nr_pages * run->nr_tasks, why);
	if (is_hugetlb(chosen))
		return zm_hugepool_add(run->root, chosen->pool, nr_pages * run->nr_tasks, why);
	if (chosen->backing == ZM_GUEST_THP)
		return zm_thp_prepare(run->root, ZM_THP_MADVISE, &shared->thp_before, why);
	return 0;
}

static void cleanup(struct zm_run *run)
{
	const struct guest_options *chosen = run->options;
	const struct guest_run *shared = run->state;

	if (chosen->backing == ZM_GUEST_THP)
		zm_thp_cleanup(ZM_THP_MADVISE, shared->thp_before);
}

static int setup(struct zm_task *task, struct zm_why *why)
{
	const struct guest_options *chosen = task->run->options;
	struct guest_task *state = task->state;

	(void)why;
	state->guest = (struct zm_guest){ .backing = chosen->backing,
					  .bytes = chosen->size,
					  .page_bytes = page_bytes_of(task->run),
					  .fd = -1 };
	return 0;
}

static void count_piece(struct zm_task *task, enum piece piece, uint64_t *since_ns)
{
	struct guest_run *shared = task->run->state;
	uint64_t now_ns = zm_clock_now_ns();

	zm_task_count(task, piece, now_ns - *since_ns);
	zm_piece_add(&shared->pieces[piece], now_ns - *since_ns);
	*since_ns = now_ns;
}

/* One that the stop cut short is given back and not counted. */
static int cycle(struct zm_task *task)
{
	const struct guest_options *chosen = task->run->options;
	struct guest_task *state = task->state;
	struct zm_guest *guest = &state->guest;
	uint64_t since_ns = zm_clock_now_ns();
	uint64_t nr_pages;
	int r = zm_guest_make(guest, &task->slot->why);

	if (r < 0)
		return r;
	count_piece(task, MAKE, &since_ns);
	r = zm_guest_touch(guest, task, (unsigned int)chosen->threads, &nr_pages, &task->slot->why);
	if (r < 0)
		return r;
	zm_task_count(task, COUNTER_PAGES, nr_pages);
	if (nr_pages < guest->bytes / guest->page_bytes)
		return 0;
	count_piece(task, TOUCH, &since_ns);
	zm_guest_end(guest);
	count_piece(task, END, &since_ns);
	zm_task_add(task, 1);
	return 0;
}

static void teardown(struct zm_task *task)
{
	struct guest_task *state = task->state;

	zm_guest_end(&state->guest);
}

static int report(const struct zm_window *window, struct zm_report *report)
{
	const struct guest_options *chosen = window->run->options;
	const struct guest_run *shared = window->run->state;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	uint64_t cycles = zm_window_ops(window);
	double nr_pages = (double)chosen->size / (double)page_bytes_of(window->run);
	double values[NR_METRICS];

	if (cycles == 0 || shared->pieces[END].nr == 0)
		return zm_report_fail(report, -ENODATA,
				      "no guest was started and stopped in the window of %.1f s; "
				      "set a longer runtime, or a smaller size",
				      (double)interval_ns / 1e9);
	for (size_t i = 0; i < NR_PIECES; i++)
		values[i] = zm_piece_mean_s(&shared->pieces[i]);
	values[METRIC_PAGE] = values[TOUCH] * 1e9 / nr_pages;
	values[METRIC_CYCLES] = zm_window_rate(window, cycles);
	for (size_t i = 0; i < NR_METRICS; i++) {
		int r = zm_report_add(report, &metrics[i], values[i], (double)cycles, interval_ns);

		if (r < 0)
			return r;
	}
	return 0;
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "starts and stops guests: makes, touches and gives back their memory",
	.op = "cycle",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.options = options,
	.options_size = sizeof(struct guest_options),
	.counters = counters,
	.metrics = metrics,
	.save =
		(const char *const[]){
			"sys/kernel/mm/transparent_hugepage/enabled", "proc/sys/vm/nr_hugepages",
			"proc/sys/vm/nr_overcommit_hugepages",
			"sys/kernel/mm/hugepages/hugepages-*/nr_hugepages",
			"sys/kernel/mm/hugepages/hugepages-*/nr_overcommit_hugepages", NULL },
	.patience_ns = PATIENCE_NS,
	.run_bytes = sizeof(struct guest_run),
	.task_bytes = sizeof(struct guest_task),
	.check = check,
	.footprint = footprint,
	.prepare = prepare,
	.cleanup = cleanup,
	.setup = setup,
	.teardown = teardown,
	.round = cycle,
	.report = report,
};
