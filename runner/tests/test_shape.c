/* shape: direction, size and noise against the documented change; the order of kernels. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "runner/shape.h"

#define NR 6

/* Values about a centre, `noise` around it, the same ones every time. */
static void fill(double *values, double centre, double noise)
{
	static const double offsets[NR] = { -1, -0.6, -0.2, 0.2, 0.6, 1 };

	for (unsigned int i = 0; i < NR; i++)
		values[i] = centre * (1 + noise * offsets[i]);
}

static void test_shapes(void **state)
{
	static const struct {
		double documented, measured, noise;
		enum zm_shape shape;
	} cases[] = {
		{ 0.146, 0.146, 0.01, ZM_SHAPE_AGREES },
		{ 0.146, 0.30, 0.01, ZM_SHAPE_AGREES }, /* twice as much and no more */
		{ 0.146, 0.60, 0.01, ZM_SHAPE_DIRECTION },
		{ 0.146, 0.03, 0.005, ZM_SHAPE_DIRECTION },
		{ 0.146, -0.05, 0.01, ZM_SHAPE_DIFFERS },
		{ 0.146, 0.00, 0.01, ZM_SHAPE_DIFFERS },
		{ 0.146, 0.02, 0.5, ZM_SHAPE_TOO_NOISY },
		{ -0.604, -0.604, 0.02, ZM_SHAPE_AGREES },
		{ -0.604, -0.1, 0.01, ZM_SHAPE_DIRECTION },
		{ 2.497, 2.5, 0.05, ZM_SHAPE_AGREES },
		{ 0.0004, 0.0, 0.005, ZM_SHAPE_AGREES }, /* none there, none here */
		{ 0.0004, 0.1, 0.005, ZM_SHAPE_DIFFERS },
		{ 0.0004, 0.05, 0.4, ZM_SHAPE_TOO_NOISY },
		{ 0.0004, 0.0, 0.4, ZM_SHAPE_TOO_NOISY }, /* near 0, and it could be anything */
		{ 0.05, 0.60, 0.3, ZM_SHAPE_DIRECTION },  /* from 5 % to over 100 %: no size */
		{ NAN, 0.1, 0.01, ZM_SHAPE_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double base[NR], new[NR];
		struct zm_shape_found found;

		fill(base, 1000, cases[i].noise);
		fill(new, 1000 * (1 + cases[i].measured), cases[i].noise);
		assert_int_equal(zm_shape_judge(cases[i].documented, base, NR, new, NR, &found), 0);
		if (found.shape != cases[i].shape)
			fail_msg("case %zu: %s (%g in %g … %g)", i, zm_shape_name(found.shape),
				 found.measured, found.low, found.high);
	}
}

/* One value a side has no interval; none has no shape. */
static void test_few(void **state)
{
	const double base[] = { 100 }, new[] = { 90 };
	struct zm_shape_found found;

	(void)state;
	assert_int_equal(zm_shape_judge(-0.1, base, 1, new, 1, &found), 0);
	assert_int_equal(found.shape, ZM_SHAPE_AGREES);
	assert_true(isnan(found.low) || !isfinite(found.low));
	assert_int_equal(zm_shape_judge(-0.1, base, 1, new, 0, &found), 0);
	assert_int_equal(found.shape, ZM_SHAPE_UNKNOWN);
	assert_string_equal(zm_shape_name(found.shape), "nothing to hold against it");
}

static void test_order(void **state)
{
	const double documented[] = { 100, 99.5, 95.1, 95.0 };
	const double same[] = { 8, 7.9, 6, 5 }, turned[] = { 5, 6, 7, 8 },
		     some[] = { 8, NAN, 9, 6 };
	size_t nr_same, nr_pairs;

	(void)state;
	zm_shape_order(documented, same, 4, &nr_same, &nr_pairs);
	assert_int_equal(nr_pairs, 4); /* 100 and 99.5, and the last two, are no pairs */
	assert_int_equal(nr_same, 4);
	zm_shape_order(documented, turned, 4, &nr_same, &nr_pairs);
	assert_int_equal(nr_same, 0);
	zm_shape_order(documented, some, 4, &nr_same, &nr_pairs);
	assert_int_equal(nr_pairs, 2);
	assert_int_equal(nr_same, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
