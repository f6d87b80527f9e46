/*
 * page: the frame of an HTML page, and what its sections are made of.
 *
 * Colours are pairs with a contrast of 4.5 or more on both grounds (WCAG 2.2, AA): #1a1d21 on white 16.9,
 * #4a5057 on white 8.2, #e8eaed on #14171a 14.9, #b4bac2 on #14171a 9.2, links #0b57d0 and #8ab4f8. No
 * verdict is told by colour alone: its word stands there.
 */
#include "results/page.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/utf8.h"
#include "workloads/base/cleanup.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<style>\n"
	":root{--ground:#fff;--ink:#1a1d21;--soft:#4a5057;--line:#8a9099;--link:#0b57d0}\n"
	"@media (prefers-color-scheme:dark){:root{--ground:#14171a;--ink:#e8eaed;--soft:#b4bac2;"
	"--line:#767d86;--link:#8ab4f8}}\n"
	"body{margin:0 auto;max-width:75rem;padding:1rem;background:var(--ground);"
	"color:var(--ink);font:1rem/1.5 system-ui,sans-serif}\n"
	"a{color:var(--link)}\n"
	".wide{overflow-x:auto}\n"
	"table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}\n"
	"caption{text-align:left;font-weight:600;padding:.25rem 0;min-width:18rem}\n"
	"th,td{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
	"vertical-align:top}\n"
	"th{color:var(--soft)}\n"
	"td{overflow-wrap:break-word;max-width:22rem}\n"
	".n{text-align:right}\n"
	"td.n{white-space:nowrap}\n"
	"summary{cursor:pointer;padding:.3rem 0}\n"
	"pre{overflow-x:auto;border:1px solid var(--line);padding:.6rem}\n"
	"img{height:auto;background:#fff}\n"
	"@media print{.wide{overflow:visible}img{max-width:100%}td{overflow-wrap:anywhere}}\n"
	"</style>\n<title>";

void zm_page_begin(FILE *out, const char *title)
{
	(void)fputs(head, out);
	zm_page_text(out, title);
	(void)fputs("</title>\n</head>\n<body>\n<main>\n", out);
	zm_page_element(out, "h1", title);
}

void zm_page_end(FILE *out)
{
	(void)fputs("</main>\n</body>\n</html>\n", out);
}

static void put_letter(FILE *out, char letter)
{
	static const struct {
		char letter;
		const char *entity;
	} entities[] = { { '&', "&amp;" },
			 { '<', "&lt;" },
			 { '>', "&gt;" },
			 { '"', "&quot;" },
			 { '\'', "&#39;" } };

	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
		if (letter == entities[i].letter) {
			(void)fputs(entities[i].entity, out);
			return;
		}
	}
	(void)fputc(letter, out);
}

void zm_page_text(FILE *out, const char *text)
{
	zm_autofree char *printable = text ? zm_utf8_printable(text) : NULL;

	for (const char *at = printable; at && *at; at++)
		put_letter(out, *at);
}

void zm_page_element(FILE *out, const char *name, const char *text)
{
	(void)fprintf(out, "<%s>", name);
	zm_page_text(out, text);
	(void)fprintf(out, "</%s>\n", name);
}

/* --- tables --- */

void zm_page_table_begin(struct zm_page_table *table, FILE *out, const char *caption,
			 const struct zm_column *columns, size_t nr_columns)
{
	*table = (struct zm_page_table){ .out = out, .columns = columns, .nr_columns = nr_columns };
	(void)fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"", out);
	zm_page_text(out, caption);
	(void)fputs("\"><table>\n", out);
	zm_page_element(out, "caption", caption);
	(void)fputs("<thead><tr>", out);
	for (size_t i = 0; i < nr_columns; i++) {
		(void)fprintf(out, "<th scope=\"col\"%s>",
			      columns[i].is_right ? " class=\"n\"" : "");
		zm_page_text(out, columns[i].title);
		(void)fputs("</th>", out);
	}
	(void)fputs("</tr></thead>\n<tbody>\n", out);
}

void zm_page_cell(struct zm_page_table *table, const char *format, ...)
{
	zm_autofree char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		text = NULL;
	if (table->at == 0)
		(void)fputs("<tr>", table->out);
	(void)fputs(table->columns[table->at].is_right ? "<td class=\"n\">" : "<td>", table->out);
	zm_page_text(table->out, text);
	(void)fputs("</td>", table->out);
	if (++table->at == table->nr_columns) {
		(void)fputs("</tr>\n", table->out);
		table->at = 0;
	}
}

void zm_page_figure(struct zm_page_table *table, double value)
{
	char text[64];

	zm_page_cell(table, "%s", zm_table_number(text, sizeof(text), value));
}

void zm_page_table_end(struct zm_page_table *table)
{
	(void)fputs("</tbody></table></div>\n", table->out);
}

/* --- pictures --- */

static void put_base64(FILE *out, const unsigned char *bytes, size_t nr)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < nr; i += 3) {
		size_t left = nr - i;
		uint32_t three = (uint32_t)bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes[i + 2] : 0u);

		(void)fputc(letters[three >> 18], out);
		(void)fputc(letters[three >> 12 & 63], out);
		(void)fputc(left > 1 ? letters[three >> 6 & 63] : '=', out);
		(void)fputc(left > 2 ? letters[three & 63] : '=', out);
	}
}

void zm_page_picture(FILE *out, const char *svg, size_t length, const char *description)
{
	(void)fputs("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Picture\">"
		    "<img alt=\"",
		    out);
	zm_page_text(out, description);
	(void)fputs("\" src=\"data:image/svg+xml;base64,", out);
	put_base64(out, (const unsigned char *)svg, length);
	(void)fputs("\"></div>\n", out);
}
