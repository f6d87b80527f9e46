/*
 * bpf: what cannot be had here says why, each of the ways in which it can be withheld tried on a child.
 *
 * labels: known serial bpf
 * timeout: 600
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"

#define CANNOT_PREPARE 77

static const char *const bpf_monitors[] = { "lock-contention", "page-latency", "pcp",
					    "perf-sched" };

#define NR_BPF_MONITORS (sizeof(bpf_monitors) / sizeof(bpf_monitors[0]))

/* What a child found. */
struct found {
	int error;
	char text[ZM_WHY_SIZE];
	unsigned int nr_absent;
	char absent[RIG_ABSENT][ZM_WHY_SIZE + 64];
};

static void look(const char *monitor, struct found *found)
{
	static struct rig rig;

	rig_open(&rig, NULL, monitor);
	found->error = rig.open_error;
	memcpy(found->text, rig.why.text, sizeof(found->text));
	found->nr_absent = rig.recorder.nr_absent;
	memcpy(found->absent, rig.recorder.absent, sizeof(found->absent));
	rig_close(&rig);
}

/* Opens a monitor in a child for which something was taken away; skips where it cannot be. */
static void find(int (*take_away)(void), const char *monitor, struct found *ret_found)
{
	struct found *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	assert_true(shared != MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (take_away())
			_exit(CANNOT_PREPARE);
		look(monitor, shared);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*ret_found = *shared;
	(void)munmap(shared, sizeof(*shared));
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_PREPARE)
		skip();
	assert_int_equal(status, 0);
}

/* What is said of a recorded machine, where it is not that there are no programs at all. */
static bool has_programs(const char *monitor, char *buf, size_t size)
{
	static struct rig rig;

	rig_open(&rig, "/tmp", monitor);
	assert_int_equal(rig.open_error, -ENOTSUP);
	(void)snprintf(buf, size, "%s", rig.why.text);
	rig_close(&rig);
	return !strstr(buf, "built without BPF programs");
}

/* --- taking away ------------------------------------------------------------------------------- */

static int take_types(void)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL);
}

static int take_capabilities(void)
{
	if (geteuid() != 0)
		return 0;
	return setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	       setresuid(65534, 65534, 65534);
}

/* These two calls are answered so; all others are let through. */
static int answer(unsigned int error)
{
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(rows) / sizeof(rows[0]), rows };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static int filter_by_policy(void)
{
	return answer(EPERM);
}

static int filter_as_if_unknown(void)
{
	return answer(ENOSYS);
}

/* --- the tests --------------------------------------------------------------------------------- */

static void test_ways(void **state)
{
	static const struct {
		int (*take_away)(void);
		const char *reason;
	} rows[] = {
		{ take_types, "CONFIG_DEBUG_INFO_BTF" },
		{ take_capabilities, "CAP_BPF and CAP_PERFMON" },
		{ filter_by_policy, "seccomp" },
		{ filter_as_if_unknown, "seccomp filter hides it" },
	};

	char text[ZM_WHY_SIZE];

	(void)state;
	if (!has_programs("pcp", text, sizeof(text)))
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t k = 0; k < NR_BPF_MONITORS; k++) {
			static struct found found;

			find(rows[i].take_away, bpf_monitors[k], &found);
			print_message("%s: %s\n", bpf_monitors[k], found.text);
			assert_true(found.error < 0);
			/* a user without capabilities may be no root whose policy it could be */
			assert_true(strstr(found.text, rows[i].reason) ||
				    (geteuid() != 0 && strstr(found.text, "CAP_BPF")));
		}
	}
}

static void test_recorded_machine(void **state)
{
	char text[ZM_WHY_SIZE];

	(void)state;
	for (size_t k = 0; k < NR_BPF_MONITORS; k++)
		if (has_programs(bpf_monitors[k], text, sizeof(text)))
			assert_non_null(strstr(text, "recorded machine"));
}

/* perf_event_paranoid and a filter, by the two monitors that take perf's events: as a whole, or each event. */
static bool is_said(const struct found *found, const char *reason)
{
	if (found->error && strstr(found->text, reason))
		return true;
	for (unsigned int i = 0; i < found->nr_absent && i < RIG_ABSENT; i++)
		if (strstr(found->absent[i], reason))
			return true;
	return false;
}

static void test_perf(void **state)
{
	static const char *const monitors[] = { "perf-stat", "perf-profile" };
	static struct found found;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		find(filter_as_if_unknown, monitors[i], &found);
		assert_true(is_said(&found, "seccomp"));
		find(filter_by_policy, monitors[i], &found);
		assert_true(is_said(&found, geteuid() == 0 ? "seccomp" : "CAP_PERFMON"));
		find(take_capabilities, monitors[i], &found);
		/* where the sysctl allows it, there is nothing to say */
		assert_true(found.error == 0 || is_said(&found, "perf_event_paranoid"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_recorded_machine),
		cmocka_unit_test(test_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
