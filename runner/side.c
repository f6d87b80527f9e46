/* side: a word is looked up as a file or a folder, as runs or a label, as a kernel. */
#include "runner/side.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "results/query.h"

static bool is_path(const char *word)
{
	struct stat info;

	return strchr(word, '/') && stat(word, &info) == 0 &&
	       (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int add_where(struct zm_compare_side *side, const struct zm_run_filter *filter,
		     struct zm_why *why)
{
	return zm_query_runs(side->store, filter, zm_runset_add_info, &side->runs, why);
}

static int add_store(struct zm_sides *sides, struct zm_compare_side *side, struct zm_why *why)
{
	int r = zm_store_open(side->name, false, &sides->others[sides->nr], why);

	if (r < 0)
		return r;
	side->store = sides->others[sides->nr];
	return add_where(side, &(struct zm_run_filter){ .status = -1 }, why);
}

static int add_path(struct zm_sides *sides, struct zm_compare_side *side, struct zm_why *why)
{
	int r;

	if (!is_folder(side->name) && zm_outside_is_store(side->name))
		return add_store(sides, side, why);
	r = zm_outside_read(side->name, &sides->outsides[sides->nr], why);
	if (r == 0)
		side->outside = &sides->outsides[sides->nr];
	return r;
}

static int add_runs(struct zm_sides *sides, struct zm_compare_side *side, const char *db,
		    struct zm_why *why)
{
	int r = sides->usual ? 0 : zm_store_open(db, false, &sides->usual, why);

	if (r < 0)
		return r;
	side->store = sides->usual;
	r = zm_query_resolve(side->store, side->name, &side->runs, why);
	if (r != -ENOENT)
		return r;
	r = add_where(side, &(struct zm_run_filter){ .kernel = side->name, .status = -1 }, why);
	if (r == 0 && side->runs.nr == 0)
		r = zm_why_set(why, -ENOENT,
			       "%s: no run has this number, name, label or kernel; `zonemark "
			       "runs` lists them",
			       side->name);
	return r;
}

int zm_sides_add(struct zm_sides *sides, const char *word, const char *db, struct zm_why *why)
{
	struct zm_compare_side *side;
	int r;

	if (sides->nr == ZM_COMPARE_SIDES)
		return zm_why_set(why, -E2BIG, "%s: at most %d sides are compared", word,
				  ZM_COMPARE_SIDES);
	side = &sides->list[sides->nr];
	side->name = word;
	r = is_path(word) ? add_path(sides, side, why) : add_runs(sides, side, db, why);
	zm_runset_sort(&side->runs);
	sides->nr++;
	return r;
}

void zm_sides_release(struct zm_sides *sides)
{
	for (size_t i = 0; i < sides->nr; i++) {
		zm_runset_release(&sides->list[i].runs);
		zm_store_close(sides->others[i]);
		zm_outside_release(&sides->outsides[i]);
	}
	zm_store_close(sides->usual);
	*sides = (struct zm_sides){ 0 };
}
