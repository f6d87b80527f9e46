/*
 * cgroup: where they can be, then made in order.
 *
 *     plan     controllers needed -> for each its hierarchy -> places
 *                  version 1   this process's own directory is the parent
 *                  version 2   up from it, until one hands the controllers on, or may be told to
 *     make     sweep -> enable -> per instance and place: journal, mkdir, limits
 *
 * In version 2 a cgroup with tasks in it cannot hand controllers on (the topmost can), so what lies
 * beside this process's own cgroup is the usual place.
 */
#include "buildload/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/cpuset.h"
#include "workloads/base/owner.h"
#include "workloads/base/remove.h"
#include "workloads/base/units.h"

#define NAME_START "zonemark-"
#define PERIOD_US  100000
#define FILE_SIZE  (ZM_CGROUP_PATH_SIZE + 128)

static const char *const names[ZM_NR_CONTROLLERS] = { "memory", "cpu", "cpuset", "pids" };

/* --- what is needed --------------------------------------------------------------------------- */

static bool has_text(const char *text)
{
	return text && *text;
}

static bool needs(const struct zm_cgroup_limits *limits, enum zm_controller controller)
{
	switch (controller) {
	case ZM_CONTROLLER_CPU:
		return limits->cpu_max > 0;
	case ZM_CONTROLLER_CPUSET:
		return has_text(limits->cpuset);
	case ZM_CONTROLLER_PIDS:
		return limits->pids_max > 0;
	default:
		return true;
	}
}

static int check_cpuset(const char *list, struct zm_why *why)
{
	zm_autocpuset struct zm_cpuset set = { 0 };

	if (!has_text(list) || strcmp(list, ZM_CGROUPS_SOCKET) == 0)
		return 0;
	if (zm_cpuset_parse(list, &set) == 0 && zm_cpuset_count(&set) > 0)
		return 0;
	return zm_why_set(why, -EINVAL,
			  "cpuset=%s: give a list of CPUs, as 0-3,8, or `" ZM_CGROUPS_SOCKET "`",
			  list);
}

static int check_limits(const struct zm_cgroup_limits *limits, struct zm_why *why)
{
	if (limits->memory_max_bytes && limits->memory_high_bytes > limits->memory_max_bytes)
		return zm_why_set(why, -EINVAL,
				  "memory_high is above memory_max, and would never be reached");
	if (limits->cpu_max > 0 && limits->cpu_max * PERIOD_US < 1000)
		return zm_why_set(why, -EINVAL, "cpu_max: the least is 0.01 CPUs");
	return check_cpuset(limits->cpuset, why);
}

/* --- where ------------------------------------------------------------------------------------ */

/* The same directory may serve more than one controller (version 2, or cpu,cpuacct). */
static struct zm_cgroups_place *place_of(struct zm_cgroups *cgroups, int version,
					 const char *parent)
{
	struct zm_cgroups_place *place;

	for (unsigned int i = 0; i < cgroups->nr_places; i++) {
		place = &cgroups->places[i];
		if (place->version == version && (version == 2 || !strcmp(place->parent, parent)))
			return place;
	}
	place = &cgroups->places[cgroups->nr_places++];
	*place = (struct zm_cgroups_place){ .version = version };
	(void)snprintf(place->parent, sizeof(place->parent), "%s", parent);
	return place;
}

static int add_controller(struct zm_cgroups *cgroups, enum zm_controller controller,
			  struct zm_why *why)
{
	struct zm_cgroup found;
	struct zm_cgroups_place *place;
	int r = zm_cgroup_find(cgroups->root, names[controller], &found);

	if (r == -ENOENT)
		return zm_why_set(why, -ENOTSUP,
				  "no cgroup hierarchy has the controller %s: mount one, or boot "
				  "without cgroup_disable=%s",
				  names[controller], names[controller]);
	if (r < 0)
		return zm_why_errno(why, -ENOTSUP, "cannot find the cgroup of this process");
	place = place_of(cgroups, found.version, found.path);
	place->controllers |= 1U << controller;
	/* In version 2 the topmost of those that govern: it has what the others have. */
	if (strlen(found.path) < strlen(place->parent))
		(void)snprintf(place->parent, sizeof(place->parent), "%s", found.path);
	return 0;
}

static bool is_in_list(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length) {
		bool begins = at == list || at[-1] == ' ';

		if (begins && (at[length] == ' ' || at[length] == '\0'))
			return true;
	}
	return false;
}

/* Those of the place's controllers that its parent does not hand on to its children yet. */
static unsigned int missing_at(const struct zm_cgroups *cgroups,
			       const struct zm_cgroups_place *place)
{
	char file[FILE_SIZE], line[512] = "";
	unsigned int missing = 0;

	(void)snprintf(file, sizeof(file), "%s/cgroup.subtree_control", place->parent);
	(void)zm_sysroot_read_line(cgroups->root, file, line, sizeof(line));
	for (unsigned int i = 0; i < ZM_NR_CONTROLLERS; i++)
		if (place->controllers & 1U << i && !is_in_list(line, names[i]))
			missing |= 1U << i;
	return missing;
}

/* The hierarchy's real top has no type and may hold tasks; others must be empty. */
static bool may_hand_on(const struct zm_cgroups *cgroups, const char *parent)
{
	char file[FILE_SIZE];
	zm_autofree char *text = NULL;

	(void)snprintf(file, sizeof(file), "%s/cgroup.type", parent);
	if (!zm_sysroot_has(cgroups->root, file))
		return true;
	(void)snprintf(file, sizeof(file), "%s/cgroup.procs", parent);
	return zm_sysroot_read(cgroups->root, file, &text, NULL) == 0 && text[0] == '\0';
}

static bool ascend(const struct zm_cgroup *top, char *parent)
{
	char *slash = strrchr(parent, '/');

	if (!slash || (size_t)(slash - parent) < top->top_length)
		return false;
	*slash = '\0';
	return true;
}

static enum zm_controller first_of(const struct zm_cgroups_place *place)
{
	enum zm_controller first = ZM_CONTROLLER_MEMORY;

	while (!(place->controllers & 1U << first))
		first++;
	return first;
}

static int settle_version2(struct zm_cgroups *cgroups, struct zm_cgroups_place *place,
			   struct zm_why *why)
{
	struct zm_cgroup top;
	int r = zm_cgroup_find(cgroups->root, names[first_of(place)], &top);

	if (r < 0)
		return zm_why_errno(why, r, "cannot find the cgroup of this process");
	for (;;) {
		place->enable = missing_at(cgroups, place);
		if (!place->enable || may_hand_on(cgroups, place->parent))
			return 0;
		if (!ascend(&top, place->parent))
			return zm_why_set(why, -ENOTSUP,
					  "cgroup /%s has tasks in it, so it cannot hand "
					  "controllers on: start in a cgroup of its own below it "
					  "(mkdir /%s/own; echo $$ > /%s/own/cgroup.procs)",
					  place->parent, place->parent, place->parent);
	}
}

static int check_may_write(const struct zm_cgroups *cgroups, const struct zm_cgroups_place *place,
			   struct zm_why *why)
{
	int r;

	if (faccessat(cgroups->root->dir_fd, place->parent, W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	r = -errno;
	(void)zm_why_errno(why, r,
			   "cannot make cgroups in /%s: run as root, or in a cgroup that is "
			   "yours (systemd-run --user --scope -p Delegate=yes …)",
			   place->parent);
	return -ENOTSUP;
}

static int check_memory_high(const struct zm_cgroups *cgroups,
			     const struct zm_cgroup_limits *limits, struct zm_why *why)
{
	if (!limits->memory_high_bytes || cgroups->places[0].version == 2)
		return 0;
	return zm_why_set(why, -ENOTSUP,
			  "memory_high: the memory controller is a version 1 here, which has no "
			  "such limit: take memory_max, or boot with "
			  "systemd.unified_cgroup_hierarchy=1");
}

int zm_cgroups_plan(struct zm_cgroups *ret_cgroups, const struct zm_sysroot *root,
		    const struct zm_cgroup_limits *limits, struct zm_why *why)
{
	struct zm_cgroups cgroups = { .root = root };
	int r = check_limits(limits, why);

	for (unsigned int i = 0; r == 0 && i < ZM_NR_CONTROLLERS; i++)
		if (needs(limits, i))
			r = add_controller(&cgroups, i, why);
	if (r == 0)
		r = check_memory_high(&cgroups, limits, why);
	for (unsigned int i = 0; r == 0 && i < cgroups.nr_places; i++) {
		if (cgroups.places[i].version == 2)
			r = settle_version2(&cgroups, &cgroups.places[i], why);
		if (r == 0)
			r = check_may_write(&cgroups, &cgroups.places[i], why);
	}
	if (r == 0)
		*ret_cgroups = cgroups;
	return r;
}

/* --- the cgroups of the dead ------------------------------------------------------------------ */

/* "zonemark-PID-START-PIDNS-INDEX": was it made by one of this boot that has ended? */
static bool is_of_the_dead(const char *name)
{
	struct zm_owner owner, self;
	unsigned int index;
	int length = 0;

	if (zm_owner_self(&self, NULL) < 0)
		return false;
	owner = self;
	if (sscanf(name, NAME_START "%" SCNu64 "-%" SCNu64 "-%" SCNu64 "-%u%n", &owner.pid,
		   &owner.start_ticks, &owner.pid_ns, &index, &length) != 4 ||
	    name[length])
		return false;
	return owner.pid_ns == self.pid_ns && zm_owner_is_dead(&owner);
}

static int sweep_place(const struct zm_cgroups_place *place)
{
	char path[FILE_SIZE + 256];
	zm_autoclosedir DIR *directory = NULL;
	int nr = 0;

	(void)snprintf(path, sizeof(path), "/%s", place->parent);
	directory = opendir(path);
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (!is_of_the_dead(entry->d_name))
			continue;
		(void)snprintf(path, sizeof(path), "/%s/%s", place->parent, entry->d_name);
		nr += zm_remove_cgroup(path, NULL) == 0;
	}
	return nr;
}

int zm_cgroups_sweep(const struct zm_cgroups *cgroups)
{
	int nr = 0;

	for (unsigned int i = 0; cgroups->root->is_live && i < cgroups->nr_places; i++)
		nr += sweep_place(&cgroups->places[i]);
	return nr;
}

/* --- making ----------------------------------------------------------------------------------- */

size_t zm_cgroups_path(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
		       char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s/%s-%u", cgroups->places[place].parent, cgroups->prefix,
			 index);

	return n < 0 ? 0 : (size_t)n;
}

static size_t file_of(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
		      const char *name, char *buf, size_t size)
{
	size_t n = zm_cgroups_path(cgroups, place, index, buf, size);
	int more = n < size ? snprintf(buf + n, size - n, "/%s", name) : 0;

	return n + (more < 0 ? 0 : (size_t)more);
}

/* What a limit is called, and how it is written. */
struct limit {
	const char *file, *text, *mend;
};

static int write_limit(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
		       const struct limit *limit, struct zm_why *why)
{
	char file[FILE_SIZE];
	int r;

	(void)file_of(cgroups, place, index, limit->file, file, sizeof(file));
	r = zm_sysroot_write(cgroups->root, file, limit->text);
	return r < 0 ? zm_why_errno(why, r, "cannot write %s into /%s (%s)", limit->text, file,
				    limit->mend)
		     : 0;
}

/* The limits that are one number: 0 is none. */
static int write_number(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
			const char *file, uint64_t number, struct zm_why *why)
{
	char text[24];

	if (!number)
		return 0;
	(void)snprintf(text, sizeof(text), "%" PRIu64, number);
	return write_limit(cgroups, place, index,
			   &(struct limit){ file, text, "a limit above it may be lower" }, why);
}

static int limit_memory(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
			const struct zm_cgroup_limits *limits, struct zm_why *why)
{
	bool is_old = cgroups->places[place].version == 1;
	int r = write_number(cgroups, place, index, is_old ? "memory.limit_in_bytes" : "memory.max",
			     limits->memory_max_bytes, why);

	if (r == 0 && !is_old)
		r = write_number(cgroups, place, index, "memory.high", limits->memory_high_bytes,
				 why);
	return r;
}

static int limit_cpu(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
		     const struct zm_cgroup_limits *limits, struct zm_why *why)
{
	uint64_t quota_us = (uint64_t)(limits->cpu_max * PERIOD_US);
	char text[48];

	if (cgroups->places[place].version == 1)
		return write_number(cgroups, place, index, "cpu.cfs_quota_us", quota_us, why);
	(void)snprintf(text, sizeof(text), "%" PRIu64 " %d", quota_us, PERIOD_US);
	return write_limit(
		cgroups, place, index,
		&(struct limit){ "cpu.max", text, "this kernel may lack bandwidth control" }, why);
}

/* In version 1 a new cpuset has neither CPUs nor nodes, and takes no task until it has both. */
static int limit_cpuset(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
			const char *list, struct zm_why *why)
{
	struct limit cpus = { "cpuset.cpus", list, "are these CPUs there, and allowed?" };
	char file[FILE_SIZE], nodes[4096];
	int r = write_limit(cgroups, place, index, &cpus, why);

	if (r < 0 || cgroups->places[place].version == 2)
		return r;
	(void)snprintf(file, sizeof(file), "%s/cpuset.mems", cgroups->places[place].parent);
	r = zm_sysroot_read_line(cgroups->root, file, nodes, sizeof(nodes));
	if (r < 0)
		return zm_why_errno(why, r, "cannot read /%s", file);
	return write_limit(cgroups, place, index,
			   &(struct limit){ "cpuset.mems", nodes, "as the parent has them" }, why);
}

static int limit_one(const struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
		     const struct zm_cgroup_limits *limits, const char *cpuset, struct zm_why *why)
{
	unsigned int controllers = cgroups->places[place].controllers;
	int r = 0;

	if (controllers & 1U << ZM_CONTROLLER_MEMORY)
		r = limit_memory(cgroups, place, index, limits, why);
	if (r == 0 && controllers & 1U << ZM_CONTROLLER_CPU)
		r = limit_cpu(cgroups, place, index, limits, why);
	if (r == 0 && controllers & 1U << ZM_CONTROLLER_CPUSET)
		r = limit_cpuset(cgroups, place, index, cpuset, why);
	if (r == 0 && controllers & 1U << ZM_CONTROLLER_PIDS)
		r = write_number(cgroups, place, index, "pids.max", limits->pids_max, why);
	return r;
}

static int make_one(struct zm_cgroups *cgroups, unsigned int place, unsigned int index,
		    struct zm_journal *journal, struct zm_why *why)
{
	char path[FILE_SIZE] = "/";
	int r;

	if (zm_cgroups_path(cgroups, place, index, path + 1, sizeof(path) - 1) + 1 >= sizeof(path))
		return zm_why_set(why, -ENAMETOOLONG, "a cgroup's path is too long");
	r = zm_journal_made(journal, ZM_MADE_CGROUP, path, why);
	if (r < 0)
		return r;
	if (mkdir(path, 0755) < 0)
		return zm_why_errno(why, -errno, "cannot make cgroup %s", path);
	return 0;
}

/* The parent's list with what is missing in it, through the journal: it is put back afterwards. */
static int enable(const struct zm_cgroups *cgroups, const struct zm_cgroups_place *place,
		  struct zm_journal *journal, struct zm_why *why)
{
	char file[FILE_SIZE], line[512] = "";
	size_t n;

	if (!place->enable)
		return 0;
	(void)snprintf(file, sizeof(file), "%s/cgroup.subtree_control", place->parent);
	(void)zm_sysroot_read_line(cgroups->root, file, line, sizeof(line) - 64);
	n = strlen(line);
	for (unsigned int i = 0; i < ZM_NR_CONTROLLERS; i++)
		if (place->enable & 1U << i)
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", n ? " " : "",
					      names[i]);
	return zm_journal_set(journal, file, line, why);
}

static int name_them(struct zm_cgroups *cgroups, struct zm_why *why)
{
	struct zm_owner self;
	int r = zm_owner_self(&self, why);

	if (r < 0)
		return r;
	(void)snprintf(cgroups->prefix, sizeof(cgroups->prefix),
		       NAME_START "%" PRIu64 "-%" PRIu64 "-%" PRIu64, self.pid, self.start_ticks,
		       self.pid_ns);
	return 0;
}

int zm_cgroups_make(struct zm_cgroups *cgroups, unsigned int nr,
		    const struct zm_cgroup_limits *limits, const char *const *cpusets,
		    struct zm_journal *journal, struct zm_why *why)
{
	int r = name_them(cgroups, why);

	(void)zm_cgroups_sweep(cgroups);
	cgroups->nr = nr;
	for (unsigned int place = 0; r == 0 && place < cgroups->nr_places; place++) {
		r = enable(cgroups, &cgroups->places[place], journal, why);
		for (unsigned int i = 0; r == 0 && i < nr; i++) {
			r = make_one(cgroups, place, i, journal, why);
			if (r == 0)
				r = limit_one(cgroups, place, i, limits,
					      cpusets ? cpusets[i] : limits->cpuset, why);
		}
	}
	return r;
}

/* --- using ------------------------------------------------------------------------------------ */

int zm_cgroups_enter(const struct zm_cgroups *cgroups, unsigned int index)
{
	for (unsigned int i = 0; i < cgroups->nr_places; i++) {
		char file[FILE_SIZE];
		int r;

		(void)file_of(cgroups, i, index, "cgroup.procs", file, sizeof(file));
		r = zm_sysroot_write(cgroups->root, file, "0");
		if (r < 0)
			return r;
	}
	return 0;
}

/* As base/cgroup.h wants it. */
static struct zm_cgroup look_at(const struct zm_cgroups *cgroups, unsigned int place,
				unsigned int index)
{
	struct zm_cgroup cgroup = { .version = cgroups->places[place].version };

	cgroup.top_length = strlen(cgroups->places[place].parent);
	(void)zm_cgroups_path(cgroups, place, index, cgroup.path, sizeof(cgroup.path));
	return cgroup;
}

/* Memory is always the first controller of the first place. */
static int read_memory(const struct zm_cgroups *cgroups, unsigned int index, const char *old_file,
		       const char *file, uint64_t *ret_bytes)
{
	struct zm_cgroup cgroup = look_at(cgroups, 0, index);

	return zm_cgroup_read_u64(cgroups->root, &cgroup, cgroup.version == 1 ? old_file : file,
				  ret_bytes);
}

int zm_cgroups_read_memory(const struct zm_cgroups *cgroups, unsigned int index,
			   uint64_t *ret_bytes)
{
	return read_memory(cgroups, index, "memory.usage_in_bytes", "memory.current", ret_bytes);
}

int zm_cgroups_read_peak(const struct zm_cgroups *cgroups, unsigned int index, uint64_t *ret_bytes)
{
	return read_memory(cgroups, index, "memory.max_usage_in_bytes", "memory.peak", ret_bytes);
}

int zm_cgroups_read_oom_kills(const struct zm_cgroups *cgroups, unsigned int index,
			      uint64_t *ret_kills)
{
	struct zm_cgroup cgroup = look_at(cgroups, 0, index);

	return zm_cgroup_read_key(cgroups->root, &cgroup,
				  cgroup.version == 1 ? "memory.oom_control" : "memory.events",
				  "oom_kill", ret_kills);
}

int zm_cgroups_read_fork_refusals(const struct zm_cgroups *cgroups, unsigned int index,
				  uint64_t *ret_refusals)
{
	for (unsigned int i = 0; i < cgroups->nr_places; i++) {
		struct zm_cgroup cgroup = look_at(cgroups, i, index);

		if (cgroups->places[i].controllers & 1U << ZM_CONTROLLER_PIDS)
			return zm_cgroup_read_key(cgroups->root, &cgroup, "pids.events", "max",
						  ret_refusals);
	}
	return -ENOENT;
}

char *zm_cgroups_explain(const struct zm_cgroups *cgroups, unsigned int index,
			 const struct zm_cgroup_limits *limits, char *buf, size_t size)
{
	uint64_t kills = 0, refusals = 0;
	char bytes[32], max[48] = "";
	int n = 0;

	if (limits->memory_max_bytes)
		(void)snprintf(max, sizeof(max), " (memory_max=%s)",
			       zm_units_print_size(bytes, sizeof(bytes), limits->memory_max_bytes));
	(void)zm_cgroups_read_oom_kills(cgroups, index, &kills);
	(void)zm_cgroups_read_fork_refusals(cgroups, index, &refusals);
	buf[0] = '\0';
	if (kills)
		n = snprintf(buf, size, "the kernel killed %" PRIu64 " of its tasks for memory%s",
			     kills, max);
	if (refusals && n >= 0 && (size_t)n < size)
		(void)snprintf(buf + n, size - (size_t)n,
			       "%spids_max=%" PRIu64 " refused it %" PRIu64 " forks", n ? ", " : "",
			       limits->pids_max, refusals);
	return buf;
}

int zm_cgroups_kill(const struct zm_cgroups *cgroups, unsigned int index, struct zm_why *why)
{
	char path[FILE_SIZE] = "/";

	(void)zm_cgroups_path(cgroups, 0, index, path + 1, sizeof(path) - 1);
	return zm_kill_cgroup(path, why);
}
