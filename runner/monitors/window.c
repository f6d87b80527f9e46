/*
 * window: a running sum between two borders.
 */
#include "runner/monitors/window.h"

static void extend(struct zm_window_figure *figure, uint64_t t_ns, double value)
{
	figure->area += (figure->last + value) / 2 * (double)(t_ns - figure->t1_ns);
	figure->t1_ns = t_ns;
	figure->last = value;
	if (value > figure->max)
		figure->max = value;
}

void zm_window_feed(struct zm_window_figure *figure, enum zm_phase phase, uint64_t t_ns,
		    double value)
{
	if (figure->has_ended || (!figure->has_begun && phase != ZM_PHASE_MEASURE))
		return;
	if (!figure->has_begun) {
		*figure = (struct zm_window_figure){
			.t0_ns = t_ns,
			.t1_ns = t_ns,
			.first = value,
			.last = value,
			.max = value,
			.has_begun = true,
		};
		return;
	}
	extend(figure, t_ns, value);
	figure->has_ended = phase != ZM_PHASE_MEASURE;
}

static uint64_t distance_ns(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

bool zm_window_is_whole(const struct zm_window_figure *figure, uint64_t t0_ns, uint64_t t1_ns)
{
	uint64_t slack_ns = t1_ns > t0_ns ? (t1_ns - t0_ns) / 50 : 0;

	return figure->has_ended && distance_ns(figure->t0_ns, t0_ns) <= slack_ns &&
	       distance_ns(figure->t1_ns, t1_ns) <= slack_ns;
}

double zm_window_mean(const struct zm_window_figure *figure)
{
	uint64_t width_ns = figure->t1_ns - figure->t0_ns;

	return width_ns ? figure->area / (double)width_ns : figure->last;
}

bool zm_window_delta(const struct zm_window_figure *figure, double *ret_delta)
{
	if (figure->last < figure->first)
		return false;
	*ret_delta = figure->last - figure->first;
	return true;
}

int zm_window_say_absent(struct zm_monitor_context *context)
{
	return zm_recorder_absent(context->recorder, context->monitor->name,
				  "no reading at the borders of the measured window");
}
