/* part_machine: a machine in a few words, from the inventory of its newest run. */
#include "results/web/parts.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "results/db.h"

__attribute__((format(printf, 3, 4))) static void append(char *buf, size_t size, const char *format,
							 ...)
{
	size_t length = strlen(buf);
	va_list list;

	va_start(list, format);
	(void)vsnprintf(buf + length, size - length, format, list);
	va_end(list);
}

static void describe(const char *text, char *buf, size_t size)
{
	json_t *inventory = text ? json_loads(text, 0, NULL) : NULL;
	const char *model = json_string_value(json_object_get(inventory, "cpu_model"));
	json_int_t sockets = json_integer_value(json_object_get(inventory, "sockets"));
	json_int_t cpus = json_integer_value(json_object_get(inventory, "cpus_online"));
	json_int_t bytes = json_integer_value(json_object_get(inventory, "memory_bytes"));

	buf[0] = '\0';
	if (model)
		append(buf, size, "%.100s", model);
	if (sockets > 1)
		append(buf, size, "%s%lld sockets", buf[0] ? ", " : "", (long long)sockets);
	if (cpus)
		append(buf, size, "%s%lld CPUs", buf[0] ? ", " : "", (long long)cpus);
	if (bytes)
		append(buf, size, "%s%.0f GiB", buf[0] ? ", " : "", (double)bytes / 1073741824.0);
	json_decref(inventory);
}

int zm_part_machine(struct zm_making *making, const struct zm_nights *nights, uint32_t machine,
		    char *buf, size_t size)
{
	const struct zm_night_run *newest = NULL;
	struct zm_rows rows = { 0 };
	int error;

	for (size_t i = 0; i < nights->nr; i++) {
		const struct zm_group *group = &nights->groups[i];

		for (size_t k = 0; k < group->nr_runs && group->machine == machine; k++) {
			if (!newest || group->runs[k].wall_ns > newest->wall_ns)
				newest = &group->runs[k];
		}
	}
	buf[0] = '\0';
	if (!newest)
		return 0;
	error = zm_db_query(zm_store_db(making->store), making->why, &rows,
			    "SELECT inventory.json FROM run"
			    " JOIN inventory ON inventory.id = run.inventory WHERE run.id = ?1",
			    ZM_BIND(zm_int(newest->id)));
	if (!error && zm_rows_next(&rows, making->why, &error))
		describe(zm_rows_text(&rows, 0), buf, size);
	zm_rows_end(&rows);
	return error;
}
