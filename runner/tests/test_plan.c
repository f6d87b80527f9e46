/* plan: words become cells; what is wrong with a word is said with the nearest right one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/matrix.h"
#include "runner/plan.h"
#include "workloads/base/tests/tree.h"

struct soup_options {
	uint64_t size;
	char *dir;
	bool hot;
};

static const struct zm_option soup_rows[] = {
	{ .name = "size",
	  .type = ZM_OPTION_SIZE,
	  .offset = offsetof(struct soup_options, size),
	  .preset = "128M",
	  .min = 4096 },
	{ .name = "dir", .type = ZM_OPTION_STRING, .offset = offsetof(struct soup_options, dir) },
	{ .name = "hot",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct soup_options, hot),
	  .preset = "0" },
	{ .name = NULL },
};

static const struct zm_workload soup = { .name = "soup",
					 .op = "spoon",
					 .kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
					 .options = soup_rows,
					 .options_size = sizeof(struct soup_options) };
static const struct zm_workload pair = {
	.name = "pair", .op = "byte", .kinds = ZM_TASK_THREAD, .nr_ends = 2
};

/* Its units are pots; nr_task is about what is in each. */
struct kitchen_options {
	uint64_t nr_pots;
	struct zm_amount spoons;
};

static const struct zm_option kitchen_rows[] = {
	{ .name = "nr_pots",
	  .type = ZM_OPTION_U64,
	  .offset = offsetof(struct kitchen_options, nr_pots),
	  .preset = "3" },
	{ .name = "spoons",
	  .type = ZM_OPTION_AMOUNT,
	  .offset = offsetof(struct kitchen_options, spoons),
	  .preset = "5",
	  .also = "nr_task" },
	{ .name = NULL },
};

static const char *const kitchen_presets[] = { "runtime", "7m", "warmup", "0s", NULL };
static const struct zm_workload kitchen = { .name = "kitchen",
					    .op = "meal",
					    .kinds = ZM_TASK_PROCESS,
					    .units = "nr_pots",
					    .presets = kitchen_presets,
					    .options = kitchen_rows,
					    .options_size = sizeof(struct kitchen_options) };
static const struct zm_workload *const workloads[] = { &kitchen, &pair, &soup, NULL };

static const struct zm_pair extras[] = { { (char[]){ "place" }, (char[]){ "scatter" } } };

#define MAX_WORDS 8

static int make(const char *line, unsigned int nr_cpus, struct zm_plan *ret_plan,
		struct zm_why *why)
{
	const struct zm_cell_context context = { .nr_cpus = nr_cpus,
						 .extras = extras,
						 .nr_extras = 1 };
	const char *words[MAX_WORDS];
	char copy[256];
	char *save = NULL;
	size_t n = 0;

	(void)snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		words[n++] = word;
	return zm_plan_make(&context, workloads, words, n, ret_plan, why);
}

/* The titles, with | between them. */
static const struct {
	const char *line;
	unsigned int nr_cpus;
	const char *titles;
	const char *remark;
} good[] = {
	{ "soup", 4, "soup mode=process nr_task=1", NULL },
	{ "pair", 4, "pair mode=thread nr_task=1", NULL },
	{ "soup nr_task=50%,100%", 4, "soup mode=process nr_task=2|soup mode=process nr_task=4",
	  NULL },
	{ "soup nr_task=200%", 4, "soup mode=process nr_task=8", NULL },
	{ "soup mode=process,thread nr_task=1-2", 4,
	  "soup mode=process nr_task=1|soup mode=process nr_task=2|soup mode=thread nr_task=1|"
	  "soup mode=thread nr_task=2",
	  NULL },
	{ "nr_task=2 soup size=4K,8K", 4,
	  "soup mode=process nr_task=2 size=4K|soup mode=process nr_task=2 size=8K", NULL },
	{ "soup,pair size=4K", 4, "soup mode=process nr_task=1|pair mode=thread nr_task=1", NULL },
	{ "soup nr_threads=2", 4, "soup mode=process nr_task=2", NULL },
	{ "soup nr_threads=2 nr_task=1", 4, "soup mode=process nr_task=1", NULL },
	{ "soup nr_task=12.5%", 2, "soup mode=process nr_task=1",
	  "nr_task=12.5% of 2 CPUs: 1 task is used" },
	{ "soup nr_task=60%", 4, "soup mode=process nr_task=2",
	  "nr_task=60% of 4 CPUs: 2 tasks are used" },
	{ "soup nr_task=1,100%", 1, "soup mode=process nr_task=1",
	  "soup mode=process nr_task=1 is asked for twice here, and run once" },
	{ "pair mode=process,thread", 4, "pair mode=thread nr_task=1",
	  "pair has no mode=process: it runs as thread" },
	{ "kitchen", 4, "kitchen mode=process nr_pots=3", NULL },
	{ "kitchen nr_pots=1,2 nr_task=50%", 4,
	  "kitchen mode=process nr_pots=1|kitchen mode=process nr_pots=2", NULL },
	{ "kitchen nr_task=1,2", 4,
	  "kitchen mode=process nr_pots=3 nr_task=1|kitchen mode=process nr_pots=3 nr_task=2",
	  NULL },
	{ "soup sysctl.vm.swappiness=1,60", 4,
	  "soup mode=process nr_task=1 sysctl.vm.swappiness=1|"
	  "soup mode=process nr_task=1 sysctl.vm.swappiness=60",
	  NULL },
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char joined[512] = "";
		struct zm_plan plan;
		struct zm_why why = { "" };

		if (make(good[i].line, good[i].nr_cpus, &plan, &why) < 0)
			fail_msg("%s: %s", good[i].line, why.text);
		for (size_t k = 0; k < plan.nr_cells; k++) {
			size_t length = strlen(joined);

			(void)snprintf(joined + length, sizeof(joined) - length, "%s%s",
				       k ? "|" : "", plan.cells[k].title);
		}
		assert_string_equal(joined, good[i].titles);
		assert_int_equal(plan.nr_remarks, good[i].remark ? 1 : 0);
		if (good[i].remark)
			assert_string_equal(plan.remarks[0], good[i].remark);
		zm_plan_release(&plan);
	}
}

static const struct {
	const char *line;
	int error;
	const char *says;
} bad[] = {
	{ "", -EINVAL, "no workload or matrix is named" },
	{ "nr_task=2", -EINVAL, "no workload or matrix is named" },
	{ ",soup", -EINVAL, "',soup': an empty name" },
	{ "soup,,pair", -EINVAL, "an empty name" },
	{ "soop", -ENOENT, "did you mean soup?" },
	{ "quik", -ENOENT, "did you mean quick?" },
	{ "xyzzy", -ENOENT, "zonemark list" },
	{ "soup nr_tsk=2", -EINVAL, "did you mean nr_task?" },
	{ "soup sise=4K", -EINVAL, "did you mean size?" },
	{ "soup thp_enabeld=never", -EINVAL, "did you mean thp_enabled?" },
	{ "pair size=4K", -EINVAL, "size: neither a run, nor pair" },
	{ "soup nr_task=0", -EINVAL, "nr_task=0: at least one task is needed" },
	{ "soup nr_task=0%", -EINVAL, "at least one task is needed" },
	{ "kitchen nr_pots=0", -EINVAL, "nr_pots=0: at least one task is needed" },
	{ "soup nr_task=-1", -EINVAL, "nr_task=-1" },
	{ "soup nr_task=1.5", -EINVAL, "nr_task=1.5" },
	{ "soup nr_task=", -EINVAL, "nr_task=" },
	{ "soup nr_task=99999999999", -ERANGE, "nr_task=99999999999" },
	{ "soup mode=fiber", -EINVAL, "mode=fiber" },
	{ "soup size=1", -ERANGE, "size=1" },
	{ "soup runtime=soon", -EINVAL, "runtime=soon" },
	{ "soup nr_task=1-200 size=4K,8K,16K,32K,64K,128K hot=0,1 seed=1-9", -ERANGE,
	  "more than 10000 runs" },
	{ "pair mode=process", -EINVAL, "pair has no mode=process" },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zm_plan plan = { .nr_cells = 77 };
		struct zm_why why = { "" };
		int r = make(bad[i].line, 4, &plan, &why);

		if (r >= 0 || !strstr(why.text, bad[i].says))
			fail_msg("\"%s\" gives %d: %s", bad[i].line, r, why.text);
		assert_int_equal(r, bad[i].error);
		assert_int_equal(plan.nr_cells, 77);
	}
}

/* Fields of the two objects; the key keeps the share, params has what it came to. */
static void test_names(void **state)
{
	struct zm_plan plan;
	json_t *key, *params;

	(void)state;
	assert_int_equal(
		make("soup nr_task=50% hot=yes size=8192 sysctl.vm.swappiness=1", 4, &plan, NULL),
		0);
	key = json_loads(plan.cells[0].key, 0, NULL);
	params = json_loads(plan.cells[0].params, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(key, "nr_task")), "50%");
	assert_int_equal(json_integer_value(json_object_get(params, "nr_task")), 2);
	assert_string_equal(json_string_value(json_object_get(params, "size")), "8K");
	assert_true(json_is_true(json_object_get(params, "hot")));
	assert_true(json_is_null(json_object_get(params, "dir")));
	assert_string_equal(json_string_value(json_object_get(key, "place")), "scatter");
	assert_string_equal(json_string_value(json_object_get(key, "sysctl.vm.swappiness")), "1");
	assert_string_equal(json_string_value(json_object_get(params, "runtime")), "5s");
	json_decref(key);
	json_decref(params);
	zm_plan_release(&plan);
}

/* However it was typed, the same cell has the same key. */
static void test_same_key(void **state)
{
	static const char *const lines[] = { "soup", "soup size=128M", "soup size=131072K hot=off",
					     "nr_task=1 mode=process soup" };
	struct zm_plan first;

	(void)state;
	assert_int_equal(make(lines[0], 4, &first, NULL), 0);
	for (size_t i = 1; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct zm_plan plan;

		assert_int_equal(make(lines[i], 4, &plan, NULL), 0);
		assert_string_equal(plan.cells[0].key, first.cells[0].key);
		zm_plan_release(&plan);
	}
	zm_plan_release(&first);
}

static void test_pairs_have_two_ends(void **state)
{
	struct zm_plan plan;

	(void)state;
	assert_int_equal(make("pair nr_task=3", 4, &plan, NULL), 0);
	assert_int_equal(plan.cells[0].nr_units, 3);
	assert_int_equal(plan.cells[0].nr_tasks, 6);
	zm_plan_release(&plan);
}

/* What is typed as nr_task is the jobs of each; the run's own options begin as the workload says. */
static void test_units_of_its_own(void **state)
{
	const struct kitchen_options *chosen;
	struct zm_plan plan;

	(void)state;
	assert_int_equal(make("kitchen nr_task=9 runtime=1s", 4, &plan, NULL), 0);
	chosen = plan.cells[0].workload_options;
	assert_int_equal(plan.cells[0].nr_tasks, 3);
	assert_true(chosen->spoons.value == 9);
	assert_int_equal(plan.cells[0].options.runtime_ns, UINT64_C(1000000000));
	assert_int_equal(plan.cells[0].options.warmup_ns, 0);
	zm_plan_release(&plan);
	assert_int_equal(make("kitchen", 4, &plan, NULL), 0);
	assert_int_equal(plan.cells[0].options.runtime_ns, UINT64_C(420000000000));
	zm_plan_release(&plan);
}

/* Every built-in matrix can be planned, with the catalogue as it is; and no workload has an option
 * that the run has too, which would hide it. */
static void test_catalogue(void **state)
{
	const struct zm_cell_context context = { .nr_cpus = 4, .extras = extras, .nr_extras = 1 };

	(void)state;
	for (size_t i = 0; zm_matrices[i].name; i++) {
		struct zm_plan plan;
		struct zm_why why = { "" };

		if (!zm_matrices[i].lines) /* made of the documented catalogue, for a machine */
			continue;
		if (zm_plan_make(&context, zm_workloads, &zm_matrices[i].name, 1, &plan, &why) < 0)
			fail_msg("%s: %s", zm_matrices[i].name, why.text);
		assert_true(plan.nr_cells > 0);
		zm_plan_release(&plan);
	}
	for (unsigned int i = 0; i < zm_nr_workloads; i++) {
		const struct zm_option *rows = zm_workloads[i]->options;

		for (size_t k = 0; rows && rows[k].name; k++) {
			if (zm_option_find(zm_run_option_rows, rows[k].name))
				fail_msg("%s has %s, and so has every run", zm_workloads[i]->name,
					 rows[k].name);
		}
	}
}

/* Of pcp_high's lines those count whose setting this kernel has; without any it cannot run. */
static void test_lines_by_kernel(void **state)
{
	static const struct {
		const char *files[2];
		int r;
		size_t nr_cells;
	} cases[] = {
		{ { NULL }, -ENOTSUP, 0 },
		{ { "proc/sys/vm/percpu_pagelist_high_fraction" }, 0, 7 },
		{ { "proc/sys/vm/percpu_pagelist_fraction" }, 0, 7 },
		{ { "proc/sys/vm/percpu_pagelist_high_fraction",
		    "proc/sys/vm/pcp_batch_scale_max" },
		  0,
		  14 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const words[] = { "pcp_high" };
		struct zm_why why = { "" };
		struct zm_plan plan = { 0 };
		struct zm_sysroot root;
		struct tree tree;

		tree_make(&tree);
		for (size_t k = 0; k < 2 && cases[i].files[k]; k++)
			tree_write(&tree, cases[i].files[k], "0\n");
		assert_int_equal(zm_sysroot_open(&root, tree.path), 0);

		const struct zm_cell_context context = {
			.nr_cpus = 4, .extras = extras, .nr_extras = 1, .root = &root
		};

		assert_int_equal(zm_plan_make(&context, zm_workloads, words, 1, &plan, &why),
				 cases[i].r);
		assert_int_equal(plan.nr_cells, cases[i].nr_cells);
		if (cases[i].r == 0)
			assert_string_equal(plan.matrix->name, "pcp_high");
		else
			assert_non_null(strstr(why.text, "none of the settings"));
		zm_plan_release(&plan);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_same_key),
		cmocka_unit_test(test_pairs_have_two_ends),
		cmocka_unit_test(test_units_of_its_own),
		cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_lines_by_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
