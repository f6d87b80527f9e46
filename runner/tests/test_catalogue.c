/*
 * catalogue: what the build found is whole: names in order and found again, every row with a help and
 * a preset in its own bounds, so that help, man page and completion have something to say of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner/catalogue.h"

static void is_a_summary(const char *text)
{
	assert_non_null(text);
	assert_in_range(strlen(text), 8, 100);
	assert_null(strchr(text, '\n'));
	assert_int_not_equal(text[strlen(text) - 1], '.');
}

static void rows_are_whole(const struct zm_option *rows, size_t size)
{
	struct zm_why why = { .text = "" };
	void *options = calloc(1, size + 1);

	assert_non_null(options);
	for (const struct zm_option *row = rows; row && row->name; row++) {
		assert_non_null(row->help);
		assert_true(row->help[0] != '\0');
		assert_ptr_equal(zm_option_find(rows, row->name), row);
		assert_true(row->preset || row->type == ZM_OPTION_STRING);
	}
	if (rows) {
		assert_int_equal(zm_options_init(rows, options, &why), 0);
		zm_options_release(rows, options);
	}
	free(options);
}

static void commands_are_whole(void **state)
{
	(void)state;
	assert_true(zm_nr_cmds > 0);
	for (unsigned int i = 0; i < zm_nr_cmds; i++) {
		const struct zm_cmd *cmd = zm_cmds[i];

		assert_true(i == 0 || strcmp(zm_cmds[i - 1]->name, cmd->name) < 0);
		assert_ptr_equal(zm_cmd_find(cmd->name), cmd);
		assert_non_null(cmd->run);
		is_a_summary(cmd->summary);
		rows_are_whole(cmd->switches, cmd->switches_size);
	}
	assert_null(zm_cmds[zm_nr_cmds]);
	assert_null(zm_cmd_find("no-such-command"));
}

static void workloads_are_whole(void **state)
{
	struct zm_why why = { .text = "" };

	(void)state;
	assert_int_equal(zm_catalogue_validate(&why), 0);
	assert_true(zm_nr_workloads > 0);
	for (unsigned int i = 0; i < zm_nr_workloads; i++) {
		assert_true(i == 0 || strcmp(zm_workloads[i - 1]->name, zm_workloads[i]->name) < 0);
		assert_ptr_equal(zm_workload_find(zm_workloads[i]->name), zm_workloads[i]);
		is_a_summary(zm_workloads[i]->summary);
		rows_are_whole(zm_workloads[i]->options, zm_workloads[i]->options_size);
	}
	assert_null(zm_workloads[zm_nr_workloads]);
	assert_null(zm_workload_find("no_such_workload"));
}

static void monitors_are_whole(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < zm_nr_monitors; i++) {
		const struct zm_monitor *monitor = zm_monitors[i];

		assert_true(i == 0 || strcmp(zm_monitors[i - 1]->name, monitor->name) < 0);
		assert_ptr_equal(zm_monitor_find(monitor->name), monitor);
		is_a_summary(monitor->summary);
		assert_non_null(monitor->needs);
		assert_non_null(monitor->open);
		assert_non_null(monitor->read);
		assert_non_null(monitor->close);
	}
	assert_null(zm_monitors[zm_nr_monitors]);
	assert_null(zm_monitor_find("no-such-monitor"));
}

static void a_wrong_command_is_said_with_the_nearest(void **state)
{
	struct zm_why why = { .text = "" };

	(void)state;
	assert_int_equal(zm_cmd_unknown("hlep", &why), -ENOENT);
	assert_non_null(strstr(why.text, "did you mean help?"));
	assert_int_equal(zm_cmd_unknown("", &why), -ENOENT);
	assert_non_null(strstr(why.text, "zonemark --help"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_whole),
		cmocka_unit_test(workloads_are_whole),
		cmocka_unit_test(monitors_are_whole),
		cmocka_unit_test(a_wrong_command_is_said_with_the_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
