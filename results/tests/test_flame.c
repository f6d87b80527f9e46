/* flame: boxes are as wide as their share, stand on their callers, and every text is escaped. */
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

#include "results/flame.h"
#include "workloads/base/random.h"

static const struct zm_flame plain = { .title = "a run", .unit = "samples" };

static char *draw(const struct zm_flame *flame, const char *folded, int expected)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(zm_flame_write(flame, folded, out), expected);
	assert_int_equal(fclose(out), 0);
	return text;
}

struct box {
	double x, y, width;
	unsigned long long times;
};

/* The box whose tooltip begins with the name. */
static struct box find(const char *svg, const char *name)
{
	struct box box = { 0 };
	char title[128];
	const char *at;

	(void)snprintf(title, sizeof(title), "<g><title>%s: ", name);
	at = strstr(svg, title);
	if (!at)
		fail_msg("no box %s", name);
	box.times = strtoull(at + strlen(title), NULL, 10);
	at = strstr(at, "<rect");
	assert_non_null(at);
	assert_int_equal(
		sscanf(at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\"", &box.x, &box.y, &box.width),
		3);
	return box;
}

static void test_boxes(void **state)
{
	char *svg = draw(&plain, "a;b 30\na;c 50\na 10\nd 10\na;b 5\n", 0);
	struct box all = find(svg, "all"), a = find(svg, "a"), b = find(svg, "b"),
		   c = find(svg, "c"), d = find(svg, "d");

	(void)state;
	assert_int_equal(all.times, 105);
	assert_int_equal(a.times, 95);
	assert_int_equal(b.times, 35);
	assert_int_equal(c.times, 50);
	assert_true(fabs(a.width / all.width - 95.0 / 105) < 0.001);
	assert_true(fabs(c.width / all.width - 50.0 / 105) < 0.001);
	/* a callee stands above its caller, inside of it; brothers beside each other */
	assert_true(all.y > a.y && a.y > b.y && b.y == c.y && a.y == d.y);
	assert_true(b.x >= a.x && c.x + c.width <= a.x + a.width + 0.02);
	assert_true(b.x + b.width <= c.x + 0.02 && a.x + a.width <= d.x + 0.02);
	assert_non_null(strstr(svg, "prefers-color-scheme:dark"));
	assert_null(strstr(svg, "<script"));
	free(svg);
}

/* The order of the lines does not matter; nor does how a chain's count is split. */
static void test_deterministic(void **state)
{
	char *one = draw(&plain, "a;b 3\nc;d 4\na 1\n", 0);
	char *two = draw(&plain, "c;d 1\na 1\nc;d 3\na;b 3\n", 0);

	(void)state;
	assert_string_equal(one, two);
	free(one);
	free(two);
}

static void test_escaped(void **state)
{
	const struct zm_flame flame = { .title = "<script>alert(\"1\")</script>&\x1b[0m",
					.subtitle = "a & b <\xff>",
					.unit = "<ns>" };
	char *svg = draw(&flame, "operator<;x&y;\"q\" 5\nbad\xff\xfe 2\n", 0);

	(void)state;
	assert_null(strstr(svg, "<script"));
	assert_null(strchr(svg, '\x1b'));
	assert_null(strchr(svg, '\xff'));
	assert_non_null(strstr(svg, "operator&lt;: 5 &lt;ns&gt;, "));
	assert_non_null(strstr(svg, "x&amp;y"));
	assert_non_null(strstr(svg, "&quot;q&quot;"));
	assert_non_null(strstr(svg, "a &amp; b &lt;"));
	free(svg);
}

static void test_inline(void **state)
{
	struct zm_flame flame = plain;
	char *svg = draw(&flame, "a 1\n", 0);

	(void)state;
	assert_memory_equal(svg, "<?xml", 5);
	free(svg);
	flame.is_inline = true;
	svg = draw(&flame, "a 1\n", 0);
	assert_memory_equal(svg, "<svg ", 5);
	free(svg);
}

static void test_nothing(void **state)
{
	static const char *const texts[] = { "", "\n\n", "a 0\n", "no count\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *svg = draw(&plain, texts[i], -ENODATA);

		assert_string_equal(svg, "");
		free(svg);
	}
	free(draw(&plain, "a 18446744073709551615\nb 1\n", -EOVERFLOW));
}

/* Chains by chance: every box lies within the root's, and on no brother. */
static void test_random(void **state)
{
	char folded[16384] = "", *svg;
	size_t used = 0;
	double all_end;
	struct zm_random random;
	struct box all;

	(void)state;
	zm_random_init(&random, 7, 0);
	for (unsigned int i = 0; i < 300; i++) {
		unsigned int depth = 1 + (unsigned int)zm_random_below(&random, 12);

		for (unsigned int k = 0; k < depth; k++)
			used += (size_t)snprintf(folded + used, sizeof(folded) - used, "%sf%u",
						 k ? ";" : "",
						 (unsigned int)zm_random_below(&random, 3));
		used += (size_t)snprintf(folded + used, sizeof(folded) - used, " %u\n",
					 1 + (unsigned int)zm_random_below(&random, 9));
	}
	svg = draw(&plain, folded, 0);
	all = find(svg, "all");
	all_end = all.x + all.width;
	for (const char *at = svg; (at = strstr(at, "<rect")); at++) {
		struct box box;

		assert_int_equal(sscanf(at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\"", &box.x,
					&box.y, &box.width),
				 3);
		assert_true(box.x >= all.x - 0.01 && box.x + box.width <= all_end + 0.02);
		assert_true(box.y <= all.y);
	}
	free(svg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boxes),   cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_escaped), cmocka_unit_test(test_inline),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
