/* reserve: some room on the store's disk that is set aside while a run is under way. */
#include "results/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

int zm_reserve_take(const char *path, size_t bytes, int *ret_fd, struct zm_why *why)
{
	zm_autofree char *copy = strdup(path);
	int fd, error;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
	if (error) {
		zm_reserve_release(&fd);
		if (error == ENOSPC || error == EDQUOT)
			return zm_why_set(
				why, -ENOSPC,
				"%s: the disk is full (%zu KiB for the run's end are "
				"needed): make room, or give another place with --db FILE",
				path, bytes / 1024);
	}
	*ret_fd = fd;
	return 0;
}

void zm_reserve_release(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}
