/*
 * words: what commands that boot kernels have in common on their lines: switches that are handed on to
 * `zonemark vm`, the line to be run, and names of files that mean the same from any folder.
 */
#ifndef ZM_RUNNER_AB_WORDS_H
#define ZM_RUNNER_AB_WORDS_H

#include <jansson.h>

#include "workloads/base/option.h"
#include "workloads/base/why.h"

/* As typed: vm checks them. */
struct zm_ab_guest {
	char *modules, *accel, *cpus, *topology, *memory, *hugepages, *timeout, *boot_timeout;
};

#define ZM_AB_TEXT_ROW(at, member, what, text)                                                     \
	{                                                                                          \
		.name = #member, .type = ZM_OPTION_STRING, .offset = at(member), .unit = (what),   \
		.help = (text)                                                                     \
	}

/* at(member) is a member's offset in the command's switches. */
#define ZM_AB_GUEST_ROWS(at)                                                                       \
	ZM_AB_TEXT_ROW(at, modules, "folder",                                                      \
		       "of the guest, as for `zonemark vm`; and so are these:"),                   \
		ZM_AB_TEXT_ROW(at, accel, "word", "auto, kvm or tcg"),                             \
		ZM_AB_TEXT_ROW(at, cpus, "cpus", "how many it has"),                               \
		ZM_AB_TEXT_ROW(at, topology, "spec", "sockets, cores, nodes"),                     \
		ZM_AB_TEXT_ROW(at, memory, "size", "of all nodes together"),                       \
		ZM_AB_TEXT_ROW(at, hugepages, "pages", "from the boot on"),                        \
		ZM_AB_TEXT_ROW(at, timeout, "time", "for each boot"),                              \
		ZM_AB_TEXT_ROW(at, boot_timeout, "time", "until the guest is up")

/* New references; NULL without memory. */
json_t *zm_ab_guest_words(const struct zm_ab_guest *guest);
json_t *zm_ab_line_words(const char *const *words, size_t nr_words);

/* What these commands set themselves may not stand in the line: -EINVAL. Its first word is a workload, a
 * matrix or a file: -ENOENT, before anything is built or booted. */
int zm_ab_line_check(const char *const *words, size_t nr_words, const char *name,
		     struct zm_why *why);

/* -ENAMETOOLONG. */
int zm_ab_path_absolute(const char *path, char *buf, size_t size, struct zm_why *why);

/* The store that is meant, NULL: the usual one. */
int zm_ab_store_path(const char *db, char *buf, size_t size, struct zm_why *why);

#endif
