/* cpuset: a list that is taken prints as one that gives the same set, and the set is consistent. */
#include "workloads/base/cpuset.h"
#include "workloads/fuzz/fuzz.h"

#define MAX_PRINTED 20000 /* larger sets cost more time than they tell */

static void check_members(const struct zm_cpuset *set)
{
	size_t count = 0;
	int last = -1;

	zm_cpuset_for_each (cpu, set) {
		fuzz_check(cpu > last && cpu <= ZM_CPUSET_MAX);
		fuzz_check(zm_cpuset_has(set, (unsigned int)cpu));
		last = cpu;
		count++;
	}
	fuzz_check(count == zm_cpuset_count(set));
}

static void check_print(const struct zm_cpuset *set)
{
	zm_autocpuset struct zm_cpuset back = { 0 };
	size_t length = zm_cpuset_print(set, NULL, 0);
	char *buf = malloc(length + 1);

	fuzz_check(buf);
	fuzz_check(zm_cpuset_print(set, buf, length + 1) == length && strlen(buf) == length);
	fuzz_check(zm_cpuset_parse(buf, &back) == 0);
	fuzz_check(zm_cpuset_is_equal(set, &back) && zm_cpuset_is_equal(&back, set));
	free(buf);
}

static void check_algebra(const struct zm_cpuset *set)
{
	zm_autocpuset struct zm_cpuset rest = { 0 };

	fuzz_check(zm_cpuset_copy(&rest, set) == 0);
	zm_cpuset_and(&rest, set);
	fuzz_check(zm_cpuset_is_equal(&rest, set));
	zm_cpuset_subtract(&rest, set);
	fuzz_check(zm_cpuset_count(&rest) == 0 && zm_cpuset_next(&rest, 0) == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	char *text = fuzz_text(data, size);

	if (zm_cpuset_parse(text, &set) == 0) {
		check_algebra(&set);
		if (zm_cpuset_count(&set) <= MAX_PRINTED) {
			check_members(&set);
			check_print(&set);
		}
	} else {
		fuzz_check(zm_cpuset_count(&set) == 0);
	}
	free(text);
	return 0;
}
