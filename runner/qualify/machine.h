/*
 * machine: what is qualified: its inventory, how many sockets, nodes, CPUs and how much memory may be used, and
 * which CPUs each socket and node has.
 */
#ifndef ZM_RUNNER_QUALIFY_MACHINE_H
#define ZM_RUNNER_QUALIFY_MACHINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "runner/qualify/standard.h"
#include "workloads/base/sysroot.h"
#include "workloads/base/topology.h"

struct zm_qualify_machine {
	struct zm_sysroot root;
	struct zm_topology topology;
	json_t *inventory;
	char id[17];
	char model[256]; /* "ACME X1, Xeon 9999, 2 sockets" */
	double parts[ZM_NR_PARTS];
	bool is_guest;
};

/* Zeroed to begin with. root NULL: this one. */
int zm_qualify_machine_open(struct zm_qualify_machine *machine, const char *root,
			    struct zm_why *why);
void zm_qualify_machine_close(struct zm_qualify_machine *machine);

/* The same of an inventory that a run has kept; what it does not say is NaN. */
void zm_qualify_inventory(const json_t *inventory, double ret_parts[ZM_NR_PARTS], char *ret_model,
			  size_t size, bool *ret_guest);

/* The CPUs of the n-th socket or node that may be used, as a list, and its number. False: there is no n-th. The
 * caller frees *ret_cpus; NULL without memory. */
bool zm_qualify_machine_group(const struct zm_qualify_machine *machine, enum zm_machine_part part,
			      size_t n, int *ret_number, char **ret_cpus);

#endif
