/*
 * journal_record: whatever stands in a journal, no record leads outside.
 *
 * An input is read twice: as it is, and with the right sum behind each of its lines, since no
 * mutation would find one.
 */
#include "workloads/base/journal_record.h"
#include "workloads/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>

#define SUM_DIGITS 16

static void check_record(const struct zm_record *record)
{
	fuzz_check(record->path);
	if (record->change == ZM_CHANGE_MADE) {
		fuzz_check(zm_record_is_made_path(record->path));
		fuzz_check(strcmp(zm_made_name(record->made), "unknown") != 0);
		fuzz_check(!strstr(record->path, "/../") && record->path[0] == '/');
		return;
	}
	fuzz_check(zm_record_is_setting_path(record->path));
	fuzz_check(!strstr(record->path, "/../") && record->path[0] != '/');
	fuzz_check(record->old && strlen(record->old) <= ZM_RECORD_VALUE_MAX);
	fuzz_check((record->change == ZM_CHANGE_FILE) == (record->want != NULL));
}

static void check_records(const char *text, size_t length)
{
	struct zm_records records = { .records = NULL };
	int error = zm_records_parse(text, length, &records);

	fuzz_check(error == 0 || error == -EINVAL);
	if (error) {
		fuzz_check(!records.records && !records.nr_records);
		return;
	}
	fuzz_check(records.good_length > 0 && records.good_length <= length);
	fuzz_check(memchr(records.root, '\0', sizeof(records.root)));
	fuzz_check(memchr(records.owner.boot_id, '\0', sizeof(records.owner.boot_id)));
	for (size_t i = 0; i < records.nr_records; i++) {
		check_record(&records.records[i]);
		fuzz_check(i == 0 || records.records[i - 1].number < records.records[i].number);
	}
	zm_records_release(&records);
}

/* As journal_record.c sums a line. */
static size_t put_sum(char *out, const char *line, size_t length)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ (unsigned char)line[i]) * UINT64_C(0x100000001b3);
	return (size_t)snprintf(out, SUM_DIGITS + 2, "%016llx\n", (unsigned long long)sum);
}

/* Every line gets a blank and its sum; the last one stays as it is when it has no newline. */
static void check_with_sums(const char *text, size_t length)
{
	char *whole = malloc(length * (SUM_DIGITS + 3) + 1);
	size_t at = 0;

	fuzz_check(whole);
	for (const char *line = text; line < text + length;) {
		const char *newline = memchr(line, '\n', (size_t)(text + length - line));
		size_t line_length = (size_t)((newline ? newline : text + length) - line);
		size_t start = at;

		memcpy(whole + at, line, line_length);
		at += line_length;
		if (newline) {
			whole[at++] = ' ';
			at += put_sum(whole + at, whole + start, at - start);
		}
		line += line_length + 1;
	}
	check_records(whole, at);
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	check_records(text, size);
	check_with_sums(text, size);
	return 0;
}
