/*
 * profile_write: from a profile to JSON, a line for each row, so that a change of one shows as one.
 */
#include "buildload/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

/* A text, quoted; what is not UTF-8 becomes '?'. */
static void put_text(FILE *out, const char *text)
{
	json_t *json = json_string(text);
	zm_autofree char *plain = NULL;
	char *quoted;

	if (!json) {
		plain = strdup(text);
		for (char *c = plain; c && *c; c++)
			*c = (unsigned char)*c < 0x80 ? *c : '?';
		json = json_string(plain ? plain : "?");
	}
	quoted = json_dumps(json, JSON_ENCODE_ANY);
	(void)fputs(quoted ? quoted : "\"?\"", out);
	free(quoted);
	json_decref(json);
}

static void put_real(FILE *out, double value)
{
	char text[40];

	(void)fputs(zm_units_print_double(text, sizeof(text), value), out);
}

static void put_mix(FILE *out, const struct zm_profile_mix *mix)
{
	(void)fputc('[', out);
	for (size_t i = 0; i < mix->nr; i++) {
		(void)fprintf(out, "%s[%llu, ", i ? ", " : "",
			      (unsigned long long)mix->steps[i].bytes);
		put_real(out, mix->steps[i].weight);
		(void)fputc(']', out);
	}
	(void)fputc(']', out);
}

static void put_ramp(FILE *out, const struct zm_profile_ramp *ramp)
{
	(void)fputs("    {", out);
	if (ramp->up_to_us != UINT64_MAX)
		(void)fprintf(out, "\"up_to_us\": %llu, ", (unsigned long long)ramp->up_to_us);
	(void)fputs("\"points\": [", out);
	for (size_t i = 0; i < ramp->nr; i++) {
		(void)fputs(i ? ", [" : "[", out);
		put_real(out, ramp->points[i].cpu);
		(void)fputs(", ", out);
		put_real(out, ramp->points[i].anon);
		(void)fputc(']', out);
	}
	(void)fputs("]}", out);
}

static void put_row(FILE *out, unsigned int fields, const uint64_t row[ZM_NR_FIELDS])
{
	const char *between = "";

	(void)fputs("    [", out);
	for (unsigned int field = 0; field < ZM_NR_FIELDS; field++) {
		if (!(fields >> field & 1))
			continue;
		(void)fprintf(out, "%s%llu", between, (unsigned long long)row[field]);
		between = ", ";
	}
	(void)fputc(']', out);
}

static void put_fields(FILE *out, unsigned int fields)
{
	const char *between = "";

	(void)fputs("   \"fields\": [", out);
	for (enum zm_profile_field field = 0; field < ZM_NR_FIELDS; field++) {
		if (!(fields >> field & 1))
			continue;
		(void)fprintf(out, "%s\"%s\"", between, zm_profile_field_name(field));
		between = ", ";
	}
	(void)fputs("],\n", out);
}

static void put_class(FILE *out, const struct zm_profile_class *class)
{
	(void)fputs("  {\"name\": ", out);
	put_text(out, class->name);
	(void)fprintf(out,
		      ", \"role\": \"%s\", \"image_bytes\": %llu, \"images\": %u,\n   \"maps\": ",
		      zm_profile_role_name(class->role), (unsigned long long)class->image_bytes,
		      class->nr_images);
	put_mix(out, &class->maps);
	(void)fputs(",\n   \"brks\": ", out);
	put_mix(out, &class->brks);
	(void)fputs(",\n   \"brk_share\": ", out);
	put_real(out, class->brk_share);
	(void)fputs(", \"unmap_share\": ", out);
	put_real(out, class->unmap_share);
	(void)fputs(",\n   \"ramps\": [", out);
	for (size_t i = 0; i < class->nr_ramps; i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		put_ramp(out, &class->ramps[i]);
	}
	(void)fputs("],\n", out);
	put_fields(out, class->fields);
	(void)fputs("   \"rows\": [", out);
	for (size_t i = 0; i < class->nr_rows; i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		put_row(out, class->fields, class->rows[i]);
	}
	(void)fputs("]}", out);
}

static void put_recipe(FILE *out, const struct zm_profile *profile,
		       const struct zm_profile_recipe *recipe)
{
	(void)fputs("  {\"nodes\": [", out);
	for (size_t i = 0; i < recipe->nr; i++) {
		const struct zm_profile_node *node = &recipe->nodes[i];

		(void)fputs(i ? ",\n    {\"class\": " : "\n    {\"class\": ", out);
		put_text(out, profile->classes[node->class_index].name);
		if (node->parent >= 0)
			(void)fprintf(out, ", \"parent\": %d", node->parent);
		if (node->row > 0)
			(void)fprintf(out, ", \"row\": %u", node->row - 1);
		(void)fprintf(out, "%s%s%s}", node->is_fork ? ", \"fork\": true" : "",
			      node->is_beside ? ", \"beside\": true" : "",
			      node->is_piped ? ", \"pipe\": true" : "");
	}
	(void)fputs("]}", out);
}

#define JOBS_A_LINE 12

static void put_stage(FILE *out, const struct zm_profile_stage *stage)
{
	(void)fputs("  {\"name\": ", out);
	put_text(out, stage->name);
	(void)fprintf(out, ", \"max_jobs\": %u, \"makes\": %u, \"jobs\": [", stage->max_jobs,
		      stage->nr_makes);
	for (size_t i = 0; i < stage->nr; i++)
		(void)fprintf(out, "%s%s[%u, %d]", i ? "," : "", i % JOBS_A_LINE ? " " : "\n    ",
			      stage->jobs[i].recipe, stage->jobs[i].row);
	(void)fputs("]}", out);
}

static void put_head(FILE *out, const struct zm_profile *profile)
{
	const struct {
		const char *member;
		const char *text;
	} texts[] = {
		{ "name", profile->name },
		{ "command", profile->command },
		{ "machine", profile->machine },
		{ "compiler", profile->compiler },
	};

	(void)fputs("{\"format\": \"zonemark-build-profile\", \"version\": 1,\n", out);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		(void)fprintf(out, " \"%s\": ", texts[i].member);
		put_text(out, texts[i].text);
		(void)fputs(",\n", out);
	}
	(void)fprintf(out, " \"page_bytes\": %llu, \"header_files\": %llu,\n \"headers\": ",
		      (unsigned long long)profile->page_bytes,
		      (unsigned long long)profile->nr_headers);
	put_mix(out, &profile->headers);
}

static void put_lists(FILE *out, const struct zm_profile *profile)
{
	(void)fputs(",\n \"classes\": [\n", out);
	for (size_t i = 0; i < profile->nr_classes; i++) {
		(void)fputs(i ? ",\n" : "", out);
		put_class(out, &profile->classes[i]);
	}
	(void)fputs("],\n \"recipes\": [\n", out);
	for (size_t i = 0; i < profile->nr_recipes; i++) {
		(void)fputs(i ? ",\n" : "", out);
		put_recipe(out, profile, &profile->recipes[i]);
	}
	(void)fputs("],\n \"stages\": [\n", out);
	for (size_t i = 0; i < profile->nr_stages; i++) {
		(void)fputs(i ? ",\n" : "", out);
		put_stage(out, &profile->stages[i]);
	}
	(void)fputs("],\n", out);
}

static void put_tail(FILE *out, const struct zm_profile *profile)
{
	const char *between = "";

	(void)fputs(" \"totals\": {", out);
	for (enum zm_profile_total i = 0; i < ZM_NR_TOTALS; i++) {
		if (profile->totals[i] == 0)
			continue;
		(void)fprintf(out, "%s\"%s\": %llu", between, zm_profile_total_name(i),
			      (unsigned long long)profile->totals[i]);
		between = ", ";
	}
	(void)fputs("},\n \"knobs\": {", out);
	for (enum zm_profile_knob i = 0; i < ZM_NR_KNOBS; i++) {
		(void)fprintf(out, "%s\"%s\": ", i ? ", " : "", zm_profile_knob_name(i));
		put_real(out, profile->knobs[i]);
	}
	(void)fputs("}}\n", out);
}

int zm_profile_print(const struct zm_profile *profile, char **ret_text, size_t *ret_length,
		     struct zm_why *why)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out;
	int r = zm_profile_check(profile, why);
	bool is_bad;

	if (r < 0)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return zm_why_errno(why, -ENOMEM, "the text of a build profile");
	put_head(out, profile);
	put_lists(out, profile);
	put_tail(out, profile);
	is_bad = ferror(out);
	if (fclose(out) != 0 || is_bad) {
		free(text);
		return zm_why_errno(why, -ENOMEM, "the text of a build profile");
	}
	if (length > ZM_PROFILE_BYTES_MAX) {
		free(text);
		return zm_why_set(
			why, -EFBIG,
			"the build profile would be %zu MiB, and %d are taken: fewer rows",
			length >> 20, ZM_PROFILE_BYTES_MAX >> 20);
	}
	*ret_text = text;
	*ret_length = length;
	return 0;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		length -= (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* A rename would put a file in the place of a device (root may) or of a link. */
static int find_target(const char *path, char **ret_target)
{
	struct stat status;
	bool is_there = stat(path, &status) == 0;

	if (is_there && S_ISDIR(status.st_mode))
		return -EISDIR;
	if (is_there && !S_ISREG(status.st_mode))
		return -EINVAL;
	*ret_target = is_there ? realpath(path, NULL) : strdup(path);
	return *ret_target ? 0 : -errno;
}

/* Beside the file under another name, and renamed when it is whole. */
static int replace(const char *path, const char *text, size_t length)
{
	zm_autofree char *target = NULL, *beside = NULL;
	zm_autoclose int fd = -1;
	int r = find_target(path, &target);

	if (r < 0)
		return r;
	if (asprintf(&beside, "%s.XXXXXX", target) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, length);
	if (r == 0 && (fchmod(fd, 0644) < 0 || rename(beside, target) < 0))
		r = -errno;
	if (r < 0)
		(void)unlink(beside);
	return r;
}

int zm_profile_write(const struct zm_profile *profile, const char *path, struct zm_why *why)
{
	zm_autofree char *text = NULL;
	size_t length;
	int r = zm_profile_print(profile, &text, &length, why);

	if (r < 0)
		return r;
	r = replace(path, text, length);
	if (r == -EINVAL)
		return zm_why_set(why, r, "%s: the build profile cannot be written: not a file",
				  path);
	return r < 0 ? zm_why_errno(why, r, "%s: the build profile cannot be written", path) : 0;
}
