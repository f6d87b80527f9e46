/*
 * journal_record: a journal's text and back.
 *
 *     print   fields -> %XX -> joined by blanks -> checksum -> newline
 *     parse   per line: checksum -> split -> un-%XX -> checked against the word's row -> the records
 *
 * The parser trusts nothing: it is what stands between a damaged or planted file and the machine.
 */
#include "workloads/base/journal_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define FIELDS_MAX 8
#define SUM_DIGITS 16
#define VERSION    "1"

static const char *const made_names[] = {
	[ZM_MADE_FILE] = "file",   [ZM_MADE_TREE] = "tree",   [ZM_MADE_CGROUP] = "cgroup",
	[ZM_MADE_MOUNT] = "mount", [ZM_MADE_NETNS] = "netns",
};
#define NR_MADE (sizeof(made_names) / sizeof(made_names[0]))

const char *zm_made_name(enum zm_made made)
{
	return (size_t)made < NR_MADE ? made_names[made] : "unknown";
}

/* FNV-1a: finds torn and rotten lines; it is no seal. */
static uint64_t checksum(const char *text, size_t length)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static void print_field(FILE *out, const char *field)
{
	if (!*field)
		(void)fputc('%', out);
	for (; *field; field++) {
		unsigned char byte = (unsigned char)*field;

		if (byte <= ' ' || byte >= 0x7f || byte == '%')
			(void)fprintf(out, "%%%02X", byte);
		else
			(void)fputc(byte, out);
	}
}

int zm_record_print(const char *const *fields, size_t nr, char **ret_line, size_t *ret_length)
{
	char *line = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&line, &length);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		print_field(out, fields[i]);
		(void)fputc(' ', out);
	}
	if (fflush(out) == 0)
		(void)fprintf(out, "%016" PRIx64 "\n", checksum(line, length));
	if (fclose(out)) {
		free(line);
		return -ENOMEM;
	}
	*ret_line = line;
	*ret_length = length;
	return 0;
}

int zm_records_print_header(const struct zm_records *records, char **ret_line, size_t *ret_length)
{
	char pid[24], start[24], pid_ns[24], began[24];
	const char *const fields[] = {
		"zonemark-journal",     VERSION, pid,           start, pid_ns,
		records->owner.boot_id, began,   records->root,
	};

	(void)snprintf(pid, sizeof(pid), "%" PRIu64, records->owner.pid);
	(void)snprintf(start, sizeof(start), "%" PRIu64, records->owner.start_ticks);
	(void)snprintf(pid_ns, sizeof(pid_ns), "%" PRIu64, records->owner.pid_ns);
	(void)snprintf(began, sizeof(began), "%" PRIu64, records->began_ns);
	return zm_record_print(fields, sizeof(fields) / sizeof(fields[0]), ret_line, ret_length);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Undoes print_field in place. A %00 would hide what follows it: refused. */
static int unescape(char *field)
{
	char *out = field;

	if (strcmp(field, "%") == 0) {
		*field = '\0';
		return 0;
	}
	for (const char *in = field; *in; in++) {
		int high, low;

		if (*in != '%') {
			*out++ = *in;
			continue;
		}
		high = hex_digit(in[1]);
		low = high < 0 ? -1 : hex_digit(in[2]);
		if (low < 0 || (high == 0 && low == 0))
			return -EINVAL;
		*out++ = (char)(high * 16 + low);
		in += 2;
	}
	*out = '\0';
	return 0;
}

/* Is the line (without its newline) whole? Cuts the checksum off, at *ret_length. */
static bool line_is_whole(const char *line, size_t length, size_t *ret_length)
{
	char digits[SUM_DIGITS + 1];
	size_t body;

	if (length <= SUM_DIGITS || memchr(line, '\0', length))
		return false;
	body = length - SUM_DIGITS;
	if (line[body - 1] != ' ')
		return false;
	(void)snprintf(digits, sizeof(digits), "%016" PRIx64, checksum(line, body));
	if (memcmp(digits, line + body, SUM_DIGITS) != 0)
		return false;
	*ret_length = body - 1;
	return true;
}

/* Splits a terminated line in place. The number of fields, or -EINVAL. */
static int split(char *line, char **fields)
{
	int nr = 0;

	for (char *field = line; field;) {
		char *blank = strchr(field, ' ');

		if (nr == FIELDS_MAX || *field == '\0' || blank == field)
			return -EINVAL;
		if (blank)
			*blank++ = '\0';
		if (unescape(field) || strlen(field) > ZM_RECORD_VALUE_MAX)
			return -EINVAL;
		fields[nr++] = field;
		field = blank;
	}
	return nr;
}

static bool path_has_good_parts(const char *path)
{
	for (const char *part = path; part;) {
		const char *slash = strchr(part, '/');
		size_t length = slash ? (size_t)(slash - part) : strlen(part);

		if (length == 0 || (length == 1 && part[0] == '.') ||
		    (length == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		part = slash ? slash + 1 : NULL;
	}
	return true;
}

bool zm_record_is_setting_path(const char *path)
{
	return (strncmp(path, "proc/sys/", 9) == 0 || strncmp(path, "sys/", 4) == 0) &&
	       path_has_good_parts(path);
}

bool zm_record_is_made_path(const char *path)
{
	return path[0] == '/' && path_has_good_parts(path + 1) && strchr(path + 1, '/');
}

static int parse_made(const char *word, enum zm_made *ret_made)
{
	for (size_t i = 0; i < NR_MADE; i++)
		if (strcmp(word, made_names[i]) == 0) {
			*ret_made = (enum zm_made)i;
			return 0;
		}
	return -EINVAL;
}

/* Numbers rise, so that a record is found by halving. */
static struct zm_record *find_record(const struct zm_records *records, uint64_t number)
{
	size_t low = 0, high = records->nr_records;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (records->records[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == records->nr_records || records->records[low].number != number)
		return NULL;
	return &records->records[low];
}

static void record_release(struct zm_record *record)
{
	free(record->path);
	free(record->old);
	free(record->want);
	free(record->now);
}

static int copy_field(const char *field, char **ret_copy)
{
	if (!field)
		return 0;
	*ret_copy = strdup(field);
	return *ret_copy ? 0 : -ENOMEM;
}

/* Appends copies of the fields; the record keeps them. */
static int add_record(struct zm_records *records, struct zm_record record, const char *path,
		      const char *old, const char *want)
{
	size_t nr = records->nr_records;
	struct zm_record *bigger;

	if (nr && records->records[nr - 1].number >= record.number)
		return -EINVAL;
	bigger = reallocarray(records->records, nr + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	records->records = bigger;
	if (copy_field(path, &record.path) || copy_field(old, &record.old) ||
	    copy_field(want, &record.want)) {
		record_release(&record);
		return -ENOMEM;
	}
	records->records[nr] = record;
	records->nr_records = nr + 1;
	return 0;
}

static int take_file(struct zm_records *records, uint64_t number, char **fields)
{
	struct zm_record record = { .number = number, .change = ZM_CHANGE_FILE };

	if (!zm_record_is_setting_path(fields[2]))
		return -EINVAL;
	return add_record(records, record, fields[2], fields[3], fields[4]);
}

static int take_save(struct zm_records *records, uint64_t number, char **fields)
{
	struct zm_record record = { .number = number, .change = ZM_CHANGE_SAVE };

	if (!zm_record_is_setting_path(fields[2]))
		return -EINVAL;
	return add_record(records, record, fields[2], fields[3], NULL);
}

static int take_made(struct zm_records *records, uint64_t number, char **fields)
{
	struct zm_record record = { .number = number, .change = ZM_CHANGE_MADE };

	if (parse_made(fields[2], &record.made) || !zm_record_is_made_path(fields[3]))
		return -EINVAL;
	return add_record(records, record, fields[3], NULL, NULL);
}

static int take_now(struct zm_records *records, uint64_t number, char **fields)
{
	struct zm_record *record = find_record(records, number);

	if (!record || record->change != ZM_CHANGE_FILE)
		return -EINVAL;
	free(record->now);
	record->now = NULL;
	return copy_field(fields[2], &record->now);
}

static int take_done(struct zm_records *records, uint64_t number, char **fields)
{
	struct zm_record *record = find_record(records, number);

	(void)fields;
	if (!record)
		return -EINVAL;
	record->is_done = true;
	return 0;
}

static const struct {
	const char *word;
	int nr_fields;
	int (*take)(struct zm_records *records, uint64_t number, char **fields);
} rows[] = {
	{ "file", 5, take_file }, { "save", 4, take_save }, { "made", 4, take_made },
	{ "now", 3, take_now },   { "done", 2, take_done },
};

static int take_line(struct zm_records *records, char **fields, int nr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t number;

		if (strcmp(fields[0], rows[i].word) != 0)
			continue;
		if (nr != rows[i].nr_fields || zm_units_parse_u64(fields[1], &number))
			return -EINVAL;
		return rows[i].take(records, number, fields);
	}
	return -EINVAL;
}

static int copy_word(char *buf, size_t size, const char *word)
{
	return (size_t)snprintf(buf, size, "%s", word) < size ? 0 : -EINVAL;
}

static int take_header(struct zm_records *records, char **fields, int nr)
{
	if (nr != 8 || strcmp(fields[0], "zonemark-journal") != 0 ||
	    strcmp(fields[1], VERSION) != 0)
		return -EINVAL;
	if (zm_units_parse_u64(fields[2], &records->owner.pid) ||
	    zm_units_parse_u64(fields[3], &records->owner.start_ticks) ||
	    zm_units_parse_u64(fields[4], &records->owner.pid_ns) ||
	    zm_units_parse_u64(fields[6], &records->began_ns))
		return -EINVAL;
	if (copy_word(records->owner.boot_id, sizeof(records->owner.boot_id), fields[5]) ||
	    copy_word(records->root, sizeof(records->root), fields[7]))
		return -EINVAL;
	return 0;
}

/* One line without its newline: 0, or -EINVAL. */
static int parse_line(struct zm_records *records, bool is_header, const char *line, size_t length)
{
	zm_autofree char *copy = NULL;
	char *fields[FIELDS_MAX];
	size_t body;
	int nr;

	if (!line_is_whole(line, length, &body))
		return -EINVAL;
	copy = strndup(line, body);
	if (!copy)
		return -ENOMEM;
	nr = split(copy, fields);
	if (nr < 2)
		return -EINVAL;
	return is_header ? take_header(records, fields, nr) : take_line(records, fields, nr);
}

int zm_records_parse(const char *text, size_t length, struct zm_records *ret_records)
{
	struct zm_records records = { .records = NULL };
	const char *end = text + length;
	bool is_header = true;
	int error = -EINVAL;

	for (const char *line = text; line < end && error != -ENOMEM;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t line_length = (size_t)((newline ? newline : end) - line);

		error = newline ? parse_line(&records, is_header, line, line_length) : -EINVAL;
		if (error && is_header)
			break;
		is_header = false;
		line = newline ? newline + 1 : end;
		if (!error)
			records.good_length = (size_t)(line - text);
		else if (line < end)
			records.is_damaged = true;
	}
	if (is_header || error == -ENOMEM) {
		zm_records_release(&records);
		return error;
	}
	*ret_records = records;
	return 0;
}

void zm_records_release(struct zm_records *records)
{
	for (size_t i = 0; i < records->nr_records; i++)
		record_release(&records->records[i]);
	free(records->records);
	*records = (struct zm_records){ .records = NULL };
}
