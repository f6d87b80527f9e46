/* xml: texts from anywhere between the marks of XML and HTML. */
#ifndef ZM_RESULTS_XML_H
#define ZM_RESULTS_XML_H

#include <stdio.h>

/* Escaped for an element and for an attribute in either quotes; printable (results/utf8.h). NULL: nothing. */
void zm_xml_text(FILE *out, const char *text);

#endif
