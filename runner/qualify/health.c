/* health: one reader per class; each adds what counters there are. */
#include "runner/qualify/health.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/array.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/cpuset.h"

const char *const zm_health_names[] = { "machine-check", "edac", "thermal-throttle", "nic", NULL };

void zm_health_release(struct zm_health *health)
{
	free(health->counters);
	*health = (struct zm_health){ 0 };
}

__attribute__((format(printf, 4, 5))) static int
add(struct zm_health *health, enum zm_health_class class, uint64_t value, const char *format, ...)
{
	struct zm_health_counter *counter;
	va_list list;
	int r = zm_array_grow((void **)&health->counters, &health->capacity, health->nr,
			      sizeof(*counter));

	if (r < 0)
		return r;
	counter = &health->counters[health->nr++];
	counter->class = class;
	counter->value = value;
	va_start(list, format);
	(void)vsnprintf(counter->name, sizeof(counter->name), format, list);
	va_end(list);
	health->nr_of[class]++;
	return 0;
}

/* --- machine checks --- */

/* "MCE:  0  0   Machine check exceptions": the CPUs' numbers, added. */
static uint64_t add_up(const char *text)
{
	uint64_t sum = 0;

	for (;;) {
		char *end;
		uint64_t value;

		while (*text == ' ')
			text++;
		if (!isdigit((unsigned char)*text))
			return sum;
		value = strtoull(text, &end, 10);
		sum += value;
		text = end;
	}
}

static int read_machine_checks(const struct zm_sysroot *root, struct zm_health *health)
{
	static const char *const names[] = { "MCE:", "THR:", "DFR:" };
	zm_autofree char *text = NULL;
	char *save = NULL;
	int r = 0;

	if (zm_sysroot_read(root, "proc/interrupts", &text, NULL) < 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); r == 0 && line;
	     line = strtok_r(NULL, "\n", &save)) {
		line += strspn(line, " ");
		for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
			if (strncmp(line, names[i], 4) == 0)
				r = add(health, ZM_HEALTH_MACHINE_CHECK, add_up(line + 4), "%.3s",
					names[i]);
		}
	}
	return r;
}

/* --- numbered folders: memory controllers, CPUs --- */

static int read_folder(const struct zm_sysroot *root, struct zm_health *health,
		       enum zm_health_class class, const char *folder, const char *prefix,
		       const char *below, const char *const *names)
{
	zm_autocpuset struct zm_cpuset set = { 0 };
	int r = 0;

	if (zm_sysroot_list_numbered(root, folder, prefix, &set) < 0)
		return 0;
	for (int i = zm_cpuset_next(&set, 0); r == 0 && i >= 0;
	     i = zm_cpuset_next(&set, (unsigned int)i + 1)) {
		for (size_t k = 0; r == 0 && names[k]; k++) {
			char path[256];
			uint64_t value;

			(void)snprintf(path, sizeof(path), "%s/%s%d/%s%s", folder, prefix, i, below,
				       names[k]);
			if (zm_sysroot_read_u64(root, path, &value) == 0)
				r = add(health, class, value, "%s%d %s", prefix, i, names[k]);
		}
	}
	return r;
}

static int read_edac(const struct zm_sysroot *root, struct zm_health *health)
{
	static const char *const names[] = { "ce_count", "ue_count", "ce_noinfo_count",
					     "ue_noinfo_count", NULL };

	return read_folder(root, health, ZM_HEALTH_EDAC, "sys/devices/system/edac/mc", "mc", "",
			   names);
}

static int read_thermal(const struct zm_sysroot *root, struct zm_health *health)
{
	static const char *const names[] = { "core_throttle_count", "package_throttle_count",
					     NULL };

	return read_folder(root, health, ZM_HEALTH_THERMAL, "sys/devices/system/cpu", "cpu",
			   "thermal_throttle/", names);
}

/* --- network interfaces --- */

static int read_interface(const struct zm_sysroot *root, struct zm_health *health, const char *name)
{
	static const char *const files[] = {
		"statistics/rx_errors",         "statistics/tx_errors",
		"statistics/rx_crc_errors",     "statistics/rx_frame_errors",
		"statistics/rx_length_errors",  "statistics/rx_fifo_errors",
		"statistics/tx_fifo_errors",    "statistics/tx_aborted_errors",
		"statistics/tx_carrier_errors", "carrier_changes",
	};
	char path[256];
	uint64_t value;
	int r = 0;

	(void)snprintf(path, sizeof(path), "sys/class/net/%s/device", name);
	if (!zm_sysroot_has(root, path))
		return 0;
	for (size_t i = 0; r == 0 && i < sizeof(files) / sizeof(files[0]); i++) {
		const char *slash = strchr(files[i], '/');

		(void)snprintf(path, sizeof(path), "sys/class/net/%s/%s", name, files[i]);
		if (zm_sysroot_read_u64(root, path, &value) == 0)
			r = add(health, ZM_HEALTH_NIC, value, "%s %s", name,
				slash ? slash + 1 : files[i]);
	}
	return r;
}

/* Their names are in /proc/net/dev, behind two lines of heads. */
static int read_nics(const struct zm_sysroot *root, struct zm_health *health)
{
	zm_autofree char *text = NULL;
	char *save = NULL;
	int r = 0;

	if (zm_sysroot_read(root, "proc/net/dev", &text, NULL) < 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); r == 0 && line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *colon = strrchr(line, ':');

		line += strspn(line, " ");
		if (!colon || strchr(line, '|') || strchr(line, '/'))
			continue;
		*colon = '\0';
		r = read_interface(root, health, line);
	}
	return r;
}

int zm_health_read(const struct zm_sysroot *root, struct zm_health *ret_health)
{
	static int (*const readers[])(const struct zm_sysroot *root,
				      struct zm_health *health) = { read_machine_checks, read_edac,
								    read_thermal, read_nics };
	struct zm_health health = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(readers) / sizeof(readers[0]); i++)
		r = readers[i](root, &health);
	if (r < 0)
		zm_health_release(&health);
	else
		*ret_health = health;
	return r;
}

/* --- before and after --- */

const char *zm_health_absent(enum zm_health_class class)
{
	static const char *const texts[] = {
		"/proc/interrupts has no line MCE",
		"no memory controller in /sys/devices/system/edac/mc; is the EDAC driver of this "
		"machine loaded?",
		"no thermal_throttle counters in /sys/devices/system/cpu (Intel processors have "
		"them)",
		"no network interface with a device",
	};

	return texts[class];
}

static const struct zm_health_counter *find(const struct zm_health *health,
					    const struct zm_health_counter *like)
{
	for (size_t i = 0; i < health->nr; i++) {
		if (health->counters[i].class == like->class &&
		    strcmp(health->counters[i].name, like->name) == 0)
			return &health->counters[i];
	}
	return NULL;
}

static void say_more(char *text, size_t size, size_t nr_more)
{
	size_t length = strlen(text);

	if (nr_more)
		(void)snprintf(text + length, size - length, ", and %zu more", nr_more);
}

/* The counters that rose; the first of them is in the text. */
static size_t count_risen(const struct zm_health *before, const struct zm_health *after,
			  enum zm_health_class class, char *text, size_t size)
{
	size_t nr = 0;

	for (size_t i = 0; i < after->nr; i++) {
		const struct zm_health_counter *now = &after->counters[i];
		const struct zm_health_counter *then = find(before, now);
		uint64_t from = then ? then->value : 0;

		if (now->class != class || now->value <= from)
			continue;
		if (nr++ == 0)
			(void)snprintf(text, size, "%s rose from %" PRIu64 " to %" PRIu64,
				       now->name, from, now->value);
	}
	say_more(text, size, nr ? nr - 1 : 0);
	return nr;
}

/* Those that are gone or went back: what happened meanwhile is not known. */
static size_t count_lost(const struct zm_health *before, const struct zm_health *after,
			 enum zm_health_class class, char *text, size_t size)
{
	size_t nr = 0;

	for (size_t i = 0; i < before->nr; i++) {
		const struct zm_health_counter *then = &before->counters[i];
		const struct zm_health_counter *now = find(after, then);

		if (then->class != class || (now && now->value >= then->value))
			continue;
		if (nr++ == 0)
			(void)snprintf(text, size, "%s %s during the runs", then->name,
				       now ? "went back" : "vanished");
	}
	say_more(text, size, nr ? nr - 1 : 0);
	return nr;
}

enum zm_health_change zm_health_compare(const struct zm_health *before,
					const struct zm_health *after, enum zm_health_class class,
					char *text, size_t size)
{
	if (count_risen(before, after, class, text, size))
		return ZM_HEALTH_RISEN;
	if (count_lost(before, after, class, text, size))
		return ZM_HEALTH_UNKNOWN;
	if (after->nr_of[class] == 0) {
		(void)snprintf(text, size, "%s", zm_health_absent(class));
		return ZM_HEALTH_UNKNOWN;
	}
	(void)snprintf(text, size, "none of %zu counters rose", after->nr_of[class]);
	return ZM_HEALTH_STILL;
}

json_t *zm_health_json(const struct zm_health *before, const struct zm_health *after)
{
	json_t *object = json_object();

	for (int class = 0; class < ZM_NR_HEALTH; class ++) {
		json_t *counters = json_object();

		for (size_t i = 0; i < after->nr; i++) {
			const struct zm_health_counter *now = &after->counters[i];
			const struct zm_health_counter *then = find(before, now);

			if ((int)now->class == class)
				(void)json_object_set_new(
					counters, now->name,
					json_pack("[I,I]", (json_int_t)(then ? then->value : 0),
						  (json_int_t)now->value));
		}
		(void)json_object_set_new(object, zm_health_names[class], counters);
	}
	return object;
}
