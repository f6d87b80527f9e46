/*
 * need: on a small made-up machine, each kind of need is met or gives one sentence that names what is
 * missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/need.h"

struct machine {
	char path[64];
	struct zm_sysroot root;
	struct zm_topology topology;
};

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[192];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *folder, const char *name)
{
	char path[192];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/* Two CPUs, two nodes of which one has memory, TCP and no SCTP. */
static int set_up(void **state)
{
	static struct zm_node nodes[] = { { .node = 0, .memory_bytes = 1 << 30, .nr_cpus = 2 },
					  { .node = 1 } };
	struct machine *machine = calloc(1, sizeof(*machine));

	assert_non_null(machine);
	(void)snprintf(machine->path, sizeof(machine->path), "/tmp/zonemark-test-need-%ld",
		       (long)getpid());
	make_folder(machine->path, "");
	make_folder(machine->path, "proc");
	make_folder(machine->path, "proc/net");
	write_file(machine->path, "proc/net/protocols",
		   "protocol  size sockets  memory press maxhdr\n"
		   "UDP-Lite  1408      0       0   NI       0\n"
		   "TCP       2496      4       1   no     320\n");
	assert_int_equal(zm_sysroot_open(&machine->root, machine->path), 0);
	machine->topology.nr_cpus = 2;
	machine->topology.nodes = nodes;
	machine->topology.nr_nodes = 2;
	*state = machine;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "/proc/net/protocols", "/proc/net", "/proc", "" };
	struct machine *machine = *state;
	char path[192];

	zm_sysroot_release(&machine->root);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", machine->path, names[i]);
		assert_int_equal(remove(path), 0);
	}
	free(machine);
	return 0;
}

static void what_is_there_is_enough(void **state)
{
	static const char *const protocols[] = { "TCP", "UDP-Lite", NULL };
	static const char *const files[] = { "proc/net/protocols", NULL };
	static const char *const commands[] = { "sh", "cat", NULL };
	static const struct zm_need needs[] = {
		{ 0 },
		{ .min_cpus = 2, .min_nodes = 1 },
		{ .protocols = protocols, .files = files, .commands = commands },
	};
	struct machine *machine = *state;

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		struct zm_why why = { .text = "" };

		assert_int_equal(zm_need_check(&needs[i], &machine->root, &machine->topology, &why),
				 0);
		assert_string_equal(why.text, "");
	}
}

static void what_is_missing_is_named(void **state)
{
	static const char *const sctp[] = { "TCP", "SCTP", NULL };
	static const char *const start[] = { "UDP", NULL }; /* only UDP-Lite is there */
	static const char *const files[] = { "sys/kernel/mm/hugepages", NULL };
	static const char *const commands[] = { "sh", "no-such-program", NULL };
	static const struct {
		struct zm_need need;
		const char *says;
	} cases[] = {
		{ { .min_cpus = 3 }, "needs 3 CPUs; this process may use 2" },
		{ { .min_nodes = 2 }, "needs 2 nodes with memory; this machine has 1" },
		{ { .protocols = sctp }, "SCTP" },
		{ { .protocols = start }, "UDP" },
		{ { .files = files }, "/sys/kernel/mm/hugepages" },
		{ { .commands = commands }, "no-such-program" },
	};
	struct machine *machine = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_why why = { .text = "" };

		assert_int_equal(
			zm_need_check(&cases[i].need, &machine->root, &machine->topology, &why),
			-ENOTSUP);
		assert_non_null(strstr(why.text, cases[i].says));
	}
}

static void root_is_needed_of_who_is_not(void **state)
{
	static const struct zm_need need = { .root = true };
	struct machine *machine = *state;
	struct zm_why why = { .text = "" };
	int r = zm_need_check(&need, &machine->root, &machine->topology, &why);

	assert_int_equal(r, geteuid() == 0 ? 0 : -ENOTSUP);
	assert_true(geteuid() == 0 || strstr(why.text, "sudo"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_enough),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(root_is_needed_of_who_is_not),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
