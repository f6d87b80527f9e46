/*
 * test_profile: what is read is what the text says; what is wrong is refused with its place; what is
 * written reads back as the same.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buildload/tests/small_profile.h"
#include "workloads/base/tests/comma_locale.h"

static void test_read(void **state)
{
	struct zm_profile *profile = NULL;
	const struct zm_profile_class *compiler;
	struct zm_why why;

	(void)state;
	assert_int_equal(zm_profile_read(SMALL_PROFILE, &profile, &why), 0);
	assert_int_equal(profile->nr_classes, 2);
	compiler = &profile->classes[1];
	assert_string_equal(compiler->name, "cc1");
	assert_int_equal(compiler->role, ZM_ROLE_COMPILER);
	assert_int_equal(compiler->rows[1][ZM_FIELD_ANON_PAGES], 1900);
	assert_int_equal(compiler->rows[1][ZM_FIELD_FAULTS], 2400);
	assert_int_equal(compiler->rows[1][ZM_FIELD_SYSTEM_US], 0);
	assert_true(zm_profile_mean(compiler, ZM_FIELD_ANON_PAGES) == 1400);
	assert_int_equal(compiler->ramps[0].up_to_us, 900000);
	assert_true(compiler->ramps[1].up_to_us == UINT64_MAX);
	assert_true(compiler->maps.steps[0].weight == 35.2);
	assert_int_equal(zm_profile_main(profile, &profile->recipes[0]), 1);
	assert_true(profile->recipes[0].nodes[2].is_fork &&
		    !profile->recipes[0].nodes[2].is_beside);
	assert_true(profile->recipes[0].nodes[3].is_piped &&
		    !profile->recipes[0].nodes[2].is_piped);
	assert_int_equal(profile->stages[0].jobs[2].row, -1);
	assert_int_equal(profile->totals[ZM_TOTAL_FAULTS], 5000);
	assert_true(profile->knobs[ZM_KNOB_HOPS] == 2);
	assert_true(profile->knobs[ZM_KNOB_USER_SCALE] ==
		    zm_profile_knob_preset(ZM_KNOB_USER_SCALE));
	zm_profile_free(profile);
}

/* What becomes of the text, and what the sentence must have in it. */
static const struct {
	const char *old, *new, *says;
} wrong[] = {
	{ "{\"format\"", "[\"format\"", "line 1" },
	{ "zonemark-build-profile", "other", "format" },
	{ "\"version\": 1", "\"version\": 2", "version: 2" },
	{ "\"name\": \"small\", ", "", "name" },
	{ "\"name\": \"small\"", "\"name\": 5", "name: a text" },
	{ "\"name\": \"small\"", "\"name\": \"\"", "name" },
	{ "\"name\": \"small\"", "\"name\": \"a\", \"name\": \"b\"", "duplicate" },
	{ "\"name\": \"small\"", "\"name\": \"a\", \"nmae\": \"b\"", "nmae" },
	{ "4096, \"header", "4095, \"header", "page_bytes" },
	{ "4096, \"header", "-4096, \"header", "page_bytes" },
	{ "\"header_files\": 9", "\"header_files\": 0", "header_files" },
	{ "[512, 3]", "[0, 3]", "headers[0]" },
	{ "[512, 3]", "[512, 0]", "headers[0]" },
	{ "[512, 3]", "[512, -1]", "headers[0]" },
	{ "[512, 3]", "[512, 3, 3]", "headers[0]" },
	{ "[512, 3]", "512", "headers[0]" },
	{ "\"shell\"", "\"shel\"", "classes[0]: role" },
	{ "\"images\": 3", "\"images\": 0", "classes[0]: image_bytes" },
	{ "\"images\": 3", "\"images\": 3.5", "classes[0]: images" },
	{ "\"brk_share\": 0.12", "\"brk_share\": 1.2", "classes[1]: brk_share" },
	{ "\"up_to_us\": 900000", "\"up_to_us\": 0", "ramps[0]: up_to_us" },
	{ "{\"points\": [[0, 0.1]", "{\"up_to_us\": 1000000, \"points\": [[0, 0.1]", "the last" },
	{ "[0.5, 0.6]", "[0.5, 1.6]", "classes[1]: ramps[0]: points[1]" },
	{ "[[0, 0.1]", "[[0.5, 0.1]", "ramps[1]: points" },
	{ "[0, 0.1], [1, 1]", "[0, 1], [1, 0.1]", "ramps[1]: points[1]" },
	{ "[0, 0.1], [1, 1]", "[1, 1]", "ramps[1]: points" },
	{ "\"fields\": [\"anon_pages\", \"faults\"]", "\"fields\": [\"anon_pages\", \"fault\"]",
	  "classes[0]: fields[1]: fault:" },
	{ "\"fields\": [\"anon_pages\", \"faults\"]", "\"fields\": [\"faults\", \"faults\"]",
	  "fields[1]" },
	{ "\"fields\": [\"anon_pages\", \"faults\"]", "\"fields\": [\"opens\", \"faults\"]",
	  "fields: anon_pages" },
	{ "[[10, 70]]", "[]", "classes[0]: rows" },
	{ "[[10, 70]]", "[[10]]", "classes[0]: rows[0]: 2 numbers" },
	{ "[[10, 70]]", "[[10, -1]]", "rows[0]: faults" },
	{ "[[10, 70]]", "[[10, 70.5]]", "rows[0]: faults" },
	{ "[[10, 70]]", "[[10, 2000000000000000]]", "rows[0]: faults" },
	{ "[[10, 70]]", "[[10, 99999999999999999999999]]", "line" },
	{ "{\"class\": \"sh\"}", "{\"class\": \"zsh\"}", "recipes[0]: nodes[0]: class" },
	{ "{\"class\": \"sh\"}", "{\"class\": \"sh\", \"parent\": 0}", "nodes[0]" },
	{ "{\"class\": \"sh\"}", "{\"class\": \"sh\", \"fork\": true}", "nodes[0]" },
	{ "{\"class\": \"sh\"}", "{\"class\": \"sh\", \"beside\": true}", "nodes[0]" },
	{ "\"cc1\", \"parent\": 0", "\"cc1\"", "nodes[1]: its parent" },
	{ "\"cc1\", \"parent\": 0", "\"cc1\", \"parent\": 1", "nodes[1]: its parent" },
	{ "\"cc1\", \"parent\": 0", "\"cc1\", \"parent\": 4294967295", "nodes[1]: parent" },
	{ "\"cc1\", \"parent\": 0", "\"cc1\", \"parent\": 0, \"row\": 2",
	  "nodes[1]: its class has no such row" },
	{ "\"cc1\", \"parent\": 0", "\"cc1\", \"parent\": 0, \"row\": 4294967295", "nodes[1]" },
	{ "\"cc1\", \"parent\": 0", "\"cc1\", \"parent\": 0, \"row\": -1", "nodes[1]: row" },
	{ "\"fork\": true", "\"fork\": 1", "nodes[2]: fork" },
	{ "[0, 1], [0, 0]", "[1, 1], [0, 0]", "stages[0]: jobs[0]" },
	{ "[0, 1], [0, 0]", "[0, 2], [0, 0]", "cc1 has no row 2" },
	{ "[0, 1], [0, 0]", "[0, -2], [0, 0]", "stages[0]: jobs[0]" },
	{ "\"makes\": 2", "\"makes\": 4", "stages[0]: makes" },
	{ "\"name\": \"link\"", "\"name\": \"objects\"", "stages[1]: name" },
	{ "\"wall_us\"", "\"wall_ms\"", "totals: wall_ms" },
	{ "\"wall_us\": 1000000", "\"wall_us\": \"x\"", "totals: wall_us" },
	{ "\"hops\": 2", "\"hop\": 2", "knobs: hop" },
	{ "\"hops\": 2", "\"hops\": -1", "knobs.hops" },
	{ "\"hops\": 2", "\"hops\": 1e99", "knobs.hops" },
};

static void test_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char *text = small_profile_with(wrong[i].old, wrong[i].new);
		struct zm_profile *profile = NULL;
		struct zm_why why = { .text = "" };
		int r = zm_profile_parse(text, strlen(text), "file", &profile, &why);

		if (r != -EINVAL || profile || strncmp(why.text, "file: ", 6) != 0 ||
		    !strstr(why.text, wrong[i].says))
			fail_msg("%s -> %s: %d, \"%s\"", wrong[i].old, wrong[i].new, r, why.text);
		free(text);
	}
}

static void test_cut(void **state)
{
	char *text = small_profile_text();
	struct zm_profile *profile = NULL;

	(void)state;
	for (size_t length = 0; length < strlen(text) - 2; length += 7) {
		assert_int_equal(zm_profile_parse(text, length, "file", &profile, NULL), -EINVAL);
		assert_null(profile);
	}
	free(text);
}

static void test_large(void **state)
{
	size_t length = ZM_PROFILE_BYTES_MAX + 1;
	char *text = malloc(length);
	struct zm_profile *profile = NULL;
	struct zm_why why;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', length);
	assert_int_equal(zm_profile_parse(text, length, "file", &profile, &why), -EFBIG);
	free(text);
}

/* What no text can have wrong in one place. */
static void test_checked(void **state)
{
	struct zm_profile *profile = small_profile_make("", "");
	struct zm_profile_recipe *recipe = &profile->recipes[0];
	struct zm_why why;

	(void)state;
	free(recipe->nodes);
	recipe->nr = ZM_PROFILE_DEPTH_MAX + 1;
	recipe->nodes = calloc(recipe->nr, sizeof(*recipe->nodes));
	assert_non_null(recipe->nodes);
	for (size_t i = 0; i < recipe->nr; i++)
		recipe->nodes[i] =
			(struct zm_profile_node){ .class_index = i > 0, .parent = (int)i - 1 };
	assert_int_equal(zm_profile_check(profile, &why), -EINVAL);
	assert_non_null(strstr(why.text, "recipes[0]: nodes[32]: deeper"));
	recipe->nr--;
	assert_int_equal(zm_profile_check(profile, &why), 0);
	free(profile->classes[1].name);
	profile->classes[1].name = strdup("sh");
	assert_int_equal(zm_profile_check(profile, &why), -EINVAL);
	assert_string_equal(why.text, "classes[1]: name: \"sh\" is there already");
	zm_profile_free(profile);
}

/* In any locale, printed and read, it prints the same again. */
static void check_printed(const struct zm_profile *profile)
{
	struct zm_profile *again = NULL;
	char *text, *second;
	size_t length, second_length;
	struct zm_why why;

	assert_int_equal(zm_profile_print(profile, &text, &length, &why), 0);
	assert_int_equal(zm_profile_parse(text, length, "again", &again, &why), 0);
	assert_int_equal(zm_profile_print(again, &second, &second_length, &why), 0);
	assert_string_equal(text, second);
	assert_true(again->knobs[ZM_KNOB_USER_SCALE] == profile->knobs[ZM_KNOB_USER_SCALE]);
	assert_string_equal(again->machine, profile->machine);
	free(text);
	free(second);
	zm_profile_free(again);
}

static void test_print(void **state)
{
	struct zm_profile *profile =
		small_profile_make("\"2 CPUs\"", "\"\\\"2\\\" CPUs\\n\\u00e9\"");

	(void)state;
	profile->knobs[ZM_KNOB_USER_SCALE] = 0.1 + 0.2;
	check_printed(profile);
	if (comma_locale_use()) {
		check_printed(profile);
		(void)setlocale(LC_ALL, "C");
	}
	zm_profile_free(profile);
}

static void test_write(void **state)
{
	struct zm_profile *profile = small_profile_make("", ""), *again = NULL;
	struct zm_why why;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "there", "old");
	assert_int_equal(zm_profile_write(profile, tree_path(&tree, "there"), &why), 0);
	assert_int_equal(zm_profile_read(tree_path(&tree, "there"), &again, &why), 0);
	zm_profile_free(again);
	assert_int_equal(zm_profile_write(profile, tree_path(&tree, "no/there"), &why), -ENOENT);
	assert_int_equal(mkfifo(tree_path(&tree, "pipe"), 0600), 0);
	assert_int_equal(zm_profile_write(profile, tree_path(&tree, "pipe"), &why), -EINVAL);
	assert_non_null(strstr(why.text, "pipe: the build profile cannot be written: not a file"));
	assert_int_equal(unlink(tree_path(&tree, "pipe")), 0);
	assert_int_equal(symlink("there", tree_path(&tree, "link")), 0);
	assert_int_equal(zm_profile_write(profile, tree_path(&tree, "link"), &why), 0);
	assert_int_equal(unlink(tree_path(&tree, "there")), 0);
	assert_int_equal(zm_profile_read(tree_path(&tree, "link"), &again, &why), -ENOENT);
	tree_write(&tree, "kept", "old");
	profile->page_bytes = 3;
	assert_int_equal(zm_profile_write(profile, tree_path(&tree, "kept"), &why), -EINVAL);
	assert_string_equal(tree_read(&tree, "kept"), "old");
	assert_int_equal(zm_profile_read(tree_path(&tree, "none"), &again, &why), -ENOENT);
	assert_non_null(strstr(why.text, "none"));
	zm_profile_free(profile);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),    cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_cut),     cmocka_unit_test(test_large),
		cmocka_unit_test(test_checked), cmocka_unit_test(test_print),
		cmocka_unit_test(test_write),
	};

	zm_profile_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
