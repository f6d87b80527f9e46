/*
 * cmd_record: runs a real build, watches all its processes, and writes what they were as a profile.
 */
#include "runner/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buildload/record.h"
#include "buildload/trace.h"
#include "results/outfile.h"
#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

struct switches {
	char *output, *name;
};

static const struct zm_option rows[] = {
	{ .name = "output",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct switches, output),
	  .unit = "file",
	  .help = "write into this file, whole or not at all; otherwise NAME.json here" },
	{ .name = "name",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct switches, name),
	  .unit = "name",
	  .help = "what the profile is called; otherwise build" },
	{ .name = NULL },
};

/* Texts of a profile are one line each, and not too long. */
static char *join_words(const char *const *words, size_t nr)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; out && i < nr; i++)
		(void)fprintf(out, "%s%s", i ? " " : "", words[i]);
	if (!out || fclose(out))
		return NULL;
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	return text;
}

static char *describe_machine(void)
{
	struct utsname name;
	char *text;

	if (uname(&name) < 0 || asprintf(&text, "%ld CPUs, %s %s %s", sysconf(_SC_NPROCESSORS_ONLN),
					 name.sysname, name.release, name.machine) < 0)
		return NULL;
	return text;
}

/* The first line of what $CC, or cc, says of itself. */
static char *describe_compiler(void)
{
	const char *chosen = getenv("CC");
	const char *const argv[] = { chosen && *chosen && !strchr(chosen, ' ') ? chosen : "cc",
				     "--version", NULL };
	char *text = NULL;

	if (zm_vm_tool_ask(&(struct zm_vm_tool){ .argv = argv, .in_fd = -1 }, &text, NULL) < 0)
		return strdup("not known");
	text[strcspn(text, "\n")] = '\0';
	if (*text)
		return text;
	free(text);
	return strdup("not known");
}

/* -j of a command line: "-j8", "-j 8", "--jobs=8"; 1 without. */
static unsigned int find_slots(const char *const *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *digits = NULL;
		uint64_t slots;

		if (strncmp(words[i], "--jobs=", 7) == 0)
			digits = words[i] + 7;
		else if (strncmp(words[i], "-j", 2) == 0)
			digits = words[i][2] ? words[i] + 2 : i + 1 < nr ? words[i + 1] : NULL;
		if (digits && zm_units_parse_u64(digits, &slots) == 0 && slots > 0 &&
		    slots <= 65536)
			return (unsigned int)slots;
	}
	return 1;
}

static int fail_command(const char *command, int status)
{
	if (WIFSIGNALED(status))
		return zm_cmd_failf(ZM_EXIT_RUN_FAILED,
				    "record: %s was killed by signal %d; nothing is written",
				    command, WTERMSIG(status));
	return zm_cmd_failf(ZM_EXIT_RUN_FAILED,
			    "record: %s ended with status %d; nothing is written", command,
			    WEXITSTATUS(status));
}

static int write_profile(const char *name, const char *path, const struct zm_trace *trace,
			 const char *const *words, size_t nr_words, struct zm_why *why)
{
	zm_autofree char *command = join_words(words, nr_words);
	zm_autofree char *machine = describe_machine();
	zm_autofree char *compiler = describe_compiler();
	struct zm_record_about about = { name, command, machine, compiler,
					 find_slots(words, nr_words) };
	struct zm_profile *profile = NULL;
	int r = 0;

	if (!command || !machine || !compiler)
		r = zm_why_errno(why, -ENOMEM, "making a profile");
	if (r == 0)
		r = zm_record_profile(trace, &about, &profile, why);
	if (r == 0)
		r = zm_profile_write(profile, path, why);
	if (r == 0)
		(void)fprintf(stderr,
			      "%zu processes in %.1f s: %zu programs, %zu forms of jobs, %zu "
			      "stages, in %s\n",
			      trace->nr, (double)trace->wall_ns / 1e9, profile->nr_classes,
			      profile->nr_recipes, profile->nr_stages, path);
	zm_profile_free(profile);
	return r;
}

/* Before the build, which may be long: that there will be a place for its profile. */
static int find_output(const struct switches *switches, char **ret_path, struct zm_why *why)
{
	char *path = NULL;
	int r;

	if (switches->output)
		path = strdup(switches->output);
	else if (asprintf(&path, "%s.json", switches->name ? switches->name : "build") < 0)
		path = NULL;
	r = path ? zm_outfile_check(path, why) : zm_why_errno(why, -ENOMEM, "making a profile");
	if (r < 0)
		free(path);
	else
		*ret_path = path;
	return r;
}

static int record(const struct switches *switches, const char *const *words, size_t nr_words)
{
	zm_autofree const char **argv = calloc(nr_words + 1, sizeof(*argv));
	zm_autofree char *path = NULL;
	struct zm_trace *trace = NULL;
	struct zm_why why = { "" };
	int status, r;

	if (!argv)
		return zm_cmd_failf(ZM_EXIT_USAGE, "record: no memory");
	memcpy(argv, words, nr_words * sizeof(*argv));
	r = find_output(switches, &path, &why);
	if (r == 0)
		r = zm_trace_run(argv, &trace, &status, &why);
	if (r == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
		zm_trace_free(trace);
		return fail_command(words[0], status);
	}
	if (r == 0)
		r = write_profile(switches->name ? switches->name : "build", path, trace, words,
				  nr_words, &why);
	zm_trace_free(trace);
	if (r == 0)
		return ZM_EXIT_OK;
	zm_why_prefix(&why, "record");
	return zm_cmd_fail(ZM_EXIT_USAGE, &why);
}

static int run(const struct zm_args *args)
{
	if (args->nr_words == 0 || strcmp(args->words[0], "kbuild") != 0)
		return zm_cmd_failf(ZM_EXIT_USAGE, "record: what is recorded is a build: "
						   "zonemark record kbuild -- make -j2");
	if (args->nr_words == 1)
		return zm_cmd_failf(ZM_EXIT_USAGE, "record kbuild: which command? "
						   "zonemark record kbuild -- make -j2");
	return record(args->switches, args->words + 1, args->nr_words - 1);
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "record a real build as a profile that kbuild replays",
	.usage = "kbuild [--output FILE] [--name NAME] -- COMMAND …",
	.details = "Runs the command, which may be any build (make, ninja, a script), and watches "
		   "each "
		   "of its processes from its fork to its exit: what it is, how its memory grows "
		   "against its CPU time, its faults, the files it opens and what it reads and "
		   "writes, and in which trees the processes come. What is written is a small JSON "
		   "file, described in docs/buildload.md; kbuild profile=FILE replays it.\n\n"
		   "The build should begin from nothing (make clean): what is up to date starts no "
		   "process. It takes a little longer than usual, as each process is stopped for a "
		   "moment at its forks, its growths and its opens. No root is needed.",
	.examples = "zonemark record kbuild --name tiny -- make O=/tmp/tiny -j2 vmlinux\ta kernel "
		    "configured in /tmp/tiny\n"
		    "zonemark run kbuild profile=tiny.json\tthe same, emulated",
	.completes = "files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
