/* gather: open, import, and a look at what did not go well. */
#include "runner/fleet/gather.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "results/query.h"
#include "results/store.h"
#include "workloads/base/cleanup.h"

struct looking {
	const char *task;
	zm_gather_each *each;
	void *context;
};

/* What was interrupted was run again: its store would not be here otherwise. */
static int look_at_run(void *context, const struct zm_run_info *run)
{
	const struct looking *looking = context;

	if (run->status == ZM_STATUS_FAILED || run->status == ZM_STATUS_SKIPPED)
		looking->each(looking->context, looking->task, zm_status_name(run->status),
			      run->workload, run->reason ? run->reason : "");
	return 0;
}

static int take(const char *path, struct zm_store *into, struct zm_import *ret_import,
		struct looking *looking, struct zm_why *why)
{
	const struct zm_run_filter all = { .status = -1 };
	struct zm_store *from = NULL;
	int r = zm_store_open(path, false, &from, why);

	if (r == 0)
		r = zm_import_store(into, from, ret_import, why);
	if (r == 0)
		r = zm_query_runs(from, &all, look_at_run, looking, why);
	zm_store_close(from);
	return r;
}

int zm_gather_task(const struct zm_campaign *campaign, size_t array, size_t task,
		   struct zm_store *into, struct zm_import *sum, zm_gather_each *each,
		   void *context, struct zm_why *why)
{
	zm_autofree char *path = NULL;
	char name[32];
	struct looking looking = { .task = name, .each = each, .context = context };
	struct zm_import import = { 0 };
	int r;

	(void)snprintf(name, sizeof(name), "%zu.%zu", array + 1, task + 1);
	path = zm_campaign_path(campaign, "results/%s.db", name);
	if (!path)
		return zm_why_errno(why, -ENOMEM, "task %s", name);
	if (access(path, F_OK) < 0)
		return zm_why_errno(why, -errno, "%s", path);
	r = take(path, into, &import, &looking, why);
	sum->nr_new += import.nr_new;
	sum->nr_replaced += import.nr_replaced;
	sum->nr_there += import.nr_there;
	sum->nr_under_way += import.nr_under_way;
	return r;
}
