/* From a FunctionDef to nodes: binding its attrs (instantiate.c) and adding its body to a graph
 * (function_inline.c). */
#ifndef TFCORE_FUNCTION_INSTANTIATE_H_
#define TFCORE_FUNCTION_INSTANTIATE_H_

#include "graph/graph.h"

/* --- instantiation: TensorFlow's InstantiateFunction --- */

/* Output `index` of node `node` of the same body. */
typedef struct InstantiatedInput {
  int node, index;
} InstantiatedInput;

typedef struct InstantiatedNode {
  NodeDef *def; /* complete: no placeholders, defaults added, inputs as "n", "n:1", "^n" */
  const Op *op; /* NULL for `_Arg` and `_Retval` */
  int num_inputs, num_controls, num_outputs;
  const InstantiatedInput *inputs;
  const int *controls; /* indexes of nodes */
  const DataType *output_types;
} InstantiatedNode;

/* A function with its attrs bound: first the `_Arg` nodes, then the body in the order of the FunctionDef,
 * last the `_Retval` nodes. Lists among arguments and results are expanded: one node a tensor. */
typedef struct InstantiationResult {
  const char *name;
  InstantiatedNode *nodes;
  int num_nodes, num_args, num_rets, num_control_rets;
  const DataType *arg_types, *ret_types;
  const int *control_rets; /* indexes of nodes */
} InstantiationResult;

/* No function may have more arguments, results or inputs of one node than this after lists are expanded. */
enum { FUNCTION_MAX_EXPANDED = 1 << 20 };

/* Binds the attrs (extra ones are ignored; those with a default may be missing) and resolves names. Ops are
 * looked up in `graph`, with its functions, or in the registry alone when it is NULL. The body lives in
 * `arena` and shares values with `function` and `attrs`, which must outlive it. Errors are TensorFlow's. */
MUST_CHECK bool function_instantiate(const Graph *graph, const FunctionDef *function,
                                     const AttrEntry *const *attrs, int num_attrs, Arena *arena,
                                     InstantiationResult **body, Status *status);

/* "\n(x:float) -> (y:float) {\n  y = Square[T=float](x)\n}\n": TensorFlow's DebugString of instantiated
 * nodes. */
void instantiation_print(const InstantiationResult *body, StrBuf *out);

/* How an instantiation is to run, beside its attrs. What is NULL or empty says nothing. */
typedef struct InstantiateOptions {
  const char *target; /* the device of the whole function */
  const char *const *input_devices, *const *output_devices;
  int num_input_devices, num_output_devices;
  const FunctionLibraryDefinition *library; /* instead of the caller's */
  const char *state_handle;                 /* instantiations with another one have other stateful kernels */
  const char *executor_type;                /* wins over an attr "_executor" */
  Str config_proto;                         /* serialised */
} InstantiateOptions;

/* "MatMul[T=float,transpose_a=false]": one text for equal instantiations, different ones for others. Attrs
 * are sorted as texts, options stand among them as "_target=...", "_input_dev0=...", "_output_dev0=...",
 * "_lib_def=...", "_state_handle=...",
 * "_executor=...", "_config_proto=...". As TensorFlow's Canonicalize, but nothing is cut or hashed. */
void function_canonicalize(const char *name, const AttrEntry *const *attrs, int num_attrs, StrBuf *out);
void function_canonicalize_with(const char *name, const AttrEntry *const *attrs, int num_attrs,
                                const InstantiateOptions *options, StrBuf *out);

/* --- inlining ---
 *
 * For gradients: no node calls the function, its arguments are any values of the graph, and only what the
 * wanted results need is added, straight from the instantiated nodes, since most gradient functions have a
 * few nodes and are used once. Replacing a node that calls a function, with all that goes with it (names,
 * control edges, devices, frames), is optimizer/inline_functions.h: that copies a FunctionBody, which passes
 * have worked on and many calls share. */

/* A node of the graph that computes again what a node of the body computes, when op, attrs and inputs are
 * the same: the inliner then uses the graph's node instead of adding a copy. This is how a gradient that
 * recomputes its forward op shares it. */
typedef struct FunctionInlineReuse {
  Node *node;
} FunctionInlineReuse;

/* Which arguments the body needs for the wanted results. Arrays of num_rets and num_args; `reuse` and
 * `inputs` (num_args, needed only with reuse) as for function_inline_body. */
MUST_CHECK bool function_needed_args(const InstantiationResult *body, const NodeOutput *inputs,
                                     const bool *wanted_outputs, const FunctionInlineReuse *reuse,
                                     bool *needed_args, Status *status);

/* Adds what the wanted results need (and nothing else, except stateful nodes and control results when
 * keep_stateful) to the graph. Nodes are named `scope`/name, made unique. `inputs` are num_args values; one
 * that is not needed may have a NULL node. `outputs` are num_rets values, NULL nodes where not wanted;
 * `wanted_outputs` NULL means all. All or nothing: on error no node is left in the graph. */
typedef struct FunctionInlineOptions {
  const bool *wanted_outputs;
  const char *scope;                /* NULL or "": names as they are in the body */
  const FunctionInlineReuse *reuse; /* may be NULL */
  bool keep_stateful;
} FunctionInlineOptions;
MUST_CHECK bool function_inline_body(Graph *graph, const InstantiationResult *body, const NodeOutput *inputs,
                                     const FunctionInlineOptions *options, NodeOutput *outputs,
                                     Status *status);

/* Instantiates and inlines, stateful nodes included. `num_outputs` is the length of `outputs` (and of
 * `wanted_outputs`); INVALID_ARGUMENT when the numbers or types of inputs or outputs do not fit the
 * function.
 */
MUST_CHECK bool function_inline(Graph *graph, const FunctionDef *function, const AttrEntry *const *attrs,
                                int num_attrs, const NodeOutput *inputs, int num_inputs,
                                const bool *wanted_outputs, const char *scope,
                                const FunctionInlineReuse *reuse, NodeOutput *outputs, int num_outputs,
                                Status *status);

#endif
