/* dburl: no password is ever shown. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "results/dburl.h"

static const struct {
	const char *url, *public, *place;
} cases[] = {
	{ "postgresql://lab/zonemark", "postgresql://lab/zonemark", "postgresql://lab/zonemark" },
	{ "postgres://lab/zonemark", "postgres://lab/zonemark", "postgresql://lab/zonemark" },
	{ "postgresql://", "postgresql://", "postgresql://" },
	{ "postgresql://node:secret@lab:5433/zonemark", "postgresql://node@lab:5433/zonemark",
	  "postgresql://lab:5433/zonemark" },
	{ "postgresql://node@lab", "postgresql://node@lab", "postgresql://lab" },
	{ "postgresql://node:@lab", "postgresql://node@lab", "postgresql://lab" },
	{ "postgresql://node:se:c/r@et@lab/x", "postgresql://node@lab/x", "postgresql://lab/x" },
	{ "postgresql:///x?host=/run/pg&password=secret&sslmode=require",
	  "postgresql:///x?host=/run/pg&sslmode=require", "postgresql:///x?host=/run/pg" },
	{ "postgresql:///x?password=secret", "postgresql:///x", "postgresql:///x" },
	{ "postgresql:///x?PassWord=secret&sslpassword=secret&user=a", "postgresql:///x?user=a",
	  "postgresql:///x" },
	{ "postgresql://lab/x?options=-c%20a=b@c", "postgresql://lab/x?options=-c%20a=b@c",
	  "postgresql://lab/x" },
	{ "folder/store.db", "folder/store.db", "folder/store.db" },
	{ "", "", "" },
};

static void no_password_is_shown(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *public = zm_dburl_public(cases[i].url);
		char *place = zm_dburl_place(cases[i].url);

		assert_string_equal(public, cases[i].public);
		assert_string_equal(place, cases[i].place);
		free(public);
		free(place);
	}
}

static void a_url_is_told_from_a_path(void **state)
{
	(void)state;
	assert_true(zm_dburl_is("postgresql://lab"));
	assert_true(zm_dburl_is("postgres://lab"));
	assert_false(zm_dburl_is("postgresql:/lab"));
	assert_false(zm_dburl_is("postgresql"));
	assert_false(zm_dburl_is("./postgresql://x"));
	assert_false(zm_dburl_is(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_password_is_shown),
		cmocka_unit_test(a_url_is_told_from_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
