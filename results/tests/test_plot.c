/* plot: hostile texts stay text, what cannot be drawn is said, a picture is whole or not there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "results/plot.h"
#include "results/tests/fixture.h"

static const double x[] = { 0, 1, 2, 3, 4, 5 };
static const double y[] = { 10, 12, 11, 13, 12, 12.5 };
static const double flat[] = { 7, 7, 7, 7, 7, NAN };

struct drawing {
	struct zm_curve curves[2];
	struct zm_panel panels[2];
	struct zm_band bands[3];
	struct zm_plot plot;
};

static void make_drawing(struct drawing *drawing, const char *text)
{
	*drawing = (struct drawing){
		.curves = { { .title = text, .x = x, .y = y, .nr = 6 },
			    { .title = NULL, .x = x, .y = flat, .nr = 6 } },
		.bands = { { "idle", 0, 1 }, { text, 1, 4 }, { "drain", 4, 5 } },
	};
	drawing->panels[0] = (struct zm_panel){ text, &drawing->curves[0], 1 };
	drawing->panels[1] = (struct zm_panel){ "used memory (MiB)", &drawing->curves[1], 1 };
	drawing->plot = (struct zm_plot){ .titles = { text, text },
					  .x_label = "seconds",
					  .panels = drawing->panels,
					  .nr_panels = 2,
					  .bands = drawing->bands,
					  .nr_bands = 3 };
}

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	(void)fclose(file);
	return text;
}

static void skip_without_gnuplot(void)
{
	if (!zm_plot_is_possible())
		skip();
}

static size_t nr_files(const char *folder)
{
	size_t nr = 0;

	for (const char *const *name = (const char *const[]){ "p.svg", "marker", "x", NULL }; *name;
	     name++) {
		char path[160];

		(void)snprintf(path, sizeof(path), "%s/%s", folder, *name);
		nr += access(path, F_OK) == 0;
	}
	return nr;
}

/* Whatever stands in a label, it is drawn, and nothing happens. */
static void hostile_texts_are_text(void **state)
{
	static const char *const texts[] = {
		"it's",
		"'; system(\"touch marker\") ; '",
		"`touch marker`",
		"\"`touch marker`\"",
		"@MACRO \\n \\' \"",
		"line\nset output 'marker'\nplot x",
		"END_OF_DATA\nEND_OF_DATA",
		"<script>alert(1)</script> & <b>",
		"\x1b]0;title\x07 \xff\xfe \xc3",
		"grüße 日本",
		"",
		"a_b^c {/Symbol d} &{x} %g %s",
	};
	const struct fixture *fixture = *state;
	char path[128];

	skip_without_gnuplot();
	assert_int_equal(chdir(fixture->folder), 0);
	(void)snprintf(path, sizeof(path), "%s/p.svg", fixture->folder);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct drawing drawing;
		struct zm_why why = { "" };
		char *svg;

		make_drawing(&drawing, texts[i]);
		if (zm_plot_svg(&drawing.plot, path, &why))
			fail_msg("%s: %s", texts[i], why.text);
		svg = read_all(path);
		assert_non_null(strstr(svg, "</svg>"));
		assert_null(strstr(svg, "<script>alert"));
		assert_null(strstr(svg, "\x1b"));
		assert_non_null(strstr(svg, "used memory (MiB)"));
		assert_non_null(strstr(svg, "seconds"));
		assert_non_null(strstr(svg, "idle"));
		assert_int_equal(nr_files(fixture->folder), 1);
		free(svg);
	}
	assert_int_equal(chdir("/"), 0);
}

static void a_terminal_shows_them(void **state)
{
	struct drawing drawing;
	struct zm_why why = { "" };
	char *text = NULL;
	size_t size = 0, longest = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	skip_without_gnuplot();
	make_drawing(&drawing, "throughput (pages/s)");
	if (zm_plot_terminal(&drawing.plot, 72, 16, out, &why))
		fail_msg("%s", why.text);
	(void)fclose(out);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");

		longest = length > longest ? length : longest;
	}
	assert_in_range(longest, 40, 72);
	assert_non_null(strstr(text, "throughput (pages/s)"));
	assert_non_null(strstr(text, "used memory (MiB)"));
	assert_non_null(strstr(text, "seconds"));
	assert_non_null(strstr(text, "drain"));
	assert_null(strstr(text, "\f"));
	free(text);
}

static void what_cannot_be_drawn_is_said(void **state)
{
	const struct fixture *fixture = *state;
	struct drawing drawing;
	struct zm_why why = { "" };
	char path[128];

	make_drawing(&drawing, "t");
	drawing.curves[0].nr = 0;
	(void)snprintf(path, sizeof(path), "%s/p.svg", fixture->folder);
	assert_int_equal(zm_plot_svg(&drawing.plot, path, &why), -ENODATA);
	assert_int_equal(access(path, F_OK), -1);
	drawing.curves[0].nr = 6;
	(void)snprintf(path, sizeof(path), "%s/nowhere/p.svg", fixture->folder);
	assert_int_equal(zm_plot_svg(&drawing.plot, path, &why), -ENOENT);
	assert_non_null(strstr(why.text, path));
}

/* A device or a pipe is never replaced by a file, and a link stays one. */
static void only_a_file_is_replaced(void **state)
{
	const struct fixture *fixture = *state;
	struct drawing drawing;
	struct zm_why why = { "" };
	char path[128], alias[128];
	struct stat status;

	skip_without_gnuplot();
	make_drawing(&drawing, "t");
	(void)snprintf(path, sizeof(path), "%s/p.svg", fixture->folder);
	(void)snprintf(alias, sizeof(alias), "%s/x", fixture->folder);
	(void)unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(zm_plot_svg(&drawing.plot, path, &why), -EINVAL);
	assert_non_null(strstr(why.text, "not a file"));
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(close(creat(path, 0600)), 0);
	assert_int_equal(symlink(path, alias), 0);
	assert_int_equal(zm_plot_svg(&drawing.plot, alias, &why), 0);
	assert_int_equal(lstat(alias, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size > 0);
	assert_int_equal(unlink(alias), 0);
	assert_int_equal(unlink(path), 0);
}

static bool has_tick(const struct zm_plot *plot, const char *tick)
{
	struct zm_why why = { "" };
	char *svg = NULL;
	size_t length = 0;
	bool has;

	if (zm_plot_svg_text(plot, &svg, &length, &why))
		fail_msg("%s", why.text);
	has = strstr(svg, tick) != NULL;
	free(svg);
	return has;
}

/* From one task to two there is no 1.2. */
static void what_is_counted_has_whole_ticks(void **state)
{
	static const double tasks[] = { 1, 2 }, ops[] = { 10, 20 };
	const struct zm_curve curve = { .title = "base", .x = tasks, .y = ops, .nr = 2 };
	const struct zm_panel panel = { "ops/s", &curve, 1 };
	struct zm_plot plot = { .titles = { "t" }, .panels = &panel, .nr_panels = 1 };

	(void)state;
	skip_without_gnuplot();
	assert_true(has_tick(&plot, "1.2<"));
	plot.is_counted = true;
	assert_false(has_tick(&plot, "1.2<"));
}

static void a_missing_gnuplot_is_said(void **state)
{
	const struct fixture *fixture = *state;
	struct drawing drawing;
	struct zm_why why = { "" };
	char path[128];
	char *kept = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");

	make_drawing(&drawing, "t");
	(void)snprintf(path, sizeof(path), "%s/p.svg", fixture->folder);
	(void)setenv("PATH", fixture->folder, 1);
	assert_false(zm_plot_is_possible());
	assert_int_equal(zm_plot_svg(&drawing.plot, path, &why), -ENOENT);
	assert_non_null(strstr(why.text, "gnuplot-nox"));
	assert_int_equal(zm_plot_terminal(&drawing.plot, 72, 16, stdout, &why), -ENOENT);
	assert_int_equal(nr_files(fixture->folder), 0);
	(void)setenv("PATH", kept, 1);
	free(kept);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hostile_texts_are_text),       TEST(a_terminal_shows_them),
		TEST(what_cannot_be_drawn_is_said), TEST(only_a_file_is_replaced),
		TEST(a_missing_gnuplot_is_said),    TEST(what_is_counted_has_whole_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
