/*
 * learn: bands from machines that are known to be good.
 *
 * The unit is the machine: whatever its runs and boots, it has one value of a criterion, made as a
 * qualification makes it. Where there is one machine only, its boots are the units, and the bands say so: what
 * differs between machines is not in them. Only runs of the profile's own cells count.
 */
#ifndef ZM_RUNNER_QUALIFY_LEARN_H
#define ZM_RUNNER_QUALIFY_LEARN_H

#include <jansson.h>

#include "runner/qualify/bands.h"
#include "runner/qualify/evidence.h"
#include "runner/qualify/standard.h"

/* cells: keys as zm_campaign_cells has them. -ENODATA: fewer than two machines or boots; -EINVAL: they are of several
 * models. Criteria that fewer than two have a value of get no band. */
int zm_learn_bands(const struct zm_standard *profile, struct zm_evidence *evidence,
		   const json_t *cells, struct zm_bands *ret_bands, struct zm_why *why);

#endif
