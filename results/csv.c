/* csv: fields of a row, as RFC 4180 has them. */
#include "results/csv.h"

#include <string.h>

void zm_csv_first(FILE *out, const char *text)
{
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		(void)fputs(text, out);
		return;
	}
	(void)fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			(void)fputc('"', out);
		(void)fputc(*text, out);
	}
	(void)fputc('"', out);
}

void zm_csv_next(FILE *out, const char *text)
{
	(void)fputc(',', out);
	zm_csv_first(out, text);
}

void zm_csv_end(FILE *out)
{
	(void)fputs("\r\n", out);
}
