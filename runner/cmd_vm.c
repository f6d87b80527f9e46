/*
 * cmd_vm: another zonemark command, on another kernel, in a guest that is thrown away.
 *
 *     furnish   kernel, modules, initramfs, shape
 *     boot      by KVM, by TCG, or by the first of them by which it comes up
 *     bring     the answer to stdout, the store's runs into ours, the exit status on
 */
#include "runner/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/import.h"
#include "results/outbox.h"
#include "results/store.h"
#include "runner/send.h"
#include "runner/vm/about.h"
#include "runner/vm/bytes.h"
#include "runner/vm/cache.h"
#include "runner/vm/guest.h"
#include "runner/vm/initramfs.h"
#include "runner/vm/kernel.h"
#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/remove.h"
#include "workloads/base/sysroot.h"

#define KVM_DEVICE      "/dev/kvm"
#define KVM_PATIENCE_NS (10 * ZM_NS_PER_S)
#define MAX_APPEND      2048

struct switches {
	char *kernel, *modules, *topology, *hugepages, *append, *db;
	unsigned int accel;
	uint64_t cpus, memory_bytes, timeout_ns, boot_timeout_ns;
	bool console;
};

struct command {
	const struct switches *switches;
	const struct zm_args *args;
	struct zm_vm_kernel kernel;
	char *cache, *initramfs;
	char append[MAX_APPEND];
	struct zm_vm_spec spec;
	struct zm_vm_console console;
	struct zm_vm_course course;
	struct zm_vm_channel *channel;
	int channel_fd, signal_fd;
	sigset_t old_mask;
	struct zm_why kvm_failed; /* "": KVM was not tried, or does */
};

enum accel_choice {
	ACCEL_AUTO,
	ACCEL_KVM,
	ACCEL_TCG,
};

static const char *const accels[] = { "auto", "kvm", "tcg", NULL };

#define AT(member) offsetof(struct switches, member)

static const struct zm_option rows[] = {
	{ .name = "kernel",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(kernel),
	  .unit = "kernel",
	  .help = "a bzImage or vmlinux, a folder that holds one (a build tree, an unpacked "
		  "package), debian, or debian:PACKAGE" },
	{ .name = "modules",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(modules),
	  .unit = "folder",
	  .help = "where the kernel's modules lie; otherwise beside it, or in /lib/modules" },
	{ .name = "accel",
	  .type = ZM_OPTION_CHOICE,
	  .offset = AT(accel),
	  .preset = "auto",
	  .choices = accels,
	  .help = "by what the guest runs; auto is KVM where it comes up by it, else TCG" },
	{ .name = "cpus",
	  .type = ZM_OPTION_U64,
	  .offset = AT(cpus),
	  .preset = "0",
	  .max = ZM_VM_MAX_CPUS,
	  .unit = "CPUs",
	  .help = "how many CPUs it has; 0 is 4, or what the topology needs" },
	{ .name = "topology",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(topology),
	  .preset = "1s",
	  .unit = "spec",
	  .help = "1s, 2s or 4s: so many sockets, a node each; or NAME=VALUE,…" },
	{ .name = "memory",
	  .type = ZM_OPTION_SIZE,
	  .offset = AT(memory_bytes),
	  .preset = "2G",
	  .min = UINT64_C(128) << 20,
	  .help = "memory of all its nodes together" },
	{ .name = "hugepages",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(hugepages),
	  .unit = "pages",
	  .help = "huge pages from the boot on, as the kernel's hugepages= takes them: 64, or "
		  "0:64,1:64 by nodes" },
	{ .name = "append",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(append),
	  .unit = "text",
	  .help = "more of the kernel's command line" },
	{ .name = "timeout",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(timeout_ns),
	  .preset = "2h",
	  .help = "longest time until all is done; 0 is no limit" },
	{ .name = "boot_timeout",
	  .type = ZM_OPTION_DURATION,
	  .offset = AT(boot_timeout_ns),
	  .preset = "180s",
	  .min = ZM_NS_PER_S,
	  .help = "longest time until the guest is up" },
	{ .name = "console",
	  .type = ZM_OPTION_BOOL,
	  .offset = AT(console),
	  .preset = "0",
	  .help = "show what its kernel prints" },
	{ .name = "db",
	  .type = ZM_OPTION_STRING,
	  .offset = AT(db),
	  .unit = "file",
	  .help = "the store that takes its runs; otherwise $ZONEMARK_DB or zonemark/zonemark.db "
		  "in "
		  "the data folder" },
	{ .name = NULL },
};

/* --- furnish --------------------------------------------------------------------------------- */

static int check_line(const struct command *command, struct zm_why *why)
{
	if (!command->switches->kernel)
		return zm_why_set(
			why, -EINVAL,
			"vm: which kernel? --kernel FILE, or --kernel debian for Debian's");
	if (command->args->nr_words == 0)
		return zm_why_set(
			why, -EINVAL,
			"vm: what shall the guest run? `zonemark vm --kernel %s run quick`",
			command->switches->kernel);
	if (strcmp(command->args->words[0], "vm") == 0)
		return zm_why_set(why, -EINVAL, "vm: a guest within a guest is not had");
	return 0;
}

static int find_qemu(struct zm_why *why)
{
	const char *const argv[] = { "qemu-system-x86_64", "--version", NULL };
	int r = zm_vm_tool_run(&(struct zm_vm_tool){ .argv = argv, .in_fd = -1, .out_fd = -1 },
			       why);

	if (r == -ENOENT)
		return zm_why_set(why, r,
				  "vm: qemu-system-x86_64 is not here; install it (Debian: "
				  "apt-get install --no-install-recommends qemu-system-x86)");
	return r;
}

/* A guest that this machine has no memory for would push it into swap, or be killed. */
static int check_memory(const struct command *command, struct zm_why *why)
{
	uint64_t wanted = command->switches->memory_bytes;
	zm_autofree char *text = NULL;
	struct zm_sysroot root;
	const char *at = NULL;
	uint64_t kib;

	if (zm_sysroot_open(&root, NULL) == 0) {
		if (zm_sysroot_read(&root, "proc/meminfo", &text, NULL) == 0)
			at = strstr(text, "MemAvailable:");
		zm_sysroot_release(&root);
	}
	if (at && sscanf(at, "MemAvailable: %" SCNu64, &kib) == 1 && wanted >> 10 > kib)
		return zm_why_set(why, -ENOMEM,
				  "vm: --memory of %" PRIu64 " MiB, and %" PRIu64
				  " MiB are available here; ask for less",
				  wanted >> 20, kib >> 10);
	return 0;
}

static int make_append(struct command *command, struct zm_why *why)
{
	const struct switches *switches = command->switches;
	int n = snprintf(command->append, sizeof(command->append), "%s%s%s%s",
			 switches->hugepages ? "hugepages=" : "",
			 switches->hugepages ? switches->hugepages : "",
			 switches->hugepages && switches->append ? " " : "",
			 switches->append ? switches->append : "");

	if (n < 0 || (size_t)n >= sizeof(command->append))
		return zm_why_set(why, -E2BIG, "vm: --append has more than %d bytes", MAX_APPEND);
	return 0;
}

static int make_initramfs(struct command *command, struct zm_why *why)
{
	/* sctp's checksum and tls's cipher are asked for by their names, not by dependencies. */
	static const char *const wanted[] = {
		"crc32c_generic", "sctp", "ctr", "ghash_generic", "gcm", "tls", NULL
	};
	struct zm_vm_modules modules = { 0 };
	uint64_t start_ns = zm_clock_now_ns();
	int r = 0;

	if (command->kernel.modules)
		r = zm_vm_modules_find(command->kernel.modules, wanted, &modules, why);
	else
		(void)fprintf(stderr, "no modules of this kernel here (--modules): what is not "
				      "built in, SCTP perhaps, is missing\n");
	if (r == 0)
		r = zm_vm_initramfs_make(NULL, &modules, command->cache, &command->initramfs, why);
	if (r == 0)
		(void)fprintf(stderr, "initramfs: %zu modules, %.2f s\n", modules.nr,
			      (double)(zm_clock_now_ns() - start_ns) / ZM_NS_PER_S);
	zm_vm_modules_release(&modules);
	return r;
}

static int furnish(struct command *command, struct zm_why *why)
{
	const struct switches *switches = command->switches;
	int r = check_line(command, why);

	if (r == 0)
		r = zm_vm_shape_parse(switches->topology, (unsigned int)switches->cpus,
				      switches->memory_bytes, &command->spec.shape, why);
	if (r == 0)
		r = make_append(command, why);
	if (r == 0)
		r = check_memory(command, why);
	if (r == 0)
		r = find_qemu(why);
	if (r == 0)
		r = zm_vm_cache_open(&command->cache, why);
	if (r == 0)
		r = zm_vm_kernel_open(switches->kernel, switches->modules, command->cache,
				      &command->kernel, why);
	if (r == 0)
		r = make_initramfs(command, why);
	command->spec.kernel = command->kernel.image.path;
	command->spec.initramfs = command->initramfs;
	command->spec.append = command->append[0] ? command->append : NULL;
	return r;
}

/* --- boot ------------------------------------------------------------------------------------ */

static int open_signals(struct command *command, struct zm_why *why)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, &command->old_mask);
	command->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return command->signal_fd < 0 ? zm_why_errno(why, -errno, "hearing signals") : 0;
}

static void release_channel(struct command *command)
{
	zm_vm_channel_release(command->channel_fd, command->channel);
	command->channel = NULL;
	command->channel_fd = -1;
}

/* A fresh one for every boot: nothing of a try that failed is in it. */
static int fill_channel(struct command *command, struct zm_why *why)
{
	struct zm_vm_channel *channel;
	struct zm_sysroot root;
	int r;

	release_channel(command);
	r = zm_vm_channel_make(&command->channel_fd, &command->channel, why);
	if (r < 0)
		return r;
	channel = command->channel;
	if (zm_sysroot_open(&root, NULL) == 0) {
		(void)zm_sysroot_read_line(&root, "etc/machine-id", channel->machine_id,
					   sizeof(channel->machine_id));
		zm_sysroot_release(&root);
	}
	if (zm_vm_about_print(command->spec.accel, command->switches->topology,
			      command->kvm_failed.text[0] ? command->kvm_failed.text : NULL,
			      channel->about, sizeof(channel->about)) < 0)
		return zm_why_set(why, -E2BIG, "vm: --topology is too long");
	return zm_vm_channel_put_words(channel, command->args->words, command->args->nr_words, why);
}

static int boot(struct command *command, enum zm_vm_accel accel, uint64_t boot_ns,
		struct zm_why *why)
{
	struct zm_vm_limits limits = { .boot_ns = boot_ns,
				       .all_ns = command->switches->timeout_ns,
				       .signal_fd = command->signal_fd,
				       .shows_console = command->switches->console };
	const struct zm_vm_shape *shape = &command->spec.shape;
	const char *release = command->kernel.image.release;
	int r;

	command->spec.accel = accel;
	r = fill_channel(command, why);
	if (r < 0)
		return r;
	command->spec.channel_fd = command->channel_fd;
	command->spec.channel_bytes = ZM_VM_CHANNEL_BYTES;
	(void)fprintf(stderr, "guest: %s, %u CPUs, %u socket%s, %u node%s, %s\n",
		      *release ? release : "a kernel of unknown release", shape->nr_cpus,
		      shape->sockets, shape->sockets == 1 ? "" : "s", shape->nr_nodes,
		      shape->nr_nodes == 1 ? "" : "s", accel == ZM_VM_KVM ? "KVM" : "TCG");
	return zm_vm_guest_run(&command->spec, command->channel, &limits, &command->console,
			       &command->course, why);
}

/* Whether KVM works shows only when a guest comes up: a device that can be opened promises nothing. */
static int boot_by_any(struct command *command, struct zm_why *why)
{
	uint64_t patience_ns = command->switches->boot_timeout_ns;
	struct zm_why *first = &command->kvm_failed;
	int r;

	if (access(KVM_DEVICE, R_OK | W_OK) < 0) {
		(void)zm_why_errno(first, -errno, "%s", KVM_DEVICE);
		(void)fprintf(stderr, "KVM: %s; so it is TCG\n", first->text);
		return boot(command, ZM_VM_TCG, patience_ns, why);
	}
	r = boot(command, ZM_VM_KVM, patience_ns < KVM_PATIENCE_NS ? patience_ns : KVM_PATIENCE_NS,
		 first);
	if (r == 0 || r == -EINTR || command->course.up_ns) {
		*why = *first;
		return r;
	}
	(void)fprintf(stderr, "KVM: no guest comes up by it (%s); so it is TCG\n", first->text);
	command->course = (struct zm_vm_course){ 0 };
	return boot(command, ZM_VM_TCG, patience_ns, why);
}

static int boot_by_choice(struct command *command, struct zm_why *why)
{
	uint64_t patience_ns = command->switches->boot_timeout_ns;

	switch (command->switches->accel) {
	case ACCEL_KVM:
		return boot(command, ZM_VM_KVM, patience_ns, why);
	case ACCEL_TCG:
		return boot(command, ZM_VM_TCG, patience_ns, why);
	default:
		return boot_by_any(command, why);
	}
}

/* --- bring ----------------------------------------------------------------------------------- */

/* A server's store gets them by the outbox, so that none is lost when it is away. */
static int import_file(const struct command *command, const char *path, struct zm_why *why)
{
	zm_autofree char *url = NULL;
	struct zm_store *into = NULL, *from = NULL;
	struct zm_import import = { 0 };
	int r = zm_outbox_url(command->switches->db, &url, why);

	if (r == 0)
		r = url ? zm_outbox_open(url, &into, why)
			: zm_store_open(command->switches->db, true, &into, why);
	if (r == 0)
		r = zm_store_open(path, false, &from, why);
	if (r == 0)
		r = zm_import_store(into, from, &import, why);
	if (r == 0 && import.nr_new)
		(void)fprintf(stderr, "%" PRIu64 " run%s of the guest: %s\n", import.nr_new,
			      import.nr_new == 1 ? "" : "s", zm_store_path(into));
	zm_store_close(from);
	if (r == 0 && url)
		(void)zm_send_waiting(url, into);
	zm_store_close(into);
	return r;
}

/* SQLite wants a file with a name, and puts others beside it: they have a folder for a moment. */
static int import_store(const struct command *command, const struct zm_vm_taken *taken,
			struct zm_why *why)
{
	const char *above = getenv("TMPDIR");
	zm_autofree char *folder = NULL;
	zm_autofree char *path = NULL;
	int r;

	if (asprintf(&folder, "%s/zonemark-guest-XXXXXX", above && *above == '/' ? above : "/tmp") <
	    0) {
		folder = NULL;
		return zm_why_errno(why, -ENOMEM, "the guest's store");
	}
	if (!mkdtemp(folder))
		return zm_why_errno(why, -errno, "%s", folder);
	if (asprintf(&path, "%s/guest.db", folder) < 0) {
		path = NULL;
		(void)rmdir(folder);
		return zm_why_errno(why, -ENOMEM, "the guest's store");
	}
	r = zm_vm_bytes_write(path, taken->store, taken->store_length);
	if (r < 0)
		(void)zm_why_errno(why, r, "%s", path);
	else
		r = import_file(command, path, why);
	(void)zm_remove_tree(folder, NULL);
	return r;
}

static void say_times(const struct command *command)
{
	const struct zm_vm_course *course = &command->course;

	(void)fprintf(stderr,
		      "guest: up after %.1f s, its command began after %.1f s, done after %.1f s\n",
		      (double)course->up_ns / ZM_NS_PER_S, (double)course->running_ns / ZM_NS_PER_S,
		      (double)course->done_ns / ZM_NS_PER_S);
	if (command->channel->warning[0])
		(void)fprintf(stderr, "guest: %.*s\n", (int)sizeof(command->channel->warning) - 1,
			      command->channel->warning);
}

static int pass_status_on(const struct command *command)
{
	int status = command->channel->wait_status;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WTERMSIG(status) == SIGKILL && command->console.trouble == ZM_VM_OOM)
		return zm_cmd_failf(ZM_EXIT_RUN_FAILED, "the guest's command was killed: %s: %s",
				    zm_vm_trouble_text(ZM_VM_OOM), command->console.culprit);
	return zm_cmd_failf(ZM_EXIT_RUN_FAILED, "the guest's command was ended by signal %d",
			    WTERMSIG(status));
}

static int bring(const struct command *command)
{
	struct zm_vm_taken taken;
	struct zm_why why;

	say_times(command);
	if (zm_vm_channel_taken(command->channel, &taken, &why) < 0)
		return zm_cmd_fail(ZM_EXIT_RUN_FAILED, &why);
	(void)fwrite(taken.answer, 1, taken.answer_length, stdout);
	if (taken.store_length && import_store(command, &taken, &why) < 0)
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	return pass_status_on(command);
}

/* --- all of it ------------------------------------------------------------------------------- */

/* The last lines first, so that the sentence is the last of all. */
static int fail(const struct command *command, const struct zm_why *why)
{
	const char *line;

	for (size_t n = 0; (line = zm_vm_console_line(&command->console, n)); n++)
		(void)fprintf(stderr, "console: %s\n", line);
	return zm_cmd_fail(ZM_EXIT_RUN_FAILED, why);
}

static void die_of(const struct command *command)
{
	(void)fflush(stdout);
	(void)signal(command->course.signal, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &command->old_mask, NULL);
	(void)raise(command->course.signal);
}

static void release(struct command *command)
{
	release_channel(command);
	zm_vm_kernel_release(&command->kernel);
	free(command->initramfs);
	free(command->cache);
	if (command->signal_fd >= 0)
		(void)close(command->signal_fd);
}

static int run(const struct zm_args *args)
{
	struct command command = {
		.args = args, .switches = args->switches, .channel_fd = -1, .signal_fd = -1
	};
	struct zm_why why = { { 0 } };
	int r = furnish(&command, &why);
	int status;

	if (r == 0)
		r = open_signals(&command, &why);
	if (r < 0) {
		release(&command);
		return zm_cmd_fail(ZM_EXIT_USAGE, &why);
	}
	r = boot_by_choice(&command, &why);
	if (r == 0)
		status = bring(&command);
	else if (r == -EINTR)
		status = zm_cmd_fail(ZM_EXIT_RUN_FAILED, &why);
	else
		status = fail(&command, &why);
	release(&command);
	if (command.course.signal)
		die_of(&command);
	return status;
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "run a command on another kernel, in a guest that is thrown away",
	.usage = "--kernel KERNEL COMMAND [words and switches]",
	.details =
		"Boots the kernel in QEMU with a file system made on the spot of this program, its "
		"libraries and the kernel's modules; runs the zonemark command there; prints its "
		"answer, takes its runs into the store, and ends with its exit status. Switches of "
		"vm "
		"stand before the command's name, those behind it are the command's own.\n"
		"\n"
		"The guest has no network but its loopback, and no disk; nothing of this machine "
		"can "
		"be written from it. Under TCG, an emulated processor, its figures say what "
		"happens, "
		"not how fast, and every run of it says so.\n"
		"\n"
		"A topology is made of words with commas between them: 2s (sockets), and sockets=, "
		"cores= (of a socket), threads= (of a core), nodes=, cpuless=2+3 and memless=1 "
		"(nodes "
		"without CPUs or memory), distance=21 (between any two nodes) or "
		"distance=0-1:16+0-2:31.\n"
		"\n"
		"When the guest panics, hangs, or runs out of memory or time, its last lines are "
		"shown, "
		"and the exit status is 3.",
	.examples = "zonemark vm --kernel debian list\twhat Debian's kernel can run\n"
		    "zonemark vm --kernel arch/x86/boot/bzImage --topology 2s run full\t"
		    "everything, on a kernel just built, with two sockets\n"
		    "zonemark vm --kernel debian --topology 2s,nodes=3,cpuless=2 check\t"
		    "a machine with a node that has only memory",
	.completes = "commands files",
	.switches = rows,
	.switches_size = sizeof(struct switches),
	.takes_a_line = true,
	.run = run,
};
