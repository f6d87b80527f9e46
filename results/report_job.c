/* report_job: YAML by libyaml; of shell only assignments of plain words are understood. */
#include "results/report_job.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "results/report_fields.h"
#include "results/yaml.h"
#include "workloads/base/units.h"

#define JOB_BYTES ((size_t)4 << 20) /* at most */
#define WORDS     32

/* --- which keys are whose --- */

static bool is_among(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (strcmp(name, *names) == 0)
			return true;
	}
	return false;
}

/* A job's parameters of its workload that stand beside, not below, the workload's name. */
bool zm_report_job_is_param(const char *name)
{
	static const char *const names[] = { "runtime",
					     "nr_task",
					     "nr_threads",
					     "size",
					     "unit_size",
					     "test",
					     "mode",
					     "ip",
					     "send_size",
					     "recv_size",
					     "socket_buffer_size",
					     "iterations",
					     "cpufreq_governor",
					     "disk",
					     "fs",
					     "nr_instances",
					     "cg_count",
					     "build_kconfig",
					     "target",
					     "testtime",
					     "test_memory_size",
					     "thp_enabled",
					     "thp_defrag",
					     "nr_processes",
					     "nr_ssd",
					     "nr_pmem",
					     "priority",
					     "percpu_pagelist_high_fraction",
					     "iterations",
					     NULL };

	return is_among(name, names);
}

static bool is_environment(const char *name)
{
	static const char *const names[] = { "nr_node",      "nr_cpu",    "memory",
					     "model",        "brand",     "kernel_cmdline_hw",
					     "good_samples", "repeat_to", NULL };

	return is_among(name, names) || zm_report_fields_is_environment(name);
}

static void take(struct zm_pool *pool, struct zm_report_job *job, const char *name,
		 const char *value, bool is_own)
{
	struct zm_mail_pairs *pairs = NULL;

	if (!*value)
		return;
	if (strcmp(name, "testcase") == 0 && !job->testcase)
		job->testcase = zm_pool_text(pool, value);
	else if (is_own || zm_report_job_is_param(name))
		pairs = &job->params;
	else if (is_environment(name))
		pairs = &job->environment;
	if (pairs)
		zm_report_fields_put(pool, pairs, zm_pool_text(pool, name),
				     zm_pool_text(pool, value));
}

/* The machine, from the environment. */
static void finish(struct zm_report_job *job)
{
	const char *cpus = zm_mail_pairs_find(&job->environment, "nr_cpu");
	const char *nodes = zm_mail_pairs_find(&job->environment, "nr_node");
	const char *memory = zm_mail_pairs_find(&job->environment, "memory");
	uint64_t number;

	if (cpus && zm_units_parse_u64(cpus, &number) == 0 && number <= 1000000)
		job->machine.nr_cpus = (unsigned int)number;
	if (nodes && zm_units_parse_u64(nodes, &number) == 0 && number <= 100000)
		job->machine.nr_nodes = (unsigned int)number;
	if (memory && zm_units_parse_size(memory, &number) == 0)
		job->machine.memory_bytes = number;
	job->machine.model = zm_mail_pairs_find(&job->environment, "brand");
	job->machine.codename = zm_mail_pairs_find(&job->environment, "model");
	job->machine.box = zm_mail_pairs_find(&job->environment, "tbox_group");
}

/* --- YAML --- */

/* What stands below the workload's own name, wherever that is, is the workload's. */
static void take_object(struct zm_pool *pool, struct zm_report_job *job, json_t *object,
			bool is_own, unsigned int depth)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		bool is_named = job->testcase && strcmp(key, job->testcase) == 0;

		if (json_is_string(value))
			take(pool, job, key, json_string_value(value), is_own);
		else if (json_is_object(value) && depth < 4)
			take_object(pool, job, value, is_own || is_named, depth + 1);
	}
}

static bool read_yaml(struct zm_pool *pool, const char *text, size_t length,
		      struct zm_report_job *job)
{
	json_t *documents = NULL;
	const char *testcase;
	json_t *object;

	if (zm_yaml_read(text, length, &documents, NULL) < 0)
		return false;
	object = json_array_get(documents, 0);
	testcase = json_string_value(json_object_get(object, "testcase"));
	if (testcase) {
		job->testcase = zm_pool_text(pool, testcase);
		take_object(pool, job, object, false, 0);
	}
	json_decref(documents);
	return job->testcase != NULL;
}

/* --- shell --- */

/* NAME=word or NAME='text' at `at`; returns where it ended, NULL: it is none. */
static const char *take_assignment(struct zm_pool *pool, struct zm_report_job *job, const char *at,
				   bool is_own)
{
	size_t length = 0, n;
	char name[64], value[512];

	while (isalnum((unsigned char)at[length]) || at[length] == '_')
		length++;
	if (length == 0 || length >= sizeof(name) || at[length] != '=')
		return NULL;
	(void)snprintf(name, sizeof(name), "%.*s", (int)length, at);
	at += length + 1;
	if (*at == '\'' || *at == '"') {
		const char *end = strchr(at + 1, *at);

		if (!end)
			return NULL;
		n = (size_t)(end - at) - 1;
		at++;
		length = n + 1;
	} else {
		n = strcspn(at, " \t\r\n;");
		length = n;
	}
	if (n < sizeof(value) && !memchr(at, '\n', n)) {
		(void)snprintf(value, sizeof(value), "%.*s", (int)n, at);
		take(pool, job, name, value, is_own);
	}
	return at + length;
}

/* "run_test test='mmap1' mode='thread' $LKP_SRC/tests/wrapper will-it-scale" */
static void take_run_test(struct zm_pool *pool, struct zm_report_job *job, const char *at)
{
	while (at) {
		at += strspn(at, " \t");
		at = take_assignment(pool, job, at, true);
	}
}

static void take_line(struct zm_pool *pool, struct zm_report_job *job, const char *line)
{
	static const char governor[] = "setup/cpufreq_governor '";
	const char *at = line + strspn(line, " \t"), *value;

	if (strncmp(at, "export ", 7) == 0)
		(void)take_assignment(pool, job, at + 7, false);
	else if (strncmp(at, "run_test ", 9) == 0)
		take_run_test(pool, job, at + 9);
	else if (strncmp(at, "run_setup ", 10) == 0 && strstr(at, governor)) {
		char name[32] = { 0 };

		value = strstr(at, governor) + strlen(governor);
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(value, "'\n"), value);
		take(pool, job, "cpufreq_governor", name, false);
	}
}

static bool read_script(struct zm_pool *pool, const char *text, struct zm_report_job *job)
{
	while (*text) {
		take_line(pool, job, text);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return job->testcase != NULL;
}

/* At the beginning of a line. */
static bool has_line(const char *text, const char *what)
{
	for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
		while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
			at--;
		if (at == text || at[-1] == '\n')
			return true;
		at += strspn(at, " \t");
	}
	return false;
}

bool zm_report_job_read(struct zm_pool *pool, const char *text, size_t length,
			struct zm_report_job *ret_job)
{
	struct zm_report_job job = { 0 };
	bool is_job = false;

	if (length > JOB_BYTES)
		return false;
	if (has_line(text, "export testcase="))
		is_job = read_script(pool, text, &job);
	else if (has_line(text, "testcase:"))
		is_job = read_yaml(pool, text, length, &job);
	if (!is_job)
		return false;
	finish(&job);
	*ret_job = job;
	return true;
}

/* --- command lines --- */

struct words {
	const char *text[WORDS];
	size_t length[WORDS];
	size_t nr;
};

/* Without quotes around a word. */
static void split(const char *line, struct words *words)
{
	words->nr = 0;
	while (words->nr < WORDS) {
		const char *at = line + strspn(line, " \t\r\n");
		size_t n = strcspn(at, " \t\r\n");

		if (n == 0)
			return;
		line = at + n;
		if (n >= 2 && (*at == '"' || *at == '\'') && at[n - 1] == *at) {
			at++;
			n -= 2;
		}
		words->text[words->nr] = at;
		words->length[words->nr++] = n;
	}
}

static bool is(const struct words *words, size_t i, const char *text)
{
	return i < words->nr && words->length[i] == strlen(text) &&
	       memcmp(words->text[i], text, words->length[i]) == 0;
}

static bool ends(const struct words *words, size_t i, const char *text)
{
	size_t n = strlen(text);

	return i < words->nr && words->length[i] >= n &&
	       memcmp(words->text[i] + words->length[i] - n, text, n) == 0;
}

static const char *copy(struct zm_pool *pool, const struct words *words, size_t i)
{
	return i < words->nr ? zm_report_fields_copy(pool, words->text[i], words->length[i]) : NULL;
}

static bool read_netperf(struct zm_pool *pool, const struct words *words, struct zm_report_job *job)
{
	for (size_t i = 1; i < words->nr; i++) {
		if (is(words, i, "-t"))
			zm_report_fields_put(pool, &job->params, "test", copy(pool, words, i + 1));
		else if (is(words, i, "-l"))
			zm_report_fields_put(pool, &job->params, "runtime",
					     copy(pool, words, i + 1));
		else if (is(words, i, "-m"))
			zm_report_fields_put(pool, &job->params, "send_size",
					     copy(pool, words, i + 1));
		else if (is(words, i, "-4") || is(words, i, "-6"))
			zm_report_fields_put(pool, &job->params, "ip",
					     is(words, i, "-4") ? "ipv4" : "ipv6");
	}
	job->testcase = "netperf";
	return zm_mail_pairs_find(&job->params, "test") != NULL;
}

/* runtest.py TEST SECONDS MODE [AFFINITY SMT] TASKS */
static bool read_runtest(struct zm_pool *pool, const struct words *words, size_t first,
			 struct zm_report_job *job)
{
	if (words->nr < first + 5)
		return false;
	zm_report_fields_put(pool, &job->params, "test", copy(pool, words, first + 1));
	if (!is(words, first + 3, "both"))
		zm_report_fields_put(pool, &job->params, "mode", copy(pool, words, first + 3));
	zm_report_fields_put(pool, &job->params, "nr_task", copy(pool, words, words->nr - 1));
	job->testcase = "will-it-scale";
	return true;
}

static bool read_case(struct zm_pool *pool, const struct words *words, struct zm_report_job *job)
{
	static const char prefix[] = "./case-";
	size_t n = strlen(prefix);

	if (words->nr == 0 || words->length[0] <= n || memcmp(words->text[0], prefix, n) != 0)
		return false;
	zm_report_fields_put(pool, &job->params, "test",
			     zm_report_fields_copy(pool, words->text[0] + n, words->length[0] - n));
	job->testcase = "vm-scalability";
	return true;
}

bool zm_report_job_command(struct zm_pool *pool, const char *line, struct zm_report_job *ret_job)
{
	struct zm_report_job job = { 0 };
	struct words words;
	size_t script;
	bool is_command;

	split(line, &words);
	script = is(&words, 0, "python3") || is(&words, 0, "python") ? 1 : 0;
	if (is(&words, 0, "netperf"))
		is_command = read_netperf(pool, &words, &job);
	else if (ends(&words, script, "runtest.py"))
		is_command = read_runtest(pool, &words, script, &job);
	else
		is_command = read_case(pool, &words, &job);
	if (is_command)
		*ret_job = job;
	return is_command;
}
