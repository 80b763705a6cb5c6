/* Function inlining: nodes that call functions are replaced by the bodies of the functions, with TensorFlow's
 * names.
 *
 * A call `c` of a body with a node `x` becomes `c/x`; its arguments and results become Identity nodes
 * `Func/c/input/_0`, `Func/c/output/_1`, numbered by graph_new_name. What the call waits for is gathered in a
 * NoOp `Func/c/input_control_node/_2`, what waits for the call waits for a NoOp
 * `Func/c/output_control_node/_3`. The names of frames get the prefix `c/`, so that loops of two calls stay
 * apart.
 *
 * This takes a call and a whole FunctionBody. What gradients need, adding a part of a function for values
 * that no call has, is function/function_splice.h.
 */
#ifndef TFCORE_OPTIMIZER_INLINE_FUNCTIONS_H_
#define TFCORE_OPTIMIZER_INLINE_FUNCTIONS_H_

#include "function/function_body.h"

/* What waits for the end of the call waits for: */
typedef enum OutputControlSource {
  OUTPUT_CONTROL_DATA_OUTPUTS,    /* all results */
  OUTPUT_CONTROL_CONTROL_OUTPUTS, /* the function's control results */
} OutputControlSource;

/* What is left of the call under its own name. */
typedef enum KeepCallerNode {
  KEEP_CALLER_NOTHING,
  KEEP_CALLER_FETCHABLE,  /* an IdentityN of the results (a NoOp when there are none) */
  KEEP_CALLER_TARGETABLE, /* a NoOp */
} KeepCallerNode;

/* Devices of the nodes that are added. */
typedef enum InlinePlacer {
  INLINE_PLACER_DEFAULT,       /* nodes of the body keep theirs; inputs are where what they read is */
  INLINE_PLACER_SINGLE_DEVICE, /* all are where the call is */
} InlinePlacer;

typedef struct InlineOptions {
  bool disable_inlining;
  bool ignore_noinline; /* functions with attr `_noinline` are inlined as well */
  OutputControlSource output_control_src;
  KeepCallerNode keep_caller_node;
  InlinePlacer placer;
  /* The call stays one step as far as anybody can tell, as it is when a kernel runs it: functions with
   * effects (function_library_has_effects) are not inlined, every result waits for all inputs and for the
   * function's control results, and what waits for the call waits for all results. TensorFlow's inlining
   * does less. */
  bool as_one_step;
  bool share_attrs; /* the bodies live as long as the graph: their attr values are not copied */
} InlineOptions;

/* Where bodies come from. */
typedef struct FunctionBodySource {
  /* The body of function `name` with these attrs, or of "SymbolicGradient" with the attrs of its node. It
   * stays the owner's, and must not change while a pass runs. An error: there is none, and the call stays as
   * it is. */
  bool (*body)(void *owner, const char *name, const AttrEntry *const *attrs, int num_attrs,
               const FunctionBody **body, Status *status);
  /* Told of every node that is added for a call. The call is no longer in the graph then, but its id, name
   * and NodeDef can be read. May be NULL. */
  void (*inlined)(void *owner, const Node *caller, Node *added);
  void *owner;
} FunctionBodySource;

typedef struct ExpandOptions {
  InlineOptions native;       /* for ops that are functions, and SymbolicGradient */
  InlineOptions multi_device; /* for PartitionedCall and StatefulPartitionedCall */
  int max_rounds;             /* calls inside of bodies are found in the next round */
  int64_t max_nodes;          /* of the graph */
  const NodeSet *keep;        /* calls that stay; may be NULL */
} ExpandOptions;

/* TensorFlow's: one round, placed on a single device; partitioned calls with the function's control
 * results. */
ExpandOptions expand_options_default(void);

/* Whether the node calls a function: its op is one, or it is a PartitionedCall, StatefulPartitionedCall or
 * SymbolicGradient. *name and the attrs are what a FunctionBodySource is asked for. */
bool node_function_call(const Node *node, const char **name, const AttrEntry *const **attrs, int *num_attrs);

/* TensorFlow's ValidateInlining. INVALID_ARGUMENT "Node inputs do not match function arguments: inputs=1
 * arg_types=2 arg_nodes=2", "Can't inline function marked with '_noinline'", ... */
MUST_CHECK bool inline_validate(const Node *caller, const FunctionBody *body, const InlineOptions *options,
                                Status *status);

/* TensorFlow's InlineFunctionBody: replaces the node `caller` of the graph, which is removed. INTERNAL
 * "Inlining mismatch: ..." when the body does not fit. `source` is told of the nodes; it may be NULL. On
 * error the graph is valid, and as it was unless memory ran out. */
MUST_CHECK bool graph_inline_function_body(Graph *graph, Node *caller, const FunctionBody *body,
                                           const InlineOptions *options, const FunctionBodySource *source,
                                           Status *status);

/* TensorFlow's ExpandInlineFunctions: inlines every call that can be; other calls stay, and fail or not when
 * they run. RESOURCE_EXHAUSTED when the graph would get more than max_nodes nodes: it is valid then, with
 * some calls inlined. */
MUST_CHECK bool graph_expand_inline_functions(Graph *graph, const FunctionBodySource *source,
                                              const ExpandOptions *options, bool *changed, Status *status);

#endif
