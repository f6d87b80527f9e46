/* sample: the words for phases, scopes and kinds. */
#include "workloads/sample.h"

static const char *const phase_names[ZM_NR_PHASES] = {
	[ZM_PHASE_PREPARE] = "prepare", [ZM_PHASE_IDLE] = "idle",       [ZM_PHASE_SETUP] = "setup",
	[ZM_PHASE_WARMUP] = "warmup",   [ZM_PHASE_MEASURE] = "measure", [ZM_PHASE_STOP] = "stop",
	[ZM_PHASE_DRAIN] = "drain",     [ZM_PHASE_CLEANUP] = "cleanup",
};

static const char *const scope_names[] = {
	[ZM_SCOPE_HOST] = "host", [ZM_SCOPE_TASK] = "task", [ZM_SCOPE_CPU] = "cpu",
	[ZM_SCOPE_NODE] = "node", [ZM_SCOPE_ZONE] = "zone", [ZM_SCOPE_CGROUP] = "cgroup",
};

static const char *const kind_names[] = {
	[ZM_COUNT] = "count",
	[ZM_GAUGE] = "gauge",
	[ZM_HIST] = "hist",
};

const char *zm_phase_name(enum zm_phase phase)
{
	return (unsigned int)phase < ZM_NR_PHASES ? phase_names[phase] : "unknown";
}

const char *zm_scope_name(enum zm_scope scope)
{
	return (unsigned int)scope < sizeof(scope_names) / sizeof(scope_names[0])
		       ? scope_names[scope]
		       : "unknown";
}

const char *zm_kind_name(enum zm_kind kind)
{
	return (unsigned int)kind < sizeof(kind_names) / sizeof(kind_names[0]) ? kind_names[kind]
									       : "unknown";
}
