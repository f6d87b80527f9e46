/*
 * paired: two commands, launched by turns, and the ratio of the figures they print.
 *
 *     paired [--launches N] [--metric NAME] [--most PERCENT] COMMAND-A COMMAND-B
 *
 *     A B   B A   A B   B A  …      each pair's order turns, so that a drift favours neither
 *
 * A command goes to sh. Its figure is, in JSON on its stdout, the number of that name (as a key, or
 * the "value" or "median" of an object whose "metric" or "name" it is), else the last line's number. --most: the
 * answer is no (exit 1) when the whole interval lies further than that from 1. Exit 2: a command failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/pair.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define OUTPUT_SIZE ((size_t)4 << 20)

struct arguments {
	uint64_t launches;
	const char *metric;
	double most_percent; /* below 0: no answer is asked for */
	const char *commands[2];
};

static bool parse_switch(struct arguments *arguments, const char *name, const char *value)
{
	if (strcmp(name, "--launches") == 0)
		return zm_units_parse_u64(value, &arguments->launches) == 0 &&
		       arguments->launches > 0 && arguments->launches <= ZM_PAIR_MOST;
	if (strcmp(name, "--most") == 0)
		return zm_units_parse_double(value, &arguments->most_percent) == 0;
	if (strcmp(name, "--metric") == 0)
		arguments->metric = value;
	return arguments->metric == value;
}

static bool parse(int argc, char **argv, struct arguments *arguments)
{
	int nr_commands = 0;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--", 2) != 0) {
			if (nr_commands == 2)
				return false;
			arguments->commands[nr_commands++] = argv[i];
			continue;
		}
		if (i + 1 == argc || !parse_switch(arguments, argv[i], argv[i + 1]))
			return false;
		i++;
	}
	return nr_commands == 2;
}

/* --- one launch ------------------------------------------------------------------------------ */

static pid_t start(const char *command, int *ret_fd)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		if (dup2(ends[1], STDOUT_FILENO) >= 0)
			(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	if (pid < 0)
		(void)close(ends[0]);
	else
		*ret_fd = ends[0];
	return pid;
}

/* All it says, cut at OUTPUT_SIZE. */
static void read_all(int fd, char *text)
{
	size_t length = 0;
	ssize_t n;

	do {
		n = read(fd, text + length, OUTPUT_SIZE - 1 - length);
		length += n > 0 ? (size_t)n : 0;
	} while (length < OUTPUT_SIZE - 1 && (n > 0 || (n < 0 && errno == EINTR)));
	text[length] = '\0';
}

static bool is_named(const json_t *object, const char *key, const char *name)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value && strcmp(value, name) == 0;
}

/* The number of that name, anywhere in it; NULL when there is none. */
static const json_t *find_number(const json_t *json, const char *name)
{
	const json_t *found = json_object_get(json, name);
	const json_t *value;
	const char *key;
	size_t i;

	if (json_is_number(found))
		return found;
	if (is_named(json, "metric", name) || is_named(json, "name", name)) {
		found = json_object_get(json, "value");
		if (!found)
			found = json_object_get(json, "median");
		if (json_is_number(found))
			return found;
	}
	if (json_is_object(json)) {
		json_object_foreach((json_t *)json, key, value)
		{
			found = find_number(value, name);
			if (found)
				return found;
		}
	}
	json_array_foreach(json, i, value)
	{
		found = find_number(value, name);
		if (found)
			return found;
	}
	return NULL;
}

static double number_in_json(const json_t *json, const char *metric)
{
	const json_t *number = metric ? find_number(json, metric) : NULL;

	return number ? json_number_value(number) : NAN;
}

static double number_of_last_line(char *text)
{
	char *line = text;
	double number;

	for (char *end; (end = strchr(line, '\n')) && end[1];)
		line = end + 1;
	line[strcspn(line, "\n")] = '\0';
	return zm_units_parse_double(line, &number) == 0 ? number : NAN;
}

/* NAN: it failed, and that was said. */
static double launch(const struct arguments *arguments, const char *command, char *text)
{
	zm_autoclose int fd = -1;
	pid_t pid = start(command, &fd);
	double number = NAN;
	json_t *json;
	int status;

	if (pid < 0)
		return NAN;
	read_all(fd, text);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0) {
		json = json_loads(text, 0, NULL);
		number = json ? number_in_json(json, arguments->metric) : number_of_last_line(text);
		json_decref(json);
	}
	if (!(number > 0))
		(void)fprintf(stderr, "paired: no figure (wait status %d) from: %s\n", status,
			      command);
	return number;
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool measure(const struct arguments *arguments, double *a, double *b, char *text)
{
	for (uint64_t i = 0; i < arguments->launches; i++) {
		double *figures[2] = { &a[i], &b[i] };

		for (uint64_t turn = 0; turn < 2; turn++) {
			uint64_t which = (i + turn) % 2;

			*figures[which] = launch(arguments, arguments->commands[which], text);
			if (!(*figures[which] > 0))
				return false;
		}
		(void)fprintf(stderr, "pair %llu: %.6g %.6g\n", (unsigned long long)i + 1, a[i],
			      b[i]);
	}
	return true;
}

static void print(const struct arguments *arguments, const struct zm_pair_result *result)
{
	(void)printf("pairs          %llu, order turning\n",
		     (unsigned long long)arguments->launches);
	(void)printf("A              %s\n", arguments->commands[0]);
	(void)printf("B              %s\n", arguments->commands[1]);
	(void)printf("median A       %.6g   launch to launch +-%.2f %%\n", result->median_a,
		     result->spread_a * 100);
	(void)printf("median B       %.6g   launch to launch +-%.2f %%\n", result->median_b,
		     result->spread_b * 100);
	(void)printf("median of A/B  %.5f\n", result->median_ratio);
	(void)printf("A/B            %.5f   [%.5f, %.5f] at %.1f %% (Hodges-Lehmann on logarithms, "
		     "signed-rank interval)\n",
		     result->ratio, result->low, result->high, result->confidence * 100);
}

/* Does all of the interval lie further from 1 than allowed? */
static bool is_too_far(const struct arguments *arguments, const struct zm_pair_result *result)
{
	double most = arguments->most_percent / 100;

	return arguments->most_percent >= 0 && (result->low > 1 + most || result->high < 1 - most);
}

int main(int argc, char **argv)
{
	struct arguments arguments = { .launches = 11, .most_percent = -1 };
	zm_autofree double *a = NULL, *b = NULL;
	zm_autofree char *text = malloc(OUTPUT_SIZE);
	struct zm_pair_result result;

	if (!parse(argc, argv, &arguments)) {
		(void)fprintf(stderr, "usage: paired [--launches N] [--metric NAME] "
				      "[--most PERCENT] COMMAND-A COMMAND-B\n");
		return 2;
	}
	a = calloc(arguments.launches, sizeof(*a));
	b = calloc(arguments.launches, sizeof(*b));
	if (!a || !b || !text || !measure(&arguments, a, b, text) ||
	    zm_pair_compare(a, b, arguments.launches, &result) < 0)
		return 2;
	print(&arguments, &result);
	return is_too_far(&arguments, &result);
}
