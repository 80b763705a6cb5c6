/* Putting functions together in a graph of their own: what the gradients of ops that call functions are made
 * with. */
#ifndef TFCORE_GRADIENT_BODY_WORK_H_
#define TFCORE_GRADIENT_BODY_WORK_H_

#include "gradient/gradient_internal.h"
#include "graph/node_builder.h"

/* A graph that knows the functions of the library. */
typedef struct BodyWork {
  GradientLibrary *library;
  Graph *graph;
  Arena *arena; /* as long as the work */
  Status *status;
  const char *scope;  /* NULL, or what stands in front of the names of new nodes */
  FunctionBody *body; /* of the function that was spliced into the graph; owned */
} BodyWork;

MUST_CHECK bool body_work_new(BodyWork *work, GradientLibrary *library, Status *status);
void body_work_free(BodyWork *work);

/* --- nodes --- */

/* Begins a node of a name that is free now: finish it before the next one is begun. */
void body_work_node(NodeBuilder *b, BodyWork *work, const char *op, const char *name);
/* Finishes the node; its output 0. */
MUST_CHECK bool body_work_finish(BodyWork *work, NodeBuilder *b, NodeOutput *output);
MUST_CHECK bool body_work_placeholder(BodyWork *work, const char *name, DataType type, NodeOutput *output);
MUST_CHECK bool body_work_int32(BodyWork *work, const char *name, int value, NodeOutput *output);
/* A float 0: what stands for "no gradient" of a resource. */
MUST_CHECK bool body_work_float_zero(BodyWork *work, NodeOutput *output);
/* An op with attr T, which is the type of the first input. */
MUST_CHECK bool body_work_op(BodyWork *work, const char *op, const NodeOutput *inputs, int num_inputs,
                             NodeOutput *output);
/* The list with an item behind those it has; list and item of a TensorListPopBack. */
MUST_CHECK bool body_work_push(BodyWork *work, NodeOutput list, NodeOutput item, NodeOutput *pushed);
MUST_CHECK bool body_work_pop(BodyWork *work, NodeOutput list, NodeOutput element_shape, DataType type,
                              NodeOutput *rest, NodeOutput *item);
/* A For over inputs whose first three are start, limit and delta. */
MUST_CHECK bool body_work_for(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                              const char *body, Node **loop);
/* Zeros of the shape of a value, or of what a resource refers to, which has dtype `type`. */
MUST_CHECK bool body_work_zeros(BodyWork *work, NodeOutput value, DataType type, NodeOutput *output);

/* --- functions --- */

/* A function that was spliced into the graph of the work: arguments are placeholders, and gradients arrive at
 * placeholders as well. */
typedef struct SplicedFunction {
  const FunctionBody *body; /* of the work */
  NodeOutput *args, *rets;
  NodeOutput *dys;        /* per result; NULL nodes where no gradient arrives */
  NodeOutput *dxs;        /* per argument; NULL nodes where none leaves */
  int64_t first_gradient; /* nodes from this id on are of the gradient */
  Node **effects;         /* with keep_stateful: what runs in every call */
  int num_effects;
} SplicedFunction;

/* Whether gradients of values of that type are computed. */
bool gradient_flows_through(DataType type);
/* Once in each work. NOT_FOUND "Function f is not defined." */
MUST_CHECK bool body_work_splice(BodyWork *work, const NameAttrList *f, bool keep_stateful,
                                 SplicedFunction *function);
/* Adds the gradient of the results with `flows` with respect to all arguments. */
MUST_CHECK bool body_work_differentiate(BodyWork *work, SplicedFunction *function, const bool *flows);
/* What computes the outputs from the inputs, in the arena. */
MUST_CHECK bool body_work_function(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                                   const NodeOutput *outputs, int num_outputs, Arena *arena,
                                   FunctionDef **function);
/* Adds such a function to the library under the name or name_1, name_2, ...: a new one, or one that is the
 * same. With `whole`, it has the effects of that function as well. */
MUST_CHECK bool body_work_define(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                                 const NodeOutput *outputs, int num_outputs, const SplicedFunction *whole,
                                 const char **defined);
/* The name of a function with the suffix behind it, instead of "_forward" if it has that; NULL when out of
 * memory. */
const char *body_work_name(BodyWork *work, const char *name, const char *suffix);
/* The NodeDef without inputs, in the library's arena. */
MUST_CHECK bool body_work_copy_def(BodyWork *work, const NodeDef *node, NodeDef **copy);
/* Adds unknown shapes to the node's attr `output_shapes`, when it has any, until they are `count`. */
MUST_CHECK bool body_work_widen_shapes(BodyWork *work, NodeDef *def, size_t count);
MUST_CHECK bool body_work_empty_list(BodyWork *work, DataType type, NodeOutput *list);
/* Where no gradient leaves: zeros, and a float for a resource. */
MUST_CHECK bool body_work_no_gradient(BodyWork *work, NodeOutput arg, NodeOutput *output);

/* The function in the attr of a node; INVALID_ARGUMENT when there is none. */
MUST_CHECK bool gradient_called(const NodeDef *node, const char *attr, const NameAttrList **function,
                                Status *status);

#endif
