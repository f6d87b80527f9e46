/* format_compare_html: whatever the store holds, the page has only our own marks, loads nothing, and says
 * every verdict as a word. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/format_compare.h"

#define EVIL "</td><script src=\"http://a.example/\">alert('x')</script>&\x1b[31m"

struct scene {
	struct zm_compare compare;
	struct zm_compare_side sides[2];
	struct zm_compare_cell cell;
	struct zm_compare_metric metrics[4];
	struct zm_compare_difference differences[2];
	double values[2][3];
};

static void make_metric(struct scene *scene, size_t index, enum zm_verdict verdict)
{
	struct zm_compare_metric *metric = &scene->metrics[index];

	*metric = (struct zm_compare_metric){
		.name = EVIL, .unit = EVIL, .better = ZM_BETTER_MORE, .is_primary = index < 2
	};
	for (size_t side = 0; side < 2; side++)
		metric->sides[side] = (struct zm_compare_values){ scene->values[side], 3, 3 };
	metric->outcomes[1] = (struct zm_compare_outcome){
		.judgement = { .method = ZM_METHOD_WELCH,
			       .is_ratio = true,
			       .nr_base = 3,
			       .nr_new = 3,
			       .base = 101,
			       .new = 111,
			       .change = 0.099,
			       .low = 0.05,
			       .high = HUGE_VAL,
			       .p = 0.001,
			       .detectable = 0.02 },
		.p = 0.004,
		.verdict = verdict,
		.nr_needed = SIZE_MAX,
		.is_between_boots = index == 0,
	};
}

static void make_scene(struct scene *scene)
{
	*scene = (struct scene){ .values = { { 100, 101, 102 }, { 110, 111, 112 } } };
	make_metric(scene, 0, ZM_VERDICT_BETTER);
	make_metric(scene, 1, ZM_VERDICT_TOO_NOISY);
	make_metric(scene, 2, ZM_VERDICT_CHANGED);
	make_metric(scene, 3, ZM_VERDICT_CHANGED);
	for (size_t side = 0; side < 2; side++)
		scene->sides[side] = (struct zm_compare_side){
			.name = EVIL, .nr_ok = 3, .nr_boots = 1, .kernels = EVIL
		};
	scene->cell = (struct zm_compare_cell){ .workload = EVIL,
						.words = EVIL,
						.metrics = scene->metrics,
						.nr_metrics = 4,
						.nr_primary = 2 };
	scene->cell.sides[1].nr_ok = 3;
	scene->cell.sides[1].nr_failed = 2;
	scene->cell.sides[1].p = 0.4;
	scene->differences[0] = (struct zm_compare_difference){ EVIL, { EVIL, NULL } };
	scene->differences[1] = (struct zm_compare_difference){ "kernel", { "a", "b" } };
	scene->compare = (struct zm_compare){
		.sides = scene->sides,
		.nr_sides = 2,
		.cells = &scene->cell,
		.nr_cells = 1,
		.nr_lone = 2,
		.differences = scene->differences,
		.nr_differences = 2,
		.nr_verdicts = 2,
		.nr_of = { [ZM_VERDICT_BETTER] = 1, [ZM_VERDICT_TOO_NOISY] = 1 },
		.judge = { .alpha = 0.1, .power = 0.8 }
	};
}

static char *print(const struct scene *scene, size_t nr_explanations)
{
	struct zm_format_compare options = { .nr_explanations = nr_explanations };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(zm_format_compare(&scene->compare, ZM_COMPARE_HTML, &options, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static size_t count(const char *text, const char *wanted)
{
	size_t nr = 0;

	for (const char *at = text; (at = strstr(at, wanted)); at += strlen(wanted))
		nr++;
	return nr;
}

/* Elements that are closed, and those that stand for themselves. */
static const char *const pairs[] = { "html",  "head",  "title", "style", "body", "h1",
				     "h2",    "p",     "ul",    "li",    "div",  "table",
				     "thead", "tbody", "tr",    "th",    "td" };

static bool is_ours(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (strlen(pairs[i]) == length && !strncmp(pairs[i], name, length))
			return true;
	}
	return (length == 4 && !strncmp(name, "meta", length)) ||
	       (length == 8 && !strncmp(name, "!DOCTYPE", length));
}

static void only_our_own_marks(void **state)
{
	struct scene scene;
	char *page, opened[16], closed[16];

	(void)state;
	make_scene(&scene);
	page = print(&scene, 10);
	for (const char *at = page; (at = strchr(at, '<')); at++) {
		const char *name = at + 1 + (at[1] == '/');

		if (!is_ours(name, strcspn(name, " >\n")))
			fail_msg("a mark that is none of ours: %.40s", at);
	}
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		size_t nr;

		(void)snprintf(opened, sizeof(opened), "<%s>", pairs[i]);
		(void)snprintf(closed, sizeof(closed), "</%s>", pairs[i]);
		nr = count(page, opened);
		(void)snprintf(opened, sizeof(opened), "<%s ", pairs[i]);
		assert_int_equal(nr + count(page, opened), count(page, closed));
		assert_true(count(page, closed) > 0);
	}
	for (const char *at = page; *at; at++)
		assert_true(*at == '\n' || !iscntrl((unsigned char)*at));
	assert_int_equal(count(page, "<script"), 0);
	assert_true(count(page, "&lt;script src=&quot;") > 10);
	free(page);
}

static void nothing_is_loaded(void **state)
{
	static const char *const forbidden[] = { " src=", " href=", "url(", "@import", " onload=" };
	struct scene scene;
	char *page;

	(void)state;
	make_scene(&scene);
	for (size_t side = 0; side < 2; side++)
		scene.sides[side].name = "x";
	page = print(&scene, 0);
	assert_int_equal(count(page, "content=\"default-src 'none'; style-src"), 1);
	assert_int_equal(count(page, "prefers-color-scheme: dark"), 1);
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		const char *at = strstr(page, forbidden[i]);

		/* the hostile texts have one, escaped behind it */
		while (at && !strncmp(at + strlen(forbidden[i]), "&quot;", 6))
			at = strstr(at + 1, forbidden[i]);
		assert_null(at);
	}
	free(page);
}

static void what_was_found_is_said(void **state)
{
	static const char *const wanted[] = {
		"<p>1 better, 1 too noisy</p>",
		"<td class=\"better\">better *</td>",
		"<td class=\"unclear\">too noisy</td>",
		"<td class=\"n\">+9.90%</td>",
		"<td class=\"n\">+5.00% … +inf%</td>",
		"90 % interval</th>",
		"<td class=\"n\">&gt;1000</td>",
		"<td class=\"n\">2 of 5</td>",
		"may be chance",
		"left out: 2</li>",
		"(none)</li>",
		"one boot a side (*)",
		"<p>and 1 more</p>",
	};
	struct scene scene;
	char *page;

	(void)state;
	make_scene(&scene);
	page = print(&scene, 1);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!strstr(page, wanted[i]))
			fail_msg("the page does not say: %s", wanted[i]);
	}
	assert_int_equal(count(page, "What else changed"), 1);
	assert_int_equal(count(page, "<li>differs"), 1); /* the kernel stands with the sides */
	free(page);
	page = print(&scene, 0);
	assert_int_equal(count(page, "What else changed"), 0);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_our_own_marks),
		cmocka_unit_test(nothing_is_loaded),
		cmocka_unit_test(what_was_found_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
