/*
 * campaign: the runs of a small profile on this machine, as if half of its CPUs were another socket; what is judged of
 * them.
 *
 * labels: unit
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/qualify/campaign.h"
#include "runner/qualify/finding.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/tests/tree.h"

static const char text[] = "repeat: 2\n"
			   "options: {idle: 0s, warmup: 0s, drain: 0s, runtime: 100ms}\n"
			   "runs:\n"
			   "- \"null\": {nr_task: [1, 100%]}\n"
			   "criteria:\n"
			   "- symmetry: \"null\"\n"
			   "  of: sockets\n"
			   "  options: {nr_task: 100%}\n"
			   "  most: 100000%\n"
			   "- throughput: \"null\"\n"
			   "  options: {nr_task: 100%}\n"
			   "  least: 1\n";

struct state {
	struct tree tree;
	struct zm_qualify_machine machine;
	struct zm_standard profile;
	struct zm_campaign campaign;
	char *argv[2];
};

static int set_up(void **ret_state)
{
	static struct state state;
	static char line[] = "qualify", name[] = "x";
	struct zm_why why;

	state = (struct state){ .machine = { .root = { .dir_fd = -1 } }, .argv = { line, name } };
	tree_make(&state.tree);
	tree_write(&state.tree, "p.yaml", text);
	tree_mkdir(&state.tree, "journal");
	tree_must(setenv("ZONEMARK_JOURNAL", tree_path(&state.tree, "journal"), 1) == 0);
	if (zm_qualify_machine_open(&state.machine, NULL, &why) < 0)
		fail_msg("%s", why.text);
	if (zm_standard_parse("p.yaml", text, strlen(text), zm_workloads, &state.profile, &why) < 0)
		fail_msg("%s", why.text);
	state.campaign = (struct zm_campaign){
		.profile = &state.profile,
		.machine = &state.machine,
		.file = strdup(tree_path(&state.tree, "p.yaml")),
		.store = strdup(tree_path(&state.tree, "store.db")),
		.argc = 2,
		.argv = state.argv,
		.share = true,
	};
	*ret_state = &state;
	return 0;
}

static int tear_down(void **ret_state)
{
	struct state *state = *ret_state;

	free((char *)state->campaign.file);
	free((char *)state->campaign.store);
	zm_standard_release(&state->profile);
	zm_qualify_machine_close(&state->machine);
	tree_remove(&state->tree);
	return 0;
}

/* Every other CPU into another socket. */
static void make_two_sockets(struct zm_qualify_machine *machine)
{
	for (size_t i = 0; i < machine->topology.nr_cpus; i++)
		machine->topology.cpus[i].package = (int)(i % 2);
	machine->parts[ZM_PART_SOCKETS] = 2;
}

static void read_evidence(const struct state *state, struct zm_evidence *evidence)
{
	struct zm_store *store = NULL;
	struct zm_why why;

	if (zm_store_open(state->campaign.store, false, &store, &why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(zm_evidence_read(evidence, store, &why), 0);
	zm_store_close(store);
}

static size_t nr_of_group(const struct zm_evidence *evidence, const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < evidence->nr; i++) {
		const char *group = zm_evidence_group(&evidence->runs[i], "sockets");

		nr += group && strcmp(group, name) == 0;
	}
	return nr;
}

static enum zm_grade grade(const struct state *state, const struct zm_evidence *evidence,
			   size_t criterion)
{
	struct zm_facts facts = { .evidence = evidence, .elapsed_s = NAN };
	struct zm_finding finding;

	memcpy(facts.parts, state->machine.parts, sizeof(facts.parts));
	assert_int_equal(zm_finding_make(&state->profile.criteria[criterion], &facts, &finding), 0);
	return finding.grade;
}

static void each_socket_runs_alone_in_turns(void **ret_state)
{
	struct state *state = *ret_state;
	struct zm_evidence evidence = { 0 };
	struct zm_why why = { "" };
	size_t nr_whole = 0;

	if (state->machine.topology.nr_cpus < 2)
		skip();
	make_two_sockets(&state->machine);
	assert_int_equal(zm_campaign_check(&state->campaign, &why), 0);
	if (zm_campaign_run(&state->campaign, &why) < 0)
		fail_msg("%s", why.text);
	read_evidence(state, &evidence);
	for (size_t i = 0; i < evidence.nr; i++)
		nr_whole += zm_evidence_is_whole(&evidence.runs[i]);
	assert_int_equal(nr_whole, 4); /* two cells, twice */
	assert_int_equal(nr_of_group(&evidence, "0"), 2);
	assert_int_equal(nr_of_group(&evidence, "1"), 2);
	for (size_t i = 0; i < evidence.nr; i++)
		assert_int_equal(evidence.runs[i].view->info.status, ZM_STATUS_OK);
	/* Whatever the two did, both were measured; what is judged is judged by them. */
	assert_int_not_equal(grade(state, &evidence, 1), ZM_GRADE_FAIL);
	assert_int_equal(grade(state, &evidence, 2), ZM_GRADE_PASS);
	zm_evidence_release(&evidence);
}

static void a_groups_cpus_are_its_own(void **ret_state)
{
	struct state *state = *ret_state;
	char *cpus = NULL;
	int number;

	if (state->machine.topology.nr_cpus < 2)
		skip();
	make_two_sockets(&state->machine);
	for (size_t n = 0; n < 2; n++) {
		struct zm_cpuset set = { 0 };

		assert_true(zm_qualify_machine_group(&state->machine, ZM_PART_SOCKETS, n, &number,
						     &cpus));
		assert_int_equal(number, n);
		assert_int_equal(zm_cpuset_parse(cpus, &set), 0);
		assert_int_equal(zm_cpuset_next(&set, 0), state->machine.topology.cpus[n].cpu);
		zm_cpuset_release(&set);
		free(cpus);
	}
	assert_false(zm_qualify_machine_group(&state->machine, ZM_PART_SOCKETS, 2, &number, &cpus));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_socket_runs_alone_in_turns),
		TEST(a_groups_cpus_are_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
