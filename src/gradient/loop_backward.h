/* The backward pass of a loop: a For with as many rounds as the loop had. It takes the intermediates of each
 * round from lists, the last round first, and computes the gradient of the body. */
#ifndef TFCORE_GRADIENT_LOOP_BACKWARD_H_
#define TFCORE_GRADIENT_LOOP_BACKWARD_H_

#include "gradient/intermediates.h"

typedef struct LoopBackward {
  BodyWork *work; /* where the body was differentiated */
  SplicedFunction
      *body; /* its arguments from `first` on are the variables and what is the same in all rounds */
  const Intermediates *kept;
  int first, count;
  const bool *active;   /* per argument from `first` on: a variable that has a gradient */
  const DataType *sums; /* the type of a gradient that is added up over the rounds; DT_INVALID: it is not */
} LoopBackward;

/* What the For reads, in the graph that it is added to. */
typedef struct LoopBackwardInputs {
  NodeOutput rounds;       /* int32: how many there were */
  const NodeOutput *lists; /* per intermediate */
  const NodeOutput *args;  /* per argument from `first` on: the value before the loop */
  const NodeOutput *dys;   /* per argument that is active: the gradient behind the loop */
} LoopBackwardInputs;

/* Adds the function (round, lists, arguments that are read, gradients, sums) -> (lists, ...), one round
 * backwards, to the library. */
MUST_CHECK bool loop_backward_define(const LoopBackward *b, const char *name, const char **function);
/* Adds the For. outputs[i] is the gradient of argument `first` + i; a NULL node without one. */
MUST_CHECK bool loop_backward_add(const LoopBackward *b, BodyWork *work, const char *function,
                                  const LoopBackwardInputs *inputs, NodeOutput *outputs);

#endif
