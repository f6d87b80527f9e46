/* ksyms and lockside: addresses to functions to sides, from a kallsyms file of our own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/monitors/ksyms.h"
#include "runner/monitors/lockside.h"
#include "runner/monitors/tests/rig.h"

static char directory[64];
static struct zm_sysroot root;

static void write_symbols(const char *text)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/proc/kallsyms", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static int set_up(void **state)
{
	char path[128];

	(void)state;
	(void)snprintf(directory, sizeof(directory), "/tmp/zm-lockside-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/proc", directory);
	return mkdir(path, 0700) || zm_sysroot_open(&root, directory);
}

static int tear_down(void **state)
{
	char path[128];

	(void)state;
	zm_sysroot_release(&root);
	(void)snprintf(path, sizeof(path), "%s/proc/kallsyms", directory);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/proc", directory);
	(void)rmdir(path);
	return rmdir(directory);
}

static const char symbols[] = "0000000000002000 T free_pcppages_bulk.isra.0\n"
			      "0000000000001000 t __rmqueue_pcplist\n"
			      "0000000000003000 T __pv_queued_spin_lock_slowpath\n"
			      "0000000000004000 T _raw_spin_lock_irqsave\n"
			      "0000000000005000 D not_a_function\n"
			      "0000000000006000 t in_module\t[sctp]\n"
			      "broken line\n"
			      "00000000000xx000 t broken\n"
			      "0000000000007000 t isolate_freepages\n"
			      "0000000000008000 T get_page_from_freelist\n"
			      "0000000000009000 t bpf_prog_1234_on_begin [bpf]";

static void test_symbols(void **state)
{
	static const struct {
		uint64_t address;
		const char *name;
	} rows[] = {
		{ 0xfff, NULL },
		{ 0x1000, "__rmqueue_pcplist" },
		{ 0x1fff, "__rmqueue_pcplist" },
		{ 0x2000, "free_pcppages_bulk" },
		{ 0x5500, "_raw_spin_lock_irqsave" },
		{ 0x6001, "in_module" },
		{ UINT64_MAX, "bpf_prog_1234_on_begin" },
	};
	struct zm_ksyms ksyms = { 0 };

	(void)state;
	write_symbols(symbols);
	assert_int_equal(zm_ksyms_read(&ksyms, &root, NULL), 0);
	assert_int_equal(ksyms.nr, 8);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct zm_ksym *symbol = zm_ksyms_find(&ksyms, rows[i].address);

		if (rows[i].name)
			assert_string_equal(symbol->name, rows[i].name);
		else
			assert_null(symbol);
	}
	zm_ksyms_release(&ksyms);
}

static void test_hidden(void **state)
{
	static const char *const texts[] = { "", "0000000000000000 T a\n0000000000000000 t b\n",
					     "0000000000001000 D data\n" };
	struct zm_why why;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct zm_ksyms ksyms = { 0 };

		write_symbols(texts[i]);
		assert_int_equal(zm_ksyms_read(&ksyms, &root, &why), -EACCES);
		assert_non_null(strstr(why.text, "kptr_restrict"));
		zm_ksyms_release(&ksyms);
	}
}

static void test_sides(void **state)
{
	static const struct {
		const char *function;
		enum zm_lockside_side side;
	} rows[] = {
		{ "rmqueue_bulk", ZM_LOCKSIDE_ALLOC },
		{ "__rmqueue_pcplist", ZM_LOCKSIDE_ALLOC },
		{ "get_page_from_freelist", ZM_LOCKSIDE_ALLOC },
		{ "free_pcppages_bulk", ZM_LOCKSIDE_FREE },
		{ "free_one_page", ZM_LOCKSIDE_FREE },
		{ "__free_pages_ok", ZM_LOCKSIDE_FREE },
		{ "drain_zone_pages", ZM_LOCKSIDE_FREE },
		{ "decay_pcp_high", ZM_LOCKSIDE_FREE },
		{ "isolate_freepages", ZM_LOCKSIDE_OTHER },
		{ "", ZM_LOCKSIDE_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(zm_lockside_of(rows[i].function), rows[i].side);
	assert_true(zm_lockside_is_lock("native_queued_spin_lock_slowpath"));
	assert_true(zm_lockside_is_lock("bpf_trace_run2"));
	assert_false(zm_lockside_is_lock("rmqueue_bulk"));
}

static void test_chains(void **state)
{
	static const struct zm_lockside_chain chains[] = {
		{ { 0x9001, 0x3001, 0x4001, 0x1001, 0x8001 }, 10 },
		{ { 0x9001, 0x3005, 0x4005, 0x1009, 0x8009 }, 5 }, /* the same functions */
		{ { 0x9001, 0x3001, 0x4001, 0x2001, 0x6001 }, 20 },
		{ { 0x9001, 0x3001, 0x4001, 0x7001 }, 4 },
		{ { 0x9001, 0x3001, 0x4001 }, 1 }, /* nobody called */
	};
	struct zm_lockside lockside = { .total = 0 };
	struct zm_ksyms ksyms = { 0 };
	struct zm_report report = { .nr_rows = 0 };

	(void)state;
	write_symbols(symbols);
	assert_int_equal(zm_ksyms_read(&ksyms, &root, NULL), 0);
	assert_int_equal(zm_lockside_judge(&lockside, &ksyms, chains, 5), 0);
	assert_int_equal(lockside.total, 40);
	assert_int_equal(lockside.times[ZM_LOCKSIDE_ALLOC], 15);
	assert_int_equal(lockside.times[ZM_LOCKSIDE_FREE], 20);
	assert_int_equal(lockside.times[ZM_LOCKSIDE_OTHER], 5);
	assert_true(lockside.is_pv);
	assert_int_equal(zm_lockside_report(&lockside, "zone-lock.calltrace", 2, 1, &report), 0);
	assert_int_equal(report.nr_rows, 2);
	assert_string_equal(report.rows[0].metric,
			    "zone-lock.calltrace.__pv_queued_spin_lock_slowpath._raw_spin_lock_"
			    "irqsave.free_pcppages_bulk.in_module");
	assert_string_equal(report.rows[1].metric,
			    "zone-lock.calltrace.__pv_queued_spin_lock_slowpath._raw_spin_lock_"
			    "irqsave.__rmqueue_pcplist.get_page_from_freelist");
	assert_true(fabs(report.rows[0].value - 50) < 1e-9);
	assert_true(fabs(report.rows[1].value - 37.5) < 1e-9);
	zm_lockside_release(&lockside);
	zm_ksyms_release(&ksyms);
}

/* A sleeping lock has no slow path of that name: its chain begins behind what watches it. */
static void test_sleeping_lock(void **state)
{
	static const struct zm_lockside_chain chain = { { 0x9001, 0x6001, 0x8001 }, 3 };
	struct zm_lockside lockside = { .total = 0 };
	struct zm_ksyms ksyms = { 0 };

	(void)state;
	write_symbols(symbols);
	assert_int_equal(zm_ksyms_read(&ksyms, &root, NULL), 0);
	assert_int_equal(zm_lockside_judge(&lockside, &ksyms, &chain, 1), 0);
	assert_int_equal(lockside.nr_traces, 1);
	assert_string_equal(lockside.traces[0].name, "in_module.get_page_from_freelist");
	zm_lockside_release(&lockside);
	zm_ksyms_release(&ksyms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),       cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_sides),         cmocka_unit_test(test_chains),
		cmocka_unit_test(test_sleeping_lock),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
