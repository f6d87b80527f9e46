/* readfile: a file, or what comes through a pipe, up to a size. */
#ifndef ZM_RUNNER_READFILE_H
#define ZM_RUNNER_READFILE_H

#include <stddef.h>

/* Until its end, or the buffer's. 0 or -errno. */
int zm_readfile(int fd, char *buf, size_t size, size_t *ret_length);

#endif
