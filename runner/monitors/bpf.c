/*
 * bpf: libbpf on one side, sentences on the other.
 */
#include "runner/monitors/bpf.h"

#include <errno.h>

int zm_bpf_not_built(struct zm_why *why)
{
	return zm_why_set(why, -ENOTSUP,
			  "zonemark was built without BPF programs: install clang, bpftool and "
			  "libbpf-dev, and build it again");
}

#ifdef ZM_HAVE_BPF_PROGRAMS

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/cpuset.h"

static char last_words[256]; /* of libbpf */

__attribute__((format(printf, 2, 0))) static int keep_words(enum libbpf_print_level level,
							    const char *format, va_list args)
{
	if (level == LIBBPF_WARN) {
		(void)vsnprintf(last_words, sizeof(last_words), format, args);
		last_words[strcspn(last_words, "\n")] = '\0';
	}
	return 0;
}

int zm_bpf_check(const struct zm_monitor_context *context, struct zm_why *why)
{
	if (!context->root->is_live)
		return zm_why_set(why, -ENOTSUP,
				  "a recorded machine runs no BPF programs: use this machine");
	if (!zm_sysroot_has(context->root, "sys/kernel/btf/vmlinux"))
		return zm_why_set(why, -ENOTSUP,
				  "/sys/kernel/btf/vmlinux is not there: the kernel needs "
				  "CONFIG_DEBUG_INFO_BTF");
	last_words[0] = '\0';
	(void)libbpf_set_print(keep_words);
	return 0;
}

static const char *mend_of(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return geteuid() == 0 ? "the kernel's policy (lockdown, seccomp, a container) "
					"forbids it"
				      : "run as root, or with CAP_BPF and CAP_PERFMON";
	case -ENOMEM:
		return "raise ulimit -l";
	case -ESRCH:
	case -ENOENT:
		return "this kernel lacks the tracepoint";
	default:
		return last_words[0] ? last_words : "the kernel's verifier refused the program";
	}
}

int zm_bpf_why(struct zm_why *why, int error, const char *what)
{
	return zm_why_set(why, error, "%s: BPF: %s: %s", what, strerror(-error), mend_of(error));
}

struct btf *zm_bpf_kernel_types(void)
{
	return btf__load_vmlinux_btf();
}

int zm_bpf_tracepoint_args(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *type;
	char name[128];
	int id;

	(void)snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -ENOENT;
	type = btf__type_by_id(btf, (uint32_t)id);
	type = btf__type_by_id(btf, type->type); /* a pointer to … */
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type))
		return -ENOENT;
	return btf_vlen(type) - 1; /* the first is the probe's own */
}

/* The enumerator's name behind the prefix, or NULL. */
static const char *find_enumerator(const struct btf *btf, const char *type_name, const char *prefix,
				   int value)
{
	int id = btf__find_by_name_kind(btf, type_name, BTF_KIND_ENUM);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	const struct btf_enum *rows = type ? btf_enum(type) : NULL;

	for (int i = 0; rows && i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(btf, rows[i].name_off);

		if (rows[i].val == value && name && strncmp(name, prefix, strlen(prefix)) == 0)
			return name + strlen(prefix);
	}
	return NULL;
}

bool zm_bpf_enumerator(const struct btf *btf, const char *type, const char *prefix, int value,
		       char *buf, size_t size)
{
	const char *name = find_enumerator(btf, type, prefix, value);

	if (!name)
		return false;
	(void)snprintf(buf, size, "%s", name);
	for (char *c = buf; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return true;
}

unsigned int zm_bpf_nr_cpus(const struct zm_sysroot *root)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	unsigned int nr = 0;
	int libbpf_nr;

	if (zm_sysroot_read_cpuset(root, "sys/devices/system/cpu/possible", &set) == 0)
		zm_cpuset_for_each (cpu, &set)
			nr = (unsigned int)cpu + 1;
	libbpf_nr = libbpf_num_possible_cpus();
	if (libbpf_nr > 0 && nr < (unsigned int)libbpf_nr)
		nr = (unsigned int)libbpf_nr;
	return nr ? nr : 1;
}

uint64_t zm_bpf_missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return 0;
	return info.recursion_misses;
}

static size_t map_bytes(size_t value_bytes, unsigned int nr_values)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (value_bytes + 7) / 8 * 8 * nr_values;

	return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

const void *zm_bpf_map_memory(const struct bpf_map *map, size_t value_bytes, unsigned int nr_values)
{
	void *memory = mmap(NULL, map_bytes(value_bytes, nr_values), PROT_READ, MAP_SHARED,
			    bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void zm_bpf_unmap_memory(const void *memory, size_t value_bytes, unsigned int nr_values)
{
	if (memory)
		(void)munmap((void *)(uintptr_t)memory, map_bytes(value_bytes, nr_values));
}

#endif
