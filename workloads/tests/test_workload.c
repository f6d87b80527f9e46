/* workload: one good constant passes; with one member changed, the sentence names the offender. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "workloads/worker.h"
#include "workloads/workload.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

/* --- a good workload ------------------------------------------------------------------------- */

struct chosen {
	uint64_t size;
	unsigned int order;
	char *dir;
};

static const char *const orders[] = { "up", "down", NULL };

#define SIZE_ROW                                                                                   \
	{                                                                                          \
		.name = "size", .type = ZM_OPTION_SIZE, .offset = offsetof(struct chosen, size),   \
		.preset = "128M", .min = 4096, .help = "bytes mapped at a time"                    \
	}

static const struct zm_option good_options[] = {
	SIZE_ROW,
	{ .name = "order",
	  .type = ZM_OPTION_CHOICE,
	  .offset = offsetof(struct chosen, order),
	  .preset = "up",
	  .choices = orders,
	  .help = "which way" },
	{ .name = "dir",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct chosen, dir),
	  .help = "where its files lie" },
	{ .name = NULL },
};

static const struct zm_metric good_counters[] = {
	{ .name = "sample.rounds", .unit = "rounds", .kind = ZM_COUNT },
	{ .name = NULL },
};

static const struct zm_metric good_hists[] = {
	{ .name = "sample.latency", .unit = "ns", .kind = ZM_HIST, .better = ZM_BETTER_LESS },
	{ .name = NULL },
};

static const struct zm_metric good_metrics[] = {
	{ .name = "will-it-scale.{n}.processes",
	  .unit = "pages/s",
	  .kind = ZM_GAUGE,
	  .better = ZM_BETTER_MORE,
	  .is_primary = true,
	  .summary = "pages touched by all tasks" },
	{ .name = "sample.cache-miss-rate%", .unit = "", .kind = ZM_GAUGE },
	{ .name = NULL },
};

static const char *const good_files[] = { "proc/sys/vm/nr_hugepages", NULL };
static const char *const good_commands[] = { "make", "gcc", NULL };
static const char *const good_protocols[] = { "SCTP", "UDPLITEv6", NULL };

static int64_t step(struct zm_task *task, uint64_t n)
{
	(void)task;
	return (int64_t)n;
}

static int run(struct zm_task *task)
{
	(void)task;
	return 0;
}

static int report(const struct zm_window *window, struct zm_report *report)
{
	(void)window;
	(void)report;
	return 0;
}

static const struct zm_workload good = {
	.name = "sample",
	.summary = "writes to each page of an anonymous mapping",
	.op = "page",
	.kinds = ZM_TASK_PROCESS | ZM_TASK_THREAD,
	.nr_ends = 1,
	.need = { .protocols = good_protocols, .files = good_files, .commands = good_commands },
	.options = good_options,
	.options_size = sizeof(struct chosen),
	.counters = good_counters,
	.hists = good_hists,
	.metrics = good_metrics,
	.save = good_files,
	.batch = 100,
	.run_bytes = 64,
	.task_bytes = 64,
	.step = step,
	.report = report,
};

/* --- one member changed ---------------------------------------------------------------------- */

/* Places and bytes: the good constant with these bytes at that place. */
struct patch {
	size_t offset, size;
	const void *bytes;
};

#define PATCH(member, ...)                                                                         \
	{                                                                                          \
		offsetof(struct zm_workload, member),                                              \
			sizeof(((struct zm_workload *)NULL)->member),                              \
			&(const __typeof__(((struct zm_workload *)NULL)->member))                  \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define WORDS(...)    ((const char *const[]){ __VA_ARGS__, NULL })
#define OPTION(...)   ((const struct zm_option[]){ { __VA_ARGS__ }, { .name = NULL } })
#define METRIC(...)   ((const struct zm_metric[]){ { __VA_ARGS__ }, { .name = NULL } })
#define LONG_TEXT     "0123456789012345678901234567890123456789"
#define NUMBER_OPTION .type = ZM_OPTION_U64, .preset = "1", .help = "a number"

static struct zm_workload patched(const struct patch *patch)
{
	struct zm_workload workload = good;

	memcpy((char *)&workload + patch->offset, patch->bytes, patch->size);
	return workload;
}

static void check_fault(const struct patch *patch, const char *sentence)
{
	struct zm_workload workload = patched(patch);
	struct zm_why why = { "" };
	int error = zm_workload_validate(&workload, &why);

	if (error != -EINVAL || strcmp(why.text, sentence) != 0)
		fail_msg("error %d, \"%s\" instead of \"%s\"", error, why.text, sentence);
	assert_int_equal(zm_workload_validate(&workload, NULL), -EINVAL);
}

struct fault {
	struct patch patch;
	const char *sentence;
};

static void check_faults(const struct fault *faults, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_fault(&faults[i].patch, faults[i].sentence);
}

static void the_good_one_passes(void **state)
{
	struct zm_why why = { "" };

	(void)state;
	assert_int_equal(zm_workload_validate(&good, &why), 0);
	assert_string_equal(why.text, "");
}

static void what_may_be_left_out(void **state)
{
	const struct patch patches[] = {
		PATCH(kinds, ZM_TASK_THREAD),
		PATCH(nr_ends, 0),
		PATCH(nr_ends, 2),
		PATCH(counters, NULL),
		PATCH(hists, NULL),
		PATCH(save, NULL),
		PATCH(need.files, NULL),
		PATCH(run_bytes, 0),
		PATCH(task_bytes, 0),
		PATCH(batch, 1),
	};

	(void)state;
	for (size_t i = 0; i < nr_of(patches); i++) {
		struct zm_workload workload = patched(&patches[i]);

		assert_int_equal(zm_workload_validate(&workload, NULL), 0);
	}
}

static void names_and_texts(void **state)
{
	static const char *const bad_names[] = { "",        "Sample", "sam-ple", "1sample",
						 "sam ple", "sämple", "_sample" };
	const struct fault faults[] = {
		{ PATCH(name, NULL), "workload \"\": a name is lower-case letters, digits and _" },
		{ PATCH(summary, NULL), "workload sample: the summary is empty" },
		{ PATCH(summary, ""), "workload sample: the summary is empty" },
		{ PATCH(summary, "Ends."), "workload sample: the summary ends with a full stop" },
		{ PATCH(summary, "two\nlines"),
		  "workload sample: the summary has a control character" },
		{ PATCH(summary, " x"), "workload sample: the summary has white space at an end" },
		{ PATCH(summary, LONG_TEXT LONG_TEXT LONG_TEXT "x"),
		  "workload sample: the summary is longer than 120 bytes" },
		{ PATCH(op, NULL), "workload sample: the name of one operation (op) is empty" },
		{ PATCH(op, "page."),
		  "workload sample: the name of one operation (op) ends with a full stop" },
	};

	(void)state;
	check_faults(faults, nr_of(faults));
	for (size_t i = 0; i < nr_of(bad_names); i++) {
		struct zm_workload workload = good;

		workload.name = bad_names[i];
		assert_int_equal(zm_workload_validate(&workload, NULL), -EINVAL);
	}
}

static void tasks(void **state)
{
	const struct fault faults[] = {
		{ PATCH(kinds, 0),
		  "workload sample: kinds=0: or ZM_TASK_PROCESS and ZM_TASK_THREAD together" },
		{ PATCH(kinds, 4),
		  "workload sample: kinds=0x4: or ZM_TASK_PROCESS and ZM_TASK_THREAD together" },
		{ PATCH(units, "bowls"), "workload sample: units=bowls: it has no such option" },
		{ PATCH(units, "order"), "workload sample: units=order: that option is no number" },
		{ PATCH(nr_ends, 3),
		  "workload sample: nr_ends=3: one task is one end, a stream has two" },
		{ PATCH(run_bytes, ((size_t)1 << 30) + 1),
		  "workload sample: run_bytes=1073741825: more than 1 GiB; what a run uses belongs "
		  "into footprint and prepare" },
		{ PATCH(task_bytes, ((size_t)1 << 24) + 1),
		  "workload sample: task_bytes=16777217: more than 16 MiB; what a task uses "
		  "belongs "
		  "into footprint and setup" },
	};

	(void)state;
	check_faults(faults, nr_of(faults));
}

static void needs_and_saves(void **state)
{
	const struct fault faults[] = {
		{ PATCH(need.protocols, WORDS("SCTP v4")),
		  "workload sample: protocols needed: \"SCTP v4\" is none" },
		{ PATCH(need.protocols, WORDS("SCTP", "SCTP")),
		  "workload sample: protocols needed: \"SCTP\" is there twice" },
		{ PATCH(need.files, WORDS("/proc/x")),
		  "workload sample: files needed, below the root: \"/proc/x\" is none" },
		{ PATCH(need.files, WORDS("proc/../x")),
		  "workload sample: files needed, below the root: \"proc/../x\" is none" },
		{ PATCH(need.commands, WORDS("/bin/make")),
		  "workload sample: commands needed, by name: \"/bin/make\" is none" },
		{ PATCH(need.commands, WORDS("")),
		  "workload sample: commands needed, by name: \"\" is none" },
		{ PATCH(save, WORDS("proc//sys")),
		  "workload sample: files saved, below the root: \"proc//sys\" is none" },
		{ PATCH(save, WORDS("")),
		  "workload sample: files saved, below the root: \"\" is none" },
		{ PATCH(save, WORDS("proc/")),
		  "workload sample: files saved, below the root: \"proc/\" is none" },
		{ PATCH(save, WORDS("./proc")),
		  "workload sample: files saved, below the root: \"./proc\" is none" },
	};

	(void)state;
	check_faults(faults, nr_of(faults));
}

static void options(void **state)
{
	static const struct zm_option twice[] = { SIZE_ROW,
						  { .name = "other",
						    .type = ZM_OPTION_SIZE,
						    .offset = 0,
						    .preset = "4K",
						    .help = "the same place" },
						  { .name = NULL } };
	const struct fault faults[] = {
		{ PATCH(options, NULL), "workload sample: options and options_size go together" },
		{ PATCH(options_size, 0), "workload sample: options and options_size go together" },
		{ PATCH(options_size, sizeof(uint64_t)),
		  "workload sample: option order: lies outside the option struct" },
		{ PATCH(options, OPTION(.name = "Big", NUMBER_OPTION)),
		  "workload sample: option \"Big\": a name is lower-case letters, digits and _" },
		{ PATCH(options, OPTION(.name = "a", .type = ZM_OPTION_U64, .preset = "1")),
		  "workload sample: option a: the help is empty" },
		{ PATCH(options, OPTION(.name = "a", .offset = 4, NUMBER_OPTION)),
		  "workload sample: option a: offset 4 is not that of its type" },
		{ PATCH(options, OPTION(.name = "a", .offset = SIZE_MAX - 7, NUMBER_OPTION)),
		  "workload sample: option a: lies outside the option struct" },
		{ PATCH(options, OPTION(.name = "a", .type = (enum zm_option_type)77, .help = "x")),
		  "workload sample: option a: no such type" },
		{ PATCH(options, OPTION(.name = "a", .min = 2, NUMBER_OPTION)),
		  "workload sample: the preset of option a: a=1: too small; the least is 2" },
		{ PATCH(options,
			OPTION(.name = "a", .type = ZM_OPTION_CHOICE, .preset = "x", .help = "x")),
		  "workload sample: option a: no choices" },
		{ PATCH(options, OPTION(.name = "a", .type = ZM_OPTION_CHOICE, .preset = "side",
					.choices = orders, .help = "x")),
		  "workload sample: the preset of option a: a=side: the choices are up, down" },
		{ PATCH(options, twice),
		  "workload sample: options size and other have the same place" },
	};

	(void)state;
	check_faults(faults, nr_of(faults));
}

static void figures(void **state)
{
	const struct fault faults[] = {
		{ PATCH(metrics, METRIC(.name = "a b", .unit = "")),
		  "workload sample: figure \"a b\": not a name" },
		{ PATCH(metrics, METRIC(.name = "", .unit = "")),
		  "workload sample: figure \"\": not a name" },
		{ PATCH(metrics, METRIC(.name = "x.{m}", .unit = "")),
		  "workload sample: figure \"x.{m}\": not a name" },
		{ PATCH(metrics, METRIC(.name = "x", .kind = ZM_GAUGE)),
		  "workload sample: figure x: no unit; a pure number's is \"\"" },
		{ PATCH(metrics, METRIC(.name = "x", .unit = "", .kind = (enum zm_kind)9)),
		  "workload sample: figure x: its kind cannot be unknown" },
		{ PATCH(metrics, METRIC(.name = "x", .unit = "", .better = (enum zm_better)9)),
		  "workload sample: figure x: better=9 is none" },
		{ PATCH(metrics, METRIC(.name = "x", .unit = "", .is_primary = true)),
		  "workload sample: figure x: a primary one needs to say which way is better" },
		{ PATCH(metrics, METRIC(.name = "x", .unit = "", .summary = "Ends.")),
		  "workload sample: figure x: the summary ends with a full stop" },
		{ PATCH(counters, METRIC(.name = "x", .unit = "", .kind = ZM_GAUGE)),
		  "workload sample: figure x: its kind cannot be gauge" },
		{ PATCH(hists, METRIC(.name = "x", .unit = "ns", .kind = ZM_COUNT)),
		  "workload sample: figure x: its kind cannot be count" },
		{ PATCH(metrics, METRIC(.name = "sample.rounds", .unit = "", .kind = ZM_GAUGE)),
		  "workload sample: figure sample.rounds: there are two of it" },
	};

	(void)state;
	check_faults(faults, nr_of(faults));
}

/* As many counters as a slot holds pass, one more does not. */
static void counters_fit_the_slot(void **state)
{
	struct zm_metric counters[ZM_SLOT_COUNTERS + 2];
	char names[ZM_SLOT_COUNTERS + 1][8];
	struct zm_workload workload = good;
	struct zm_why why;

	(void)state;
	memset(counters, 0, sizeof(counters));
	for (size_t i = 0; i < nr_of(names); i++) {
		memcpy(names[i], (char[8]){ 'c', (char)('a' + i), '\0' }, 8);
		counters[i].name = names[i];
		counters[i].unit = "";
	}
	workload.counters = counters;
	assert_int_equal(zm_workload_validate(&workload, &why), -EINVAL);
	assert_string_equal(why.text, "workload sample: 25 counters: a task's slot holds 24");
	counters[ZM_SLOT_COUNTERS].name = NULL;
	assert_int_equal(zm_workload_validate(&workload, &why), 0);
	counters[ZM_SLOT_COUNTERS - 1].name = counters[0].name;
	assert_int_equal(zm_workload_validate(&workload, &why), -EINVAL);
	assert_string_equal(why.text, "workload sample: figure ca: there are two of it");
}

static void calls(void **state)
{
	static const struct zm_metric none[] = { { .name = NULL } };
	const struct fault faults[] = {
		{ PATCH(step, NULL),
		  "workload sample: exactly one of step, round and run must be there, not 0" },
		{ PATCH(run, run),
		  "workload sample: exactly one of step, round and run must be there, not 2" },
		{ PATCH(round, run),
		  "workload sample: exactly one of step, round and run must be there, not 2" },
		{ PATCH(batch, 0),
		  "workload sample: batch=0: a step needs a number of operations" },
		{ PATCH(batch, UINT64_MAX),
		  "workload sample: batch=18446744073709551615: more than "
		  "a step can report" },
		{ PATCH(report, NULL),
		  "workload sample: metrics are declared, but no report derives them" },
		{ PATCH(metrics, NULL),
		  "workload sample: there is a report, but no metrics are declared" },
		{ PATCH(metrics, none),
		  "workload sample: there is a report, but no metrics are declared" },
	};
	struct zm_workload workload = good;

	(void)state;
	check_faults(faults, nr_of(faults));
	workload.step = NULL;
	workload.run = run;
	workload.batch = 0;
	assert_int_equal(zm_workload_validate(&workload, NULL), 0);
	workload.round = run;
	assert_int_equal(zm_workload_validate(&workload, NULL), -EINVAL);
	workload.run = NULL;
	assert_int_equal(zm_workload_validate(&workload, NULL), 0);
	workload.metrics = NULL;
	workload.report = NULL;
	assert_int_equal(zm_workload_validate(&workload, NULL), 0);
}

static void dashes_in_names(void **state)
{
	static const struct {
		const char *own, *name;
		bool is_named;
	} cases[] = {
		{ "anon_cow_rand", "anon_cow_rand", true },
		{ "anon_cow_rand", "anon-cow-rand", true },
		{ "anon_cow_rand", "anon-cow_rand", true },
		{ "anon_cow_rand", "anon-cow", false },
		{ "anon_cow", "anon-cow-rand", false },
		{ "anon_cow", "anon.cow", false },
		{ "a_", "a-", true },
		{ "a", "", false },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct zm_workload workload = { .name = cases[i].own };

		assert_int_equal(zm_workload_is_named(&workload, cases[i].name), cases[i].is_named);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_good_one_passes),
		cmocka_unit_test(what_may_be_left_out),
		cmocka_unit_test(names_and_texts),
		cmocka_unit_test(tasks),
		cmocka_unit_test(needs_and_saves),
		cmocka_unit_test(options),
		cmocka_unit_test(figures),
		cmocka_unit_test(counters_fit_the_slot),
		cmocka_unit_test(calls),
		cmocka_unit_test(dashes_in_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
