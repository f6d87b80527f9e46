/*
 * bpf: libbpf on one side, sentences on the other.
 */
#include "runner/monitors/bpf.h"

#include <errno.h>

int zm_bpf_open_unbuilt(struct zm_monitor_context *context, struct zm_why *why)
{
	(void)context;
	return zm_why_set(why, -ENOTSUP,
			  "zonemark was built without BPF programs: install clang, bpftool and "
			  "libbpf-dev, and build it again");
}

int zm_bpf_read_unbuilt(struct zm_monitor_context *context, uint64_t t_ns)
{
	(void)context;
	(void)t_ns;
	return -ENOTSUP;
}

void zm_bpf_close_unbuilt(struct zm_monitor_context *context)
{
	(void)context;
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

static int check(const struct zm_monitor_context *context, struct zm_why *why)
{
	if (!context->root->is_live)
		return zm_why_set(why, -ENOTSUP,
				  "a recorded machine runs no BPF programs: use this machine");
	if (!zm_sysroot_has(context->root, "sys/kernel/btf/vmlinux"))
		return zm_why_set(why, -ENOTSUP,
				  "/sys/kernel/btf/vmlinux is not there: the kernel needs "
				  "CONFIG_DEBUG_INFO_BTF");
	return 0;
}

static unsigned int count_cpus(const struct zm_sysroot *root)
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

int zm_bpf_begin(struct zm_bpf *bpf, const struct zm_monitor_context *context, struct zm_why *why)
{
	int error = check(context, why);
	uint64_t is_on;

	if (error)
		return error;
	last_words[0] = '\0';
	(void)libbpf_set_print(keep_words);
	bpf->nr_cpus = count_cpus(context->root);
	bpf->is_ftrace_off =
		zm_sysroot_read_u64(context->root, "proc/sys/kernel/ftrace_enabled", &is_on) == 0 &&
		!is_on;
	error = zm_sysroot_read_cpuset(context->root, "sys/devices/system/cpu/online",
				       &bpf->online);
	if (error)
		return zm_why_errno(why, error, "/sys/devices/system/cpu/online");
	bpf->btf = btf__load_vmlinux_btf();
	return bpf->btf ? 0 : zm_bpf_why(why, -errno);
}

void zm_bpf_forget_types(struct zm_bpf *bpf)
{
	btf__free(bpf->btf);
	bpf->btf = NULL;
}

void zm_bpf_end(struct zm_bpf *bpf)
{
	zm_bpf_forget_types(bpf);
	zm_cpuset_release(&bpf->online);
}

static const char *mend_of(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return geteuid() == 0 ? "the kernel's policy (lockdown, seccomp, a container) "
					"forbids it"
				      : "run as root, or with CAP_BPF and CAP_PERFMON";
	case -ENOSYS:
		return "the kernel has no BPF, or a seccomp filter hides it";
	case -ENOMEM:
		return "raise ulimit -l";
	case -ESRCH:
	case -ENOENT:
		return "this kernel lacks the tracepoint";
	default:
		return last_words[0] ? last_words : "the kernel's verifier refused the program";
	}
}

int zm_bpf_why(struct zm_why *why, int error)
{
	return zm_why_set(why, error, "BPF: %s: %s", strerror(-error), mend_of(error));
}

/* --- the kernel's types ------------------------------------------------------------------------ */

/* The arguments of a function's type. */
static int count_args(const struct btf_type *type)
{
	return type && btf_is_func_proto(type) ? (int)btf_vlen(type) : -ENOENT;
}

int zm_bpf_tracepoint_args(const struct zm_bpf *bpf, const char *tracepoint)
{
	const struct btf_type *type;
	char name[128];
	int id, nr;

	(void)snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(bpf->btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -ENOENT;
	type = btf__type_by_id(bpf->btf, (uint32_t)id);
	type = btf__type_by_id(bpf->btf, type->type); /* a pointer to … */
	nr = type ? count_args(btf__type_by_id(bpf->btf, type->type)) : -ENOENT;
	return nr > 0 ? nr - 1 : -ENOENT; /* the first is the probe's own */
}

int zm_bpf_function_args(const struct zm_bpf *bpf, const char *name)
{
	int id = btf__find_by_name_kind(bpf->btf, name, BTF_KIND_FUNC);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(bpf->btf, (uint32_t)id);

	return type ? count_args(btf__type_by_id(bpf->btf, type->type)) : -ENOENT;
}

bool zm_bpf_has_function(const struct zm_bpf *bpf, const char *name)
{
	return btf__find_by_name_kind(bpf->btf, name, BTF_KIND_FUNC) >= 0;
}

bool zm_bpf_may_attach(const struct zm_bpf *bpf, const char *name)
{
	return !bpf->is_ftrace_off && zm_bpf_has_function(bpf, name);
}

bool zm_bpf_kernel_is_before(const struct zm_sysroot *root, unsigned int major, unsigned int minor)
{
	unsigned long own_major, own_minor = 0;
	char line[128], *end;

	if (zm_sysroot_read_line(root, "proc/sys/kernel/osrelease", line, sizeof(line)))
		return true;
	own_major = strtoul(line, &end, 10);
	if (*end == '.')
		own_minor = strtoul(end + 1, NULL, 10);
	return own_major < major || (own_major == major && own_minor < minor);
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

bool zm_bpf_enumerator(const struct zm_bpf *bpf, const char *type, const char *prefix, int value,
		       char *buf, size_t size)
{
	const char *name = find_enumerator(bpf->btf, type, prefix, value);

	if (!name)
		return false;
	(void)snprintf(buf, size, "%s", name);
	for (char *c = buf; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return true;
}

/* --- programs and their memory ----------------------------------------------------------------- */

uint64_t zm_bpf_missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return 0;
	return info.recursion_misses;
}

static size_t bytes_of(size_t value_bytes, unsigned int nr_values)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (value_bytes + 7) / 8 * 8 * nr_values;

	return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

int zm_bpf_memory_make(struct zm_bpf_memory *memory, size_t value_bytes, unsigned int nr_values)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "zonemark", sizeof(__u32),
				(uint32_t)value_bytes, nr_values, &options);
	void *start;
	int error;

	if (fd < 0)
		return fd;
	start = mmap(NULL, bytes_of(value_bytes, nr_values), PROT_READ, MAP_SHARED, fd, 0);
	if (start == MAP_FAILED) {
		error = -errno;
		(void)close(fd);
		return error;
	}
	*memory = (struct zm_bpf_memory){ start, value_bytes, nr_values, fd };
	return 0;
}

void zm_bpf_memory_release(struct zm_bpf_memory *memory)
{
	if (!memory->start)
		return;
	(void)munmap((void *)(uintptr_t)memory->start,
		     bytes_of(memory->value_bytes, memory->nr_values));
	(void)close(memory->fd);
	*memory = (struct zm_bpf_memory){ .start = NULL };
}

const void *zm_bpf_memory_at(const struct zm_bpf_memory *memory, unsigned int index)
{
	return (const char *)memory->start + (memory->value_bytes + 7) / 8 * 8 * index;
}

uint64_t zm_bpf_load_u64(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

int zm_bpf_share(struct bpf_map *map, const struct zm_bpf_memory *memory)
{
	return bpf_map__reuse_fd(map, memory->fd);
}

int zm_bpf_start(struct bpf_object_skeleton *skeleton)
{
	int error = bpf_object__load_skeleton(skeleton);

	return error ? error : bpf_object__attach_skeleton(skeleton);
}

/* --- series ------------------------------------------------------------------------------------ */

static int declare(struct zm_monitor_context *context, const char *metric, const char *unit,
		   enum zm_scope scope, uint32_t scope_id, uint32_t *ret_series)
{
	const struct zm_series_desc desc = {
		.source = context->monitor->name,
		.metric = metric,
		.unit = unit,
		.kind = ZM_COUNT,
		.scope = scope,
		.scope_id = scope_id,
	};

	return zm_recorder_series(context->recorder, &desc, ret_series);
}

int zm_bpf_declare(struct zm_monitor_context *context, const char *metric, const char *unit,
		   uint32_t *ret_series)
{
	return declare(context, metric, unit, ZM_SCOPE_HOST, 0, ret_series);
}

int zm_bpf_declare_cpus(struct zm_monitor_context *context, const struct zm_bpf *bpf,
			const char *metric, const char *unit, uint32_t **ret_series)
{
	uint32_t *series = calloc(bpf->nr_cpus, sizeof(*series));
	int error = series ? 0 : -ENOMEM;

	zm_cpuset_for_each (cpu, &bpf->online)
		if (!error)
			error = declare(context, metric, unit, ZM_SCOPE_CPU, (uint32_t)cpu,
					&series[cpu]);
	if (error) {
		free(series);
		return error;
	}
	*ret_series = series;
	return 0;
}

void zm_bpf_add_hist(struct zm_hist *hist, const __u64 *buckets, size_t nr_buckets)
{
	uint64_t first, end;

	for (size_t i = 0; i < nr_buckets; i++) {
		uint64_t times = zm_bpf_load_u64(&buckets[i]);

		if (!times)
			continue;
		zm_hist_bounds(i, &first, &end);
		zm_hist_add(hist, first + (end - first) / 2, times);
	}
}

#endif
