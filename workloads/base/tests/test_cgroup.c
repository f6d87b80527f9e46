/* cgroup: version 1, version 2, hybrid, a container's view, and the tightest of nested limits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "workloads/base/cgroup.h"

struct file {
	const char *path, *text;
};

struct machine {
	char directory[64];
	struct zm_sysroot root;
};

static void write_file(const char *directory, const struct file *file)
{
	char path[PATH_MAX];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, file->path);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	out = fopen(path, "we");
	assert_non_null(out);
	assert_true(fputs(file->text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static void make_machine(struct machine *machine, const struct file *files)
{
	(void)snprintf(machine->directory, sizeof(machine->directory),
		       "/tmp/zm-test-cgroup-XXXXXX");
	assert_non_null(mkdtemp(machine->directory));
	for (size_t i = 0; files[i].path; i++)
		write_file(machine->directory, &files[i]);
	assert_int_equal(zm_sysroot_open(&machine->root, machine->directory), 0);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
	(void)stat;
	(void)type;
	(void)walk;
	return remove(path);
}

static void drop_machine(struct machine *machine)
{
	zm_sysroot_release(&machine->root);
	assert_int_equal(nftw(machine->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

#define V1_MOUNTS                                                                                  \
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"                                        \
	"32 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"      \
	"33 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"              \
	"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static const struct file version1[] = {
	{ "proc/self/cgroup", "4:memory:/a/b\n3:cpu,cpuacct:/\n0::/\n" },
	{ "proc/self/mountinfo", V1_MOUNTS },
	{ "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n" },
	{ "sys/fs/cgroup/memory/memory.usage_in_bytes", "900\n" },
	{ "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "500\n" },
	{ "sys/fs/cgroup/memory/a/memory.usage_in_bytes", "400\n" },
	{ "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "300\n" },
	{ "sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "100\n" },
	{ "sys/fs/cgroup/memory/a/b/memory.oom_control",
	  "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n" },
	{ "sys/fs/cgroup/unified/cgroup.controllers", "\n" },
	{ NULL, NULL },
};

static void test_version1(void **state)
{
	struct zm_cgroup cgroup, where;
	struct machine machine;
	uint64_t value, limit;

	(void)state;
	make_machine(&machine, version1);
	assert_int_equal(zm_cgroup_find(&machine.root, "memory", &cgroup), 0);
	assert_int_equal(cgroup.version, 1);
	assert_string_equal(cgroup.path, "sys/fs/cgroup/memory/a/b");
	assert_int_equal(zm_cgroup_left(&machine.root, &cgroup, "memory.limit_in_bytes",
					"memory.usage_in_bytes", &limit, &where),
			 100);
	assert_int_equal(limit, 500);
	assert_string_equal(where.path, "sys/fs/cgroup/memory/a");
	assert_int_equal(zm_cgroup_read_key(&machine.root, &cgroup, "memory.oom_control",
					    "oom_kill", &value),
			 0);
	assert_int_equal(value, 7);
	assert_int_equal(zm_cgroup_find(&machine.root, "cpu", &cgroup), 0);
	assert_string_equal(cgroup.path, "sys/fs/cgroup/cpu,cpuacct");
	assert_int_equal(zm_cgroup_find(&machine.root, "pids", &cgroup), -ENOENT);
	drop_machine(&machine);
}

static const struct file version2[] = {
	{ "proc/self/cgroup", "0::/user.slice/x.scope\n" },
	{ "proc/self/mountinfo", "26 22 0:23 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n" },
	{ "sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n" },
	{ "sys/fs/cgroup/user.slice/pids.max", "50\n" },
	{ "sys/fs/cgroup/user.slice/pids.current", "60\n" },
	{ "sys/fs/cgroup/user.slice/x.scope/cgroup.controllers", "memory pids\n" },
	{ "sys/fs/cgroup/user.slice/x.scope/pids.max", "max\n" },
	{ "sys/fs/cgroup/user.slice/x.scope/pids.current", "3\n" },
	{ NULL, NULL },
};

static void test_version2(void **state)
{
	struct zm_cgroup cgroup;
	struct machine machine;

	(void)state;
	make_machine(&machine, version2);
	assert_int_equal(zm_cgroup_find(&machine.root, "pids", &cgroup), 0);
	assert_int_equal(cgroup.version, 2);
	assert_int_equal(
		zm_cgroup_left(&machine.root, &cgroup, "pids.max", "pids.current", NULL, NULL), 0);
	assert_int_equal(zm_cgroup_find(&machine.root, "cpu", &cgroup), 0);
	assert_string_equal(cgroup.path, "sys/fs/cgroup");
	assert_int_equal(zm_cgroup_find(&machine.root, "io", &cgroup), -ENOENT);
	drop_machine(&machine);
}

/* In a container the line names the host's path, and the mount's root is that path. */
static const struct file container[] = {
	{ "proc/self/cgroup", "4:memory:/docker/77\n0::/../other\n" },
	{ "proc/self/mountinfo",
	  "32 31 0:32 /docker/77 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
	  "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" },
	{ "sys/fs/cgroup/memory/memory.limit_in_bytes", "4096" },
	{ "sys/fs/cgroup/memory/memory.usage_in_bytes", "0" },
	{ "sys/fs/cgroup/unified/cgroup.controllers", "pids" },
	{ NULL, NULL },
};

static void test_container(void **state)
{
	struct zm_cgroup cgroup;
	struct machine machine;

	(void)state;
	make_machine(&machine, container);
	assert_int_equal(zm_cgroup_find(&machine.root, "memory", &cgroup), 0);
	assert_string_equal(cgroup.path, "sys/fs/cgroup/memory");
	assert_false(zm_cgroup_ascend(&cgroup));
	assert_int_equal(zm_cgroup_find(&machine.root, "pids", &cgroup), 0);
	assert_string_equal(cgroup.path, "sys/fs/cgroup/unified");
	drop_machine(&machine);
}

/* Blanks in a mount point are escaped; a root that only begins like the path does not cover it. */
static const struct file odd_names[] = {
	{ "proc/self/cgroup", "4:memory:/docker/77\n3:pids:/docker/77\n" },
	{ "proc/self/mountinfo",
	  "32 31 0:32 / /cg\\040roup/me\\134mory\\040 rw - cgroup cgroup rw,memory\n"
	  "33 31 0:33 /docker/7 /cg\\040roup/pids rw - cgroup cgroup rw,pids\n" },
	{ "cg roup/me\\mory /docker/77/tasks", "" },
	{ "cg roup/pids/7/tasks", "" },
	{ NULL, NULL },
};

static void test_odd_names(void **state)
{
	struct zm_cgroup cgroup;
	struct machine machine;

	(void)state;
	make_machine(&machine, odd_names);
	assert_int_equal(zm_cgroup_find(&machine.root, "memory", &cgroup), 0);
	assert_string_equal(cgroup.path, "cg roup/me\\mory /docker/77");
	assert_int_equal(zm_cgroup_find(&machine.root, "pids", &cgroup), 0);
	assert_string_equal(cgroup.path, "cg roup/pids");
	drop_machine(&machine);
}

static const struct file nothing[] = {
	{ "proc/self/cgroup", "0::/\ngarbage\n\n" },
	{ "proc/self/mountinfo", "garbage\n1 2 - \n1 2 3 / /x rw - cgroup2\n" },
	{ NULL, NULL },
};

static void test_nothing_mounted(void **state)
{
	struct zm_cgroup cgroup;
	struct machine machine;

	(void)state;
	make_machine(&machine, nothing);
	assert_int_equal(zm_cgroup_find(&machine.root, "memory", &cgroup), -ENOENT);
	drop_machine(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version1),        cmocka_unit_test(test_version2),
		cmocka_unit_test(test_container),       cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_nothing_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
