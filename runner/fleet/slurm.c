/* slurm: lines of words to sbatch, lines of columns from squeue. */
#include "runner/fleet/slurm.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runner/quote.h"
#include "runner/vm/tool.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define WORDS_MAX 24
#define WORD_SIZE 128

/* --- the script --- */

void zm_slurm_print_script(const struct zm_campaign *campaign, size_t array, FILE *out)
{
	(void)fprintf(
		out,
		"#!/bin/sh\n"
		"# Made by `zonemark fleet submit`; run by Slurm for each task of array %zu.\n"
		"task=%zu.${SLURM_ARRAY_TASK_ID:?}\n"
		"exec >> ",
		array + 1, array + 1);
	zm_quote_word(out, campaign->folder);
	(void)fputs("/logs/\"$task\".log 2>&1 || exit 2\nexec ", out);
	zm_quote_word(out, campaign->program);
	(void)fputs(" fleet task ", out);
	zm_quote_word(out, campaign->folder);
	(void)fputs(" \"$task\"\n", out);
}

/* --- the line --- */

struct line {
	const char *words[WORDS_MAX];
	char texts[WORDS_MAX][WORD_SIZE];
	size_t nr;
	char *script;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...);

static void add(struct line *line, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vsnprintf(line->texts[line->nr], WORD_SIZE, format, list);
	va_end(list);
	line->words[line->nr] = line->texts[line->nr];
	line->nr++;
}

/* Names of machines and kernels are plain (hostlist.h), and short. */
static int make_line(const struct zm_campaign *campaign, const struct zm_slurm_ask *ask,
		     struct line *line)
{
	const struct zm_fleet_array *array = &campaign->arrays[ask->array];

	*line = (struct line){ .nr = 0 };
	line->script = zm_campaign_path(campaign, "scripts/%zu.sh", ask->array + 1);
	if (!line->script)
		return -ENOMEM;
	add(line, "sbatch");
	add(line, "--parsable");
	add(line, "--job-name=zonemark-%s-%zu", campaign->id, ask->array + 1);
	if (ask->elements)
		line->words[line->nr++] = ask->elements;
	else
		add(line, "--array=1-%zu", array->nr_tasks);
	add(line, "--nodes=1");
	add(line, "--exclusive");
	add(line, "--mem=0");
	add(line, "--requeue");
	add(line, "--nodelist=%s", ask->node ? ask->node : array->node);
	if (array->kernel)
		add(line, "--constraint=%s", array->kernel);
	if (ask->wants_reboot)
		add(line, "--reboot");
	add(line, "--output=/dev/null");
	line->words[line->nr++] = line->script;
	line->words[line->nr] = NULL;
	return 0;
}

int zm_slurm_print_line(const struct zm_campaign *campaign, const struct zm_slurm_ask *ask,
			FILE *out)
{
	zm_autofree char *text = NULL;
	struct line line;
	int r = make_line(campaign, ask, &line);

	if (r == 0)
		text = zm_quote_line(line.words, line.nr);
	if (text)
		(void)fprintf(out, "%s\n", text);
	free(line.script);
	return text ? 0 : -ENOMEM;
}

/* "12" or "12;cluster". */
static int read_job(const char *text, char ret_job[ZM_SLURM_JOB], struct zm_why *why)
{
	size_t length = strspn(text, "0123456789");

	if (length == 0 || length >= ZM_SLURM_JOB || !strchr(";\n", text[length]))
		return zm_why_set(why, -EPROTO,
				  "sbatch says \"%.60s\" where a job's number was due", text);
	(void)snprintf(ret_job, ZM_SLURM_JOB, "%.*s", (int)length, text);
	return 0;
}

int zm_slurm_submit(const struct zm_campaign *campaign, const struct zm_slurm_ask *ask,
		    char ret_job[ZM_SLURM_JOB], struct zm_why *why)
{
	zm_autofree char *answer = NULL;
	struct line line;
	int r = make_line(campaign, ask, &line);

	if (r < 0)
		return zm_why_errno(why, r, "sbatch");
	r = zm_vm_tool_ask(&(struct zm_vm_tool){ .argv = line.words, .in_fd = -1 }, &answer, why);
	free(line.script);
	if (r == -ENOENT)
		return zm_why_set(why, r,
				  "sbatch is not here: this is no machine that Slurm takes jobs "
				  "from (apt-get install slurm-client); without Slurm: `zonemark "
				  "run --shard` (docs/fleet.md)");
	return r < 0 ? r : read_job(answer, ret_job, why);
}

int zm_slurm_cancel(const char *job, struct zm_why *why)
{
	const char *const argv[] = { "scancel", job, NULL };

	return zm_vm_tool_run(&(struct zm_vm_tool){ .argv = argv, .in_fd = -1, .out_fd = -1 }, why);
}

/* --- the queue --- */

static bool is_over(const char *state)
{
	static const char *const going[] = { "PENDING",       "RUNNING",     "SUSPENDED",
					     "COMPLETING",    "CONFIGURING", "REQUEUED",
					     "REQUEUE_HOLD",  "RESIZING",    "SIGNALING",
					     "SPECIAL_EXIT",  "STAGE_OUT",   "STOPPED",
					     "RESV_DEL_HOLD", NULL };

	for (size_t i = 0; going[i]; i++) {
		if (strcmp(state, going[i]) == 0)
			return false;
	}
	return true;
}

/* "3|RUNNING|n1|None|zonemark-ID-2": element, state, node, reason, name. False: not the campaign's. */
static bool read_row(const struct zm_campaign *campaign, char *line, struct zm_slurm_row *ret_row)
{
	char *columns[5], *name;
	uint64_t array, task;
	size_t length = strlen(campaign->id);

	for (size_t i = 0; i < 4; i++) {
		columns[i] = strsep(&line, "|");
		if (!line)
			return false;
	}
	name = line;
	if (strncmp(name, "zonemark-", 9) != 0 || strncmp(name + 9, campaign->id, length) != 0 ||
	    name[9 + length] != '-')
		return false;
	if (zm_units_parse_u64(name + 10 + length, &array) < 0 ||
	    zm_units_parse_u64(columns[0], &task) < 0 || array == 0 ||
	    array > campaign->nr_arrays || task == 0 || task > campaign->arrays[array - 1].nr_tasks)
		return false;
	*ret_row = (struct zm_slurm_row){ .array = (size_t)array - 1,
					  .task = (size_t)task - 1,
					  .is_over = is_over(columns[1]) };
	(void)snprintf(ret_row->state, sizeof(ret_row->state), "%s", columns[1]);
	(void)snprintf(ret_row->node, sizeof(ret_row->node), "%s", columns[2]);
	(void)snprintf(ret_row->reason, sizeof(ret_row->reason), "%s", columns[3]);
	return true;
}

int zm_slurm_queue_parse(const struct zm_campaign *campaign, const char *text,
			 struct zm_slurm_queue *ret_queue)
{
	zm_autofree char *copy = strdup(text);
	struct zm_slurm_queue queue = { 0 };
	char *rest = copy, *line;

	if (!copy)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		struct zm_slurm_row row, *grown;

		if (!read_row(campaign, line, &row))
			continue;
		grown = realloc(queue.rows, (queue.nr_rows + 1) * sizeof(*grown));
		if (!grown) {
			zm_slurm_queue_release(&queue);
			return -ENOMEM;
		}
		queue.rows = grown;
		queue.rows[queue.nr_rows++] = row;
	}
	*ret_queue = queue;
	return 0;
}

int zm_slurm_queue_read(const struct zm_campaign *campaign, struct zm_slurm_queue *ret_queue,
			struct zm_why *why)
{
	static const char *const argv[] = { "squeue",   "--noheader",     "--array", "--states=all",
					    "--format", "%K|%T|%N|%r|%j", NULL };
	zm_autofree char *text = NULL;
	int r = zm_vm_tool_ask(&(struct zm_vm_tool){ .argv = argv, .in_fd = -1 }, &text, why);

	if (r == -ENOENT)
		return zm_why_set(why, r,
				  "squeue is not here: what Slurm knows is not seen, only what the "
				  "folder says");
	if (r < 0)
		return r;
	r = zm_slurm_queue_parse(campaign, text, ret_queue);
	return r < 0 ? zm_why_errno(why, r, "squeue's answer") : 0;
}

void zm_slurm_queue_release(struct zm_slurm_queue *queue)
{
	free(queue->rows);
	*queue = (struct zm_slurm_queue){ 0 };
}

const struct zm_slurm_row *zm_slurm_queue_find(const struct zm_slurm_queue *queue, size_t array,
					       size_t task)
{
	const struct zm_slurm_row *found = NULL;

	for (size_t i = 0; i < queue->nr_rows; i++) {
		const struct zm_slurm_row *row = &queue->rows[i];

		if (row->array == array && row->task == task && (!found || found->is_over))
			found = row;
	}
	return found;
}
