/*
 * small_profile: a build profile for tests, as its text and with one part of it replaced by another.
 */
#ifndef ZM_BUILDLOAD_TESTS_SMALL_PROFILE_H
#define ZM_BUILDLOAD_TESTS_SMALL_PROFILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buildload/profile.h"
#include "workloads/base/tests/tree.h"

#define SMALL_PROFILE ZM_SOURCE_DIR "/buildload/fuzz/corpus/profile/small"

static inline char *small_profile_text(void)
{
	FILE *in = fopen(SMALL_PROFILE, "re");
	char *text = calloc(1, 1 << 16);

	tree_must(in && text && fread(text, 1, (1 << 16) - 1, in) > 0);
	(void)fclose(in);
	return text;
}

/* The first `old` of it becomes `new`; "" for old: none does. The caller frees. */
static inline char *small_profile_with(const char *old, const char *new)
{
	char *text = small_profile_text();
	char *at = strstr(text, old);
	char *changed = NULL;

	tree_must(at);
	tree_must(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) >
		  0);
	free(text);
	return changed;
}

static inline struct zm_profile *small_profile_make(const char *old, const char *new)
{
	struct zm_profile *profile = NULL;
	char *text = small_profile_with(old, new);
	struct zm_why why;

	if (zm_profile_parse(text, strlen(text), "small", &profile, &why) < 0)
		(void)fprintf(stderr, "%s\n", why.text);
	tree_must(profile);
	free(text);
	return profile;
}

#endif
