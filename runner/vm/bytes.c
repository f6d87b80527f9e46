/* bytes: files read whole and written whole. */
#include "runner/vm/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

int zm_vm_bytes_read_fd(int fd, uint8_t **ret_bytes, size_t *ret_length)
{
	zm_autofree uint8_t *bytes = NULL;
	size_t size, done = 0;
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -EINVAL;
	size = (size_t)stat.st_size;
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	while (done < size) {
		ssize_t n = pread(fd, bytes + done, size - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	bytes[done] = 0;
	*ret_bytes = bytes;
	bytes = NULL;
	if (ret_length)
		*ret_length = done;
	return 0;
}

int zm_vm_bytes_read(const char *path, uint8_t **ret_bytes, size_t *ret_length)
{
	zm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : zm_vm_bytes_read_fd(fd, ret_bytes, ret_length);
}

int zm_vm_bytes_write_fd(int fd, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;

	while (length) {
		ssize_t n = write(fd, at, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		length -= (size_t)n;
	}
	return 0;
}

int zm_vm_bytes_write(const char *path, const void *bytes, size_t length)
{
	zm_autofree char *temporary = NULL;
	zm_autoclose int fd = -1;
	int r;

	if (asprintf(&temporary, "%s.%ld", path, (long)getpid()) < 0) {
		temporary = NULL;
		return -ENOMEM;
	}
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	r = zm_vm_bytes_write_fd(fd, bytes, length);
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(temporary);
	return r;
}

int zm_vm_bytes_digest(const void *bytes, size_t length, char digest[ZM_VM_DIGEST_SIZE])
{
	unsigned char raw[EVP_MAX_MD_SIZE];

	if (EVP_Digest(bytes, length, raw, NULL, EVP_sha256(), NULL) != 1)
		return -ENOMEM;
	for (size_t i = 0; i < (ZM_VM_DIGEST_SIZE - 1) / 2; i++)
		(void)snprintf(digest + 2 * i, 3, "%02x", raw[i]);
	return 0;
}
