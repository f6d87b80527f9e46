/* reader: the loop that dd is in the original, without dd. */
#include "faultload/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faultload/scratch.h"
#include "workloads/base/clock.h"

#define BLOCK_BYTES 4096 /* whatever the page: the original's */

static bool is_pair(const struct zm_run *run)
{
	return run->workload->nr_ends == 2;
}

int zm_reader_check(const struct zm_run *run, struct zm_why *why)
{
	if (is_pair(run) && run->nr_tasks / 2 > ZM_READER_FILES)
		return zm_why_set(why, -EINVAL, "nr_task=%u: at most %d pairs", run->nr_tasks / 2,
				  ZM_READER_FILES);
	return zm_area_check(run, why);
}

int zm_reader_prepare(struct zm_run *run, struct zm_why *why)
{
	const struct zm_area_options *chosen = run->options;
	struct zm_reader_run *shared = run->state;
	int nr_wanted = is_pair(run) ? (int)run->nr_tasks / 2 : 0;
	int r = 0;

	shared->vmscal.area_bytes = zm_area_bytes(run);
	shared->vmscal.op_bytes = BLOCK_BYTES;
	shared->vmscal.is_plain = true;
	while (r == 0 && shared->nr_files < nr_wanted) {
		r = zm_scratch_open(chosen->dir, shared->vmscal.area_bytes,
				    &shared->files[shared->nr_files], why);
		shared->nr_files += r == 0;
	}
	return r;
}

void zm_reader_cleanup(struct zm_run *run)
{
	struct zm_reader_run *shared = run->state;

	while (shared->nr_files > 0)
		(void)close(shared->files[--shared->nr_files]);
}

/* The pair's file anew, with a position of its own. */
static int open_again(int file, int *ret_fd)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

int zm_reader_setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_area_options *chosen = task->run->options;
	const struct zm_reader_run *shared = task->run->state;
	struct zm_reader *reader = task->state;
	int r;

	reader->fd = -1;
	/* On a page's border, as dd's: where it lies moves the copy's cost by a seventh. */
	reader->buffer = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
	if (!reader->buffer)
		return zm_why_errno(why, -ENOMEM, "a block of %d bytes", BLOCK_BYTES);
	if (!is_pair(task->run))
		return zm_scratch_open(chosen->dir, shared->vmscal.area_bytes, &reader->fd, why);
	r = open_again(shared->files[task->pair], &reader->fd);
	return r < 0 ? zm_why_errno(why, r, "the pair's file") : 0;
}

static void begin_round(struct zm_task *task, struct zm_reader *reader)
{
	reader->is_begun = true;
	reader->done = 0;
	zm_vmscal_begun(task, &reader->clock, zm_clock_now_ns());
}

/* Back to the beginning; of a file of its own nothing stays in memory. */
static int end_round(struct zm_task *task, struct zm_reader *reader)
{
	const struct zm_reader_run *shared = task->run->state;
	uint64_t since_ns = zm_clock_now_ns();

	zm_vmscal_accessed(task, &reader->clock);
	reader->is_begun = false;
	if (lseek(reader->fd, 0, SEEK_SET) < 0)
		return -errno;
	if (!is_pair(task->run) && (ftruncate(reader->fd, 0) < 0 ||
				    ftruncate(reader->fd, (off_t)shared->vmscal.area_bytes) < 0))
		return -errno;
	zm_vmscal_freed(task, since_ns);
	return 0;
}

/* From the round's place to `end`; a signal in between is none. -errno, with the place it came to. */
static int read_blocks(struct zm_reader *reader, uint64_t end)
{
	unsigned char *buffer = reader->buffer;
	uint64_t done = reader->done;
	int fd = reader->fd, r = 0;

	while (done < end) {
		ssize_t length = read(fd, buffer, BLOCK_BYTES);

		if (length <= 0 && (length == 0 || errno != EINTR)) {
			r = length < 0 ? -errno : -EIO;
			break;
		}
		done += length > 0 ? (uint64_t)length : 0;
	}
	reader->done = done;
	return r;
}

int64_t zm_reader_step(struct zm_task *task, uint64_t n)
{
	const struct zm_reader_run *shared = task->run->state;
	struct zm_reader *reader = task->state;
	uint64_t area_bytes = shared->vmscal.area_bytes;
	uint64_t nr_left, end;
	int r;

	if (!reader->is_begun)
		begin_round(task, reader);
	nr_left = (area_bytes - reader->done - 1) / BLOCK_BYTES + 1;
	n = n < nr_left ? n : nr_left;
	end = n < nr_left ? reader->done + n * BLOCK_BYTES : area_bytes;
	r = read_blocks(reader, end);
	if (r < 0)
		return zm_why_errno(&task->slot->why, r, "reading at %llu of %llu bytes",
				    (unsigned long long)reader->done,
				    (unsigned long long)area_bytes);
	if (reader->done >= area_bytes)
		r = end_round(task, reader);
	return r < 0 ? zm_why_errno(&task->slot->why, r, "back to the file's beginning")
		     : (int64_t)n;
}

/* The last block is the hole that it was read from. */
void zm_reader_teardown(struct zm_task *task)
{
	static const unsigned char zeroes[BLOCK_BYTES];
	struct zm_reader_run *shared = task->run->state;
	struct zm_reader *reader = task->state;

	if (reader->fd >= 0 && task->slot->ops > 0) {
		shared->nr_checked++;
		shared->nr_wrong += memcmp(reader->buffer, zeroes, BLOCK_BYTES) != 0;
	}
	free(reader->buffer);
	reader->buffer = NULL;
	if (reader->fd >= 0)
		(void)close(reader->fd);
	reader->fd = -1;
}

int zm_reader_verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_reader_run *shared = run->state;

	if (shared->nr_checked > 0 && shared->nr_wrong == 0)
		return 0;
	return zm_why_set(why, -EBADMSG, "of %llu tasks that read, %llu did not read zeroes",
			  (unsigned long long)shared->nr_checked,
			  (unsigned long long)shared->nr_wrong);
}
