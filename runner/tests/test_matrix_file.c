/* matrix_file: both forms become lines; what is wrong is one sentence with its file and line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/matrix_file.h"
#include "runner/plan.h"
#include "workloads/base/clock.h"
#include "workloads/base/tests/tree.h"

struct rig {
	struct tree tree;
	struct zm_sysroot root;
	struct zm_topology topology;
	struct zm_cell_context context;
};

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	if (!rig)
		return -1;
	tree_make(&rig->tree);
	tree_write(&rig->tree, "proc/uptime", "1 1\n");
	if (zm_sysroot_open(&rig->root, rig->tree.path) < 0)
		return -1;
	rig->topology.nr_cpus = 8;
	rig->topology.nr_nodes = 1;
	rig->context = (struct zm_cell_context){ .nr_cpus = 8,
						 .root = &rig->root,
						 .topology = &rig->topology };
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	zm_sysroot_release(&rig->root);
	tree_remove(&rig->tree);
	free(rig);
	return 0;
}

static int parse(struct rig *rig, const char *text, struct zm_matrix_set *set, struct zm_why *why)
{
	return zm_matrix_file_parse("m.yaml", text, strlen(text), &rig->context, zm_workloads, set,
				    why);
}

/* Lines as "name word word|name …". */
static void check_lines(const struct zm_matrix_set *set, const char *expected)
{
	char text[2048] = "";

	for (size_t i = 0; i < set->nr_lines; i++) {
		for (size_t k = 0; k < set->lines[i].nr_words; k++) {
			size_t length = strlen(text);

			(void)snprintf(text + length, sizeof(text) - length, "%s%s",
				       k   ? " "
				       : i ? "|"
					   : "",
				       set->lines[i].words[k]);
		}
	}
	assert_string_equal(text, expected);
}

static void test_good(void **state)
{
	static const struct {
		const char *text, *lines;
	} cases[] = {
		{ "runs: [page_fault1]", "page_fault1" },
		{ "runs:\n- page_fault1:\n    mode: [process, thread]\n    nr_task: [1, 50%]\n- "
		  "quick",
		  "page_fault1 mode=process,thread nr_task=1,50%|quick" },
		{ "runs:\n- {workload: 'null', step_ops: 4}\n- null:\n", "null step_ops=4|null" },
		{ "options: {runtime: 9s, idle: 1s}\nruns:\n- null: {runtime: 2s}",
		  "null idle=1s runtime=2s" },
		{ "runs:\n- page_fault3: {dir: ['/a,b']}", "page_fault3 dir=/a\\,b" },
		{ "x: &x {nr_task: 2}\nruns: [null: {<<: *x, seed: 1}]", NULL },
		{ "testcase: will-it-scale\nruntime: 20s\nnr_task: [50%, 3]\nperf-profile: {delay: "
		  "1}\n"
		  "will-it-scale:\n  mode: [process, thread]\n  test: page_fault1\n",
		  "page_fault1 runtime=15s nr_task=50% mode=process|"
		  "page_fault1 runtime=15s nr_task=3 mode=process|"
		  "page_fault1 runtime=15s nr_task=50% mode=thread|"
		  "page_fault1 runtime=15s nr_task=3 mode=thread" },
		/* A further document is the first with its own keys put in. */
		{ "testcase: netperf\nruntime: 10s\nnetperf: {test: UDP_STREAM}\nnr_threads: "
		  "1\n---\n"
		  "nr_threads: 200%\n",
		  "udp_stream runtime=10s nr_task=1|udp_stream runtime=10s nr_task=200%" },
		/* Several sets of parameters; a machine whose counts are scaled. */
		{ "testcase: will-it-scale\nnr_cpu: 16\nnr_task: 4\nruntime: 10s\nwill-it-scale:\n"
		  "- {mode: process, test: brk1}\n- {mode: thread, test: brk2}\n",
		  "brk1 nr_task=2 runtime=5s mode=process|brk2 nr_task=2 runtime=5s mode=thread" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_matrix_set set;
		struct zm_why why = { "" };
		int r = parse(*state, cases[i].text, &set, &why);

		if ((r == 0) != (cases[i].lines != NULL))
			fail_msg("%s: %d, %s", cases[i].text, r, why.text);
		if (r == 0) {
			check_lines(&set, cases[i].lines);
			zm_matrix_set_release(&set);
		}
	}
}

static void test_head(void **state)
{
	struct zm_matrix_set set;
	struct zm_why why = { "" };

	assert_int_equal(parse(*state,
			       "repeat: 3\nhours: 1.5\nmonitor: none\nruns:\n- 'null'\n- null: "
			       "{monitor: all}\n",
			       &set, &why),
			 0);
	assert_int_equal(set.nr_repeats, 3);
	assert_int_equal(set.budget_ns, 5400 * ZM_NS_PER_S);
	assert_string_equal(set.lines[0].monitor, "none");
	assert_string_equal(set.lines[1].monitor, "all");
	assert_string_equal(set.lines[0].where, "m.yaml:5");
	assert_string_equal(set.lines[1].where, "m.yaml:6");
	zm_matrix_set_release(&set);
}

/* What is not here is left out and said; when nothing is, it is an error of its own. */
static void test_left_out(void **state)
{
	static const char some[] = "testcase: will-it-scale\nnr_task: 1\n"
				   "will-it-scale: {mode: process, test: [page_fault1, pwrite1]}\n";
	static const char none[] = "testcase: stress-ng\nstress-ng: {test: shm}\n";
	struct zm_matrix_set set;
	struct zm_why why = { "" };

	assert_int_equal(parse(*state, some, &set, &why), 0);
	assert_int_equal(set.nr_lines, 1);
	assert_string_equal(set.remarks[0], "will-it-scale pwrite1 is left out: will-it-scale's "
					    "pwrite1 is not among zonemark's workloads");
	zm_matrix_set_release(&set);
	assert_int_equal(parse(*state, none, &set, &why), -ENOPKG);
	assert_non_null(strstr(why.text, "zonemark has none of stress-ng's tests"));
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text;
		int error;
		const char *says;
	} cases[] = {
		{ "", -EINVAL, "m.yaml:1: the file is empty" },
		{ "- a\n", -EINVAL, "m.yaml:1: a mapping is wanted" },
		{ "a: 1\n", -EINVAL, "m.yaml:1: neither `runs:` nor" },
		{ "runs: [\n", -EINVAL, "m.yaml:2: " },
		{ "runs:\n- 'a=b'\n", -EINVAL, "m.yaml:2: 'a=b' is no name" },
		{ "runs:\n- null: 3\n", -EINVAL, "m.yaml:2: null: options are wanted" },
		{ "runs:\n- null: {nr_task: {a: b}}\n", -EINVAL, "m.yaml:2: nr_task: a value" },
		{ "runs:\n- null:\n    seed: 1\n    nr_task: []\n", -EINVAL,
		  "m.yaml:4: nr_task: a list without values" },
		{ "runs:\n- null:\n    nr_task: [1, [2]]\n", -EINVAL,
		  "m.yaml:3: nr_task: a list of" },
		{ "runs:\n- [a, b]\n", -EINVAL, "m.yaml:2: a run is a name" },
		{ "runs: {a: b}\n", -EINVAL, "m.yaml:1: runs: a list" },
		{ "repaet: 3\nruns: [null]\n", -EINVAL,
		  "m.yaml:1: repaet: there is no such key; did "
		  "you mean repeat" },
		{ "runs: [quick]\nrepeat: 1.5\n", -EINVAL, "m.yaml:2: repeat: a whole number" },
		{ "runs: [quick]\nhours: -1\n", -EINVAL, "m.yaml:2: hours: a number" },
		{ "runs: [quick]\nbudget: soon\n", -EINVAL, "m.yaml:2: budget: a time" },
		{ "testcase: [a]\n", -EINVAL, "m.yaml:1: testcase: a name is wanted" },
		{ "testcase: netperf\nnetperf: {test: UDP_STREAM,\n"
		  " a: [1,2,3,4,5,6,7,8,9,0], b: [1,2,3,4,5,6,7,8,9,0], c: [1,2,3,4,5,6,7,8,9,0],\n"
		  " d: [1,2,3,4,5,6,7,8,9,0]}\n",
		  -EINVAL, "its lists combine to more than 4096 runs" },
		{ "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
		  "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
		  "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
		  -E2BIG, "m.yaml:6: more, or deeper" },
		{ "runs: "
		  "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
		  "]]",
		  -E2BIG, "more, or deeper" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_matrix_set set;
		struct zm_why why = { "" };
		int r = parse(*state, cases[i].text, &set, &why);

		if (r != cases[i].error || !strstr(why.text, cases[i].says))
			fail_msg("%s gives %d: %s", cases[i].text, r, why.text);
	}
}

/* What is wrong with a line's option is said with the line. */
static void test_plan(void **state)
{
	struct rig *rig = *state;
	const char *words[1] = { tree_path(&rig->tree, "m.yaml") };
	struct zm_plan plan;
	struct zm_why why = { "" };

	tree_write(&rig->tree, "m.yaml", "runs:\n- null: {nr_task: [1, 2]}\n- null: {sede: 1}\n");
	assert_int_equal(zm_plan_make(&rig->context, zm_workloads, words, 1, &plan, &why), -EINVAL);
	assert_non_null(strstr(why.text, "m.yaml:3: sede: no such option; did you mean seed?"));
	tree_write(&rig->tree, "m.yaml", "runs:\n- 'null'\n- null: {nr_task: 0}\n");
	assert_int_equal(zm_plan_make(&rig->context, zm_workloads, words, 1, &plan, &why), -EINVAL);
	assert_non_null(strstr(why.text, "m.yaml:3: nr_task=0"));
	tree_write(&rig->tree, "m.yaml", "runs:\n- other.yaml\n");
	assert_int_equal(zm_plan_make(&rig->context, zm_workloads, words, 1, &plan, &why), -EINVAL);
	assert_non_null(strstr(why.text, "m.yaml:2: other.yaml: a file within a file"));
	tree_write(&rig->tree, "m.yaml",
		   "repeat: 4\nhours: 1\nruns:\n- null: {nr_task: [1, 2, 3], monitor: none}\n");
	assert_int_equal(zm_plan_make(&rig->context, zm_workloads, words, 1, &plan, &why), 0);
	assert_int_equal(plan.nr_cells, 3);
	assert_int_equal(plan.nr_repeats, 4);
	assert_int_equal(plan.budget_ns, 3600 * ZM_NS_PER_S);
	assert_string_equal(plan.cells[0].monitor, "none");
	assert_true(plan.cells[2].rank < plan.cells[0].rank &&
		    plan.cells[0].rank < plan.cells[1].rank);
	zm_plan_release(&plan);
}

/* The documented catalogue is a matrix; its tables are names. */
static void test_documented(void **state)
{
	struct rig *rig = *state;
	const char *full[1] = { "full" }, *one[1] = { "pcp-v3/unix" };
	struct zm_plan plan;
	struct zm_why why = { "" };

	assert_int_equal(zm_plan_make(&rig->context, zm_workloads, full, 1, &plan, &why), 0);
	assert_true(plan.nr_cells >= 10);
	zm_plan_release(&plan);
	assert_int_equal(zm_plan_make(&rig->context, zm_workloads, one, 1, &plan, &why), 0);
	assert_int_equal(plan.nr_cells, 1);
	assert_string_equal(plan.cells[0].title, "unix_stream mode=process nr_task=1");
	assert_non_null(strstr(plan.cells[0].monitor, "pcp"));
	zm_plan_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good, setup, teardown),
		cmocka_unit_test_setup_teardown(test_head, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong, setup, teardown),
		cmocka_unit_test_setup_teardown(test_plan, setup, teardown),
		cmocka_unit_test_setup_teardown(test_documented, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
