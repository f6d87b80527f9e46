/*
 * monitors: all of them on a machine whose every file is the input.
 *
 * The files are links to one, so that an input is written once. A monitor opens or says why, reads what
 * it declared or fails with an error, and closes.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/monitors/tests/rig.h"
#include "workloads/fuzz/fuzz.h"

static const char *const folders[] = {
	"proc",
	"proc/self",
	"proc/pressure",
	"sys",
	"sys/devices",
	"sys/fs",
	"sys/fs/cgroup",
	"sys/devices/system",
	"sys/devices/system/node",
	"sys/devices/system/node/node0",
	"sys/devices/system/node/node7",
};

static const char *const files[] = {
	"proc/meminfo",
	"proc/vmstat",
	"proc/zoneinfo",
	"proc/stat",
	"proc/uptime",
	"proc/softirqs",
	"proc/interrupts",
	"proc/sched_debug",
	"proc/pressure/cpu",
	"proc/pressure/memory",
	"proc/self/stat",
	"proc/self/cgroup",
	"proc/self/mountinfo",
	"sys/fs/cgroup/cgroup.controllers",
	"sys/fs/cgroup/memory.current",
	"sys/fs/cgroup/memory.stat",
	"sys/fs/cgroup/memory.events",
	"sys/devices/system/node/node0/meminfo",
	"sys/devices/system/node/node0/vmstat",
	"sys/devices/system/node/node7/numastat",
};

static char directory[64];
static int input_fd = -1;

static int drop(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void drop_machine(void)
{
	(void)nftw(directory, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_machine(void)
{
	char path[256], input[128];

	(void)snprintf(directory, sizeof(directory), "/tmp/zm-fuzz-monitors-XXXXXX");
	fuzz_check(mkdtemp(directory));
	fuzz_check(atexit(drop_machine) == 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory, folders[i]);
		fuzz_check(mkdir(path, 0700) == 0);
	}
	(void)snprintf(input, sizeof(input), "%s/input", directory);
	input_fd = open(input, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	fuzz_check(input_fd >= 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
		fuzz_check(link(input, path) == 0);
	}
}

static void check_monitor(const struct zm_monitor *monitor)
{
	struct rig rig;

	rig_open(&rig, directory, monitor->name);
	if (rig.open_error)
		fuzz_check(rig.why.text[0] != '\0');
	else
		for (uint64_t t_ns = 1; t_ns <= 3; t_ns++)
			(void)rig_read(&rig, t_ns < 3 ? ZM_PHASE_MEASURE : ZM_PHASE_STOP, t_ns);
	if (!rig.open_error)
		fuzz_check(rig_report(&rig, 1, 3) == 0);
	rig_close(&rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (input_fd < 0)
		make_machine();
	fuzz_check(ftruncate(input_fd, 0) == 0);
	fuzz_check(pwrite(input_fd, data, size, 0) == (ssize_t)size);
	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		check_monitor(zm_monitors[i]);
	return 0;
}
