/*
 * sysroot: every path is opened relative to a directory descriptor. A recorded root is closed: its
 * absolute links and ".." stay inside it (openat2 with RESOLVE_IN_ROOT), so that no figure of this
 * machine slips into a recorded one. Kernels without openat2 follow links as they are.
 */
#include "workloads/base/sysroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define PAGE          4096
#define MAX_FILE      ((size_t)64 << 20)
#define MAX_TRIES     64 /* of openat2, which gives up while something is being renamed */
#define LINE_OF_VALUE 256
#define READ_FLAGS    (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* --- the root -------------------------------------------------------------------------------- */

static int open_in_root(int dir_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = -1;

	for (int i = 0; i < MAX_TRIES; i++) {
		fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(dir_fd, path, flags);
	return fd < 0 ? -errno : (int)fd;
}

static int open_path(const struct zm_sysroot *root, const char *path, int flags)
{
	int fd;

	while (*path == '/')
		path++;
	if (!*path)
		path = ".";
	if (!root->is_live)
		return open_in_root(root->dir_fd, path, flags);
	do
		fd = openat(root->dir_fd, path, flags);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

static bool is_same_directory(int fd, const char *path)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

int zm_sysroot_open(struct zm_sysroot *root, const char *path)
{
	int fd = open(path ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	root->dir_fd = fd;
	root->is_live = is_same_directory(fd, "/");
	root->is_writable = root->is_live;
	return 0;
}

int zm_sysroot_open_writable(struct zm_sysroot *root, const char *path)
{
	int error = zm_sysroot_open(root, path);

	if (!error)
		root->is_writable = true;
	return error;
}

void zm_sysroot_release(struct zm_sysroot *root)
{
	if (!root)
		return;
	zm_cleanup_close(&root->dir_fd);
	root->dir_fd = -1;
}

bool zm_sysroot_has(const struct zm_sysroot *root, const char *path)
{
	zm_autoclose int fd = open_path(root, path, O_PATH | O_CLOEXEC);

	return fd >= 0;
}

/* --- whole files ----------------------------------------------------------------------------- */

/* Up to size bytes from offset on: fewer only at the end of the file. */
static ssize_t read_from(int fd, char *buf, size_t size, off_t offset)
{
	size_t length = 0;

	while (length < size) {
		ssize_t n = pread(fd, buf + length, size - length, offset + (off_t)length);

		if (n == 0)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		length += (size_t)n;
	}
	return (ssize_t)length;
}

/* The buffer to start with: a regular file tells its size, procfs says 0, sysfs a page. */
static size_t first_capacity(int fd)
{
	struct stat status;

	if (fstat(fd, &status) || status.st_size < PAGE)
		return PAGE;
	return (size_t)status.st_size < MAX_FILE ? (size_t)status.st_size + 2 : MAX_FILE + 2;
}

static size_t next_capacity(size_t capacity)
{
	return capacity < MAX_FILE / 2 ? capacity * 2 : MAX_FILE + 2;
}

/* *ret_capacity is what was allocated for the text. */
static int read_all(int fd, char **ret_text, size_t *ret_length, size_t *ret_capacity)
{
	size_t capacity = first_capacity(fd), length = 0;
	zm_autofree char *text = NULL;

	for (;; capacity = next_capacity(capacity)) {
		char *larger = realloc(text, capacity);
		ssize_t n;

		if (!larger)
			return -ENOMEM;
		text = larger;
		n = read_from(fd, text + length, capacity - 1 - length, (off_t)length);
		if (n < 0)
			return (int)n;
		length += (size_t)n;
		if (length > MAX_FILE)
			return -EFBIG;
		if (length < capacity - 1)
			break;
	}
	text[length] = '\0';
	*ret_text = text;
	*ret_length = length;
	*ret_capacity = capacity;
	text = NULL;
	return 0;
}

int zm_sysroot_read(const struct zm_sysroot *root, const char *path, char **ret_text,
		    size_t *ret_length)
{
	zm_autoclose int fd = open_path(root, path, READ_FLAGS);
	size_t length, capacity;
	int error;

	if (fd < 0)
		return fd;
	error = read_all(fd, ret_text, &length, &capacity);
	if (!error && ret_length)
		*ret_length = length;
	return error;
}

int zm_sysroot_read_into(const struct zm_sysroot *root, const char *path, char *buf, size_t size,
			 size_t *ret_length)
{
	zm_autoclose int fd = open_path(root, path, READ_FLAGS);
	ssize_t length;
	char beyond;

	if (fd < 0)
		return fd;
	if (size == 0)
		return -ENOBUFS;
	length = read_from(fd, buf, size - 1, 0);
	if (length < 0)
		return (int)length;
	buf[length] = '\0';
	*ret_length = (size_t)length;
	if ((size_t)length == size - 1 && read_from(fd, &beyond, 1, length) > 0)
		return -ENOBUFS;
	return 0;
}

/* --- one value ------------------------------------------------------------------------------- */

int zm_sysroot_read_line(const struct zm_sysroot *root, const char *path, char *buf, size_t size)
{
	zm_autoclose int fd = open_path(root, path, READ_FLAGS);
	zm_autofree char *text = NULL;
	ssize_t length;
	char *newline;

	if (fd < 0)
		return fd;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	length = read_from(fd, text, size, 0);
	if (length < 0)
		return (int)length;
	newline = memchr(text, '\n', (size_t)length);
	if (newline)
		length = newline - text;
	else if ((size_t)length >= size)
		return -ENOBUFS;
	memcpy(buf, text, (size_t)length);
	buf[length] = '\0';
	return 0;
}

/* Without the white space around it; text is changed. */
static char *trim(char *text)
{
	static const char space[] = " \t\r\n\v\f";
	char *start = text + strspn(text, space);
	size_t length = strlen(start);

	while (length > 0 && strchr(space, start[length - 1]))
		length--;
	start[length] = '\0';
	return start;
}

int zm_sysroot_read_u64(const struct zm_sysroot *root, const char *path, uint64_t *ret_value)
{
	char line[LINE_OF_VALUE];
	int error = zm_sysroot_read_line(root, path, line, sizeof(line));

	if (error)
		return error == -ENOBUFS ? -EINVAL : error;
	return zm_units_parse_u64(trim(line), ret_value);
}

int zm_sysroot_read_cpuset(const struct zm_sysroot *root, const char *path,
			   struct zm_cpuset *ret_set)
{
	zm_autofree char *text = NULL;
	size_t length;
	int error = zm_sysroot_read(root, path, &text, &length);

	if (error)
		return error;
	/* Linux 5.15 gives a node's list with a NUL behind it. */
	while (length && text[length - 1] == '\0')
		length--;
	return strlen(text) < length ? -EINVAL : zm_cpuset_parse(text, ret_set);
}

/* The word between brackets, or the first; *ret_length is 0 when there is none. */
static const char *chosen_word(const char *text, size_t *ret_length)
{
	const char *bracket = strchr(text, '[');
	const char *word = bracket ? bracket + 1 : text + strspn(text, " \t\n");

	*ret_length = strcspn(word, bracket ? "]" : " \t\n");
	if (bracket && word[*ret_length] != ']')
		*ret_length = 0;
	return word;
}

int zm_sysroot_read_choice(const struct zm_sysroot *root, const char *path, char *buf, size_t size)
{
	zm_autofree char *text = NULL;
	const char *word;
	size_t length;
	int error = zm_sysroot_read(root, path, &text, NULL);

	if (error)
		return error;
	word = chosen_word(text, &length);
	if (length == 0)
		return -EINVAL;
	if (length >= size)
		return -ENOBUFS;
	memcpy(buf, word, length);
	buf[length] = '\0';
	return 0;
}

static int write_once(int fd, const char *text)
{
	size_t length = strlen(text);
	ssize_t written;

	do
		written = write(fd, text, length);
	while (written < 0 && errno == EINTR);
	if (written < 0)
		return -errno;
	return (size_t)written < length ? -EIO : 0;
}

/* In a tree, a file that is there gets a new content under its old name. */
static int replace_content(const struct zm_sysroot *root, const char *path, const char *text)
{
	static const char *const new_name = ".zm-new";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	zm_autofree char *parent = strndup(path, slash ? (size_t)(slash - path) : 0);
	zm_autoclose int dir_fd = -1, fd = -1;
	int error;

	if (!parent)
		return -ENOMEM;
	dir_fd = open_path(root, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return dir_fd;
	if (faccessat(dir_fd, name, W_OK, AT_EACCESS))
		return -errno;
	fd = openat(dir_fd, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	error = fd < 0 ? -errno : write_once(fd, text);
	if (!error && renameat(dir_fd, new_name, dir_fd, name))
		error = -errno;
	return error;
}

int zm_sysroot_write(const struct zm_sysroot *root, const char *path, const char *text)
{
	zm_autoclose int fd = -1;

	if (!root->is_writable)
		return -EROFS;
	if (!root->is_live)
		return replace_content(root, path, text);
	fd = open_path(root, path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? fd : write_once(fd, text);
}

/* --- directories ----------------------------------------------------------------------------- */

/* -EINVAL for a name that is not prefix and digits. */
static int number_of(const char *name, const char *prefix, unsigned int *ret_number)
{
	size_t length = strlen(prefix);
	uint64_t number;
	int error;

	if (strncmp(name, prefix, length) != 0 ||
	    name[length + strspn(name + length, "0123456789")])
		return -EINVAL;
	error = zm_units_parse_u64(name + length, &number);
	if (error)
		return error;
	if (number > ZM_CPUSET_MAX)
		return -ERANGE;
	*ret_number = (unsigned int)number;
	return 0;
}

static int add_entries(DIR *dir, const char *prefix, struct zm_cpuset *set)
{
	const struct dirent *entry;
	unsigned int number;
	int error;

	while (errno = 0, (entry = readdir(dir))) {
		error = number_of(entry->d_name, prefix, &number);
		if (!error)
			error = zm_cpuset_add(set, number);
		if (error && error != -EINVAL)
			return error;
	}
	return -errno;
}

int zm_sysroot_list_numbered(const struct zm_sysroot *root, const char *path, const char *prefix,
			     struct zm_cpuset *ret_set)
{
	int fd = open_path(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	zm_autocpuset struct zm_cpuset set = { 0 };
	zm_autoclosedir DIR *dir = NULL;
	int error = 0;

	if (fd < 0 && fd != -ENOENT)
		return fd;
	if (fd >= 0) {
		dir = fdopendir(fd);
		if (!dir) {
			error = -errno;
			(void)close(fd);
			return error;
		}
		error = add_entries(dir, prefix, &set);
	}
	return error ? error : zm_cpuset_copy(ret_set, &set);
}

/* --- files read again and again -------------------------------------------------------------- */

int zm_sysfile_open(struct zm_sysfile *file, const struct zm_sysroot *root, const char *path)
{
	zm_autoclose int fd = open_path(root, path, READ_FLAGS);
	zm_autofree char *text = NULL;
	size_t length, capacity;
	char *roomy;
	int error;

	if (fd < 0)
		return fd;
	error = read_all(fd, &text, &length, &capacity);
	if (error)
		return error;
	capacity = 2 * length + PAGE;
	roomy = realloc(text, capacity);
	text = roomy ? roomy : text;
	if (!roomy)
		return -ENOMEM;
	*file = (struct zm_sysfile){
		.fd = fd, .text = text, .length = length, .capacity = capacity
	};
	fd = -1;
	text = NULL;
	return 0;
}

int zm_sysfile_read(struct zm_sysfile *file)
{
	ssize_t length = read_from(file->fd, file->text, file->capacity - 1, 0);
	char beyond;
	ssize_t more = 0;

	file->length = length < 0 ? 0 : (size_t)length;
	file->text[file->length] = '\0';
	if (length < 0)
		return (int)length;
	if (file->length == file->capacity - 1)
		more = read_from(file->fd, &beyond, 1, length);
	if (more < 0)
		return (int)more;
	return more > 0 ? -ENOBUFS : 0;
}

void zm_sysfile_release(struct zm_sysfile *file)
{
	if (!file)
		return;
	if (file->text) /* a zeroed struct has descriptor 0, which is not its own */
		zm_cleanup_close(&file->fd);
	zm_cleanup_free(&file->text);
	*file = (struct zm_sysfile){ .fd = -1 };
}
