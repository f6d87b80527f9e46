/*
 * uptime: seconds since the boot, and the CPUs' idle seconds in sum, by /proc/uptime.
 */
#include <errno.h>
#include <string.h>

#include "runner/monitor.h"
#include "runner/monitors/source.h"

enum figure {
	BOOT,
	IDLE,
	NR_FIGURES,
};

struct state {
	struct zm_sysfile file;
	uint32_t series[NR_FIGURES];
};

static const char *const metrics[NR_FIGURES] = { "uptime.boot", "uptime.idle" };

/* "12345.67", in seconds. */
static bool parse_seconds(const char *word, size_t length, double *ret_seconds)
{
	const char *end = word + length;
	const char *point = memchr(word, '.', length);
	uint64_t whole, part = 0;
	double scale = 1;
	uint32_t flags;

	if (!zm_fields_number(word, point ? point : end, &whole, &flags))
		return false;
	if (point && !zm_fields_number(point + 1, end, &part, &flags))
		return false;
	for (const char *digit = point ? point + 1 : end; digit < end; digit++)
		scale *= 10;
	*ret_seconds = (double)whole + (double)part / scale;
	return true;
}

static bool parse(const struct zm_sysfile *file, double *ret_seconds)
{
	const char *at = file->text, *end = file->text + strcspn(file->text, "\n");
	const char *word;
	size_t length;

	for (unsigned int i = 0; i < NR_FIGURES; i++)
		if (!zm_fields_next_word(&at, end, &word, &length) ||
		    !parse_seconds(word, length, &ret_seconds[i]))
			return false;
	return true;
}

static int open_uptime(struct zm_monitor_context *context, struct zm_why *why)
{
	struct state *state = context->state;
	double seconds[NR_FIGURES];
	int error = zm_source_open_file(&state->file, context->root, "proc/uptime", why);

	if (error)
		return error;
	if (!parse(&state->file, seconds))
		return zm_why_set(why, -ENODATA, "/proc/uptime does not hold two numbers");
	for (unsigned int i = 0; !error && i < NR_FIGURES; i++) {
		const struct zm_series_desc desc = {
			.source = context->monitor->name,
			.metric = metrics[i],
			.unit = "s",
			.kind = ZM_COUNT,
			.is_float = true,
		};

		error = zm_recorder_series(context->recorder, &desc, &state->series[i]);
	}
	return error ? zm_why_errno(why, error, "uptime") : 0;
}

static int read_uptime(struct zm_monitor_context *context, uint64_t t_ns)
{
	struct state *state = context->state;
	double seconds[NR_FIGURES];
	uint32_t flags;
	int error = zm_source_read_file(&state->file, &flags);

	if (error)
		return error;
	if (!parse(&state->file, seconds))
		return -ENODATA;
	for (unsigned int i = 0; i < NR_FIGURES; i++)
		zm_recorder_put_f64(context->recorder, state->series[i], t_ns, seconds[i], flags);
	return 0;
}

static void close_uptime(struct zm_monitor_context *context)
{
	struct state *state = context->state;

	zm_sysfile_release(&state->file);
}

const struct zm_monitor ZM_MONITOR = {
	.name = ZM_MONITOR_NAME,
	.summary = "seconds since the boot, and the CPUs' idle seconds",
	.needs = "/proc/uptime",
	.rate = ZM_RATE_BORDERS,
	.state_bytes = sizeof(struct state),
	.open = open_uptime,
	.read = read_uptime,
	.close = close_uptime,
};
