/*
 * journal_file: journal files and the directory they lie in, for journal.c and journal_recover.c.
 */
#ifndef ZM_WORKLOADS_BASE_JOURNAL_FILE_H
#define ZM_WORKLOADS_BASE_JOURNAL_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "workloads/base/journal_record.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

#define ZM_JOURNAL_SUFFIX ".journal"
#define ZM_JOURNAL_NEW    ".new-" /* the start of a name: a file that has not got its own yet */

/* The directory when nobody names one. */
int zm_journal_directory(char *buf, size_t size, struct zm_why *why);

/* Makes it and its parents, to disk. */
int zm_journal_directory_make(const char *path, struct zm_why *why);

/* -ENOENT, without a sentence, when it is not there. -EPERM: not ours alone. */
int zm_journal_directory_open(const char *path, int *ret_fd, struct zm_why *why);

/* Waits for the directory's lock, at most 15 s. Close the descriptor to unlock. */
int zm_journal_directory_lock(int dir_fd, int *ret_fd, struct zm_why *why);

/* The names of all journals, and files on their way to one, that are not this process's own: closing
 * one of those would give up its lock. */
struct zm_journal_name {
	char name[NAME_MAX + 1];
	uint64_t began_ns; /* 0 until somebody fills it in */
};
struct zm_journal_names {
	struct zm_journal_name *items;
	size_t nr;
};
int zm_journal_names_read(int dir_fd, const struct zm_owner *self, struct zm_journal_names *names);
void zm_journal_names_release(struct zm_journal_names *names);

/* A journal file as it lies in its directory. */
struct zm_journal_file {
	int dir_fd;            /* the holder's */
	const char *directory; /* for sentences; the holder's */
	const char *name;      /* the holder's */
	int fd;
};

/* Opens for reading and writing what is ours alone; -EPERM else. Close file->fd. */
int zm_journal_file_open(struct zm_journal_file *file, struct zm_why *why);

/* -EBUSY: its owner lives. Closing any descriptor of the file in this process unlocks it. */
int zm_journal_file_lock(int fd);

/* One line at *length, which grows; on disk when is_synced. */
int zm_journal_file_append(int fd, off_t *length, const char *line, size_t line_length,
			   bool is_synced);
int zm_journal_file_append_fields(int fd, off_t *length, const char *const *fields, size_t nr,
				  bool is_synced);

/* -EINVAL: its header is not one. */
int zm_journal_file_read(int fd, struct zm_records *ret_records);

/* Undoes all of it in reverse, and removes it when nothing failed. `say` (may be NULL) is told of each
 * thing put back or left; `left` (may be NULL) takes the first sentence about one left. -EUCLEAN: it
 * was damaged; what could be read is undone, and the file is renamed out of the way. */
struct zm_journal_teller {
	void (*say)(void *context, const char *line);
	void *context;
};
int zm_journal_file_undo(const struct zm_journal_file *file, const struct zm_sysroot *root,
			 const struct zm_journal_teller *teller, struct zm_why *left,
			 struct zm_why *why);

/* What names the root in a header: settings of one root are not another's. */
void zm_journal_root_name(const struct zm_sysroot *root, char *buf, size_t size);

#endif
