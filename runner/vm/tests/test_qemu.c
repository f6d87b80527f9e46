/*
 * qemu: the line for each topology and accelerator; what must never be on it, is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runner/vm/qemu.h"

#define MAX_PAIRS 12

/* Does the line have these two words, one behind the other? */
static bool has_pair(char **argv, const char *first, const char *second)
{
	for (size_t i = 0; argv[i] && argv[i + 1]; i++)
		if (strcmp(argv[i], first) == 0 && strcmp(argv[i + 1], second) == 0)
			return true;
	return false;
}

static size_t count(char **argv, const char *word)
{
	size_t n = 0;

	for (size_t i = 0; argv[i]; i++)
		n += strcmp(argv[i], word) == 0;
	return n;
}

static char **line_of(const char *topology, unsigned int cpus, enum zm_vm_accel accel,
		      const char *append)
{
	struct zm_vm_spec spec = { .accel = accel,
				   .kernel = "/k",
				   .initramfs = "/i",
				   .append = append,
				   .channel_fd = 7,
				   .talk_fd = 9,
				   .channel_bytes = 4096 };
	char **argv;

	assert_int_equal(zm_vm_shape_parse(topology, cpus, UINT64_C(2) << 30, &spec.shape, NULL),
			 0);
	assert_int_equal(zm_vm_qemu_argv(&spec, &argv), 0);
	return argv;
}

static void topologies_become_arguments(void **state)
{
	static const struct {
		const char *topology;
		unsigned int cpus;
		size_t nr_numa;
		const char *pairs[MAX_PAIRS][2];
	} cases[] = {
		{ "1s", 2, 0, { { "-smp", "2,sockets=1,cores=2,threads=1" }, { "-m", "2048M" } } },
		{ "2s",
		  4,
		  3,
		  { { "-smp", "4,sockets=2,cores=2,threads=1" },
		    { "-object", "memory-backend-ram,id=node0,size=1073741824" },
		    { "-object", "memory-backend-ram,id=node1,size=1073741824" },
		    { "-numa", "node,nodeid=0,cpus=0-1,memdev=node0" },
		    { "-numa", "node,nodeid=1,cpus=2-3,memdev=node1" },
		    { "-numa", "dist,src=0,dst=1,val=20" } } },
		{ "2s,nodes=3,cpuless=2,memless=1,distance=0-1:16",
		  4,
		  6,
		  { { "-numa", "node,nodeid=0,cpus=0-1,memdev=node0" },
		    { "-numa", "node,nodeid=1,cpus=2-3" },
		    { "-numa", "node,nodeid=2,memdev=node2" },
		    { "-numa", "dist,src=0,dst=1,val=16" },
		    { "-numa", "dist,src=0,dst=2,val=20" },
		    { "-numa", "dist,src=1,dst=2,val=20" },
		    { "-m", "2048M" } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char **argv = line_of(cases[i].topology, cases[i].cpus, ZM_VM_TCG, NULL);

		assert_int_equal(count(argv, "-numa"), cases[i].nr_numa);
		for (size_t p = 0; p < MAX_PAIRS && cases[i].pairs[p][0]; p++)
			assert_true(has_pair(argv, cases[i].pairs[p][0], cases[i].pairs[p][1]));
		free(argv);
	}
}

static void accelerators_become_arguments(void **state)
{
	static const struct {
		enum zm_vm_accel accel;
		const char *append, *accel_word, *cpu, *end;
	} cases[] = {
		{ ZM_VM_KVM, NULL, "kvm", "host", "nowatchdog random.trust_cpu=on" },
		{ ZM_VM_KVM, "a b=c", "kvm", "host", "nowatchdog random.trust_cpu=on a b=c" },
		{ ZM_VM_TCG, NULL, "tcg,thread=multi", "max,erms=off,fsrm=off",
		  "nowatchdog random.trust_cpu=on tsc=reliable no_timer_check "
		  "clearcpuid=rep_good" },
		{ ZM_VM_TCG, "x", "tcg,thread=multi", "max,erms=off,fsrm=off", "rep_good x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char **argv = line_of("1s", 1, cases[i].accel, cases[i].append);
		const char *append = NULL;
		size_t length, end = strlen(cases[i].end);

		assert_true(has_pair(argv, "-accel", cases[i].accel_word));
		assert_true(has_pair(argv, "-cpu", cases[i].cpu));
		assert_true(has_pair(argv, "-kernel", "/k"));
		assert_true(has_pair(argv, "-initrd", "/i"));
		for (size_t a = 0; argv[a]; a++)
			append = strcmp(argv[a], "-append") == 0 ? argv[a + 1] : append;
		assert_non_null(append);
		length = strlen(append);
		assert_true(length > end && strcmp(append + length - end, cases[i].end) == 0);
		free(argv);
	}
}

/* Under TCG only one vendor's way of showing them is there. */
static void threads_are_shown(void **state)
{
	static const struct {
		const char *topology;
		enum zm_vm_accel accel;
		const char *cpu;
	} cases[] = {
		{ "2s", ZM_VM_TCG, "max,erms=off,fsrm=off" },
		{ "1s,threads=2", ZM_VM_TCG, "max,erms=off,fsrm=off,vendor=GenuineIntel" },
		{ "1s,threads=2", ZM_VM_KVM, "host" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char **argv = line_of(cases[i].topology, 4, cases[i].accel, NULL);

		assert_true(has_pair(argv, "-cpu", cases[i].cpu));
		free(argv);
	}
}

/* No network, no disk, no window, no way to this machine's files. */
static void a_guest_is_shut_in(void **state)
{
	static const char *const never[] = {
		"-netdev", "-nic",    "-net",     "-drive", "-hda",
		"-fsdev",  "-virtfs", "-monitor", "-qmp",   "-blockdev"
	};
	char **argv = line_of("2s", 4, ZM_VM_TCG, NULL);

	(void)state;
	assert_int_equal(count(argv, "-nodefaults"), 1);
	assert_int_equal(count(argv, "-no-user-config"), 1);
	assert_int_equal(count(argv, "-no-reboot"), 1);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_int_equal(count(argv, never[i]), 0);
	assert_true(has_pair(argv, "-chardev", "file,id=talk,path=/proc/self/fd/9"));
	assert_true(has_pair(argv, "-object",
			     "memory-backend-file,id=channel,share=on,"
			     "mem-path=/proc/self/fd/7,size=4096"));
	free(argv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(topologies_become_arguments),
		cmocka_unit_test(accelerators_become_arguments),
		cmocka_unit_test(threads_are_shown),
		cmocka_unit_test(a_guest_is_shut_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
