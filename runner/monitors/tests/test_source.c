/* source: what is declared once is read again, through files that change, shrink, grow and vanish. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/monitors/source.h"
#include "runner/monitors/tests/rig.h"

struct bench {
	char directory[64];
	char path[128];
	struct zm_sysroot root;
	struct zm_recorder recorder;
	struct zm_monitor monitor;
	struct zm_monitor_context context;
};

static void write_file(struct bench *bench, const char *text, size_t length)
{
	int fd = open(bench->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	assert_int_equal(close(fd), 0);
}

static void begin(struct bench *bench, const char *text)
{
	*bench = (struct bench){ .directory = "/tmp/zm-source-XXXXXX", .monitor.name = "test" };
	assert_non_null(mkdtemp(bench->directory));
	(void)snprintf(bench->path, sizeof(bench->path), "%s/file", bench->directory);
	write_file(bench, text, strlen(text));
	assert_int_equal(zm_sysroot_open(&bench->root, bench->directory), 0);
	bench->context = (struct zm_monitor_context){
		.monitor = &bench->monitor,
		.root = &bench->root,
		.recorder = &bench->recorder,
	};
}

static void end(struct bench *bench)
{
	(void)unlink(bench->path);
	assert_int_equal(rmdir(bench->directory), 0);
	zm_sysroot_release(&bench->root);
	free(bench->recorder.series);
}

static bool describe(const struct zm_field *field, struct zm_series_desc *desc)
{
	desc->kind = ZM_GAUGE;
	desc->unit = "pages";
	return !zm_field_is(field, "unwanted");
}

static const struct zm_source_rules rules = {
	.prefix = "test.",
	.scope = ZM_SCOPE_NODE,
	.scope_id = 3,
	.describe = describe,
};

static const struct rig_series *series_of(struct bench *bench, const char *metric)
{
	const struct rig_series *series = rig_find(&bench->recorder, metric, ZM_SCOPE_NODE, 3);

	assert_non_null(series);
	return series;
}

static void test_changes(void **state)
{
	struct zm_source source = { 0 };
	struct bench bench;

	(void)state;
	begin(&bench, "a 1\nunwanted 9\nb 2\na 3\nc 4");
	assert_int_equal(zm_source_open(&source, &bench.context, "file", &rules, NULL), 0);
	assert_int_equal(bench.recorder.nr_series, 3);
	assert_int_equal(zm_source_read(&source, &bench.recorder, 1), 0);
	assert_int_equal(series_of(&bench, "test.a")->u64, 1);
	assert_int_equal(series_of(&bench, "test.c")->u64, 4);
	/* turned round, one gone, one new */
	write_file(&bench, "c 40\nnew 5\na 10\n", 16);
	assert_int_equal(zm_source_read(&source, &bench.recorder, 2), 0);
	assert_int_equal(series_of(&bench, "test.a")->u64, 10);
	assert_int_equal(series_of(&bench, "test.c")->u64, 40);
	assert_int_equal(series_of(&bench, "test.b")->nr_readings, 1);
	assert_int_equal(bench.recorder.nr_series, 3);
	zm_source_release(&source);
	end(&bench);
}

static void test_empty_and_back(void **state)
{
	struct zm_source source = { 0 };
	struct bench bench;

	(void)state;
	begin(&bench, "a 1\n");
	assert_int_equal(zm_source_open(&source, &bench.context, "file", &rules, NULL), 0);
	write_file(&bench, "", 0);
	assert_int_equal(zm_source_read(&source, &bench.recorder, 1), -ENODATA);
	assert_int_equal(series_of(&bench, "test.a")->nr_readings, 0);
	write_file(&bench, "a 2\n", 4);
	assert_int_equal(zm_source_read(&source, &bench.recorder, 2), 0);
	assert_int_equal(series_of(&bench, "test.a")->u64, 2);
	zm_source_release(&source);
	end(&bench);
}

/* A file that has outgrown the buffer: what is whole is used and flagged, a cut number never. */
static void test_outgrown(void **state)
{
	struct zm_source source = { 0 };
	char text[9000];
	struct bench bench;

	(void)state;
	begin(&bench, "a 1\nb 2\n");
	assert_int_equal(zm_source_open(&source, &bench.context, "file", &rules, NULL), 0);
	memset(text, '7', sizeof(text));
	memcpy(text, "a 5\nb ", 6);
	write_file(&bench, text, sizeof(text));
	assert_int_equal(zm_source_read(&source, &bench.recorder, 1), 0);
	assert_int_equal(series_of(&bench, "test.a")->u64, 5);
	assert_int_equal(series_of(&bench, "test.a")->flags, ZM_FLAG_PARTIAL);
	assert_int_equal(series_of(&bench, "test.b")->nr_readings, 0);
	memset(text, '7', 6);
	write_file(&bench, text, sizeof(text));
	assert_int_equal(zm_source_read(&source, &bench.recorder, 2), -ENODATA);
	zm_source_release(&source);
	end(&bench);
}

static void test_nothing_to_declare(void **state)
{
	static const char *const texts[] = { "", "\n", "words only\n", "unwanted 5\n", "x -1\n" };
	struct zm_why why;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct zm_source source = { 0 };
		struct bench bench;

		begin(&bench, texts[i]);
		assert_int_equal(zm_source_open(&source, &bench.context, "file", &rules, &why),
				 -ENODATA);
		assert_non_null(strstr(why.text, "/file"));
		zm_source_release(&source);
		zm_source_release(&source);
		end(&bench);
	}
}

static void test_missing(void **state)
{
	struct zm_source source = { 0 };
	struct zm_why why;
	struct bench bench;

	(void)state;
	begin(&bench, "");
	assert_int_equal(zm_source_open(&source, &bench.context, "proc/none", &rules, &why),
			 -ENOENT);
	assert_string_equal(why.text, "/proc/none cannot be read: No such file or directory");
	zm_source_release(&source);
	end(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),  cmocka_unit_test(test_empty_and_back),
		cmocka_unit_test(test_outgrown), cmocka_unit_test(test_nothing_to_declare),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
