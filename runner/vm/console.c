/*
 * console: bytes -> printable lines in a ring -> the first line of each kind of trouble.
 */
#include "runner/vm/console.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The graver ones overrule. No init is a panic too, and says more than that. */
static const struct {
	const char *text;
	enum zm_vm_trouble trouble;
} signs[] = {
	{ "No working init found", ZM_VM_NO_INIT },
	{ "Failed to execute /init", ZM_VM_NO_INIT },
	{ "Unable to mount root fs", ZM_VM_NO_INIT },
	{ "System is deadlocked on memory", ZM_VM_OOM },
	{ "Out of memory", ZM_VM_OOM },
	{ "Kernel panic - not syncing", ZM_VM_PANIC },
	{ "zonemark-agent: ", ZM_VM_AGENT },
	{ "KVM internal error", ZM_VM_HYPERVISOR },
	{ "qemu-system-", ZM_VM_HYPERVISOR },
	{ "watchdog: BUG: soft lockup", ZM_VM_LOCKUP },
	{ "rcu: INFO: rcu_", ZM_VM_LOCKUP },
	{ "blocked for more than", ZM_VM_LOCKUP },
};

static const struct {
	const char *text;
	int weight;
} troubles[] = {
	[ZM_VM_NO_TROUBLE] = { "nothing is known of it", 0 },
	[ZM_VM_LOCKUP] = { "its kernel reported a lockup", 1 },
	[ZM_VM_HYPERVISOR] = { "QEMU failed", 2 },
	[ZM_VM_PANIC] = { "its kernel panicked", 3 },
	[ZM_VM_OOM] = { "it ran out of memory (give more by --memory)", 4 },
	[ZM_VM_AGENT] = { "what runs in it could not go on", 6 },
	[ZM_VM_NO_INIT] = { "its kernel could not run the initramfs's /init "
			    "(CONFIG_BLK_DEV_INITRD, CONFIG_BINFMT_ELF)",
			    5 },
};

void zm_vm_console_init(struct zm_vm_console *console)
{
	*console = (struct zm_vm_console){ 0 };
}

static void recognise(struct zm_vm_console *console, const char *line)
{
	if (strstr(line, ": warning: "))
		return;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!strstr(line, signs[i].text) ||
		    troubles[signs[i].trouble].weight <= troubles[console->trouble].weight)
			continue;
		console->trouble = signs[i].trouble;
		memcpy(console->culprit, line, ZM_VM_CONSOLE_WIDTH);
	}
}

static char *current(struct zm_vm_console *console)
{
	return console->lines[console->nr_lines % ZM_VM_CONSOLE_LINES];
}

static void end_line(struct zm_vm_console *console)
{
	char *line = current(console);

	line[console->column] = '\0';
	if (line[strspn(line, " ")] == '\0') {
		console->column = 0;
		return;
	}
	recognise(console, line);
	console->nr_lines++;
	console->column = 0;
	current(console)[0] = '\0';
}

/* An escape sequence in the line just ended by its letter: "\033[2J" was kept as "[2J". */
static void put(struct zm_vm_console *console, char c)
{
	char *line = current(console);

	if (c == '\033') {
		line[console->column++] = c;
	} else if (isprint((unsigned char)c) || (c & 0x80)) {
		line[console->column++] = c;
		line[console->column] = '\0';
		if (isalpha((unsigned char)c)) {
			char *escape = memrchr(line, '\033', console->column);

			if (escape && strspn(escape + 1, "[?;0123456789") + 2 ==
					      (size_t)(line + console->column - escape))
				console->column = (size_t)(escape - line);
		}
	}
}

void zm_vm_console_feed(struct zm_vm_console *console, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\n' || console->column + 2 >= ZM_VM_CONSOLE_WIDTH)
			end_line(console);
		put(console, bytes[i]);
	}
}

const char *zm_vm_console_line(const struct zm_vm_console *console, size_t n)
{
	size_t kept = console->nr_lines < ZM_VM_CONSOLE_LINES - 1 ? console->nr_lines
								  : ZM_VM_CONSOLE_LINES - 1;
	bool has_rest = console->column > 0;

	if (n < kept)
		return console->lines[(console->nr_lines - kept + n) % ZM_VM_CONSOLE_LINES];
	if (n == kept && has_rest)
		return console->lines[console->nr_lines % ZM_VM_CONSOLE_LINES];
	return NULL;
}

const char *zm_vm_trouble_text(enum zm_vm_trouble trouble)
{
	return troubles[trouble].text;
}
