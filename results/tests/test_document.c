/* document: every file of the catalogue is read; its figures agree with each other; wrong files are said. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "results/document.h"

static void open_document(const char *id, struct zm_document *document)
{
	const struct zm_documented_file *file = zm_documented_find(id);
	struct zm_why why = { "" };

	if (!file || zm_document_read(file, document, &why) < 0)
		fail_msg("%s: %s", id, file ? why.text : "not there");
}

static void test_catalogue(void **state)
{
	static const char *const ids[] = {
		"bulk-free/ladder",      "bulk-free/lkp-100%",  "bulk-free/lkp-16",
		"hugetlb/anon-cow-rand", "hugetlb/guest-cycle", "hugetlb/pool-1g",
		"pcp-v3/batch-latency",  "pcp-v3/kbuild",       "pcp-v3/lkp-page_fault2",
		"pcp-v3/lkp-sctp-10k",   "pcp-v3/lkp-udp",      "pcp-v3/sctp-stream-many",
		"pcp-v3/unix",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		assert_non_null(zm_documented_find(ids[i]));
	for (const struct zm_documented_file *file = zm_documented_files; file->id; file++)
		assert_true(!file[1].id || strcmp(file->id, file[1].id) < 0);
	assert_null(zm_documented_find("pcp-v3"));
}

/* How much a value may have lost when it was printed, or cut. */
static double slack(double value)
{
	double magnitude = fabs(value);

	return magnitude < 1000 ? 0.0051 : magnitude < 1e8 ? 1.01 : 5.1e-4 * magnitude;
}

/* A change as it is printed is the one of the values beside it. */
static void check_change(const char *id, const struct zm_mail_row *row, unsigned int i)
{
	double base = row->cells[0].value, value = row->cells[i].value;
	double change = row->cells[i].change, computed = value - base;
	double error = 0.051 + slack(base) + slack(value);

	if (row->cells[i].is_percent) {
		/* The smallest values have lost more digits than the change has. */
		if (fabs(base) < 0.1)
			return;
		computed = 100 * (value - base) / base;
		error = 0.051 + 100 * (slack(value) / fabs(base) +
				       slack(base) * fabs(value) / (base * base));
		if (fabs(change) >= 1e5)
			error += 0.05 * fabs(change);
	}
	if (!(fabs(change - computed) <= error))
		fail_msg("%s: %s: %g is said, %g is what %g and %g make", id, row->metric, change,
			 computed, base, value);
}

static void check_table(const struct zm_document *document, const struct zm_document_table *table)
{
	const struct zm_mail_record *record = &table->record;

	assert_non_null(record->testcase);
	assert_true(record->nr_rows > 0 && record->nr_commits > 0);
	for (size_t i = 0; i < record->nr_rows; i++) {
		assert_non_null(record->rows[i].metric);
		assert_non_null(table->figures[i].name);
		assert_true(table->nr_points == 0 || table->figures[i].point < table->nr_points);
		for (unsigned int k = 0; k < record->nr_commits; k++) {
			assert_true(isfinite(record->rows[i].cells[k].value));
			if (k > 0)
				check_change(document->id, &record->rows[i], k);
		}
	}
}

static void test_figures(void **state)
{
	size_t nr = 0;

	(void)state;
	for (const struct zm_documented_file *file = zm_documented_files; file->id; file++) {
		struct zm_document document;

		open_document(file->id, &document);
		for (size_t i = 0; i < document.nr_tables; i++) {
			check_table(&document, &document.tables[i]);
			nr += document.tables[i].record.nr_rows;
		}
		zm_document_release(&document);
	}
	assert_true(nr > 1500);
}

/* One figure of each form, as the documents have it. */
static void test_known(void **state)
{
	struct zm_document document;
	const struct zm_mail_row *row;

	(void)state;
	open_document("pcp-v3/kbuild", &document);
	assert_int_equal(document.form, ZM_DOCUMENT_CHANGELOG);
	assert_string_equal(document.columns[3], "alloc_zone");
	assert_true(document.tables[0].figures[0].is_relative);
	assert_float_equal(document.tables[0].record.rows[3].cells[4].value, 15.6, 1e-9);
	assert_int_equal(document.nr_claims, 2);
	assert_float_equal(document.claims[0].change, 18.4, 1e-9);
	assert_true(document.claims[0].is_most);
	assert_string_equal(document.claims[0].against, "base");
	zm_document_release(&document);

	open_document("bulk-free/ladder", &document);
	assert_int_equal(document.tables[0].nr_points, 16);
	row = &document.tables[0].record.rows[8];
	assert_string_equal(document.tables[0].figures[8].name, "page_fault1-processes-110");
	assert_float_equal(row->cells[1].value, 25671880.65, 1e-6);
	assert_true(row->cells[1].is_marked);
	assert_float_equal(row->cells[1].change, -0.23, 1e-9);
	assert_false(document.tables[0].record.rows[9].cells[1].is_marked);
	zm_document_release(&document);

	open_document("pcp-v3/batch-latency", &document);
	assert_int_equal(document.nr_tables, 5);
	assert_string_equal(document.tables[4].points[5], "2047");
	assert_float_equal(document.tables[4].record.rows[5 * 5 + 1].cells[0].value, 90.63, 1e-9);
	zm_document_release(&document);

	open_document("pcp-v3/lkp-udp", &document);
	row = zm_mail_record_row(&document.tables[0].record, "netperf.ThroughputRecv_Mbps");
	assert_non_null(row);
	assert_float_equal(row->cells[1].change, 249.7, 1e-9);
	assert_float_equal(document.tables[0].record.claim.change, -60.4, 1e-9);
	zm_document_release(&document);
}

#define HEAD "title: t\nsource: s\nform: changelog\ntestcase: x\n"

static void test_wrong(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "- a\n", "one mapping is wanted" },
		{ "title: t\nsource: s\nform: circle\n", "no form of a table: circle" },
		{ "title: t\nform: lkp\n", "it has no title, or no source" },
		{ HEAD "variants: [a]\ncolumns: [{metric: m}]\n", "a column without a name" },
		{ HEAD "columns: [{name: c}]\nrows: [[a, 1]]\n", "kernels are wanted" },
		{ HEAD "variants: [a]\ncolumns: [{name: c}]\nrows: [[b, 1]]\n",
		  "a row of no kernel: b" },
		{ HEAD "variants: [a]\ncolumns: [{name: c}]\nrows: [[a, 1, 2]]\n",
		  "a figure for each column" },
		{ HEAD "variants: [a]\ncolumns: [{name: c}]\nrows: [[a, x]]\n",
		  "a figure is wanted: x" },
		{ "title: t\nsource: s\nform: lkp\ntestcase: x\nvariants: [a, b]\nrows: |\n  1 2\n",
		  "no row of this table" },
		{ "title: [\n", "line 2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct zm_documented_file file = { "x/y",
							 (const unsigned char *)cases[i].text,
							 strlen(cases[i].text) };
		struct zm_document document;
		struct zm_why why = { "" };

		if (zm_document_read(&file, &document, &why) != -EINVAL ||
		    !strstr(why.text, cases[i].says) || !strstr(why.text, "documented/x/y.yaml"))
			fail_msg("%s gives: %s", cases[i].text, why.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
