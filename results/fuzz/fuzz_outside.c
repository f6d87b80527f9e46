/* fuzz_outside: texts that others printed: every figure that comes out is a number, every refusal a sentence. */
#include "results/outside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/fuzz/fuzz.h"

static void check(const struct zm_outside *outside, int error, const struct zm_why *why)
{
	fuzz_check(!error || why->text[0]);
	for (size_t i = 0; i < outside->nr; i++) {
		const struct zm_outside_run *run = &outside->runs[i];

		for (size_t k = 0; k < run->nr_results; k++)
			fuzz_check(isfinite(run->results[k].value));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct zm_outside wis = { 0 }, netperf = { 0 };
	struct zm_why why = { "" };

	fuzz_check(text != NULL);
	if (zm_outside_is_wis(text))
		check(&wis, zm_outside_read_wis(&wis, "./mmap1", text, &why), &why);
	why.text[0] = '\0';
	check(&netperf, zm_outside_read_netperf(&netperf, "./n", text, &why), &why);
	zm_outside_release(&wis);
	zm_outside_release(&netperf);
	free(text);
	return 0;
}
