/* zones: the sections of zoneinfo are told apart, old and new, whole and cut. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "runner/monitors/zones.h"

struct row {
	enum zm_zones_part part;
	unsigned int node;
	const char *zone;
	unsigned int cpu;
	const char *name;
	uint64_t value;
};

static const char new_text[] = "Node 0, zone      DMA\n"
			       "  per-node stats\n"
			       "      nr_active_anon 12\n"
			       "  pages free     3840\n"
			       "        high     27\n"
			       "        protection: (0, 3018)\n"
			       "      nr_free_pages 3840\n"
			       "  pagesets\n"
			       "    cpu: 0\n"
			       "              count:    1\n"
			       "              high_min: 2\n"
			       "              brand_new: 3\n"
			       "  vm stats threshold: 4\n"
			       "    cpu: 12\n"
			       "              high:     5\n"
			       "  vm stats threshold: 4\n"
			       "  node_unreclaimable:  0\n"
			       "  start_pfn:           1\n"
			       "Node 3, zone   Movable\n"
			       "  pages free     6\n";

static const struct row new_rows[] = {
	{ ZM_ZONES_NODE, 0, "DMA", 0, "nr_active_anon", 12 },
	{ ZM_ZONES_ZONE, 0, "DMA", 0, "free", 3840 },
	{ ZM_ZONES_ZONE, 0, "DMA", 0, "high", 27 },
	{ ZM_ZONES_ZONE, 0, "DMA", 0, "nr_free_pages", 3840 },
	{ ZM_ZONES_PCP, 0, "DMA", 0, "count", 1 },
	{ ZM_ZONES_PCP, 0, "DMA", 0, "high_min", 2 },
	{ ZM_ZONES_PCP, 0, "DMA", 0, "brand_new", 3 },
	{ ZM_ZONES_PCP, 0, "DMA", 12, "high", 5 },
	{ ZM_ZONES_ZONE, 0, "DMA", 0, "node_unreclaimable", 0 },
	{ ZM_ZONES_ZONE, 0, "DMA", 0, "start_pfn", 1 },
	{ ZM_ZONES_ZONE, 3, "Movable", 0, "free", 6 },
};

static const char old_text[] = "Node 1, zone   Normal\n"
			       "  pages free     3976\n"
			       "        high     100\n"
			       "    nr_free_pages 3976\n"
			       "        protection: (0, 2933)\n"
			       "  pagesets\n"
			       "    cpu: 0\n"
			       "              count: 20\n"
			       "              high:  186\n"
			       "  vm stats threshold: 42\n"
			       "  all_unreclaimable: 1\n";

static const struct row old_rows[] = {
	{ ZM_ZONES_ZONE, 1, "Normal", 0, "free", 3976 },
	{ ZM_ZONES_ZONE, 1, "Normal", 0, "high", 100 },
	{ ZM_ZONES_ZONE, 1, "Normal", 0, "nr_free_pages", 3976 },
	{ ZM_ZONES_PCP, 1, "Normal", 0, "count", 20 },
	{ ZM_ZONES_PCP, 1, "Normal", 0, "high", 186 },
	{ ZM_ZONES_ZONE, 1, "Normal", 0, "all_unreclaimable", 1 },
};

/* What is no zoneinfo gives nothing. */
static const char *const nothing[] = {
	"",
	"\n\n",
	"pages free 5\ncpu: 0\ncount: 5\n",
	"Node x, zone Normal\n  pages free 5\n",
	"Node 0 zone Normal\n  pages free 5\n",
	"Node 99999999999999999999, zone Normal\n  pages free 5\n",
	"Node 0, zone\n  pages free 5\n",
	"Node 0, zone Normal\n  pagesets\n    cpu: 99999999999\n          count: 5\n",
	"Node 0, zone Normal\n  pagesets\n    count: 5\n",
};

static void check_row(const struct zm_zones_item *item, const struct row *row)
{
	assert_int_equal(item->part, row->part);
	assert_int_equal(item->node, row->node);
	assert_true(zm_name_is(item->zone, item->zone_length, row->zone));
	assert_true(zm_field_is(&item->field, row->name));
	assert_int_equal(item->field.value, row->value);
	if (item->part == ZM_ZONES_PCP)
		assert_int_equal(item->cpu, row->cpu);
}

static void check_text(const char *text, const struct row *rows, size_t nr_rows)
{
	struct zm_zones_item item;
	struct zm_zones zones;

	zm_zones_init(&zones, text);
	for (size_t i = 0; i < nr_rows; i++) {
		assert_true(zm_zones_next(&zones, &item));
		check_row(&item, &rows[i]);
	}
	assert_false(zm_zones_next(&zones, &item));
}

static void test_kernels(void **state)
{
	(void)state;
	check_text(new_text, new_rows, sizeof(new_rows) / sizeof(new_rows[0]));
	check_text(old_text, old_rows, sizeof(old_rows) / sizeof(old_rows[0]));
}

static void test_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		check_text(nothing[i], NULL, 0);
}

/* The beginning of a text has the beginning of its figures, but for the number at the cut. */
static void test_every_cut(void **state)
{
	const size_t nr_rows = sizeof(new_rows) / sizeof(new_rows[0]);
	char cut[sizeof(new_text)];

	(void)state;
	for (size_t length = 0; length < sizeof(new_text); length++) {
		struct zm_zones_item item;
		struct zm_zones zones;
		size_t i = 0;

		(void)snprintf(cut, length + 1, "%s", new_text);
		zm_zones_init(&zones, cut);
		while (zm_zones_next(&zones, &item)) {
			assert_true(i < nr_rows);
			if (*zones.text)
				check_row(&item, &new_rows[i]);
			i++;
		}
	}
}

static void test_places(void **state)
{
	static const char *const names[] = { "DMA",     "DMA32",   "Normal",
					     "HighMem", "Movable", "Device" };

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(zm_zones_place(names[i], strlen(names[i])), i);
	assert_in_range(zm_zones_place("Fast", 4), 6, 15);
	assert_in_range(zm_zones_place("", 0), 6, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
