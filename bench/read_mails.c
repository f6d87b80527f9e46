/*
 * read_mails: how long robots' mails take to be read.
 *
 *     read_mails [MAILS [KB]]      1,000 mails of 400 KB otherwise
 *
 * The mails are made up, eight different ones in every packing, and read in turns. Prints one JSON
 * object.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "results/report_mail.h"
#include "results/tests/mail_damage.h"
#include "workloads/base/clock.h"
#include "workloads/base/units.h"

#define NR_KINDS 8

/* A mail of about so many bytes: rows are 75 bytes long on average, over all tables. */
static char *make_mail(unsigned int kind, uint64_t bytes)
{
	struct zm_random random;
	struct made made;
	char *text;

	zm_random_init(&random, 1, kind);
	made_make(&random, (unsigned int)(bytes / 75 / 2), &made);
	text = pack(made_write(&made), &made, (enum packing)(kind % NR_PACKINGS));
	made_free(&made);
	if (text && strlen(text) > bytes && kind % NR_PACKINGS != MAIL_BASE64)
		text[bytes] = '\0';
	return text;
}

static int read_mail(const char *text, uint64_t *rows)
{
	struct zm_report_mail report;
	struct zm_why why;
	int r = zm_report_mail_read(text, strlen(text), &report, &why);

	if (r < 0) {
		(void)fprintf(stderr, "read_mails: %s\n", why.text);
		return r;
	}
	for (size_t i = 0; i < report.nr_records; i++)
		*rows += report.records[i]->nr_rows;
	zm_report_mail_release(&report);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t nr = 1000, kilobytes = 400, bytes = 0, rows = 0, begin_ns;
	char *mails[NR_KINDS];
	struct rusage usage;
	double seconds;

	if ((argc > 1 && zm_units_parse_u64(argv[1], &nr) < 0) ||
	    (argc > 2 && zm_units_parse_u64(argv[2], &kilobytes) < 0))
		return 2;
	for (unsigned int i = 0; i < NR_KINDS; i++) {
		mails[i] = make_mail(i, kilobytes * 1000);
		if (!mails[i])
			return 2;
	}
	begin_ns = zm_clock_now_ns();
	for (uint64_t i = 0; i < nr; i++) {
		bytes += strlen(mails[i % NR_KINDS]);
		if (read_mail(mails[i % NR_KINDS], &rows) < 0)
			return 1;
	}
	seconds = (double)(zm_clock_now_ns() - begin_ns) / 1e9;
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("{\"mails\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"rows\": %" PRIu64
	       ", \"seconds\": %.3f, \"MB/s\": %.1f, \"peak_kb\": %ld}\n",
	       nr, bytes, rows, seconds, (double)bytes / 1e6 / seconds, usage.ru_maxrss);
	for (unsigned int i = 0; i < NR_KINDS; i++)
		free(mails[i]);
	return 0;
}
