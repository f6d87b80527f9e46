/* matrix_set: lists that grow in a pool; documents in the order of what can be seen in them. */
#include "runner/matrix_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_fields.h"
#include "runner/documented.h"
#include "workloads/base/cleanup.h"

/* --- lists --- */

struct zm_matrix_line *zm_matrix_set_add(struct zm_matrix_set *set)
{
	struct zm_matrix_line *list =
		zm_report_fields_grow(&set->pool, set->lines, set->nr_lines, sizeof(*list));

	if (!list)
		return NULL;
	set->lines = list;
	list[set->nr_lines] = (struct zm_matrix_line){ 0 };
	return &list[set->nr_lines++];
}

void zm_matrix_line_add(struct zm_matrix_set *set, struct zm_matrix_line *line, const char *word)
{
	const char **list =
		line ? zm_report_fields_grow(&set->pool, line->words, line->nr_words, sizeof(*list))
		     : NULL;

	if (!list)
		return;
	line->words = list;
	list[line->nr_words++] = zm_pool_text(&set->pool, word);
}

void zm_matrix_set_remark(struct zm_matrix_set *set, const char *remark)
{
	const char **list;

	for (size_t i = 0; i < set->nr_remarks; i++) {
		if (strcmp(set->remarks[i], remark) == 0)
			return;
	}
	list = zm_report_fields_grow(&set->pool, set->remarks, set->nr_remarks, sizeof(*list));
	remark = list ? zm_pool_text(&set->pool, remark) : NULL;
	if (!remark)
		return;
	set->remarks = list;
	list[set->nr_remarks++] = remark;
}

void zm_matrix_set_release(struct zm_matrix_set *set)
{
	zm_pool_release(&set->pool);
	*set = (struct zm_matrix_set){ 0 };
}

/* --- reproductions --- */

/* Two lines that are the same runs are one. */
static bool has_line(const struct zm_matrix_set *set, const struct zm_reproduction *reproduction)
{
	for (size_t i = 0; i < set->nr_lines; i++) {
		const struct zm_matrix_line *line = &set->lines[i];
		bool is_same = line->nr_words == reproduction->nr_words;

		for (size_t k = 0; is_same && k < line->nr_words; k++)
			is_same = strcmp(line->words[k], reproduction->words[k]) == 0;
		if (is_same)
			return true;
	}
	return false;
}

void zm_matrix_set_take(struct zm_matrix_set *set, const struct zm_reproduction *reproduction,
			const char *name, const char *where, const char *monitor)
{
	struct zm_matrix_line *line;
	char remark[512];

	if (!reproduction->workload) {
		(void)snprintf(remark, sizeof(remark), "%s is left out: %s", name,
			       reproduction->reason);
		zm_matrix_set_remark(set, remark);
		return;
	}
	for (size_t i = 0; i < reproduction->nr_remarks; i++) {
		if (strncmp(reproduction->remarks[i], "left out:", 9) != 0)
			continue;
		(void)snprintf(remark, sizeof(remark), "%s: %s", name, reproduction->remarks[i]);
		zm_matrix_set_remark(set, remark);
	}
	if (has_line(set, reproduction))
		return;
	line = zm_matrix_set_add(set);
	for (size_t i = 0; line && i < reproduction->nr_words; i++)
		zm_matrix_line_add(set, line, reproduction->words[i]);
	if (line) {
		line->where = zm_pool_text(&set->pool, where);
		line->monitor = zm_pool_text(&set->pool, monitor);
	}
}

/* --- the documented catalogue --- */

struct entry {
	struct zm_documented documented;
	double effect;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->effect != y->effect)
		return x->effect > y->effect ? -1 : 1;
	return strcmp(x->documented.document.id, y->documented.document.id);
}

static int take_document(const struct zm_cell_context *context,
			 const struct zm_workload *const *workloads, struct zm_document *document,
			 struct zm_matrix_set *set, struct zm_why *why)
{
	const struct zm_reproduce_here here = { context->root, context->topology, NULL, workloads };
	const struct zm_reproduce_options options = { .scaled = &document->scaled };
	int r = 0;

	for (size_t i = 0; r == 0 && i < document->nr_tables; i++) {
		struct zm_reproduction reproduction;

		r = zm_reproduce_make(&document->tables[i].record, &here, &options, &reproduction,
				      why);
		if (r < 0)
			break;
		zm_matrix_set_take(set, &reproduction, document->id, NULL,
				   zm_documented_monitor(document));
		zm_reproduction_release(&reproduction);
	}
	return r;
}

static int open_entries(const char *id, struct entry **ret_entries, size_t *ret_nr,
			struct zm_why *why)
{
	struct entry *entries;
	size_t nr = 0;
	int r = 0;

	while (zm_documented_files[nr].id)
		nr++;
	entries = calloc(nr + 1, sizeof(*entries));
	if (!entries)
		return zm_why_errno(why, -ENOMEM, "the documented catalogue");
	nr = 0;
	for (size_t i = 0; r == 0 && zm_documented_files[i].id; i++) {
		const char *name = zm_documented_files[i].id;

		if (id && strcmp(id, name) != 0)
			continue;
		r = zm_documented_open(name, &entries[nr].documented, why);
		if (r == 0) {
			entries[nr].effect = zm_documented_effect(&entries[nr].documented.document);
			nr++;
		}
	}
	if (nr > 1)
		qsort(entries, nr, sizeof(*entries), compare_entries);
	*ret_entries = entries;
	*ret_nr = nr;
	return r;
}

int zm_matrix_set_documented(const struct zm_cell_context *context,
			     const struct zm_workload *const *workloads, const char *id,
			     struct zm_matrix_set *ret_set, struct zm_why *why)
{
	struct zm_matrix_set set = { 0 };
	struct entry *entries = NULL;
	size_t nr = 0;
	int r;

	if (!context->root || !context->topology)
		return zm_why_set(why, -ENOTSUP, "documented tables are scaled to a machine");
	r = open_entries(id, &entries, &nr, why);
	for (size_t i = 0; r == 0 && i < nr; i++)
		r = take_document(context, workloads, &entries[i].documented.document, &set, why);
	for (size_t i = 0; i < nr; i++)
		zm_documented_release(&entries[i].documented);
	free(entries);
	if (r == 0 && set.pool.error)
		r = zm_why_errno(why, set.pool.error, "the documented catalogue");
	if (r == 0 && set.nr_lines == 0)
		r = zm_why_set(why, -ENOPKG, "%s",
			       set.nr_remarks ? set.remarks[0] : "nothing is documented");
	if (r < 0)
		zm_matrix_set_release(&set);
	else
		*ret_set = set;
	return r;
}
