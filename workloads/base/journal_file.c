/*
 * journal_file: from the directory inwards.
 *
 *     directory   made to disk, ours alone, its .lock, the names in it
 *     file        ours alone, its lock, lines appended, read
 *     undo        the records in reverse, each marked done -> unlink; damaged -> renamed
 *
 * Both locks are of fcntl's kind: no child inherits them, and they end with their process.
 */
#include "workloads/base/journal_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/journal_undo.h"

#define JOURNAL_BYTES_MAX (16 << 20) /* of a journal that is read */
#define LOCK_WAIT_NS      (15 * ZM_NS_PER_S)
#define LOCK_POLL_NS      (5 * ZM_NS_PER_MS)

/* --- the directory ---------------------------------------------------------------------------- */

int zm_journal_directory(char *buf, size_t size, struct zm_why *why)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const char *named = getenv("ZONEMARK_JOURNAL");
	int length;

	if (named && named[0])
		length = snprintf(buf, size, "%s", named);
	else if (geteuid() == 0)
		length = snprintf(buf, size, "/var/lib/zonemark/journal");
	else if (state && state[0] == '/')
		length = snprintf(buf, size, "%s/zonemark/journal", state);
	else if (home && home[0] == '/')
		length = snprintf(buf, size, "%s/.local/state/zonemark/journal", home);
	else
		return zm_why_set(why, -ENOENT, "no place for the undo journal: set HOME");
	if ((size_t)length >= size)
		return zm_why_set(why, -ENAMETOOLONG, "the undo journal's path is too long");
	return 0;
}

static int sync_parent(const char *path)
{
	char parent[PATH_MAX];
	char *slash;
	int error = 0;

	(void)snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = '\0';
	zm_autoclose int fd = open(slash ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) && errno != EINVAL))
		error = -errno;
	return error;
}

static int make_directory(const char *path, mode_t mode)
{
	if (mkdir(path, mode))
		return errno == EEXIST ? 0 : -errno;
	return sync_parent(path);
}

static int make_directories(const char *path)
{
	char part[PATH_MAX];

	if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
		return -ENAMETOOLONG;
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int error;

		*slash = '\0';
		error = make_directory(part, 0755);
		*slash = '/';
		if (error)
			return error;
	}
	return make_directory(part, 0700);
}

int zm_journal_directory_make(const char *path, struct zm_why *why)
{
	int error = make_directories(path);

	return error ? zm_why_errno(why, error, "cannot make %s for the undo journal", path) : 0;
}

/* Ours alone? What others may write is no journal. */
static int check_ours(int fd, mode_t type, const char *path, struct zm_why *why)
{
	struct stat status;

	if (fstat(fd, &status))
		return zm_why_errno(why, -errno, "cannot look at %s", path);
	if ((status.st_mode & S_IFMT) != type)
		return zm_why_set(why, -EPERM, "%s is not what it should be: not touched", path);
	if (status.st_uid != geteuid())
		return zm_why_set(why, -EPERM, "%s belongs to user %u, not to user %u: not touched",
				  path, status.st_uid, geteuid());
	if (status.st_mode & 022)
		return zm_why_set(why, -EPERM, "%s can be written by others: chmod go-w it", path);
	return 0;
}

int zm_journal_directory_open(const char *path, int *ret_fd, struct zm_why *why)
{
	int error, fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return zm_why_errno(why, -errno, "cannot open the undo journal's %s", path);
	error = check_ours(fd, S_IFDIR, path, why);
	if (error) {
		(void)close(fd);
		return error;
	}
	*ret_fd = fd;
	return 0;
}

int zm_journal_file_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_SETLK, &lock) == 0)
		return 0;
	return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

/* A file system without locks goes without. */
int zm_journal_directory_lock(int dir_fd, int *ret_fd, struct zm_why *why)
{
	uint64_t deadline_ns = zm_clock_now_ns() + LOCK_WAIT_NS;
	int error, fd = openat(dir_fd, ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return zm_why_errno(why, -errno, "cannot lock the undo journals");
	for (;;) {
		error = zm_journal_file_lock(fd);
		if (error != -EBUSY || zm_clock_now_ns() >= deadline_ns)
			break;
		(void)zm_clock_sleep_until(zm_clock_now_ns() + LOCK_POLL_NS);
	}
	if (error == -EBUSY) {
		(void)close(fd);
		return zm_why_set(why, error,
				  "another zonemark has been busy with the undo journals for 15 s; "
				  "see what it does");
	}
	*ret_fd = fd;
	return 0;
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length > end_length && strcmp(name + length - end_length, end) == 0;
}

static bool is_own(const char *name, const struct zm_owner *self)
{
	char own[64];
	size_t start = strncmp(name, ZM_JOURNAL_NEW, strlen(ZM_JOURNAL_NEW)) == 0
			       ? strlen(ZM_JOURNAL_NEW)
			       : 0;

	(void)snprintf(own, sizeof(own), "%" PRIu64 "-%" PRIu64 "-", self->pid, self->start_ticks);
	return strncmp(name + start, own, strlen(own)) == 0;
}

static int add_name(struct zm_journal_names *names, const char *name)
{
	struct zm_journal_name *bigger = reallocarray(names->items, names->nr + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	names->items = bigger;
	(void)snprintf(bigger[names->nr].name, sizeof(bigger->name), "%s", name);
	bigger[names->nr++].began_ns = 0;
	return 0;
}

int zm_journal_names_read(int dir_fd, const struct zm_owner *self, struct zm_journal_names *names)
{
	int error = 0, fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	zm_autoclosedir DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (!directory) {
		error = -errno;
		if (fd >= 0)
			(void)close(fd);
		return error;
	}
	for (struct dirent *entry; !error && (entry = readdir(directory));)
		if (ends_with(entry->d_name, ZM_JOURNAL_SUFFIX) && !is_own(entry->d_name, self))
			error = add_name(names, entry->d_name);
	return error;
}

void zm_journal_names_release(struct zm_journal_names *names)
{
	free(names->items);
	*names = (struct zm_journal_names){ .items = NULL };
}

/* --- the file --------------------------------------------------------------------------------- */

int zm_journal_file_open(struct zm_journal_file *file, struct zm_why *why)
{
	char path[PATH_MAX];
	int error,
		fd = openat(file->dir_fd, file->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	(void)snprintf(path, sizeof(path), "%s/%s", file->directory, file->name);
	if (fd < 0)
		return zm_why_errno(why, -errno, "cannot open %s", path);
	error = check_ours(fd, S_IFREG, path, why);
	if (error) {
		(void)close(fd);
		return error;
	}
	file->fd = fd;
	return 0;
}

static int write_whole(int fd, const char *text, size_t length, off_t at)
{
	while (length > 0) {
		ssize_t written = pwrite(fd, text, length, at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		text += written;
		at += written;
		length -= (size_t)written;
	}
	return 0;
}

/* EINVAL: a file system that keeps nothing has nothing to sync. */
static int sync_data(int fd)
{
	return fdatasync(fd) && errno != EINVAL && errno != EROFS ? -errno : 0;
}

int zm_journal_file_append(int fd, off_t *length, const char *line, size_t line_length,
			   bool is_synced)
{
	int error = write_whole(fd, line, line_length, *length);

	if (!error && is_synced)
		error = sync_data(fd);
	if (!error)
		*length += (off_t)line_length;
	return error;
}

int zm_journal_file_append_fields(int fd, off_t *length, const char *const *fields, size_t nr,
				  bool is_synced)
{
	zm_autofree char *line = NULL;
	size_t line_length;
	int error = zm_record_print(fields, nr, &line, &line_length);

	return error ? error : zm_journal_file_append(fd, length, line, line_length, is_synced);
}

void zm_journal_root_name(const struct zm_sysroot *root, char *buf, size_t size)
{
	struct stat status;

	if (root->is_live || fstat(root->dir_fd, &status))
		(void)snprintf(buf, size, "/");
	else
		(void)snprintf(buf, size, "%" PRIu64 ":%" PRIu64, (uint64_t)status.st_dev,
			       (uint64_t)status.st_ino);
}

static int read_all(int fd, char **ret_text, size_t *ret_length)
{
	zm_autofree char *text = NULL;
	struct stat status;
	size_t length = 0;

	if (fstat(fd, &status))
		return -errno;
	if (status.st_size > JOURNAL_BYTES_MAX)
		return -EFBIG;
	text = malloc((size_t)status.st_size + 1);
	if (!text)
		return -ENOMEM;
	while (length < (size_t)status.st_size) {
		ssize_t got =
			pread(fd, text + length, (size_t)status.st_size - length, (off_t)length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	*ret_text = text;
	*ret_length = length;
	text = NULL;
	return 0;
}

int zm_journal_file_read(int fd, struct zm_records *ret_records)
{
	zm_autofree char *text = NULL;
	size_t length = 0;
	int error = read_all(fd, &text, &length);

	return error ? error : zm_records_parse(text, length, ret_records);
}

/* --- undoing ---------------------------------------------------------------------------------- */

static void tell(const struct zm_journal_teller *teller, const char *line)
{
	if (teller && teller->say)
		teller->say(teller->context, line);
}

static void mark_done(int fd, off_t *length, uint64_t number)
{
	char digits[24];
	const char *const fields[] = { "done", digits };

	(void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
	if (zm_journal_file_append_fields(fd, length, fields, 2, false))
		(void)ftruncate(fd, *length);
}

/* All of a journal in reverse. The first failure, after having tried everything; `left` takes the
 * first sentence about something left. */
static int undo_records(const struct zm_sysroot *root, int fd, const struct zm_records *records,
			const struct zm_journal_teller *teller, struct zm_why *left,
			struct zm_why *why)
{
	bool is_this_boot = zm_owner_is_of_this_boot(&records->owner);
	off_t length = (off_t)records->good_length;
	int first = 0;

	if (ftruncate(fd, length))
		return zm_why_errno(why, -errno, "cannot work on an undo journal");
	for (size_t i = records->nr_records; i > 0; i--) {
		const struct zm_record *record = &records->records[i - 1];
		enum zm_undone undone = ZM_UNDONE_NOTHING;
		struct zm_why said = { "" };
		int error;

		if (record->is_done)
			continue;
		error = zm_record_undo(root, record, is_this_boot, &undone, &said);
		if (error || undone != ZM_UNDONE_NOTHING)
			tell(teller, said.text);
		if (!error)
			mark_done(fd, &length, record->number);
		if (error && !first && why)
			*why = said;
		if (undone == ZM_UNDONE_LEFT && left && !left->text[0])
			*left = said;
		first = first ? first : error;
	}
	return first;
}

/* Out of the way of every later command, but there for somebody to look at. */
static int set_aside(const struct zm_journal_file *file, struct zm_why *why)
{
	char aside[NAME_MAX + 16];

	(void)snprintf(aside, sizeof(aside), "%s.damaged", file->name);
	if (renameat(file->dir_fd, file->name, file->dir_fd, aside))
		return zm_why_errno(why, -errno, "%s/%s is damaged, and cannot be renamed",
				    file->directory, file->name);
	return zm_why_set(
		why, -EUCLEAN,
		"undo journal %s/%s is damaged; what could be read was undone: look at it, "
		"then remove it",
		file->directory, aside);
}

static int drop(const struct zm_journal_file *file, struct zm_why *why)
{
	if (unlinkat(file->dir_fd, file->name, 0) && errno != ENOENT)
		return zm_why_errno(why, -errno, "cannot remove %s/%s", file->directory,
				    file->name);
	(void)fsync(file->dir_fd);
	return 0;
}

int zm_journal_file_undo(const struct zm_journal_file *file, const struct zm_sysroot *root,
			 const struct zm_journal_teller *teller, struct zm_why *left,
			 struct zm_why *why)
{
	struct zm_records records = { .records = NULL };
	bool is_damaged;
	int error = zm_journal_file_read(file->fd, &records);

	if (error == -EINVAL)
		return set_aside(file, why);
	if (error)
		return zm_why_errno(why, error, "cannot read %s/%s", file->directory, file->name);
	error = undo_records(root, file->fd, &records, teller, left, why);
	is_damaged = records.is_damaged;
	zm_records_release(&records);
	if (error)
		return error;
	return is_damaged ? set_aside(file, why) : drop(file, why);
}
