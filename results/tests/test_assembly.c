/* assembly: what was flushed in pieces comes back whole, whatever the pieces; damage is told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/assembly.h"
#include "workloads/base/random.h"

#define NR_SERIES 40
#define NR_CHUNKS 6
#define NR_MOST   64 /* readings of a series */

/* A run of random series, as it should come back, and its chunks. */
struct model {
	struct model_series {
		size_t nr;
		uint64_t t_ns[NR_MOST];
		uint64_t values[NR_MOST];
		uint32_t flags[NR_MOST];
	} series[NR_SERIES];
	size_t nr_series;
	struct zm_declared declared;
	struct zm_buf chunks[NR_CHUNKS];
	size_t nr_chunks;
	size_t nr_seen;
};

static struct zm_series_desc describe(size_t series, char name[32])
{
	(void)snprintf(name, 32, "metric.%zu", series / 4);
	return (struct zm_series_desc){
		.source = series % 8 < 4 ? "meminfo" : "vmstat",
		.metric = name,
		.unit = "pages",
		.kind = series / 4 % 2 ? ZM_COUNT : ZM_GAUGE,
		.better = ZM_BETTER_LESS,
		.scope = ZM_SCOPE_CPU,
		.scope_id = (uint32_t)series % 4,
		.is_float = series / 4 % 3 == 0,
	};
}

static void put(struct model *model, struct zm_pending *pending, size_t series, uint64_t t_ns,
		struct zm_random *random)
{
	struct model_series *to = &model->series[series];
	struct zm_pending_reading reading = { .series = (uint32_t)series, .t_ns = t_ns };

	if (to->nr == NR_MOST)
		return;
	reading.value = zm_random_next(random) >> zm_random_below(random, 64);
	reading.flags = zm_random_below(random, 20) == 0;
	to->t_ns[to->nr] = t_ns;
	to->values[to->nr] = reading.value;
	to->flags[to->nr++] = reading.flags;
	pending->readings[pending->nr++] = reading;
}

/* Half of the series share their moments, as a monitor's do; the others are read when they like. */
static void fill_chunk(struct model *model, struct zm_pending *pending, struct zm_random *random)
{
	uint64_t t_ns = 1000000 * (model->nr_chunks + 1);

	for (size_t tick = zm_random_below(random, 6); tick; tick--, t_ns += 100) {
		for (size_t i = 0; i < model->nr_series; i++) {
			if (i % 2 || zm_random_below(random, 2))
				put(model, pending, i, t_ns + (i % 2 ? 0 : i), random);
		}
	}
}

static void make_model(struct model *model, uint64_t seed)
{
	struct zm_packer *packer = NULL;
	struct zm_random random;

	memset(model, 0, sizeof(*model));
	zm_random_init(&random, seed, 0);
	for (; model->nr_chunks < NR_CHUNKS; model->nr_chunks++) {
		size_t from_metric = model->declared.nr_metrics;
		size_t from_series = model->declared.nr_series;
		struct zm_pending pending = { 0 };
		char name[32];
		uint32_t number;

		for (size_t i = zm_random_below(&random, 12); i; i--) {
			struct zm_series_desc desc = describe(model->nr_series, name);

			if (model->nr_series == NR_SERIES)
				break;
			assert_int_equal(zm_declared_add(&model->declared, &desc, &number), 0);
			assert_int_equal(number, model->nr_series++);
		}
		pending.readings = calloc(NR_SERIES * NR_MOST, sizeof(*pending.readings));
		fill_chunk(model, &pending, &random);
		assert_int_equal(zm_chunk_put(&packer, &model->chunks[model->nr_chunks],
					      &model->declared, from_metric, from_series, &pending),
				 0);
		zm_pending_release(&pending);
	}
	zm_packer_free(packer);
}

static void release_model(struct model *model)
{
	for (size_t i = 0; i < NR_CHUNKS; i++)
		zm_buf_release(&model->chunks[i]);
	zm_declared_release(&model->declared);
}

static int read_chunk(void *context, size_t index, const void **ret_data, size_t *ret_size)
{
	const struct model *model = context;

	if (model->chunks[index].size == 0)
		return -ENOENT;
	*ret_data = model->chunks[index].data;
	*ret_size = model->chunks[index].size;
	return 0;
}

static size_t series_of(const struct model *model, const struct zm_series_desc *desc)
{
	char name[32];

	for (size_t i = 0; i < model->nr_series; i++) {
		struct zm_series_desc other = describe(i, name);

		if (!strcmp(other.metric, desc->metric) && other.scope_id == desc->scope_id)
			return i;
	}
	fail_msg("%s %u was never declared", desc->metric, desc->scope_id);
	return 0;
}

static int check_series(void *context, const struct zm_assembled *series)
{
	struct model *model = context;
	const struct model_series *wanted = &model->series[series_of(model, &series->desc)];
	char name[32];
	struct zm_series_desc desc = describe(series_of(model, &series->desc), name);

	assert_string_equal(series->desc.source, desc.source);
	assert_string_equal(series->desc.unit, desc.unit);
	assert_int_equal(series->desc.kind, desc.kind);
	assert_int_equal(series->desc.better, desc.better);
	assert_int_equal(series->desc.scope, desc.scope);
	assert_int_equal(series->desc.is_float, desc.is_float);
	assert_int_equal(series->readings->nr, wanted->nr);
	for (size_t i = 0; i < wanted->nr; i++) {
		assert_true(series->t_ns[i] == wanted->t_ns[i]);
		assert_true(series->readings->values[i] == wanted->values[i]);
		assert_int_equal(series->readings->flags ? series->readings->flags[i] : 0,
				 wanted->flags[i]);
	}
	model->nr_seen++;
	return 0;
}

static void every_reading_comes_back(void **state)
{
	static const size_t budgets[] = { 1, 50, 1 << 20 };
	struct model *model = malloc(sizeof(*model));

	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct zm_chunk_source source = { .read = read_chunk, .context = model };
		struct zm_assembly *assembly;
		size_t nr_wanted = 0;

		make_model(model, seed);
		for (size_t i = 0; i < model->nr_series; i++)
			nr_wanted += model->series[i].nr > 0;
		assert_int_equal(zm_assembly_open(&source, NR_CHUNKS, &assembly), 0);
		zm_assembly_set_budget(assembly, budgets[seed % 3]);
		assert_int_equal(zm_assembly_each(assembly, NULL, check_series, model), 0);
		assert_int_equal(model->nr_seen, nr_wanted);
		assert_int_equal(zm_assembly_nr_lost(assembly), 0);
		assert_int_equal(zm_assembly_nr_damaged(assembly), 0);
		zm_assembly_close(assembly);
		release_model(model);
	}
	free(model);
}

static bool wants_cpu_2(void *context, const struct zm_series_desc *desc)
{
	(void)context;
	return desc->scope_id == 2;
}

static int check_cpu_2(void *context, const struct zm_assembled *series)
{
	assert_int_equal(series->desc.scope_id, 2);
	return check_series(context, series);
}

static void only_what_is_wanted_comes(void **state)
{
	struct model *model = malloc(sizeof(*model));
	struct zm_chunk_source source = { .read = read_chunk, .context = model };
	struct zm_assembly *assembly;

	(void)state;
	make_model(model, 1001);
	assert_int_equal(zm_assembly_open(&source, NR_CHUNKS, &assembly), 0);
	assert_int_equal(zm_assembly_each(assembly, wants_cpu_2, check_cpu_2, model), 0);
	assert_in_range(model->nr_seen, 1, NR_SERIES / 4);
	zm_assembly_close(assembly);
	release_model(model);
	free(model);
}

/* Groups: series with the same moments, and only those, have the same group. */
struct groups {
	size_t nr;
	uint32_t groups[NR_SERIES];
	size_t numbers[NR_SERIES];
	struct model *model;
};

static int note_group(void *context, const struct zm_assembled *series)
{
	struct groups *groups = context;

	groups->numbers[groups->nr] = series_of(groups->model, &series->desc);
	groups->groups[groups->nr++] = series->group;
	return 0;
}

static bool same_moments(const struct model_series *a, const struct model_series *b)
{
	return a->nr == b->nr && !memcmp(a->t_ns, b->t_ns, a->nr * sizeof(a->t_ns[0]));
}

static void groups_are_equal_moments(void **state)
{
	struct model *model = malloc(sizeof(*model));
	struct zm_chunk_source source = { .read = read_chunk, .context = model };

	(void)state;
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct groups groups = { .model = model };
		struct zm_assembly *assembly;

		make_model(model, seed);
		assert_int_equal(zm_assembly_open(&source, NR_CHUNKS, &assembly), 0);
		assert_int_equal(zm_assembly_each(assembly, NULL, note_group, &groups), 0);
		for (size_t a = 0; a < groups.nr; a++)
			for (size_t b = 0; b < groups.nr; b++)
				assert_int_equal(groups.groups[a] == groups.groups[b],
						 same_moments(&model->series[groups.numbers[a]],
							      &model->series[groups.numbers[b]]));
		zm_assembly_close(assembly);
		release_model(model);
	}
	free(model);
}

static int count_series(void *context, const struct zm_assembled *series)
{
	size_t *nr = context;

	for (size_t i = 1; i < series->readings->nr; i++)
		*nr += series->t_ns[i] >= series->t_ns[i - 1];
	*nr += 1;
	return 0;
}

static void what_follows_damage_is_left_out(void **state)
{
	struct model *model = malloc(sizeof(*model));
	struct zm_chunk_source source = { .read = read_chunk, .context = model };
	struct zm_assembly *assembly;
	size_t nr = 0;

	(void)state;
	make_model(model, 5);
	model->chunks[3].data[0] = 9;
	assert_int_equal(zm_assembly_open(&source, NR_CHUNKS, &assembly), 0);
	assert_int_equal(zm_assembly_nr_lost(assembly), 3);
	assert_int_equal(zm_assembly_each(assembly, NULL, count_series, &nr), 0);
	assert_true(nr > 0);
	zm_assembly_close(assembly);
	release_model(model);
	free(model);
}

/* The content is damaged and packed again, so that the damage gets past the packing's own check. */
static void damage_chunk(struct zm_buf *chunk, struct zm_random *random)
{
	zm_autobuf struct zm_buf raw = { 0 };
	struct zm_packer *packer = NULL;

	assert_int_equal(zm_unpack(chunk->data, chunk->size, &raw), 0);
	for (size_t hits = 1 + zm_random_below(random, 4); hits; hits--)
		raw.data[zm_random_below(random, raw.size)] = (uint8_t)zm_random_next(random);
	chunk->size = 0;
	assert_int_equal(zm_pack(&packer, chunk, raw.data, raw.size), 0);
	zm_packer_free(packer);
}

static void damage_is_harmless(void **state)
{
	struct model *model = malloc(sizeof(*model));
	struct zm_chunk_source source = { .read = read_chunk, .context = model };
	struct zm_random random;

	(void)state;
	zm_random_init(&random, 9, 0);
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct zm_assembly *assembly;
		size_t nr = 0;

		make_model(model, seed % 10);
		damage_chunk(&model->chunks[zm_random_below(&random, NR_CHUNKS)], &random);
		assert_int_equal(zm_assembly_open(&source, NR_CHUNKS, &assembly), 0);
		assert_int_equal(zm_assembly_each(assembly, NULL, count_series, &nr), 0);
		zm_assembly_close(assembly);
		release_model(model);
	}
	free(model);
}

static void a_series_is_declared_once(void **state)
{
	struct zm_declared declared = { 0 };
	struct zm_series_desc desc = { .source = "a", .metric = "m", .unit = "", .kind = ZM_GAUGE };
	uint32_t number = 99;

	(void)state;
	assert_int_equal(zm_declared_add(&declared, &desc, &number), 0);
	assert_int_equal(number, 0);
	desc.source = "b";
	assert_int_equal(zm_declared_add(&declared, &desc, &number), -EEXIST);
	assert_int_equal(number, 0);
	desc.scope_id = 1;
	assert_int_equal(zm_declared_add(&declared, &desc, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(declared.nr_metrics, 2); /* two sources */
	zm_declared_release(&declared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reading_comes_back),
		cmocka_unit_test(only_what_is_wanted_comes),
		cmocka_unit_test(groups_are_equal_moments),
		cmocka_unit_test(what_follows_damage_is_left_out),
		cmocka_unit_test(damage_is_harmless),
		cmocka_unit_test(a_series_is_declared_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
