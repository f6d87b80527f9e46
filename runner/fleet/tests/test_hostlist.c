/* hostlist: names in order, and nothing that a shell or an option could take for its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/fleet/hostlist.h"

static void test_lists(void **state)
{
	static const struct {
		const char *text, *names; /* NULL: refused */
		int error;
	} cases[] = {
		{ "n1", "n1", 0 },
		{ "n1,n2", "n1 n2", 0 },
		{ "n[1-3]", "n1 n2 n3", 0 },
		{ "n[08-11]", "n08 n09 n10 n11", 0 },
		{ "n[1,5-6],login", "n1 n5 n6 login", 0 },
		{ "rack[1-2]-a.lab", "rack1-a.lab rack2-a.lab", 0 },
		{ "a_b", "a_b", 0 },
		{ "", NULL, -EINVAL },
		{ ",", NULL, -EINVAL },
		{ "n1,", NULL, -EINVAL },
		{ "n1,n1", NULL, -EINVAL },
		{ "n[1-2],n2", NULL, -EINVAL },
		{ "n[]", NULL, -EINVAL },
		{ "n[1-2", NULL, -EINVAL },
		{ "n[2-1]", NULL, -EINVAL },
		{ "n[a]", NULL, -EINVAL },
		{ "n[1-2-3]", NULL, -EINVAL },
		{ "n[1]x[2]", NULL, -EINVAL },
		{ "n[1-9999]", NULL, -ERANGE },
		{ "n[1-9999999999]", NULL, -EINVAL },
		{ "-n1", NULL, -EINVAL },
		{ "..", NULL, -EINVAL },
		{ "../x", NULL, -EINVAL },
		{ "n 1", NULL, -EINVAL },
		{ "n1;reboot", NULL, -EINVAL },
		{ "$(reboot)", NULL, -EINVAL },
		{ "n\n1", NULL, -EINVAL },
		{ "n%j", NULL, -EINVAL },
		{ "n1'", NULL, -EINVAL },
		{ "\303\244", NULL, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_hostlist list = { 0 };
		struct zm_why why = { "" };
		char text[256] = "";

		if (zm_hostlist_parse(cases[i].text, &list, &why) != cases[i].error)
			fail_msg("'%s': %s", cases[i].text, why.text);
		for (size_t k = 0; k < list.nr; k++) {
			size_t length = strlen(text);

			(void)snprintf(text + length, sizeof(text) - length, "%s%s", k ? " " : "",
				       list.names[k]);
		}
		assert_string_equal(text, cases[i].names ? cases[i].names : "");
		assert_int_equal(why.text[0] != '\0', cases[i].names == NULL);
		zm_hostlist_release(&list);
	}
}

static void test_long_names(void **state)
{
	char name[80];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[63] = '\0';
	assert_true(zm_hostlist_is_name(name));
	name[63] = 'a';
	name[64] = '\0';
	assert_false(zm_hostlist_is_name(name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
