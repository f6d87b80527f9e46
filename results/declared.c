/* declared: the metrics and series that a run has declared. */
#include "results/declared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"

#define NR_DECLARED_MAX ((size_t)1 << 24)

void zm_declared_release(struct zm_declared *declared)
{
	for (size_t i = 0; i < declared->nr_metrics; i++) {
		free(declared->metrics[i].source);
		free(declared->metrics[i].name);
		free(declared->metrics[i].unit);
	}
	free(declared->metrics);
	free(declared->series);
	free(declared->metric_slots);
	free(declared->series_slots);
	*declared = (struct zm_declared){ 0 };
}

/* FNV-1a, going on from `hash`. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_metric(const char *source, const char *name)
{
	return hash_text(hash_text(UINT64_C(0xcbf29ce484222325), name), source);
}

static uint64_t hash_series(const char *name, enum zm_scope scope, uint32_t scope_id)
{
	uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), name);

	hash = hash_bytes(hash, &scope, sizeof(scope));
	return hash_bytes(hash, &scope_id, sizeof(scope_id));
}

static uint64_t hash_metric_at(const struct zm_declared *declared, size_t i)
{
	return hash_metric(declared->metrics[i].source, declared->metrics[i].name);
}

static uint64_t hash_series_at(const struct zm_declared *declared, size_t i)
{
	const struct zm_declared_series *series = &declared->series[i];

	return hash_series(declared->metrics[series->metric].name, series->scope, series->scope_id);
}

static void slot_put(uint32_t *slots, size_t nr_slots, uint64_t hash, size_t number)
{
	size_t at = (size_t)hash & (nr_slots - 1);

	while (slots[at])
		at = (at + 1) & (nr_slots - 1);
	slots[at] = (uint32_t)number + 1;
}

/* Slots for one entry more, at most half of them in use. */
static int slots_grow(const struct zm_declared *declared, uint32_t **slots, size_t *nr_slots,
		      size_t nr, uint64_t (*hash_at)(const struct zm_declared *, size_t))
{
	size_t wanted = *nr_slots ? *nr_slots * 2 : 64;
	uint32_t *grown;

	if ((nr + 1) * 2 <= *nr_slots)
		return 0;
	grown = calloc(wanted, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		slot_put(grown, wanted, hash_at(declared, i), i);
	free(*slots);
	*slots = grown;
	*nr_slots = wanted;
	return 0;
}

static bool metric_is(const struct zm_declared_metric *metric, const struct zm_series_desc *desc)
{
	return !strcmp(metric->name, desc->metric) && !strcmp(metric->source, desc->source) &&
	       !strcmp(metric->unit, desc->unit) && metric->kind == desc->kind &&
	       metric->better == desc->better && metric->is_float == desc->is_float;
}

static bool find_metric(const struct zm_declared *declared, const struct zm_series_desc *desc,
			uint32_t *ret_metric)
{
	size_t mask = declared->nr_metric_slots - 1;
	size_t at;

	if (!declared->nr_metric_slots)
		return false;
	at = (size_t)hash_metric(desc->source, desc->metric) & mask;
	for (; declared->metric_slots[at]; at = (at + 1) & mask) {
		uint32_t metric = declared->metric_slots[at] - 1;

		if (metric_is(&declared->metrics[metric], desc)) {
			*ret_metric = metric;
			return true;
		}
	}
	return false;
}

static bool has_series(const struct zm_declared *declared, const char *name, enum zm_scope scope,
		       uint32_t scope_id)
{
	size_t mask = declared->nr_series_slots - 1;
	size_t at;

	if (!declared->nr_series_slots)
		return false;
	at = (size_t)hash_series(name, scope, scope_id) & mask;
	for (; declared->series_slots[at]; at = (at + 1) & mask) {
		const struct zm_declared_series *series =
			&declared->series[declared->series_slots[at] - 1];

		if (series->scope == scope && series->scope_id == scope_id &&
		    !strcmp(declared->metrics[series->metric].name, name))
			return true;
	}
	return false;
}

static int grow_array(void **array, size_t *capacity, size_t nr, size_t size)
{
	return nr < NR_DECLARED_MAX ? zm_array_grow(array, capacity, nr, size) : -EOVERFLOW;
}

static int copy_metric(struct zm_declared_metric *metric, const struct zm_series_desc *desc)
{
	*metric = (struct zm_declared_metric){
		.source = strdup(desc->source),
		.name = strdup(desc->metric),
		.unit = strdup(desc->unit),
		.kind = desc->kind,
		.better = desc->better,
		.is_float = desc->is_float,
	};
	if (metric->source && metric->name && metric->unit)
		return 0;
	free(metric->source);
	free(metric->name);
	free(metric->unit);
	return -ENOMEM;
}

static int add_metric(struct zm_declared *declared, const struct zm_series_desc *desc,
		      uint32_t *ret_metric)
{
	size_t nr = declared->nr_metrics;
	int error = grow_array((void **)&declared->metrics, &declared->metrics_capacity, nr,
			       sizeof(*declared->metrics));

	if (!error)
		error = slots_grow(declared, &declared->metric_slots, &declared->nr_metric_slots,
				   nr, hash_metric_at);
	if (!error)
		error = copy_metric(&declared->metrics[nr], desc);
	if (error)
		return error;
	slot_put(declared->metric_slots, declared->nr_metric_slots,
		 hash_metric(desc->source, desc->metric), nr);
	declared->nr_metrics++;
	*ret_metric = (uint32_t)nr;
	return 0;
}

static int add_series(struct zm_declared *declared, const struct zm_declared_series *series)
{
	size_t nr = declared->nr_series;
	int error = grow_array((void **)&declared->series, &declared->series_capacity, nr,
			       sizeof(*declared->series));

	if (!error)
		error = slots_grow(declared, &declared->series_slots, &declared->nr_series_slots,
				   nr, hash_series_at);
	if (error)
		return error;
	declared->series[nr] = *series;
	slot_put(declared->series_slots, declared->nr_series_slots, hash_series_at(declared, nr),
		 nr);
	declared->nr_series++;
	return 0;
}

int zm_declared_add(struct zm_declared *declared, const struct zm_series_desc *desc,
		    uint32_t *ret_series)
{
	struct zm_declared_series series = { .scope = desc->scope, .scope_id = desc->scope_id };
	int error = 0;

	if (has_series(declared, desc->metric, desc->scope, desc->scope_id))
		return -EEXIST;
	if (!find_metric(declared, desc, &series.metric))
		error = add_metric(declared, desc, &series.metric);
	if (!error)
		error = add_series(declared, &series);
	if (!error)
		*ret_series = (uint32_t)(declared->nr_series - 1);
	return error;
}

enum zm_form zm_declared_form(const struct zm_declared *declared, size_t series)
{
	const struct zm_declared_metric *metric =
		&declared->metrics[declared->series[series].metric];

	if (metric->kind == ZM_HIST)
		return ZM_FORM_HIST;
	return metric->is_float ? ZM_FORM_F64 : ZM_FORM_U64;
}

void zm_declared_put(struct zm_buf *buf, const struct zm_declared *declared, size_t from_metric,
		     size_t from_series)
{
	zm_buf_varint(buf, declared->nr_metrics - from_metric);
	for (size_t i = from_metric; i < declared->nr_metrics; i++) {
		const struct zm_declared_metric *metric = &declared->metrics[i];

		zm_buf_text(buf, metric->source);
		zm_buf_text(buf, metric->name);
		zm_buf_text(buf, metric->unit);
		zm_buf_u8(buf, (uint8_t)metric->kind);
		zm_buf_u8(buf, (uint8_t)metric->better);
		zm_buf_u8(buf, metric->is_float);
	}
	zm_buf_varint(buf, declared->nr_series - from_series);
	for (size_t i = from_series; i < declared->nr_series; i++) {
		zm_buf_varint(buf, declared->series[i].metric);
		zm_buf_u8(buf, (uint8_t)declared->series[i].scope);
		zm_buf_varint(buf, declared->series[i].scope_id);
	}
}

static int get_metric(struct zm_cursor *cursor, struct zm_declared *declared)
{
	char *texts[3] = { NULL, NULL, NULL };
	struct zm_series_desc desc = { 0 };
	uint32_t metric;
	int error;

	for (size_t i = 0; i < 3; i++)
		texts[i] = zm_cursor_text(cursor);
	desc.source = texts[0];
	desc.metric = texts[1];
	desc.unit = texts[2];
	desc.kind = zm_cursor_u8(cursor);
	desc.better = zm_cursor_u8(cursor);
	desc.is_float = zm_cursor_u8(cursor) != 0;
	if (desc.kind > ZM_HIST || desc.better > ZM_BETTER_LESS)
		cursor->is_bad = true;
	error = cursor->is_bad ? -EUCLEAN : add_metric(declared, &desc, &metric);
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
	return error;
}

static int get_series(struct zm_cursor *cursor, struct zm_declared *declared)
{
	struct zm_declared_series series = {
		.metric = (uint32_t)zm_cursor_bounded(cursor, UINT32_MAX),
		.scope = zm_cursor_u8(cursor),
		.scope_id = (uint32_t)zm_cursor_bounded(cursor, UINT32_MAX),
	};

	if (cursor->is_bad || series.metric >= declared->nr_metrics ||
	    series.scope > ZM_SCOPE_CGROUP)
		return -EUCLEAN;
	return add_series(declared, &series);
}

int zm_declared_get(struct zm_cursor *cursor, struct zm_declared *declared)
{
	static int (*const getters[])(struct zm_cursor *, struct zm_declared *) = { get_metric,
										    get_series };
	int error = 0;

	for (size_t i = 0; i < 2 && !error; i++) {
		uint64_t nr = zm_cursor_bounded(cursor, zm_cursor_left(cursor));

		for (; nr && !error; nr--)
			error = getters[i](cursor, declared);
	}
	return cursor->is_bad ? -EUCLEAN : error;
}
