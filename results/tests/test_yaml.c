/* yaml: values as JSON, by cases; what is refused, and that it ends. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/yaml.h"

static void test_values(void **state)
{
	static const struct {
		const char *yaml, *json;
	} cases[] = {
		{ "", "[]" },
		{ "a: 1", "[{\"a\": \"1\"}]" },
		{ "a: 0x10\nb: 1e3\nc: true\nd: ~\ne:\nf: ''",
		  "[{\"a\": \"0x10\", \"b\": \"1e3\", \"c\": \"true\", "
		  "\"d\": null, \"e\": null, \"f\": \"\"}]" },
		{ "- a\n- [b, c]\n", "[[\"a\", [\"b\", \"c\"]]]" },
		{ "a: 1\n---\nb: 2\n", "[{\"a\": \"1\"}, {\"b\": \"2\"}]" },
		{ "a: 1\na: 2\n", "[{\"a\": \"2\"}]" },
		{ "<<: x.yaml\n<<: y.yaml\na: 1\n",
		  "[{\"<<\": [\"x.yaml\", \"y.yaml\"], \"a\": \"1\"}]" },
		{ "a: &n {x: 1}\nb: *n\n", "[{\"a\": {\"x\": \"1\"}, \"b\": {\"x\": \"1\"}}]" },
		{ ":#! jobs/x.yaml:\na: b\n", "[{\":#! jobs/x.yaml\": null, \"a\": \"b\"}]" },
		{ "if role client:\n  netperf:\n    test: X\n",
		  "[{\"if role client\": {\"netperf\": {\"test\": \"X\"}}}]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *expected = json_loads(cases[i].json, 0, NULL), *read;

		assert_non_null(expected);
		assert_int_equal(zm_yaml_read(cases[i].yaml, strlen(cases[i].yaml), &read, NULL),
				 0);
		assert_true(json_equal(expected, read));
		json_decref(expected);
		json_decref(read);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *yaml, *why;
	} cases[] = {
		{ "a: b: c", "line 1" },
		{ "a: 1\n\tb: 2", "line 2" },
		{ "? [a]\n: b", "no word" },
		{ "a: *nothing", "alias" },
		{ "[a", "line" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_why why = { { 0 } };
		json_t *read;

		assert_int_equal(zm_yaml_read(cases[i].yaml, strlen(cases[i].yaml), &read, &why),
				 -EINVAL);
		assert_non_null(strstr(why.text, cases[i].why));
	}
}

static void refuse_large(const char *text)
{
	struct zm_why why = { { 0 } };
	json_t *read;

	assert_int_equal(zm_yaml_read(text, strlen(text), &read, &why), -E2BIG);
	assert_non_null(strstr(why.text, "line"));
}

/* Deep nests, and aliases of aliases of aliases. */
static void test_bounds(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	for (unsigned int i = 0; i < 10000; i++)
		(void)fputc('[', out);
	(void)fclose(out);
	refuse_large(text);
	free(text);
	out = open_memstream(&text, &size);
	(void)fputs("a0: &a0 x\n", out);
	for (unsigned int i = 1; i < 30; i++)
		(void)fprintf(out, "a%u: &a%u [*a%u, *a%u, *a%u, *a%u]\n", i, i, i - 1, i - 1,
			      i - 1, i - 1);
	(void)fclose(out);
	refuse_large(text);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
