/*
 * plot: curves on one time axis, drawn by gnuplot.
 *
 *     script -> a memory file -> gnuplot's stdin;  gnuplot's stdout -> a memory file -> terminal, or
 *     a temporary file -> renamed to the picture's name
 *
 * Numbers and texts go into the script as here-documents, whose lines gnuplot does not look into; a
 * text is then referred to by its line. Quoting is thus never needed.
 */
#include "results/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/outfile.h"
#include "results/utf8.h"
#include "workloads/base/cleanup.h"

static const char program[] = "gnuplot";

int zm_plot_is_possible(void)
{
	const char *path = getenv("PATH");
	zm_autofree char *copy = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	char *rest = copy;

	for (char *folder = strsep(&rest, ":"); folder; folder = strsep(&rest, ":")) {
		char name[4096];

		if (snprintf(name, sizeof(name), "%s/%s", *folder ? folder : ".", program) <
			    (int)sizeof(name) &&
		    access(name, X_OK) == 0)
			return 1;
	}
	return 0;
}

/* A line of a here-document. Its first character keeps it from being the document's end. */
static void put_text(FILE *script, const char *text)
{
	char *printable = zm_utf8_printable(text ? text : "");

	(void)fprintf(script, "=%s\n", printable ? printable : "");
	free(printable);
}

/* Where the lines of $text are; they count from 1. */
enum {
	LINE_TITLE = 1,
	LINE_X_LABEL = LINE_TITLE + ZM_PLOT_TITLES,
	LINE_PANELS,
};

static size_t line_of_band(const struct zm_plot *plot, size_t band)
{
	return LINE_PANELS + plot->nr_panels + band;
}

static void put_texts(FILE *script, const struct zm_plot *plot)
{
	(void)fputs("$text << END_OF_DATA\n", script);
	for (size_t i = 0; i < ZM_PLOT_TITLES; i++)
		put_text(script, plot->titles[i]);
	put_text(script, plot->x_label);
	for (size_t i = 0; i < plot->nr_panels; i++)
		put_text(script, plot->panels[i].y_label);
	for (size_t i = 0; i < plot->nr_bands; i++)
		put_text(script, plot->bands[i].name);
	(void)fputs("END_OF_DATA\n", script);
}

struct bounds {
	double x0, x1, y1;
	double y0;
};

static void find_bounds(const struct zm_plot *plot, const struct zm_panel *panel,
			struct bounds *bounds)
{
	*bounds =
		(struct bounds){ .x0 = HUGE_VAL, .x1 = -HUGE_VAL, .y0 = HUGE_VAL, .y1 = -HUGE_VAL };
	for (size_t i = 0; i < panel->nr_curves; i++) {
		for (size_t k = 0; k < panel->curves[i].nr; k++) {
			bounds->y0 = fmin(bounds->y0, panel->curves[i].y[k]);
			bounds->y1 = fmax(bounds->y1, panel->curves[i].y[k]);
		}
	}
	for (size_t p = 0; p < plot->nr_panels; p++) {
		const struct zm_panel *other = &plot->panels[p];

		for (size_t i = 0; i < other->nr_curves; i++) {
			for (size_t k = 0; k < other->curves[i].nr; k++) {
				bounds->x0 = fmin(bounds->x0, other->curves[i].x[k]);
				bounds->x1 = fmax(bounds->x1, other->curves[i].x[k]);
			}
		}
	}
	for (size_t i = 0; i < plot->nr_bands; i++) {
		bounds->x0 = fmin(bounds->x0, plot->bands[i].x0);
		bounds->x1 = fmax(bounds->x1, plot->bands[i].x1);
	}
}

/* The y axis shows 0 when the curve comes near it, else some room around the curve. */
static void set_ranges(FILE *script, const struct bounds *bounds)
{
	double low = bounds->y0, high = bounds->y1;
	double room = (high - low) * 0.08;

	if (!(high > low))
		room = high != 0 ? fabs(high) * 0.05 : 1;
	low = low >= 0 && low < high / 2 ? 0 : low - room;
	high += room * (low == 0 ? 2 : 1);
	(void)fprintf(script, "set yrange [%.17g:%.17g]\n", low, high);
	(void)fprintf(script, "set xrange [%.17g:%.17g]\n", bounds->x0,
		      bounds->x1 > bounds->x0 ? bounds->x1 : bounds->x0 + 1);
}

static void put_data(FILE *script, const struct zm_panel *panel)
{
	(void)fputs("$titles << END_OF_DATA\n", script);
	for (size_t i = 0; i < panel->nr_curves; i++)
		put_text(script, panel->curves[i].title);
	(void)fputs("END_OF_DATA\n", script);
	for (size_t i = 0; i < panel->nr_curves; i++) {
		const struct zm_curve *curve = &panel->curves[i];

		(void)fprintf(script, "$curve%zu << END_OF_DATA\n", i);
		for (size_t k = 0; k < curve->nr; k++) {
			if (isfinite(curve->x[k]) && isfinite(curve->y[k]))
				(void)fprintf(script, "%.17g %.17g\n", curve->x[k], curve->y[k]);
		}
		(void)fputs("END_OF_DATA\n", script);
	}
}

static void put_plot(FILE *script, const struct zm_panel *panel, const char *style)
{
	(void)fputs("plot ", script);
	for (size_t i = 0; i < panel->nr_curves; i++) {
		(void)fprintf(script, "%s$curve%zu using 1:2 with %s ", i ? ", " : "", i, style);
		if (panel->curves[i].title)
			(void)fprintf(script, "title $titles[%zu][2:*]", i + 1);
		else
			(void)fputs("notitle", script);
	}
	(void)fputc('\n', script);
}

/* A phase's name stands at its middle, unless it is too short to be named. A letter takes this share
 * of the width. */
#define LETTER_IN_SVG      0.009
#define LETTER_IN_TERMINAL 0.013

static bool has_room(const struct zm_plot *plot, const struct bounds *bounds, size_t band,
		     double letter)
{
	double whole = bounds->x1 - bounds->x0;
	double own = plot->bands[band].x1 - plot->bands[band].x0;

	return own > whole * letter * (double)(strlen(plot->bands[band].name) + 1);
}

/* Shaded rectangles, every other one (of those that can be seen) darker. */
static void put_shades(FILE *script, const struct zm_plot *plot, const struct bounds *bounds)
{
	size_t nr_seen = 0;

	for (size_t i = 0; i < plot->nr_bands; i++) {
		const struct zm_band *band = &plot->bands[i];

		nr_seen += band->x1 - band->x0 > (bounds->x1 - bounds->x0) * 0.01;
		(void)fprintf(
			script,
			"set object %zu rectangle from %.17g, graph 0 to %.17g, graph 1 behind "
			"fillcolor rgb '%s' fillstyle solid 1 noborder\n",
			i + 1, band->x0, band->x1, nr_seen % 2 ? "#e4e9f0" : "#f4f6f9");
		if (!has_room(plot, bounds, i, LETTER_IN_SVG))
			continue;
		(void)fprintf(script,
			      "set label %zu $text[%zu][2:*] at %.17g, graph 0.97 center front "
			      "noenhanced textcolor rgb '#445566' font ',10'\n",
			      i + 1, line_of_band(plot, i), (band->x0 + band->x1) / 2);
	}
}

/* A text terminal cannot shade: a dotted line where a phase begins, its name on top. */
static void put_lines(FILE *script, const struct zm_plot *plot, const struct bounds *bounds)
{
	for (size_t i = 0; i < plot->nr_bands; i++) {
		const struct zm_band *band = &plot->bands[i];

		if (i > 0)
			(void)fprintf(
				script,
				"set arrow %zu from %.17g, graph 0 to %.17g, graph 1 nohead\n",
				i + 1, band->x0, band->x0);
		if (!has_room(plot, bounds, i, LETTER_IN_TERMINAL))
			continue;
		(void)fprintf(script,
			      "set label %zu $text[%zu][2:*] at %.17g, graph 0.96 center front "
			      "noenhanced\n",
			      i + 1, line_of_band(plot, i), (band->x0 + band->x1) / 2);
	}
}

static void put_label(FILE *script, const char *what, size_t line)
{
	(void)fprintf(script, "set %s $text[%zu][2:*] noenhanced\n", what, line);
}

static void write_terminal(FILE *script, const struct zm_plot *plot, size_t columns, size_t rows)
{
	put_texts(script, plot);
	(void)fprintf(script, "set terminal dumb noenhanced size %zu, %zu\n", columns, rows);
	(void)fputs("set tics nomirror\nset key noenhanced\n", script);
	for (size_t i = 0; i < plot->nr_panels; i++) {
		struct bounds bounds;

		find_bounds(plot, &plot->panels[i], &bounds);
		(void)fputs("unset arrow\nunset label\n", script);
		put_data(script, &plot->panels[i]);
		put_label(script, "title", LINE_PANELS + i);
		if (i + 1 == plot->nr_panels)
			put_label(script, "xlabel", LINE_X_LABEL);
		set_ranges(script, &bounds);
		put_lines(script, plot, &bounds);
		put_plot(script, &plot->panels[i], "lines");
	}
}

/* Between two whole numbers there is nothing to name; from 5 on gnuplot's own choice is whole. */
static void put_ticks(FILE *script, const struct zm_plot *plot, const struct bounds *bounds)
{
	if (plot->is_counted && bounds->x1 - bounds->x0 < 5)
		(void)fputs("set xtics 1\n", script);
}

static void write_svg(FILE *script, const struct zm_plot *plot)
{
	put_texts(script, plot);
	(void)fprintf(script,
		      "set terminal svg noenhanced size 960, %zu font 'sans-serif,12' "
		      "background rgb 'white'\n",
		      80 + 240 * plot->nr_panels);
	(void)fputs("set encoding utf8\nset tics nomirror out\nset border 3\nset key noenhanced\n"
		    "set grid ytics linecolor rgb '#c8ccd2' linewidth 0.5\n"
		    "set lmargin 14\nset rmargin 4\n",
		    script);
	(void)fprintf(script, "set multiplot layout %zu, 1 title $text[%d][2:*]", plot->nr_panels,
		      LINE_TITLE);
	for (int i = 1; i < ZM_PLOT_TITLES && plot->titles[i]; i++)
		(void)fprintf(script, " . \"\\n\" . $text[%d][2:*]", LINE_TITLE + i);
	(void)fputs(" noenhanced\n", script);
	for (size_t i = 0; i < plot->nr_panels; i++) {
		struct bounds bounds;

		find_bounds(plot, &plot->panels[i], &bounds);
		(void)fputs("unset object\nunset label\n", script);
		put_data(script, &plot->panels[i]);
		put_label(script, "ylabel", LINE_PANELS + i);
		if (i + 1 == plot->nr_panels)
			put_label(script, "xlabel", LINE_X_LABEL);
		set_ranges(script, &bounds);
		put_shades(script, plot, &bounds);
		put_ticks(script, plot, &bounds);
		put_plot(script, &plot->panels[i],
			 plot->is_counted ? "linespoints linewidth 1.5 pointtype 7 pointsize 0.5"
					  : "lines linewidth 1.5");
	}
	(void)fputs("unset multiplot\n", script);
}

/* --- running gnuplot --- */

static int make_memory(const char *name, int *ret_fd)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

static int wait_for(pid_t pid, struct zm_why *why)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return zm_why_errno(why, -errno, "%s", program);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return zm_why_set(why, -ENOENT, "%s could not be started", program);
	return zm_why_set(why, -EIO, "%s failed (%s %d)", program,
			  WIFEXITED(status) ? "exit status" : "signal",
			  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* gnuplot with `script` as its input and `output` as its output, in the C locale, without the user's
 * own settings. What it says on stderr is dropped: the exit status says enough. */
static int run(int script, int output, struct zm_why *why)
{
	char name[] = "gnuplot", settings[] = "--default-settings", input[] = "-";
	char locale[] = "LC_ALL=C";
	char *const argv[] = { name, settings, input, NULL };
	zm_autofree char *path = NULL;
	char *envp[] = { NULL, locale, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error;

	if (asprintf(&path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin") < 0)
		return -ENOMEM;
	envp[0] = path;
	error = posix_spawn_file_actions_init(&actions);
	if (error)
		return -error;
	error = posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
							 O_WRONLY, 0);
	if (!error)
		error = posix_spawnp(&pid, program, &actions, NULL, argv, envp);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (error == ENOENT)
		return zm_why_set(why, -ENOENT, "%s is not installed; apt-get install gnuplot-nox",
				  program);
	if (error)
		return zm_why_errno(why, -error, "%s", program);
	return wait_for(pid, why);
}

/* The script in memory, at its start. columns 0: SVG. */
static int make_script(const struct zm_plot *plot, size_t columns, size_t rows, int *ret_fd)
{
	int fd = -1, copy;
	int error = make_memory("script", &fd);
	FILE *script;

	if (error)
		return error;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	script = copy < 0 ? NULL : fdopen(copy, "w");
	if (!script) {
		error = -errno;
		zm_cleanup_close(&copy);
		(void)close(fd);
		return error;
	}
	if (columns)
		write_terminal(script, plot, columns, rows);
	else
		write_svg(script, plot);
	error = fclose(script) ? -errno : 0;
	if (!error && lseek(fd, 0, SEEK_SET) < 0)
		error = -errno;
	if (error)
		(void)close(fd);
	else
		*ret_fd = fd;
	return error;
}

static bool has_points(const struct zm_plot *plot)
{
	for (size_t i = 0; i < plot->nr_panels; i++) {
		bool has = false;

		for (size_t k = 0; k < plot->panels[i].nr_curves; k++)
			has |= plot->panels[i].curves[k].nr > 0;
		if (!has)
			return false;
	}
	return plot->nr_panels > 0;
}

static int draw(const struct zm_plot *plot, size_t columns, size_t rows, int output,
		struct zm_why *why)
{
	zm_autoclose int script = -1;
	int error;

	if (!has_points(plot))
		return zm_why_set(why, -ENODATA, "there is nothing to draw");
	error = make_script(plot, columns, rows, &script);
	if (error)
		return zm_why_errno(why, error, "a script for %s", program);
	return run(script, output, why);
}

int zm_plot_terminal(const struct zm_plot *plot, size_t columns, size_t rows, FILE *out,
		     struct zm_why *why)
{
	zm_autoclose int output = -1;
	int error = make_memory("picture", &output);
	zm_autofclose FILE *picture = NULL;
	char line[1024];

	if (!error)
		error = draw(plot, columns, rows, output, why);
	if (error)
		return error;
	picture = fdopen(fcntl(output, F_DUPFD_CLOEXEC, 0), "r");
	if (!picture)
		return -errno;
	rewind(picture);
	while (fgets(line, sizeof(line), picture)) {
		size_t length = strcspn(line, "\n\f");

		while (length && line[length - 1] == ' ')
			length--;
		if (length) /* the terminal's pages begin and end with empty lines */
			(void)fprintf(out, "%.*s\n", (int)length, line);
	}
	return 0;
}

/* gnuplot does not notice that a disk is full. */
static bool is_whole(int fd)
{
	static const char end[] = "</svg>";
	char tail[32] = "";
	off_t size = lseek(fd, 0, SEEK_END);
	off_t from = size > (off_t)sizeof(tail) - 1 ? size - (off_t)sizeof(tail) + 1 : 0;

	return size > 0 && pread(fd, tail, sizeof(tail) - 1, from) > 0 && strstr(tail, end);
}

int zm_plot_svg(const struct zm_plot *plot, const char *path, struct zm_why *why)
{
	struct zm_outfile file = { 0 };
	int error = zm_outfile_open(&file, path, why);

	if (error)
		return error;
	error = draw(plot, 0, 0, fileno(file.out), why);
	if (!error && !is_whole(fileno(file.out)))
		error = zm_why_set(why, -EIO,
				   "%s: the picture is not whole (is the disk full?); nothing was "
				   "changed there",
				   path);
	if (!error)
		error = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return error;
}

int zm_plot_svg_text(const struct zm_plot *plot, char **ret_svg, size_t *ret_length,
		     struct zm_why *why)
{
	zm_autoclose int output = -1;
	int error = make_memory("picture", &output);
	size_t length = 0;
	off_t size;
	char *svg;

	if (!error)
		error = draw(plot, 0, 0, output, why);
	if (error)
		return error;
	if (!is_whole(output))
		return zm_why_set(why, -EIO, "%s made no whole picture", program);
	size = lseek(output, 0, SEEK_END);
	svg = size < 0 ? NULL : malloc((size_t)size + 1);
	if (!svg)
		return size < 0 ? -errno : -ENOMEM;
	while (length < (size_t)size) {
		ssize_t nr = pread(output, svg + length, (size_t)size - length, (off_t)length);

		if (nr <= 0) {
			free(svg);
			return nr < 0 ? -errno : -EIO;
		}
		length += (size_t)nr;
	}
	svg[length] = '\0';
	*ret_svg = svg;
	*ret_length = length;
	return 0;
}
