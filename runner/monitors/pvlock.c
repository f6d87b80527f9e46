/*
 * pvlock: the processor tells what KVM offers.
 */
#include "runner/monitors/pvlock.h"

#include <string.h>

#include "workloads/base/cleanup.h"

#define FEATURE_PV_UNHALT (1u << 7)
#define HINT_REALTIME     (1u << 0) /* a CPU is never taken away: native locks are better then */

static bool has_word(const char *line, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = line; (at = strstr(at, word)); at += length)
		if ((at == line || at[-1] == ' ') && strchr(" =\n", at[length]))
			return true;
	return false;
}

bool zm_pvlock_judge(unsigned int features, unsigned int hints, const char *command_line,
		     unsigned int nr_cpus)
{
	return (features & FEATURE_PV_UNHALT) && !(hints & HINT_REALTIME) && nr_cpus > 1 &&
	       !has_word(command_line, "nopvspin");
}

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

#define HYPERVISOR_BIT (1u << 31) /* of leaf 1, ecx */
#define FIRST_LEAF     0x40000000u
#define LAST_LEAF      0x40010000u

/* KVM's leaf of features stands behind its signature, which other hypervisors' may precede. */
static bool read_features(unsigned int *ret_features, unsigned int *ret_hints)
{
	unsigned int eax, ebx, ecx, edx;
	char signature[12];

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & HYPERVISOR_BIT))
		return false;
	for (unsigned int leaf = FIRST_LEAF; leaf < LAST_LEAF; leaf += 0x100) {
		__cpuid(leaf, eax, ebx, ecx, edx);
		memcpy(signature, &ebx, 4);
		memcpy(signature + 4, &ecx, 4);
		memcpy(signature + 8, &edx, 4);
		if (memcmp(signature, "KVMKVMKVM\0\0\0", sizeof(signature)) != 0)
			continue;
		__cpuid(leaf + 1, eax, ebx, ecx, edx);
		*ret_features = eax;
		*ret_hints = edx;
		return true;
	}
	return false;
}

bool zm_pvlock_is_on(const struct zm_sysroot *root)
{
	zm_autocpuset struct zm_cpuset possible = { 0 };
	zm_autofree char *line = NULL;
	unsigned int features, hints;

	if (!root->is_live || !read_features(&features, &hints) ||
	    zm_sysroot_read(root, "proc/cmdline", &line, NULL) ||
	    zm_sysroot_read_cpuset(root, "sys/devices/system/cpu/possible", &possible))
		return false;
	return zm_pvlock_judge(features, hints, line, (unsigned int)zm_cpuset_count(&possible));
}

#else

bool zm_pvlock_is_on(const struct zm_sysroot *root)
{
	(void)root;
	return false;
}

#endif
