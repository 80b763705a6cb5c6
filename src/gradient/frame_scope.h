/* Gradients inside of a loop of a frame: of values in a round with respect to values of the same round, or to
 * what is the same in all rounds. So are the gradients that a body of tf.while_loop or map_fn asks for.
 *
 *   FrameScope scope;
 *   TRY(frame_scope_init(&scope, site, ys, num_ys));
 *   if (scope.depth > 0) TRY(frame_scope_begin(&scope, work));
 *   ... gradients_add: the nodes read what they need, in whatever frame it is ...
 *   if (scope.depth > 0) TRY(frame_scope_close(&scope, work, first_new_id));
 *
 * The frames of the scope are those around the ys, the outermost first. The gradient is computed in the last
 * one. What it reads from the frames around that one enters through constant Enters. */
#ifndef TFCORE_GRADIENT_FRAME_SCOPE_H_
#define TFCORE_GRADIENT_FRAME_SCOPE_H_

#include "gradient/body_work.h"

/* A frame of the graph; NULL is the one outside of all loops. */
typedef struct Frame {
  Node *enter; /* one of its Enters; not constant if there is such a one */
  Str name;
  int depth; /* at least 1 */
  const struct Frame *around;
  struct Frame *inner, *next; /* the first frame inside, and another one with the same frame around it */
} Frame;

struct FrameScope {
  GradientSite *site;
  Arena *arena;
  const Frame **frame_of; /* per id: where the node's outputs are */
  int64_t num_ids;
  Frame *outer;         /* the first frame of the graph */
  const Frame **frames; /* per depth from 1 on */
  Node **pivots;        /* per depth from 1 on: a node that runs in every round in which the ys do */
  int depth;            /* 0: the ys are outside of all loops */
};

/* INVALID_ARGUMENT when the ys are in rounds of different loops. Memory is the site's. */
MUST_CHECK bool frame_scope_init(FrameScope *scope, GradientSite *site, const NodeOutput *ys, int num_ys);
/* Adds the pivots. */
MUST_CHECK bool frame_scope_begin(FrameScope *scope, BodyWork *work, const NodeOutput *ys, int num_ys);
/* Whether the node, which was there at first, is one of a frame of the scope. */
bool frame_scope_has(const FrameScope *scope, const Node *node);
/* What is added to the site from now on to keep intermediates is added to the frame of the node. */
void frame_scope_stand(const FrameScope *scope, const Node *node);
/* The nodes from this id on get what is outside of their frames through Enters. */
MUST_CHECK bool frame_scope_close(FrameScope *scope, BodyWork *work, int64_t first_id);

#endif
