/* report_fields: each small sentence by a table of cases. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/report_fields.h"

static struct zm_pool pool;

static int release(void **state)
{
	(void)state;
	zm_pool_release(&pool);
	return 0;
}

static void same(const char *a, const char *b)
{
	if (b)
		assert_string_equal(a, b);
	else
		assert_null(a);
}

static void test_pairs(void **state)
{
	static const struct {
		const char *line, *name, *value;
	} cases[] = {
		{ "\tnr_task: 50%", "nr_task", "50%" },
		{ "nr_task=50%", "nr_task", "50%" },
		{ "runtime: ***600s***", "runtime", "600s" },
		{ "test: hugetlb/hugemmap10", "test", "hugetlb/hugemmap10" },
		{ "option_a: SP.B [Scalar solver]", "option_a", "SP.B [Scalar solver]" },
		{ "mode: process   <--- here", "mode", "process" },
		{ "size: 512G  ", "size", "512G" },
		{ "Reported-by: x", NULL, NULL },
		{ "two words: x", NULL, NULL },
		{ "https://example.com", NULL, NULL },
		{ "mode:", NULL, NULL },
		{ "", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_mail_pair pair = { 0 };
		bool is_pair = zm_report_fields_pair(&pool, cases[i].line, &pair);

		assert_int_equal(is_pair, cases[i].name != NULL);
		if (is_pair) {
			same(pair.name, cases[i].name);
			same(pair.value, cases[i].value);
		}
	}
}

static void test_claims(void **state)
{
	static const struct {
		const char *text, *metric;
		double percent, change;
		bool is_regression;
	} cases[] = {
		{ "FYI, we noticed a -9.2% regression of a.b due to commit:", "a.b", -9.2, -9.2,
		  true },
		{ "kernel test robot noticed a 13.0% regression of a.b on:", "a.b", 13, NAN, true },
		{ "noticed a 94.7% improvement of a.b_c/s on:", "a.b_c/s", 94.7, NAN, false },
		{ "Re: [mm] 0123456789: a.b -1.3% regression", "a.b", -1.3, -1.3, true },
		{ "will-it-scale: will-it-scale.x  +8.4% improvement |", "will-it-scale.x", 8.4,
		  8.4, false },
		{ "a 2% improvement of memory", NULL, 0, 0, false },
		{ "regression of a.b", NULL, 0, 0, false },
		{ "-9.2% change of a.b", NULL, 0, 0, false },
		{ "", NULL, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_mail_claim claim;
		bool is_claim = zm_report_fields_claim(&pool, cases[i].text, &claim);

		assert_int_equal(is_claim, cases[i].metric != NULL);
		if (!is_claim)
			continue;
		same(claim.metric, cases[i].metric);
		assert_true(claim.percent == cases[i].percent);
		assert_true(isnan(cases[i].change) ? isnan(claim.change)
						   : claim.change == cases[i].change);
		assert_int_equal(claim.is_regression, cases[i].is_regression);
	}
}

static void test_machines(void **state)
{
	static const struct {
		const char *text;
		unsigned int nr_cpus, nr_sockets;
		uint64_t memory_gb;
		const char *model, *codename;
	} cases[] = {
		{ "224 threads 4 sockets Intel(R) Xeon(R) Platinum 8380H CPU @ 2.90GHz (Cooper "
		  "Lake) with 192G "
		  "memory",
		  224, 4, 192, "Intel(R) Xeon(R) Platinum 8380H CPU @ 2.90GHz", "Cooper Lake" },
		{ "104 threads 2 sockets (Skylake) with 192G memory", 104, 2, 192, NULL,
		  "Skylake" },
		{ "88 threads Intel(R) Xeon(R) CPU E5 with 64G memory", 88, 0, 64,
		  "Intel(R) Xeon(R) CPU E5", NULL },
		{ "qemu-system-x86_64 -enable-kvm -cpu SandyBridge -smp 2 -m 16G", 2, 0, 16,
		  "qemu-system-x86_64", NULL },
		{ "TDX (Sapphire Rapids) with 512G memory", 0, 0, 512, NULL, "Sapphire Rapids" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_mail_machine machine;

		assert_true(zm_report_fields_machine(&pool, cases[i].text, &machine));
		assert_int_equal(machine.nr_cpus, cases[i].nr_cpus);
		assert_int_equal(machine.nr_sockets, cases[i].nr_sockets);
		assert_int_equal(machine.memory_bytes, cases[i].memory_gb << 30);
		same(machine.model, cases[i].model);
		same(machine.codename, cases[i].codename);
	}
	assert_false(zm_report_fields_machine(&pool, "", &(struct zm_mail_machine){ 0 }));
	assert_false(
		zm_report_fields_machine(&pool, "a good machine", &(struct zm_mail_machine){ 0 }));
}

static void test_commits(void **state)
{
	static const struct {
		const char *text, *name, *title, *note;
	} cases[] = {
		{ "  c828e65251 (\"cacheinfo: x\")", "c828e65251", "cacheinfo: x", NULL },
		{ "a1 (\"Merge series \"pipe: x\"\")", "a1", "Merge series \"pipe: x\"", NULL },
		{ "v5.8-rc3", "v5.8-rc3", NULL, NULL },
		{ "b5af188232e56 <--- your patch", "b5af188232e56", NULL, "<--- your patch" },
		{ "a1 (\"t\")   <-- note", "a1", "t", "<-- note" },
		{ "8391e0a7e172/0x7002302 (mm: x)", "8391e0a7e172", "mm: x", NULL },
		{ "e0bf1dc859fdd mm: memcg: x", "e0bf1dc859fdd", "mm: memcg: x", NULL },
		{ "a1 (\"t\") https://example.com", "a1", "t", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_mail_commit commit;

		zm_report_fields_commit(&pool, cases[i].text, &commit);
		same(commit.name, cases[i].name);
		same(commit.title, cases[i].title);
		same(commit.note, cases[i].note);
	}
}

/* The values' own '/' goes to the right key, by what the mail says elsewhere or by the looks of it. */
static void test_keys(void **state)
{
	struct zm_mail_pair known[] = { { "test", "hugetlb/hugemmap10" } };
	const struct zm_mail_pairs facts = { known, 1 };
	const struct zm_mail_pairs *const with[] = { &facts, NULL };
	static const struct {
		const char *keys, *values;
		bool is_known;
		const char *name, *value;
	} cases[] = {
		{ "compiler/mode/test/testcase:", "gcc-9/process/brk1/will-it-scale", false, "test",
		  "brk1" },
		{ "compiler/mode/test/testcase:", "gcc-9/process/brk1/will-it-scale", false,
		  "testcase", "will-it-scale" },
		{ "compiler/test/testcase/ucode:", "gcc-9/hugetlb/hugemmap10/kselftests/0x21", true,
		  "test", "hugetlb/hugemmap10" },
		{ "compiler/test/testcase/ucode:", "gcc-9/hugetlb/hugemmap10/kselftests/0x21", true,
		  "testcase", "kselftests" },
		{ "build/compiler/nr_task/x:", "a/b/gcc-12/50%/y", false, "build", "a/b" },
		{ "build/compiler/nr_task/x:", "a/b/gcc-12/50%/y", false, "nr_task", "50%" },
		{ "a/b/c:", "1/2", false, "b", "2" },
		{ "a/b/c:", "1/2", false, "c", NULL },
		{ "a/b:", "", false, "a", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zm_mail_pairs pairs;

		zm_report_fields_keys(&pool, cases[i].keys, cases[i].values,
				      cases[i].is_known ? with : NULL, &pairs);
		same(zm_mail_pairs_find(&pairs, cases[i].name), cases[i].value);
	}
}

static void test_put(void **state)
{
	struct zm_mail_pairs pairs = { 0 };
	char name[16];

	(void)state;
	for (unsigned int i = 0; i < 2 * ZM_REPORT_MAIL_PAIRS; i++) {
		(void)snprintf(name, sizeof(name), "p%u", i);
		zm_report_fields_put(&pool, &pairs, zm_pool_text(&pool, name), "v");
	}
	assert_int_equal(pairs.nr, ZM_REPORT_MAIL_PAIRS);
	zm_report_fields_put(&pool, &pairs, "p0", "w");
	same(zm_mail_pairs_find(&pairs, "p0"), "v");
	same(zm_mail_pairs_find(&pairs, "q"), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_pairs, release),
		cmocka_unit_test_teardown(test_claims, release),
		cmocka_unit_test_teardown(test_machines, release),
		cmocka_unit_test_teardown(test_commits, release),
		cmocka_unit_test_teardown(test_keys, release),
		cmocka_unit_test_teardown(test_put, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
