/* test_site: a site takes its place whole or not at all, and never that of something else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "results/tests/fixture.h"
#include "results/web/site.h"

static const char *path_of(const struct fixture *fixture, const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
	return path;
}

static bool is_there(const struct fixture *fixture, const char *name)
{
	return access(path_of(fixture, name), F_OK) == 0;
}

static void has_text(const struct fixture *fixture, const char *name, const char *wanted)
{
	FILE *file = fopen(path_of(fixture, name), "r");
	char text[64] = "";

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	(void)fclose(file);
	assert_string_equal(text, wanted);
}

static void begin(const struct fixture *fixture, struct zm_site *site)
{
	struct zm_why why = { "" };

	if (zm_site_begin(site, path_of(fixture, "site"), &why))
		fail_msg("%s", why.text);
}

static void write_site(const struct fixture *fixture, const char *text)
{
	struct zm_site site;
	struct zm_why why = { "" };

	begin(fixture, &site);
	assert_int_equal(zm_site_bytes(&site, "index.html", text, strlen(text), &why), 0);
	assert_int_equal(zm_site_finish(&site, &why), 0);
	zm_site_drop(&site);
	assert_false(is_there(fixture, "site.part"));
	assert_false(is_there(fixture, "site.old"));
}

static void takes_its_place(void **state)
{
	write_site(*state, "one");
	has_text(*state, "site/index.html", "one");
	write_site(*state, "two");
	has_text(*state, "site/index.html", "two");
}

static void an_empty_folder_is_taken(void **state)
{
	assert_int_equal(mkdir(path_of(*state, "site"), 0777), 0);
	write_site(*state, "one");
	has_text(*state, "site/index.html", "one");
}

static void what_is_dropped_leaves_the_old_one(void **state)
{
	struct zm_site site;

	write_site(*state, "one");
	begin(*state, &site);
	assert_int_equal(zm_site_bytes(&site, "index.html", "two", 3, NULL), 0);
	zm_site_drop(&site);
	has_text(*state, "site/index.html", "one");
	assert_false(is_there(*state, "site.part"));
}

static void something_else_is_never_replaced(void **state)
{
	struct zm_site site;
	struct zm_why why = { "" };
	FILE *file;

	assert_int_equal(mkdir(path_of(*state, "site"), 0777), 0);
	file = fopen(path_of(*state, "site/thesis.txt"), "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(zm_site_begin(&site, path_of(*state, "site"), &why), -ENOTEMPTY);
	assert_non_null(strstr(why.text, "give a folder of its own"));
	assert_true(is_there(*state, "site/thesis.txt"));
	assert_false(is_there(*state, "site.part"));
	file = fopen(path_of(*state, "file"), "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(zm_site_begin(&site, path_of(*state, "file"), &why), -ENOTDIR);
	assert_int_equal(zm_site_begin(&site, path_of(*state, "no/such/site"), &why), -ENOENT);
}

static void two_at_once_are_refused(void **state)
{
	struct zm_site first, second;
	struct zm_why why = { "" };

	begin(*state, &first);
	assert_int_equal(zm_site_begin(&second, path_of(*state, "site"), &why), -EBUSY);
	assert_non_null(strstr(why.text, "another"));
	assert_int_equal(zm_site_finish(&first, &why), 0);
	zm_site_drop(&first);
	write_site(*state, "after");
	has_text(*state, "site/index.html", "after");
}

static void what_a_killed_one_left_is_removed(void **state)
{
	FILE *file;

	assert_int_equal(mkdir(path_of(*state, "site.part"), 0777), 0);
	file = fopen(path_of(*state, "site.part/index.html"), "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	write_site(*state, "one");
	has_text(*state, "site/index.html", "one");
}

static void what_does_not_change_is_taken_over(void **state)
{
	struct zm_site site;
	struct zm_why why = { "" };

	write_site(*state, "one");
	begin(*state, &site);
	assert_int_equal(zm_site_take(&site, "index.html"), 0);
	assert_int_equal(zm_site_take(&site, "none.html"), -ENOENT);
	assert_int_equal(zm_site_finish(&site, &why), 0);
	zm_site_drop(&site);
	has_text(*state, "site/index.html", "one");
}

/* A write that fails midway: a limit in the place of a full disk. */
static void a_failed_write_leaves_the_old_one(void **state)
{
	static char bytes[1 << 20];
	struct rlimit usual, small;
	struct zm_site site;
	struct zm_why why = { "" };
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	int error;

	write_site(*state, "one");
	begin(*state, &site);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
	small = (struct rlimit){ .rlim_cur = 65536, .rlim_max = usual.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	error = zm_site_bytes(&site, "large.js", bytes, sizeof(bytes), &why);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
	(void)signal(SIGXFSZ, before);
	assert_int_equal(error, -EFBIG);
	assert_non_null(strstr(why.text, "the site stays as it was"));
	zm_site_drop(&site);
	has_text(*state, "site/index.html", "one");
	assert_false(is_there(*state, "site.part"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_its_place),
		TEST(an_empty_folder_is_taken),
		TEST(what_is_dropped_leaves_the_old_one),
		TEST(something_else_is_never_replaced),
		TEST(two_at_once_are_refused),
		TEST(what_a_killed_one_left_is_removed),
		TEST(what_does_not_change_is_taken_over),
		TEST(a_failed_write_leaves_the_old_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
