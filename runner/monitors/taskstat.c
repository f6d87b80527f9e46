/*
 * taskstat: fields 10 to 17 and 22 of stat, and two lines of status.
 */
#include "runner/monitors/taskstat.h"

#include <string.h>

#include "runner/monitors/fields.h"

#define FIRST_FIELD 3 /* the one behind the name */
#define LAST_FIELD  22

bool zm_taskstat_parse(const char *stat, struct zm_taskstat *ret_taskstat)
{
	const char *at = strrchr(stat, ')');
	const char *end = stat + strlen(stat);
	uint64_t fields[LAST_FIELD + 1] = { 0 };
	const char *word;
	size_t length;
	uint32_t flags;

	if (!at)
		return false;
	at++;
	for (unsigned int i = FIRST_FIELD; i <= LAST_FIELD; i++) {
		if (!zm_fields_next_word(&at, end, &word, &length))
			return false;
		/* the state, and numbers that may be negative, stay 0 */
		if (!zm_fields_number(word, word + length, &fields[i], &flags) && i >= 10 &&
		    i <= 15)
			return false;
	}
	*ret_taskstat = (struct zm_taskstat){
		.minor_faults = fields[10],
		.child_minor_faults = fields[11],
		.major_faults = fields[12],
		.child_major_faults = fields[13],
		.user_ticks = fields[14],
		.system_ticks = fields[15],
		.child_user_ticks = fields[16],
		.child_system_ticks = fields[17],
		.start_ticks = fields[22],
	};
	return true;
}

bool zm_taskswitches_parse(const char *status, struct zm_taskswitches *ret_switches)
{
	struct zm_taskswitches switches;

	if (!zm_fields_find(status, 0, "voluntary_ctxt_switches", &switches.voluntary) ||
	    !zm_fields_find(status, 0, "nonvoluntary_ctxt_switches", &switches.involuntary))
		return false;
	*ret_switches = switches;
	return true;
}
