/*
 * mail: the bytes of a mail, taken apart into texts.
 *
 *     header      Subject and what says how the body is encoded; a file may also be text alone
 *     multipart   part by part, within each other up to ZM_MAIL_DEPTH
 *     part        its encoding undone, its charset made UTF-8; an attachment has a name
 *
 * Bytes from anywhere: nothing is refused but what is too large; what is damaged is taken as it stands.
 * At most ZM_MAIL_PARTS parts are looked at, those that are no text are left out. Of a part that is
 * there as text and as HTML the text is taken; HTML alone loses its tags. Control characters, which could
 * do things to a terminal, become '?'.
 */
#ifndef ZM_RESULTS_MAIL_H
#define ZM_RESULTS_MAIL_H

#include <stddef.h>

#include "results/pool.h"
#include "workloads/base/why.h"

#define ZM_MAIL_BYTES ((size_t)32 << 20) /* at most */
#define ZM_MAIL_PARTS 64
#define ZM_MAIL_DEPTH 8

struct zm_mail_part {
	const char *name; /* of an attachment: "job.yaml"; NULL: the mail's own text */
	char *text;       /* terminated, without NUL bytes within; lines end in \n */
	size_t length;
};

struct zm_mail {
	const char *subject; /* NULL: not known */
	struct zm_mail_part parts[ZM_MAIL_PARTS];
	size_t nr_parts;
	struct zm_pool pool;
};

/* -EFBIG, -ENOMEM. */
int zm_mail_read(const char *bytes, size_t length, struct zm_mail *ret_mail, struct zm_why *why);
void zm_mail_release(struct zm_mail *mail);

#endif
