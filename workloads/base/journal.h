/*
 * journal: whatever is changed outside our own processes is written down before, and undone after.
 *
 * One journal per process that changes something: a file of appended records in the journal
 * directory ($ZONEMARK_JOURNAL; else /var/lib/zonemark/journal for root, and for everybody else
 * $XDG_STATE_HOME/zonemark/journal), synced to disk *before* each change. Its name and first record
 * hold the owner's pid, the owner's start time and the boot id, so that any later zonemark command can
 * tell a living owner from a dead one, and a change of this boot (to be undone) from one that a reboot
 * has undone itself (sysctls), or not (files, directories).
 *
 *     record kinds   file   PATH OLD        put OLD back into a sysctl or sysfs file
 *                    made   PATH            remove a file, directory (with content below it),
 *                                           cgroup (its tasks killed first), mount point (unmounted)
 *
 * A journal that is not ours alone, or damaged, is not trusted: paths are checked (settings only below
 * proc/sys and sys, links followed only inside), what is made is removed without following links or
 * crossing file systems. See docs/journal.md.
 *
 * Undoing goes in reverse order, is idempotent, goes on after a failure, and removes the journal only
 * when every record was undone. A file that holds neither what we set nor the old value was changed
 * by somebody else since: it is left, and said.
 */
#ifndef ZM_WORKLOADS_BASE_JOURNAL_H
#define ZM_WORKLOADS_BASE_JOURNAL_H

#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

struct zm_journal;

enum zm_made {
	ZM_MADE_FILE,
	ZM_MADE_TREE, /* a directory with what is in it; never crosses a file system */
	ZM_MADE_CGROUP,
	ZM_MADE_MOUNT,
	ZM_MADE_NETNS, /* a named network namespace, with the links in it */
};

/* Opens a new journal; nothing is on disk until the first record. directory NULL: the usual one. */
int zm_journal_open(const struct zm_sysroot *root, const char *directory,
		    struct zm_journal **ret_journal, struct zm_why *why);

/* Writes the old value down, then writes text; reads back what the kernel made of it into the
 * record. For a choice file ("always [madvise] never") the old value is the chosen word. Not
 * written at all when it already holds text. -EBUSY: another run, living or dead, has changed it and
 * not put it back yet; -ENOENT: this kernel does not have it. */
int zm_journal_set(struct zm_journal *journal, const char *path, const char *text,
		   struct zm_why *why);

/* Writes the old value down only: somebody else (a workload's prepare) will change it. */
int zm_journal_save(struct zm_journal *journal, const char *path, struct zm_why *why);

/* About to make this thing: call it *before* making it. The path is absolute. -EEXIST: it is there
 * already, so it is somebody else's. */
int zm_journal_made(struct zm_journal *journal, enum zm_made what, const char *path,
		    struct zm_why *why);

/* Undoes everything and removes the file; the journal can be used again. -errno and the first
 * failure's sentence when something could not be undone (the journal file stays). On 0 the sentence is
 * empty, or names a setting that was left because somebody else has changed it since. */
int zm_journal_undo(struct zm_journal *journal, struct zm_why *why);

/* Undo, if needed, and free. NULL is fine. A forked child calls zm_journal_forget instead. */
void zm_journal_close(struct zm_journal *journal);
void zm_journal_forget(struct zm_journal *journal);

/* Undoes the journals of dead owners. `say` is told one line per thing put back or left, and may be
 * NULL. Returns how many journals were undone, or -errno with the first failure's sentence. */
int zm_journal_recover(const struct zm_sysroot *root, const char *directory,
		       void (*say)(void *context, const char *line), void *context,
		       struct zm_why *why);

#endif
