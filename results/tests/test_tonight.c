/*
 * tonight: what is said of a night in which state, when a change is new, and that each form of it holds together
 * whatever the texts in the store are.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "results/format_tonight.h"
#include "results/tests/nights.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static struct zm_judge judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 };

struct made {
	struct zm_nightly nightly;
	struct zm_tonight tonight;
};

static void make(struct zm_store *store, unsigned int invocation, const char *since,
		 struct made *made)
{
	struct zm_why why = { "" };
	char uuid[40];

	if (zm_nightly_read(store, "nightly", NULL, &judge, &made->nightly, &why) ||
	    zm_tonight_make(store, &made->nightly, night_uuid(invocation, uuid, sizeof(uuid)),
			    since, &made->tonight, &why))
		fail_msg("%s", why.text);
}

static void unmake(struct made *made)
{
	zm_tonight_release(&made->tonight);
	zm_nightly_release(&made->nightly);
}

static const struct zm_tonight_row *pages(const struct made *made)
{
	for (size_t i = 0; i < made->tonight.nr_rows; i++) {
		if (!strcmp(made->tonight.rows[i].history->metric, "pages"))
			return &made->tonight.rows[i];
	}
	fail_msg("no row");
	return NULL;
}

static void a_night_has_a_state(void **state)
{
	static const struct {
		unsigned int nr_before;
		double value;
		enum zm_tonight_state wanted;
		size_t nr_usual;
	} cases[] = {
		{ 0, 1000, ZM_TONIGHT_NEW, 0 },      { 4, 1000, ZM_TONIGHT_NEW, 4 },
		{ 5, 1000, ZM_TONIGHT_USUAL, 5 },    { 40, 1003, ZM_TONIGHT_USUAL, 14 },
		{ 40, 700, ZM_TONIGHT_OUTLIER, 14 }, { 40, 9000, ZM_TONIGHT_OUTLIER, 14 },
	};
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < NR(cases); i++) {
		struct zm_store *store = fixture_open(fixture, true);
		const struct zm_tonight_row *row;
		struct made made;

		put_nights(store, 0, cases[i].nr_before, 1000);
		put_run(store,
			&(struct put){ .invocation = 90, .value = cases[i].value, .share = 40.03 });
		make(store, 90, NULL, &made);
		row = pages(&made);
		assert_int_equal(row->state, cases[i].wanted);
		assert_int_equal(row->nr_usual, cases[i].nr_usual);
		assert_int_equal(isnan(row->usual), cases[i].nr_usual == 0);
		if (cases[i].nr_usual)
			assert_true(fabs(row->difference - (row->value / row->usual - 1)) < 1e-12);
		assert_int_equal(made.tonight.nr_rows, 2);
		assert_null(row->change);
		unmake(&made);
		zm_store_close(store);
		assert_int_equal(remove(fixture->path), 0);
	}
}

/* Seen, confirmed that night: told. The night after: as usual, unless it was not told. */
static void a_change_is_told_once(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct made made;
	char text[768], told[40];

	put_nights(store, 0, 30, 1000);
	put_nights(store, 30, 36, 800);
	make(store, 35, NULL, &made);
	assert_int_equal(pages(&made)->state, ZM_TONIGHT_ASKED);
	assert_non_null(strstr(zm_tonight_sentence(text, sizeof(text), pages(&made)),
			       "it asks for its confirmation run"));
	assert_int_equal(made.tonight.nr_of[ZM_TONIGHT_WORSE], 0);
	unmake(&made);

	put_confirmation(store, 36, 5, 800);
	make(store, 35, NULL, &made);
	assert_ptr_equal(pages(&made), &made.tonight.rows[0]); /* the gravest first */
	assert_int_equal(pages(&made)->state, ZM_TONIGHT_WORSE);
	assert_int_equal(made.tonight.nr_of[ZM_TONIGHT_WORSE], 1);
	assert_non_null(strstr(zm_tonight_sentence(text, sizeof(text), pages(&made)),
			       "confirmed, by runs of their own: -2"));
	assert_string_equal(made.tonight.last_told, night_uuid(36, told, sizeof(told)));
	unmake(&made);

	put_nights(store, 37, 38, 800);
	make(store, 37, told, &made);
	assert_int_equal(pages(&made)->state, ZM_TONIGHT_USUAL);
	unmake(&made);
	make(store, 37, night_uuid(34, told, sizeof(told)),
	     &made); /* the night that saw it was killed */
	assert_int_equal(pages(&made)->state, ZM_TONIGHT_WORSE);
	unmake(&made);
	make(store, 37, "not of this store", &made);
	assert_int_equal(pages(&made)->state, ZM_TONIGHT_USUAL);
	unmake(&made);
	zm_store_close(store);
}

static void withdrawn_and_better(void **state)
{
	static const struct {
		double after, found;
		enum zm_tonight_state wanted;
	} cases[] = {
		{ 800, 1000, ZM_TONIGHT_WITHDRAWN },
		{ 1200, 1200, ZM_TONIGHT_BETTER },
	};
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < NR(cases); i++) {
		struct zm_store *store = fixture_open(fixture, true);
		struct made made;

		put_nights(store, 0, 30, 1000);
		put_nights(store, 30, 36, cases[i].after);
		put_confirmation(store, 36, 5, cases[i].found);
		make(store, 35, NULL, &made);
		assert_int_equal(pages(&made)->state, cases[i].wanted);
		unmake(&made);
		zm_store_close(store);
		assert_int_equal(remove(fixture->path), 0);
	}
}

static void a_clock_that_went_back_is_said(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct made made;

	put_nights(store, 0, 10, 1000);
	put_run(store, &(struct put){ .invocation = 10,
				      .value = 1000,
				      .share = 40,
				      .wall_ns = FIXTURE_WALL_NS + 9 * NIGHT_NS -
						 UINT64_C(5) * 3600 * 1000000000 });
	make(store, 10, NULL, &made);
	assert_true(fabs(made.tonight.behind_s - 5 * 3600) < 1e-3);
	assert_int_equal(pages(&made)->state, ZM_TONIGHT_USUAL);
	unmake(&made);
	make(store, 10, NULL, &made);
	unmake(&made);
	zm_store_close(store);
}

static void a_night_without_runs_is_none(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	struct zm_nightly nightly;
	struct zm_tonight tonight;
	struct zm_why why = { "" };

	put_nights(store, 0, 3, 1000);
	assert_int_equal(zm_nightly_read(store, "nightly", NULL, &judge, &nightly, &why), 0);
	assert_int_equal(zm_tonight_make(store, &nightly, "nothing", NULL, &tonight, &why),
			 -ENODATA);
	assert_non_null(strstr(why.text, "no run of this night"));
	zm_nightly_release(&nightly);
	zm_store_close(store);
}

/* --- forms --- */

#define HOSTILE "<script>\"&'\\\n]]>\x1b[2J\xff"

static char *printed(int (*print)(const struct zm_tonight *tonight, FILE *out),
		     const struct zm_tonight *tonight)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(print(tonight, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Nothing from the store is markup, a header, or moves a cursor. */
static void is_tame(const char *text)
{
	assert_null(strstr(text, "<script>"));
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\xff'));
}

static void check_mail(const char *text)
{
	const char *body = strstr(text, "\n\n");

	assert_int_equal(strncmp(text, "Subject: zonemark nightly: ", 27), 0);
	assert_non_null(body);
	for (const char *line = text; line < body; line = strchr(line, '\n') + 1)
		assert_non_null(memchr(line, ':', (size_t)(strchr(line, '\n') - line)));
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, ", page_fault1 nr_task=1: failed: "));
}

static void check_openmetrics(char *text)
{
	char *rest = text;

	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	for (char *line = strsep(&rest, "\n"); line && rest; line = strsep(&rest, "\n")) {
		size_t nr_quotes = 0;

		for (const char *at = line; *at; at++) {
			if (*at == '\\')
				at++;
			else
				nr_quotes += *at == '"';
		}
		assert_true(!strncmp(line, "# ", 2) || !strncmp(line, "zonemark_night_", 15));
		assert_int_equal(line[0] == '#' ? 0 : nr_quotes % 2, 0);
	}
}

static void every_form_is_sound(void **state)
{
	struct zm_store *store = fixture_open(*state, true);
	char *mail, *json, *junit, *metrics, *page;
	struct made made;
	json_t *object;

	put_nights(store, 0, 30, 1000);
	put_nights(store, 30, 33, 800);
	put_run(store,
		&(struct put){
			.invocation = 33, .metric = HOSTILE, .cell = 2, .value = 5, .share = 1 });
	put_run(store, &(struct put){ .invocation = 33, .value = 800, .share = 40, .repeat = 1 });
	put_run(store,
		&(struct put){ .invocation = 33, .status = ZM_STATUS_FAILED, .reason = HOSTILE });
	make(store, 33, NULL, &made);
	mail = printed(zm_format_tonight_mail, &made.tonight);
	json = printed(zm_format_tonight_json, &made.tonight);
	junit = printed(zm_format_tonight_junit, &made.tonight);
	metrics = printed(zm_format_tonight_openmetrics, &made.tonight);
	page = printed(zm_format_tonight_page, &made.tonight);
	object = json_loads(json, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(object, "figures")), 4);
	assert_int_equal(json_array_size(json_object_get(object, "failures")), 1);
	assert_string_equal(json_string_value(json_object_get(object, "label")), "nightly");
	json_decref(object);
	check_mail(mail);
	is_tame(junit);
	is_tame(page);
	assert_non_null(strstr(junit, "tests=\"5\" failures=\"0\" errors=\"1\""));
	assert_non_null(strstr(junit, "<error message=\"failed: "));
	check_openmetrics(metrics);
	free(mail);
	free(json);
	free(junit);
	free(metrics);
	free(page);
	unmake(&made);
	zm_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_night_has_a_state, nights_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_change_is_told_once, nights_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(withdrawn_and_better, nights_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_clock_that_went_back_is_said, nights_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_night_without_runs_is_none, nights_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(every_form_is_sound, nights_setup,
						fixture_teardown),
	};
	int status = cmocka_run_group_tests(tests, NULL, NULL);

	zm_judge_release(&judge);
	return status;
}
