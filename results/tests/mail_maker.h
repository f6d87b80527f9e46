/*
 * mail_maker: robots' mails that nobody ever sent, for tests and benchmarks.
 *
 *     made_make    a report of random workloads, machines, commits and figures
 *     made_write   as the robot writes it, in old or new wording
 *     damage       what mailing does to a text: quoted, squeezed, wrapped, on one line, ± lost
 *     made_send    with headers, in an encoding
 *
 * What was made is known, so what is read from it can be compared.
 */
#ifndef ZM_RESULTS_TESTS_MAIL_MAKER_H
#define ZM_RESULTS_TESTS_MAIL_MAKER_H

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/random.h"

#define MADE_TABLES  4
#define MADE_COLUMNS 8
#define MADE_PARAMS  10
#define MADE_TEXT    160

struct made_cell {
	char value[24];
	int stddev;      /* percent; 0: none is printed */
	char change[24]; /* "+12.8%" or "-0.3"; "" in the first column */
	int fails, runs;
};

struct made_row {
	char metric[MADE_TEXT];
	bool is_fail;
	struct made_cell cells[MADE_COLUMNS];
};

struct made_table {
	char testcase[24], box[24];
	char params[MADE_PARAMS][2][48]; /* of the workload, in the order of their names */
	unsigned int nr_params;
	char environment[4][2][48];
	unsigned int nr_cpus, nr_sockets, memory_gb;
	char commits[MADE_COLUMNS][2][96]; /* hash of 40 letters, title */
	unsigned int nr_columns;
	struct made_row *rows;
	unsigned int nr_rows;
	char claimed[MADE_TEXT], percent[24];
	bool is_regression;
};

struct made {
	struct made_table tables[MADE_TABLES];
	unsigned int nr_tables;
	bool is_old; /* wording before 2023 */
	bool is_signed;
};

/* --- making it up --- */

static inline unsigned int made_number(struct zm_random *random, unsigned int least,
				       unsigned int most)
{
	return least + (unsigned int)zm_random_below(random, most - least + 1);
}

static inline const char *made_pick(struct zm_random *random, const char *const *words)
{
	size_t nr = 0;

	while (words[nr])
		nr++;
	return words[zm_random_below(random, nr)];
}

static inline void made_hash(struct zm_random *random, char *buf)
{
	for (unsigned int i = 0; i < 40; i++)
		buf[i] = "0123456789abcdef"[zm_random_below(random, 16)];
	buf[0] = "abcdef"[zm_random_below(random, 6)]; /* no digits alone */
	buf[40] = '\0';
}

/* The forms in which the robot prints numbers. */
static inline void made_value(struct zm_random *random, char *buf, size_t size)
{
	double value = exp(zm_random_unit(random) * 30 - 4);

	if (value >= 1e8)
		(void)snprintf(buf, size, "%.4g", value);
	else if (value >= 1000)
		(void)snprintf(buf, size, "%.0f", value);
	else
		(void)snprintf(buf, size, "%.2f", value);
}

static inline void made_param(struct made_table *table, const char *name, const char *value)
{
	(void)snprintf(table->params[table->nr_params][0], sizeof(table->params[0][0]), "%s", name);
	(void)snprintf(table->params[table->nr_params++][1], sizeof(table->params[0][1]), "%s",
		       value);
}

static inline void made_workload(struct zm_random *random, struct made_table *table)
{
	static const char *const suites[] = { "will-it-scale", "vm-scalability", "netperf",
					      "stress-ng",     "kbuild",         NULL };
	static const char *const tests[] = { "page_fault1",
					     "page_fault2",
					     "mmap1",
					     "malloc1",
					     "anon-cow-rand",
					     "lru-shm",
					     "SCTP_STREAM_MANY",
					     "TCP_CRR",
					     "hugetlb/hugemmap10",
					     NULL };
	static const char *const counts[] = { "16", "100%", "50%", "200%", "1", NULL };
	static const char *const sizes[] = { "512G", "8T", "10K", NULL };

	(void)snprintf(table->testcase, sizeof(table->testcase), "%s", made_pick(random, suites));
	made_param(table, "cpufreq_governor", "performance");
	if (made_number(random, 0, 1))
		made_param(table, "mode", made_number(random, 0, 1) ? "process" : "thread");
	made_param(table, made_number(random, 0, 1) ? "nr_task" : "nr_threads",
		   made_pick(random, counts));
	if (made_number(random, 0, 1))
		made_param(table, "runtime", "300s");
	if (made_number(random, 0, 1))
		made_param(table, "size", made_pick(random, sizes));
	made_param(table, "test", made_pick(random, tests));
}

static inline void made_machine(struct zm_random *random, struct made_table *table)
{
	static const char *const values[4][3] = {
		{ "gcc-12", "gcc-9", "clang-15" },
		{ "x86_64-rhel-8.3", "x86_64-rhel-9.4", "x86_64-rhel-7.6" },
		{ "debian-12-x86_64-20240206.cgz", "debian-10.4-x86_64-20200603.cgz",
		  "debian-11.1-x86_64-20220510.cgz" },
		{ "0x5003006", "0xd000389", "0x21" }
	};
	static const char *const names[] = { "compiler", "kconfig", "rootfs", "ucode" };

	for (unsigned int i = 0; i < 4; i++) {
		(void)snprintf(table->environment[i][0], sizeof(table->environment[i][0]), "%s",
			       names[i]);
		(void)snprintf(table->environment[i][1], sizeof(table->environment[i][1]), "%s",
			       values[i][zm_random_below(random, 3)]);
	}
	(void)snprintf(table->box, sizeof(table->box), "lkp-%c%c%c-2sp%u",
		       (char)('a' + zm_random_below(random, 26)),
		       (char)('a' + zm_random_below(random, 26)),
		       (char)('a' + zm_random_below(random, 26)), made_number(random, 1, 9));
	table->nr_sockets = made_number(random, 1, 8);
	table->nr_cpus = table->nr_sockets * made_number(random, 2, 112);
	table->memory_gb = 1u << made_number(random, 3, 11);
}

static inline void made_commits(struct zm_random *random, struct made_table *table, bool has_tags)
{
	static const char *const titles[] = {
		"mm: memcg: make stats flushing threshold per-memcg",
		"mm, pcp: reduce lock contention for draining high-order pages",
		"Merge patch series \"pipe: no global lock\"",
		"x86/kasan: Map shadow for percpu pages on demand (v2)",
		"file: convert to SLAB_TYPESAFE_BY_RCU",
		NULL
	};

	table->nr_columns = made_number(random, 0, 3) ? 2 : made_number(random, 2, MADE_COLUMNS);
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		made_hash(random, table->commits[i][0]);
		(void)snprintf(table->commits[i][1], sizeof(table->commits[i][1]), "%s",
			       made_pick(random, titles));
	}
	if (has_tags && made_number(random, 0, 2) == 0) {
		(void)snprintf(table->commits[0][0], sizeof(table->commits[0][0]), "v6.%u-rc%u",
			       made_number(random, 1, 19), made_number(random, 1, 8));
		table->commits[0][1][0] = '\0';
	}
}

static inline void made_metric(struct zm_random *random, const struct made_table *table,
			       unsigned int i, char *buf, size_t size)
{
	static const char *const names[] = {
		"proc-vmstat.pgalloc_normal",
		"meminfo.Active(anon)",
		"cpuidle..time",
		"sched_debug.cfs_rq:/.load_avg.max",
		"perf-sched.wait_time.max.ms.[unknown].[unknown]",
		"interrupts.CPU75.NMI:Non-maskable_interrupts",
		"perf-profile.calltrace.cycles-pp.native_queued_spin_lock_slowpath._raw_spin_lock."
		"rmqueue_bulk.get_page_from_freelist.__alloc_pages",
		"mpstat.cpu.all.sys%",
		"perf-stat.i.metric.K/sec",
		NULL
	};

	if (i == 0)
		(void)snprintf(buf, size, "%s.per_process_ops", table->testcase);
	else
		(void)snprintf(buf, size, "%s%u", made_pick(random, names), i);
}

static inline void made_row(struct zm_random *random, const struct made_table *table,
			    unsigned int i, struct made_row *row)
{
	row->is_fail = i > 0 && i < 3 && made_number(random, 0, 3) == 0;
	made_metric(random, table, i, row->metric, sizeof(row->metric));
	for (unsigned int k = 0; k < table->nr_columns; k++) {
		struct made_cell *cell = &row->cells[k];
		double change = (zm_random_unit(random) - 0.5) * 200;

		made_value(random, cell->value, sizeof(cell->value));
		cell->stddev = made_number(random, 0, 1) ? 0 : (int)made_number(random, 2, 223);
		cell->runs = (int)made_number(random, 3, 12);
		cell->fails = (int)made_number(random, 0, (unsigned int)cell->runs);
		if (k == 0)
			cell->change[0] = '\0';
		else if (row->is_fail)
			(void)snprintf(cell->change, sizeof(cell->change), "%.0f%%", change);
		else if (made_number(random, 0, 30) == 0)
			(void)snprintf(cell->change, sizeof(cell->change), "+%.2g%%", 1.4e102);
		else
			(void)snprintf(cell->change, sizeof(cell->change), "%+.1f%s", change,
				       made_number(random, 0, 3) ? "%" : "");
	}
	if (i > 0)
		return;
	(void)snprintf(row->cells[1].change, sizeof(row->cells[1].change), "%+.1f%%",
		       (made_number(random, 0, 1) ? 1 : -1) * (1 + zm_random_unit(random) * 90));
}

static inline void made_claim(struct made *made, struct made_table *table)
{
	const char *change = table->rows[0].cells[1].change;

	(void)snprintf(table->claimed, sizeof(table->claimed), "%s", table->rows[0].metric);
	table->is_regression = change[0] == '-';
	(void)snprintf(table->percent, sizeof(table->percent), "%s",
		       change[0] == '+' || !made->is_signed ? change + 1 : change);
}

/* nr_rows 0: a random number of them. */
static inline void made_make(struct zm_random *random, unsigned int nr_rows, struct made *made)
{
	*made = (struct made){ .nr_tables = made_number(random, 1, MADE_TABLES) };
	made->is_old = made_number(random, 0, 1);
	made->is_signed = made->is_old || made_number(random, 0, 1);
	for (unsigned int i = 0; i < made->nr_tables; i++) {
		struct made_table *table = &made->tables[i];

		made_workload(random, table);
		made_machine(random, table);
		made_commits(random, table, true);
		table->nr_rows = nr_rows ? nr_rows : made_number(random, 1, 40);
		table->rows = calloc(table->nr_rows, sizeof(*table->rows));
		if (!table->rows)
			abort();
		for (unsigned int k = 0; k < table->nr_rows; k++)
			made_row(random, table, k, &table->rows[k]);
		made_claim(made, table);
		/* so that no table is another's twin */
		(void)snprintf(table->params[table->nr_params][0], 48, "uniq");
		(void)snprintf(table->params[table->nr_params++][1], 48, "%ux", i);
	}
}

static inline void made_free(struct made *made)
{
	for (unsigned int i = 0; i < made->nr_tables; i++)
		free(made->tables[i].rows);
}

/* --- writing it --- */

static inline void made_write_machine(FILE *out, const struct made_table *table)
{
	(void)fprintf(out,
		      "%u threads %u sockets Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz (Ice Lake) "
		      "with %uG memory",
		      table->nr_cpus, table->nr_sockets, table->memory_gb);
}

static inline void made_write_facts(FILE *out, const struct made *made)
{
	const struct made_table *table = &made->tables[0];
	const struct made_table *last = table;
	const char *verdict = table->is_regression ? "regression" : "improvement";

	if (made->is_old)
		(void)fprintf(out,
			      "\nGreeting,\n\nFYI, we noticed a %s %s of %s due to commit:\n\n\n",
			      table->percent, verdict, table->claimed);
	else
		(void)fprintf(out, "\nHello,\n\nkernel test robot noticed a %s %s of %s on:\n\n\n",
			      table->percent, verdict, table->claimed);
	(void)fprintf(out, "commit: %s (\"%s\")\nhttps://example.com/linux.git master\n\n",
		      last->commits[1][0], last->commits[1][1]);
	(void)fprintf(out, "%stestcase: %s\n%stest machine: ", made->is_old ? "in " : "",
		      table->testcase, made->is_old ? "on " : "");
	made_write_machine(out, table);
	(void)fprintf(out, "\n%sparameters:\n\n", made->is_old ? "with following " : "");
	for (unsigned int i = 0; i < table->nr_params; i++)
		(void)fprintf(out, "\t%s: %s\n", table->params[i][0], table->params[i][1]);
	(void)fputs("\n\n", out);
}

static inline void made_write_boxes(FILE *out, const struct made *made)
{
	static const char border[] = "+------------------+----------------------------------------"
				     "---------------------------------------------------+\n";

	if (made->nr_tables == 1)
		return;
	(void)fprintf(out,
		      "In addition to that, the commit also has significant impact on the "
		      "following tests:\n\n%s",
		      border);
	for (unsigned int i = 1; i < made->nr_tables; i++) {
		const struct made_table *table = &made->tables[i];

		(void)fprintf(out, "| testcase: change | %s: %s %s %s |\n| test machine     | ",
			      table->testcase, table->claimed, table->percent,
			      table->is_regression ? "regression" : "improvement");
		made_write_machine(out, table);
		for (unsigned int k = 0; k < table->nr_params; k++)
			(void)fprintf(out, " |\n| %-16s | %s=%s", k ? "" : "test parameters",
				      table->params[k][0], table->params[k][1]);
		(void)fprintf(out, " |\n%s", border);
	}
	(void)fputs("\n\n", out);
}

/* Keys in the order of their names, as robots have them. */
static inline void made_write_keys(FILE *out, const struct made_table *table)
{
	const char *names[MADE_PARAMS + 8], *values[MADE_PARAMS + 8];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < table->nr_params; i++, nr++) {
		names[nr] = table->params[i][0];
		values[nr] = table->params[i][1];
	}
	for (unsigned int i = 0; i < 4; i++, nr++) {
		names[nr] = table->environment[i][0];
		values[nr] = table->environment[i][1];
	}
	names[nr] = "tbox_group";
	values[nr++] = table->box;
	names[nr] = "testcase";
	values[nr++] = table->testcase;
	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int k = i + 1; k < nr; k++)
			if (strcmp(names[k], names[i]) < 0) {
				const char *name = names[i], *value = values[i];

				names[i] = names[k];
				values[i] = values[k];
				names[k] = name;
				values[k] = value;
			}
	for (unsigned int i = 0; i < nr; i++)
		(void)fprintf(out, "%s%s", names[i], i + 1 < nr ? "/" : ":\n");
	for (unsigned int i = 0; i < nr; i++)
		(void)fprintf(out, "%s%s%s", i ? "" : "  ", values[i], i + 1 < nr ? "/" : "\n\n");
}

static inline void made_write_head(FILE *out, const struct made_table *table)
{
	(void)fputs("commit: \n", out);
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		if (table->commits[i][1][0])
			(void)fprintf(out, "  %.10s (\"%s\")\n", table->commits[i][0],
				      table->commits[i][1]);
		else
			(void)fprintf(out, "  %s\n", table->commits[i][0]);
	}
	(void)fprintf(out, "\n%16.16s ", table->commits[0][0]);
	for (unsigned int i = 1; i < table->nr_columns; i++)
		(void)fprintf(out, "%.27s ", table->commits[i][0]);
	(void)fputs("\n---------------- ", out);
	for (unsigned int i = 1; i < table->nr_columns; i++)
		(void)fputs("--------------------------- ", out);
	(void)fputs("\n", out);
}

static inline void made_write_row(FILE *out, const struct made_row *row, unsigned int nr_columns)
{
	for (unsigned int k = 0; k < nr_columns; k++) {
		const struct made_cell *cell = &row->cells[k];

		if (row->is_fail) {
			(void)fprintf(out, "%s%s%11d:%-4d", k ? "  " : "", cell->change,
				      cell->fails, cell->runs);
			continue;
		}
		if (k > 0 && strchr(cell->change, '%'))
			(void)fprintf(out, "%11s ", cell->change);
		else if (k > 0)
			(void)fprintf(out, "%10s  ", cell->change);
		(void)fprintf(out, "%10s", cell->value);
		if (cell->stddev)
			(void)fprintf(out, " ±%3d%%", cell->stddev);
		else
			(void)fputs("      ", out);
	}
	(void)fprintf(out, "  %s\n", row->metric);
}

static inline void made_write_rows(FILE *out, const struct made_table *table)
{
	bool had_fails = false;

	for (unsigned int i = 0; i < table->nr_rows; i++) {
		if (!table->rows[i].is_fail)
			continue;
		if (!had_fails)
			(void)fputs("       fail:runs  %reproduction    fail:runs\n"
				    "           |             |             |    \n",
				    out);
		had_fails = true;
		made_write_row(out, &table->rows[i], table->nr_columns);
	}
	(void)fputs("         %stddev", out);
	for (unsigned int i = 1; i < table->nr_columns; i++)
		(void)fputs("     %change         %stddev", out);
	(void)fputs("\n             \\", out);
	for (unsigned int i = 1; i < table->nr_columns; i++)
		(void)fputs("          |                \\", out);
	(void)fputs("  \n", out);
	for (unsigned int i = 0; i < table->nr_rows; i++)
		if (!table->rows[i].is_fail)
			made_write_row(out, &table->rows[i], table->nr_columns);
	(void)fputs("\n\n", out);
}

/* The text of the mail; the caller's to free. */
static inline char *made_write(const struct made *made)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	made_write_facts(out, made);
	made_write_boxes(out, made);
	(void)fputs(
		"Details are as below:\n----------------------------------------------------------"
		"---------------------------------------->\n\n\n",
		out);
	for (unsigned int i = 0; i < made->nr_tables; i++) {
		const struct made_table *table = &made->tables[i];

		if (i > 0) {
			(void)fputs(
				"*****************************************************************"
				"**********************************\n",
				out);
			(void)fprintf(out, "%s: ", table->box);
			made_write_machine(out, table);
			(void)fputs("\n", out);
		}
		(void)fputs("====================================================================="
			    "====================\n",
			    out);
		made_write_keys(out, table);
		made_write_head(out, table);
		made_write_rows(out, table);
	}
	(void)fputs("\nDisclaimer:\nResults have been made up.\n\n\n-- \nnobody's test service\n",
		    out);
	(void)fclose(out);
	return text;
}

#endif
