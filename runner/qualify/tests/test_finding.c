/*
 * finding: what each kind of criterion says of runs that are made up, and that nothing is passed for want of
 * data.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/qualify/finding.h"
#include "runner/qualify/tests/made_up.h"

static struct zm_finding judge_with(const char *criterion, struct zm_facts facts)
{
	struct zm_standard profile;
	struct zm_finding finding;
	struct zm_why why;
	char text[512];

	(void)snprintf(text, sizeof(text), "runs: [x]\ncriteria:\n- {%s}\n", criterion);
	if (zm_standard_parse("x.yaml", text, strlen(text), zm_workloads, &profile, &why) < 0)
		fail_msg("%s", why.text);
	facts.evidence = &evidence;
	assert_int_equal(zm_finding_make(&profile.criteria[1], &facts, &finding), 0);
	zm_standard_release(&profile);
	return finding;
}

static struct zm_facts usual(void)
{
	return (struct zm_facts){ .parts = { 2, 2, 8, 0x1p30 }, .elapsed_s = NAN };
}

static struct zm_finding judge(const char *criterion)
{
	return judge_with(criterion, usual());
}

#define ONE "{\"workload\":\"null\",\"nr_task\":\"1\"}"
#define ALL "{\"workload\":\"null\",\"nr_task\":\"100%\"}"

static void expect(const struct zm_finding *finding, enum zm_grade grade, const char *says)
{
	if (finding->grade != grade || !strstr(finding->text, says))
		fail_msg("%s: %s; and not %s: %s", zm_grade_name(finding->grade), finding->text,
			 zm_grade_name(grade), says);
}

static void nothing_is_passed_without_data(void **state)
{
	static const char *const criteria[] = {
		"throughput: 'null', least: 0",
		"scaling: 'null', from: 1, to: 100%, least: 0%",
		"spread: 'null', most: 100%",
		"symmetry: 'null', of: sockets, most: 100%",
		"symmetry: 'null', of: nodes, most: 100%",
		"memory_returned: all, most: 100%",
		"payload: all",
		"no_new: machine-check",
		"no_new: edac",
		"no_new: thermal-throttle",
		"no_new: nic",
		"time: all, most: 100h",
	};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < sizeof(criteria) / sizeof(criteria[0]); i++) {
			struct zm_finding finding = judge(criteria[i]);

			expect(&finding, ZM_GRADE_INCONCLUSIVE, "");
			assert_true(finding.text[0]);
		}
		(void)add_run(ONE, ZM_STATUS_SKIPPED, "no such thing here");
		(void)add_run(ALL, ZM_STATUS_INTERRUPTED, "by a signal");
	}
}

static void a_mean_is_held_against_its_limits(void **state)
{
	static const struct {
		const char *criterion;
		enum zm_grade grade;
		const char *says;
	} cases[] = {
		{ "throughput: 'null', least: 90", ZM_GRADE_PASS, "" },
		{ "throughput: 'null', least: 90, most: 110", ZM_GRADE_PASS, "" },
		{ "throughput: 'null', least: 110", ZM_GRADE_FAIL, "too low" },
		{ "throughput: 'null', most: 90", ZM_GRADE_FAIL, "too high" },
		{ "throughput: 'null', least: 99.5", ZM_GRADE_INCONCLUSIVE, "reaches over one" },
		{ "throughput: 'null', least: 100.5", ZM_GRADE_INCONCLUSIVE, "reaches inside" },
		{ "throughput: 'null'", ZM_GRADE_INCONCLUSIVE, "there is no band" },
		{ "throughput: 'null', metric: other, least: 1", ZM_GRADE_INCONCLUSIVE,
		  "no such figure" },
		{ "throughput: 'null', options: {nr_task: 7}, least: 1", ZM_GRADE_INCONCLUSIVE,
		  "none of the runs" },
		{ "spread: 'null', most: 2%", ZM_GRADE_PASS, "" },
		{ "spread: 'null', most: 0.5%", ZM_GRADE_FAIL, "too high" },
	};

	(void)state;
	(void)add_good(ONE, 1, 99);
	(void)add_good(ONE, 1, 100);
	(void)add_good(ONE, 1, 101);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_finding finding = judge(cases[i].criterion);

		expect(&finding, cases[i].grade, cases[i].says);
	}
}

static void what_other_load_did_is_no_proof(void **state)
{
	static struct zm_note_row note = { "disturbed", "other processes had 40 % of the time" };
	struct zm_evidence_run *run = add_good(ONE, 1, 100);
	struct zm_finding finding;

	(void)state;
	(void)add_good(ONE, 1, 100);
	finding = judge("throughput: 'null', least: 200");
	expect(&finding, ZM_GRADE_FAIL, "too low");
	run->view->notes = &note;
	run->view->nr_notes = 1;
	finding = judge("throughput: 'null', least: 200");
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "too low, but 1 of its launches were disturbed");
	finding = judge("throughput: 'null', least: 50");
	expect(&finding, ZM_GRADE_PASS, "");
}

/* The interval of three launches, by the book: 4.303 sd / sqrt(3). */
static void the_interval_is_students(void **state)
{
	struct zm_finding finding;

	(void)state;
	(void)add_good(ONE, 1, exp(1));
	(void)add_good(ONE, 1, exp(2));
	(void)add_good(ONE, 1, exp(3));
	finding = judge("throughput: 'null', least: 1");
	assert_true(fabs(log(finding.value) - 2) < 1e-9);
	assert_true(fabs(log(finding.high) - (2 + 4.302652729696142 / sqrt(3))) < 1e-6);
	assert_true(fabs(log(finding.low) - (2 - 4.302652729696142 / sqrt(3))) < 1e-6);
	assert_int_equal(finding.nr, 3);
}

static void one_launch_has_no_interval_and_no_spread(void **state)
{
	struct zm_finding finding;

	(void)state;
	(void)add_good(ONE, 1, 100);
	finding = judge("throughput: 'null', least: 99");
	expect(&finding, ZM_GRADE_PASS, "one launch");
	finding = judge("throughput: 'null', least: 101");
	expect(&finding, ZM_GRADE_FAIL, "too low");
	finding = judge("spread: 'null', most: 50%");
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "three are the least");
}

static void scaling_is_a_share_of_what_all_could_do(void **state)
{
	struct zm_finding finding;

	(void)state;
	for (int i = -1; i <= 1; i++) {
		(void)add_good(ONE, 1, 100 + i);
		(void)add_good(ALL, 8, 75 + i);
	}
	finding = judge("scaling: 'null', from: 1, to: 100%, least: 60%");
	expect(&finding, ZM_GRADE_PASS, "");
	assert_true(fabs(finding.value - 0.75) < 0.001);
	assert_true(finding.low < 0.75 && finding.high > 0.75);
	finding = judge("scaling: 'null', from: 1, to: 100%, least: 90%");
	expect(&finding, ZM_GRADE_FAIL, "too low");
}

static void one_cpu_has_nothing_to_scale(void **state)
{
	struct zm_finding finding;

	(void)state;
	(void)add_good(ONE, 1, 100);
	(void)add_good(ALL, 1, 100);
	finding = judge("scaling: 'null', from: 1, to: 100%, least: 1%");
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "nothing to scale");
}

static void add_groups(double first, double second, int nr)
{
	for (int i = 0; i < nr; i++) {
		add_good(ALL, 4, first + 0.1 * i)->view->info.label = "qualify:sockets:0";
		add_good(ALL, 4, second + 0.1 * i)->view->info.label = "qualify:sockets:1";
	}
}

static void sockets_are_compared_with_each_other(void **state)
{
	struct zm_finding finding;
	struct zm_facts four = usual(), one = usual();

	(void)state;
	add_groups(100, 90, 5);
	finding = judge("symmetry: 'null', of: sockets, most: 20%");
	expect(&finding, ZM_GRADE_PASS, "");
	assert_true(fabs(finding.value - 0.1) < 0.002 && finding.low > 0.09 && finding.high < 0.11);
	finding = judge("symmetry: 'null', of: sockets, most: 5%");
	expect(&finding, ZM_GRADE_FAIL, "too high: 1 against 0");
	finding = judge("symmetry: 'null', of: nodes, most: 20%");
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "");
	four.parts[ZM_PART_SOCKETS] = 4;
	finding = judge_with("symmetry: 'null', of: sockets, most: 20%", four);
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "only 2 of its 4 sockets");
	one.parts[ZM_PART_SOCKETS] = 1;
	finding = judge_with("symmetry: 'null', of: sockets, most: 20%", one);
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "nothing to compare");
	finding = judge_with("symmetry: 'null', of: sockets, most: 20%, where: {sockets: 2}", one);
	expect(&finding, ZM_GRADE_NOT_FOR_IT, "2 sockets or more");
	/* What a part did alone is not what the machine did. */
	finding = judge("throughput: 'null', least: 1");
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "");
}

static void add_memory(double idle, double drained)
{
	struct zm_evidence_run *run = add_good(ONE, 1, 100);

	add_figure(run, ZM_FIGURE_IDLE_USED, idle, false);
	add_figure(run, ZM_FIGURE_DRAINED_USED, drained, false);
}

static void the_worst_launch_says_what_is_left(void **state)
{
	struct zm_finding finding;

	(void)state;
	add_memory(1e8, 1e8 + 0x1p20);
	add_memory(1e8, 1e8 + 0x1p24); /* 1/64 of a GiB */
	finding = judge("memory_returned: all, most: 2%");
	expect(&finding, ZM_GRADE_PASS, "");
	assert_true(fabs(finding.value - 1. / 64) < 1e-9);
	finding = judge("memory_returned: all, most: 1%");
	expect(&finding, ZM_GRADE_FAIL, "");
	(void)add_good(ONE, 1, 100);
	finding = judge("memory_returned: all, most: 2%");
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "not known of 1 of its 3");
}

static void add_stream(const char *verify, double verified)
{
	char cell[128];

	(void)snprintf(cell, sizeof(cell), "{\"workload\":\"tcp_stream\",\"verify\":\"%s\"}",
		       verify);
	add_figure(add_good(cell, 1, 100), "netload.verified", verified, false);
}

static void payload_must_be_verified_in_full(void **state)
{
	struct zm_finding finding;

	(void)state;
	add_stream("full", 1000);
	(void)add_good(ONE, 1, 100); /* carries nothing */
	finding = judge("payload: all");
	expect(&finding, ZM_GRADE_PASS, "every byte verified");
	assert_true(finding.value == 1000);
	add_stream("sample", 10);
	finding = judge("payload: all");
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "verify=sample");
}

/* Whatever else there is to say. */
static void a_corrupt_byte_fails(void **state)
{
	struct zm_finding finding;

	(void)state;
	add_stream("full", 1000);
	add_stream("sample", 10);
	(void)add_run("{\"workload\":\"tcp_stream\",\"verify\":\"full\"}", ZM_STATUS_FAILED,
		      "task 1: verify: message 7 (16384 bytes) differs at byte 12");
	finding = judge("payload: all");
	expect(&finding, ZM_GRADE_FAIL, "message 7");
}

static struct zm_finding judge_runs(void)
{
	const struct zm_criterion criterion = { .kind = ZM_CRITERION_RUNS,
						.about = "all",
						.name = "runs all",
						.least = NAN,
						.most = NAN };
	struct zm_facts facts = usual();
	struct zm_finding finding;

	facts.evidence = &evidence;
	assert_int_equal(zm_finding_make(&criterion, &facts, &finding), 0);
	return finding;
}

static void a_failed_run_fails_and_a_skipped_one_proves_nothing(void **state)
{
	struct zm_finding finding = judge_runs();

	(void)state;
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "none of the runs");
	(void)add_good(ONE, 1, 100);
	finding = judge_runs();
	expect(&finding, ZM_GRADE_PASS, "all 1 launches");
	(void)add_run(ALL, ZM_STATUS_SKIPPED, "needs SCTP");
	finding = judge_runs();
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "needs SCTP");
	(void)add_run(ALL, ZM_STATUS_FAILED, "task 3 was killed");
	finding = judge_runs();
	expect(&finding, ZM_GRADE_FAIL, "1 of 3 failed; null: task 3 was killed");
}

static void counters_that_a_guest_cannot_see_prove_nothing(void **state)
{
	struct zm_health_counter counters[] = { { ZM_HEALTH_MACHINE_CHECK, "MCE", 0 },
						{ ZM_HEALTH_NIC, "eth0 rx_errors", 0 } };
	struct zm_health health = { counters, 2, 2, { 1, 0, 0, 1 } };
	struct zm_facts facts = usual();
	struct zm_finding finding;

	(void)state;
	facts.before = &health;
	facts.after = &health;
	finding = judge_with("no_new: machine-check", facts);
	expect(&finding, ZM_GRADE_PASS, "none of 1 counters rose");
	facts.is_guest = true;
	finding = judge_with("no_new: machine-check", facts);
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "a guest does not see");
	finding = judge_with("no_new: nic", facts);
	expect(&finding, ZM_GRADE_PASS, "");
	finding = judge_with("no_new: edac", facts);
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "EDAC driver");
}

static void the_machine_and_the_time_have_limits(void **state)
{
	struct zm_facts facts = usual();
	struct zm_finding finding;

	(void)state;
	finding = judge("machine: sockets, least: 2, most: 2");
	expect(&finding, ZM_GRADE_PASS, "");
	finding = judge("machine: sockets, least: 4");
	expect(&finding, ZM_GRADE_FAIL, "too low");
	facts.parts[ZM_PART_SOCKETS] = NAN;
	finding = judge_with("machine: sockets, least: 1", facts);
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "not known");
	facts.elapsed_s = 61;
	finding = judge_with("time: all, most: 1m", facts);
	expect(&finding, ZM_GRADE_FAIL, "too high");
	finding = judge_with("time: all, most: 2m", facts);
	expect(&finding, ZM_GRADE_PASS, "");
	facts.not_run = "not run";
	finding = judge_with("time: all, most: 2m", facts);
	expect(&finding, ZM_GRADE_INCONCLUSIVE, "not run");
}

static void a_band_counts_more_than_the_profile(void **state)
{
	struct zm_band band = { "throughput null", 200, 300, 250, 12 };
	struct zm_bands bands = { .list = &band, .nr = 1 };
	struct zm_facts facts = usual();
	struct zm_finding finding;

	(void)state;
	(void)add_good(ONE, 1, 100);
	facts.bands = &bands;
	finding = judge_with("throughput: 'null', least: 1", facts);
	expect(&finding, ZM_GRADE_FAIL, "too low");
	assert_true(finding.is_banded && finding.least == 200 && finding.most == 300);
}

static void the_whole_is_as_its_worst(void **state)
{
	struct zm_finding findings[3] = { { .grade = ZM_GRADE_PASS },
					  { .grade = ZM_GRADE_NOT_FOR_IT },
					  { .grade = ZM_GRADE_PASS } };

	(void)state;
	assert_int_equal(zm_finding_overall(findings, 3), ZM_GRADE_PASS);
	assert_int_equal(zm_finding_overall(findings + 1, 1), ZM_GRADE_INCONCLUSIVE);
	assert_int_equal(zm_finding_overall(findings, 0), ZM_GRADE_INCONCLUSIVE);
	findings[2].grade = ZM_GRADE_INCONCLUSIVE;
	assert_int_equal(zm_finding_overall(findings, 3), ZM_GRADE_INCONCLUSIVE);
	findings[0].grade = ZM_GRADE_FAIL;
	assert_int_equal(zm_finding_overall(findings, 3), ZM_GRADE_FAIL);
}

#define TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_passed_without_data),
		TEST(a_mean_is_held_against_its_limits),
		TEST(what_other_load_did_is_no_proof),
		TEST(the_interval_is_students),
		TEST(one_launch_has_no_interval_and_no_spread),
		TEST(scaling_is_a_share_of_what_all_could_do),
		TEST(one_cpu_has_nothing_to_scale),
		TEST(sockets_are_compared_with_each_other),
		TEST(the_worst_launch_says_what_is_left),
		TEST(payload_must_be_verified_in_full),
		TEST(a_corrupt_byte_fails),
		TEST(a_failed_run_fails_and_a_skipped_one_proves_nothing),
		TEST(counters_that_a_guest_cannot_see_prove_nothing),
		TEST(the_machine_and_the_time_have_limits),
		TEST(a_band_counts_more_than_the_profile),
		TEST(the_whole_is_as_its_worst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
