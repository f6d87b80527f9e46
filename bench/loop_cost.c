/*
 * loop_cost: how many instructions in user space a page costs in the harness's own loop, and in the
 * bare one; counted by callgrind, so the same on a busy machine.
 *
 *     loop_cost                  runs each of the parts below under callgrind, at two lengths, so that
 *                                what is spent once cancels out; exit 1 when the harness costs more
 *                                than two instructions a page beyond the bare loop, 77 without valgrind
 *     loop_cost harness PAGES    page_fault1 as a task runs it (runner/worker.c)
 *     loop_cost bare PAGES       mmap, the loop over the pages, munmap
 *     loop_cost null STEPS       a task of null, one operation a step
 *     loop_cost load OPS NAME [OPTION=VALUE …]     any workload with steps, as a task runs it; counts itself
 *                                nothing: bench/loads does
 *     loop_cost pair TIME NAME [OPTION=VALUE …]    both ends of a stream, a process each; bench/net counts
 *
 * timeout: 120
 * labels: known
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bare.h"
#include "bench/lone_task.h"
#include "runner/catalogue.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define REGION_BYTES (UINT64_C(8) << 20) /* many rounds in little time */
#define MOST_BEYOND  2.0

/* --- the parts, each in a process of its own ---------------------------------------------------- */

static const struct zm_workload *measured;
static uint64_t left;

/* The workload's own step, and the stop after so many operations. Callgrind looks away in here, and
 * back in the step itself (exec_valgrind). */
__attribute__((noinline)) static int64_t step_and_stop(struct zm_task *task, uint64_t n)
{
	int64_t done = measured->step(task, n);

	if (done < 0 || (uint64_t)done >= left)
		zm_lone_task_stop();
	left -= done > 0 ? (uint64_t)done : 0;
	return done;
}

static int run_task(const struct zm_workload *workload, char **words, uint64_t nr_ops)
{
	uint64_t ops;
	int r;

	measured = workload;
	left = nr_ops;
	r = zm_lone_task_run(workload, step_and_stop, words, &ops);
	if (r == 0)
		(void)printf("%llu\n", (unsigned long long)ops);
	return r;
}

static int run_harness(uint64_t nr_pages)
{
	char size[32];
	char *words[] = { size, NULL };

	(void)snprintf(size, sizeof(size), "size=%llu", (unsigned long long)REGION_BYTES);
	return run_task(zm_workload_find("page_fault1"), words, nr_pages);
}

static int run_bare(uint64_t nr_pages)
{
	struct zm_bare bare = { .size = REGION_BYTES,
				.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
				.flags = MAP_PRIVATE | MAP_ANONYMOUS,
				.fd = -1 };
	uint64_t nr_rounds = nr_pages / (REGION_BYTES / bare.page_bytes);

	(void)printf("%llu\n", (unsigned long long)(nr_rounds * (REGION_BYTES / bare.page_bytes)));
	return zm_bare_rounds(&bare, nr_rounds) < 0 ? 2 : 0;
}

static int run_null(uint64_t nr_steps)
{
	char word[] = "step_ops=1";
	char *words[] = { word, NULL };

	return run_task(zm_workload_find("null"), words, nr_steps);
}

static int run_load(uint64_t nr_ops, const char *name, char **words)
{
	const struct zm_workload *workload = zm_workload_find(name);

	if (workload && workload->step)
		return run_task(workload, words, nr_ops);
	(void)fprintf(stderr, "loop_cost: %s: no workload with steps\n", name);
	return 2;
}

static int run_pair(uint64_t length_ns, const char *name, char **words)
{
	const struct zm_workload *workload = zm_workload_find(name);

	if (workload && workload->nr_ends == 2 && workload->run)
		return zm_lone_pair_run(workload, words, length_ns);
	(void)fprintf(stderr, "loop_cost: %s: no workload with two ends\n", name);
	return 2;
}

static const struct part {
	const char *name;
	const char *counted; /* callgrind counts from this function's entry to its end */
	const char *step;    /* the workload's step: counted inside step_and_stop */
	int (*run)(uint64_t n);
} parts[] = {
	{ "bare", "zm_bare_rounds", NULL, run_bare },
	{ "harness", "zm_worker_main", "zm_region_step", run_harness },
	{ "null", "zm_worker_main", "step", run_null },
};

enum { BARE, HARNESS, NULL_STEPS, NR_PARTS };

/* --- counting them ------------------------------------------------------------------------------ */

/* Each function named to callgrind turns counting over when it is entered and when it is left. Ends
 * the calling process: exit status 127 when valgrind is not there. */
__attribute__((noreturn)) static void exec_valgrind(const struct part *part, const char *self,
						    const char *count, const char *out_file,
						    int out_fd)
{
	char out[64], counted[64], step[64];
	const char *arguments[12] = { "valgrind", "--quiet", "--tool=callgrind", out, counted };
	size_t n = 5;

	(void)snprintf(out, sizeof(out), "--callgrind-out-file=%s", out_file);
	(void)snprintf(counted, sizeof(counted), "--toggle-collect=%s", part->counted);
	if (part->step) {
		(void)snprintf(step, sizeof(step), "--toggle-collect=%s", part->step);
		arguments[n++] = "--toggle-collect=step_and_stop";
		arguments[n++] = step;
	}
	arguments[n++] = self;
	arguments[n++] = part->name;
	arguments[n++] = count;
	(void)dup2(out_fd, STDOUT_FILENO);
	(void)execvp("valgrind", (char *const *)(uintptr_t)arguments);
	_exit(127);
}

/* The number behind "totals:" in what callgrind wrote; 0 when there is none. */
static uint64_t read_totals(const char *out_file)
{
	zm_autofclose FILE *file = fopen(out_file, "re");
	unsigned long long totals = 0;
	char line[4096];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "totals: %llu", &totals) == 1)
			break;
	return totals;
}

/* The operations that the part says it did. */
static uint64_t read_count(int fd)
{
	char text[64] = "";
	uint64_t count = 0;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return zm_units_parse_u64(text, &count) == 0 ? count : 0;
}

/* 0, 77 without valgrind, 2 when it went wrong. */
static int count_part(const struct part *part, const char *self, uint64_t n, double *ret_ops,
		      double *ret_instructions)
{
	char out_file[] = "/tmp/zonemark-callgrind.XXXXXX";
	zm_autoclose int out_file_fd = mkostemp(out_file, O_CLOEXEC);
	zm_autoclose int out_fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char count[24];
	int status = -1;
	pid_t pid;

	if (out_file_fd < 0 || out_fd < 0)
		return 2;
	(void)snprintf(count, sizeof(count), "%llu", (unsigned long long)n);
	pid = fork();
	if (pid == 0)
		exec_valgrind(part, self, count, out_file, out_fd);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret_ops = (double)read_count(out_fd);
	*ret_instructions = (double)read_totals(out_file);
	(void)unlink(out_file);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return 77;
	return status == 0 && *ret_ops > 0 && *ret_instructions > 0 ? 0 : 2;
}

/* Instructions an operation, from the difference of a short and a long run. */
static int cost_of(const struct part *part, const char *self, double *ret_cost)
{
	double ops[2], instructions[2];
	int r = count_part(part, self, 20480, &ops[0], &instructions[0]);

	if (r == 0)
		r = count_part(part, self, 102400, &ops[1], &instructions[1]);
	if (r != 0)
		return r;
	*ret_cost = (instructions[1] - instructions[0]) / (ops[1] - ops[0]);
	return 0;
}

static int count_all(const char *self)
{
	double cost[NR_PARTS];

	for (size_t i = 0; i < NR_PARTS; i++) {
		int r = cost_of(&parts[i], self, &cost[i]);

		if (r != 0) {
			(void)fprintf(stderr, "loop_cost: %s: %s\n", parts[i].name,
				      r == 77 ? "valgrind is not here" : "callgrind failed");
			return r;
		}
	}
	(void)printf("bare loop          %6.3f instructions a page\n", cost[BARE]);
	(void)printf("page_fault1        %6.3f instructions a page\n", cost[HARNESS]);
	(void)printf("beyond the bare    %6.3f (at most %.1f)\n", cost[HARNESS] - cost[BARE],
		     MOST_BEYOND);
	(void)printf("null               %6.3f instructions a step\n", cost[NULL_STEPS]);
	return cost[HARNESS] - cost[BARE] > MOST_BEYOND;
}

int main(int argc, char **argv)
{
	uint64_t n;

#ifdef ZM_SANITIZED
	(void)fprintf(stderr, "loop_cost: valgrind does not run what a sanitizer has built\n");
	return 77;
#endif
	if (argc == 1) {
		char self[PATH_MAX] = "";

		return readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ? 2 : count_all(self);
	}
	if (argc >= 4 && strcmp(argv[1], "load") == 0 && zm_units_parse_u64(argv[2], &n) == 0)
		return run_load(n, argv[3], argv + 4);
	if (argc >= 4 && strcmp(argv[1], "pair") == 0 && zm_units_parse_duration(argv[2], &n) == 0)
		return run_pair(n, argv[3], argv + 4);
	for (size_t i = 0; argc == 3 && i < NR_PARTS; i++)
		if (strcmp(argv[1], parts[i].name) == 0 && zm_units_parse_u64(argv[2], &n) == 0)
			return parts[i].run(n);
	(void)fprintf(
		stderr,
		"usage: loop_cost [harness|bare|null COUNT | load OPS NAME [OPTION=VALUE …] | "
		"pair TIME NAME [OPTION=VALUE …]]\n");
	return 2;
}
