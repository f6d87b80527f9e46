/* slurm: squeue's columns, whoever else's jobs stand among them; a script and a line whose words are quoted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/fleet/slurm.h"

static unsigned int parts[] = { 1, 2, 3 };
static struct zm_fleet_array arrays[] = {
	{ .node = "n1", .kernel = "k-a", .round = 1, .parts = parts, .nr_tasks = 3 },
	{ .node = "n2", .round = 2, .parts = parts, .nr_tasks = 1 },
};

static struct zm_campaign campaign = {
	.folder = (char[]){ "/lab/it's $(here)" },
	.id = "3f2a91c0",
	.program = "/opt/zone mark/zonemark",
	.nr_parts = 3,
	.arrays = arrays,
	.nr_arrays = 2,
};

static void test_queue(void **state)
{
	static const struct {
		const char *text;
		size_t nr_rows, array, task;
		bool is_over;
		const char *node, *reason;
	} cases[] = {
		{ "1|RUNNING|n1|None|zonemark-3f2a91c0-1\n", 1, 0, 0, false, "n1", "None" },
		{ "3|PENDING||ReqNodeNotAvail, UnavailableNodes:n1|zonemark-3f2a91c0-1\n", 1, 0, 2,
		  false, "", "ReqNodeNotAvail, UnavailableNodes:n1" },
		{ "1|NODE_FAIL|n2|None|zonemark-3f2a91c0-2\n", 1, 1, 0, true, "n2", "None" },
		{ "1|COMPLETING|n2|None|zonemark-3f2a91c0-2\n", 1, 1, 0, false, "n2", "None" },
		{ "", 0, 0, 0, false, "", "" },
		{ "4|RUNNING|n1|None|zonemark-3f2a91c0-1\n", 0, 0, 0, false, "", "" },
		{ "1|RUNNING|n1|None|zonemark-3f2a91c0-3\n", 0, 0, 0, false, "", "" },
		{ "1|RUNNING|n1|None|zonemark-3f2a91c0-\n", 0, 0, 0, false, "", "" },
		{ "0|RUNNING|n1|None|zonemark-3f2a91c0-1\n", 0, 0, 0, false, "", "" },
		{ "N/A|RUNNING|n1|None|zonemark-3f2a91c0-1\n", 0, 0, 0, false, "", "" },
		{ "1|RUNNING|n1|None|zonemark-00000000-1\n", 0, 0, 0, false, "", "" },
		{ "1|RUNNING|n1|None|a|b|zonemark-3f2a91c0-1\n", 0, 0, 0, false, "", "" },
		{ "1|RUNNING|n1\n|||||\nfoo\n", 0, 0, 0, false, "", "" },
		{ "N/A|RUNNING|n9|None|else's job\n1|RUNNING|n1|None|zonemark-3f2a91c0-1", 1, 0, 0,
		  false, "n1", "None" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_slurm_queue queue;

		assert_int_equal(zm_slurm_queue_parse(&campaign, cases[i].text, &queue), 0);
		if (queue.nr_rows != cases[i].nr_rows)
			fail_msg("%s: %zu rows", cases[i].text, queue.nr_rows);
		if (queue.nr_rows) {
			assert_int_equal(queue.rows[0].array, cases[i].array);
			assert_int_equal(queue.rows[0].task, cases[i].task);
			assert_int_equal(queue.rows[0].is_over, cases[i].is_over);
			assert_string_equal(queue.rows[0].node, cases[i].node);
			assert_string_equal(queue.rows[0].reason, cases[i].reason);
		}
		zm_slurm_queue_release(&queue);
	}
}

/* A task that was submitted again has two rows: the one that is not over counts. */
static void test_find(void **state)
{
	static const char text[] = "1|CANCELLED|n1|None|zonemark-3f2a91c0-1\n"
				   "1|PENDING||Resources|zonemark-3f2a91c0-1\n"
				   "2|TIMEOUT|n1|None|zonemark-3f2a91c0-1\n";
	struct zm_slurm_queue queue;

	(void)state;
	assert_int_equal(zm_slurm_queue_parse(&campaign, text, &queue), 0);
	assert_string_equal(zm_slurm_queue_find(&queue, 0, 0)->state, "PENDING");
	assert_string_equal(zm_slurm_queue_find(&queue, 0, 1)->state, "TIMEOUT");
	assert_null(zm_slurm_queue_find(&queue, 0, 2));
	zm_slurm_queue_release(&queue);
}

static char *printed(size_t array, const struct zm_slurm_ask *ask)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (ask)
		assert_int_equal(zm_slurm_print_line(&campaign, ask, out), 0);
	else
		zm_slurm_print_script(&campaign, array, out);
	(void)fclose(out);
	return text;
}

static void test_line_and_script(void **state)
{
	struct zm_slurm_ask ask = { .array = 0 };
	char *text = printed(0, &ask);

	(void)state;
	assert_string_equal(
		text, "sbatch --parsable --job-name=zonemark-3f2a91c0-1 --array=1-3 --nodes=1 "
		      "--exclusive --mem=0 --requeue --nodelist=n1 --constraint=k-a "
		      "--output=/dev/null '/lab/it'\\''s $(here)/scripts/1.sh'\n");
	free(text);
	ask = (struct zm_slurm_ask){
		.array = 1, .elements = "--array=3,5", .node = "n7", .wants_reboot = true
	};
	text = printed(1, &ask);
	assert_string_equal(
		text, "sbatch --parsable --job-name=zonemark-3f2a91c0-2 --array=3,5 --nodes=1 "
		      "--exclusive --mem=0 --requeue --nodelist=n7 --reboot --output=/dev/null "
		      "'/lab/it'\\''s $(here)/scripts/2.sh'\n");
	free(text);
	text = printed(1, NULL);
	assert_non_null(strstr(text, "\nexec >> '/lab/it'\\''s $(here)'/logs/\"$task\".log 2>&1"));
	assert_non_null(strstr(text, "\nexec '/opt/zone mark/zonemark' fleet task "
				     "'/lab/it'\\''s $(here)' \"$task\"\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_line_and_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
