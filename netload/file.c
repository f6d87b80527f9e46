/* file: a nameless file, written once, buffer after buffer. */
#include "netload/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *zm_net_file_dir(const struct zm_net_options *options)
{
	const char *dir = options->dir ? options->dir : getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/* File systems without O_TMPFILE: a name for a moment. */
static int open_named(const char *dir)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/zonemark.XXXXXX", dir);
	int fd;

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)unlink(path);
	return fd;
}

static int open_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL ? open_named(dir) : -errno;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

int zm_net_file_open(struct zm_flow *flow, struct zm_supply *supply, struct zm_why *why)
{
	const char *dir = zm_net_file_dir(flow->options);
	int r = open_nameless(dir);

	if (r < 0)
		return zm_why_errno(why, r, "a file in %s", dir);
	flow->file_fd = r;
	r = 0;
	for (unsigned int i = 0; r == 0 && i < flow->out.nr; i++) {
		struct iovec message;

		r = zm_supply_take(supply, &message, 1);
		if (r == 0)
			r = write_all(flow->file_fd, message.iov_base, message.iov_len);
	}
	if (r < 0)
		return zm_why_errno(why, r, "%u buffers of %zu bytes into a file in %s",
				    flow->out.nr, flow->out.size, dir);
	supply->is_plain = true; /* from now on only the sizes count */
	return 0;
}
