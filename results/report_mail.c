/* report_mail: mail -> texts -> draft -> report. */
#include "results/report_mail.h"

#include <errno.h>
#include <string.h>

#include "results/mail.h"
#include "results/report_draft.h"
#include "results/report_reader.h"

/* --- parts --- */

static bool is_called(const struct zm_mail_part *part, const char *name)
{
	return part->name && strncmp(part->name, name, strlen(name)) == 0;
}

/* The mail's own text, or an attachment that nobody named; also what was attached as text. */
static bool is_text(const struct zm_mail_part *part)
{
	return !part->name || !part->name[0] || strstr(part->name, ".txt") ||
	       strstr(part->name, ".eml") || is_called(part, "comparison");
}

static int read_lines(struct zm_draft *draft, const struct zm_mail_part *part,
		      void (*read)(struct zm_draft *draft, struct zm_mail_text *text))
{
	struct zm_mail_text text;
	int r = zm_mail_text_read(part->text, &text);

	if (r < 0)
		return r;
	read(draft, &text);
	zm_mail_text_release(&text);
	return 0;
}

/* A file that is a job and nothing else: no mail around it. */
static bool is_job(const struct zm_mail_part *part)
{
	return !memmem(part->text, part->length, "parameters:", 11) &&
	       !memmem(part->text, part->length, "/testcase", 9) &&
	       !memmem(part->text, part->length, "%stddev", 7);
}

static int read_part(struct zm_draft *draft, const struct zm_mail_part *part)
{
	struct zm_report_job job;

	if (is_called(part, "job") || (is_text(part) && is_job(part))) {
		if (zm_report_job_read(&draft->pool, part->text, part->length, &job)) {
			zm_report_draft_job(draft, &job);
			return 0;
		}
	}
	if (is_called(part, "reproduce"))
		return read_lines(draft, part, zm_report_reader_commands);
	if (is_text(part))
		return read_lines(draft, part, zm_report_reader_read);
	return 0;
}

/* --- the whole --- */

static void drop(struct zm_draft *draft, struct zm_mail *mail)
{
	zm_pool_release(&draft->pool);
	zm_mail_release(mail);
}

/* The rows' names lie in the mail's texts, so these go with the report. */
static void keep_texts(struct zm_report_mail *report, struct zm_mail *mail)
{
	report->texts = mail->pool;
	mail->pool = (struct zm_pool){ 0 };
	zm_mail_release(mail);
}

int zm_report_mail_read(const char *bytes, size_t length, struct zm_report_mail *ret_report,
			struct zm_why *why)
{
	struct zm_draft draft = { 0 };
	struct zm_mail mail;
	int r = zm_mail_read(bytes, length, &mail, why);

	if (r < 0)
		return r;
	if (mail.subject)
		zm_report_reader_subject(&draft, mail.subject);
	for (size_t i = 0; r == 0 && i < mail.nr_parts; i++)
		r = read_part(&draft, &mail.parts[i]);
	if (r == 0)
		r = zm_report_draft_finish(&draft, ret_report);
	if (r == 0) {
		keep_texts(ret_report, &mail);
		return 0;
	}
	drop(&draft, &mail);
	if (r == -ENOENT)
		return zm_why_set(why, r,
				  "this is no robot's report: neither a table, nor a test's "
				  "parameters, nor a job is in it");
	return zm_why_errno(why, r, "reading the report");
}

void zm_report_mail_release(struct zm_report_mail *report)
{
	zm_pool_release(&report->pool);
	zm_pool_release(&report->texts);
	*report = (struct zm_report_mail){ 0 };
}

const char *zm_mail_record_kind_name(enum zm_mail_record_kind kind)
{
	static const char *const names[] = { "table", "facts", "box", "job", "commands" };

	return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "";
}
