/* submit: scripts into the folder, arrays to sbatch, all of them or none. */
#include "runner/fleet/submit.h"

#include <errno.h>
#include <stdlib.h>

#include "results/outfile.h"
#include "runner/fleet/state.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/remove.h"

static void print_array(const struct zm_campaign *campaign, size_t array, FILE *out)
{
	const struct zm_fleet_array *it = &campaign->arrays[array];

	(void)fprintf(out, "array %zu of %zu: %s, %s%sround %u, %zu task%s", array + 1,
		      campaign->nr_arrays, it->node, it->kernel ? it->kernel : "",
		      it->kernel ? ", " : "", it->round, it->nr_tasks,
		      it->nr_tasks == 1 ? "" : "s");
}

int zm_fleet_submit_print(const struct zm_campaign *campaign, bool wants_reboot, FILE *out,
			  struct zm_why *why)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < campaign->nr_arrays; i++) {
		const struct zm_slurm_ask ask = { .array = i, .wants_reboot = wants_reboot };

		(void)fputs("# ", out);
		print_array(campaign, i, out);
		(void)fputc('\n', out);
		r = zm_slurm_print_line(campaign, &ask, out);
		zm_slurm_print_script(campaign, i, out);
		(void)fputc('\n', out);
	}
	return r < 0 ? zm_why_errno(why, r, "the scripts") : 0;
}

static int write_script(const struct zm_campaign *campaign, size_t array, struct zm_why *why)
{
	zm_autofree char *path = zm_campaign_path(campaign, "scripts/%zu.sh", array + 1);
	struct zm_outfile file;
	int r;

	if (!path)
		return zm_why_errno(why, -ENOMEM, "script %zu", array + 1);
	r = zm_outfile_open(&file, path, why);
	if (r < 0)
		return r;
	zm_slurm_print_script(campaign, array, file.out);
	r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return r;
}

/* All or nothing: what was taken before one is refused is taken back. */
static int submit_arrays(const struct zm_campaign *campaign, const struct zm_slurm_ask *asks,
			 size_t nr, struct zm_why *why)
{
	char(*jobs)[ZM_SLURM_JOB] = calloc(nr + 1, sizeof(*jobs));
	struct zm_why ignored;
	size_t nr_jobs = 0;
	int r = jobs ? 0 : zm_why_errno(why, -ENOMEM, "%zu arrays", nr);

	for (size_t i = 0; r == 0 && i < nr; i++) {
		r = zm_slurm_submit(campaign, &asks[i], jobs[i], why);
		nr_jobs += r == 0;
	}
	for (size_t i = 0; r < 0 && i < nr_jobs; i++)
		(void)zm_slurm_cancel(jobs[i], &ignored);
	if (r < 0 && nr_jobs)
		zm_why_prefix(why, "%zu arrays were taken, and have been cancelled", nr_jobs);
	for (size_t i = 0; r == 0 && i < nr; i++) {
		(void)fprintf(stderr, "job %s: ", jobs[i]);
		print_array(campaign, asks[i].array, stderr);
		(void)fputc('\n', stderr);
	}
	free(jobs);
	return r;
}

static int write_and_submit(const struct zm_campaign *campaign, struct zm_slurm_ask *asks,
			    bool wants_reboot, struct zm_why *why)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < campaign->nr_arrays; i++) {
		asks[i] = (struct zm_slurm_ask){ .array = i, .wants_reboot = wants_reboot };
		r = write_script(campaign, i, why);
	}
	return r == 0 ? submit_arrays(campaign, asks, campaign->nr_arrays, why) : r;
}

int zm_fleet_submit(const struct zm_campaign *campaign, bool wants_reboot, struct zm_why *why)
{
	zm_autofree struct zm_slurm_ask *asks = calloc(campaign->nr_arrays, sizeof(*asks));
	struct zm_why ignored;
	int r = asks ? zm_campaign_write(campaign, why)
		     : zm_why_errno(why, -ENOMEM, "%zu arrays", campaign->nr_arrays);

	if (r < 0)
		return r;
	r = write_and_submit(campaign, asks, wants_reboot, why);
	if (r < 0)
		(void)zm_remove_tree(campaign->folder, &ignored);
	return r;
}

/* --- again ----------------------------------------------------------------------------------- */

/* "--array=3,5": those without a result that nobody runs; NULL: none. */
static char *make_elements(const struct zm_campaign *campaign, const struct zm_slurm_queue *queue,
			   size_t array)
{
	const char *between = "--array=";
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	for (size_t k = 0; out && k < campaign->arrays[array].nr_tasks; k++) {
		struct zm_fleet_look look;

		zm_fleet_look(campaign, queue, array, k, &look);
		if (look.state < ZM_FLEET_FAILED)
			continue;
		(void)fprintf(out, "%s%zu", between, k + 1);
		between = ",";
	}
	if (out && fclose(out) == 0 && length)
		return text;
	free(text);
	return NULL;
}

static int submit_missing(const struct zm_campaign *campaign, char *const *elements,
			  const struct zm_hostlist *nodes, bool wants_reboot, struct zm_why *why)
{
	zm_autofree struct zm_slurm_ask *asks = calloc(campaign->nr_arrays, sizeof(*asks));
	size_t nr = 0;

	if (!asks)
		return zm_why_errno(why, -ENOMEM, "%zu arrays", campaign->nr_arrays);
	for (size_t i = 0; i < campaign->nr_arrays; i++) {
		if (!elements[i])
			continue;
		asks[nr] = (struct zm_slurm_ask){ .array = i,
						  .elements = elements[i],
						  .wants_reboot = wants_reboot };
		if (nodes->nr)
			asks[nr].node = nodes->names[nr % nodes->nr];
		nr++;
	}
	if (nr == 0)
		(void)fputs("nothing to do: every task has a result, or is under way\n", stderr);
	return nr ? submit_arrays(campaign, asks, nr, why) : 0;
}

int zm_fleet_submit_again(const struct zm_campaign *campaign, const struct zm_slurm_queue *queue,
			  const struct zm_hostlist *nodes, bool wants_reboot, struct zm_why *why)
{
	zm_autofree char **elements = calloc(campaign->nr_arrays, sizeof(*elements));
	int r;

	if (!elements)
		return zm_why_errno(why, -ENOMEM, "%zu arrays", campaign->nr_arrays);
	for (size_t i = 0; i < campaign->nr_arrays; i++)
		elements[i] = make_elements(campaign, queue, i);
	r = submit_missing(campaign, elements, nodes, wants_reboot, why);
	for (size_t i = 0; i < campaign->nr_arrays; i++)
		free(elements[i]);
	return r;
}
