/* campaign: what is made is what is read; whatever else stands in the file is refused. */
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

#include "runner/fleet/campaign.h"
#include "workloads/base/remove.h"

static char folder[64];

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/zonemark-campaign-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return zm_remove_tree(folder, NULL);
}

static const char *const words[] = { "null", "seed=1-7", "--share" };
static const char *const nodes[] = { "n1", "n2", "n3" };
static const char *const kernels[] = { "ka", "kb" };

/* Every part in every round with every kernel, once, and always on the same machine. */
static void check_arrays(const struct zm_campaign *campaign, const unsigned int *node_of,
			 unsigned int nr_parts)
{
	unsigned int nr_seen[4][2][8] = { 0 };

	for (size_t i = 0; i < campaign->nr_arrays; i++) {
		const struct zm_fleet_array *array = &campaign->arrays[i];
		bool is_b = strcmp(array->kernel, "kb") == 0;

		for (size_t k = 0; k < array->nr_tasks; k++) {
			unsigned int part = array->parts[k] - 1;

			nr_seen[array->round][is_b][part]++;
			assert_string_equal(array->node, nodes[node_of[part]]);
		}
	}
	for (unsigned int round = 1; round <= 3; round++)
		for (unsigned int part = 0; part < nr_parts; part++)
			for (size_t kernel = 0; kernel < 2; kernel++)
				assert_int_equal(nr_seen[round][kernel][part], 1);
}

static void test_written_and_read(void **state)
{
	static const unsigned int node_of[] = { 0, 1, 2, 0, 1, 0, 0 };
	const struct zm_campaign_ask ask = {
		.folder = folder,
		.program = "/opt/zonemark",
		.words = words,
		.nr_words = 3,
		.nodes = nodes,
		.nr_nodes = 3,
		.kernels = kernels,
		.nr_kernels = 2,
		.nr_rounds = 3,
		.node_of = node_of,
		.nr_parts = 7,
		.split = "0123abcd",
	};
	struct zm_campaign made, read;
	struct zm_why why = { "" };

	(void)state;
	assert_int_equal(zm_campaign_make(&ask, &made, &why), 0);
	assert_int_equal(made.nr_arrays, 3 * 2 * 3);
	check_arrays(&made, node_of, 7);
	assert_int_equal(zm_campaign_write(&made, &why), 0);
	assert_int_equal(zm_campaign_read(folder, &read, &why), 0);
	assert_true(json_equal(made.json, read.json));
	check_arrays(&read, node_of, 7);
	assert_int_equal(read.nr_words, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(read.words[i], words[i]);
	/* A second one does not go into its folder. */
	assert_int_equal(zm_campaign_write(&made, &why), -EEXIST);
	zm_campaign_release(&made);
	zm_campaign_release(&read);
}

static void test_task_names(void **state)
{
	static const struct {
		const char *name;
		bool is_one;
	} cases[] = {
		{ "1.1", true },
		{ "3.1", true },
		{ "4.1", false },
		{ "0.1", false },
		{ "1.2", false },
		{ "1.0", false },
		{ "1", false },
		{ "1.", false },
		{ "", false },
		{ "1.1x", false },
		{ "../1", false },
		{ "1.1.1", false },
		{ "99999999999.1", false },
	};
	const struct zm_campaign_ask ask = {
		.folder = folder,
		.program = "/opt/zonemark",
		.words = words,
		.nr_words = 1,
		.nodes = nodes,
		.nr_nodes = 3,
		.nr_rounds = 1,
	};
	struct zm_campaign campaign;
	size_t array, task;

	(void)state;
	assert_int_equal(zm_campaign_make(&ask, &campaign, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(zm_campaign_find(&campaign, cases[i].name, &array, &task, NULL),
				 cases[i].is_one ? 0 : -EINVAL);
	zm_campaign_release(&campaign);
}

#define HEAD                                                                                       \
	"\"zonemark_fleet\":1,\"id\":\"a\",\"program\":\"/z\",\"directory\":\"/"                   \
	"\",\"split\":\"\",\"nr_parts\":2,"
#define WORDS "\"words\":[\"null\"],"

static void test_hostile_files(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "{" HEAD WORDS "\"arrays\":[{\"node\":\"n1\",\"round\":1,\"parts\":[1,2]}]}", 0 },
		{ "{" HEAD WORDS "\"arrays\":[{\"node\":\"n;1\",\"round\":1,\"parts\":[1]}]}",
		  -EINVAL },
		{ "{" HEAD WORDS
		  "\"arrays\":[{\"node\":\"n1\",\"kernel\":\"a&b\",\"round\":1,\"parts\":[1]}]}",
		  -EINVAL },
		{ "{" HEAD WORDS "\"arrays\":[{\"node\":\"n1\",\"round\":1,\"parts\":[3]}]}",
		  -EINVAL },
		{ "{" HEAD WORDS "\"arrays\":[{\"node\":\"n1\",\"round\":1,\"parts\":[]}]}",
		  -EINVAL },
		{ "{" HEAD WORDS "\"arrays\":[{\"node\":\"n1\",\"round\":1,\"parts\":[\"1\"]}]}",
		  -EINVAL },
		{ "{" HEAD WORDS "\"arrays\":[{\"node\":\"n1\",\"round\":0,\"parts\":[1]}]}",
		  -EINVAL },
		{ "{" HEAD WORDS "\"arrays\":[7]}", -EINVAL },
		{ "{" HEAD WORDS "\"arrays\":[]}", -EINVAL },
		{ "{" HEAD "\"words\":[1],\"arrays\":[]}", -EINVAL },
		{ "{" HEAD "\"words\":[],\"arrays\":[]}", -EINVAL },
		{ "{\"zonemark_fleet\":2}", -EPROTO },
		{ "{\"zonemark_fleet\":\"1\"}", -EINVAL },
		{ "{}", -EINVAL },
		{ "[]", -EINVAL },
		{ "", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_campaign campaign;
		struct zm_why why = { "" };
		char path[96];
		FILE *out;

		(void)snprintf(path, sizeof(path), "%s/campaign.json", folder);
		out = fopen(path, "we");
		assert_non_null(out);
		(void)fputs(cases[i].text, out);
		(void)fclose(out);
		if (zm_campaign_read(folder, &campaign, &why) != cases[i].error)
			fail_msg("%s: %s", cases[i].text, why.text);
		if (cases[i].error == 0)
			zm_campaign_release(&campaign);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_written_and_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_task_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile_files, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
