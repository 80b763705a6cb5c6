/* Building functions in graphs of their own, for the gradients of ops that call functions. */
#ifndef TFCORE_GRADIENT_BODY_WORK_H_
#define TFCORE_GRADIENT_BODY_WORK_H_

#include "gradient/gradient_internal.h"
#include "graph/node_builder.h"

/* A graph that knows the functions of the library. */
typedef struct BodyWork {
  GradientLibrary *library;
  Graph *graph;
  Arena *arena; /* lives as long as the work */
  Status *status;
  const char *scope;  /* NULL, or the prefix for the names of new nodes */
  FunctionBody *body; /* of the function that was spliced into the graph; owned */
  GradientSite *site; /* of the graph */
  Node *pivot;        /* NULL, or what constants get a control edge from, to run where it does */
} BodyWork;

MUST_CHECK bool body_work_new(BodyWork *work, GradientLibrary *library, Status *status);
void body_work_free(BodyWork *work);

/* --- nodes --- */

/* Begins a node with a name that is free now: finish it before the next one is begun. */
void body_work_node(NodeBuilder *b, BodyWork *work, const char *op, const char *name);
/* Finishes the node; *output is its output 0. */
MUST_CHECK bool body_work_finish(BodyWork *work, NodeBuilder *b, NodeOutput *output);
MUST_CHECK bool body_work_placeholder(BodyWork *work, const char *name, DataType type, NodeOutput *output);
/* A scalar of zeros; an empty text, list or the like for other types. */
MUST_CHECK bool body_work_empty(BodyWork *work, DataType type, NodeOutput *output);
MUST_CHECK bool body_work_int32(BodyWork *work, const char *name, int value, NodeOutput *output);
/* A float 0, which represents "no gradient" of a resource. */
MUST_CHECK bool body_work_float_zero(BodyWork *work, NodeOutput *output);
/* An op whose only attr is T, the type of the first input. */
MUST_CHECK bool body_work_op(BodyWork *work, const char *op, const NodeOutput *inputs, int num_inputs,
                             NodeOutput *output);
/* TensorListPushBack, and both outputs of TensorListPopBack. */
MUST_CHECK bool body_work_push(BodyWork *work, NodeOutput list, NodeOutput item, NodeOutput *pushed);
MUST_CHECK bool body_work_pop(BodyWork *work, NodeOutput list, NodeOutput element_shape, DataType type,
                              NodeOutput *rest, NodeOutput *item);
/* A For; the first three inputs are start, limit and delta. */
MUST_CHECK bool body_work_for(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                              const char *body, Node **loop);
/* Zeros with the shape of a value. For a resource: of the variable's value, which has dtype `type`. */
MUST_CHECK bool body_work_zeros(BodyWork *work, NodeOutput value, DataType type, NodeOutput *output);

/* --- functions --- */

/* A function that was spliced into the graph of the work. Its arguments are placeholders, and so are the
 * incoming gradients. */
typedef struct SplicedFunction {
  const FunctionBody *body; /* of the work */
  int num_args, num_rets;
  NodeOutput *args, *rets;
  NodeOutput *dys;        /* per result: the incoming gradient; a NULL node without one */
  NodeOutput *dxs;        /* per argument: its gradient; a NULL node without one */
  int64_t first_gradient; /* nodes from this id on belong to the gradient */
  Node **effects;         /* with keep_stateful: the nodes that run in every call */
  int num_effects;
} SplicedFunction;

/* Whether values of that type have gradients. */
bool gradient_flows_through(DataType type);
/* At most once for each BodyWork. NOT_FOUND "Function f is not defined." */
MUST_CHECK bool body_work_splice(BodyWork *work, const NameAttrList *f, bool keep_stateful,
                                 SplicedFunction *function);
/* Adds the gradients of the results in `flows` with respect to all arguments. */
MUST_CHECK bool body_work_differentiate(BodyWork *work, SplicedFunction *function, const bool *flows);
/* A function that computes the outputs from the inputs, in `arena`. */
MUST_CHECK bool body_work_function(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                                   const NodeOutput *outputs, int num_outputs, Arena *arena,
                                   FunctionDef **function);
/* Adds such a function to the library as `name`, name_1, name_2, ...: the first name that is free or has
 * an equal function. With `whole`, it has the effects of that function as well. */
MUST_CHECK bool body_work_define(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                                 const NodeOutput *outputs, int num_outputs, const SplicedFunction *whole,
                                 const char **defined);
/* The function's name with the suffix appended, or in place of "_forward"; NULL when out of memory. */
const char *body_work_name(BodyWork *work, const char *name, const char *suffix);
/* The NodeDef without inputs, in the library's arena. */
MUST_CHECK bool body_work_copy_def(BodyWork *work, const NodeDef *node, NodeDef **copy);
/* Appends unknown shapes to the node's attr `output_shapes`, unless it is empty, up to `count`. */
MUST_CHECK bool body_work_widen_shapes(BodyWork *work, NodeDef *def, size_t count);
MUST_CHECK bool body_work_empty_list(BodyWork *work, DataType type, NodeOutput *list);
/* The gradient of an argument that no gradient reaches: zeros, or a float for a resource. */
MUST_CHECK bool body_work_no_gradient(BodyWork *work, NodeOutput arg, NodeOutput *output);

/* The function in the attr of a node; INVALID_ARGUMENT without one. */
MUST_CHECK bool gradient_called(const NodeDef *node, const char *attr, const NameAttrList **function,
                                Status *status);

#endif
