/*
 * syscalls: what each workload asks of the kernel, call by call, as a tracer sees it: the originals'
 * calls, sizes and order.
 *
 *     test (tracer) --- PTRACE_GET_SYSCALL_INFO ---> child: setup | getppid | steps | getppid
 *
 * Only what lies between the two getppid is compared. Skipped where tracing is not allowed.
 *
 * labels: known
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Not in every C library; the kernel's struct ptrace_syscall_info up to what is needed. */
struct syscall_info {
	uint8_t op; /* 1: entry, 2: exit */
	uint8_t pad[3];
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t stack_pointer;
	uint64_t nr;
	uint64_t args[6];
};

#define GET_SYSCALL_INFO ((enum __ptrace_request)0x420e)

#include "workloads/tests/rig.h"

#define TEXT_SIZE 65536

extern const struct zm_workload wl_faultload_brk1, wl_faultload_brk2;
extern const struct zm_workload wl_faultload_fallocate1, wl_faultload_fallocate2;
extern const struct zm_workload wl_faultload_malloc1, wl_faultload_malloc2;
extern const struct zm_workload wl_faultload_mmap1, wl_faultload_mmap2;
extern const struct zm_workload wl_faultload_page_fault1, wl_faultload_page_fault2;
extern const struct zm_workload wl_faultload_page_fault3;
extern const struct zm_workload wl_faultload_tlb_flush1, wl_faultload_tlb_flush2;
extern const struct zm_workload wl_faultload_tlb_flush3;

static void be_child(const struct zm_workload *workload, const char *options, uint64_t nr_ops)
{
	struct rig rig;

	rig_start(&rig, workload, ZM_TASK_PROCESS, 1, options);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(77);
	(void)raise(SIGSTOP);
	(void)syscall(SYS_getppid);
	rig_do(&rig, 0, nr_ops);
	(void)syscall(SYS_getppid);
	rig_stop(&rig);
	_exit(0);
}

/* One call as text, with the arguments that the definitions fix; addresses are relative to the first
 * brk. */
static void describe(const struct syscall_info *info, uint64_t *brk_base, char *text, size_t size)
{
	const uint64_t *arg = info->args;
	unsigned long long a = arg[1], b = arg[2], c = arg[3];

	switch ((long)info->nr) {
	case SYS_mmap:
		(void)snprintf(text, size, "mmap %llu %s %s\n", a >> 10,
			       b == (PROT_READ | PROT_WRITE) ? "rw" : "?",
			       c == (MAP_PRIVATE | MAP_ANONYMOUS) ? "anon"
			       : c == MAP_PRIVATE                 ? "private"
			       : c == MAP_SHARED                  ? "shared"
								  : "?");
		break;
	case SYS_munmap:
		(void)snprintf(text, size, "munmap %llu\n", a >> 10);
		break;
	case SYS_madvise:
		(void)snprintf(text, size, "madvise %llu %s\n", a >> 10,
			       b == MADV_DONTNEED   ? "dontneed"
			       : b == MADV_HUGEPAGE ? "hugepage"
						    : "?");
		break;
	case SYS_fallocate:
		(void)snprintf(text, size, "fallocate %llu %llu\n", b >> 10, c >> 10);
		break;
	case SYS_ftruncate:
		(void)snprintf(text, size, "ftruncate %llu\n", a);
		break;
	case SYS_brk:
		*brk_base = *brk_base ? *brk_base : arg[0];
		(void)snprintf(text, size, "brk %lld\n", (long long)(arg[0] - *brk_base) >> 10);
		break;
	default:
		(void)snprintf(text, size, "%llu\n", (unsigned long long)info->nr);
	}
}

/* Runs the child to its end; the calls between its marks as text. false: tracing is not allowed. */
static bool trace(pid_t pid, char *text)
{
	bool is_between = false;
	uint64_t brk_base = 0;
	size_t length = 0;
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return false;
	assert_true(WIFSTOPPED(status));
	assert_int_equal(
		ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	while (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid) {
		struct syscall_info info = { 0 };

		if (WIFEXITED(status))
			break;
		assert_true(WIFSTOPPED(status));
		if (ptrace(GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
			return false;
		if (info.op != 1)
			continue;
		if (info.nr == SYS_getppid) {
			is_between = !is_between;
		} else if (is_between) {
			describe(&info, &brk_base, text + length, TEXT_SIZE - length);
			length += strlen(text + length);
			assert_true(length < TEXT_SIZE - 64);
		}
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return true;
}

/* `line` n times. */
static size_t put_times(char *text, size_t length, const char *line, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		(void)snprintf(text + length, TEXT_SIZE - length, "%s", line);
		length += strlen(text + length);
	}
	return length;
}

/* The expected text: each piece as often as it says. */
struct piece {
	const char *line;
	unsigned int times;
};

struct trace_case {
	const struct zm_workload *workload;
	const char *options;
	uint64_t nr_ops;
	struct piece pieces[4];
	unsigned int rounds; /* of all pieces */
};

/* The first mapping is setup's, so a region of 4 pages touched for 8 and 1 is mapped twice more. */
static const struct trace_case cases[] = {
	{ &wl_faultload_page_fault1,
	  "size=64K stride=16K thp=never",
	  9,
	  { { "munmap 64\nmmap 64 rw anon\n", 1 } },
	  2 },
	{ &wl_faultload_page_fault1,
	  "thp=never",
	  32769,
	  { { "munmap 131072\nmmap 131072 rw anon\n", 1 } },
	  1 },
	{ &wl_faultload_page_fault2,
	  "thp=never",
	  32769,
	  { { "munmap 131072\nmmap 131072 rw private\n", 1 } },
	  1 },
	{ &wl_faultload_page_fault3,
	  "thp=never",
	  32769,
	  { { "munmap 131072\nmmap 131072 rw shared\n", 1 } },
	  1 },
	{ &wl_faultload_malloc2, "", 1000, { { NULL, 0 } }, 0 },
	{ &wl_faultload_mmap1, "", 50, { { "mmap 131072 rw anon\nmunmap 131072\n", 1 } }, 50 },
	{ &wl_faultload_mmap2, "", 50, { { "mmap 131072 rw private\nmunmap 131072\n", 1 } }, 50 },
	{ &wl_faultload_brk1, "", 50, { { "brk 0\nbrk -4\n", 1 } }, 25 },
	{ &wl_faultload_brk2, "", 50, { { "brk 0\nbrk -4\n", 1 } }, 25 },
	{ &wl_faultload_tlb_flush2,
	  "",
	  768,
	  { { "madvise 4 dontneed\n", 256 }, { "munmap 1024\nmmap 1024 rw anon\n", 1 } },
	  2 },
	{ &wl_faultload_tlb_flush1, "", 700, { { "madvise 4 dontneed\n", 700 } }, 1 },
	{ &wl_faultload_tlb_flush3, "", 700, { { "madvise 4 dontneed\n", 700 } }, 1 },
};

static void compare(const struct trace_case *one, const char *seen, const char *expected)
{
	size_t i = 0;

	while (seen[i] && seen[i] == expected[i])
		i++;
	if (seen[i] != expected[i])
		fail_msg("%s: at byte %zu: seen \"%.60s\", expected \"%.60s\"", one->workload->name,
			 i, seen + i, expected + i);
}

static bool trace_child(const struct trace_case *one, char *seen)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		be_child(one->workload, one->options, one->nr_ops);
	return trace(pid, seen);
}

static void test_calls(void **state)
{
	static char seen[TEXT_SIZE], expected[TEXT_SIZE];

	(void)state;
	if (sysconf(_SC_PAGESIZE) != 4096 || rig_is_watched())
		skip(); /* the cases are written for it */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = 0;

		seen[0] = expected[0] = '\0';
		for (unsigned int r = 0; r < cases[i].rounds; r++)
			for (size_t p = 0; p < 4 && cases[i].pieces[p].line; p++)
				length = put_times(expected, length, cases[i].pieces[p].line,
						   cases[i].pieces[p].times);
		if (cases[i].workload == &wl_faultload_tlb_flush2)
			length = put_times(expected, length, "madvise 4 dontneed\n", 256);
		if (!trace_child(&cases[i], seen))
			skip();
		compare(&cases[i], seen, expected);
	}
}

/* The C library maps 128 MiB and a page for its own header. */
static void test_malloc1(void **state)
{
	static const struct trace_case one = { .workload = &wl_faultload_malloc1,
					       .options = "",
					       .nr_ops = 20 };
	static char seen[TEXT_SIZE], expected[TEXT_SIZE];

	(void)state;
	if (sysconf(_SC_PAGESIZE) != 4096 || rig_is_watched() || !trace_child(&one, seen))
		skip();
	put_times(expected, 0, "mmap 131076 rw anon\nmunmap 131076\n", 20);
	compare(&one, seen, expected);
}

/* 8 KiB at a time, and a cut at 1 MiB. */
static void test_fallocate(void **state)
{
	static const struct trace_case both[] = {
		{ .workload = &wl_faultload_fallocate1, .options = "", .nr_ops = 300 },
		{ .workload = &wl_faultload_fallocate2, .options = "", .nr_ops = 300 },
	};
	static char seen[TEXT_SIZE], expected[TEXT_SIZE];

	(void)state;
	for (size_t w = 0; w < 2; w++) {
		size_t length = 0;

		for (unsigned int i = 0; i < 300; i++) {
			char line[64];

			(void)snprintf(line, sizeof(line), "fallocate %u 8\n%s", i % 128 * 8,
				       i % 128 == 127 ? "ftruncate 0\n" : "");
			length = put_times(expected, length, line, 1);
		}
		seen[0] = '\0';
		if (rig_is_watched() || !trace_child(&both[w], seen))
			skip();
		compare(&both[w], seen, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_malloc1),
		cmocka_unit_test(test_fallocate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
