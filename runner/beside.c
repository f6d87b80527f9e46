/* beside: room for sides times cells; then each is filled in from the store. */
#include "runner/beside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare.h"
#include "results/format_compare.h"

/* --- the words --- */

static bool find_variant(const struct zm_mail_record *record, const char *word, size_t length,
			 unsigned int *ret_variant)
{
	for (unsigned int i = 0; i < record->nr_commits; i++) {
		const char *name =
			record->commits[i].name ? record->commits[i].name : record->commits[i].head;

		if (name && strlen(name) == length && memcmp(name, word, length) == 0) {
			*ret_variant = i;
			return true;
		}
	}
	return false;
}

/* Takes "patch9=" off. */
static const char *take_variant(const struct zm_mail_record *record, const char *word,
				unsigned int *ret_variant, bool *ret_named)
{
	const char *equals = strchr(word, '=');

	*ret_named = equals && find_variant(record, word, (size_t)(equals - word), ret_variant);
	return *ret_named ? equals + 1 : word;
}

static int place(const struct zm_mail_record *record, struct zm_beside_words *words,
		 const bool *are_named, struct zm_why *why)
{
	for (size_t i = 0; i < words->nr; i++) {
		if (are_named[i])
			continue;
		if (words->nr == record->nr_commits)
			words->variants[i] = (unsigned int)i;
		else if (words->nr == 2 || words->nr == 1)
			words->variants[i] = i == 0 ? 0 : record->nr_commits - 1;
		else
			return zm_why_set(why, -EINVAL,
					  "--measured: %s: which of the %u kernels there is it? "
					  "Say NAME=%s (%s=%s, say)",
					  words->words[i], record->nr_commits, words->words[i],
					  record->commits[0].name, words->words[i]);
	}
	return 0;
}

int zm_beside_parse(const char *list, const struct zm_mail_record *record,
		    struct zm_beside_words *ret_words, struct zm_why *why)
{
	struct zm_beside_words words = { .text = strdup(list) };
	bool are_named[ZM_COMPARE_SIDES];
	char *rest = words.text;
	int r = rest ? 0 : zm_why_errno(why, -ENOMEM, "--measured");

	while (r == 0 && rest) {
		const char *word = strsep(&rest, ",");

		if (words.nr == ZM_COMPARE_SIDES) {
			r = zm_why_set(why, -E2BIG, "--measured: at most %d kernels",
				       ZM_COMPARE_SIDES);
			break;
		}
		words.words[words.nr] =
			take_variant(record, word, &words.variants[words.nr], &are_named[words.nr]);
		if (!*words.words[words.nr])
			r = zm_why_set(why, -EINVAL, "--measured %s: an empty name", list);
		words.nr++;
	}
	if (r == 0)
		r = place(record, &words, are_named, why);
	if (r < 0)
		zm_beside_words_release(&words);
	else
		*ret_words = words;
	return r;
}

void zm_beside_words_release(struct zm_beside_words *words)
{
	free(words->text);
	*words = (struct zm_beside_words){ 0 };
}

/* --- which cell is which point's --- */

static size_t find_cell(const struct zm_plan *plan, uint64_t tasks)
{
	for (size_t i = 0; i < plan->nr_cells; i++) {
		if (plan->cells[i].nr_units == tasks)
			return i;
	}
	return ZM_VIEW_NO_CELL;
}

static void find_cells(struct zm_beside *beside, const struct zm_reproduce_options *options,
		       unsigned int nr_cpus, const struct zm_plan *plan)
{
	const struct zm_document_table *table = beside->view.table;

	beside->cells[0] = beside->view.document->form == ZM_DOCUMENT_SWEEP ? ZM_VIEW_NO_CELL : 0;
	for (size_t i = 0; i < table->nr_points; i++)
		beside->cells[i] =
			beside->view.document->is_option
				? find_cell(plan, zm_reproduce_tasks(&table->record, options,
								     nr_cpus, table->points[i]))
				: ZM_VIEW_NO_CELL;
	for (size_t i = 0; i < plan->nr_cells; i++)
		beside->titles[i] = plan->cells[i].title;
}

static int open_view(struct zm_beside *beside, const struct zm_document *document,
		     const struct zm_document_table *table, const struct zm_plan *plan,
		     size_t nr_sides, struct zm_why *why)
{
	*beside = (struct zm_beside){ 0 };
	beside->measured = calloc(nr_sides * plan->nr_cells + 1, sizeof(*beside->measured));
	beside->titles = calloc(plan->nr_cells + 1, sizeof(*beside->titles));
	beside->cells = calloc(table->nr_points + 1, sizeof(*beside->cells));
	beside->view = (struct zm_view){ .document = document,
					 .table = table,
					 .sides = beside->sides,
					 .nr_sides = nr_sides,
					 .titles = beside->titles,
					 .nr_cells = plan->nr_cells,
					 .measured = beside->measured,
					 .cells = beside->cells };
	if (beside->measured && beside->titles && beside->cells)
		return 0;
	zm_beside_release(beside);
	return zm_why_errno(why, -ENOMEM, "the documented figures");
}

void zm_beside_release(struct zm_beside *beside)
{
	size_t nr = beside->measured ? beside->view.nr_sides * beside->view.nr_cells : 0;

	for (size_t i = 0; i < nr; i++)
		zm_measured_release(&beside->measured[i]);
	free(beside->measured);
	free(beside->titles);
	free(beside->cells);
	*beside = (struct zm_beside){ 0 };
}

/* --- an invocation --- */

int zm_beside_run(struct zm_beside *beside, const struct zm_document *document,
		  const struct zm_document_table *table, const struct zm_reproduce_options *options,
		  const struct zm_invocation *invocation, struct zm_why *why)
{
	const struct zm_plan *plan = &invocation->plan;
	int r = open_view(beside, document, table, plan, 1, why);

	if (r < 0)
		return r;
	beside->sides[0] = (struct zm_view_side){ invocation->uname.release, 0 };
	find_cells(beside, options, (unsigned int)invocation->topology.nr_cpus, plan);
	for (size_t i = 0; r == 0 && i < plan->nr_cells; i++)
		r = zm_measured_read(invocation->session.store, invocation->uuid,
				     plan->cells[i].key, &beside->measured[i], why);
	if (r < 0)
		zm_beside_release(beside);
	return r;
}

/* --- a store --- */

static const struct zm_compare_cell *find_compared(const struct zm_compare *compare,
						   const char *key)
{
	for (size_t i = 0; i < compare->nr_cells; i++) {
		if (strcmp(compare->cells[i].cell, key) == 0)
			return &compare->cells[i];
	}
	return NULL;
}

static int take_compared(struct zm_beside *beside, const struct zm_compare *compare,
			 const struct zm_plan *plan, struct zm_why *why)
{
	bool has_any = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->nr_cells; i++) {
		const struct zm_compare_cell *cell = find_compared(compare, plan->cells[i].key);

		has_any |= cell != NULL;
		for (size_t side = 0; r == 0 && cell && side < beside->view.nr_sides; side++)
			r = zm_measured_take(cell, side,
					     &beside->measured[side * plan->nr_cells + i], why);
	}
	if (r == 0 && !has_any)
		r = zm_why_set(why, -ENODATA,
			       "--measured: these have no run of %s in common; run `zonemark "
			       "reproduce` on each kernel first, with a --label and the same "
			       "switches",
			       plan->cells[0].title);
	return r;
}

int zm_beside_stored(struct zm_beside *beside, const struct zm_document *document,
		     const struct zm_document_table *table,
		     const struct zm_reproduce_options *options, unsigned int nr_cpus,
		     const struct zm_plan *plan, struct zm_sides *sides,
		     const struct zm_beside_words *words, struct zm_why *why)
{
	const struct zm_compare_options rules = {
		.judge = { .alpha = 0.05, .power = 0.8, .margin = 0.01 },
	};
	struct zm_compare *compare = NULL;
	int r = open_view(beside, document, table, plan, sides->nr, why);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sides->nr; i++)
		beside->sides[i] = (struct zm_view_side){ sides->list[i].name, words->variants[i] };
	find_cells(beside, options, nr_cpus, plan);
	r = zm_compare_make(sides->list, sides->nr, &rules, &compare, why);
	if (r == 0) {
		beside->view.is_between_boots = zm_compare_any_between_boots(compare);
		r = take_compared(beside, compare, plan, why);
	}
	zm_compare_free(compare);
	if (r < 0)
		zm_beside_release(beside);
	return r;
}
