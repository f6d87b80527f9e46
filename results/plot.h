/*
 * plot: curves on one time axis, drawn by gnuplot.
 *
 * Panels stand one above the other; phases are shaded and named in each. gnuplot is run without a
 * shell, its script is a file without a name, and whatever labels hold (quotes, line ends, commands)
 * is text to it. When it is not installed, -ENOENT, and the caller shows something else.
 */
#ifndef ZM_RESULTS_PLOT_H
#define ZM_RESULTS_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "workloads/base/why.h"

struct zm_curve {
	const char *title; /* NULL: none */
	const double *x, *y;
	size_t nr;
};

struct zm_panel {
	const char *y_label; /* with the unit */
	const struct zm_curve *curves;
	size_t nr_curves;
};

struct zm_band {
	const char *name;
	double x0, x1;
};

#define ZM_PLOT_TITLES 4

struct zm_plot {
	const char *titles[ZM_PLOT_TITLES]; /* lines; NULL: no more */
	const char *x_label;
	const struct zm_panel *panels;
	size_t nr_panels;
	const struct zm_band *bands;
	size_t nr_bands;
	bool is_counted; /* x are whole numbers, and each point has its mark */
};

/* Into a text terminal: each panel takes `rows` lines of `columns` characters. */
int zm_plot_terminal(const struct zm_plot *plot, size_t columns, size_t rows, FILE *out,
		     struct zm_why *why);

/* Into a file, which is there whole or not at all. */
int zm_plot_svg(const struct zm_plot *plot, const char *path, struct zm_why *why);

/* Into memory, for a page that holds it. *ret_svg is the caller's to free. */
int zm_plot_svg_text(const struct zm_plot *plot, char **ret_svg, size_t *ret_length,
		     struct zm_why *why);

/* Is there a gnuplot on PATH? */
int zm_plot_is_possible(void);

#endif
