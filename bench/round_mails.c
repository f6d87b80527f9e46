/*
 * round_mails: mails with random parameters and random damage are read back to what was written; as many
 * as one has time for.
 *
 *     round_mails [MAILS [SEED]]      100,000 mails otherwise
 *
 * Prints one JSON object; at the first mail that is not what was written, its number and its text, and
 * exits with 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_mail.h"
#include "results/tests/mail_damage.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

static uint64_t round_now;
static const char *text_now;

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "mail %" PRIu64 ": %s\n%s\n", round_now, #condition, \
				      text_now);                                                   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#include "results/tests/mail_compare.h"

static uint64_t read_one(uint64_t seed)
{
	enum packing packing = (enum packing)(round_now % NR_PACKINGS);
	struct zm_random random;
	struct zm_report_mail report;
	struct made made;
	uint64_t length;
	char *text;

	zm_random_init(&random, seed, round_now);
	made_make(&random, 0, &made);
	text = pack(damage_some(made_write(&made), &random), &made, packing);
	text_now = text;
	length = strlen(text);
	must(zm_report_mail_read(text, length, &report, NULL) == 0);
	made_compare(&made, &report);
	zm_report_mail_release(&report);
	made_free(&made);
	free(text);
	return length;
}

int main(int argc, char **argv)
{
	uint64_t nr = 100000, seed = 1, bytes = 0, begin_ns = zm_clock_now_ns();

	if ((argc > 1 && zm_units_parse_u64(argv[1], &nr) < 0) ||
	    (argc > 2 && zm_units_parse_u64(argv[2], &seed) < 0))
		return 2;
	for (round_now = 0; round_now < nr; round_now++)
		bytes += read_one(seed);
	printf("{\"mails\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"seconds\": %.3f}\n", nr, bytes,
	       (double)(zm_clock_now_ns() - begin_ns) / 1e9);
	return 0;
}
