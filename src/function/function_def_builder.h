/* FunctionDefs from descriptions in C: TensorFlow's FunctionDefHelper.
 *
 *   static const char *const kArgs[] = {"x: T", NULL}, *const kRets[] = {"y: T", NULL}, *const kAttrs[] =
 * {"T: {float}", NULL}; static const char *const kY[] = {"y", NULL}, *const kXX[] = {"x", "x", NULL}; const
 * FunctionAttr t[] = {{"T", function_attr_text(arena, "$T")}}; const FunctionNode nodes[] = {{.rets = kY, .op
 * = "Mul", .args = kXX, .attrs = t, .num_attrs = 1}}; function_define(&(FunctionSpec){.name = "Square", .args
 * = kArgs, .rets = kRets, .attrs = kAttrs, .nodes = nodes, .num_nodes = 1}, NULL, arena, &function, &status);
 *
 * The two ways differ in how inputs are named. For function_create they are written as a FunctionDef has them
 * ("node:output:0", "node:output", an argument), and `returns` says where results come from; whether they
 * exist is seen when the function is instantiated. For function_define they are names of arguments and of
 * results of earlier nodes, and results of the function are those of the same names.
 */
#ifndef TFCORE_FUNCTION_FUNCTION_DEF_BUILDER_H_
#define TFCORE_FUNCTION_FUNCTION_DEF_BUILDER_H_

#include "graph/function_library.h"
#include "tensor/tensor.h"

typedef struct FunctionAttr {
  const char *name;
  const AttrValue *value; /* NULL: out of memory, which the builders report */
} FunctionAttr;

/* Lists of names end with NULL; a NULL list is empty. */
typedef struct FunctionNode {
  const char *const *rets; /* the first is the node's name; for function_define one for every output */
  const char *op;
  const char *const *args;
  const FunctionAttr *attrs;
  int num_attrs;
  const char *const *deps; /* control inputs, without '^' */
  const char *device;      /* NULL: none */
} FunctionNode;

typedef struct FunctionReturn {
  const char *name, *value;
} FunctionReturn;

typedef struct FunctionSpec {
  const char *name;
  const char *const *args, *const *rets,
                               *const *attrs; /* in the language of an OpRegistration: "x: N*T", "T: type" */
  const FunctionNode *nodes;
  int num_nodes;
  /* function_create only */
  const FunctionReturn *returns; /* result "y" comes from "node:output:0" */
  int num_returns;
  const FunctionReturn *control_returns; /* result "c" runs node "n" */
  int num_control_returns;
} FunctionSpec;

/* TensorFlow's Create. Everything is in `arena`; values of attrs are copied. The signature is stateful
 * when an op of the body is stateful or unknown to `library` (NULL: to the ops of the process) and its
 * registry. INVALID_ARGUMENT for invalid specs, nodes without a name and results given twice. */
MUST_CHECK bool function_create(const FunctionSpec *spec, const FunctionLibraryDefinition *library,
                                Arena *arena, FunctionDef **function, Status *status);
/* TensorFlow's Define. The ops must be known, and nodes need the attrs that give the number of outputs.
 * Also INVALID_ARGUMENT "Function 'f': node 'n' has no input named 'x': ..." for inputs, results and
 * output names that do not exist; TensorFlow aborts there. */
MUST_CHECK bool function_define(const FunctionSpec *spec, const FunctionLibraryDefinition *library,
                                Arena *arena, FunctionDef **function, Status *status);

/* A string, or, for "$T", the placeholder T. NULL when out of memory, as for the functions below. */
AttrValue *function_attr_text(Arena *arena, const char *text);
/* A reference to a function with attrs of its own: TensorFlow's FunctionRef. */
AttrValue *function_attr_ref(Arena *arena, const char *name, const FunctionAttr *attrs, int num_attrs);
/* A Const node of that name; its parts are in `arena`. */
MUST_CHECK bool function_const_node(const char *name, const Tensor *value, Arena *arena, FunctionNode *node,
                                    Status *status);

#endif
