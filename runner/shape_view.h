/*
 * shape_view: figure by figure, whether what was measured on two or more kernels has the documented
 * shape.
 */
#ifndef ZM_RUNNER_SHAPE_VIEW_H
#define ZM_RUNNER_SHAPE_VIEW_H

#include "runner/document_view.h"

/* Nothing with fewer than two kernels. -ENOMEM. */
int zm_shape_view_print(const struct zm_view *view, FILE *out);
json_t *zm_shape_view_json(const struct zm_view *view);

#endif
