/*
 * catalogue: look-ups in the tables that the build wrote, and the check of what is in them.
 *
 * The tables are short and in the order of names; a walk is all that finding needs.
 */
#include "runner/catalogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/base/cleanup.h"

const struct zm_workload *zm_workload_find(const char *name)
{
	for (unsigned int i = 0; i < zm_nr_workloads; i++)
		if (zm_workload_is_named(zm_workloads[i], name))
			return zm_workloads[i];
	return NULL;
}

const struct zm_monitor *zm_monitor_find(const char *name)
{
	for (unsigned int i = 0; i < zm_nr_monitors; i++)
		if (strcmp(zm_monitors[i]->name, name) == 0)
			return zm_monitors[i];
	return NULL;
}

const struct zm_cmd *zm_cmd_find(const char *name)
{
	for (unsigned int i = 0; i < zm_nr_cmds; i++)
		if (strcmp(zm_cmds[i]->name, name) == 0)
			return zm_cmds[i];
	return NULL;
}

int zm_cmd_unknown(const char *name, struct zm_why *why)
{
	zm_autofree const char **names = calloc(zm_nr_cmds + 1, sizeof(*names));
	const char *nearest = NULL;

	for (unsigned int i = 0; names && i < zm_nr_cmds; i++)
		names[i] = zm_cmds[i]->name;
	if (names)
		nearest = zm_option_nearest(name, names);
	if (nearest)
		return zm_why_set(why, -ENOENT, "there is no command %s; did you mean %s?", name,
				  nearest);
	return zm_why_set(why, -ENOENT,
			  "there is no command %s; `zonemark --help` lists the commands", name);
}

int zm_catalogue_validate(struct zm_why *why)
{
	for (unsigned int i = 0; i < zm_nr_workloads; i++) {
		int r = zm_workload_validate(zm_workloads[i], why);

		if (r < 0)
			return r;
	}
	return 0;
}
