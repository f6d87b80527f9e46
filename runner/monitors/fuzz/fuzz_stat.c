/* stat and taskstat: any text ends, and what is taken is within its bounds. */
#include "runner/monitors/stat.h"
#include "runner/monitors/taskstat.h"
#include "workloads/base/cpuset.h"
#include "workloads/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	const char *at = text;
	struct zm_taskswitches switches;
	struct zm_taskstat taskstat;
	struct zm_stat_cpu cpu;

	while (zm_stat_next_cpu(&at, &cpu)) {
		fuzz_check(cpu.cpu >= -1 && cpu.cpu <= ZM_CPUSET_MAX);
		fuzz_check(cpu.nr_times > ZM_STAT_IDLE && cpu.nr_times <= ZM_STAT_NR_TIMES);
	}
	fuzz_check(*at == '\0');
	if (zm_taskstat_parse(text, &taskstat))
		fuzz_check(strchr(text, ')') != NULL);
	if (zm_taskswitches_parse(text, &switches))
		fuzz_check(strstr(text, "voluntary_ctxt_switches") != NULL);
	free(text);
	return 0;
}
