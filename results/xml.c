/* xml: the five characters that mean something there are written as what they are called. */
#include "results/xml.h"

#include "results/utf8.h"
#include "workloads/base/cleanup.h"

static const char *name_of(char character)
{
	switch (character) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void zm_xml_text(FILE *out, const char *text)
{
	zm_autofree char *printable = text ? zm_utf8_printable(text) : NULL;

	for (const char *at = printable ? printable : ""; *at; at++) {
		const char *name = name_of(*at);

		if (name)
			(void)fputs(name, out);
		else
			(void)fputc(*at, out);
	}
}
