/*
 * documented: a document of the catalogue as `reproduce` takes it: its tables as records, as if a mail
 * had them. A mail's record can be taken for a document, too.
 */
#ifndef ZM_RUNNER_DOCUMENTED_H
#define ZM_RUNNER_DOCUMENTED_H

#include "results/document.h"
#include "results/report_mail.h"

struct zm_documented {
	struct zm_document document;
	struct zm_report_mail report; /* a record per table; it has no pool of its own */
};

/* Does a word look like an id ("pcp-v3/kbuild"), or is it a file that is there? */
bool zm_documented_is_id(const char *word);

/* -ENOENT, with the nearest id. */
int zm_documented_open(const char *id, struct zm_documented *ret_documented, struct zm_why *why);
void zm_documented_release(struct zm_documented *documented);

/* What --monitor takes for its figures, of the monitors that this program has; NULL: as usual. */
const char *zm_documented_monitor(struct zm_document *document);

/* A document of one table, the record's. It is released as any; the record must outlive it. */
int zm_documented_of_record(const struct zm_mail_record *record, const char *name,
			    struct zm_document *ret_document, struct zm_why *why);

/* The largest change that its first figure shows between two of its kernels, as a share: what there is
 * to be seen in it. */
double zm_documented_effect(const struct zm_document *document);

#endif
