/* git: through runner/vm/tool, which needs no shell. */
#include "runner/ab/git.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"

static void make_line(const char *const *words, const char **argv)
{
	size_t nr = 0;

	argv[nr++] = "git";
	while (*words && nr <= ZM_GIT_WORDS)
		argv[nr++] = *words++;
	argv[nr] = NULL;
}

int zm_git_run(const char *folder, const char *const *words, struct zm_why *why)
{
	const char *argv[ZM_GIT_WORDS + 2];

	make_line(words, argv);
	return zm_vm_tool_run(
		&(struct zm_vm_tool){
			.argv = argv, .directory = folder, .in_fd = -1, .out_fd = -1 },
		why);
}

int zm_git_ask(const char *folder, const char *const *words, char **ret_text, struct zm_why *why)
{
	const char *argv[ZM_GIT_WORDS + 2];
	char *text;
	size_t length;
	int r;

	make_line(words, argv);
	r = zm_vm_tool_ask(&(struct zm_vm_tool){ .argv = argv, .directory = folder, .in_fd = -1 },
			   &text, why);
	if (r < 0)
		return r;
	length = strlen(text);
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	*ret_text = text;
	return 0;
}

/* What git says of the folder itself, that it is no repository, say, or somebody else's. */
static int check_repository(const char *folder, struct zm_why *why)
{
	static const char *const words[] = { "rev-parse", "--git-dir", NULL };
	zm_autofree char *text = NULL;
	int r = zm_git_ask(folder, words, &text, why);

	if (r < 0)
		zm_why_prefix(why, "%s", folder);
	return r;
}

int zm_git_commit(const char *folder, const char *revision, char ret_sha[ZM_GIT_SHA],
		  struct zm_why *why)
{
	zm_autofree char *text = NULL;
	char name[512];
	const char *const words[] = { "rev-parse",        "--verify", "--quiet",
				      "--end-of-options", name,       NULL };
	int r;

	(void)snprintf(name, sizeof(name), "%s^{commit}", revision);
	r = zm_git_ask(folder, words, &text, why);
	if (r == -EIO && check_repository(folder, why) < 0)
		return -EINVAL;
	if (r == -EIO)
		return zm_why_set(why, -EINVAL, "%s: there is no commit %s", folder, revision);
	if (r < 0)
		return r;
	if (strlen(text) != ZM_GIT_SHA - 1)
		return zm_why_set(why, -EINVAL, "%s: git says \"%.60s\" of %s", folder, text,
				  revision);
	memcpy(ret_sha, text, ZM_GIT_SHA);
	return 0;
}
