/*
 * console: lines are kept whole however their bytes come, and the gravest trouble is recognised.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "runner/vm/console.h"

static void feed(struct zm_vm_console *console, const char *text)
{
	zm_vm_console_feed(console, text, strlen(text));
}

static void troubles_are_recognised(void **state)
{
	static const struct {
		const char *text;
		enum zm_vm_trouble trouble;
		const char *culprit;
	} cases[] = {
		{ "[ 0.1] Linux version 6.1\n", ZM_VM_NO_TROUBLE, "" },
		{ "[ 2.0] Kernel panic - not syncing: Attempted to kill init!\n", ZM_VM_PANIC,
		  "kill init" },
		{ "Kernel panic - not syncing: VFS: Unable to mount root fs on (0,0)\n",
		  ZM_VM_NO_INIT, "VFS" },
		{ "Failed to execute /init (error -8)\nKernel panic - not syncing: No working "
		  "init found.\n",
		  ZM_VM_NO_INIT, "error -8" },
		{ "Out of memory: Killed process 61 (zonemark)\n", ZM_VM_OOM, "process 61" },
		{ "Out of memory: Killed process 61\nKernel panic - not syncing: System is "
		  "deadlocked on memory\n",
		  ZM_VM_OOM, "process 61" },
		{ "rcu: INFO: rcu_preempt detected stalls\nKernel panic - not syncing: x\n",
		  ZM_VM_PANIC, "syncing: x" },
		{ "KVM internal error. Suberror: 1\n", ZM_VM_HYPERVISOR, "Suberror" },
		{ "qemu-system-x86_64: -accel kvm: warning: 4 exceeds 2\n", ZM_VM_NO_TROUBLE, "" },
		{ "qemu-system-x86_64: could not open x\n", ZM_VM_HYPERVISOR, "open x" },
		{ "zonemark-agent: the guest's kernel has no tmpfs\n", ZM_VM_AGENT, "tmpfs" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_vm_console whole, bytewise;

		zm_vm_console_init(&whole);
		zm_vm_console_init(&bytewise);
		feed(&whole, cases[i].text);
		for (const char *c = cases[i].text; *c; c++)
			zm_vm_console_feed(&bytewise, c, 1);
		assert_int_equal(whole.trouble, cases[i].trouble);
		assert_non_null(strstr(whole.culprit, cases[i].culprit));
		assert_memory_equal(&whole, &bytewise, sizeof(whole));
		assert_true(strlen(zm_vm_trouble_text(whole.trouble)) > 0);
	}
}

static void the_last_lines_are_kept(void **state)
{
	struct zm_vm_console console;
	char line[32];
	size_t n = 0;

	(void)state;
	zm_vm_console_init(&console);
	assert_null(zm_vm_console_line(&console, 0));
	for (int i = 0; i < 100; i++) {
		(void)snprintf(line, sizeof(line), "line %d\r\n\n", i);
		feed(&console, line);
	}
	feed(&console, "half");
	while (zm_vm_console_line(&console, n))
		n++;
	assert_int_equal(n, ZM_VM_CONSOLE_LINES);
	assert_string_equal(zm_vm_console_line(&console, n - 1), "half");
	assert_string_equal(zm_vm_console_line(&console, n - 2), "line 99");
	assert_string_equal(zm_vm_console_line(&console, 0), "line 77");
}

static void only_what_can_be_printed_is_kept(void **state)
{
	static const struct {
		const char *bytes, *line;
	} cases[] = {
		{ "\033[2J\033[1;31mred\033[0m\n", "red" },
		{ "\033c\033[?7lSeaBIOS\n", "SeaBIOS" },
		{ "a\001\002b\tc\n", "abc" },
		{ "[0.1] x\n", "[0.1] x" },
		{ "caf\303\251\n", "caf\303\251" },
	};
	char wide[3 * ZM_VM_CONSOLE_WIDTH];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_vm_console console;

		zm_vm_console_init(&console);
		feed(&console, cases[i].bytes);
		assert_string_equal(zm_vm_console_line(&console, 0), cases[i].line);
	}
	for (int byte = 1; byte < 256; byte++) {
		struct zm_vm_console console;

		zm_vm_console_init(&console);
		memset(wide, byte, sizeof(wide));
		zm_vm_console_feed(&console, wide, sizeof(wide));
		for (size_t n = 0; zm_vm_console_line(&console, n); n++)
			assert_true(strlen(zm_vm_console_line(&console, n)) < ZM_VM_CONSOLE_WIDTH);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(troubles_are_recognised),
		cmocka_unit_test(the_last_lines_are_kept),
		cmocka_unit_test(only_what_can_be_printed_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
