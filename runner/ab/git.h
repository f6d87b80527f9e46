/* git: one command of git in a folder, for its success or for its answer. */
#ifndef ZM_RUNNER_AB_GIT_H
#define ZM_RUNNER_AB_GIT_H

#include "workloads/base/why.h"

#define ZM_GIT_WORDS 12 /* of a command, at most */
#define ZM_GIT_SHA   41

/* words: behind `git`, NULL-terminated. -ENOENT: no git here; -EIO: it failed, and the sentence has its last line. */
int zm_git_run(const char *folder, const char *const *words, struct zm_why *why);

/* What it writes, without the last line's end; the caller frees. */
int zm_git_ask(const char *folder, const char *const *words, char **ret_text, struct zm_why *why);

/* The commit that somebody means. */
int zm_git_commit(const char *folder, const char *revision, char ret_sha[ZM_GIT_SHA],
		  struct zm_why *why);

#endif
