/*
 * act: what a process of an emulated build does, one act after the other.
 *
 *     images: map the program's files, touch windows of them
 *     slices: open and read files - grow the heap to where the ramp is - work - start a child
 *     late:   more windows of the images, the output, some unmapping
 *
 * The sequence depends on the step, its class and the head of its script, on nothing else: no clock,
 * no counter, no address. helper/ carries it out; tests add it up.
 */
#ifndef ZM_BUILDLOAD_ACT_H
#define ZM_BUILDLOAD_ACT_H

#include <stdbool.h>
#include <stdint.h>

#include "buildload/script.h"

enum zm_act_kind {
	ZM_ACT_END,
	ZM_ACT_IMAGES,  /* map the class's `count` images */
	ZM_ACT_WINDOWS, /* read a byte of the next `count` windows (64 KiB) of the images */
	ZM_ACT_COPIES,  /* write to `count` more pages of the images: private copies */
	ZM_ACT_MAP,     /* mmap `bytes` of anonymous memory: the heap goes on there */
	ZM_ACT_BRK,     /* the program break `bytes` up: the heap goes on there */
	ZM_ACT_TOUCH, /* write to the next `count` pages of what was mapped last, with `bytes` units
			    * of CPU time after each */
	ZM_ACT_READ_TOUCH, /* the same, but each is read before: the zero page first */
	ZM_ACT_UNMAP,      /* give back mapping number `count`, of `bytes` */
	ZM_ACT_OPEN,       /* open file `count`, read `bytes` of it */
	ZM_ACT_MISS,       /* open a file that is not there, `count` times */
	ZM_ACT_WORK,       /* `count` units of CPU time */
	ZM_ACT_HOP,        /* on to another CPU */
	ZM_ACT_CHILD,      /* start the step that stands `count` places behind this one */
	ZM_ACT_WAIT,       /* until all children that were started have ended */
	ZM_ACT_WRITE,      /* append `bytes` to its file */
	ZM_ACT_HEAR,       /* read its input to the end */
	ZM_ACT_SAY,        /* write `bytes` to its output */
	ZM_NR_ACTS,
};

const char *zm_act_name(enum zm_act_kind kind);

struct zm_act {
	enum zm_act_kind kind;
	uint64_t count;
	uint64_t bytes;
};

/* What the kernel maps around a fault on a file, by default; and how many of these pages there are, the
 * others being holes: what a fault brings in real programs, whose parts end within a window. */
#define ZM_ACT_WINDOW_PAGES 16
#define ZM_ACT_FILLED_PAGES 12

/* Of a helper that does nothing, from exec to exit: faults, anonymous pages, pages of files. */
#define ZM_ACT_BASE_FAULTS     34
#define ZM_ACT_BASE_PAGES      14
#define ZM_ACT_BASE_FILE_PAGES 120

#define ZM_ACT_MAPS_MAX 64 /* of the first mappings, which are those that can be given back */

/* The place in a sequence: how much of each kind has been. */
struct zm_acts {
	const struct zm_script_head *head;
	const struct zm_script_class *class;
	const struct zm_script_step *step;
	uint64_t random;
	unsigned int slice, nr_slices;
	unsigned int kind;                        /* within a slice */
	uint64_t nr_windows, nr_copies, nr_zeros; /* in all */
	uint64_t windows, copies, opens, read_bytes, misses, work, hops, wrote, said;
	uint64_t pages, zeros, brk_pages; /* of the heap */
	uint64_t mapped_pages;            /* left of what was mapped last */
	uint64_t map_bytes, unmap_bytes;
	uint64_t first_maps[ZM_ACT_MAPS_MAX]; /* bytes; 0: given back, or none */
	unsigned int nr_maps, next_unmap;
	uint64_t nr_children, child_at; /* started; the next one's place behind the step */
	bool has_images, has_heard, is_brk, is_waiting, is_pipe;
};

void zm_acts_begin(struct zm_acts *acts, const struct zm_script_head *head,
		   const struct zm_script_class *class, const struct zm_script_step *step);

/* ZM_ACT_END again and again at the end. */
void zm_acts_next(struct zm_acts *acts, struct zm_act *ret_act);

/* After ZM_ACT_CHILD: `child` is the step whose place it gave. */
void zm_acts_child(struct zm_acts *acts, const struct zm_script_step *child);

#endif
