/* Shared by the files that make a FunctionBody of a FunctionDef. They bind attrs and resolve inputs node
 * by node; then the nodes become the body's graph. */
#ifndef TFCORE_FUNCTION_INSTANTIATE_INTERNAL_H_
#define TFCORE_FUNCTION_INSTANTIATE_INTERNAL_H_

#include <string.h>

#include "function/function_body.h"
#include "function/text/function_text_internal.h"
#include "op/op_def_builder.h"

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

typedef struct Instantiation {
  const Graph *library; /* NULL: ops of the registry alone */
  const FunctionDef *function;
  const AttrEntry *const *attrs;
  int num_attrs;
  Arena *arena;   /* of the body's graph */
  Arena *scratch; /* freed when the body is made */
  Status *status;
  FunctionBody *body; /* has types and counts; its graph is empty until all nodes are known */
  /* First the `_Arg` nodes, then the nodes of the FunctionDef in its order, last the `_Retval` nodes. Lists
   * among arguments and results are expanded: one node per tensor. */
  InstantiatedNode *nodes;
  int num_nodes;
  int *control_rets;   /* indexes of nodes */
  int **output_starts; /* per node the first output of each of its output args, and the number of outputs */
  int *arg_starts;     /* per input arg of the signature its first `_Arg`, and the number of `_Arg`s */
  StringMap arg_map, node_map; /* to index + 1 */
} Instantiation;

/* The values that an input or a result names: outputs [index, index + count) of a node, or `count` argument
 * nodes. */
typedef struct Item {
  int node, index, count;
  bool is_arg;
} Item;

bool instantiation_oom(Instantiation *in);

/* --- attrs and types (instantiate_bind.c) --- */

/* The value of one of the function's attrs: given, or the signature's default; NULL when there is none. */
const AttrValue *instantiation_attr(const Instantiation *in, const char *name);
/* Every attr of the signature has a value of its type. */
MUST_CHECK bool instantiation_check_signature(Instantiation *in);
/* The types of one argument or result of the signature. */
MUST_CHECK bool instantiation_arg_types(Instantiation *in, const ArgDef *arg, const DataType **types,
                                        int *count);
/* Makes node->def and node->op: binds attrs, adds defaults, and converts numbers to what the op expects. */
MUST_CHECK bool instantiation_bind_attrs(Instantiation *in, const NodeDef *def, InstantiatedNode *node);

/* --- names and inputs (instantiate_inputs.c) --- */

/* What "arg", "arg:i", "node:out" or "node:out:i" names. */
bool instantiation_find(const Instantiation *in, const char *text, Item *item);
/* The node or argument that "^name" names; -1 when there is none. */
int instantiation_find_control(const Instantiation *in, const char *name);
DataType item_type(const Instantiation *in, const Item *item, int k);
InstantiatedInput item_input(const Item *item, int k);
/* A reference may be used where a plain value is expected. */
static inline bool item_type_fits(DataType have, DataType want) {
  return have == want || (DataType)dtype_base(have) == want;
}
/* Appends "n" or "n:1" to the NodeDef. */
MUST_CHECK bool instantiation_write_input(Instantiation *in, NodeDef *def, InstantiatedInput input);
/* Resolves the inputs of a node of the body. */
MUST_CHECK bool instantiation_connect(Instantiation *in, const NodeDef *def, InstantiatedNode *node);

#endif
