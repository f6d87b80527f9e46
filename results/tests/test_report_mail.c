/*
 * report_mail: what a generator wrote is read back, whatever happened to it on its way; wordings one by
 * one; what is no report.
 *
 * timeout: 120
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "results/report_mail.h"
#include "results/tests/mail_damage.h"

#define SEED   20240711
#define ROUNDS 1500

/* What failed, to find it again. */
static unsigned int round_now;
static const char *text_now;

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			print_message("round %u: %s\n%s\n", round_now, #condition, text_now);      \
			fail();                                                                    \
		}                                                                                  \
	} while (0)

#include "results/tests/mail_compare.h"

/* --- the round trip --- */

static void test_round_trip(void **state)
{
	struct zm_random random;

	(void)state;
	for (round_now = 0; round_now < ROUNDS; round_now++) {
		enum packing packing = (enum packing)(round_now % NR_PACKINGS);
		struct zm_report_mail report;
		struct zm_why why = { { 0 } };
		struct made made;
		char *text;

		zm_random_init(&random, SEED, round_now);
		made_make(&random, 0, &made);
		text = pack(damage_some(made_write(&made), &random), &made, packing);
		text_now = text;
		must(zm_report_mail_read(text, strlen(text), &report, &why) == 0);
		made_compare(&made, &report);
		if (packing == MAIL_PARTS)
			must(report.records[0]->machine.nr_nodes == 7);
		zm_report_mail_release(&report);
		made_free(&made);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
