/* cpuinfo: every architecture's own way to say what it is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "runner/cpuinfo.h"
#include "workloads/base/tests/tree.h"

#define nr_of(array) (sizeof(array) / sizeof((array)[0]))

#define DMI     "sys/class/dmi/id/"
#define SYSINFO "proc/sysinfo"

/* One more file beside proc/cpuinfo. */
struct file {
	const char *path;
	const char *text;
};

static const struct {
	const char *cpuinfo;
	struct file files[2];
	struct zm_cpuinfo expected;
	const char *product;
} cases[] = {
	{ NULL, { { NULL, NULL } }, { "", "", "", "" }, "" },
	{ "", { { NULL, NULL } }, { "", "", "", "" }, "" },
	{ "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some  CPU   @ 2.00GHz \n"
	  "microcode\t: 0x2b\nflags\t\t: fpu vme\n\nprocessor\t: 1\nmodel name\t: Other\n",
	  { { NULL, NULL } },
	  { "Some CPU @ 2.00GHz", "GenuineIntel", "0x2b", "" },
	  "" },
	{ "processor\t: 0\nmodel name\t: Virtual\nflags\t\t: fpu hypervisor lahf\n",
	  { { NULL, NULL } },
	  { "Virtual", "", "", "unknown" },
	  "" },
	{ "processor\t: 0\nmodel name\t: Virtual\nflags\t\t: fpu hypervisor lahf\n",
	  { { DMI "sys_vendor", "QEMU\n" }, { DMI "product_name", "Standard PC\n" } },
	  { "Virtual", "", "", "KVM or QEMU" },
	  "QEMU Standard PC" },
	/* A real machine of a vendor that also makes hypervisors. */
	{ "processor\t: 0\nmodel name\t: Real\nflags\t\t: fpu\nbugs\t: hypervisor\n",
	  { { DMI "sys_vendor", "Xen\n" } },
	  { "Real", "", "", "" },
	  "Xen" },
	{ "processor\t: 0\nmodel name\t: X\n",
	  { { "sys/devices/system/cpu/cpu0/microcode/version", "0x99\n" } },
	  { "X", "", "0x99", "" },
	  "" },
	{ "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"
	  "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
	  { { NULL, NULL } },
	  { "Neoverse-N1", "ARM", "", "" },
	  "" },
	{ "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd46\n\n"
	  "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd4d\n\n"
	  "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd46\n",
	  { { "proc/device-tree/model", "A board" } },
	  { "Cortex-A510 + Cortex-A715", "ARM", "", "" },
	  "A board" },
	{ "processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: 0x123\n",
	  { { "proc/device-tree/compatible", "linux,dummy-virt" } },
	  { "implementer 0x99 part 0x123", "", "", "KVM or QEMU" },
	  "" },
	{ "processor\t: 0\nCPU implementer\t: 0x48\nCPU part\t: 0xfff\n",
	  { { NULL, NULL } },
	  { "HiSilicon part 0xfff", "HiSilicon", "", "" },
	  "" },
	{ "Processor\t: ARMv7 Processor rev 1 (v7l)\nprocessor\t: 0\nHardware\t: A chip\n",
	  { { NULL, NULL } },
	  { "ARMv7 Processor rev 1 (v7l)", "", "", "" },
	  "A chip" },
	{ "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nmachine\t: A frame\n",
	  { { "proc/device-tree/hypervisor/compatible", "linux,kvm" } },
	  { "POWER9, altivec supported", "", "", "KVM" },
	  "A frame" },
	{ "vendor_id       : IBM/S390\n# processors    : 3\nprocessor 0: version = FF\n",
	  { { SYSINFO, "Manufacturer:         IBM\nType:                 3906\n"
		       "Model:                701              M04\n"
		       "LPAR Number:          46\nVM00 Control Program: KVM/Linux\n" } },
	  { "IBM 3906 701 M04", "IBM/S390", "", "KVM/Linux" },
	  "" },
	{ "vendor_id       : IBM/S390\n",
	  { { SYSINFO, "Type:                 2817\nLPAR Number:          46\n" } },
	  { "IBM 2817", "IBM/S390", "", "PR/SM" },
	  "" },
	{ "vendor_id       : IBM/S390\n", { { NULL, NULL } }, { "", "IBM/S390", "", "" }, "" },
	{ "processor\t: 0\nhart\t: 1\nisa\t: rv64imafdc\nuarch\t: sifive,u74-mc\n",
	  { { NULL, NULL } },
	  { "sifive,u74-mc", "", "", "" },
	  "" },
	{ "processor\t: 0\nisa\t: rv64imafdcv\n",
	  { { NULL, NULL } },
	  { "rv64imafdcv", "", "", "" },
	  "" },
	{ "system type\t: generic\nprocessor\t: 0\nModel Name\t: Some-3A\n",
	  { { NULL, NULL } },
	  { "Some-3A", "", "", "" },
	  "" },
	{ "processor : 0\nvendor : GenuineIntel\nfamily : Itanium 2\n",
	  { { NULL, NULL } },
	  { "Itanium 2", "GenuineIntel", "", "" },
	  "" },
	{ "CPU part\t: 0xd03", { { NULL, NULL } }, { "", "", "", "" }, "" },
	{ "model name\t:\nmodel name", { { NULL, NULL } }, { "", "", "", "" }, "" },
};

static void every_architecture_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_of(cases); i++) {
		struct tree tree;
		struct zm_sysroot root;
		struct zm_cpuinfo info;
		char product[128];

		tree_make(&tree);
		if (cases[i].cpuinfo)
			tree_write(&tree, "proc/cpuinfo", cases[i].cpuinfo);
		for (size_t k = 0; k < 2; k++)
			if (cases[i].files[k].path)
				tree_write(&tree, cases[i].files[k].path, cases[i].files[k].text);
		assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
		zm_cpuinfo_read(&root, &info);
		assert_string_equal(info.model, cases[i].expected.model);
		assert_string_equal(info.vendor, cases[i].expected.vendor);
		assert_string_equal(info.microcode, cases[i].expected.microcode);
		assert_string_equal(info.hypervisor, cases[i].expected.hypervisor);
		zm_cpuinfo_read_product(&root, product, sizeof(product));
		assert_string_equal(product, cases[i].product);
		zm_sysroot_release(&root);
		tree_remove(&tree);
	}
}

/* A value longer than its room is cut, whatever the key. */
static void long_values_are_cut(void **state)
{
	struct tree tree;
	struct zm_sysroot root;
	struct zm_cpuinfo info;
	char text[4096] = "model name\t: ";

	(void)state;
	memset(text + strlen(text), 'x', sizeof(text) - strlen(text) - 1);
	tree_make(&tree);
	tree_write(&tree, "proc/cpuinfo", text);
	assert_int_equal(zm_sysroot_open(&root, tree.path), 0);
	zm_cpuinfo_read(&root, &info);
	assert_int_equal(strlen(info.model), sizeof(info.model) - 1);
	zm_sysroot_release(&root);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_architecture_is_read),
		cmocka_unit_test(long_values_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
