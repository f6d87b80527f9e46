/*
 * journal_undo: one change back.
 *
 *     file, save   reads the file; as before? nothing. Neither ours nor as before? left. Else the old
 *                  text is written, and read back to see that it took
 *     made         remove.h, by the kind of thing
 */
#include "workloads/base/journal_undo.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/remove.h"

#define PATIENCE_NS (10 * ZM_NS_PER_S)
#define LOOK_NS     (20 * ZM_NS_PER_MS)

/* The real path behind a descriptor. */
static int path_of_fd(int fd, char *buf, size_t size)
{
	char link[48];
	ssize_t length;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, buf, size);
	if (length < 0)
		return -errno;
	if ((size_t)length >= size)
		return -ENAMETOOLONG;
	buf[length] = '\0';
	return 0;
}

static bool starts_with(const char *text, const char *start, const char **ret_rest)
{
	size_t length = strlen(start);

	if (strncmp(text, start, length) != 0)
		return false;
	*ret_rest = text + length;
	return true;
}

/* Does the path, with all its symlinks followed, end at a plain file below the root's sys or
 * proc/sys? */
static int check_inside(const struct zm_sysroot *root, const char *path)
{
	zm_autoclose int fd = -1;
	char base[4096], real[4096];
	const char *rest;
	struct stat status;

	if (!zm_record_is_setting_path(path))
		return -EINVAL;
	fd = openat(root->dir_fd, path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || path_of_fd(root->dir_fd, base, sizeof(base)) ||
	    path_of_fd(fd, real, sizeof(real)))
		return -EINVAL;
	if (strcmp(base, "/") == 0)
		base[0] = '\0';
	if (!starts_with(real, base, &rest))
		return -EINVAL;
	if (!starts_with(rest, "/sys/", &rest) && !starts_with(rest, "/proc/sys/", &rest))
		return -EINVAL;
	return 0;
}

/* "always [madvise] never" becomes "madvise"; anything else stays. */
static void keep_choice(char *text)
{
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close || strchr(close, '[') || memchr(open, ' ', (size_t)(close - open)))
		return;
	if ((open > text && open[-1] != ' ') || (close[1] && close[1] != ' '))
		return;
	*close = '\0';
	memmove(text, open + 1, (size_t)(close - open));
}

int zm_setting_file_read(const struct zm_sysroot *root, const char *path, char **ret_text)
{
	char *text;
	size_t length;
	int error = check_inside(root, path);

	if (!error)
		error = zm_sysroot_read(root, path, &text, &length);
	if (error)
		return error;
	if (length > ZM_RECORD_VALUE_MAX || strlen(text) != length) {
		free(text);
		return -EFBIG;
	}
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	if (strncmp(path, "sys/", 4) == 0)
		keep_choice(text);
	*ret_text = text;
	return 0;
}

/* The next word of the text and its length; 0 at the end. */
static size_t next_word(const char **text, const char **ret_word)
{
	size_t length = 0;

	while (isspace((unsigned char)**text))
		(*text)++;
	*ret_word = *text;
	while (**text && !isspace((unsigned char)**text)) {
		(*text)++;
		length++;
	}
	return length;
}

static bool has_word(const char *text, const char *word, size_t length)
{
	const char *at;

	for (size_t n; (n = next_word(&text, &at)) > 0;)
		if (n == length && memcmp(at, word, n) == 0)
			return true;
	return false;
}

/* The words of `text` that `other` does not have, each with the sign before it. */
static void print_missing(FILE *out, const char *text, const char *other, char sign)
{
	const char *word;

	for (size_t n; (n = next_word(&text, &word)) > 0;)
		if (!has_word(other, word, n))
			(void)fprintf(out, "%c%.*s ", sign, (int)n, word);
}

/* A cgroup's list of controllers reads "cpu memory", and is written as what changes: "+io -cpu". */
static int write_list(const struct zm_sysroot *root, const char *path, const char *text)
{
	zm_autofree char *current = NULL, *change = NULL;
	size_t length;
	FILE *out;
	int error = zm_sysroot_read(root, path, &current, NULL);

	if (error)
		return error;
	out = open_memstream(&change, &length);
	if (!out)
		return -ENOMEM;
	print_missing(out, text, current, '+');
	print_missing(out, current, text, '-');
	if (fclose(out))
		return -ENOMEM;
	return length ? zm_sysroot_write(root, path, change) : 0;
}

static bool is_list(const struct zm_sysroot *root, const char *path)
{
	const char *slash = strrchr(path, '/');

	return root->is_live && slash && strcmp(slash, "/cgroup.subtree_control") == 0;
}

int zm_setting_file_write(const struct zm_sysroot *root, const char *path, const char *text)
{
	int error = check_inside(root, path);

	if (error)
		return error;
	if (is_list(root, path))
		return write_list(root, path, text);
	return zm_sysroot_write(root, path, *text ? text : "\n");
}

bool zm_setting_text_is_same(const char *a, const char *b)
{
	for (;;) {
		const char *word_a, *word_b;
		size_t length_a = next_word(&a, &word_a), length_b = next_word(&b, &word_b);

		if (length_a != length_b || memcmp(word_a, word_b, length_a) != 0)
			return false;
		if (length_a == 0)
			return true;
	}
}

/* Is what the file holds now our doing? Before the read-back nobody can tell: then it is. */
static bool is_ours(const struct zm_record *record, const char *current)
{
	if (record->change == ZM_CHANGE_SAVE || !record->now)
		return true;
	return zm_setting_text_is_same(current, record->now) ||
	       zm_setting_text_is_same(current, record->want);
}

/* A pool of huge pages counts those that somebody uses, and they go with him: a task that was killed ends when it
 * has zeroed its page. */
static bool may_come(const struct zm_sysroot *root, const char *path, uint64_t until_ns)
{
	static const char name[] = "/nr_hugepages";
	size_t length = strlen(path);
	uint64_t now_ns = zm_clock_now_ns();

	if (!root->is_live || length < sizeof(name) || now_ns >= until_ns ||
	    strcmp(path + length - (sizeof(name) - 1), name) != 0)
		return false;
	(void)zm_clock_sleep_until(now_ns + LOOK_NS);
	return true;
}

/* What the file holds then; *ret_now is the caller's to free. */
static int read_back(const struct zm_sysroot *root, const struct zm_record *record, char **ret_now)
{
	uint64_t until_ns = zm_clock_now_ns() + PATIENCE_NS;
	bool is_good;

	do {
		free(*ret_now);
		*ret_now = NULL;

		int error = zm_setting_file_read(root, record->path, ret_now);

		if (error)
			return error;
		is_good = zm_setting_text_is_same(*ret_now, record->old);
	} while (!is_good && may_come(root, record->path, until_ns));
	return 0;
}

static int write_back(const struct zm_sysroot *root, const struct zm_record *record,
		      struct zm_why *said)
{
	zm_autofree char *now = NULL;
	int error = zm_setting_file_write(root, record->path, record->old);

	if (error)
		return zm_why_errno(said, error, "cannot put \"%s\" back into /%s", record->old,
				    record->path);
	error = read_back(root, record, &now);
	if (error)
		return zm_why_errno(said, error, "cannot read /%s back", record->path);
	if (!zm_setting_text_is_same(now, record->old))
		return zm_why_set(said, -EIO, "/%s took \"%s\" as \"%s\"; set it by hand",
				  record->path, record->old, now);
	return 0;
}

static int undo_setting(const struct zm_sysroot *root, const struct zm_record *record,
			enum zm_undone *ret_undone, struct zm_why *said)
{
	zm_autofree char *current = NULL;
	int error = zm_setting_file_read(root, record->path, &current);

	*ret_undone = ZM_UNDONE_NOTHING;
	if (error == -ENOENT)
		return 0;
	if (error)
		return zm_why_errno(said, error, "cannot read /%s to put \"%s\" back", record->path,
				    record->old);
	if (zm_setting_text_is_same(current, record->old))
		return 0;
	if (!is_ours(record, current)) {
		*ret_undone = ZM_UNDONE_LEFT;
		(void)zm_why_set(
			said, 0,
			"left /%s at \"%s\": somebody else has set it since (it was \"%s\")",
			record->path, current, record->old);
		return 0;
	}
	error = write_back(root, record, said);
	if (error)
		return error;
	*ret_undone = ZM_UNDONE_BACK;
	(void)zm_why_set(said, 0, "put /%s back from \"%s\" to \"%s\"", record->path, current,
			 record->old);
	return 0;
}

static int remove_made(const struct zm_record *record, struct zm_why *said)
{
	switch (record->made) {
	case ZM_MADE_FILE:
		return zm_remove_file(record->path, said);
	case ZM_MADE_TREE:
		return zm_remove_tree(record->path, said);
	case ZM_MADE_CGROUP:
		return zm_remove_cgroup(record->path, said);
	case ZM_MADE_MOUNT:
		return zm_remove_mount(record->path, said);
	case ZM_MADE_NETNS:
		return zm_remove_netns(record->path, said);
	}
	return zm_why_set(said, -EINVAL, "%s: no such kind of thing", record->path);
}

static bool is_there(const struct zm_record *record)
{
	struct stat status;

	if (record->made == ZM_MADE_MOUNT)
		return zm_path_is_mount(record->path);
	return lstat(record->path, &status) == 0;
}

static int undo_made(const struct zm_record *record, enum zm_undone *ret_undone,
		     struct zm_why *said)
{
	bool was_there = is_there(record);
	int error = remove_made(record, said);

	if (error)
		return error;
	*ret_undone = was_there ? ZM_UNDONE_BACK : ZM_UNDONE_NOTHING;
	if (was_there)
		(void)zm_why_set(said, 0, "%s %s %s",
				 record->made == ZM_MADE_MOUNT ? "unmounted" : "removed",
				 zm_made_name(record->made), record->path);
	return 0;
}

int zm_record_undo(const struct zm_sysroot *root, const struct zm_record *record, bool is_this_boot,
		   enum zm_undone *ret_undone, struct zm_why *said)
{
	bool is_lasting = record->change == ZM_CHANGE_MADE &&
			  (record->made == ZM_MADE_FILE || record->made == ZM_MADE_TREE);

	if (!is_this_boot && !is_lasting) {
		*ret_undone = ZM_UNDONE_NOTHING;
		return 0;
	}
	if (record->change == ZM_CHANGE_MADE)
		return undo_made(record, ret_undone, said);
	return undo_setting(root, record, ret_undone, said);
}
