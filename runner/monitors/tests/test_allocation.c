/*
 * allocation: no monitor's read allocates, on this machine and on the made-up ones.
 *
 * links: -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=reallocarray -Wl,--wrap=strdup -Wl,--wrap=strndup -Wl,--wrap=fopen -Wl,--wrap=opendir -Wl,--wrap=fdopendir -Wl,--wrap=getline
 *
 * Every way to memory that the monitors and what they stand on have is wrapped and counted.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"

static unsigned int nr_allocations;

#define WRAP(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		nr_allocations++;                                                                  \
		return __real_##name arguments;                                                    \
	}

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t nr, size_t size), (nr, size))
WRAP(void *, realloc, (void *old, size_t size), (old, size))
WRAP(void *, reallocarray, (void *old, size_t nr, size_t size), (old, nr, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t size), (text, size))
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode))
WRAP(DIR *, opendir, (const char *path), (path))
WRAP(DIR *, fdopendir, (int fd), (fd))
WRAP(ssize_t, getline, (char **line, size_t *size, FILE *file), (line, size, file))

/* NULL is this machine. */
static const char *const machines[] = {
	NULL,
	"procfs-one-node",
	"procfs-two-nodes-8-cpus",
	"procfs-node-without-cpus",
	"procfs-before-4.8",
	"procfs-linux-6.18",
	"procfs-like-s390",
};

/* Tasks to look at: this process twice, once as a process and once as a thread of itself. */
static void attach(struct rig *rig, enum zm_task_kind kind)
{
	const pid_t tids[] = { getpid(), getpid() };
	const struct zm_target target = {
		.kind = kind,
		.launcher = getpid(),
		.tids = tids,
		.nr_tasks = 2,
	};

	if (rig->context.monitor->attach && rig->root.is_live)
		assert_int_equal(rig->context.monitor->attach(&rig->context, &target, &rig->why),
				 0);
}

static void check(const struct zm_monitor *monitor, const char *machine, enum zm_task_kind kind)
{
	struct rig rig;

	rig_open(&rig, machine ? rig_machine(machine) : NULL, monitor->name);
	if (!rig.open_error) {
		attach(&rig, kind);
		assert_true(nr_allocations > 0);
		nr_allocations = 0;
		for (uint64_t t_ns = 1; t_ns <= 5; t_ns++)
			(void)rig_read(&rig, ZM_PHASE_MEASURE, t_ns);
		if (nr_allocations)
			print_error("%s on %s\n", monitor->name,
				    machine ? machine : "this machine");
		assert_int_equal(nr_allocations, 0);
	}
	rig_close(&rig);
}

static void test_no_read_allocates(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		for (size_t k = 0; k < sizeof(machines) / sizeof(machines[0]); k++) {
			check(zm_monitors[i], machines[k], ZM_TASK_PROCESS);
			check(zm_monitors[i], machines[k], ZM_TASK_THREAD);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_read_allocates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
