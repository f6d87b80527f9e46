/*
 * journal_recover: the journals of runs that ended unasked, undone by whoever comes after.
 *
 *     lock the directory -> the names -> whose lock is free and whose owner is dead -> newest first,
 *     since it may have changed what an older one had changed before -> each undone by itself
 */
#include "workloads/base/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/journal_file.h"
#include "workloads/base/owner.h"

/* Is its owner dead, and is it of this root? A header that cannot be read has no living owner, or
 * the lock would be held. */
static bool is_abandoned(int fd, const struct zm_sysroot *root, uint64_t *ret_began_ns)
{
	char root_name[ZM_RECORD_ROOT_SIZE];
	struct zm_records records;
	struct stat status;
	bool is_ours;

	*ret_began_ns = 0;
	if (zm_journal_file_lock(fd) == -EBUSY || fstat(fd, &status) || status.st_nlink == 0)
		return false;
	if (zm_journal_file_read(fd, &records))
		return true;
	zm_journal_root_name(root, root_name, sizeof(root_name));
	is_ours = strcmp(root_name, records.root) == 0 && !zm_owner_is_alive(&records.owner);
	if (zm_owner_is_of_this_boot(&records.owner))
		*ret_began_ns = records.began_ns;
	zm_records_release(&records);
	return is_ours;
}

/* A file that its owner had no time to give its name: it announces nothing. */
static bool is_new(const char *name)
{
	return strncmp(name, ZM_JOURNAL_NEW, strlen(ZM_JOURNAL_NEW)) == 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct zm_journal_name *first = a, *second = b;

	if (first->began_ns != second->began_ns)
		return first->began_ns < second->began_ns ? 1 : -1;
	return strcmp(second->name, first->name);
}

/* Keeps the abandoned ones, newest first. The first that cannot be opened is said. */
static int keep_abandoned(struct zm_journal_file file, const struct zm_sysroot *root,
			  struct zm_journal_names *names, struct zm_why *why)
{
	size_t nr_kept = 0;
	int first = 0;

	for (size_t i = 0; i < names->nr; i++) {
		struct zm_journal_name *name = &names->items[i];
		struct zm_why one = { "" };

		file.name = name->name;
		int error = zm_journal_file_open(&file, &one);
		zm_autoclose int fd = error ? -1 : file.fd;
		if (error == -ENOENT)
			continue;
		if (error && !first && why)
			*why = one;
		first = first ? first : error;
		if (error || !is_abandoned(fd, root, &name->began_ns))
			continue;
		if (is_new(name->name))
			(void)unlinkat(file.dir_fd, name->name, 0);
		else
			names->items[nr_kept++] = *name;
	}
	names->nr = nr_kept;
	if (nr_kept)
		qsort(names->items, nr_kept, sizeof(*names->items), compare_names);
	return first;
}

static int recover_one(struct zm_journal_file file, const struct zm_sysroot *root,
		       const struct zm_journal_teller *teller, struct zm_why *why)
{
	uint64_t began_ns;
	int error = zm_journal_file_open(&file, why);
	zm_autoclose int fd = error ? -1 : file.fd;

	if (error || !is_abandoned(fd, root, &began_ns))
		return error;
	return zm_journal_file_undo(&file, root, teller, NULL, why);
}

static int recover_all(struct zm_journal_file file, const struct zm_sysroot *root,
		       struct zm_journal_names *names, const struct zm_journal_teller *teller,
		       struct zm_why *why)
{
	int nr_undone = 0, first = keep_abandoned(file, root, names, why);

	for (size_t i = 0; i < names->nr; i++) {
		struct zm_why one = { "" };
		int error;

		file.name = names->items[i].name;
		error = recover_one(file, root, teller, &one);
		if (error && !first && why)
			*why = one;
		first = first ? first : error;
		nr_undone += !error;
	}
	return first ? first : nr_undone;
}

static int recover_in(const struct zm_sysroot *root, int dir_fd, const char *directory,
		      const struct zm_journal_teller *teller, struct zm_why *why)
{
	zm_autoclose int lock_fd = -1;
	const struct zm_journal_file file = { .dir_fd = dir_fd, .directory = directory, .fd = -1 };
	struct zm_journal_names names = { .items = NULL };
	struct zm_owner self;
	int result = zm_owner_self(&self, why);

	if (result)
		return result;
	result = zm_journal_names_read(dir_fd, &self, &names);
	if (result)
		(void)zm_why_errno(why, result, "cannot list the undo journals in %s", directory);
	if (!result && names.nr)
		result = zm_journal_directory_lock(dir_fd, &lock_fd, why);
	if (!result && names.nr)
		result = recover_all(file, root, &names, teller, why);
	zm_journal_names_release(&names);
	return result;
}

int zm_journal_recover(const struct zm_sysroot *root, const char *directory,
		       void (*say)(void *context, const char *line), void *context,
		       struct zm_why *why)
{
	zm_autoclose int dir_fd = -1;
	const struct zm_journal_teller teller = { say, context };
	char usual[PATH_MAX];
	int error = directory ? 0 : zm_journal_directory(usual, sizeof(usual), why);

	if (error)
		return error;
	directory = directory ? directory : usual;
	error = zm_journal_directory_open(directory, &dir_fd, why);
	if (error)
		return error == -ENOENT ? 0 : error;
	return recover_in(root, dir_fd, directory, &teller, why);
}
