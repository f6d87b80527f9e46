/* csv: fields of a row, as RFC 4180 has them. */
#ifndef ZM_RESULTS_CSV_H
#define ZM_RESULTS_CSV_H

#include <stdio.h>

/* NULL is an empty field. */
void zm_csv_first(FILE *out, const char *text);
void zm_csv_next(FILE *out, const char *text); /* with the comma before it */
void zm_csv_end(FILE *out);

#endif
