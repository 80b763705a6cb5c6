/* Function inlining: replaces nodes that call functions by the bodies of the functions, with TensorFlow's
 * names.
 *
 * A call `c` of a body with a node `x` becomes `c/x`; its arguments and results become Identity nodes
 * `Func/c/input/_0`, `Func/c/output/_1`, numbered by graph_new_name. A NoOp `Func/c/input_control_node/_2`
 * gets the call's control inputs, and a NoOp `Func/c/output_control_node/_3` its control outputs. Frame names
 * get the prefix `c/`, so that loops of two calls stay separate.
 *
 * This needs a call and a whole FunctionBody. Gradients instead add a part of a function, without a call:
 * function/function_splice.h.
 */
#ifndef TFCORE_OPTIMIZER_INLINE_FUNCTIONS_H_
#define TFCORE_OPTIMIZER_INLINE_FUNCTIONS_H_

#include "function/function_body.h"

/* The control inputs of the call's output control node: */
typedef enum OutputControlSource {
  OUTPUT_CONTROL_DATA_OUTPUTS,    /* all results */
  OUTPUT_CONTROL_CONTROL_OUTPUTS, /* the function's control results */
} OutputControlSource;

/* The node that keeps the call's name. */
typedef enum KeepCallerNode {
  KEEP_CALLER_NOTHING,
  KEEP_CALLER_FETCHABLE,  /* an IdentityN of the results (a NoOp if there are none) */
  KEEP_CALLER_TARGETABLE, /* a NoOp */
} KeepCallerNode;

/* Devices of the added nodes. */
typedef enum InlinePlacer {
  INLINE_PLACER_DEFAULT,       /* nodes of the body keep their devices; inputs have their sources' devices */
  INLINE_PLACER_SINGLE_DEVICE, /* all nodes have the call's device */
} InlinePlacer;

typedef struct InlineOptions {
  bool disable_inlining;
  bool ignore_noinline; /* also inline functions with attr `_noinline`, which those for XLA need not */
  OutputControlSource output_control_src;
  KeepCallerNode keep_caller_node;
  InlinePlacer placer;
  /* Keep the call one step, as when a kernel runs it: every result waits for all inputs and for the
   * function's control results, and the call's control outputs wait for all results. Functions whose kernels
   * hold state (node_keeps_state), and those with effects in branches or loops, are not inlined. TensorFlow's
   * inlining guarantees less. */
  bool as_one_step;
  bool has_effects; /* with as_one_step: the nodes of the function wait for all inputs */
  /* The call is in a loop, so nodes of the body without inputs wait for an input of the call: that puts them
   * into the loop. */
  bool in_loop;
  bool share_attrs; /* the bodies live as long as the graph, so their attr values are shared */
} InlineOptions;

/* Where bodies come from. */
typedef struct FunctionBodySource {
  /* The body of function `name` with these attrs, or of "SymbolicGradient" with the attrs of its node. To be
   * inlined as one step, it has its nodes with effects among its control results. The source owns it, and
   * must not change it while a pass runs. On an error the call stays as it is. */
  bool (*body)(void *owner, const char *name, const AttrEntry *const *attrs, int num_attrs,
               const FunctionBody **body, Status *status);
  /* Called for every node that is added for a call. The call was removed from the graph, but its id, name and
   * NodeDef can be read. May be NULL. */
  void (*inlined)(void *owner, const Node *caller, Node *added);
  /* The same for every node that replaces a While, an If or a Case (optimizer/lower_control_flow.h). May be
   * NULL. */
  void (*lowered)(void *owner, const Node *replaced, Node *added);
  void *owner;
} FunctionBodySource;

typedef struct ExpandOptions {
  InlineOptions native;       /* for ops that are functions, and SymbolicGradient */
  InlineOptions multi_device; /* for PartitionedCall and StatefulPartitionedCall */
  int max_rounds;             /* calls inside of bodies are inlined in the next round */
  int64_t max_nodes;          /* the limit for the graph */
  const NodeSet *keep;        /* calls that must stay; may be NULL */
  bool lower_control_flow;    /* also replaces While, If and Case, so that the calls of their functions are
                                 inlined */
} ExpandOptions;

/* TensorFlow's: one round, placed on a single device; partitioned calls use the function's control
 * results. */
ExpandOptions expand_options_default(void);

/* Whether the node calls a function: its op is a function, PartitionedCall, StatefulPartitionedCall or
 * SymbolicGradient. *name and the attrs are the request to a FunctionBodySource. */
bool node_function_call(const Node *node, const char **name, const AttrEntry *const **attrs, int *num_attrs);

/* TensorFlow's ValidateInlining. INVALID_ARGUMENT "Node inputs do not match function arguments: inputs=1
 * arg_types=2 arg_nodes=2", "Can't inline function marked with '_noinline'", ... */
MUST_CHECK bool inline_validate(const Node *caller, const FunctionBody *body, const InlineOptions *options,
                                Status *status);

/* TensorFlow's InlineFunctionBody: replaces and removes the node `caller`. INTERNAL "Inlining mismatch: ..."
 * when the body does not match the call. `source` is told of the nodes; it may be NULL. On error the graph is
 * valid, and unchanged unless memory ran out. */
MUST_CHECK bool graph_inline_function_body(Graph *graph, Node *caller, const FunctionBody *body,
                                           const InlineOptions *options, const FunctionBodySource *source,
                                           Status *status);

/* TensorFlow's ExpandInlineFunctions: inlines every call that can be inlined; other calls stay, and report
 * their errors when they run. RESOURCE_EXHAUSTED when the graph would exceed max_nodes nodes: it is valid
 * then, with some calls inlined. */
MUST_CHECK bool graph_expand_inline_functions(Graph *graph, const FunctionBodySource *source,
                                              const ExpandOptions *options, bool *changed, Status *status);

#endif
