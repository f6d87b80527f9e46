/*
 * beside: what was measured for a documented table, gathered for its view: of an invocation that has
 * just run, or of runs that a store has, one side per kernel.
 */
#ifndef ZM_RUNNER_BESIDE_H
#define ZM_RUNNER_BESIDE_H

#include "runner/document_view.h"
#include "runner/invocation.h"
#include "runner/reproduce.h"
#include "runner/side.h"

struct zm_beside {
	struct zm_view view; /* points into the rest */
	struct zm_view_side sides[ZM_COMPARE_SIDES];
	struct zm_measured *measured;
	const char **titles;
	size_t *cells;
};

/* The words of --measured: "base,new" or "base=old,patch9=new", a kernel of the table before the
 * '='; without one, two words are its first and its last kernel, and so many as it has are these. */
struct zm_beside_words {
	char *text; /* what the names lie in */
	const char *words[ZM_COMPARE_SIDES];
	unsigned int variants[ZM_COMPARE_SIDES];
	size_t nr;
};
int zm_beside_parse(const char *list, const struct zm_mail_record *record,
		    struct zm_beside_words *ret_words, struct zm_why *why);
void zm_beside_words_release(struct zm_beside_words *words);

/* Of an invocation. The document and its table must outlive it; all else is copied or read. */
int zm_beside_run(struct zm_beside *beside, const struct zm_document *document,
		  const struct zm_document_table *table, const struct zm_reproduce_options *options,
		  const struct zm_invocation *invocation, struct zm_why *why);

/* Of runs: `plan` says which cells are looked for; so it must outlive it, too. -ENODATA: the sides
 * have none of them. */
int zm_beside_stored(struct zm_beside *beside, const struct zm_document *document,
		     const struct zm_document_table *table,
		     const struct zm_reproduce_options *options, unsigned int nr_cpus,
		     const struct zm_plan *plan, struct zm_sides *sides,
		     const struct zm_beside_words *words, struct zm_why *why);

void zm_beside_release(struct zm_beside *beside);

#endif
