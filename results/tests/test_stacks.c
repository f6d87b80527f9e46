/*
 * stacks: what is written in the folded form is read back, from a text and from a store.
 *
 * timeout: 180
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "results/import.h"
#include "results/stacks.h"
#include "results/tests/server.h"

static void test_frames(void **state)
{
	static const struct {
		const char *name, *written;
	} rows[] = {
		{ "handle_mm_fault", "handle_mm_fault" },
		{ "a b;c\nd\te", "a_b_c_d_e" },
		{ "", "_" },
		{ "[user]", "[user]" },
		{ "\x7f\x01", "__" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		assert_non_null(out);
		zm_stacks_frame(out, rows[i].name);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(text, rows[i].written);
		free(text);
	}
}

static void test_lines(void **state)
{
	static const struct {
		const char *line;
		size_t nr; /* frames; 0: no chain */
		uint64_t times;
		const char *last;
	} rows[] = {
		{ "a 1", 1, 1, "a" },
		{ "a;b;c 18446744073709551615", 3, UINT64_MAX, "c" },
		{ "a;b;c 18446744073709551616", 0, 0, NULL },
		{ "a;;b 7", 2, 7, "b" },
		{ ";a; 7", 1, 7, "a" },
		{ "c++ name with blanks 3", 1, 3, "c++ name with blanks" },
		{ "", 0, 0, NULL },
		{ " 4", 0, 0, NULL },
		{ "; 4", 0, 0, NULL },
		{ "a", 0, 0, NULL },
		{ "a ", 0, 0, NULL },
		{ "a -1", 0, 0, NULL },
		{ "a 1x", 0, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *at = rows[i].line;
		struct zm_stack stack;
		bool is_there = zm_stacks_next(&at, &stack);

		assert_int_equal(is_there, rows[i].nr > 0);
		if (!is_there)
			continue;
		assert_int_equal(stack.nr, rows[i].nr);
		assert_true(stack.times == rows[i].times);
		assert_int_equal(stack.lengths[stack.nr - 1], strlen(rows[i].last));
		assert_memory_equal(stack.frames[stack.nr - 1], rows[i].last, strlen(rows[i].last));
		assert_false(zm_stacks_next(&at, &stack));
	}
}

/* Deeper than there is room for: the outermost frames are kept. */
static void test_deep(void **state)
{
	char *text = calloc(1, 10 * (size_t)ZM_STACKS_DEPTH);
	const char *at = text;
	struct zm_stack stack;

	(void)state;
	assert_non_null(text);
	for (unsigned int i = 0; i < ZM_STACKS_DEPTH + 100; i++)
		memcpy(text + strlen(text), "f;", 2);
	memcpy(text + strlen(text), "g 5", 3);
	assert_true(zm_stacks_next(&at, &stack));
	assert_int_equal(stack.nr, ZM_STACKS_DEPTH);
	assert_int_equal(stack.times, 5);
	free(text);
}

static const struct zm_stacks sets[] = {
	{ "perf-profile", "cycles-pp", "samples", "a;b 3\na;c 5\n" },
	{ "lock-contention", "waits", "ns", "lock 1\n" },
};

static int check_set(void *context, const struct zm_stacks *stacks)
{
	size_t *nr = context;

	assert_string_equal(stacks->source, sets[*nr].source);
	assert_string_equal(stacks->event, sets[*nr].event);
	assert_string_equal(stacks->unit, sets[*nr].unit);
	assert_string_equal(stacks->folded, sets[*nr].folded);
	++*nr;
	return 0;
}

static void check_sets(struct zm_store *store, uint64_t run)
{
	size_t nr = 0;

	assert_int_equal(zm_stacks_read(store, run, check_set, &nr, NULL), 0);
	assert_int_equal(nr, sizeof(sets) / sizeof(sets[0]));
}

static void test_store(void **state)
{
	struct zm_store *store = fixture_open(*state, true), *other;
	struct fixture second = *(struct fixture *)*state;
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder;
	struct zm_import import;
	struct zm_why why;

	assert_int_equal(zm_recorder_begin(store, &record, &recorder, NULL), 0);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		assert_int_equal(zm_recorder_stacks(recorder, &sets[i]), 0);
	assert_int_equal(zm_recorder_end(recorder, ZM_STATUS_OK, NULL, NULL), 0);
	check_sets(store, 1);
	/* they go along when the run is taken into another store, and go when it goes */
	(void)snprintf(second.path, sizeof(second.path), "%s/second.db", second.folder);
	other = fixture_open(&second, true);
	assert_int_equal(zm_import_store(other, store, &import, &why), 0);
	check_sets(other, 1);
	assert_int_equal(zm_db_run(zm_store_db(other), NULL, "DELETE FROM run", ZM_BIND_NONE), 0);
	assert_int_equal(fixture_count(other, "SELECT count(*) FROM stacks"), 0);
	/* damage is told */
	assert_int_equal(zm_db_run(zm_store_db(store), NULL,
				   "UPDATE stacks SET data = ?1 WHERE seq = 0",
				   ZM_BIND(zm_blob("\xff", 2))),
			 0);
	assert_int_equal(zm_stacks_read(store, 1, check_set, &(size_t){ 0 }, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "call chains of run 1"));
	zm_store_close(other);
	zm_store_close(store);
}

ON_SERVER(test_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_deep),
		cmocka_unit_test_setup_teardown(test_store, fixture_setup, fixture_teardown),
		TEST_ON_SERVER(test_store),
	};

	return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
