/* journal_record: what is written reads back, and nothing else reads as a record. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/journal_record.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

/* A journal's text as it grows. */
struct text {
	char bytes[1 << 18];
	size_t length;
};

static struct text text;

static void begin(void)
{
	const struct zm_records head = {
		.owner = { .pid = 12, .start_ticks = 345, .pid_ns = 6789, .boot_id = "boot-id" },
		.began_ns = UINT64_MAX,
		.root = "/",
	};
	zm_autofree char *line = NULL;
	size_t length;

	assert_int_equal(zm_records_print_header(&head, &line, &length), 0);
	memcpy(text.bytes, line, length);
	text.length = length;
}

static void add(const char *const *fields, size_t nr)
{
	zm_autofree char *line = NULL;
	size_t length;

	assert_int_equal(zm_record_print(fields, nr, &line, &length), 0);
	assert_int_equal(strlen(line), length);
	assert_int_equal(strcspn(line, "\n"), length - 1);
	assert_true(text.length + length < sizeof(text.bytes));
	memcpy(text.bytes + text.length, line, length);
	text.length += length;
}

#define ADD(...)                                                                                   \
	do {                                                                                       \
		const char *const fields[] = { __VA_ARGS__ };                                      \
		add(fields, nr_of(fields));                                                        \
	} while (0)

static void parse(struct zm_records *ret_records)
{
	/* Of exactly its size, so that a sanitizer sees a read beyond it. */
	zm_autofree char *copy = malloc(text.length);

	assert_non_null(copy);
	memcpy(copy, text.bytes, text.length);
	assert_int_equal(zm_records_parse(copy, text.length, ret_records), 0);
}

static void a_header_reads_back(void **state)
{
	struct zm_records records;

	(void)state;
	begin();
	parse(&records);
	assert_int_equal(records.owner.pid, 12);
	assert_int_equal(records.owner.start_ticks, 345);
	assert_int_equal(records.owner.pid_ns, 6789);
	assert_string_equal(records.owner.boot_id, "boot-id");
	assert_true(records.began_ns == UINT64_MAX);
	assert_string_equal(records.root, "/");
	assert_int_equal(records.nr_records, 0);
	assert_int_equal(records.good_length, text.length);
	assert_false(records.is_damaged);
	zm_records_release(&records);
}

static void every_text_reads_back(void **state)
{
	static const char *const values[] = {
		"", " ", "%", "%%", "%20", "a b\tc\nd", "\x01\x7f\xc3\xa4\xff", "0", "\n\n", "a%",
	};
	struct zm_records records;

	(void)state;
	begin();
	for (size_t i = 0; i < nr_of(values); i++) {
		char number[8];

		(void)snprintf(number, sizeof(number), "%zu", i + 1);
		ADD("file", number, "sys/a b/%", values[i], "want");
		ADD("now", number, values[i]);
	}
	parse(&records);
	assert_int_equal(records.nr_records, nr_of(values));
	for (size_t i = 0; i < nr_of(values); i++) {
		assert_string_equal(records.records[i].path, "sys/a b/%");
		assert_string_equal(records.records[i].old, values[i]);
		assert_string_equal(records.records[i].now, values[i]);
		assert_string_equal(records.records[i].want, "want");
	}
	assert_false(records.is_damaged);
	zm_records_release(&records);
}

static void a_value_of_the_largest_size_reads_back(void **state)
{
	static char value[ZM_RECORD_VALUE_MAX + 2];
	struct zm_records records;

	(void)state;
	memset(value, 'x', ZM_RECORD_VALUE_MAX);
	begin();
	ADD("save", "1", "sys/a", value);
	parse(&records);
	assert_int_equal(records.nr_records, 1);
	assert_int_equal(strlen(records.records[0].old), ZM_RECORD_VALUE_MAX);
	zm_records_release(&records);
	value[ZM_RECORD_VALUE_MAX] = 'x';
	begin();
	ADD("save", "1", "sys/a", value);
	ADD("done", "1");
	parse(&records);
	assert_int_equal(records.nr_records, 0);
	assert_true(records.is_damaged);
	zm_records_release(&records);
}

static void later_lines_tell_of_a_change(void **state)
{
	struct zm_records records;

	(void)state;
	begin();
	ADD("file", "1", "proc/sys/vm/a", "0", "1");
	ADD("save", "2", "sys/b", "2");
	ADD("made", "7", "cgroup", "/sys/fs/cgroup/x");
	ADD("now", "1", "one");
	ADD("done", "7");
	parse(&records);
	assert_false(records.is_damaged);
	assert_int_equal(records.nr_records, 3);
	assert_int_equal(records.records[0].change, ZM_CHANGE_FILE);
	assert_string_equal(records.records[0].now, "one");
	assert_false(records.records[0].is_done);
	assert_int_equal(records.records[1].change, ZM_CHANGE_SAVE);
	assert_null(records.records[1].now);
	assert_int_equal(records.records[2].change, ZM_CHANGE_MADE);
	assert_int_equal(records.records[2].made, ZM_MADE_CGROUP);
	assert_string_equal(records.records[2].path, "/sys/fs/cgroup/x");
	assert_true(records.records[2].is_done);
	zm_records_release(&records);
}

/* Each alone before a good last line: the record is not there, and the damage is. */
static void what_is_no_record_is_damage(void **state)
{
	static const char *const cases[][5] = {
		{ "file", "1", "etc/passwd", "0", "1" },
		{ "file", "1", "/sys/a", "0", "1" },
		{ "file", "1", "sys/../etc/passwd", "0", "1" },
		{ "file", "1", "sys/", "0", "1" },
		{ "file", "1", "sys", "0", "1" },
		{ "file", "1", "proc/1/mem", "0", "1" },
		{ "file", "x", "sys/a", "0", "1" },
		{ "file", "-1", "sys/a", "0", "1" },
		{ "file", "1", "sys/a", "0" },
		{ "save", "1", "sys/a" },
		{ "save", "1", "sys/a", "0", "1" },
		{ "made", "1", "tree", "relative" },
		{ "made", "1", "tree", "/" },
		{ "made", "1", "tree", "/home" },
		{ "made", "1", "tree", "/tmp/../etc" },
		{ "made", "1", "spell", "/tmp/a" },
		{ "made", "1", "tree" },
		{ "now", "1", "x" },
		{ "done", "1" },
		{ "done" },
		{ "exec", "1", "/bin/sh" },
		{ "zonemark-journal", "1" },
	};

	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct zm_records records;
		size_t nr = 0;

		while (nr < 5 && cases[i][nr])
			nr++;
		begin();
		add(cases[i], nr);
		ADD("save", "9", "sys/good", "1");
		parse(&records);
		assert_int_equal(records.nr_records, 1);
		assert_true(records.is_damaged);
		zm_records_release(&records);
	}
}

static void numbers_rise(void **state)
{
	static const char *const numbers[] = { "5", "5", "4", "6" };
	struct zm_records records;

	(void)state;
	begin();
	for (size_t i = 0; i < nr_of(numbers); i++)
		ADD("save", numbers[i], "sys/a", "1");
	parse(&records);
	assert_int_equal(records.nr_records, 2);
	assert_true(records.is_damaged);
	zm_records_release(&records);
}

/* Cut anywhere, a journal has the records that are whole, and is not damaged. */
static void a_cut_journal_has_what_is_whole(void **state)
{
	size_t ends[4], whole;

	(void)state;
	begin();
	ends[0] = text.length;
	for (size_t i = 1; i < nr_of(ends); i++) {
		char number[8];

		(void)snprintf(number, sizeof(number), "%zu", i);
		ADD("file", number, "sys/a", "old", "new");
		ends[i] = text.length;
	}
	whole = text.length;
	for (size_t length = ends[0]; length <= whole; length++) {
		struct zm_records records;
		size_t nr = 0;

		text.length = length;
		while (nr + 1 < nr_of(ends) && ends[nr + 1] <= length)
			nr++;
		parse(&records);
		assert_int_equal(records.nr_records, nr);
		assert_int_equal(records.good_length, ends[nr]);
		assert_false(records.is_damaged);
		zm_records_release(&records);
	}
	for (size_t length = 0; length < ends[0]; length++) {
		struct zm_records records;

		assert_int_equal(zm_records_parse(text.bytes, length, &records), -EINVAL);
	}
}

/* One changed bit anywhere loses at most the record that it is in. */
static void a_changed_bit_loses_one_record(void **state)
{
	struct text good;

	(void)state;
	begin();
	size_t head = text.length;
	for (int i = 1; i <= 3; i++) {
		char number[8];

		(void)snprintf(number, sizeof(number), "%d", i);
		ADD("save", number, "sys/a", "old");
	}
	good = text;
	for (size_t at = 0; at < good.length; at++)
		for (int bit = 0; bit < 8; bit++) {
			struct zm_records records;

			text = good;
			text.bytes[at] = (char)(text.bytes[at] ^ (1 << bit));
			if (at < head) {
				assert_int_equal(
					zm_records_parse(text.bytes, text.length, &records),
					-EINVAL);
				continue;
			}
			parse(&records);
			assert_in_range(records.nr_records, 1, 2);
			for (size_t i = 0; i < records.nr_records; i++)
				assert_string_equal(records.records[i].path, "sys/a");
			zm_records_release(&records);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_reads_back),
		cmocka_unit_test(every_text_reads_back),
		cmocka_unit_test(a_value_of_the_largest_size_reads_back),
		cmocka_unit_test(later_lines_tell_of_a_change),
		cmocka_unit_test(what_is_no_record_is_damage),
		cmocka_unit_test(numbers_rise),
		cmocka_unit_test(a_cut_journal_has_what_is_whole),
		cmocka_unit_test(a_changed_bit_loses_one_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
