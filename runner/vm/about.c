/* about: written by the host, kept by the agent, read by the inventory and the runs. */
#include "runner/vm/about.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "workloads/base/cleanup.h"

int zm_vm_about_print(enum zm_vm_accel accel, const char *topology, const char *kvm_failed,
		      char *buf, size_t size)
{
	struct utsname host;
	json_t *about;
	size_t length;

	(void)uname(&host);
	about = json_pack("{s:s, s:s, s:s, s:b}", "accelerator", zm_vm_accel_name(accel),
			  "topology", topology, "host_kernel", host.release, "is_for_speed",
			  accel == ZM_VM_KVM);
	/* A console's bytes may be no text. */
	if (about && kvm_failed &&
	    json_object_set_new(about, "kvm_failed", json_string(kvm_failed)) < 0)
		(void)json_object_set_new(about, "kvm_failed", json_string("no guest comes up"));
	length = about ? json_dumpb(about, buf, size, JSON_COMPACT) : 0;
	json_decref(about);
	if (length == 0 || length >= size)
		return -ENOBUFS;
	buf[length] = '\0';
	return 0;
}

json_t *zm_vm_about_read(const struct zm_sysroot *root)
{
	zm_autofree char *text = NULL;

	if (zm_sysroot_read(root, ZM_VM_ABOUT, &text, NULL) < 0)
		return NULL;
	return json_loads(text, 0, NULL);
}

const char *zm_vm_about_note(const json_t *about)
{
	const char *name = json_string_value(json_object_get(about, "accelerator"));

	if (name && strcmp(name, "kvm") == 0)
		return "ran in a guest under KVM: its figures hold the hypervisor's cost";
	return "ran in a guest under TCG (an emulated processor): its figures say what happens, "
	       "not "
	       "how fast";
}
