/* watch: opens, attaches, reads, reports and closes a run's monitors. */
#include "runner/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"

struct zm_watched {
	struct zm_monitor_context context;
	bool is_entered; /* open was called: close must be */
	bool is_on;
	bool has_failed; /* a read failed, and was noted */
};

static void give_up(const struct zm_watch *watch, struct zm_watched *watched, int error,
		    const struct zm_why *why)
{
	watched->is_on = false;
	(void)zm_recorder_absent(watch->recorder, watched->context.monitor->name,
				 why->text[0] ? why->text : strerror(-error));
}

static int open_one(struct zm_watch *watch, struct zm_watched *watched)
{
	const struct zm_monitor *monitor = watched->context.monitor;
	struct zm_why why = { { 0 } };
	int r;

	watched->context.state = calloc(1, monitor->state_bytes + 1);
	if (!watched->context.state)
		return -ENOMEM;
	watched->is_entered = true;
	watched->is_on = true;
	r = monitor->open(&watched->context, &why);
	if (r < 0)
		give_up(watch, watched, r, &why);
	return 0;
}

int zm_watch_open(struct zm_watch *watch, const struct zm_monitor *const *monitors,
		  const struct zm_sysroot *root, struct zm_recorder *recorder)
{
	size_t nr = 0;
	int r = 0;

	while (monitors[nr])
		nr++;
	*watch = (struct zm_watch){ .recorder = recorder };
	watch->list = calloc(nr + 1, sizeof(*watch->list));
	if (!watch->list)
		return -ENOMEM;
	watch->nr = nr;
	for (size_t i = 0; r == 0 && i < nr; i++) {
		watch->list[i].context = (struct zm_monitor_context){ .monitor = monitors[i],
								      .root = root,
								      .recorder = recorder };
		r = open_one(watch, &watch->list[i]);
	}
	return r;
}

void zm_watch_attach(struct zm_watch *watch, const struct zm_target *target)
{
	for (size_t i = 0; i < watch->nr; i++) {
		struct zm_watched *watched = &watch->list[i];
		struct zm_why why = { { 0 } };
		int r;

		if (!watched->is_on || !watched->context.monitor->attach)
			continue;
		r = watched->context.monitor->attach(&watched->context, target, &why);
		if (r < 0)
			give_up(watch, watched, r, &why);
	}
}

static void note_gap(const struct zm_watch *watch, struct zm_watched *watched, int error)
{
	char text[256];

	watched->has_failed = true;
	(void)snprintf(text, sizeof(text), "%s could not be read at least once: %s",
		       watched->context.monitor->name, strerror(-error));
	(void)zm_recorder_note(watch->recorder, "gap", text);
}

void zm_watch_read(struct zm_watch *watch, enum zm_rate rate, enum zm_phase phase, uint64_t t_ns)
{
	for (size_t i = 0; i < watch->nr; i++) {
		struct zm_watched *watched = &watch->list[i];
		const struct zm_monitor *monitor = watched->context.monitor;
		int r;

		if (!watched->is_on || (rate != ZM_RATE_BORDERS && monitor->rate != rate))
			continue;
		watched->context.phase = phase;
		r = monitor->read(&watched->context, t_ns);
		if (r < 0 && !watched->has_failed)
			note_gap(watch, watched, r);
	}
}

void zm_watch_report(struct zm_watch *watch, uint64_t t0_ns, uint64_t t1_ns,
		     struct zm_report *report)
{
	for (size_t i = 0; i < watch->nr; i++) {
		struct zm_watched *watched = &watch->list[i];
		const struct zm_monitor *monitor = watched->context.monitor;
		int r;

		if (!watched->is_on || !monitor->report)
			continue;
		report->source = monitor->name;
		r = monitor->report(&watched->context, t0_ns, t1_ns, report);
		if (r < 0 && !watched->has_failed)
			note_gap(watch, watched, r);
	}
}

void zm_watch_close(struct zm_watch *watch)
{
	for (size_t i = 0; i < watch->nr; i++) {
		struct zm_watched *watched = &watch->list[i];

		if (watched->is_entered && watched->context.monitor->close)
			watched->context.monitor->close(&watched->context);
		free(watched->context.state);
	}
	free(watch->list);
	*watch = (struct zm_watch){ 0 };
}
