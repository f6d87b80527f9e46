/*
 * cpuinfo: proc/cpuinfo has another layout on each architecture; what it leaves out stands elsewhere.
 *
 *     model       x86, ia64, most others "model name"; ppc "cpu"; MIPS "cpu model"; RISC-V "uarch" or
 *                 "isa"; ARM by implementer and part numbers, of every kind of core there is;
 *                 s390 by proc/sysinfo
 *     hypervisor  x86: CPUID where it is this machine, else the flag and DMI; s390: proc/sysinfo; ppc
 *                 and ARM: the device tree, DMI
 */
#include "runner/cpuinfo.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "workloads/base/cleanup.h"

/* The first blocks are enough, and the whole file takes long on a machine with many CPUs. */
#define HEAD_BYTES 65536

/* --- text ------------------------------------------------------------------------------------ */

/* The file's beginning (of a recorded machine, all of it); NULL when there is none. The caller frees
 * it. */
static char *read_head(const struct zm_sysroot *root, const char *path)
{
	zm_autoclose int fd = -1;
	size_t length = 0;
	char *text;

	if (!root->is_live)
		return zm_sysroot_read(root, path, &text, NULL) ? NULL : text;
	fd = openat(root->dir_fd, path, O_RDONLY | O_CLOEXEC);
	text = fd < 0 ? NULL : calloc(1, HEAD_BYTES + 1);
	while (text && length < HEAD_BYTES) {
		ssize_t got = read(fd, text + length, HEAD_BYTES - length);

		if (got <= 0)
			break;
		length += (size_t)got;
	}
	return text;
}

/* Copies a value up to the line's end, inner runs of blanks as one. */
static void copy_value(char *buf, size_t size, const char *value)
{
	size_t length = 0;

	for (value += strspn(value, " \t"); *value && *value != '\n' && length + 1 < size;
	     value++) {
		bool is_blank = isspace((unsigned char)*value);

		if (is_blank && (length == 0 || buf[length - 1] == ' '))
			continue;
		buf[length++] = is_blank ? ' ' : *value;
	}
	while (length && buf[length - 1] == ' ')
		length--;
	buf[length] = '\0';
}

/* The value behind "key :" at a line's beginning, from *at on; *at moves behind it. */
static bool next_value(const char **at, const char *key, char *buf, size_t size)
{
	size_t length = strlen(key);

	for (const char *line = *at; line && *line;) {
		const char *end = strchr(line, '\n');

		if (strncmp(line, key, length) == 0) {
			const char *colon = line + length + strspn(line + length, " \t");

			if (*colon == ':') {
				copy_value(buf, size, colon + 1);
				*at = end ? end + 1 : "";
				return true;
			}
		}
		line = end ? end + 1 : NULL;
	}
	return false;
}

static bool first_value(const char *text, const char *key, char *buf, size_t size)
{
	return next_value(&text, key, buf, size) && buf[0];
}

/* The first line of a small file, trimmed; the device tree ends it with a NUL. */
static bool read_word(const struct zm_sysroot *root, const char *path, char *buf, size_t size)
{
	char line[ZM_CPUINFO_SIZE];

	if (zm_sysroot_read_line(root, path, line, sizeof(line)))
		return false;
	copy_value(buf, size, line);
	return buf[0] != '\0';
}

/* --- ARM ------------------------------------------------------------------------------------- */

static const struct {
	unsigned long number;
	const char *name;
} implementers[] = {
	{ 0x41, "ARM" },       { 0x42, "Broadcom" }, { 0x43, "Cavium" }, { 0x46, "Fujitsu" },
	{ 0x48, "HiSilicon" }, { 0x4e, "NVIDIA" },   { 0x50, "APM" },    { 0x51, "Qualcomm" },
	{ 0x53, "Samsung" },   { 0x56, "Marvell" },  { 0x61, "Apple" },  { 0x69, "Intel" },
	{ 0x6d, "Microsoft" }, { 0x70, "Phytium" },  { 0xc0, "Ampere" },
};

static const struct {
	unsigned long implementer, part;
	const char *name;
} parts[] = {
	{ 0x41, 0xd03, "Cortex-A53" },   { 0x41, 0xd04, "Cortex-A35" },
	{ 0x41, 0xd05, "Cortex-A55" },   { 0x41, 0xd07, "Cortex-A57" },
	{ 0x41, 0xd08, "Cortex-A72" },   { 0x41, 0xd09, "Cortex-A73" },
	{ 0x41, 0xd0a, "Cortex-A75" },   { 0x41, 0xd0b, "Cortex-A76" },
	{ 0x41, 0xd0c, "Neoverse-N1" },  { 0x41, 0xd0d, "Cortex-A77" },
	{ 0x41, 0xd40, "Neoverse-V1" },  { 0x41, 0xd41, "Cortex-A78" },
	{ 0x41, 0xd44, "Cortex-X1" },    { 0x41, 0xd46, "Cortex-A510" },
	{ 0x41, 0xd47, "Cortex-A710" },  { 0x41, 0xd48, "Cortex-X2" },
	{ 0x41, 0xd49, "Neoverse-N2" },  { 0x41, 0xd4a, "Neoverse-E1" },
	{ 0x41, 0xd4d, "Cortex-A715" },  { 0x41, 0xd4e, "Cortex-X3" },
	{ 0x41, 0xd4f, "Neoverse-V2" },  { 0x41, 0xd80, "Cortex-A520" },
	{ 0x41, 0xd81, "Cortex-A720" },  { 0x41, 0xd82, "Cortex-X4" },
	{ 0x41, 0xd84, "Neoverse-V3" },  { 0x41, 0xd85, "Cortex-X925" },
	{ 0x41, 0xd87, "Cortex-A725" },  { 0x41, 0xd8e, "Neoverse-N3" },
	{ 0x43, 0x0af, "ThunderX2" },    { 0x46, 0x001, "A64FX" },
	{ 0x48, 0xd01, "TaiShan-v110" }, { 0x48, 0xd02, "TaiShan-v120" },
	{ 0xc0, 0xac3, "Ampere-1" },     { 0xc0, 0xac4, "Ampere-1a" },
};

static const char *find_implementer(unsigned long number)
{
	for (size_t i = 0; i < sizeof(implementers) / sizeof(implementers[0]); i++)
		if (implementers[i].number == number)
			return implementers[i].name;
	return NULL;
}

static void name_part(unsigned long implementer, unsigned long part, char *buf, size_t size)
{
	const char *name = find_implementer(implementer);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].implementer == implementer && parts[i].part == part) {
			(void)snprintf(buf, size, "%s", parts[i].name);
			return;
		}
	if (name)
		(void)snprintf(buf, size, "%s part 0x%lx", name, part);
	else
		(void)snprintf(buf, size, "implementer 0x%lx part 0x%lx", implementer, part);
}

/* Every kind of core once, in their order: "Cortex-A510 + Cortex-A715 + Cortex-X3". */
static void read_arm(const char *text, struct zm_cpuinfo *info)
{
	char value[32], name[64];
	unsigned long implementer = 0, part;
	size_t length = 0;

	while (next_value(&text, "CPU implementer", value, sizeof(value))) {
		const char *block = text;

		implementer = strtoul(value, NULL, 0);
		if (!next_value(&block, "CPU part", value, sizeof(value)))
			break;
		part = strtoul(value, NULL, 0);
		name_part(implementer, part, name, sizeof(name));
		if (strstr(info->model, name) || length >= sizeof(info->model))
			continue;
		length += (size_t)snprintf(info->model + length, sizeof(info->model) - length,
					   "%s%s", length ? " + " : "", name);
	}
	if (find_implementer(implementer))
		(void)snprintf(info->vendor, sizeof(info->vendor), "%s",
			       find_implementer(implementer));
}

/* --- s390 ------------------------------------------------------------------------------------ */

/* "IBM 3906 M03 z14" as far as it is said. */
static void read_s390(const struct zm_sysroot *root, struct zm_cpuinfo *info)
{
	zm_autofree char *text = read_head(root, "proc/sysinfo");
	char type[64] = "", model[64] = "", control[64] = "";

	if (!text)
		return;
	(void)first_value(text, "Type", type, sizeof(type));
	(void)first_value(text, "Model", model, sizeof(model));
	if (type[0])
		(void)snprintf(info->model, sizeof(info->model), "IBM %s%s%s", type,
			       model[0] ? " " : "", model);
	if (first_value(text, "VM00 Control Program", control, sizeof(control)))
		(void)snprintf(info->hypervisor, sizeof(info->hypervisor), "%s", control);
	else if (strstr(text, "\nLPAR Number"))
		(void)snprintf(info->hypervisor, sizeof(info->hypervisor), "PR/SM");
}

/* --- hypervisor ------------------------------------------------------------------------------ */

#if defined(__x86_64__) || defined(__i386__)
/* The name that the hypervisor gives itself. */
static bool ask_cpuid(char *buf, size_t size)
{
	static const struct {
		const char *signature;
		const char *name;
	} names[] = {
		{ "KVMKVMKVM", "KVM" },           { "Microsoft Hv", "Hyper-V" },
		{ "VMwareVMware", "VMware" },     { "XenVMMXenVMM", "Xen" },
		{ "TCGTCGTCGTCG", "QEMU TCG" },   { "bhyve bhyve ", "bhyve" },
		{ "ACRNACRNACRN", "ACRN" },       { "prl hyperv  ", "Parallels" },
		{ "VBoxVBoxVBox", "VirtualBox" },
	};
	unsigned int leaf, words[3];
	char signature[sizeof(words) + 1] = "";

	__cpuid(0x40000000, leaf, words[0], words[1], words[2]);
	memcpy(signature, words, sizeof(words));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(signature, names[i].signature, strlen(names[i].signature)) == 0) {
			(void)snprintf(buf, size, "%s", names[i].name);
			return true;
		}
	for (const char *c = signature; *c; c++)
		if (!isprint((unsigned char)*c))
			return false;
	(void)snprintf(buf, size, "%s", signature);
	return signature[0] != '\0';
}
#else
static bool ask_cpuid(char *buf, size_t size)
{
	(void)buf;
	(void)size;
	return false;
}
#endif

static bool has_flag(const char *text, const char *flag)
{
	const char *flags = strstr(text, "\nflags"), *end = flags ? strchr(flags + 1, '\n') : NULL;
	const char *hit = flags ? strstr(flags, flag) : NULL;

	return hit && (!end || hit < end);
}

/* What firmware and the device tree call the machine. */
static bool ask_firmware(const struct zm_sysroot *root, char *buf, size_t size)
{
	static const struct {
		const char *start;
		const char *name;
	} names[] = {
		{ "QEMU", "KVM or QEMU" },
		{ "VMware", "VMware" },
		{ "Xen", "Xen" },
		{ "innotek", "VirtualBox" },
		{ "Amazon EC2", "KVM" },
		{ "Google", "KVM" },
		{ "Parallels", "Parallels" },
		{ "OpenStack", "KVM" },
		{ "KVM", "KVM" },
		{ "linux,kvm", "KVM" },
		{ "linux,dummy-virt", "KVM or QEMU" },
	};
	static const char *const paths[] = {
		"sys/hypervisor/type",
		"proc/device-tree/hypervisor/compatible",
		"proc/device-tree/compatible",
		"sys/class/dmi/id/sys_vendor",
	};
	char word[ZM_CPUINFO_SIZE];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (!read_word(root, paths[i], word, sizeof(word)))
			continue;
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strncasecmp(word, names[k].start, strlen(names[k].start)) == 0) {
				(void)snprintf(buf, size, "%s", names[k].name);
				return true;
			}
	}
	return false;
}

static void read_hypervisor(const struct zm_sysroot *root, const char *text,
			    struct zm_cpuinfo *info)
{
	bool is_x86 = strstr(text, "\nflags") != NULL;

	if (info->hypervisor[0])
		return;
	if (is_x86 && !has_flag(text, " hypervisor"))
		return;
	if (is_x86 && root->is_live && ask_cpuid(info->hypervisor, sizeof(info->hypervisor)))
		return;
	if (!ask_firmware(root, info->hypervisor, sizeof(info->hypervisor)) && is_x86)
		(void)snprintf(info->hypervisor, sizeof(info->hypervisor), "unknown");
}

/* --- all of it ------------------------------------------------------------------------------- */

static void read_model(const struct zm_sysroot *root, const char *text, struct zm_cpuinfo *info)
{
	static const char *const keys[] = { "model name", "Model Name", "cpu model", "cpu",
					    "uarch",      "Processor",  "isa",       "family" };

	if (strstr(text, "IBM/S390"))
		read_s390(root, info);
	if (!info->model[0])
		read_arm(text, info);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !info->model[0]; i++)
		(void)first_value(text, keys[i], info->model, sizeof(info->model));
}

void zm_cpuinfo_read(const struct zm_sysroot *root, struct zm_cpuinfo *ret_info)
{
	zm_autofree char *text = read_head(root, "proc/cpuinfo");
	struct zm_cpuinfo info = { "", "", "", "" };

	if (text) {
		read_model(root, text, &info);
		if (!info.vendor[0] &&
		    !first_value(text, "vendor_id", info.vendor, sizeof(info.vendor)))
			(void)first_value(text, "vendor", info.vendor, sizeof(info.vendor));
		if (!first_value(text, "microcode", info.microcode, sizeof(info.microcode)))
			(void)read_word(root, "sys/devices/system/cpu/cpu0/microcode/version",
					info.microcode, sizeof(info.microcode));
		read_hypervisor(root, text, &info);
	}
	*ret_info = info;
}

void zm_cpuinfo_read_product(const struct zm_sysroot *root, char *buf, size_t size)
{
	static const char *const models[] = { "proc/device-tree/model",
					      "sys/firmware/devicetree/base/model" };
	char vendor[ZM_CPUINFO_SIZE] = "", name[ZM_CPUINFO_SIZE] = "";
	zm_autofree char *text = NULL;

	buf[0] = '\0';
	(void)read_word(root, "sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	(void)read_word(root, "sys/class/dmi/id/product_name", name, sizeof(name));
	if (vendor[0] || name[0]) {
		(void)snprintf(buf, size, "%s%s%s", vendor, vendor[0] && name[0] ? " " : "", name);
		return;
	}
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (read_word(root, models[i], buf, size))
			return;
	text = read_head(root, "proc/cpuinfo");
	if (text && !first_value(text, "Model", buf, size) &&
	    !first_value(text, "machine", buf, size))
		(void)first_value(text, "Hardware", buf, size);
}
