/* zones: figures lie within the text, and node, place and CPU within their bounds. */
#include "runner/monitors/zones.h"
#include "workloads/base/cpuset.h"
#include "workloads/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	const char *end = text + strlen(text);
	struct zm_zones_item item;
	struct zm_zones zones;
	size_t nr_items = 0;

	zm_zones_init(&zones, text);
	while (zm_zones_next(&zones, &item)) {
		fuzz_check(item.part == ZM_ZONES_ZONE || item.part == ZM_ZONES_NODE ||
			   item.part == ZM_ZONES_PCP);
		fuzz_check(item.zone >= text && item.zone + item.zone_length <= end);
		fuzz_check(item.zone_length > 0 && item.field.length > 0);
		fuzz_check(item.field.name > item.zone &&
			   item.field.name + item.field.length <= end);
		fuzz_check(item.node <= ZM_CPUSET_MAX && item.cpu <= ZM_CPUSET_MAX);
		fuzz_check(zm_zones_place(item.zone, item.zone_length) < 16);
		fuzz_check(++nr_items <= size);
	}
	free(text);
	return 0;
}
