/*
 * owner: reads who a process is from /proc/PID/stat, /proc/PID/ns/pid and the boot id.
 *
 * Always of the real /proc: a process is never part of a recorded machine.
 */
#include "workloads/base/owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/sysroot.h"

#define FIELD_STATE 3
#define FIELD_START 22

/* The fields behind the command's name, which may hold anything, brackets and newlines too. */
static int parse_stat(const char *text, char *ret_state, uint64_t *ret_start_ticks)
{
	const char *at = strrchr(text, ')');
	char state;

	if (!at || at[1] != ' ')
		return -EINVAL;
	at += 2;
	state = *at;
	for (int field = FIELD_STATE; field < FIELD_START; field++) {
		at = strchr(at, ' ');
		if (!at)
			return -EINVAL;
		at++;
	}
	if (sscanf(at, "%" SCNu64, ret_start_ticks) != 1)
		return -EINVAL;
	*ret_state = state;
	return 0;
}

static int read_stat(uint64_t pid, char *ret_state, uint64_t *ret_start_ticks)
{
	zm_autofree char *text = NULL;
	struct zm_sysroot live;
	char path[48];
	int error = zm_sysroot_open(&live, NULL);

	if (error)
		return error;
	(void)snprintf(path, sizeof(path), "proc/%" PRIu64 "/stat", pid);
	error = zm_sysroot_read(&live, path, &text, NULL);
	zm_sysroot_release(&live);
	return error ? error : parse_stat(text, ret_state, ret_start_ticks);
}

static int read_boot_id(char *buf, size_t size)
{
	struct zm_sysroot live;
	int error = zm_sysroot_open(&live, NULL);

	if (error)
		return error;
	error = zm_sysroot_read_line(&live, "proc/sys/kernel/random/boot_id", buf, size);
	zm_sysroot_release(&live);
	return error;
}

int zm_owner_self(struct zm_owner *ret_owner, struct zm_why *why)
{
	struct zm_owner owner = { .pid = (uint64_t)getpid() };
	struct stat ns;
	char state;
	int error = read_stat(owner.pid, &state, &owner.start_ticks);

	if (!error)
		error = read_boot_id(owner.boot_id, sizeof(owner.boot_id));
	if (error)
		return zm_why_errno(why, error, "cannot tell who I am from /proc; mount it");
	owner.pid_ns = stat("/proc/self/ns/pid", &ns) == 0 ? (uint64_t)ns.st_ino : 0;
	*ret_owner = owner;
	return 0;
}

bool zm_owner_is_equal(const struct zm_owner *a, const struct zm_owner *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks && a->pid_ns == b->pid_ns &&
	       strcmp(a->boot_id, b->boot_id) == 0;
}

bool zm_owner_is_of_this_boot(const struct zm_owner *owner)
{
	char boot_id[ZM_BOOT_ID_SIZE];

	return read_boot_id(boot_id, sizeof(boot_id)) == 0 && strcmp(boot_id, owner->boot_id) == 0;
}

static bool is_of_this_namespace(const struct zm_owner *owner)
{
	struct stat ns;

	return stat("/proc/self/ns/pid", &ns) != 0 || (uint64_t)ns.st_ino == owner->pid_ns;
}

static bool is_running(const struct zm_owner *owner)
{
	uint64_t start_ticks;
	char state;

	if (read_stat(owner->pid, &state, &start_ticks))
		return false;
	return start_ticks == owner->start_ticks && state != 'Z' && state != 'X';
}

bool zm_owner_is_alive(const struct zm_owner *owner)
{
	return zm_owner_is_of_this_boot(owner) && is_of_this_namespace(owner) && is_running(owner);
}

bool zm_owner_is_dead(const struct zm_owner *owner)
{
	if (!zm_owner_is_of_this_boot(owner))
		return true;
	return is_of_this_namespace(owner) && !is_running(owner);
}
