/*
 * why: the one sentence that says what went wrong and how to mend it.
 *
 * Libraries here are silent: a function that can fail for a reason a person must read takes a
 * `struct zm_why *` and returns -errno; the command prints the sentence once, on stderr. The
 * sentence has no newline, no trailing full stop, starts with what failed and ends with the mend:
 *
 *     return zm_why_set(why, -EINVAL, "nr_task=0: at least one task is needed");
 *
 * Control characters, which only what a user typed can bring, are shown as '?'. A NULL `why` is
 * allowed everywhere: the sentence is dropped, the error stays.
 */
#ifndef ZM_WORKLOADS_BASE_WHY_H
#define ZM_WORKLOADS_BASE_WHY_H

#define ZM_WHY_SIZE 512

struct zm_why {
	char text[ZM_WHY_SIZE];
};

/* Writes the sentence (cut at ZM_WHY_SIZE - 1 bytes, on a character's border) and returns `error`,
 * which the caller passes on. */
int zm_why_set(struct zm_why *why, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like zm_why_set, followed by ": " and the text of errno value -error ("No space left on device"). */
int zm_why_errno(struct zm_why *why, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "TEXT: " in front of the sentence that is there, for a caller that knows the context. */
void zm_why_prefix(struct zm_why *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
