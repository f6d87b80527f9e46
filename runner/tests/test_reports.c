/*
 * reports: robots' mails as they were sent. They lie in $ZM_SHARED/reports, or beside the sources; where
 * they are not, this is skipped. Of the mails only facts are kept here.
 *
 * labels: replay
 * timeout: 60
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/tests/mail_damage.h"
#include "runner/catalogue.h"
#include "runner/reproduce.h"
#include "runner/suite.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/tests/tree.h"

static char folder[512];

static const char *find_folder(void)
{
	const char *shared = getenv("ZM_SHARED");

	if (shared)
		(void)snprintf(folder, sizeof(folder), "%s/reports", shared);
	else
		(void)snprintf(folder, sizeof(folder), "%s/../shared/reports", ZM_SOURCE_DIR);
	return access(folder, R_OK) == 0 ? folder : NULL;
}

static char *read_file(const char *path)
{
	zm_autofclose FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	assert_non_null(file);
	assert_true(getdelim(&text, &size, '\0', file) > 0);
	return text;
}

/* Calls back with every mail of a folder below; "" is that of the texts. */
static void each_mail(const char *below,
		      void (*each)(const char *name, const char *text, void *context),
		      void *context)
{
	char path[1024];
	zm_autoclosedir DIR *dir = NULL;
	const struct dirent *entry;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, below);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		zm_autofree char *text = NULL;

		if (!strstr(entry->d_name, *below ? ".eml" : ".txt"))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s/%s", folder, below, entry->d_name);
		text = read_file(path);
		each(entry->d_name, text, context);
	}
}

/* --- understanding them --- */

struct reading {
	struct tree tree;
	struct zm_sysroot root;
	struct zm_topology topology;
	json_t *inventory;
	struct zm_report_mail report;
	struct zm_reproduction *reproductions;
};

static void read_mail(const char *text, struct reading *reading)
{
	const struct zm_reproduce_options options = { .as_reported = false };
	struct zm_reproduce_here here;
	struct zm_why why = { { 0 } };

	*reading = (struct reading){ .topology = { .nr_cpus = 4, .nr_nodes = 1 } };
	tree_make(&reading->tree);
	assert_int_equal(zm_sysroot_open(&reading->root, reading->tree.path), 0);
	reading->inventory = json_object();
	here = (struct zm_reproduce_here){ &reading->root, &reading->topology, reading->inventory,
					   zm_workloads };
	if (zm_report_mail_read(text, strlen(text), &reading->report, &why) < 0)
		fail_msg("%s", why.text);
	reading->reproductions =
		calloc(reading->report.nr_records, sizeof(*reading->reproductions));
	for (size_t i = 0; i < reading->report.nr_records; i++)
		assert_int_equal(zm_reproduce_make(reading->report.records[i], &here, &options,
						   &reading->reproductions[i], NULL),
				 0);
}

static void forget(struct reading *reading)
{
	for (size_t i = 0; i < reading->report.nr_records; i++)
		zm_reproduction_release(&reading->reproductions[i]);
	free(reading->reproductions);
	zm_report_mail_release(&reading->report);
	json_decref(reading->inventory);
	zm_sysroot_release(&reading->root);
	tree_remove(&reading->tree);
}

static bool has_workload(const struct reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->report.nr_records; i++) {
		const struct zm_workload *workload = reading->reproductions[i].workload;

		if (workload && strcmp(workload->name, name) == 0)
			return true;
	}
	return false;
}

/* --- whoever names a workload of ours is understood --- */

#define BORDERS " \t\r\n/=:\"',()<>|"

/* Does the text have this word, as robots name a test: behind a sign, or a program's own name? */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		bool begins = at > text && strchr(BORDERS, at[-1]);
		bool ends = !at[length] || strchr(BORDERS, at[length]) ||
			    strncmp(at + length, "_processes", 10) == 0 ||
			    strncmp(at + length, "_threads", 8) == 0;

		if (begins && ends)
			return true;
	}
	return false;
}

/* Words of the kernel, too: who writes one need not mean the test. */
static bool is_common(const char *word)
{
	static const char *const words[] = { "mlock", "migrate", "truncate" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], word) == 0)
			return true;
	}
	return false;
}

/* What a suite calls a workload of ours: page_fault1, anon-w-rand, UDP_STREAM. */
static void original_name(const char *suite, const char *name, char *buf, size_t size)
{
	bool is_upper = strcmp(suite, "netperf") == 0;
	size_t i = 0;

	for (; name[i] && i + 1 < size; i++)
		buf[i] = is_upper ? (char)toupper((unsigned char)name[i])
			 : name[i] == '_' && strcmp(suite, "vm-scalability") == 0 ? '-'
										  : name[i];
	buf[i] = '\0';
}

struct count {
	unsigned int nr_mails, nr_named, nr_understood;
};

static void check_named(const char *name, const char *text, struct reading *reading,
			struct count *count)
{
	static const char *const suites[] = { "will-it-scale", "vm-scalability", "netperf" };

	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		if (!strstr(text, suites[i]))
			continue;
		for (unsigned int k = 0; k < zm_nr_workloads; k++) {
			char word[64];

			original_name(suites[i], zm_workloads[k]->name, word, sizeof(word));
			if (is_common(word) || !has_word(text, word))
				continue;
			count->nr_named++;
			if (has_workload(reading, zm_workloads[k]->name))
				count->nr_understood++;
			else
				print_message("%s names %s, which was not understood\n", name,
					      word);
		}
	}
}

static void check_mail(const char *name, const char *text, void *context)
{
	struct count *count = context;
	struct reading reading;

	read_mail(text, &reading);
	check_named(name, text, &reading, count);
	count->nr_mails++;
	forget(&reading);
}

static void test_named(void **state)
{
	struct count count = { 0 };

	(void)state;
	each_mail("", check_mail, &count);
	print_message(
		"%u mails, all of them reports; %u times a workload of ours is named, %u times it "
		"was understood\n",
		count.nr_mails, count.nr_named, count.nr_understood);
	assert_true(count.nr_mails >= 60 && count.nr_named >= 20);
	assert_int_equal(count.nr_understood, count.nr_named);
}

/* --- what is known of some of them --- */

static const struct {
	const char *mail; /* the beginning of its file's name */
	const char *workload, *nr_task, *mode, *metric;
	double change; /* of that metric, first column to second */
	double first, second;
	unsigned int nr_columns, nr_cpus;
	size_t nr_rows;
} facts[] = {
	{ "04-", "tcp_crr", "16", NULL, "netperf.Throughput_tps", 12.8, 18419, 20780, 2, 192, 403 },
	{ "09-", "tcp_crr", "16", NULL, "netperf.Throughput_tps", -4.5, 20843, 19896, 2, 0, 2 },
	{ "09-", "tcp_crr", "16", NULL, "netperf.Throughput_total_tps", -0.1, 555600, 555305, 2, 0,
	  2 },
	{ "10-", "tcp_crr", "16", NULL, "netperf.Throughput_tps", -11.6, 22168, 19601, 2, 192,
	  194 },
	{ "124-", NULL, NULL, NULL, "will-it-scale.per_process_ops", -11.9, 91713, 80789, 3, 0, 1 },
	{ "142-", "page_fault1", NULL, NULL, "vmstat.system.cs", 14.0, 4678, 5332, 2, 0, 8 },
	{ "145-", "brk1", "100%", "process", "will-it-scale.per_process_ops", -20.4, 507735, 404002,
	  2, 192, 7 },
	{ "154-", "udp_stream", "50%", NULL, "cpuidle..usage", 24095.8, 1087075, 2.63e8, 2, 0, 5 },
	{ "16-", "fallocate1", "100%", "thread", "will-it-scale.per_thread_ops", -25.8, 36509,
	  27079, 2, 104, 255 },
	{ "21-", "lru_shm", NULL, NULL, "vm-scalability.throughput", -36.6, 2.131e8, 1.351e8, 2,
	  224, 366 },
	{ "21-", "tlb_flush2", "50%", "process", "will-it-scale.per_process_ops", -32.3, 41008,
	  27776, 2, 104, 287 },
	{ "22-", "fallocate1", "100%", "process", "will-it-scale.per_process_ops", -33.8, 24222,
	  16030, 3, 224, 2 },
	{ "24-", "anon_cow_rand_hugetlb", NULL, NULL, "vm-scalability.throughput", -43.6, 7315147,
	  4122657, 2, 128, 328 },
	{ "24-", "mmap1", "100%", "process", "will-it-scale.104.processes", -38.1, 7005637, 4334264,
	  2, 104, 604 },
	{ "25-", "page_fault2", "100%", "process", "will-it-scale.per_process_ops", -11.9, 91713,
	  80789, 2, 104, 239 },
	{ "27-", "page_fault2", "100%", "process", "will-it-scale.per_process_ops", -11.9, 91713,
	  80789, 4, 0, 1 },
	{ "28-", "page_fault2", "100%", "process", "will-it-scale.per_process_ops", -14.4, 240373,
	  205702, 4, 64, 322 },
	{ "30-", "page_fault2", "100%", "process", "will-it-scale.per_process_ops", -12.2, 91713,
	  80533, 2, 104, 234 },
	{ "33-", "fallocate1", "100%", "thread", "will-it-scale.per_thread_ops", 12.7, 37389, 42124,
	  2, 104, 219 },
	{ "43-", "tlb_flush3", "100%", "process", "will-it-scale.per_process_ops", 10.0, 322468,
	  354682, 2, 192, 372 },
	{ "45-", "pipe_stream", "20%", NULL, "lmbench3.PIPE.latency.us", -11.5, 5.11, 4.52, 2, 224,
	  18 },
	{ "12-", "truncate_seq", NULL, NULL, "vm-scalability.throughput", -91.7, 2.273e8, 18799157,
	  2, 192, 262 },
	{ "120-", NULL, "100", NULL, "reaim.jobs_per_min", -7.3, 8233, 7629, 2, 96, 350 },
	{ "34-", NULL, "100%", "process", "will-it-scale.per_process_ops", -2.3, 201017, 196424, 2,
	  104, 206 },
};

static bool is_value(const char *read, const char *expected)
{
	return expected ? read && strcmp(read, expected) == 0 : !read;
}

static bool is_about(double read, double expected)
{
	return expected == 1 ||
	       fabs(read - expected) <= 1e-9 * fabs(expected); /* 1: not looked at */
}

/* One record of the mail has all of it. */
static bool has_fact(const struct reading *reading, size_t fact)
{
	for (size_t i = 0; i < reading->report.nr_records; i++) {
		const struct zm_mail_record *record = reading->report.records[i];
		const struct zm_reproduction *reproduction = &reading->reproductions[i];
		const struct zm_mail_row *row = zm_mail_record_row(record, facts[fact].metric);
		const char *nr_task = zm_mail_pairs_find(&record->params, "nr_task");
		const char *mode = zm_mail_pairs_find(&record->params, "mode");

		if (!nr_task)
			nr_task = zm_mail_pairs_find(&record->params, "nr_threads");
		if (!row || record->nr_commits != facts[fact].nr_columns ||
		    record->nr_rows != facts[fact].nr_rows ||
		    record->machine.nr_cpus != facts[fact].nr_cpus ||
		    fabs(row->cells[1].change - facts[fact].change) > 0.01 ||
		    !is_about(row->cells[0].value, facts[fact].first) ||
		    !is_about(row->cells[1].value, facts[fact].second))
			continue;
		if (is_value(reproduction->workload ? reproduction->workload->name : NULL,
			     facts[fact].workload) &&
		    is_value(nr_task, facts[fact].nr_task) &&
		    (!facts[fact].mode || is_value(mode, facts[fact].mode)))
			return true;
	}
	return false;
}

static void check_facts(const char *name, const char *text, void *context)
{
	unsigned int *nr = context;
	struct reading reading;

	read_mail(text, &reading);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (strncmp(name, facts[i].mail, strlen(facts[i].mail)) != 0)
			continue;
		if (!has_fact(&reading, i))
			fail_msg("%s: not as known: %s of %s", name, facts[i].metric,
				 facts[i].workload ? facts[i].workload : "what zonemark has not");
		(*nr)++;
	}
	forget(&reading);
}

static void test_facts(void **state)
{
	unsigned int nr = 0;

	(void)state;
	each_mail("", check_facts, &nr);
	assert_int_equal(nr, sizeof(facts) / sizeof(facts[0]));
}

/* --- the same mail as it was sent, and after more travelling --- */

static void compare(const char *name, const struct zm_report_mail *a,
		    const struct zm_report_mail *b)
{
	if (a->nr_records != b->nr_records)
		fail_msg("%s: %zu records, %zu", name, a->nr_records, b->nr_records);
	for (size_t i = 0; i < a->nr_records; i++) {
		const struct zm_mail_record *x = a->records[i], *y = b->records[i];

		if (x->nr_rows != y->nr_rows || x->nr_commits != y->nr_commits ||
		    x->params.nr != y->params.nr)
			fail_msg("%s: record %zu has %zu rows, %zu", name, i, x->nr_rows,
				 y->nr_rows);
		for (size_t k = 0; k < x->nr_rows; k++) {
			assert_string_equal(x->rows[k].metric, y->rows[k].metric);
			for (unsigned int n = 0; n < x->nr_commits; n++)
				assert_true(x->rows[k].cells[n].value == y->rows[k].cells[n].value);
		}
	}
}

static void check_raw(const char *name, const char *text, void *context)
{
	struct zm_report_mail raw, plain;
	char path[1024];
	zm_autofree char *other = NULL;

	(void)context;
	(void)snprintf(path, sizeof(path), "%s/%.*s.txt", folder, (int)strcspn(name, "."), name);
	other = read_file(path);
	assert_int_equal(zm_report_mail_read(text, strlen(text), &raw, NULL), 0);
	assert_int_equal(zm_report_mail_read(other, strlen(other), &plain, NULL), 0);
	assert_non_null(raw.subject);
	compare(name, &raw, &plain);
	zm_report_mail_release(&raw);
	zm_report_mail_release(&plain);
}

static void test_raw(void **state)
{
	(void)state;
	each_mail("raw", check_raw, NULL);
}

static void check_quoted(const char *name, const char *text, void *context)
{
	struct zm_random *random = context;
	struct zm_report_mail before, after;
	char *copy = strdup(text);

	copy = damage_crlf(damage_quote(damage_quote(copy, random), random), random);
	assert_int_equal(zm_report_mail_read(text, strlen(text), &before, NULL), 0);
	/* A subject that is quoted is no longer the mail's own, nor is what it claims. */
	if (!before.subject) {
		assert_int_equal(zm_report_mail_read(copy, strlen(copy), &after, NULL), 0);
		compare(name, &before, &after);
		zm_report_mail_release(&after);
	}
	zm_report_mail_release(&before);
	free(copy);
}

static void test_quoted(void **state)
{
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 5, 5);
	each_mail("", check_quoted, &random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_quoted),
	};

	if (!find_folder()) {
		(void)printf("no mails in $ZM_SHARED/reports or %s/../shared/reports\n",
			     ZM_SOURCE_DIR);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
