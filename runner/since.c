/* since: a moment of the calendar as one types it, of --since. */
#include "runner/since.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "workloads/base/clock.h"
#include "workloads/base/units.h"

/* "7d", or what a duration is with a unit. */
static bool parse_ago(const char *text, uint64_t *ret_ns)
{
	size_t length = strlen(text);
	uint64_t days;
	char number[16];

	if (length > 1 && length < sizeof(number) && text[length - 1] == 'd') {
		memcpy(number, text, length - 1);
		number[length - 1] = '\0';
		if (zm_units_parse_u64(number, &days) < 0 || days > 100000)
			return false;
		*ret_ns = days * 86400 * ZM_NS_PER_S;
		return true;
	}
	return zm_units_parse_duration(text, ret_ns) == 0;
}

/* In UTC, as everything here is shown. */
static bool parse_date(const char *text, uint64_t *ret_ns)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S",
					     "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm broken = { 0 };
		const char *end = strptime(text, forms[i], &broken);
		time_t seconds = end && !*end ? timegm(&broken) : -1;

		if (seconds >= 0) {
			*ret_ns = (uint64_t)seconds * ZM_NS_PER_S;
			return true;
		}
	}
	return false;
}

int zm_since_parse(const char *command, const char *text, uint64_t *ret_ns, struct zm_why *why)
{
	uint64_t now_ns = zm_clock_wall_ns(), ago_ns;

	*ret_ns = 0;
	if (!text || parse_date(text, ret_ns))
		return 0;
	if (!parse_ago(text, &ago_ns))
		return zm_why_set(why, -EINVAL,
				  "%s: --since %s: a date (2026-05-01, 2026-05-01T12:00) or how "
				  "long ago (7d, 12h, 30m) is wanted",
				  command, text);
	*ret_ns = ago_ns < now_ns ? now_ns - ago_ns : 0;
	return 0;
}
