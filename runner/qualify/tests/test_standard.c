/*
 * standard: the shipped ones, every kind of criterion, and what is wrong by its line.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/qualify/standard.h"

static int parse(const char *text, struct zm_standard *profile, struct zm_why *why)
{
	return zm_standard_parse("x.yaml", text, strlen(text), zm_workloads, profile, why);
}

static void all_shipped_ones_are_well_formed(void **state)
{
	static const char *const names[] = { "quick", "server-1s", "server-2s", "server-4s",
					     "soak" };
	struct zm_why why = { "" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct zm_standard profile;

		if (zm_standard_open(names[i], zm_workloads, &profile, &why) < 0)
			fail_msg("%s: %s", names[i], why.text);
		assert_true(profile.nr_criteria > 5 && profile.summary);
		assert_int_equal(profile.criteria[0].kind, ZM_CRITERION_RUNS);
		for (size_t k = 1; k < profile.nr_criteria; k++)
			assert_true(profile.criteria[k].name[0] && profile.criteria[k].line > 1);
		zm_standard_release(&profile);
	}
}

static void every_key_is_taken(void **state)
{
	static const char text[] = "summary: all of it\n"
				   "runs: [\"null\"]\n"
				   "criteria:\n"
				   "- throughput: \"null\"\n"
				   "  options: {nr_task: 100%, mode: process}\n"
				   "  metric: x.y\n"
				   "  least: 5\n"
				   "  most: 1e6\n"
				   "  where: {sockets: 2, memory: 1G}\n"
				   "- scaling: \"null\"\n"
				   "  from: 1\n"
				   "  to: 100%\n"
				   "  least: 60%\n"
				   "- symmetry: \"null\"\n"
				   "  of: nodes\n"
				   "  most: 2.5%\n"
				   "  name: nodes alike\n"
				   "- machine: memory\n"
				   "  least: 2G\n"
				   "- no_new: edac\n"
				   "- payload: all\n"
				   "- memory_returned: all\n"
				   "  most: 1%\n"
				   "- time: all\n"
				   "  most: 90m\n";
	struct zm_standard profile;
	const struct zm_criterion *criteria;

	(void)state;
	assert_int_equal(parse(text, &profile, NULL), 0);
	criteria = profile.criteria;
	assert_int_equal(profile.nr_criteria, 9);
	assert_string_equal(criteria[1].name, "throughput null x.y nr_task=100% mode=process");
	assert_true(criteria[1].least == 5 && criteria[1].most == 1e6);
	assert_true(criteria[1].where[ZM_PART_SOCKETS] == 2);
	assert_true(criteria[1].where[ZM_PART_MEMORY] == 0x1p30);
	assert_int_equal(criteria[1].line, 4);
	assert_string_equal(criteria[2].name, "scaling null nr_task=1…100%");
	assert_true(fabs(criteria[2].least - 0.6) < 1e-12 && isnan(criteria[2].most));
	assert_string_equal(criteria[3].name, "nodes alike");
	assert_int_equal(criteria[3].part, ZM_PART_NODES);
	assert_true(criteria[4].least == 0x1p31);
	assert_int_equal(criteria[5].class, ZM_HEALTH_EDAC);
	assert_true(criteria[8].most == 5400);
	zm_standard_release(&profile);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	static const struct {
		const char *criteria, *says;
	} cases[] = {
		{ "", "x.yaml:1: criteria: a list of 1 to" },
		{ "- troughput: \"null\"\n",
		  "x.yaml:3: troughput: no such kind of criterion; did you "
		  "mean throughput?" },
		{ "- throughput: nul\n", "x.yaml:3: nul: no such workload; did you mean null?" },
		{ "- throughput: \"null\"\n  leest: 5\n", "x.yaml:4: leest: no such key of this "
							  "criterion; did you mean least?" },
		{ "- throughput: \"null\"\n  least: many\n",
		  "x.yaml:4: least: a number is wanted" },
		{ "- throughput: \"null\"\n  least: -1\n", "x.yaml:4: least: a number is wanted" },
		{ "- throughput: \"null\"\n  least: 5\n  most: 4\n", "x.yaml:3: least: is above" },
		{ "- throughput: \"null\"\n  options: 5\n", "x.yaml:4: options: {NAME: VALUE" },
		{ "- throughput: \"null\"\n  options: {nr_task: [1, 2]}\n",
		  "x.yaml:4: options: nr_task: one value is wanted" },
		{ "- throughput: \"null\"\n- throughput: \"null\"\n",
		  "x.yaml:4: 'throughput null' is there already" },
		{ "- throughput: \"null\"\n  spread: \"null\"\n", "a criterion is of one kind" },
		{ "- scaling: \"null\"\n  from: 1\n",
		  "x.yaml:3: scaling: from: and to: are wanted" },
		{ "- scaling: \"null\"\n  from: 1\n  to: 2\n  least: 60\n",
		  "x.yaml:6: least: a percentage (5%) is wanted" },
		{ "- symmetry: \"null\"\n  of: cpus\n  most: 1%\n",
		  "x.yaml:4: of: sockets, or nodes" },
		{ "- spread: \"null\"\n", "x.yaml:3: spread: most: is wanted" },
		{ "- spread: all\n  most: 1%\n", "x.yaml:3: all: no such workload" },
		{ "- no_new: edax\n", "x.yaml:3: edax: no such kind of fault; did you mean edac?" },
		{ "- no_new: edac\n  most: 1\n", "x.yaml:4: most: no such key of this criterion" },
		{ "- machine: sokets\n  least: 1\n",
		  "x.yaml:3: sokets: no such part of a machine" },
		{ "- machine: sockets\n", "x.yaml:3: machine: least:, most: or both" },
		{ "- time: page_fault1\n  most: 1h\n", "x.yaml:3: time: all is wanted" },
		{ "- time: all\n  most: long\n", "x.yaml:4: most: a time (20m) is wanted" },
		{ "- time: all\n  most: 1h\n  where: {sokets: 1}\n",
		  "x.yaml:5: sokets: no such part" },
		{ "- 5\n", "x.yaml:3: a criterion is `KIND: WHAT`" },
		{ "- {}\n", "a criterion is `KIND: WHAT`" },
		{ "- runs: all\n", "x.yaml:3: runs: no such kind of criterion" },
		{ "- [\n", "x.yaml:" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_standard profile;
		struct zm_why why = { "" };
		char text[512];

		(void)snprintf(text, sizeof(text), "runs: [\"null\"]\ncriteria:\n%s",
			       cases[i].criteria);
		assert_true(parse(text, &profile, &why) < 0);
		if (!strstr(why.text, cases[i].says))
			fail_msg("%s: not '%s'", why.text, cases[i].says);
	}
}

static void what_is_no_profile_is_refused(void **state)
{
	static const char *const texts[] = { "",
					     "5",
					     "[]",
					     "criteria: [{no_new: edac}]",
					     "runs: [x]\n---\nruns: [x]\n",
					     "runs: []\ncriteria: [{no_new: edac}]" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct zm_standard profile;
		struct zm_why why = { "" };

		assert_true(parse(texts[i], &profile, &why) < 0);
		assert_int_equal(strncmp(why.text, "x.yaml:", 7), 0);
	}
}

static void an_unknown_name_has_the_nearest(void **state)
{
	struct zm_standard profile;
	struct zm_why why;

	(void)state;
	assert_int_equal(zm_standard_open("quik", zm_workloads, &profile, &why), -ENOENT);
	assert_string_equal(why.text, "quik: no such profile; did you mean quick?");
	assert_int_equal(zm_standard_open("./none.yaml", zm_workloads, &profile, &why), -ENOENT);
	assert_int_equal(zm_standard_open("/dev/zero", zm_workloads, &profile, &why), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_shipped_ones_are_well_formed),
		cmocka_unit_test(every_key_is_taken),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(what_is_no_profile_is_refused),
		cmocka_unit_test(an_unknown_name_has_the_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
