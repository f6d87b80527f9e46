/* thp: reads /sys/kernel/mm/transparent_hugepage, the file for all and the one for each size. */
#include "faultload/thp.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define THP_DIR     "sys/kernel/mm/transparent_hugepage"
#define THP_ENABLED THP_DIR "/enabled"

const char *const zm_thp_names[] = { "default", "never", "madvise", "always", NULL };
const char *const zm_thp_save[] = { THP_ENABLED, NULL };

/* One of the words of an `enabled` file. */
enum enabled { ENABLED_NEVER, ENABLED_MADVISE, ENABLED_ALWAYS, ENABLED_INHERIT };

static enum enabled read_enabled(const struct zm_sysroot *root, const char *path,
				 enum enabled otherwise)
{
	static const char *const words[] = { "never", "madvise", "always", "inherit" };
	char word[16];

	if (zm_sysroot_read_choice(root, path, word, sizeof(word)) < 0)
		return otherwise;
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i]) == 0)
			return (enum enabled)i;
	return otherwise;
}

static bool asks_for_pages(enum zm_thp thp)
{
	return thp == ZM_THP_MADVISE || thp == ZM_THP_ALWAYS;
}

int zm_thp_check(const struct zm_sysroot *root, enum zm_thp thp, struct zm_why *why)
{
	if (!asks_for_pages(thp) || zm_sysroot_has(root, THP_ENABLED))
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "thp=%s: this kernel has no transparent huge pages (/" THP_ENABLED
			  " is not there); run with thp=default",
			  zm_thp_names[thp]);
}

/* PR_GET_THP_DISABLE answers 0, or 1 with the flags it was disabled with. */
static int set_disabled(int answer)
{
	if (prctl(PR_SET_THP_DISABLE, answer & 1, answer & ~1, 0, 0) < 0)
		return -errno;
	return 0;
}

int zm_thp_prepare(const struct zm_sysroot *root, enum zm_thp thp, int *ret_before,
		   struct zm_why *why)
{
	int before = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
	int r = 0;

	if (thp == ZM_THP_DEFAULT)
		return 0;
	if (before >= 0) /* else this kernel has nothing to disable */
		r = set_disabled(thp == ZM_THP_NEVER);
	if (r < 0)
		return zm_why_errno(why, r, "thp=%s: prctl(PR_SET_THP_DISABLE)", zm_thp_names[thp]);
	*ret_before = before;
	if (asks_for_pages(thp) && read_enabled(root, THP_ENABLED, ENABLED_ALWAYS) == ENABLED_NEVER)
		r = zm_sysroot_write(root, THP_ENABLED, "madvise");
	if (r < 0)
		return zm_why_errno(why, r,
				    "thp=%s: huge pages are off here, and /" THP_ENABLED
				    " cannot be set to madvise; run as root, or with thp=default",
				    zm_thp_names[thp]);
	return 0;
}

void zm_thp_cleanup(enum zm_thp thp, int before)
{
	if (thp != ZM_THP_DEFAULT && before >= 0)
		(void)set_disabled(before);
}

bool zm_thp_needs_advice(const struct zm_sysroot *root, enum zm_thp thp)
{
	return thp == ZM_THP_MADVISE ||
	       (thp == ZM_THP_ALWAYS &&
		read_enabled(root, THP_ENABLED, ENABLED_MADVISE) != ENABLED_ALWAYS);
}

uint64_t zm_thp_largest(uint64_t sizes)
{
	return sizes ? UINT64_C(1) << (63 - __builtin_clzll(sizes)) : 0;
}

uint64_t zm_thp_pmd_bytes(const struct zm_sysroot *root)
{
	uint64_t bytes;

	if (!zm_sysroot_has(root, THP_ENABLED) ||
	    zm_sysroot_read_u64(root, THP_DIR "/hpage_pmd_size", &bytes) < 0)
		return 0;
	return bytes;
}

/* Kernels without a file per size give the largest size only, by the file for all. */
static enum enabled read_size_enabled(const struct zm_sysroot *root, uint64_t bytes,
				      uint64_t pmd_bytes)
{
	char path[128];

	(void)snprintf(path, sizeof(path), THP_DIR "/hugepages-%llukB/enabled",
		       (unsigned long long)(bytes / 1024));
	return read_enabled(root, path, bytes == pmd_bytes ? ENABLED_INHERIT : ENABLED_NEVER);
}

uint64_t zm_thp_sizes(const struct zm_sysroot *root, enum zm_thp thp, uint64_t page_bytes)
{
	enum enabled global = read_enabled(root, THP_ENABLED, ENABLED_NEVER);
	bool is_advised = zm_thp_needs_advice(root, thp);
	uint64_t pmd_bytes = zm_thp_pmd_bytes(root);
	uint64_t sizes = 0;

	if (thp == ZM_THP_NEVER)
		return 0;
	if (asks_for_pages(thp) && global == ENABLED_NEVER)
		global = ENABLED_MADVISE; /* as prepare sets it */
	for (uint64_t bytes = page_bytes * 2; bytes <= pmd_bytes; bytes *= 2) {
		enum enabled enabled = read_size_enabled(root, bytes, pmd_bytes);

		if (enabled == ENABLED_INHERIT)
			enabled = global;
		if (enabled == ENABLED_ALWAYS || (enabled == ENABLED_MADVISE && is_advised))
			sizes |= bytes;
	}
	return sizes;
}
