/*
 * db_postgres_value: what a server answers, in its binary form, as numbers of ours.
 */
#ifndef ZM_RESULTS_DB_POSTGRES_VALUE_H
#define ZM_RESULTS_DB_POSTGRES_VALUE_H

#include <stddef.h>
#include <stdint.h>

/* The types that our tables and their sums have. */
enum {
	ZM_POSTGRES_BOOL = 16,
	ZM_POSTGRES_INT8 = 20,
	ZM_POSTGRES_INT2 = 21,
	ZM_POSTGRES_INT4 = 23,
	ZM_POSTGRES_FLOAT4 = 700,
	ZM_POSTGRES_FLOAT8 = 701,
	ZM_POSTGRES_NUMERIC = 1700,
};

struct zm_postgres_value {
	unsigned int type; /* its object id */
	const unsigned char *data;
	size_t size;
};

/* NULL (size 0), and what is no number, is 0. A real is cut to a whole number, and held to the range. */
int64_t zm_postgres_int(const struct zm_postgres_value *value);
double zm_postgres_real(const struct zm_postgres_value *value);

#endif
