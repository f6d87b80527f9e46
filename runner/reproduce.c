/*
 * reproduce: suite -> workload -> each parameter -> what the machine differs in.
 */
#include "runner/reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_fields.h"
#include "runner/cell.h"
#include "runner/expect.h"
#include "runner/matrix.h"
#include "runner/setting.h"
#include "runner/suite.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define NOT_SAID "not said"

#define BOTH_KINDS (ZM_TASK_PROCESS | ZM_TASK_THREAD)

struct maker {
	struct zm_reproduction *made;
	const struct zm_reproduce_here *here;
	const struct zm_reproduce_options *options;
	const struct zm_suite *suite;
	bool has_mode, has_nr_task, has_runtime;
};

/* --- lists --- */

__attribute__((format(printf, 2, 3))) static const char *print(struct maker *maker,
							       const char *format, ...)
{
	char *line = NULL;
	const char *copy;
	va_list list;
	int n;

	va_start(list, format);
	n = vasprintf(&line, format, list);
	va_end(list);
	if (n < 0) {
		maker->made->pool.error = -ENOMEM;
		return "";
	}
	copy = zm_pool_text(&maker->made->pool, line);
	free(line);
	return copy ? copy : "";
}

/* The list always ends with NULL. */
static void add_text(struct maker *maker, const char ***list, size_t *nr, const char *text)
{
	const char **grown = zm_pool_take(&maker->made->pool, (*nr + 2) * sizeof(*grown));

	if (!grown)
		return;
	if (*nr > 0)
		memcpy((void *)grown, (const void *)*list, *nr * sizeof(*grown));
	grown[(*nr)++] = text;
	*list = grown;
}

static void add_word(struct maker *maker, const char *word)
{
	add_text(maker, &maker->made->words, &maker->made->nr_words, word);
}

static void add_remark(struct maker *maker, const char *remark)
{
	add_text(maker, &maker->made->remarks, &maker->made->nr_remarks, remark);
}

static void add_difference(struct maker *maker, const char *what, const char *there,
			   const char *here, const char *done)
{
	struct zm_reproduction *made = maker->made;
	struct zm_reproduce_difference *list = zm_report_fields_grow(
		&made->pool, made->differences, made->nr_differences, sizeof(*list));

	if (!list)
		return;
	made->differences = list;
	made->differences[made->nr_differences++] =
		(struct zm_reproduce_difference){ what, there ? there : NOT_SAID,
						  here ? here : "not known", done };
}

/* --- the workload --- */

static const struct zm_workload *find_workload(const struct maker *maker, const char *name)
{
	for (size_t i = 0; maker->here->workloads[i]; i++) {
		if (strcmp(maker->here->workloads[i]->name, name) == 0)
			return maker->here->workloads[i];
	}
	return NULL;
}

static void name_test(struct maker *maker, const char *testcase, const char *test)
{
	maker->made->name = test ? print(maker, "%s %s", testcase, test) : testcase;
}

/* One of zonemark's own matrices: what its first line runs is the workload. */
static bool find_matrix(struct maker *maker, const char *name)
{
	const struct zm_matrix *matrix =
		strcmp(maker->suite->testcase, "zonemark") == 0 ? zm_matrix_find(name) : NULL;
	const char *line = matrix && matrix->lines ? matrix->lines[0] : NULL;
	char first[ZM_SUITE_NAME];

	if (!line)
		return false;
	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(line, " "), line);
	maker->made->workload = find_workload(maker, first);
	if (!maker->made->workload)
		return false;
	add_word(maker, matrix->name);
	return true;
}

/* False: there is none, and the reason is set. */
static bool find_test(struct maker *maker)
{
	const struct zm_mail_record *record = maker->made->record;
	const char *test = zm_mail_pairs_find(&record->params, "test"), *mode;
	char name[ZM_SUITE_NAME];

	if (!record->testcase) {
		maker->made->name = "a workload without a name";
		maker->made->reason = "the mail does not say what was run";
		return false;
	}
	name_test(maker, record->testcase, test);
	maker->suite = zm_suite_find(record->testcase);
	if (!maker->suite) {
		maker->made->reason =
			print(maker, "zonemark has none of %s's tests", record->testcase);
		return false;
	}
	if (!zm_suite_workload(maker->suite, test, name, sizeof(name), &mode)) {
		maker->made->reason =
			print(maker, "the mail does not say which of %s's tests it was",
			      record->testcase);
		return false;
	}
	maker->made->workload = find_workload(maker, name);
	if (!maker->made->workload && find_matrix(maker, name))
		return true;
	if (!maker->made->workload) {
		maker->made->reason = print(maker, "%s's %s is not among zonemark's workloads",
					    record->testcase, test ? test : name);
		return false;
	}
	add_word(maker, maker->made->workload->name);
	if (mode) {
		add_word(maker, print(maker, "mode=%s", mode));
		maker->has_mode = true;
	}
	return true;
}

/* --- parameters --- */

/* "a,b" as one value: commas part values. */
static const char *escape(struct maker *maker, const char *value)
{
	size_t length = strlen(value), n = 0;
	char *escaped = zm_pool_take(&maker->made->pool, 2 * length + 1);

	if (!escaped)
		return "";
	for (size_t i = 0; i < length; i++) {
		if (value[i] == ',')
			escaped[n++] = '\\';
		escaped[n++] = value[i];
	}
	return escaped;
}

/* Would the workload, or every run, take this value? */
static int try_option(const struct zm_option *rows, size_t size, const char *name,
		      const char *value, struct zm_why *why)
{
	zm_autofree void *options = calloc(1, size + 1);
	int r = options ? zm_options_init(rows, options, why)
			: zm_why_errno(why, -ENOMEM, "%s", name);

	if (r == 0) {
		r = zm_option_set(rows, options, name, value, why);
		zm_options_release(rows, options);
	}
	return r;
}

static void take_setting(struct maker *maker, const char *name, const char *value)
{
	struct zm_why why = { { 0 } };

	if (zm_setting_check(maker->here->root, name, value, &why) == 0)
		add_word(maker, print(maker, "%s=%s", name, escape(maker, value)));
	else
		add_remark(maker, print(maker, "left out: %s", why.text));
}

static uint64_t number_here(const struct maker *maker, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(maker->here->inventory, key));

	return number > 0 ? (uint64_t)number : 0;
}

static unsigned int here_cpus(const struct maker *maker)
{
	return (unsigned int)maker->here->topology->nr_cpus;
}

/* A count: the same share of this machine's CPUs, or as many. */
static void take_count(struct maker *maker, uint64_t count)
{
	unsigned int there = maker->made->record->machine.nr_cpus;
	char text[24];
	uint64_t here;

	if (maker->options->as_reported || count <= 1) {
		add_word(maker, print(maker, "nr_task=%llu", (unsigned long long)count));
		return;
	}
	if (there == 0) {
		add_word(maker, print(maker, "nr_task=%llu", (unsigned long long)count));
		add_remark(maker, print(maker,
					"nr_task=%llu as it is: the mail does not say how many "
					"CPUs that machine has",
					(unsigned long long)count));
		return;
	}
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
	here = zm_reproduce_tasks(maker->made->record, maker->options, here_cpus(maker), text);
	add_word(maker, print(maker, "nr_task=%llu", (unsigned long long)here));
	add_remark(maker,
		   print(maker,
			 "nr_task=%llu there is %.3g %% of its %u CPUs: %llu of the %u "
			 "here (--as-reported takes %llu)",
			 (unsigned long long)count, 100.0 * (double)count / there, there,
			 (unsigned long long)here, here_cpus(maker), (unsigned long long)count));
}

/* A share: the same here, or what it came to there. */
static void take_share(struct maker *maker, const struct zm_amount *amount)
{
	unsigned int there = maker->made->record->machine.nr_cpus;
	char text[32];

	(void)zm_units_print_amount(text, sizeof(text), amount);
	if (!maker->options->as_reported) {
		add_word(maker, print(maker, "nr_task=%s", text));
		return;
	}
	if (there == 0) {
		add_word(maker, print(maker, "nr_task=%s", text));
		add_remark(maker, print(maker,
					"nr_task=%s is of this machine's CPUs: the mail does not "
					"say how many that machine has",
					text));
		return;
	}
	add_word(maker,
		 print(maker, "nr_task=%llu", (unsigned long long)zm_amount_of(amount, there)));
}

uint64_t zm_reproduce_tasks(const struct zm_mail_record *record,
			    const struct zm_reproduce_options *options, unsigned int nr_cpus,
			    const char *reported)
{
	unsigned int there = record->machine.nr_cpus;
	struct zm_amount amount;
	uint64_t here;

	if (zm_units_parse_amount(reported, &amount) < 0 || amount.value <= 0)
		return 0;
	if (amount.is_percent)
		return zm_amount_of(&amount, options->as_reported && there ? there : nr_cpus);
	if (options->as_reported || amount.value <= 1 || there == 0)
		return (uint64_t)amount.value;
	here = (uint64_t)(amount.value * nr_cpus / there);
	return here ? here : 1;
}

/* A ladder of them: those that come to the same here are run once. */
static void take_ladder(struct maker *maker, const char *list)
{
	zm_autofree char *copy = strdup(list);
	const char *word = "nr_task=";
	char *rest = copy;
	uint64_t last = 0;

	while (rest) {
		uint64_t tasks = zm_reproduce_tasks(maker->made->record, maker->options,
						    here_cpus(maker), strsep(&rest, ","));

		if (tasks != 0 && tasks != last)
			word = print(maker, "%s%s%llu", word, last ? "," : "",
				     (unsigned long long)tasks);
		last = tasks ? tasks : last;
	}
	if (last == 0) {
		add_remark(maker,
			   print(maker, "nr_task=%s is no number of tasks, and left out", list));
		return;
	}
	add_word(maker, word);
	maker->has_nr_task = true;
	if (!maker->options->as_reported)
		add_remark(maker, print(maker,
					"%s: the same shares of the %u CPUs here as %s of theirs "
					"(--as-reported takes these)",
					word, here_cpus(maker), list));
}

static void take_nr_task(struct maker *maker, const char *value)
{
	struct zm_amount amount;

	if (strchr(value, ',')) {
		take_ladder(maker, value);
		return;
	}
	if (zm_units_parse_amount(value, &amount) < 0 || amount.value <= 0) {
		add_remark(maker,
			   print(maker, "nr_task=%s is no number of tasks, and left out", value));
		return;
	}
	maker->has_nr_task = true;
	if (amount.is_percent)
		take_share(maker, &amount);
	else
		take_count(maker, (uint64_t)amount.value);
}

/* The window: without what the suite warms up with; or as --runtime says. */
static void take_runtime(struct maker *maker, const char *value)
{
	uint64_t unmeasured_ns = maker->suite->unmeasured_ns, runtime_ns;
	char measured[32];

	if (zm_units_parse_duration(value, &runtime_ns) < 0 || runtime_ns == 0) {
		add_remark(maker, print(maker, "runtime=%s is no time, and left out", value));
		return;
	}
	maker->has_runtime = true;
	if (runtime_ns > unmeasured_ns)
		runtime_ns -= unmeasured_ns;
	(void)zm_units_print_duration(measured, sizeof(measured), runtime_ns);
	if (maker->options->runtime_ns) {
		char text[32];

		(void)zm_units_print_duration(text, sizeof(text), maker->options->runtime_ns);
		add_word(maker, print(maker, "runtime=%s", text));
		if (maker->options->runtime_ns != runtime_ns)
			add_remark(maker, print(maker,
						"%s are measured instead of the %s there, as "
						"--runtime says",
						text, measured));
		return;
	}
	add_word(maker, print(maker, "runtime=%s", measured));
}

static void take_option(struct maker *maker, const char *name, const char *value)
{
	const struct zm_workload *workload = maker->made->workload;
	const struct zm_option *rows = zm_run_option_rows;
	size_t size = sizeof(struct zm_run_options);
	struct zm_why why = { { 0 } };

	if (!zm_option_find(rows, name)) {
		rows = workload->options;
		size = workload->options_size;
	}
	if (!rows || !zm_option_find(rows, name)) {
		add_remark(maker, print(maker, "left out: %s=%s, %s has no such option", name,
					value, workload->name));
		return;
	}
	if (try_option(rows, size, name, value, &why) < 0) {
		add_remark(maker, print(maker, "left out: %s", why.text));
		return;
	}
	maker->has_mode |= strcmp(name, "mode") == 0;
	add_word(maker, print(maker, "%s=%s", name, escape(maker, value)));
}

/* Sizes that were chosen for that machine's memory: the same share of this one's. `size` counts for each
 * node. Without both memories it stays as it is. */
static uint64_t scaled_bytes(const struct maker *maker, const char *name, uint64_t bytes)
{
	const struct zm_mail_machine *there = &maker->made->record->machine;
	double scale = (double)number_here(maker, "memory_bytes") / (double)there->memory_bytes;
	uint64_t mib = UINT64_C(1) << 20, scaled;

	if (strcmp(name, "size") == 0 && there->nr_nodes && maker->here->topology->nr_nodes)
		scale *= (double)there->nr_nodes / (double)maker->here->topology->nr_nodes;
	scaled = (uint64_t)((double)bytes * scale) / mib * mib;
	return scaled ? scaled : mib;
}

/* As reported: what the workload went over there, whether it fits here or not. */
static void take_unit(struct maker *maker, uint64_t size_bytes)
{
	const struct zm_mail_machine *there = &maker->made->record->machine;
	double share = zm_suite_memory_share(maker->suite, maker->made->workload);
	uint64_t unit = (uint64_t)((double)there->memory_bytes * share);
	uint64_t most = size_bytes * (there->nr_nodes ? there->nr_nodes : 1);
	char text[32];

	if (unit == 0 || zm_mail_pairs_find(&maker->made->record->params, "unit_size"))
		return;
	unit = unit < most ? unit : most;
	take_option(maker, "unit_size", zm_units_print_size(text, sizeof(text), unit));
}

static bool take_memory_size(struct maker *maker, const char *name, const char *value)
{
	const struct zm_mail_machine *there = &maker->made->record->machine;
	bool is_size = strcmp(name, "size") == 0;
	char text[32], memory[32];
	uint64_t bytes, scaled;

	if (!maker->suite->has_memory_sizes || !(is_size || strcmp(name, "unit_size") == 0) ||
	    zm_units_parse_size(value, &bytes) < 0 || bytes == 0)
		return false;
	if (maker->options->as_reported || there->memory_bytes == 0 ||
	    number_here(maker, "memory_bytes") == 0) {
		take_option(maker, name, value);
		if (maker->options->as_reported && is_size)
			take_unit(maker, bytes);
		else if (!maker->options->as_reported)
			add_remark(maker, print(maker,
						"%s=%s as it is: the mail does not say how much "
						"memory that machine has",
						name, value));
		return true;
	}
	scaled = scaled_bytes(maker, name, bytes);
	(void)zm_units_print_size(text, sizeof(text), scaled);
	take_option(maker, name, text);
	add_remark(maker,
		   print(maker,
			 "%s=%s was for %s of memory: %s for the memory here (--as-reported takes "
			 "%s)",
			 name, value,
			 zm_units_human_bytes(memory, sizeof(memory), (double)there->memory_bytes),
			 text, value));
	return true;
}

/* netperf's one size for both buffers of both ends. */
static bool take_buffers(struct maker *maker, const char *name, const char *value)
{
	if (strcmp(name, "socket_buffer_size") != 0)
		return false;
	take_option(maker, "sndbuf", value);
	take_option(maker, "rcvbuf", value);
	return true;
}

/* The value for this machine. */
static const char *scale(struct maker *maker, const struct zm_mail_pair *pair)
{
	const char *value = maker->options->scaled && !maker->options->as_reported
				    ? zm_mail_pairs_find(maker->options->scaled, pair->name)
				    : NULL;

	if (!value)
		return pair->value;
	add_remark(maker, print(maker,
				"%s=%s instead of %s, which is for such a machine "
				"(--as-reported takes it)",
				pair->name, value, pair->value));
	return value;
}

static void take_param(struct maker *maker, const struct zm_mail_pair *as_said)
{
	const struct zm_mail_pair scaled = { as_said->name, scale(maker, as_said) };
	const struct zm_mail_pair *pair = &scaled;
	const char *reason;
	const char *option = zm_suite_option(maker->suite, pair->name, &reason);

	if (strcmp(pair->name, "test") == 0 || take_buffers(maker, pair->name, pair->value) ||
	    take_memory_size(maker, pair->name, pair->value))
		return;
	if (!option)
		add_remark(maker,
			   print(maker, "left out: %s=%s, %s", pair->name, pair->value, reason));
	else if (zm_setting_is(option))
		take_setting(maker, option, pair->value);
	else if (strcmp(option, "nr_task") == 0)
		take_nr_task(maker, pair->value);
	else if (strcmp(option, "runtime") == 0)
		take_runtime(maker, pair->value);
	else if (!(strcmp(option, "mode") == 0 && maker->has_mode))
		take_option(maker, option, pair->value);
}

/* What nobody said is what the suite takes by itself. */
static void take_defaults(struct maker *maker)
{
	const char *mode = zm_suite_default(maker->suite, "mode");
	const char *nr_task = zm_suite_default(maker->suite, "nr_task");
	const char *runtime = zm_suite_default(maker->suite, "runtime");
	const char *testcase = maker->suite->testcase;
	char length[32];

	if (!maker->has_mode && mode && maker->made->workload->kinds == BOTH_KINDS) {
		add_word(maker, print(maker, "mode=%s", mode));
		add_remark(maker,
			   print(maker, "the mail says no mode: both, as %s does", testcase));
	}
	if (!maker->has_nr_task && nr_task) {
		add_word(maker, print(maker, "nr_task=%s", nr_task));
		add_remark(maker,
			   print(maker, "the mail says no number of tasks: %s, much as %s does%s",
				 nr_task, testcase,
				 strchr(nr_task, ',')
					 ? "; its per-task figures are averages over its own ladder"
					 : ""));
	}
	if (!maker->has_runtime && runtime)
		take_runtime(maker, runtime);
	else if (!maker->has_runtime && maker->options->runtime_ns)
		add_word(maker, print(maker, "runtime=%s",
				      zm_units_print_duration(length, sizeof(length),
							      maker->options->runtime_ns)));
}

/* --- the machine --- */

static const char *text_here(const struct maker *maker, const char *key)
{
	return json_string_value(json_object_get(maker->here->inventory, key));
}

static const char *print_number(struct maker *maker, uint64_t number)
{
	return number ? print(maker, "%llu", (unsigned long long)number) : NULL;
}

static const char *print_bytes(struct maker *maker, uint64_t bytes)
{
	char text[32];

	return bytes ? print(maker, "%s", zm_units_human_bytes(text, sizeof(text), (double)bytes))
		     : NULL;
}

static void compare_numbers(struct maker *maker, const char *what, uint64_t there, uint64_t here,
			    const char *done)
{
	if (there != here)
		add_difference(maker, what, print_number(maker, there), print_number(maker, here),
			       done);
}

/* What the mail says and another thing is here, or nobody knows. */
static void compare_texts(struct maker *maker, const char *what, const char *there,
			  const char *here, const char *done)
{
	if (there && !(here && strcmp(there, here) == 0))
		add_difference(maker, what, there, here, done);
}

static void compare_memory(struct maker *maker)
{
	uint64_t there = maker->made->record->machine.memory_bytes;
	uint64_t here = number_here(maker, "memory_bytes");

	/* A machine's memory as the kernel counts it is always a little less than what is sold. */
	if (there == 0 || (here <= there && (double)here > 0.9 * (double)there))
		return;
	add_difference(
		maker, "memory", print_bytes(maker, there), print_bytes(maker, here),
		maker->options->as_reported
			? "sizes are the mail's; what does not fit is refused"
			: "sizes that were chosen for it become the same share of this machine's");
}

static void compare_settings(struct maker *maker)
{
	const struct zm_mail_record *record = maker->made->record;

	if (!zm_mail_pairs_find(&record->params, "thp_enabled"))
		add_difference(maker, "huge pages (THP)", NULL, text_here(maker, "thp_enabled"),
			       "left as they are");
	compare_texts(maker, "microcode", zm_mail_pairs_find(&record->environment, "ucode"),
		      text_here(maker, "microcode"), "recorded, not changed");
	compare_texts(maker, "kernel's configuration",
		      zm_mail_pairs_find(&record->environment, "kconfig"), NULL,
		      "the running kernel's; boot one built from that file to be sure");
	compare_texts(maker, "compiler", zm_mail_pairs_find(&record->environment, "compiler"), NULL,
		      "of the kernel: the running one's");
	compare_texts(maker, "root file system", zm_mail_pairs_find(&record->environment, "rootfs"),
		      text_here(maker, "distribution"), "recorded, not changed");
}

/* The kernels of the mail, as one word: "59142d87ab 70a64b7919". */
static const char *kernels_of(struct maker *maker)
{
	const struct zm_mail_record *record = maker->made->record;
	const char *list = NULL;

	for (unsigned int i = 0; i < record->nr_commits; i++) {
		const struct zm_mail_commit *commit = &record->commits[i];
		const char *name = commit->name ? commit->name : commit->head;

		if (name)
			list = list ? print(maker, "%s %.13s", list, name)
				    : print(maker, "%.13s", name);
	}
	return list;
}

static void compare_machines(struct maker *maker)
{
	const struct zm_mail_machine *there = &maker->made->record->machine;

	compare_numbers(maker, "CPUs", there->nr_cpus, here_cpus(maker),
			maker->options->as_reported ? "as many tasks as there"
						    : "the same share of them");
	compare_numbers(maker, "sockets", there->nr_sockets, number_here(maker, "sockets"),
			"tasks are spread over those here");
	compare_numbers(maker, "NUMA nodes", there->nr_nodes, maker->here->topology->nr_nodes,
			"what is shared between nodes is shared between those here");
	compare_memory(maker);
	compare_texts(maker, "CPU", there->model, text_here(maker, "cpu_model"),
		      "only changes can be compared, not the figures themselves");
	compare_settings(maker);
	compare_texts(maker, "kernels", kernels_of(maker), text_here(maker, "kernel"),
		      "the running kernel is measured; do the same on each of theirs");
}

/* --- all of it --- */

static void make(struct maker *maker)
{
	const struct zm_mail_record *record = maker->made->record;

	if (!find_test(maker))
		return;
	if (record->remark)
		add_remark(maker, record->remark);
	for (size_t i = 0; i < record->params.nr; i++)
		take_param(maker, &record->params.list[i]);
	take_defaults(maker);
	compare_machines(maker);
	zm_expect(maker->made);
	if (record->claim.metric &&
	    !zm_expect_has_metric(maker->made->workload, record->claim.metric, false))
		add_remark(maker, print(maker, "the mail's own figure, %s, is not measured here",
					record->claim.metric));
}

int zm_reproduce_make(const struct zm_mail_record *record, const struct zm_reproduce_here *here,
		      const struct zm_reproduce_options *options,
		      struct zm_reproduction *ret_reproduction, struct zm_why *why)
{
	struct zm_reproduction made = { .record = record, .change = NAN, .noise = NAN };
	struct maker maker = { .made = &made, .here = here, .options = options };

	make(&maker);
	if (made.pool.error) {
		zm_reproduction_release(&made);
		return zm_why_errno(why, -ENOMEM, "reading the report");
	}
	*ret_reproduction = made;
	return 0;
}

void zm_reproduction_release(struct zm_reproduction *reproduction)
{
	zm_pool_release(&reproduction->pool);
	*reproduction = (struct zm_reproduction){ 0 };
}

bool zm_reproduction_is_same(const struct zm_reproduction *a, const struct zm_reproduction *b)
{
	if (!a->workload || a->workload != b->workload || a->nr_words != b->nr_words)
		return false;
	for (size_t i = 0; i < a->nr_words; i++) {
		if (strcmp(a->words[i], b->words[i]) != 0)
			return false;
	}
	return true;
}
