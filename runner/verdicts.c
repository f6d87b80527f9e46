/* verdicts: the form that was asked for. */
#include "runner/verdicts.h"

#include "results/table.h"

int zm_verdicts_print(const struct zm_verdict_switches *switches, const struct zm_compare *compare,
		      FILE *out)
{
	const struct zm_format_compare options = {
		.nr_explanations = switches->explain,
		.width = out == stdout ? zm_table_terminal_width() : 0,
	};

	return zm_format_compare(compare, switches->format, &options, out);
}
