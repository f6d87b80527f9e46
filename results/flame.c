/*
 * flame: the chains are sorted, so that what has one caller stands together; a box is a range of them.
 *
 *     lines        a;b 3        depth 0   [ a                ][ d ]
 *                  a;c 5        depth 1   [ b  ][ c         ]
 *                  d 2
 */
#include "results/flame.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "results/stacks.h"
#include "results/utf8.h"
#include "workloads/base/cleanup.h"

#define WIDTH       1200.0
#define MARGIN      10.0
#define INNER       (WIDTH - 2 * MARGIN)
#define ROW         17.0
#define HEAD        56.0
#define CHAR_WIDTH  6.7 /* of the 11 px monospaced letters */
#define LEAST_WIDTH 0.25
#define LEAST_TEXT  3 /* letters; less is not worth it */

/* --- the chains, sorted ---------------------------------------------------------------------- */

struct line {
	const char *text, *end; /* its frames */
	uint64_t times;
};

struct drawing {
	const struct zm_flame *flame;
	FILE *out;
	struct line *lines;
	size_t nr, capacity;
	uint64_t total;
	unsigned int deepest; /* of the boxes that can be seen; the root has 0 */
	int error;
};

/* ';' stands before every other character: a frame's own time before what it called. */
static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	size_t x_length = (size_t)(x->end - x->text), y_length = (size_t)(y->end - y->text);
	size_t length = x_length < y_length ? x_length : y_length;

	for (size_t i = 0; i < length; i++) {
		int p = x->text[i] == ';' ? -1 : (unsigned char)x->text[i];
		int q = y->text[i] == ';' ? -1 : (unsigned char)y->text[i];

		if (p != q)
			return p < q ? -1 : 1;
	}
	return (x_length > y_length) - (x_length < y_length);
}

static int collect(struct drawing *drawing, const char *folded)
{
	struct zm_stack stack;
	int error = 0;

	while (!error && zm_stacks_next(&folded, &stack)) {
		if (stack.times == 0)
			continue;
		error = zm_array_grow((void **)&drawing->lines, &drawing->capacity, drawing->nr,
				      sizeof(*drawing->lines));
		if (error || __builtin_add_overflow(drawing->total, stack.times, &drawing->total))
			return error ? error : -EOVERFLOW;
		drawing->lines[drawing->nr++] = (struct line){ .text = stack.frames[0],
							       .end = stack.frames[stack.nr - 1] +
								      stack.lengths[stack.nr - 1],
							       .times = stack.times };
	}
	if (drawing->nr > 0)
		qsort(drawing->lines, drawing->nr, sizeof(*drawing->lines), compare);
	return error;
}

/* --- boxes ----------------------------------------------------------------------------------- */

/* A range of lines that are alike down to some frame. */
struct box {
	size_t first, end;
	unsigned int depth;
	uint64_t before, times; /* of the chains left of it, and its own */
	const char *name;       /* the frame; NULL: the root */
	size_t length;
};

static double width_of(const struct drawing *drawing, uint64_t times)
{
	return INNER * (double)times / (double)drawing->total;
}

/* Where the frame behind `depth` others begins in a line, or NULL: it has not so many. */
static const char *find_frame(const struct line *line, unsigned int depth, size_t *ret_length)
{
	const char *at = line->text, *end;

	for (unsigned int i = 0; i < depth && at; i++) {
		at = memchr(at, ';', (size_t)(line->end - at));
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return NULL;
	end = memchr(at, ';', (size_t)(line->end - at));
	*ret_length = (size_t)((end ? end : line->end) - at);
	return at;
}

/* The box on `parent` that begins at line `first`; false: that line goes no deeper. */
static bool find_child(const struct drawing *drawing, const struct box *parent, size_t first,
		       struct box *ret_child)
{
	struct box child = { .first = first, .end = first, .depth = parent->depth + 1 };

	child.name = find_frame(&drawing->lines[first], parent->depth, &child.length);
	if (!child.name)
		return false;
	for (; child.end < parent->end; child.end++) {
		const struct line *line = &drawing->lines[child.end];
		size_t length;
		const char *name = find_frame(line, parent->depth, &length);

		if (!name || length != child.length || memcmp(name, child.name, length) != 0)
			break;
		child.times += line->times;
	}
	*ret_child = child;
	return true;
}

/* Every box that can be seen, callers first. */
static void visit(struct drawing *drawing, const struct box *box,
		  void (*each)(struct drawing *, const struct box *))
{
	uint64_t before = box->before;
	struct box child;

	each(drawing, box);
	if (box->depth >= ZM_STACKS_DEPTH)
		return;
	for (size_t i = box->first; i < box->end && !drawing->error;) {
		if (!find_child(drawing, box, i, &child)) {
			before += drawing->lines[i++].times;
			continue;
		}
		child.before = before;
		if (width_of(drawing, child.times) >= LEAST_WIDTH)
			visit(drawing, &child, each);
		before += child.times;
		i = child.end;
	}
}

static void measure(struct drawing *drawing, const struct box *box)
{
	if (box->depth > drawing->deepest)
		drawing->deepest = box->depth;
}

/* --- SVG ------------------------------------------------------------------------------------- */

static void print_escaped(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length && text[i]; i++) {
		switch (text[i]) {
		case '&':
			(void)fputs("&amp;", out);
			break;
		case '<':
			(void)fputs("&lt;", out);
			break;
		case '>':
			(void)fputs("&gt;", out);
			break;
		case '"':
			(void)fputs("&quot;", out);
			break;
		default:
			(void)fputc(text[i], out);
		}
	}
}

static int print_text(FILE *out, const char *text)
{
	zm_autofree char *clean = zm_utf8_printable(text);

	if (!clean)
		return -ENOMEM;
	print_escaped(out, clean, strlen(clean));
	return 0;
}

/* Warm for all that the names give, and light enough for black letters. */
static void print_colour(FILE *out, const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	(void)fprintf(out, "hsl(%u,%u%%,%u%%)", 8 + hash % 44, 68 + (hash >> 8) % 20,
		      62 + (hash >> 16) % 12);
}

static void print_label(FILE *out, const char *name, double x, double y, double width)
{
	size_t columns = (size_t)((width - 4) / CHAR_WIDTH);
	bool is_whole = zm_utf8_width(name) <= columns;

	if (width < 4 || columns < LEAST_TEXT)
		return;
	(void)fprintf(out, "<text x=\"%.2f\" y=\"%.1f\">", x + 3, y + ROW - 5);
	print_escaped(out, name, is_whole ? strlen(name) : zm_utf8_cut(name, columns - 2));
	(void)fputs(is_whole ? "</text>" : "..</text>", out);
}

static void print_box(struct drawing *drawing, const struct box *box)
{
	zm_autofree char *raw = box->name ? strndup(box->name, box->length) : strdup("all");
	zm_autofree char *name = raw ? zm_utf8_printable(raw) : NULL;
	double x = MARGIN + width_of(drawing, box->before);
	double y = HEAD + ROW * (drawing->deepest - box->depth);
	double width = width_of(drawing, box->times);

	if (!name) {
		drawing->error = -ENOMEM;
		return;
	}
	(void)fputs("<g><title>", drawing->out);
	print_escaped(drawing->out, name, strlen(name));
	(void)fprintf(drawing->out, ": %llu ", (unsigned long long)box->times);
	drawing->error = print_text(drawing->out, drawing->flame->unit);
	(void)fprintf(drawing->out,
		      ", %.2f %%</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\""
		      " fill=\"",
		      100 * (double)box->times / (double)drawing->total, x, y, width, ROW - 1);
	print_colour(drawing->out, name);
	(void)fputs("\"/>", drawing->out);
	print_label(drawing->out, name, x, y, width);
	(void)fputs("</g>\n", drawing->out);
}

static const char style[] =
	"<style>"
	".zm-flame{background:#fff;font:11px ui-monospace,monospace}"
	".zm-flame .head{fill:#1f2328;font:600 16px system-ui,sans-serif}"
	".zm-flame .more{fill:#59636e;font:12px system-ui,sans-serif}"
	".zm-flame g text{fill:#000;pointer-events:none}"
	".zm-flame rect{stroke:#fff;stroke-width:.5}"
	".zm-flame g:hover rect{stroke:#1f2328;stroke-width:1.5}"
	"@media(prefers-color-scheme:dark){"
	".zm-flame{background:#0d1117}.zm-flame .head{fill:#f0f6fc}.zm-flame .more{fill:#9198a1}"
	".zm-flame rect{stroke:#0d1117}.zm-flame g:hover rect{stroke:#f0f6fc}}"
	"</style>\n";

static void print_head(struct drawing *drawing)
{
	const struct zm_flame *flame = drawing->flame;
	double height = HEAD + ROW * (drawing->deepest + 1) + MARGIN;
	FILE *out = drawing->out;

	if (!flame->is_inline)
		(void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	(void)fprintf(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"zm-flame\" role=\"img\""
		      " viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\""
		      " style=\"max-width:100%%;height:auto\">\n<title>",
		      WIDTH, height, WIDTH, height);
	drawing->error = print_text(out, flame->title);
	(void)fputs("</title>\n", out);
	(void)fputs(style, out);
	(void)fprintf(out, "<text class=\"head\" x=\"%.0f\" y=\"24\">", MARGIN);
	if (!drawing->error)
		drawing->error = print_text(out, flame->title);
	(void)fputs("</text>\n", out);
	if (!flame->subtitle || drawing->error)
		return;
	(void)fprintf(out, "<text class=\"more\" x=\"%.0f\" y=\"43\">", MARGIN);
	drawing->error = print_text(out, flame->subtitle);
	(void)fputs("</text>\n", out);
}

int zm_flame_write(const struct zm_flame *flame, const char *folded, FILE *out)
{
	struct drawing drawing = { .flame = flame, .out = out };
	struct box root = { 0 };

	drawing.error = collect(&drawing, folded);
	if (!drawing.error && drawing.nr == 0)
		drawing.error = -ENODATA;
	if (!drawing.error) {
		root.end = drawing.nr;
		root.times = drawing.total;
		visit(&drawing, &root, measure);
		print_head(&drawing);
	}
	if (!drawing.error) {
		visit(&drawing, &root, print_box);
		(void)fputs("</svg>\n", out);
	}
	free(drawing.lines);
	return drawing.error;
}
