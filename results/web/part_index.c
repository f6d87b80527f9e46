/*
 * part_index: the pages themselves, from the assets.
 *
 *     <!--NAME--> in a page   what stands in its place: another asset (HEAD, TOP, CHARTS, HOW), or what is written
 *                             here: HEADLINE, CHANGES, FOOT
 *
 * The landing page says what changed without scripts: a sentence, and a table of the changes.
 */
#include "results/web/parts.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/json.h"
#include "results/table.h"
#include "results/web/assets.h"
#include "results/web/emit.h"

#define MOST_CHANGES 500

struct page {
	struct zm_making *making;
	const struct zm_nights *nights; /* only of the landing page */
	const struct zm_entry *entries;
	size_t nr_entries;
	const char *title, *script; /* of the others */
};

const char *zm_dashboard_charts(void)
{
	return zm_assets_charts ? zm_assets_charts : "drawn by the pages themselves";
}

static const struct zm_asset *find_asset(const char *name, size_t length)
{
	for (size_t i = 0; i < zm_nr_assets; i++) {
		if (strlen(zm_assets[i].name) == length &&
		    !strncmp(zm_assets[i].name, name, length))
			return &zm_assets[i];
	}
	return NULL;
}

static void put_asset(FILE *out, const char *name)
{
	const struct zm_asset *asset = find_asset(name, strlen(name));

	if (asset)
		(void)fwrite(asset->bytes, 1, asset->size, out);
}

static void put_foot(FILE *out, const struct zm_making *making)
{
	char when[32];

	(void)fprintf(out,
		      "<footer>Written by zonemark " ZM_VERSION " on %s. Charts: %s. "
		      "Nothing here is loaded from elsewhere.</footer>\n",
		      zm_json_time_text(when, sizeof(when), making->now_ns), zm_dashboard_charts());
}

/* --- the sentence --- */

static void put_count(FILE *out, size_t nr, const char *one, const char *many)
{
	(void)fprintf(out, "%zu %s", nr, nr == 1 ? one : many);
}

static void put_sentence(FILE *out, const struct zm_making *making)
{
	const struct zm_dashboard *result = &making->result;
	size_t nr = result->nr_worse + result->nr_better + result->nr_changed;
	const char *and = "";

	(void)fputs("<h1 id=\"headline\">", out);
	if (!nr && !result->nr_steady && result->nr_few) {
		(void)fputs("Too few nights to say whether anything changed.</h1>\n", out);
		return;
	}
	if (!nr) {
		(void)fprintf(out, "%s in the last %zu nights.</h1>\n",
			      result->nr_steady ? "Nothing changed" : "No change was seen",
			      making->options->recent);
		return;
	}
	put_count(out, nr, "figure", "figures");
	(void)fprintf(out, " changed in the last %zu nights: ", making->options->recent);
	if (result->nr_worse) {
		(void)fprintf(out, "<span class=\"worse\">%zu worse</span>", result->nr_worse);
		and = ", ";
	}
	if (result->nr_better) {
		(void)fprintf(out, "%s<span class=\"better\">%zu better</span>", and,
			      result->nr_better);
		and = ", ";
	}
	if (result->nr_changed)
		(void)fprintf(out, "%s<span class=\"changed\">%zu neither</span>", and,
			      result->nr_changed);
	(void)fputs(".</h1>\n", out);
}

static int compare_reals(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* What half of the steady figures would have shown. */
static int put_sensitivity(FILE *out, const struct page *page)
{
	double *seen = calloc(page->nr_entries + 1, sizeof(*seen));
	char text[48];
	size_t nr = 0;

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < page->nr_entries; i++) {
		const struct zm_standing *standing = &page->entries[i].standing;

		if (standing->kind == ZM_STANDING_STEADY && standing->judgement.is_ratio &&
		    isfinite(standing->judgement.detectable))
			seen[nr++] = standing->judgement.detectable;
	}
	qsort(seen, nr, sizeof(*seen), compare_reals);
	if (nr)
		(void)fprintf(out, " Half of the steady ones would have shown a change of %s.",
			      zm_table_percent(text, sizeof(text), seen[nr / 2]));
	free(seen);
	return 0;
}

static void put_tile(FILE *out, size_t nr, const char *class, const char *text)
{
	(void)fprintf(out, "<li><b%s%s%s>%zu</b><span>%s</span></li>\n", *class ? " class=\"" : "",
		      class, *class ? "\"" : "", nr, text);
}

static int put_headline(FILE *out, const struct page *page)
{
	const struct zm_making *making = page->making;
	const struct zm_dashboard *result = &making->result;
	char when[32];
	int error;

	(void)zm_json_time_text(when, sizeof(when), making->now_ns);
	(void)fprintf(out, "<p class=\"when\">As of %.10s %.5s UTC", when, when + 11);
	if (making->options->label) {
		(void)fputs(", runs labelled ", out);
		zm_emit_html(out, making->options->label);
	}
	(void)fputs("</p>\n", out);
	put_sentence(out, making);
	(void)fputs("<p class=\"lead\">", out);
	put_count(out, result->nr_primary, "figure on ", "figures on ");
	put_count(out, result->nr_machines, "machine", "machines");
	(void)fprintf(out, ", up to %zu nights.", result->nr_nights);
	error = put_sensitivity(out, page);
	(void)fputs("</p>\n<ul class=\"counts\" aria-label=\"Figures by verdict\">\n", out);
	put_tile(out, result->nr_worse, result->nr_worse ? "worse" : "", "worse");
	put_tile(out, result->nr_better, result->nr_better ? "better" : "", "better");
	if (result->nr_changed)
		put_tile(out, result->nr_changed, "changed", "changed");
	put_tile(out, result->nr_steady, "", "steady");
	put_tile(out, result->nr_few, "", "too few nights");
	put_tile(out, result->nr_failed, result->nr_failed ? "note" : "",
		 "failed in their last night");
	(void)fputs("</ul>\n", out);
	return error;
}

/* --- the changes --- */

struct shown {
	const struct zm_entry *entry;
	const struct zm_change_brief *change;
};

static int rank_of(enum zm_verdict verdict)
{
	return verdict == ZM_VERDICT_WORSE ? 0 : verdict == ZM_VERDICT_BETTER ? 1 : 2;
}

/* The worst first. */
static int compare_shown(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	double dx = fabs(x->change->judgement.change), dy = fabs(y->change->judgement.change);
	int order = rank_of(x->change->verdict) - rank_of(y->change->verdict);

	if (order == 0)
		order = (dx < dy) - (dx > dy);
	return order ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

static void put_change_text(FILE *out, double change, bool is_ratio)
{
	char text[48];

	if (isinf(change)) {
		(void)fputs(change < 0 ? "−∞" : "+∞", out);
		return;
	}
	(void)fputs(change < 0 ? "−" : "+", out);
	if (is_ratio)
		(void)fputs(zm_table_percent(text, sizeof(text), fabs(change)), out);
	else
		(void)fprintf(out, "%s points", zm_table_number(text, sizeof(text), fabs(change)));
}

static void put_value(FILE *out, double value)
{
	char text[48];

	zm_emit_html(out, zm_table_number(text, sizeof(text), value));
}

/* In an address: what is not a letter, a digit or one of these is written as its byte. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (isalnum(byte) || strchr("._-", byte))
			(void)fputc(byte, out);
		else
			(void)fprintf(out, "%%%02X", byte);
	}
}

static void put_what(FILE *out, const struct page *page, const struct shown *shown)
{
	const struct zm_making *making = page->making;
	const struct zm_group *group = &page->nights->groups[shown->entry->group];
	const struct zm_night_cell *cell = &making->names->cells[group->cell];
	const struct zm_night_metric *metric =
		&making->names->metrics[group->lines[shown->entry->line].metric];
	char id[ZM_GROUP_ID];

	(void)fprintf(out, "<th scope=\"row\"><a href=\"series.html?g=%s&amp;m=",
		      zm_group_id(id, making->names, group));
	put_escaped(out, metric->name);
	(void)fputs("\">", out);
	zm_emit_html(out, cell->workload);
	if (cell->words[0]) {
		(void)fputc(' ', out);
		zm_emit_html(out, cell->words);
	}
	(void)fputs("</a><small>", out);
	zm_emit_html(out, metric->name);
	(void)fputs("</small></th><td>", out);
	zm_emit_html(out, making->names->machines[group->machine]);
	(void)fputs("</td>", out);
}

static const char *state_text(enum zm_change_state state)
{
	return state == ZM_CHANGE_CONFIRMED ? "confirmed" : "not yet confirmed";
}

static void put_change(FILE *out, const struct page *page, const struct shown *shown)
{
	const struct zm_making *making = page->making;
	const struct zm_group *group = &page->nights->groups[shown->entry->group];
	const struct zm_change_brief *change = shown->change;
	const struct zm_judgement *judgement = &change->judgement;
	const struct zm_night *night = &group->nights[change->first];
	const char *verdict = zm_verdict_name(change->verdict);
	char when[32];

	(void)fprintf(out, "<tr data-verdict=\"%s\"><td class=\"%s\">%s</td>", verdict, verdict,
		      verdict);
	put_what(out, page, shown);
	(void)zm_json_time_text(when, sizeof(when), (uint64_t)night->day * 86400 * 1000000000);
	(void)fprintf(out, "<td class=\"n\">%.10s</td><td class=\"n\">", when);
	put_value(out, judgement->base);
	(void)fputs(" → ", out);
	put_value(out, judgement->new);
	(void)fputs("<small>", out);
	zm_emit_html(out, making->names->metrics[group->lines[shown->entry->line].metric].unit);
	(void)fputs("</small></td><td class=\"n\">", out);
	put_change_text(out, judgement->change, judgement->is_ratio);
	(void)fputs("<small>", out);
	put_change_text(out, judgement->low, judgement->is_ratio);
	(void)fputs(" … ", out);
	put_change_text(out, judgement->high, judgement->is_ratio);
	(void)fprintf(out, "</small></td><td>%s<small>%zu + %zu nights</small></td><td>",
		      state_text(change->state), judgement->nr_base, judgement->nr_new);
	zm_emit_html(out, making->names->kernels[night->kernel]);
	if (group->nights[change->before].kernel != night->kernel) {
		(void)fputs("<small>before: ", out);
		zm_emit_html(out, making->names->kernels[group->nights[change->before].kernel]);
		(void)fputs("</small>", out);
	}
	(void)fputs("</td></tr>\n", out);
}

static int collect(const struct page *page, struct shown **ret_list, size_t *ret_nr)
{
	struct shown *list;
	size_t nr = 0;

	for (size_t i = 0; i < page->nr_entries; i++)
		nr += page->entries[i].nr_changes;
	list = calloc(nr + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	*ret_nr = nr;
	nr = 0;
	for (size_t i = 0; i < page->nr_entries; i++) {
		for (size_t k = 0; k < page->entries[i].nr_changes; k++)
			list[nr++] =
				(struct shown){ &page->entries[i], &page->entries[i].changes[k] };
	}
	qsort(list, nr, sizeof(*list), compare_shown);
	*ret_list = list;
	return 0;
}

static int put_changes(FILE *out, const struct page *page)
{
	struct shown *list = NULL;
	size_t nr = 0;
	int error = collect(page, &list, &nr);

	if (error)
		return error;
	if (!nr)
		(void)fprintf(out, "<p>Nothing, in the last %zu nights.</p>\n",
			      page->making->options->recent);
	else
		(void)fputs(
			"<div class=\"box\" tabindex=\"0\" role=\"region\" "
			"aria-label=\"Changes\"><table id=\"changes-table\">\n"
			"<caption>The worst first</caption>\n<thead><tr>"
			"<th scope=\"col\">Verdict</th><th scope=\"col\">Figure</th>"
			"<th scope=\"col\">Machine</th><th scope=\"col\" class=\"n\">Since</th>"
			"<th scope=\"col\" class=\"n\">Before → after</th>"
			"<th scope=\"col\" class=\"n\">Change</th><th scope=\"col\">How sure</th>"
			"<th scope=\"col\">Kernel</th></tr></thead>\n<tbody>\n",
			out);
	for (size_t i = 0; i < nr && i < MOST_CHANGES; i++)
		put_change(out, page, &list[i]);
	if (nr)
		(void)fputs("</tbody></table></div>\n", out);
	if (nr > MOST_CHANGES)
		(void)fprintf(out, "<p>And %zu more, in the matrix.</p>\n", nr - MOST_CHANGES);
	free(list);
	return 0;
}

/* --- pages --- */

static bool is_mark(const char *mark, size_t length, const char *wanted)
{
	return strlen(wanted) == length && !strncmp(mark, wanted, length);
}

static int put_marked(FILE *out, const struct page *page, const char *mark, size_t length)
{
	static const struct {
		const char *mark, *asset;
	} assets[] = { { "HEAD", "head.html" }, { "TOP", "top.html" }, { "HOW", "how.html" } };

	for (size_t i = 0; i < sizeof(assets) / sizeof(assets[0]); i++) {
		if (is_mark(mark, length, assets[i].mark))
			put_asset(out, assets[i].asset);
	}
	if (is_mark(mark, length, "CHARTS") && zm_assets_charts)
		put_asset(out, "charts.html");
	else if (is_mark(mark, length, "TITLE"))
		(void)fputs(page->title, out);
	else if (is_mark(mark, length, "SCRIPT"))
		(void)fprintf(out, "<script src=\"%s\" defer></script>", page->script);
	else if (is_mark(mark, length, "FOOT"))
		put_foot(out, page->making);
	else if (is_mark(mark, length, "HEADLINE") && page->nights)
		return put_headline(out, page);
	else if (is_mark(mark, length, "CHANGES") && page->nights)
		return put_changes(out, page);
	return 0;
}

static int put_page(FILE *out, const struct page *page, const struct zm_asset *asset)
{
	const char *at = (const char *)asset->bytes, *end = at + asset->size;
	int error = 0;

	while (at < end && !error) {
		const char *mark = memmem(at, (size_t)(end - at), "<!--", 4);
		const char *close = mark ? memmem(mark, (size_t)(end - mark), "-->", 3) : NULL;

		(void)fwrite(at, 1, (size_t)((close ? mark : end) - at), out);
		if (!close)
			break;
		error = put_marked(out, page, mark + 4, (size_t)(close - mark) - 4);
		at = close + 3;
	}
	return error;
}

static int write_page(const struct page *page, const char *name, const char *asset_name)
{
	struct zm_making *making = page->making;
	const struct zm_asset *asset = find_asset(asset_name, strlen(asset_name));
	FILE *out;
	int error = asset ? zm_site_file(making->site, name, &out, making->why) : -ENOENT;

	if (error)
		return error;
	error = put_page(out, page, asset);
	if (!error)
		return zm_site_close(making->site, name, out, making->why);
	(void)fclose(out);
	return error;
}

/* What loads all it shows by scripts. */
static int write_others(struct zm_making *making)
{
	static const struct {
		const char *name, *title, *script;
	} others[] = {
		{ "series.html", "a figure over the nights", "series.js" },
		{ "compare.html", "two nights side by side", "compare.js" },
		{ "run.html", "a run", "run.js" },
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !error; i++) {
		const struct page page = { .making = making,
					   .title = others[i].title,
					   .script = others[i].script };

		error = write_page(&page, others[i].name, "page.html");
	}
	return error;
}

static int write_assets(struct zm_making *making)
{
	int error = 0;

	for (size_t i = 0; i < zm_nr_assets && !error; i++) {
		const char *name = zm_assets[i].name;

		if (strcmp(strrchr(name, '.'), ".html") != 0)
			error = zm_site_bytes(making->site, name, zm_assets[i].bytes,
					      zm_assets[i].size, making->why);
	}
	return error;
}

int zm_part_index(struct zm_making *making, const struct zm_nights *nights,
		  const struct zm_entry *entries, size_t nr)
{
	const struct page page = {
		.making = making, .nights = nights, .entries = entries, .nr_entries = nr
	};
	int error = write_assets(making);

	if (!error)
		error = write_others(making);
	return error ? error : write_page(&page, "index.html", "index.html");
}
