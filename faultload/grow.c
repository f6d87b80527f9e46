/* grow: fallocate and, every 128th time, ftruncate. */
#include "faultload/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES  (UINT64_C(1) << 20)
#define PIECE_BYTES (FILE_BYTES / 128)

int zm_grow_check(const struct zm_run *run, struct zm_why *why)
{
	const struct zm_scratch_options *chosen = run->options;

	return zm_scratch_check(chosen->dir, why);
}

void zm_grow_footprint(const struct zm_run *run, struct zm_footprint *ret_footprint)
{
	const struct zm_scratch_options *chosen = run->options;

	ret_footprint->task_files = 1;
	ret_footprint->disk_path = zm_scratch_dir(chosen->dir);
	ret_footprint->disk_bytes = FILE_BYTES * run->nr_tasks;
	if (zm_scratch_is_memory(chosen->dir))
		ret_footprint->task_bytes = FILE_BYTES;
}

/* nr pieces more, whatever signals come between. */
static int grow(struct zm_grow *state, uint64_t nr)
{
	off_t place = (off_t)state->place, end = place + (off_t)(nr * PIECE_BYTES);
	int fd = state->fd, r = 0;

	for (; r == 0 && place < end; place += (off_t)PIECE_BYTES)
		while ((r = fallocate(fd, 0, place, (off_t)PIECE_BYTES)) < 0 && errno == EINTR)
			;
	if (r < 0)
		return -errno;
	state->place = (uint64_t)end;
	return 0;
}

static int cut(struct zm_grow *state)
{
	if (ftruncate(state->fd, 0) < 0)
		return -errno;
	state->place = 0;
	return 0;
}

/* One piece is tried, so that a file system that cannot is known before the gate. */
int zm_grow_setup(struct zm_task *task, struct zm_why *why)
{
	const struct zm_scratch_options *chosen = task->run->options;
	struct zm_grow *state = task->state;
	int r;

	state->fd = -1;
	r = zm_scratch_open(chosen->dir, 0, &state->fd, why);
	if (r < 0)
		return r;
	r = grow(state, 1);
	if (r == 0)
		r = cut(state);
	if (r < 0)
		return zm_why_errno(why, r, "dir=%s: fallocate there", zm_scratch_dir(chosen->dir));
	return 0;
}

int64_t zm_grow_step(struct zm_task *task, uint64_t n)
{
	struct zm_grow *state = task->state;
	uint64_t left = n;
	int r = 0;

	while (r == 0 && left > 0) {
		uint64_t nr = (FILE_BYTES - state->place) / PIECE_BYTES;

		nr = nr < left ? nr : left;
		r = grow(state, nr);
		if (r == 0 && state->place == FILE_BYTES)
			r = cut(state);
		left -= nr;
	}
	return r < 0 ? zm_why_errno(&task->slot->why, r, "fallocate") : (int64_t)n;
}

void zm_grow_teardown(struct zm_task *task)
{
	struct zm_grow_run *shared = task->run->state;
	struct zm_grow *state = task->state;
	struct stat st;

	if (state->fd < 0)
		return;
	if (fstat(state->fd, &st) < 0 || (uint64_t)st.st_size != state->place)
		shared->nr_wrong++;
	(void)close(state->fd);
	state->fd = -1;
}

int zm_grow_verify(struct zm_run *run, struct zm_why *why)
{
	const struct zm_grow_run *shared = run->state;

	if (shared->nr_wrong == 0)
		return 0;
	return zm_why_set(why, -EBADMSG,
			  "the files of %llu tasks are not as long as fallocate made "
			  "them",
			  (unsigned long long)shared->nr_wrong);
}
