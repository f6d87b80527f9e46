/* vmfield: kind and unit of known names, of their families, and of names from the future. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "runner/monitors/vmfield.h"

struct row {
	const char *name;
	enum zm_kind kind;
	const char *unit;
};

static const struct row vmstat_rows[] = {
	{ "nr_free_pages", ZM_GAUGE, "pages" },
	{ "nr_free_pages_blocks", ZM_GAUGE, "pages" },
	{ "nr_some_future_thing", ZM_GAUGE, "pages" },
	{ "nr_kernel_stack", ZM_GAUGE, "kB" },
	{ "nr_dirty", ZM_GAUGE, "pages" },
	{ "nr_dirtied", ZM_COUNT, "pages" },
	{ "nr_written", ZM_COUNT, "pages" },
	{ "nr_writeback", ZM_GAUGE, "pages" },
	{ "nr_vmscan_write", ZM_COUNT, "pages" },
	{ "nr_foll_pin_acquired", ZM_COUNT, "pages" },
	{ "nr_tlb_remote_flush", ZM_COUNT, "events" },
	{ "nr_anon_transparent_hugepages", ZM_GAUGE, "huge pages" },
	{ "workingset_nodes", ZM_GAUGE, "nodes" },
	{ "workingset_nodereclaim", ZM_COUNT, "events" },
	{ "pgfault", ZM_COUNT, "events" },
	{ "pgalloc_normal", ZM_COUNT, "pages" },
	{ "pgpgin", ZM_COUNT, "kB" },
	{ "numa_hit", ZM_COUNT, "pages" },
	{ "numa_hint_faults", ZM_COUNT, "events" },
	{ "thp_fault_alloc", ZM_COUNT, "events" },
	{ "direct_map_level2_splits", ZM_COUNT, "events" },
	{ "managed", ZM_GAUGE, "pages" },
	{ "high", ZM_GAUGE, "pages" },
	{ "something_new", ZM_COUNT, "events" },
	{ "", ZM_COUNT, "events" },
};

static const struct row cgroup_rows[] = {
	{ "anon", ZM_GAUGE, "bytes" },
	{ "total_rss", ZM_GAUGE, "bytes" },
	{ "pgfault", ZM_COUNT, "events" },
	{ "total_pgpgin", ZM_COUNT, "pages" },
	{ "workingset_refault_anon", ZM_COUNT, "pages" },
	{ "thp_fault_alloc", ZM_COUNT, "events" },
	{ "some_future_thing", ZM_GAUGE, "bytes" },
};

static void check(struct zm_vmfield (*judge)(const char *, size_t), const struct row *row)
{
	struct zm_vmfield field = judge(row->name, strlen(row->name));

	assert_int_equal(field.kind, row->kind);
	assert_string_equal(field.unit, row->unit);
}

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vmstat_rows) / sizeof(vmstat_rows[0]); i++)
		check(zm_vmfield_of, &vmstat_rows[i]);
	for (size_t i = 0; i < sizeof(cgroup_rows) / sizeof(cgroup_rows[0]); i++)
		check(zm_vmfield_of_cgroup, &cgroup_rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
