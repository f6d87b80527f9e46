/* record: processes made up, and the profile that must come of them; it reads back as it was written. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buildload/record.h"
#include "workloads/base/tests/tree.h"

#define MS     UINT64_C(1000000)
#define MAX    512
#define CC1_MS 100
#define UNITS  40

static struct zm_trace_process processes[MAX];
static struct zm_trace trace;
static struct zm_why why;
static struct zm_profile *profile;

static const struct zm_record_about about = { "made-up", "make -j2", "2 CPUs", "cc 1", 2 };

static int add(const char *name, int parent, uint64_t start_ms, uint64_t end_ms,
	       uint64_t anon_pages)
{
	struct zm_trace_process *process = &processes[trace.nr];

	*process = (struct zm_trace_process){
		.pid = (pid_t)(100 + trace.nr),
		.parent = parent,
		.has_execed = name[0] != '(',
		.has_ended = true,
		.start_ns = start_ms * MS,
		.end_ns = end_ms * MS,
		.user_ns = (end_ms - start_ms) * MS,
		.faults = anon_pages + 50,
		.anon_pages = anon_pages,
		.file_pages = 300,
		.image_bytes = 1 << 20,
		.nr_images = 3,
	};
	(void)snprintf(process->name, sizeof(process->name), "%s",
		       name[0] == '(' ? processes[parent].name : name);
	return (int)trace.nr++;
}

/* Grows by equal mmaps at equal intervals: half of its pages are there at half of its time. */
static void grow(int index, size_t nr, bool is_brk)
{
	struct zm_trace_process *process = &processes[index];

	process->growths = calloc(nr, sizeof(*process->growths));
	process->nr_growths = nr;
	for (size_t i = 0; i < nr; i++)
		process->growths[i] = (struct zm_trace_growth){
			.bytes = is_brk ? 132 << 10 : 2 << 20,
			.is_brk = is_brk,
			.cpu_ns = process->user_ns * i / nr,
			.anon_pages = process->anon_pages * i / nr,
		};
	process->mapped_bytes += is_brk ? 0 : nr * (2 << 20);
	process->broken_bytes += is_brk ? nr * (132 << 10) : 0;
}

/* sh -> gcc -> cc1, then as. */
static void add_unit(int make, uint64_t start_ms, uint64_t pages)
{
	int sh = add("sh", make, start_ms, start_ms + CC1_MS + 20, 60);
	int gcc = add("gcc", sh, start_ms + 1, start_ms + CC1_MS + 18, 90);

	grow(add("cc1", gcc, start_ms + 2, start_ms + 2 + CC1_MS, pages), 10, false);
	(void)add("as", gcc, start_ms + 4 + CC1_MS, start_ms + CC1_MS + 16, 270);
}

/* make: five probes one after the other; a make below, whose units run two at a time; a script that
 * calls make once more, and links. */
static void make_up(void)
{
	int make = (memset(&trace, 0, sizeof(trace)), trace.processes = processes,
		    add("make", -1, 0, 100000, 1200));
	int way, below;

	for (unsigned int i = 0; i < 5; i++) {
		int probe = add("sh", make, 10 + i * 20, 20 + i * 20, 60);

		(void)add("(fork)", probe, 12 + i * 20, 14 + i * 20, 30);
	}
	way = add("sh", make, 200, 50000, 60);
	below = add("make", way, 210, 49000, 1100);
	for (unsigned int i = 0; i < UNITS; i++)
		add_unit(below, 300 + i * 70, 10000 + i * 100);
	way = add("sh", make, 60000, 64000, 60);
	(void)add("make", way, 60001, 60500, 1100);
	grow(add("ld", way, 61000, 62000, 5000), 10, true);
	trace.wall_ns = 100 * 1000 * MS;
	trace.nr_execs = trace.nr - 5;
}

static void free_trace(void)
{
	for (size_t i = 0; i < trace.nr; i++)
		free(processes[i].growths);
}

static int set_up(void **state)
{
	(void)state;
	make_up();
	if (zm_record_profile(&trace, &about, &profile, &why) < 0)
		fail_msg("%s", why.text);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	zm_profile_free(profile);
	free_trace();
	return 0;
}

static const struct zm_profile_class *class_named(const char *name)
{
	for (size_t i = 0; i < profile->nr_classes; i++)
		if (strcmp(profile->classes[i].name, name) == 0)
			return &profile->classes[i];
	fail_msg("no class %s", name);
	return NULL;
}

static void test_classes(void **state)
{
	static const struct {
		const char *name;
		enum zm_profile_role role;
		size_t nr_rows;
	} wanted[] = {
		{ "make", ZM_ROLE_MAKE, 3 },        { "sh", ZM_ROLE_SHELL, 47 },
		{ "sh.fork", ZM_ROLE_SHELL, 5 },    { "gcc", ZM_ROLE_DRIVER, UNITS },
		{ "cc1", ZM_ROLE_COMPILER, UNITS }, { "as", ZM_ROLE_ASSEMBLER, UNITS },
		{ "ld", ZM_ROLE_LINKER, 1 },
	};

	(void)state;
	assert_int_equal(profile->nr_classes, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct zm_profile_class *class = class_named(wanted[i].name);

		assert_int_equal(class->role, wanted[i].role);
		assert_int_equal(class->nr_rows, wanted[i].nr_rows);
		assert_int_equal(class->image_bytes, 1 << 20);
		assert_int_equal(class->nr_images, 3);
	}
	assert_int_equal(class_named("cc1")->rows[7][ZM_FIELD_ANON_PAGES], 10700);
	assert_int_equal(class_named("cc1")->rows[7][ZM_FIELD_USER_US], CC1_MS * 1000);
}

/* All by mmap of one size; all by brk; and in proportion to the CPU time. */
static void test_growth(void **state)
{
	const struct zm_profile_class *cc1 = class_named("cc1"), *ld = class_named("ld");

	(void)state;
	assert_int_equal(cc1->maps.nr, 1);
	assert_int_equal(cc1->maps.steps[0].bytes, 2 << 20);
	assert_true(cc1->maps.steps[0].weight == 10 * UNITS);
	assert_int_equal(cc1->brks.nr, 0);
	assert_true(cc1->brk_share == 0);
	assert_int_equal(ld->brks.steps[0].bytes, 132 << 10);
	assert_true(ld->brk_share == 1);
	assert_true(cc1->nr_ramps >= 1);
	for (size_t i = 0; i < cc1->ramps[0].nr; i++) {
		const struct zm_profile_point *point = &cc1->ramps[0].points[i];

		assert_true(point->anon > point->cpu - 0.01 && point->anon < point->cpu + 0.01);
	}
}

/* The shells on the way to a make below are no jobs, but what the last one links is; units that look
 * alike are one recipe. */
static void test_jobs(void **state)
{
	const struct zm_profile_recipe *unit = NULL;
	size_t nr_jobs = 0;

	(void)state;
	assert_int_equal(profile->nr_recipes, 3);
	for (size_t i = 0; i < profile->nr_recipes; i++)
		if (profile->recipes[i].nr == 4)
			unit = &profile->recipes[i];
	assert_non_null(unit);
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "sh", "gcc", "cc1", "as" };
		static const int parents[] = { -1, 0, 1, 1 };

		assert_string_equal(profile->classes[unit->nodes[i].class_index].name, names[i]);
		assert_int_equal(unit->nodes[i].parent, parents[i]);
		assert_false(unit->nodes[i].is_beside);
	}
	for (size_t i = 0; i < profile->nr_stages; i++)
		nr_jobs += profile->stages[i].nr;
	assert_int_equal(nr_jobs, 5 + UNITS + 1);
}

static void test_stages(void **state)
{
	(void)state;
	assert_int_equal(profile->nr_stages, 3);
	assert_int_equal(profile->stages[0].max_jobs, 1);
	assert_int_equal(profile->stages[0].nr, 5);
	assert_int_equal(profile->stages[0].nr_makes, 0);
	assert_int_equal(profile->stages[1].max_jobs, 0);
	assert_int_equal(profile->stages[1].nr, UNITS);
	assert_int_equal(profile->stages[1].nr_makes, 1);
	assert_int_equal(profile->stages[1].jobs[9].row, 9);
	assert_int_equal(profile->stages[2].max_jobs, 1);
	assert_int_equal(profile->stages[2].nr, 1);
}

static void test_totals(void **state)
{
	(void)state;
	assert_int_equal(profile->totals[ZM_TOTAL_FORKS], trace.nr - 1);
	assert_int_equal(profile->totals[ZM_TOTAL_WALL_US], 100 * 1000 * 1000);
	assert_int_equal(profile->totals[ZM_TOTAL_SLOTS], 2);
	assert_string_equal(profile->command, "make -j2");
}

static void test_reads_back(void **state)
{
	struct zm_profile *again = NULL;
	char *text, *text_again;
	size_t length, length_again;

	(void)state;
	assert_int_equal(zm_profile_print(profile, &text, &length, &why), 0);
	if (zm_profile_parse(text, length, "made-up", &again, &why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(zm_profile_print(again, &text_again, &length_again, &why), 0);
	assert_string_equal(text, text_again);
	free(text);
	free(text_again);
	zm_profile_free(again);
}

static void test_nothing_to_record(void **state)
{
	struct zm_profile *none = NULL;

	(void)state;
	memset(&trace, 0, sizeof(trace));
	trace.processes = processes;
	(void)add("make", -1, 0, 10, 1000);
	assert_int_equal(zm_record_profile(&trace, &about, &none, &why), -ENODATA);
	assert_non_null(strstr(why.text, "make -j2 started nothing that could be a job"));
	assert_null(none);
}

#define of_made_up(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		of_made_up(test_classes),
		of_made_up(test_growth),
		of_made_up(test_jobs),
		of_made_up(test_stages),
		of_made_up(test_totals),
		of_made_up(test_reads_back),
		cmocka_unit_test(test_nothing_to_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
