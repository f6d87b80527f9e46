/* attempt: scratch folder, child, publication. */
#include "runner/fleet/attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/outfile.h"
#include "runner/child.h"
#include "runner/cmd.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"
#include "workloads/base/remove.h"

#define COPY_BYTES  (1 << 16)
#define NAME_BYTES  32
#define PATIENCE_NS (60 * ZM_NS_PER_S)

struct trying {
	const struct zm_campaign *campaign;
	const struct zm_fleet_array *array;
	unsigned int part;
	char name[NAME_BYTES]; /* "3.12" */
	char *result;          /* where it belongs */
	char *record;          /* the attempt's file */
	char *scratch;
	int lock_fd;
	struct zm_attempt attempt;
	struct zm_why *why;
};

static int no_memory(const struct trying *trying)
{
	return zm_why_errno(trying->why, -ENOMEM, "task %s", trying->name);
}

static void name_task(char *buf, size_t size, size_t array, size_t task)
{
	(void)snprintf(buf, size, "%zu.%zu", array + 1, task + 1);
}

/* --- the attempt's file --- */

static void say_now(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!gmtime_r(&now, &tm) || strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		(void)snprintf(buf, size, "?");
}

/* The scheduler's number for it, and how often that began it; without one ours. */
static void name_job(char *buf, size_t size)
{
	const char *job = getenv("SLURM_JOB_ID"), *again = getenv("SLURM_RESTART_COUNT");
	size_t length = job ? strspn(job, "0123456789") : 0;

	if (job && length && job[length] == '\0')
		(void)snprintf(buf, size, "%s.%lu", job, again ? strtoul(again, NULL, 10) : 0);
	else
		(void)snprintf(buf, size, "pid%ld.%lld", (long)getpid(), (long long)time(NULL));
}

/* Slurm's name for the machine: several of its nodes may be one. */
static void name_node(char *buf, size_t size)
{
	const char *name = getenv("SLURMD_NODENAME");
	struct utsname uts;

	if (!name && uname(&uts) == 0)
		name = uts.nodename;
	(void)snprintf(buf, size, "%s", name ? name : "?");
}

static int write_record(const struct trying *trying)
{
	const struct zm_attempt *attempt = &trying->attempt;
	struct zm_outfile file;
	json_t *json;
	int r = zm_outfile_open(&file, trying->record, trying->why);

	if (r < 0)
		return r;
	json = json_pack("{s:s, s:s, s:s, s:s, s:i}", "job", attempt->job, "node", attempt->node,
			 "began", attempt->began, "ended", attempt->ended, "status",
			 attempt->status);
	(void)json_dumpf(json, file.out, JSON_COMPACT);
	(void)fputc('\n', file.out);
	json_decref(json);
	r = zm_outfile_keep(&file, trying->why);
	zm_outfile_drop(&file);
	return r;
}

static void copy_text(char *buf, size_t size, const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	(void)snprintf(buf, size, "%s", text ? text : "");
}

static bool read_record(const char *path, struct zm_attempt *ret_attempt)
{
	json_t *json = json_load_file(path, 0, NULL);
	struct zm_attempt attempt = { 0 };

	if (!json)
		return false;
	copy_text(attempt.job, sizeof(attempt.job), json, "job");
	copy_text(attempt.node, sizeof(attempt.node), json, "node");
	copy_text(attempt.began, sizeof(attempt.began), json, "began");
	copy_text(attempt.ended, sizeof(attempt.ended), json, "ended");
	attempt.status = (int)json_integer_value(json_object_get(json, "status"));
	json_decref(json);
	*ret_attempt = attempt;
	return true;
}

bool zm_attempt_read(const struct zm_campaign *campaign, size_t array, size_t task,
		     struct zm_attempt *ret_attempt)
{
	zm_autofree char *folder = zm_campaign_path(campaign, "attempts");
	zm_autoclosedir DIR *dir = folder ? opendir(folder) : NULL;
	char prefix[NAME_BYTES];
	struct dirent *entry;
	bool has_one = false;
	size_t length;

	name_task(prefix, sizeof(prefix) - 1, array, task);
	length = strlen(prefix);
	prefix[length++] = '-';
	while (dir && (entry = readdir(dir))) {
		zm_autofree char *path = NULL;
		struct zm_attempt attempt;

		if (strncmp(entry->d_name, prefix, length) != 0)
			continue;
		path = zm_campaign_path(campaign, "attempts/%s", entry->d_name);
		if (!path || !read_record(path, &attempt) ||
		    (has_one && strcmp(attempt.began, ret_attempt->began) < 0))
			continue;
		*ret_attempt = attempt;
		has_one = true;
	}
	return has_one;
}

static int begin(struct trying *trying)
{
	struct zm_attempt *attempt = &trying->attempt;

	name_job(attempt->job, sizeof(attempt->job));
	name_node(attempt->node, sizeof(attempt->node));
	say_now(attempt->began, sizeof(attempt->began));
	trying->record =
		zm_campaign_path(trying->campaign, "attempts/%s-%s", trying->name, attempt->job);
	return trying->record ? write_record(trying) : no_memory(trying);
}

static int end(struct trying *trying, int status)
{
	trying->attempt.status = status;
	say_now(trying->attempt.ended, sizeof(trying->attempt.ended));
	return write_record(trying);
}

/* --- a folder of its own --- */

/* In a folder that anybody may write to: it must be ours, and nobody else's. */
static int check_scratch(const struct trying *trying)
{
	struct stat status;

	if (lstat(trying->scratch, &status) < 0)
		return zm_why_errno(trying->why, -errno, "%s", trying->scratch);
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077))
		return zm_why_set(trying->why, -EPERM,
				  "%s is not a folder of this user's alone; remove it, or name "
				  "another place with --scratch",
				  trying->scratch);
	return 0;
}

/* What was killed may still be putting the machine in order. */
static int wait_for_lock(int fd)
{
	uint64_t until_ns = zm_clock_now_ns() + PATIENCE_NS;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (zm_clock_now_ns() > until_ns)
			return -EBUSY;
		(void)nanosleep(&(struct timespec){ .tv_nsec = 100 * ZM_NS_PER_MS }, NULL);
	}
	return 0;
}

static int open_scratch(struct trying *trying, const char *given)
{
	zm_autofree char *lock = NULL;
	const char *base = given;
	int r;

	/* The job has the variables of where it was submitted: that folder may not be here. */
	if (!base)
		base = getenv("TMPDIR");
	if (!base || (base != given && access(base, W_OK) < 0))
		base = "/tmp";
	if (asprintf(&trying->scratch, "%s/zonemark-fleet-%s-%s-%ld", base, trying->campaign->id,
		     trying->name, (long)geteuid()) < 0) {
		trying->scratch = NULL;
		return no_memory(trying);
	}
	if (mkdir(trying->scratch, 0700) < 0 && errno != EEXIST)
		return zm_why_errno(trying->why, -errno, "%s", trying->scratch);
	r = check_scratch(trying);
	if (r < 0)
		return r;
	if (asprintf(&lock, "%s/lock", trying->scratch) < 0) {
		lock = NULL;
		return no_memory(trying);
	}
	trying->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (trying->lock_fd < 0)
		return zm_why_errno(trying->why, -errno, "%s", lock);
	if (wait_for_lock(trying->lock_fd) < 0)
		return zm_why_set(trying->why, -EBUSY,
				  "task %s: another attempt is still under way on this machine",
				  trying->name);
	return 0;
}

/* --- the run --- */

/* run --db STORE [--shard I/N:SPLIT] [--label KERNEL] [--resume] WORD… */
static const char **make_line(const struct trying *trying, const char *store, const char *shard,
			      bool is_resumed)
{
	const struct zm_campaign *campaign = trying->campaign;
	const char **argv = calloc(campaign->nr_words + 16, sizeof(*argv));
	size_t nr = 0;

	if (!argv)
		return NULL;
	argv[nr++] = "zonemark";
	argv[nr++] = "run";
	argv[nr++] = "--db";
	argv[nr++] = store;
	if (campaign->nr_parts > 1) {
		argv[nr++] = "--shard";
		argv[nr++] = shard;
	}
	if (trying->array->kernel) {
		argv[nr++] = "--label";
		argv[nr++] = trying->array->kernel;
	}
	if (is_resumed)
		argv[nr++] = "--resume";
	for (size_t i = 0; i < campaign->nr_words; i++)
		argv[nr++] = campaign->words[i];
	return argv;
}

/* The run holds the lock, too: should this process be killed, it is not let go before the run has ended. */
static void hand_lock_on(const void *context)
{
	const struct trying *trying = context;

	(void)fcntl(trying->lock_fd, F_SETFD, 0);
}

static int run_line(struct trying *trying, const char *store, int *ret_status)
{
	char shard[32];
	bool is_resumed = access(store, F_OK) == 0;
	zm_autofree const char **argv = NULL;
	int status = 0, signal = 0, r;

	(void)snprintf(shard, sizeof(shard), "%u/%u:%.8s", trying->part, trying->campaign->nr_parts,
		       trying->campaign->split);
	argv = make_line(trying, store, shard, is_resumed);
	if (!argv)
		return no_memory(trying);
	if (chdir(trying->campaign->directory) < 0)
		return zm_why_errno(trying->why, -errno,
				    "%s, where the campaign was made, is not to be had on this "
				    "machine",
				    trying->campaign->directory);
	r = zm_child_run(&(struct zm_child){ .program = ZM_CHILD_THIS_PROGRAM,
					     .argv = argv,
					     .prepare = hand_lock_on,
					     .context = trying },
			 &status, &signal);
	if (r < 0)
		return zm_why_errno(trying->why, r, "task %s cannot be started", trying->name);
	*ret_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	/* An end that the signal brought, however it looks. */
	if (signal && *ret_status < 128)
		*ret_status = 128 + signal;
	return 0;
}

/* --- the result --- */

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int copy(int from, int to)
{
	zm_autofree char *buf = malloc(COPY_BYTES);
	ssize_t n;
	int r = buf ? 0 : -ENOMEM;

	while (r == 0 && (n = read(from, buf, COPY_BYTES)) != 0) {
		if (n > 0)
			r = write_all(to, buf, (size_t)n);
		else if (errno != EINTR)
			r = -errno;
	}
	return r == 0 && fsync(to) < 0 ? -errno : r;
}

/* In one step, and only when nothing is there. Where the file system has no links, the first to look and
 * to rename. */
static int publish(const char *temporary, const char *result)
{
	if (link(temporary, result) == 0)
		return 0;
	if (errno == EEXIST)
		return -EEXIST;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	if (access(result, F_OK) == 0)
		return -EEXIST;
	return rename(temporary, result) < 0 ? -errno : 0;
}

static void sync_folder(const struct zm_campaign *campaign)
{
	zm_autofree char *path = zm_campaign_path(campaign, "results");
	zm_autoclose int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0)
		(void)fsync(fd);
}

static int keep_result(const struct trying *trying, const char *store)
{
	zm_autoclose int from = open(store, O_RDONLY | O_CLOEXEC);
	zm_autofree char *temporary = zm_campaign_path(trying->campaign, "results/.%s-%s",
						       trying->name, trying->attempt.job);
	zm_autoclose int to = -1;
	int r;

	if (!temporary)
		return no_memory(trying);
	if (from < 0)
		return zm_why_errno(trying->why, -errno, "%s", store);
	to = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	r = to < 0 ? -errno : copy(from, to);
	if (r == 0)
		r = publish(temporary, trying->result);
	(void)unlink(temporary);
	if (r == -EEXIST) {
		(void)fprintf(stderr, "task %s: another attempt was first; its result counts\n",
			      trying->name);
		return 0;
	}
	if (r < 0)
		return zm_why_errno(trying->why, r,
				    "%s cannot be written; the store stays in %s, and the next "
				    "attempt here goes on with it",
				    trying->result, trying->scratch);
	sync_folder(trying->campaign);
	return 0;
}

/* Ended as it had to: with figures, with failed runs and their reasons, or with what could not run here. */
static bool is_result(int status, const char *store)
{
	return (status == ZM_EXIT_OK || status == ZM_EXIT_RUN_FAILED ||
		status == ZM_EXIT_SKIPPED) &&
	       access(store, F_OK) == 0;
}

static int attempt(struct trying *trying, const char *scratch, int *ret_status)
{
	zm_autofree char *store = NULL;
	struct zm_why ignored;
	int r = begin(trying);

	if (r == 0)
		r = open_scratch(trying, scratch);
	if (r < 0)
		return r;
	if (asprintf(&store, "%s/store.db", trying->scratch) < 0) {
		store = NULL;
		return no_memory(trying);
	}
	r = run_line(trying, store, ret_status);
	if (r == 0 && is_result(*ret_status, store))
		r = keep_result(trying, store);
	/* Killed, it is gone on with; refused, it begins anew. */
	if (r == 0 && *ret_status < 128)
		(void)zm_remove_tree(trying->scratch, &ignored);
	return r;
}

static void release(struct trying *trying)
{
	if (trying->lock_fd >= 0)
		(void)close(trying->lock_fd);
	free(trying->scratch);
	free(trying->result);
	free(trying->record);
}

int zm_attempt_run(const struct zm_campaign *campaign, size_t array, size_t task,
		   const char *scratch, int *ret_status, struct zm_why *why)
{
	struct trying trying = { .campaign = campaign,
				 .array = &campaign->arrays[array],
				 .part = campaign->arrays[array].parts[task],
				 .lock_fd = -1,
				 .why = why };
	int status = ZM_EXIT_OK, r;

	name_task(trying.name, sizeof(trying.name), array, task);
	trying.result = zm_campaign_path(campaign, "results/%s.db", trying.name);
	if (!trying.result)
		return no_memory(&trying);
	if (access(trying.result, F_OK) == 0) {
		(void)fprintf(stderr, "task %s: its result is there already\n", trying.name);
		r = 0;
	} else {
		r = attempt(&trying, scratch, &status);
		if (trying.record && trying.attempt.began[0]) {
			struct zm_why ignored;

			trying.why = &ignored;
			(void)end(&trying, r < 0 ? ZM_EXIT_USAGE : status);
		}
	}
	release(&trying);
	if (r == 0)
		*ret_status = status;
	return r;
}
