/*
 * vmfield: the rules by prefix, and before them the names that break the rules.
 */
#include "runner/monitors/vmfield.h"

struct rule {
	const char *text;
	bool is_prefix;
	struct zm_vmfield field;
};

#define GAUGE(in)                                                                                  \
	{                                                                                          \
		ZM_GAUGE, (in)                                                                     \
	}
#define COUNT(of)                                                                                  \
	{                                                                                          \
		ZM_COUNT, (of)                                                                     \
	}

/* The first that fits counts. */
static const struct rule vmstat_rules[] = {
	/* counts that are called like gauges */
	{ "nr_dirtied", false, COUNT("pages") },
	{ "nr_written", false, COUNT("pages") },
	{ "nr_throttled_written", false, COUNT("pages") },
	{ "nr_vmscan_write", false, COUNT("pages") },
	{ "nr_vmscan_immediate_reclaim", false, COUNT("pages") },
	{ "nr_foll_pin_", true, COUNT("pages") },
	{ "nr_tlb_", true, COUNT("events") },
	/* gauges that are not in pages, or not called nr_ */
	{ "nr_kernel_stack", false, GAUGE("kB") },
	{ "nr_shadow_call_stack", false, GAUGE("kB") },
	{ "nr_anon_transparent_hugepages", false, GAUGE("huge pages") },
	{ "nr_shmem_pmdmapped", false, GAUGE("huge pages") },
	{ "nr_shmem_hugepages", false, GAUGE("huge pages") },
	{ "nr_file_pmdmapped", false, GAUGE("huge pages") },
	{ "nr_file_hugepages", false, GAUGE("huge pages") },
	{ "nr_", true, GAUGE("pages") },
	{ "workingset_nodes", false, GAUGE("nodes") },
	/* zoneinfo's own, all gauges */
	{ "free", false, GAUGE("pages") },
	{ "boost", false, GAUGE("pages") },
	{ "min", false, GAUGE("pages") },
	{ "low", false, GAUGE("pages") },
	{ "high", false, GAUGE("pages") },
	{ "promo", false, GAUGE("pages") },
	{ "spanned", false, GAUGE("pages") },
	{ "present", false, GAUGE("pages") },
	{ "managed", false, GAUGE("pages") },
	{ "cma", false, GAUGE("pages") },
	{ "scanned", false, GAUGE("pages") },
	{ "start_pfn", false, GAUGE("pages") },
	{ "all_unreclaimable", false, GAUGE("") },
	{ "node_unreclaimable", false, GAUGE("") },
	{ "inactive_ratio", false, GAUGE("") },
	{ "prev_priority", false, GAUGE("") },
	{ "temp_priority", false, GAUGE("") },
	/* counts that are in something else than events */
	{ "pgpgin", false, COUNT("kB") },
	{ "pgpgout", false, COUNT("kB") },
	{ "pgfault", false, COUNT("events") },
	{ "pgmajfault", false, COUNT("events") },
	{ "pg", true, COUNT("pages") },
	{ "pswp", true, COUNT("pages") },
	{ "numa_hit", false, COUNT("pages") },
	{ "numa_miss", false, COUNT("pages") },
	{ "numa_foreign", false, COUNT("pages") },
	{ "numa_local", false, COUNT("pages") },
	{ "numa_other", false, COUNT("pages") },
	{ "numa_interleave", false, COUNT("pages") },
	{ "local_node", false, COUNT("pages") },
	{ "other_node", false, COUNT("pages") },
	{ "interleave_hit", false, COUNT("pages") },
	{ "", true, COUNT("events") },
};

/* memory.stat; version 1 repeats each name with "total_" for the hierarchy. */
static const struct rule cgroup_rules[] = {
	{ "pgpgin", false, COUNT("pages") },      { "pgpgout", false, COUNT("pages") },
	{ "pgfault", false, COUNT("events") },    { "pgmajfault", false, COUNT("events") },
	{ "pg", true, COUNT("pages") },           { "thp_", true, COUNT("events") },
	{ "workingset_", true, COUNT("pages") },  { "numa_", true, COUNT("pages") },
	{ "zswpin", false, COUNT("pages") },      { "zswpout", false, COUNT("pages") },
	{ "zswpwb", false, COUNT("pages") },      { "swpin_zero", false, COUNT("pages") },
	{ "swpout_zero", false, COUNT("pages") }, { "", true, GAUGE("bytes") },
};

static struct zm_vmfield judge(const struct rule *rules, const char *name, size_t length)
{
	while (rules->is_prefix ? !zm_name_starts(name, length, rules->text)
				: !zm_name_is(name, length, rules->text))
		rules++;
	return rules->field;
}

struct zm_vmfield zm_vmfield_of(const char *name, size_t length)
{
	return judge(vmstat_rules, name, length);
}

struct zm_vmfield zm_vmfield_of_cgroup(const char *name, size_t length)
{
	const char total[] = "total_";

	if (zm_name_starts(name, length, total)) {
		name += sizeof(total) - 1;
		length -= sizeof(total) - 1;
	}
	return judge(cgroup_rules, name, length);
}

bool zm_vmfield_describe(const struct zm_field *field, struct zm_series_desc *desc)
{
	struct zm_vmfield vmfield = zm_vmfield_of(field->name, field->length);

	desc->kind = vmfield.kind;
	desc->unit = vmfield.unit;
	return true;
}

bool zm_vmfield_describe_meminfo(const struct zm_field *field, struct zm_series_desc *desc)
{
	desc->kind = ZM_GAUGE;
	desc->unit = "";
	if (zm_name_is(field->unit, field->unit_length, "kB"))
		desc->unit = "kB";
	else if (zm_field_starts(field, "HugePages_"))
		desc->unit = "huge pages";
	return true;
}
