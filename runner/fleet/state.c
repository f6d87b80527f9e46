/* state: the result's file, the queue's row, the attempt's file, the log's last line, in this order. */
#include "runner/fleet/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "runner/fleet/attempt.h"
#include "runner/readfile.h"
#include "workloads/base/cleanup.h"

#define TAIL_BYTES 1024

const char *const zm_fleet_state_names[] = { "done", "running", "waiting", "failed",
					     "lost", "absent",  NULL };

static bool has_result(const struct zm_campaign *campaign, size_t array, size_t task)
{
	zm_autofree char *path =
		zm_campaign_path(campaign, "results/%zu.%zu.db", array + 1, task + 1);

	return path && access(path, F_OK) == 0;
}

/* The last line that says something; "" without one. */
static void read_last_words(const struct zm_campaign *campaign, size_t array, size_t task,
			    struct zm_why *ret_words)
{
	zm_autofree char *path =
		zm_campaign_path(campaign, "logs/%zu.%zu.log", array + 1, task + 1);
	zm_autoclose int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char buf[TAIL_BYTES + 1], *line;
	size_t length = 0;

	ret_words->text[0] = '\0';
	if (fd < 0)
		return;
	(void)lseek(fd, -TAIL_BYTES, SEEK_END);
	if (zm_readfile(fd, buf, TAIL_BYTES, &length) < 0)
		return;
	while (length && strchr(" \n", buf[length - 1]))
		length--;
	buf[length] = '\0';
	line = strrchr(buf, '\n');
	(void)zm_why_set(ret_words, 0, "%s", line ? line + 1 : buf);
}

static void look_at_queue(const struct zm_slurm_row *row, struct zm_fleet_look *look)
{
	bool is_waiting = strcmp(row->state, "PENDING") == 0;

	look->state = is_waiting ? ZM_FLEET_WAITING : ZM_FLEET_RUNNING;
	if (row->node[0])
		(void)snprintf(look->node, sizeof(look->node), "%s", row->node);
	if (is_waiting)
		(void)zm_why_set(&look->reason, 0, "%s", row->reason);
	else if (strcmp(row->state, "RUNNING") != 0)
		(void)zm_why_set(&look->reason, 0, "%s", row->state);
}

static void say_failed(const struct zm_attempt *attempt, const struct zm_why *words,
		       struct zm_fleet_look *look)
{
	const char *said = words->text;

	look->state = ZM_FLEET_FAILED;
	if (strncmp(said, "zonemark: ", 10) == 0)
		said += 10;
	if (attempt->status > 128)
		(void)zm_why_set(&look->reason, 0, "ended by signal %d at %s",
				 attempt->status - 128, attempt->ended);
	else
		(void)zm_why_set(&look->reason, 0, "ended with status %d%s%.300s", attempt->status,
				 *said ? ": " : "", said);
}

static void say_begun(const struct zm_attempt *attempt, const struct zm_slurm_row *row,
		      bool is_queue_known, struct zm_fleet_look *look)
{
	const char *rest = "killed, or the machine is gone";

	look->state = is_queue_known ? ZM_FLEET_LOST : ZM_FLEET_RUNNING;
	if (!is_queue_known)
		rest = "whether it runs is not known here";
	(void)zm_why_set(&look->reason, 0, "begun at %s and not ended: %s%s", attempt->began,
			 row ? "its job is over: " : rest, row ? row->state : "");
}

static void look_at_attempt(const struct zm_campaign *campaign, const struct zm_slurm_row *row,
			    bool is_queue_known, size_t array, size_t task,
			    struct zm_fleet_look *look)
{
	struct zm_attempt attempt;
	struct zm_why words;

	if (!zm_attempt_read(campaign, array, task, &attempt)) {
		look->state = ZM_FLEET_ABSENT;
		(void)zm_why_set(&look->reason, 0, "never begun%s%s",
				 row ? "; its job is over: " : "", row ? row->state : "");
		return;
	}
	(void)snprintf(look->node, sizeof(look->node), "%s", attempt.node);
	read_last_words(campaign, array, task, &words);
	if (attempt.ended[0])
		say_failed(&attempt, &words, look);
	else
		say_begun(&attempt, row, is_queue_known, look);
}

void zm_fleet_look(const struct zm_campaign *campaign, const struct zm_slurm_queue *queue,
		   size_t array, size_t task, struct zm_fleet_look *ret_look)
{
	const struct zm_slurm_row *row = queue ? zm_slurm_queue_find(queue, array, task) : NULL;
	struct zm_fleet_look look = { .state = ZM_FLEET_DONE };

	(void)snprintf(look.node, sizeof(look.node), "%s", campaign->arrays[array].node);
	if (has_result(campaign, array, task))
		;
	else if (row && !row->is_over)
		look_at_queue(row, &look);
	else
		look_at_attempt(campaign, row, queue != NULL, array, task, &look);
	*ret_look = look;
}
