/*
 * fuzz_profile: a build profile from anywhere. What is taken prints, and reads back to the same text.
 */
#include "buildload/profile.h"

#include <stdlib.h>
#include <string.h>

#include "workloads/fuzz/fuzz.h"

static void check_again(const struct zm_profile *profile)
{
	struct zm_profile *again = NULL;
	char *text, *second;
	size_t length, second_length;

	fuzz_check(zm_profile_print(profile, &text, &length, NULL) == 0);
	fuzz_check(zm_profile_parse(text, length, "again", &again, NULL) == 0);
	fuzz_check(zm_profile_print(again, &second, &second_length, NULL) == 0);
	fuzz_check(length == second_length && memcmp(text, second, length) == 0);
	free(text);
	free(second);
	zm_profile_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zm_profile *profile = NULL;
	struct zm_why why = { .text = "" };
	char *text = fuzz_text(data, size);

	if (zm_profile_parse(text, size, "input", &profile, &why) == 0)
		check_again(profile);
	else
		fuzz_check(!profile && why.text[0]);
	zm_profile_free(profile);
	free(text);
	return 0;
}
