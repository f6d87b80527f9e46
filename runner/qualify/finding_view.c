/* finding_view: verdicts, values and limits as words, and as JSON. */
#include "runner/qualify/finding.h"

#include <math.h>
#include <stdio.h>

#include "results/json.h"
#include "results/table.h"
#include "workloads/base/units.h"

const char *zm_grade_name(enum zm_grade grade)
{
	static const char *const names[] = { "pass", "fail", "inconclusive", "not for it" };

	return names[grade];
}

char *zm_finding_number(char *buf, size_t size, const struct zm_criterion *criterion,
			const struct zm_finding *finding, double value)
{
	char number[48];

	if (isnan(value))
		buf[0] = '\0';
	else if (zm_criterion_is_share(criterion->kind))
		(void)zm_table_percent(buf, size, value);
	else if (criterion->kind == ZM_CRITERION_MACHINE && criterion->part == ZM_PART_MEMORY)
		(void)zm_units_human_bytes(buf, size, value);
	else
		(void)snprintf(buf, size, "%s%s%s", zm_table_number(number, sizeof(number), value),
			       finding->unit[0] ? " " : "", finding->unit);
	return buf;
}

char *zm_finding_limits(char *buf, size_t size, const struct zm_criterion *criterion,
			const struct zm_finding *finding)
{
	char least[64], most[64];

	(void)zm_finding_number(least, sizeof(least), criterion, finding, finding->least);
	(void)zm_finding_number(most, sizeof(most), criterion, finding, finding->most);
	buf[0] = '\0';
	if (least[0] && most[0])
		(void)snprintf(buf, size, "%s … %s", least, most);
	else if (least[0])
		(void)snprintf(buf, size, "at least %s", least);
	else if (most[0])
		(void)snprintf(buf, size, "at most %s", most);
	return buf;
}

json_t *zm_finding_json(const struct zm_criterion *criterion, const struct zm_finding *finding)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "criterion", criterion->name, "kind",
				   zm_criterion_kind_name(criterion->kind), "verdict",
				   zm_grade_name(finding->grade));

	(void)zm_json_set_real(object, "value", finding->value);
	(void)zm_json_set_real(object, "low", finding->low);
	(void)zm_json_set_real(object, "high", finding->high);
	(void)zm_json_set_real(object, "least", finding->least);
	(void)zm_json_set_real(object, "most", finding->most);
	if (finding->unit[0])
		(void)json_object_set_new(object, "unit", json_string(finding->unit));
	(void)json_object_set_new(object, "launches", json_integer((json_int_t)finding->nr));
	(void)json_object_set_new(object, "learned", json_boolean(finding->is_banded));
	(void)json_object_set_new(object, "why", zm_json_text(finding->text));
	return object;
}
