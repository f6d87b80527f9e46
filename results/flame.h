/*
 * flame: call chains as a flame graph, an SVG picture without scripts.
 *
 * A box per frame: as wide as the share of the chains that it is in, on the box of its caller; the whole
 * is the lowest box. Siblings stand in the order of their names, and colours come from names, so that
 * the same chains give the same bytes. Pointing at a box shows its whole name, count and share. It can be
 * read on light and on dark ground, and asks the reader's settings which it is.
 */
#ifndef ZM_RESULTS_FLAME_H
#define ZM_RESULTS_FLAME_H

#include <stdbool.h>
#include <stdio.h>

struct zm_flame {
	const char *title;    /* any text: it is escaped */
	const char *subtitle; /* a line in small below it; NULL: none */
	const char *unit;     /* what is counted: "samples" */
	bool is_inline;       /* a part of an HTML page: without the head of an XML file */
};

/* folded: results/stacks.h. Boxes too narrow to be seen are left out. -ENODATA: no chain in it, and
 * nothing is written; -EOVERFLOW: the counts add up to more than 64 bits; -ENOMEM. Failed writes are the stream's to tell. */
int zm_flame_write(const struct zm_flame *flame, const char *folded, FILE *out);

#endif
