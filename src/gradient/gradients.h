/* One call of gradients_add: shared by the walk (graph_gradients.c) and the gradients of control flow, which
 * are not those of single ops. */
#ifndef TFCORE_GRADIENT_GRADIENTS_H_
#define TFCORE_GRADIENT_GRADIENTS_H_

#include "gradient/backward.h"
#include "gradient/body_work.h"
#include "gradient/frame_scope.h"

typedef struct FrameUnit FrameUnit;

typedef struct Gradients {
  GradientLibrary *library;
  GradientSite *site;
  Graph *graph; /* of the site */
  const NodeOutput *xs;
  int num_xs;
  const GradientOptions *options;
  const char *scope; /* of the options */
  Status *status;
  Backward walk;      /* its members are the nodes between the xs and the ys */
  Arena *arena;       /* of the walk */
  uint8_t *derived;   /* per id: the node's outputs depend on an x through its inputs */
  uint8_t *stops;     /* per id: its outputs are taken as constants */
  int *first_x;       /* per id: 1 + an x that is an output of this node */
  int *next_x;        /* per x: 1 + another one of the same node */
  FrameUnit **units;  /* NULL, or per id of LoopConds and Enters: the loop */
  FrameScope *frames; /* NULL: the ys are outside of all loops, or in a body that is differentiated */
  bool conditional;   /* a member is a Switch or Merge outside of loops */
} Gradients;

/* Whether the node was there when the call began and an x has an effect on it. */
static inline bool gradients_is_derived(const Gradients *g, const Node *node) {
  return node->id < g->walk.num_ids && g->derived[node->id];
}
/* Whether a gradient of this output contributes to that of an x. */
bool gradients_is_marked(const Gradients *g, const Node *node, int index);
/* The edge of data input `i`, if it leads to an x; else NULL. */
const Edge *gradients_edge(const Gradients *g, const Node *node, int i);
/* A gradient of a member's output. Where it is dead and the value is alive, it is made zeros. */
MUST_CHECK bool gradients_arrive(Gradients *g, NodeOutput value, NodeOutput gradient);
/* The same for the source of the edge; the gradient gets its shape. */
MUST_CHECK bool gradients_arrive_at(Gradients *g, const Edge *edge, NodeOutput gradient);
/* A BodyWork for nodes of the graph; there is nothing to free. */
void gradients_work(Gradients *g, const char *scope, BodyWork *work);

/* --- Switch and Merge outside of loops (switch_gradient.c) --- */

/* `value` where the condition holds. */
MUST_CHECK bool switch_gradient_gate(BodyWork *work, NodeOutput value, const Condition *condition,
                                     NodeOutput *gated);
/* `value`, which is alive under `conditions`, where they hold, and elsewhere `other`. Both have one type. */
MUST_CHECK bool switch_gradient_complete(BodyWork *work, NodeOutput value, const Conditions *conditions,
                                         NodeOutput other, NodeOutput *whole);
MUST_CHECK bool switch_gradient_of_switch(Gradients *g, Node *node);
MUST_CHECK bool switch_gradient_of_merge(Gradients *g, Node *node);

/* --- loops of frames (frame_gradient.c) --- */

/* A loop is passed as a whole. The walk goes from its Exits to its LoopCond, which stands for it, and from
 * there to its Enters. */
/* Inside of the frames of the scope, a gradient leads through what is the same in all rounds alone. */
MUST_CHECK bool frame_gradient_enter(Gradients *g, Node *node);
int frame_gradient_num_sources(const Gradients *g, const Node *node);
Node *frame_gradient_source(const Gradients *g, const Node *node, int i);
MUST_CHECK bool frame_gradient_pass(Gradients *g, Node *node);

#endif
