/*
 * agent: mount -> channel -> modules -> command -> answer and store -> power off.
 *
 * What must be there and is not is said through the channel, or on the console as long as there is no
 * channel; what can be done without is a warning.
 */
#include "runner/vm/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "results/store.h"
#include "runner/vm/about.h"
#include "runner/vm/bytes.h"
#include "runner/vm/channel.h"
#include "runner/vm/initramfs.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/sysroot.h"

#define STORE   "/var/guest.db"
#define TALK    "/dev/ttyS1"
#define DEVICES "sys/bus/pci/devices"

#define IVSHMEM_VENDOR 0x1af4
#define IVSHMEM_DEVICE 0x1110

/* --- mounts ---------------------------------------------------------------------------------- */

static const struct {
	const char *type, *path;
	const char *config; /* without it the command cannot run; NULL: it can */
} mounts[] = {
	{ "proc", "/proc", "CONFIG_PROC_FS" },
	{ "sysfs", "/sys", "CONFIG_SYSFS" },
	{ "devtmpfs", "/dev", "CONFIG_DEVTMPFS" },
	{ "tmpfs", "/tmp", "CONFIG_TMPFS" },
	{ "tmpfs", "/run", "CONFIG_TMPFS" },
	{ "tmpfs", "/dev/shm", NULL },
	{ "devpts", "/dev/pts", NULL },
	{ "hugetlbfs", "/dev/hugepages", NULL },
	{ "cgroup2", "/sys/fs/cgroup", NULL },
	{ "tracefs", "/sys/kernel/tracing", NULL },
	{ "debugfs", "/sys/kernel/debug", NULL },
	{ "bpf", "/sys/fs/bpf", NULL },
};

static int mount_all(struct zm_why *why)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		(void)mkdir(mounts[i].path, 0755);
		if (mount(mounts[i].type, mounts[i].path, mounts[i].type, 0, NULL) == 0 ||
		    !mounts[i].config)
			continue;
		return zm_why_errno(why, -errno, "the guest's kernel has no %s (%s)",
				    mounts[i].type, mounts[i].config);
	}
	return 0;
}

/* --- the channel ----------------------------------------------------------------------------- */

static bool is_channel(const struct zm_sysroot *root, const char *name)
{
	uint64_t vendor, device;
	char path[512];

	(void)snprintf(path, sizeof(path), DEVICES "/%s/vendor", name);
	if (zm_sysroot_read_u64(root, path, &vendor) < 0 || vendor != IVSHMEM_VENDOR)
		return false;
	(void)snprintf(path, sizeof(path), DEVICES "/%s/device", name);
	return zm_sysroot_read_u64(root, path, &device) == 0 && device == IVSHMEM_DEVICE;
}

static void *map_device(const struct zm_sysroot *root, const char *name)
{
	static const char *const resources[] = { "resource2_wc", "resource2" };
	char path[512];

	(void)snprintf(path, sizeof(path), DEVICES "/%s/enable", name);
	(void)zm_sysroot_write(root, path, "1");
	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		zm_autoclose int fd = -1;
		void *at;

		(void)snprintf(path, sizeof(path), "/" DEVICES "/%s/%s", name, resources[i]);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		at = mmap(NULL, ZM_VM_CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at != MAP_FAILED)
			return at;
	}
	return NULL;
}

static int open_channel(const struct zm_sysroot *root, struct zm_vm_channel **ret_channel,
			struct zm_why *why)
{
	zm_autoclosedir DIR *dir = opendir("/" DEVICES);
	struct zm_vm_channel *channel = NULL;
	const struct dirent *entry;

	while (dir && !channel && (entry = readdir(dir)))
		if (is_channel(root, entry->d_name))
			channel = map_device(root, entry->d_name);
	if (!channel || channel->magic != ZM_VM_CHANNEL_MAGIC)
		return zm_why_set(why, -ENODEV,
				  "the guest's kernel shows no PCI device for the channel "
				  "(CONFIG_PCI, CONFIG_SYSFS)");
	*ret_channel = channel;
	return 0;
}

static void set_state(struct zm_vm_channel *channel, enum zm_vm_state state)
{
	atomic_store(&channel->state, (uint32_t)state);
}

/* --- the machine ----------------------------------------------------------------------------- */

static void warn(struct zm_vm_channel *channel, const char *what, int error)
{
	if (!channel->warning[0])
		(void)snprintf(channel->warning, sizeof(channel->warning), "%s: %s", what,
			       strerror(error));
}

static void load_module(struct zm_vm_channel *channel, const char *name)
{
	zm_autoclose int fd = -1;
	char path[256];

	(void)snprintf(path, sizeof(path), ZM_VM_MODULES_DIR "/%s.ko", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)) {
		(void)snprintf(path, sizeof(path), "the guest's kernel does not take the module %s",
			       name);
		warn(channel, path, errno);
	}
}

static void load_modules(struct zm_vm_channel *channel)
{
	zm_autofree char *order = NULL;
	char *rest, *name;

	if (zm_vm_bytes_read(ZM_VM_MODULES_ORDER, (uint8_t **)&order, NULL) < 0)
		return;
	rest = order;
	while ((name = strsep(&rest, "\n")))
		if (*name)
			load_module(channel, name);
}

static void bring_loopback_up(struct zm_vm_channel *channel)
{
	zm_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo" };

	if (fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0) {
		request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
		if (ioctl(fd, SIOCSIFFLAGS, &request) == 0)
			return;
	}
	warn(channel, "the loopback does not come up", errno);
}

static void write_text(const char *path, const char *text)
{
	(void)zm_vm_bytes_write(path, text, strlen(text));
}

/* The calendar: the host's when it started this guest, and what has passed since. */
static void set_clock(const struct zm_vm_channel *channel)
{
	uint64_t now_ns = channel->wall_ns + zm_clock_now_ns();
	struct timespec now = { .tv_sec = (time_t)(now_ns / ZM_NS_PER_S),
				.tv_nsec = (long)(now_ns % ZM_NS_PER_S) };

	(void)clock_settime(CLOCK_REALTIME, &now);
}

static void furnish(struct zm_vm_channel *channel)
{
	set_clock(channel);
	(void)sethostname("guest", 5);
	write_text("/etc/machine-id", channel->machine_id);
	write_text("/" ZM_VM_ABOUT, channel->about);
	load_modules(channel);
	bring_loopback_up(channel);
}

/* --- the command ----------------------------------------------------------------------------- */

/* A serial line without any conversion; the console when there is no second one. */
static int open_talk(void)
{
	int fd = open(TALK, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	struct termios mode;

	if (fd >= 0 && tcgetattr(fd, &mode) == 0) {
		cfmakeraw(&mode);
		(void)cfsetspeed(&mode, B115200);
		(void)tcsetattr(fd, TCSANOW, &mode);
	}
	return fd >= 0 ? fd : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
}

__attribute__((noreturn)) static void become(const struct zm_vm_channel *channel, int answer_fd)
{
	static const char *const environment[] = {
		"PATH=/usr/bin", "HOME=/var",          "TERM=dumb", "LC_ALL=C.UTF-8",
		"TMPDIR=/tmp",   "ZONEMARK_DB=" STORE, NULL
	};
	const char **argv = calloc((size_t)channel->nr_words + 2, sizeof(*argv));
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const char *word = channel->words;

	if (!argv || chdir("/var") < 0)
		_exit(126);
	argv[0] = "zonemark";
	for (uint32_t i = 0; i < channel->nr_words; i++) {
		argv[i + 1] = word;
		word += strlen(word) + 1;
	}
	(void)setsid();
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(answer_fd, STDOUT_FILENO);
	(void)dup2(open_talk(), STDERR_FILENO);
	(void)execve(ZM_VM_PROGRAM, (char *const *)argv, (char *const *)environment);
	_exit(127);
}

/* Orphans of the command end up here, too. */
static int wait_for(pid_t command)
{
	int status = 0;
	pid_t pid;

	do {
		pid = wait(&status);
	} while (pid != command && (pid > 0 || errno == EINTR));
	return status;
}

/* --- what comes out -------------------------------------------------------------------------- */

/* At most `room` bytes of the file; -EFBIG when there are more. */
static int put_file(int fd, char *at, uint64_t room, uint64_t *ret_length)
{
	uint64_t done = 0;
	struct stat stat_now;

	if (fstat(fd, &stat_now) < 0)
		return -errno;
	if ((uint64_t)stat_now.st_size > room)
		return -EFBIG;
	while (done < (uint64_t)stat_now.st_size) {
		ssize_t n = pread(fd, at + done, room - done, (off_t)done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		done += n > 0 ? (uint64_t)n : 0;
	}
	*ret_length = done;
	return 0;
}

/* Opened once more: a run whose process died is closed in it, and the log is written into the file. */
static void settle_store(void)
{
	struct zm_store *store = NULL;

	if (access(STORE, F_OK) == 0 && zm_store_open(STORE, true, &store, NULL) == 0)
		zm_store_close(store);
}

static void hand_over(struct zm_vm_channel *channel, int answer_fd)
{
	char *at = (char *)channel + ZM_VM_CHANNEL_HEADER;
	uint64_t room = ZM_VM_CHANNEL_BYTES - ZM_VM_CHANNEL_HEADER, length = 0;
	zm_autoclose int store_fd = -1;
	int r = put_file(answer_fd, at, room, &length);

	if (r < 0)
		warn(channel, "the guest's answer does not fit", -r);
	channel->answer_length = length;
	settle_store();
	store_fd = open(STORE, O_RDONLY | O_CLOEXEC);
	if (store_fd < 0)
		return;
	r = put_file(store_fd, at + length, room - length, &channel->store_length);
	if (r < 0)
		warn(channel, "the guest's store does not fit", -r);
}

/* --- all of it ------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void power_off(void)
{
	sync();
	(void)reboot(RB_POWER_OFF);
	for (;;)
		(void)pause();
}

__attribute__((noreturn)) static void refuse(struct zm_vm_channel *channel,
					     const struct zm_why *why)
{
	(void)fprintf(stderr, "zonemark-agent: %s\n", why->text);
	if (channel) {
		(void)snprintf(channel->why, sizeof(channel->why), "%s", why->text);
		set_state(channel, ZM_VM_REFUSED);
	}
	(void)tcdrain(STDERR_FILENO);
	power_off();
}

static void run_command(struct zm_vm_channel *channel)
{
	int answer_fd = memfd_create("answer", MFD_CLOEXEC);
	struct zm_why why;
	pid_t pid;

	channel->running_ns = zm_clock_now_ns();
	set_state(channel, ZM_VM_RUNNING);
	pid = answer_fd < 0 ? -1 : fork();
	if (pid < 0) {
		(void)zm_why_errno(&why, -errno, "the guest cannot start the command");
		refuse(channel, &why);
	}
	if (pid == 0)
		become(channel, answer_fd);
	channel->wait_status = wait_for(pid);
	hand_over(channel, answer_fd);
	(void)close(answer_fd);
}

bool zm_vm_agent_is_wanted(const char *name)
{
	return getpid() == 1 && name && strcmp(name, "/init") == 0 &&
	       access(ZM_VM_MODULES_ORDER, R_OK) == 0;
}

void zm_vm_agent_run(void)
{
	struct zm_vm_channel *channel = NULL;
	struct zm_sysroot root;
	struct zm_why why;

	(void)umask(022);
	if (mount_all(&why) < 0)
		refuse(NULL, &why);
	if (zm_sysroot_open(&root, NULL) < 0 || open_channel(&root, &channel, &why) < 0)
		refuse(NULL, &why);
	channel->up_ns = zm_clock_now_ns();
	set_state(channel, ZM_VM_UP);
	furnish(channel);
	run_command(channel);
	set_state(channel, ZM_VM_DONE);
	power_off();
}
