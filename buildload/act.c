/*
 * act: a process's life cut into slices of equal CPU time. In each slice every kind of act has a mark
 * to come up to; the place in the sequence is how far each has come.
 */
#include "buildload/act.h"

/* The order within a slice. */
enum {
	IMAGES,
	COPIES,
	WINDOWS,
	OPENS,
	MISSES,
	HEAR,
	GROW,
	WORK,
	HOP,
	CHILDREN,
	WRITES,
	SAYS,
	UNMAPS,
	NR_KINDS
};

#define SLICES_MAX  64
#define SLICE_PAGES 64   /* grown in a slice, at least */
#define SLICE_WORK  2000 /* units */
#define MILLION     UINT64_C(1000000)

static const char *const names[ZM_NR_ACTS] = {
	[ZM_ACT_END] = "end",         [ZM_ACT_IMAGES] = "images",
	[ZM_ACT_WINDOWS] = "windows", [ZM_ACT_COPIES] = "copies",
	[ZM_ACT_MAP] = "map",         [ZM_ACT_BRK] = "brk",
	[ZM_ACT_TOUCH] = "touch",     [ZM_ACT_READ_TOUCH] = "read-touch",
	[ZM_ACT_UNMAP] = "unmap",     [ZM_ACT_OPEN] = "open",
	[ZM_ACT_MISS] = "miss",       [ZM_ACT_WORK] = "work",
	[ZM_ACT_HOP] = "hop",         [ZM_ACT_CHILD] = "child",
	[ZM_ACT_WAIT] = "wait",       [ZM_ACT_WRITE] = "write",
	[ZM_ACT_HEAR] = "hear",       [ZM_ACT_SAY] = "say",
};

const char *zm_act_name(enum zm_act_kind kind)
{
	return names[kind];
}

/* splitmix64: one word of state. */
static uint64_t draw(struct zm_acts *acts)
{
	uint64_t z = acts->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

__extension__ typedef unsigned __int128 wide;

/* n of `of` parts, rounded down. */
static uint64_t part(uint64_t whole, uint64_t n, uint64_t of)
{
	return (uint64_t)((wide)whole * n / of);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* --- what it comes to in all --- */

static uint64_t heap_pages(const struct zm_acts *acts)
{
	return above(acts->step->anon_pages, ZM_ACT_BASE_PAGES + acts->nr_copies);
}

/* Faults that are neither the helper's own nor the heap's are those on files. A copy is an anonymous
 * page too, and stands among those: as many as were recorded for certain, or the knob's share. */
static void count_all(struct zm_acts *acts)
{
	const struct zm_script_step *step = acts->step;
	uint64_t anon = above(step->anon_pages, ZM_ACT_BASE_PAGES);
	uint64_t others = ZM_ACT_BASE_FAULTS + anon;
	unsigned int nr;

	if (acts->class->nr_images)
		acts->nr_copies =
			least(anon, most(step->copied_pages,
					 part(above(step->faults, others + step->zero_reads),
					      acts->class->copy_ppm, MILLION)));
	acts->nr_zeros = least(step->zero_reads, heap_pages(acts));
	if (acts->class->nr_images)
		acts->nr_windows = above(step->faults, others + acts->nr_zeros);
	nr = (unsigned int)least(heap_pages(acts) / SLICE_PAGES + step->work / SLICE_WORK,
				 SLICES_MAX);
	acts->nr_slices = nr > step->nr_children + 1 ? nr : step->nr_children + 1;
}

void zm_acts_begin(struct zm_acts *acts, const struct zm_script_head *head,
		   const struct zm_script_class *class, const struct zm_script_step *step)
{
	*acts = (struct zm_acts){
		.head = head, .class = class, .step = step, .random = step->seed, .child_at = 1
	};
	count_all(acts);
}

/* --- marks: where a kind must have come to at the end of this slice --- */

static uint64_t share(const struct zm_acts *acts, uint64_t whole)
{
	return part(whole, acts->slice + 1, acts->nr_slices);
}

/* All in the first half. */
static uint64_t early_share(const struct zm_acts *acts, uint64_t whole)
{
	return least(whole, 2 * share(acts, whole) + (acts->nr_slices == 1 ? whole : 0));
}

/* All in the second half. */
static uint64_t late_share(const struct zm_acts *acts, uint64_t whole)
{
	if (acts->slice + 1 == acts->nr_slices)
		return whole;
	return above(2 * share(acts, whole), whole);
}

static uint64_t ramp_share(const struct zm_acts *acts, uint64_t whole)
{
	uint64_t at = (uint64_t)(acts->slice + 1) * ZM_SCRIPT_RAMP * 256 / acts->nr_slices;
	uint64_t point = at / 256, rest = at % 256; /* between two points */
	uint64_t from = point > 0 ? acts->step->ramp[point - 1] : 0;
	uint64_t to = point < ZM_SCRIPT_RAMP ? acts->step->ramp[point] : from;

	if (acts->slice + 1 == acts->nr_slices)
		return whole;
	return whole * (from * 256 + (to - from) * rest) / (UINT64_C(65535) * 256);
}

static uint64_t window_mark(const struct zm_acts *acts)
{
	uint64_t early = part(acts->nr_windows, acts->class->early_ppm, MILLION);

	return early + late_share(acts, acts->nr_windows - early);
}

/* --- one kind after the other; false: nothing (more) of it in this slice --- */

static bool act(struct zm_act *ret_act, enum zm_act_kind kind, uint64_t count, uint64_t bytes)
{
	*ret_act = (struct zm_act){ kind, count, bytes };
	return true;
}

static bool images(struct zm_acts *acts, struct zm_act *ret_act)
{
	if (acts->slice > 0 || acts->class->nr_images == 0 || acts->has_images)
		return false;
	acts->has_images = true;
	return act(ret_act, ZM_ACT_IMAGES, acts->class->nr_images, 0);
}

static bool windows(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t n = above(window_mark(acts), acts->windows);

	acts->windows += n;
	return n > 0 && act(ret_act, ZM_ACT_WINDOWS, n, 0);
}

static bool copies(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t n = acts->nr_copies - acts->copies;

	acts->copies += n;
	return n > 0 && act(ret_act, ZM_ACT_COPIES, n, 0);
}

static bool opens(struct zm_acts *acts, struct zm_act *ret_act)
{
	const struct zm_script_step *step = acts->step;
	uint64_t left = step->opens - acts->opens;
	uint64_t bytes;

	if (acts->opens >= early_share(acts, step->opens) || acts->head->nr_headers == 0)
		return false;
	bytes = (step->read_bytes - acts->read_bytes) / left;
	acts->opens++;
	acts->read_bytes += bytes;
	return act(ret_act, ZM_ACT_OPEN, draw(acts) % acts->head->nr_headers, bytes);
}

static bool misses(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t n = above(early_share(acts, acts->step->opens_missing), acts->misses);

	acts->misses += n;
	return n > 0 && act(ret_act, ZM_ACT_MISS, n, 0);
}

static uint64_t draw_bytes(struct zm_acts *acts, const struct zm_script_mix *mix)
{
	uint64_t number = draw(acts) >> 32;
	uint32_t i = 0;

	while (i + 1 < mix->nr && number >= mix->steps[i].until)
		i++;
	return mix->nr > 0 ? mix->steps[i].bytes : UINT64_C(132) << 10;
}

static void remember_map(struct zm_acts *acts, uint64_t bytes)
{
	acts->map_bytes += bytes;
	if (acts->nr_maps < ZM_ACT_MAPS_MAX)
		acts->first_maps[acts->nr_maps++] = bytes;
}

/* More heap: by whichever call is behind its share of the pages so far. */
static bool extend(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t page_bytes = acts->head->page_bytes;
	bool is_brk = acts->brk_pages * MILLION <= acts->pages * acts->class->brk_ppm &&
		      acts->class->brk_ppm > 0;
	uint64_t bytes = draw_bytes(acts, is_brk ? &acts->class->brks : &acts->class->maps);

	bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
	acts->mapped_pages = bytes / page_bytes;
	acts->is_brk = is_brk;
	if (!is_brk)
		remember_map(acts, bytes);
	return act(ret_act, is_brk ? ZM_ACT_BRK : ZM_ACT_MAP, 0, bytes);
}

static bool grow(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t whole = heap_pages(acts);
	uint64_t n = above(ramp_share(acts, whole), acts->pages);
	uint64_t work_left = above(share(acts, acts->step->work), acts->work);
	uint64_t zero_mark, units;
	bool is_read;

	if (n == 0)
		return false;
	if (acts->mapped_pages == 0)
		return extend(acts, ret_act);
	units = work_left / n;
	n = least(n, acts->mapped_pages);
	zero_mark = part(acts->nr_zeros, acts->pages + n, whole);
	is_read = zero_mark > acts->zeros;
	if (is_read) {
		n = least(n, zero_mark - acts->zeros);
		acts->zeros += n;
	}
	acts->pages += n;
	acts->mapped_pages -= n;
	acts->work += n * units;
	if (acts->is_brk)
		acts->brk_pages += n;
	return act(ret_act, is_read ? ZM_ACT_READ_TOUCH : ZM_ACT_TOUCH, n, units);
}

static bool work(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t n = above(share(acts, acts->step->work), acts->work);

	acts->work += n;
	return n > 0 && act(ret_act, ZM_ACT_WORK, n, 0);
}

static bool hop(struct zm_acts *acts, struct zm_act *ret_act)
{
	if (acts->hops >= share(acts, acts->step->hops))
		return false;
	acts->hops++;
	return act(ret_act, ZM_ACT_HOP, 1, 0);
}

/* A child is waited for unless the next one runs beside it. */
static bool children(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint32_t nr = acts->step->nr_children;
	uint64_t mark = acts->slice + 1 < acts->nr_slices ? share(acts, nr) : nr;

	if (acts->is_waiting) {
		acts->is_waiting = false;
		return act(ret_act, ZM_ACT_WAIT, 0, 0);
	}
	if (acts->nr_children >= mark && !acts->is_pipe)
		return false;
	acts->nr_children++;
	return act(ret_act, ZM_ACT_CHILD, acts->child_at, 0);
}

void zm_acts_child(struct zm_acts *acts, const struct zm_script_step *child)
{
	acts->child_at += child->nr_below;
	acts->is_pipe = (child->flags & ZM_STEP_NEXT_BESIDE) != 0;
	acts->is_waiting = !acts->is_pipe;
}

static bool writes(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t n = above(late_share(acts, acts->step->write_bytes), acts->wrote);

	acts->wrote += n;
	return n > 0 && act(ret_act, ZM_ACT_WRITE, 0, n);
}

/* A pipe's reader has nothing to do before its writer is done. */
static bool hear(struct zm_acts *acts, struct zm_act *ret_act)
{
	if (acts->has_heard || !(acts->step->flags & ZM_STEP_READS))
		return false;
	acts->has_heard = true;
	return act(ret_act, ZM_ACT_HEAR, 0, 0);
}

/* At its end, as programs have a buffer for it. */
static bool says(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t n = acts->step->pipe_bytes - acts->said;

	if (acts->slice + 1 < acts->nr_slices)
		return false;
	acts->said += n;
	return n > 0 && act(ret_act, ZM_ACT_SAY, 0, n);
}

/* The first that still fits below the share that is given back. */
static bool unmaps(struct zm_acts *acts, struct zm_act *ret_act)
{
	uint64_t mark = part(acts->map_bytes, acts->class->unmap_ppm, MILLION);

	if (acts->slice + 1 < acts->nr_slices)
		return false;
	for (; acts->next_unmap < acts->nr_maps; acts->next_unmap++) {
		uint64_t bytes = acts->first_maps[acts->next_unmap];

		if (acts->unmap_bytes + bytes > mark)
			continue;
		acts->unmap_bytes += bytes;
		return act(ret_act, ZM_ACT_UNMAP, acts->next_unmap++, bytes);
	}
	return false;
}

void zm_acts_next(struct zm_acts *acts, struct zm_act *ret_act)
{
	static bool (*const kinds[NR_KINDS])(struct zm_acts * acts, struct zm_act * ret_act) = {
		[IMAGES] = images, [WINDOWS] = windows,   [COPIES] = copies, [OPENS] = opens,
		[MISSES] = misses, [GROW] = grow,         [WORK] = work,     [HOP] = hop,
		[WRITES] = writes, [CHILDREN] = children, [UNMAPS] = unmaps, [HEAR] = hear,
		[SAYS] = says,
	};

	while (acts->slice < acts->nr_slices) {
		if (kinds[acts->kind](acts, ret_act))
			return;
		if (++acts->kind == NR_KINDS) {
			acts->kind = 0;
			acts->slice++;
		}
	}
	(void)act(ret_act, ZM_ACT_END, 0, 0);
}
