/* mem: which nodes a policy means, on machines made by hand; and what the kernel here says to it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/place.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define GIB (UINT64_C(1) << 30)

static struct zm_why why;

static void policies_are_parsed(void **state)
{
	static const struct {
		const char *text;
		int error;
		struct zm_mem_policy policy;
	} cases[] = {
		{ "local", 0, { ZM_MEM_LOCAL, -1 } },
		{ "interleave", 0, { ZM_MEM_INTERLEAVE, -1 } },
		{ "remote", 0, { ZM_MEM_REMOTE, -1 } },
		{ "node:0", 0, { ZM_MEM_NODE, 0 } },
		{ "node:255", 0, { ZM_MEM_NODE, 255 } },
		{ "node", -EINVAL, { ZM_MEM_LOCAL, -7 } },
		{ "node:", -EINVAL, { ZM_MEM_LOCAL, -7 } },
		{ "node:-1", -EINVAL, { ZM_MEM_LOCAL, -7 } },
		{ "node:1x", -EINVAL, { ZM_MEM_LOCAL, -7 } },
		{ "node:99999999999", -EINVAL, { ZM_MEM_LOCAL, -7 } },
		{ "", -EINVAL, { ZM_MEM_LOCAL, -7 } },
		{ "Local", -EINVAL, { ZM_MEM_LOCAL, -7 } },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct zm_mem_policy policy = { ZM_MEM_LOCAL, -7 };

		assert_int_equal(zm_mem_parse(cases[i].text, &policy, &why), cases[i].error);
		assert_int_equal(policy.mem, cases[i].policy.mem);
		assert_int_equal(policy.node, cases[i].policy.node);
		if (cases[i].error)
			assert_non_null(strstr(why.text, "node:N"));
	}
}

/* --- nodes ----------------------------------------------------------------------------------- */

static struct zm_node one[] = { { .node = 0, .memory_bytes = GIB, .nr_cpus = 2 } };
static struct zm_node two[] = { { .node = 0, .memory_bytes = GIB, .nr_cpus = 2 },
				{ .node = 1, .memory_bytes = GIB, .nr_cpus = 2 } };
/* Node 1 has no memory, node 8 no CPUs and is far from all. */
static struct zm_node odd[] = { { .node = 0, .memory_bytes = GIB, .nr_cpus = 2 },
				{ .node = 1, .memory_bytes = 0, .nr_cpus = 2 },
				{ .node = 2, .memory_bytes = GIB, .nr_cpus = 2 },
				{ .node = 8, .memory_bytes = GIB, .nr_cpus = 0 } };
static struct zm_node four[] = { { .node = 0, .memory_bytes = GIB, .nr_cpus = 1 },
				 { .node = 1, .memory_bytes = GIB, .nr_cpus = 1 },
				 { .node = 2, .memory_bytes = GIB, .nr_cpus = 1 },
				 { .node = 3, .memory_bytes = GIB, .nr_cpus = 1 } };

static int far_from_eight(int from, int to)
{
	return from == to ? 10 : from == 8 || to == 8 ? 80 : 21;
}

static int unknown_distance(int from, int to)
{
	(void)from;
	(void)to;
	return 0;
}

static void a_policy_means_these_nodes(void **state)
{
	static const struct {
		struct zm_node *nodes;
		size_t nr_nodes;
		const char *policy;
		int own;
		int (*distance)(int from, int to);
		int error;
		const char *means;
	} cases[] = {
		{ one, 1, "local", 0, far_from_eight, 0, "" },
		{ NULL, 0, "local", -1, far_from_eight, 0, "" },
		{ one, 1, "interleave", 0, far_from_eight, -ENOTSUP, NULL },
		{ two, 2, "interleave", 0, far_from_eight, 0, "0-1" },
		{ odd, 4, "interleave", 0, far_from_eight, 0, "0,2,8" },
		{ one, 1, "node:0", 0, far_from_eight, 0, "0" },
		{ one, 1, "node:1", 0, far_from_eight, -ENOTSUP, NULL },
		{ odd, 4, "node:1", 0, far_from_eight, -ENOTSUP, NULL },
		{ odd, 4, "node:8", 0, far_from_eight, 0, "8" },
		{ NULL, 0, "node:0", 0, far_from_eight, -ENOTSUP, NULL },
		{ one, 1, "remote", 0, far_from_eight, -ENOTSUP, NULL },
		{ two, 2, "remote", 0, far_from_eight, 0, "1" },
		{ two, 2, "remote", 1, far_from_eight, 0, "0" },
		{ two, 2, "remote", -1, far_from_eight, -ENOTSUP, NULL },
		{ odd, 4, "remote", 0, far_from_eight, 0, "8" },
		{ odd, 4, "remote", 8, far_from_eight, 0, "0" },
		{ odd, 4, "remote", 1, unknown_distance, 0, "2" },
		{ four, 4, "remote", 0, far_from_eight, 0, "1" },
		{ four, 4, "remote", 3, far_from_eight, 0, "0" },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		const struct zm_topology topology = { .nodes = cases[i].nodes,
						      .nr_nodes = cases[i].nr_nodes };
		struct zm_cpuset nodes = { NULL, 0 };
		struct zm_mem_policy policy;
		char list[32];

		assert_int_equal(zm_mem_parse(cases[i].policy, &policy, &why), 0);
		memset(&why, 0, sizeof(why));
		assert_int_equal(zm_mem_nodes(&topology, &policy, cases[i].own, cases[i].distance,
					      &nodes, &why),
				 cases[i].error);
		if (cases[i].error) {
			assert_non_null(strstr(why.text, "--mem"));
			continue;
		}
		(void)zm_cpuset_print(&nodes, list, sizeof(list));
		assert_string_equal(list, cases[i].means);
		zm_cpuset_release(&nodes);
	}
}

/* --- the kernel ------------------------------------------------------------------------------ */

/* Makes set_mempolicy fail with EPERM, as container runtimes do. */
static int forbid_policies(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_set_mempolicy, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { nr_of(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/* Runs the test in a child: policies and filters stay with it. Its exit status. */
static int in_child(int (*test)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(test());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static const struct zm_topology here = { .nodes = one, .nr_nodes = 1 };

static int bind_and_back(void)
{
	static const struct zm_mem_policy node = { ZM_MEM_NODE, 0 }, local = { ZM_MEM_LOCAL, -1 };
	int mode = -1;

	if (zm_mem_apply(&here, &node, 0, NULL))
		return 77;
	if (get_mempolicy(&mode, NULL, 0, NULL, 0) || mode != MPOL_BIND)
		return 1;
	if (zm_mem_apply(&here, &local, 0, NULL))
		return 2;
	if (get_mempolicy(&mode, NULL, 0, NULL, 0) || mode != MPOL_DEFAULT)
		return 3;
	return 0;
}

static void a_policy_is_set_and_left(void **state)
{
	int status = in_child(bind_and_back);

	(void)state;
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

static int forbidden(void)
{
	static const struct zm_mem_policy node = { ZM_MEM_NODE, 0 }, local = { ZM_MEM_LOCAL, -1 };

	if (forbid_policies())
		return 77;
	if (zm_mem_apply(&here, &local, 0, NULL))
		return 1;
	if (zm_mem_apply(&here, &node, 0, &why) != -EPERM)
		return 2;
	return !strstr(why.text, "container") || !strstr(why.text, "--mem local");
}

static void a_container_that_forbids_policies_is_named(void **state)
{
	int status = in_child(forbidden);

	(void)state;
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies_are_parsed),
		cmocka_unit_test(a_policy_means_these_nodes),
		cmocka_unit_test(a_policy_is_set_and_left),
		cmocka_unit_test(a_container_that_forbids_policies_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
