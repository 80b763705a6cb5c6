/* Variables that a loop of a frame gets to keep intermediates: a counter of its rounds, and lists. What is
 * added are forward nodes; what the loop had stays as it was. */
#ifndef TFCORE_GRADIENT_FRAME_EXTEND_H_
#define TFCORE_GRADIENT_FRAME_EXTEND_H_

#include "gradient/body_work.h"
#include "graph/frame_loop.h"

/* `outside` is the pivot of what is around the loop, or NULL. */
typedef struct FrameExtend {
  BodyWork *work;
  const FrameLoop *loop;
  Node *outside;
} FrameExtend;

/* The Exit of a variable; adds one when there is none. */
MUST_CHECK bool frame_extend_exit(const FrameExtend *f, Node *split, NodeOutput *exit);
/* Finds or adds a variable that counts the rounds. *pivot runs in every round. */
MUST_CHECK bool frame_extend_count(const FrameExtend *f, NodeOutput *count, Node **pivot);
/* Finds or adds a variable whose list has `value` of every round. */
MUST_CHECK bool frame_extend_list(const FrameExtend *f, NodeOutput value, NodeOutput *list);

#endif
