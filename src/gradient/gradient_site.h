/* What is known of a graph while gradients are added to it.
 *
 * Most nodes that a gradient adds belong to the gradient. Some belong to what is differentiated: they keep
 * intermediates. These are called forward nodes here; they stay where gradients move into functions. */
#ifndef TFCORE_GRADIENT_GRADIENT_SITE_H_
#define TFCORE_GRADIENT_GRADIENT_SITE_H_

#include "gradient/conditions.h"

/* A node that calls functions and was changed to keep intermediates. */
typedef struct Extension {
  const NodeBefore *before;
  struct Extension *previous;
} Extension;

typedef struct FrameScope FrameScope;

typedef struct GradientSite {
  Graph *graph;
  Status *status;
  Arena *arena;
  ConditionFinder conditions;
  uint8_t *forward; /* per id: a forward node that was added */
  int64_t forward_capacity, num_forward;
  Extension *extensions; /* the last one first */
  /* NULL, or a node that runs in every round of the loop whose body is differentiated: forward nodes without
   * inputs get a control edge from it, so that they run in the loop. */
  Node *pivot;
  /* NULL, or in a loop the conditions that what enters it brings from outside. */
  const Conditions *outside;
  FrameScope *scope; /* NULL, or the frames around the ys (gradient/frame_scope.h) */
} GradientSite;

MUST_CHECK bool gradient_site_init(GradientSite *site, Graph *graph, Status *status);
void gradient_site_clear(GradientSite *site);

/* The nodes from this id on are forward nodes. */
MUST_CHECK bool gradient_site_add_forward(GradientSite *site, int64_t first_id);
/* The node is one. */
MUST_CHECK bool gradient_site_keep(GradientSite *site, const Node *node);
static inline bool gradient_site_is_forward(const GradientSite *site, int64_t id) {
  return id < site->num_forward && site->forward[id];
}
/* Removes the nodes from this id on; with `keep_forward`, all but the forward nodes. */
void gradient_site_remove(GradientSite *site, int64_t first_id, bool keep_forward);

MUST_CHECK bool gradient_site_extend(GradientSite *site, Node *node, const NodeDef *def,
                                     const NodeOutput *more_inputs, int num_more_inputs);
/* Takes back the extensions made after `last`. */
void gradient_site_shrink(GradientSite *site, const Extension *last);

/* The conditions of `value` that neither come from outside of the loop nor are in `within` (NULL: none). */
MUST_CHECK bool gradient_site_conditions(GradientSite *site, NodeOutput value, const Conditions *within,
                                         const Conditions **extra);

#endif
