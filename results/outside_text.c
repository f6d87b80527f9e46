/*
 * outside_text: what will-it-scale's runtest.py and netperf print.
 *
 *     tasks,processes,processes_idle,threads,threads_idle,linear
 *     1,2512341,50.1,2498133,50.2,2512341
 *
 *     MIGRATED TCP STREAM TEST from …     the title says which test
 *     …  10^6bits/sec                     its units
 *     131072  16384  16384  10.00  21345.60      the first line of numbers only: the figures
 */
#include "results/outside.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIELDS 12

/* "1.5e3" at *text, without signs of infinity, hexadecimal digits or blanks; moves behind it. */
static bool take_number(const char **text, double *ret_value)
{
	size_t length = strspn(*text, "0123456789.eE+-");
	double value;
	char *end;

	if (!length || !isdigit((unsigned char)(*text)[**text == '-']))
		return false;
	value = strtod(*text, &end);
	if (end != *text + length || !isfinite(value))
		return false;
	*text = end;
	*ret_value = value;
	return true;
}

/* Numbers with one of `between` between them, and nothing else up to the line's end; 0: it is not so. */
static size_t take_fields(const char *line, size_t length, const char *between, double *ret_fields)
{
	const char *end = line + length;
	size_t nr = 0;

	while (length && isspace((unsigned char)end[-1]) && end > line)
		end--;
	if (*between == ' ')
		line += strspn(line, " \t");
	while (line < end && nr < FIELDS) {
		if (!take_number(&line, &ret_fields[nr++]))
			return 0;
		if (line >= end)
			return nr;
		if (!strchr(between, *line))
			return 0;
		line += *between == ' ' ? strspn(line, between) : 1;
	}
	return 0;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

static bool is_blank(const char *line, size_t length)
{
	return strspn(line, " \t\r") >= length;
}

/* --- will-it-scale --- */

static const char wis_head[] = "tasks,processes,processes_idle,threads,threads_idle,linear";

bool zm_outside_is_wis(const char *text)
{
	return !strncmp(text, wis_head, sizeof(wis_head) - 1) &&
	       is_blank(text + sizeof(wis_head) - 1, strcspn(text + sizeof(wis_head) - 1, "\n"));
}

/* "results/page_fault1.2.csv" -> "page_fault1" */
static int name_test(const char *path, char *name, size_t size, struct zm_why *why)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t length = strspn(base, allowed);

	if (length == 0 || length >= size || (base[length] && base[length] != '.'))
		return zm_why_set(why, -EINVAL,
				  "%s: runtest.py does not print which test it ran: name the file "
				  "after it (page_fault1.csv)",
				  path);
	(void)snprintf(name, size, "%.*s", (int)length, base);
	return 0;
}

/* Processes or threads of one line; a column of a mode that did not run is 0. */
static int add_mode(struct zm_outside *outside, const char *path, const char *test,
		    unsigned int nr_tasks, bool is_thread, double ops, struct zm_why *why)
{
	char cell[96], metric[64];
	int error;

	if (ops == 0)
		return 0;
	(void)snprintf(cell, sizeof(cell), "{\"mode\":\"%s\",\"nr_task\":\"%u\"}",
		       is_thread ? "thread" : "process", nr_tasks);
	(void)snprintf(metric, sizeof(metric), "will-it-scale.%u.%s", nr_tasks,
		       is_thread ? "threads" : "processes");
	error = zm_outside_add_run(
		outside, &(struct zm_outside_run){ .workload = test, .cell = cell, .boot = path },
		why);
	if (!error)
		error = zm_outside_add_result(outside,
					      is_thread ? "will-it-scale.per_thread_ops"
							: "will-it-scale.per_process_ops",
					      ops / nr_tasks, why);
	return error ? error : zm_outside_add_result(outside, metric, ops, why);
}

int zm_outside_read_wis(struct zm_outside *outside, const char *path, const char *text,
			struct zm_why *why)
{
	char test[64];
	unsigned int number = 1;
	int error = name_test(path, test, sizeof(test), why);

	for (const char *line = next_line(text); *line && !error; line = next_line(line)) {
		size_t length = strcspn(line, "\n");
		double fields[FIELDS];

		number++;
		if (is_blank(line, length))
			continue;
		if (take_fields(line, length, ",", fields) != 6 || fields[0] < 0 ||
		    fields[0] > 1e6 || fields[0] != floor(fields[0]) || fields[1] < 0 ||
		    fields[3] < 0)
			return zm_why_set(why, -EINVAL, "%s: line %u: not what runtest.py prints",
					  path, number);
		if (fields[0] == 0) /* where its plots begin */
			continue;
		error = add_mode(outside, path, test, (unsigned int)fields[0], false, fields[1],
				 why);
		if (!error)
			error = add_mode(outside, path, test, (unsigned int)fields[0], true,
					 fields[3], why);
	}
	if (!error && outside->nr == 0)
		return zm_why_set(why, -EINVAL, "%s: no number of tasks was measured", path);
	return error;
}

/* --- netperf --- */

static const struct netperf_test {
	const char *title, *workload;
	bool is_rr;
	size_t nr_fields; /* at least; CPU use, when asked for, stands behind them */
	size_t field;     /* which one is the figure */
} netperf_tests[] = {
	{ "TCP STREAM", "tcp_stream", false, 5, 4 },
	{ "TCP MAERTS", "tcp_maerts", false, 5, 4 },
	{ "TCP SENDFILE", "tcp_sendfile", false, 5, 4 },
	{ "SCTP 1-TO-1 STREAM", "sctp_stream", false, 5, 4 },
	{ "SCTP 1-TO-MANY STREAM", "sctp_stream_many", false, 5, 4 },
	{ "UDP STREAM", "udp_stream", false, 6, 5 },
	{ "UDP UNIDIRECTIONAL SEND", "udp_stream", false, 6, 5 },
	{ "TCP REQUEST/RESPONSE", "tcp_rr", true, 6, 5 },
	{ "UDP REQUEST/RESPONSE", "udp_rr", true, 6, 5 },
	{ "TCP Connect/Request/Response", "tcp_crr", true, 6, 5 },
	{ "SCTP 1-TO-1 REQUEST/RESPONSE", "sctp_rr", true, 6, 5 },
	{ "SCTP 1-TO-MANY REQUEST/RESPONSE", "sctp_rr_many", true, 6, 5 },
};

/* Where the line has " TEST from ", NULL: it is no title. */
static const char *end_of_title(const char *line)
{
	static const char mark[] = " TEST from ";

	/* within the line: a long text is not searched once for each of its lines */
	return memmem(line, strcspn(line, "\n"), mark, sizeof(mark) - 1);
}

bool zm_outside_is_netperf(const char *text)
{
	return strstr(text, " TEST from ") != NULL;
}

static const struct netperf_test *find_test(const char *title, const char *end)
{
	static const char migrated[] = "MIGRATED ";
	size_t length;

	if (!strncmp(title, migrated, sizeof(migrated) - 1))
		title += sizeof(migrated) - 1;
	length = (size_t)(end - title);
	for (size_t i = 0; i < sizeof(netperf_tests) / sizeof(netperf_tests[0]); i++) {
		const char *name = netperf_tests[i].title;

		if (strlen(name) == length && !strncasecmp(name, title, length))
			return &netperf_tests[i];
	}
	return NULL;
}

/* From its title up to the next one. */
struct netperf_output {
	const struct netperf_test *test;
	bool has_unit;
	double value, received; /* NaN: not there */
};

/* A line of numbers: the figures, or what arrived of UDP's. */
static bool take_figures(struct netperf_output *output, const char *line, size_t length)
{
	const struct netperf_test *test = output->test;
	double fields[FIELDS];
	size_t nr = take_fields(line, length, " \t", fields);

	if (isnan(output->value)) {
		if (nr >= test->nr_fields)
			output->value = fields[test->field];
		return nr < test->nr_fields || output->value >= 0;
	}
	if (!test->is_rr && test->nr_fields == 6 && nr >= 4 && isnan(output->received))
		output->received = fields[3];
	return isnan(output->received) || output->received >= 0;
}

static int add_output(struct zm_outside *outside, const char *path,
		      const struct netperf_output *output, struct zm_why *why)
{
	bool has_failed = isnan(output->value);
	int error;

	if (!has_failed && !output->has_unit)
		return zm_why_set(why, -EINVAL,
				  "%s: %s in a unit that is not netperf's own (%s): run it "
				  "without -f",
				  path, output->test->title,
				  output->test->is_rr ? "per sec" : "10^6bits/sec");
	error = zm_outside_add_run(outside,
				   &(struct zm_outside_run){ .workload = output->test->workload,
							     .cell = "{\"nr_task\":\"1\"}",
							     .boot = path,
							     .has_failed = has_failed },
				   why);
	if (error || has_failed)
		return error;
	error = zm_outside_add_result(
		outside, output->test->is_rr ? "netperf.Throughput_tps" : "netperf.Throughput_Mbps",
		output->value, why);
	if (!error && !isnan(output->received))
		error = zm_outside_add_result(outside, "netperf.ThroughputRecv_Mbps",
					      output->received, why);
	return error;
}

static int read_output(struct zm_outside *outside, const char *path, const char **text,
		       struct zm_why *why)
{
	const char *line = *text, *end = end_of_title(line);
	struct netperf_output output = { .value = NAN, .received = NAN };
	const char *unit;

	output.test = find_test(line, end);
	if (!output.test)
		return zm_why_set(why, -EINVAL, "%s: netperf's %.*s is not read", path,
				  (int)(end - line < 60 ? end - line : 60), line);
	unit = output.test->is_rr ? "per sec" : "10^6bits/s";
	for (line = next_line(line); *line && !end_of_title(line); line = next_line(line)) {
		size_t length = strcspn(line, "\n");

		output.has_unit |= memmem(line, length, unit, strlen(unit)) != NULL;
		if (!take_figures(&output, line, length))
			return zm_why_set(why, -EINVAL, "%s: a throughput below 0", path);
	}
	*text = line;
	return add_output(outside, path, &output, why);
}

int zm_outside_read_netperf(struct zm_outside *outside, const char *path, const char *text,
			    struct zm_why *why)
{
	int error = 0;

	while (*text && !error) {
		if (end_of_title(text))
			error = read_output(outside, path, &text, why);
		else
			text = next_line(text);
	}
	return error;
}
