/*
 * journal_record: the lines of a journal file, written and read.
 *
 * A journal is text, one record a line. The first names the owner and the root that its paths are
 * below; the others are numbered changes and what became of them:
 *
 *     zonemark-journal 1 PID START PIDNS BOOT BEGAN ROOT SUM
 *     file N PATH OLD WANT SUM    WANT is about to be written into PATH, which holds OLD
 *     now  N TEXT SUM             after the write of change N, the file reads TEXT
 *     save N PATH OLD SUM         somebody is about to write into PATH, which holds OLD
 *     made N WHAT PATH SUM        PATH is about to be made
 *     done N SUM                  change N has been undone
 *
 * A field is printable ASCII without blanks; every other byte and % are %XX, and an empty field is a
 * lone %. SUM is a checksum of the line before it. A last line that is cut off or whose sum is wrong
 * was being written when the machine stopped; the change it announces was never made. A wrong line
 * further up is damage: it is left out, and reported.
 */
#ifndef ZM_WORKLOADS_BASE_JOURNAL_RECORD_H
#define ZM_WORKLOADS_BASE_JOURNAL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/base/journal.h"
#include "workloads/base/owner.h"

#define ZM_RECORD_VALUE_MAX 65536 /* bytes of a value or path; longer ones are not journalled */
#define ZM_RECORD_ROOT_SIZE 48

enum zm_change {
	ZM_CHANGE_FILE,
	ZM_CHANGE_SAVE,
	ZM_CHANGE_MADE,
};

/* A change, with what later lines say of it. */
struct zm_record {
	uint64_t number;
	enum zm_change change;
	enum zm_made made; /* of a ZM_CHANGE_MADE */
	char *path;
	char *old;  /* NULL for a ZM_CHANGE_MADE */
	char *want; /* NULL except for a ZM_CHANGE_FILE */
	char *now;  /* NULL: not read back yet */
	bool is_done;
};

struct zm_records {
	struct zm_owner owner;
	uint64_t began_ns; /* of CLOCK_BOOTTIME */
	char root[ZM_RECORD_ROOT_SIZE];
	struct zm_record *records; /* in the order they were written */
	size_t nr_records;
	size_t good_length; /* where a cut last line begins; the text's length without one */
	bool is_damaged;    /* a line above the last was wrong */
};

const char *zm_made_name(enum zm_made made); /* "cgroup" */

/* The header's line. *ret_line is the caller's to free. */
int zm_records_print_header(const struct zm_records *records, char **ret_line, size_t *ret_length);

/* A line of `nr` fields, the first of them the record's word. */
int zm_record_print(const char *const *fields, size_t nr, char **ret_line, size_t *ret_length);

/* Reads a whole journal. -EINVAL: its header is not one. Never reads beyond length; text need not be
 * terminated. */
int zm_records_parse(const char *text, size_t length, struct zm_records *ret_records);
void zm_records_release(struct zm_records *records);

/* May a value of this path be put back? Below proc/sys/ or sys/, no empty, "." or ".." parts. */
bool zm_record_is_setting_path(const char *path);

/* May this path be taken away? Absolute, at least two parts, none empty, "." or "..". */
bool zm_record_is_made_path(const char *path);

#endif
