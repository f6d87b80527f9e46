/*
 * journal_undo: takes back one change of a journal.
 */
#ifndef ZM_WORKLOADS_BASE_JOURNAL_UNDO_H
#define ZM_WORKLOADS_BASE_JOURNAL_UNDO_H

#include "workloads/base/journal_record.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/why.h"

enum zm_undone {
	ZM_UNDONE_NOTHING, /* it was as before already, or is gone */
	ZM_UNDONE_BACK,    /* put back or removed: the sentence says what */
	ZM_UNDONE_LEFT,    /* somebody else changed it since: left; the sentence says so */
};

/* is_this_boot false: a reboot has undone settings, cgroups, mounts and namespaces itself. On success
 * `said` holds the sentence for BACK and LEFT; on failure, why it could not be undone. */
int zm_record_undo(const struct zm_sysroot *root, const struct zm_record *record, bool is_this_boot,
		   enum zm_undone *ret_undone, struct zm_why *said);

/* What a setting's file holds, as a journal keeps it: a choice file's chosen word, else the text
 * without its last newline. -EINVAL: the path is none of a setting, or leads out of proc/sys and
 * sys. *ret_text is the caller's to free. */
int zm_setting_file_read(const struct zm_sysroot *root, const char *path, char **ret_text);
int zm_setting_file_write(const struct zm_sysroot *root, const char *path, const char *text);

/* The same but for blanks: "4096 87380" and "4096\t87380". */
bool zm_setting_text_is_same(const char *a, const char *b);

#endif
