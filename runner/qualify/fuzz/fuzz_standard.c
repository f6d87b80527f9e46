/*
 * standard: of any bytes come criteria that can be judged, or one sentence with the file's name and a line.
 *
 * timeout: 60
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/catalogue.h"
#include "runner/qualify/finding.h"
#include "workloads/fuzz/fuzz.h"

/* Without any evidence nothing but the machine is ever passed. */
static void judge(const struct zm_standard *profile)
{
	struct zm_evidence none = { 0 };
	struct zm_health health = { 0 };
	struct zm_facts facts = { .evidence = &none,
				  .parts = { 2, 2, 8, 0x1p33 },
				  .before = &health,
				  .after = &health,
				  .elapsed_s = NAN };

	for (size_t i = 0; i < profile->nr_criteria; i++) {
		const struct zm_criterion *criterion = &profile->criteria[i];
		struct zm_finding finding;

		fuzz_check(criterion->name && criterion->about);
		fuzz_check(zm_finding_make(criterion, &facts, &finding) == 0);
		fuzz_check(finding.grade != ZM_GRADE_PASS ||
			   criterion->kind == ZM_CRITERION_MACHINE);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct zm_standard profile;
	struct zm_why why = { "" };
	int r = zm_standard_parse("x.yaml", text, strlen(text), zm_workloads, &profile, &why);

	if (r < 0) {
		fuzz_check(r == -EINVAL || r == -E2BIG || r == -ENOMEM);
		fuzz_check(strncmp(why.text, "x.yaml:", 7) == 0);
		fuzz_check(!strchr(why.text, '\n'));
	} else {
		fuzz_check(profile.nr_criteria > 1);
		judge(&profile);
		zm_standard_release(&profile);
	}
	free(text);
	return 0;
}
