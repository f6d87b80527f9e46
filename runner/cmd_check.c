/*
 * cmd_check: what this machine is, and what on it would spoil a result.
 *
 *     inventory -> rows of text, or the object as it is
 *     spoilers  -> each with its mend; with --strict one of them makes the answer no
 */
#include "runner/cmd.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runner/help.h"
#include "runner/inventory.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"
#include "workloads/base/units.h"

#define SPOILERS_MAX 32
#define TEXT_SIZE    4096

struct switches {
	bool json;
	bool strict;
	char *root;
};

/* --- the inventory as text ------------------------------------------------------------------- */

/* A row's text; stays "" when nothing of it is known, and the row is left out. */
struct text {
	char buf[TEXT_SIZE];
	size_t length;
};

static void say(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	if (text->length >= sizeof(text->buf))
		return;
	va_start(arguments, format);
	length = vsnprintf(text->buf + text->length, sizeof(text->buf) - text->length, format,
			   arguments);
	va_end(arguments);
	text->length += length > 0 ? (size_t)length : 0;
}

static const char *string_of(const json_t *object, const char *key)
{
	const char *string = json_string_value(json_object_get(object, key));

	return string ? string : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *plural(json_int_t nr)
{
	return nr == 1 ? "" : "s";
}

static void say_bytes(struct text *text, json_int_t bytes)
{
	char human[32];

	say(text, "%s", zm_units_human_bytes(human, sizeof(human), (double)bytes));
}

/* ", " before all but the first. */
static void say_next(struct text *text)
{
	if (text->length)
		say(text, ", ");
}

/* "LABEL VALUE", when the value is known. */
static void say_fact(struct text *text, const char *label, const char *value)
{
	if (!*value)
		return;
	say_next(text);
	say(text, "%s%s", label, value);
}

static void say_cpu(const json_t *inventory, struct text *text)
{
	const char *vendor = string_of(inventory, "cpu_vendor");

	say(text, "%s", string_of(inventory, "cpu_model"));
	if (*vendor)
		say(text, " (%s)", vendor);
	say_fact(text, "microcode ", string_of(inventory, "microcode"));
}

static void say_number(struct text *text, json_int_t nr, const char *noun)
{
	if (!nr)
		return;
	say_next(text);
	say(text, "%lld %s%s", (long long)nr, noun, plural(nr));
}

static void say_topology(const json_t *inventory, struct text *text)
{
	json_int_t threads = number_of(inventory, "smt"), kinds = number_of(inventory, "cpu_kinds");
	json_int_t llc_bytes = number_of(inventory, "llc_bytes");

	say_number(text, number_of(inventory, "sockets"), "socket");
	say_number(text, number_of(inventory, "cores"), "core");
	if (kinds > 1)
		say(text, " of %lld kinds", (long long)kinds);
	if (threads > 1)
		say(text, ", %s%lld threads each", kinds > 1 ? "up to " : "", (long long)threads);
	else if (threads)
		say(text, ", no SMT");
	say_number(text, number_of(inventory, "llcs"), "last-level cache");
	if (llc_bytes) {
		say(text, " of ");
		say_bytes(text, llc_bytes);
	}
}

static void say_cpus(const json_t *inventory, struct text *text)
{
	json_int_t online = number_of(inventory, "cpus_online");
	json_int_t allowed = number_of(inventory, "cpus_allowed");

	say(text, "%lld online (%s)", (long long)online, string_of(inventory, "cpus_online_list"));
	if (allowed == online)
		say(text, ", all may be used");
	else
		say(text, ", %lld may be used (%s)", (long long)allowed,
		    string_of(inventory, "cpus_allowed_list"));
}

static void say_memory(const json_t *inventory, struct text *text)
{
	const json_t *swap = json_object_get(inventory, "swap_bytes");
	json_int_t swap_bytes = json_integer_value(swap);

	if (!json_object_get(inventory, "memory_bytes"))
		return;
	say_bytes(text, number_of(inventory, "memory_bytes"));
	if (swap && !swap_bytes)
		say(text, ", no swap");
	if (!swap_bytes)
		return;
	say(text, ", swap ");
	say_bytes(text, swap_bytes);
	say(text, " (");
	say_bytes(text, number_of(inventory, "swap_used_bytes"));
	say(text, " in use)");
}

static void say_nodes(const json_t *inventory, struct text *text)
{
	json_t *node;
	size_t i;

	json_array_foreach(json_object_get(inventory, "nodes"), i, node)
	{
		json_int_t bytes = number_of(node, "memory_bytes");
		const char *cpus = string_of(node, "cpus");

		say(text, "%s%lld: ", i ? "; " : "", (long long)number_of(node, "node"));
		if (bytes)
			say_bytes(text, bytes);
		else
			say(text, "no memory");
		say(text, *cpus ? ", CPUs %s" : ", no CPUs", cpus);
	}
}

static void say_hugepages(const json_t *inventory, struct text *text)
{
	json_t *value;
	const char *key;
	size_t i;

	say_fact(text, "THP ", string_of(inventory, "thp_enabled"));
	say_fact(text, "defrag ", string_of(inventory, "thp_defrag"));
	json_object_foreach(json_object_get(inventory, "thp_sizes"), key, value)
	{
		if (strcmp(json_string_value(value), "never") != 0) {
			say_fact(text, key, " ");
			say(text, "%s", json_string_value(value));
		}
	}
	json_array_foreach(json_object_get(inventory, "hugepage_sizes"), i, value)
	{
		say(text, "%s", i ? ", " : text->length ? "; pools of " : "pools of ");
		say_bytes(text, json_integer_value(value));
	}
}

static void say_frequency(const json_t *inventory, struct text *text)
{
	const json_t *turbo = json_object_get(inventory, "turbo");

	say_fact(text, "governor ", string_of(inventory, "governor"));
	say_fact(text, "driver ", string_of(inventory, "frequency_driver"));
	if (turbo)
		say_fact(text, "turbo ", json_is_true(turbo) ? "on" : "off");
	if (!text->length)
		say(text, "not scaled by this kernel");
}

static void say_kernel(const json_t *inventory, struct text *text)
{
	say(text, "%s", string_of(inventory, "kernel"));
	if (text->length && json_object_get(inventory, "kernel_version"))
		say(text, " %s", string_of(inventory, "kernel_version"));
}

static void say_command_line(const json_t *inventory, struct text *text)
{
	say(text, "%s", string_of(inventory, "command_line"));
}

static void say_mitigations(const json_t *inventory, struct text *text)
{
	json_t *value;
	const char *name;

	json_object_foreach(json_object_get(inventory, "mitigations"), name, value)
	{
		if (strcmp(json_string_value(value), "Not affected") == 0)
			continue;
		say(text, "%s%s: %s", text->length ? "; " : "", name, json_string_value(value));
	}
	if (!text->length && json_object_get(inventory, "mitigations"))
		say(text, "none needed");
}

static void say_hypervisor(const json_t *inventory, struct text *text)
{
	const char *hypervisor = string_of(inventory, "hypervisor");

	say(text, "%s", *hypervisor ? hypervisor : "none seen");
}

static void say_cgroup(const json_t *inventory, struct text *text)
{
	const json_t *cgroup = json_object_get(inventory, "cgroup");
	const json_t *quota = json_object_get(cgroup, "cpu_quota");
	json_int_t limit = number_of(cgroup, "memory_limit_bytes");
	json_int_t high = number_of(cgroup, "memory_high_bytes");

	say(text, "%s", string_of(cgroup, "mode"));
	if (limit) {
		say_fact(text, "memory limit", " ");
		say_bytes(text, limit);
	}
	if (high) {
		say_fact(text, "memory.high", " ");
		say_bytes(text, high);
	}
	if (quota) {
		say_next(text);
		say(text, "quota of %.2f CPUs", json_real_value(quota));
	}
	say_fact(text, "cpuset ", string_of(cgroup, "cpuset"));
}

static void say_system(const json_t *inventory, struct text *text)
{
	say_fact(text, "", string_of(inventory, "distribution"));
	say_fact(text, "", string_of(inventory, "libc"));
	say_fact(text, "on ", string_of(inventory, "product"));
}

static const struct {
	const char *label;
	void (*say)(const json_t *inventory, struct text *text);
} rows_of_text[] = {
	{ "CPU", say_cpu },
	{ "Topology", say_topology },
	{ "CPUs", say_cpus },
	{ "Memory", say_memory },
	{ "Nodes", say_nodes },
	{ "Huge pages", say_hugepages },
	{ "Frequency", say_frequency },
	{ "Hypervisor", say_hypervisor },
	{ "Kernel", say_kernel },
	{ "Command line", say_command_line },
	{ "Mitigations", say_mitigations },
	{ "Cgroup", say_cgroup },
	{ "System", say_system },
};

static void print_inventory(const json_t *inventory)
{
	(void)puts("This machine:");
	for (size_t i = 0; i < sizeof(rows_of_text) / sizeof(rows_of_text[0]); i++) {
		struct text text = { .length = 0 };

		rows_of_text[i].say(inventory, &text);
		if (text.length)
			zm_help_columns(stdout, 2, 14, rows_of_text[i].label, text.buf);
	}
}

/* --- the answer ------------------------------------------------------------------------------ */

static void print_spoilers(const struct zm_spoiler *spoilers, size_t nr)
{
	if (nr == 0) {
		(void)puts("\nNothing was found that would spoil a result.");
		return;
	}
	(void)puts("\nWhat would spoil a result, and how to mend it:");
	for (size_t i = 0; i < nr; i++) {
		zm_help_columns(stdout, 2, 14, spoilers[i].name, spoilers[i].what);
		zm_help_columns(stdout, 2, 14, "", spoilers[i].mend);
	}
}

static int print_json(json_t *inventory, const struct zm_spoiler *spoilers, size_t nr)
{
	json_t *array = json_array();
	json_t *answer;
	int error;

	for (size_t i = 0; i < nr; i++)
		(void)json_array_append_new(
			array, json_pack("{s:s, s:s, s:s}", "name", spoilers[i].name, "what",
					 spoilers[i].what, "mend", spoilers[i].mend));
	answer = json_pack("{s:O, s:o}", "inventory", inventory, "spoilers", array);
	if (!answer)
		return zm_cmd_failf(ZM_EXIT_USAGE, "check: out of memory");
	error = json_dumpf(answer, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(answer);
	return error ? ZM_EXIT_USAGE : ZM_EXIT_OK;
}

static int check(const struct switches *switches, const struct zm_sysroot *root,
		 const struct zm_topology *topology)
{
	struct zm_spoiler spoilers[SPOILERS_MAX];
	json_t *inventory;
	struct zm_why why;
	int status = ZM_EXIT_OK;
	size_t nr;

	if (zm_inventory_read(root, topology, &inventory, &why))
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	nr = zm_inventory_spoilers(root, topology, spoilers, SPOILERS_MAX);
	if (switches->json) {
		status = print_json(inventory, spoilers, nr);
	} else {
		print_inventory(inventory);
		print_spoilers(spoilers, nr);
	}
	json_decref(inventory);
	return status == ZM_EXIT_OK && switches->strict && nr ? ZM_EXIT_NO : status;
}

static int run(const struct zm_args *args)
{
	const struct switches *switches = args->switches;
	struct zm_sysroot root;
	struct zm_topology topology;
	struct zm_why why;
	int status, error;

	if (args->nr_words)
		return zm_cmd_failf(ZM_EXIT_USAGE, "check takes no word, and got %s",
				    args->words[0]);
	error = zm_sysroot_open(&root, switches->root);
	if (error) {
		(void)zm_why_errno(&why, error, "cannot open --root %s", switches->root);
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	if (zm_topology_read(&root, NULL, &topology, &why)) {
		zm_sysroot_release(&root);
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	status = check(switches, &root, &topology);
	zm_topology_release(&topology);
	zm_sysroot_release(&root);
	return status;
}

static const struct zm_option rows[] = {
	{ .name = "json",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct switches, json),
	  .preset = "0",
	  .help = "answer in JSON" },
	{ .name = "strict",
	  .type = ZM_OPTION_BOOL,
	  .offset = offsetof(struct switches, strict),
	  .preset = "0",
	  .help = "exit with 1 when something would spoil a result" },
	{ .name = "root",
	  .type = ZM_OPTION_STRING,
	  .offset = offsetof(struct switches, root),
	  .unit = "directory",
	  .help = "a recorded machine (proc, sys and etc below it) instead of this one" },
	{ .name = NULL },
};

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "show what this machine is, and what on it would spoil a result",
	.usage = "",
	.details =
		"Looks at the machine for 0.3 seconds. What cannot be read (without root, in a "
		"container) is left out, never guessed; each spoiler comes with the command that "
		"mends it.",
	.examples = "zonemark check\tthis machine\n"
		    "zonemark check --strict\tfor a script: 1 when something would spoil a result\n"
		    "zonemark check --json\tfor a program",
	.completes = "",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.run = run,
};
