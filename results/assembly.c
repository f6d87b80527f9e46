/*
 * assembly: a run's chunks put together into whole series.
 *
 *     open    for each chunk: declarations, moments (kept), and for each block: extend its series'
 *             group
 *     each    for each stretch of series within the budget: for each chunk: append the values
 */
#include "results/assembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"

#define BUDGET_READINGS ((size_t)1 << 24)
#define NO_GROUP        UINT32_MAX

struct link {
	uint32_t before; /* the group it continues, or NO_GROUP */
	uint32_t chunk;
	uint32_t times;
};

struct tally {
	size_t nr_readings;
	uint32_t group;
};

struct zm_assembly {
	struct zm_chunk_source source;
	struct zm_declared declared;
	size_t nr_chunks; /* good ones */
	size_t nr_lost;
	size_t nr_damaged; /* series */
	size_t budget;
	struct kept_times {
		struct zm_chunk_times *times;
		size_t nr;
	} * kept; /* by chunk */
	struct link *links;
	size_t nr_links, links_capacity;
	struct tally *tallies; /* by series */
	size_t nr_tallies;
};

void zm_assembly_close(struct zm_assembly *assembly)
{
	if (!assembly)
		return;
	for (size_t chunk = 0; chunk < assembly->nr_chunks; chunk++) {
		for (size_t i = 0; i < assembly->kept[chunk].nr; i++)
			free(assembly->kept[chunk].times[i].t_ns);
		free(assembly->kept[chunk].times);
	}
	free(assembly->kept);
	free(assembly->links);
	free(assembly->tallies);
	zm_declared_release(&assembly->declared);
	free(assembly);
}

size_t zm_assembly_nr_lost(const struct zm_assembly *assembly)
{
	return assembly->nr_lost;
}

size_t zm_assembly_nr_damaged(const struct zm_assembly *assembly)
{
	return assembly->nr_damaged;
}

void zm_assembly_set_budget(struct zm_assembly *assembly, size_t nr_readings)
{
	assembly->budget = nr_readings;
}

static int grow_tallies(struct zm_assembly *assembly)
{
	size_t nr = assembly->declared.nr_series;
	struct tally *grown;

	if (nr == assembly->nr_tallies)
		return 0;
	grown = realloc(assembly->tallies, nr * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = assembly->nr_tallies; i < nr; i++)
		grown[i] = (struct tally){ .group = NO_GROUP };
	assembly->tallies = grown;
	assembly->nr_tallies = nr;
	return 0;
}

static int add_link(struct zm_assembly *assembly, const struct link *link)
{
	int error = zm_array_grow((void **)&assembly->links, &assembly->links_capacity,
				  assembly->nr_links, sizeof(*link));

	if (!error)
		assembly->links[assembly->nr_links++] = *link;
	return error;
}

/* The group that continues `link->before` by this chunk's time base; made when it is the first. */
static int join_group(struct zm_assembly *assembly, const struct link *link, size_t first,
		      uint32_t *ret_group)
{
	int error;

	for (size_t i = assembly->nr_links; i-- > first;) {
		const struct link *other = &assembly->links[i];

		if (other->before == link->before && other->times == link->times) {
			*ret_group = (uint32_t)i;
			return 0;
		}
	}
	error = add_link(assembly, link);
	if (!error)
		*ret_group = (uint32_t)(assembly->nr_links - 1);
	return error;
}

static int index_chunk(struct zm_assembly *assembly, struct zm_chunk *chunk)
{
	size_t first = assembly->nr_links;
	int error = grow_tallies(assembly);

	for (size_t i = 0; i < chunk->nr_blocks && !error; i++) {
		const struct zm_chunk_block *block = &chunk->blocks[i];
		struct tally *tally = &assembly->tallies[block->series];
		struct link link = { .before = tally->group,
				     .chunk = (uint32_t)assembly->nr_chunks,
				     .times = block->times };

		error = join_group(assembly, &link, first, &tally->group);
		tally->nr_readings += chunk->times[block->times].nr;
	}
	if (error)
		return error;
	assembly->kept[assembly->nr_chunks].times = chunk->times;
	assembly->kept[assembly->nr_chunks].nr = chunk->nr_times;
	assembly->nr_chunks++;
	chunk->times = NULL; /* they are the assembly's now */
	chunk->nr_times = 0;
	return 0;
}

/* -EUCLEAN: damaged. */
static int open_chunk(const struct zm_assembly *assembly, size_t index,
		      struct zm_declared *declared, struct zm_chunk *ret_chunk)
{
	const void *data;
	size_t size;
	int error = assembly->source.read(assembly->source.context, index, &data, &size);

	if (error)
		return error == -ENOENT ? -EUCLEAN : error;
	return zm_chunk_get(data, size, declared, ret_chunk);
}

static int read_index(struct zm_assembly *assembly, size_t nr_chunks)
{
	int error = 0;

	assembly->kept = calloc(nr_chunks + 1, sizeof(*assembly->kept));
	if (!assembly->kept)
		return -ENOMEM;
	for (size_t i = 0; i < nr_chunks && !error; i++) {
		struct zm_chunk chunk;

		error = open_chunk(assembly, i, &assembly->declared, &chunk);
		if (error)
			break;
		error = index_chunk(assembly, &chunk);
		zm_chunk_release(&chunk);
	}
	if (error != -EUCLEAN)
		return error;
	assembly->nr_lost = nr_chunks - assembly->nr_chunks;
	return grow_tallies(assembly);
}

int zm_assembly_open(const struct zm_chunk_source *source, size_t nr_chunks,
		     struct zm_assembly **ret_assembly)
{
	struct zm_assembly *assembly = calloc(1, sizeof(*assembly));
	int error;

	if (!assembly)
		return -ENOMEM;
	assembly->source = *source;
	assembly->budget = BUDGET_READINGS;
	error = read_index(assembly, nr_chunks);
	if (error) {
		zm_assembly_close(assembly);
		return error;
	}
	*ret_assembly = assembly;
	return 0;
}

/* One pass: a stretch of series, and what has come together of them. */
struct pass {
	size_t from, to;
	bool *is_wanted;              /* by series - from */
	struct zm_readings *readings; /* the same */
};

static void pass_release(struct pass *pass)
{
	for (size_t i = 0; pass->readings && i < pass->to - pass->from; i++)
		zm_readings_release(&pass->readings[i]);
	free(pass->readings);
	free(pass->is_wanted);
}

static struct zm_series_desc describe(const struct zm_assembly *assembly, size_t series)
{
	const struct zm_declared_series *from = &assembly->declared.series[series];
	const struct zm_declared_metric *metric = &assembly->declared.metrics[from->metric];

	return (struct zm_series_desc){
		.source = metric->source,
		.metric = metric->name,
		.unit = metric->unit,
		.kind = metric->kind,
		.better = metric->better,
		.scope = from->scope,
		.scope_id = from->scope_id,
		.is_float = metric->is_float,
	};
}

static int pass_make(const struct zm_assembly *assembly, struct pass *pass,
		     bool (*wants)(void *context, const struct zm_series_desc *desc), void *context)
{
	size_t left = assembly->budget, most = assembly->nr_tallies - pass->from;

	pass->to = pass->from;
	pass->is_wanted = calloc(most + 1, sizeof(*pass->is_wanted));
	pass->readings = calloc(most + 1, sizeof(*pass->readings));
	if (!pass->is_wanted || !pass->readings)
		return -ENOMEM;
	for (; pass->to < assembly->nr_tallies; pass->to++) {
		size_t at = pass->to - pass->from;
		size_t nr = assembly->tallies[pass->to].nr_readings;
		struct zm_series_desc desc = describe(assembly, pass->to);

		if (nr == 0 || (wants && !wants(context, &desc)))
			continue;
		if (nr > left && left < assembly->budget)
			break;
		left -= nr < left ? nr : left;
		pass->is_wanted[at] = true;
		pass->readings[at].form = zm_declared_form(&assembly->declared, pass->to);
	}
	return 0;
}

/* A series with damaged values is left out as a whole. */
static int collect_chunk(struct zm_assembly *assembly, const struct pass *pass,
			 const struct zm_chunk *chunk)
{
	int error = 0;

	for (size_t i = 0; i < chunk->nr_blocks && !error; i++) {
		const struct zm_chunk_block *block = &chunk->blocks[i];
		size_t at = block->series - pass->from;

		if (block->series < pass->from || block->series >= pass->to || !pass->is_wanted[at])
			continue;
		error = zm_chunk_readings(chunk, block, &pass->readings[at]);
		if (error == -EUCLEAN) {
			pass->is_wanted[at] = false;
			assembly->nr_damaged++;
			error = 0;
		}
	}
	return error;
}

/* The declarations of a chunk continue those before it, so each pass reads them anew. */
static int collect(struct zm_assembly *assembly, const struct pass *pass)
{
	struct zm_declared declared = { 0 };
	int error = 0;

	for (size_t i = 0; i < assembly->nr_chunks && !error; i++) {
		struct zm_chunk chunk;

		error = open_chunk(assembly, i, &declared, &chunk);
		if (error)
			break;
		error = collect_chunk(assembly, pass, &chunk);
		zm_chunk_release(&chunk);
	}
	zm_declared_release(&declared);
	return error;
}

/* Walks the chain from its last link to its first, filling in from the end. */
static void fill_times(const struct zm_assembly *assembly, uint32_t group, size_t nr,
		       uint64_t *ret_t_ns)
{
	for (uint32_t at = group; at != NO_GROUP; at = assembly->links[at].before) {
		const struct link *link = &assembly->links[at];
		const struct zm_chunk_times *times =
			&assembly->kept[link->chunk].times[link->times];

		nr -= times->nr;
		memcpy(ret_t_ns + nr, times->t_ns, times->nr * sizeof(*ret_t_ns));
	}
}

static int hand_out(const struct zm_assembly *assembly, const struct pass *pass,
		    int (*each)(void *context, const struct zm_assembled *series), void *context)
{
	int error = 0;

	for (size_t series = pass->from; series < pass->to && !error; series++) {
		const struct tally *tally = &assembly->tallies[series];
		uint64_t *t_ns;

		if (!pass->is_wanted[series - pass->from])
			continue;
		t_ns = malloc((tally->nr_readings + 1) * sizeof(*t_ns));
		if (!t_ns)
			return -ENOMEM;
		fill_times(assembly, tally->group, tally->nr_readings, t_ns);
		error = each(context, &(struct zm_assembled){
					      .desc = describe(assembly, series),
					      .group = tally->group,
					      .t_ns = t_ns,
					      .readings = &pass->readings[series - pass->from],
				      });
		free(t_ns);
	}
	return error;
}

int zm_assembly_each(struct zm_assembly *assembly,
		     bool (*wants)(void *context, const struct zm_series_desc *desc),
		     int (*each)(void *context, const struct zm_assembled *series), void *context)
{
	size_t from = 0;
	int error = 0;

	while (from < assembly->nr_tallies && !error) {
		struct pass pass = { .from = from };

		error = pass_make(assembly, &pass, wants, context);
		if (!error)
			error = collect(assembly, &pass);
		if (!error)
			error = hand_out(assembly, &pass, each, context);
		from = pass.to;
		pass_release(&pass);
	}
	return error;
}
