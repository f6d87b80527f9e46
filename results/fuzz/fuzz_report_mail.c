/*
 * report_mail: whatever is read from any bytes keeps its promises: texts are UTF-8 and inside, columns
 * and rows agree, and the same bytes give the same report.
 *
 * timeout: 60
 */
#include "results/report_mail.h"
#include "results/yaml.h"
#include "workloads/fuzz/fuzz.h"

static void check_text(const char *text)
{
	json_t *string = text ? json_string(text) : NULL;

	fuzz_check(!text || string); /* jansson takes UTF-8 only */
	json_decref(string);
}

static void check_pairs(const struct zm_mail_pairs *pairs)
{
	fuzz_check(pairs->nr <= ZM_REPORT_MAIL_PAIRS);
	for (size_t i = 0; i < pairs->nr; i++) {
		check_text(pairs->list[i].name);
		check_text(pairs->list[i].value);
		fuzz_check(zm_mail_pairs_find(pairs, pairs->list[i].name));
	}
}

static void check_row(const struct zm_mail_row *row, unsigned int nr_columns)
{
	check_text(row->metric);
	fuzz_check(strchr(row->metric, '.'));
	for (unsigned int i = 0; i < nr_columns; i++) {
		fuzz_check(row->cells[i].stddev >= 0 ||
			   row->cells[i].stddev != row->cells[i].stddev);
		fuzz_check(i > 0 || row->cells[i].change != row->cells[i].change);
	}
}

static void check_record(const struct zm_mail_record *record)
{
	check_text(record->testcase);
	check_pairs(&record->params);
	check_pairs(&record->environment);
	check_text(record->machine.text);
	check_text(record->machine.model);
	check_text(record->claim.metric);
	fuzz_check(record->nr_commits <= ZM_MAIL_COLUMNS);
	fuzz_check(record->nr_rows == 0 || record->nr_commits >= 2);
	for (unsigned int i = 0; i < record->nr_commits; i++) {
		check_text(record->commits[i].head);
		check_text(record->commits[i].name);
		check_text(record->commits[i].title);
		check_text(record->commits[i].note);
	}
	for (size_t i = 0; i < record->nr_rows; i++)
		check_row(&record->rows[i], record->nr_commits);
}

static void check_yaml(const uint8_t *data, size_t size)
{
	json_t *documents;

	if (zm_yaml_read((const char *)data, size, &documents, NULL) == 0) {
		fuzz_check(json_is_array(documents));
		json_decref(documents);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size ? size : 1);
	struct zm_report_mail report, again;

	fuzz_check(bytes);
	memcpy(bytes, data, size);
	check_yaml(data, size);
	if (zm_report_mail_read(bytes, size, &report, NULL) == 0) {
		fuzz_check(report.nr_records > 0 && report.nr_records <= ZM_REPORT_MAIL_RECORDS);
		check_text(report.subject);
		for (size_t i = 0; i < report.nr_records; i++)
			check_record(report.records[i]);
		fuzz_check(zm_report_mail_read(bytes, size, &again, NULL) == 0);
		fuzz_check(again.nr_records == report.nr_records);
		zm_report_mail_release(&again);
		zm_report_mail_release(&report);
	}
	free(bytes);
	return 0;
}
