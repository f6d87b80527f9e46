/*
 * hugetlb_pool: the pool of huge pages grows and shrinks.
 *
 * The task, for ever: writes to nr_hugepages until `pages` more huge pages are there (or the kernel makes
 * no more), then until they are gone. By default that is one write each, as one does by hand; with `step`
 * the pool goes so many pages at a time, which gives the time per page as a curve. One operation is a
 * page that was made or given back. What was asked for and what was got is read back after each write.
 *
 *     pool:  base ---- step ---- step ---- base + pages        then back the same way
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "faultload/hugepool.h"
#include "faultload/piece.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"
#include "workloads/worker.h"

#define PATIENCE_NS (600 * ZM_NS_PER_S) /* one write may make 700 pages of 1 GiB */
#define PATH_SIZE   128

struct pool_options {
	uint64_t pages;
	uint64_t hugepagesize;
	uint64_t step;
	char *node;
};

static const struct zm_option options[] = {
	{ .name = "pages",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct pool_options, pages),
	  .preset = "0",
	  .max = UINT64_C(1) << 32,
	  .unit = "pages",
	  .help = "huge pages to grow by; 0 is what fits into a quarter of the available memory" },
	{ .name = "hugepagesize",
	  .type = ZM_OPTION_SIZE,
	  .offset = offsetof(struct pool_options, hugepagesize),
	  .preset = "0",
	  .max = UINT64_C(1) << 40,
	  .unit = "bytes",
	  .help = "size of a huge page; 0 is the default size" },
	{ .name = "step",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct pool_options, step),
	  .preset = "0",
	  .max = UINT64_C(1) << 32,
	  .unit = "pages",
	  .help = "pages that one write asks for; 0 is all of them; a tenth of them or fewer give "
		  "the time per page as a curve" },
	{ .name = "node",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct pool_options, node),
	  .help = "the node whose pool it is; all nodes by turns when not given" },
	{ .name = NULL },
};

/* The two ways the pool goes. */
enum way { GROW, SHRINK, NR_WAYS };

enum { GROW_NS, SHRINK_NS, GROWN, SHRUNK, ASKED };

static const struct zm_metric counters[] = {
	[GROW_NS] = { .name = "hugetlb_pool.grow_ns",
		      .unit = "ns",
		      .kind = ZM_COUNT,
		      .summary = "time in writes that grow the pool" },
	[SHRINK_NS] = { .name = "hugetlb_pool.shrink_ns",
			.unit = "ns",
			.kind = ZM_COUNT,
			.summary = "time in writes that shrink it" },
	[GROWN] = { .name = "hugetlb_pool.pages_grown",
		    .unit = "pages",
		    .kind = ZM_COUNT,
		    .summary = "pages that were made" },
	[SHRUNK] = { .name = "hugetlb_pool.pages_shrunk",
		     .unit = "pages",
		     .kind = ZM_COUNT,
		     .summary = "pages that were given back" },
	[ASKED] = { .name = "hugetlb_pool.pages_asked",
		    .unit = "pages",
		    .kind = ZM_COUNT,
		    .summary = "pages that were asked for" },
	{ .name = NULL },
};

static const struct zm_metric hists[] = {
	[GROW] = { .name = "hugetlb_pool.grow_page_ns",
		   .unit = "ns",
		   .kind = ZM_HIST,
		   .summary = "time per page made, of each write" },
	[SHRINK] = { .name = "hugetlb_pool.shrink_page_ns",
		     .unit = "ns",
		     .kind = ZM_HIST,
		     .summary = "time per page given back, of each write" },
	{ .name = NULL },
};

#define NR_TENTHS 10 /* of the pool: the curve's points */

enum {
	GROW_TIME,
	SHRINK_TIME,
	GROW_PAGE,
	SHRINK_PAGE,
	PAGES_ASKED,
	PAGES_GOT,
	NR_METRICS,
	GROW_CURVE = NR_METRICS,
	SHRINK_CURVE = GROW_CURVE + NR_TENTHS,
	NR_ALL_METRICS = SHRINK_CURVE + NR_TENTHS,
};

#define CURVE_ROW(way, tenth, up_to, from, what)                                                   \
	[way##_CURVE + (tenth)] = { .name = "hugetlb_pool." what "_ns_per_page." up_to,            \
				    .unit = "ns",                                                  \
				    .kind = ZM_GAUGE,                                              \
				    .better = ZM_BETTER_LESS,                                      \
				    .is_optional = true,                                           \
				    .summary = "time to " what " the pool by one page, from " from \
					       " to " up_to " % of its pages" }

#define CURVE_ROWS(way, what)                                                                      \
	CURVE_ROW(way, 0, "10", "0", what), CURVE_ROW(way, 1, "20", "10", what),                   \
		CURVE_ROW(way, 2, "30", "20", what), CURVE_ROW(way, 3, "40", "30", what),          \
		CURVE_ROW(way, 4, "50", "40", what), CURVE_ROW(way, 5, "60", "50", what),          \
		CURVE_ROW(way, 6, "70", "60", what), CURVE_ROW(way, 7, "80", "70", what),          \
		CURVE_ROW(way, 8, "90", "80", what), CURVE_ROW(way, 9, "100", "90", what)

static const struct zm_metric metrics[] = {
	[GROW_TIME] = { .name = "hugetlb_pool.grow_time",
			.unit = "s",
			.kind = ZM_GAUGE,
			.better = ZM_BETTER_LESS,
			.is_primary = true,
			.summary = "to grow the pool by all pages, on average" },
	[SHRINK_TIME] = { .name = "hugetlb_pool.shrink_time",
			  .unit = "s",
			  .kind = ZM_GAUGE,
			  .better = ZM_BETTER_LESS,
			  .is_primary = true,
			  .summary = "to shrink it again, on average" },
	[GROW_PAGE] = { .name = "hugetlb_pool.grow_ns_per_page",
			.unit = "ns",
			.kind = ZM_GAUGE,
			.better = ZM_BETTER_LESS,
			.summary = "time to make one page, on average" },
	[SHRINK_PAGE] = { .name = "hugetlb_pool.shrink_ns_per_page",
			  .unit = "ns",
			  .kind = ZM_GAUGE,
			  .better = ZM_BETTER_LESS,
			  .summary = "time to give one page back, on average" },
	[PAGES_ASKED] = { .name = "hugetlb_pool.asked",
			  .unit = "pages",
			  .kind = ZM_GAUGE,
			  .better = ZM_BETTER_NEITHER,
			  .summary = "pages that the pool was to grow by" },
	[PAGES_GOT] = { .name = "hugetlb_pool.got",
			.unit = "pages",
			.kind = ZM_GAUGE,
			.better = ZM_BETTER_MORE,
			.is_primary = true, /* else the times say nothing */
			.summary = "pages that the kernel made of these, on average" },
	CURVE_ROWS(GROW, "grow"),
	CURVE_ROWS(SHRINK, "shrink"),
	{ .name = NULL },
};

struct pool_run {
	char path[PATH_SIZE];
	uint64_t base;     /* pages that were there before */
	uint64_t at;       /* where the pool is between two ways: the task's */
	uint64_t nr_pages; /* to grow by */
	struct zm_piece pieces[NR_WAYS];
	_Atomic uint64_t pages[NR_WAYS]; /* of these pieces together */
	/* Writes, by where in the pool the middle of their pages lies. */
	_Atomic uint64_t tenth_pages[NR_WAYS][NR_TENTHS], tenth_ns[NR_WAYS][NR_TENTHS];
	_Atomic uint64_t nr_left; /* pages above base when all was over */
};

static uint64_t page_bytes_of(const struct zm_run *run)
{
	const struct pool_options *chosen = run->options;

	return chosen->hugepagesize ? chosen->hugepagesize : zm_hugepool_default_bytes(run->root);
}

static uint64_t nr_pages_of(const struct zm_run *run)
{
	const struct pool_options *chosen = run->options;
	uint64_t fitting = zm_hugepool_meminfo(run->root, "MemAvailable") / 4 / page_bytes_of(run);

	if (chosen->pages)
		return chosen->pages;
	return fitting ? fitting : 1;
}

/* The kernel has pools for nodes without memory too, which never grow. */
static bool has_memory(const struct zm_run *run, uint64_t node)
{
	zm_autocpuset struct zm_cpuset nodes = { 0 };

	return zm_sysroot_read_cpuset(run->root, "sys/devices/system/node/has_memory", &nodes) <
		       0 ||
	       zm_cpuset_has(&nodes, (unsigned int)node);
}

static int find_path(const struct zm_run *run, char path[PATH_SIZE], struct zm_why *why)
{
	const struct pool_options *chosen = run->options;
	uint64_t node = 0;

	if (chosen->node && zm_units_parse_u64(chosen->node, &node) < 0)
		return zm_why_set(why, -EINVAL, "node=%s: a node's number is needed", chosen->node);
	if (chosen->node && !has_memory(run, node))
		return zm_why_set(why, -ENOTSUP, "node=%s: that node has no memory; see %s",
				  chosen->node, "/sys/devices/system/node/has_memory");
	(void)zm_hugepool_path(path, PATH_SIZE, page_bytes_of(run), chosen->node ? (int)node : -1);
	if (zm_sysroot_has(run->root, path))
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "no /%s: this machine has no huge pages of that size there; see "
			  "/sys/kernel/mm/hugepages",
			  path);
}

static int check(const struct zm_run *run, struct zm_why *why)
{
	char path[PATH_SIZE];
	int r = zm_hugepool_check(run->root, why);

	if (r == 0)
		r = find_path(run, path, why);
	if (r < 0)
		return r;
	if (run->nr_tasks > 1)
		return zm_why_set(why, -EINVAL, "nr_task=%u: there is one pool; run with nr_task=1",
				  run->nr_tasks);
	return 0;
}

static void footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	ret_footprint->shared_bytes = nr_pages_of(run) * page_bytes_of(run);
}

static int prepare(struct zm_run *run, struct zm_why *why)
{
	struct pool_run *shared = run->state;
	int r = find_path(run, shared->path, why);

	if (r < 0)
		return r;
	shared->nr_pages = nr_pages_of(run);
	r = zm_sysroot_read_u64(run->root, shared->path, &shared->base);
	shared->at = shared->base;
	return r < 0 ? zm_why_errno(why, r, "/%s", shared->path) : 0;
}

/* One write, and what it came to. An interrupted one made some of the pages, which is no failure. */
static int set_pool(const struct zm_run *run, uint64_t nr_pages, uint64_t *ret_got,
		    uint64_t *ret_ns)
{
	const struct pool_run *shared = run->state;
	uint64_t since_ns = zm_clock_now_ns();
	char text[24];
	int r;

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)nr_pages);
	r = zm_sysroot_write(run->root, shared->path, text);
	*ret_ns = zm_clock_now_ns() - since_ns;
	if (r < 0 && r != -EINTR)
		return r;
	return zm_sysroot_read_u64(run->root, shared->path, ret_got);
}

static void count_write(struct zm_task *task, enum way way, uint64_t nr_pages, uint64_t ns)
{
	zm_task_count(task, way == GROW ? GROW_NS : SHRINK_NS, ns);
	zm_task_count(task, way == GROW ? GROWN : SHRUNK, nr_pages);
	zm_task_add(task, nr_pages);
	if (nr_pages)
		zm_task_hist(task, way, ns / nr_pages);
}

/* A point of the curve: pages from `low` on, counted from the pool's base. */
static void add_to_curve(struct pool_run *shared, enum way way, uint64_t low, uint64_t nr_pages,
			 uint64_t ns)
{
	uint64_t tenth = (2 * low + nr_pages) * NR_TENTHS / 2 / shared->nr_pages;

	if (tenth >= NR_TENTHS)
		return;
	shared->tenth_pages[way][tenth] += nr_pages;
	shared->tenth_ns[way][tenth] += ns;
}

/* From `from` to `to` in steps, until it is there, the kernel goes no further, or the stop. *ret_at is
 * where the pool is then. */
static int go(struct zm_task *task, enum way way, uint64_t from, uint64_t to, uint64_t *ret_at)
{
	const struct pool_options *chosen = task->run->options;
	struct pool_run *shared = task->run->state;
	uint64_t step = chosen->step ? chosen->step : shared->nr_pages;
	uint64_t at = from, total_ns = 0;

	while (at != to && !zm_task_is_stopped(task)) {
		uint64_t left = way == GROW ? to - at : at - to;
		uint64_t part = step < left ? step : left;
		uint64_t got, ns;
		int r = set_pool(task->run, way == GROW ? at + part : at - part, &got, &ns);

		if (r < 0)
			return zm_why_errno(&task->slot->why, r, "/%s", shared->path);
		if (way == GROW)
			zm_task_count(task, ASKED, part);
		if (way == GROW ? got <= at : got >= at)
			break;
		part = way == GROW ? got - at : at - got;
		count_write(task, way, part, ns);
		add_to_curve(shared, way, (way == GROW ? at : got) - shared->base, part, ns);
		total_ns += ns;
		at = got;
	}
	if (!zm_task_is_stopped(task) && at != from) {
		zm_piece_add(&shared->pieces[way], total_ns);
		shared->pages[way] += way == GROW ? at - from : from - at;
	}
	*ret_at = at;
	return 0;
}

static int cycle(struct zm_task *task)
{
	struct pool_run *shared = task->run->state;
	int r = go(task, GROW, shared->at, shared->base + shared->nr_pages, &shared->at);

	if (r == 0 && shared->at == shared->base && !zm_task_is_stopped(task))
		return zm_why_set(&task->slot->why, -ENOMEM,
				  "/%s: the kernel makes not one more huge page: memory is "
				  "fragmented or used",
				  shared->path);
	return r == 0 ? go(task, SHRINK, shared->at, shared->base, &shared->at) : r;
}

/* Every page is given back, wherever the stop came. */
static void teardown(struct zm_task *task)
{
	struct pool_run *shared = task->run->state;
	uint64_t got, ns;

	if (set_pool(task->run, shared->base, &got, &ns) == 0 && got > shared->base)
		shared->nr_left += got - shared->base;
}

static int verify(struct zm_run *run, struct zm_why *why)
{
	const struct pool_run *shared = run->state;

	if (shared->nr_left == 0)
		return 0;
	return zm_why_set(why, -EBADMSG, "/%s: %llu huge pages were not given back: are they used?",
			  shared->path, (unsigned long long)shared->nr_left);
}

/* Only where the writes were small enough to tell tenths apart. */
static void derive_curve(const struct zm_run *run, double *values)
{
	const struct pool_options *chosen = run->options;
	const struct pool_run *shared = run->state;
	bool has_curve = chosen->step && chosen->step <= shared->nr_pages / NR_TENTHS;

	for (enum way way = GROW; way < NR_WAYS; way++)
		for (size_t i = 0; i < NR_TENTHS; i++) {
			double pages = (double)shared->tenth_pages[way][i];
			double ns = (double)shared->tenth_ns[way][i];

			values[(way == GROW ? GROW_CURVE : SHRINK_CURVE) + i] =
				has_curve && pages > 0 ? ns / pages : NAN;
		}
}

static int report(const struct zm_window *window, struct zm_report *report)
{
	const struct pool_run *shared = window->run->state;
	uint64_t interval_ns = window->t1_ns - window->t0_ns;
	double values[NR_ALL_METRICS];

	for (enum way way = GROW; way < NR_WAYS; way++) {
		if (shared->pieces[way].nr == 0 || shared->pages[way] == 0)
			return zm_report_fail(report, -ENODATA,
					      "the pool did not %s by all %llu pages before the "
					      "end; set a longer "
					      "runtime, or fewer pages",
					      way == GROW ? "grow" : "shrink again",
					      (unsigned long long)shared->nr_pages);
		values[way == GROW ? GROW_TIME : SHRINK_TIME] =
			zm_piece_mean_s(&shared->pieces[way]);
		values[way == GROW ? GROW_PAGE : SHRINK_PAGE] =
			(double)shared->pieces[way].total_ns / (double)shared->pages[way];
	}
	values[PAGES_ASKED] = (double)shared->nr_pages;
	values[PAGES_GOT] = (double)shared->pages[GROW] / (double)shared->pieces[GROW].nr;
	derive_curve(window->run, values);
	for (size_t i = 0; i < NR_ALL_METRICS; i++) {
		int r = 0;

		if (!isnan(values[i]))
			r = zm_report_add(report, &metrics[i], values[i],
					  (double)zm_window_ops(window), interval_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

const struct zm_workload ZM_WORKLOAD = {
	.name = ZM_WORKLOAD_NAME,
	.summary = "grows and shrinks the pool of huge pages",
	.op = "huge page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.need = { .root = true },
	.options = options,
	.options_size = sizeof(struct pool_options),
	.counters = counters,
	.hists = hists,
	.metrics = metrics,
	.save = (const char *const[]){ "sys/kernel/mm/hugepages/hugepages-*/nr_hugepages",
				       "sys/devices/system/node/node*/hugepages/hugepages-*/"
				       "nr_hugepages",
				       NULL },
	.patience_ns = PATIENCE_NS,
	.run_bytes = sizeof(struct pool_run),
	.check = check,
	.footprint = footprint,
	.prepare = prepare,
	.teardown = teardown,
	.round = cycle,
	.verify = verify,
	.report = report,
};
