/* db_postgres_value: numbers are in network order; a numeric is digits of base 10,000. */
#include "results/db_postgres_value.h"

#include <math.h>
#include <string.h>

static uint64_t read_bits(const unsigned char *data, size_t size)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < size; i++)
		bits = bits << 8 | data[i];
	return bits;
}

static int16_t read_short(const unsigned char *data)
{
	return (int16_t)(uint16_t)read_bits(data, 2);
}

/* Number of digits, the first one's weight, sign, digits behind the point; then the digits. */
static double read_numeric(const struct zm_postgres_value *value)
{
	double sum = 0;
	int16_t nr, weight;

	if (value->size < 8)
		return 0;
	nr = read_short(value->data);
	weight = read_short(value->data + 2);
	if (nr < 0 || value->size < 8 + (size_t)nr * 2)
		return 0;
	for (int16_t i = 0; i < nr; i++)
		sum = sum * 10000 + read_short(value->data + 8 + i * 2);
	sum *= pow(10000, weight - (nr - 1));
	return read_bits(value->data + 4, 2) == 0x4000 ? -sum : sum;
}

double zm_postgres_real(const struct zm_postgres_value *value)
{
	uint64_t bits;
	uint32_t few;
	double real;
	float small;

	if (value->type == ZM_POSTGRES_NUMERIC)
		return read_numeric(value);
	if (value->type == ZM_POSTGRES_FLOAT8 && value->size == sizeof(real)) {
		bits = read_bits(value->data, sizeof(bits));
		memcpy(&real, &bits, sizeof(real));
		return real;
	}
	if (value->type == ZM_POSTGRES_FLOAT4 && value->size == sizeof(small)) {
		few = (uint32_t)read_bits(value->data, sizeof(few));
		memcpy(&small, &few, sizeof(small));
		return (double)small;
	}
	return (double)zm_postgres_int(value);
}

static int64_t cut(double real)
{
	if (!(real > -0x1p63))
		return isnan(real) ? 0 : INT64_MIN;
	return real < 0x1p63 ? (int64_t)real : INT64_MAX;
}

int64_t zm_postgres_int(const struct zm_postgres_value *value)
{
	switch (value->type) {
	case ZM_POSTGRES_BOOL:
	case ZM_POSTGRES_INT8:
		return value->size <= 8 ? (int64_t)read_bits(value->data, value->size) : 0;
	case ZM_POSTGRES_INT4:
		return value->size == 4 ? (int32_t)(uint32_t)read_bits(value->data, 4) : 0;
	case ZM_POSTGRES_INT2:
		return value->size == 2 ? read_short(value->data) : 0;
	case ZM_POSTGRES_FLOAT4:
	case ZM_POSTGRES_FLOAT8:
	case ZM_POSTGRES_NUMERIC:
		return cut(zm_postgres_real(value));
	default:
		return 0;
	}
}
