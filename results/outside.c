/* outside: which kind of file it is, and what all kinds share. */
#include "results/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/array.h"
#include "workloads/base/cleanup.h"

/* --- files --- */

static int read_all(int fd, char *text, size_t size, size_t *ret_length)
{
	size_t length = 0;

	while (length < size) {
		ssize_t n = read(fd, text + length, size - length);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		length += n > 0 ? (size_t)n : 0;
	}
	*ret_length = length;
	return 0;
}

/* A FIFO or a device would hold us up, or never end. */
static int open_regular(int folder, const char *name, const char *shown, int *ret_fd,
			struct zm_why *why)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;
	int error = fd < 0 ? -errno : 0;

	if (error == -ENOENT)
		return error;
	if (!error && fstat(fd, &info) < 0)
		error = -errno;
	if (error)
		(void)zm_why_errno(why, error, "%s", shown);
	else if (!S_ISREG(info.st_mode))
		error = zm_why_set(why, -EINVAL, "%s: not a regular file", shown);
	else if (info.st_size > (off_t)ZM_OUTSIDE_BYTES)
		error = zm_why_set(why, -EFBIG, "%s: larger than %u MiB", shown,
				   ZM_OUTSIDE_BYTES >> 20);
	if (!error)
		*ret_fd = fd;
	else if (fd >= 0)
		(void)close(fd);
	return error;
}

int zm_outside_file(int folder, const char *name, const char *shown, char **ret_text,
		    size_t *ret_length, struct zm_why *why)
{
	zm_autofree char *text = NULL;
	zm_autoclose int fd = -1;
	size_t length = 0;
	int error = open_regular(folder, name, shown, &fd, why);

	if (error)
		return error;
	text = malloc(ZM_OUTSIDE_BYTES + 2u);
	error = text ? read_all(fd, text, ZM_OUTSIDE_BYTES + 1u, &length) : -ENOMEM;
	if (error)
		return zm_why_errno(why, error, "%s", shown);
	if (length > ZM_OUTSIDE_BYTES) /* it has grown since */
		return zm_why_set(why, -EFBIG, "%s: larger than %u MiB", shown,
				  ZM_OUTSIDE_BYTES >> 20);
	if (memchr(text, '\0', length))
		return zm_why_set(why, -EINVAL, "%s: not a text", shown);
	text[length] = '\0';
	*ret_text = text;
	*ret_length = length;
	text = NULL;
	return 0;
}

bool zm_outside_is_store(const char *path)
{
	static const char magic[] = "SQLite format 3"; /* and its 0 */
	char begin[sizeof(magic)];
	zm_autoclose int fd = -1;
	size_t length = 0;

	/* what cannot be read is the store's to complain about */
	if (open_regular(AT_FDCWD, path, path, &fd, NULL) < 0 ||
	    read_all(fd, begin, sizeof(begin), &length) < 0)
		return true;
	return length == 0 || (length == sizeof(magic) && !memcmp(begin, magic, sizeof(magic)));
}

/* --- runs and figures --- */

int zm_outside_add_run(struct zm_outside *outside, const struct zm_outside_run *like,
		       struct zm_why *why)
{
	struct zm_outside_run run = {
		.workload = zm_pool_text(&outside->pool, like->workload),
		.cell = zm_pool_text(&outside->pool, like->cell),
		.machine = zm_pool_text(&outside->pool, like->machine ? like->machine : ""),
		.boot = zm_pool_text(&outside->pool, like->boot ? like->boot : ""),
		.kernel = zm_pool_text(&outside->pool, like->kernel ? like->kernel : ""),
		.has_failed = like->has_failed,
	};
	int error = outside->pool.error;

	if (outside->nr == ZM_OUTSIDE_RUNS)
		return zm_why_set(why, -E2BIG, "more than %u runs", ZM_OUTSIDE_RUNS);
	if (!error)
		error = zm_array_grow((void **)&outside->runs, &outside->capacity, outside->nr,
				      sizeof(*outside->runs));
	if (error)
		return zm_why_errno(why, error, "reading runs");
	outside->runs[outside->nr++] = run;
	return 0;
}

/* What is known of the figures by which such runs are judged. The first that fits. */
static const struct known {
	const char *pattern, *unit;
	enum zm_better better;
	bool is_primary;
} known[] = {
	{ "will-it-scale.per_process_ops", "ops/s", ZM_BETTER_MORE, true },
	{ "will-it-scale.per_thread_ops", "ops/s", ZM_BETTER_MORE, true },
	{ "will-it-scale.*.processes", "ops/s", ZM_BETTER_MORE, false },
	{ "will-it-scale.*.threads", "ops/s", ZM_BETTER_MORE, false },
	{ "netperf.Throughput_Mbps", "Mbit/s", ZM_BETTER_MORE, true },
	{ "netperf.Throughput_tps", "transactions/s", ZM_BETTER_MORE, true },
	{ "netperf.Throughput*", "", ZM_BETTER_MORE, false },
	{ "vm-scalability.throughput", "KB/s", ZM_BETTER_MORE, true },
	{ "*%", "%", ZM_BETTER_NEITHER, false },
	{ "*", "", ZM_BETTER_NEITHER, false },
};

int zm_outside_add_result(struct zm_outside *outside, const char *metric, double value,
			  struct zm_why *why)
{
	struct zm_outside_run *run = &outside->runs[outside->nr - 1];
	const struct known *is = known;
	int error;

	if (!isfinite(value))
		return zm_why_set(why, -EINVAL, "%s: not a finite number", metric);
	if (strlen(metric) > ZM_OUTSIDE_NAME)
		return zm_why_set(why, -EINVAL, "%.40s…: a name of more than %u bytes", metric,
				  ZM_OUTSIDE_NAME);
	if (run->nr_results == ZM_OUTSIDE_METRICS)
		return zm_why_set(why, -E2BIG, "more than %u figures", ZM_OUTSIDE_METRICS);
	while (fnmatch(is->pattern, metric, 0) != 0)
		is++;
	error = zm_array_grow((void **)&run->results, &run->capacity, run->nr_results,
			      sizeof(*run->results));
	if (!error) {
		run->results[run->nr_results++] =
			(struct zm_result){ .metric = zm_pool_text(&outside->pool, metric),
					    .unit = is->unit,
					    .source = run->workload,
					    .better = is->better,
					    .is_primary = is->is_primary,
					    .value = value };
		error = outside->pool.error;
	}
	return error ? zm_why_errno(why, error, "%s", metric) : 0;
}

void zm_outside_release(struct zm_outside *outside)
{
	for (size_t i = 0; i < outside->nr; i++)
		free(outside->runs[i].results);
	free(outside->runs);
	zm_pool_release(&outside->pool);
	*outside = (struct zm_outside){ 0 };
}

/* --- which kind --- */

static int read_text(struct zm_outside *outside, const char *path, struct zm_why *why)
{
	zm_autofree char *text = NULL;
	size_t length;
	int error = zm_outside_file(AT_FDCWD, path, path, &text, &length, why);

	if (error == -ENOENT)
		return zm_why_errno(why, error, "%s", path);
	if (error)
		return error;
	if (zm_outside_is_wis(text))
		return zm_outside_read_wis(outside, path, text, why);
	if (zm_outside_is_netperf(text))
		return zm_outside_read_netperf(outside, path, text, why);
	return zm_why_set(why, -EINVAL,
			  "%s: neither a store nor what runtest.py of will-it-scale or netperf "
			  "print; docs/compare.md says what is read",
			  path);
}

int zm_outside_read(const char *path, struct zm_outside *ret_outside, struct zm_why *why)
{
	struct zm_outside outside = { 0 };
	struct stat info;
	int error;

	if (stat(path, &info) < 0)
		return zm_why_errno(why, -errno, "%s", path);
	error = S_ISDIR(info.st_mode) ? zm_outside_read_lkp(&outside, path, why)
				      : read_text(&outside, path, why);
	if (error) {
		zm_outside_release(&outside);
		return error;
	}
	*ret_outside = outside;
	return 0;
}
