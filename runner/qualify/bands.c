/* bands: a small YAML file in, the same out. */
#include "runner/qualify/bands.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/yaml.h"
#include "runner/readfile.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/units.h"

#define BANDS_BYTES ((size_t)1 << 20)

struct reader {
	const char *name;
	struct zm_yaml_marks marks;
	struct zm_bands bands;
	struct zm_why *why;
	int error;
};

static void wrong(struct reader *reader, const json_t *value, const char *text)
{
	unsigned int line = zm_yaml_line(&reader->marks, value);

	if (!reader->error)
		reader->error = zm_why_set(reader->why, -EINVAL, "%s:%u: %s", reader->name,
					   line ? line : 1, text);
}

static const char *read_text(struct reader *reader, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	char text[96];

	(void)snprintf(text, sizeof(text), "%.32s: a word is wanted", key);
	if (!json_is_string(value))
		wrong(reader, value ? value : object, text);
	return zm_pool_text(&reader->bands.pool, json_string_value(value));
}

static double read_number(struct reader *reader, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	const char *typed = json_string_value(value);
	char text[96];
	bool is_negative = typed && typed[0] == '-';
	double number = NAN;

	(void)snprintf(text, sizeof(text), "%.32s: a number is wanted", key);
	if (!typed || zm_units_parse_double(typed + is_negative, &number) < 0)
		wrong(reader, value ? value : object, text);
	return is_negative ? -number : number;
}

static void read_band(struct reader *reader, const json_t *item)
{
	struct zm_band *band = &reader->bands.list[reader->bands.nr];
	double nr;

	if (!json_is_object(item)) {
		wrong(reader, item, "a band is `criterion:`, `least:` and `most:`");
		return;
	}
	band->criterion = read_text(reader, item, "criterion");
	band->least = read_number(reader, item, "least");
	band->most = read_number(reader, item, "most");
	band->median = read_number(reader, item, "median");
	nr = read_number(reader, item, "number");
	if (!reader->error && (!(nr >= 1 && nr <= 1e9) || nr != floor(nr)))
		wrong(reader, item, "number: a whole number is wanted");
	if (!reader->error && band->least > band->most)
		wrong(reader, item, "least: is above most:");
	if (reader->error)
		return;
	band->nr = (size_t)nr;
	reader->bands.nr++;
}

static void read_all(struct reader *reader, const json_t *documents)
{
	const json_t *object = json_array_get(documents, 0), *list, *item;
	size_t i;

	if (json_array_size(documents) != 1 || !json_is_object(object)) {
		wrong(reader, NULL, "a mapping is wanted: `profile:`, `model:`, `bands:`");
		return;
	}
	reader->bands.profile = read_text(reader, object, "profile");
	reader->bands.model = read_text(reader, object, "model");
	reader->bands.of = read_text(reader, object, "of");
	list = json_object_get(object, "bands");
	if (json_array_size(list) == 0)
		wrong(reader, list ? list : object, "bands: a list of bands is wanted");
	reader->bands.list = zm_pool_take(&reader->bands.pool, (json_array_size(list) + 1) *
								       sizeof(*reader->bands.list));
	json_array_foreach((json_t *)list, i, item)
	{
		if (!reader->error && reader->bands.list)
			read_band(reader, item);
	}
}

int zm_bands_parse(const char *name, const char *text, size_t length, struct zm_bands *ret_bands,
		   struct zm_why *why)
{
	struct reader reader = { .name = name, .why = why };
	json_t *documents = NULL;
	int r = zm_yaml_read_marked(text, length, &documents, &reader.marks, why);

	if (r < 0) {
		zm_why_prefix(why, "%s", name);
		return r;
	}
	read_all(&reader, documents);
	r = reader.error;
	if (r == 0 && reader.bands.pool.error)
		r = zm_why_errno(why, reader.bands.pool.error, "%s", name);
	zm_yaml_marks_release(&reader.marks);
	json_decref(documents);
	if (r < 0)
		zm_bands_release(&reader.bands);
	else
		*ret_bands = reader.bands;
	return r;
}

int zm_bands_read(const char *path, struct zm_bands *ret_bands, struct zm_why *why)
{
	zm_autofree char *text = malloc(BANDS_BYTES + 1);
	zm_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t length = 0;
	int r;

	if (!text || fd < 0)
		return zm_why_errno(why, text ? -errno : -ENOMEM, "%s", path);
	r = zm_readfile(fd, text, BANDS_BYTES + 1, &length);
	if (r < 0)
		return zm_why_errno(why, r, "%s", path);
	if (length > BANDS_BYTES)
		return zm_why_set(why, -E2BIG, "%s: larger than %zu KiB; are these bands?", path,
				  BANDS_BYTES >> 10);
	return zm_bands_parse(path, text, length, ret_bands, why);
}

void zm_bands_release(struct zm_bands *bands)
{
	zm_pool_release(&bands->pool);
	*bands = (struct zm_bands){ 0 };
}

const struct zm_band *zm_bands_find(const struct zm_bands *bands, const char *criterion)
{
	for (size_t i = 0; i < bands->nr; i++) {
		if (strcmp(bands->list[i].criterion, criterion) == 0)
			return &bands->list[i];
	}
	return NULL;
}

/* A JSON string is a YAML one. */
static int put_text(FILE *out, const char *key, const char *text)
{
	json_t *value = json_string(text);
	zm_autofree char *quoted = json_dumps(value, JSON_ENCODE_ANY);

	json_decref(value);
	if (!quoted)
		return -ENOMEM;
	return fprintf(out, "%s: %s\n", key, quoted) < 0 ? -EIO : 0;
}

int zm_bands_write(const struct zm_bands *bands, FILE *out)
{
	int r;

	(void)fputs("# What these criteria's values are on good machines: each band holds 99 % of "
		    "them\n# with 95 % confidence (two-sided tolerance interval).\n",
		    out);
	r = put_text(out, "profile", bands->profile);
	if (r == 0)
		r = put_text(out, "model", bands->model);
	if (r == 0)
		r = put_text(out, "of", bands->of);
	(void)fputs("bands:\n", out);
	for (size_t i = 0; r == 0 && i < bands->nr; i++) {
		const struct zm_band *band = &bands->list[i];
		char least[40], most[40], median[40];

		r = put_text(out, "- criterion", band->criterion);
		(void)fprintf(out, "  least: %s\n  most: %s\n  median: %s\n  number: %zu\n",
			      zm_units_print_double(least, sizeof(least), band->least),
			      zm_units_print_double(most, sizeof(most), band->most),
			      zm_units_print_double(median, sizeof(median), band->median),
			      band->nr);
	}
	return r;
}
