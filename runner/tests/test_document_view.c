/* document_view: documented and measured figures side by side, in each form; the shape below. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/beside.h"
#include "runner/documented.h"

#define MAX_SIDES 3
#define MAX_CELLS 16

struct scene {
	struct zm_documented documented;
	struct zm_view view;
	struct zm_view_side sides[MAX_SIDES];
	const char *titles[MAX_CELLS];
	size_t cells[MAX_CELLS];
	struct zm_measured measured[MAX_SIDES * MAX_CELLS];
	struct zm_measured_figure figures[MAX_SIDES * MAX_CELLS];
	double values[MAX_SIDES * MAX_CELLS][2];
};

/* Each kernel has one figure in each cell: `first` on the first, `factor` times as much on the next. */
static void open_scene(struct scene *scene, const char *id, const char *metric, size_t nr_sides,
		       size_t nr_cells, double first, double factor)
{
	static const char *const names[] = { "old", "new", "newer" };
	struct zm_why why = { "" };

	*scene = (struct scene){ 0 };
	if (zm_documented_open(id, &scene->documented, &why) < 0)
		fail_msg("%s", why.text);
	for (size_t i = 0; i < nr_sides * nr_cells; i++) {
		size_t side = i / nr_cells;
		double value = first * pow(factor, (double)side);

		scene->values[i][0] = value * 0.999;
		scene->values[i][1] = value * 1.001;
		scene->figures[i] = (struct zm_measured_figure){ .metric = metric,
								 .unit = "MB/s",
								 .mean = value,
								 .sd = value * 0.035,
								 .nr = 2,
								 .values = scene->values[i] };
		scene->measured[i] = (struct zm_measured){ .figures = &scene->figures[i],
							   .nr_figures = 1,
							   .nr_launches = 2 };
	}
	for (size_t i = 0; i < nr_sides; i++)
		scene->sides[i] = (struct zm_view_side){ names[i], (unsigned int)i };
	for (size_t i = 0; i < nr_cells; i++)
		scene->titles[i] = i ? "another cell" : "a cell";
	scene->view = (struct zm_view){ .document = &scene->documented.document,
					.table = scene->documented.document.tables,
					.sides = scene->sides,
					.nr_sides = nr_sides,
					.titles = scene->titles,
					.nr_cells = nr_cells,
					.measured = scene->measured,
					.cells = scene->cells };
}

static char *print(struct scene *scene)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(zm_document_view_print(&scene->view, out), 0);
	(void)fclose(out);
	zm_documented_release(&scene->documented);
	return text;
}

/* A line holds all of these, in this order; blanks count as one. */
static void has(const char *text, const char *wanted)
{
	char *squeezed = malloc(strlen(text) + 1);
	size_t n = 0;
	bool is_found;

	assert_non_null(squeezed);
	for (; *text; text++) {
		if (*text != ' ' || n == 0 || squeezed[n - 1] != ' ')
			squeezed[n++] = *text;
	}
	squeezed[n] = '\0';
	is_found = strstr(squeezed, wanted) != NULL;
	if (!is_found)
		print_message("%s\n", squeezed);
	free(squeezed);
	if (!is_found)
		fail_msg("not there: %s", wanted);
}

static void test_changelog(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	open_scene(&scene, "pcp-v3/unix", "lmbench3.UNIX.bandwidth.MB/sec", 2, 1, 500, 1.2);
	text = print(&scene);
	has(text, "pcp-v3/unix: lmbench3 UNIX bandwidth");
	has(text, "kernel score lock contend% free_high alloc_zone cache miss rate%");
	has(text, "documented base 100.0 51.4 100.0 100.0 0.2\n");
	has(text, "measured old 100.0 - - - -\n new 120.0 - - - -\n");
	has(text, "score: 100.0 here is 500 MB/s");
	has(text, "free_high: not measured here");
	has(text, "score new against old +16.8% +20.0%");
	has(text, "as documented");
	free(text);
}

/* Three kernels: their order, too. */
static void test_order(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	open_scene(&scene, "pcp-v3/unix", "lmbench3.UNIX.bandwidth.MB/sec", 3, 1, 500, 0.8);
	text = print(&scene);
	has(text, "score newer against old +99.1% -36.0%");
	has(text, "differs");
	has(text, "order by score: 0 of 3 pairs of kernels as documented");
	free(text);
}

static void test_ladder(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	open_scene(&scene, "bulk-free/ladder", "will-it-scale.workload", 2, 2, 3e6, 1.0);
	for (size_t i = 8; i < MAX_CELLS; i++)
		scene.cells[i] = 1;
	scene.cells[15] = ZM_VIEW_NO_CELL;
	text = print(&scene);
	has(text, "Hmean page_fault1-processes-2 2694662.26 ( 0.00%) 2695780.35 ( 0.04%) "
		  "2999997.00 ( 0.00%) 2999997.00 ( 0.00%)\n");
	has(text,
	    "page_fault1-processes-110 25730869.75 ( 0.00%) 25671880.65 * -0.23%* 2999997.00");
	has(text, "page_fault1-processes-320 25555149.05 ( 0.00%) 25575696.74 ( 0.08%) \n");
	has(text, "page_fault1-processes-2 new against old +0.0% +0.0%");
	free(text);
}

static void test_lkp(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	open_scene(&scene, "pcp-v3/lkp-page_fault2", "will-it-scale.per_process_ops", 1, 1, 1000,
		   1);
	text = print(&scene);
	has(text, "307105 +8.4% 332876 -99.7% 1000 ± 3% will-it-scale.per_process_ops\n");
	free(text);
	open_scene(&scene, "pcp-v3/lkp-page_fault2", "will-it-scale.per_process_ops", 2, 1, 1000,
		   1.084);
	text = print(&scene);
	has(text, "307105 +8.4% 332876 will-it-scale.per_process_ops\n");
	has(text, "1000 ± 3% +8.4% 1084 ± 3% will-it-scale.per_process_ops\n");
	has(text, "will-it-scale.per_process_ops new against old +8.4% +8.4%");
	free(text);
}

/* Seconds there, per second here. */
static void test_inverse(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	open_scene(&scene, "hugetlb/guest-cycle", "guest_cycle.cycles", 2, 1, 0.5, 0.1);
	text = print(&scene);
	has(text, "measured old 2.0\n new 20.0\n");
	has(text, "run time s new against old +900.0% +900.0%");
	has(text, "as documented");
	free(text);
}

static void test_sweep(void **state)
{
	struct scene scene;
	char *text;

	(void)state;
	open_scene(&scene, "pcp-v3/batch-latency", "will-it-scale.workload", 1, 2, 600000, 1);
	for (size_t i = 0; i < MAX_CELLS; i++)
		scene.cells[i] = ZM_VIEW_NO_CELL;
	text = print(&scene);
	has(text, "documented 63 513633.4 2.33 3.57 2.67 6.83\n");
	has(text, "old a cell 600000.00 - - - -\n");
	has(text, "another cell 600000.00 - - - -\n");
	free(text);
}

static void test_json(void **state)
{
	struct scene scene;
	json_t *object, *line;

	(void)state;
	open_scene(&scene, "pcp-v3/unix", "lmbench3.UNIX.bandwidth.MB/sec", 2, 1, 500, 2);
	scene.sides[1].variant = 2;
	object = zm_document_view_json(&scene.view);
	assert_string_equal(json_string_value(json_object_get(object, "id")), "pcp-v3/unix");
	assert_int_equal(json_array_size(json_object_get(object, "measured")), 2);
	line = json_array_get(json_object_get(object, "shape"), 0);
	assert_string_equal(json_string_value(json_object_get(line, "shape")), "as documented");
	assert_float_equal(json_real_value(json_object_get(line, "documented%")), 99.1, 1e-9);
	json_decref(object);
	zm_documented_release(&scene.documented);
}

/* "base=old,new": which kernel of the table each stands for. */
static void test_words(void **state)
{
	static const struct {
		const char *list;
		int error;
		unsigned int variants[3];
		const char *words[3];
	} cases[] = {
		{ "old,new", 0, { 0, 5 }, { "old", "new" } },
		{ "base=old,patch3=new", 0, { 0, 2 }, { "old", "new" } },
		{ "patch1=a,patch3=b,patch9=c", 0, { 1, 2, 5 }, { "a", "b", "c" } },
		{ "x=y,new", 0, { 0, 5 }, { "x=y", "new" } }, /* no kernel x: a label with a '=' */
		{ "a,b,c", -EINVAL, { 0 }, { 0 } },
		{ "a,,b", -EINVAL, { 0 }, { 0 } },
		{ "1,2,3,4,5,6,7,8,9", -E2BIG, { 0 }, { 0 } },
	};
	struct zm_documented documented;
	struct zm_why why = { "" };

	(void)state;
	assert_int_equal(zm_documented_open("pcp-v3/unix", &documented, &why), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_beside_words words;
		int r = zm_beside_parse(cases[i].list, &documented.document.tables[0].record,
					&words, &why);

		assert_int_equal(r, cases[i].error);
		for (size_t k = 0; r == 0 && k < words.nr; k++) {
			assert_int_equal(words.variants[k], cases[i].variants[k]);
			assert_string_equal(words.words[k], cases[i].words[k]);
		}
		if (r == 0)
			zm_beside_words_release(&words);
	}
	zm_documented_release(&documented);
	assert_int_equal(zm_documented_open("pcp-v3/unxi", &documented, &why), -ENOENT);
	assert_non_null(strstr(why.text, "did you mean pcp-v3/unix?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changelog), cmocka_unit_test(test_order),
		cmocka_unit_test(test_ladder),    cmocka_unit_test(test_lkp),
		cmocka_unit_test(test_inverse),   cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_json),      cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
