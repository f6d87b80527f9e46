/*
 * shape: "2s,nodes=4,cpuless=3" -> typed rows -> sockets, cores, threads -> nodes with CPUs and memory.
 */
#include "runner/vm/shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/option.h"

#define NEAR_DISTANCE 10
#define FAR_DISTANCE  20
#define USUAL_CPUS    4u
#define NODE_ALIGN    (UINT64_C(2) << 20)
#define LEAST_BYTES   (UINT64_C(64) << 20)

struct spec {
	uint64_t sockets, cores, threads, nodes;
	char *cpuless, *memless, *distance;
};

#define COUNT(n, given, most)                                                                      \
	{                                                                                          \
		.name = #n, .type = ZM_OPTION_U64, .offset = offsetof(struct spec, n),             \
		.preset = (given), .max = (most)                                                   \
	}
#define TEXT(n)                                                                                    \
	{                                                                                          \
		.name = #n, .type = ZM_OPTION_STRING, .offset = offsetof(struct spec, n)           \
	}

static const struct zm_option rows[] = {
	COUNT(sockets, "1", ZM_VM_MAX_CPUS),
	COUNT(cores, "0", ZM_VM_MAX_CPUS),
	COUNT(threads, "1", ZM_VM_MAX_CPUS),
	COUNT(nodes, "0", ZM_VM_MAX_NODES),
	TEXT(cpuless),
	TEXT(memless),
	TEXT(distance),
	{ .name = NULL },
};

/* "2s" is sockets=2. */
static bool is_sockets(const char *word)
{
	size_t digits = strspn(word, "0123456789");

	return digits && word[digits] == 's' && !word[digits + 1];
}

static int read_word(struct spec *spec, char *word, struct zm_why *why)
{
	char *equals = strchr(word, '=');

	if (is_sockets(word)) {
		word[strlen(word) - 1] = '\0';
		return zm_option_set(rows, spec, "sockets", word, why);
	}
	if (!equals)
		return zm_why_set(why, -EINVAL,
				  "%s: neither a number of sockets (2s) nor NAME=VALUE; names are "
				  "sockets, cores, threads, nodes, cpuless, memless and distance",
				  word);
	*equals = '\0';
	return zm_option_set(rows, spec, word, equals + 1, why);
}

static int read_words(const char *text, struct spec *spec, struct zm_why *why)
{
	zm_autofree char *copy = strdup(text);
	char *rest = copy, *word;
	int r = copy ? zm_options_init(rows, spec, why) : zm_why_errno(why, -ENOMEM, "topology");

	while (r == 0 && (word = strsep(&rest, ",")))
		r = read_word(spec, word, why);
	return r;
}

static int fill_processors(const struct spec *spec, unsigned int nr_cpus, struct zm_vm_shape *shape,
			   struct zm_why *why)
{
	uint64_t sockets = spec->sockets, threads = spec->threads, cores = spec->cores;
	uint64_t wanted = nr_cpus ? nr_cpus : USUAL_CPUS;

	if (!sockets || !threads)
		return zm_why_set(why, -EINVAL, "at least one socket and one thread are needed");
	if (!cores)
		cores = wanted / (sockets * threads) ? wanted / (sockets * threads) : 1;
	if (nr_cpus && sockets * cores * threads != nr_cpus)
		return zm_why_set(why, -EINVAL,
				  "%u CPUs are not %llu sockets of %llu cores of %llu threads; "
				  "ask for a multiple of %llu",
				  nr_cpus, (unsigned long long)sockets, (unsigned long long)cores,
				  (unsigned long long)threads,
				  (unsigned long long)(sockets * threads));
	if (sockets * cores * threads > ZM_VM_MAX_CPUS)
		return zm_why_set(why, -ERANGE, "%llu CPUs: a guest has at most %u",
				  (unsigned long long)(sockets * cores * threads), ZM_VM_MAX_CPUS);
	shape->sockets = (unsigned int)sockets;
	shape->cores = (unsigned int)cores;
	shape->threads = (unsigned int)threads;
	shape->nr_cpus = (unsigned int)(sockets * cores * threads);
	shape->nr_nodes = (unsigned int)(spec->nodes ? spec->nodes : sockets);
	if (shape->nr_nodes > ZM_VM_MAX_NODES)
		return zm_why_set(why, -ERANGE, "%u nodes: a guest has at most %u", shape->nr_nodes,
				  ZM_VM_MAX_NODES);
	return 0;
}

/* "2+3" -> is_in[2], is_in[3]; returns how many through ret_nr. */
static int read_nodes(const char *name, const char *text, unsigned int nr_nodes, bool *is_in,
		      unsigned int *ret_nr, struct zm_why *why)
{
	zm_autofree char *copy = strdup(text ? text : "");
	char *rest = text ? copy : NULL, *word;
	unsigned int nr = 0;

	if (!copy)
		return zm_why_errno(why, -ENOMEM, "topology");
	while ((word = strsep(&rest, "+"))) {
		uint64_t node;

		if (zm_units_parse_u64(word, &node) < 0 || node >= nr_nodes)
			return zm_why_set(why, -EINVAL, "%s=%s: node %s is not one of 0-%u", name,
					  text, word, nr_nodes - 1);
		nr += !is_in[node];
		is_in[node] = true;
	}
	*ret_nr = nr;
	return 0;
}

static int deal_cpus(const struct spec *spec, struct zm_vm_shape *shape, struct zm_why *why)
{
	bool is_without[ZM_VM_MAX_NODES] = { false };
	unsigned int nr_without, nr_with, next = 0, turn = 0;
	int r = read_nodes("cpuless", spec->cpuless, shape->nr_nodes, is_without, &nr_without, why);

	if (r < 0)
		return r;
	nr_with = shape->nr_nodes - nr_without;
	if (nr_with == 0 || nr_with > shape->nr_cpus)
		return zm_why_set(
			why, -EINVAL,
			"%u nodes cannot share %u CPUs; name those without CPUs (cpuless=N)",
			nr_with, shape->nr_cpus);
	for (unsigned int i = 0; i < shape->nr_nodes; i++) {
		if (is_without[i])
			continue;
		shape->nodes[i].first_cpu = next;
		shape->nodes[i].nr_cpus =
			shape->nr_cpus / nr_with + (turn++ < shape->nr_cpus % nr_with);
		next += shape->nodes[i].nr_cpus;
	}
	return 0;
}

static int deal_memory(const struct spec *spec, uint64_t bytes, struct zm_vm_shape *shape,
		       struct zm_why *why)
{
	bool is_without[ZM_VM_MAX_NODES] = { false };
	unsigned int nr_without, nr_with;
	uint64_t part;
	int r = read_nodes("memless", spec->memless, shape->nr_nodes, is_without, &nr_without, why);

	if (r < 0)
		return r;
	nr_with = shape->nr_nodes - nr_without;
	if (nr_with == 0)
		return zm_why_set(why, -EINVAL, "memless: one node must have memory");
	part = bytes / nr_with / NODE_ALIGN * NODE_ALIGN;
	if (part < LEAST_BYTES)
		return zm_why_set(why, -ERANGE,
				  "%llu MiB for %u nodes: each needs 64 MiB; give more by --memory",
				  (unsigned long long)(bytes >> 20), nr_with);
	for (unsigned int i = 0; i < shape->nr_nodes; i++)
		shape->nodes[i].memory_bytes = is_without[i] ? 0 : part;
	return 0;
}

static void set_distance(struct zm_vm_shape *shape, uint64_t a, uint64_t b, uint64_t distance)
{
	shape->distances[a][b] = shape->distances[b][a] = (uint8_t)distance;
}

/* "0-1:16" */
static int read_distance(struct zm_vm_shape *shape, const char *word, struct zm_why *why)
{
	unsigned int a, b, distance;
	char more;

	if (sscanf(word, "%u-%u:%u%c", &a, &b, &distance, &more) != 3 || a >= shape->nr_nodes ||
	    b >= shape->nr_nodes || a == b || distance <= NEAR_DISTANCE || distance > 254)
		return zm_why_set(why, -EINVAL,
				  "distance %s: neither 11 to 254 nor NODE-NODE:DISTANCE of nodes "
				  "that are there",
				  word);
	set_distance(shape, a, b, distance);
	return 0;
}

static int fill_distances(const struct spec *spec, struct zm_vm_shape *shape, struct zm_why *why)
{
	zm_autofree char *copy = strdup(spec->distance ? spec->distance : "");
	char *rest = spec->distance ? copy : NULL, *word;
	uint64_t all = FAR_DISTANCE;
	int r = copy ? 0 : zm_why_errno(why, -ENOMEM, "topology");

	if (spec->distance && zm_units_parse_u64(spec->distance, &all) == 0) {
		rest = NULL;
		if (all <= NEAR_DISTANCE || all > 254)
			return zm_why_set(why, -ERANGE, "distance=%s: it is 11 to 254",
					  spec->distance);
	}
	for (unsigned int a = 0; a < shape->nr_nodes; a++)
		for (unsigned int b = 0; b < shape->nr_nodes; b++)
			shape->distances[a][b] = a == b ? NEAR_DISTANCE : (uint8_t)all;
	while (r == 0 && (word = strsep(&rest, "+")))
		r = read_distance(shape, word, why);
	return r;
}

int zm_vm_shape_parse(const char *text, unsigned int nr_cpus, uint64_t memory_bytes,
		      struct zm_vm_shape *ret_shape, struct zm_why *why)
{
	struct zm_vm_shape shape = { 0 };
	struct spec spec = { 0 };
	int r = read_words(text, &spec, why);

	if (r == 0)
		r = fill_processors(&spec, nr_cpus, &shape, why);
	if (r == 0)
		r = deal_cpus(&spec, &shape, why);
	if (r == 0)
		r = deal_memory(&spec, memory_bytes, &shape, why);
	if (r == 0)
		r = fill_distances(&spec, &shape, why);
	zm_options_release(rows, &spec);
	if (r == 0)
		*ret_shape = shape;
	else
		zm_why_prefix(why, "--topology %s", text);
	return r;
}
