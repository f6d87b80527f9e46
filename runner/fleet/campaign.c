/*
 * campaign: from what was asked for to JSON, and from JSON to the arrays.
 *
 * Made or read, it goes through the same JSON: what was written is what is run.
 */
#include "runner/fleet/campaign.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/outfile.h"
#include "results/uuid.h"
#include "runner/fleet/hostlist.h"
#include "workloads/base/cleanup.h"

#define FORMAT  1
#define ID_SIZE 9

static const char *const folders[] = { "scripts", "attempts", "results", "logs", NULL };

char *zm_campaign_path(const struct zm_campaign *campaign, const char *format, ...)
{
	char *rest = NULL, *path = NULL;
	va_list list;
	int n;

	va_start(list, format);
	n = vasprintf(&rest, format, list);
	va_end(list);
	if (n < 0)
		return NULL;
	n = asprintf(&path, "%s/%s", campaign->folder, rest);
	free(rest);
	return n < 0 ? NULL : path;
}

/* --- JSON to arrays --- */

struct reader {
	struct zm_campaign campaign;
	const char *where; /* for the sentence */
	struct zm_why *why;
};

static int is_wrong(struct reader *reader, const char *what)
{
	return zm_why_set(reader->why, -EINVAL, "%s: not a campaign's file: %s", reader->where,
			  what);
}

static int no_memory(struct reader *reader)
{
	return zm_why_errno(reader->why, -ENOMEM, "%s", reader->where);
}

static int read_words(struct reader *reader)
{
	struct zm_campaign *campaign = &reader->campaign;
	json_t *words = json_object_get(campaign->json, "words"), *word;
	size_t i;

	campaign->words = calloc(json_array_size(words) + 1, sizeof(*campaign->words));
	if (!campaign->words)
		return no_memory(reader);
	json_array_foreach(words, i, word)
	{
		if (!json_is_string(word))
			return is_wrong(reader, "words");
		campaign->words[campaign->nr_words++] = json_string_value(word);
	}
	return campaign->nr_words ? 0 : is_wrong(reader, "words");
}

static int read_parts(struct reader *reader, struct zm_fleet_array *array, const json_t *parts)
{
	size_t i, nr = json_array_size(parts);
	json_t *part;

	if (nr == 0 || nr > ZM_CAMPAIGN_TASKS)
		return is_wrong(reader, "parts");
	array->parts = calloc(nr, sizeof(*array->parts));
	if (!array->parts)
		return no_memory(reader);
	json_array_foreach(parts, i, part)
	{
		json_int_t value = json_integer_value(part);

		if (value < 1 || value > reader->campaign.nr_parts)
			return is_wrong(reader, "parts");
		array->parts[array->nr_tasks++] = (unsigned int)value;
	}
	return 0;
}

static int read_array(struct reader *reader, json_t *json)
{
	struct zm_campaign *campaign = &reader->campaign;
	struct zm_fleet_array *array = &campaign->arrays[campaign->nr_arrays];
	json_t *parts = NULL, *kernel = NULL;
	int round = 0;

	if (json_unpack(json, "{s:s, s?:o, s:i, s:o}", "node", &array->node, "kernel", &kernel,
			"round", &round, "parts", &parts) < 0 ||
	    !zm_hostlist_is_name(array->node) || round < 1)
		return is_wrong(reader, "arrays");
	array->kernel = json_string_value(kernel);
	if (array->kernel && !zm_hostlist_is_name(array->kernel))
		return is_wrong(reader, "arrays");
	array->round = (unsigned int)round;
	campaign->nr_arrays++;
	return read_parts(reader, array, parts);
}

static int read_arrays(struct reader *reader)
{
	json_t *arrays = json_object_get(reader->campaign.json, "arrays"), *array;
	size_t i, nr = json_array_size(arrays);
	int r = 0;

	if (nr == 0 || nr > ZM_CAMPAIGN_ARRAYS)
		return is_wrong(reader, "arrays");
	reader->campaign.arrays = calloc(nr, sizeof(*reader->campaign.arrays));
	if (!reader->campaign.arrays)
		return no_memory(reader);
	json_array_foreach(arrays, i, array)
	{
		r = r < 0 ? r : read_array(reader, array);
	}
	return r;
}

static int read_head(struct reader *reader)
{
	struct zm_campaign *campaign = &reader->campaign;
	int format = 0, nr_parts = 0;

	if (json_unpack(campaign->json, "{s:i}", "zonemark_fleet", &format) < 0)
		return is_wrong(reader, "it has no zonemark_fleet");
	if (format != FORMAT)
		return zm_why_set(reader->why, -EPROTO,
				  "%s: of another zonemark (form %d, and this one reads %d)",
				  reader->where, format, FORMAT);
	if (json_unpack(campaign->json, "{s:s, s:s, s:s, s:s, s:i}", "id", &campaign->id, "program",
			&campaign->program, "directory", &campaign->directory, "split",
			&campaign->split, "nr_parts", &nr_parts) < 0 ||
	    nr_parts < 1 || !zm_hostlist_is_name(campaign->id) || campaign->program[0] != '/')
		return is_wrong(reader, "its head");
	campaign->nr_parts = (unsigned int)nr_parts;
	return 0;
}

/* Takes the JSON over. */
static int read_json(const char *folder, json_t *json, struct zm_campaign *ret_campaign,
		     struct zm_why *why)
{
	struct reader reader = { .campaign = { .folder = strdup(folder), .json = json },
				 .where = folder,
				 .why = why };
	int r = reader.campaign.folder ? read_head(&reader) : no_memory(&reader);

	if (r == 0)
		r = read_words(&reader);
	if (r == 0)
		r = read_arrays(&reader);
	if (r < 0)
		zm_campaign_release(&reader.campaign);
	else
		*ret_campaign = reader.campaign;
	return r;
}

int zm_campaign_read(const char *folder, struct zm_campaign *ret_campaign, struct zm_why *why)
{
	zm_autofree char *absolute = realpath(folder, NULL), *path = NULL;
	json_error_t error;
	json_t *json;

	if (!absolute)
		return zm_why_errno(why, -errno, "%s", folder);
	if (asprintf(&path, "%s/campaign.json", absolute) < 0) {
		path = NULL;
		return zm_why_errno(why, -ENOMEM, "%s", folder);
	}
	if (access(path, R_OK) < 0)
		return zm_why_errno(why, -errno, "%s: no campaign is there: campaign.json", folder);
	json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		return zm_why_set(why, -EINVAL, "%s: not a campaign's file: line %d: %s", path,
				  error.line, error.text);
	return read_json(absolute, json, ret_campaign, why);
}

void zm_campaign_release(struct zm_campaign *campaign)
{
	for (size_t i = 0; i < campaign->nr_arrays; i++)
		free(campaign->arrays[i].parts);
	free(campaign->arrays);
	free(campaign->words);
	free(campaign->folder);
	json_decref(campaign->json);
	*campaign = (struct zm_campaign){ 0 };
}

int zm_campaign_find(const struct zm_campaign *campaign, const char *name, size_t *ret_array,
		     size_t *ret_task, struct zm_why *why)
{
	unsigned int array = 0, task = 0;
	int end = -1;

	if (sscanf(name, "%5u.%5u%n", &array, &task, &end) != 2 || end < 0 || name[end] ||
	    array == 0 || array > campaign->nr_arrays || task == 0 ||
	    task > campaign->arrays[array - 1].nr_tasks)
		return zm_why_set(why, -EINVAL, "%s: %s has no task of that name", name,
				  campaign->folder);
	*ret_array = array - 1;
	*ret_task = task - 1;
	return 0;
}

/* --- what was asked for to JSON --- */

static json_t *json_words(const char *const *words, size_t nr)
{
	json_t *array = json_array();

	for (size_t i = 0; i < nr; i++) {
		if (json_array_append_new(array, json_string(words[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static void add_array(json_t *arrays, const struct zm_campaign_ask *ask, size_t node,
		      const char *kernel, unsigned int round, json_t *parts)
{
	json_t *array = json_pack("{s:s, s:i, s:o}", "node", ask->nodes[node], "round", (int)round,
				  "parts", parts);

	if (kernel)
		(void)json_object_set_new(array, "kernel", json_string(kernel));
	(void)json_array_append_new(arrays, array);
}

/* The node's parts, in as many arrays as that takes. */
static void add_arrays(json_t *arrays, const struct zm_campaign_ask *ask, size_t node,
		       const char *kernel, unsigned int round)
{
	json_t *parts = json_array();

	for (unsigned int i = 0; ask->node_of && i < ask->nr_parts; i++) {
		if (ask->node_of[i] != node)
			continue;
		(void)json_array_append_new(parts, json_integer(i + 1));
		if (json_array_size(parts) == ZM_CAMPAIGN_TASKS) {
			add_array(arrays, ask, node, kernel, round, parts);
			parts = json_array();
		}
	}
	if (!ask->node_of)
		(void)json_array_append_new(parts, json_integer(1));
	if (json_array_size(parts))
		add_array(arrays, ask, node, kernel, round, parts);
	else
		json_decref(parts);
}

static json_t *json_arrays(const struct zm_campaign_ask *ask)
{
	json_t *arrays = json_array();
	size_t nr_kernels = ask->nr_kernels ? ask->nr_kernels : 1;

	for (unsigned int round = 1; round <= ask->nr_rounds; round++) {
		for (size_t k = 0; k < nr_kernels; k++) {
			const char *kernel = ask->nr_kernels ? ask->kernels[k] : NULL;

			for (size_t node = 0; node < ask->nr_nodes; node++)
				add_arrays(arrays, ask, node, kernel, round);
		}
	}
	return arrays;
}

/* Absolute, and not yet there or empty. */
static int choose_folder(const struct zm_campaign_ask *ask, const char *directory, const char *id,
			 char **ret_folder, struct zm_why *why)
{
	int n;

	if (!ask->folder)
		n = asprintf(ret_folder, "%s/zonemark-fleet-%s", directory, id);
	else if (ask->folder[0] == '/')
		n = asprintf(ret_folder, "%s", ask->folder);
	else
		n = asprintf(ret_folder, "%s/%s", directory, ask->folder);
	if (n >= 0)
		return 0;
	*ret_folder = NULL;
	return zm_why_errno(why, -ENOMEM, "the campaign's folder");
}

static int check_size(const struct zm_campaign_ask *ask, struct zm_why *why)
{
	size_t nr_kernels = ask->nr_kernels ? ask->nr_kernels : 1;
	size_t nr_each = 1 + (ask->node_of ? ask->nr_parts / ZM_CAMPAIGN_TASKS : 0);
	size_t nr = ask->nr_nodes * nr_kernels * ask->nr_rounds * nr_each;

	if (nr <= ZM_CAMPAIGN_ARRAYS)
		return 0;
	return zm_why_set(why, -ERANGE,
			  "%zu machines, %zu kernels and %u rounds are more than %d arrays; take "
			  "several campaigns",
			  ask->nr_nodes, nr_kernels, ask->nr_rounds, ZM_CAMPAIGN_ARRAYS);
}

int zm_campaign_make(const struct zm_campaign_ask *ask, struct zm_campaign *ret_campaign,
		     struct zm_why *why)
{
	zm_autofree char *directory = getcwd(NULL, 0), *folder = NULL;
	char uuid[ZM_UUID_SIZE], id[ID_SIZE];
	json_t *words, *json;
	int r = directory ? zm_uuid_make(uuid) : -errno;

	if (r < 0)
		return zm_why_errno(why, r, "a name for the campaign");
	(void)snprintf(id, sizeof(id), "%.8s", uuid);
	r = check_size(ask, why);
	if (r == 0)
		r = choose_folder(ask, directory, id, &folder, why);
	if (r < 0)
		return r;
	words = json_words(ask->words, ask->nr_words);
	if (!words)
		return zm_why_set(why, -EINVAL, "a word of the matrix is not UTF-8 text");
	json = json_pack("{s:i, s:s, s:s, s:s, s:o, s:s, s:i, s:o}", "zonemark_fleet", FORMAT, "id",
			 id, "program", ask->program, "directory", directory, "words", words,
			 "split", ask->node_of ? ask->split : "", "nr_parts",
			 ask->node_of ? (int)ask->nr_parts : 1, "arrays", json_arrays(ask));
	if (!json)
		return zm_why_set(why, -EINVAL, "%s or %s is not UTF-8 text", ask->program,
				  directory);
	return read_json(folder, json, ret_campaign, why);
}

/* --- to disk --- */

static int check_empty(const char *folder, struct zm_why *why)
{
	zm_autoclosedir DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return zm_why_errno(why, -errno, "%s", folder);
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return zm_why_set(why, -EEXIST,
					  "%s is not empty: a campaign needs a folder of its own; "
					  "--folder names a new one",
					  folder);
	}
	return 0;
}

static int make_folders(const struct zm_campaign *campaign, struct zm_why *why)
{
	int r = 0;

	if (mkdir(campaign->folder, 0777) < 0 && errno != EEXIST)
		return zm_why_errno(why, -errno, "%s", campaign->folder);
	r = check_empty(campaign->folder, why);
	for (size_t i = 0; r == 0 && folders[i]; i++) {
		zm_autofree char *path = zm_campaign_path(campaign, "%s", folders[i]);

		if (!path || mkdir(path, 0777) < 0)
			r = zm_why_errno(why, path ? -errno : -ENOMEM, "%s/%s", campaign->folder,
					 folders[i]);
	}
	return r;
}

int zm_campaign_write(const struct zm_campaign *campaign, struct zm_why *why)
{
	zm_autofree char *path = zm_campaign_path(campaign, "campaign.json");
	struct zm_outfile file;
	int r = path ? make_folders(campaign, why)
		     : zm_why_errno(why, -ENOMEM, "%s", campaign->folder);

	if (r == 0)
		r = zm_outfile_open(&file, path, why);
	if (r < 0)
		return r;
	(void)json_dumpf(campaign->json, file.out, JSON_INDENT(1));
	(void)fputc('\n', file.out);
	r = zm_outfile_keep(&file, why);
	zm_outfile_drop(&file);
	return r;
}
