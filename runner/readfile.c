/* readfile: read() until there is no more. */
#include "runner/readfile.h"

#include <errno.h>
#include <unistd.h>

int zm_readfile(int fd, char *buf, size_t size, size_t *ret_length)
{
	size_t length = 0;

	while (length < size) {
		ssize_t n = read(fd, buf + length, size - length);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		length += n > 0 ? (size_t)n : 0;
	}
	*ret_length = length;
	return 0;
}
