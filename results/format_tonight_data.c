/* format_tonight_data: a night for programs: JSON, JUnit's XML, OpenMetrics. */
#include "results/format_tonight.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "results/json.h"
#include "results/page.h"
#include "results/utf8.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

/* --- JSON --- */

static json_t *judgement_json(const struct zm_judgement *judgement)
{
	json_t *object = json_object();

	json_object_set_new(object, "method", json_string(zm_method_name(judgement->method)));
	json_object_set_new(object, "is_ratio", json_boolean(judgement->is_ratio));
	json_object_set_new(object, "values_before", json_integer((json_int_t)judgement->nr_base));
	json_object_set_new(object, "values_after", json_integer((json_int_t)judgement->nr_new));
	zm_json_set_real(object, "before", judgement->base);
	zm_json_set_real(object, "after", judgement->new);
	zm_json_set_real(object, "change", judgement->change);
	zm_json_set_real(object, "low", judgement->low);
	zm_json_set_real(object, "high", judgement->high);
	zm_json_set_real(object, "p", judgement->p);
	return object;
}

static json_t *change_json(const struct zm_tonight_row *row)
{
	const struct zm_change *change = row->change;
	const struct zm_nightly_night *first = &row->history->nights[change->first];
	json_t *object = json_object();

	json_object_set_new(object, "state", json_string(zm_change_state_name(change->state)));
	json_object_set_new(object, "first_run", json_integer((json_int_t)first->run));
	json_object_set_new(object, "first_night", zm_json_time(first->wall_ns));
	json_object_set_new(object, "kernel", zm_json_text(first->kernel));
	json_object_set_new(object, "nights", judgement_json(&change->nights));
	if (change->confirmation.nr_new)
		json_object_set_new(object, "confirmation", judgement_json(&change->confirmation));
	return object;
}

static json_t *row_json(const struct zm_tonight_row *row)
{
	const struct zm_nightly_history *history = row->history;
	json_t *object = json_object();

	json_object_set_new(object, "state", json_string(zm_tonight_state_name(row->state)));
	json_object_set_new(object, "workload", zm_json_text(history->workload));
	json_object_set_new(object, "cell", zm_json_parsed(history->cell));
	json_object_set_new(object, "words", zm_json_text(history->words));
	json_object_set_new(object, "metric", zm_json_text(history->metric));
	json_object_set_new(object, "unit", zm_json_text(history->unit));
	json_object_set_new(object, "better", json_string(zm_json_better(history->better)));
	json_object_set_new(object, "nights", json_integer((json_int_t)history->nr));
	json_object_set_new(object, "good_nights", json_integer((json_int_t)row->nr_usual));
	zm_json_set_real(object, "value", row->value);
	zm_json_set_real(object, "usual", row->usual);
	zm_json_set_real(object, "difference", row->difference);
	if (row->change)
		json_object_set_new(object, "change", change_json(row));
	return object;
}

static json_t *failure_json(const struct zm_tonight_failure *failure)
{
	json_t *object = json_object();

	json_object_set_new(object, "run", json_integer((json_int_t)failure->run));
	json_object_set_new(object, "cell", zm_json_text(failure->title));
	json_object_set_new(object, "status", json_string(failure->status));
	json_object_set_new(object, "reason", zm_json_text(failure->reason));
	return object;
}

static json_t *counts_json(const struct zm_tonight *tonight)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ZM_NR_TONIGHT_STATES; i++)
		json_object_set_new(object, zm_tonight_state_name((enum zm_tonight_state)i),
				    json_integer((json_int_t)tonight->nr_of[i]));
	return object;
}

int zm_format_tonight_json(const struct zm_tonight *tonight, FILE *out)
{
	json_t *object = json_object(), *figures = json_array(), *failures = json_array();
	int error;

	for (size_t i = 0; i < tonight->nr_rows; i++)
		json_array_append_new(figures, row_json(&tonight->rows[i]));
	for (size_t i = 0; i < tonight->nr_failures; i++)
		json_array_append_new(failures, failure_json(&tonight->failures[i]));
	json_object_set_new(object, "invocation", zm_json_text(tonight->invocation));
	json_object_set_new(object, "last_told", zm_json_text(tonight->last_told));
	json_object_set_new(object, "label", zm_json_text(tonight->label));
	json_object_set_new(object, "night", zm_json_time(tonight->wall_ns));
	json_object_set_new(object, "machine", zm_json_text(tonight->machine));
	json_object_set_new(object, "kernel", zm_json_text(tonight->kernel));
	json_object_set_new(object, "command_line", zm_json_text(tonight->command_line));
	zm_json_set_real(object, "clock_behind_s", tonight->behind_s);
	json_object_set_new(object, "counts", counts_json(tonight));
	json_object_set_new(object, "figures", figures);
	json_object_set_new(object, "failures", failures);
	error = json_dumpf(object, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	(void)fputc('\n', out);
	json_decref(object);
	return error < 0 && !ferror(out) ? -ENOMEM : 0;
}

/* --- JUnit --- */

static bool is_skipped(enum zm_tonight_state state)
{
	return state == ZM_TONIGHT_NEW || state == ZM_TONIGHT_ASKED;
}

/* What it says of a figure without a change. */
static void describe(char *buf, size_t size, const struct zm_tonight_row *row)
{
	char difference[48];

	if (row->change)
		(void)zm_tonight_sentence(buf, size, row);
	else
		(void)snprintf(buf, size, "%s: %s against %zu good nights",
			       zm_tonight_state_name(row->state),
			       zm_tonight_difference(difference, sizeof(difference), row->history,
						     row->difference),
			       row->nr_usual);
}

static void put_case(const struct zm_tonight_row *row, FILE *out)
{
	char title[512], text[768];
	const char *element = row->state == ZM_TONIGHT_WORSE ? "failure"
			      : is_skipped(row->state)       ? "skipped"
							     : NULL;

	describe(text, sizeof(text), row);
	(void)fputs("    <testcase classname=\"", out);
	zm_page_text(out, zm_tonight_title(title, sizeof(title), row->history));
	(void)fputs("\" name=\"", out);
	zm_page_text(out, row->history->metric);
	(void)fputs("\">", out);
	if (element)
		(void)fprintf(out, "<%s message=\"", element);
	else
		(void)fputs("<system-out>", out);
	zm_page_text(out, text);
	(void)fputs(element ? "\"/>" : "</system-out>", out);
	(void)fputs("</testcase>\n", out);
}

static void put_error_case(const struct zm_tonight_failure *failure, FILE *out)
{
	(void)fputs("    <testcase classname=\"", out);
	zm_page_text(out, failure->title);
	(void)fprintf(out, "\" name=\"run %" PRIu64 "\"><error message=\"%s: ", failure->run,
		      failure->status);
	zm_page_text(out, failure->reason);
	(void)fputs("\"/></testcase>\n", out);
}

int zm_format_tonight_junit(const struct zm_tonight *tonight, FILE *out)
{
	(void)fprintf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
		      "name=\"zonemark nightly\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		      "skipped=\"%zu\">\n",
		      tonight->nr_rows + tonight->nr_failures, tonight->nr_of[ZM_TONIGHT_WORSE],
		      tonight->nr_failures,
		      tonight->nr_of[ZM_TONIGHT_NEW] + tonight->nr_of[ZM_TONIGHT_ASKED]);
	for (size_t i = 0; i < tonight->nr_rows; i++)
		put_case(&tonight->rows[i], out);
	for (size_t i = 0; i < tonight->nr_failures; i++)
		put_error_case(&tonight->failures[i], out);
	(void)fputs("  </testsuite>\n</testsuites>\n", out);
	return 0;
}

/* --- OpenMetrics --- */

/* A label's value: backslash, quote and line end are escaped (line ends are gone already). */
static void put_label(FILE *out, const char *name, const char *text)
{
	zm_autofree char *printable = zm_utf8_printable(text);

	(void)fprintf(out, "%s=\"", name);
	for (const char *at = printable ? printable : ""; *at; at++) {
		if (*at == '\\' || *at == '"')
			(void)fputc('\\', out);
		(void)fputc(*at, out);
	}
	(void)fputc('"', out);
}

static void put_sample(const struct zm_tonight *tonight, const struct zm_tonight_row *row,
		       const char *name, double value, FILE *out)
{
	char number[32] = "";

	if (!isfinite(value))
		return;
	(void)zm_units_print_double(number, sizeof(number), value);
	(void)fprintf(out, "%s{", name);
	put_label(out, "machine", tonight->machine);
	put_label(out, ",workload", row->history->workload);
	put_label(out, ",cell", row->history->words);
	put_label(out, ",metric", row->history->metric);
	put_label(out, ",unit", row->history->unit);
	put_label(out, ",state", zm_tonight_state_name(row->state));
	(void)fprintf(out, "} %s\n", number);
}

static double value_of(const struct zm_tonight_row *row)
{
	return row->value;
}

static double usual_of(const struct zm_tonight_row *row)
{
	return row->usual;
}

static double difference_of(const struct zm_tonight_row *row)
{
	return row->difference;
}

int zm_format_tonight_openmetrics(const struct zm_tonight *tonight, FILE *out)
{
	static const struct {
		const char *name, *help;
		double (*value)(const struct zm_tonight_row *row);
	} families[] = {
		{ "zonemark_night_value", "The night's value of a figure.", value_of },
		{ "zonemark_night_usual", "The median of the good nights before.", usual_of },
		{ "zonemark_night_difference",
		  "Tonight against usual: a share, or points of a percentage.", difference_of },
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		(void)fprintf(out, "# TYPE %s gauge\n# HELP %s %s\n", families[i].name,
			      families[i].name, families[i].help);
		for (size_t k = 0; k < tonight->nr_rows; k++)
			put_sample(tonight, &tonight->rows[k], families[i].name,
				   families[i].value(&tonight->rows[k]), out);
	}
	(void)fputs("# TYPE zonemark_night_figures gauge\n"
		    "# HELP zonemark_night_figures How many figures of the night are in which "
		    "state.\n",
		    out);
	for (size_t i = 0; i < ZM_NR_TONIGHT_STATES; i++)
		(void)fprintf(out, "zonemark_night_figures{state=\"%s\"} %zu\n",
			      zm_tonight_state_name((enum zm_tonight_state)i), tonight->nr_of[i]);
	(void)fprintf(out,
		      "# TYPE zonemark_night_failed_runs gauge\n"
		      "# HELP zonemark_night_failed_runs Runs without a result.\n"
		      "zonemark_night_failed_runs %zu\n"
		      "# TYPE zonemark_night_begun_seconds gauge\n"
		      "# UNIT zonemark_night_begun_seconds seconds\n"
		      "# HELP zonemark_night_begun_seconds When the night began, by the machine's "
		      "clock.\n"
		      "zonemark_night_begun_seconds %.3f\n# EOF\n",
		      tonight->nr_failures, (double)tonight->wall_ns / 1e9);
	return 0;
}
