/* owner: which process is behind a run that is under way, and whether it still lives. */
#include "results/owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

static bool read_line(const char *path, char *buf, size_t size)
{
	zm_autofclose FILE *file = fopen(path, "re");

	if (!file || !fgets(buf, (int)size, file))
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* Field 22 of its stat file, counted from behind the name, which may hold anything. -1: no such
 * process; a zombie has ended, too. */
static int64_t start_of(int64_t pid)
{
	char path[64], line[1024];
	const char *at;
	char state;
	unsigned long long start;

	(void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	if (!read_line(path, line, sizeof(line)))
		return -1;
	at = strrchr(line, ')');
	if (!at || sscanf(at + 1,
			  " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
			  " %*s %*s %llu",
			  &state, &start) != 2)
		return -1;
	return state == 'Z' || state == 'X' ? -1 : (int64_t)start;
}

void zm_owner_self(struct zm_owner *ret_owner)
{
	struct stat space;

	*ret_owner = (struct zm_owner){ .pid = getpid() };
	ret_owner->start = start_of(ret_owner->pid);
	if (stat("/proc/self/ns/pid", &space) == 0)
		ret_owner->space = (int64_t)space.st_ino;
	if (!read_line("/proc/sys/kernel/random/boot_id", ret_owner->boot, sizeof(ret_owner->boot)))
		ret_owner->boot[0] = '\0';
}

bool zm_owner_is_dead(const struct zm_owner *owner)
{
	struct zm_owner self;

	zm_owner_self(&self);
	if (strcmp(owner->boot, self.boot) != 0)
		return true;
	if (owner->space != self.space)
		return false;
	return start_of(owner->pid) != owner->start;
}
