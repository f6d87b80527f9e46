/*
 * journal: the owner's side of an undo journal.
 *
 *     first record   .new-…  header, synced, locked -> gets its name, PID-START-N.journal
 *     set            lock the directory -> append, sync -> write the file -> read back, append
 *     made           lock the directory -> append, sync
 *     undo           lock the directory -> journal_file.c undoes it all -> a new journal may begin
 *
 * The journal's lock is held by its owner for life: a living owner in another pid namespace is known
 * by it. The directory's is held during each change: nobody reads an old value while somebody else
 * puts it back. A setting that another journal has changed is refused: whoever put it back second
 * would put back the other's value.
 */
#include "workloads/base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/journal_file.h"
#include "workloads/base/journal_undo.h"
#include "workloads/base/owner.h"
#include "workloads/base/remove.h"

struct zm_journal {
	const struct zm_sysroot *root;
	char *directory;
	struct zm_owner owner;
	int dir_fd; /* -1 until the first record, as fd */
	int fd;
	char name[96];
	off_t length; /* of the whole records */
	uint64_t last_number;
	bool is_broken; /* a half record could not be taken back */
};

static uint64_t boottime_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_BOOTTIME, &now))
		return 0;
	return (uint64_t)now.tv_sec * ZM_NS_PER_S + (uint64_t)now.tv_nsec;
}

static int write_header(struct zm_journal *journal)
{
	struct zm_records records = { .owner = journal->owner, .began_ns = boottime_ns() };
	zm_autofree char *line = NULL;
	size_t length;
	int error;

	zm_journal_root_name(journal->root, records.root, sizeof(records.root));
	error = zm_records_print_header(&records, &line, &length);
	if (!error)
		error = zm_journal_file_append(journal->fd, &journal->length, line, length, false);
	return error ? error : (fsync(journal->fd) && errno != EINVAL ? -errno : 0);
}

/* Gives the written header a journal's name; a process may have more than one. */
static int link_journal(struct zm_journal *journal, const char *new_name)
{
	for (unsigned int n = 0; n < 1000; n++) {
		(void)snprintf(journal->name, sizeof(journal->name),
			       "%" PRIu64 "-%" PRIu64 "-%u" ZM_JOURNAL_SUFFIX, journal->owner.pid,
			       journal->owner.start_ticks, n);
		if (linkat(journal->dir_fd, new_name, journal->dir_fd, journal->name, 0) == 0)
			return fsync(journal->dir_fd) && errno != EINVAL ? -errno : 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static void forget_file(struct zm_journal *journal)
{
	if (journal->fd >= 0)
		(void)close(journal->fd);
	journal->fd = -1;
	journal->length = 0;
	journal->last_number = 0;
	journal->is_broken = false;
}

/* Makes the journal's file, complete with its header and lock before it has its name. */
static int make_file(struct zm_journal *journal)
{
	char new_name[96];
	int error;

	(void)snprintf(new_name, sizeof(new_name),
		       ZM_JOURNAL_NEW "%" PRIu64 "-%" PRIu64 "-%" PRIu64 ZM_JOURNAL_SUFFIX,
		       journal->owner.pid, journal->owner.start_ticks, journal->owner.pid_ns);
	(void)unlinkat(journal->dir_fd, new_name, 0);
	journal->fd = openat(journal->dir_fd, new_name,
			     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (journal->fd < 0)
		return -errno;
	(void)zm_journal_file_lock(journal->fd);
	error = write_header(journal);
	if (!error)
		error = link_journal(journal, new_name);
	(void)unlinkat(journal->dir_fd, new_name, 0);
	if (error)
		forget_file(journal);
	return error;
}

static int open_own_directory(struct zm_journal *journal, struct zm_why *why)
{
	int error;

	if (journal->dir_fd >= 0)
		return 0;
	error = zm_journal_directory_make(journal->directory, why);
	return error ? error : zm_journal_directory_open(journal->directory, &journal->dir_fd, why);
}

/* One record, on disk when this returns. Half a record is taken back. */
static int append_record(struct zm_journal *journal, const char *const *fields, size_t nr,
			 struct zm_why *why)
{
	int error = journal->fd < 0 ? make_file(journal) : 0;

	if (!error && journal->is_broken)
		error = -EIO;
	if (!error)
		error = zm_journal_file_append_fields(journal->fd, &journal->length, fields, nr,
						      true);
	if (!error)
		return 0;
	if (journal->fd >= 0 && ftruncate(journal->fd, journal->length))
		journal->is_broken = true;
	return zm_why_errno(why, error,
			    "cannot write the undo journal in %s, so nothing is changed",
			    journal->directory);
}

int zm_journal_open(const struct zm_sysroot *root, const char *directory,
		    struct zm_journal **ret_journal, struct zm_why *why)
{
	char usual[PATH_MAX];
	struct zm_journal *journal;
	int error = directory ? 0 : zm_journal_directory(usual, sizeof(usual), why);

	if (error)
		return error;
	journal = calloc(1, sizeof(*journal));
	if (!journal)
		return zm_why_errno(why, -ENOMEM, "cannot make an undo journal");
	*journal = (struct zm_journal){ .root = root, .dir_fd = -1, .fd = -1 };
	journal->directory = strdup(directory ? directory : usual);
	error = journal->directory ? zm_owner_self(&journal->owner, why) : -ENOMEM;
	if (error) {
		zm_journal_forget(journal);
		return error;
	}
	*ret_journal = journal;
	return 0;
}

/* A forked child has the struct, but not the right. */
static int check_owner(const struct zm_journal *journal, struct zm_why *why)
{
	if (journal->owner.pid == (uint64_t)getpid())
		return 0;
	return zm_why_set(why, -EPERM, "the undo journal belongs to process %" PRIu64,
			  journal->owner.pid);
}

/* Has the journal changed this setting in this boot? */
static bool file_has_path(struct zm_journal_file file, const char *path)
{
	struct zm_records records;
	bool has = false;
	int error = zm_journal_file_open(&file, NULL);
	zm_autoclose int fd = error ? -1 : file.fd;

	if (error || zm_journal_file_read(fd, &records))
		return false;
	for (size_t i = 0; i < records.nr_records && !has; i++) {
		const struct zm_record *record = &records.records[i];

		has = record->change != ZM_CHANGE_MADE && !record->is_done &&
		      strcmp(record->path, path) == 0;
	}
	has = has && zm_owner_is_of_this_boot(&records.owner);
	zm_records_release(&records);
	return has;
}

static int check_no_other(const struct zm_journal *journal, const char *path, struct zm_why *why)
{
	struct zm_journal_file file = { journal->dir_fd, journal->directory, NULL, -1 };
	struct zm_journal_names names = { .items = NULL };
	int error = zm_journal_names_read(journal->dir_fd, &journal->owner, &names);

	if (error)
		(void)zm_why_errno(why, error, "cannot list the undo journals");
	for (size_t i = 0; !error && i < names.nr; i++) {
		file.name = names.items[i].name;
		if (file_has_path(file, path))
			error = zm_why_set(
				why, -EBUSY,
				"/%s is being changed by another run (undo journal %s/%s): "
				"wait for its end, or run `zonemark restore`",
				path, journal->directory, file.name);
	}
	zm_journal_names_release(&names);
	return error;
}

/* In the locked directory, in the owner. */
static int begin(struct zm_journal *journal, int *ret_lock_fd, struct zm_why *why)
{
	int error = check_owner(journal, why);

	if (!error)
		error = open_own_directory(journal, why);
	return error ? error : zm_journal_directory_lock(journal->dir_fd, ret_lock_fd, why);
}

static int read_old(const struct zm_journal *journal, const char *path, char **ret_old,
		    struct zm_why *why)
{
	int error = zm_setting_file_read(journal->root, path, ret_old);

	if (error == -ENOENT)
		return zm_why_set(why, error, "/%s: this kernel does not have it", path);
	if (error == -EINVAL)
		return zm_why_set(why, error,
				  "/%s: not a setting below /proc/sys or /sys that can be put back",
				  path);
	if (error)
		return zm_why_errno(why, error,
				    "cannot read /%s, so it could not be put back: left alone",
				    path);
	return 0;
}

/* What the kernel made of it; the change is ours either way, so a failure here only costs the
 * knowledge of somebody else's later change. */
static void record_now(struct zm_journal *journal, const char *path, const char *number)
{
	zm_autofree char *now = NULL;

	if (zm_setting_file_read(journal->root, path, &now))
		return;
	const char *const fields[] = { "now", number, now };
	if (zm_journal_file_append_fields(journal->fd, &journal->length, fields, 3, false) &&
	    ftruncate(journal->fd, journal->length))
		journal->is_broken = true;
}

static void next_number(struct zm_journal *journal, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%" PRIu64, ++journal->last_number);
}

/* The old value, under the directory's lock where there is a directory already. */
static int begin_reading(struct zm_journal *journal, const char *path, int *ret_lock_fd,
			 char **ret_old, struct zm_why *why)
{
	int error = check_owner(journal, why);

	if (!error && journal->dir_fd < 0)
		error = zm_journal_directory_open(journal->directory, &journal->dir_fd, why);
	if (!error)
		error = zm_journal_directory_lock(journal->dir_fd, ret_lock_fd, why);
	if (!error)
		error = check_no_other(journal, path, why);
	if (!error || (error == -ENOENT && journal->dir_fd < 0))
		error = read_old(journal, path, ret_old, why);
	return error;
}

/* What was read without a lock is read again: the directory may be another's, made just now. */
static int make_and_begin_reading(struct zm_journal *journal, const char *path, int *ret_lock_fd,
				  char **ret_old, struct zm_why *why)
{
	int error = check_owner(journal, why);

	if (!error)
		error = open_own_directory(journal, why);
	return error ? error : begin_reading(journal, path, ret_lock_fd, ret_old, why);
}

int zm_journal_set(struct zm_journal *journal, const char *path, const char *text,
		   struct zm_why *why)
{
	zm_autoclose int lock_fd = -1;
	zm_autofree char *old = NULL;
	char number[24];
	int error = begin_reading(journal, path, &lock_fd, &old, why);

	if (error || zm_setting_text_is_same(old, text))
		return error;
	if (lock_fd < 0) {
		free(old);
		old = NULL;
		error = make_and_begin_reading(journal, path, &lock_fd, &old, why);
	}
	if (error)
		return error;
	next_number(journal, number, sizeof(number));
	const char *const fields[] = { "file", number, path, old, text };
	error = append_record(journal, fields, 5, why);
	if (error)
		return error;
	error = zm_setting_file_write(journal->root, path, text);
	record_now(journal, path, number);
	return error ? zm_why_errno(why, error, "cannot write \"%s\" into /%s", text, path) : 0;
}

int zm_journal_save(struct zm_journal *journal, const char *path, struct zm_why *why)
{
	zm_autoclose int lock_fd = -1;
	zm_autofree char *old = NULL;
	char number[24];
	int error = make_and_begin_reading(journal, path, &lock_fd, &old, why);

	if (error)
		return error;
	next_number(journal, number, sizeof(number));
	const char *const fields[] = { "save", number, path, old };
	return append_record(journal, fields, 4, why);
}

/* A thing that is there already is somebody else's, and must not be taken away afterwards. */
static int check_not_there(enum zm_made what, const char *path, struct zm_why *why)
{
	struct stat status;

	if (!zm_record_is_made_path(path))
		return zm_why_set(why, -EINVAL, "%s: not an absolute path in plain form", path);
	if (what == ZM_MADE_MOUNT ? zm_path_is_mount(path) : lstat(path, &status) == 0)
		return zm_why_set(why, -EEXIST, "%s is there already: remove it, or name another",
				  path);
	return 0;
}

int zm_journal_made(struct zm_journal *journal, enum zm_made what, const char *path,
		    struct zm_why *why)
{
	zm_autoclose int lock_fd = -1;
	char number[24];
	int error = check_not_there(what, path, why);

	if (!error)
		error = begin(journal, &lock_fd, why);
	if (error)
		return error;
	next_number(journal, number, sizeof(number));
	const char *const fields[] = { "made", number, zm_made_name(what), path };
	return append_record(journal, fields, 4, why);
}

/* Its file is gone, or set aside; or stays, longer by what was marked as done. */
static void settle(struct zm_journal *journal, int error)
{
	struct stat status;

	if (!error || error == -EUCLEAN)
		forget_file(journal);
	else if (fstat(journal->fd, &status) == 0)
		journal->length = status.st_size;
}

int zm_journal_undo(struct zm_journal *journal, struct zm_why *why)
{
	zm_autoclose int lock_fd = -1;
	const struct zm_journal_file file = { journal->dir_fd, journal->directory, journal->name,
					      journal->fd };
	struct zm_why left = { "" };
	int error;

	if (journal->fd < 0) {
		if (why)
			*why = left;
		return 0;
	}
	error = begin(journal, &lock_fd, why);
	if (error)
		return error;
	error = zm_journal_file_undo(&file, journal->root, NULL, &left, why);
	settle(journal, error);
	if (!error && why)
		*why = left;
	return error;
}

void zm_journal_forget(struct zm_journal *journal)
{
	if (!journal)
		return;
	forget_file(journal);
	if (journal->dir_fd >= 0)
		(void)close(journal->dir_fd);
	free(journal->directory);
	free(journal);
}

void zm_journal_close(struct zm_journal *journal)
{
	if (journal && journal->owner.pid == (uint64_t)getpid())
		(void)zm_journal_undo(journal, NULL);
	zm_journal_forget(journal);
}
