/*
 * cmd_fetch_kernel_source: Debian's kernel source, unpacked in the cache folder and installed nowhere.
 *
 *     which package -> is it there? -> is there room? -> apt-get download, dpkg-deb, tar -> its path
 *
 * The work is done by a process group of its own: a signal ends all of it, and what it had unpacked so far is
 * removed.
 */
#include "runner/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "buildload/source.h"
#include "runner/vm/cache.h"
#include "runner/vm/package.h"
#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/remove.h"

#define USUAL "linux-source"

/* The package, the archive in it and the tree (1.4 GiB of 80,000 files), for a moment all at once. */
#define ROOM_BYTES (UINT64_C(2200) << 20)

static int check_room(const char *cache, struct zm_why *why)
{
	struct statvfs fs;
	uint64_t left;

	if (statvfs(cache, &fs) < 0)
		return zm_why_errno(why, -errno, "%s", cache);
	left = (uint64_t)(geteuid() == 0 ? fs.f_bfree : fs.f_bavail) * fs.f_frsize;
	if (left >= ROOM_BYTES)
		return 0;
	return zm_why_set(why, -ENOSPC,
			  "%" PRIu64 " MiB are needed in %s, and %" PRIu64
			  " are left; make room, or set XDG_CACHE_HOME",
			  ROOM_BYTES >> 20, cache, left >> 20);
}

/* The tree's top becomes the package's folder; what the package had around it goes. Its "usr" must go
 * out of the way first, as a kernel has one too. */
static int unpack_tree(const char *folder, const char *name, struct zm_why *why)
{
	zm_autofree char *usr = NULL, *aside = NULL, *archive = NULL;
	int r = 0;

	if (asprintf(&usr, "%s/usr", folder) < 0 || asprintf(&aside, "%s/.package", folder) < 0 ||
	    asprintf(&archive, ".package/src/%s.tar.xz", name) < 0)
		return zm_why_errno(why, -ENOMEM, "%s", name);
	if (rename(usr, aside) < 0)
		return zm_why_errno(why, -errno, "%s: the package has no usr folder", name);
	const char *const unpack[] = {
		"tar", "-x", "-f", archive, "--strip-components=1", "--no-same-owner", NULL
	};
	const struct zm_vm_tool tar = {
		.argv = unpack, .directory = folder, .in_fd = -1, .out_fd = -1
	};

	(void)fprintf(stderr, "unpacking %s, which takes a minute\n", name);
	r = zm_vm_tool_run(&tar, why);
	return r == 0 ? zm_remove_tree(aside, why) : r;
}

static int choose_package(const struct zm_args *args, char *name, size_t size, struct zm_why *why)
{
	const char *version;

	if (args->nr_words > 1)
		return zm_why_set(why, -EINVAL, "one package at a time, and %s is a second",
				  args->words[1]);
	if (args->nr_words == 0)
		return zm_vm_package_find(USUAL, ZM_SOURCE_PREFIX, name, size, why);
	version = args->words[0] + strlen(ZM_SOURCE_PREFIX);
	if (strncmp(args->words[0], ZM_SOURCE_PREFIX, strlen(ZM_SOURCE_PREFIX)) != 0 || !*version ||
	    strspn(version, "0123456789.") != strlen(version))
		return zm_why_set(why, -EINVAL,
				  "%s: a package of this kind is called " ZM_SOURCE_PREFIX "6.1",
				  args->words[0]);
	(void)snprintf(name, size, "%s", args->words[0]);
	return 0;
}

static int fetch(const char *cache, const char *name, struct zm_why *why)
{
	zm_autofree char *folder = NULL;
	int r;

	if (asprintf(&folder, "%s/%s", cache, name) < 0) {
		folder = NULL;
		return zm_why_errno(why, -ENOMEM, "%s", name);
	}
	r = access(folder, R_OK) == 0 ? 0 : check_room(cache, why);
	if (r == 0) {
		free(folder);
		folder = NULL;
		r = zm_vm_package_fetch(name, cache, unpack_tree, &folder, why);
	}
	if (r == 0)
		(void)puts(folder);
	return r;
}

/* --- what a signal ends ---------------------------------------------------------------------- */

static void fill_ending_signals(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGINT);
	(void)sigaddset(set, SIGTERM);
	(void)sigaddset(set, SIGHUP);
}

static void become(const char *cache, const char *name, const sigset_t *mask, pid_t parent)
	__attribute__((noreturn));

static void become(const char *cache, const char *name, const sigset_t *mask, pid_t parent)
{
	struct zm_why why = { "" };
	int r;

	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(ZM_EXIT_USAGE);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	r = fetch(cache, name, &why);
	if (r < 0) {
		zm_why_prefix(&why, "fetch-kernel-source");
		_exit(zm_cmd_fail(ZM_EXIT_USAGE, &why));
	}
	_exit(zm_cmd_close_stdout(ZM_EXIT_OK));
}

/* Its end, or the signal that we heard. */
static int wait_for(pid_t pid, int *ret_signal)
{
	int status = 0;
	siginfo_t info;
	sigset_t set;

	fill_ending_signals(&set);
	(void)sigaddset(&set, SIGCHLD);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (sigwaitinfo(&set, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		*ret_signal = info.si_signo;
		(void)kill(-pid, SIGKILL);
	}
	return status;
}

/* All of the group, tar and what it started too, before their files are removed. */
static void wait_for_group(pid_t group)
{
	for (int i = 0; i < 500 && kill(-group, 0) == 0; i++)
		(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

static int fetch_in_group(const char *cache, const char *name)
{
	pid_t parent = getpid(), pid;
	int status, signal_nr = 0;
	sigset_t set, old;

	fill_ending_signals(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, &old);
	pid = fork();
	if (pid == 0)
		become(cache, name, &old, parent);
	if (pid < 0) {
		(void)sigprocmask(SIG_SETMASK, &old, NULL);
		return zm_cmd_failf(ZM_EXIT_USAGE, "fetch-kernel-source: %s", strerror(errno));
	}
	(void)setpgid(pid, pid);
	status = wait_for(pid, &signal_nr);
	if (signal_nr) {
		wait_for_group(pid);
		zm_vm_package_clean(name, cache);
		(void)signal(signal_nr, SIG_DFL);
		(void)raise(signal_nr);
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : ZM_EXIT_USAGE;
}

static int run(const struct zm_args *args)
{
	zm_autofree char *cache = NULL;
	struct zm_why why = { "" };
	char name[128];
	int r = choose_package(args, name, sizeof(name), &why);

	if (r == 0)
		r = zm_vm_cache_open(&cache, &why);
	if (r == 0)
		return fetch_in_group(cache, name);
	zm_why_prefix(&why, "fetch-kernel-source");
	return zm_cmd_fail(ZM_EXIT_USAGE, &why);
}

const struct zm_cmd ZM_CMD = {
	.name = ZM_CMD_NAME,
	.summary = "fetch a kernel's source, for kbuild_real to build",
	.usage = "[PACKAGE]",
	.details =
		"Takes Debian's package linux-source (or the one named, as linux-source-6.1) by "
		"apt-get, unpacks it in $XDG_CACHE_HOME/zonemark (~/.cache/zonemark) and prints "
		"where. Nothing is installed, and what is there already is not fetched again; the "
		"newest there is what kbuild_real builds when no source is given. It needs 2.2 GiB "
		"for a moment, and 1.4 GiB stay; remove the folder when you no longer need it.\n\n"
		"On other distributions give kbuild_real a source of your own: source=FOLDER.",
	.examples = "zonemark fetch-kernel-source\tonce\n"
		    "zonemark run kbuild_real nr_instances=2 jobs=2\tthen",
	.completes = "",
	.run = run,
};
