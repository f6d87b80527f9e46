/*
 * report_table: tokens, and a matcher that tries both readings of what is ambiguous.
 *
 *     row   = value *( change value ) metric
 *     value = number [ ± percent ]       where the ± is gone, an unsigned percentage is a stddev
 *     fails = ratio *( percent ratio ) metric
 */
#include "results/report_table.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "workloads/base/units.h"

#define METRIC_SIZE 1024
#define MATCH_STEPS 256 /* values looked at for one row, over all readings of it */

/* --- numbers --- */

/* Digits as a whole number, as long as they fit; the others count as tens in *exponent. */
static size_t take_digits(const char *text, size_t length, uint64_t *mantissa, int *exponent)
{
	size_t n = 0;

	for (; n < length && isdigit((unsigned char)text[n]); n++) {
		if (*mantissa < UINT64_C(900000000000000000))
			*mantissa = *mantissa * 10 + (uint64_t)(text[n] - '0');
		else
			(*exponent)++;
	}
	return n;
}

static size_t take_exponent(const char *text, size_t length, int *exponent)
{
	size_t n = 1, digits;
	uint64_t value = 0;
	int overflow = 0;
	bool is_negative;

	if (length < 2 || (text[0] != 'e' && text[0] != 'E'))
		return 0;
	is_negative = text[n] == '-';
	n += is_negative || text[n] == '+';
	digits = take_digits(text + n, length - n, &value, &overflow);
	if (digits == 0 || digits > 4)
		return 0;
	*exponent += is_negative ? -(int)value : (int)value;
	return n + digits;
}

/* Exact where a double can hold both parts; else by the parser that always is. */
static double scale(const char *text, size_t length, uint64_t mantissa, int exponent)
{
	static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
				       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	char copy[64];
	double value;

	if (mantissa < UINT64_C(1) << 53 && exponent >= 0 && exponent <= 22)
		return (double)mantissa * tens[exponent];
	if (mantissa < UINT64_C(1) << 53 && exponent < 0 && exponent >= -22)
		return (double)mantissa / tens[-exponent];
	if (length < sizeof(copy)) {
		memcpy(copy, text, length);
		copy[length] = '\0';
		if (zm_units_parse_double(copy, &value) == 0)
			return value;
	}
	return exponent > 0 ? HUGE_VAL : 0;
}

bool zm_report_table_number(const char *text, size_t length, double *ret_number, size_t *ret_length)
{
	size_t sign = length > 0 && (text[0] == '+' || text[0] == '-'), n = sign, digits;
	uint64_t mantissa = 0;
	int exponent = 0, point;

	if (length - n >= 3 && strncasecmp(text + n, "inf", 3) == 0) {
		*ret_number = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
		*ret_length = n + 3;
		return true;
	}
	if (length - n >= 3 && strncasecmp(text + n, "nan", 3) == 0) {
		*ret_number = NAN;
		*ret_length = n + 3;
		return true;
	}
	digits = take_digits(text + n, length - n, &mantissa, &exponent);
	if (digits == 0)
		return false;
	n += digits;
	if (n + 1 < length && text[n] == '.' && isdigit((unsigned char)text[n + 1])) {
		point = 0;
		digits = take_digits(text + n + 1, length - n - 1, &mantissa, &point);
		exponent += point - (int)(digits > 300 ? 300 : digits);
		n += digits + 1;
	}
	n += take_exponent(text + n, length - n, &exponent);
	*ret_number = scale(text + sign, n - sign, mantissa, exponent);
	if (text[0] == '-')
		*ret_number = -*ret_number;
	*ret_length = n;
	return true;
}

/* --- tokens --- */

/* How long a ± at the beginning is, in any of the forms that mails make of it; 0: none is there. What
 * charsets make of it is one or more letters that are not ASCII, which nothing else here begins with. */
static size_t mark_length(const char *text, size_t length)
{
	static const char *const marks[] = { "A+-", "+/-", "+-", "~", "?" };
	size_t letters = 0;

	while (letters < length &&
	       ((unsigned char)text[letters] >= 0x80 || (letters > 0 && text[letters] == '?')))
		letters++;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t n = strlen(marks[i]);

		if (n <= length - letters && memcmp(text + letters, marks[i], n) == 0)
			return letters + n;
	}
	return letters;
}

/* "3:6" or ":6", and nothing behind it. */
static bool read_ratio(struct zm_mail_token *token)
{
	const char *colon = memchr(token->text, ':', token->length);
	size_t before = colon ? (size_t)(colon - token->text) : 0, n = 0;
	size_t after = token->length - before - (colon != NULL);

	if (!colon || after == 0 || !isdigit((unsigned char)colon[1]))
		return false;
	if (before > 0 &&
	    (!zm_report_table_number(token->text, before, &token->number, &n) || n != before))
		return false;
	if (!zm_report_table_number(colon + 1, after, &token->runs, &n) || n != after)
		return false;
	token->kind = ZM_TOKEN_RATIO;
	return true;
}

/* Of "12.5%~3%" only the number is this token; returns how long it is. */
static size_t read_number(struct zm_mail_token *token)
{
	size_t n;

	if (!zm_report_table_number(token->text, token->length, &token->number, &n))
		return 0;
	token->is_signed = token->text[0] == '+' || token->text[0] == '-';
	token->is_percent = n < token->length && token->text[n] == '%';
	n += token->is_percent;
	if (n < token->length && mark_length(token->text + n, token->length - n) == 0)
		return 0;
	token->kind = ZM_TOKEN_NUMBER;
	return n;
}

static void read_token(struct zm_mail_token *token)
{
	size_t n = read_number(token);

	if (n > 0)
		token->length = n;
	else if (!read_ratio(token))
		token->kind = ZM_TOKEN_WORD;
}

size_t zm_report_table_tokens(char *line, struct zm_mail_token *ret_tokens, size_t max)
{
	bool is_marked = false;
	size_t nr = 0;
	char *at = line;

	while (nr < max) {
		struct zm_mail_token *token = &ret_tokens[nr];
		size_t length, mark;

		at += strspn(at, " \t\r\n\f\v");
		length = strcspn(at, " \t\r\n\f\v");
		if (length == 0)
			break;
		mark = mark_length(at, length);
		if (mark > 0 &&
		    (mark == length || isdigit((unsigned char)at[mark]) || at[mark] == '-')) {
			is_marked = true;
			at += mark;
			length -= mark;
		}
		if (length == 0)
			continue;
		*token = (struct zm_mail_token){ .text = at, .length = length };
		read_token(token);
		token->is_marked = is_marked && token->is_percent;
		is_marked = false;
		at += token->length;
		nr++;
	}
	return nr;
}

bool zm_report_table_is_dashes(const char *text, size_t length)
{
	if (length < 14 || length > 28)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] != '-')
			return false;
	}
	return true;
}

/* --- rows --- */

struct matcher {
	const struct zm_mail_token *tokens;
	size_t nr_tokens;
	unsigned int nr_columns; /* 0: as many as there are */
	struct zm_mail_cell *cells;
	unsigned int nr_steps;
	unsigned int found; /* columns */
	size_t used;
};

static bool has_letter(const struct zm_mail_token *token)
{
	for (size_t i = 0; i < token->length; i++) {
		if (isalpha((unsigned char)token->text[i]))
			return true;
	}
	return false;
}

/* Names have a dot in them: "netperf.workload". */
static bool is_metric(const struct zm_mail_token *token)
{
	return token->kind == ZM_TOKEN_WORD && token->length < METRIC_SIZE &&
	       memchr(token->text, '.', token->length) && has_letter(token) &&
	       (isalnum((unsigned char)token->text[0]) || strchr("_[(", token->text[0]));
}

static bool is_number(const struct matcher *matcher, size_t at)
{
	return at < matcher->nr_tokens && matcher->tokens[at].kind == ZM_TOKEN_NUMBER;
}

static bool is_value(const struct matcher *matcher, size_t at)
{
	return is_number(matcher, at) && !matcher->tokens[at].is_percent &&
	       (!matcher->tokens[at].is_signed || matcher->tokens[at].text[0] == '-');
}

static bool is_change(const struct matcher *matcher, size_t at)
{
	return is_number(matcher, at) && matcher->tokens[at].is_signed &&
	       !matcher->tokens[at].is_marked;
}

static bool is_stddev(const struct matcher *matcher, size_t at)
{
	return is_number(matcher, at) && matcher->tokens[at].is_percent;
}

static enum zm_mail_match match_value(struct matcher *matcher, size_t at, unsigned int column);

/* What comes behind a column: the next one's change, or the name. */
static enum zm_mail_match match_rest(struct matcher *matcher, size_t at, unsigned int column)
{
	bool may_go_on = column + 1 < (matcher->nr_columns ? matcher->nr_columns : ZM_MAIL_COLUMNS);
	bool may_end = matcher->nr_columns ? column + 1 == matcher->nr_columns : column >= 1;

	if (at == matcher->nr_tokens)
		return ZM_MATCH_BEGINS;
	if (may_end && is_metric(&matcher->tokens[at])) {
		matcher->found = column + 1;
		matcher->used = at + 1;
		return ZM_MATCH_WHOLE;
	}
	if (!may_go_on || !is_change(matcher, at))
		return ZM_MATCH_NO;
	matcher->cells[column + 1].change = matcher->tokens[at].number;
	matcher->cells[column + 1].is_percent = matcher->tokens[at].is_percent;
	return match_value(matcher, at + 1, column + 1);
}

/* A marked or unsigned percentage can only be a stddev; a signed one is the change, unless no row
 * comes of it. */
static enum zm_mail_match match_value(struct matcher *matcher, size_t at, unsigned int column)
{
	struct zm_mail_cell *cell = &matcher->cells[column];
	enum zm_mail_match match;

	if (at == matcher->nr_tokens)
		return ZM_MATCH_BEGINS;
	if (!is_value(matcher, at) || matcher->nr_steps++ > MATCH_STEPS)
		return ZM_MATCH_NO;
	cell->value = matcher->tokens[at].number;
	cell->stddev = NAN;
	at++;
	if (!is_stddev(matcher, at))
		return match_rest(matcher, at, column);
	if (matcher->tokens[at].is_signed && !matcher->tokens[at].is_marked) {
		match = match_rest(matcher, at, column);
		if (match != ZM_MATCH_NO)
			return match;
	}
	cell->stddev = matcher->tokens[at].number < 0 ? NAN : matcher->tokens[at].number;
	return match_rest(matcher, at + 1, column);
}

/* "1:4  25%  2:4 name": every token but the percentages is a ratio. */
static enum zm_mail_match match_fails(struct matcher *matcher)
{
	const struct zm_mail_token *tokens = matcher->tokens;
	size_t at = 0;

	for (unsigned int column = 0; column < ZM_MAIL_COLUMNS; column++) {
		if (column > 0) {
			if (at == matcher->nr_tokens)
				return ZM_MATCH_BEGINS;
			if (is_metric(&tokens[at])) {
				matcher->found = column;
				matcher->used = at + 1;
				return column < 2 || (matcher->nr_columns &&
						      matcher->nr_columns != column)
					       ? ZM_MATCH_NO
					       : ZM_MATCH_WHOLE;
			}
			if (!is_number(matcher, at) || !tokens[at].is_percent)
				return ZM_MATCH_NO;
			matcher->cells[column].change = tokens[at++].number;
			matcher->cells[column].is_percent = true;
		}
		if (at == matcher->nr_tokens)
			return ZM_MATCH_BEGINS;
		if (tokens[at].kind != ZM_TOKEN_RATIO)
			return ZM_MATCH_NO;
		matcher->cells[column].value = tokens[at].number;
		matcher->cells[column].runs = tokens[at++].runs;
		matcher->cells[column].stddev = NAN;
	}
	return ZM_MATCH_NO;
}

enum zm_mail_match zm_report_table_match(const struct zm_mail_token *tokens, size_t nr_tokens,
					 unsigned int nr_columns, struct zm_mail_cell *ret_cells,
					 unsigned int *ret_nr_columns, size_t *ret_used)
{
	struct matcher matcher = { .tokens = tokens,
				   .nr_tokens = nr_tokens,
				   .nr_columns = nr_columns,
				   .cells = ret_cells };
	enum zm_mail_match match = ZM_MATCH_NO;

	if (nr_tokens == 0)
		return ZM_MATCH_NO;
	ret_cells[0] = (struct zm_mail_cell){ .change = NAN };
	for (unsigned int i = 1; i < ZM_MAIL_COLUMNS; i++)
		ret_cells[i] = ret_cells[0];
	if (tokens[0].kind == ZM_TOKEN_NUMBER)
		match = match_value(&matcher, 0, 0);
	else if (tokens[0].kind == ZM_TOKEN_RATIO)
		match = match_fails(&matcher);
	if (match == ZM_MATCH_WHOLE) {
		*ret_nr_columns = matcher.found;
		*ret_used = matcher.used;
	}
	return match;
}
