/* json: what the store holds, as JSON values. */
#include "results/json.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "results/utf8.h"

json_t *zm_json_text(const char *text)
{
	char *valid;
	json_t *string;

	if (!text)
		return json_null();
	string = json_string(text);
	if (string)
		return string;
	valid = zm_utf8_valid(text);
	string = valid ? json_string(valid) : NULL;
	free(valid);
	return string;
}

json_t *zm_json_parsed(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	return value ? value : zm_json_text(text);
}

int zm_json_set_real(json_t *object, const char *key, double value)
{
	if (!isfinite(value))
		return 0;
	if (value == rint(value) && fabs(value) <= 9007199254740992.0)
		return json_object_set_new(object, key, json_integer((json_int_t)value));
	return json_object_set_new(object, key, json_real(value));
}

char *zm_json_time_text(char *buf, size_t size, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm broken;

	if (!gmtime_r(&seconds, &broken) || strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &broken) == 0)
		buf[0] = '\0';
	return buf;
}

json_t *zm_json_time(uint64_t wall_ns)
{
	char text[32];

	return json_string(zm_json_time_text(text, sizeof(text), wall_ns));
}

const char *zm_json_better(enum zm_better better)
{
	switch (better) {
	case ZM_BETTER_MORE:
		return "more";
	case ZM_BETTER_LESS:
		return "less";
	case ZM_BETTER_NEITHER:
		break;
	}
	return "neither";
}

json_t *zm_json_run(const struct zm_run_info *run)
{
	json_t *object = json_object();

	json_object_set_new(object, "run", json_integer((json_int_t)run->id));
	json_object_set_new(object, "uuid", zm_json_text(run->uuid));
	json_object_set_new(object, "workload", zm_json_text(run->workload));
	json_object_set_new(object, "status", json_string(zm_status_name(run->status)));
	if (run->reason)
		json_object_set_new(object, "reason", zm_json_text(run->reason));
	json_object_set_new(object, "began", zm_json_time(run->wall_ns));
	json_object_set_new(object, "label", zm_json_text(run->label));
	json_object_set_new(object, "invocation", zm_json_text(run->invocation));
	json_object_set_new(object, "repeat", json_integer(run->repeat));
	json_object_set_new(object, "command_line", zm_json_text(run->command_line));
	json_object_set_new(object, "nr_tasks", json_integer(run->nr_tasks));
	json_object_set_new(object, "kind", zm_json_text(run->kind));
	json_object_set_new(object, "kernel", zm_json_text(run->kernel));
	json_object_set_new(object, "machine", zm_json_text(run->machine));
	json_object_set_new(object, "boot", zm_json_text(run->boot));
	json_object_set_new(object, "version", zm_json_text(run->version));
	json_object_set_new(object, "start_ns", json_integer((json_int_t)run->start_ns));
	json_object_set_new(object, "parameters", zm_json_parsed(run->params));
	return object;
}

json_t *zm_json_result(const struct zm_result *result)
{
	json_t *object = json_object();

	json_object_set_new(object, "metric", zm_json_text(result->metric));
	json_object_set_new(object, "unit", zm_json_text(result->unit));
	json_object_set_new(object, "source", zm_json_text(result->source));
	json_object_set_new(object, "better", json_string(zm_json_better(result->better)));
	json_object_set_new(object, "primary", json_boolean(result->is_primary));
	zm_json_set_real(object, "value", result->value);
	zm_json_set_real(object, "count", result->count);
	if (result->interval_ns)
		json_object_set_new(object, "interval_ns",
				    json_integer((json_int_t)result->interval_ns));
	return object;
}

json_t *zm_json_spread(const struct zm_spread *spread)
{
	json_t *object;

	if (spread->nr == 0)
		return json_null();
	object = json_object();
	json_object_set_new(object, "n", json_integer((json_int_t)spread->nr));
	zm_json_set_real(object, "mean", spread->mean);
	zm_json_set_real(object, "sd", spread->sd);
	zm_json_set_real(object, "cv", spread->cv);
	zm_json_set_real(object, "min", spread->min);
	zm_json_set_real(object, "median", spread->median);
	zm_json_set_real(object, "max", spread->max);
	return object;
}

json_t *zm_json_phases(const struct zm_run_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->nr_phases; i++) {
		json_t *object = json_object();

		json_object_set_new(object, "phase",
				    json_string(zm_phase_name(view->phases[i].phase)));
		json_object_set_new(object, "t0_ns",
				    json_integer((json_int_t)view->phases[i].t0_ns));
		json_object_set_new(object, "t1_ns",
				    json_integer((json_int_t)view->phases[i].t1_ns));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *zm_json_tasks(const struct zm_run_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->nr_tasks; i++) {
		json_t *object = json_object();

		json_object_set_new(object, "task", json_integer(view->tasks[i].index));
		json_object_set_new(object, "pid", json_integer(view->tasks[i].pid));
		json_object_set_new(object, "cpu", json_integer(view->tasks[i].cpu));
		json_object_set_new(object, "node", json_integer(view->tasks[i].node));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *zm_json_notes(const struct zm_note_row *notes, size_t nr, const char *kind_key,
		      const char *text_key)
{
	json_t *array = json_array();

	for (size_t i = 0; i < nr; i++) {
		json_t *object = json_object();

		json_object_set_new(object, kind_key, zm_json_text(notes[i].kind));
		json_object_set_new(object, text_key, zm_json_text(notes[i].text));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *zm_json_flags(uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = { { ZM_FLAG_PARTIAL, "partial" },
		      { ZM_FLAG_SATURATED, "saturated" },
		      { ZM_FLAG_LOST, "lost" },
		      { ZM_FLAG_LATE, "late" } };
	json_t *array = json_array();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (flags & names[i].flag)
			json_array_append_new(array, json_string(names[i].name));
	}
	return array;
}
