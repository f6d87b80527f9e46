/*
 * learn: a band per criterion from machines that are made up; boots where there is one machine only.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/tolerance.h"
#include "runner/catalogue.h"
#include "runner/qualify/learn.h"
#include "runner/qualify/tests/made_up.h"

#define ONE "{\"workload\":\"null\",\"nr_task\":\"1\"}"

static const char inventory[] = "{\"product\":\"ACME\",\"cpu_model\":\"X\",\"sockets\":2}";
static const char other_inventory[] = "{\"product\":\"ACME\",\"cpu_model\":\"Y\",\"sockets\":2}";

static void add_on(const char *machine, const char *boot, double value)
{
	struct zm_evidence_run *run = add_good(ONE, 1, value);

	run->view->info.machine = machine;
	run->view->info.boot = boot;
	run->view->inventory = inventory;
}

static int learn(struct zm_bands *bands, struct zm_why *why)
{
	static const char text[] = "runs: [x]\ncriteria:\n"
				   "- {throughput: 'null', least: 5}\n"
				   "- {spread: 'null', most: 5%}\n"
				   "- {no_new: edac}\n";
	json_t *cells = json_pack("[s]", ONE);
	struct zm_standard profile;
	int r;

	assert_int_equal(
		zm_standard_parse("x.yaml", text, strlen(text), zm_workloads, &profile, why), 0);
	r = zm_learn_bands(&profile, &evidence, cells, bands, why);
	json_decref(cells);
	zm_standard_release(&profile);
	return r;
}

/* Each machine is one value, whatever it ran. */
static void the_unit_is_the_machine(void **state)
{
	static const double means[] = { 100, 110, 120 };
	struct zm_tolerance wanted = zm_tolerance_of(means, 3, 0.99, 0.95);
	const struct zm_band *band;
	struct zm_bands bands;

	(void)state;
	add_on("a", "1", 100);
	for (int i = 0; i < 20; i++)
		add_on("b", i % 2 ? "1" : "2", 110);
	add_on("c", "1", 120);
	assert_int_equal(learn(&bands, NULL), 0);
	assert_string_equal(bands.of, "machines");
	assert_string_equal(bands.model, "ACME, X, 2 sockets");
	assert_int_equal(bands.nr, 1); /* only b has a spread */
	band = zm_bands_find(&bands, "throughput null");
	assert_non_null(band);
	assert_int_equal(band->nr, 3);
	assert_true(fabs(band->least - wanted.low) < 1e-6 * wanted.low);
	assert_true(fabs(band->most - wanted.high) < 1e-6 * wanted.high);
	assert_true(fabs(band->median - 110) < 1e-9);
	zm_bands_release(&bands);
}

static void one_machines_boots_are_said_to_be_boots(void **state)
{
	struct zm_bands bands;

	(void)state;
	add_on("a", "1", 100);
	add_on("a", "2", 104);
	assert_int_equal(learn(&bands, NULL), 0);
	assert_string_equal(bands.of, "boots");
	assert_int_equal(bands.list[0].nr, 2);
	zm_bands_release(&bands);
}

static void one_boot_is_too_little(void **state)
{
	struct zm_bands bands;
	struct zm_why why;

	(void)state;
	assert_int_equal(learn(&bands, &why), -ENODATA);
	assert_non_null(strstr(why.text, "none have"));
	add_on("a", "1", 100);
	add_on("a", "1", 101);
	assert_int_equal(learn(&bands, &why), -ENODATA);
	assert_non_null(strstr(why.text, "one boot has"));
}

static void two_models_are_not_mixed(void **state)
{
	struct zm_bands bands;
	struct zm_why why;

	(void)state;
	add_on("a", "1", 100);
	add_on("b", "1", 100);
	evidence.runs[1].view->inventory = other_inventory;
	assert_int_equal(learn(&bands, &why), -EINVAL);
	assert_non_null(strstr(why.text, "machines of two models"));
}

/* A run of the workload with other options is none of the profile's. */
static void other_cells_do_not_count(void **state)
{
	struct zm_bands bands;

	(void)state;
	add_on("a", "1", 100);
	add_on("b", "1", 100);
	add_on("c", "1", 100);
	evidence.runs[2].view->info.cell = "{\"workload\":\"null\",\"nr_task\":\"2\"}";
	assert_int_equal(learn(&bands, NULL), 0);
	assert_int_equal(bands.list[0].nr, 2);
	zm_bands_release(&bands);
}

#define TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_unit_is_the_machine),  TEST(one_machines_boots_are_said_to_be_boots),
		TEST(one_boot_is_too_little),   TEST(two_models_are_not_mixed),
		TEST(other_cells_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
