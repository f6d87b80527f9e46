/*
 * qemu: arguments are written one after the other into one text, each with its end; then they are
 * counted.
 *
 * TCG: a kernel that sees ERMS copies and clears pages by `rep movsb`, which TCG runs byte by byte, so
 * ERMS, FSRM and REP_GOOD are hidden; and without tsc=reliable the guest would take its time from the
 * HPET, at a microsecond or more a look. Its usual vendor shows threads of a core by a leaf that TCG has
 * not, so with threads it is the other.
 *
 * An emulated CPU may be off its host's while the kernel counts a timer's ticks: it is not to panic for
 * those that it missed (no_timer_check). Random numbers are there from the boot on (random.trust_cpu), as a
 * guest without devices has nothing else to take them from.
 */
#include "runner/vm/qemu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

#define CMDLINE "console=ttyS0 panic=-1 quiet loglevel=4 nowatchdog random.trust_cpu=on"

const char *zm_vm_accel_name(enum zm_vm_accel accel)
{
	return accel == ZM_VM_KVM ? "kvm" : "tcg";
}

__attribute__((format(printf, 2, 3))) static void add(FILE *out, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vfprintf(out, format, list);
	va_end(list);
	(void)fputc('\0', out);
}

static void add_machine(FILE *out, const struct zm_vm_spec *spec)
{
	const struct zm_vm_shape *shape = &spec->shape;

	add(out, "qemu-system-x86_64");
	add(out, "-nodefaults");
	add(out, "-no-user-config");
	add(out, "-no-reboot");
	add(out, "-display");
	add(out, "none");
	add(out, "-M");
	add(out, "q35");
	add(out, "-accel");
	add(out, "%s", spec->accel == ZM_VM_KVM ? "kvm" : "tcg,thread=multi");
	add(out, "-cpu");
	if (spec->accel == ZM_VM_KVM)
		add(out, "host");
	else
		add(out, "max,erms=off,fsrm=off%s",
		    shape->threads > 1 ? ",vendor=GenuineIntel" : "");
	add(out, "-smp");
	add(out, "%u,sockets=%u,cores=%u,threads=%u", shape->nr_cpus, shape->sockets, shape->cores,
	    shape->threads);
}

static void add_node(FILE *out, unsigned int i, const struct zm_vm_node *node)
{
	char cpus[48] = "", memory[32] = "";

	if (node->nr_cpus)
		(void)snprintf(cpus, sizeof(cpus), ",cpus=%u-%u", node->first_cpu,
			       node->first_cpu + node->nr_cpus - 1);
	if (node->memory_bytes) {
		add(out, "-object");
		add(out, "memory-backend-ram,id=node%u,size=%" PRIu64, i, node->memory_bytes);
		(void)snprintf(memory, sizeof(memory), ",memdev=node%u", i);
	}
	add(out, "-numa");
	add(out, "node,nodeid=%u%s%s", i, cpus, memory);
}

static void add_memory(FILE *out, const struct zm_vm_shape *shape)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < shape->nr_nodes; i++)
		bytes += shape->nodes[i].memory_bytes;
	add(out, "-m");
	add(out, "%" PRIu64 "M", bytes >> 20);
	if (shape->nr_nodes == 1)
		return;
	for (unsigned int i = 0; i < shape->nr_nodes; i++)
		add_node(out, i, &shape->nodes[i]);
	for (unsigned int a = 0; a < shape->nr_nodes; a++) {
		for (unsigned int b = a + 1; b < shape->nr_nodes; b++) {
			add(out, "-numa");
			add(out, "dist,src=%u,dst=%u,val=%u", a, b, shape->distances[a][b]);
		}
	}
}

static void add_channels(FILE *out, const struct zm_vm_spec *spec)
{
	add(out, "-serial");
	add(out, "stdio");
	add(out, "-chardev");
	add(out, "file,id=talk,path=/proc/self/fd/%d", spec->talk_fd);
	add(out, "-device");
	add(out, "isa-serial,chardev=talk");
	add(out, "-object");
	add(out, "memory-backend-file,id=channel,share=on,mem-path=/proc/self/fd/%d,size=%" PRIu64,
	    spec->channel_fd, spec->channel_bytes);
	add(out, "-device");
	add(out, "ivshmem-plain,memdev=channel");
}

static void add_kernel(FILE *out, const struct zm_vm_spec *spec)
{
	add(out, "-kernel");
	add(out, "%s", spec->kernel);
	add(out, "-initrd");
	add(out, "%s", spec->initramfs);
	add(out, "-append");
	add(out, "%s%s%s%s", CMDLINE,
	    spec->accel == ZM_VM_TCG ? " tsc=reliable no_timer_check clearcpuid=rep_good" : "",
	    spec->append ? " " : "", spec->append ? spec->append : "");
}

/* The pointers stand in front of the texts. */
static int split(const char *texts, size_t length, char ***ret_argv)
{
	size_t nr = 0, at = 0;
	char **argv, *copy;

	for (size_t i = 0; i < length; i++)
		nr += texts[i] == '\0';
	argv = malloc((nr + 1) * sizeof(*argv) + length);
	if (!argv)
		return -ENOMEM;
	copy = (char *)(argv + nr + 1);
	memcpy(copy, texts, length);
	for (size_t i = 0; i < nr; i++) {
		argv[i] = copy + at;
		at += strlen(copy + at) + 1;
	}
	argv[nr] = NULL;
	*ret_argv = argv;
	return 0;
}

int zm_vm_qemu_argv(const struct zm_vm_spec *spec, char ***ret_argv)
{
	zm_autofree char *texts = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&texts, &length);

	if (!out)
		return -ENOMEM;
	add_machine(out, spec);
	add_memory(out, &spec->shape);
	add_channels(out, spec);
	add_kernel(out, spec);
	if (fclose(out) != 0)
		return -ENOMEM;
	return split(texts, length, ret_argv);
}
