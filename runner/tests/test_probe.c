/*
 * probe: everything in the catalogue can be asked whether it runs here, as often as one likes; the
 * answer is yes, or no with a reason, and asking leaves no descriptor behind.
 * labels: unit
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>

#include "runner/catalogue.h"
#include "runner/probe.h"

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	assert_int_equal(closedir(dir), 0);
	return n;
}

static void is_an_answer(int error, const struct zm_why *why)
{
	assert_true(error <= 0);
	assert_true(error == 0 || why->text[0] != '\0');
}

static void ask_all(const struct zm_sysroot *root, const struct zm_topology *topology)
{
	for (unsigned int i = 0; i < zm_nr_workloads; i++) {
		struct zm_why why = { .text = "" };

		is_an_answer(zm_probe_workload(zm_workloads[i], root, topology, &why), &why);
	}
	for (unsigned int i = 0; i < zm_nr_monitors; i++) {
		struct zm_why why = { .text = "" };

		is_an_answer(zm_probe_monitor(zm_monitors[i], root, &why), &why);
	}
}

static void everything_answers_and_leaves_nothing(void **state)
{
	struct zm_topology topology;
	struct zm_sysroot root;
	struct zm_why why;
	int before;

	(void)state;
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	assert_int_equal(zm_topology_read(&root, NULL, &topology, &why), 0);
	ask_all(&root, &topology);
	before = count_descriptors();
	ask_all(&root, &topology);
	assert_int_equal(count_descriptors(), before);
	zm_topology_release(&topology);
	zm_sysroot_release(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_answers_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
