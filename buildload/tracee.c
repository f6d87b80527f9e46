/* tracee: let itself be traced, set its filter, become the command. */
#include "buildload/tracee.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define OWN_ARCH AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ARCH AUDIT_ARCH_PPC64LE
#elif defined(__s390x__)
#define OWN_ARCH AUDIT_ARCH_S390X
#endif

#define LOAD(member)                                                                               \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offsetof(struct seccomp_data, member))
#define TRACE_IF(call)                                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),                                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)

/* Stops at anonymous mmap, munmap, brk and open; of other architectures' programs at nothing. */
static int set_filter(void)
{
#ifdef OWN_ARCH
	struct sock_filter program[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		LOAD(nr),
		TRACE_IF(SYS_munmap),
		TRACE_IF(SYS_brk),
		TRACE_IF(SYS_openat),
#ifdef SYS_open
		TRACE_IF(SYS_open),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		LOAD(args[3]), /* the lower half, in little endian; elsewhere all mmaps are allowed */
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(program) / sizeof(program[0]), program };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0 ? -errno : 0;
#else
	return -ENOTSUP;
#endif
}

void zm_tracee_be(const char *const *argv, int say_fd)
{
	struct zm_tracee_failure failure = { 0, ZM_TRACEE_NO_PTRACE };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		failure.error = -errno;
	if (failure.error == 0) {
		(void)raise(SIGSTOP);
		failure.where = ZM_TRACEE_NO_SECCOMP;
		failure.error = set_filter();
	}
	if (failure.error == 0) {
		failure.where = ZM_TRACEE_NO_EXEC;
		(void)signal(SIGPIPE, SIG_DFL);
		(void)execvp(argv[0], (char *const *)(const void *)argv);
		failure.error = -errno;
	}
	(void)!write(say_fd, &failure, sizeof(failure));
	_exit(127);
}

int zm_tracee_say(const char *command, const struct zm_tracee_failure *failure, struct zm_why *why)
{
	switch (failure->where) {
	case ZM_TRACEE_NO_EXEC:
		return zm_why_errno(why, failure->error, "cannot start %s", command);
	case ZM_TRACEE_NO_SECCOMP:
		return zm_why_set(why, -ENOTSUP,
				  "processes cannot be filtered here (CONFIG_SECCOMP_FILTER, or "
				  "this architecture): %s",
				  strerror(-failure->error));
	default:
		return zm_why_set(why, -ENOTSUP,
				  "processes may not be traced here: %s; in a container allow "
				  "ptrace (--cap-add SYS_PTRACE)",
				  strerror(-failure->error));
	}
}
