/*
 * counts: what the workloads count against what the kernel counts: the tasks' faults and pgfault, huge pages
 * and thp_fault_alloc, hugetlb pages and HugePages_*. Others use this machine too, so its own counts may be
 * more.
 *
 * labels: known
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "faultload/hugepool.h"
#include "faultload/region.h"
#include "faultload/thp.h"
#include "faultload/usemem.h"
#include "workloads/tests/rig.h"

extern const struct zm_workload wl_faultload_page_fault1, wl_faultload_page_fault2;
extern const struct zm_workload wl_faultload_anon_w_seq, wl_faultload_anon_r_seq;
extern const struct zm_workload wl_faultload_small_allocs;
extern const struct zm_workload wl_faultload_anon_w_seq_hugetlb;

#define MIB (UINT64_C(1) << 20)

/* A line of /proc/vmstat or /proc/meminfo; UINT64_MAX when there is none. */
static uint64_t kernel_count(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	unsigned long long value, found = UINT64_MAX;
	char line[256];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0 &&
		    sscanf(line + strlen(name), "%*[: ]%llu", &value) == 1)
			found = value;
	(void)fclose(file);
	return found;
}

/* Base pages: one fault each, and the kernel has seen them all. */
static void test_faults(void **state)
{
	static const struct {
		const struct zm_workload *workload;
		const char *options;
		uint64_t bytes_per_op;
	} cases[] = {
		{ &wl_faultload_page_fault1, "size=1M thp=never", 0 },
		{ &wl_faultload_page_fault2, "size=1M thp=never", 0 },
		{ &wl_faultload_anon_w_seq, "unit_size=1M thp=never", ZM_WORD_BYTES },
		{ &wl_faultload_anon_r_seq, "unit_size=1M thp=never", ZM_WORD_BYTES },
		{ &wl_faultload_small_allocs, "unit_size=1M", ZM_WORD_BYTES },
	};

	(void)state;
	if (rig_is_watched())
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t page, own, machine, each;
		struct rig rig;

		rig_start(&rig, cases[i].workload, ZM_TASK_PROCESS, 1, cases[i].options);
		page = rig.run.page_bytes;
		each = cases[i].bytes_per_op ? page / cases[i].bytes_per_op : 1;
		rig_do(&rig, 0, 1);
		machine = kernel_count("/proc/vmstat", "pgfault");
		own = rig_faults();
		rig_do(&rig, 0, 8 * MIB / page * each);
		own = rig_faults() - own;
		machine = kernel_count("/proc/vmstat", "pgfault") - machine;
		assert_in_range(own, 8 * MIB / page, 8 * MIB / page + 200);
		assert_true(machine >= own);
		rig_stop(&rig);
		rig_free(&rig);
	}
}

/* Of 64 MiB in huge pages the kernel has made all but what lies beside their borders, or says that it could
 * not; and so many fewer faults are the task's. */
static void test_huge_faults(void **state)
{
	uint64_t huge, made, failed, own;
	struct zm_sysroot root;
	char enabled[16] = "never";
	bool is_one_size;
	struct rig rig;

	(void)state;
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	huge = zm_thp_pmd_bytes(&root);
	(void)zm_sysroot_read_choice(&root, "sys/kernel/mm/transparent_hugepage/enabled", enabled,
				     sizeof(enabled));
	is_one_size = zm_thp_sizes(&root, ZM_THP_MADVISE, (uint64_t)sysconf(_SC_PAGESIZE)) == huge;
	zm_sysroot_release(&root);
	if (huge == 0 || huge > 4 * MIB || !is_one_size || rig_is_watched() ||
	    strcmp(enabled, "never") == 0 || /* which a run would change */
	    kernel_count("/proc/vmstat", "thp_fault_alloc") == UINT64_MAX)
		skip();
	rig_start(&rig, &wl_faultload_page_fault1, ZM_TASK_PROCESS, 1, "size=64M thp=madvise");
	made = kernel_count("/proc/vmstat", "thp_fault_alloc");
	failed = kernel_count("/proc/vmstat", "thp_fault_fallback");
	own = rig_faults();
	rig_do(&rig, 0, 64 * MIB / rig.run.page_bytes);
	own = rig_faults() - own;
	made = kernel_count("/proc/vmstat", "thp_fault_alloc") - made;
	failed = kernel_count("/proc/vmstat", "thp_fault_fallback") - failed;
	assert_true(made + failed >= 64 * MIB / huge - 1);
	if (failed == 0)
		assert_in_range(own, 64 * MIB / huge - 1,
				64 * MIB / huge + huge / rig.run.page_bytes + 20);
	rig_stop(&rig);
	rig_free(&rig);
}

/* While a round lasts, its huge pages are there as surplus; after it they are not. */
static void test_surplus(void **state)
{
	static const char surplus[] = "proc/sys/vm/nr_overcommit_hugepages";
	uint64_t huge, before, during, limit;
	struct zm_sysroot root;
	char options[64], text[24];
	struct rig rig;

	(void)state;
	assert_int_equal(zm_sysroot_open(&root, NULL), 0);
	huge = zm_hugepool_default_bytes(&root);
	if (geteuid() != 0 || huge == 0 || huge > 4 * MIB ||
	    kernel_count("/proc/meminfo", "HugePages_Free") != 0) {
		zm_sysroot_release(&root);
		skip();
	}
	assert_int_equal(zm_sysroot_read_u64(&root, surplus, &limit), 0);
	before = kernel_count("/proc/meminfo", "HugePages_Surp");
	(void)snprintf(options, sizeof(options), "unit_size=%llu", (unsigned long long)huge * 4);
	rig_start(&rig, &wl_faultload_anon_w_seq_hugetlb, ZM_TASK_PROCESS, 1, options);
	rig_do(&rig, 0, 4 * huge / ZM_WORD_BYTES);
	during = kernel_count("/proc/meminfo", "HugePages_Surp");
	rig_stop(&rig);
	rig_free(&rig);
	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)limit);
	assert_int_equal(zm_sysroot_write(&root, surplus, text), 0);
	zm_sysroot_release(&root);
	assert_true(during >= before + 4 || during >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_huge_faults),
		cmocka_unit_test(test_surplus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
