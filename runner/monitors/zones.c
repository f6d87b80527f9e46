/*
 * zones: one pass, line by line; the state is which zone, section and CPU the line stands in.
 */
#include "runner/monitors/zones.h"

#include "workloads/base/cpuset.h"

void zm_zones_init(struct zm_zones *zones, const char *text)
{
	*zones = (struct zm_zones){ .text = text };
}

/* "Node 0, zone   Normal" */
static bool read_heading(struct zm_zones *zones, const char *line, size_t length)
{
	const char *at = line, *end = line + length;
	const char *word;
	size_t word_length;
	uint64_t node;
	uint32_t flags;

	if (!zm_fields_next_word(&at, end, &word, &word_length) ||
	    !zm_name_is(word, word_length, "Node"))
		return false;
	zones->is_in_zone = false;
	if (!zm_fields_next_word(&at, end, &word, &word_length) || word[word_length - 1] != ',' ||
	    !zm_fields_number(word, word + word_length - 1, &node, &flags) || node > ZM_CPUSET_MAX)
		return true;
	if (!zm_fields_next_word(&at, end, &word, &word_length) ||
	    !zm_name_is(word, word_length, "zone") ||
	    !zm_fields_next_word(&at, end, &word, &word_length))
		return true;
	zones->at.part = ZM_ZONES_ZONE;
	zones->at.node = (unsigned int)node;
	zones->at.zone = word;
	zones->at.zone_length = word_length;
	zones->is_in_zone = true;
	zones->is_in_pagesets = false;
	zones->is_in_cpu = false;
	return true;
}

static size_t indent_of(const char *line, size_t length)
{
	size_t indent = 0;

	while (indent < length && (line[indent] == ' ' || line[indent] == '\t'))
		indent++;
	return indent;
}

static bool starts_with(const char *line, size_t length, const char *words)
{
	size_t indent = indent_of(line, length);

	return zm_name_starts(line + indent, length - indent, words);
}

/* "cpu: 3"; a number that no CPU has ends the page lists. */
static void enter_cpu(struct zm_zones *zones, const struct zm_field *field, size_t indent)
{
	zones->is_in_cpu = field->value <= ZM_CPUSET_MAX;
	zones->at.cpu = zones->is_in_cpu ? (unsigned int)field->value : 0;
	zones->cpu_indent = indent;
}

/* Names that every kernel has in a page list; others are told by standing deeper than "cpu:". */
static bool is_pcp_name(const struct zm_field *field)
{
	return zm_field_is(field, "count") || zm_field_is(field, "high") ||
	       zm_field_is(field, "batch") || zm_field_is(field, "high_min") ||
	       zm_field_is(field, "high_max");
}

static bool read_figure(struct zm_zones *zones, const char *line, size_t length)
{
	struct zm_zones_item *at = &zones->at;
	size_t indent = indent_of(line, length);
	bool is_free = starts_with(line, length, "pages free");

	if (starts_with(line, length, "vm stats threshold") ||
	    !zm_fields_parse(line, length, is_free ? 1 : 0, &at->field))
		return false;
	if (is_free)
		at->part = ZM_ZONES_ZONE;
	if (zones->is_in_pagesets && zm_field_is(&at->field, "cpu")) {
		enter_cpu(zones, &at->field, indent);
		return false;
	}
	if (!zones->is_in_pagesets)
		return true;
	at->part = ZM_ZONES_ZONE;
	if (is_pcp_name(&at->field) || (zones->is_in_cpu && indent > zones->cpu_indent)) {
		at->part = ZM_ZONES_PCP;
		return zones->is_in_cpu;
	}
	return true;
}

/* A line without a figure may begin a section. */
static void enter_section(struct zm_zones *zones, const char *line, size_t length)
{
	if (starts_with(line, length, "per-node stats")) {
		zones->at.part = ZM_ZONES_NODE;
	} else if (starts_with(line, length, "pagesets")) {
		zones->is_in_pagesets = true;
		zones->is_in_cpu = false;
	}
}

bool zm_zones_next(struct zm_zones *zones, struct zm_zones_item *ret_item)
{
	const char *line;
	size_t length;

	while (zm_fields_next_line(&zones->text, &line, &length)) {
		if (read_heading(zones, line, length) || !zones->is_in_zone)
			continue;
		if (read_figure(zones, line, length)) {
			*ret_item = zones->at;
			return true;
		}
		enter_section(zones, line, length);
	}
	return false;
}

unsigned int zm_zones_place(const char *zone, size_t length)
{
	static const char *const names[] = { "DMA",     "DMA32",   "Normal",
					     "HighMem", "Movable", "Device" };
	const unsigned int nr_names = sizeof(names) / sizeof(names[0]);
	unsigned int sum = 0;

	for (unsigned int i = 0; i < nr_names; i++)
		if (zm_name_is(zone, length, names[i]))
			return i;
	for (size_t i = 0; i < length; i++)
		sum += (unsigned char)zone[i];
	return nr_names + sum % (16 - nr_names);
}
