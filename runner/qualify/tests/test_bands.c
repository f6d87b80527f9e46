/*
 * bands: what is written reads back as the same; what is wrong is said with its line.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner/qualify/bands.h"

static void what_is_written_reads_back(void **state)
{
	struct zm_band list[] = { { "throughput null nr_task=100%", 1.0 / 3, 1e9, 7.25, 12 },
				  { "a \"quoted\" … name: #1", -0.5, 0, -1e-9, 2 } };
	struct zm_bands bands = { "quick", "ACME: X1, \"Xeon\"", "machines", list, 2, { 0 } };
	struct zm_bands again;
	struct zm_why why = { "" };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	assert_int_equal(zm_bands_write(&bands, out), 0);
	assert_int_equal(fclose(out), 0);
	if (zm_bands_parse("x.yaml", text, size, &again, &why) < 0)
		fail_msg("%s in %s", why.text, text);
	free(text);
	assert_string_equal(again.profile, "quick");
	assert_string_equal(again.model, bands.model);
	assert_int_equal(again.nr, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct zm_band *band = zm_bands_find(&again, list[i].criterion);

		assert_non_null(band);
		assert_true(band->least == list[i].least && band->most == list[i].most);
		assert_true(band->median == list[i].median && band->nr == list[i].nr);
	}
	assert_null(zm_bands_find(&again, "another"));
	zm_bands_release(&again);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
#define HEAD "profile: quick\nmodel: x\nof: machines\n"
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "x.yaml:1: a mapping is wanted" },
		{ "- 1\n", "x.yaml:1: a mapping is wanted" },
		{ "model: x\n", "x.yaml:1: profile: a word is wanted" },
		{ HEAD, "x.yaml:1: bands: a list of bands is wanted" },
		{ HEAD "bands: []\n", "x.yaml:4: bands: a list of bands is wanted" },
		{ HEAD "bands:\n- 5\n", "x.yaml:5: a band is" },
		{ HEAD "bands:\n- {criterion: a, least: x, most: 1, median: 1, number: 2}\n",
		  "x.yaml:5: least: a number is wanted" },
		{ HEAD "bands:\n- {criterion: a, least: 2, most: 1, median: 1, number: 2}\n",
		  "x.yaml:5: least: is above most:" },
		{ HEAD "bands:\n- {criterion: a, least: 1, most: 2, median: 1, number: 1.5}\n",
		  "x.yaml:5: number: a whole number is wanted" },
		{ HEAD "bands:\n- {criterion: a, least: nan, most: 2, median: 1, number: 1}\n",
		  "x.yaml:5: least: a number is wanted" },
		{ "a: [", "x.yaml" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_bands bands;
		struct zm_why why = { "" };

		assert_true(zm_bands_parse("x.yaml", cases[i].text, strlen(cases[i].text), &bands,
					   &why) < 0);
		if (!strstr(why.text, cases[i].says))
			fail_msg("%s: not '%s'", why.text, cases[i].says);
	}
}

static void a_file_that_is_not_there_or_too_large_is_refused(void **state)
{
	struct zm_bands bands;
	struct zm_why why;

	(void)state;
	assert_int_equal(zm_bands_read("/nonexistent", &bands, &why), -ENOENT);
	assert_int_equal(zm_bands_read("/dev/zero", &bands, &why), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(a_file_that_is_not_there_or_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
