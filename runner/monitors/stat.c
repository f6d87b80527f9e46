/*
 * stat: the CPU lines; the others are "name value" lines like any (fields.h).
 */
#include "runner/monitors/stat.h"

#include <unistd.h>

#include "runner/monitors/fields.h"
#include "workloads/base/clock.h"
#include "workloads/base/cpuset.h"

/* "cpu" or "cpu12" */
static bool parse_name(const char *name, size_t length, int *ret_cpu)
{
	uint64_t cpu;
	uint32_t flags;

	if (!zm_name_starts(name, length, "cpu"))
		return false;
	if (length == 3) {
		*ret_cpu = -1;
		return true;
	}
	if (!zm_fields_number(name + 3, name + length, &cpu, &flags) || cpu > ZM_CPUSET_MAX)
		return false;
	*ret_cpu = (int)cpu;
	return true;
}

static bool parse_line(const char *line, size_t length, struct zm_stat_cpu *cpu)
{
	const char *at = line, *end = line + length;
	const char *word;
	size_t word_length;
	uint32_t flags;

	if (!zm_fields_next_word(&at, end, &word, &word_length) ||
	    !parse_name(word, word_length, &cpu->cpu))
		return false;
	for (cpu->nr_times = 0; cpu->nr_times < ZM_STAT_NR_TIMES; cpu->nr_times++)
		if (!zm_fields_next_word(&at, end, &word, &word_length) ||
		    !zm_fields_number(word, word + word_length, &cpu->ticks[cpu->nr_times], &flags))
			break;
	return cpu->nr_times > ZM_STAT_IDLE;
}

bool zm_stat_next_cpu(const char **text, struct zm_stat_cpu *ret_cpu)
{
	struct zm_stat_cpu cpu;
	const char *line;
	size_t length;

	while (zm_fields_next_line(text, &line, &length)) {
		if (!parse_line(line, length, &cpu))
			continue;
		*ret_cpu = cpu;
		return true;
	}
	return false;
}

uint64_t zm_stat_tick_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return ZM_NS_PER_S / (uint64_t)(hz > 0 ? hz : 100);
}

uint64_t zm_stat_ns(uint64_t ticks, uint64_t tick_ns)
{
	uint64_t ns;

	return __builtin_mul_overflow(ticks, tick_ns, &ns) ? UINT64_MAX : ns;
}
